//! Opens an encoder for frames like the first one.

use super::choice::{EncoderChoice, Pace, Quality, takes_size};
use super::clock::EncoderClock;
use super::fit::Fitter;
use super::format::{PixelChoice, format_for, holds_all, loses};
use super::table::FOR_ALPHA;
use crate::ffmpeg::encode::{Encoder, VideoEncoder, VideoOptions, is_lossless};
use crate::ffmpeg::frame::{Picture, RawFormat, StreamSideData};
use crate::ffmpeg::mux::{Container, Signalling};
use crate::ffmpeg::{CodecId, counts_timecode, parse_number};
use crate::pipeline::{FailureKind, Input, Notices, said};
use anyhow::{Context, Result, ensure};

/// Bits per pixel below which a `--bitrate` without a unit is refused: the unit was probably forgotten.
const MIN_BITS_A_PIXEL: f64 = 0.002;

/// The smallest width of Theora that FFmpeg decodes.
const THEORA_COLUMNS: usize = 18;

/// The timestamp unit of Matroska, in microseconds.
const MILLISECOND: i64 = 1000;

/// What an encoder is opened from.
pub(crate) struct EncoderStart<'a> {
    pub input: &'a Input,
    pub container: Container,
    pub choice: &'a EncoderChoice,
    /// The encoders to try, best first.
    pub candidates: &'a [Encoder],
    pub pace: Pace,
    /// The pixel format, and the size that frames are scaled down to.
    pub pixels: (PixelChoice, Option<(usize, usize)>),
    /// Why the codec changes, if the user did not choose that.
    pub codec_changes: Option<&'static str>,
    pub notices: &'a Notices,
}

/// An open encoder, with the conversion and the clock for its frames.
pub(crate) struct Started {
    pub encoder: VideoEncoder,
    pub fitter: Fitter,
    pub clock: EncoderClock,
    pub side_data: StreamSideData,
}

