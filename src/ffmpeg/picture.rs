//! AVFrame and [`Frame`]: planes pass from one to the other by reference, in both directions.
#![allow(unsafe_code, reason = "FFI")]

use super::lender::is_pinned;
use super::{Error, check, text};
use crate::frame::{Frame, Matrix, Memory, Model, OnDevice, PixelFormat, Plane, Range};
use anyhow::Context;
use ffmpeg_next::ffi;
use std::sync::Arc;

/// A pixel format as FFmpeg numbers it, native to us or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawFormat(pub(super) ffi::AVPixelFormat);

impl RawFormat {
    /// The format of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        super::init();
        // SAFETY: a NUL-terminated name.
        let format = unsafe { ffi::av_get_pix_fmt(super::c_string(name).as_ptr()) };
        (format != ffi::AVPixelFormat::AV_PIX_FMT_NONE).then_some(RawFormat(format))
    }

    /// The number of an AVFrame or of AVCodecParameters.
    ///
    /// # Safety
    /// `number` comes from the FFmpeg library that we are linked against.
    pub(super) unsafe fn from_number(number: i32) -> Self {
        // SAFETY: the library uses the numbers of the headers that the bindings were made from.
        RawFormat(unsafe { std::mem::transmute::<i32, ffi::AVPixelFormat>(number) })
    }

    /// FFmpeg's name of it.
    pub fn name(self) -> String {
        // SAFETY: answers with a constant, or null for a number it does not know.
        unsafe { text(ffi::av_get_pix_fmt_name(self.0)) }
    }

    /// The native format that stores pixels the same way: `yuvj420p` and `yuv420p` differ in range alone.
    pub fn native(self) -> Option<PixelFormat> {
        let name = self.name();
        PixelFormat::from_name(&name.replacen("yuvj", "yuv", 1))
    }

    /// The YUV format without subsampling that has the same luma as this gray one.
    pub(super) fn coloured(self) -> Option<Self> {
        let name = self.name();
        let depth = name.strip_prefix("gray")?;
        RawFormat::from_name(&format!("yuv444p{depth}"))
    }

    /// The planar YUV format of this depth without subsampling, if this one has more chroma across than down or the other way
    /// round.
    pub(super) fn without_subsampling(self) -> Option<Self> {
        let name = self.name();
        let found = ["422", "440", "411"].into_iter().find(|sampling| name.contains(sampling))?;
        let planar = name.starts_with("yuv").then(|| name.replace(found, "444"));
        RawFormat::from_name(planar.as_deref().filter(|_| !name.starts_with("yuyv"))?)
    }

    /// Is its name one of the full-range `yuvj`?
    pub fn is_full_range_yuv(self) -> bool {
        self.name().starts_with("yuvj")
    }

    /// Is it red, green and blue (or a palette of them)?
    pub fn is_rgb(self) -> bool {
        let rgb = ffi::AV_PIX_FMT_FLAG_RGB as u64 | ffi::AV_PIX_FMT_FLAG_PAL as u64;
        self.flags() & rgb != 0
    }

    /// Has it luma alone?
    pub fn is_gray(self) -> bool {
        // SAFETY: the descriptor is a constant; a null one is handled.
        let components = unsafe { ffi::av_pix_fmt_desc_get(self.0).as_ref().map_or(0, |d| d.nb_components) };
        components < 3 && !self.is_rgb()
    }

    /// Bits of its deepest component.
    pub fn depth(self) -> u8 {
        // SAFETY: the descriptor is a constant; a null one is handled.
        let descriptor = unsafe { ffi::av_pix_fmt_desc_get(self.0).as_ref() };
        descriptor.map_or(8, |d| {
            let components = &d.comp[..usize::from(d.nb_components)];
            components.iter().map(|component| component.depth as u8).max().unwrap_or(8)
        })
    }

    /// Chroma samples for each luma sample, in sixteenths; 16 where every pixel has its own colour, 0 where none has.
    pub fn chroma_resolution(self) -> u32 {
        if self.is_gray() {
            return 0;
        }
        // SAFETY: the descriptor is a constant; a null one is handled.
        let shift =
            unsafe { ffi::av_pix_fmt_desc_get(self.0).as_ref() }.map_or(0, |d| d.log2_chroma_w + d.log2_chroma_h);
        16 >> shift
    }

    /// Has it transparency?
    pub fn has_alpha(self) -> bool {
        self.flags() & ffi::AV_PIX_FMT_FLAG_ALPHA as u64 != 0
    }

    fn flags(self) -> u64 {
        // SAFETY: the descriptor is a constant; a null one is handled.
        unsafe { ffi::av_pix_fmt_desc_get(self.0).as_ref().map_or(0, |d| d.flags) }
    }
}

