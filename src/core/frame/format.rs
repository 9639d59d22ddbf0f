//! The pixel formats that are equalized without conversion, and the positions of their luminance and chroma samples.
//! The names are FFmpeg's.

/// The color model of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// One luma sample, with or without alpha.
    Gray,
    /// Luma and two chroma samples.
    Yuv,
    /// Red, green and blue.
    Rgb,
}

/// Byte order of samples that are two bytes wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endian {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
}

/// Evaluates an expression with the functions that read and write a word in this byte order. The expression is compiled
/// once for each order, so that its loops do not branch on the order.
macro_rules! in_byte_order {
    ($endian:expr, |$read:pat_param, $write:pat_param| $result:expr) => {
        match $endian {
            $crate::frame::Endian::Little => {
                let ($read, $write) = (u16::from_le_bytes, u16::to_le_bytes);
                $result
            }
            $crate::frame::Endian::Big => {
                let ($read, $write) = (u16::from_be_bytes, u16::to_be_bytes);
                $result
            }
        }
    };
}
pub(crate) use in_byte_order;

/// How one sample is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Significant bits, 8 to 16.
    pub depth: u8,
    /// Bytes in memory, 1 or 2.
    pub bytes: u8,
    /// Unused low bits below the significant ones (6 in p010).
    pub shift: u8,
    /// Byte order when `bytes` is 2.
    pub endian: Endian,
}

impl Sample {
    /// The largest code a sample of this depth can hold.
    #[doc(hidden)]
    pub const fn max(self) -> u16 {
        ((1u32 << self.depth) - 1) as u16
    }

    /// The code of sample `index` of a row. Values above the depth, which no valid stream has, give the largest code.
    #[inline]
    #[doc(hidden)]
    pub fn read(self, row: &[u8], index: usize) -> u16 {
        if self.bytes == 1 {
            return u16::from(row[index]);
        }
        let pair = [row[2 * index], row[2 * index + 1]];
        let word = in_byte_order!(self.endian, |read, _| read(pair));
        (word >> self.shift).min(self.max())
    }

    /// Stores `code` as sample `index` of a row, and zeros in the unused bits.
    #[inline]
    #[doc(hidden)]
    pub fn write(self, row: &mut [u8], index: usize, code: u16) {
        if self.bytes == 1 {
            row[index] = code as u8;
            return;
        }
        let word = code << self.shift;
        let pair = in_byte_order!(self.endian, |_, write| write(word));
        row[2 * index..2 * index + 2].copy_from_slice(&pair);
    }

    /// Whether its words can hold codes above its depth.
    #[doc(hidden)]
    pub fn may_exceed(self) -> bool {
        self.bytes == 2 && self.shift == 0 && self.depth < 16
    }

    /// Whether a code above the depth is among these samples. Only for formats that [may exceed](Self::may_exceed)
    /// their depth.
    #[doc(hidden)]
    pub fn exceeds(self, samples: &[u8]) -> bool {
        let above = !self.max();
        let [first, second] = in_byte_order!(self.endian, |_, write| write(above));
        let mask = u64::from_ne_bytes([first, second, first, second, first, second, first, second]);
        // The compiler vectorizes a loop of this form.
        let (lines, rest) = samples.as_chunks::<64>();
        let mut any = [0; 8];
        for line in lines {
            for (any, word) in any.iter_mut().zip(line.as_chunks::<8>().0) {
                *any |= u64::from_ne_bytes(*word);
            }
        }
        let any = any.into_iter().fold(0, |all, word| all | word) & mask != 0;
        any || rest.as_chunks::<2>().0.iter().any(|pair| pair[0] & first != 0 || pair[1] & second != 0)
    }

    /// Lowers codes above the depth to the highest code, and returns whether there were any. Only for formats that
    /// [may exceed](Self::may_exceed) their depth.
    #[doc(hidden)]
    pub fn clamp(self, samples: &mut [u8]) -> bool {
        let exceeds = self.exceeds(samples);
        if exceeds {
            (0..samples.len() / 2).for_each(|index| self.write(samples, index, self.read(samples, index)));
        }
        exceeds
    }
}

