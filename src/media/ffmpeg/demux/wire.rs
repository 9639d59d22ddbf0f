//! The wire format of a decoding process: streams, packets, and the properties of pictures as plain data. The reader
//! trusts nothing: numbers of enumerations must be known to FFmpeg, and side data must have a kind and size that are
//! safe for FFmpeg's code.
#![allow(unsafe_code, reason = "FFI")]

use super::media::{CodecParameters, entries, header_of, set_colours, set_entries, set_header};
use super::{Chapter, Metadata, Stream};
use crate::ffmpeg::demux::structures::{Lie, SideData, named, packet_kind, picture_sizes};
use crate::ffmpeg::frame::colour::Colours;
use crate::ffmpeg::frame::{Colour, Picture, RawFormat, StreamSideData};
use crate::ffmpeg::{MediaType, Packet, Rational, c_string, text};
use crate::sys::io::at_most;
use crate::sys::out_of_memory;
use ffmpeg_next::{FieldOrder, ffi};
use serde::{Deserialize, Serialize};
use std::ffi::c_int;
use std::ptr;

/// The most keys of one list of metadata, and the most entries of one list of side data.
const MAX_KEYS: usize = 10_000;
const MAX_SIDE_DATA: usize = 64;

/// The largest time and duration, in any unit: sums of larger ones, as in damaged files, would overflow.
const MAX_TIME: i64 = 1 << 60;

/// An optional time, limited to the allowed range.
fn time(value: i64) -> i64 {
    if value == ffi::AV_NOPTS_VALUE { value } else { value.clamp(-MAX_TIME, MAX_TIME) }
}

/// A duration, limited to the allowed range.
fn duration(value: i64) -> i64 {
    value.clamp(0, MAX_TIME)
}

/// The most bytes of a name or of a channel layout as text.
const MAX_NAME: usize = 4096;

/// The most channels of an audio stream.
const MAX_CHANNELS: i32 = 1024;

/// Checks that FFmpeg knows the numbers of these colour properties.
fn check_colours(colours: Colours) -> Result<(), Lie> {
    let [range, primaries, transfer, matrix, chroma] = colours;
    // SAFETY: the functions take any number, and return a constant or null.
    let are_known = unsafe {
        !named::av_color_range_name(range).is_null()
            && !named::av_color_primaries_name(primaries).is_null()
            && !named::av_color_transfer_name(transfer).is_null()
            && !named::av_color_space_name(matrix).is_null()
            && !named::av_chroma_location_name(chroma).is_null()
    };
    if are_known { Ok(()) } else { Err(Lie("a colour")) }
}

/// Numerator and denominator, unchecked.
type Fraction = [i32; 2];

fn fraction(rational: Rational) -> Fraction {
    [rational.numerator(), rational.denominator()]
}

/// Checks that both numbers of a fraction are above zero.
fn positive([numerator, denominator]: Fraction) -> Result<Rational, Lie> {
    if numerator > 0 && denominator > 0 { Ok(Rational::new(numerator, denominator)) } else { Err(Lie("a fraction")) }
}

/// Width to height of a pixel, which FFmpeg gives as 0/1 where it is not known.
fn ratio([num, den]: Fraction) -> Result<ffi::AVRational, Lie> {
    if num >= 0 && den >= 0 { Ok(ffi::AVRational { num, den }) } else { Err(Lie("a shape of pixels")) }
}

#[derive(Debug, Deserialize, Serialize)]
struct WireParameters {
    kind: i32,
    codec: i32,
    tag: u32,
    #[serde(with = "serde_bytes")]
    header: Vec<u8>,
    format: i32,
    bit_rate: i64,
    bits: [i32; 2],
    profile: i32,
    level: i32,
    size: [i32; 2],
    sample_aspect_ratio: Fraction,
    fields: i32,
    colours: Colours,
    delay: i32,
    channels: String,
    sample_rate: i32,
    block_align: i32,
    frame_size: i32,
    padding: [i32; 2],
    preroll: i32,
}

