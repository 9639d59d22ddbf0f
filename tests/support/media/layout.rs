//! The order of the samples in a raw frame, derived from FFmpeg's name of the pixel format, independent of the
//! program's code.

/// The order of samples and planes.
#[derive(Clone, Copy)]
pub enum Order {
    /// A luma plane, then the planes of chroma and alpha.
    LumaFirst(Others),
    /// Luma and alpha alternate.
    LumaAlpha,
    /// Four samples for two pixels; `luma` is the index of the first luma sample, 0 or 1.
    Packed422 { luma: usize },
    /// Pixels of `step` samples each; `rgb` has the indices of red, green and blue in a pixel.
    PackedRgb { step: usize, rgb: [usize; 3] },
    /// Planes of green, blue and red, and perhaps of alpha.
    Gbr { planes: usize },
}

/// The samples of a frame besides luma.
#[derive(Clone, Copy)]
pub struct Others {
    /// Columns and rows of the block of pixels that shares two chroma samples, if there is chroma.
    chroma: Option<(usize, usize)>,
    alpha: bool,
}

/// The layout, derived from the name of a pixel format.
#[derive(Clone, Copy)]
pub struct Layout {
    pub order: Order,
    /// The number of significant bits of a sample.
    pub depth: u32,
    /// Unused bits below the significant ones.
    pub shift: u32,
    pub big_endian: bool,
}

impl Layout {
    /// The layout of the pixel format with this FFmpeg name.
    pub fn new(format: &str) -> Self {
        let big_endian = format.ends_with("be");
        let name = format.strip_suffix("be").or(format.strip_suffix("le")).unwrap_or(format);
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let number: u32 = name[stem.len()..].parse().unwrap_or(8);
        let luma_first = |chroma, alpha| Order::LumaFirst(Others { chroma, alpha });
        let (order, depth, shift) = match stem {
            "gray" => (luma_first(None, false), number, 0),
            "ya" => (Order::LumaAlpha, number, 0),
            "gbrp" => (Order::Gbr { planes: 3 }, number, 0),
            "gbrap" => (Order::Gbr { planes: 4 }, number, 0),
            "nv" => {
                let shared = match number {
                    12 | 21 => (2, 2),
                    16 => (2, 1),
                    24 | 42 => (1, 1),
                    _ => panic!("{format} is not known"),
                };
                (luma_first(Some(shared), false), 8, 0)
            }
            "p" => {
                let shared = match number / 100 {
                    0 => (2, 2),
                    2 => (2, 1),
                    4 => (1, 1),
                    _ => panic!("{format} is not known"),
                };
                (luma_first(Some(shared), false), number % 100, 16 - number % 100)
            }
            "yuyv" | "yvyu" => (Order::Packed422 { luma: 0 }, 8, 0),
            "uyvy" => (Order::Packed422 { luma: 1 }, 8, 0),
            "y" => (Order::Packed422 { luma: 0 }, number % 100, 16 - number % 100),
            _ if stem.starts_with("yuv") => {
                let shared = match stem.trim_start_matches(|c: char| !c.is_ascii_digit()) {
                    "420p" => (2, 2),
                    "422p" => (2, 1),
                    "444p" => (1, 1),
                    "440p" => (1, 2),
                    "411p" => (4, 1),
                    "410p" => (4, 4),
                    _ => panic!("{format} is not known"),
                };
                (luma_first(Some(shared), stem.starts_with("yuva")), number, 0)
            }
            _ => {
                // The name has a letter or 0 for each sample of a pixel, and may end with the number of bits per pixel.
                let place = |letter| name.find(letter).unwrap_or_else(|| panic!("{format} is not known"));
                let step = if matches!(number, 24 | 48) { 3 } else { 4 };
                let depth = if matches!(number, 48 | 64) { 16 } else { 8 };
                (Order::PackedRgb { step, rgb: ['r', 'g', 'b'].map(place) }, depth, 0)
            }
        };
        Layout { order, depth, shift, big_endian }
    }

    /// Bytes of a sample.
    pub fn sample_bytes(self) -> usize {
        if self.depth > 8 { 2 } else { 1 }
    }

    /// Bytes of a frame as `ffmpeg -f rawvideo` writes it.
    pub fn frame_bytes(self, (w, h): (usize, usize)) -> usize {
        let samples = match self.order {
            Order::LumaFirst(Others { chroma, alpha }) => {
                let chroma = chroma.map_or(0, |(across, down)| 2 * w.div_ceil(across) * h.div_ceil(down));
                w * h + chroma + if alpha { w * h } else { 0 }
            }
            Order::LumaAlpha => 2 * w * h,
            Order::Packed422 { .. } => 4 * w.div_ceil(2) * h,
            Order::PackedRgb { step, .. } => step * w * h,
            Order::Gbr { planes } => planes * w * h,
        };
        samples * self.sample_bytes()
    }

    /// The indices of the samples that determine the luminance of pixel (x, y): luma, or red, green and blue.
    pub fn luminance(self, (w, h): (usize, usize), (x, y): (usize, usize)) -> Vec<usize> {
        let pixel = y * w + x;
        match self.order {
            Order::LumaFirst(_) => vec![pixel],
            Order::LumaAlpha => vec![2 * pixel],
            Order::Packed422 { luma } => vec![y * 4 * w.div_ceil(2) + 2 * x + luma],
            Order::PackedRgb { step, rgb } => rgb.iter().map(|component| step * pixel + component).collect(),
            Order::Gbr { .. } => vec![2 * w * h + pixel, pixel, w * h + pixel],
        }
    }

    /// The code of a sample.
    pub fn get(self, frame: &[u8], index: usize) -> u64 {
        if self.depth == 8 {
            return frame[index].into();
        }
        let pair = [frame[2 * index], frame[2 * index + 1]];
        let word = if self.big_endian { u16::from_be_bytes(pair) } else { u16::from_le_bytes(pair) };
        (word >> self.shift).into()
    }

    /// Sets the code of a sample.
    pub fn set(self, frame: &mut [u8], index: usize, code: u64) {
        if self.depth == 8 {
            frame[index] = code as u8;
            return;
        }
        let word = (code as u16) << self.shift;
        let pair = if self.big_endian { word.to_be_bytes() } else { word.to_le_bytes() };
        frame[2 * index..2 * index + 2].copy_from_slice(&pair);
    }
}
