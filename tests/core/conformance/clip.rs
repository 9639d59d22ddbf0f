//! The input of the vectors, by an integer formula: `tests/core/conformance/README.md` specifies it, and `port.py`
//! there implements it in Python.

use histeq::internal::frame::{Component, Luminance, Model, PixelFormat, Range};

/// The constants of the formula.
#[derive(Clone)]
pub struct Rule {
    /// Factor and addend of the noise generator (linear congruential), one step per sample.
    pub multiplier: u32,
    pub increment: u32,
    /// For each shot (dim, flash, pale) and each of luma, Cb, Cr: the lowest value, the span of the ramp, and the span
    /// of the noise.
    pub shots: [[[u64; 3]; 3]; 3],
    /// The frame of the flash; `cut` is the first frame after the cut.
    pub flash: usize,
    pub cut: usize,
}

pub const RULE: Rule = Rule {
    multiplier: 1_664_525,
    increment: 1_013_904_223,
    shots: [
        [[6_000, 14_000, 2_500], [30_000, 3_000, 400], [34_000, 3_000, 400]],
        [[60_000, 4_000, 500], [30_000, 3_000, 400], [34_000, 3_000, 400]],
        [[30_000, 20_000, 600], [36_000, 4_000, 300], [29_000, 4_000, 300]],
    ],
    flash: 5,
    cut: 10,
};

/// A component: the position of its samples, and its numbers of columns and rows.
struct Part {
    place: Component,
    size: (usize, usize),
    /// The least and the largest code.
    codes: (u64, u64),
}

impl Rule {
    /// Frame `n` in this format and size: all planes one after the other, without padding.
    pub fn frame(&self, format: PixelFormat, (width, height): (usize, usize), range: Range, n: usize) -> Vec<u8> {
        let descriptor = format.descriptor();
        let sample = descriptor.sample;
        let count = descriptor.planes().len();
        let row_bytes = |plane| format.row_bytes(plane, width);
        let mut planes: Vec<Vec<u8>> =
            (0..count).map(|plane| vec![0; row_bytes(plane) * format.rows(plane, height)]).collect();
        for (k, part) in parts(format, (width, height), range).iter().enumerate() {
            let row = row_bytes(part.place.plane);
            let mut noise = (12_345 + 1_000 * n + k) as u32;
            for y in 0..part.size.1 {
                for x in 0..part.size.0 {
                    noise = noise.wrapping_mul(self.multiplier).wrapping_add(self.increment);
                    let value = self.value(descriptor.model, k, part.size.0, (x, y), n, u64::from(noise >> 24));
                    let (least, most) = part.codes;
                    let code = (least + value * (most - least + 1) / 65_536) as u16;
                    let index = part.place.offset + x * part.place.step;
                    sample.write(&mut planes[part.place.plane][y * row..][..row], index, code);
                }
            }
            // Luma outside of limited range, which occurs in real video.
            if descriptor.model == Model::Yuv && k == 0 && width > 1 {
                for (x, code) in [(0, 0), (1, sample.max())] {
                    sample.write(&mut planes[0][..row], part.place.offset + x * part.place.step, code);
                }
            }
        }
        planes.concat()
    }

    /// The value, 0 to 65535, of a sample of component `k`.
    fn value(&self, model: Model, k: usize, columns: usize, (x, y): (usize, usize), n: usize, noise: u64) -> u64 {
        let ramp = (255 * x / (columns - 1)) as u64;
        if k == 3 {
            return 257 * ramp;
        }
        let shot = if n == self.flash { 1 } else { usize::from(n >= self.cut) * 2 };
        let [least, span, grain] = match model {
            // Red, green and blue have the values of luma, each a little brighter than the one before it.
            Model::Rgb => {
                let [least, span, grain] = self.shots[shot][0];
                [least + 1_500 * k as u64, span, grain]
            }
            _ => self.shots[shot][k],
        };
        let bar = if (x / 6 + (y + n) / 5) % 2 == 1 { 255 } else { 0 };
        (least + span * (2 * ramp + bar) / 765 + grain * noise / 255).min(65_535)
    }
}

/// Luma, Cb, Cr and alpha; or red, green, blue, and alpha or the unused fourth sample.
fn parts(format: PixelFormat, (width, height): (usize, usize), range: Range) -> Vec<Part> {
    let descriptor = format.descriptor();
    let step = 1 << (descriptor.sample.depth - 8);
    let all = (0, u64::from(descriptor.sample.max()));
    let is_limited = range == Range::Limited && descriptor.model != Model::Rgb;
    let codes = |most| if is_limited { (16 * step, most * step) } else { all };
    let full = |place, codes| Part { place, size: (width, height), codes };
    let mut parts = match descriptor.luminance {
        Luminance::Stored(luma) => vec![full(luma, codes(235))],
        Luminance::FromRgb { r, g, b } => [r, g, b].map(|place| full(place, all)).into(),
    };
    if let Some(chroma) = descriptor.chroma {
        let size = (width.div_ceil(1 << chroma.log2_width), height.div_ceil(1 << chroma.log2_height));
        parts.extend([chroma.cb, chroma.cr].map(|place| Part { place, size, codes: codes(240) }));
    }
    let planes = descriptor.planes();
    if planes.len() == 4 {
        parts.push(full(Component { plane: 3, offset: 0, step: 1 }, all));
    } else if descriptor.model == Model::Rgb && planes[0].samples == 4 {
        let free =
            (0..4).find(|&offset| parts.iter().all(|part| part.place.offset != offset)).expect("a fourth sample");
        parts.push(full(Component { plane: 0, offset: free, step: 4 }, all));
    }
    parts
}