impl From<PixelFormat> for RawFormat {
    fn from(format: PixelFormat) -> Self {
        RawFormat::from_name(format.name()).expect("native formats have FFmpeg's names")
    }
}

impl std::fmt::Display for RawFormat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name())
    }
}

/// How the numbers of a picture become colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour {
    pub(super) range: ffi::AVColorRange,
    pub(super) primaries: ffi::AVColorPrimaries,
    pub(super) transfer: ffi::AVColorTransferCharacteristic,
    pub(super) space: ffi::AVColorSpace,
    pub(super) chroma_location: ffi::AVChromaLocation,
}

impl Colour {
    /// Is it HDR (PQ or HLG)?
    pub fn is_hdr(self) -> bool {
        use ffi::AVColorTransferCharacteristic as Transfer;
        matches!(self.transfer, Transfer::AVCOL_TRC_SMPTE2084 | Transfer::AVCOL_TRC_ARIB_STD_B67)
    }

    /// The same colours, once RGB has become YUV or the other way round; `hd` decides what an untagged one becomes.
    #[must_use]
    pub fn converted(mut self, from: RawFormat, to: RawFormat, hd: bool) -> Self {
        use ffi::{AVColorRange as Range, AVColorSpace as Space};
        match (from.is_rgb(), to.is_rgb()) {
            (false, true) => {
                self.space = Space::AVCOL_SPC_RGB;
                self.range = Range::AVCOL_RANGE_JPEG;
            }
            (true, false) if !to.is_gray() => {
                self.space = match self.matrix() {
                    Matrix::Bt2020 => Space::AVCOL_SPC_BT2020_NCL,
                    Matrix::Bt709 => Space::AVCOL_SPC_BT709,
                    Matrix::Bt601 if hd => Space::AVCOL_SPC_BT709,
                    Matrix::Bt601 => Space::AVCOL_SPC_SMPTE170M,
                };
                self.range = Range::AVCOL_RANGE_MPEG;
            }
            _ => {}
        }
        if to.is_full_range_yuv() {
            self.range = Range::AVCOL_RANGE_JPEG;
        }
        self
    }

    /// Where chroma lies, if that is one of the places that other programs have a word for.
    pub fn siting(self) -> Option<Siting> {
        match self.chroma_location {
            ffi::AVChromaLocation::AVCHROMA_LOC_LEFT => Some(Siting::Left),
            ffi::AVChromaLocation::AVCHROMA_LOC_CENTER => Some(Siting::Center),
            ffi::AVChromaLocation::AVCHROMA_LOC_TOPLEFT => Some(Siting::TopLeft),
            _ => None,
        }
    }

    /// The same colours in full range.
    #[must_use]
    pub fn full_range(mut self) -> Self {
        self.range = ffi::AVColorRange::AVCOL_RANGE_JPEG;
        self
    }

    /// The same colours in limited range.
    #[must_use]
    pub fn limited_range(mut self) -> Self {
        self.range = ffi::AVColorRange::AVCOL_RANGE_MPEG;
        self
    }

    /// Are all codes of a picture of this format picture?
    pub fn is_full_range(self, format: RawFormat) -> bool {
        self.range_of(format) == Range::Full
    }

    pub(super) fn matrix(self) -> Matrix {
        use ffi::{AVColorPrimaries as Primaries, AVColorSpace as Space};
        match self.space {
            Space::AVCOL_SPC_BT709 => Matrix::Bt709,
            Space::AVCOL_SPC_BT2020_NCL | Space::AVCOL_SPC_BT2020_CL => Matrix::Bt2020,
            // The matrix says nothing (for RGB it never does): the primaries decide.
            Space::AVCOL_SPC_RGB | Space::AVCOL_SPC_UNSPECIFIED => match self.primaries {
                Primaries::AVCOL_PRI_BT709 => Matrix::Bt709,
                Primaries::AVCOL_PRI_BT2020 => Matrix::Bt2020,
                _ => Matrix::Bt601,
            },
            _ => Matrix::Bt601,
        }
    }

