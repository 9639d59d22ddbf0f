//! Failover: a backend takes over from another when it has opened, or when the other one has failed. At whichever frame
//! that happens, the bytes equal those of a single backend.

use crate::backends::{Backend, Sequence, available, by_reference, gpu, with_threadless};
use crate::failing::{Call, Due, Failing, NEVER, Said, guarded, saying, the_reference};
use crate::pictures::{Picture, Random, difference, seed};
use crate::spec::modifiers::{all_settings, gray, video, window, window_ahead, window_with_limits};
use histeq::Error;
use histeq::internal::equalize::backend::cuda::Cuda;
use histeq::internal::equalize::backend::{Failover, OnUnavailable, OpeningBackend};
use histeq::internal::equalize::cpu::Cpu;
use histeq::internal::equalize::{Equalized, Executor, Work};
use histeq::internal::frame::{Buffer, Frame, HostPool, LatePool, PixelFormat, Pool};
use histeq::internal::spec::curves::{Curve, Levels};
use histeq::internal::spec::parameters::{Gain, Method, Region, Settings, Smoothing, Threshold};
use histeq::internal::spec::time::Remembered;
use std::sync::Arc;

/// The numbers of checks that find that the second backend has not opened yet.
const MOMENTS: [usize; 6] = [0, 1, 2, 5, 20, NEVER];

/// Records the error if the second backend does not open, and continues with the first one.
fn optional(said: &Said) -> OnUnavailable {
    let said = said.clone();
    OnUnavailable::Report(Box::new(move |error| said.lock().unwrap().push(format!("absent: {error}"))))
}

fn first() -> Box<dyn Executor> {
    Box::new(Cpu::new(2))
}

/// The CPU until this backend has opened, with the reference as fallback after a failure; and the list of messages.
fn until(opening: Box<dyn OpeningBackend>, settings: Settings) -> (Sequence, Said) {
    let said = Said::default();
    let failover = Failover::opening(first(), opening, optional(&said), Box::new(the_reference), saying(&said));
    (Sequence::new(Box::new(failover), settings), said)
}

/// The CPU until this backend has opened; `after` checks find that it has not.
fn relay(backend: &Backend, settings: Settings, after: usize) -> Sequence {
    let second = backend.open(3);
    until(Due::new(after, move || Ok(second)), settings).0
}

/// Collects a frame, and returns whether there was one. After a failure, frames in flight may have to be redone.
fn collect(equalizer: &mut Sequence, found: &mut Vec<Frame>) -> bool {
    let there_was_one = equalizer.in_flight() > 0;
    let frame = equalizer.collect().unwrap();
    let there_is_one = frame.is_some();
    assert!(if there_is_one { there_was_one } else { equalizer.in_flight() == 0 }, "frames under way");
    found.extend(frame);
    there_is_one
}

/// Equalizes the frames and collects results at random times, as the engine does.
fn through(equalizer: &mut Sequence, frames: &[Frame]) -> Vec<Frame> {
    let (mut random, mut found) = (Random::new(seed()), Vec::new());
    for frame in frames {
        while equalizer.in_flight() >= equalizer.capacity() || random.below(3) == 0 {
            collect(equalizer, &mut found);
        }
        equalizer.submit(frame.clone()).unwrap();
    }
    equalizer.finish().unwrap();
    while collect(equalizer, &mut found) {}
    found
}

fn expected(settings: Settings, frames: &[Frame]) -> Vec<Frame> {
    let mut reference = by_reference(settings);
    frames.iter().for_each(|frame| reference.submit(frame.clone()).unwrap());
    reference.finish().unwrap();
    std::iter::from_fn(|| reference.collect().unwrap()).collect()
}

#[track_caller]
fn assert_same(expected: &[Frame], found: &[Frame], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}: frames");
    for (number, (expected, found)) in expected.iter().zip(found).enumerate() {
        assert_eq!(difference(expected, found), None, "{what}: frame {number}");
    }
}

/// Gives frames their numbers as timestamps, so that mixed-up frames are detected.
fn numbered(frames: impl Iterator<Item = Frame>) -> Vec<Frame> {
    let number = |(number, mut frame): (usize, Frame)| {
        frame.pts = Some(number as i64);
        frame
    };
    frames.enumerate().map(number).collect()
}

