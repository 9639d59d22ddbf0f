//! AVFrame: a decoded picture with its properties.
#![allow(unsafe_code, reason = "FFI")]

use super::colour::{Colour, range_tag};
use super::raw_format::RawFormat;
use crate::ffmpeg::demux::Metadata;
use crate::ffmpeg::demux::media::entries;
use crate::ffmpeg::mux::signalling::usual_matrix;
use crate::ffmpeg::{ChromaLocation, Error, c_string, check};
use crate::sys::out_of_memory;
use ffmpeg_next::codec::Id;
use ffmpeg_next::ffi;
use histeq::internal::frame::{Memory, OnDevice, PixelFormat, Range};
use std::sync::Arc;

/// Properties of raw pictures, which no decoder describes.
#[derive(Clone, Copy, Debug)]
pub struct PictureProperties {
    /// Pixel format.
    pub format: PixelFormat,
    /// Range of the codes, if known.
    pub range: Option<Range>,
    /// Where the chroma samples of 4:2:0 are between the luma samples.
    pub chroma_location: ChromaLocation,
    /// `Some(top field first?)` for interlaced pictures.
    pub interlaced: Option<bool>,
    /// Width to height of a pixel, if known.
    pub sample_aspect_ratio: Option<ffmpeg_next::Rational>,
}

/// The UUIDs of the user data in which x264 and x265 describe themselves.
const ENCODER_IDENTIFIERS: [&[u8]; 2] = [
    b"\xdc\x45\xe9\xbd\xe6\xd9\x48\xb7\x96\x2c\xd8\x20\xd9\x23\xee\xef",
    b"\x2c\xa2\xde\x09\xb5\x17\x47\xdb\xbb\x55\xa4\xfe\x7f\xc2\xfc\x4e",
];

/// Whether an encoder describes itself in this user data.
fn is_of_encoder(data: &[u8]) -> bool {
    ENCODER_IDENTIFIERS.iter().any(|begin| data.starts_with(begin))
}

/// The AFD code (active format description) of a picture that is to be shown as a whole.
const WHOLE: u8 = 8;

/// A picture: an AVFrame with samples and properties.
pub struct Picture {
    ptr: *mut ffi::AVFrame,
    /// The memory of its first plane, if that is on a GPU. The plane's pointer is then a GPU address, which must not be
    /// dereferenced: code that reads samples calls [`Picture::samples`].
    device_luma: Option<Arc<dyn Memory>>,
}

owned!(Picture { device_luma: None }, AVFrame, av_frame_alloc, av_frame_free);

// SAFETY: an AVFrame is plain data and atomically counted references; writing to it or its samples requires
// `&mut Picture`.
unsafe impl Sync for Picture {}

/// FFmpeg's flags for the three values of [`Picture::marks`].
#[cfg(ffmpeg_6_1)]
const MARKS: [i32; 3] =
    [ffi::AV_FRAME_FLAG_INTERLACED as i32, ffi::AV_FRAME_FLAG_TOP_FIELD_FIRST as i32, ffi::AV_FRAME_FLAG_KEY as i32];

impl Picture {
    /// A picture without memory.
    pub(crate) fn empty(format: RawFormat, (width, height): (usize, usize)) -> Self {
        let mut picture = Picture::new();
        let frame = picture.get_mut();
        frame.format = format.0 as i32;
        frame.width = width as i32;
        frame.height = height as i32;
        picture
    }

    /// Sets the first plane to this GPU memory, with a stride of `line_bytes`.
    pub(crate) fn set_device_luma(
        &mut self,
        memory: Arc<dyn Memory>,
        OnDevice { address, .. }: OnDevice,
        line_bytes: i32,
    ) {
        let frame = self.get_mut();
        frame.data[0] = std::ptr::without_provenance_mut(address as usize);
        frame.linesize[0] = line_bytes;
        self.device_luma = Some(memory);
    }

