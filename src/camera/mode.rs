//! Which of its modes a camera is opened in: a pure function of what it offers and what is asked for.

use crate::ffmpeg::Rational;
use std::cmp::Ordering;

/// What a camera offers: pictures of one format and size, at these rates.
#[derive(Clone, Debug, PartialEq)]
pub struct Mode {
    /// FFmpeg's name of the pixel format, or of the codec.
    pub format: String,
    /// Pixels in a row and rows.
    pub size: (usize, usize),
    /// Frames a second; empty when the camera does not tell.
    pub rates: Vec<Rational>,
}

/// What is asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wanted {
    /// Pixels in a row and rows; 1280x720 if nothing is said.
    pub size: Option<(usize, usize)>,
    /// Frames a second; 30 if nothing is said.
    pub rate: Option<Rational>,
    /// FFmpeg's name of the pixel format, or of the codec.
    pub format: Option<String>,
}

/// The mode to open.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// FFmpeg's name of the pixel format, or of the codec.
    pub format: String,
    /// Pixels in a row and rows.
    pub size: (usize, usize),
    /// Frames a second, if the camera tells.
    pub rate: Option<Rational>,
}

impl std::fmt::Display for Choice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (width, height) = self.size;
        write!(f, "{width}x{height}, {}", self.format)?;
        self.rate.map_or(Ok(()), |rate| write!(f, ", {} fps", (f64::from(rate) * 100.0).round() / 100.0))
    }
}

const USUAL_SIZE: (usize, usize) = (1280, 720);
const USUAL_RATE: f64 = 30.0;

/// What USB 2 carries for one camera, in bytes a second.
const USB_2: f64 = 24e6;

/// The formats that FFmpeg reads, in the order in which they are preferred where all else is equal, and the bytes of
/// a pixel. Raw pictures come first: they are not coded twice. H.264 and HEVC come late: their encoders hold frames
/// back. Gray comes last: it is for cameras that have no colour.
const FORMATS: &[(&str, Option<f64>)] = &[
    ("yuyv422", Some(2.0)),
    ("uyvy422", Some(2.0)),
    ("yvyu422", Some(2.0)),
    ("nv12", Some(1.5)),
    ("nv21", Some(1.5)),
    ("yuv420p", Some(1.5)),
    ("yuv422p", Some(2.0)),
    ("bgr24", Some(3.0)),
    ("rgb24", Some(3.0)),
    ("mjpeg", None),
    ("h264", None),
    ("hevc", None),
    ("gray", Some(1.0)),
    ("gray16le", Some(2.0)),
];

/// How far a mode is from what is asked for, in the order in which it matters.
type Distance = [f64; 5];

/// The mode that comes nearest to what is asked for; `None` when there is none of the format asked for.
///
/// A size that was asked for matters most, then the rate. If none was, a camera had better be fluent than sharp:
/// YUYV at 1280x720 is 10 frames a second on many a camera, where MJPEG is 30.
pub fn choose(modes: &[Mode], wanted: &Wanted) -> Option<Choice> {
    let offers = modes.iter().filter(|mode| wanted.format.as_ref().is_none_or(|format| mode.format == *format));
    let rated =
        offers.filter_map(|mode| rate_of(mode, wanted).map(|(rate, choice)| (distance(rate, &choice, wanted), choice)));
    rated.min_by(|(a, _), (b, _)| compare(a, b)).map(|(_, choice)| choice)
}

/// The best rate of a mode; `None` for a format that FFmpeg cannot read.
fn rate_of(mode: &Mode, wanted: &Wanted) -> Option<(f64, Choice)> {
    let (_, bytes) = FORMATS.iter().find(|(format, _)| *format == mode.format)?;
    let aim = wanted.rate.map_or(USUAL_RATE, f64::from);
    let fast_enough = |rate: f64| rate >= aim * 0.99;
    let better = |a: &&Rational, b: &&Rational| {
        let (a, b) = (f64::from(**a), f64::from(**b));
        match (fast_enough(a), fast_enough(b)) {
            (true, true) => a.total_cmp(&b),
            _ => b.total_cmp(&a),
        }
    };
    let told = mode.rates.iter().min_by(better).copied();
    let (width, height) = mode.size;
    let by_bandwidth = bytes.map_or(aim, |bytes| (USB_2 / (bytes * width as f64 * height as f64)).min(aim));
    let rate = told.map_or(by_bandwidth, f64::from);
    Some((rate, Choice { format: mode.format.clone(), size: mode.size, rate: told }))
}

fn distance(rate: f64, choice: &Choice, wanted: &Wanted) -> Distance {
    let aim = wanted.rate.map_or(USUAL_RATE, f64::from);
    let (width, height) = wanted.size.unwrap_or(USUAL_SIZE);
    let apart = |a: usize, b: usize| (a as f64 / b as f64).ln().abs();
    let size = apart(choice.size.0, width) + apart(choice.size.1, height);
    let missing = if rate >= aim * 0.99 { 0.0 } else { 1.0 - rate / aim };
    let excess = (rate / aim - 1.0).max(0.0);
    // A thermal camera that sends more rows than columns has its measurements in the lower half, dressed as a picture.
    let tall = if choice.size.1 > choice.size.0 { 1.0 } else { 0.0 };
    let place = FORMATS.iter().position(|(format, _)| *format == choice.format).unwrap_or(FORMATS.len()) as f64;
    match wanted.size {
        Some(_) => [size, missing, tall, excess, place],
        None => [missing, tall, size, excess, place],
    }
}

fn compare(a: &Distance, b: &Distance) -> Ordering {
    a.iter().zip(b).map(|(a, b)| a.total_cmp(b)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}
