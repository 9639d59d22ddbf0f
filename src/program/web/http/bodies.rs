//! Answers that are no text: pictures, and files of recordings.

use super::routes::{Body, error, value_of, whole};
use crate::web::view::hub::{Admitted, Small, Viewed, lock};
use anyhow::{Result, bail, ensure};
use bytes::Bytes;
use histeq::internal::frame::Frame;
use histeq_media::ffmpeg::encode::Still;
use histeq_media::pipeline::live::Shown;
use histeq_media::sink::live::Pairs;
use http_body_util::BodyExt;
use http_body_util::channel::{Channel, Sender};
use hyper::header::{ACCEPT_RANGES, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, HeaderValue, IF_RANGE, RANGE};
use hyper::{HeaderMap, Method, Response, StatusCode};
use std::fs::File;
use std::io::{Error, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

/// Bytes of a file that are read at once.
const CHUNK: usize = 256 << 10;

/// Rows of each of the two pictures in the MJPEG fallback of the video.
const ROWS: usize = 540;

/// Time between two pictures of the MJPEG fallback.
const INTERVAL: Duration = Duration::from_millis(100);

/// An unchanged picture is sent again after this time: that tells whether the viewer has gone.
const AGAIN: Duration = Duration::from_secs(5);

/// Rows of small pictures: a multiple of `SMALL_STEP`, at most `MAX_SMALL`.
const SMALL_STEP: usize = 90;
const MAX_SMALL: usize = 720;

/// A small picture is made again after this time at the earliest, however many ask for it.
const SMALL_AGE: Duration = Duration::from_millis(200);

/// Permits to make pictures and films at once, except small pictures of lists. A request that waits for one holds no
/// frame and blocks no thread.
pub static MAKERS: Semaphore = Semaphore::const_new(2);

/// The multipart boundary between pictures of the MJPEG fallback.
const BOUNDARY: &str = "picture";

/// Which picture of a pair is shown.
#[derive(Clone, Copy)]
pub enum Of {
    Original,
    Equalized,
    /// The original above the equalized one.
    Both,
}

impl Of {
    /// Reads `of` from a query string; by default the equalized picture.
    pub fn read(query: &str) -> Result<Self> {
        match value_of(query, "of") {
            Some("original") => Ok(Of::Original),
            None | Some("equalized") => Ok(Of::Equalized),
            Some("both") => Ok(Of::Both),
            Some(_) => bail!("of is original, equalized or both"),
        }
    }
}

/// The last picture as JPEG.
pub async fn picture(source: &Arc<Viewed>, query: &str) -> Response<Body> {
    // The semaphore is never closed. When the connection closes, this future is dropped, which ends the wait.
    let turn = MAKERS.acquire().await;
    let Some(shown) = source.last() else { return error(StatusCode::SERVICE_UNAVAILABLE, "no picture has come yet") };
    let side = match Of::read(query) {
        Ok(side) => side,
        Err(wrong) => return error(StatusCode::BAD_REQUEST, &format!("{wrong}")),
    };
    let rows: Option<usize> = value_of(query, "rows").and_then(|rows| rows.parse().ok());
    let rows = rows.map(|rows| (rows / SMALL_STEP * SMALL_STEP).clamp(SMALL_STEP, MAX_SMALL));
    let source = source.clone();
    made("image/jpeg", move |gone| {
        let _turn = turn;
        ensure!(!gone.is_so(), "nobody waits for it");
        match (side, rows) {
            (Of::Equalized, Some(rows)) => small(&source, &shown.equalized, rows),
            (Of::Equalized, None) => jpeg(&shown.equalized),
            (Of::Original, Some(rows)) => jpeg(&Pairs::new(&shown.original, rows)?.single(&shown.original)?),
            (Of::Original, None) => jpeg(&shown.original),
            (Of::Both, rows) => jpeg(&pair(&shown, rows.unwrap_or(usize::MAX))?),
        }
    })
    .await
}

fn jpeg(frame: &Frame) -> Result<Bytes> {
    Ok(Still::Jpeg.encode(frame)?.into())
}

/// The picture with at most `rows` rows. Requests within `SMALL_AGE` share one encoded picture.
fn small(source: &Viewed, picture: &Frame, rows: usize) -> Result<Bytes> {
    let mut kept = lock(&source.small);
    kept.retain(|small| small.made.elapsed() < SMALL_AGE);
    if let Some(small) = kept.iter().find(|small| small.rows == rows) {
        return Ok(small.jpeg.clone());
    }
    let (made, jpeg) = (Instant::now(), jpeg(&Pairs::new(picture, rows)?.single(picture)?)?);
    kept.push(Small { rows, made, jpeg: jpeg.clone() });
    Ok(jpeg)
}

/// Whether the connection that asked for an answer has been closed.
#[derive(Clone, Default)]
pub struct Gone(Arc<AtomicBool>);

impl Gone {
    /// Whether the connection has been closed.
    pub fn is_so(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// Sets its [`Gone`] when it is dropped. The future that makes the answer owns it, and is dropped when its connection
/// ends.
struct Asker(Gone);

impl Drop for Asker {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::SeqCst);
    }
}

/// The bytes that `make` makes on a thread of its own, as an answer of this type. `make` can see whether the connection
/// that asked for it has been closed, and stop.
pub async fn made<B: Into<Bytes> + Send + 'static>(
    kind: &str,
    make: impl FnOnce(&Gone) -> Result<B> + Send + 'static,
) -> Response<Body> {
    let asker = Asker(Gone::default());
    let gone = asker.0.clone();
    match spawn_blocking(move || make(&gone)).await {
        Ok(Ok(made)) => whole(StatusCode::OK, kind, made),
        Ok(Err(wrong)) => error(StatusCode::INTERNAL_SERVER_ERROR, &format!("{wrong:#}")),
        Err(_) => error(StatusCode::INTERNAL_SERVER_ERROR, "a bug kept it from being made"),
    }
}

