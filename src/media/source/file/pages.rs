//! The pages of a TIFF file, each as a file of its own: FFmpeg decodes only the first page of a file.
//!
//! A page is a list of tags (TIFF 6.0, section 2). Values that do not fit into a tag are elsewhere in the file, and so
//! are the samples, in strips.

use crate::ffmpeg::Packet;
use crate::image_file::{ByteOrder, TYPE_BYTES};
use std::borrow::Cow;
use std::collections::HashSet;

/// The tag NewSubfileType, and its bits for a reduced version and for a mask, which are no pages.
const KIND: u16 = 254;
const NO_PAGE: u32 = 1 | 4;

/// Pairs of tags, with the offsets and the lengths of samples: of strips, and of an embedded JPEG file.
const SAMPLES: [(u16, u16); 2] = [(273, 279), (513, 514)];

/// The tag with the offsets of tiles, which FFmpeg decodes to noise, except in camera raw files, which have the tag
/// DNG.
const TILES: u16 = 324;
const DNG: u16 = 50706;

/// The tag with the type of the samples: unsigned integers, or undefined. FFmpeg decodes all other types as these.
const SAMPLE_FORMAT: u16 = 339;
const UNSIGNED: [usize; 2] = [1, 4];

/// Tags that lead to other lists of tags, which do not affect how a page is decoded: smaller versions, and notes of
/// cameras.
const OTHER_LISTS: [u16; 3] = [330, 34665, 34853];

/// The type of offsets: 4 bytes.
const LONG: u16 = 4;

/// Offsets in a tag: of the number of its values, and of the values or, if they do not fit, of their offset.
const COUNT: usize = 4;
const VALUE: usize = 8;

/// Bytes of a tag.
const TAG: usize = 12;

const MAX_PAGES: usize = 100_000;

/// A TIFF file of several pages.
pub struct TiffPages {
    file: Packet,
    /// The offsets of the pages' lists of tags.
    lists: Vec<usize>,
    next: usize,
}

impl TiffPages {
    /// The pages of the file in this packet; the unchanged packet, if FFmpeg reads all pages of it, or it cannot be
    /// read.
    pub fn open(file: Packet) -> Result<Self, Packet> {
        let lists = TiffBytes::parse(file.data())
            .map_or(Vec::new(), |tiff| if tiff.is_read() { Vec::new() } else { tiff.pages() });
        if lists.is_empty() { Err(file) } else { Ok(TiffPages { file, lists, next: 0 }) }
    }

    /// The number of pages.
    pub fn count(&self) -> usize {
        self.lists.len()
    }

    /// The next page as a file of its own. A page that cannot be read becomes a file with a header only.
    pub fn next(&mut self) -> Option<Packet> {
        let list = *self.lists.get(self.next)?;
        let number = i64::try_from(self.next).ok()?;
        self.next += 1;
        let bytes = self.file.data();
        let page = TiffBytes::parse(bytes).and_then(|tiff| tiff.page(list));
        let duration = self.file.duration().max(1);
        let time = self.file.time().unwrap_or(0) + number * duration;
        let begin = &bytes[..bytes.len().min(VALUE)];
        Some(Packet::from_bytes(page.as_deref().unwrap_or(begin), [time, time], duration, true))
    }
}

/// Whether a file with these bytes has several pages.
pub fn are_several(bytes: &[u8]) -> bool {
    TiffBytes::parse(bytes).is_some_and(|tiff| tiff.pages().len() > 1)
}

/// A tag of a page, with its values.
struct PageTag<'a> {
    kind: u16,
    numeric_type: u16,
    count: u32,
    values: Cow<'a, [u8]>,
}

struct TiffBytes<'a> {
    bytes: &'a [u8],
    order: ByteOrder,
}

