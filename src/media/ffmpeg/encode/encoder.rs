//! Encodes pictures.
#![allow(unsafe_code, reason = "FFI")]

use super::Encoder;
use crate::ffmpeg::decode::buffers::picture_bytes;
use crate::ffmpeg::demux::media::{entries, set_entries};
use crate::ffmpeg::filter::VideoFormat;
use crate::ffmpeg::frame::{Colour, Picture, RawFormat, StreamSideData};
use crate::ffmpeg::{Error, FieldOrder, OUT_OF_MEMORY, Packet, check, text};
use anyhow::{Context as _, Result, anyhow, bail};
use ffmpeg_next::{Rational, ffi};
use histeq::Limits;
use histeq::internal::cuda::find_driver;

/// The settings with which an encoder is opened.
pub struct VideoOptions {
    /// Pixel format of every picture.
    pub format: RawFormat,
    /// Width and height in pixels.
    pub size: (usize, usize),
    /// Unit of the pictures' times, in seconds.
    pub time_base: Rational,
    /// Pictures a second on average, if known.
    pub frame_rate: Option<Rational>,
    /// Colour properties of every picture.
    pub colour: Colour,
    /// Width to height of a pixel, if known.
    pub sample_aspect_ratio: Option<Rational>,
    /// `Some(top field first?)` for interlaced coding.
    pub interlaced: Option<bool>,
    /// The field order that the input signals.
    pub field_order: FieldOrder,
    /// Whether the codec's headers go into the container's header.
    pub global_header: bool,
    /// A constant quantizer (`-q:v`), for encoders without a quality option of their own.
    pub quantizer: Option<f32>,
    /// The encoder's private options.
    pub options: Vec<(String, String)>,
    /// The side data of the stream; x265 takes HDR10 metadata as an option.
    pub side_data: StreamSideData,
    /// The limits of its threads.
    pub limits: Limits,
}

impl VideoOptions {
    /// Progressive pictures of this format, with times in units of `time_base` (seconds), and defaults for the rest.
    pub fn new(video: VideoFormat, time_base: Rational) -> Self {
        VideoOptions {
            format: video.format,
            size: video.size,
            time_base,
            frame_rate: None,
            colour: video.colour,
            sample_aspect_ratio: None,
            interlaced: None,
            field_order: FieldOrder::Progressive,
            global_header: false,
            quantizer: None,
            options: Vec::new(),
            side_data: StreamSideData::default(),
            limits: Limits::default(),
        }
    }
}

/// An open video encoder.
pub struct VideoEncoder {
    ptr: *mut ffi::AVCodecContext,
    /// Whether it can be closed now. SVT-AV1 hangs when it is closed before its first picture.
    can_close: bool,
    /// `Some(top field first?)` if it codes fields, `None` if it codes frames.
    pub fields: Option<bool>,
}

// SAFETY: the context is used by one thread at a time, the one that owns the VideoEncoder.
unsafe impl Send for VideoEncoder {}

impl VideoEncoder {
    /// Opens `encoder`.
    ///
    /// # Errors
    /// When it refuses the format, the size or the value of an option, or lacks an option.
    pub fn open(encoder: Encoder, options: &VideoOptions) -> Result<Self> {
        crate::ffmpeg::last_message();
        let picture = picture_bytes(options.format, options.size).filter(|_| !encoder.is_hardware());
        picture.into_iter().for_each(|picture| options.limits.note_encoder(picture));
        // SAFETY: the context is owned by `this` from the start; only its public fields are set.
        let mut this = unsafe {
            let ptr = ffi::avcodec_alloc_context3(encoder.0.as_ptr());
            let this = VideoEncoder { ptr, can_close: true, fields: options.interlaced };
            anyhow::ensure!(!this.ptr.is_null(), OUT_OF_MEMORY);
            let context = &mut *this.ptr;
            context.pix_fmt = options.format.0;
            context.width = i32::try_from(options.size.0)?;
            context.height = i32::try_from(options.size.1)?;
            context.time_base = options.time_base.into();
            if let Some(rate) = options.frame_rate {
                context.framerate = rate.into();
                // The rate control of MPEG-4 and related encoders treats one unit of the time base as a frame, unless
                // `ticks_per_frame` is set.
                #[cfg(not(ffmpeg_6_1))]
                {
                    let ticks = 1.0 / f64::from(options.time_base) / f64::from(rate);
                    context.ticks_per_frame = (ticks.round() as i32).max(1);
                }
            }
            context.color_range = options.colour.range;
            context.color_primaries = options.colour.primaries;
            context.color_trc = options.colour.transfer;
            context.colorspace = options.colour.space;
            context.chroma_sample_location = options.colour.chroma_location;
            if let Some(ratio) = options.sample_aspect_ratio {
                context.sample_aspect_ratio = ratio.into();
            }
            if let Some(top_field_first) = options.interlaced {
                context.flags |= (ffi::AV_CODEC_FLAG_INTERLACED_DCT | ffi::AV_CODEC_FLAG_INTERLACED_ME) as i32;
                context.field_order = shown_first(options.field_order, top_field_first).into();
            } else {
                context.field_order = ffi::AVFieldOrder::AV_FIELD_PROGRESSIVE;
            }
            if options.global_header {
                context.flags |= ffi::AV_CODEC_FLAG_GLOBAL_HEADER as i32;
            }
            if let Some(quantizer) = options.quantizer {
                context.flags |= ffi::AV_CODEC_FLAG_QSCALE as i32;
                context.global_quality = (quantizer * ffi::FF_QP2LAMBDA as f32).round() as i32;
            }
            context.thread_count = options.limits.given_threads().unwrap_or(0) as i32;
            this
        };
        this.open_with(encoder, options)?;
        Ok(this)
    }

