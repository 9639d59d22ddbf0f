//! Files that are dropped on the page. They stay in a private folder, each in a folder of its own, until the program
//! ends.

use crate::options::jobs::is_video_name;
use crate::web::http::routes::{Wrong, value_of};
use crate::web::view::hub::lock;
use anyhow::{Context, Result};
use histeq_media::sys::files::is_image_name;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE};
use hyper::http::request::Parts;
use hyper::{Request, StatusCode};
use percent_encoding::percent_decode_str;
use std::collections::BTreeSet;
use std::fs::{File, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;
use tempfile::{Builder, TempDir};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout_at};

/// An upload fails if fewer than `MIN_PROGRESS` bytes of it arrive in this time. A slow one would keep others out.
const PATIENCE: Duration = Duration::from_secs(60);
const MIN_PROGRESS: u64 = 1 << 20;

/// Bytes that are written at once.
const CHUNK: usize = 1 << 20;

/// Bytes from the begin of a file that are enough to recognize its type.
const MIN_HEAD: usize = 16;

/// Most uploads at the same time, and most uploads in all.
const MAX_AT_ONCE: usize = 4;
const MAX_FILES: usize = 1_000;

/// Most bytes of a refused upload that are read.
const MAX_DROPPED: usize = 64 << 20;

/// Most bytes of a name.
const MAX_NAME: usize = 180;

/// The signatures of film and picture files: offset and bytes.
const BEGINNINGS: [(usize, &[u8]); 29] = [
    (4, b"ftyp"),
    (4, b"moov"),
    (4, b"mdat"),
    (4, b"wide"),
    (4, b"free"),
    (4, b"skip"),
    (0, b"\x1aE\xdf\xa3"),
    (0, b"RIFF"),
    (0, b"FLV"),
    (0, b"OggS"),
    (0, b"\x30\x26\xb2\x75\x8e\x66\xcf\x11"),
    (0, b"\x00\x00\x01\xba"),
    (0, b"\x00\x00\x01\xb3"),
    (0, b"\x00\x00\x00\x01"),
    (0, b"\x47\x40"),
    (4, b"\x47\x40"),
    (0, b"\x06\x0e\x2b\x34"),
    (0, b"YUV4MPEG2"),
    (0, b"\xff\xd8\xff"),
    (0, b"\x89PNG\r\n\x1a\n"),
    (0, b"GIF8"),
    (0, b"BM"),
    (0, b"II*\0"),
    (0, b"MM\0*"),
    (0, b"\0\0\0\x0cjP  "),
    (0, b"\0\0\0\x0cJXL "),
    (0, b"\xff\x0a"),
    (0, b"DKIF"),
    (0, b"SDPX"),
];

/// How fast a file has to arrive.
struct Pace {
    /// When its first `due` bytes have to be there.
    end: Instant,
    due: u64,
}

impl Pace {
    fn begin() -> Self {
        Pace { end: Instant::now() + PATIENCE, due: MIN_PROGRESS }
    }

    /// Notes how many bytes have arrived.
    fn keep(&mut self, bytes: u64) {
        if bytes >= self.due {
            *self = Pace { due: bytes + MIN_PROGRESS, ..Pace::begin() };
        }
    }
}

/// The uploaded files, and the results that were made of them.
pub struct Uploads {
    /// The most bytes of all uploads together.
    pub most: u64,
    state: Mutex<UploadState>,
}

#[derive(Default)]
struct UploadState {
    folder: Option<TempDir>,
    /// Bytes of complete uploads, and of those in progress.
    bytes: u64,
    files: Vec<PathBuf>,
    /// How many folders have been made for single uploads: the name of the next one.
    count: usize,
    coming: BTreeSet<PathBuf>,
    has_ended: bool,
    /// Results of uploads that are not yet downloaded.
    results: BTreeSet<PathBuf>,
}

/// An upload in progress. Its file is removed if this is dropped before the upload is complete.
struct Coming<'a> {
    uploads: &'a Uploads,
    path: PathBuf,
    bytes: u64,
    is_whole: bool,
}

impl Drop for Coming<'_> {
    fn drop(&mut self) {
        let mut state = lock(&self.uploads.state);
        state.coming.remove(&self.path);
        if self.is_whole {
            state.files.push(self.path.clone());
        } else {
            state.bytes -= self.bytes;
            let _ = self.path.parent().map(std::fs::remove_dir_all);
        }
    }
}

impl Uploads {
    /// An empty list of uploads, which accepts at most `most` bytes.
    pub fn new(most: u64) -> Self {
        Uploads { most, state: Mutex::default() }
    }

    /// How many more bytes may be uploaded.
    pub fn left(&self) -> u64 {
        self.most - lock(&self.state).bytes
    }

    /// The complete uploads.
    pub fn files(&self) -> Vec<PathBuf> {
        lock(&self.state).files.clone()
    }

    /// Whether this file is an upload.
    pub fn has(&self, path: &Path) -> bool {
        lock(&self.state).files.iter().any(|file| file == path)
    }

