//! The streaming engine with simple sources and sinks: order, back-pressure, and every way to stop.

use crate::support::backends::by_reference;
use crate::support::failing::{Call, Failing};
use crate::support::pictures::Picture;
use anyhow::{Result, bail};
use histeq::internal::equalize::EqualizeStage;
use histeq::internal::equalize::cpu::Cpu;
use histeq::internal::frame::{Frame, PixelFormat};
use histeq::internal::spec::parameters::Settings;
use histeq_media::pipeline::{Cancel, Delivery, Outcome, Progress, Sink, Source, Summary, run};
use histeq_media::sys::files::Name;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

/// Counters of the source and of the sink.
#[derive(Default)]
struct Watch {
    read: AtomicI64,
    written: AtomicI64,
    /// The maximum number of frames between source and sink.
    most_under_way: AtomicI64,
    /// 0: never finished; 1: complete; 2: interrupted.
    finished: AtomicI64,
}

/// A fault at frame N.
#[derive(Clone, Copy, PartialEq)]
enum Fault {
    None,
    Error(i64),
    Panic(i64),
}

impl Fault {
    fn strike(self, frame: i64, who: &str) -> Result<()> {
        match self {
            Fault::Error(index) if index == frame => bail!("{who} failed at frame {frame}"),
            Fault::Panic(index) if index == frame => panic!("{who} panicked at frame {frame}"),
            _ => Ok(()),
        }
    }
}

struct Frames {
    count: i64,
    next: i64,
    fault: Fault,
    watch: Arc<Watch>,
}

impl Source for Frames {
    fn next(&mut self) -> Result<Option<Delivery>> {
        if self.next == self.count {
            return Ok(None);
        }
        self.fault.strike(self.next, "source")?;
        let mut frame = picture(self.next);
        frame.pts = Some(self.next);
        self.next += 1;
        let under_way = self.watch.read.fetch_add(1, Ordering::SeqCst) + 1 - self.watch.written.load(Ordering::SeqCst);
        self.watch.most_under_way.fetch_max(under_way, Ordering::SeqCst);
        Ok(Some(Delivery { frame: Some(frame), ..Delivery::default() }))
    }
}

struct Collected {
    fault: Fault,
    slow: bool,
    cancel_at: Option<(i64, Cancel)>,
    watch: Arc<Watch>,
}