    /// The range of a picture of this format; what says nothing is limited if it is YUV, full if it is gray or RGB.
    pub(super) fn range_of(self, format: RawFormat) -> Range {
        if format.is_rgb() || format.is_full_range_yuv() {
            return Range::Full;
        }
        match self.range {
            ffi::AVColorRange::AVCOL_RANGE_JPEG => Range::Full,
            ffi::AVColorRange::AVCOL_RANGE_MPEG => Range::Limited,
            _ if format.is_gray() => Range::Full,
            _ => Range::Limited,
        }
    }
}

/// Where the chroma samples of 4:2:0 lie between the luma samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Siting {
    /// MPEG-2, H.264: on the left column, between the rows.
    Left,
    /// JPEG, MPEG-1: in the middle of four.
    Center,
    /// DV, BT.2020: on the upper left one.
    TopLeft,
}

/// What is known of pictures that no decoder describes.
#[derive(Clone, Copy, Debug)]
pub struct Properties {
    /// Pixel format.
    pub format: PixelFormat,
    /// Which codes are picture, if somebody says so.
    pub range: Option<Range>,
    /// Where chroma lies, if known.
    pub siting: Option<Siting>,
    /// `Some(top field first?)` when a picture holds two fields.
    pub interlaced: Option<bool>,
    /// Width to height of a pixel, if known.
    pub sample_aspect_ratio: Option<ffmpeg_next::Rational>,
}

/// An AVFrame: pixels, and all that is known of them.
pub struct Picture {
    ptr: *mut ffi::AVFrame,
    /// Where its first plane lies, if that is on a GPU. The plane's pointer is the address there, and only counted with.
    luma: Option<Arc<dyn Memory>>,
}

// SAFETY: an AVFrame is plain data and atomically counted references; nothing ties it to a thread, and through a
// shared reference it is only read.
unsafe impl Send for Picture {}
// SAFETY: as above.
unsafe impl Sync for Picture {}

impl Picture {
    pub(super) fn new() -> Self {
        // SAFETY: no precondition.
        let ptr = unsafe { ffi::av_frame_alloc() };
        assert!(!ptr.is_null(), "out of memory");
        Picture { ptr, luma: None }
    }

    /// A picture without memory.
    pub(super) fn empty(format: RawFormat, (width, height): (usize, usize)) -> Self {
        let mut picture = Picture::new();
        let frame = picture.get_mut();
        frame.format = format.0 as i32;
        frame.width = width as i32;
        frame.height = height as i32;
        picture
    }

    /// Has its first plane lie in this memory of a GPU, with rows so far apart. Nobody reads it through the AVFrame.
    pub(super) fn put_luma(&mut self, memory: Arc<dyn Memory>, OnDevice { address, .. }: OnDevice, line_bytes: i32) {
        let frame = self.get_mut();
        frame.data[0] = std::ptr::without_provenance_mut(address as usize);
        frame.linesize[0] = line_bytes;
        self.luma = Some(memory);
    }

    /// A picture with memory of its own, its pixels unspecified.
    pub(super) fn allocate(format: RawFormat, size: (usize, usize)) -> Result<Self, Error> {
        let picture = Picture::empty(format, size);
        // SAFETY: the frame is valid, and empty.
        check(unsafe { ffi::av_frame_get_buffer(picture.ptr, 0) })?;
        Ok(picture)
    }

