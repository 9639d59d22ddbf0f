//! Converts the packets of a stream of audio or text subtitles to another codec.
#![allow(unsafe_code, reason = "FFI")]

use super::sound::SoundTranscoder;
use super::subtitle::SubtitleTranscoder;
use crate::ffmpeg::demux::Stream;
use crate::ffmpeg::demux::media::CodecParameters;
use crate::ffmpeg::{Error, MediaType, Packet, check};
use anyhow::Result;
use ffmpeg_next::codec::Context;
use ffmpeg_next::{ffi, frame};
use serde::{Deserialize, Serialize};

/// The target of a conversion: an encoder, and the limits of the container.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct TranscodeTo {
    /// FFmpeg's encoder, such as `aac`.
    pub encoder: String,
    /// Whether the codec's header belongs in the container's header.
    pub has_global_header: bool,
    /// The sample rates that the container accepts, in Hz; empty if it accepts any.
    pub rates: Vec<u32>,
    /// The fewest and the most channels that the container accepts; `None` if it accepts any number.
    pub channels: Option<(i32, i32)>,
}

/// The number of audio channels, and their positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Channels {
    pub(crate) count: i32,
    /// FFmpeg's bit mask of the channels' positions; 0 if they are unknown.
    pub(crate) places: u64,
}

/// Front left, front right and front centre.
const SURROUND: Channels = Channels { count: 3, places: 0b111 };

/// The most channels of a mix: players support up to 7.1.
const MAX_MIXED: i32 = 8;

impl Channels {
    fn from_layout(layout: &ffi::AVChannelLayout) -> Self {
        let is_known = layout.order == ffi::AVChannelOrder::AV_CHANNEL_ORDER_NATIVE;
        // SAFETY: in this order, the union holds the bits.
        let places = if is_known { unsafe { layout.u.mask } } else { 0 };
        Channels { count: layout.nb_channels, places }
    }

    /// The channels of a decoder or an encoder.
    pub(crate) fn from_codec(context: &Context) -> Self {
        // SAFETY: the context is valid.
        Channels::from_layout(unsafe { &(*context.as_ptr()).ch_layout })
    }

    /// The channels of decoded sound.
    pub(crate) fn from_frame(sound: &frame::Audio) -> Self {
        // SAFETY: the frame is valid.
        Channels::from_layout(unsafe { &(*sound.as_ptr()).ch_layout })
    }

    /// Sets the channels of an encoder that is not open yet.
    pub(crate) fn give(self, context: &mut Context) {
        // SAFETY: the context is valid, and its layout is replaced as a whole.
        unsafe {
            let layout = &raw mut (*context.as_mut_ptr()).ch_layout;
            ffi::av_channel_layout_uninit(layout);
            if self.places == 0 || ffi::av_channel_layout_from_mask(layout, self.places) < 0 {
                (*layout).order = ffi::AVChannelOrder::AV_CHANNEL_ORDER_UNSPEC;
                (*layout).nb_channels = self.count;
            }
        }
    }

    /// The positions in the syntax of FFmpeg's filters, if they are known.
    pub(crate) fn layout(self) -> Option<String> {
        (self.places != 0).then(|| format!("0x{:x}", self.places))
    }

    /// FFmpeg's default layout for this number of channels, except for 3.
    fn usual(count: i32) -> Self {
        if count == SURROUND.count {
            // FFmpeg's third channel would be a subwoofer, of which encoders keep only the lowest frequencies.
            return SURROUND;
        }
        // SAFETY: a layout of zeros is valid, and FFmpeg gives it no memory of its own.
        unsafe {
            let mut layout = std::mem::zeroed();
            ffi::av_channel_layout_default(&mut layout, count);
            Channels::from_layout(&layout)
        }
    }

    /// All layouts that FFmpeg has a name for.
    fn named() -> Vec<Self> {
        let mut state = std::ptr::null_mut();
        // SAFETY: `state` starts as null, and is passed to each call; the results are constants, and null at the end.
        let next = || unsafe { ffi::av_channel_layout_standard(&mut state).as_ref() };
        std::iter::from_fn(next).map(Channels::from_layout).collect()
    }

    /// The bit mask of positions, in which side channels count as back channels, and a stereo downmix as front
    /// channels, unless both pairs exist: files use either name for the same sound.
    fn merged(self) -> u64 {
        use ffi::AVChannel::{
            AV_CHAN_BACK_LEFT, AV_CHAN_BACK_RIGHT, AV_CHAN_FRONT_LEFT, AV_CHAN_FRONT_RIGHT, AV_CHAN_SIDE_LEFT,
            AV_CHAN_SIDE_RIGHT, AV_CHAN_STEREO_LEFT, AV_CHAN_STEREO_RIGHT,
        };
        let pairs = [
            ([AV_CHAN_SIDE_LEFT, AV_CHAN_SIDE_RIGHT], [AV_CHAN_BACK_LEFT, AV_CHAN_BACK_RIGHT]),
            ([AV_CHAN_STEREO_LEFT, AV_CHAN_STEREO_RIGHT], [AV_CHAN_FRONT_LEFT, AV_CHAN_FRONT_RIGHT]),
        ];
        let bits = |pair: [ffi::AVChannel; 2]| pair.into_iter().map(|place| 1_u64 << place as u32).sum::<u64>();
        pairs.into_iter().fold(self.places, |places, (source, target)| {
            let is_alone = places & bits(source) != 0 && places & bits(target) == 0;
            if is_alone { places & !bits(source) | bits(target) } else { places }
        })
    }

