//! The pages of a TIFF file, each as a file of its own: FFmpeg decodes the first page of a file, and does not tell of others.
//!
//! A page is a list of tags (TIFF 6.0, section 2). What does not fit into a tag lies elsewhere in the file, and so do the samples,
//! in strips.

use crate::ffmpeg::Packet;
use std::collections::HashSet;

/// The tag that says what an image of the file is, and the bits in it of a smaller version and of a mask, which are no pages.
const KIND: u16 = 254;
const NO_PAGE: u32 = 1 | 4;

/// Tags with the offsets of samples, and those with their lengths: of strips, of a JPEG file.
const SAMPLES: [(u16, u16); 2] = [(273, 279), (513, 514)];

/// The tag with the offsets of tiles, which FFmpeg makes noise of, and the one that cameras' raw files have, whose tiles it reads.
const TILES: u16 = 324;
const DNG: u16 = 50706;

/// Tags that lead to other lists of tags, which say nothing of how a page is decoded: smaller versions, and what cameras tell.
const OTHER_LISTS: [u16; 3] = [330, 34665, 34853];

/// The bytes of a value of each type, from 0 on.
const TYPE_BYTES: [usize; 14] = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4];

/// The type of offsets: 4 bytes.
const LONG: u16 = 4;

/// Where the number of a tag's values is, and where the values are, or their offset.
const COUNT: usize = 4;
const VALUE: usize = 8;

/// Bytes of a tag.
const TAG: usize = 12;

/// The most pages.
const MOST: usize = 100_000;

/// A TIFF file of several pages.
pub struct Pages {
    file: Packet,
    /// Where the lists of tags are.
    lists: Vec<usize>,
    next: usize,
}

impl Pages {
    /// The pages of the file in this packet; the packet as it is, if FFmpeg reads all that is in it, or nothing.
    pub fn of(file: Packet) -> Result<Self, Packet> {
        let Some(tiff) = Tiff::of(file.data()) else { return Err(file) };
        let lists = tiff.pages();
        let has = |tag| lists.first().is_some_and(|list| tiff.has(*list, tag));
        let is_read = has(DNG) || lists.len() < 2 && !has(TILES);
        if is_read { Err(file) } else { Ok(Pages { file, lists, next: 0 }) }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.lists.len()
    }

    /// The next page as a file of its own. One that cannot be read has nothing but the beginning of a file.
    pub fn next(&mut self) -> Option<Packet> {
        let list = *self.lists.get(self.next)?;
        let number = i64::try_from(self.next).ok()?;
        self.next += 1;
        let bytes = self.file.data();
        let page = Tiff::of(bytes).and_then(|tiff| tiff.page(list));
        let duration = self.file.duration().max(1);
        let time = self.file.time().unwrap_or(0) + number * duration;
        let begin = &bytes[..bytes.len().min(VALUE)];
        Some(Packet::of_bytes(page.as_deref().unwrap_or(begin), [time, time], duration, true))
    }
}

/// The bytes of a file.
struct Tiff<'a> {
    bytes: &'a [u8],
    is_big_endian: bool,
}

impl<'a> Tiff<'a> {
    /// `None` for what is no TIFF, or a BigTIFF, which FFmpeg does not read.
    fn of(bytes: &'a [u8]) -> Option<Self> {
        match bytes.get(..4)? {
            b"II*\0" => Some(Tiff { bytes, is_big_endian: false }),
            b"MM\0*" => Some(Tiff { bytes, is_big_endian: true }),
            _ => None,
        }
    }

    /// Where the lists of tags of all pages are. The last one may be missing, where the file is cut off.
    fn pages(&self) -> Vec<usize> {
        let (mut pages, mut seen) = (Vec::new(), HashSet::new());
        let mut link = 4;
        while let Some(list) = self.long(link).filter(|list| *list != 0 && seen.len() < MOST && seen.insert(*list)) {
            let Some(tags) = self.tags(list) else {
                pages.push(list);
                break;
            };
            let is_page = |tag: &[u8]| self.number(&tag[..2]) != u32::from(KIND) || self.first(tag) & NO_PAGE == 0;
            if tags.chunks_exact(TAG).all(is_page) {
                pages.push(list);
            }
            link = list + 2 + tags.len();
        }
        pages
    }

    /// Whether the page with this list of tags has this one.
    fn has(&self, list: usize, tag: u16) -> bool {
        self.tags(list).is_some_and(|tags| tags.chunks_exact(TAG).any(|other| self.kind(other) == tag))
    }