/// The position of the samples of one component: pixel (x, y) has sample `offset + x * step` of row `y` of `plane`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Component {
    /// Index of the plane.
    pub plane: usize,
    /// First sample, counted in samples.
    pub offset: usize,
    /// Distance to the next pixel's sample, counted in samples.
    pub step: usize,
}

/// The source of luminance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Luminance {
    /// Stored luma samples.
    Stored(Component),
    /// The weighted sum of three components.
    FromRgb {
        /// Red.
        r: Component,
        /// Green.
        g: Component,
        /// Blue.
        b: Component,
    },
}

/// The position of the chroma samples of YUV. Each group of `2^log2_width` x `2^log2_height` pixels shares one
/// pair; x and y of the components count groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChromaSamples {
    /// Blue difference.
    pub cb: Component,
    /// Red difference.
    pub cr: Component,
    /// Pixels in a row that share a pair of chroma samples, as a power of two.
    pub log2_width: u8,
    /// Rows of pixels that share a pair of chroma samples, as a power of two.
    pub log2_height: u8,
}

/// The shape of one plane: `samples` samples for each group of `2^log2_width` x `2^log2_height` pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlaneShape {
    /// Horizontal group size, as a power of two.
    pub log2_width: u8,
    /// Vertical group size, as a power of two.
    pub log2_height: u8,
    /// Samples in a group.
    pub samples: u8,
}

/// The layout of a pixel format.
#[derive(Clone, Copy, Debug)]
pub struct Descriptor {
    /// The color model of the format.
    pub model: Model,
    /// How a sample is stored, the same for every component.
    pub sample: Sample,
    /// The source of luminance.
    pub luminance: Luminance,
    /// The chroma samples, if the format has any.
    pub chroma: Option<ChromaSamples>,
    planes: [PlaneShape; 4],
    plane_count: usize,
}

impl Descriptor {
    /// The planes. The first one holds luma, the packed pixels, or green.
    pub fn planes(&self) -> &[PlaneShape] {
        &self.planes[..self.plane_count]
    }
}

const NONE: PlaneShape = PlaneShape { log2_width: 0, log2_height: 0, samples: 0 };
const FULL: PlaneShape = PlaneShape { log2_width: 0, log2_height: 0, samples: 1 };
const U8: Sample = Sample { depth: 8, bytes: 1, shift: 0, endian: Endian::Little };

const fn sample(depth: u8) -> Sample {
    Sample { depth, bytes: 2, shift: 0, endian: Endian::Little }
}

const fn high_sample(depth: u8) -> Sample {
    Sample { shift: 16 - depth, ..sample(depth) }
}

const fn component(plane: usize, offset: usize, step: usize) -> Component {
    Component { plane, offset, step }
}

const LUMA: Luminance = Luminance::Stored(component(0, 0, 1));

/// A format whose components all lie in one plane of this many samples for each pixel.
const fn packed(model: Model, sample: Sample, luminance: Luminance, samples: u8) -> Descriptor {
    let planes = [PlaneShape { samples, ..FULL }, NONE, NONE, NONE];
    Descriptor { model, sample, luminance, chroma: None, planes, plane_count: 1 }
}

const fn gray(sample: Sample) -> Descriptor {
    packed(Model::Gray, sample, LUMA, 1)
}

const fn gray_alpha(sample: Sample) -> Descriptor {
    packed(Model::Gray, sample, Luminance::Stored(component(0, 0, 2)), 2)
}

const fn yuv(sample: Sample, log2_width: u8, log2_height: u8, plane_count: usize) -> Descriptor {
    let shape = PlaneShape { log2_width, log2_height, samples: 1 };
    let (cb, cr) = (component(1, 0, 1), component(2, 0, 1));
    let chroma = Some(ChromaSamples { cb, cr, log2_width, log2_height });
    Descriptor { model: Model::Yuv, sample, luminance: LUMA, chroma, planes: [FULL, shape, shape, FULL], plane_count }
}

const fn semi_planar(sample: Sample, log2_width: u8, log2_height: u8) -> Descriptor {
    let shape = PlaneShape { log2_width, log2_height, samples: 2 };
    let (cb, cr) = (component(1, 0, 2), component(1, 1, 2));
    let chroma = Some(ChromaSamples { cb, cr, log2_width, log2_height });
    Descriptor { chroma, planes: [FULL, shape, NONE, NONE], ..yuv(sample, log2_width, log2_height, 2) }
}

