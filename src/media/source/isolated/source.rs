//! The source of the program for an input that another process decodes.

use super::channel::MAX_BYTES;
use super::memory::frames::FramePool;
use super::memory::shared_memory::SharedBlocks;
use super::messages::{Event, MAX_BELIEVED, Order, WireDelivery};
use super::said::counted;
use super::waits::{Lost, Patience, next_event, send};
use super::zygote::Process;
use crate::ffmpeg::demux::Lie;
use crate::ffmpeg::{Packet, Rational, microseconds, rescale};
use crate::pipeline::{Cancel, Delivery, FailureKind, Input, Level, Notices, PartPosition, Progress, Source};
use crate::source::isolated::beginning::{IsolatedSource, MAY_FAIL_LIVE, OpensAgain, OpensLive, attacked, begin_live};
use crate::source::live::reader::ends_at;
use crate::source::packets::PacketSurvey;
use anyhow::{Context, Result, ensure};
use histeq::internal::frame::{Pool, host_room};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

/// The most messages without a frame or a packet in between, and the most bytes of a line on the process's stderr.
const MAX_MESSAGES: u32 = 100_000;
/// Numbers of frames from here on are placeholders.
const MAX_COUNTED: u64 = 1 << 30;

/// The most bytes of packets in a delivery.
pub(super) const PACKET_BYTES: usize = 64 << 20;

impl Process {
    /// Passes on a message of the process about the input `name`.
    ///
    /// # Errors
    /// When it has sent more messages than any input causes.
    pub(super) fn print(&mut self, name: &str, notices: &Notices, level: Level, text: &str) -> Result<()> {
        self.counts(name)?;
        counted(name, text, level == Level::Detail).into_iter().for_each(|text| notices.print(level, &text));
        Ok(())
    }

    /// Counts a message without a frame or a packet.
    pub(super) fn counts(&mut self, name: &str) -> Result<()> {
        self.messages += 1;
        if self.messages > MAX_MESSAGES { Err(attacked(name, &Lie("so much"))) } else { Ok(()) }
    }
}

/// Checks that sums of the survey's times cannot overflow.
fn check_survey(survey: &PacketSurvey) -> Result<(), Lie> {
    let starts = survey.chunks.iter().filter_map(|chunk| chunk.start);
    let is_sane = survey.times.iter().copied().chain(starts).all(|time| time.unsigned_abs() <= MAX_BELIEVED);
    if is_sane { Ok(()) } else { Err(Lie("a time")) }
}

/// The largest time, in units of `base`, whose sums overflow neither in this unit nor in microseconds.
pub(super) fn most_time(base: Rational) -> i64 {
    let most =
        i128::from(MAX_BELIEVED) * i128::from(base.denominator()) / (i128::from(base.numerator().max(1)) * 1_000_000);
    most.clamp(1, i128::from(MAX_BELIEVED)) as i64
}

impl IsolatedSource {
    pub(super) fn new(
        opens: OpensAgain,
        (process, blocks): (Process, SharedBlocks),
        input: Input,
        cancel: &Cancel,
        notices: Notices,
        progress: Arc<Progress>,
    ) -> Self {
        let room = host_room(&input.limits);
        let mut source = IsolatedSource {
            opens,
            process: Some(process),
            blocks,
            pool: FramePool::new(&input.limits),
            input,
            survey: None,
            needs_all: false,
            cancel: cancel.clone(),
            notices,
            progress,
            waits: true,
            may_fail: MAY_FAIL_LIVE,
            is_whole: false,
            not_ordered: None,
            copied: 0,
            before: (0, 0),
            frames: 0,
            is_within: false,
            last: None,
            shift: None,
        };
        source.order(&Order::Room(room));
        source
    }

    /// Gives an order. If the process is gone, the next delivery shows it.
    fn order(&mut self, order: &Order) {
        let Some(process) = self.process.as_mut().filter(|_| self.not_ordered.is_none()) else { return };
        match send(process, order, &[], &self.cancel, Patience::for_order()) {
            Ok(()) | Err(Lost::Gone) => {}
            Err(lost) => self.not_ordered = Some(lost),
        }
    }

    fn patience(&self) -> Patience {
        Patience::for_input(self.pixels(), self.waits)
    }

    fn pixels(&self) -> usize {
        self.input.picture.map_or(0, |(_, (width, height))| width.saturating_mul(height))
    }

