//! Converts pictures to another pixel format, size, range or matrix by swscale. All conversions of the program are made
//! here. The swscale context is set up again only when the input or the output format changes. The two fields of
//! interlaced pictures are converted separately where chroma is resampled vertically. Where the height changes, the
//! fields are blended, and the result is progressive.
#![allow(unsafe_code, reason = "FFI")]

use crate::ffmpeg::frame::{Colour, Picture, RawFormat};
use crate::ffmpeg::{Error, OUT_OF_MEMORY, check};
use anyhow::Context;
use ffmpeg_next::ffi;
use ffmpeg_next::software::scaling::Flags;
use histeq::internal::frame::{Frame, HostPool, Matrix, PixelFormat, Range};

/// Pixel format, size and colour properties of pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VideoFormat {
    /// Pixel format.
    pub format: RawFormat,
    /// Width and height in pixels.
    pub size: (usize, usize),
    /// Colour properties.
    pub colour: Colour,
}

impl VideoFormat {
    /// The format of `picture`.
    pub fn from_picture(picture: &Picture) -> Self {
        VideoFormat { format: picture.format(), size: picture.size(), colour: picture.colour() }
    }

    /// For limited-range gray, the YUV format with the same luma codes: swscale treats all gray as full range.
    fn same_luma_yuv(self) -> Option<RawFormat> {
        self.format.same_luma_yuv().filter(|_| self.range() == Range::Limited)
    }

    /// Whether it is YUV.
    pub fn is_yuv(self) -> bool {
        !self.format.is_rgb() && !self.format.is_gray()
    }

    fn range(self) -> Range {
        self.colour.range_of(self.format)
    }

    /// Whether this format and `other` are the same to swscale.
    fn scales_as(self, other: VideoFormat) -> bool {
        let key = |video: VideoFormat| (video.format, video.size, video.range(), video.colour.matrix());
        key(self) == key(other)
    }
}

/// Vertical offset of the first chroma row of a 4:2:0 field from its first luma row, in 256ths of the distance between
/// the field's luma rows: of the top field, and of the bottom field.
const CHROMA_OF_FIELDS: [i64; 2] = [64, 192];

