//! The memory layouts of luminance for which there are different kernels.

use crate::frame::{Component, Frame, Luminance};
use crate::spec::Weights;

/// The ways to reach the luminance of a frame.
pub enum Layout {
    /// One byte of luma after the other: planar and semi-planar YUV of 8 bits, gray.
    Bytes,
    /// Every other byte of the row, from this offset on: packed 4:2:2 of 8 bits, gray with alpha.
    OtherBytes {
        /// The byte of the first luma sample: 0 or 1.
        offset: usize,
    },
    /// One word of luma after the other: YUV and gray of more than 8 bits.
    Words,
    /// Packed RGB of 8 bits.
    Packed(PackedPixel),
    /// Planar RGB of 8 bits.
    PlanarBytes(PlanarRgb),
    /// Planar RGB of more than 8 bits.
    PlanarWords(PlanarRgb),
    /// Layouts too rare for special kernels: packed RGB of 16 bits, gray of 16 bits with alpha, Y210.
    Any,
}

/// The roles of the bytes of a packed pixel.
#[derive(Clone, Copy, Debug)]
pub struct PackedPixel {
    /// Bytes of a pixel, 3 or 4.
    pub bytes: usize,
    /// The weight of each byte in the luminance; alpha has none.
    pub weights: [u32; 4],
    /// 1 for a byte that changes with the luminance, 0 for alpha.
    pub moves: [i16; 4],
}

/// The positions and weights of the planes of planar RGB.
#[derive(Clone, Copy, Debug)]
pub struct PlanarRgb {
    /// The indices of the planes of red, green and blue.
    pub planes: [usize; 3],
    /// The weights of red, green and blue in the luminance.
    pub weights: Weights,
}

impl Layout {
    /// The layout of `frame`.
    pub fn new(frame: &Frame) -> Self {
        let descriptor = frame.format().descriptor();
        match (descriptor.luminance, descriptor.sample.bytes) {
            (Luminance::Stored(Component { step: 1, .. }), 1) => Layout::Bytes,
            (Luminance::Stored(Component { step: 2, offset, .. }), 1) => Layout::OtherBytes { offset },
            (Luminance::Stored(Component { step: 1, .. }), _) => Layout::Words,
            (Luminance::FromRgb { r, g, b }, bytes) if r.step == 1 => {
                let rgb = PlanarRgb { planes: [r.plane, g.plane, b.plane], weights: frame.weights() };
                if bytes == 1 { Layout::PlanarBytes(rgb) } else { Layout::PlanarWords(rgb) }
            }
            (Luminance::FromRgb { r, g, b }, 1) => {
                let mut pixel = PackedPixel { bytes: r.step, weights: [0; 4], moves: [0; 4] };
                let Weights { r: red, g: green, b: blue } = frame.weights();
                for (component, weight) in [(r, red), (g, green), (b, blue)] {
                    pixel.weights[component.offset] = weight;
                    pixel.moves[component.offset] = 1;
                }
                Layout::Packed(pixel)
            }
            _ => Layout::Any,
        }
    }
}