    /// The GPU memory of its first plane, if it is on a GPU.
    pub(crate) fn device_luma(&self) -> Option<&Arc<dyn Memory>> {
        self.device_luma.as_ref()
    }

    /// Marks its first buffer as pinned memory, if that buffer starts at this address.
    pub(crate) fn mark_pinned(&mut self, start: *const u8) {
        let frame = self.get_mut();
        // SAFETY: a picture's buffers are null or valid.
        let first = unsafe { frame.buf[0].as_ref() };
        if first.is_some_and(|buffer| std::ptr::eq(buffer.data, start)) {
            frame.opaque = start.cast_mut().cast();
        }
    }

    /// An uninitialized picture with memory of its own.
    pub(crate) fn allocate(format: RawFormat, size: (usize, usize)) -> Result<Self, Error> {
        let picture = Picture::empty(format, size);
        // SAFETY: the frame is valid, and empty.
        check(unsafe { ffi::av_frame_get_buffer(picture.ptr, 0) })?;
        Ok(picture)
    }

    /// A copy of the samples, extended to `height` rows: each plane repeats its last two rows, so that each field
    /// continues with its own last row.
    pub(crate) fn with_height(&self, height: usize) -> Result<Self, Error> {
        let (format, (width, rows)) = (self.format(), self.size());
        self.samples()?;
        let mut copy = Picture::allocate(format, (width, height))?;
        // SAFETY: both frames are valid, in host memory and of one format; the copy is not smaller.
        check(unsafe { ffi::av_frame_copy(copy.ptr, self.ptr) })?;
        let frame = copy.get_mut();
        for plane in 0..format.planes() {
            let log2_height = if matches!(plane, 1 | 2) { format.log2_chroma_height() } else { 0 };
            let (start, stride) = (frame.data[plane], frame.linesize[plane] as usize);
            for y in rows.div_ceil(1 << log2_height)..height.div_ceil(1 << log2_height) {
                // SAFETY: the frame was allocated here, so its rows follow each other from `start` on, `stride` bytes
                // each; these are two of them.
                unsafe {
                    let source = start.add(y.saturating_sub(2) * stride);
                    std::ptr::copy_nonoverlapping(source, start.add(y * stride), stride);
                }
            }
        }
        Ok(copy)
    }

    /// A picture without samples that holds these properties, for
    /// [`attachment`](histeq::internal::frame::Frame::attachment).
    pub fn described(properties: &PictureProperties) -> Self {
        let mut picture = Picture::new();
        let frame = picture.get_mut();
        frame.format = RawFormat::from(properties.format).0 as i32;
        frame.color_range = properties.range.map_or(ffi::AVColorRange::AVCOL_RANGE_UNSPECIFIED, range_tag);
        frame.chroma_location = properties.chroma_location.into();
        if let Some(ratio) = properties.sample_aspect_ratio {
            frame.sample_aspect_ratio = ratio.into();
        }
        picture.set_interlaced(properties.interlaced);
        picture
    }

    /// The address of a plane, for checks that it was not copied.
    pub fn address(&self, plane: usize) -> *const u8 {
        self.get().data[plane]
    }

    /// The AVFrame, for FFmpeg functions that read its samples.
    ///
    /// # Errors
    /// `EINVAL` when its samples are not in host memory: some are on a GPU, or it holds only properties.
    pub(crate) fn samples(&self) -> Result<&ffi::AVFrame, Error> {
        let frame = self.get();
        // SAFETY: valid for any number; the result is negative for an unknown format.
        let planes = unsafe { ffi::av_pix_fmt_count_planes(self.format().0) };
        let planes = usize::try_from(planes).ok().filter(|&planes| planes > 0);
        let on_host = self.device_luma.is_none() && frame.hw_frames_ctx.is_null();
        let has_planes = planes.is_some_and(|planes| frame.data[..planes].iter().all(|plane| !plane.is_null()));
        if on_host && has_planes { Ok(frame) } else { Err(Error::Other { errno: libc::EINVAL }) }
    }