    /// A picture without pixels that says this of others, for [`Frame::attachment`].
    pub fn described(properties: &Properties) -> Self {
        let mut picture = Picture::new();
        let frame = picture.get_mut();
        frame.format = RawFormat::from(properties.format).0 as i32;
        frame.color_range = match properties.range {
            None => ffi::AVColorRange::AVCOL_RANGE_UNSPECIFIED,
            Some(Range::Limited) => ffi::AVColorRange::AVCOL_RANGE_MPEG,
            Some(Range::Full) => ffi::AVColorRange::AVCOL_RANGE_JPEG,
        };
        frame.chroma_location = match properties.siting {
            None => ffi::AVChromaLocation::AVCHROMA_LOC_UNSPECIFIED,
            Some(Siting::Left) => ffi::AVChromaLocation::AVCHROMA_LOC_LEFT,
            Some(Siting::Center) => ffi::AVChromaLocation::AVCHROMA_LOC_CENTER,
            Some(Siting::TopLeft) => ffi::AVChromaLocation::AVCHROMA_LOC_TOPLEFT,
        };
        if let Some(ratio) = properties.sample_aspect_ratio {
            frame.sample_aspect_ratio = ratio.into();
        }
        if let Some(top_field_first) = properties.interlaced {
            #[cfg(not(ffmpeg_6_1))]
            {
                frame.interlaced_frame = 1;
                frame.top_field_first = top_field_first.into();
            }
            #[cfg(ffmpeg_6_1)]
            {
                frame.flags |= ffi::AV_FRAME_FLAG_INTERLACED as i32;
                if top_field_first {
                    frame.flags |= ffi::AV_FRAME_FLAG_TOP_FIELD_FIRST as i32;
                }
            }
        }
        picture
    }

    /// Where a plane begins, for those who want to know whether it has been copied.
    pub fn address(&self, plane: usize) -> *const u8 {
        self.get().data[plane]
    }

    pub(super) fn as_ptr(&self) -> *mut ffi::AVFrame {
        self.ptr
    }

    pub(super) fn get(&self) -> &ffi::AVFrame {
        // SAFETY: allocated in `new`, freed in `drop` only.
        unsafe { &*self.ptr }
    }

    fn get_mut(&mut self) -> &mut ffi::AVFrame {
        // SAFETY: allocated in `new`, freed in `drop` only, and not shared.
        unsafe { &mut *self.ptr }
    }

    /// Its pixel format.
    pub fn format(&self) -> RawFormat {
        // SAFETY: FFmpeg set the number.
        unsafe { RawFormat::from_number(self.get().format) }
    }

    /// Pixels in a row and rows.
    pub fn size(&self) -> (usize, usize) {
        (self.get().width as usize, self.get().height as usize)
    }

    /// How its numbers become colours.
    pub fn colour(&self) -> Colour {
        let frame = self.get();
        Colour {
            range: frame.color_range,
            primaries: frame.color_primaries,
            transfer: frame.color_trc,
            space: frame.colorspace,
            chroma_location: frame.chroma_location,
        }
    }

    /// Says how its numbers become colours.
    pub fn set_colour(&mut self, colour: Colour) {
        let frame = self.get_mut();
        frame.color_range = colour.range;
        frame.color_primaries = colour.primaries;
        frame.color_trc = colour.transfer;
        frame.colorspace = colour.space;
        frame.chroma_location = colour.chroma_location;
    }

    /// Are all its codes picture, from black at 0?
    pub fn is_full_range(&self) -> bool {
        self.colour().is_full_range(self.format())
    }

    /// Calls its pixel format by another name that stores samples the same way (`yuvj420p` for `yuv420p`).
    pub fn rename(&mut self, format: RawFormat) {
        debug_assert_eq!(format.native(), self.format().native());
        self.get_mut().format = format.0 as i32;
    }

    /// When it is shown, as best as FFmpeg can tell, in its stream's time base.
    pub fn time(&self) -> Option<i64> {
        let known = |time: i64| (time != ffi::AV_NOPTS_VALUE).then_some(time);
        known(self.get().best_effort_timestamp).or(known(self.get().pts))
    }

    /// Says when it is shown.
    pub fn set_time(&mut self, time: Option<i64>) {
        let time = time.unwrap_or(ffi::AV_NOPTS_VALUE);
        self.get_mut().pts = time;
        self.get_mut().best_effort_timestamp = time;
    }

    /// How long it is shown in its stream's time base, 0 when unknown.
    pub fn duration(&self) -> i64 {
        #[cfg(not(ffmpeg_6_0))]
        return self.get().pkt_duration;
        #[cfg(ffmpeg_6_0)]
        return self.get().duration;
    }

    /// Says how long it is shown.
    pub fn set_duration(&mut self, duration: i64) {
        #[cfg(not(ffmpeg_6_0))]
        {
            self.get_mut().pkt_duration = duration;
        }
        #[cfg(ffmpeg_6_0)]
        {
            self.get_mut().duration = duration;
        }
    }

    /// Does the decoder say that something in it is missing or wrong?
    pub fn is_damaged(&self) -> bool {
        self.get().decode_error_flags != 0 || self.get().flags & ffi::AV_FRAME_FLAG_CORRUPT != 0
    }

