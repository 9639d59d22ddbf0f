//! Pipes: frames from stdin are written to stdout, with exactly the bytes of the specification.

// Pipes that are closed early or late, FIFOs, Ctrl-C.
mod closing;
// FFmpeg, x264 and mpv at the other end.
mod peers;
// Containers through stdin.
mod probed;
// Raw frames.
mod raw;
// Helper: a reader and writer of y4m.
mod stream;
// y4m and its header.
mod y4m;

use crate::support::media::textbook::Raw;
use crate::support::pictures::Random;

/// Different frames; most of their levels lie close together, some are below black or above white.
fn noise(raw: Raw, frames: usize) -> Vec<u8> {
    let layout = raw.layout();
    let mut random = Random::new(raw.frame_bytes() as u64);
    let mut video = vec![0; frames * raw.frame_bytes()];
    let top = 1 << layout.depth;
    for sample in 0..video.len() / layout.sample_bytes() {
        let (choice, anything) = (random.next() % 16, random.next() % top);
        let code = if choice == 0 { anything } else { top / 4 + anything / 3 };
        layout.set(&mut video, sample, code);
    }
    video
}
