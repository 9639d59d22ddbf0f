//! Equalization as its specification has it, computed the slow way on raw frames, with no code of the program's.

/// How samples follow each other in a raw frame.
#[derive(Clone, Copy)]
enum Layout {
    /// A luma plane, and chroma behind it: so many samples for a picture of this size.
    LumaFirst(fn(usize, usize) -> usize),
    /// Four samples for two pixels; the first luma sample is the second one, or the first.
    Packed422 { luma: usize },
    /// Pixel after pixel, so many samples each; where red, green and blue are among them.
    PackedRgb { step: usize, rgb: [usize; 3] },
    /// Planes of green, blue and red.
    Gbr,
}

const fn half(n: usize) -> usize {
    n.div_ceil(2)
}

const GRAY: Layout = Layout::LumaFirst(|_, _| 0);
const YUV420: Layout = Layout::LumaFirst(|w, h| 2 * half(w) * half(h));
const YUV422: Layout = Layout::LumaFirst(|w, h| 2 * half(w) * h);
const YUV444: Layout = Layout::LumaFirst(|w, h| 2 * w * h);
const RGB: [usize; 3] = [0, 1, 2];
const BGR: [usize; 3] = [2, 1, 0];

/// FFmpeg's name, layout, depth.
const FORMATS: &[(&str, Layout, u32)] = &[
    ("gray", GRAY, 8),
    ("gray10le", GRAY, 10),
    ("gray12le", GRAY, 12),
    ("gray16le", GRAY, 16),
    ("gray16be", GRAY, 16),
    ("yuv420p", YUV420, 8),
    ("yuvj420p", YUV420, 8),
    ("nv12", YUV420, 8),
    ("yuv422p", YUV422, 8),
    ("yuv444p", YUV444, 8),
    ("yuv420p10le", YUV420, 10),
    ("yuv422p10le", YUV422, 10),
    ("yuv444p12le", YUV444, 12),
    ("yuyv422", Layout::Packed422 { luma: 0 }, 8),
    ("uyvy422", Layout::Packed422 { luma: 1 }, 8),
    ("rgb24", Layout::PackedRgb { step: 3, rgb: RGB }, 8),
    ("bgr24", Layout::PackedRgb { step: 3, rgb: BGR }, 8),
    ("rgba", Layout::PackedRgb { step: 4, rgb: RGB }, 8),
    ("bgra", Layout::PackedRgb { step: 4, rgb: BGR }, 8),
    ("rgb48be", Layout::PackedRgb { step: 3, rgb: RGB }, 16),
    ("rgba64be", Layout::PackedRgb { step: 4, rgb: RGB }, 16),
    ("gbrp", Layout::Gbr, 8),
    ("gbrp10le", Layout::Gbr, 10),
    ("gbrp16le", Layout::Gbr, 16),
];

/// What a raw frame is, and which of its codes are black and white.
#[derive(Clone, Copy, Debug)]
pub struct Raw {
    /// FFmpeg's name of the pixel format.
    pub format: &'static str,
    /// Pixels in a row and rows.
    pub size: (usize, usize),
    /// Limited range?
    pub limited: bool,
}

/// Where one sample lies in a frame.
struct Place {
    at: usize,
    wide: bool,
    big_endian: bool,
}

impl Place {
    fn get(&self, frame: &[u8]) -> u64 {
        let word = match (self.wide, self.big_endian) {
            (false, _) => return u64::from(frame[self.at]),
            (true, false) => u16::from_le_bytes([frame[self.at], frame[self.at + 1]]),
            (true, true) => u16::from_be_bytes([frame[self.at], frame[self.at + 1]]),
        };
        u64::from(word)
    }

    fn set(&self, frame: &mut [u8], code: u64) {
        if !self.wide {
            frame[self.at] = code as u8;
            return;
        }
        let word = code as u16;
        let bytes = if self.big_endian { word.to_be_bytes() } else { word.to_le_bytes() };
        frame[self.at..self.at + 2].copy_from_slice(&bytes);
    }
}

