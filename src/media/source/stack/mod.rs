//! Stacks of pictures that FFmpeg does not read, or reads wrongly: TIFF files beyond 4 GB, of tiles, of floating point
//! or signed samples; FITS, with cubes; SER. They are read here and passed to FFmpeg as raw frames, so that the rest is
//! as for any other input. The decoding process reads them, because their bytes are untrusted.
//!
//! Unsigned samples of 8 and 16 bits stay as they are. All others become 16 bits, by one linear mapping for all
//! pictures of the stack: the smallest sample becomes 0 and the largest 65535, or those of `--sample-range`. So samples
//! can be computed from codes again.
//!
//! | file | what it is |
//! |---|---|
//! | `mod.rs` | pictures of samples as raw frames, and the linear mapping from samples to codes |
//! | `tiff.rs`, `fits.rs`, `ser.rs` | the pages of a file of each kind |
//! | `positioned.rs` | reads a file without its shared position |

mod fits;
mod positioned;
mod ser;
mod tiff;

pub(super) use positioned::Positioned;

use crate::ffmpeg::demux::{GivePackets, Metadata, OpenImage, Sequence};
use crate::ffmpeg::{Error, Packet, Rational, note_activity};
use crate::image_file::About;
use crate::image_file::fits::{CARD, key_of};
use crate::pipeline::{Cancel, FailureKind, Notices};
use crate::source::file::FileInput;
use crate::source::options::{InputOptions, check_size};
use anyhow::{Context, Result, ensure};
use crossbeam_channel::{Receiver, Sender, unbounded};
use histeq::Limits;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// The bytes of a file that identify its format.
const BEGIN: usize = 16;

/// The most pictures of a stack.
const MAX_PICTURES: usize = 1_000_000;

/// The most bytes of memory for each sample while a picture is read.
const SAMPLE_BYTES: usize = 16;

/// The samples of a picture, row by row, with interleaved channels.
pub enum PageSamples {
    Bytes(Vec<u8>),
    Words(Vec<u16>),
    /// All other types: exact up to 53 bits.
    Numbers(Vec<f64>),
}

/// A picture of a stack.
pub struct Page {
    pub size: (usize, usize),
    /// 1 for gray, 3 for RGB, and one more with alpha.
    pub channels: usize,
    pub samples: PageSamples,
}

/// Reads the pages of a file.
pub trait Pages: Send {
    /// The page of this number.
    ///
    /// # Errors
    /// When it is damaged, or of a kind that is not read.
    fn page(&mut self, number: usize) -> Result<Page>;

    /// The cards of the header of the page that was read last, as a FITS file has them, without those of its layout.
    fn cards(&self) -> &[u8] {
        &[]
    }
}

/// The pages of a file, and their metadata.
pub struct FoundPages {
    pages: Box<dyn Pages>,
    /// How many pages there are; at least one.
    count: usize,
    /// FFmpeg's name of a demuxer for such files.
    pub demuxer: &'static str,
    /// FFmpeg's name of the Bayer pattern of the pages, if they have one.
    mosaic: Option<&'static str>,
    /// Pictures a second, if the file gives it.
    pub rate: Option<Rational>,
    /// The metadata of the file, without that of how its pictures are stored.
    pub metadata: Metadata,
}

/// The pages of the file, if it is a stack that FFmpeg does not read, or reads wrongly; with `all`, also if FFmpeg
/// reads it correctly.
fn pages_of(file: File, all: bool, limits: &Limits) -> Result<Option<FoundPages>> {
    let mut begin = [0; BEGIN];
    let length = file.read_at(&mut begin, 0).unwrap_or(0);
    match &begin[..length] {
        [b'I', b'I', b'*' | b'+', 0, ..] | [b'M', b'M', 0, b'*' | b'+', ..] => tiff::found(file, all, limits),
        [b'S', b'I', b'M', b'P', b'L', b'E', b' ', b' ', b'=', ..] => fits::found(file, limits).map(Some),
        [b'L', b'U', b'C', b'A', b'M', b'-', b'R', b'E', b'C', b'O', b'R', b'D', b'E', b'R', ..] => {
            ser::found(file, limits).map(Some)
        }
        _ => Ok(None),
    }
}

/// The first pages of numbered files.
struct NumberedPages {
    sequence: Sequence,
    open: OpenImage,
    cards: Vec<u8>,
    limits: Limits,
}

impl Pages for NumberedPages {
    fn page(&mut self, number: usize) -> Result<Page> {
        let file = (self.open)(self.sequence.shown(number as u64))?;
        let mut found = pages_of(file, true, &self.limits)?.context("not of the kind of the first image")?;
        ensure!(found.count == 1, "the image has several pages (name the file alone, without numbers, to get all)");
        let page = found.pages.page(0)?;
        self.cards = found.pages.cards().to_vec();
        Ok(page)
    }

