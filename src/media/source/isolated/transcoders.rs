//! Transcoders of an input's other streams, in a decoding process of their own: decoders of sound and subtitles are C
//! code that reads untrusted bytes, too.

use super::beginning::{attacked, begin_process};
use super::channel::Channel;
use super::messages::{Event, MayFail, Order, What};
use super::source::{PACKET_BYTES, most_time};
use super::waits::{Lost, Patience, next_event, send};
use super::zygote::Process;
use crate::ffmpeg::demux::{Lie, Stream, WirePacket, WireStream};
use crate::ffmpeg::encode::TranscodeTo;
use crate::ffmpeg::{Packet, microseconds, rescale};
use crate::pipeline::{Cancel, InProcess, Notices, OpenTranscoders, Opened, Transcoded, Transcoders};
use crate::source::options::Isolation;
use crate::sys::without_middle;
use anyhow::{Result, bail};
use histeq::Limits;

/// How often transcoders that have crashed are opened again: one harmful packet should not end the sound of a long run.
const MAX_RESTARTS: u32 = 100;

/// Opens transcoders in a process of their own.
#[derive(Clone)]
pub struct InOwnProcess {
    /// The name of the input.
    pub name: String,
    pub isolation: Isolation,
    pub limits: Limits,
    pub cancel: Cancel,
}

/// Transcoders in another process.
pub(super) struct Remote {
    parent: InOwnProcess,
    wanted: Vec<(Stream, TranscodeTo)>,
    notices: Notices,
    /// The converted streams.
    outputs: Vec<Result<Stream, String>>,
    /// `None` once the process is lost.
    process: Option<Process>,
    restarts: u32,
}

impl OpenTranscoders for InOwnProcess {
    fn open(&self, wanted: &[(Stream, TranscodeTo)], notices: &Notices) -> Result<Opened> {
        let remote = Remote::new(self.clone(), None, wanted.to_vec(), notices.clone())?;
        let outputs = remote.outputs.clone();
        Ok((Box::new(remote), outputs))
    }
}

impl Remote {
    /// Opens transcoders in `process`, or in a new one.
    ///
    /// # Errors
    /// When there is no such process, or it does not open them.
    pub(super) fn new(
        parent: InOwnProcess,
        process: Option<Process>,
        wanted: Vec<(Stream, TranscodeTo)>,
        notices: Notices,
    ) -> Result<Self> {
        let process = process.map_or_else(|| begin(&parent, &wanted, &notices), Ok)?;
        let mut remote = Remote { parent, wanted, notices, outputs: Vec::new(), process: Some(process), restarts: 0 };
        match remote.hear() {
            Ok(Event::Transcoders(outputs)) => remote.outputs = remote.checked(outputs)?,
            Ok(Event::Failed(error)) => return Err(error.checked(&remote.parent.name, MayFail::default())),
            Ok(_) => return Err(attacked(&remote.parent.name, &Lie("an order"))),
            Err(lost) => {
                let why = remote.process.as_mut().map(|process| lost.describe(process)).unwrap_or_default();
                bail!("{}: {why} while its sound and subtitles were opened", remote.parent.name);
            }
        }
        Ok(remote)
    }

    /// The converted streams as the process describes them, if that is possible.
    fn checked(&self, outputs: Vec<Result<WireStream, String>>) -> Result<Vec<Result<Stream, String>>> {
        let wrong = |lie: Lie| attacked(&self.parent.name, &lie);
        if outputs.len() != self.wanted.len() {
            return Err(wrong(Lie("streams")));
        }
        let each = outputs.into_iter().zip(&self.wanted).map(|(output, (original, _))| match output {
            Ok(output) => match output.checked(original.index) {
                Ok(made) if made.kind == original.kind => {
                    Ok(Ok(original.converted(made.codec, made.parameters, made.time_base)))
                }
                Ok(_) => Err(Lie("a stream")),
                Err(lie) => Err(lie),
            },
            Err(why) => Ok(Err(without_middle(&why).into_owned())),
        });
        each.collect::<Result<_, _>>().map_err(wrong)
    }

    /// The next answer.
    fn hear(&mut self) -> Result<Event, Lost> {
        let InOwnProcess { name, cancel, .. } = &self.parent;
        let Some(process) = &mut self.process else { return Err(Lost::Gone) };
        loop {
            match next_event(process, cancel, Patience::for_answers(), PACKET_BYTES)? {
                Event::Message(level, text) => {
                    process.print(name, &self.notices, level, &text).map_err(|_| Lost::Garbled)?;
                }
                event => return Ok(event),
            }
        }
    }

