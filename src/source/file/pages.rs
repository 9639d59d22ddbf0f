//! The pages of a TIFF file. FFmpeg reads the first one, and does not tell of others.

use std::fs::File;
use std::io::{ErrorKind, Read, Result, Seek, SeekFrom};
use std::path::Path;

/// The tag that says what an image of the file is, and the bits in it of a smaller version and of a mask, which are no pages.
const KIND: u16 = 254;
const NO_PAGE: u8 = 1 | 4;

/// The most images that are looked at: the list of a damaged file may have no end.
const MOST: u64 = 100_000;

/// The number of pages in the file; 1 if it is no TIFF, or damaged.
pub fn count(path: &Path) -> u64 {
    File::open(path).and_then(Tiff::begin).and_then(Tiff::pages).unwrap_or(1).max(1)
}

/// A file that is read from one list of tags to the next.
struct Tiff {
    file: File,
    is_big_endian: bool,
    /// Length of offsets: 8 bytes in BigTIFF, else 4.
    offset_len: usize,
}

impl Tiff {
    /// Reads what comes before the first offset.
    fn begin(mut file: File) -> Result<Self> {
        let mut magic = [0; 4];
        file.read_exact(&mut magic)?;
        let (is_big_endian, offset_len) = match &magic {
            b"II*\0" => (false, 4),
            b"MM\0*" => (true, 4),
            b"II+\0" => (false, 8),
            b"MM\0+" => (true, 8),
            _ => return Err(ErrorKind::InvalidData.into()),
        };
        // BigTIFF says how long its offsets are.
        file.seek(SeekFrom::Start(if offset_len == 8 { 8 } else { 4 }))?;
        Ok(Tiff { file, is_big_endian, offset_len })
    }

    fn pages(mut self) -> Result<u64> {
        let (count_len, entry_len) = if self.offset_len == 8 { (8, 20) } else { (2, 12) };
        let mut pages = 0;
        for _ in 0..MOST {
            let offset = self.number(self.offset_len)?;
            if offset == 0 {
                break;
            }
            self.file.seek(SeekFrom::Start(offset))?;
            let entries = self.number(count_len)?;
            let mut entry = vec![0; entry_len];
            let mut is_page = true;
            for _ in 0..entries.min(u16::MAX.into()) {
                self.file.read_exact(&mut entry)?;
                let value = &entry[entry_len - self.offset_len..];
                let lowest = if self.is_big_endian { value[3] } else { value[0] };
                is_page &= self.value(&entry[..2]) != u64::from(KIND) || lowest & NO_PAGE == 0;
            }
            pages += u64::from(is_page);
        }
        Ok(pages)
    }

    fn number(&mut self, len: usize) -> Result<u64> {
        let mut bytes = [0; 8];
        self.file.read_exact(&mut bytes[..len])?;
        Ok(self.value(&bytes[..len]))
    }

    fn value(&self, bytes: &[u8]) -> u64 {
        let join = |value: u64, byte: &u8| value << 8 | u64::from(*byte);
        if self.is_big_endian { bytes.iter().fold(0, join) } else { bytes.iter().rev().fold(0, join) }
    }
}
