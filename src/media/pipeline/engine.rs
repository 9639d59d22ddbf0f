//! Runs the three stages, each on its own thread. A run ends in one of three ways, which all end all threads:
//! * The source reaches its end: all frames in flight are finished.
//! * The run is cancelled: the source stops, frames in flight are processed for 0.5 s, and then the encoder is drained,
//!   for 3 s at most. Frames that wait for later frames are dropped.
//! * A stage fails: its channels close, so the other stages stop, and the sink is dropped before it has completed the
//!   output.

use super::filtering::Filtering;
use super::flow::{Flow, joined, start};
use super::{Cancel, Delivery, Message, Outcome, PartPosition, Progress, Sink, Source, Stage, from_stage};
use crate::ffmpeg::Packet;
use crate::sys::files::Name;
use anyhow::{Result, anyhow};
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TryRecvError, bounded};
use histeq::Limits;
use histeq::internal::equalize::EqualizeStage;
use std::collections::VecDeque;
use std::thread::scope;
use std::time::{Duration, Instant};

/// Capacity of the channels before and after the stage, in deliveries. They even out processing times with little
/// memory. Encoders have a queue of their own.
const QUEUED: [usize; 2] = [2, 1];

/// How long frames are still sent to the encoder after the run was cancelled.
const MOMENT: Duration = Duration::from_millis(500);

/// How long draining the encoder may take after that. Frames that it still holds then are dropped.
const EMPTYING: Duration = Duration::from_secs(3);

/// Interval of updates of the progress display.
const TICK: Duration = Duration::from_millis(100);

/// Result of a run.
#[derive(Clone, Debug)]
pub struct Summary {
    /// How the run ended.
    pub outcome: Outcome,
    /// Name of the output; `None` if there is none.
    pub output: Option<Name>,
    /// Duration of the run.
    pub elapsed: Duration,
    /// Name of the equalizer.
    pub equalizer: String,
}

/// Runs `source -> stage -> filters -> sink` to the end; filters are optional. Calls `tick` every 100 ms on the calling
/// thread.
///
/// # Errors
/// The error of the stage that failed.
pub fn run(
    source: Box<dyn Source>,
    stage: EqualizeStage,
    filtering: Option<Filtering>,
    sink: Box<dyn Sink>,
    cancel: &Cancel,
    progress: &Progress,
    tick: impl FnMut(&Progress),
) -> Result<Summary> {
    let Some(filtering) = filtering else {
        let flow = Flow::new(stage.limits());
        let middle = |before: &_, next: &_| pass(stage, before, next, cancel, progress, &flow);
        return run_counted(source, middle, sink, cancel, progress, (&flow, true), tick);
    };
    // Filters may change the number of frames, so frames count as in flight only up to the filters.
    let flow = filtering.flow.clone();
    let middle = |before: &_, next: &_| filtering.run(next, |next| pass(stage, before, next, cancel, progress, &flow));
    run_counted(source, middle, sink, cancel, progress, (&flow, false), tick)
}

/// As [`run`], within these limits, with any function as the stage between source and sink. It receives messages from
/// one channel, sends as many frames to the other one, and returns its name.
///
/// # Errors
/// The error of the stage that failed.
pub fn run_with(
    (source, limits): (Box<dyn Source>, &Limits),
    middle: impl FnOnce(&Receiver<Message>, &Sender<Message>) -> Result<String> + Send,
    sink: Box<dyn Sink>,
    cancel: &Cancel,
    progress: &Progress,
    tick: impl FnMut(&Progress),
) -> Result<Summary> {
    run_counted(source, middle, sink, cancel, progress, (&Flow::new(limits), true), tick)
}

