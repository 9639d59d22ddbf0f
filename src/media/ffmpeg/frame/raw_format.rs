//! FFmpeg's pixel formats, of which the native ones ([`PixelFormat`]) are a part.
#![allow(unsafe_code, reason = "FFI")]

use crate::ffmpeg::text;
use ffmpeg_next::ffi;
use histeq::internal::frame::PixelFormat;

/// A pixel format of FFmpeg, native or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawFormat(pub(crate) ffi::AVPixelFormat);

impl RawFormat {
    /// The format of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        crate::ffmpeg::init();
        // SAFETY: a NUL-terminated name.
        let format = unsafe { ffi::av_get_pix_fmt(crate::ffmpeg::c_string(name).as_ptr()) };
        (format != ffi::AVPixelFormat::AV_PIX_FMT_NONE).then_some(RawFormat(format))
    }

    /// All native formats that this FFmpeg knows.
    pub fn natives() -> Vec<Self> {
        PixelFormat::ALL.iter().filter_map(|format| RawFormat::from_name(format.name())).collect()
    }

    /// The format with the number in an AVFrame or in AVCodecParameters.
    ///
    /// # Safety
    /// `number` comes from the linked FFmpeg library.
    pub(crate) unsafe fn from_number(number: i32) -> Self {
        // SAFETY: the bindings are made from the headers of the linked library, and so have its numbers.
        RawFormat(unsafe { std::mem::transmute::<i32, ffi::AVPixelFormat>(number) })
    }

    /// FFmpeg's name of it.
    pub fn name(self) -> String {
        // SAFETY: the result is a constant, or null for an unknown number.
        unsafe { text(ffi::av_get_pix_fmt_name(self.0)) }
    }

    /// The native format with the same layout of samples: `yuvj420p` and `yuv420p` differ only in range.
    pub fn native(self) -> Option<PixelFormat> {
        let name = self.name();
        PixelFormat::from_name(&name.replacen("yuvj", "yuv", 1))
    }

    /// For a gray format, the 4:4:4 YUV format with the same luma.
    pub(crate) fn same_luma_yuv(self) -> Option<Self> {
        let name = self.name();
        let depth = name.strip_prefix("gray")?;
        RawFormat::from_name(&format!("yuv444p{depth}"))
    }

    /// For YUV whose chroma is subsampled in one direction more than in the other (4:2:2, 4:4:0, 4:1:1), the planar
    /// 4:4:4 format of this depth.
    pub(crate) fn without_subsampling(self) -> Option<Self> {
        let name = self.name();
        let found = ["422", "440", "411"].into_iter().find(|sampling| name.contains(sampling))?;
        let planar = name.starts_with("yuv").then(|| name.replace(found, "444"));
        RawFormat::from_name(planar.as_deref().filter(|_| !name.starts_with("yuyv"))?)
    }

    /// The `yuvj` format with the same layout of samples, if there is one.
    pub fn full_range_yuv(self) -> Option<Self> {
        RawFormat::from_name(&self.name().replacen("yuv", "yuvj", 1)).filter(|format| format.is_full_range_yuv())
    }

    /// Whether a conversion to `target` loses bits, chroma resolution or alpha.
    pub fn loses_in(self, target: RawFormat) -> bool {
        self.loses_colour_in(target) || self.has_alpha() && !target.has_alpha()
    }

    /// Whether a conversion to `target` loses bits or chroma resolution. Alpha does not count.
    pub fn loses_colour_in(self, target: RawFormat) -> bool {
        target.depth() < self.depth() || target.chroma_resolution() < self.chroma_resolution()
    }

    /// Whether it is one of the `yuvj` formats, which imply full range.
    pub fn is_full_range_yuv(self) -> bool {
        self.name().starts_with("yuvj")
    }

    /// Whether it is RGB, or a palette of RGB colours.
    pub fn is_rgb(self) -> bool {
        let rgb = ffi::AV_PIX_FMT_FLAG_RGB as u64 | ffi::AV_PIX_FMT_FLAG_PAL as u64;
        self.flags() & rgb != 0
    }

    /// Whether it has luma only.
    pub fn is_gray(self) -> bool {
        self.descriptor().map_or(0, |d| d.nb_components) < 3 && !self.is_rgb()
    }

    /// Bits of its deepest component.
    pub fn depth(self) -> u8 {
        // For a mosaic (Bayer), FFmpeg divides the bits of a sample among the colours, by how often they occur.
        let is_mosaic = self.flags() & ffi::AV_PIX_FMT_FLAG_BAYER as u64 != 0;
        self.descriptor().map_or(8, |d| {
            let depths = d.comp[..usize::from(d.nb_components)].iter().map(|component| component.depth as u8);
            if is_mosaic { depths.sum::<u8>() } else { depths.max().unwrap_or(8) }
        })
    }

    /// Chroma samples for each luma sample, in sixteenths: 16 for 4:4:4, 4 for 4:2:0, 0 for gray.
    pub fn chroma_resolution(self) -> u32 {
        if self.is_gray() {
            return 0;
        }
        16 >> self.descriptor().map_or(0, |d| d.log2_chroma_w + d.log2_chroma_h)
    }

    /// Base-2 logarithm of the luma rows for each chroma row.
    pub(crate) fn log2_chroma_height(self) -> u8 {
        self.descriptor().map_or(0, |d| d.log2_chroma_h)
    }

    /// The number of planes with samples; a palette does not count.
    pub(crate) fn planes(self) -> usize {
        self.descriptor().map_or(0, |d| {
            let planes = d.comp[..usize::from(d.nb_components)].iter().map(|component| component.plane as usize + 1);
            planes.max().unwrap_or(0)
        })
    }

    /// Columns and rows of luma for a sample of chroma.
    pub fn chroma_step(self) -> (usize, usize) {
        self.descriptor().map_or((1, 1), |d| (1 << d.log2_chroma_w, 1 << d.log2_chroma_h))
    }

    /// Whether its samples are floating point numbers.
    pub fn is_float(self) -> bool {
        self.flags() & ffi::AV_PIX_FMT_FLAG_FLOAT as u64 != 0
    }

    /// Whether it has an alpha channel.
    pub fn has_alpha(self) -> bool {
        self.flags() & ffi::AV_PIX_FMT_FLAG_ALPHA as u64 != 0
    }

    fn flags(self) -> u64 {
        self.descriptor().map_or(0, |d| d.flags)
    }

    pub(crate) fn descriptor(self) -> Option<&'static ffi::AVPixFmtDescriptor> {
        // SAFETY: the result is a constant, or null for an unknown number.
        unsafe { ffi::av_pix_fmt_desc_get(self.0).as_ref() }
    }
}

impl From<PixelFormat> for RawFormat {
    /// If this FFmpeg does not know the format, the result is FFmpeg's `none`, which its functions refuse.
    fn from(format: PixelFormat) -> Self {
        RawFormat::from_name(format.name()).unwrap_or(RawFormat(ffi::AVPixelFormat::AV_PIX_FMT_NONE))
    }
}

impl std::fmt::Display for RawFormat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name())
    }
}
