//! Runs the three stages. There are three ways to stop, and in each of them every thread ends: the source is at its end
//! (everything in flight is finished), somebody cancels (the same, only earlier), a stage fails (its channel closes, its
//! neighbours notice, and the sink is dropped unfinished).

use super::{Cancel, Delivery, Outcome, Progress, Sink, Source, Stage};
use crate::equalize::Equalizer;
use anyhow::{Result, anyhow};
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TryRecvError, bounded};
use std::collections::VecDeque;
use std::thread::{Builder, ScopedJoinHandle, scope};
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
enum Message {
    Delivery(Delivery),
    End(Outcome),
}

/// Runs `source -> equalizer -> sink` to the end, calling `tick` now and then on the calling thread.
///
/// # Errors
/// The error of the stage that failed.
pub fn run(
    source: Box<dyn Source>,
    equalizer: Box<dyn Equalizer>,
    sink: Box<dyn Sink>,
    cancel: &Cancel,
    progress: &Progress,
    mut tick: impl FnMut(&Progress),
) -> Result<Summary> {
    let begin = Instant::now();
    let (decoded, to_equalize) = bounded(QUEUED);
    let (equalized, to_write) = bounded(QUEUED);
    let (running, over) = bounded::<()>(0);
    scope(|scope| {
        let named = |name: &str| Builder::new().name(name.to_owned());
        let read = named("source").spawn_scoped(scope, move || read(source, &decoded, cancel, progress))?;
        let equalize =
            named("equalize").spawn_scoped(scope, move || pass(equalizer, &to_equalize, &equalized, progress))?;
        let write = named("sink").spawn_scoped(scope, move || {
            let _running = running;
            write(sink, &to_write, progress)
        })?;
        // Nothing is ever sent here: the channel closes when the sink, the last in the row, is through.
        while over.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
            tick(progress);
        }
        // A stage that only stops because its neighbour did has no error of its own.
        let (read, equalizer, written) = (joined(read), joined(equalize), joined(write));
        read?;
        let (equalizer, written) = (equalizer?, written?);
        tick(progress);
        let (outcome, output) = written.ok_or_else(|| anyhow!("the run ended early and nobody said why"))?;
        Ok(Summary { outcome, output, elapsed: begin.elapsed(), equalizer })
    })
}

fn read(mut source: Box<dyn Source>, next: &Sender<Message>, cancel: &Cancel, progress: &Progress) -> Result<()> {
    while !cancel.is_cancelled() {
        let Some(delivery) = progress.measure(Stage::Source, || source.next())? else {
            let _ = next.send(Message::End(Outcome::Complete));
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
    mut equalizer: Box<dyn Equalizer>,
    before: &Receiver<Message>,
    next: &Sender<Message>,
    progress: &Progress,
) -> Result<String> {
    // The packets that go along with each frame under way.
    let mut packets = VecDeque::new();
    loop {
        let full = equalizer.in_flight() >= equalizer.capacity();
        let message = if full {
            None
        } else if equalizer.in_flight() == 0 {
            // Closed without an end: the source has failed and says so itself.
            let Ok(message) = before.recv() else { break };
            Some(message)
        } else {
            match before.try_recv() {
                Ok(message) => Some(message),
                // Nothing to do but to pass on what is under way, so that no frame waits for the next one.
                Err(TryRecvError::Empty) => None,
                Err(TryRecvError::Disconnected) => break,
            }
        };
        let delivery = match message {
            Some(Message::Delivery(Delivery { packets: with_it, frame: Some(frame) })) => {
                progress.measure(Stage::Equalize, || equalizer.submit(frame))?;
                packets.push_back(with_it);
                continue;
            }
            Some(Message::Delivery(delivery)) => delivery,
            Some(Message::End(outcome)) => {
                while let Some(frame) = progress.measure(Stage::Equalize, || equalizer.collect())? {
                    let delivery = Delivery { packets: packets.pop_front().unwrap_or_default(), frame: Some(frame) };
                    if next.send(Message::Delivery(delivery)).is_err() {
                        return Ok(equalizer.name());
                    }
                }
                let _ = next.send(Message::End(outcome));
                break;
            }
            None => {
                let frame = progress.measure(Stage::Equalize, || equalizer.collect())?;
                Delivery { packets: packets.pop_front().unwrap_or_default(), frame }
            }
        };
        if next.send(Message::Delivery(delivery)).is_err() {
            break;
        }
    }
    Ok(equalizer.name())
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
fn joined<T>(stage: ScopedJoinHandle<'_, Result<T>>) -> Result<T> {
    let name = stage.thread().name().unwrap_or("stage").to_owned();
    stage.join().unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        Err(anyhow!("bug in the {name} stage: {text} (please report it)"))
    })
}