/// The test video with its cuts and flashes, at two sizes.
fn frames(format: PixelFormat) -> Vec<Frame> {
    numbered(video(format, (45, 7)).into_iter().chain(video(format, (20, 12))).map(Picture::make))
}

/// Frames with black bars (letterbox) whose height changes.
fn barred() -> Vec<Frame> {
    let bars = [0, 3, 3, 2, 2, 2, 2, 4, 4, 4, 4, 4, 4, 4, 0, 4, 4, 4, 4, 4, 4, 4, 4, 4, 3, 3, 3, 3];
    numbered(bars.into_iter().enumerate().map(|(number, bar)| {
        gray((16, 12), |x, y| if (bar..12 - bar).contains(&y) { (40 + 9 * x + y + 3 * number) as u8 } else { 0 })
    }))
}

/// `all_settings`, and an automatic region, with bars that last longer than the window.
fn settings() -> Vec<Settings> {
    let bars = Settings { smoothing: Smoothing::new(1, 4), region: Region::Auto, ..Settings::default() };
    all_settings().into_iter().chain([bars]).collect()
}

/// All moments; but for 16-bit frames, which take fifty times as long, only one, which changes with `turn`.
fn by_turns<'a, T>(moments: &'a [T], turn: usize, frames: &[Frame]) -> &'a [T] {
    let one = turn % moments.len();
    if frames[0].format().depth() == 16 { &moments[one..=one] } else { moments }
}

/// The number of frames that the CPU has equalized, parsed from the backend's name.
fn first_by_cpu(name: &str) -> usize {
    match name.split_once(", the first ").map(|(_, rest)| rest.split_once(" by cpu (").expect("who made them").0) {
        None => 0,
        Some("frame") => 1,
        Some(count) => count.parse().expect("a number of frames"),
    }
}

fn one_backend() -> Backend {
    available().into_iter().next().expect("the scalar path is everywhere")
}

#[test]
fn bytes_do_not_tell_where_another_backend_took_over() {
    for (turn, settings) in settings().into_iter().enumerate() {
        for frames in [frames(PixelFormat::Yuv420p), frames(PixelFormat::Gray16le), barred()] {
            let expected = expected(settings, &frames);
            for backend in with_threadless() {
                for &after in by_turns(&MOMENTS, turn, &frames) {
                    let mut relay = relay(&backend, settings, after);
                    let found = through(&mut relay, &frames);
                    let what = format!("{} after {after} {settings:?} {}", backend.name, frames[0].format());
                    assert_same(&expected, &found, &what);
                    let name = relay.name();
                    let told = match after {
                        0 => !name.contains("the first"),
                        NEVER => name.starts_with("cpu (") && name.ends_with(") before the GPU was open"),
                        // Frames in flight on the CPU are equalized again by the second backend, so they do not count.
                        most => !name.contains("opening") && first_by_cpu(&name) <= most,
                    };
                    assert!(told, "{name}, after {after}");
                }
            }
        }
    }
}

#[test]
fn a_hand_over_before_or_in_the_part_that_was_asked_for_changes_nothing() {
    for settings in settings() {
        for (frames, begin) in [(frames(PixelFormat::Yuv420p), 12), (barred(), 14), (barred(), 22)] {
            let warm_up = (settings.warm_up() as usize).min(begin);
            let expected = &expected(settings, &frames)[begin..];
            for backend in with_threadless() {
                for after in [0, 1, warm_up, warm_up + 1, warm_up + 6, NEVER] {
                    let mut relay = relay(&backend, settings, after);
                    frames[begin - warm_up..begin].iter().for_each(|frame| relay.warm_up(frame.clone()).unwrap());
                    assert_eq!(relay.in_flight(), 0);
                    let found = through(&mut relay, &frames[begin..]);
                    assert_same(expected, &found, &format!("{} after {after} from {begin} {settings:?}", backend.name));
                }
            }
        }
    }
}

