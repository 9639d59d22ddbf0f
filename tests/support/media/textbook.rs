//! A slow implementation of equalization by the specification on raw frames, without any code of the program.

use super::layout::Layout;

/// The format, size and range of raw frames.
#[derive(Clone, Copy, Debug)]
pub struct Raw {
    /// FFmpeg's name of the pixel format.
    pub format: &'static str,
    /// Columns and rows.
    pub size: (usize, usize),
    /// Is it limited range, or full range?
    pub limited: bool,
}

impl Raw {
    /// The order of the samples.
    pub fn layout(&self) -> Layout {
        Layout::new(self.format)
    }

    /// Bytes of a frame as `ffmpeg -f rawvideo` writes it.
    pub fn frame_bytes(&self) -> usize {
        self.layout().frame_bytes(self.size)
    }

    /// All frames of `video`, each equalized on its own.
    pub fn equalized(&self, video: &[u8]) -> Vec<u8> {
        let mut video = video.to_vec();
        assert_eq!(video.len() % self.frame_bytes(), 0, "whole frames of {self:?}");
        video.chunks_exact_mut(self.frame_bytes()).for_each(|frame| self.equalize(frame));
        video
    }

    fn equalize(&self, frame: &mut [u8]) {
        let layout = self.layout();
        let top = (1u64 << layout.depth) - 1;
        let (lo, hi) = if self.limited { (16 << (layout.depth - 8), 235 << (layout.depth - 8)) } else { (0, top) };
        let luminance = |samples: &[usize], frame: &[u8]| match *samples {
            [r, g, b] => {
                let [r, g, b] = [r, g, b].map(|sample| layout.get(frame, sample));
                (19595 * r + 38470 * g + 7471 * b + 32768) >> 16
            }
            [luma, ..] => layout.get(frame, luma),
            [] => unreachable!("every pixel has a sample"),
        };
        let (w, h) = self.size;
        let places = (0..h).flat_map(|y| (0..w).map(move |x| (x, y)));
        let pixels: Vec<Vec<usize>> = places.map(|place| layout.luminance(self.size, place)).collect();
        let levels: Vec<u64> = pixels.iter().map(|samples| luminance(samples, frame).clamp(lo, hi)).collect();
        let mut counts = vec![0u64; (top + 1) as usize];
        for &level in &levels {
            counts[level as usize] += 1;
        }
        if counts.iter().filter(|&&count| count > 0).count() == 1 {
            return;
        }
        let total = levels.len() as u64;
        let first = counts.iter().copied().find(|&count| count > 0).unwrap_or(0);
        let mut below = 0;
        let curve: Vec<u64> = counts
            .iter()
            .map(|count| {
                below += count;
                let risen = below.saturating_sub(first);
                lo + (risen * (hi - lo) + (total - first) / 2) / (total - first)
            })
            .collect();
        for (samples, level) in pixels.iter().zip(levels) {
            let new = curve[level as usize];
            match samples.as_slice() {
                [luma] => layout.set(frame, *luma, new),
                rgb => {
                    for &sample in rgb {
                        let moved = layout.get(frame, sample) as i64 + new as i64 - level as i64;
                        layout.set(frame, sample, moved.clamp(0, top as i64) as u64);
                    }
                }
            }
        }
    }
}

/// Requires two equal videos; a failure names the first byte that differs.
#[track_caller]
pub fn assert_same_video(what: &str, raw: Raw, found: &[u8], expected: &[u8]) {
    let frame = raw.frame_bytes();
    assert_eq!(found.len() / frame, expected.len() / frame, "{what}: frames");
    if let Some(index) = found.iter().zip(expected).position(|(found, expected)| found != expected) {
        let (f, e) = (found[index], expected[index]);
        panic!("{what}: frame {}, byte {} is {f}, should be {e} ({raw:?})", index / frame, index % frame);
    }
    assert_eq!(found.len(), expected.len(), "{what}: bytes");
}
