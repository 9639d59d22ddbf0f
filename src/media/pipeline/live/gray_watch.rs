//! Detects when a camera switches between colour and gray frames, as it does for infrared light.

use crate::ffmpeg::filter::Converter;
use crate::pipeline::Notices;
use histeq::internal::frame::Frame;
use std::time::{Duration, Instant};

/// The time between two checks.
const INTERVAL: Duration = Duration::from_secs(1);

/// How many consecutive checks have to agree.
const LOOKS: u32 = 3;

/// The size to which a frame is scaled down for a check, in columns and rows.
const SIZE: (usize, usize) = (32, 18);

/// A frame is gray up to this mean difference between the largest and smallest of red, green and blue, in levels of 8
/// bits. Cameras' infrared frames have less than 1, and overcast days more than 5.
const GRAY: f64 = 2.0;

/// Checks a frame once per [`INTERVAL`].
pub(super) struct GrayWatch {
    converter: Converter,
    next: Instant,
    /// Whether the last report was gray.
    is_gray: Option<bool>,
    /// How many consecutive checks have differed from `is_gray`.
    others: u32,
    notices: Notices,
}

impl GrayWatch {
    pub(super) fn new(notices: Notices) -> Self {
        GrayWatch { converter: Converter::quick(), next: Instant::now(), is_gray: None, others: 0, notices }
    }

    /// Checks `frame` if a check is due. A frame that cannot be converted is ignored.
    pub(super) fn look(&mut self, frame: &Frame) {
        let now = Instant::now();
        // A gray pixel format cannot change to colour.
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

/// The mean difference between the largest and the smallest sample of a pixel in a `bgr0` frame.
fn saturation(frame: &Frame) -> f64 {
    let plane = &frame.planes()[0];
    let pixels = (0..frame.height()).flat_map(|row| plane.row(row)[..4 * frame.width()].chunks_exact(4));
    let difference = |&[b, g, r]: &[u8; 3]| f64::from(b.max(g).max(r) - b.min(g).min(r));
    let sum: f64 = pixels.filter_map(|pixel| pixel.first_chunk()).map(difference).sum();
    sum / (frame.width() * frame.height()) as f64
}