impl WireParameters {
    fn new(parameters: &CodecParameters) -> Self {
        // SAFETY: the parameters are valid, have `extradata_size` bytes at `extradata`, and a valid layout of channels,
        // which is written as text with an end into a buffer of this length.
        unsafe {
            let raw = &*parameters.as_ptr();
            let mut channels = vec![0_u8; MAX_NAME];
            let described =
                ffi::av_channel_layout_describe(&raw.ch_layout, channels.as_mut_ptr().cast(), channels.len());
            let channels = if described > 0 && raw.ch_layout.nb_channels > 0 {
                text(channels.as_ptr().cast())
            } else {
                String::new()
            };
            WireParameters {
                kind: raw.codec_type as i32,
                codec: raw.codec_id as i32,
                tag: raw.codec_tag,
                header: header_of(raw).to_vec(),
                format: raw.format,
                bit_rate: raw.bit_rate,
                bits: [raw.bits_per_coded_sample, raw.bits_per_raw_sample],
                profile: raw.profile,
                level: raw.level,
                size: [raw.width, raw.height],
                sample_aspect_ratio: [raw.sample_aspect_ratio.num, raw.sample_aspect_ratio.den],
                fields: raw.field_order as i32,
                colours: Colour::from(raw).numbers(),
                delay: raw.video_delay,
                channels,
                sample_rate: raw.sample_rate,
                block_align: raw.block_align,
                frame_size: raw.frame_size,
                padding: [raw.initial_padding, raw.trailing_padding],
                preroll: raw.seek_preroll,
            }
        }
    }

    fn checked(self) -> Result<CodecParameters, Lie> {
        check_colours(self.colours)?;
        let media = [
            ffi::AVMediaType::AVMEDIA_TYPE_UNKNOWN,
            ffi::AVMediaType::AVMEDIA_TYPE_VIDEO,
            ffi::AVMediaType::AVMEDIA_TYPE_AUDIO,
            ffi::AVMediaType::AVMEDIA_TYPE_DATA,
            ffi::AVMediaType::AVMEDIA_TYPE_SUBTITLE,
            ffi::AVMediaType::AVMEDIA_TYPE_ATTACHMENT,
        ];
        let kind = media.into_iter().find(|kind| *kind as i32 == self.kind).ok_or(Lie("a medium"))?;
        // SAFETY: the functions take any number, and return a constant or null.
        let (has_codec, has_format) = unsafe {
            let format = match kind {
                ffi::AVMediaType::AVMEDIA_TYPE_VIDEO => named::av_get_pix_fmt_name(self.format),
                ffi::AVMediaType::AVMEDIA_TYPE_AUDIO => named::av_get_sample_fmt_name(self.format),
                _ => ptr::null(),
            };
            let codec = named::avcodec_descriptor_get(self.codec);
            // The number 0 means no codec.
            (self.codec == 0 || !codec.is_null(), self.format == -1 || !format.is_null())
        };
        let (has_fields, numbers) = ((0..=5).contains(&self.fields), [self.size, self.bits, self.padding].concat());
        let rest = [self.delay, self.sample_rate, self.block_align, self.frame_size, self.preroll];
        let are_counts = numbers.iter().chain(&rest).all(|&number| number >= 0);
        if !has_codec || !has_format || !has_fields || !are_counts || self.bit_rate < 0 {
            return Err(Lie("a codec"));
        }
        let shape = ratio(self.sample_aspect_ratio)?;
        c_int::try_from(self.header.len()).map_err(|_| Lie("a header"))?;
        let mut parameters = CodecParameters::new();
        // SAFETY: the parameters are valid and new. The header is allocated by FFmpeg, with padding, and freed with
        // them. Numbers of enumerations are known to FFmpeg. The layout of channels comes from a text with an end.
        unsafe {
            let target = parameters.as_mut_ptr();
            (*target).codec_type = kind;
            (&raw mut (*target).codec_id).cast::<i32>().write(self.codec);
            (*target).codec_tag = self.tag;
            (*target).format = self.format;
            (*target).bit_rate = self.bit_rate;
            [(*target).bits_per_coded_sample, (*target).bits_per_raw_sample] = self.bits;
            ((*target).profile, (*target).level) = (self.profile, self.level);
            [(*target).width, (*target).height] = self.size;
            (*target).sample_aspect_ratio = shape;
            (&raw mut (*target).field_order).cast::<i32>().write(self.fields);
            set_colours(target, self.colours);
            (*target).video_delay = self.delay;
            (*target).sample_rate = self.sample_rate;
            (*target).block_align = self.block_align;
            (*target).frame_size = self.frame_size;
            [(*target).initial_padding, (*target).trailing_padding] = self.padding;
            (*target).seek_preroll = self.preroll;
            if !self.channels.is_empty() {
                let layout = &mut (*target).ch_layout;
                let is_short = self.channels.len() <= MAX_NAME;
                let is_layout = is_short
                    && ffi::av_channel_layout_from_string(layout, c_string(&self.channels).as_ptr()) >= 0
                    && ffi::av_channel_layout_check(layout) != 0;
                if !is_layout || layout.nb_channels > MAX_CHANNELS {
                    return Err(Lie("channels"));
                }
            }
            if set_header(target, &self.header).is_err() {
                out_of_memory();
            }
        }
        Ok(parameters)
    }
}

