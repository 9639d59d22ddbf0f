//! Turns pictures into another pixel format, size or colour by swscale: the only place that does. Range and matrix are
//! kept in mind, and swscale is set up again only when what comes or what is wanted changes.
#![allow(unsafe_code, reason = "FFI")]

use super::{Colour, Error, OUT_OF_MEMORY, Picture, RawFormat, check};
use crate::frame::{Frame, Matrix, PixelFormat, Range};
use anyhow::Context;
use ffmpeg_next::ffi;
use ffmpeg_next::software::scaling::Flags;

/// What pictures are like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VideoFormat {
    /// Pixel format.
    pub format: RawFormat,
    /// Pixels in a row and rows.
    pub size: (usize, usize),
    /// How the numbers become colours.
    pub colour: Colour,
}

impl VideoFormat {
    /// What `picture` is like.
    pub fn of(picture: &Picture) -> Self {
        VideoFormat { format: picture.format(), size: picture.size(), colour: picture.colour() }
    }

    /// The format with colour whose codes those of this one can become as they are, if this is gray of limited range: all
    /// gray has full range in swscale.
    fn coloured(self) -> Option<RawFormat> {
        self.format.coloured().filter(|_| self.range() == Range::Limited)
    }

    fn range(self) -> Range {
        self.colour.range_of(self.format)
    }

    /// Does swscale do the same to pictures like this and like `other`?
    fn scales_as(self, other: VideoFormat) -> bool {
        let key = |like: VideoFormat| (like.format, like.size, like.range(), like.colour.matrix());
        key(self) == key(other)
    }
}

/// A conversion of pictures, whatever they are, to what is wanted of each.
pub struct Converter {
    context: *mut ffi::SwsContext,
    flags: Flags,
    /// What the context is set up for: from, to.
    set_up: Option<[VideoFormat; 2]>,
    /// The steps on the way from and to gray of limited range.
    steps: Option<Box<[Converter; 2]>>,
}

// SAFETY: the context is used by one thread at a time, the one that owns the Converter.
unsafe impl Send for Converter {}

impl Default for Converter {
    fn default() -> Self {
        Converter::with_flags(Flags::BICUBIC | Flags::ACCURATE_RND | Flags::FULL_CHR_H_INT)
    }
}

impl Converter {
    fn with_flags(flags: Flags) -> Self {
        Converter { context: std::ptr::null_mut(), flags, set_up: None, steps: None }
    }

    /// A faster and coarser conversion, for pictures that are only looked at.
    pub fn quick() -> Self {
        Converter::with_flags(Flags::FAST_BILINEAR)
    }

    /// Can swscale make pictures of this format?
    pub fn makes(format: RawFormat) -> bool {
        // SAFETY: no precondition.
        unsafe { ffi::sws_isSupportedOutput(format.0) != 0 }
    }

    /// `frame` as a frame like this.
    ///
    /// # Errors
    /// When swscale cannot do it, or the pixel format is not native.
    pub fn frame(&mut self, frame: &Frame, to: VideoFormat) -> anyhow::Result<Frame> {
        let (from, format) = (frame.format(), to.format);
        let picture = self.picture(&Picture::from_frame(frame)?, to);
        let picture = picture.with_context(|| format!("cannot convert pixel format {from} to {format}"))?;
        picture.to_frame()?.with_context(|| format!("{format} is not native"))
    }

    /// `frame` in this size and in pixels of red, green and blue (`bgr0`), with the colours that it has.
    ///
    /// # Errors
    /// When swscale cannot do it.
    pub fn rgb(&mut self, frame: &Frame, size: (usize, usize)) -> anyhow::Result<Frame> {
        let (from, format) = (VideoFormat::of(&Picture::from_frame(frame)?), RawFormat::from(PixelFormat::Bgr0));
        self.frame(frame, VideoFormat { format, size, colour: from.colour.converted(from.format, format, false) })
    }

    /// `picture` as a picture like this; all else that is known of it stays.
    ///
    /// # Errors
    /// When swscale cannot do it.
    pub fn picture(&mut self, picture: &Picture, to: VideoFormat) -> Result<Picture, Error> {
        let from = VideoFormat::of(picture);
        match (to.coloured(), from.coloured()) {
            (Some(yuv), _) => self.convert_to_gray(picture, yuv, to),
            (None, Some(yuv)) => self.convert_from_gray(picture, yuv, to),
            (None, None) => self.convert(picture, from, to),
        }
    }