    /// Checks a delivery of the process.
    fn take(&mut self, wire: WireDelivery) -> Result<Delivery> {
        let count = self.input.media.streams.len();
        let packets = wire.packets.into_iter().map(|packet| packet.checked(count));
        let mut packets = packets.collect::<Result<Vec<Packet>, Lie>>()?;
        let streams = &self.input.media.streams;
        packets.iter_mut().for_each(|packet| packet.clamp(most_time(streams[packet.stream()].time_base)));
        let most = most_time(self.input.video_stream().time_base);
        let mut wire_frame = wire.frame;
        if let Some(frame) = &mut wire_frame {
            frame.time = frame.time.map(|time| time.clamp(-most, most));
        }
        let frame = wire_frame.map(|frame| self.pool.copied(frame, &self.blocks)).transpose();
        let mut frame = frame.with_context(|| format!("frame {}", self.frames))?;
        let (decoded, position, damaged) = wire.progress;
        let (frames_before, damaged_before) = self.before;
        self.progress.follow(frames_before.saturating_add(decoded), position, damaged_before.saturating_add(damaged));
        let age = wire.age.map(|age| age.min(Duration::from_secs(3600)));
        let read_at = age.and_then(|age| Instant::now().checked_sub(age));
        if let OpensAgain::Live(opens) = &mut self.opens {
            if frame.is_some() {
                opens.outage.end(&self.notices, &opens.input.name);
            }
            if let (Some(moment), Some(frame), None) = (read_at, &frame, self.shift) {
                // The process counts times from its own first frame.
                let begun = *opens.start.get_or_init(|| moment);
                self.shift =
                    Some(moment.saturating_duration_since(begun).as_micros() as i64 - frame.pts.unwrap_or(0).min(0));
            }
            let shift = self.shift.unwrap_or(0);
            let streams = &self.input.media.streams;
            if let Some(frame) = &mut frame {
                frame.pts = frame.pts.map(|time| time.saturating_add(shift));
            }
            packets.iter_mut().for_each(|packet| {
                packet.shift(rescale(shift, microseconds(), streams[packet.stream()].time_base));
            });
        }
        if let Some(frame) = &frame {
            self.frames += 1;
            self.is_within |= wire.position == PartPosition::Within;
            self.last = frame.pts.or(self.last);
        }
        Ok(Delivery { packets, frame, position: wire.position, read_at })
    }

    /// Warns if the frames end long before the container says. An honest process reports that itself.
    fn check_end(&mut self) -> Result<()> {
        let (frames, damaged) = (self.frames, self.progress.damaged());
        let stream = self.input.video_stream();
        let (Some(all), Some(length)) = (stream.frames.filter(|_| self.is_whole), self.input.media.duration) else {
            return Ok(());
        };
        // The container may count fields as frames, and an edit list may leave out most frames. Writers that cannot
        // seek store a placeholder.
        let begin = self.input.media.start.unwrap_or(0);
        let last = self.last.map_or(begin, |time| rescale(time, stream.time_base, microseconds()));
        let is_early =
            all < MAX_COUNTED && frames.saturating_add(1) < all / 2 && last.saturating_sub(begin) < length / 2;
        if !is_early || self.cancel.is_cancelled() || damaged > 0 && !self.notices.is_strict() {
            return Ok(());
        }
        self.progress.count_damaged();
        self.notices.warn_of_damage(&format!("{} ends early: {frames} of {all} frames were decoded", self.input.name))
    }

    /// Handles the loss of the process: what it has delivered is kept, and a live input is opened again.
    fn lost(&mut self, lost: &Lost) -> Result<()> {
        let Some(mut process) = self.process.take() else { return Ok(()) };
        let name = self.input.name.clone();
        if matches!(lost, Lost::Cancelled) || self.cancel.is_cancelled() {
            return Ok(());
        }
        let why = lost.describe(&mut process);
        drop(process);
        let base = self.input.video_stream().time_base;
        let place = self.last.map(|time| rescale(time, base, microseconds()) as f64 / 1e6);
        let place = place.map(|seconds| format!(" behind {seconds:.3} s")).unwrap_or_default();
        let message = format!("{name}: {}: {why}{place}", self.input.video_stream().describe());
        if let OpensAgain::Live(opens) = &mut self.opens
            && opens.input.comes_back
        {
            opens.outage.begin(&self.notices, &message);
            self.progress.count_damaged();
            return self.open_again();
        }
        if self.needs_all || self.frames == 0 {
            return Err(FailureKind::Damage.error(message));
        }
        self.progress.count_damaged();
        self.notices.warn_of_damage(&format!("{message}: what was decoded before is kept, and nothing comes after it"))
    }