/// Converts pictures of any format. The output format is given with each picture.
pub struct Converter {
    context: *mut ffi::SwsContext,
    flags: Flags,
    /// The input and the output format that the context is set up for.
    set_up: Option<[VideoFormat; 2]>,
    /// The converters to and from the intermediate picture: YUV for limited-range gray, RGB for a change of matrix.
    steps: Option<Box<[Converter; 2]>>,
    /// The converters of the top and the bottom field.
    fields: Option<Box<[Converter; 2]>>,
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
        Converter { context: std::ptr::null_mut(), flags, set_up: None, steps: None, fields: None }
    }

    /// A faster and coarser converter, for display only.
    pub fn quick() -> Self {
        Converter::with_flags(Flags::FAST_BILINEAR)
    }

    /// Whether swscale can make pictures of this format.
    pub fn makes(format: RawFormat) -> bool {
        // SAFETY: no precondition.
        unsafe { ffi::sws_isSupportedOutput(format.0) != 0 }
    }

    /// Converts `frame` to the format `target`.
    ///
    /// # Errors
    /// When swscale cannot convert it, or the pixel format is not native.
    pub fn frame(&mut self, frame: &Frame, target: VideoFormat) -> anyhow::Result<Frame> {
        let (source, format) = (frame.format(), target.format);
        let picture = self.picture(&Picture::from_frame(frame)?, target);
        let picture = picture.with_context(|| format!("cannot convert pixel format {source} to {format}"))?;
        picture.to_frame()?.with_context(|| format!("{format} is not native"))
    }

    /// Converts `frame` to `bgr0` pixels in this size. Primaries and transfer function stay.
    ///
    /// # Errors
    /// When swscale cannot convert it.
    pub fn rgb(&mut self, frame: &Frame, size: (usize, usize)) -> anyhow::Result<Frame> {
        let (source, format) =
            (VideoFormat::from_picture(&Picture::from_frame(frame)?), RawFormat::from(PixelFormat::Bgr0));
        self.frame(
            frame,
            VideoFormat { format, size, colour: source.colour.converted(source.format, format, source.size) },
        )
    }

    /// Converts `picture` to the format `target`. Its other properties (times, side data) stay.
    ///
    /// # Errors
    /// When swscale cannot convert it.
    pub fn picture(&mut self, picture: &Picture, target: VideoFormat) -> Result<Picture, Error> {
        if let Some(planar) = planar(picture)? {
            return self.picture(&planar, target);
        }
        let source = VideoFormat::from_picture(picture);
        match (target.same_luma_yuv(), source.same_luma_yuv()) {
            (Some(yuv), _) => self.convert_to_gray(picture, yuv, target),
            (None, Some(yuv)) => self.convert_from_gray(picture, yuv, target),
            (None, None) if source.is_yuv() && target.is_yuv() && source.colour.matrix() != target.colour.matrix() => {
                self.convert_matrix(picture, target)
            }
            (None, None) => self.convert(picture, source, target),
        }
    }

    /// Converts between two matrices through 16-bit RGB. swscale alone would convert through 8 bits, with less chroma.
    fn convert_matrix(&mut self, picture: &Picture, target: VideoFormat) -> Result<Picture, Error> {
        let source = VideoFormat::from_picture(picture);
        let name = if source.format.has_alpha() { "gbrap16le" } else { "gbrp16le" };
        let format = RawFormat::from_name(name).ok_or(Error::Other { errno: libc::EINVAL })?;
        let [to_rgb, to_yuv] = &mut **self.steps.get_or_insert_default();
        let colour = source.colour.converted(source.format, format, source.size);
        let mut rgb = to_rgb.convert(picture, source, VideoFormat { format, size: source.size, colour })?;
        // RGB is converted by the matrix of the destination.
        rgb.set_colour(colour);
        to_yuv.convert(&rgb, VideoFormat::from_picture(&rgb), target)
    }

    /// Converts to limited-range gray, which swscale does not support: first to limited-range YUV, then from YUV to
    /// gray, both tagged as full range, so that swscale copies the luma codes.
    fn convert_to_gray(&mut self, picture: &Picture, yuv: RawFormat, target: VideoFormat) -> Result<Picture, Error> {
        let full = target.colour.full_range();
        let [to_yuv, to_gray] = &mut **self.steps.get_or_insert_default();
        let mut same_codes = to_yuv.picture(picture, VideoFormat { format: yuv, ..target })?;
        same_codes.set_colour(full);
        let mut gray = to_gray.picture(&same_codes, VideoFormat { colour: full, ..target })?;
        gray.set_colour(target.colour);
        Ok(gray)
    }

    /// Converts limited-range gray, which swscale treats as full range: first to YUV, both tagged as full range, so
    /// that swscale copies the luma codes; then from this YUV, tagged as limited range, to `target`.
    fn convert_from_gray(&mut self, gray: &Picture, yuv: RawFormat, target: VideoFormat) -> Result<Picture, Error> {
        let source = VideoFormat::from_picture(gray);
        let full = VideoFormat { colour: source.colour.full_range(), ..source };
        let [to_yuv, _] = &mut **self.steps.get_or_insert_default();
        let mut same_codes = to_yuv.convert(gray, full, VideoFormat { format: yuv, ..full })?;
        same_codes.set_colour(source.colour);
        self.convert(&same_codes, VideoFormat { format: yuv, ..source }, target)
    }

    fn convert(&mut self, picture: &Picture, source: VideoFormat, target: VideoFormat) -> Result<Picture, Error> {
        let is_interlaced = picture.interlaced().is_some();
        let is_scaled = source.size.1 != target.size.1;
        let has_other_rows = source.format.log2_chroma_height() != target.format.log2_chroma_height();
        let mut out = if is_interlaced && !is_scaled && has_other_rows {
            self.convert_fields(picture, source, target)?
        } else {
            let mut out = Picture::allocate(target.format, target.size)?;
            self.scale((picture, source), (&mut out, target), None)?;
            out
        };
        out.copy_properties(picture)?;
        out.set_colour(target.colour);
        if is_interlaced && is_scaled {
            out.become_progressive();
        }
        Ok(out)
    }

    /// Converts the two fields separately, because they were captured at different times.
    fn convert_fields(
        &mut self,
        picture: &Picture,
        source: VideoFormat,
        target: VideoFormat,
    ) -> Result<Picture, Error> {
        let log2_height = source.format.log2_chroma_height().max(target.format.log2_chroma_height());
        // This height gives each field as many chroma rows as swscale expects.
        let height = source.size.1.next_multiple_of(2 << log2_height);
        let [source, higher] = [source, target].map(|video| VideoFormat { size: (video.size.0, height), ..video });
        let filled = if picture.size().1 == height { None } else { Some(picture.with_height(height)?) };
        let picture = filled.as_ref().unwrap_or(picture);
        let mut out = Picture::allocate(higher.format, higher.size)?;
        for (field, converter) in self.fields.get_or_insert_default().iter_mut().enumerate() {
            converter.scale((picture, source), (&mut out, higher), Some(field))?;
        }
        out.get_mut().height = target.size.1 as i32;
        Ok(out)
    }

    /// Converts the samples of a picture, or only those of `field` (0 for top, 1 for bottom). The height of a field
    /// must be a multiple of the vertical chroma subsampling.
    fn scale(
        &mut self,
        (picture, origin): (&Picture, VideoFormat),
        (out, destination): (&mut Picture, VideoFormat),
        field: Option<usize>,
    ) -> Result<(), Error> {
        let rows = |video: VideoFormat| video.size.1 / if field.is_some() { 2 } else { 1 };
        let [origin, destination] =
            [origin, destination].map(|video| VideoFormat { size: (video.size.0, rows(video)), ..video });
        if !self
            .set_up
            .is_some_and(|[known_from, known_to]| origin.scales_as(known_from) && destination.scales_as(known_to))
        {
            self.set_up(origin, destination, field)?;
        }
        let source = picture.samples()?;
        let (source, source_strides) = planes(source, origin.format, field);
        let (target, target_strides) = planes(out.get(), destination.format, field);
        // SAFETY: the context was made for these two formats and sizes, and both pictures have all rows of all their
        // planes. A field consists of every other row, from the first or the second one on.
        check(unsafe {
            ffi::sws_scale(
                self.context,
                source.as_ptr().cast(),
                source_strides.as_ptr(),
                0,
                origin.size.1 as i32,
                target.as_ptr(),
                target_strides.as_ptr(),
            )
        })?;
        Ok(())
    }

    fn set_up(&mut self, source: VideoFormat, target: VideoFormat, field: Option<usize>) -> Result<(), Error> {
        // Invalidate first: a call below may fail.
        self.set_up = None;
        let full = |range: Range| i64::from(range == Range::Full);
        // The ranges must be set before `sws_init_context`, which otherwise sets up a plain copy between equal pixel
        // formats.
        let options = [
            (c"sws_flags", i64::from(self.flags.bits())),
            (c"srcw", source.size.0 as i64),
            (c"srch", source.size.1 as i64),
            (c"src_format", source.format.0 as i64),
            (c"src_range", full(source.range())),
            (c"dstw", target.size.0 as i64),
            (c"dsth", target.size.1 as i64),
            (c"dst_format", target.format.0 as i64),
            (c"dst_range", full(target.range())),
        ];
        let place = |video: VideoFormat| field.filter(|_| video.format.log2_chroma_height() == 1);
        let places = [(c"src_v_chr_pos", place(source)), (c"dst_v_chr_pos", place(target))];
        let places = places.into_iter().filter_map(|(name, field)| Some((name, CHROMA_OF_FIELDS[field?])));
        // SAFETY: the old context is ours, and not used again; the new one is set up by options of its own, and the
        // coefficient tables are constants with four entries each.
        unsafe {
            ffi::sws_freeContext(self.context);
            self.context = ffi::sws_alloc_context();
            if self.context.is_null() {
                return Err(OUT_OF_MEMORY);
            }
            for (name, value) in options.into_iter().chain(places) {
                check(ffi::av_opt_set_int(self.context.cast(), name.as_ptr(), value, 0))?;
            }
            check(ffi::sws_init_context(self.context, std::ptr::null_mut(), std::ptr::null_mut()))?;
            // RGB has no matrix: the one of the YUV side counts for both.
            let matrix = if source.format.is_rgb() { target.colour.matrix() } else { source.colour.matrix() };
            let to_matrix = if target.format.is_rgb() { matrix } else { target.colour.matrix() };
            // The result is ignored: the call fails for formats that have neither range nor matrix.
            ffi::sws_setColorspaceDetails(
                self.context,
                ffi::sws_getCoefficients(coefficients(matrix)),
                (source.range() == Range::Full).into(),
                ffi::sws_getCoefficients(coefficients(to_matrix)),
                (target.range() == Range::Full).into(),
                0,
                1 << 16,
                1 << 16,
            );
        }
        self.set_up = Some([source, target]);
        Ok(())
    }
}

