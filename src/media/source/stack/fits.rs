//! FITS (standard 4.0): images with all types of samples, cubes, and further images after the first one.
//!
//! A header is lines of 80 letters in blocks of 2880 bytes, and what it describes follows in such blocks, most
//! significant byte first, from the bottom row up. Planes of a cube are pictures; three are one picture in red, green
//! and blue.

use super::positioned::Positioned;
use super::tiff::interleaved;
use super::{FoundPages, MAX_PICTURES, Page, PageSamples, Pages, check_room};
use crate::ffmpeg::demux::Metadata;
use crate::image_file::fits::{CARD, is_of_storage, key_of, name_of};
use anyhow::{Context, Result, bail, ensure};
use histeq::Limits;
use std::collections::HashSet;
use std::fs::File;

/// Bytes of a block.
const BLOCK: u64 = crate::image_file::fits::BLOCK as u64;

/// The most keys that are kept.
const MAX_KEYS: usize = 1000;

/// The most blocks of a header.
const MAX_BLOCKS: usize = 1000;

/// The offset that makes unsigned samples of signed ones of 16 bits.
const UNSIGNED: f64 = 32768.0;

struct Fits {
    file: Positioned,
    pages: Vec<FitsPlane>,
    /// The first header, which holds for the whole file.
    primary: Header,
    /// The offset of the header that was read last, and the cards that apply to its image.
    header: u64,
    cards: Vec<u8>,
    limits: Limits,
}

/// Where a picture is in the file, and how its samples are stored.
#[derive(Clone)]
struct FitsPlane {
    /// The offset of its header, which is read again when needed: headers of all images could fill the memory.
    header: u64,
    /// The offset of its samples.
    place: u64,
    size: (usize, usize),
    channels: usize,
    /// Bits of a sample; less than zero for floating point.
    bits: i64,
    /// The samples are `zero + scale * stored`; `blank` marks a missing one.
    zero: f64,
    scale: f64,
    blank: Option<i64>,
}

#[derive(Default)]
struct Header {
    /// Keys and values of the lines that have values.
    lines: Vec<(String, String)>,
    /// All lines that do not describe the layout of the image, as they are stored.
    cards: Vec<u8>,
}

impl Header {
    fn text(&self, key: &str) -> Option<&str> {
        self.lines.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }

    fn whole(&self, key: &str) -> Option<i64> {
        self.text(key)?.parse().ok()
    }

    fn metadata(&self) -> Metadata {
        let said = self.lines.iter().filter(|(key, value)| !is_of_storage(key) && !value.is_empty());
        said.take(MAX_KEYS).cloned().collect()
    }

    /// This header, with the entries of the header of the `file` that it does not have itself.
    fn within(&self, file: &Header) -> Self {
        let keys: HashSet<&str> = self.lines.iter().map(|(key, _)| key.as_str()).collect();
        let lines = file.lines.iter().filter(|(key, _)| !keys.contains(key.as_str())).cloned();
        let names: HashSet<&[u8]> = self.cards.chunks_exact(CARD).map(name_of).collect();
        let mut is_kept = true;
        let cards = file.cards.chunks_exact(CARD).filter(|card| {
            // The continuation of a long text is kept if its beginning is.
            if key_of(card) != "CONTINUE" {
                is_kept = !names.contains(name_of(card));
            }
            is_kept
        });
        let cards = cards.flatten();
        Header {
            lines: self.lines.iter().cloned().chain(lines).collect(),
            cards: self.cards.iter().chain(cards).copied().collect(),
        }
    }

    fn number(&self, key: &str) -> Option<f64> {
        // Exponents may have FORTRAN's letter D.
        self.text(key)?.replace(['D', 'd'], "E").parse().ok()
    }
}

