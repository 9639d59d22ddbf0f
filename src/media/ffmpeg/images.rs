//! Numbered images as the packets of one video: each file is a packet, and its place in the sequence is its time.

use super::{Error, Packet};
use std::fs::File;
use std::io;

/// Opens the image with this number.
pub type OpenImage = Box<dyn FnMut(u64) -> io::Result<File> + Send>;

/// Images with consecutive numbers.
pub struct Images {
    first: u64,
    count: u64,
    /// The place of the next one, from 0 on.
    next: u64,
    open: OpenImage,
}

impl Images {
    /// `count` images, from number `first` on.
    pub fn new(first: u64, count: u64, open: OpenImage) -> Self {
        Images { first, count, next: 0, open }
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Opens the first one.
    pub(super) fn open_first(&mut self) -> io::Result<File> {
        (self.open)(self.first)
    }

    /// The next one; `None` behind the last.
    pub(super) fn read(&mut self) -> Result<Option<Packet>, Error> {
        if self.next >= self.count {
            return Ok(None);
        }
        let place = self.next;
        let failed = |error: io::Error| Error::Other { errno: error.raw_os_error().unwrap_or(libc::EIO) };
        let file = (self.open)(self.first + place).map_err(failed)?;
        let time = place as i64;
        let packet = Packet::of_file(&file, [time; 2], 1)?;
        self.next = place + 1;
        Ok(Some(packet))
    }

    /// Goes to the image at this place; to the last one if there is none.
    pub(super) fn go_to(&mut self, place: i64) {
        self.next = u64::try_from(place).unwrap_or(0).min(self.count.saturating_sub(1));
    }
}
