//! Reads a file without its shared position, which other processes may move.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;

/// A file with a private read position.
pub struct Positioned {
    pub file: File,
    position: u64,
    /// Bytes of the file.
    pub length: u64,
}

impl Positioned {
    pub fn new(file: File) -> io::Result<Self> {
        let length = file.metadata()?.len();
        Ok(Positioned { file, position: 0, length })
    }

    /// `count` bytes at `offset`; an error if the file has fewer.
    pub fn bytes(&mut self, offset: u64, count: usize) -> io::Result<Vec<u8>> {
        let end = offset.checked_add(count as u64);
        // Checked first, so that a file that is too short costs no memory.
        if end.is_none_or(|end| end > self.length) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut bytes = vec![0; count];
        self.position = offset;
        self.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

impl Read for Positioned {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(target, self.position)?;
        self.position += count as u64;
        Ok(count)
    }
}

impl Seek for Positioned {
    fn seek(&mut self, target: SeekFrom) -> io::Result<u64> {
        let place = match target {
            SeekFrom::Start(place) => Some(place),
            SeekFrom::End(by) => self.length.checked_add_signed(by),
            SeekFrom::Current(by) => self.position.checked_add_signed(by),
        };
        self.position = place.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}