const fn packed_422(sample: Sample, luma_offset: usize) -> Descriptor {
    let pair = PlaneShape { log2_width: 1, log2_height: 0, samples: 4 };
    let (cb, cr) = (component(0, 1 - luma_offset, 4), component(0, 3 - luma_offset, 4));
    let chroma = Some(ChromaSamples { cb, cr, log2_width: 1, log2_height: 0 });
    let luminance = Luminance::Stored(component(0, luma_offset, 2));
    Descriptor { chroma, planes: [pair, NONE, NONE, NONE], ..packed(Model::Yuv, sample, luminance, 4) }
}

const fn cr_first(mut format: Descriptor) -> Descriptor {
    if let Some(ChromaSamples { cb, cr, log2_width, log2_height }) = format.chroma {
        format.chroma = Some(ChromaSamples { cb: cr, cr: cb, log2_width, log2_height });
    }
    format
}

const fn packed_rgb(sample: Sample, [r, g, b]: [usize; 3], step: usize) -> Descriptor {
    let [r, g, b] = [component(0, r, step), component(0, g, step), component(0, b, step)];
    packed(Model::Rgb, sample, Luminance::FromRgb { r, g, b }, step as u8)
}

const fn planar_rgb(sample: Sample, plane_count: usize) -> Descriptor {
    let [g, b, r] = [component(0, 0, 1), component(1, 0, 1), component(2, 0, 1)];
    let luminance = Luminance::FromRgb { r, g, b };
    Descriptor { model: Model::Rgb, sample, luminance, chroma: None, planes: [FULL; 4], plane_count }
}

const fn big_endian(mut format: Descriptor) -> Descriptor {
    format.sample.endian = Endian::Big;
    format
}

/// Declares the formats, a row each: names and layout. A row with two names is a format and its big-endian twin.
macro_rules! pixel_formats {
    ($($variant:ident $(| $big:ident)? = $name:literal $(| $big_name:literal)?, $descriptor:expr;)*) => {
        /// A pixel format that every backend equalizes without conversion.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs, reason = "the variants are FFmpeg's names")]
        pub enum PixelFormat { $($variant, $($big,)?)* }

        impl PixelFormat {
            /// All native pixel formats.
            pub const ALL: &'static [PixelFormat] = &[$(PixelFormat::$variant, $(PixelFormat::$big,)?)*];

            /// The format's name in FFmpeg.
            pub const fn name(self) -> &'static str {
                match self { $(PixelFormat::$variant => $name, $(PixelFormat::$big => $big_name,)?)* }
            }

            /// The format's layout.
            pub const fn descriptor(self) -> &'static Descriptor {
                match self {$(
                    PixelFormat::$variant => const { &$descriptor },
                    $(PixelFormat::$big => const { &big_endian($descriptor) },)?
                )*}
            }
        }
    };
}