#[test]
fn a_video_may_end_while_frames_wait_for_later_ones() {
    let smoothing = Smoothing::new(12, 3).looking_ahead(9);
    let settings = Settings { smoothing, ..window(3, 1) };
    let frames = frames(PixelFormat::Gray);
    for backend in with_threadless() {
        for (after, count) in [(0, 1), (1, 1), (1, 2), (3, 4), (3, 12), (3, 13), (12, 13), (15, 20), (20, 20), (12, 40)]
        {
            let expected = expected(settings, &frames[..count]);
            let found = through(&mut relay(&backend, settings, after), &frames[..count]);
            assert_same(&expected, &found, &format!("{} after {after} of {count}", backend.name));
        }
    }
}

#[test]
fn given_curves_and_other_settings_come_along() {
    let window = window_with_limits();
    let levels = Levels::limited(8);
    let inverted = Arc::new(Curve::from_codes(levels, (0..256).rev().collect()).unwrap());
    let frames: Vec<Frame> = frames(PixelFormat::Yuv420p).into_iter().take(17).collect();
    // Curves are given for all frames, for the first ones, or for some in the middle; and settings change to another
    // window, or another contrast limit, and back.
    let other = Settings { smoothing: Smoothing::new(2, 1), ..window };
    let stronger = Settings { max_gain: Gain::from_slope(3.0).unwrap(), ..window };
    type Turn = fn(usize) -> bool;
    let turns: [(Turn, Settings); 5] = [
        (|_| true, window),
        (|n| n < 6, window),
        (|n| (3..8).contains(&n), window),
        (|_| false, other),
        (|_| false, stronger),
    ];
    for backend in with_threadless() {
        for (is_given, settings) in turns {
            for after in [0, 1, 4, 6, 10, NEVER] {
                let mut relay = relay(&backend, window, after);
                let mut reference = by_reference(window);
                for (number, frame) in frames.iter().enumerate() {
                    let curve = is_given(number).then(|| inverted.clone());
                    let settings = if (5..9).contains(&number) { settings } else { window };
                    for equalizer in [&mut relay, &mut reference] {
                        equalizer.set(settings);
                        equalizer.set_curve(curve.clone());
                        equalizer.submit(frame.clone()).unwrap();
                    }
                    let (expected, found) = (reference.collect().unwrap().unwrap(), relay.collect().unwrap().unwrap());
                    let what = format!("{} after {after}, {settings:?}, frame {number}", backend.name);
                    assert_eq!(difference(&expected, &found), None, "{what}");
                }
            }
        }
    }
}

#[test]
fn without_a_second_backend_the_first_one_goes_on_and_that_is_told_once() {
    let settings = window_with_limits();
    let frames = frames(PixelFormat::Gray);
    for after in MOMENTS {
        let (mut relay, said) = until(Due::new(after, || Err(Error::Worker("no such GPU".to_owned()))), settings);
        assert_same(&expected(settings, &frames), &through(&mut relay, &frames), "alone");
        drop(relay);
        // If the backend has not opened when all frames are done, the run ends without waiting for it.
        let told: &[&str] = if after == NEVER { &[] } else { &["absent: no such GPU"] };
        assert_eq!(*said.lock().unwrap(), told, "after {after}");
    }
}

#[test]
fn a_backend_that_was_insisted_on_fails_the_run_if_it_does_not_come() {
    let settings = window_with_limits();
    let frames = frames(PixelFormat::Gray);
    let insisting = |after| {
        let said = Said::default();
        let opening = Due::new(after, || Err(Error::Worker("no such GPU".to_owned())));
        let failover = Failover::opening(first(), opening, OnUnavailable::Fail, Box::new(the_reference), saying(&said));
        (Sequence::new(Box::new(failover), settings), said)
    };
    let (mut relay, said) = insisting(3);
    for frame in &frames[..3] {
        relay.submit(frame.clone()).unwrap();
        relay.collect().unwrap().expect("a frame under way");
    }
    assert_eq!(relay.submit(frames[3].clone()).unwrap_err().to_string(), "no such GPU");
    let (mut relay, _) = insisting(NEVER);
    relay.submit(frames[0].clone()).unwrap();
    assert_eq!(relay.finish().unwrap_err().to_string(), "no such GPU");
    drop(relay);
    assert!(said.lock().unwrap().is_empty(), "an error says it");
    // A backend that opens only after the last frame is no error.
    let late = Due::new(NEVER, || Ok(first()));
    let late = Failover::opening(first(), late, OnUnavailable::Fail, Box::new(the_reference), saying(&Said::default()));
    let mut relay = Sequence::new(Box::new(late), settings);
    assert_same(&expected(settings, &frames), &through(&mut relay, &frames), "too late");
    assert!(relay.name().ends_with(" before the GPU was open"), "{}", relay.name());
}

