//! The thread of a source that makes what viewers see: the video of original and equalized picture, and numbers beside it.
//! It encodes only while there are viewers.

use super::hub::{Viewed, lock};
use super::numbers::frame_numbers;
use anyhow::Result;
use histeq_media::pipeline::live::Shown;
use histeq_media::sink::live::{BrowserStream, Fragment};
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Most rows of each of the two pictures.
const MAX_ROWS: usize = 720;

/// Time between two messages of numbers.
const NUMBERS: Duration = Duration::from_millis(500);

/// A video without viewers ends after this time.
const UNWATCHED: Duration = Duration::from_secs(5);

/// Makes what the viewers of `source` see, until its queue is closed.
pub fn run(source: &Arc<Viewed>) {
    let mut stream: Option<(BrowserStream, (usize, usize))> = None;
    let (mut watched, mut numbered) = (Instant::now(), Instant::now());
    while let Some(shown) = source.frames.pop() {
        *lock(&source.last) = Some(shown.clone());
        if source.viewers() > 0 {
            watched = Instant::now();
        } else if watched.elapsed() >= UNWATCHED {
            if stream.take().is_some() {
                source.end_video();
            }
            continue;
        }
        if stream.is_none() && source.viewers() == 0 {
            continue;
        }
        let size = (shown.original.width(), shown.original.height());
        if stream.as_ref().is_some_and(|(_, begun)| *begun != size) {
            stream = None;
        }
        if let Err(error) = encode(source, &mut stream, &shown, size) {
            stream = None;
            source.end_video();
            source.send_text(&json!({ "error": format!("{error:#}") }).to_string());
        }
        if numbered.elapsed() >= NUMBERS {
            numbered = Instant::now();
            source.send_text(&numbers(source, &shown));
        }
    }
}

fn encode(
    source: &Arc<Viewed>,
    stream: &mut Option<(BrowserStream, (usize, usize))>,
    shown: &Shown,
    size: (usize, usize),
) -> Result<()> {
    let (stream, _) = match stream {
        Some(stream) => stream,
        None => {
            let viewed = source.clone();
            let give = move |fragment| match fragment {
                Fragment::Header { codec, bytes } => {
                    viewed.begin_video(&json!({ "codec": codec }).to_string(), bytes);
                }
                Fragment::Picture { bytes, is_key } => viewed.send_picture(bytes, is_key),
            };
            stream.insert((BrowserStream::open(&shown.original, MAX_ROWS, give)?, size))
        }
    };
    stream.write([&shown.original, &shown.equalized])
}

/// The numbers beside a picture: the state of the source, its histogram and curve.
fn numbers(source: &Viewed, shown: &Shown) -> String {
    let mut numbers = frame_numbers(&shown.original, &shown.equalized);
    numbers["state"] = json!(source.state());
    numbers.to_string()
}