/// A [`Stream`].
#[derive(Debug, Deserialize, Serialize)]
pub struct WireStream {
    codec: String,
    parameters: WireParameters,
    time_base: Fraction,
    frame_rate: Option<Fraction>,
    base_rate: Option<Fraction>,
    sample_aspect_ratio: Option<Fraction>,
    container_aspect_ratio: Option<Fraction>,
    start: Option<i64>,
    frames: Option<u64>,
    #[serde(deserialize_with = "at_most::<_, _, MAX_KEYS>")]
    metadata: Metadata,
    disposition: i32,
    #[serde(deserialize_with = "at_most::<_, _, MAX_SIDE_DATA>")]
    side_data: SideData,
    #[serde(with = "serde_bytes")]
    cover: Option<Vec<u8>>,
}

impl WireStream {
    /// Describes `stream`.
    pub fn new(stream: &Stream) -> Self {
        WireStream {
            codec: stream.codec.clone(),
            parameters: WireParameters::new(&stream.parameters),
            time_base: fraction(stream.time_base),
            frame_rate: stream.frame_rate.map(fraction),
            base_rate: stream.base_rate.map(fraction),
            sample_aspect_ratio: stream.sample_aspect_ratio.map(fraction),
            container_aspect_ratio: stream.container_aspect_ratio.map(fraction),
            start: stream.start,
            frames: stream.frames,
            metadata: stream.metadata.clone(),
            disposition: stream.disposition,
            side_data: stream.side_data.entries.iter().map(|(kind, bytes)| (*kind as u32, bytes.clone())).collect(),
            cover: stream.cover.clone(),
        }
    }

    /// The stream with this index in its input. Side data of other kinds or sizes is left out.
    ///
    /// # Errors
    /// When a value is invalid.
    pub fn checked(self, index: usize) -> Result<Stream, Lie> {
        let mut parameters = self.parameters.checked()?;
        // SAFETY: the parameters are valid, and their numbers were checked.
        let (kind, order) = unsafe { ((*parameters.as_ptr()).codec_type, (*parameters.as_ptr()).field_order) };
        let known =
            self.side_data.into_iter().filter_map(|(kind, bytes)| Some((packet_kind(kind, bytes.len())?, bytes)));
        let side_data = StreamSideData { entries: known.collect() };
        side_data.add_to_parameters(&mut parameters);
        // SAFETY: FFmpeg knows the number of the codec, which was checked.
        let codec = unsafe { text(ffi::avcodec_get_name((*parameters.as_ptr()).codec_id)) };
        if codec != self.codec {
            return Err(Lie("a codec"));
        }
        Ok(Stream {
            index,
            kind: MediaType::from(kind),
            codec,
            parameters,
            time_base: positive(self.time_base)?,
            frame_rate: self.frame_rate.map(positive).transpose()?,
            base_rate: self.base_rate.map(positive).transpose()?,
            sample_aspect_ratio: self.sample_aspect_ratio.map(positive).transpose()?,
            container_aspect_ratio: self.container_aspect_ratio.map(positive).transpose()?,
            field_order: FieldOrder::from(order),
            start: self.start.map(time),
            frames: self.frames.filter(|&frames| frames <= MAX_TIME as u64),
            metadata: self.metadata,
            disposition: self.disposition,
            side_data,
            cover: self.cover,
        })
    }
}

/// A [`Chapter`].
#[derive(Debug, Deserialize, Serialize)]
pub struct WireChapter {
    id: i64,
    time_base: Fraction,
    period: [i64; 2],
    #[serde(deserialize_with = "at_most::<_, _, MAX_KEYS>")]
    metadata: Metadata,
}