#[test]
fn a_backend_that_fails_while_it_takes_over_leaves_it_to_the_first() {
    let settings = window_ahead();
    let frames = frames(PixelFormat::Gray);
    for backend in with_threadless() {
        for call in [Call::Remember(0), Call::Remember(2), Call::Submit(0), Call::Submit(1)] {
            let second = Failing::at(backend.open(3), call);
            let (mut relay, said) = until(Due::new(12, move || Ok(Box::new(second))), settings);
            // One frame stays in flight while the next one is submitted.
            let mut found = Vec::new();
            for frame in &frames {
                while relay.in_flight() > 1 {
                    collect(&mut relay, &mut found);
                }
                relay.submit(frame.clone()).unwrap();
            }
            relay.finish().unwrap();
            while collect(&mut relay, &mut found) {}
            assert_same(&expected(settings, &frames), &found, &format!("{} {call:?}", backend.name));
            let name = relay.name();
            drop(relay);
            let first_line = said.lock().unwrap()[0].clone();
            if name.starts_with("cpu") {
                assert_eq!(first_line, format!("failing failed, going on with {name}: out of order"), "{call:?}");
            } else {
                assert_eq!(first_line, "failing failed, going on with reference: out of order", "{call:?}");
            }
        }
    }
}

#[test]
fn a_backend_that_fails_after_it_has_taken_over_is_replaced() {
    for settings in [Settings::default(), window_with_limits(), natural()] {
        let frames = frames(PixelFormat::Gray);
        for backend in with_threadless() {
            for index in [0, 1, 9] {
                // The second backend begins with the frames that were in flight on the CPU.
                let second = Failing::at(backend.open(3), Call::Collect(index));
                let (mut relay, said) = until(Due::new(4, move || Ok(Box::new(second))), settings);
                assert_same(&expected(settings, &frames), &through(&mut relay, &frames), &backend.name);
                // A backend with room for a single frame may fail while it takes over; then the CPU still has the
                // frames and continues.
                let name = if relay.name().starts_with("cpu") { relay.name() } else { "reference".to_owned() };
                assert_eq!(*said.lock().unwrap(), [format!("failing failed, going on with {name}: out of order")]);
                assert!(name == "reference" || backend.open(3).capacity() == 1, "{} at {index}", backend.name);
            }
        }
    }
}

/// The program's default settings.
fn natural() -> Settings {
    Settings {
        smoothing: Smoothing::new(25, 6).looking_ahead(10),
        scene_threshold: Threshold::from_share(0.2).unwrap(),
        max_gain: Gain::from_slope(3.0).unwrap(),
        ..Settings::default()
    }
}

#[test]
fn a_backend_that_fails_in_the_middle_is_replaced_and_the_bytes_stay_the_same() {
    let clahe = Settings { method: Method::Clahe { columns: 3, rows: 2 }, ..window_with_limits() };
    let detail = Settings { method: Method::Detail { columns: 4, rows: 3 }, ..window_with_limits() };
    let calls = [Call::Submit(0), Call::Submit(1), Call::Submit(9), Call::Collect(0), Call::Collect(13)];
    for (turn, settings) in [Settings::default(), natural(), clahe, detail].into_iter().chain(settings()).enumerate() {
        for frames in [frames(PixelFormat::Yuv420p), frames(PixelFormat::Gray16le), barred()] {
            let expected = expected(settings, &frames);
            for backend in with_threadless() {
                for &call in by_turns(&calls, turn, &frames) {
                    let (mut guarded, said) = guarded(Box::new(Failing::at(backend.open(3), call)), settings);
                    let what = format!("{} {call:?} {settings:?}", backend.name);
                    assert_same(&expected, &through(&mut guarded, &frames), &what);
                    assert_eq!(*said.lock().unwrap(), ["failing failed, going on with reference: out of order"]);
                }
            }
        }
    }
}

