//! Joins TIFF files of one page, as FFmpeg's encoder makes them, to one file of many pages.

use super::exif::TYPE_BYTES;
use anyhow::{Context, Result, ensure};

/// Tags with the offset of another list of tags, and the tag with the offsets of strips.
const LISTS: [u16; 3] = [34665, 34853, 40965];
const STRIPS: u16 = 273;

/// Bytes of a header and of a tag, and the offsets in a tag of its number of values and of the values.
const HEADER: usize = 8;
const TAG: usize = 12;
const COUNT: usize = 4;
const VALUE: usize = 8;

/// A file of pages that is being written.
#[derive(Default)]
pub struct TiffStack {
    /// The last page, which is held back until the offset of the next page's list of tags is known.
    waits: Option<Vec<u8>>,
    /// The position in that page at which the offset of the next list is stored.
    link: usize,
    /// Bytes of the file before that page.
    before: usize,
}

impl TiffStack {
    /// Adds a page, which is a TIFF file. Returns the next bytes of the common file.
    ///
    /// # Errors
    /// When the page is not a TIFF file as FFmpeg writes it, or the joined file is larger than 4 GiB.
    pub fn push(&mut self, mut page: Vec<u8>) -> Result<Option<Vec<u8>>> {
        page.resize(page.len().next_multiple_of(2), 0);
        let begin = self.before + self.waits.as_ref().map_or(0, Vec::len);
        let fits = begin.checked_add(page.len()).is_some_and(|end| u32::try_from(end).is_ok());
        ensure!(fits, "a TIFF of more than 4 GiB is not written (write numbered images, as out%05d.tif)");
        let (list, link) = moved(&mut page, begin as u32)
            .context("what the encoder of TIFF has made cannot be joined (write numbered images, as out%05d.tif)")?;
        let mut ready = self.waits.replace(page);
        if let Some(ready) = &mut ready {
            ready[self.link..self.link + 4].copy_from_slice(&list.to_le_bytes());
            self.before = begin;
        }
        self.link = link;
        Ok(ready)
    }

    /// The bytes that end the file.
    pub fn end(&mut self) -> Option<Vec<u8>> {
        self.waits.take()
    }
}

fn number(bytes: &[u8], offset: usize, count: usize) -> Option<u32> {
    let bytes = bytes.get(offset..offset.checked_add(count)?)?;
    Some(bytes.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte)))
}

/// Adds `by` to the number of 4 bytes at that offset.
fn add(bytes: &mut [u8], offset: usize, by: u32) -> Option<()> {
    let moved = number(bytes, offset, 4)?.checked_add(by)?;
    bytes.get_mut(offset..offset + 4)?.copy_from_slice(&moved.to_le_bytes());
    Some(())
}

/// Moves the page in these bytes to the offset `by` of a file. Returns the offset of its list of tags, and where in the
/// page the offset of the next list is stored.
fn moved(page: &mut [u8], by: u32) -> Option<(u32, usize)> {
    if page.get(..4)? != b"II*\0" {
        return None;
    }
    let first = number(page, 4, 4)? as usize;
    add(page, 4, by)?;
    let (mut lists, mut moved_lists) = (vec![first], 0);
    while let Some(list) = lists.pop() {
        moved_lists += 1;
        // The page is too short for more lists, so some name each other in a cycle.
        if moved_lists + lists.len() > page.len() / HEADER {
            return None;
        }
        let count = number(page, list, 2)? as usize;
        for tag in (0..count).map(|tag| list + 2 + tag * TAG) {
            let (kind, numeric_type) = (number(page, tag, 2)? as u16, number(page, tag + 2, 2)? as usize);
            let (each, values) = (*TYPE_BYTES.get(numeric_type)?, number(page, tag + COUNT, 4)? as usize);
            let is_elsewhere = each.checked_mul(values)? > 4;
            let place = number(page, tag + VALUE, 4)? as usize;
            if LISTS.contains(&kind) {
                lists.push(place);
            }
            if kind == STRIPS {
                let begin = if is_elsewhere { place } else { tag + VALUE };
                // FFmpeg writes the offsets of strips with 4 bytes each.
                (each == 4).then_some(())?;
                (0..values).try_for_each(|strip| add(page, begin + strip * 4, by))?;
            }
            if is_elsewhere || LISTS.contains(&kind) {
                add(page, tag + VALUE, by)?;
            }
        }
    }
    let count = number(page, first, 2)? as usize;
    Some((u32::try_from(first).ok()?.checked_add(by)?, first + 2 + count * TAG))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_tags_that_names_itself_is_no_page() {
        let tag = [&LISTS[0].to_le_bytes()[..], &4u16.to_le_bytes(), &1u32.to_le_bytes(), &8u32.to_le_bytes()];
        let page = [b"II*\0", &8u32.to_le_bytes()[..], &1u16.to_le_bytes(), &tag.concat(), &[0; 4]].concat();
        assert_eq!(moved(&mut page.clone(), 0), None);
    }
}