fn run_counted(
    source: Box<dyn Source>,
    middle: impl FnOnce(&Receiver<Message>, &Sender<Message>) -> Result<String> + Send,
    sink: Box<dyn Sink>,
    cancel: &Cancel,
    progress: &Progress,
    (flow, ends_in_sink): (&Flow, bool),
    mut tick: impl FnMut(&Progress),
) -> Result<Summary> {
    let begin = Instant::now();
    let (decoded, to_equalize) = bounded(QUEUED[0]);
    let (equalized, to_write) = bounded(QUEUED[1]);
    let (running, over) = bounded::<()>(0);
    let stop = &|| cancel.abandon();
    scope(|scope| {
        let read = start(scope, "source", stop, move || read(source, &decoded, cancel, progress, flow))?;
        let equalize = start(scope, "equalize", stop, move || middle(&to_equalize, &equalized))?;
        let write = start(scope, "sink", stop, move || {
            let _running = running;
            write(sink, &to_write, cancel, progress, ends_in_sink.then_some(flow))
        })?;
        // This channel only signals: it closes when the sink, the last stage, has ended.
        while over.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
            tick(progress);
        }
        // If the sink has failed, the source may still wait for input.
        cancel.abandon();
        // The source's error comes last: if another stage fails, interrupting the wait for input can cause an error
        // there.
        let (read, equalizer, written) = (joined(read), joined(equalize), joined(write));
        let (written, equalizer) = (written?, equalizer?);
        read?;
        tick(progress);
        let (outcome, output) =
            written.ok_or_else(|| anyhow!("the run ended early without an error (a bug: please report it)"))?;
        Ok(Summary { outcome, output, elapsed: begin.elapsed(), equalizer })
    })
}

fn read(
    mut source: Box<dyn Source>,
    next: &Sender<Message>,
    cancel: &Cancel,
    progress: &Progress,
    flow: &Flow,
) -> Result<()> {
    let interrupt = cancel.flag();
    while !cancel.is_cancelled() {
        flow.wait_for_room(&interrupt);
        let Some(delivery) = progress.measure(Stage::Source, || source.next())? else {
            // A source that is cancelled while it waits for input also returns `None`.
            let outcome = if cancel.is_cancelled() { Outcome::Interrupted } else { Outcome::Complete };
            let _ = next.send(Message::End(outcome));
            return Ok(());
        };
        delivery.frame.iter().for_each(|frame| flow.read(frame));
        if next.send(Message::Delivery(delivery)).is_err() {
            return Ok(());
        }
    }
    let _ = next.send(Message::End(Outcome::Interrupted));
    Ok(())
}

fn pass(
    stage: EqualizeStage,
    before: &Receiver<Message>,
    next: &Sender<Message>,
    cancel: &Cancel,
    progress: &Progress,
    flow: &Flow,
) -> Result<String> {
    let mut equalize = EqualizeThread { stage, packets: VecDeque::new(), next, cancel, progress, flow };
    equalize.run(before)?;
    progress.set_done(&equalize.stage);
    Ok(equalize.stage.name())
}

/// The equalizing stage, with the channel to the next stage.
struct EqualizeThread<'a> {
    stage: EqualizeStage,
    /// The packets for each frame in flight that will be sent on. Frames after the requested part are not sent on, and
    /// have no entry here.
    packets: VecDeque<Vec<Packet>>,
    next: &'a Sender<Message>,
    cancel: &'a Cancel,
    progress: &'a Progress,
    flow: &'a Flow,
}

/// The error when the next stage has failed, which closes its channel.
struct ChannelClosed;

