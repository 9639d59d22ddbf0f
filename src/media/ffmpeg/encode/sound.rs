//! Re-encodes audio: for a container that cannot hold its codec, or to fill gaps between its packets.

use super::TranscodeTo;
use super::transcoder::Channels;
use crate::ffmpeg::demux::Stream;
use crate::ffmpeg::{Error, Packet, Rational};
use anyhow::{Result, bail};
use ffmpeg_next::codec::{self, Context, Flags, decoder, encoder};
use ffmpeg_next::format::Sample;
use ffmpeg_next::format::sample::Type;
use ffmpeg_next::{Codec, Dictionary, Frame, filter, frame};
use std::collections::VecDeque;

/// Bit rate for each channel, in bits a second.
const BIT_RATE: usize = 96_000;

/// The filter that aligns audio with the packets' timestamps: it fills gaps with silence, and stretches audio by up to
/// 1000 samples a second.
const ASYNC_RESAMPLE: &str = "aresample=async=1000";

/// A decoder, a resampler and an encoder of audio.
pub struct SoundTranscoder {
    decoder: decoder::Audio,
    resampler: Option<Resampler>,
    pub(crate) encoder: encoder::Audio,
    encoded: VecDeque<Packet>,
    /// Unit of the times of input packets, in seconds.
    time_base: Rational,
    flushed: bool,
}

/// Converts decoded audio to the encoder's sample rate, format, channels and frame size.
struct Resampler {
    graph: filter::Graph,
    /// Rate, sample format and channels of the input.
    source: (u32, Sample, Channels),
}

impl SoundTranscoder {
    /// Opens a decoder for `stream` and an encoder, with channels that the encoder accepts, if possible without mixing
    /// channels.
    ///
    /// # Errors
    /// When this FFmpeg lacks the decoder or the encoder, or the channels cannot be converted to any that the encoder
    /// accepts.
    pub fn open(stream: &Stream, target: &TranscodeTo) -> Result<Self> {
        crate::ffmpeg::init();
        let mut decoder = Context::from_parameters(stream.parameters.clone())?.decoder();
        decoder.set_packet_time_base(stream.time_base);
        let decoder = decoder.audio()?;
        let codec = ffmpeg_next::encoder::find_by_name(&target.encoder).ok_or(Error::EncoderNotFound)?;
        let rate = nearest_rate(&codec.audio()?, &target.rates, decoder.rate());
        let channels = Channels::from_codec(&decoder);
        // Some decoders know the sample format only with the first packet.
        let format = match decoder.format() {
            Sample::None => Sample::F32(Type::Planar),
            format => format,
        };
        let source = (decoder.rate(), format, channels);
        let is_known = decoder.rate() > 0 && channels.count > 0;
        let takes =
            |layout: &Channels| target.channels.is_none_or(|(least, most)| (least..=most).contains(&layout.count));
        let encoder = channels.candidates().into_iter().filter(takes).find_map(|asked| {
            let encoder = open_encoder(codec, target.has_global_header, rate, asked).ok()?;
            // A layout that needs mixing is rejected if libavfilter cannot mix, as for many channels of unknown
            // positions.
            let suits = !is_known || Resampler::new(source, stream.time_base, &encoder).is_ok();
            suits.then_some(encoder)
        });
        let Some(encoder) = encoder else {
            bail!("it takes no {} channels of {rate} Hz, and they cannot be mixed into fewer", channels.count)
        };
        Ok(SoundTranscoder {
            decoder,
            resampler: None,
            encoder,
            encoded: VecDeque::new(),
            time_base: stream.time_base,
            flushed: false,
        })
    }

    /// Unit of the times of output packets, in seconds.
    pub fn time_base(&self) -> Rational {
        Rational::new(1, self.encoder.rate() as i32)
    }

    /// Sends a packet, or `None` at the end.
    ///
    /// # Errors
    /// When the packet is invalid; the next one may be sent.
    pub fn send(&mut self, packet: Option<&Packet>) -> Result<(), Error> {
        match packet {
            Some(packet) => self.decoder.send_packet(packet)?,
            None => self.decoder.send_eof()?,
        }
        let mut sound = frame::Audio::empty();
        while self.decoder.receive_frame(&mut sound).is_ok() {
            let time = sound.timestamp();
            sound.set_pts(time);
            self.resampler_for(&sound)?.push(&sound)?;
            self.encode()?;
        }
        if packet.is_none() && !std::mem::replace(&mut self.flushed, true) {
            if let Some(resampler) = &mut self.resampler {
                resampler.finish()?;
                self.encode()?;
            }
            self.encoder.send_eof()?;
            self.drain()?;
        }
        Ok(())
    }

    /// Receives the next packet; `None` when more input is needed, or at the end.
    pub fn receive(&mut self) -> Option<Packet> {
        self.encoded.pop_front()
    }

