//! Converts the packets of a stream of audio or text subtitles to another codec.
#![allow(unsafe_code, reason = "FFI")]

use super::media::CodecParameters;
use super::sound::SoundTranscoder;
use super::subtitle::SubtitleTranscoder;
use super::{Error, MediaType, Packet, Stream, check};
use ffmpeg_next::ffi;
use serde::{Deserialize, Serialize};

/// What a stream is converted to.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct TranscodeTo {
    /// FFmpeg's encoder, such as `aac`.
    pub encoder: String,
    /// Whether the codec's header belongs in the container's header.
    pub has_global_header: bool,
}

/// A decoder and an encoder.
pub enum Transcoder {
    /// Of audio.
    Sound(Box<SoundTranscoder>),
    /// Of text subtitles.
    Subtitles(SubtitleTranscoder),
}

impl Transcoder {
    /// Opens a decoder for `stream`, which is audio or text subtitles, and an encoder.
    ///
    /// # Errors
    /// When this FFmpeg lacks one of them.
    pub fn open(stream: &Stream, to: &TranscodeTo) -> Result<Self, Error> {
        if stream.kind == MediaType::Audio {
            let sound = SoundTranscoder::open(stream, &to.encoder, to.has_global_header)?;
            Ok(Transcoder::Sound(Box::new(sound)))
        } else {
            SubtitleTranscoder::open(stream, &to.encoder).map(Transcoder::Subtitles)
        }
    }

    /// What `original` becomes.
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
            super::text(ffi::avcodec_get_name((*parameters.as_ptr()).codec_id))
        };
        Ok(original.converted(codec, parameters, time_base))
    }

    /// Converts a packet; `None` is the end. Returns the packets that are complete, and an error if this one could not
    /// be decoded; the next one may be sent.
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