    /// Converts to gray of limited range, which swscale does not know: to YUV of that range first, whose codes then become
    /// gray as they are, from full to full as swscale sees it.
    fn convert_to_gray(&mut self, picture: &Picture, yuv: RawFormat, to: VideoFormat) -> Result<Picture, Error> {
        let full = to.colour.full_range();
        let [to_yuv, to_gray] = &mut **self.steps.get_or_insert_default();
        let mut same_codes = to_yuv.picture(picture, VideoFormat { format: yuv, ..to })?;
        same_codes.set_colour(full);
        let mut gray = to_gray.picture(&same_codes, VideoFormat { colour: full, ..to })?;
        gray.set_colour(to.colour);
        Ok(gray)
    }

    /// Converts a gray picture of limited range, which swscale takes for full range: it becomes YUV of the same codes first,
    /// from full to full as swscale sees it.
    fn convert_from_gray(&mut self, gray: &Picture, yuv: RawFormat, to: VideoFormat) -> Result<Picture, Error> {
        let from = VideoFormat::of(gray);
        let full = VideoFormat { colour: from.colour.full_range(), ..from };
        let [to_yuv, _] = &mut **self.steps.get_or_insert_default();
        let mut same_codes = to_yuv.convert(gray, full, VideoFormat { format: yuv, ..full })?;
        same_codes.set_colour(from.colour);
        self.convert(&same_codes, VideoFormat { format: yuv, ..from }, to)
    }

    fn convert(&mut self, picture: &Picture, from: VideoFormat, to: VideoFormat) -> Result<Picture, Error> {
        if !self.set_up.is_some_and(|[known_from, known_to]| from.scales_as(known_from) && to.scales_as(known_to)) {
            self.set_up(from, to)?;
        }
        let mut out = Picture::allocate(to.format, to.size)?;
        let source = picture.samples()?;
        // SAFETY: the context was made for these two formats and sizes, and both pictures have all their planes.
        check(unsafe {
            ffi::sws_scale(
                self.context,
                source.data.as_ptr().cast(),
                source.linesize.as_ptr(),
                0,
                source.height,
                out.get().data.as_ptr(),
                out.get().linesize.as_ptr(),
            )
        })?;
        out.copy_properties(picture)?;
        out.set_colour(to.colour);
        Ok(out)
    }

    fn set_up(&mut self, from: VideoFormat, to: VideoFormat) -> Result<(), Error> {
        // What fails below leaves nothing that could be used.
        self.set_up = None;
        let full = |range: Range| i64::from(range == Range::Full);
        // The ranges have to be there before it begins: between pictures of one format and size it would choose to copy.
        let options = [
            (c"sws_flags", i64::from(self.flags.bits())),
            (c"srcw", from.size.0 as i64),
            (c"srch", from.size.1 as i64),
            (c"src_format", from.format.0 as i64),
            (c"src_range", full(from.range())),
            (c"dstw", to.size.0 as i64),
            (c"dsth", to.size.1 as i64),
            (c"dst_format", to.format.0 as i64),
            (c"dst_range", full(to.range())),
        ];
        // SAFETY: the old context is ours, and not used again; the new one is set up by options of its own, and the
        // coefficient tables are constants with four entries each.
        unsafe {
            ffi::sws_freeContext(self.context);
            self.context = ffi::sws_alloc_context();
            if self.context.is_null() {
                return Err(OUT_OF_MEMORY);
            }
            for (name, value) in options {
                check(ffi::av_opt_set_int(self.context.cast(), name.as_ptr(), value, 0))?;
            }
            check(ffi::sws_init_context(self.context, std::ptr::null_mut(), std::ptr::null_mut()))?;
            // RGB has no matrix of its own: the YUV side of a conversion decides for both.
            let matrix = if from.format.is_rgb() { to.colour.matrix() } else { from.colour.matrix() };
            let to_matrix = if to.format.is_rgb() { matrix } else { to.colour.matrix() };
            // It refuses formats that have neither range nor matrix, for which there is nothing to say.
            ffi::sws_setColorspaceDetails(
                self.context,
                ffi::sws_getCoefficients(coefficients(matrix)),
                (from.range() == Range::Full).into(),
                ffi::sws_getCoefficients(coefficients(to_matrix)),
                (to.range() == Range::Full).into(),
                0,
                1 << 16,
                1 << 16,
            );
        }
        self.set_up = Some([from, to]);
        Ok(())
    }
}

fn coefficients(matrix: Matrix) -> i32 {
    match matrix {
        Matrix::Bt601 => ffi::SWS_CS_ITU601,
        Matrix::Bt709 => ffi::SWS_CS_ITU709,
        Matrix::Bt2020 => ffi::SWS_CS_BT2020,
    }
}

impl Drop for Converter {
    fn drop(&mut self) {
        // SAFETY: made in `set_up`, or null.
        unsafe { ffi::sws_freeContext(self.context) };
    }
}