    /// Its pixel format.
    pub fn format(&self) -> RawFormat {
        // SAFETY: FFmpeg set the number.
        unsafe { RawFormat::from_number(self.get().format) }
    }

    /// Width and height in pixels.
    pub fn size(&self) -> (usize, usize) {
        (self.get().width as usize, self.get().height as usize)
    }

    /// Its colour properties.
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

    /// Sets its colour properties. The samples stay.
    pub fn set_colour(&mut self, colour: Colour) {
        let frame = self.get_mut();
        frame.color_range = colour.range;
        frame.color_primaries = colour.primaries;
        frame.color_trc = colour.transfer;
        frame.colorspace = colour.space;
        frame.chroma_location = colour.chroma_location;
    }

    /// If the picture is YUV without a specified matrix, sets the matrix to the usual one of this codec.
    pub(crate) fn name_matrix(&mut self, codec: Id) {
        if !self.format().is_rgb() && !self.format().is_gray() {
            let colour = self.colour().with_any_matrix(usual_matrix(codec, self.size()));
            self.set_colour(colour);
        }
    }

    /// Corrects the colour properties after libavfilter has converted the picture from or to RGB: up to FFmpeg 6,
    /// libavfilter keeps those of the input.
    pub(crate) fn tag_converted(&mut self) {
        use ffi::{AVColorRange, AVColorSpace};
        let (format, colour) = (self.format(), self.colour());
        if format.is_rgb() {
            let (space, range) = (AVColorSpace::AVCOL_SPC_RGB, AVColorRange::AVCOL_RANGE_JPEG);
            self.set_colour(Colour { space, range, ..colour });
        } else if matches!(colour.space, AVColorSpace::AVCOL_SPC_RGB | AVColorSpace::AVCOL_SPC_UNSPECIFIED)
            && !format.is_gray()
        {
            // libavfilter converts by BT.601, but FFmpeg 7 does not set that matrix.
            self.set_colour(Colour { space: AVColorSpace::AVCOL_SPC_SMPTE170M, ..colour });
        }
    }

    /// Crops the picture to this size (columns and rows), from this column and row on, without copying samples.
    ///
    /// # Errors
    /// When it is not within the picture.
    pub fn crop(&mut self, (column, row): (usize, usize), (width, height): (usize, usize)) -> Result<(), Error> {
        let (columns, rows) = self.size();
        let frame = self.get_mut();
        (frame.crop_left, frame.crop_top) = (column, row);
        (frame.crop_right, frame.crop_bottom) =
            (columns.saturating_sub(column + width), rows.saturating_sub(row + height));
        // SAFETY: the frame is valid; what is not within it is refused.
        check(unsafe { ffi::av_frame_apply_cropping(self.ptr, ffi::AV_FRAME_CROP_UNALIGNED as i32) })?;
        Ok(())
    }

    /// Whether it has full range.
    pub fn is_full_range(&self) -> bool {
        self.colour().is_full_range(self.format())
    }

    /// Changes its pixel format to another one with the same layout of samples (`yuvj420p` for `yuv420p`).
    ///
    /// # Panics
    /// When the layout differs.
    pub fn rename(&mut self, format: RawFormat) {
        if format != self.format() {
            assert!(
                format.native().is_some() && format.native() == self.format().native(),
                "{format} is another format"
            );
            self.get_mut().format = format.0 as i32;
        }
    }

    /// Its presentation time, as FFmpeg estimates it, in its stream's time base.
    pub fn time(&self) -> Option<i64> {
        let known = |time: i64| (time != ffi::AV_NOPTS_VALUE).then_some(time);
        known(self.get().best_effort_timestamp).or(known(self.get().pts))
    }

    /// Sets its presentation time.
    pub fn set_time(&mut self, time: Option<i64>) {
        let time = time.unwrap_or(ffi::AV_NOPTS_VALUE);
        self.get_mut().pts = time;
        self.get_mut().best_effort_timestamp = time;
    }

