//! SER, the videos of planetary cameras (format description 3b): a header of 178 bytes, frames, and their times.

use super::positioned::Positioned;
use super::{FoundPages, MAX_PICTURES, Page, PageSamples, Pages, check_room};
use crate::ffmpeg::Rational;
use crate::ffmpeg::demux::Metadata;
use anyhow::{Context, Result, bail, ensure};
use histeq::Limits;
use std::fs::File;
use std::os::unix::fs::FileExt;

const HEADER: usize = 178;

/// Units of times in a second.
const TICKS: i128 = 10_000_000;

struct Ser {
    file: Positioned,
    size: (usize, usize),
    channels: usize,
    is_blue_first: bool,
    is_big_endian: bool,
    /// Bits of a sample.
    depth: u32,
    count: usize,
}

/// The observer, the camera and the telescope, each in 40 letters.
fn metadata(header: &[u8]) -> Metadata {
    let named = [("observer", 42), ("camera", 82), ("telescope", 122)].map(|(name, index)| {
        let text = String::from_utf8_lossy(&header[index..index + 40]);
        (name.to_owned(), text.trim_matches(['\0', ' ']).to_owned())
    });
    named.into_iter().filter(|(_, text)| !text.is_empty()).collect()
}

pub fn found(file: File, limits: &Limits) -> Result<FoundPages> {
    let mut file = Positioned::new(file)?;
    let header = file.bytes(0, HEADER)?;
    let number =
        |index: usize| i32::from_le_bytes([header[index], header[index + 1], header[index + 2], header[index + 3]]);
    let whole = |index: usize| usize::try_from(number(index)).ok();
    let (channels, mosaic) = match number(18) {
        0 => (1, None),
        8 => (1, Some("bayer_rggb")),
        9 => (1, Some("bayer_grbg")),
        10 => (1, Some("bayer_gbrg")),
        11 => (1, Some("bayer_bggr")),
        100 | 101 => (3, None),
        other => bail!("SER of colours {other} is not read"),
    };
    let size = (whole(26).context("a width below 0")?, whole(30).context("a height below 0")?);
    check_room(size, channels, limits)?;
    let depth = u32::try_from(number(34)).ok().filter(|depth| (1..=16).contains(depth));
    let mut ser = Ser {
        file,
        size,
        channels,
        is_blue_first: number(18) == 101,
        // The first programs wrote this field with the opposite meaning of the description, and all others follow them.
        is_big_endian: number(22) == 1,
        depth: depth.context("a number of bits that no sample has")?,
        count: whole(38).unwrap_or(0).min(MAX_PICTURES),
    };
    let there = (ser.file.length - HEADER as u64) / ser.frame_bytes() as u64;
    ensure!(there > 0, "no whole frame in it");
    if ser.count == 0 {
        // The recording was interrupted before the count was written: count the frames in the file.
        ser.count = usize::try_from(there)?.min(MAX_PICTURES);
    }
    let (count, rate, metadata) = (ser.count, ser.rate(), metadata(&header));
    Ok(FoundPages { pages: Box::new(ser), count, demuxer: "ser_pipe", mosaic, rate, metadata })
}

impl Ser {
    fn frame_bytes(&self) -> usize {
        self.size.0 * self.size.1 * self.channels * if self.depth > 8 { 2 } else { 1 }
    }

    /// The time of the frame `number`. The times of all frames are stored after the last frame.
    fn time(&self, number: usize) -> Option<i128> {
        let index = HEADER as u64 + self.frame_bytes() as u64 * self.count as u64 + 8 * number as u64;
        let mut time = [0; 8];
        let read = self.file.file.read_at(&mut time, index).ok()?;
        (read == 8).then(|| u64::from_le_bytes(time).into())
    }

    /// Pictures a second, by the times of the first and the last frame.
    fn rate(&self) -> Option<Rational> {
        let frames = self.count.checked_sub(1).filter(|frames| *frames > 0)?;
        let took = self.time(frames)?.checked_sub(self.time(0)?).filter(|took| *took > 0)?;
        // The rate in thousandths of a frame a second, from 0.001 to a million frames a second.
        let thousandths = (frames as i128 * TICKS * 1000 + took / 2) / took;
        let thousandths = i32::try_from(thousandths).ok().filter(|value| (1..=1_000_000_000).contains(value))?;
        Some(Rational::new(thousandths, 1000).reduce())
    }
}

impl Pages for Ser {
    fn page(&mut self, number: usize) -> Result<Page> {
        ensure!(number < self.count, "no such frame");
        let index = HEADER as u64 + number as u64 * self.frame_bytes() as u64;
        let bytes = self.file.bytes(index, self.frame_bytes())?;
        let most = (1_u32 << self.depth) - 1;
        // The largest sample of a depth becomes that of 8 or 16 bits.
        let spread = |sample: u32, full: u32| (sample.min(most) * full + most / 2) / most;
        let mut samples = match self.depth {
            ..=8 => PageSamples::Bytes(bytes.into_iter().map(|byte| spread(byte.into(), 255) as u8).collect()),
            _ => {
                let byte = bytes.as_chunks().0.iter();
                let word = |byte: &[u8; 2]| {
                    if self.is_big_endian { u16::from_be_bytes(*byte) } else { u16::from_le_bytes(*byte) }
                };
                PageSamples::Words(byte.map(|byte| spread(word(byte).into(), 65535) as u16).collect())
            }
        };
        if self.is_blue_first {
            match &mut samples {
                PageSamples::Bytes(byte) => byte.chunks_exact_mut(3).for_each(|pixel| pixel.swap(0, 2)),
                PageSamples::Words(byte) => byte.chunks_exact_mut(3).for_each(|pixel| pixel.swap(0, 2)),
                PageSamples::Numbers(_) => {}
            }
        }
        Ok(Page { size: self.size, channels: self.channels, samples })
    }
}