/// Pictures without end, for browsers that do not play the video: the original above the equalized one.
pub fn pictures(source: Arc<Viewed>, admitted: Admitted) -> Response<Body> {
    let (sender, body) = Channel::new(2);
    tokio::spawn(async move {
        // Sending fails, and ends, when the viewer goes.
        let _ = send_pictures(&source, sender).await;
        drop(admitted);
    });
    let kind = format!("multipart/x-mixed-replace; boundary={BOUNDARY}");
    Response::builder().header(CONTENT_TYPE, kind).body(body.boxed()).unwrap_or_default()
}

async fn send_pictures(source: &Arc<Viewed>, mut sender: Sender<Bytes, Error>) -> Result<()> {
    let mut last = None;
    let mut sent = Instant::now();
    loop {
        tokio::time::sleep(INTERVAL).await;
        let is_due = |number| last != Some(number) || sent.elapsed() >= AGAIN;
        let Some(shown) = source.last().filter(|shown| is_due(shown.number)) else { continue };
        (last, sent) = (Some(shown.number), Instant::now());
        let jpeg = spawn_blocking(move || Still::Jpeg.encode(&pair(&shown, ROWS)?)).await??;
        let head = format!("--{BOUNDARY}\r\nContent-Type: image/jpeg\r\nContent-Length: {}\r\n\r\n", jpeg.len());
        sender.send_data([head.as_bytes(), &jpeg, b"\r\n"].concat().into()).await?;
    }
}

fn pair(shown: &Shown, most_rows: usize) -> Result<Frame> {
    Pairs::new(&shown.original, most_rows)?.join([&shown.original, &shown.equalized])
}

/// The type of a file of this name.
pub fn kind(name: &Path) -> &'static str {
    match name.extension().and_then(|extension| extension.to_str()).map(str::to_ascii_lowercase).as_deref() {
        Some("mp4" | "m4v" | "mov") => "video/mp4",
        Some("webm") => "video/webm",
        Some("mkv") => "video/x-matroska",
        _ => "application/octet-stream",
    }
}

type OnReceipt = Box<dyn FnOnce() + Send>;

/// What is done once the client of a connection has received all answers of it.
#[derive(Clone, Default)]
pub struct Delivery(Arc<Mutex<Vec<OnReceipt>>>);

impl Delivery {
    /// Has `received` run after the client has received all answers.
    pub fn then(&self, received: impl FnOnce() + Send + 'static) {
        lock(&self.0).push(Box::new(received));
    }

    /// Whether something waits for the receipt.
    pub fn is_awaited(&self) -> bool {
        !lock(&self.0).is_empty()
    }

    /// Notes that the client has received all answers.
    pub fn received(&self) {
        std::mem::take(&mut *lock(&self.0)).into_iter().for_each(|received| received());
    }
}

/// How a file is opened.
pub type OpenFile = fn(PathBuf) -> std::io::Result<File>;

/// A file, or the part of it that the request asks for.
pub async fn file(file: (PathBuf, OpenFile), method: &Method, headers: &HeaderMap) -> Response<Body> {
    file_with_end(file, method, headers, || ()).await
}