    /// `Some(top field first?)` when its two fields were taken at different times.
    pub fn interlaced(&self) -> Option<bool> {
        let frame = self.get();
        #[cfg(not(ffmpeg_6_1))]
        return (frame.interlaced_frame != 0).then_some(frame.top_field_first != 0);
        #[cfg(ffmpeg_6_1)]
        return (frame.flags & ffi::AV_FRAME_FLAG_INTERLACED as i32 != 0)
            .then_some(frame.flags & ffi::AV_FRAME_FLAG_TOP_FIELD_FIRST as i32 != 0);
    }

    /// Forgets that its two fields were taken at different times.
    pub(super) fn set_progressive(&mut self) {
        let frame = self.get_mut();
        #[cfg(not(ffmpeg_6_1))]
        {
            frame.interlaced_frame = 0;
        }
        #[cfg(ffmpeg_6_1)]
        {
            frame.flags &= !(ffi::AV_FRAME_FLAG_INTERLACED as i32);
        }
    }

    /// Width to height of a pixel, if known.
    pub fn sample_aspect_ratio(&self) -> Option<ffmpeg_next::Rational> {
        let ratio = self.get().sample_aspect_ratio;
        (ratio.num > 0 && ratio.den > 0).then(|| ratio.into())
    }

    /// Says how wide a pixel is for its height.
    pub(super) fn set_sample_aspect_ratio(&mut self, ratio: ffmpeg_next::Rational) {
        self.get_mut().sample_aspect_ratio = ratio.into();
    }

    /// All that is known of `other` but its pixels: times, colours, side data.
    pub(super) fn copy_properties(&mut self, other: &Picture) -> Result<(), Error> {
        // SAFETY: both frames are valid.
        check(unsafe { ffi::av_frame_copy_props(self.ptr, other.ptr) })?;
        Ok(())
    }

    /// The frame of these pixels, with no copy; `None` when the format is not native to us. Its attachment is all else
    /// that is known of the picture, for [`Picture::from_frame`] to put back.
    ///
    /// # Errors
    /// When the decoder's picture does not hold the rows that its format and size call for.
    pub fn to_frame(&self) -> anyhow::Result<Option<Frame>> {
        let Some(format) = self.format().native() else { return Ok(None) };
        let (width, height) = self.size();
        let planes = (0..format.descriptor().planes().len())
            .map(|index| self.plane(index, format.row_bytes(index, width), format.rows(index, height)))
            .collect::<anyhow::Result<Vec<Plane>>>()?;
        let colour = self.colour();
        let range = colour.range_of(self.format());
        let mut frame = Frame::new(format, (width, height), range, colour.matrix(), planes)?;
        let mut properties = Picture::new();
        properties.copy_properties(self)?;
        // What the lender has marked are the pixels, which stay here.
        properties.get_mut().opaque = std::ptr::null_mut();
        // A picture from a `yuvj` format may say nothing of its range beside its name.
        if format.descriptor().model == Model::Yuv && range == Range::Full {
            properties.get_mut().color_range = ffi::AVColorRange::AVCOL_RANGE_JPEG;
        }
        frame.pts = self.time();
        frame.attachment = Some(Arc::new(properties));
        Ok(Some(frame))
    }