    /// Handles the loss of the process, and of the packet that it was sent last.
    fn lost(&mut self, stream: &str, place: &str, lost: &Lost) -> Result<()> {
        let Some(mut process) = self.process.take() else { return Ok(()) };
        let why = lost.describe(&mut process);
        drop(process);
        let again = matches!(lost, Lost::Gone) && self.restarts < MAX_RESTARTS;
        self.restarts += 1;
        if again {
            let begun = Remote::new(self.parent.clone(), None, self.wanted.clone(), self.notices.clone());
            self.process = begun.ok().and_then(|remote| remote.process);
        }
        let what = match self.process {
            Some(_) => "a part of it is missing",
            None => "nothing of what is converted comes after it",
        };
        let message = format!("{}: {stream}: {why}{place}: {what}", self.parent.name);
        // With --strict, each loss is an error; without, report the first and the last.
        if self.restarts == 1 || self.process.is_none() || self.notices.is_strict() {
            return self.notices.warn_of_damage(&message);
        }
        self.notices.detail(&message);
        Ok(())
    }
}

impl Transcoders for Remote {
    fn send(&mut self, place: usize, packet: Option<&Packet>) -> Result<Transcoded> {
        let (Some(process), Some(Ok(output))) = (&mut self.process, self.outputs.get(place)) else {
            return Ok(Transcoded::default());
        };
        let most = most_time(output.time_base);
        let order = Order::Transcode(place as u32, packet.map(WirePacket::new));
        let answer = match send(process, &order, &[], &self.parent.cancel, Patience::for_answers()) {
            // If the process is gone, waiting for its answer fails, too.
            Ok(()) | Err(Lost::Gone) => self.hear(),
            Err(lost) => Err(lost),
        };
        let lost = match answer {
            Ok(Event::Transcoded(packets, error)) => {
                self.process.iter_mut().for_each(|process| process.messages = 0);
                let checked = packets.into_iter().map(|packet| packet.checked(1)).collect::<Result<Vec<_>, Lie>>();
                match checked {
                    Ok(mut packets) => {
                        packets.iter_mut().for_each(|packet| packet.clamp(most));
                        return Ok(Transcoded {
                            packets,
                            error: error.map(|error| without_middle(&error).into_owned()),
                        });
                    }
                    Err(_) => Lost::Garbled,
                }
            }
            Ok(_) => Lost::Garbled,
            Err(lost) => lost,
        };
        let stream = &self.wanted[place].0;
        let time =
            packet.and_then(Packet::time).map(|time| rescale(time, stream.time_base, microseconds()) as f64 / 1e6);
        let when = time.map(|seconds| format!(" at {seconds:.3} s")).unwrap_or_default();
        let stream = stream.describe();
        self.lost(&stream, &when, &lost)?;
        Ok(Transcoded::default())
    }
}

fn begin(parent: &InOwnProcess, wanted: &[(Stream, TranscodeTo)], notices: &Notices) -> Result<Process> {
    let streams = wanted.iter().map(|(stream, target)| (WireStream::new(stream), target.clone())).collect();
    let confines = (parent.isolation, &parent.limits);
    begin_process(What::Transcoders(streams), &[], false, confines, &parent.name, (&parent.cancel, notices))
}

/// Runs in the other process: converts the packets that are sent to it, until the connection is gone.
pub(super) fn serve(wanted: Vec<(WireStream, TranscodeTo)>, channel: &Channel) {
    // The program has checked the streams.
    let wanted =
        wanted.into_iter().map(|(stream, target)| Ok((stream.checked(0)?, target))).collect::<Result<Vec<_>, Lie>>();
    let Ok(Ok((mut open, outputs))) = wanted.map(|wanted| InProcess.open(&wanted, &Notices::silent())) else { return };
    let outputs = outputs.into_iter().map(|output| output.map(|stream| WireStream::new(&stream))).collect();
    if channel.send(&Event::Transcoders(outputs), &[]).is_err() {
        return;
    }
    while let Ok((order, _)) = channel.receive::<Order>() {
        let Order::Transcode(place, packet) = order else { continue };
        let packet = packet.map(|packet| packet.checked(usize::MAX));
        let Ok(packet) = packet.transpose() else { return };
        let Ok(Transcoded { packets, error }) = open.send(place as usize, packet.as_ref()) else { return };
        let packets = packets.iter().map(WirePacket::new).collect();
        if channel.send(&Event::Transcoded(packets, error), &[]).is_err() {
            return;
        }
    }
}