/// As [`file()`], but calls `ended` when the whole file has been given to the connection in one answer. A byte range
/// does not count, since the client may never fetch the rest.
pub async fn file_with_end(
    (file, open): (PathBuf, OpenFile),
    method: &Method,
    headers: &HeaderMap,
    ended: impl FnOnce() + Send + 'static,
) -> Response<Body> {
    let is_head = method == Method::HEAD;
    let asked = asked_part(method, headers);
    let kind = kind(&file);
    let opened = spawn_blocking(move || open(file).and_then(|file| Ok((file.metadata()?.len(), file)))).await;
    let Ok(Ok((length, file))) = opened else { return error(StatusCode::NOT_FOUND, "the file is gone") };
    let range = asked.and_then(|asked| range(asked, length));
    let (begin, end) = match range {
        Some(None) => {
            let mut response = error(StatusCode::RANGE_NOT_SATISFIABLE, "the file has no such part");
            if let Ok(whole) = HeaderValue::from_str(&format!("bytes */{length}")) {
                response.headers_mut().insert(CONTENT_RANGE, whole);
            }
            return response;
        }
        Some(Some(range)) => range,
        None => (0, length),
    };
    let mut response = Response::builder()
        .header(CONTENT_TYPE, kind)
        .header(ACCEPT_RANGES, "bytes")
        .header(CONTENT_LENGTH, end - begin);
    if range.is_some() {
        let part = format!("bytes {begin}-{}/{length}", end.saturating_sub(1));
        response = response.status(StatusCode::PARTIAL_CONTENT).header(CONTENT_RANGE, part);
    }
    if is_head {
        return response.body(Body::default()).unwrap_or_default();
    }
    let (sender, body) = Channel::new(2);
    tokio::spawn(async move {
        // Sending fails when the reader goes.
        if send_part(file, (begin, end), sender).await.is_ok_and(|is_sent| is_sent && range.is_none()) {
            ended();
        }
    });
    response.body(body.boxed()).unwrap_or_default()
}

/// The `Range` header of a GET request (RFC 9110, 14.2). It is ignored with `If-Range`, since no file here has the
/// entity tag or date that `If-Range` compares.
fn asked_part<'a>(method: &Method, headers: &'a HeaderMap) -> Option<&'a str> {
    let mut lines = headers.get_all(RANGE).iter();
    let line = lines.next().filter(|_| lines.next().is_none());
    let line = line.filter(|_| method != Method::HEAD && !headers.contains_key(IF_RANGE));
    line.and_then(|value| value.to_str().ok())
}

/// Sends a part of a file, and returns whether it was sent to its end.
async fn send_part(mut file: File, (mut index, end): (u64, u64), mut sender: Sender<Bytes, Error>) -> Result<bool> {
    while index < end {
        let length = CHUNK.min((end - index) as usize);
        let (read, returned) = spawn_blocking(move || {
            let mut chunk = vec![0; length];
            let read = file.seek(SeekFrom::Start(index)).and_then(|_| file.read_exact(&mut chunk));
            (read.map(|()| chunk), file)
        })
        .await?;
        file = returned;
        match read {
            Ok(chunk) => sender.send_data(chunk.into()).await?,
            // The file has become shorter: the connection is cut, so that the reader does not take this part for the
            // whole.
            Err(error) => {
                sender.abort(error);
                return Ok(false);
            }
        }
        index += length as u64;
    }
    Ok(true)
}

/// Begin and end of a range of bytes in `length` bytes (RFC 9110, 14.1.2): `None` where it is no single range and is to
/// be ignored, and `Some(None)` where there are no such bytes.
fn range(asked: &str, length: u64) -> Option<Option<(u64, u64)>> {
    let (unit, range) = asked.split_once('=')?;
    let (first, last) = range.split_once('-').filter(|_| unit.eq_ignore_ascii_case("bytes"))?;
    let (begin, end) = match (first, last) {
        ("", last) => (length.saturating_sub(digits(last)?), length),
        (first, "") => (digits(first)?, length),
        (first, last) => (digits(first)?, digits(last)?.saturating_add(1).min(length)),
    };
    Some((begin < end).then_some((begin, end)))
}

/// The number of these decimal digits, at most `u64::MAX`.
fn digits(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::range;

    #[test]
    fn a_range_lies_within_the_file() {
        for (asked, found) in [
            ("bytes=0-", Some((0, 100))),
            ("Bytes=0-0", Some((0, 1))),
            ("bytes=10-19", Some((10, 20))),
            ("bytes=90-500", Some((90, 100))),
            ("bytes=0-18446744073709551615", Some((0, 100))),
            ("bytes=0-18446744073709551616", Some((0, 100))),
            ("bytes=-5", Some((95, 100))),
            ("bytes=-500", Some((0, 100))),
            ("bytes=100-", None),
            ("bytes=18446744073709551616-", None),
            ("bytes=20-10", None),
            ("bytes=-0", None),
        ] {
            assert_eq!(range(asked, 100), Some(found), "{asked}");
        }
        assert_eq!(range("bytes=0-", 0), Some(None));
    }

    #[test]
    fn a_range_that_is_not_understood_is_none() {
        for asked in [
            "",
            "bytes",
            "bytes=",
            "bytes=-",
            "bytes=--5",
            "bytes=+1-5",
            "bytes=1-+5",
            "bytes=a-b",
            "bytes=0-1,5-6",
            "bytes=0x1-2",
            "bytes=5--1",
            "bytes 0-5",
            "lines=1-2",
        ] {
            assert_eq!(range(asked, 100), None, "{asked}");
        }
    }
}
