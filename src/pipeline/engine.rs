//! Runs the three stages. There are three ways to stop, and in each of them every thread ends: the source is at its end
//! (everything in flight is finished), somebody cancels (the same, only earlier), a stage fails (its channel closes, its
//! neighbours notice, and the sink is dropped unfinished).

use super::threads::start;
use super::{Cancel, Delivery, Outcome, PartPosition, Progress, Sink, Source, Stage};
use crate::equalize::EqualizeStage;
use crate::ffmpeg::Packet;
use anyhow::{Result, anyhow};
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TryRecvError, bounded};
use std::collections::VecDeque;
use std::thread::{ScopedJoinHandle, scope};
use std::time::{Duration, Instant};

/// Deliveries that wait between two stages: enough to even out frames that take longer, few enough to stay small.
const QUEUED: usize = 4;

/// How often the display is brought up to date.
const TICK: Duration = Duration::from_millis(100);

/// What a run amounts to.
#[derive(Clone, Debug)]
pub struct Summary {
    /// How it ended.
    pub outcome: Outcome,
    /// Where the output is, if there was anything to keep.
    pub output: Option<String>,
    /// How long it took.
    pub elapsed: Duration,
    /// What equalized, by its own name.
    pub equalizer: String,
}

/// What travels through a channel. A channel that closes without an `End` belongs to a stage that failed.
pub enum Message {
    /// Something to be worked on.
    Delivery(Delivery),
    /// There will be no more.
    End(Outcome),
}

/// Runs `source -> stage -> sink` to the end, calling `tick` now and then on the calling thread.
///
/// # Errors
/// The error of the stage that failed.
pub fn run(
    source: Box<dyn Source>,
    stage: EqualizeStage,
    sink: Box<dyn Sink>,
    cancel: &Cancel,
    progress: &Progress,
    tick: impl FnMut(&Progress),
) -> Result<Summary> {
    run_with(source, |before, next| pass(stage, before, next, progress), sink, cancel, progress, tick)
}

/// As [`run`], with a stage of any kind between source and sink: it takes messages from one channel, sends them on to the
/// other one, and answers with its name.
///
/// # Errors
/// The error of the stage that failed.
pub fn run_with(
    source: Box<dyn Source>,
    middle: impl FnOnce(&Receiver<Message>, &Sender<Message>) -> Result<String> + Send,
    sink: Box<dyn Sink>,
    cancel: &Cancel,
    progress: &Progress,
    mut tick: impl FnMut(&Progress),
) -> Result<Summary> {
    let begin = Instant::now();
    let (decoded, to_equalize) = bounded(QUEUED);
    let (equalized, to_write) = bounded(QUEUED);
    let (running, over) = bounded::<()>(0);
    let stop = &|| cancel.abandon();
    scope(|scope| {
        let read = start(scope, "source", stop, move || read(source, &decoded, cancel, progress))?;
        let equalize = start(scope, "equalize", stop, move || middle(&to_equalize, &equalized))?;
        let write = start(scope, "sink", stop, move || {
            let _running = running;
            write(sink, &to_write, progress)
        })?;
        // Nothing is ever sent here: the channel closes when the sink, the last in the row, is through.
        while over.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
            tick(progress);
        }
        // If the sink has failed, the source may still be waiting for input.
        cancel.abandon();
        // A stage that only stops because its neighbour did has no error of its own, but a source may take the end of its
        // waiting for one.
        let (read, equalizer, written) = (joined(read), joined(equalize), joined(write));
        let (written, equalizer) = (written?, equalizer?);
        read?;
        tick(progress);
        let (outcome, output) =
            written.ok_or_else(|| anyhow!("the run ended early without an error (a bug: please report it)"))?;
        Ok(Summary { outcome, output, elapsed: begin.elapsed(), equalizer })
    })
}

fn read(mut source: Box<dyn Source>, next: &Sender<Message>, cancel: &Cancel, progress: &Progress) -> Result<()> {
    while !cancel.is_cancelled() {
        let Some(delivery) = progress.measure(Stage::Source, || source.next())? else {
            // A source that was interrupted while it waited is at its end, too.
            let outcome = if cancel.is_cancelled() { Outcome::Interrupted } else { Outcome::Complete };
            let _ = next.send(Message::End(outcome));
            return Ok(());
        };
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
    progress: &Progress,
) -> Result<String> {
    let mut pass = Pass { stage, packets: VecDeque::new(), next, progress };
    pass.run(before)?;
    Ok(pass.stage.name())
}

/// The middle stage, between its channels.
struct Pass<'a> {
    stage: EqualizeStage,
    /// The packets that go along with each frame that is to come out. Frames from behind the part that was asked for have
    /// none, and stay where they are.
    packets: VecDeque<Vec<Packet>>,
    next: &'a Sender<Message>,
    progress: &'a Progress,
}