pixel_formats! {
    Gray = "gray", gray(U8);
    Gray9le | Gray9be = "gray9le" | "gray9be", gray(sample(9));
    Gray10le | Gray10be = "gray10le" | "gray10be", gray(sample(10));
    Gray12le | Gray12be = "gray12le" | "gray12be", gray(sample(12));
    Gray14le | Gray14be = "gray14le" | "gray14be", gray(sample(14));
    Gray16le | Gray16be = "gray16le" | "gray16be", gray(sample(16));
    Ya8 = "ya8", gray_alpha(U8);
    Ya16le | Ya16be = "ya16le" | "ya16be", gray_alpha(sample(16));
    Yuv420p = "yuv420p", yuv(U8, 1, 1, 3);
    Yuv422p = "yuv422p", yuv(U8, 1, 0, 3);
    Yuv444p = "yuv444p", yuv(U8, 0, 0, 3);
    Yuv440p = "yuv440p", yuv(U8, 0, 1, 3);
    Yuv411p = "yuv411p", yuv(U8, 2, 0, 3);
    Yuv410p = "yuv410p", yuv(U8, 2, 2, 3);
    Yuv420p9le | Yuv420p9be = "yuv420p9le" | "yuv420p9be", yuv(sample(9), 1, 1, 3);
    Yuv420p10le | Yuv420p10be = "yuv420p10le" | "yuv420p10be", yuv(sample(10), 1, 1, 3);
    Yuv420p12le | Yuv420p12be = "yuv420p12le" | "yuv420p12be", yuv(sample(12), 1, 1, 3);
    Yuv420p14le | Yuv420p14be = "yuv420p14le" | "yuv420p14be", yuv(sample(14), 1, 1, 3);
    Yuv420p16le | Yuv420p16be = "yuv420p16le" | "yuv420p16be", yuv(sample(16), 1, 1, 3);
    Yuv422p9le | Yuv422p9be = "yuv422p9le" | "yuv422p9be", yuv(sample(9), 1, 0, 3);
    Yuv422p10le | Yuv422p10be = "yuv422p10le" | "yuv422p10be", yuv(sample(10), 1, 0, 3);
    Yuv422p12le | Yuv422p12be = "yuv422p12le" | "yuv422p12be", yuv(sample(12), 1, 0, 3);
    Yuv422p14le | Yuv422p14be = "yuv422p14le" | "yuv422p14be", yuv(sample(14), 1, 0, 3);
    Yuv422p16le | Yuv422p16be = "yuv422p16le" | "yuv422p16be", yuv(sample(16), 1, 0, 3);
    Yuv444p9le | Yuv444p9be = "yuv444p9le" | "yuv444p9be", yuv(sample(9), 0, 0, 3);
    Yuv444p10le | Yuv444p10be = "yuv444p10le" | "yuv444p10be", yuv(sample(10), 0, 0, 3);
    Yuv444p12le | Yuv444p12be = "yuv444p12le" | "yuv444p12be", yuv(sample(12), 0, 0, 3);
    Yuv444p14le | Yuv444p14be = "yuv444p14le" | "yuv444p14be", yuv(sample(14), 0, 0, 3);
    Yuv444p16le | Yuv444p16be = "yuv444p16le" | "yuv444p16be", yuv(sample(16), 0, 0, 3);
    Yuv440p10le | Yuv440p10be = "yuv440p10le" | "yuv440p10be", yuv(sample(10), 0, 1, 3);
    Yuv440p12le | Yuv440p12be = "yuv440p12le" | "yuv440p12be", yuv(sample(12), 0, 1, 3);
    Yuva420p = "yuva420p", yuv(U8, 1, 1, 4);
    Yuva422p = "yuva422p", yuv(U8, 1, 0, 4);
    Yuva444p = "yuva444p", yuv(U8, 0, 0, 4);
    Yuva420p9le | Yuva420p9be = "yuva420p9le" | "yuva420p9be", yuv(sample(9), 1, 1, 4);
    Yuva420p10le | Yuva420p10be = "yuva420p10le" | "yuva420p10be", yuv(sample(10), 1, 1, 4);
    Yuva420p16le | Yuva420p16be = "yuva420p16le" | "yuva420p16be", yuv(sample(16), 1, 1, 4);
    Yuva422p9le | Yuva422p9be = "yuva422p9le" | "yuva422p9be", yuv(sample(9), 1, 0, 4);
    Yuva422p10le | Yuva422p10be = "yuva422p10le" | "yuva422p10be", yuv(sample(10), 1, 0, 4);
    Yuva422p12le | Yuva422p12be = "yuva422p12le" | "yuva422p12be", yuv(sample(12), 1, 0, 4);
    Yuva422p16le | Yuva422p16be = "yuva422p16le" | "yuva422p16be", yuv(sample(16), 1, 0, 4);
    Yuva444p9le | Yuva444p9be = "yuva444p9le" | "yuva444p9be", yuv(sample(9), 0, 0, 4);
    Yuva444p10le | Yuva444p10be = "yuva444p10le" | "yuva444p10be", yuv(sample(10), 0, 0, 4);
    Yuva444p12le | Yuva444p12be = "yuva444p12le" | "yuva444p12be", yuv(sample(12), 0, 0, 4);
    Yuva444p16le | Yuva444p16be = "yuva444p16le" | "yuva444p16be", yuv(sample(16), 0, 0, 4);
    Nv12 = "nv12", semi_planar(U8, 1, 1);
    Nv21 = "nv21", cr_first(semi_planar(U8, 1, 1));
    Nv16 = "nv16", semi_planar(U8, 1, 0);
    Nv24 = "nv24", semi_planar(U8, 0, 0);
    Nv42 = "nv42", cr_first(semi_planar(U8, 0, 0));
    P010le | P010be = "p010le" | "p010be", semi_planar(high_sample(10), 1, 1);
    P016le | P016be = "p016le" | "p016be", semi_planar(high_sample(16), 1, 1);
    P210le | P210be = "p210le" | "p210be", semi_planar(high_sample(10), 1, 0);
    P216le | P216be = "p216le" | "p216be", semi_planar(high_sample(16), 1, 0);
    P410le | P410be = "p410le" | "p410be", semi_planar(high_sample(10), 0, 0);
    P416le | P416be = "p416le" | "p416be", semi_planar(high_sample(16), 0, 0);
    Yuyv422 = "yuyv422", packed_422(U8, 0);
    Yvyu422 = "yvyu422", cr_first(packed_422(U8, 0));
    Uyvy422 = "uyvy422", packed_422(U8, 1);
    Y210le = "y210le", packed_422(high_sample(10), 0);
    Rgb24 = "rgb24", packed_rgb(U8, [0, 1, 2], 3);
    Bgr24 = "bgr24", packed_rgb(U8, [2, 1, 0], 3);
    Rgba = "rgba", packed_rgb(U8, [0, 1, 2], 4);
    Bgra = "bgra", packed_rgb(U8, [2, 1, 0], 4);
    Argb = "argb", packed_rgb(U8, [1, 2, 3], 4);
    Abgr = "abgr", packed_rgb(U8, [3, 2, 1], 4);
    Rgb0 = "rgb0", packed_rgb(U8, [0, 1, 2], 4);
    Bgr0 = "bgr0", packed_rgb(U8, [2, 1, 0], 4);
    Zrgb = "0rgb", packed_rgb(U8, [1, 2, 3], 4);
    Zbgr = "0bgr", packed_rgb(U8, [3, 2, 1], 4);
    Rgb48le | Rgb48be = "rgb48le" | "rgb48be", packed_rgb(sample(16), [0, 1, 2], 3);
    Bgr48le | Bgr48be = "bgr48le" | "bgr48be", packed_rgb(sample(16), [2, 1, 0], 3);
    Rgba64le | Rgba64be = "rgba64le" | "rgba64be", packed_rgb(sample(16), [0, 1, 2], 4);
    Bgra64le | Bgra64be = "bgra64le" | "bgra64be", packed_rgb(sample(16), [2, 1, 0], 4);
    Gbrp = "gbrp", planar_rgb(U8, 3);
    Gbrp9le | Gbrp9be = "gbrp9le" | "gbrp9be", planar_rgb(sample(9), 3);
    Gbrp10le | Gbrp10be = "gbrp10le" | "gbrp10be", planar_rgb(sample(10), 3);
    Gbrp12le | Gbrp12be = "gbrp12le" | "gbrp12be", planar_rgb(sample(12), 3);
    Gbrp14le | Gbrp14be = "gbrp14le" | "gbrp14be", planar_rgb(sample(14), 3);
    Gbrp16le | Gbrp16be = "gbrp16le" | "gbrp16be", planar_rgb(sample(16), 3);
    Gbrap = "gbrap", planar_rgb(U8, 4);
    Gbrap10le | Gbrap10be = "gbrap10le" | "gbrap10be", planar_rgb(sample(10), 4);
    Gbrap12le | Gbrap12be = "gbrap12le" | "gbrap12be", planar_rgb(sample(12), 4);
    Gbrap16le | Gbrap16be = "gbrap16le" | "gbrap16be", planar_rgb(sample(16), 4);
}

