//! A microphone of this machine beside a camera: its packets of sound, at their times in the run.

use super::clock::Beginning;
use crate::camera::Microphone as Device;
use crate::ffmpeg::{Demuxer, Error, Interrupt, Packet, Rational, Stream, last_message, microseconds, rescale};
use crate::pipeline::{Cancel, Delivery, Notices, Pauses, Source};
use anyhow::{Result, anyhow};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A microphone that sends nothing for this long is gone.
const SILENCE: Duration = Duration::from_secs(3);

/// Stamps that lie further back than this are no times of the day.
const PLAUSIBLE: Duration = Duration::from_secs(5);

/// A microphone that is being recorded.
pub struct MicrophoneSource {
    device: Device,
    open: Option<Demuxer>,
    /// What it is in the output.
    stream: Stream,
    time_base: Rational,
    begin: Beginning,
    interrupt: Interrupt,
    cancel: Cancel,
    notices: Notices,
}

impl MicrophoneSource {
    /// Opens the microphone, whose times count from `begin`.
    ///
    /// # Errors
    /// When there is none, or it does not open.
    pub fn open(device: Device, begin: Beginning, cancel: &Cancel, notices: Notices) -> Result<Self> {
        let interrupt = Interrupt::from(cancel.flag());
        let open = open(&device, &interrupt).map_err(|error| anyhow!("{}", device.explain(error)))?;
        let found = &open.media().streams[0];
        let time_base = found.time_base;
        let stream = Stream { time_base: microseconds(), start: None, ..found.clone() };
        Ok(MicrophoneSource {
            device,
            open: Some(open),
            stream,
            time_base,
            begin,
            interrupt,
            cancel: cancel.clone(),
            notices,
        })
    }

    /// Makes it the last of the streams of the output.
    pub fn join(&mut self, streams: &mut Vec<Stream>) {
        self.stream.index = streams.len();
        streams.push(self.stream.clone());
    }

    /// When the packet's first sample was heard, in microseconds since the run's first picture.
    fn time_of(&self, packet: &Packet) -> Option<i64> {
        let begin = *self.begin.get()?;
        let stamp = u64::try_from(rescale(packet.time()?, self.time_base, microseconds())).ok()?;
        let stamp = UNIX_EPOCH + Duration::from_micros(stamp);
        // ALSA and PulseAudio stamp packets with the time of day. The age in it is what counts: the day's clock may be set.
        let age = SystemTime::now().duration_since(stamp).ok().filter(|age| *age < PLAUSIBLE).unwrap_or_default();
        let heard = Instant::now().checked_sub(age)?;
        Some(heard.checked_duration_since(begin)?.as_micros() as i64)
    }

    fn wait_for_return(&mut self) -> bool {
        let gone = Instant::now();
        let mut pauses = Pauses::default();
        while pauses.wait(&self.cancel) {
            match open(&self.device, &self.interrupt) {
                Ok(open) if open.media().streams[0].sound() == self.stream.sound() => {
                    self.time_base = open.media().streams[0].time_base;
                    self.open = Some(open);
                    self.notices.note(&format!(
                        "{}: back after {:.1} s",
                        self.device.name,
                        gone.elapsed().as_secs_f64()
                    ));
                    return true;
                }
                Ok(_) => self.notices.detail(&format!("{}: back with another rate", self.device.name)),
                Err(error) => self.notices.detail(&format!("{}: {error}", self.device.name)),
            }
        }
        false
    }
}

impl Source for MicrophoneSource {
    fn next(&mut self) -> Result<Option<Delivery>> {
        while !self.cancel.is_cancelled() {
            let Some(open) = &mut self.open else {
                if !self.wait_for_return() {
                    break;
                }
                continue;
            };
            self.interrupt.set_timeout(SILENCE);
            match open.read() {
                Ok(Some(mut packet)) => {
                    // What was heard before the first picture is left out.
                    let Some((time, stamp)) = self.time_of(&packet).zip(packet.time()) else { continue };
                    packet.rescale(self.time_base, microseconds());
                    packet.shift(time - rescale(stamp, self.time_base, microseconds()));
                    packet.set_stream(self.stream.index);
                    return Ok(Some(Delivery { packets: vec![packet], ..Delivery::default() }));
                }
                _ if self.cancel.is_cancelled() => break,
                lost => {
                    let reason = match lost {
                        Ok(_) => "the stream has ended".to_owned(),
                        Err(Error::Exit) => format!("no sound for {} s", SILENCE.as_secs()),
                        Err(error) => format!("lost ({error})"),
                    };
                    self.open = None;
                    self.notices.note(&format!("{}: {reason}; waiting for it to come back", self.device.name));
                }
            }
        }
        Ok(None)
    }
}

fn open(device: &Device, interrupt: &Interrupt) -> Result<Demuxer, Error> {
    interrupt.set_timeout(SILENCE);
    let demuxer = Demuxer::open(&device.url, None, Some(&device.input), &[], interrupt.clone())?;
    last_message();
    if demuxer.media().streams.is_empty() { Err(Error::StreamNotFound) } else { Ok(demuxer) }
}