impl<'a> TiffBytes<'a> {
    /// `None` for data that is not TIFF, and for BigTIFF, which FFmpeg does not read.
    fn parse(bytes: &'a [u8]) -> Option<Self> {
        Some(TiffBytes { bytes, order: ByteOrder::parse(bytes)? })
    }

    /// The offsets of the lists of tags of all pages. The last list may be missing, if the file is cut off.
    fn pages(&self) -> Vec<usize> {
        let (mut pages, mut seen) = (Vec::new(), HashSet::new());
        let mut link = 4;
        while let Some(list) = self.long(link).filter(|list| *list != 0 && seen.len() < MAX_PAGES && seen.insert(*list))
        {
            let Some(tags) = self.tags(list) else {
                pages.push(list);
                break;
            };
            let is_page =
                |tag: &'a [u8]| self.order.number(&tag[..2]) != u32::from(KIND) || self.first(tag) & NO_PAGE == 0;
            if tags.chunks_exact(TAG).all(is_page) {
                pages.push(list);
            }
            link = list + 2 + tags.len();
        }
        pages
    }

    /// Whether FFmpeg reads all pages of the file as it is.
    fn is_read(&self) -> bool {
        let (pages, Some(first)) = (self.pages(), self.long(4)) else { return true };
        self.has(first, DNG) || pages.is_empty() || pages == [first] && self.is_decoded(first)
    }

    /// Whether FFmpeg decodes the page with this list of tags.
    fn is_decoded(&self, list: usize) -> bool {
        let mut tags = self.tags(list).unwrap_or_default().chunks_exact(TAG);
        !tags.any(|bytes| match self.kind(bytes) {
            TILES => true,
            SAMPLE_FORMAT => {
                let formats = self.tag(bytes).map_or(Vec::new(), |tag| self.numbers(&tag));
                formats.iter().any(|format| !UNSIGNED.contains(format))
            }
            _ => false,
        })
    }

    /// Whether the page with this list of tags has this tag.
    fn has(&self, list: usize, tag: u16) -> bool {
        self.tags(list).is_some_and(|tags| tags.chunks_exact(TAG).any(|other| self.kind(other) == tag))
    }

    /// The page with this list of tags, as a file: samples, values that do not fit into tags, then tags. `None` if it
    /// is damaged, or FFmpeg does not read it.
    fn page(&self, list: usize) -> Option<Vec<u8>> {
        if !self.is_decoded(list) {
            return None;
        }
        let (mut tags, mut page) = (self.kept(list)?, self.bytes[..VALUE].to_vec());
        for (offsets, lengths) in SAMPLES {
            let numbers = |kind| tags.iter().find(|tag| tag.kind == kind).map(|tag| self.numbers(tag));
            let Some(strips) = numbers(offsets) else { continue };
            let sizes = numbers(lengths).unwrap_or_else(|| self.up_to_next(&strips));
            let (mut places, mut copied) = (Vec::new(), Vec::new());
            for (strip, size) in strips.into_iter().zip(sizes) {
                places.push(page.len());
                copied.push(size);
                page.extend(self.bytes.get(strip..strip.checked_add(size)?)?);
                self.check(&page)?;
            }
            tags.retain(|tag| tag.kind != offsets && tag.kind != lengths);
            tags.extend([self.longs(offsets, &places)?, self.longs(lengths, &copied)?]);
        }
        tags.sort_by_key(|tag| tag.kind);
        let mut end = self.order.bytes(u32::try_from(tags.len()).ok()?, 2);
        for PageTag { kind, numeric_type, count, values } in &tags {
            end.extend([self.order.bytes((*kind).into(), 2), self.order.bytes((*numeric_type).into(), 2)].concat());
            end.extend(self.order.bytes(*count, 4));
            if values.len() > 4 {
                end.extend(self.order.bytes(u32::try_from(page.len()).ok()?, 4));
                page.extend(values.iter());
                self.check(&page)?;
            } else {
                end.extend(values.iter().copied().chain([0; 4]).take(4));
            }
        }
        let place = self.order.bytes(u32::try_from(page.len()).ok()?, 4);
        page[4..VALUE].copy_from_slice(&place);
        page.extend(end);
        page.extend([0; 4]);
        Some(page)
    }