    /// The picture of this frame's pixels, with no copy, and with the properties of the picture that it came from.
    pub fn from_frame(frame: &Frame) -> Result<Self, Error> {
        let mut picture = Picture::new();
        if let Some(properties) = frame.attachment.as_ref().and_then(|a| a.downcast_ref::<Picture>()) {
            picture.copy_properties(properties)?;
        }
        let out = picture.get_mut();
        out.format = RawFormat::from(frame.format()).0 as i32;
        out.width = frame.width() as i32;
        out.height = frame.height() as i32;
        for (index, plane) in frame.planes().iter().enumerate() {
            let bytes = plane.memory().bytes();
            let owner: *mut Plane = Box::into_raw(Box::new(plane.clone()));
            // SAFETY: the buffer lives until `release` drops the plane that keeps it; it is marked read-only, so
            // nobody writes through the pointer.
            unsafe {
                let start = bytes.as_ptr().cast_mut();
                let read_only = ffi::AV_BUFFER_FLAG_READONLY;
                out.buf[index] = ffi::av_buffer_create(start, bytes.len(), Some(release), owner.cast(), read_only);
                if out.buf[index].is_null() {
                    drop(Box::from_raw(owner));
                    return Err(Error::Other { errno: libc::ENOMEM });
                }
            }
            out.data[index] = plane.row(0).as_ptr().cast_mut();
            out.linesize[index] = plane.stride() as i32;
        }
        if frame.format().descriptor().model == Model::Gray {
            // What it came from may have had colours without a matrix, or a range that went without saying.
            if picture.get().colorspace == ffi::AVColorSpace::AVCOL_SPC_RGB {
                picture.get_mut().colorspace = ffi::AVColorSpace::AVCOL_SPC_UNSPECIFIED;
            }
            if picture.colour().range_of(picture.format()) != frame.range() {
                picture.get_mut().color_range = match frame.range() {
                    Range::Full => ffi::AVColorRange::AVCOL_RANGE_JPEG,
                    Range::Limited => ffi::AVColorRange::AVCOL_RANGE_MPEG,
                };
            }
        }
        picture.set_time(frame.pts);
        // Which kind of picture it was coded as is the encoder's to decide anew.
        picture.get_mut().pict_type = ffi::AVPictureType::AV_PICTURE_TYPE_NONE;
        Ok(picture)
    }

    fn plane(&self, index: usize, row_bytes: usize, rows: usize) -> anyhow::Result<Plane> {
        let (memory, start) = match &self.luma {
            Some(luma) if index == 0 => {
                let begin = luma.on_device().context("a picture has left the GPU")?.address;
                (luma.clone(), self.get().data[0].addr() as u64 - begin)
            }
            _ => self.buffer_of(index)?,
        };
        Plane::new(memory, usize::try_from(start)?, self.get().linesize[index] as isize, row_bytes, rows)
            .ok_or_else(|| anyhow::anyhow!("the decoder's picture is smaller than its size says"))
    }

    /// The buffer that a plane lies in, and where it begins there.
    fn buffer_of(&self, index: usize) -> anyhow::Result<(Arc<dyn Memory>, u64)> {
        // SAFETY: the frame is valid; the buffer found is the one that `data[index]` points into, and the reference
        // taken keeps it for as long as the plane lives.
        unsafe {
            let buffer = ffi::av_frame_get_plane_buffer(self.ptr, index as i32);
            anyhow::ensure!(!buffer.is_null(), "the decoder's picture has no plane {index}");
            let reference = ffi::av_buffer_ref(buffer);
            anyhow::ensure!(!reference.is_null(), "out of memory");
            let start = self.get().data[index].offset_from((*reference).data);
            let pinned = is_pinned(self.get(), &*reference);
            let memory = Arc::new(BufferReference { reference, pinned });
            Ok((memory, u64::try_from(start)?))
        }
    }
}

impl Drop for Picture {
    fn drop(&mut self) {
        // SAFETY: allocated in `new`, freed nowhere else.
        unsafe { ffi::av_frame_free(&mut self.ptr) };
    }
}

unsafe extern "C" fn release(owner: *mut std::ffi::c_void, _data: *mut u8) {
    // SAFETY: `from_frame` made it with `Box::into_raw`, and FFmpeg calls this once.
    drop(unsafe { Box::from_raw(owner.cast::<Plane>()) });
}

/// Memory of FFmpeg's, or lent to it, kept by a counted reference. Nobody writes to a decoded picture: the decoder itself
/// still predicts from it.
struct BufferReference {
    reference: *mut ffi::AVBufferRef,
    pinned: bool,
}

// SAFETY: the count is atomic and the bytes are only read.
unsafe impl Send for BufferReference {}
// SAFETY: as above.
unsafe impl Sync for BufferReference {}

impl Memory for BufferReference {
    fn bytes(&self) -> &[u8] {
        // SAFETY: the reference keeps `size` bytes at `data` alive, and nobody writes to them any more.
        unsafe { std::slice::from_raw_parts((*self.reference).data, (*self.reference).size) }
    }

    fn is_pinned(&self) -> bool {
        self.pinned
    }
}

impl Drop for BufferReference {
    fn drop(&mut self) {
        // SAFETY: taken in `Picture::plane`, given back nowhere else.
        unsafe { ffi::av_buffer_unref(&mut self.reference) };
    }
}