    /// Requests that the encoder makes it a key frame.
    pub fn make_key(&mut self) {
        self.get_mut().pict_type = ffi::AVPictureType::AV_PICTURE_TYPE_I;
    }

    /// Sets the quantizer for encoders with a constant one, in FFmpeg's units of lambda.
    pub(crate) fn set_quality(&mut self, quality: i32) {
        self.get_mut().quality = quality;
    }

    /// Its duration in its stream's time base, 0 when unknown.
    pub fn duration(&self) -> i64 {
        #[cfg(not(ffmpeg_6_0))]
        return self.get().pkt_duration;
        #[cfg(ffmpeg_6_0)]
        return self.get().duration;
    }

    /// Sets its duration.
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

    /// Whether the decoder marked it as damaged.
    pub fn is_damaged(&self) -> bool {
        self.get().decode_error_flags != 0 || self.get().flags & ffi::AV_FRAME_FLAG_CORRUPT != 0
    }

    pub(crate) fn mark_damaged(&mut self) {
        self.get_mut().decode_error_flags |= ffi::FF_DECODE_ERROR_CONCEALMENT_ACTIVE;
    }

    /// Whether it is interlaced, whether its top field is first, and whether it is a key frame. FFmpeg has separate
    /// fields for them before 6.1, and flags from 6.1 on.
    fn marks(&self) -> [bool; 3] {
        let frame = self.get();
        #[cfg(not(ffmpeg_6_1))]
        return [frame.interlaced_frame, frame.top_field_first, frame.key_frame].map(|mark| mark != 0);
        #[cfg(ffmpeg_6_1)]
        return MARKS.map(|flag| frame.flags & flag != 0);
    }

    fn set_marks(&mut self, marks: [bool; 3]) {
        let frame = self.get_mut();
        #[cfg(not(ffmpeg_6_1))]
        {
            [frame.interlaced_frame, frame.top_field_first, frame.key_frame] = marks.map(i32::from);
        }
        #[cfg(ffmpeg_6_1)]
        for (flag, is_set) in MARKS.into_iter().zip(marks) {
            frame.flags = if is_set { frame.flags | flag } else { frame.flags & !flag };
        }
    }

    /// `Some(top field first?)` when it is interlaced.
    pub fn interlaced(&self) -> Option<bool> {
        let [is_interlaced, top_field_first, _] = self.marks();
        is_interlaced.then_some(top_field_first)
    }

    /// Sets which of its fields is shown first, whether it is interlaced or not.
    pub fn set_top_field_first(&mut self, top: bool) {
        let [is_interlaced, _, is_key] = self.marks();
        self.set_marks([is_interlaced, top, is_key]);
    }

    /// Flags the picture as interlaced, `Some(top field first?)`, or as progressive.
    pub(crate) fn set_interlaced(&mut self, top_field_first: Option<bool>) {
        let is_key = self.is_key();
        self.set_marks([top_field_first.is_some(), top_field_first == Some(true), is_key]);
    }

    /// Flags the picture as progressive. The flag for the field that is shown first stays, because it applies to the
    /// whole video.
    pub(crate) fn become_progressive(&mut self) {
        let [_, top_field_first, is_key] = self.marks();
        self.set_marks([false, top_field_first, is_key]);
    }

    pub(crate) fn is_key(&self) -> bool {
        self.marks()[2]
    }

    pub(crate) fn set_key(&mut self, is_key: bool) {
        let [is_interlaced, top_field_first, _] = self.marks();
        self.set_marks([is_interlaced, top_field_first, is_key]);
    }

    /// Width to height of a pixel, if known.
    pub fn sample_aspect_ratio(&self) -> Option<ffmpeg_next::Rational> {
        let ratio = self.get().sample_aspect_ratio;
        (ratio.num > 0 && ratio.den > 0).then(|| ratio.into())
    }

    /// Sets the width to height of a pixel.
    pub(crate) fn set_sample_aspect_ratio(&mut self, ratio: ffmpeg_next::Rational) {
        self.get_mut().sample_aspect_ratio = ratio.into();
    }