    /// Tries to open a live input in a new process, until that succeeds or the run is to end.
    fn open_again(&mut self) -> Result<()> {
        let OpensAgain::Live(opens) = &mut self.opens else { return Ok(()) };
        let OpensLive { input, options, start, ready_at, outage } = &mut **opens;
        let end = ends_at(start, *ready_at, options);
        let opened = outage.until_open(&self.cancel, &self.notices, end, || {
            let (process, blocks, found) = begin_live(input, options, &self.cancel, &self.notices)?;
            // The streams are assumed to be those before the loss, of which some may be missing.
            let streams = self.input.media.streams.len();
            ensure!(found.media.streams.len() <= streams, "{}: it has other streams now", input.name);
            Ok((process, blocks))
        });
        let Some((process, blocks)) = opened else { return Ok(()) };
        (self.process, self.blocks) = (Some(process), blocks);
        (self.copied, self.shift) = (0, None);
        self.before = (self.progress.decoded(), self.progress.damaged());
        self.order(&Order::Next { copied: 0 });
        Ok(())
    }
}

impl Source for IsolatedSource {
    fn next(&mut self) -> Result<Option<Delivery>> {
        self.order(&Order::Next { copied: self.copied });
        let patience = self.patience();
        // The size limit: packets of other streams, and a frame that cannot be shared, which may be larger than the
        // first one.
        let of_delivery = PACKET_BYTES.saturating_add(self.pixels().saturating_mul(4 * 16));
        let most = if self.survey.is_some() { MAX_BYTES } else { MAX_BYTES.min(of_delivery) };
        while let Some(process) = &mut self.process {
            let event = match self.not_ordered.take() {
                Some(lost) => Err(lost),
                None => next_event(process, &self.cancel, patience, most),
            };
            match event {
                Ok(Event::Delivery(delivery)) => {
                    match delivery.frame.is_none() && delivery.packets.is_empty() {
                        true => process.counts(&self.input.name.to_string())?,
                        false => process.messages = 0,
                    }
                    let taken = self.take(*delivery);
                    self.copied += 1;
                    return match taken {
                        Err(error) if error.is::<Lie>() => Err(FailureKind::Damage
                            .error(format!("{}: {error:#}: it may be under attack by the input", self.input.name))),
                        Err(error) => Err(error.context(self.input.name.clone())),
                        Ok(delivery) => Ok(Some(delivery)),
                    };
                }
                Ok(Event::Message(level, text)) => {
                    process.print(&self.input.name.to_string(), &self.notices, level, &text)?
                }
                Ok(Event::Works) => process.counts(&self.input.name.to_string())?,
                Ok(Event::End(found)) => {
                    self.process = None;
                    self.check_end()?;
                    // An honest process reports an error if it finds no frame.
                    if self.survey.is_none() && !self.is_within && !self.cancel.is_cancelled() {
                        return Err(attacked(&self.input.name, &Lie("an end")));
                    }
                    if let (Some(survey), Some(found)) = (&self.survey, found) {
                        check_survey(&found).map_err(|lie| attacked(&self.input.name, &lie))?;
                        *survey.lock().unwrap_or_else(PoisonError::into_inner) = found;
                    }
                }
                Ok(Event::Failed(error)) => {
                    self.process = None;
                    // An input whose reading was interrupted is not damaged.
                    if self.cancel.is_cancelled() && self.frames == 0 {
                        break;
                    }
                    return Err(error.checked(&self.input.name.to_string(), self.may_fail));
                }
                Ok(Event::Opened(_) | Event::Transcoders(_) | Event::Transcoded(..)) => {
                    return Err(attacked(&self.input.name, &Lie("an order")));
                }
                Err(lost) => self.lost(&lost)?,
            }
        }
        Ok(None)
    }

    fn look_around(&mut self, before: u32, behind: u32) {
        self.order(&Order::LookAround(before, behind));
    }

    fn use_pool(&mut self, pool: Arc<dyn Pool>) {
        self.pool.replace(pool);
    }
}
