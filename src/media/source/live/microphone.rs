//! Records a microphone of this machine beside a camera: audio packets with their times in the run.

use super::clock::StartTime;
use crate::camera::Microphone;
use crate::ffmpeg::demux::{Demuxer, Interrupt, ReadFrom, Stream};
use crate::ffmpeg::{Error, Packet, Rational, last_message, microseconds, rescale};
use crate::pipeline::{Cancel, Delivery, FailureKind, Notices, Pauses, Source};
use crate::sys::files::Name;
use anyhow::{Result, anyhow, ensure};
use histeq::Limits;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A microphone that sends no data for this long is lost.
const TIMEOUT: Duration = Duration::from_secs(3);

/// A timestamp older than this is not a wall-clock time.
const PLAUSIBLE_AGE: Duration = Duration::from_secs(5);

/// A source of audio from a microphone.
pub struct MicrophoneSource {
    device: Microphone,
    open: Option<Demuxer>,
    /// Its stream in the output.
    stream: Stream,
    /// Unit of the device's timestamps, in seconds.
    time_base: Rational,
    start: StartTime,
    interrupt: Interrupt,
    cancel: Cancel,
    notices: Notices,
}

impl MicrophoneSource {
    /// Opens the microphone. Times count from `start`.
    ///
    /// # Errors
    /// When it does not exist or does not open.
    pub fn open(device: Microphone, start: StartTime, cancel: &Cancel, notices: Notices) -> Result<Self> {
        let interrupt = Interrupt::from(cancel.flag());
        let open = open(&device, &interrupt).map_err(|error| FailureKind::Device.error(device.explain(error)))?;
        let found = &open.media.streams[0];
        let time_base = found.time_base;
        let stream = Stream { time_base: microseconds(), start: None, ..found.clone() };
        Ok(MicrophoneSource {
            device,
            open: Some(open),
            stream,
            time_base,
            start,
            interrupt,
            cancel: cancel.clone(),
            notices,
        })
    }

    /// Appends its stream to the streams of the output.
    pub fn join(&mut self, streams: &mut Vec<Stream>) {
        self.stream.index = streams.len();
        streams.push(self.stream.clone());
    }

    /// When the packet's first sample was recorded, in microseconds since the run's first frame; `None` for before.
    fn time_of(&self, packet: &Packet) -> Option<i64> {
        let start = *self.start.get()?;
        let stamp = u64::try_from(rescale(packet.time()?, self.time_base, microseconds())).ok()?;
        let stamp = UNIX_EPOCH + Duration::from_micros(stamp);
        // ALSA and PulseAudio give wall-clock timestamps. Only their age is used, because the wall clock may be set.
        let age = SystemTime::now().duration_since(stamp).ok().filter(|age| *age < PLAUSIBLE_AGE).unwrap_or_default();
        let recorded = Instant::now().checked_sub(age)?;
        Some(recorded.checked_duration_since(start)?.as_micros() as i64)
    }

    fn wait_for_return(&mut self) -> bool {
        let name = &self.device.name;
        let opened = Pauses::default().until_open(&self.cancel, &self.notices, None, || {
            let open = open(&self.device, &self.interrupt).map_err(|error| anyhow!("{name}: {error}"))?;
            ensure!(open.media.streams[0].sound() == self.stream.sound(), "{name}: back with another rate");
            Ok(open)
        });
        let Some((open, seconds)) = opened else { return false };
        self.notices.back(&format!("{name}: back after {seconds:.1} s"));
        self.time_base = open.media.streams[0].time_base;
        self.open = Some(open);
        true
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
            self.interrupt.set_timeout(TIMEOUT);
            match open.read() {
                Ok(Some(mut packet)) => {
                    // Audio from before the first frame is left out.
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
                        Err(Error::Exit) => format!("no sound for {} s", TIMEOUT.as_secs()),
                        Err(error) => format!("lost ({error})"),
                    };
                    self.open = None;
                    self.notices.waiting(&format!("{}: {reason}; waiting for it to come back", self.device.name));
                }
            }
        }
        Ok(None)
    }
}

fn open(device: &Microphone, interrupt: &Interrupt) -> Result<Demuxer, Error> {
    interrupt.set_timeout(TIMEOUT);
    let demuxer = Demuxer::open(
        &Name::from(&device.url),
        ReadFrom::Url,
        Some(&device.input),
        &[],
        interrupt.clone(),
        &Limits::default(),
    )?;
    last_message();
    if demuxer.media.streams.is_empty() { Err(Error::StreamNotFound) } else { Ok(demuxer) }
}