    /// The page with this list of tags, as a file; `None` if it is damaged, or FFmpeg does not read it.
    fn page(&self, list: usize) -> Option<Vec<u8>> {
        if self.has(list, TILES) {
            return None;
        }
        let tags = self.tags(list)?;
        let is_kept = |tag: &&[u8]| !OTHER_LISTS.contains(&self.kind(tag));
        let kept: Vec<&[u8]> = tags.chunks_exact(TAG).filter(is_kept).collect();
        let mut page = self.bytes[..4].to_vec();
        page.extend(self.bytes_of(VALUE as u32, 4));
        page.extend(self.bytes_of(kept.len() as u32, 2));
        let first = page.len();
        page.extend(kept.concat());
        page.extend([0; 4]);
        for (index, tag) in kept.iter().enumerate() {
            let at = first + index * TAG;
            if let Some((_, lengths)) = SAMPLES.iter().find(|(offsets, _)| *offsets == self.kind(tag)) {
                let offsets = self.values(tag)?;
                let lengths = match kept.iter().find(|tag| self.kind(tag) == *lengths) {
                    Some(tag) => self.values(tag)?,
                    // Of a single strip, some writers leave it out.
                    None => offsets.iter().take(1).map(|offset| self.bytes.len().saturating_sub(*offset)).collect(),
                };
                let mut places = Vec::with_capacity(offsets.len() * 4);
                for (offset, length) in offsets.iter().zip(lengths) {
                    places.extend(self.bytes_of(u32::try_from(page.len()).ok()?, 4));
                    page.extend(self.bytes.get(*offset..offset.checked_add(length)?)?);
                    // No byte of a file is in two strips: not more is to be had from it.
                    if page.len() > 2 * self.bytes.len() {
                        return None;
                    }
                }
                page[at + 2..at + COUNT].copy_from_slice(&self.bytes_of(LONG.into(), 2));
                page[at + COUNT..at + VALUE].copy_from_slice(&self.bytes_of((places.len() / 4) as u32, 4));
                self.put(&mut page, at, &places)?;
            } else {
                self.put(&mut page, at, self.data(tag)?)?;
            }
        }
        Some(page)
    }

    /// Writes the values of the tag at `at`, into it or behind the page.
    fn put(&self, page: &mut Vec<u8>, at: usize, values: &[u8]) -> Option<()> {
        if values.len() <= 4 {
            page[at + VALUE..at + VALUE + values.len()].copy_from_slice(values);
            return Some(());
        }
        let end = self.bytes_of(u32::try_from(page.len()).ok()?, 4);
        page[at + VALUE..at + TAG].copy_from_slice(&end);
        page.extend(values);
        Some(())
    }

    /// The tags of the list that begins there.
    fn tags(&self, list: usize) -> Option<&'a [u8]> {
        let count = self.number(self.bytes.get(list..list.checked_add(2)?)?) as usize;
        self.bytes.get(list + 2..list + 2 + count * TAG)
    }

    fn kind(&self, tag: &[u8]) -> u16 {
        self.number(&tag[..2]) as u16
    }

    /// The first value of a tag.
    fn first(&self, tag: &[u8]) -> u32 {
        self.values(tag).and_then(|values| values.first().copied()).unwrap_or(0) as u32
    }

    /// The bytes of a tag's values.
    fn data(&self, tag: &'a [u8]) -> Option<&'a [u8]> {
        let each = TYPE_BYTES.get(self.number(&tag[2..COUNT]) as usize).copied().unwrap_or(0);
        let length = each.checked_mul(self.number(&tag[COUNT..VALUE]) as usize)?;
        if length <= 4 {
            return Some(&tag[VALUE..VALUE + length]);
        }
        let offset = self.number(&tag[VALUE..]) as usize;
        self.bytes.get(offset..offset.checked_add(length)?)
    }

    /// A tag's values, of 2 or 4 bytes.
    fn values(&self, tag: &'a [u8]) -> Option<Vec<usize>> {
        let each = *TYPE_BYTES.get(self.number(&tag[2..COUNT]) as usize)?;
        let data = self.data(tag)?;
        (each == 2 || each == 4).then(|| data.chunks_exact(each).map(|value| self.number(value) as usize).collect())
    }

    /// The offset that is written at `at`.
    fn long(&self, at: usize) -> Option<usize> {
        self.bytes.get(at..at.checked_add(4)?).map(|bytes| self.number(bytes) as usize)
    }

    /// A number of up to 4 bytes.
    fn number(&self, bytes: &[u8]) -> u32 {
        let join = |value: u32, byte: &u8| value << 8 | u32::from(*byte);
        if self.is_big_endian { bytes.iter().fold(0, join) } else { bytes.iter().rev().fold(0, join) }
    }

    /// A number in this many bytes.
    fn bytes_of(&self, number: u32, count: usize) -> Vec<u8> {
        match self.is_big_endian {
            true => number.to_be_bytes()[4 - count..].to_vec(),
            false => number.to_le_bytes()[..count].to_vec(),
        }
    }
}