#[test]
fn what_is_told_of_scenes_and_curves_goes_on_after_a_failure() {
    let frames = frames(PixelFormat::Yuv420p);
    let tell = |mut sequence: Sequence| {
        let mut told = Vec::new();
        let mut take = |sequence: &mut Sequence| {
            let Some(applied) = sequence.collect_applied().unwrap() else { return };
            told.push((applied.scene.expect("a scene"), applied.curves.expect("curves"), applied.counts));
        };
        for frame in &frames {
            while sequence.in_flight() >= sequence.capacity() {
                take(&mut sequence);
            }
            sequence.submit(frame.clone()).unwrap();
        }
        sequence.finish().unwrap();
        while sequence.in_flight() > 0 {
            take(&mut sequence);
        }
        told
    };
    let clahe = Settings { method: Method::Clahe { columns: 3, rows: 2 }, ..window_with_limits() };
    let clahe_alone = Settings { smoothing: Smoothing::OFF, ..clahe };
    for settings in settings().into_iter().chain([natural(), clahe, clahe_alone]) {
        let expected = tell(by_reference(settings).telling_everything());
        for backend in with_threadless() {
            let undisturbed = tell(backend.make(settings, 3).telling_everything());
            assert!(undisturbed == expected, "{} {settings:?}", backend.name);
            for index in [1, 14] {
                let (failing, _) = guarded(Box::new(Failing::at(backend.open(3), Call::Collect(index))), settings);
                let found = tell(failing.telling_everything());
                assert_eq!(found.len(), expected.len(), "{} at {index} {settings:?}", backend.name);
                let different = (0..frames.len()).find(|&frame| found[frame] != expected[frame]);
                assert_eq!(different, None, "{} at {index} {settings:?}", backend.name);
            }
        }
    }
}

/// A CUDA backend whose driver refuses a launch for one frame.
struct Refusing(Cuda, usize);

impl Executor for Refusing {
    fn submit(&mut self, work: Work) -> histeq::Result<()> {
        if self.1 == 0 {
            self.0.refuse_next();
        }
        self.1 = self.1.wrapping_sub(1);
        self.0.submit(work)
    }

    fn remember(&mut self, seen: &Remembered) -> histeq::Result<()> {
        self.0.remember(seen)
    }

    fn collect(&mut self) -> histeq::Result<Option<Equalized>> {
        self.0.collect()
    }

    fn finish(&mut self) -> histeq::Result<()> {
        self.0.finish()
    }

    fn in_flight(&self) -> usize {
        self.0.in_flight()
    }

    fn capacity(&self) -> usize {
        self.0.capacity()
    }

    fn name(&self) -> String {
        self.0.name()
    }
}

#[test]
fn a_gpu_whose_driver_refuses_a_launch_at_any_frame_leaves_the_bytes_as_they_were() {
    let Some(gpu) = gpu() else { return };
    for format in [PixelFormat::Yuv420p, PixelFormat::Yuv420p10le, PixelFormat::Gray16le, PixelFormat::Rgb24] {
        let frames = frames(format);
        let expected = expected(natural(), &frames);
        for index in [0, 1, 2, 5, 9, 12, 17, 20, 23, frames.len() - 1] {
            let refusing = Box::new(Refusing(Cuda::on(gpu, 4).unwrap(), index));
            let (mut guarded, said) = guarded(refusing, natural());
            assert_same(&expected, &through(&mut guarded, &frames), &format!("{format} at {index}"));
            assert_eq!(said.lock().unwrap().len(), 1, "{format} at {index}: {said:?}");
        }
    }
}