    /// The encoder's name.
    pub fn name(&self) -> String {
        // SAFETY: an open context has its codec, a constant of the library with a name.
        unsafe { text((*(*self.ptr).codec).name) }
    }

    /// FFmpeg's name of the encoder's pixel format, and the picture size (columns, rows).
    pub fn picture(&self) -> (String, (usize, usize)) {
        // SAFETY: the context is open.
        let (format, width, height) = unsafe { ((*self.ptr).pix_fmt, (*self.ptr).width, (*self.ptr).height) };
        (RawFormat(format).name(), (width as usize, height as usize))
    }

    fn open_with(&mut self, encoder: Encoder, options: &VideoOptions) -> Result<()> {
        let name = encoder.name();
        let mut private = options.options.clone();
        if let Some(parameters) = options.side_data.x265_parameters().filter(|_| name == "libx265") {
            add_parameters(&mut private, "x265-params", &parameters);
        }
        // FFmpeg's wrappers of x265 and SVT-AV1 pass on the number of threads only in part, or not at all.
        let pools = options.limits.given_threads().map(|threads| match name.as_str() {
            "libx265" => ("x265-params", format!("pools={threads}")),
            _ => ("svtav1-params", format!("lp={threads}")),
        });
        if let Some((key, parameters)) = pools.filter(|_| ["libx265", "libsvtav1"].contains(&name.as_str())) {
            add_parameters(&mut private, key, &parameters);
        }
        // x264 codes bottom-field-first pictures as such, but signals the order only with this option.
        if name.starts_with("libx264") && options.interlaced == Some(false) {
            add_parameters(&mut private, "x264-params", "bff=1");
        }
        let mut dictionary = std::ptr::null_mut();
        // SAFETY: the context is new; the dictionary is ours, and keeps the options that the encoder lacks.
        let (opened, unknown) = unsafe {
            set_entries(&mut dictionary, &private);
            let opened = check(ffi::avcodec_open2(self.ptr, encoder.0.as_ptr(), &mut dictionary));
            let unknown = entries(dictionary);
            ffi::av_dict_free(&mut dictionary);
            (opened, unknown)
        };
        // NVENC's error without a driver is "operation not permitted", which names no cause.
        if let (Err(_), true, Err(reason)) = (&opened, name.ends_with("_nvenc"), find_driver()) {
            crate::ffmpeg::last_message();
            return Err(reason).context(format!("encoder {name} needs a GPU (--encoder libx264 needs none)"));
        }
        let reason = crate::ffmpeg::last_message().map(|message| format!(" ({message})")).unwrap_or_default();
        // The error code is dropped, because it would blame the input: libx265 calls settings invalid data.
        opened.map_err(|error| anyhow!("{error}")).with_context(|| {
            let (width, height) = options.size;
            format!("encoder {name} refuses {width}x{height} {}{reason}", options.format)
        })?;
        self.can_close = name != "libsvtav1";
        if let Some((key, _)) = unknown.first() {
            bail!("encoder {name} has no option {key} (`ffmpeg -h encoder={name}` lists them)");
        }
        Ok(())
    }

    pub(crate) fn as_ptr(&self) -> *mut ffi::AVCodecContext {
        self.ptr
    }

    /// Unit of the times of pictures and packets, in seconds.
    pub fn time_base(&self) -> Rational {
        // SAFETY: the context is open.
        unsafe { (*self.ptr).time_base }.into()
    }

