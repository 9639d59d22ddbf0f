//! Small pictures of files, for the list of a folder.

use super::folder::modified;
use crate::draw::sheet::Miniatures;
use crate::stills::Moment;
use crate::web::view::hub::lock;
use anyhow::{Result, bail};
use bytes::Bytes;
use histeq_media::ffmpeg::encode::Still;
use histeq_media::pipeline::Cancel;
use histeq_media::source::{InputOptions, Part};
use histeq_media::sys::files::is_image_name;
use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use tokio::sync::Semaphore;

/// Columns and rows that a picture fits in.
const ROOM: (usize, usize) = (320, 320);

/// Most bytes of all pictures that are kept, and the most pictures that are kept.
const MAX_BYTES: usize = 24 << 20;
const MAX_KEPT: usize = 4_000;

/// The time of the frame that represents a film, in microseconds, if the film is that long: the first frame is often
/// black.
const AT: i64 = 1_500_000;

/// Path, size and time of the last change of a file: a changed file gets a new picture.
type Key = (PathBuf, u64, u64);

/// Makes small pictures of files, and keeps them.
pub struct SmallPictures {
    /// Lets one thumbnail be made at a time: the other threads are for the frame that a viewer has open.
    pub turn: Arc<Semaphore>,
    kept: Mutex<Kept>,
}

impl Default for SmallPictures {
    fn default() -> Self {
        SmallPictures { turn: Arc::new(Semaphore::new(1)), kept: Mutex::default() }
    }
}

#[derive(Default)]
struct Kept {
    /// `None` for a file of which no picture can be made.
    pictures: HashMap<Key, Option<Bytes>>,
    /// The keys, oldest first.
    order: VecDeque<Key>,
    bytes: usize,
}

impl Kept {
    fn keep(&mut self, key: Key, picture: Option<Bytes>) {
        self.bytes += picture.as_ref().map_or(0, Bytes::len);
        if self.pictures.insert(key.clone(), picture).is_none() {
            self.order.push_back(key);
        }
        while self.bytes > MAX_BYTES || self.order.len() > MAX_KEPT {
            let Some(oldest) = self.order.pop_front() else { break };
            self.bytes -= self.pictures.remove(&oldest).flatten().map_or(0, |picture| picture.len());
        }
    }
}

impl SmallPictures {
    /// The picture of a file, as JPEG: the one that is kept, or a new one.
    ///
    /// # Errors
    /// When no picture can be made of the file.
    pub fn jpeg(&self, input: &InputOptions, cancel: &Cancel) -> Result<Vec<u8>> {
        let found = input.url.path().metadata()?;
        let key = (input.url.path().to_owned(), found.len(), modified(&found));
        let kept = lock(&self.kept).pictures.get(&key).cloned();
        let picture = match kept {
            Some(kept) => kept,
            None => {
                let index = Some(AT).filter(|_| !is_image_name(input.url.path()));
                let made = make(input, index, cancel).or_else(|_| make(input, None, cancel)).ok().map(Bytes::from);
                if !cancel.is_cancelled() {
                    lock(&self.kept).keep(key, made.clone());
                }
                made
            }
        };
        picture.map_or_else(|| bail!("it cannot be shown"), |picture| Ok(picture.to_vec()))
    }
}

fn make(input: &InputOptions, start: Option<i64>, cancel: &Cancel) -> Result<Vec<u8>> {
    let part = Part { start, frames: Some(1), ..Part::default() };
    let moment = Moment::read(&InputOptions { part, ..input.clone() }, &[], Some(ROOM), cancel)?;
    Still::Jpeg.encode(&Miniatures::new(&moment.input, ROOM).miniature(&moment.shown)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_has_a_limit_in_bytes_and_in_number() {
        let mut kept = Kept::default();
        let key = |number: usize| (PathBuf::from(number.to_string()), 0, 0);
        for number in 0..40 {
            kept.keep(key(number), Some(vec![0; 1 << 20].into()));
        }
        assert_eq!((kept.bytes, kept.order.len()), (MAX_BYTES, 24));
        assert!(kept.pictures.contains_key(&key(39)) && !kept.pictures.contains_key(&key(15)));
        for number in 100..100 + 2 * MAX_KEPT {
            kept.keep(key(number), None);
        }
        assert_eq!((kept.bytes, kept.order.len(), kept.pictures.len()), (0, MAX_KEPT, MAX_KEPT));
    }
}