impl Sink for Collected {
    fn write(&mut self, delivery: Delivery) -> Result<()> {
        let Some(frame) = delivery.frame else { return Ok(()) };
        let number = self.watch.written.load(Ordering::SeqCst);
        assert_eq!(frame.pts, Some(number), "frames come in order");
        self.fault.strike(number, "sink")?;
        let expected = by_reference(Settings::default()).equalize(&picture(number));
        assert_eq!(frame.planes()[0].row(0), expected.planes()[0].row(0), "frame {number}");
        if self.slow {
            std::thread::sleep(Duration::from_millis(3));
        }
        if let Some((index, cancel)) = &self.cancel_at
            && *index == number
        {
            cancel.cancel();
        }
        self.watch.written.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    fn finish(self: Box<Self>, outcome: Outcome) -> Result<Option<Name>> {
        let code = if outcome == Outcome::Complete { 1 } else { 2 };
        self.watch.finished.store(code, Ordering::SeqCst);
        Ok(Some("memory".into()))
    }
}

/// A small frame that differs from its neighbours.
fn picture(number: i64) -> Frame {
    Picture { seed: number as u64, ..Picture::new(PixelFormat::Gray, (64, 4)) }.make()
}

/// The parameters of a run.
struct Run {
    frames: i64,
    source: Fault,
    equalizer: Fault,
    sink: Fault,
    slow: bool,
    cancel_at: Option<i64>,
}

const PLAIN: Run =
    Run { frames: 100, source: Fault::None, equalizer: Fault::None, sink: Fault::None, slow: false, cancel_at: None };

impl Run {
    fn go(&self) -> (Result<Summary>, Arc<Watch>) {
        let watch = Arc::new(Watch::default());
        let cancel = Cancel::default();
        let source = Frames { count: self.frames, next: 0, fault: self.source, watch: watch.clone() };
        let fault = self.equalizer;
        let equalizer = Failing::new(Box::new(Cpu::new(2)), move |call| match call {
            Call::Submit(number) => {
                fault.strike(number as i64, "equalizer").map_err(|error| histeq::Error::Worker(error.to_string()))
            }
            Call::Collect(_) | Call::WarmUp(_) | Call::Remember(_) => Ok(()),
        });
        let cancel_at = self.cancel_at.map(|index| (index, cancel.clone()));
        let sink = Collected { fault: self.sink, slow: self.slow, cancel_at, watch: watch.clone() };
        let progress = Progress::default();
        let stage = EqualizeStage::new(Box::new(equalizer), Settings::default());
        let result = run(Box::new(source), stage, None, Box::new(sink), &cancel, &progress, |_| {});
        (result, watch)
    }
}

/// Each thread of a run holds the watch, so all threads have ended when the test has the only reference.
fn assert_no_thread_is_left(watch: &Arc<Watch>) {
    assert_eq!(Arc::strong_count(watch), 1);
}

#[test]
fn all_frames_arrive_in_order_and_the_output_is_finished() {
    let (result, watch) = PLAIN.go();
    let summary = result.unwrap();
    assert_eq!(summary.outcome, Outcome::Complete);
    assert_eq!(summary.output, Some("memory".into()));
    assert_eq!(watch.written.load(Ordering::SeqCst), 100);
    assert_eq!(watch.finished.load(Ordering::SeqCst), 1);
    assert_no_thread_is_left(&watch);
}

#[test]
fn a_source_without_frames_ends_the_run() {
    let (result, watch) = Run { frames: 0, ..PLAIN }.go();
    assert_eq!(result.unwrap().outcome, Outcome::Complete);
    assert_no_thread_is_left(&watch);
}

#[test]
fn a_slow_sink_holds_the_source_back() {
    let (result, watch) = Run { slow: true, frames: 200, ..PLAIN }.go();
    result.unwrap();
    // At most 4 frames in each of two channels, one in each of three stages, and three in the backend (threads + 1).
    let most = watch.most_under_way.load(Ordering::SeqCst);
    assert!(most <= 2 * 4 + 3 + 3, "{most} frames were under way");
}

#[test]
fn cancelling_finishes_what_is_under_way() {
    let (result, watch) = Run { slow: true, frames: 10_000, cancel_at: Some(20), ..PLAIN }.go();
    assert_eq!(result.unwrap().outcome, Outcome::Interrupted);
    assert_eq!(watch.finished.load(Ordering::SeqCst), 2);
    let (read, written) = (watch.read.load(Ordering::SeqCst), watch.written.load(Ordering::SeqCst));
    assert_eq!(read, written, "what was read is written");
    assert!(written < 100, "and not much more is read");
    assert_no_thread_is_left(&watch);
}

#[test]
fn the_stage_that_fails_gives_the_error_and_nothing_is_finished() {
    for (name, run) in [
        ("source", Run { source: Fault::Error(30), ..PLAIN }),
        ("equalizer", Run { equalizer: Fault::Error(30), ..PLAIN }),
        ("sink", Run { sink: Fault::Error(30), ..PLAIN }),
    ] {
        let (result, watch) = run.go();
        assert_eq!(result.unwrap_err().to_string(), format!("{name} failed at frame 30"));
        assert_eq!(watch.finished.load(Ordering::SeqCst), 0, "{name}");
        assert_no_thread_is_left(&watch);
    }
}

#[test]
fn a_panic_in_a_stage_is_an_error_like_any_other() {
    for run in [
        Run { source: Fault::Panic(30), ..PLAIN },
        Run { equalizer: Fault::Panic(30), ..PLAIN },
        Run { sink: Fault::Panic(30), ..PLAIN },
    ] {
        let (result, watch) = run.go();
        let message = result.unwrap_err().to_string();
        assert!(message.starts_with("bug in the ") && message.contains("panicked at frame 30"), "{message}");
        assert_eq!(watch.finished.load(Ordering::SeqCst), 0);
        assert_no_thread_is_left(&watch);
    }
}