impl EqualizeThread<'_> {
    fn run(&mut self, before: &Receiver<Message>) -> Result<()> {
        while let Some(message) = self.receive(before)? {
            let sent = match message {
                Message::Delivery(Delivery { frame: Some(frame), position: PartPosition::Before, .. }) => {
                    let flushed = self.flush()?;
                    self.progress.measure(Stage::Equalize, || self.stage.warm_up(frame)).map_err(from_stage)?;
                    self.flow.taken_in(self.outputs());
                    flushed
                }
                Message::Delivery(Delivery { frame: Some(frame), position: PartPosition::Behind, .. }) => {
                    self.progress.measure(Stage::Equalize, || self.stage.submit_behind(frame)).map_err(from_stage)?;
                    self.flow.taken_in(self.outputs());
                    Ok(())
                }
                Message::Delivery(Delivery { packets, frame: Some(frame), .. }) => {
                    self.progress.measure(Stage::Equalize, || self.stage.submit(frame)).map_err(from_stage)?;
                    self.packets.push_back(packets);
                    self.flow.taken_in(self.outputs());
                    Ok(())
                }
                Message::Delivery(Delivery { packets, .. }) => self.send_packets(packets)?,
                Message::End(outcome) => {
                    if outcome == Outcome::Complete {
                        self.stage.finish().map_err(from_stage)?;
                    }
                    let flushed = self.flush()?;
                    // Frames that were not finished in time are missing in the output.
                    let outcome = if self.has_output() { Outcome::Interrupted } else { outcome };
                    let _ = flushed.and_then(|()| self.send(Message::End(outcome)));
                    break;
                }
            };
            if sent.is_err() {
                break;
            }
        }
        Ok(())
    }

    /// The next message; `None` at the end. While there is no message, or the stage has no room for another frame,
    /// finished frames are sent on, so that they do not wait until the next frame is read.
    fn receive(&mut self, before: &Receiver<Message>) -> Result<Option<Message>> {
        while self.has_output() {
            if self.cancel.is_over_for(MOMENT) {
                return Ok(Some(Message::End(Outcome::Interrupted)));
            }
            if self.stage.has_room() {
                match before.try_recv() {
                    Ok(message) => return Ok(Some(message)),
                    Err(TryRecvError::Disconnected) => return Ok(None),
                    Err(TryRecvError::Empty) => {}
                }
            }
            if self.send_oldest()?.is_err() {
                return Ok(None);
            }
        }
        Ok(before.recv().ok())
    }

    /// Sends on packets that arrive without a frame, after the packets of all earlier frames.
    fn send_packets(&mut self, packets: Vec<Packet>) -> Result<Result<(), ChannelClosed>> {
        if let Err(closed) = self.flush()? {
            return Ok(Err(closed));
        }
        match self.packets.back_mut() {
            // The newest frame waits for later frames, so these packets wait with it.
            Some(waiting) => waiting.extend(packets),
            None => return Ok(self.send(Message::Delivery(Delivery { packets, ..Delivery::default() }))),
        }
        Ok(Ok(()))
    }

    /// Sends on all frames in flight; after cancellation, only those that are finished in time.
    fn flush(&mut self) -> Result<Result<(), ChannelClosed>> {
        while self.has_output() && !self.cancel.is_over_for(MOMENT) {
            if self.send_oldest()?.is_err() {
                return Ok(Err(ChannelClosed));
            }
        }
        Ok(Ok(()))
    }

    /// Whether any frame in flight will be sent on.
    fn has_output(&self) -> bool {
        self.outputs() > 0
    }

    /// The largest number of frames in flight that will be sent on.
    fn outputs(&self) -> usize {
        self.stage.in_flight().min(self.packets.len())
    }

    /// Waits for the oldest frame in flight, and sends it on.
    fn send_oldest(&mut self) -> Result<Result<(), ChannelClosed>> {
        let equalized = self.progress.measure(Stage::Equalize, || self.stage.collect()).map_err(from_stage)?;
        let Some(equalized) = equalized else {
            // No frame is ready: all frames in flight were only for warm-up, or wait for later frames.
            self.flow.holds(self.outputs());
            return Ok(Ok(()));
        };
        let packets = self.packets.pop_front().unwrap_or_default();
        self.flow.sent_on(self.outputs());
        Ok(self.send(Message::Delivery(Delivery { packets, frame: Some(equalized.frame), ..Delivery::default() })))
    }

    fn send(&self, message: Message) -> Result<(), ChannelClosed> {
        self.next.send(message).map_err(|_| ChannelClosed)
    }
}

fn write(
    mut sink: Box<dyn Sink>,
    before: &Receiver<Message>,
    cancel: &Cancel,
    progress: &Progress,
    flow: Option<&Flow>,
) -> Result<Option<(Outcome, Option<Name>)>> {
    let mut frames = 0;
    // Whether frames were dropped for lack of time: then the output is incomplete, even if all input was read.
    let mut is_cut = false;
    // Some encoders make more packets than frames.
    let count =
        |sink: &dyn Sink, frames: u64| progress.set_written(sink.encoded().map_or(frames, |count| count.min(frames)));
    for message in before {
        let has_time = !cancel.is_over_for(MOMENT + EMPTYING);
        match message {
            Message::Delivery(_) if !has_time => is_cut = true,
            Message::Delivery(delivery) => {
                let is_frame = delivery.frame.is_some();
                progress.measure(Stage::Sink, || sink.write(delivery))?;
                if is_frame {
                    flow.into_iter().for_each(Flow::written);
                    frames += 1;
                    count(&*sink, frames);
                }
            }
            Message::End(outcome) => {
                loop {
                    if cancel.is_over_for(MOMENT + EMPTYING) {
                        sink.abandon();
                        is_cut = true;
                        frames = sink.encoded().unwrap_or(frames).min(frames);
                        break;
                    }
                    if !progress.measure(Stage::Sink, || sink.drain())? {
                        break;
                    }
                    count(&*sink, frames);
                }
                let outcome = if is_cut { Outcome::Interrupted } else { outcome };
                let output = progress.measure(Stage::Sink, || sink.finish(outcome))?;
                progress.set_written(frames);
                return Ok(Some((outcome, output)));
            }
        }
    }
    Ok(None)
}
