//! The choice of a camera's mode: a pure function of its modes and the request.

use crate::ffmpeg::Rational;
use std::cmp::Ordering;

/// A mode of a camera: one format and size, at several rates.
#[derive(Clone, Debug, PartialEq)]
pub struct Mode {
    /// FFmpeg's name of the pixel format, or of the codec.
    pub format: String,
    /// Width and height in pixels.
    pub size: (usize, usize),
    /// Frames a second; empty when unknown.
    pub rates: Vec<Rational>,
}

/// The requested mode.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wanted {
    /// Width and height in pixels; 1280x720 by default.
    pub size: Option<(usize, usize)>,
    /// Frames a second; 30 by default.
    pub rate: Option<Rational>,
    /// FFmpeg's name of the pixel format, or of the codec.
    pub format: Option<String>,
}

/// The mode to open.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// FFmpeg's name of the pixel format, or of the codec.
    pub format: String,
    /// Width and height in pixels.
    pub size: (usize, usize),
    /// Frames a second, if known.
    pub rate: Option<Rational>,
}

impl std::fmt::Display for Choice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (width, height) = self.size;
        write!(f, "{width}x{height}, {}", self.format)?;
        self.rate.map_or(Ok(()), |rate| write!(f, ", {} fps", (f64::from(rate) * 100.0).round() / 100.0))
    }
}

const DEFAULT_SIZE: (usize, usize) = (1280, 720);
const DEFAULT_RATE: f64 = 30.0;

/// Bandwidth of USB 2 for one camera, in bytes a second.
const USB_2: f64 = 24e6;

/// The formats that FFmpeg reads, in order of preference where all else is equal, with bytes for each pixel. Raw
/// formats come first: they lose nothing by compression. H.264 and HEVC come late: their encoders delay frames. Gray
/// comes last: it is for cameras without colour.
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

/// The differences between a mode and the request, most important first.
type Distance = [f64; 5];

/// The mode that is nearest to the request; `None` when no mode has the requested format.
///
/// A requested size matters most, then the rate. Without a requested size, the rate matters most: many cameras send
/// YUYV at 1280x720 with 10 frames a second, but MJPEG with 30.
pub fn choose(modes: &[Mode], wanted: &Wanted) -> Option<Choice> {
    let candidates = modes.iter().filter(|mode| wanted.format.as_ref().is_none_or(|format| mode.format == *format));
    let rated = candidates
        .filter_map(|mode| rate_of(mode, wanted).map(|(rate, choice)| (distance(rate, &choice, wanted), choice)));
    rated.min_by(|(a, _), (b, _)| compare(a, b)).map(|(_, choice)| choice)
}

/// The best rate of a mode; `None` for a format that FFmpeg cannot read.
fn rate_of(mode: &Mode, wanted: &Wanted) -> Option<(f64, Choice)> {
    let (_, bytes) = FORMATS.iter().find(|(format, _)| *format == mode.format)?;
    let aim = wanted.rate.map_or(DEFAULT_RATE, f64::from);
    let fast_enough = |rate: f64| rate >= aim * 0.99;
    let better = |a: &&Rational, b: &&Rational| {
        let (a, b) = (f64::from(**a), f64::from(**b));
        match (fast_enough(a), fast_enough(b)) {
            (true, true) => a.total_cmp(&b),
            _ => b.total_cmp(&a),
        }
    };
    let known = mode.rates.iter().min_by(better).copied();
    let (width, height) = mode.size;
    let by_bandwidth = bytes.map_or(aim, |bytes| (USB_2 / (bytes * width as f64 * height as f64)).min(aim));
    let rate = known.map_or(by_bandwidth, f64::from);
    Some((rate, Choice { format: mode.format.clone(), size: mode.size, rate: known }))
}

fn distance(rate: f64, choice: &Choice, wanted: &Wanted) -> Distance {
    let aim = wanted.rate.map_or(DEFAULT_RATE, f64::from);
    let (width, height) = wanted.size.unwrap_or(DEFAULT_SIZE);
    let apart = |a: usize, b: usize| (a as f64 / b as f64).ln().abs();
    let size = apart(choice.size.0, width) + apart(choice.size.1, height);
    let missing = if rate >= aim * 0.99 { 0.0 } else { 1.0 - rate / aim };
    let excess = (rate / aim - 1.0).max(0.0);
    // Thermal cameras have modes with more rows than columns, whose lower half is raw measurements.
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