    /// Whether this layout has a position for each of the `other` channels. If the positions of `other` are unknown,
    /// the numbers of channels have to be equal.
    fn holds(self, other: Self) -> bool {
        match other.places {
            0 => self.count == other.count,
            _ => other.merged() & !self.merged() == 0,
        }
    }

    /// Layouts to try with an encoder, best first: as many channels; more, of which the additional ones are silent;
    /// fewer, into which these are mixed.
    pub(crate) fn candidates(self) -> Vec<Self> {
        if self.count < 1 {
            return vec![Channels::usual(2)];
        }
        // Few players know other layouts than the usual ones.
        let usual = [Channels::usual(self.count), self].into_iter().filter(|layout| layout.holds(self));
        let both_sides = (self.count == 1).then(|| Channels::usual(2));
        let mut wider = Channels::named();
        wider.retain(|layout| layout.holds(self));
        wider.sort_by_key(|layout| layout.count);
        let fewer = (1..self.count.min(MAX_MIXED + 1)).rev().map(Channels::usual);
        usual.chain(both_sides).chain(wider).chain(fewer).collect()
    }
}

/// A decoder and an encoder.
pub enum Transcoder {
    /// Converts audio.
    Sound(Box<SoundTranscoder>),
    /// Converts text subtitles.
    Subtitles(SubtitleTranscoder),
}

impl Transcoder {
    /// Opens a decoder for `stream`, which is audio or text subtitles, and an encoder.
    ///
    /// # Errors
    /// When this FFmpeg lacks one of them, or the encoder accepts no such sound.
    pub fn open(stream: &Stream, target: &TranscodeTo) -> Result<Self> {
        if stream.kind == MediaType::Audio {
            Ok(Transcoder::Sound(Box::new(SoundTranscoder::open(stream, target)?)))
        } else {
            Ok(Transcoder::Subtitles(SubtitleTranscoder::open(stream, &target.encoder)?))
        }
    }

    /// The stream that `original` becomes.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn output(&self, original: &Stream) -> Result<Stream, Error> {
        let (encoder, time_base) = match self {
            // SAFETY: the pointer is read, not what it points to.
            Transcoder::Sound(sound) => (unsafe { sound.encoder.as_ptr() }, sound.time_base()),
            Transcoder::Subtitles(subtitles) => (subtitles.encoder.cast_const(), original.time_base),
        };
        let mut parameters = CodecParameters::new();
        // SAFETY: both are valid, and the encoder is open.
        let codec = unsafe {
            check(ffi::avcodec_parameters_from_context(parameters.as_mut_ptr(), encoder))?;
            crate::ffmpeg::text(ffi::avcodec_get_name((*parameters.as_ptr()).codec_id))
        };
        Ok(original.converted(codec, parameters, time_base))
    }

    /// Converts a packet; `None` means the end of the stream. Returns the packets that are complete, and an error if
    /// this one could not be decoded; the next one may be sent.
    pub fn send(&mut self, packet: Option<&Packet>) -> (Vec<Packet>, Result<(), Error>) {
        match (self, packet) {
            (Transcoder::Sound(sound), packet) => {
                let sent = sound.send(packet);
                (std::iter::from_fn(|| sound.receive()).collect(), sent)
            }
            (Transcoder::Subtitles(_), None) => (Vec::new(), Ok(())),
            (Transcoder::Subtitles(subtitles), Some(packet)) => match subtitles.run(packet) {
                Ok(converted) => (converted.into_iter().collect(), Ok(())),
                Err(error) => (Vec::new(), Err(error)),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_channel_is_mixed_that_has_a_place_of_its_own() {
        let places = |layouts: Vec<Channels>| layouts.into_iter().map(|layout| layout.places).collect::<Vec<_>>();
        let (side, back, seven) = (0x60f, 0x3f, 0x63f);
        let of_5_1 = places(Channels { count: 6, places: side }.candidates());
        assert_eq!(of_5_1[..2], [back, side], "5.1 is called by its usual name first");
        assert!(of_5_1.contains(&seven), "7.1 has room for it");
        // Stereo with a subwoofer: 3.0 has no position for the subwoofer, 5.1 has.
        let with_subwoofer = Channels { count: 3, places: 0b1011 };
        assert!(!SURROUND.holds(with_subwoofer) && Channels { count: 6, places: back }.holds(with_subwoofer));
        assert_eq!(with_subwoofer.candidates()[0], with_subwoofer);
        // 7.1 has both back and side channels, so neither pair counts as the other.
        assert!(!Channels { count: 6, places: back }.holds(Channels { count: 8, places: seven }));
    }

    #[test]
    fn channels_without_places_become_as_many_or_fewer() {
        let unknown = Channels { count: 12, places: 0 };
        let candidates = unknown.candidates();
        assert_eq!(candidates[0].count, 12);
        let fewer: Vec<i32> = candidates.iter().map(|layout| layout.count).filter(|&count| count < 12).collect();
        assert_eq!(fewer, [8, 7, 6, 5, 4, 3, 2, 1]);
        assert_eq!(Channels { count: 3, places: 0 }.candidates()[0], SURROUND);
        assert_eq!(Channels { count: 0, places: 0 }.candidates(), [Channels { count: 2, places: 3 }]);
    }
}