impl Raw {
    /// Bytes of a frame as `ffmpeg -f rawvideo` writes it.
    pub fn frame_bytes(&self) -> usize {
        let (w, h) = self.size;
        let samples = match self.layout() {
            Layout::LumaFirst(chroma) => w * h + chroma(w, h),
            Layout::Packed422 { .. } => 4 * half(w) * h,
            Layout::PackedRgb { step, .. } => step * w * h,
            Layout::Gbr => 3 * w * h,
        };
        samples * if self.depth() > 8 { 2 } else { 1 }
    }

    fn row(&self) -> (&'static str, Layout, u32) {
        let found = FORMATS.iter().find(|row| row.0 == self.format);
        *found.unwrap_or_else(|| panic!("{} has no row in the table", self.format))
    }

    fn layout(&self) -> Layout {
        self.row().1
    }

    fn depth(&self) -> u32 {
        self.row().2
    }

    fn place(&self, index: usize) -> Place {
        let wide = self.depth() > 8;
        let at = if wide { 2 * index } else { index };
        Place { at, wide, big_endian: self.format.ends_with("be") }
    }

    /// The samples of pixel (x, y) that make its luminance: one, or red, green and blue.
    fn samples(&self, x: usize, y: usize) -> Vec<Place> {
        let (w, h) = self.size;
        let pixel = y * w + x;
        let indices = match self.layout() {
            Layout::LumaFirst(_) => vec![pixel],
            Layout::Packed422 { luma } => vec![y * 4 * half(w) + 2 * x + luma],
            Layout::PackedRgb { step, rgb } => rgb.iter().map(|component| step * pixel + component).collect(),
            Layout::Gbr => vec![2 * w * h + pixel, pixel, w * h + pixel],
        };
        indices.into_iter().map(|index| self.place(index)).collect()
    }

    /// Every frame of `video`, equalized by itself.
    pub fn equalized(&self, video: &[u8]) -> Vec<u8> {
        let mut video = video.to_vec();
        assert_eq!(video.len() % self.frame_bytes(), 0, "whole frames of {self:?}");
        video.chunks_exact_mut(self.frame_bytes()).for_each(|frame| self.equalize(frame));
        video
    }

    fn equalize(&self, frame: &mut [u8]) {
        let top = (1u64 << self.depth()) - 1;
        let (lo, hi) = if self.limited { (16 << (self.depth() - 8), 235 << (self.depth() - 8)) } else { (0, top) };
        let luminance = |samples: &[Place], frame: &[u8]| match samples {
            [r, g, b] => (19595 * r.get(frame) + 38470 * g.get(frame) + 7471 * b.get(frame) + 32768) >> 16,
            [luma, ..] => luma.get(frame),
            [] => unreachable!("every pixel has a sample"),
        };
        let (w, h) = self.size;
        let pixels: Vec<Vec<Place>> =
            (0..h).flat_map(|y| (0..w).map(move |x| (x, y))).map(|(x, y)| self.samples(x, y)).collect();
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
                [luma] => luma.set(frame, new),
                rgb => {
                    for sample in rgb {
                        let moved = sample.get(frame) as i64 + new as i64 - level as i64;
                        sample.set(frame, moved.clamp(0, top as i64) as u64);
                    }
                }
            }
        }
    }
}

/// Requires two videos to be the same, and names the first byte that is not.
#[track_caller]
pub fn assert_same_video(what: &str, raw: Raw, found: &[u8], expected: &[u8]) {
    let frame = raw.frame_bytes();
    assert_eq!(found.len() / frame, expected.len() / frame, "{what}: frames");
    if let Some(at) = found.iter().zip(expected).position(|(found, expected)| found != expected) {
        let (f, e) = (found[at], expected[at]);
        panic!("{what}: frame {}, byte {} is {f}, should be {e} ({raw:?})", at / frame, at % frame);
    }
    assert_eq!(found.len(), expected.len(), "{what}: bytes");
}