/// The planes of a picture, or of its top or bottom field: address of the first row and stride in bytes of each.
fn planes(frame: &ffi::AVFrame, format: RawFormat, field: Option<usize>) -> ([*mut u8; 8], [i32; 8]) {
    let (mut rows, mut strides) = (frame.data, frame.linesize);
    if let Some(field) = field {
        for (row, stride) in rows.iter_mut().zip(&mut strides).take(format.planes()) {
            *row = row.wrapping_offset(field as isize * *stride as isize);
            *stride *= 2;
        }
    }
    (rows, strides)
}

/// The yuv422p picture with the samples of an nv16 picture, which swscale of FFmpeg 5.1 cannot read.
fn planar(picture: &Picture) -> Result<Option<Picture>, Error> {
    let format = picture.format();
    // SAFETY: no precondition.
    if format.native() != Some(PixelFormat::Nv16) || unsafe { ffi::sws_isSupportedInput(format.0) } != 0 {
        return Ok(None);
    }
    let unusable = Error::Other { errno: libc::EINVAL };
    let frame = picture.to_frame().ok().flatten().ok_or(unusable)?;
    let pairs = &frame.planes()[1];
    let chroma = [0, 1].map(|which| {
        let mut plane = HostPool::default().plane(pairs.row_bytes() / 2, pairs.rows());
        for y in 0..pairs.rows() {
            let samples = pairs.row(y)[which..].iter().step_by(2);
            plane.row_mut(y).iter_mut().zip(samples).for_each(|(target, source)| *target = *source);
        }
        plane.freeze()
    });
    let planes = [frame.planes()[0].clone()].into_iter().chain(chroma).collect();
    let size = (frame.width(), frame.height());
    let planar = Frame::new(PixelFormat::Yuv422p, size, frame.range(), frame.matrix(), planes);
    let mut planar = planar.map_err(|_| unusable)?;
    (planar.pts, planar.attachment) = (frame.pts, frame.attachment);
    Picture::from_host_frame(&planar).map(Some)
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