/// The header at `offset`, and the offset of its end.
fn header(file: &mut Positioned, offset: u64) -> Result<(Header, u64)> {
    let mut header = Header::default();
    for block in 0..MAX_BLOCKS as u64 {
        let begin = offset + block * BLOCK;
        for card in file.bytes(begin, BLOCK as usize)?.chunks_exact(CARD) {
            let line = String::from_utf8_lossy(card);
            let Some((key, rest)) = line.split_at_checked(8) else { continue };
            let key = key.trim_end().to_owned();
            if key == "END" {
                return Ok((header, begin + BLOCK));
            }
            if !is_of_storage(&key) && card.iter().any(|byte| *byte != b' ') {
                header.cards.extend(card);
            }
            if let Some(value) = rest.strip_prefix("= ") {
                let value = match value.trim_start().strip_prefix('\'') {
                    Some(text) => text.split('\'').next().unwrap_or_default().trim_end(),
                    None => value.split('/').next().unwrap_or_default().trim(),
                };
                header.lines.push((key, value.to_owned()));
            }
        }
    }
    bail!("a header without an end")
}

/// The images of the file that have the size of the first one.
pub fn found(file: File, limits: &Limits) -> Result<FoundPages> {
    let mut file = Positioned::new(file)?;
    let (mut offset, mut pages, mut primary) = (0, Vec::<FitsPlane>::new(), Header::default());
    while offset < file.length && pages.len() < MAX_PICTURES {
        let (header, begin) = match header(&mut file, offset) {
            Ok(found) => found,
            // An error after the first image ends the search: any data may follow the last image.
            Err(_) if offset > 0 => break,
            Err(error) => return Err(error),
        };
        let axes = header.whole("NAXIS").context("no number of axes")?;
        ensure!((0..=999).contains(&axes), "{axes} axes");
        let lengths = (1..=axes).map(|axis| {
            let length = header.whole(&format!("NAXIS{axis}")).and_then(|length| u64::try_from(length).ok());
            length.with_context(|| format!("no length of axis {axis}"))
        });
        let lengths = lengths.collect::<Result<Vec<u64>>>()?;
        let bits = header.whole("BITPIX").context("no BITPIX")?;
        ensure!(matches!(bits, 8 | 16 | 32 | 64 | -32 | -64), "samples of {bits} bits");
        let each = bits.unsigned_abs() / 8;
        let all = lengths.iter().try_fold(each, |all, length| all.checked_mul(*length));
        let all = if axes == 0 { Some(0) } else { all };
        let groups = [header.whole("PCOUNT").unwrap_or(0), header.whole("GCOUNT").unwrap_or(1)];
        let [more, groups] = groups.map(|count| u64::try_from(count).unwrap_or(0));
        let bytes = more.checked_mul(each).zip(all).and_then(|(more, all)| more.checked_add(all)?.checked_mul(groups));
        let bytes = bytes.context("a size that no file has")?;
        let is_image = header.text("XTENSION").is_none_or(|kind| kind == "IMAGE") && lengths.len() >= 2;
        if let Some(all) = all.filter(|all| is_image && *all > 0) {
            add(&mut pages, &header, [offset, begin], &lengths, (bits, each, all), limits)?;
        }
        if offset == 0 {
            primary = header;
        }
        let next = begin.checked_add(bytes).and_then(|end| end.checked_next_multiple_of(BLOCK));
        offset = next.context("a size that no file has")?;
    }
    let first = pages.first().context("no image in it (compressed ones are not read: funpack makes others of them)")?;
    let first = first.header;
    let said = header(&mut file, first)?.0.within(&primary);
    let (count, metadata) = (pages.len(), said.metadata());
    let pages = Box::new(Fits { file, pages, primary, header: first, cards: said.cards, limits: limits.clone() });
    Ok(FoundPages { pages, count, demuxer: "fits_pipe", mosaic: None, rate: None, metadata })
}