impl PixelFormat {
    /// The native format with this FFmpeg name. The full-range `yuvj` names are not native formats: range is a property
    /// of the frame.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|format| format.name() == name)
    }

    /// Significant bits of a sample, 8 to 16.
    pub const fn depth(self) -> u8 {
        self.descriptor().sample.depth
    }

    /// Whether the format has alpha. FFmpeg's names contain an `a` only in formats with alpha, and in `gray`.
    pub fn has_alpha(self) -> bool {
        self.name().contains('a') && !self.name().starts_with("gray")
    }

    /// The alpha samples, if the format has alpha: the fourth plane, or the remaining sample of a packed pixel.
    pub fn alpha(self) -> Option<Component> {
        let Descriptor { luminance, plane_count, .. } = *self.descriptor();
        self.has_alpha().then(|| match luminance {
            _ if plane_count == 4 => component(3, 0, 1),
            Luminance::Stored(luma) => component(0, 1 - luma.offset, luma.step),
            Luminance::FromRgb { r, g, b } => component(0, 6 - r.offset - g.offset - b.offset, r.step),
        })
    }

    /// Bytes in a row of `plane` of a frame `width` pixels wide, without padding.
    pub fn row_bytes(self, plane: usize, width: usize) -> usize {
        let shape = self.descriptor().planes()[plane];
        width.div_ceil(1 << shape.log2_width) * usize::from(shape.samples) * usize::from(self.descriptor().sample.bytes)
    }

    /// Rows in `plane` of a frame `height` pixels high.
    pub fn rows(self, plane: usize, height: usize) -> usize {
        height.div_ceil(1 << self.descriptor().planes()[plane].log2_height)
    }

    /// Checks that planes of these sizes (bytes a row, rows) are those of a frame of this size (columns, rows).
    ///
    /// # Errors
    /// When they are not, or the frame has no pixels.
    pub(super) fn check_planes(
        self,
        (width, height): (usize, usize),
        planes: impl ExactSizeIterator<Item = (usize, usize)>,
    ) -> Result<(), FrameError> {
        if width == 0 || height == 0 {
            return Err(FrameError::Empty { width, height });
        }
        let expected = self.descriptor().planes().len();
        if planes.len() != expected {
            return Err(FrameError::PlaneCount { format: self, expected, found: planes.len() });
        }
        for (plane, found) in planes.enumerate() {
            let expected = (self.row_bytes(plane, width), self.rows(plane, height));
            if expected != found {
                return Err(FrameError::PlaneSize { format: self, plane, expected, found });
            }
        }
        Ok(())
    }

    /// The planes that equalization rewrites, as in [`Frame::rewritten_planes`](super::Frame::rewritten_planes).
    #[doc(hidden)]
    pub fn rewritten_planes(self, with_chroma: bool) -> std::ops::Range<usize> {
        let descriptor = self.descriptor();
        let last = match (descriptor.luminance, descriptor.chroma) {
            (Luminance::FromRgb { r, g, b }, _) => r.plane.max(g.plane).max(b.plane),
            (Luminance::Stored(_), Some(chroma)) if with_chroma => chroma.cb.plane.max(chroma.cr.plane),
            (Luminance::Stored(luma), _) => luma.plane,
        };
        0..last + 1
    }
}

