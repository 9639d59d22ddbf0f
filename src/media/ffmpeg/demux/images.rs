//! Numbered images as the packets of one video: each file is a packet, whose timestamp is its index in the sequence.

use crate::ffmpeg::{Error, Packet};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io;

/// Opens the image with this number.
pub type OpenImage = Box<dyn FnMut(u64) -> io::Result<File> + Send>;

/// The numbers of images, in their order.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Sequence {
    /// The numbers of the existing images; at least one.
    numbers: Vec<u64>,
    /// The step between numbers, if each missing image is replaced by the one before; `None` if missing images are
    /// skipped.
    held: Option<u64>,
}

impl Sequence {
    /// Images with these ascending numbers; `None` if there are none. With `held`, each number at that step is a frame
    /// of the video, even if its image is missing.
    pub fn new(numbers: Vec<u64>, held: Option<u64>) -> Option<Self> {
        let held = held.filter(|&step| step > 0);
        (!numbers.is_empty()).then_some(Sequence { numbers, held })
    }

    /// The number of the first image.
    pub fn first(&self) -> u64 {
        self.numbers[0]
    }

    fn last(&self) -> u64 {
        self.numbers[self.numbers.len() - 1]
    }

    /// The number of frames of the video.
    pub fn count(&self) -> u64 {
        match self.held {
            Some(step) => (self.last() - self.first()) / step + 1,
            None => self.numbers.len() as u64,
        }
    }

    /// The image number of the frame with index `place`. After the last frame, numbers increase by 1.
    pub fn number(&self, place: u64) -> u64 {
        let behind = place.saturating_sub(self.count() - 1);
        let place = place - behind;
        let number = match self.held {
            Some(step) => self.first() + step * place,
            None => self.numbers[place as usize],
        };
        number.saturating_add(behind)
    }

    /// The number of the image that is shown as the frame with index `place`.
    pub fn shown(&self, place: u64) -> u64 {
        let number = self.number(place);
        self.numbers[self.numbers.partition_point(|&there| there <= number).saturating_sub(1)]
    }

    /// Whether there is an image with this number.
    pub fn has(&self, number: u64) -> bool {
        self.numbers.binary_search(&number).is_ok()
    }
}

/// Random access to images, as packets.
pub trait GivePackets: Send {
    /// The number of images; at least one.
    fn count(&self) -> u64;

    /// The image with index `place`, which is also the timestamp.
    ///
    /// # Errors
    /// When it cannot be read.
    fn packet(&mut self, place: u64) -> Result<Packet, Error>;
}

struct NumberedFiles {
    sequence: Sequence,
    open: OpenImage,
}

impl GivePackets for NumberedFiles {
    fn count(&self) -> u64 {
        self.sequence.count()
    }

    fn packet(&mut self, place: u64) -> Result<Packet, Error> {
        let failed = |error: io::Error| Error::Other { errno: error.raw_os_error().unwrap_or(libc::EIO) };
        let file = (self.open)(self.sequence.shown(place)).map_err(failed)?;
        Packet::from_file(&file, [place as i64; 2], 1)
    }
}

/// Images that are read one after the other.
pub struct Images {
    packets: Box<dyn GivePackets>,
    /// Index of the next image, from 0 on.
    next: u64,
}

impl Images {
    /// The images of `packets`, from the first one on.
    pub fn new(packets: Box<dyn GivePackets>) -> Self {
        Images { packets, next: 0 }
    }

    /// The number of images.
    pub fn count(&self) -> u64 {
        self.packets.count()
    }

    /// The next image; `None` after the last.
    pub(crate) fn read(&mut self) -> Result<Option<Packet>, Error> {
        if self.next >= self.count() {
            return Ok(None);
        }
        let packet = self.packets.packet(self.next)?;
        self.next += 1;
        Ok(Some(packet))
    }

    /// Makes the image with index `place` the next one; the last image if there is none.
    pub(crate) fn go_to(&mut self, place: i64) {
        self.next = u64::try_from(place).unwrap_or(0).min(self.count() - 1);
    }
}

/// Opens the first of the numbered files, and returns it with the reader of all.
///
/// # Errors
/// When the first one cannot be opened.
pub(crate) fn open_images(sequence: Sequence, mut open: OpenImage) -> io::Result<(File, Images)> {
    let first = open(sequence.first())?;
    Ok((first, Images::new(Box::new(NumberedFiles { sequence, open }))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_have_numbers_and_images() {
        let numbers = vec![10, 20, 40];
        let skipping = Sequence::new(numbers.clone(), None).expect("images");
        let places = |sequence: &Sequence| {
            (0..5).map(|place| (sequence.number(place), sequence.shown(place))).collect::<Vec<_>>()
        };
        assert_eq!(skipping.count(), 3);
        assert_eq!(places(&skipping), [(10, 10), (20, 20), (40, 40), (41, 40), (42, 40)]);
        let holding = Sequence::new(numbers, Some(10)).expect("images");
        assert_eq!(holding.count(), 4);
        assert_eq!(places(&holding), [(10, 10), (20, 20), (30, 20), (40, 40), (41, 40)]);
        assert!(holding.has(20) && !holding.has(30));
        assert!(Sequence::new(Vec::new(), None).is_none());
    }
}