    fn cards(&self) -> &[u8] {
        &self.cards
    }
}

/// Receives the metadata of pictures, and when they are shown.
pub type Told = Receiver<(Option<i64>, About)>;

/// A stack as raw frames.
pub struct Stack {
    pub found: FoundPages,
    /// FFmpeg's name of the pixel format.
    pub format: String,
    pub size: (usize, usize),
    channels: usize,
    is_wide: bool,
    /// The sample values that are mapped to 0 and 65535.
    pub range: Option<(f64, f64)>,
    /// Sends the metadata of the pictures.
    tells: Option<Sender<(Option<i64>, About)>>,
}

impl Stack {
    /// Opens the input as a stack, which is called `name` in messages; `None` if it is not one, with `file_input`
    /// unchanged.
    ///
    /// # Errors
    /// When it is damaged, too large, or of a kind that is not read.
    pub fn open(
        file_input: &mut FileInput,
        options: &InputOptions,
        name: &str,
        cancel: &Cancel,
        notices: &Notices,
    ) -> Result<Option<Self>> {
        let range = options.raw.sample_range;
        let pages_of = |file: File| {
            pages_of(file, range.is_some(), &options.limits)
                .map_err(|error| FailureKind::Damage.error(format!("{name}: {error:#}")))
        };
        let mut found = match file_input {
            _ if options.format.is_some() => return Ok(None),
            FileInput::File(file) => pages_of(file.try_clone()?)?,
            // If the file cannot be opened, FFmpeg reports the error.
            FileInput::Url if Path::new(&options.url).is_file() => match File::open(&options.url) {
                Ok(file) => pages_of(file)?,
                Err(_) => return Ok(None),
            },
            // If the image cannot be opened, the first read reports that.
            FileInput::Images(sequence, open) => open(sequence.first()).ok().map(pages_of).transpose()?.flatten(),
            FileInput::Url | FileInput::Pipe(_) => return Ok(None),
        };
        if found.is_some()
            && let FileInput::Images(sequence, open) = std::mem::replace(file_input, FileInput::Url)
        {
            let count = usize::try_from(sequence.count()).unwrap_or(usize::MAX);
            let (cards, limits) = (Vec::new(), options.limits.clone());
            let (pages, metadata) = (Box::new(NumberedPages { sequence, open, cards, limits }), Metadata::new());
            found = found.map(|first| FoundPages { pages, count, mosaic: None, rate: None, metadata, ..first });
        }
        let Some(mut found) = found else {
            if range.is_some() {
                notices.warn(&format!("--sample-range is ignored: {name} is no TIFF, FITS or SER"))?;
            }
            return Ok(None);
        };
        if found.count > MAX_PICTURES {
            return Err(FailureKind::Limit.error(format!("{name}: more than {MAX_PICTURES} pictures")));
        }
        let first = found.pages.page(0);
        let first = first.map_err(|error| FailureKind::Damage.error(format!("{name}: {error:#}")))?;
        check_size(name, first.size, &options.limits)?;
        let (size, channels) = (first.size, first.channels);
        let is_wide = range.is_some() || !matches!(first.samples, PageSamples::Bytes(_));
        let is_mapped = range.is_some() || matches!(first.samples, PageSamples::Numbers(_));
        drop(first);
        let range = match range {
            None if is_mapped => Some(range_of(&mut found, cancel)),
            given => given,
        };
        if let Some((least, most)) = range {
            notices.note(&format!(
                "{name}: samples from {least} to {most} become 0 to 65535 (--sample-range LEAST:MOST chooses others)"
            ));
        }
        let format = match (found.mosaic, channels, is_wide) {
            (Some(mosaic), _, true) => format!("{mosaic}16le"),
            (Some(mosaic), _, false) => format!("{mosaic}8"),
            (_, 1, true) => "gray16le".to_owned(),
            (_, 1, false) => "gray".to_owned(),
            (_, 2, true) => "ya16le".to_owned(),
            (_, 2, false) => "ya8".to_owned(),
            (_, 3, true) => "rgb48le".to_owned(),
            (_, 3, false) => "rgb24".to_owned(),
            (_, _, true) => "rgba64le".to_owned(),
            (_, _, false) => "rgba".to_owned(),
        };
        Ok(Some(Stack { found, format, size, channels, is_wide, range, tells: None }))
    }

    /// Receives the metadata of the pictures, each before the packet of its picture.
    pub fn told(&mut self) -> Told {
        let (tells, told) = unbounded();
        self.tells = Some(tells);
        told
    }