impl WireChapter {
    /// Describes `chapter`.
    pub fn new(chapter: &Chapter) -> Self {
        let Chapter { id, time_base, start, end, metadata } = chapter;
        WireChapter { id: *id, time_base: fraction(*time_base), period: [*start, *end], metadata: metadata.clone() }
    }

    /// The chapter.
    ///
    /// # Errors
    /// When its unit of time is invalid, or it ends before it starts.
    pub fn checked(self) -> Result<Chapter, Lie> {
        let [start, end] = self.period;
        let (start, end) = (time(start), time(end));
        if start > end {
            return Err(Lie("a chapter"));
        }
        Ok(Chapter { id: self.id, time_base: positive(self.time_base)?, start, end, metadata: self.metadata })
    }
}

/// A [`Packet`].
#[derive(Debug, Deserialize, Serialize)]
pub struct WirePacket {
    stream: u32,
    /// Presentation and decoding time.
    times: [i64; 2],
    duration: i64,
    flags: i32,
    #[serde(with = "serde_bytes")]
    data: Vec<u8>,
    #[serde(deserialize_with = "at_most::<_, _, MAX_SIDE_DATA>")]
    side_data: SideData,
}

impl WirePacket {
    /// Describes `packet`.
    pub fn new(packet: &Packet) -> Self {
        // SAFETY: the packet is valid, with `side_data_elems` entries, each with `size` bytes at `data`.
        unsafe {
            let raw = &*packet.as_ptr();
            let entries = (0..raw.side_data_elems.max(0) as usize).map(|index| &*raw.side_data.add(index));
            let bytes = |side: &ffi::AVPacketSideData| match side.data.is_null() {
                true => Vec::new(),
                false => std::slice::from_raw_parts(side.data, side.size).to_vec(),
            };
            WirePacket {
                stream: raw.stream_index.max(0) as u32,
                times: [raw.pts, raw.dts],
                duration: raw.duration,
                flags: raw.flags,
                data: packet.data().to_vec(),
                side_data: entries.map(|side| (side.type_ as u32, bytes(side))).collect(),
            }
        }
    }

    /// The packet of an input with this many streams. Side data of other kinds or sizes is left out.
    ///
    /// # Errors
    /// When a value is invalid.
    pub fn checked(self, streams: usize) -> Result<Packet, Lie> {
        let stream = self.stream as usize;
        if stream >= streams || c_int::try_from(self.data.len()).is_err() {
            return Err(Lie("a packet"));
        }
        let [pts, dts] = self.times;
        let mut packet = Packet::from_bytes(&self.data, [time(pts), time(dts)], duration(self.duration), false);
        packet.set_stream(stream);
        // Other flags control how FFmpeg itself treats the bytes.
        let known =
            ffi::AV_PKT_FLAG_KEY | ffi::AV_PKT_FLAG_CORRUPT | ffi::AV_PKT_FLAG_DISCARD | ffi::AV_PKT_FLAG_DISPOSABLE;
        // SAFETY: the packet is valid and new; the new side data has room for exactly these bytes.
        unsafe {
            (*packet.as_mut_ptr()).flags = self.flags & known;
            for (number, bytes) in self.side_data {
                let Some(kind) = packet_kind(number, bytes.len()) else { continue };
                let data = ffi::av_packet_new_side_data(packet.as_mut_ptr(), kind, bytes.len());
                if data.is_null() {
                    out_of_memory();
                }
                ptr::copy_nonoverlapping(bytes.as_ptr(), data, bytes.len());
            }
        }
        Ok(packet)
    }
}

/// The properties of a [`Picture`], without its samples.
#[derive(Debug, Deserialize, Serialize)]
pub struct WireProperties {
    format: i32,
    colours: Colours,
    sample_aspect_ratio: Fraction,
    /// `Some(top field first?)` where it is interlaced.
    interlaced: Option<bool>,
    repeats: i32,
    is_key: bool,
    is_damaged: bool,
    time: Option<i64>,
    duration: i64,
    #[serde(deserialize_with = "at_most::<_, _, MAX_KEYS>")]
    metadata: Metadata,
    #[serde(deserialize_with = "at_most::<_, _, MAX_SIDE_DATA>")]
    side_data: SideData,
}