    /// Copies the properties of `other` (times, colour properties, side data), but not its samples.
    pub(crate) fn copy_properties(&mut self, other: &Picture) -> Result<(), Error> {
        // SAFETY: both frames are valid.
        check(unsafe { ffi::av_frame_copy_props(self.ptr, other.ptr) })?;
        Ok(())
    }

    /// Its properties, without side data, as a picture that has no samples.
    pub fn without_samples(&self) -> Self {
        let mut picture = Picture::empty(self.format(), self.size());
        picture.set_colour(self.colour());
        picture.get_mut().sample_aspect_ratio = self.get().sample_aspect_ratio;
        picture.set_marks(self.marks());
        picture
    }

    /// The bytes of its side data of this type.
    pub(crate) fn side_data(&self, kind: ffi::AVFrameSideDataType) -> Option<Vec<u8>> {
        // SAFETY: the picture is valid, and the bytes are copied before it changes.
        unsafe {
            let found = ffi::av_frame_get_side_data(self.ptr, kind).as_ref();
            found.map(|side| std::slice::from_raw_parts(side.data, side.size).to_vec())
        }
    }

    /// Its user data (SEI).
    fn user_data(&self) -> Vec<Vec<u8>> {
        let frame = self.get();
        let all = 0..usize::try_from(frame.nb_side_data).unwrap_or(0);
        // SAFETY: the frame has `nb_side_data` entries, each with `size` bytes at `data`.
        unsafe {
            let entries = all.map(|index| &**frame.side_data.add(index));
            let data = entries.filter(|side| side.type_ == ffi::AVFrameSideDataType::AV_FRAME_DATA_SEI_UNREGISTERED);
            data.map(|side| std::slice::from_raw_parts(side.data, side.size).to_vec()).collect()
        }
    }

    /// Whether it has user data (SEI) other than an encoder's description of itself.
    pub fn has_user_data(&self) -> bool {
        self.user_data().iter().any(|data| !is_of_encoder(data))
    }

    /// Removes the user data (SEI) in which an earlier encoder describes itself.
    pub fn forget_encoder(&mut self) {
        let (kind, all) = (ffi::AVFrameSideDataType::AV_FRAME_DATA_SEI_UNREGISTERED, self.user_data());
        if !all.iter().any(|data| is_of_encoder(data)) {
            return;
        }
        // SAFETY: the frame is valid; the new side data has room for exactly these bytes.
        unsafe {
            ffi::av_frame_remove_side_data(self.ptr, kind);
            for data in all.iter().filter(|data| !is_of_encoder(data)) {
                let side = ffi::av_frame_new_side_data(self.ptr, kind, data.len());
                if side.is_null() {
                    out_of_memory();
                }
                std::ptr::copy_nonoverlapping(data.as_ptr(), (*side).data, data.len());
            }
        }
    }

    /// The AFD code of the part of the picture that is to be shown; `None` for all of it.
    pub fn active_format(&self) -> Option<u8> {
        let data = self.side_data(ffi::AVFrameSideDataType::AV_FRAME_DATA_AFD)?;
        data.first().map(|code| code & 15).filter(|code| *code != WHOLE)
    }

    /// FFmpeg's number for the packing of both eyes' views in a stereoscopic picture: 1 side by side, 2 one above the
    /// other.
    pub fn frame_packing(&self) -> Option<i32> {
        let data = self.side_data(ffi::AVFrameSideDataType::AV_FRAME_DATA_STEREO3D)?;
        data.first_chunk().copied().map(i32::from_ne_bytes).filter(|packing| *packing > 0)
    }

