//! The live engine: it runs until the camera ends or the run is cancelled. Then each output writes the frames in its
//! queue, and is completed.

use super::equalize_stage::LiveEqualizer;
use super::gray_watch::GrayWatch;
use super::latency::ViewerStats;
use super::noise_budget::NoiseBudget;
use super::output_queue::OutputQueue;
use super::signal::Signal;
use super::{
    Captured, DropOldestQueue, LiveParts, LiveSummary, SharedSettings, Shown, Status, Viewer, ViewerReply, Written,
};
use crate::ffmpeg::Packet;
use crate::pipeline::flow::{OnDrop, joined, start};
use crate::pipeline::{Cancel, Delivery, Outcome, Progress, ReaderGone, Sink, Source, Stage};
use anyhow::Result;
use crossbeam_channel::{Receiver, RecvTimeoutError, TryRecvError, bounded};
use std::thread::scope;
use std::time::{Duration, Instant};

/// The interval at which the display is updated if there is no viewer.
pub(super) const TICK: Duration = Duration::from_millis(100);

/// The longest time that the viewer waits for a frame before it handles key presses.
const KEYS: Duration = Duration::from_millis(10);

/// Capacity of the queue before the equalizer if there are outputs: room for the burst of frames that a camera sends at
/// first.
const CAPTURED_WAITING: usize = 8;

/// Frames for the viewer, with their capture times.
type ShownQueue = DropOldestQueue<(Shown, Instant)>;

/// Runs camera, equalizer, viewer and outputs to the end. Calls `tick` at least every 100 ms on the calling thread.
///
/// # Errors
/// The first error, in the order camera, microphone, equalizer, outputs, viewer. Outputs that have not failed are
/// completed.
pub fn run(
    parts: LiveParts<'_>,
    cancel: &Cancel,
    progress: &Progress,
    mut tick: impl FnMut(&Progress),
) -> Result<LiveSummary> {
    let LiveParts {
        source,
        microphone,
        stage,
        shared_settings,
        limits_denoising,
        filter,
        notices,
        warming_up,
        outputs,
        viewer,
        onlooker,
    } = parts;
    let begin = Instant::now();
    let captured = DropOldestQueue::new(if outputs.is_empty() { 1 } else { CAPTURED_WAITING });
    let shown: Option<ShownQueue> = viewer.is_some().then(|| DropOldestQueue::new(1));
    let queues: Vec<OutputQueue> = outputs.iter().map(OutputQueue::before).collect();
    let (captured, shown, queues) = (&captured, shown.as_ref(), queues.as_slice());
    // Without outputs, frames may be dropped even during warm-up: a viewer only shows the newest frame.
    let warm_up = warming_up.all.clone();
    let warming_up = Some(warming_up).filter(|_| !queues.is_empty());
    let waits = move || !queues.is_empty() && warm_up.goes_on(begin) && !cancel.is_cancelled();
    let (running, over) = bounded::<()>(0);
    let signal = &Signal::default();
    let stop = &|| cancel.cancel();
    scope(|scope| {
        let alive = running.clone();
        let capture = start(scope, "camera", stop, move || {
            let _alive = alive;
            let outputs = (queues, shared_settings);
            let captured = self::capture(source, (captured, waits), outputs, cancel, (progress, signal));
            signal.end();
            captured
        })?;
        let alive = running.clone();
        let listen = start(scope, "microphone", stop, move || {
            let _alive = alive;
            microphone.map_or(Ok(()), |microphone| listen(microphone, (queues, shared_settings)))
        })?;
        let alive = running.clone();
        let equalize = start(scope, "equalize", stop, move || {
            let _alive = alive;
            let stage = LiveEqualizer {
                stage,
                shared_settings,
                filter,
                noise_budget: NoiseBudget::new(limits_denoising, notices.clone()),
                gray_watch: GrayWatch::new(notices),
                captured,
                shown,
                onlooker,
                queues,
                progress,
                warming_up,
                equalized: 0,
                dropped: 0,
            };
            let result = stage.run();
            queues.iter().for_each(OutputQueue::close);
            cancel.cancel();
            result
        })?;
        let mut writers = Vec::new();
        for (queue, output) in queues.iter().zip(outputs) {
            let alive = running.clone();
            writers.push(start(scope, "output", stop, move || {
                let _alive = alive;
                let _close = OnDrop(|| queue.close());
                let written = write(queue, output.sink, progress);
                if written.is_err() || queues.len() == 1 && shown.is_none() {
                    cancel.cancel();
                }
                written
            })?);
        }
        drop(running);
        let dropped = || [captured.dropped(), queues.iter().map(OutputQueue::dropped).sum()];
        let tick = || {
            progress.set_no_signal(signal.missing());
            progress.set_dropped(captured.dropped());
            tick(progress);
        };
        let (stats, seen) = show(viewer.zip(shown), &over, cancel, dropped, progress, tick);
        let (captured_all, heard_all, equalized) = (joined(capture), joined(listen), joined(equalize));
        let written: Vec<Result<Written>> = writers.into_iter().map(joined).collect();
        captured_all?;
        heard_all?;
        let (equalizer, to_equalized) = equalized?;
        let outputs = written.into_iter().collect::<Result<Vec<Written>>>()?;
        seen?;
        let (latency, shown) = match shown {
            Some(_) => (stats.all, Some(stats.count)),
            None => (to_equalized, None),
        };
        Ok(LiveSummary { elapsed: begin.elapsed(), equalizer, dropped: captured.dropped(), latency, shown, outputs })
    })
}