/// Adds the pictures of an image whose header and samples are at `offset` and `begin`.
fn add(
    pages: &mut Vec<FitsPlane>,
    header: &Header,
    [offset, begin]: [u64; 2],
    lengths: &[u64],
    (bits, each, all): (i64, u64, u64),
    limits: &Limits,
) -> Result<()> {
    let size = (usize::try_from(lengths[0])?, usize::try_from(lengths[1])?);
    let channels = if lengths.len() >= 3 && lengths[2] == 3 { 3 } else { 1 };
    check_room(size, channels, limits)?;
    if pages.first().is_some_and(|first| (first.size, first.channels) != (size, channels)) {
        return Ok(());
    }
    let of_picture = lengths[0] * lengths[1] * each * channels as u64;
    for picture in 0..(all / of_picture).min((MAX_PICTURES - pages.len()) as u64) {
        pages.push(FitsPlane {
            header: offset,
            place: begin + picture * of_picture,
            size,
            channels,
            bits,
            zero: header.number("BZERO").unwrap_or(0.0),
            scale: header.number("BSCALE").unwrap_or(1.0),
            blank: header.whole("BLANK").filter(|_| bits > 0),
        });
    }
    Ok(())
}

impl Fits {
    /// Reads the cards that apply to the image whose header is at the offset `place`.
    fn read_cards(&mut self, place: u64) -> Result<()> {
        // Planes of a cube share their header.
        if place != self.header {
            self.cards = header(&mut self.file, place)?.0.within(&self.primary).cards;
            self.header = place;
        }
        Ok(())
    }
}

impl Pages for Fits {
    fn page(&mut self, number: usize) -> Result<Page> {
        let FitsPlane { header, place, size, channels, bits, zero, scale, blank } =
            self.pages.get(number).context("no such picture")?.clone();
        self.read_cards(header)?;
        let samples = check_room(size, channels, &self.limits)?;
        let bytes = self.file.bytes(place, samples * (bits.unsigned_abs() / 8) as usize)?;
        let number = |stored: f64| zero + scale * stored;
        let whole = |stored: i64| if blank == Some(stored) { f64::NAN } else { number(stored as f64) };
        let is_plain = scale == 1.0 && blank.is_none();
        let samples = match bits {
            8 if is_plain && zero == 0.0 => PageSamples::Bytes(bytes),
            8 => PageSamples::Numbers(bytes.into_iter().map(|byte| whole(byte.into())).collect()),
            16 => {
                let words = bytes.as_chunks().0.iter().map(|byte| i16::from_be_bytes(*byte));
                match is_plain && zero == UNSIGNED {
                    true => PageSamples::Words(words.map(|byte| (byte as u16) ^ 0x8000).collect()),
                    false => PageSamples::Numbers(words.map(|byte| whole(byte.into())).collect()),
                }
            }
            32 => PageSamples::Numbers(
                bytes.as_chunks().0.iter().map(|byte| whole(i32::from_be_bytes(*byte).into())).collect(),
            ),
            64 => {
                PageSamples::Numbers(bytes.as_chunks().0.iter().map(|byte| whole(i64::from_be_bytes(*byte))).collect())
            }
            -32 => PageSamples::Numbers(
                bytes.as_chunks().0.iter().map(|byte| number(f32::from_be_bytes(*byte).into())).collect(),
            ),
            _ => {
                PageSamples::Numbers(bytes.as_chunks().0.iter().map(|byte| number(f64::from_be_bytes(*byte))).collect())
            }
        };
        let samples = if channels > 1 { interleaved(samples, channels) } else { samples };
        Ok(Page { size, channels, samples: from_the_top(samples, size.0 * channels) })
    }

    fn cards(&self) -> &[u8] {
        &self.cards
    }
}

/// The samples with their rows in reverse order.
fn from_the_top(samples: PageSamples, row: usize) -> PageSamples {
    fn flipped<T: Copy>(samples: &[T], row: usize) -> Vec<T> {
        samples.chunks_exact(row).rev().flatten().copied().collect()
    }
    match samples {
        PageSamples::Bytes(samples) => PageSamples::Bytes(flipped(&samples, row)),
        PageSamples::Words(samples) => PageSamples::Words(flipped(&samples, row)),
        PageSamples::Numbers(samples) => PageSamples::Numbers(flipped(&samples, row)),
    }
}
