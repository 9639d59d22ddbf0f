//! Pixel formats that differ in depth and layout only, and where their samples are.

use crate::frame::{ChromaSamples, Component, Endian, Luminance, Model, PixelFormat};

/// The kind of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleKind {
    /// Luma, or red, green or blue.
    Light,
    /// A colour difference.
    Chroma,
    /// Opacity, of full range.
    Alpha,
}

/// The samples of one kind: where they are, and how many pixels across and down share one, as powers of two.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    pub kind: SampleKind,
    pub at: Component,
    pub log2_width: u8,
    pub log2_height: u8,
}

/// The parts of a format: luma, or red, green and blue; then chroma, then alpha.
pub fn parts(format: PixelFormat) -> Vec<Part> {
    let descriptor = format.descriptor();
    let whole = |kind, component| Part { kind, at: component, log2_width: 0, log2_height: 0 };
    let mut parts = match descriptor.luminance {
        Luminance::Stored(luma) => vec![whole(SampleKind::Light, luma)],
        Luminance::FromRgb { r, g, b } => [r, g, b].map(|component| whole(SampleKind::Light, component)).to_vec(),
    };
    if let Some(ChromaSamples { cb, cr, log2_width, log2_height }) = descriptor.chroma {
        parts.extend([cb, cr].map(|component| Part {
            kind: SampleKind::Chroma,
            at: component,
            log2_width,
            log2_height,
        }));
    }
    if format.has_alpha() {
        // Alpha has a separate plane, or the offset in a pixel that no other component has.
        let taken: Vec<usize> = parts.iter().map(|part| part.at.offset).collect();
        let component = match descriptor.planes() {
            [_, _, _, _] => Component { plane: 3, offset: 0, step: 1 },
            _ => {
                let step = parts[0].at.step;
                Component { plane: 0, offset: (0..step).find(|offset| !taken.contains(offset)).unwrap_or(0), step }
            }
        };
        parts.push(whole(SampleKind::Alpha, component));
    }
    parts
}

/// The format of this depth with the same samples as `format`. Above 8 bits it is planar, which every backend reads
/// fastest; with 8 bits it has the same layout.
pub fn sibling(format: PixelFormat, depth: u8) -> Option<PixelFormat> {
    let described = format.descriptor();
    let subsampling = |format: PixelFormat| format.descriptor().chroma.map(|c| (c.log2_width, c.log2_height));
    let is_alike = |other: PixelFormat| {
        let descriptor = other.descriptor();
        let is_plain = descriptor.sample.endian == Endian::Little && descriptor.sample.shift == 0;
        let layout = |format: PixelFormat| (format.descriptor().luminance, format.descriptor().chroma);
        let is_planar = descriptor.planes().iter().all(|plane| plane.samples == 1);
        let fits =
            if depth == 8 { layout(other) == layout(format) } else { is_planar || described.model == Model::Gray };
        other.depth() == depth
            && is_plain
            && fits
            && descriptor.model == described.model
            && subsampling(other) == subsampling(format)
            && other.has_alpha() == format.has_alpha()
    };
    PixelFormat::ALL.iter().copied().find(|&other| is_alike(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_deep_format_has_a_sibling_of_eight_bits_with_the_same_layout() {
        for &format in PixelFormat::ALL.iter().filter(|format| format.depth() > 8) {
            let found = sibling(format, 8).unwrap_or_else(|| panic!("{format} has none"));
            let value_at = |format| parts(format).iter().map(|part| (part.kind, part.at)).collect::<Vec<_>>();
            assert_eq!(value_at(found), value_at(format), "{format} and {found}");
        }
    }

    #[test]
    fn formats_of_eight_bits_have_planar_siblings() {
        use PixelFormat::*;
        for (format, ten, twelve) in [
            (Gray, Some(Gray10le), Some(Gray12le)),
            (Yuv420p, Some(Yuv420p10le), Some(Yuv420p12le)),
            (Nv21, Some(Yuv420p10le), Some(Yuv420p12le)),
            (Uyvy422, Some(Yuv422p10le), Some(Yuv422p12le)),
            (Yuva420p, Some(Yuva420p10le), None),
            (Rgb0, Some(Gbrp10le), Some(Gbrp12le)),
            (Bgra, Some(Gbrap10le), Some(Gbrap12le)),
            (Ya8, None, None),
            (Yuv411p, None, None),
        ] {
            assert_eq!((sibling(format, 10), sibling(format, 12)), (ten, twelve), "{format}");
        }
        assert_eq!((sibling(Ya8, 16), sibling(Yuva420p, 16)), (Some(Ya16le), Some(Yuva420p16le)));
    }
}
