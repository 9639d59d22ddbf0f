//! The thread of a source that makes what viewers see: the video of original and equalized picture, and numbers beside it.
//! It encodes only while there are viewers.

use super::hub::{Viewed, lock};
use crate::draw::shown::{by_column, curve};
use anyhow::Result;
use histeq::equalize::cpu::{Engine, Isa};
use histeq::frame::HostPool;
use histeq_media::pipeline::live::Shown;
use histeq_media::sink::{BrowserStream, Fragment};
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Most rows of each of the two pictures.
const MOST_ROWS: usize = 720;

/// Time between two messages of numbers.
const NUMBERS: Duration = Duration::from_millis(500);

/// A video without viewers ends after this time.
const UNWATCHED: Duration = Duration::from_secs(5);

/// Columns of the histogram.
const COLUMNS: usize = 256;

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
            stream.insert((BrowserStream::open(&shown.original, MOST_ROWS, give)?, size))
        }
    };
    stream.write([&shown.original, &shown.equalized])
}

/// The numbers beside a picture: the state of the source, its histogram and curve.
fn numbers(source: &Viewed, shown: &Shown) -> String {
    let histogram = Engine::new(Isa::best(), HostPool::default())
        .map(|mut engine| by_column(&engine.histogram(&shown.original, shown.original.whole()), COLUMNS));
    let curve: Vec<[f64; 2]> = curve(shown).into_iter().map(|(x, y)| [round(x), round(y)]).collect();
    json!({ "state": source.state(), "histogram": histogram, "curve": curve }).to_string()
}

/// To three digits.
fn round(share: f64) -> f64 {
    (share * 1e3).round() / 1e3
}