/// A frame whose planes do not fit its format and size.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum FrameError {
    /// Width or height is zero.
    #[error("a picture of {width}x{height} pixels")]
    Empty {
        /// Pixels in a row.
        width: usize,
        /// Rows.
        height: usize,
    },
    /// Too few or too many planes.
    #[error("{format} has {expected} planes, not {found}")]
    PlaneCount {
        /// The format.
        format: PixelFormat,
        /// Number of planes of the format.
        expected: usize,
        /// Number of planes given.
        found: usize,
    },
    /// A plane on a GPU without an address, or whose rows overlap.
    #[error(
        "plane {plane} begins at address {address:#x}, with {pitch} bytes from one row of {row_bytes} bytes to the next"
    )]
    PlanePlace {
        /// Index of the plane.
        plane: usize,
        /// Address of its first byte.
        address: u64,
        /// Bytes from one row to the next.
        pitch: usize,
        /// Bytes in a row.
        row_bytes: usize,
    },
    /// A plane of the wrong size.
    #[error("plane {plane} of a {format} picture has {expected:?} (bytes a row, rows), not {found:?}")]
    PlaneSize {
        /// The format.
        format: PixelFormat,
        /// Index of the plane.
        plane: usize,
        /// Bytes a row, and rows, that the format requires.
        expected: (usize, usize),
        /// Bytes a row, and rows, of the given plane.
        found: (usize, usize),
    },
}

impl std::fmt::Display for PixelFormat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
