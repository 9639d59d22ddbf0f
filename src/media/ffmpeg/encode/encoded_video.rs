//! The description of encoded video, kept in a file, so that its packets can be written without its encoder.
#![allow(unsafe_code, reason = "FFI")]

use super::VideoEncoder;
use crate::ffmpeg::demux::media::{CodecParameters, header_of, set_colours, set_header};
use crate::ffmpeg::frame::colour::Colours;
use crate::ffmpeg::frame::{Colour, RawFormat, StreamSideData};
use crate::ffmpeg::{c_string, text};
use crate::sys::out_of_memory;
use ffmpeg_next::{Rational, ffi};
use serde::{Deserialize, Serialize};

/// The parameters of a video stream that a muxer needs. Enumerations are FFmpeg's numbers.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct EncodedVideo {
    /// FFmpeg's name of the codec.
    codec: String,
    /// The codec tag for containers, if the encoder sets one.
    tag: u32,
    /// The codec's header.
    header: Vec<u8>,
    /// FFmpeg's name of the pixel format.
    pixel_format: String,
    /// Columns and rows.
    size: [i32; 2],
    bit_rate: i64,
    /// Bits of a coded sample, and of a raw one.
    bits: [i32; 2],
    profile: i32,
    level: i32,
    sample_aspect_ratio: [i32; 2],
    field_order: i32,
    /// Range, primaries, transfer, matrix and chroma location.
    colour: Colours,
    /// The most frames between the decoding and the display of a frame.
    delay: i32,
    time_base: [i32; 2],
    frame_rate: [i32; 2],
    /// The side data about the display, by name.
    side_data: Vec<(String, Vec<u8>)>,
}

impl EncodedVideo {
    /// Describes the video that `encoder` makes, with this side data.
    pub fn new(encoder: &VideoEncoder, side_data: &StreamSideData) -> Self {
        let ratio = |ratio: ffi::AVRational| [ratio.num, ratio.den];
        // SAFETY: the encoder is open. The copy of its parameters is valid, and read as numbers. Its header has
        // `extradata_size` bytes.
        unsafe {
            let context = &*encoder.as_ptr();
            let mut parameters = CodecParameters::new();
            if ffi::avcodec_parameters_from_context(parameters.as_mut_ptr(), context) < 0 {
                out_of_memory();
            }
            let raw = &*parameters.as_ptr();
            EncodedVideo {
                codec: text(ffi::avcodec_get_name(raw.codec_id)),
                tag: raw.codec_tag,
                header: header_of(raw).to_vec(),
                pixel_format: RawFormat::from_number(raw.format).name(),
                size: [raw.width, raw.height],
                bit_rate: raw.bit_rate,
                bits: [raw.bits_per_coded_sample, raw.bits_per_raw_sample],
                profile: raw.profile,
                level: raw.level,
                sample_aspect_ratio: ratio(context.sample_aspect_ratio),
                field_order: raw.field_order as i32,
                colour: Colour::from(raw).numbers(),
                delay: raw.video_delay,
                time_base: ratio(context.time_base),
                frame_rate: ratio(context.framerate),
                side_data: side_data.named(),
            }
        }
    }

    /// Unit of the packets' timestamps, in seconds.
    pub fn time_base(&self) -> Rational {
        let [numerator, denominator] = self.time_base;
        Rational::new(numerator.max(1), denominator.max(1))
    }

    /// The side data about the display.
    pub(crate) fn side_data(&self) -> StreamSideData {
        StreamSideData::from_names(&self.side_data)
    }

    /// Average frame rate, and sample aspect ratio (width to height).
    pub(crate) fn ratios(&self) -> [ffi::AVRational; 2] {
        [self.frame_rate, self.sample_aspect_ratio].map(|[num, den]| ffi::AVRational { num, den })
    }

    /// Copies this description to `parameters`; `false` if this FFmpeg does not know the codec or the pixel format.
    ///
    /// # Safety
    /// `parameters` points to new, valid parameters.
    pub(crate) unsafe fn set(&self, parameters: *mut ffi::AVCodecParameters) -> bool {
        let Some(format) = RawFormat::from_name(&self.pixel_format) else { return false };
        // SAFETY: the parameters are valid by the caller's promise. The header is allocated by FFmpeg, with padding,
        // and freed with them. Numbers of enumerations are written as numbers: FFmpeg takes any, and they are not read
        // here.
        unsafe {
            let descriptor = ffi::avcodec_descriptor_get_by_name(c_string(&self.codec).as_ptr());
            let Some(descriptor) = descriptor.as_ref() else { return false };
            (*parameters).codec_type = ffi::AVMediaType::AVMEDIA_TYPE_VIDEO;
            (*parameters).codec_id = descriptor.id;
            (*parameters).codec_tag = self.tag;
            (*parameters).format = format.0 as i32;
            [(*parameters).width, (*parameters).height] = self.size;
            (*parameters).bit_rate = self.bit_rate;
            [(*parameters).bits_per_coded_sample, (*parameters).bits_per_raw_sample] = self.bits;
            (*parameters).profile = self.profile;
            (*parameters).level = self.level;
            (*parameters).sample_aspect_ratio = self.ratios()[1];
            (*parameters).video_delay = self.delay;
            (&raw mut (*parameters).field_order).cast::<i32>().write(self.field_order);
            set_colours(parameters, self.colour);
            if set_header(parameters, &self.header).is_err() {
                out_of_memory();
            }
        }
        true
    }
}