#[test]
fn a_failure_of_the_second_backend_is_final() {
    let broken = || Box::new(Failing::at(the_reference(), Call::Submit(0))) as Box<dyn Executor>;
    let failover = Failover::new(broken(), Box::new(broken), Box::new(|_| {}));
    let mut equalizer = Sequence::new(Box::new(failover), Settings::default());
    let frame = Picture::new(PixelFormat::Gray, (4, 4)).make();
    assert_eq!(equalizer.submit(frame).unwrap_err().to_string(), "out of order");
}

#[test]
fn a_backend_that_fails_while_it_warms_up_is_replaced() {
    let settings = Settings { smoothing: Smoothing::new(4, 1), ..Settings::default() };
    let frames = frames(PixelFormat::Gray);
    for index in 0..3 {
        let (mut equalizer, _) = guarded(Box::new(Failing::at(the_reference(), Call::WarmUp(index))), settings);
        frames[..3].iter().for_each(|frame| equalizer.warm_up(frame.clone()).unwrap());
        let found = equalizer.equalize(&frames[3]);
        assert_eq!(difference(&expected(settings, &frames[..4])[3], &found), None);
    }
}

/// A backend with an `Arc` whose count shows whether the backend has been dropped.
struct Watched(Box<dyn Executor>, #[expect(dead_code, reason = "it counts who lives")] Arc<()>);

impl Executor for Watched {
    fn submit(&mut self, work: Work) -> histeq::Result<()> {
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
        self.0.capacity()
    }

    fn name(&self) -> String {
        self.0.name()
    }
}

#[test]
fn the_first_backend_is_gone_once_another_one_has_taken_over() {
    let settings = Settings { smoothing: Smoothing::new(5, 1).looking_ahead(3), ..Settings::default() };
    let (frames, life, said) = (frames(PixelFormat::Gray), Arc::new(()), Said::default());
    let began = Box::new(Watched(first(), life.clone()));
    let opening = Due::new(6, || Ok(one_backend().open(2)));
    let failover = Failover::opening(began, opening, optional(&said), Box::new(the_reference), saying(&said));
    let mut relay = Sequence::new(Box::new(failover), settings);
    for (number, frame) in frames[..15].iter().enumerate() {
        relay.submit(frame.clone()).unwrap();
        while collect(&mut relay, &mut Vec::new()) {}
        assert_eq!(Arc::strong_count(&life) == 2, number < 6, "at frame {number}");
    }
}

/// A pool that fills its buffers with 7, so that they can be recognized.
struct Marked;

impl Pool for Marked {
    fn buffer(&self, len: usize) -> std::result::Result<Box<dyn Buffer>, histeq::internal::frame::MemoryError> {
        let mut buffer = HostPool::default().take(len);
        buffer.fill(7);
        Ok(Box::new(buffer))
    }

    fn planes(&self, format: PixelFormat) -> std::ops::Range<usize> {
        format.rewritten_planes(false)
    }
}

#[test]
fn the_memory_of_the_second_backend_is_lent_once_it_is_there() {
    let settings = Settings::default();
    let mut second = Failing::new(first(), |_| Ok(()));
    second.pool = Some(Arc::new(Marked));
    let mut relay = until(Due::new(2, move || Ok(Box::new(second))), settings).0;
    let pool = relay.input_pool().expect("a pool");
    for (number, frame) in frames(PixelFormat::Yuv420p)[..4].iter().enumerate() {
        relay.submit(frame.clone()).unwrap();
        let is_there = number >= 2;
        assert_eq!(pool.buffer(100).unwrap()[99] == 7, is_there, "frame {number}");
        assert_eq!(pool.planes(PixelFormat::Yuv420p), if is_there { 0..1 } else { 0..3 }, "frame {number}");
    }
}

#[test]
fn nothing_is_kept_of_the_memory_that_was_lent_before() {
    let late = LatePool::default();
    let (first, second) = (late.buffer(100).unwrap(), late.buffer(100).unwrap());
    let (address, shared) = (first.as_ptr(), second.freeze());
    drop(first);
    assert_eq!(late.buffer(100).unwrap().as_ptr(), address, "used again until then");
    late.replace(Arc::new(Marked));
    assert_eq!(late.buffer(100).unwrap()[99], 7);
    assert_eq!(shared.size(), shared.bytes().len(), "what is still held stays");
}