    /// The raw frame of this number.
    fn frame(&mut self, number: u64) -> Result<Vec<u8>> {
        let page = self.found.pages.page(usize::try_from(number)?)?;
        ensure!((page.size, page.channels) == (self.size, self.channels), "of another size or kind than the first one");
        // Mapped samples do not have the unit of the stored ones.
        let cards = self.found.pages.cards().chunks_exact(CARD);
        let cards = cards.filter(|card| self.range.is_none() || key_of(card) != "BUNIT");
        let cards: Vec<u8> = cards.flatten().copied().collect();
        if let Some(tells) = self.tells.as_ref().filter(|_| !cards.is_empty()) {
            // The receiver may be gone, if its reader has ended.
            let _ = tells.send((i64::try_from(number).ok(), About::from_cards(cards)));
        }
        let words = |words: Vec<u16>| words.into_iter().flat_map(u16::to_le_bytes).collect();
        Ok(match (page.samples, self.range) {
            (PageSamples::Bytes(bytes), None) if !self.is_wide => bytes,
            // 0 to 255 become 0 to 65535.
            (PageSamples::Bytes(bytes), None) => words(bytes.into_iter().map(|byte| u16::from(byte) * 257).collect()),
            (PageSamples::Words(samples), None) if self.is_wide => words(samples),
            (samples, range) => {
                let range = range.context("of another kind of samples than the first one")?;
                let codes = samples.into_numbers().into_iter().map(|sample| code(sample, range));
                codes.flat_map(u16::to_le_bytes).collect()
            }
        })
    }
}

impl GivePackets for Stack {
    fn count(&self) -> u64 {
        self.found.count as u64
    }

    fn packet(&mut self, place: u64) -> std::result::Result<Packet, Error> {
        note_activity();
        // A damaged page becomes a packet of one byte, which the decoder reports as damage.
        let frame = self.frame(place).unwrap_or_else(|_| vec![0]);
        Ok(Packet::from_bytes(&frame, [place as i64; 2], 1, true))
    }
}

impl PageSamples {
    fn into_numbers(self) -> Vec<f64> {
        match self {
            PageSamples::Bytes(bytes) => bytes.into_iter().map(f64::from).collect(),
            PageSamples::Words(words) => words.into_iter().map(f64::from).collect(),
            PageSamples::Numbers(numbers) => numbers,
        }
    }
}

/// The code of a sample, by the linear mapping of the range to 0 to 65535, with halves rounded up. NaN becomes 0.
fn code(sample: f64, (least, most): (f64, f64)) -> u16 {
    if sample.is_nan() || most <= least {
        return 0;
    }
    // Halved first, so that no difference is infinite.
    let part = (sample.clamp(least, most) / 2.0 - least / 2.0) / (most / 2.0 - least / 2.0);
    (part * 65535.0 + 0.5).floor() as u16
}

/// The smallest and the largest sample of all pages that can be read; those that are not finite do not count.
fn range_of(found: &mut FoundPages, cancel: &Cancel) -> (f64, f64) {
    let mut range: Option<(f64, f64)> = None;
    for number in 0..found.count {
        note_activity();
        if cancel.is_cancelled() {
            break;
        }
        let Ok(page) = found.pages.page(number) else { continue };
        for sample in page.samples.into_numbers().into_iter().filter(|sample| sample.is_finite()) {
            let (least, most) = range.unwrap_or((sample, sample));
            range = Some((least.min(sample), most.max(sample)));
        }
    }
    range.unwrap_or((0.0, 1.0))
}

/// Checks that a picture of this size fits into memory while it is read. Returns the number of its samples.
fn check_room(size: (usize, usize), channels: usize, limits: &Limits) -> Result<usize> {
    let samples = size.0.checked_mul(size.1).and_then(|pixels| pixels.checked_mul(channels)).unwrap_or(usize::MAX);
    let pixels = size.0.saturating_mul(size.1) as u64;
    let fits = samples.checked_mul(SAMPLE_BYTES).is_some_and(|bytes| bytes <= limits.memory());
    ensure!((1..=4).contains(&channels), "pictures of {channels} channels are not read");
    ensure!(samples > 0, "a picture without a pixel");
    ensure!(
        fits && pixels <= limits.pixels(),
        "a picture of {}x{} with {channels} channels does not fit into memory (--max-memory, --max-pixels)",
        size.0,
        size.1
    );
    Ok(samples)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_those_of_the_line() {
        let range = (-40.0, 120.0);
        let cases = [(-40.0, 0), (120.0, 65535), (40.0, 32768), (-50.0, 0), (f64::INFINITY, 65535), (f64::NAN, 0)];
        for (sample, expected) in cases {
            assert_eq!(code(sample, range), expected, "{sample}");
        }
        assert_eq!(code(1.0, (f64::MIN, f64::MAX)), 32768);
        assert_eq!(code(1.0, (1.0, 1.0)), 0);
    }
}