    /// Receives the file in the body of a request. `begun` gets the private folder when the first upload creates that.
    ///
    /// # Errors
    /// When the file is too large, is no film or picture, or does not arrive completely.
    pub async fn take(&self, request: Request<Incoming>, begun: impl FnOnce(PathBuf) + Send) -> Result<PathBuf, Wrong> {
        let (head, mut body) = request.into_parts();
        let taken = self.receive(&head, &mut body, begun).await;
        if taken.is_err() {
            // Browsers read the answer only after sending the whole body: read and discard the rest.
            let mut most = MAX_DROPPED;
            let mut pace = Pace::begin();
            while let Ok(Some(Ok(frame))) = timeout_at(pace.end, body.frame()).await {
                most = most.saturating_sub(frame.data_ref().map_or(0, |data| data.len()));
                pace.keep((MAX_DROPPED - most) as u64);
                if most == 0 {
                    break;
                }
            }
        }
        taken
    }

    async fn receive(
        &self,
        head: &Parts,
        body: &mut Incoming,
        begun: impl FnOnce(PathBuf) + Send,
    ) -> Result<PathBuf, Wrong> {
        // This content type cannot be sent by an HTML form on a foreign site.
        if head.headers.get(CONTENT_TYPE).is_none_or(|kind| kind != "application/octet-stream") {
            return Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, "a file is application/octet-stream"));
        }
        let length = head.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        let length: u64 = length.ok_or((StatusCode::LENGTH_REQUIRED, "the size of a file comes before it"))?;
        let name = file_name(value_of(head.uri.query().unwrap_or_default(), "name").unwrap_or_default());
        if !is_video_name(Path::new(&name)) && !is_image_name(Path::new(&name)) {
            return Err(NO_MEDIA);
        }
        let mut coming = self.begin(&name, length, begun)?;
        let (mut chunk, mut is_known) = (Vec::new(), false);
        let failed = |_| (StatusCode::INSUFFICIENT_STORAGE, "this file cannot be kept: the disk does not take it");
        let path = coming.path.clone();
        let mut file = spawn_blocking(move || File::create_new(path)).await.map_err(|_| NOT_COME)?.map_err(failed)?;
        let (mut written, mut pace) = (0, Pace::begin());
        loop {
            let frame = timeout_at(pace.end, body.frame()).await.map_err(|_| NOT_COME)?;
            let is_end = frame.is_none();
            if let Some(frame) = frame {
                let frame = frame.map_err(|_| NOT_COME)?;
                frame.data_ref().into_iter().for_each(|data| chunk.extend_from_slice(data));
                pace.keep(written + chunk.len() as u64);
            }
            if !is_known && (is_end || chunk.len() >= MIN_HEAD) {
                if !is_media(&chunk) {
                    return Err(NO_MEDIA);
                }
                is_known = true;
            }
            if is_end || chunk.len() >= CHUNK {
                written += chunk.len() as u64;
                let data = std::mem::take(&mut chunk);
                let write = spawn_blocking(move || file.write_all(&data).map(|()| file));
                file = write.await.map_err(|_| NOT_COME)?.map_err(failed)?;
            }
            if is_end {
                break;
            }
        }
        if written != length {
            return Err(NOT_COME);
        }
        coming.is_whole = true;
        Ok(coming.path.clone())
    }

    fn begin(&self, name: &str, bytes: u64, begun: impl FnOnce(PathBuf) + Send) -> Result<Coming<'_>, Wrong> {
        let mut state = lock(&self.state);
        if bytes > self.most - state.bytes {
            return Err((StatusCode::PAYLOAD_TOO_LARGE, "this file is larger than what may still come (--max-upload)"));
        }
        if state.coming.len() == MAX_AT_ONCE || state.files.len() >= MAX_FILES || state.has_ended {
            return Err((StatusCode::SERVICE_UNAVAILABLE, "too many files at once"));
        }
        let not_made = |_| (StatusCode::INSUFFICIENT_STORAGE, "this file cannot be kept: there is no room for it");
        if state.folder.is_none() {
            // Other users may not enter the folder.
            let mode = Permissions::from_mode(0o700);
            let folder = Builder::new().prefix("histeq-video-").permissions(mode).tempdir().map_err(not_made)?;
            begun(folder.path().canonicalize().map_err(not_made)?);
            state.folder = Some(folder);
        }
        let folder = state.folder.as_ref().map(TempDir::path).unwrap_or(Path::new(""));
        let room = rustix::fs::statvfs(folder).map_or(u64::MAX, |found| found.f_bavail.saturating_mul(found.f_frsize));
        if bytes > room {
            return Err((StatusCode::INSUFFICIENT_STORAGE, "this file is larger than the room on the disk"));
        }
        // Each upload gets a folder, so that uploads of the same name, and their results, do not collide.
        let place = folder.canonicalize().map_err(not_made)?.join(state.count.to_string());
        std::fs::create_dir(&place).map_err(not_made)?;
        let path = place.join(name);
        state.count += 1;
        state.coming.insert(path.clone());
        state.bytes += bytes;
        Ok(Coming { uploads: self, path, bytes, is_whole: false })
    }

    /// Notes a result that was made of an upload.
    pub fn made(&self, result: PathBuf) {
        lock(&self.state).results.insert(result);
    }

    /// Whether this is a result that has not been downloaded.
    pub fn awaits(&self, result: &Path) -> bool {
        lock(&self.state).results.contains(result)
    }

    /// Notes that a result has been downloaded.
    pub fn downloaded(&self, result: &Path) {
        lock(&self.state).results.remove(result);
    }

    /// Removes all files. If some results were not downloaded, it removes the uploads alone, and returns how many such
    /// results there are, and the private folder.
    ///
    /// # Errors
    /// When the private folder cannot be removed.
    pub fn end(&self) -> Result<Option<(usize, PathBuf)>> {
        let mut state = lock(&self.state);
        state.has_ended = true;
        let Some(folder) = state.folder.take() else { return Ok(None) };
        let kept = state.results.iter().filter(|result| result.is_file()).count();
        if kept == 0 {
            folder.close().context("files from the page")?;
            return Ok(None);
        }
        for file in state.files.iter().chain(&state.coming) {
            let _ = std::fs::remove_file(file);
        }
        Ok(Some((kept, folder.keep())))
    }
}