impl WireProperties {
    /// The properties of `picture`.
    pub fn new(picture: &Picture) -> Self {
        let raw = picture.get();
        // SAFETY: the picture is valid, with `nb_side_data` entries, each with `size` bytes at `data`; its metadata is
        // null or valid.
        let (side_data, metadata) = unsafe {
            let all = (0..raw.nb_side_data.max(0) as usize).map(|index| &**raw.side_data.add(index));
            let bytes = |side: &ffi::AVFrameSideData| std::slice::from_raw_parts(side.data, side.size).to_vec();
            let known = all.filter(|side| picture_sizes().iter().any(|(kind, _)| *kind == side.type_));
            (known.map(|side| (side.type_ as u32, bytes(side))).collect(), entries(raw.metadata))
        };
        WireProperties {
            format: raw.format,
            colours: picture.colour().numbers(),
            sample_aspect_ratio: [raw.sample_aspect_ratio.num, raw.sample_aspect_ratio.den],
            interlaced: picture.interlaced(),
            repeats: raw.repeat_pict,
            is_key: picture.is_key(),
            is_damaged: picture.is_damaged(),
            time: picture.time(),
            duration: picture.duration(),
            metadata,
            side_data,
        }
    }

    /// A picture with these properties. Side data of other kinds or sizes is left out.
    ///
    /// # Errors
    /// When a value is invalid.
    pub fn checked(self) -> Result<Picture, Lie> {
        check_colours(self.colours)?;
        let shape = ratio(self.sample_aspect_ratio)?;
        // SAFETY: the function takes any number, and returns a constant or null.
        let is_format = self.format == -1 || unsafe { !named::av_get_pix_fmt_name(self.format).is_null() };
        if !is_format || !(0..=8).contains(&self.repeats) {
            return Err(Lie("a picture"));
        }
        // SAFETY: the number is one that FFmpeg has a name for, or that of no format.
        let mut picture = Picture::empty(unsafe { RawFormat::from_number(self.format) }, (0, 0));
        picture.set_time(self.time.map(time));
        picture.set_duration(duration(self.duration));
        picture.set_interlaced(self.interlaced);
        picture.set_key(self.is_key);
        if self.is_damaged {
            picture.mark_damaged();
        }
        // SAFETY: the picture is valid and new, and the numbers of its colours are known to FFmpeg. The new side data
        // has room for exactly these bytes, and belongs to the picture, as its metadata does.
        unsafe {
            let target = picture.as_mut_ptr();
            (*target).sample_aspect_ratio = shape;
            (*target).repeat_pict = self.repeats;
            let [range, primaries, transfer, matrix, chroma] = self.colours;
            (&raw mut (*target).color_range).cast::<i32>().write(range);
            (&raw mut (*target).color_primaries).cast::<i32>().write(primaries);
            (&raw mut (*target).color_trc).cast::<i32>().write(transfer);
            (&raw mut (*target).colorspace).cast::<i32>().write(matrix);
            (&raw mut (*target).chroma_location).cast::<i32>().write(chroma);
            set_entries(&mut (*target).metadata, &self.metadata);
            for (number, bytes) in self.side_data {
                let known = picture_sizes()
                    .into_iter()
                    .find(|(kind, size)| *kind as u32 == number && size.contains(&bytes.len()));
                // Side data of timecodes begins with their number, 3 at most.
                let counts = |kind| {
                    kind != ffi::AVFrameSideDataType::AV_FRAME_DATA_S12M_TIMECODE
                        || bytes[0] <= 3 && bytes[1..4] == [0; 3]
                };
                let Some((kind, _)) = known.filter(|(kind, _)| counts(*kind)) else { continue };
                let side = ffi::av_frame_new_side_data(target, kind, bytes.len());
                if side.is_null() {
                    out_of_memory();
                }
                // This metadata does not fit the equalized picture, so only its presence matters. It is set to zeros,
                // because the counts of entries in it cannot be trusted.
                if kind == ffi::AVFrameSideDataType::AV_FRAME_DATA_DYNAMIC_HDR_PLUS {
                    ptr::write_bytes((*side).data, 0, bytes.len());
                } else {
                    ptr::copy_nonoverlapping(bytes.as_ptr(), (*side).data, bytes.len());
                }
            }
        }
        Ok(picture)
    }
}