    fn resampler_for(&mut self, sound: &frame::Audio) -> Result<&mut Resampler, Error> {
        let source = (sound.rate(), sound.format(), Channels::from_frame(sound));
        let found = self.resampler.take().filter(|resampler| resampler.source == source);
        let resampler = match found {
            Some(resampler) => resampler,
            None => Resampler::new(source, self.time_base, &self.encoder)?,
        };
        Ok(self.resampler.insert(resampler))
    }

    fn encode(&mut self) -> Result<(), Error> {
        while let Some(sound) = self.resampler.as_mut().and_then(Resampler::pull) {
            self.encoder.send_frame(&sound)?;
            self.drain()?;
        }
        Ok(())
    }

    /// Collects the encoder's packets, so that it accepts more audio.
    fn drain(&mut self) -> Result<(), Error> {
        loop {
            let mut packet = Packet::new();
            match self.encoder.receive_packet(&mut packet) {
                Ok(()) => self.encoded.push_back(packet),
                Err(Error::Eof | Error::Other { errno: libc::EAGAIN }) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }
}

impl Resampler {
    fn new(
        origin @ (rate, format, channels): (u32, Sample, Channels),
        time_base: Rational,
        destination: &encoder::Audio,
    ) -> Result<Self, Error> {
        let mut graph = filter::Graph::new();
        let encoded = Channels::from_codec(destination);
        // Channels of unknown positions get the positions of the encoder's channels, in order, if there are as many.
        let known = if channels.places == 0 && channels.count == encoded.count { encoded } else { channels };
        let layout = known.layout().map(|layout| format!("channel_layout={layout}"));
        let layout = layout.unwrap_or_else(|| format!("channels={}", known.count));
        let source = format!("time_base={time_base}:sample_rate={rate}:sample_fmt={}:{layout}", format.name());
        let (find, missing) = (|name: &str| filter::find(name), Error::FilterNotFound);
        graph.add(&find("abuffer").ok_or(missing)?, "in", &source)?;
        let layouts = encoded.layout().map(|layout| format!(":channel_layouts={layout}")).unwrap_or_default();
        let takes = if layouts.is_empty() { "all_channel_counts=1" } else { "" };
        graph.add(&find("abuffersink").ok_or(missing)?, "out", takes)?;
        let (format, rate) = (destination.format().name(), destination.rate());
        let chain = format!("{ASYNC_RESAMPLE},aformat=sample_fmts={format}:sample_rates={rate}{layouts}");
        graph.output("in", 0)?.input("out", 0)?.parse(&chain)?;
        graph.validate()?;
        let samples = destination.frame_size();
        if let Some(mut out) = graph.get("out").filter(|_| samples > 0) {
            out.sink().set_frame_size(samples);
        }
        Ok(Resampler { graph, source: origin })
    }

    fn push(&mut self, sound: &Frame) -> Result<(), Error> {
        self.graph.get("in").ok_or(Error::FilterNotFound)?.source().add(sound)
    }

    fn finish(&mut self) -> Result<(), Error> {
        self.graph.get("in").ok_or(Error::FilterNotFound)?.source().flush()
    }

    /// The next block of resampled audio; `None` when more input is needed.
    fn pull(&mut self) -> Option<frame::Audio> {
        let mut sound = frame::Audio::empty();
        self.graph.get("out")?.sink().frame(&mut sound).ok()?;
        Some(sound)
    }
}

fn open_encoder(codec: Codec, global_header: bool, rate: u32, channels: Channels) -> Result<encoder::Audio, Error> {
    let mut context = Context::new_with_codec(codec);
    if global_header {
        context.set_flags(Flags::GLOBAL_HEADER);
    }
    let format = codec.audio()?.formats().and_then(|mut formats| formats.next()).ok_or(Error::EncoderNotFound)?;
    let mut encoder = context.encoder().audio()?;
    encoder.set_rate(rate as i32);
    channels.give(&mut encoder);
    encoder.set_format(format);
    encoder.set_bit_rate(BIT_RATE * channels.count as usize);
    encoder.set_time_base(Rational::new(1, rate as i32));
    encoder.open_as_with(codec, Dictionary::new())
}

/// The sample rate nearest to `rate` that both the encoder and the container accept. An encoder without a list accepts
/// any rate, as does a container if `of_container` is empty.
fn nearest_rate(codec: &codec::Audio, of_container: &[u32], rate: u32) -> u32 {
    let known = codec.rates().into_iter().flatten().filter_map(|known| u32::try_from(known).ok());
    let mut known: Vec<u32> = known.collect();
    if known.is_empty() {
        known.extend(of_container);
    }
    known.retain(|known| of_container.is_empty() || of_container.contains(known));
    known.into_iter().min_by_key(|known| known.abs_diff(rate)).unwrap_or(rate)
}