const NO_MEDIA: Wrong = (StatusCode::UNSUPPORTED_MEDIA_TYPE, "this is no film and no picture that is known");
const NOT_COME: Wrong = (StatusCode::BAD_REQUEST, "the file did not come whole");

/// The name under which an upload is stored: the last part of its percent-encoded path, without characters that are
/// special to a shell, a terminal or a file system.
fn file_name(encoded: &str) -> String {
    let decoded = percent_decode_str(encoded).decode_utf8_lossy().into_owned();
    let last = decoded.rsplit(['/', '\\']).next().unwrap_or_default();
    let plain: String = last.chars().map(|letter| if is_plain(letter) { letter } else { '_' }).collect();
    let plain = plain.trim_start_matches(['.', '-', ' ']).trim_end();
    let (stem, end) = plain.rsplit_once('.').unwrap_or((plain, ""));
    let end: String = end.chars().filter(char::is_ascii_alphanumeric).take(8).collect();
    let mut stem = stem.to_owned();
    while stem.len() > MAX_NAME {
        stem.pop();
    }
    format!("{}.{end}", if stem.is_empty() { "film" } else { &stem })
}

/// Whether a stored name may contain this character. A percent sign would make it a pattern of numbered files.
fn is_plain(letter: char) -> bool {
    let is_hidden =
        matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    !letter.is_control() && !is_hidden && !"%*?\"<>|:".contains(letter)
}

/// Whether a file that begins so is a film or a picture.
fn is_media(head: &[u8]) -> bool {
    BEGINNINGS.iter().any(|(index, bytes)| head.get(*index..).is_some_and(|head| head.starts_with(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_from_outside_is_a_name_and_no_place() {
        for (name, becomes) in [
            ("clip.mp4", "clip.mp4"),
            ("Strand%20am%20Abend.MOV", "Strand am Abend.MOV"),
            ("..%2F..%2Fetc%2Fpasswd", "passwd."),
            ("C%3A%5CFilms%5Cdive.avi", "dive.avi"),
            ("..", "film."),
            ("", "film."),
            ("-rf.mp4", "rf.mp4"),
            (".hidden.mkv", "hidden.mkv"),
            ("a%00b%0a.mp4", "a_b_.mp4"),
            ("f%25d.png", "f_d.png"),
            ("x%E2%80%AE4pm.exe", "x_4pm.exe"),
        ] {
            assert_eq!(file_name(name), becomes, "{name}");
        }
        assert!(file_name(&"ä".repeat(300)).len() <= MAX_NAME + 9);
    }

    #[test]
    fn bytes_that_trickle_give_an_upload_no_more_time() {
        let begun = Pace::begin();
        let mut pace = Pace { ..begun };
        pace.keep(MIN_PROGRESS - 1);
        assert_eq!((pace.end, pace.due), (begun.end, MIN_PROGRESS));
        pace.keep(MIN_PROGRESS + 7);
        assert!(pace.end >= begun.end && pace.due == 2 * MIN_PROGRESS + 7);
    }

    #[test]
    fn films_and_pictures_are_known_by_their_first_bytes() {
        for head in [&b"\0\0\0\x20ftypisom"[..], b"\x1aE\xdf\xa3\x01\0\0\0", b"\xff\xd8\xff\xe0", b"RIFF\0\0\0\0AVI "] {
            assert!(is_media(head), "{head:?}");
        }
        for head in [&b""[..], b"#EXTM3U\n", b"ffconcat version 1.0", b"<html>", b"#!/bin/sh", b"\x7fELF", b"%PDF-1.7"]
        {
            assert!(!is_media(head), "{head:?}");
        }
    }
}
