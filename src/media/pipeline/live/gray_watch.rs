//! Notices when the pictures of a camera turn gray, as they do when it turns to infra-red light, and colourful again.

use crate::ffmpeg::Converter;
use crate::pipeline::Notices;
use histeq::frame::Frame;
use std::time::{Duration, Instant};

/// The time between two checks.
const INTERVAL: Duration = Duration::from_secs(1);

/// How many checks in a row have to agree.
const LOOKS: u32 = 3;

/// The size to which a frame is scaled down for a check, in columns and rows.
const SIZE: (usize, usize) = (32, 18);

/// Up to this mean difference between the largest and the smallest of red, green and blue, in levels of 8 bits, pictures
/// are gray. Infra-red pictures of cameras have less than 1, dull days more than 5.
const GRAY: f64 = 2.0;

/// Checks a frame once per [`INTERVAL`].
pub(super) struct GrayWatch {
    converter: Converter,
    next: Instant,
    /// What was reported last.
    is_gray: Option<bool>,
    /// How many checks in a row have differed from `is_gray`.
    others: u32,
    notices: Notices,
}

impl GrayWatch {
    pub(super) fn new(notices: Notices) -> Self {
        GrayWatch { converter: Converter::quick(), next: Instant::now(), is_gray: None, others: 0, notices }
    }

    /// Checks `frame`, if it is time. A frame that cannot be converted changes nothing.
    pub(super) fn look(&mut self, frame: &Frame) {
        let now = Instant::now();
        // A format without colour never has any.
        if now < self.next || frame.format().to_string().starts_with("gray") {
            return;
        }
        self.next = now + INTERVAL;
        let Ok(small) = self.converter.rgb(frame, SIZE) else { return };
        let is_gray = saturation(&small) <= GRAY;
        if self.is_gray == Some(is_gray) {
            self.others = 0;
            return;
        }
        self.others += 1;
        if self.others < LOOKS {
            return;
        }
        self.others = 0;
        match self.is_gray.replace(is_gray) {
            _ if is_gray => {
                self.notices.changed("the picture is gray: the camera sees infra-red light, or has no colour")
            }
            Some(_) => self.notices.changed("the picture has colour again"),
            None => {}
        }
    }
}

/// The mean difference between the largest and the smallest sample of a pixel, of a frame of `bgr0`.
fn saturation(frame: &Frame) -> f64 {
    let plane = &frame.planes()[0];
    let pixels = (0..frame.height()).flat_map(|row| plane.row(row)[..4 * frame.width()].chunks_exact(4));
    let difference = |&[b, g, r]: &[u8; 3]| f64::from(b.max(g).max(r) - b.min(g).min(r));
    let sum: f64 = pixels.filter_map(|pixel| pixel.first_chunk()).map(difference).sum();
    sum / (frame.width() * frame.height()) as f64
}