impl EncoderStart<'_> {
    /// Opens the first candidate that can be opened. `is_turned` tells whether frames are rotated before they are
    /// encoded. `keys` is the longest distance between key frames, in microseconds.
    ///
    /// # Errors
    /// When no encoder opens; with `--strict`, when bits or colour are lost.
    pub fn open(&self, first: &Picture, is_turned: bool, keys: Option<i64>) -> Result<Started> {
        let stream = self.input.video_stream();
        let mut side_data = stream.side_data.for_reencoding();
        side_data.add_from(first);
        if is_turned {
            side_data = side_data.without_rotation();
        }
        let clock = EncoderClock::new(self.input, self.container, self.candidates);
        let clock = if self.pace == Pace::Recording { clock.apart_by(MILLISECOND) } else { clock };
        for (index, &candidate) in self.candidates.iter().enumerate() {
            let has_next = index + 1 < self.candidates.len();
            if has_next && is_lossless(candidate.codec()) && !holds_all(candidate, self.container, first) {
                self.notices.detail(&format!("encoder {} does not take {}", candidate.name(), first.format()));
                continue;
            }
            // AV1 encoders differ in the sizes and pixel formats that they accept.
            let next_suits = || self.candidates[index + 1..].iter().any(|&next| self.suits(next, first));
            if candidate.codec() == CodecId::AV1 && !self.suits(candidate, first) && next_suits() {
                let ((width, height), format) = (first.size(), first.format());
                self.notices
                    .detail(&format!("encoder {} does not take {width}x{height} {format} whole", candidate.name()));
                continue;
            }
            let format = match format_for(candidate, self.container, self.pixels, first, self.notices) {
                Err(error) if index + 1 < self.candidates.len() => {
                    self.notices.detail(&said(&error));
                    continue;
                }
                format => format?,
            };
            let (columns, rows) = format.size;
            ensure!(
                candidate.codec() != CodecId::THEORA || columns >= THEORA_COLUMNS,
                "a picture of {columns}x{rows} is too narrow for Theora, of which FFmpeg decodes {THEORA_COLUMNS} \
                 columns or more (use .mkv, or another encoder)"
            );
            self.check_bit_rate(format.size, self.input.rate().map(|_| f64::from(clock.rate)))?;
            let mut settings = self.choice.settings(candidate, self.container, Some(format.size), self.pace)?;
            let for_alpha = FOR_ALPHA.iter().filter(|(name, _)| *name == candidate.name() && format.format.has_alpha());
            for (_, (key, value)) in for_alpha {
                if settings.options.iter().all(|(given, _)| given != key) {
                    settings.options.push(((*key).to_owned(), (*value).to_owned()));
                }
            }
            let given = |key: &str| settings.options.iter().any(|(given, _)| given == key);
            let timecode = first.timecode().filter(|timecode| counts_timecode(timecode, clock.rate));
            let profile = dnxhr_profile(candidate, format.format).filter(|_| !given("b"));
            let kept = [("udu_sei", Some("1".to_owned())), ("gop_timecode", timecode), ("profile", profile)];
            let kept = kept.into_iter().filter(|(key, _)| candidate.has_option(key) && !given(key));
            let kept: Vec<_> = kept.filter_map(|(key, value)| Some((key.to_owned(), value?))).collect();
            settings.options.extend(kept);
            if let Some(distance) = keys {
                let frames = f64::from(clock.rate) * distance as f64 / 1e6;
                settings.options.push(("g".to_owned(), frames.max(1.0).floor().to_string()));
            }
            // Scaling to another height blends the fields, so the result is progressive.
            let interlaced = first.interlaced().filter(|_| rows == first.size().1);
            if interlaced.is_some() && !candidate.codes_interlaced() {
                let name = candidate.name();
                self.notices.warn(&format!("encoder {name} cannot code fields: interlaced video becomes frames"))?;
            }
            if interlaced.is_some() && self.pixels.0 == PixelChoice::ForBrowsers && self.pace == Pace::Offline {
                self.notices
                    .note("the video is interlaced, which browsers show as combs (--filter bwdif makes frames)");
            }
            // FFmpeg 9's FFV1 encoder finds no valid slice count for frames this small.
            if candidate.name() == "ffv1" && format.size.0.min(format.size.1) < 8 {
                settings.options.push(("slices".to_owned(), "1".to_owned()));
            }
            let options = VideoOptions {
                format: format.format,
                size: format.size,
                time_base: clock.time_base,
                frame_rate: stream.frame_rate.map(|_| clock.rate),
                colour: format.colour,
                sample_aspect_ratio: first.sample_aspect_ratio().or(stream.sample_aspect_ratio),
                interlaced: interlaced.filter(|_| candidate.codes_interlaced()),
                field_order: stream.field_order,
                global_header: self.container.needs_global_header(),
                quantizer: settings.quantizer,
                options: settings.options,
                side_data: side_data.clone(),
                limits: self.input.limits.clone(),
            };
            match VideoEncoder::open(candidate, &options) {
                Ok(encoder) => {
                    if let Some(why) = self.codec_changes {
                        self.notices.note(&format!("the video is encoded by {} ({why})", candidate.name()));
                    }
                    let keeps_transfer = Signalling::new(candidate.codec(), self.container).colours;
                    if first.colour().transfer().is_hdr() && keeps_transfer {
                        self.notices.note("HDR video (PQ or HLG) stays HDR");
                    }
                    let fitter = Fitter::new(format, first, encoder.fields, self.notices.clone());
                    return Ok(Started { encoder, fitter, clock, side_data });
                }
                // FFmpeg lists GPU encoders even without a GPU: try the next candidate.
                Err(error) if index + 1 < self.candidates.len() => self.notices.detail(&said(&error)),
                Err(error) if candidate.codec() == CodecId::DVVIDEO => {
                    return Err(error.context(
                        "DV is 720x576 of 25 frames a second, or 720x480 of 30000/1001 (--filter scale=720:576,fps=25 \
                         makes that)",
                    ));
                }
                Err(error) if candidate.codec() == CodecId::DNXHD => {
                    return Err(error.context(
                        "DNxHD has few sizes and bit rates (--bitrate 120M is one of 1920x1080), DNxHR no fields \
                         (without --bitrate; --filter yadif makes frames of them)",
                    ));
                }
                Err(error) if candidate.is_hardware() => return Err(FailureKind::Device.error(said(&error))),
                Err(error) => return Err(error),
            }
        }
        None.context("no encoder to try")
    }

    /// Whether an encoder accepts the size of frames like `first`, and its pixel format loses neither bits nor colour.
    fn suits(&self, encoder: Encoder, first: &Picture) -> bool {
        let format = format_for(encoder, self.container, self.pixels, first, &Notices::silent());
        format.is_ok_and(|target| takes_size(encoder, target.size) && !loses(first, target.format))
    }

    /// Refuses a bit rate without a unit that is far too low for this size and frame rate.
    fn check_bit_rate(&self, (width, height): (usize, usize), rate: Option<f64>) -> Result<()> {
        let (Quality::BitRate(text), Some(rate)) = (&self.choice.quality, rate) else { return Ok(()) };
        // A bit rate with a unit is not checked.
        let is_bare = !text.ends_with(|last: char| last.is_ascii_alphabetic());
        let bits = parse_number(text).filter(|_| is_bare).unwrap_or(f64::INFINITY);
        let is_video = bits >= MIN_BITS_A_PIXEL * (width * height) as f64 * rate;
        let kilobits = bits / 1e3;
        let message = || {
            format!(
                "--bitrate {text} is {kilobits} kbit/s, too little for {width}x{height} at {rate:.2} frames a second: \
                 {text}k? ({kilobits}k is taken)"
            )
        };
        ensure!(is_video, FailureKind::Usage.error(message()));
        Ok(())
    }
}

/// The DNxHR profile for this pixel format; `None` for other codecs. Without a profile, the encoder makes DNxHD, which
/// accepts only a few bit rates.
fn dnxhr_profile(encoder: Encoder, format: RawFormat) -> Option<String> {
    let profile = match (format.chroma_resolution(), format.depth()) {
        (16, _) => "dnxhr_444",
        (_, 8) => "dnxhr_hq",
        _ => "dnxhr_hqx",
    };
    (encoder.codec() == CodecId::DNXHD).then(|| profile.to_owned())
}