/// Reads frames and audio from the camera until it ends or the run is cancelled. While `waits` returns true, no frame
/// is dropped.
fn capture(
    mut source: Box<dyn Source>,
    (captured, waits): (&DropOldestQueue<Captured>, impl Fn() -> bool),
    outputs: (&[OutputQueue], &SharedSettings),
    cancel: &Cancel,
    (progress, signal): (&Progress, &Signal),
) -> Result<()> {
    let _close = OnDrop(|| captured.close());
    while !cancel.is_cancelled() {
        let Some(delivery) = progress.measure(Stage::Source, || source.next())? else { break };
        let Delivery { packets, frame, read_at, .. } = delivery;
        put_sound(&packets, outputs);
        if let Some(frame) = frame {
            signal.frame();
            captured.push_after_waiting(Captured { frame, at: read_at.unwrap_or_else(Instant::now) }, &waits);
        }
    }
    Ok(())
}

/// Reads audio from the microphone until it ends.
fn listen(mut microphone: Box<dyn Source>, outputs: (&[OutputQueue], &SharedSettings)) -> Result<()> {
    while let Some(Delivery { packets, .. }) = microphone.next()? {
        put_sound(&packets, outputs);
    }
    Ok(())
}

/// Adds audio packets to all output queues, except of paused recordings.
fn put_sound(packets: &[Packet], (queues, settings): (&[OutputQueue], &SharedSettings)) {
    let is_paused = settings.is_recording_paused();
    for queue in queues.iter().filter(|queue| !(is_paused && queue.is_recording)) {
        packets.iter().for_each(|packet| queue.push_sound(packet.clone()));
    }
}

/// Shows frames until all threads have ended (`over` is disconnected). `dropped` returns how many frames were dropped
/// before the equalizer and before the outputs. Returns the viewer's statistics, and its error if it failed.
fn show(
    mut viewer: Option<(&mut dyn Viewer, &ShownQueue)>,
    over: &Receiver<()>,
    cancel: &Cancel,
    dropped: impl Fn() -> [u64; 2],
    progress: &Progress,
    mut tick: impl FnMut(),
) -> (ViewerStats, Result<()>) {
    let mut stats = ViewerStats::new();
    let mut seen = Ok(());
    loop {
        match &mut viewer {
            Some((viewer, queue)) if !cancel.is_cancelled() => {
                let [dropped, unwritten] = dropped();
                let no_signal = progress.no_signal();
                let fps = if no_signal.is_some() { 0.0 } else { stats.status.fps };
                let status = Status { fps, dropped, unwritten, no_signal, ..stats.status };
                let (frame, moment) = queue.pop_within(KEYS).ok().unzip();
                match viewer.show(frame, &status) {
                    Ok(ViewerReply::GoOn) => {}
                    Ok(ViewerReply::End) => cancel.cancel(),
                    Err(error) => {
                        seen = Err(error);
                        cancel.cancel();
                    }
                }
                if let Some(latency) = moment.map(|moment| moment.elapsed()) {
                    stats.count_shown(latency);
                    progress.set_latency(latency);
                }
                if over.try_recv() == Err(TryRecvError::Disconnected) {
                    break;
                }
            }
            _ if over.recv_timeout(TICK) == Err(RecvTimeoutError::Disconnected) => break,
            _ => {}
        }
        tick();
    }
    (stats, seen)
}

/// Writes the entries of the queue until it is closed and empty, and completes the output.
fn write(output: &OutputQueue, mut sink: Box<dyn Sink>, progress: &Progress) -> Result<Written> {
    let (mut frames, mut missed) = (0, 0);
    let work = |frames: &mut u64, missed: &mut u64| -> Result<()> {
        while let Some(delivery) = output.pop() {
            let frame = u64::from(delivery.frame.is_some());
            progress.measure(Stage::Sink, || sink.write(delivery))?;
            *frames += frame;
        }
        *missed = sink.missed();
        sink.finish(Outcome::Complete)?;
        Ok(())
    };
    match work(&mut frames, &mut missed) {
        Err(error) if !error.is::<ReaderGone>() => Err(error),
        _ => Ok(Written { name: output.name.clone(), frames: frames - missed, missed, dropped: output.dropped() }),
    }
}