    /// The picture's timecode, from the MPEG GOP header or from SEI, if it is not zero.
    pub fn timecode(&self) -> Option<String> {
        use ffi::AVFrameSideDataType::{AV_FRAME_DATA_GOP_TIMECODE, AV_FRAME_DATA_S12M_TIMECODE};
        let number = |kind, index: usize| {
            let data = self.side_data(kind)?;
            Some(u32::from_ne_bytes(*data.get(index..)?.first_chunk()?))
        };
        let of_mpeg = number(AV_FRAME_DATA_GOP_TIMECODE, if cfg!(target_endian = "big") { 4 } else { 0 });
        // The first number is the count of timecodes.
        let of_sei = number(AV_FRAME_DATA_S12M_TIMECODE, 4);
        let decimal = |code: u32, bits: u32| (code & bits & 15) + 10 * ((code & bits) >> 4);
        let (fields, is_drop) = match (of_mpeg, of_sei) {
            (Some(code), _) => ([code >> 19 & 31, code >> 13 & 63, code >> 6 & 63, code & 63], code >> 24 & 1 == 1),
            (None, Some(code)) => (
                [decimal(code, 0x3f), decimal(code >> 8, 0x7f), decimal(code >> 16, 0x7f), decimal(code >> 24, 0x3f)],
                code >> 30 & 1 == 1,
            ),
            (None, None) => return None,
        };
        let [hours, minutes, seconds, frames] = fields;
        let mark = if is_drop { ';' } else { ':' };
        (fields != [0; 4]).then(|| format!("{hours:02}:{minutes:02}:{seconds:02}{mark}{frames:02}"))
    }

    /// Whether it has dynamic metadata of HDR10+.
    pub fn has_hdr10_plus(&self) -> bool {
        self.side_data(ffi::AVFrameSideDataType::AV_FRAME_DATA_DYNAMIC_HDR_PLUS).is_some()
    }

    /// Whether it has dynamic metadata of Dolby Vision.
    pub fn has_dolby_vision(&self) -> bool {
        use ffi::AVFrameSideDataType::{AV_FRAME_DATA_DOVI_METADATA, AV_FRAME_DATA_DOVI_RPU_BUFFER};
        [AV_FRAME_DATA_DOVI_METADATA, AV_FRAME_DATA_DOVI_RPU_BUFFER].iter().any(|kind| self.side_data(*kind).is_some())
    }

    /// The metadata from the decoder: EXIF, texts and the like.
    pub fn metadata(&self) -> Metadata {
        // SAFETY: the dictionary is null or valid.
        unsafe { entries(self.get().metadata) }
    }

    /// Adds an entry to the metadata, or replaces the one of this key; without a value, removes it.
    pub fn set_entry(&mut self, key: &str, value: Option<&str>) {
        let (key, value) = (c_string(key), value.map(c_string));
        // SAFETY: the dictionary is null or valid; it copies both texts.
        unsafe {
            let value = value.as_ref().map_or(std::ptr::null(), |value| value.as_ptr());
            ffi::av_dict_set(&mut self.get_mut().metadata, key.as_ptr(), value, 0);
        }
    }

    /// Its ICC profile.
    pub fn icc_profile(&self) -> Option<Vec<u8>> {
        self.side_data(ffi::AVFrameSideDataType::AV_FRAME_DATA_ICC_PROFILE)
    }

    /// The mastering display of HDR as FFmpeg stores it; `None` if it lacks luminance.
    pub fn mastering_display(&self) -> Option<Vec<u8>> {
        let bytes = self.side_data(ffi::AVFrameSideDataType::AV_FRAME_DATA_MASTERING_DISPLAY_METADATA)?;
        // The last number of the structure is `has_luminance`: PNG may store primaries alone.
        let has_luminance = bytes.last_chunk().is_some_and(|says| i32::from_ne_bytes(*says) != 0);
        has_luminance.then_some(bytes)
    }

