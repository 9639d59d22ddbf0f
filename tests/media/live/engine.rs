//! The live engine with simple cameras and outputs: late frames are dropped and counted, and do not delay others.

use crate::support::pictures::Picture;
use anyhow::{Result, bail};
use crossbeam_channel::RecvTimeoutError::{Disconnected, Timeout};
use histeq::internal::equalize::backend::reference::Reference;
use histeq::internal::equalize::{EqualizeStage, Equalized, Executor, Work};
use histeq::internal::frame::{Frame, PixelFormat};
use histeq::internal::spec::parameters::Settings;
use histeq::internal::spec::time::Remembered;
use histeq_media::pipeline::live::{
    DropOldestQueue, Latency, LiveOutput, LiveParts, LiveSummary, QueuePolicy, SharedSettings, WarmUp, run,
};
use histeq_media::pipeline::{Cancel, Delivery, Notices, Outcome, Progress, Sink, Source};
use histeq_media::sys::files::Name;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A camera that sends `left` frames, one per `interval`. Each frame in existence holds `token`.
struct Paced {
    left: u32,
    interval: Duration,
    token: Arc<()>,
    most_alive: Arc<AtomicUsize>,
}

impl Source for Paced {
    fn next(&mut self) -> Result<Option<Delivery>> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        std::thread::sleep(self.interval);
        let mut frame = small_frame();
        frame.pts = Some(1000 - i64::from(self.left));
        frame.attachment = Some(self.token.clone());
        self.most_alive.fetch_max(Arc::strong_count(&self.token), Ordering::SeqCst);
        Ok(Some(Delivery { frame: Some(frame), read_at: Some(Instant::now()), ..Delivery::default() }))
    }
}

fn small_frame() -> Frame {
    Picture::new(PixelFormat::Gray, (16, 8)).make()
}

/// An output that needs `time` for each frame.
struct Slow {
    time: Duration,
    fault: bool,
    written: Arc<AtomicUsize>,
}

impl Sink for Slow {
    fn write(&mut self, _delivery: Delivery) -> Result<()> {
        if self.fault {
            bail!("the disk is full");
        }
        std::thread::sleep(self.time);
        self.written.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    fn finish(self: Box<Self>, _outcome: Outcome) -> Result<Option<Name>> {
        Ok(None)
    }
}

/// The reference backend, slowed down: the delays of the first three frames, and the delay of all later ones.
struct Lazy(Reference, [Duration; 3], Duration);

impl Executor for Lazy {
    fn submit(&mut self, work: Work) -> histeq::Result<()> {
        std::thread::sleep(self.1[0]);
        self.1.rotate_left(1);
        self.1[2] = self.2;
        self.0.submit(work)
    }

    fn remember(&mut self, seen: &Remembered) -> histeq::Result<()> {
        self.0.remember(seen)
    }

    fn collect(&mut self) -> histeq::Result<Option<Equalized>> {
        self.0.collect()
    }

    fn in_flight(&self) -> usize {
        self.0.in_flight()
    }

    fn capacity(&self) -> usize {
        1
    }