    /// Refuses a page of more than twice the size of the file.
    fn check(&self, page: &[u8]) -> Option<()> {
        (page.len() <= 2 * self.bytes.len()).then_some(())
    }

    /// The tags of a list, without those that lead to other lists or whose values are not in the file.
    fn kept(&self, list: usize) -> Option<Vec<PageTag<'a>>> {
        let tags = self.tags(list)?.chunks_exact(TAG);
        let kept = tags.filter(|tag| !OTHER_LISTS.contains(&self.kind(tag))).filter_map(|tag| self.tag(tag));
        Some(kept.collect())
    }

    /// The tag in these bytes; `None` if its values are outside of the file.
    fn tag(&self, bytes: &'a [u8]) -> Option<PageTag<'a>> {
        let (kind, numeric_type) = (self.kind(bytes), self.order.number(&bytes[2..COUNT]) as u16);
        let count = self.order.number(&bytes[COUNT..VALUE]);
        let each = TYPE_BYTES.get(usize::from(numeric_type)).copied().unwrap_or(0);
        let length = each.checked_mul(count as usize)?;
        let values = if length <= 4 {
            &bytes[VALUE..VALUE + length]
        } else {
            let offset = self.order.number(&bytes[VALUE..]) as usize;
            self.bytes.get(offset..offset.checked_add(length)?)?
        };
        Some(PageTag { kind, numeric_type, count, values: values.into() })
    }

    /// A `LONG` tag with these numbers.
    fn longs(&self, kind: u16, numbers: &[usize]) -> Option<PageTag<'a>> {
        let bytes = |number: &usize| u32::try_from(*number).ok().map(|number| self.order.bytes(number, 4));
        let values: Option<Vec<Vec<u8>>> = numbers.iter().map(bytes).collect();
        Some(PageTag { kind, numeric_type: LONG, count: numbers.len() as u32, values: values?.concat().into() })
    }

    /// The numbers of a tag, if they have 2 or 4 bytes; else empty.
    fn numbers(&self, tag: &PageTag<'_>) -> Vec<usize> {
        match TYPE_BYTES.get(usize::from(tag.numeric_type)) {
            Some(&each @ (2 | 4)) => {
                tag.values.chunks_exact(each).map(|value| self.order.number(value) as usize).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The lengths of strips, up to the next strip or the end of the file: some writers leave lengths out, and a
    /// decoder then takes those of the page before.
    fn up_to_next(&self, strips: &[usize]) -> Vec<usize> {
        let mut sorted = strips.to_vec();
        sorted.sort_unstable();
        let next = |strip: &usize| sorted.get(sorted.partition_point(|other| other <= strip)).copied();
        strips.iter().map(|strip| next(strip).unwrap_or(self.bytes.len()).saturating_sub(*strip)).collect()
    }

    /// The tags of the list at the offset `list`.
    fn tags(&self, list: usize) -> Option<&'a [u8]> {
        let count = self.order.number(self.bytes.get(list..list.checked_add(2)?)?) as usize;
        self.bytes.get(list + 2..list + 2 + count * TAG)
    }

    fn kind(&self, tag: &[u8]) -> u16 {
        self.order.number(&tag[..2]) as u16
    }

    /// The first number of a tag.
    fn first(&self, bytes: &'a [u8]) -> u32 {
        self.tag(bytes).and_then(|tag| self.numbers(&tag).first().copied()).unwrap_or(0) as u32
    }

    /// The offset that is stored at `index`.
    fn long(&self, index: usize) -> Option<usize> {
        self.bytes.get(index..index.checked_add(4)?).map(|bytes| self.order.number(bytes) as usize)
    }
}