    /// Whether all of it is opaque, with or without alpha; `false` if its samples are not in host memory.
    pub fn is_opaque(&self) -> bool {
        let format = self.format();
        if !format.has_alpha() {
            return true;
        }
        let (Some(layout), Ok(frame)) = (format.descriptor(), self.samples()) else { return false };
        let Some(alpha) = layout.comp[..usize::from(layout.nb_components)].last() else { return false };
        if layout.flags & ffi::AV_PIX_FMT_FLAG_PAL as u64 != 0 {
            return has_opaque_palette(frame);
        }
        let (plane, step) = (alpha.plane as usize, alpha.step as usize);
        let (first, depth) = (alpha.offset as usize, alpha.depth as u32);
        let (bytes, is_big) = (depth.div_ceil(8) as usize, layout.flags & ffi::AV_PIX_FMT_FLAG_BE as u64 != 0);
        let (width, height) = self.size();
        (0..height).all(|y| {
            let start = y as isize * frame.linesize[plane] as isize;
            let length = (width - 1) * step + first + bytes;
            // SAFETY: the samples are in host memory, and alpha has as many rows and columns as the picture.
            let row = unsafe { std::slice::from_raw_parts(frame.data[plane].offset(start), length) };
            row[first..].chunks(step).all(|sample| {
                let code = match (bytes, is_big) {
                    (1, _) => u16::from(sample[0]),
                    (_, false) => u16::from_le_bytes([sample[0], sample[1]]),
                    (_, true) => u16::from_be_bytes([sample[0], sample[1]]),
                };
                u32::from(code >> alpha.shift) == (1 << depth) - 1
            })
        })
    }

    /// Tags it as RGB of a display: the tags of its former colours, its ICC profile and its HDR metadata are dropped.
    pub fn become_display_rgb(&mut self) {
        use ffi::AVFrameSideDataType as Kind;
        self.set_colour(Colour {
            range: ffi::AVColorRange::AVCOL_RANGE_JPEG,
            primaries: ffi::AVColorPrimaries::AVCOL_PRI_UNSPECIFIED,
            transfer: ffi::AVColorTransferCharacteristic::AVCOL_TRC_UNSPECIFIED,
            space: ffi::AVColorSpace::AVCOL_SPC_RGB,
            chroma_location: ffi::AVChromaLocation::AVCHROMA_LOC_UNSPECIFIED,
        });
        for kind in [
            Kind::AV_FRAME_DATA_ICC_PROFILE,
            Kind::AV_FRAME_DATA_MASTERING_DISPLAY_METADATA,
            Kind::AV_FRAME_DATA_DYNAMIC_HDR_PLUS,
            Kind::AV_FRAME_DATA_DOVI_METADATA,
            Kind::AV_FRAME_DATA_DOVI_RPU_BUFFER,
        ] {
            // SAFETY: the frame is valid; without such side data nothing happens.
            unsafe { ffi::av_frame_remove_side_data(self.ptr, kind) };
        }
        self.forget_light_levels();
    }

    /// Drops MaxCLL and MaxFALL, which no longer hold for a picture that is equalized.
    pub(crate) fn forget_light_levels(&mut self) {
        // SAFETY: the frame is valid; without such side data nothing happens.
        unsafe {
            ffi::av_frame_remove_side_data(self.ptr, ffi::AVFrameSideDataType::AV_FRAME_DATA_CONTENT_LIGHT_LEVEL);
        }
    }
}

/// Whether all colours of the palette that the picture uses are opaque.
fn has_opaque_palette(frame: &ffi::AVFrame) -> bool {
    let [pixels, colours, ..] = frame.data;
    if pixels.is_null() || colours.is_null() {
        return false;
    }
    // SAFETY: the second plane has 256 colours of 4 bytes; the first one has a byte for each pixel.
    let bytes = |colour: u8| unsafe { colours.cast::<[u8; 4]>().add(colour.into()).read() };
    let is_opaque = |colour: u8| u32::from_ne_bytes(bytes(colour)) >> 24 == 255;
    let (width, height) = (frame.width.max(0) as usize, frame.height.max(0) as isize);
    (0..height).all(|y| {
        // SAFETY: as above.
        let row = unsafe { std::slice::from_raw_parts(pixels.offset(y * frame.linesize[0] as isize), width) };
        row.iter().all(|colour| is_opaque(*colour))
    })
}