    /// Sends a picture to the encoder, or `None` at the end. Receive all packets before the next picture.
    ///
    /// # Errors
    /// When encoding fails; `EINVAL` when the picture has another format or size than the encoder was opened for, or
    /// its samples are not in host memory.
    pub fn send(&mut self, picture: Option<&mut Picture>) -> Result<(), Error> {
        // SAFETY: the context is open.
        let (flags, quantizer) = unsafe { ((*self.ptr).flags, (*self.ptr).global_quality) };
        let picture = picture.map(|picture| {
            // Encoders read the constant quantizer from each picture.
            if flags & ffi::AV_CODEC_FLAG_QSCALE as i32 != 0 {
                picture.set_quality(quantizer);
            }
            self.checked(picture)
        });
        let picture = picture.transpose()?;
        self.can_close |= picture.is_some();
        let picture = picture.map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: the context is open; the encoder takes its own references.
        check(unsafe { ffi::avcodec_send_frame(self.ptr, picture) })?;
        Ok(())
    }

    /// The AVFrame, after a check of format and size, which encoders do not make themselves.
    fn checked<'a>(&self, picture: &'a Picture) -> Result<&'a ffi::AVFrame, Error> {
        // SAFETY: the context is open.
        let (format, width, height) = unsafe { ((*self.ptr).pix_fmt, (*self.ptr).width, (*self.ptr).height) };
        let frame = picture.samples()?;
        let fits = (picture.format().0, frame.width, frame.height) == (format, width, height);
        if fits { Ok(frame) } else { Err(Error::Other { errno: libc::EINVAL }) }
    }

    /// Receives the next packet; `None` when the encoder needs another picture, or is drained.
    ///
    /// # Errors
    /// When encoding fails.
    pub fn receive(&mut self) -> Result<Option<Packet>, Error> {
        let mut packet = Packet::new();
        // SAFETY: the context is open, the packet valid and empty.
        match check(unsafe { ffi::avcodec_receive_packet(self.ptr, packet.as_mut_ptr()) }) {
            Ok(_) => Ok(Some(packet)),
            Err(Error::Eof | Error::Other { errno: libc::EAGAIN }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Adds parameters to an option such as `x265-params`, before those of the user, which take precedence.
fn add_parameters(options: &mut Vec<(String, String)>, key: &str, parameters: &str) {
    match options.iter_mut().find(|(k, _)| k == key) {
        Some((_, value)) => *value = format!("{parameters}:{value}"),
        None => options.push((key.to_owned(), parameters.to_owned())),
    }
}

/// The field order to signal: `signalled`, unless the pictures contradict it, whose top field is shown first if `top`.
/// `TB` and `BT`, which code one field first and show the other one first, are kept, because programs disagree about
/// the meaning of their two letters.
fn shown_first(signalled: FieldOrder, top: bool) -> FieldOrder {
    match (signalled, top) {
        (FieldOrder::TB | FieldOrder::BT, _) => signalled,
        (_, true) => FieldOrder::TT,
        (_, false) => FieldOrder::BB,
    }
}

impl Drop for VideoEncoder {
    fn drop(&mut self) {
        // An encoder that would hang is leaked instead.
        if self.can_close {
            // SAFETY: allocated in `open`, freed nowhere else.
            unsafe { ffi::avcodec_free_context(&mut self.ptr) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use histeq::internal::frame::{Frame, HostPool, Matrix, PixelFormat, Range};
    use std::sync::Arc;

    #[test]
    fn an_encoder_reads_the_memory_that_it_is_given_and_holds_it_for_as_long_as_it_needs_it() {
        let (size, pool) = ((64, 48), HostPool::default());
        let planes = [(64, 48), (32, 24), (32, 24)].map(|(row_bytes, rows)| pool.plane(row_bytes, rows).freeze());
        let memory = planes.clone().map(|plane| Arc::downgrade(plane.memory()));
        let addresses = planes.clone().map(|plane| plane.row(0).as_ptr());
        let frame = Frame::new(PixelFormat::Yuv420p, size, Range::Limited, Matrix::Bt601, planes.to_vec()).unwrap();
        drop(planes);
        let rate = Rational::new(25, 1);
        let mut picture = Picture::from_frame(&frame).unwrap();
        drop(frame);
        let options = VideoOptions::new(VideoFormat::from_picture(&picture), rate.invert());
        let options = VideoOptions { frame_rate: Some(rate), ..options };
        // The packet of this encoder holds the AVFrame that the encoder got.
        let mut encoder = VideoEncoder::open(Encoder::find("wrapped_avframe").unwrap(), &options).unwrap();
        encoder.send(Some(&mut picture)).unwrap();
        drop(picture);
        let packet = encoder.receive().unwrap().expect("a packet a frame");
        // SAFETY: a packet of this encoder holds an AVFrame.
        let seen = unsafe { &*(*packet.as_ptr()).data.cast::<ffi::AVFrame>() };
        assert_eq!(seen.data[..3], addresses.map(<*const u8>::cast_mut));
        assert!(memory.iter().all(|memory| memory.upgrade().is_some()), "the encoder holds it");
        drop((packet, encoder));
        assert!(memory.iter().all(|memory| memory.upgrade().is_none()), "the memory is freed");
    }
}