    fn name(&self) -> String {
        "lazy".to_owned()
    }
}

struct Film {
    frames: u32,
    first: Duration,
    equalize: Duration,
    write: Duration,
    queue_policy: QueuePolicy,
    fault: bool,
}

/// Records at 66 frames/s, which a busy machine can keep up with. Returns the summary, the number of written frames,
/// and the maximum number of frames in existence.
fn film(film: &Film) -> (Result<LiveSummary>, usize, usize) {
    let (most_alive, written) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let interval = Duration::from_millis(15);
    let source = Paced { left: film.frames, interval, token: Arc::new(()), most_alive: most_alive.clone() };
    let sink = Box::new(Slow { time: film.write, fault: film.fault, written: written.clone() });
    let output = LiveOutput { name: "slow".into(), sink, queue_policy: film.queue_policy };
    let lazy = Lazy(Reference::default(), [film.first; 3], film.equalize);
    let cast = LiveParts {
        microphone: None,
        source: Box::new(source),
        stage: EqualizeStage::new(Box::new(lazy), Settings::default()),
        limits_denoising: false,
        shared_settings: &SharedSettings::default(),
        filter: None,
        notices: Notices::silent(),
        warming_up: WarmUp::default().begin(),
        outputs: vec![output],
        viewer: None,
        onlooker: None,
    };
    let tally = run(cast, &Cancel::default(), &Progress::default(), |_| {});
    (tally, written.load(Ordering::SeqCst), most_alive.load(Ordering::SeqCst))
}

const NO_TIME: Duration = Duration::ZERO;

#[test]
fn a_recording_that_keeps_up_has_every_frame() {
    let queue_policy = QueuePolicy::Recording;
    let (tally, written, _) =
        film(&Film { frames: 100, first: NO_TIME, equalize: NO_TIME, write: NO_TIME, queue_policy, fault: false });
    let tally = tally.expect("a good run");
    assert_eq!((written, tally.dropped, tally.outputs[0].dropped), (100, 0, 0));
}

/// On a GPU, the first frames take long, because memory is allocated for them.
#[test]
fn frames_are_not_dropped_while_the_first_ones_are_equalized() {
    let (queue_policy, first) = (QueuePolicy::Recording, Duration::from_millis(300));
    let (tally, written, _) =
        film(&Film { frames: 100, first, equalize: NO_TIME, write: NO_TIME, queue_policy, fault: false });
    let tally = tally.expect("a good run");
    assert_eq!((written, tally.dropped, tally.outputs[0].dropped), (100, 0, 0));
}

#[test]
fn a_slow_output_drops_frames_and_holds_nothing_up() {
    for (queue_policy, waiting) in [(QueuePolicy::Stream, 1), (QueuePolicy::Recording, 60)] {
        let write = Duration::from_millis(60);
        let (tally, written, most_alive) =
            film(&Film { frames: 200, first: NO_TIME, equalize: NO_TIME, write, queue_policy, fault: false });
        let tally = tally.expect("a good run");
        assert_eq!(tally.outputs[0].frames, written as u64);
        assert_eq!(tally.dropped + tally.outputs[0].dropped + written as u64, 200, "{queue_policy:?}");
        assert!(tally.outputs[0].dropped > 50, "{} dropped, {queue_policy:?}", tally.outputs[0].dropped);
        // `waiting` frames in the queue, frames in other stages, and the source's own token.
        assert!(most_alive <= waiting + 15, "{most_alive} frames alive, {queue_policy:?}");
        // If frames were queued instead of dropped, their latency would be seconds.
        let latency = tally.latency.percentile(0.95).expect("frames");
        assert!(latency < Duration::from_millis(500), "{latency:?}");
    }
}

#[test]
fn a_slow_equalizer_drops_frames_and_latency_does_not_grow() {
    let equalize = Duration::from_millis(60);
    let queue_policy = QueuePolicy::Stream;
    let (tally, written, _) =
        film(&Film { frames: 300, first: equalize, equalize, write: NO_TIME, queue_policy, fault: false });
    let tally = tally.expect("a good run");
    assert!(tally.dropped > 150, "{} dropped", tally.dropped);
    assert_eq!(tally.dropped + tally.outputs[0].dropped + written as u64, 300);
    // With outputs, at most eight frames wait for equalization.
    let latency = tally.latency.percentile(0.95).expect("frames");
    assert!(latency < Duration::from_millis(60 * 16), "{latency:?}");
}

#[test]
fn an_output_that_fails_ends_the_run_with_its_error() {
    let queue_policy = QueuePolicy::Recording;
    let (tally, ..) =
        film(&Film { frames: 400, first: NO_TIME, equalize: NO_TIME, write: NO_TIME, queue_policy, fault: true });
    let error = tally.err().expect("an error");
    assert!(error.to_string().contains("disk is full"));
}

#[test]
fn a_slot_keeps_the_newest() {
    let slot = DropOldestQueue::new(1);
    assert_eq!(slot.pop_within(NO_TIME), Err(Timeout));
    (1..=5).for_each(|entry| slot.push(entry));
    assert_eq!((slot.dropped(), slot.pop()), (4, Some(5)));
    slot.push(6);
    slot.close();
    slot.push(7);
    assert_eq!((slot.pop(), slot.pop()), (Some(6), None));
    assert_eq!(slot.pop_within(NO_TIME), Err(Disconnected));
}

#[test]
fn a_percentile_is_the_value_that_this_share_stays_below() {
    let mut latency = Latency::default();
    assert_eq!(latency.percentile(0.95), None);
    (1..=100).for_each(|n| latency.add(Duration::from_millis(n)));
    let about = |share| latency.percentile(share).expect("durations").as_millis();
    assert_eq!((about(0.5), about(0.95), about(1.0)), (50, 95, 100));
    latency.add(Duration::from_secs(3600));
    assert!(latency.percentile(1.0).expect("durations") <= Duration::from_secs(2));
}