/// The next stage has failed, and takes nothing more.
struct Closed;

impl Pass<'_> {
    fn run(&mut self, before: &Receiver<Message>) -> Result<()> {
        while let Some(message) = self.receive(before)? {
            let sent = match message {
                Message::Delivery(Delivery { frame: Some(frame), place: PartPosition::Before, .. }) => {
                    let passed_on = self.flush()?;
                    self.progress.measure(Stage::Equalize, || self.stage.warm_up(frame))?;
                    passed_on
                }
                Message::Delivery(Delivery { frame: Some(frame), place: PartPosition::Behind, .. }) => {
                    self.progress.measure(Stage::Equalize, || self.stage.submit(frame))?;
                    Ok(())
                }
                Message::Delivery(Delivery { packets, frame: Some(frame), .. }) => {
                    self.progress.measure(Stage::Equalize, || self.stage.submit(frame))?;
                    self.packets.push_back(packets);
                    Ok(())
                }
                Message::Delivery(Delivery { packets, .. }) => self.hand_on(packets)?,
                Message::End(outcome) => {
                    self.stage.finish()?;
                    self.flush()?.and_then(|()| self.send(Message::End(outcome)))
                }
            };
            if sent.is_err() {
                break;
            }
        }
        Ok(())
    }

    /// The next message, or `None` when there will be none. While there is none yet, or no room for another frame, it
    /// passes on what is under way, so that no frame waits for the next one.
    fn receive(&mut self, before: &Receiver<Message>) -> Result<Option<Message>> {
        while self.comes_out() {
            if self.stage.has_room() {
                match before.try_recv() {
                    Ok(message) => return Ok(Some(message)),
                    Err(TryRecvError::Disconnected) => return Ok(None),
                    Err(TryRecvError::Empty) => {}
                }
            }
            if self.pass_on()?.is_err() {
                return Ok(None);
            }
        }
        Ok(before.recv().ok())
    }

    /// Passes on packets that come without a frame. They must not overtake those that go along with frames before them.
    fn hand_on(&mut self, packets: Vec<Packet>) -> Result<Result<(), Closed>> {
        if let Err(closed) = self.flush()? {
            return Ok(Err(closed));
        }
        match self.packets.back_mut() {
            // Those of the newest frame, which is held back.
            Some(held) => held.extend(packets),
            None => return Ok(self.send(Message::Delivery(Delivery { packets, ..Delivery::default() }))),
        }
        Ok(Ok(()))
    }

    /// Passes on everything that is under way.
    fn flush(&mut self) -> Result<Result<(), Closed>> {
        while self.comes_out() {
            if self.pass_on()?.is_err() {
                return Ok(Err(Closed));
            }
        }
        Ok(Ok(()))
    }

    /// Whether a frame is under way that is to come out.
    fn comes_out(&self) -> bool {
        self.stage.in_flight() > 0 && !self.packets.is_empty()
    }

    /// Passes on the oldest frame under way.
    fn pass_on(&mut self) -> Result<Result<(), Closed>> {
        let equalized = self.progress.measure(Stage::Equalize, || self.stage.collect())?;
        // Only frames that warm up were under way.
        let Some(equalized) = equalized else { return Ok(Ok(())) };
        let packets = self.packets.pop_front().unwrap_or_default();
        Ok(self.send(Message::Delivery(Delivery { packets, frame: Some(equalized.frame), ..Delivery::default() })))
    }

    fn send(&self, message: Message) -> Result<(), Closed> {
        self.next.send(message).map_err(|_| Closed)
    }
}

fn write(
    mut sink: Box<dyn Sink>,
    before: &Receiver<Message>,
    progress: &Progress,
) -> Result<Option<(Outcome, Option<String>)>> {
    for message in before {
        match message {
            Message::Delivery(delivery) => {
                let frames = delivery.frame.is_some();
                progress.measure(Stage::Sink, || sink.write(delivery))?;
                if frames {
                    progress.count_written();
                }
            }
            Message::End(outcome) => {
                let output = progress.measure(Stage::Sink, || sink.finish(outcome))?;
                return Ok(Some((outcome, output)));
            }
        }
    }
    Ok(None)
}

/// The result of a stage; a panic in it is an error like any other.
pub(super) fn joined<T>(stage: ScopedJoinHandle<'_, Result<T>>) -> Result<T> {
    let name = stage.thread().name().unwrap_or("stage").to_owned();
    stage.join().unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        Err(anyhow!("bug in the {name} stage: {text} (please report it)"))
    })
}
