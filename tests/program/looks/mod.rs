//! The output of the whole program, by default and with each look. The numbers of the looks may change:
//! these tests check the purpose of the numbers, or compare runs with each other.

// Static parts keep their brightness.
mod calm;
// 10 bits and HDR tags.
mod colours;
// `--method deflicker`.
mod film;
// Thermal cameras.
mod gray;
// PQ and HLG.
mod hdr;
// The default, by kind of footage.
mod kinds;
// `--max-gain auto`.
mod noise;
// Options that do not go together.
mod options;
// `--roi`.
mod region;
// Cuts and flashes.
mod scenes;

use crate::support::media::textbook::Raw;
use crate::support::pictures::Random;
use crate::support::programs::program::Dir;

const RAW: Raw = Raw { format: "yuv420p", size: (320, 180), limited: true };

/// Pipes raw frames through the program, and returns its output.
#[track_caller]
fn through(dir: &Dir, raw: Raw, options: &str, video: &[u8]) -> Vec<u8> {
    let (w, h) = raw.size;
    let described = format!("-f rawvideo -s {w}x{h} --pixel-format {} --output-format rawvideo", raw.format);
    let found = dir.fed(&format!("--backend cpu {options} {described} - -"), video).exits_with(0).stdout;
    assert_eq!(found.len(), video.len(), "bytes that come out");
    found
}

/// A gray frame whose luma is `code(x, y)`.
fn frame(raw: Raw, mut code: impl FnMut(usize, usize) -> u64) -> Vec<u8> {
    let (w, h) = raw.size;
    let layout = raw.layout();
    let mut frame = vec![0; raw.frame_bytes()];
    for sample in 0..frame.len() / layout.sample_bytes() {
        layout.set(&mut frame, sample, 1 << (layout.depth - 1));
    }
    for (x, y) in (0..h).flat_map(|y| (0..w).map(move |x| (x, y))) {
        layout.set(&mut frame, y * w + x, code(x, y));
    }
    frame
}

/// The luma of a frame, row by row.
fn luma(raw: Raw, frame: &[u8]) -> Vec<u64> {
    let (w, h) = raw.size;
    let layout = raw.layout();
    (0..w * h).map(|sample| layout.get(frame, sample)).collect()
}

fn lumas(raw: Raw, video: &[u8]) -> Vec<Vec<u64>> {
    video.chunks_exact(raw.frame_bytes()).map(|frame| luma(raw, frame)).collect()
}

fn mean(levels: &[u64]) -> f64 {
    levels.iter().sum::<u64>() as f64 / levels.len() as f64
}

/// The largest difference between neighbouring values, and its index.
fn largest_step(means: &[f64]) -> (f64, usize) {
    let steps = means.windows(2).map(|pair| (pair[1] - pair[0]).abs());
    steps.zip(1..).fold((0.0, 0), |most, step| if step.0 > most.0 { step } else { most })
}

/// A gradient from left to right with noise, as a camera on a tripod films it.
fn gradient(raw: Raw, random: &mut Random, (low, high): (u64, u64), noise: u64) -> Vec<u8> {
    frame(raw, |x, _| low + (high - low) * x as u64 / raw.size.0 as u64 + random.below(2 * noise + 1) - noise)
}
