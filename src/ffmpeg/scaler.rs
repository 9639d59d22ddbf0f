//! Turns a picture into another pixel format or size by swscale, with its range and matrix kept in mind.
#![allow(unsafe_code, reason = "FFI")]

use super::{Colour, Error, Picture, RawFormat, check};
use crate::frame::{Matrix, Range};
use ffmpeg_next::ffi;
use ffmpeg_next::software::scaling::Flags;

/// What a conversion depends on: when it changes, swscale has to be set up anew.
#[derive(Clone, Copy, PartialEq)]
struct Shape {
    format: RawFormat,
    size: (usize, usize),
    range: Range,
    matrix: Matrix,
}

impl Shape {
    fn new(format: RawFormat, size: (usize, usize), colour: Colour) -> Self {
        Shape { format, size, range: colour.range_of(format), matrix: colour.matrix() }
    }
}

/// A conversion to one format, size and colour, from whatever comes.
pub struct Scaler {
    context: *mut ffi::SwsContext,
    from: Option<Shape>,
    to: Shape,
    colour: Colour,
    flags: Flags,
    /// What makes YUV of limited gray first.
    of_gray: Option<Box<Scaler>>,
    /// What makes YUV first of which limited gray is made, and that gray.
    to_gray: Option<Box<[Scaler; 2]>>,
}

// SAFETY: the context is used by one thread at a time, the one that owns the Scaler.
unsafe impl Send for Scaler {}

impl Scaler {
    /// A conversion to pictures like this.
    pub fn to(format: RawFormat, size: (usize, usize), colour: Colour) -> Self {
        let flags = Flags::BICUBIC | Flags::ACCURATE_RND | Flags::FULL_CHR_H_INT;
        Scaler {
            context: std::ptr::null_mut(),
            from: None,
            to: Shape::new(format, size, colour),
            colour,
            flags,
            of_gray: None,
            to_gray: None,
        }
    }

    /// The same in a hurry, for pictures that are only looked at.
    pub fn quick(format: RawFormat, size: (usize, usize), colour: Colour) -> Self {
        let mut scaler = Scaler::to(format, size, colour);
        scaler.flags = Flags::FAST_BILINEAR;
        scaler
    }

    /// Does it make pictures of this size?
    pub(super) fn makes_size(&self, size: (usize, usize)) -> bool {
        self.to.size == size
    }

    /// Can swscale make pictures of this format?
    pub fn makes(format: RawFormat) -> bool {
        // SAFETY: no precondition.
        unsafe { ffi::sws_isSupportedOutput(format.0) != 0 }
    }

    /// `picture`, converted; all else that is known of it stays.
    ///
    /// # Errors
    /// When swscale cannot do it.
    pub fn run(&mut self, picture: &Picture) -> Result<Picture, Error> {
        let from = Shape::new(picture.format(), picture.size(), picture.colour());
        let coloured = |shape: Shape| shape.format.coloured().filter(|_| shape.range == Range::Limited);
        match (coloured(self.to), coloured(from)) {
            (Some(yuv), _) => self.run_to_gray(picture, yuv),
            (None, Some(yuv)) => self.run_gray(picture, from, yuv),
            (None, None) => self.convert(picture, from),
        }
    }

    /// Converts to gray of limited range, which swscale does not know: to YUV of that range first, whose codes then become
    /// gray as they are, from full to full as swscale sees it.
    fn run_to_gray(&mut self, picture: &Picture, yuv: RawFormat) -> Result<Picture, Error> {
        let Shape { format, size, .. } = self.to;
        let (colour, flags) = (self.colour, self.flags);
        let [to_yuv, to_gray] = &mut **self.to_gray.get_or_insert_with(|| {
            let mut steps = [Scaler::to(yuv, size, colour), Scaler::to(format, size, colour.full_range())];
            steps.iter_mut().for_each(|step| step.flags = flags);
            Box::new(steps)
        });
        let mut same_codes = to_yuv.run(picture)?;
        same_codes.set_colour(colour.full_range());
        let mut gray = to_gray.run(&same_codes)?;
        gray.set_colour(colour);
        Ok(gray)
    }

    /// Converts a gray picture of limited range. swscale takes all gray for full range: it becomes YUV of the same codes
    /// first, from full to full as swscale sees it.
    fn run_gray(&mut self, gray: &Picture, from: Shape, yuv: RawFormat) -> Result<Picture, Error> {
        let scaler = match self.of_gray.take() {
            Some(scaler) if (scaler.to.format, scaler.to.size) == (yuv, from.size) => scaler,
            _ => Box::new(Scaler::to(yuv, from.size, gray.colour().full_range())),
        };
        let scaler = self.of_gray.insert(scaler);
        let mut same_codes = scaler.convert(gray, Shape { range: Range::Full, ..from })?;
        same_codes.set_colour(gray.colour());
        let from = Shape::new(yuv, same_codes.size(), gray.colour());
        self.convert(&same_codes, from)
    }

    fn convert(&mut self, picture: &Picture, from: Shape) -> Result<Picture, Error> {
        if self.from != Some(from) {
            self.set_up(from)?;
        }
        let mut out = Picture::allocate(self.to.format, self.to.size)?;
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
        out.set_colour(self.colour);
        Ok(out)
    }

    fn set_up(&mut self, from: Shape) -> Result<(), Error> {
        let full = |range: Range| i64::from(range == Range::Full);
        // The ranges have to be there before it begins: between pictures of one format and size it would choose to copy.
        let options = [
            (c"sws_flags", i64::from(self.flags.bits())),
            (c"srcw", from.size.0 as i64),
            (c"srch", from.size.1 as i64),
            (c"src_format", from.format.0 as i64),
            (c"src_range", full(from.range)),
            (c"dstw", self.to.size.0 as i64),
            (c"dsth", self.to.size.1 as i64),
            (c"dst_format", self.to.format.0 as i64),
            (c"dst_range", full(self.to.range)),
        ];
        // SAFETY: the old context is ours, and not used again; the new one is set up by options of its own, and the
        // coefficient tables are constants with four entries each.
        unsafe {
            ffi::sws_freeContext(self.context);
            self.context = ffi::sws_alloc_context();
            if self.context.is_null() {
                return Err(Error::Other { errno: libc::ENOMEM });
            }
            for (name, value) in options {
                check(ffi::av_opt_set_int(self.context.cast(), name.as_ptr(), value, 0))?;
            }
            check(ffi::sws_init_context(self.context, std::ptr::null_mut(), std::ptr::null_mut()))?;
            // RGB has no matrix of its own: the YUV side of a conversion decides for both.
            let matrix = if from.format.is_rgb() { self.to.matrix } else { from.matrix };
            let to_matrix = if self.to.format.is_rgb() { matrix } else { self.to.matrix };
            // It refuses formats that have neither range nor matrix, for which there is nothing to say.
            ffi::sws_setColorspaceDetails(
                self.context,
                ffi::sws_getCoefficients(coefficients(matrix)),
                (from.range == Range::Full).into(),
                ffi::sws_getCoefficients(coefficients(to_matrix)),
                (self.to.range == Range::Full).into(),
                0,
                1 << 16,
                1 << 16,
            );
        }
        self.from = Some(from);
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

impl Drop for Scaler {
    fn drop(&mut self) {
        // SAFETY: made in `set_up`, or null.
        unsafe { ffi::sws_freeContext(self.context) };
    }
}
