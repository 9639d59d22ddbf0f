//! A backend that begins, and one that comes later and takes over: the bytes of one backend all along, wherever that
//! happens.

use crate::backends::{Backend, available, gpu};
use crate::failing::{Call, Failing};
use crate::modifiers::{all_settings, gray, video};
use crate::pictures::{Picture, Random, difference, seed};
use crate::program::Dir;
use crate::reader::encoder_is_here;
use anyhow::{Result, anyhow, bail};
use histeq_video::equalize::Equalizer;
use histeq_video::equalize::cpu::Cpu;
use histeq_video::equalize::fallback::Fallback;
use histeq_video::equalize::handover::{HandOver, NextBackend, OnUnavailable, PendingBackend};
use histeq_video::equalize::reference::Reference;
use histeq_video::ffmpeg::DecodeOn;
use histeq_video::frame::{Buffer, Frame, HostPool, LatePool, PixelFormat, Pool};
use histeq_video::pipeline::{Cancel, Notices, Progress, Source, run};
use histeq_video::sink::{self, EncoderChoice, Files, OutputOptions, Overwrite, Target};
use histeq_video::source::{self, InputOptions, Part, RawOptions};
use histeq_video::spec::{Curve, Levels, Region, Settings, Smoothing};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// How often the second backend is not there yet when it is looked for.
const NEVER: usize = usize::MAX;
const MOMENTS: [usize; 6] = [0, 1, 2, 5, 20, NEVER];

type Make = Box<dyn FnOnce() -> Result<Box<dyn Equalizer>> + Send>;

/// A backend that comes when it has been looked for so many times.
struct Due {
    after: usize,
    looked: AtomicUsize,
    make: Make,
}

impl Due {
    fn new(after: usize, make: impl FnOnce() -> Result<Box<dyn Equalizer>> + Send + 'static) -> Box<Self> {
        Box::new(Due { after, looked: AtomicUsize::new(0), make: Box::new(make) })
    }
}

impl PendingBackend for Due {
    fn is_there(&self) -> bool {
        self.looked.fetch_add(1, Ordering::Relaxed) >= self.after
    }

    fn take(self: Box<Self>) -> Result<Box<dyn Equalizer>> {
        (self.make)()
    }
}

/// What has been said so far.
type Said = Arc<Mutex<Vec<String>>>;

/// A next that is what comes, and without which the first backend goes on; and what is said.
fn next(pending: Box<dyn PendingBackend>) -> (NextBackend, Said) {
    let said = Said::default();
    let (told, reported) = (said.clone(), said.clone());
    let next = NextBackend {
        pending,
        wrap: Box::new(|second, _| second),
        on_unavailable: OnUnavailable::Told(Box::new(move |error| {
            told.lock().unwrap().push(format!("absent: {error}"))
        })),
        report: Box::new(move |line: &str| reported.lock().unwrap().push(line.to_owned())),
    };
    (next, said)
}

fn first(settings: Settings) -> Box<dyn Equalizer> {
    Box::new(Cpu::new(settings, 2))
}

/// The CPU until this backend is there.
fn relay(backend: &Backend, settings: Settings, after: usize) -> HandOver {
    let second = backend.make(settings, 3);
    HandOver::new(first(settings), settings, next(Due::new(after, move || Ok(second))).0)
}

/// Takes out a frame, if it says that there is one.
fn collect(equalizer: &mut dyn Equalizer, found: &mut Vec<Frame>) -> bool {
    let there_is_one = equalizer.in_flight() > 0;
    let frame = equalizer.collect().unwrap();
    assert_eq!(frame.is_some(), there_is_one, "frames under way");
    found.extend(frame);
    there_is_one
}

/// Sends frames through, taking them out at any time, as the engine does.
fn through(equalizer: &mut dyn Equalizer, frames: &[Frame]) -> Vec<Frame> {
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
    let mut reference = Reference::new(settings);
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

/// Frames by number, so that none can be taken for another.
fn numbered(frames: impl Iterator<Item = Frame>) -> Vec<Frame> {
    let number = |(number, mut frame): (usize, Frame)| {
        frame.pts = Some(number as i64);
        frame
    };
    frames.enumerate().map(number).collect()
}

/// Two scenes' worth of everything that windows have to do with, at two sizes.
fn frames(format: PixelFormat) -> Vec<Frame> {
    numbered(video(format, (45, 7)).into_iter().chain(video(format, (20, 12))).map(Picture::make))
}

/// A picture between black bars that come and go.
fn barred() -> Vec<Frame> {
    let bars = [0, 3, 3, 2, 2, 2, 2, 4, 4, 4, 4, 4, 4, 4, 0, 4, 4, 4, 4, 4, 4, 4, 4, 4, 3, 3, 3, 3];
    numbered(bars.into_iter().enumerate().map(|(number, bar)| {
        gray((16, 12), |x, y| if (bar..12 - bar).contains(&y) { (40 + 9 * x + y + 3 * number) as u8 } else { 0 })
    }))
}

/// Settings that reach every branch, and bars that outlast the window.
fn settings() -> Vec<Settings> {
    let bars = Settings { smoothing: Smoothing::new(1, 4), region: Region::Auto, ..Settings::default() };
    all_settings().into_iter().chain([bars]).collect()
}

fn one_backend() -> Backend {
    available().into_iter().next().expect("the scalar path is everywhere")
}

#[test]
fn bytes_do_not_tell_where_another_backend_took_over() {
    for settings in settings() {
        for frames in [frames(PixelFormat::Yuv420p), frames(PixelFormat::Gray16le), barred()] {
            let expected = expected(settings, &frames);
            for backend in available() {
                for after in MOMENTS {
                    let mut relay = relay(&backend, settings, after);
                    let found = through(&mut relay, &frames);
                    let what = format!("{} after {after} {settings:?} {}", backend.name, frames[0].format());
                    assert_same(&expected, &found, &what);
                    let name = relay.name();
                    let told = match after {
                        0 => !name.contains("the first"),
                        1 => name.contains(", the first frame by cpu ("),
                        NEVER => name.starts_with("cpu (") && name.ends_with(") while the GPU was opening"),
                        count => name.contains(&format!(", the first {count} by cpu (")),
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
        let warm_up = settings.warm_up() as usize;
        for (frames, begin) in [(frames(PixelFormat::Yuv420p), 12), (barred(), 14), (barred(), 22)] {
            let expected = &expected(settings, &frames)[begin..];
            for backend in available() {
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
    let settings = Settings { smoothing, ..all_settings()[0] };
    let frames = frames(PixelFormat::Gray);
    for backend in available() {
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
    let window = all_settings()[5];
    let levels = Levels::limited(8);
    let inverted = Arc::new(Curve::from_codes(levels, (0..256).rev().collect()).unwrap());
    let frames: Vec<Frame> = frames(PixelFormat::Yuv420p).into_iter().take(17).collect();
    // A curve for all of them, for the first ones, for some in the middle; and settings that begin anew, and back.
    let other = Settings { smoothing: Smoothing::new(2, 1), ..window };
    let stronger = Settings { max_gain: all_settings()[1].max_gain, ..window };
    type Turn = fn(usize) -> bool;
    let turns: [(Turn, Settings); 5] = [
        (|_| true, window),
        (|n| n < 6, window),
        (|n| (3..8).contains(&n), window),
        (|_| false, other),
        (|_| false, stronger),
    ];
    for backend in available() {
        for (is_given, settings) in turns {
            for after in [0, 1, 4, 6, 10, NEVER] {
                let mut relay = relay(&backend, window, after);
                let mut reference = Reference::new(window);
                for (number, frame) in frames.iter().enumerate() {
                    let curve = is_given(number).then(|| inverted.clone());
                    let settings = if (5..9).contains(&number) { settings } else { window };
                    for equalizer in [&mut relay as &mut dyn Equalizer, &mut reference] {
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
    let settings = all_settings()[5];
    let frames = frames(PixelFormat::Gray);
    for after in MOMENTS {
        let (next, said) = next(Due::new(after, || bail!("no such GPU")));
        let mut relay = HandOver::new(first(settings), settings, next);
        assert_same(&expected(settings, &frames), &through(&mut relay, &frames), "alone");
        drop(relay);
        assert_eq!(*said.lock().unwrap(), ["absent: no such GPU"], "after {after}");
    }
}

#[test]
fn a_backend_that_was_insisted_on_fails_the_run_if_it_does_not_come() {
    let settings = all_settings()[5];
    let frames = frames(PixelFormat::Gray);
    let insisting = |after| {
        let (next, said) = next(Due::new(after, || bail!("no such GPU")));
        let next = NextBackend { on_unavailable: OnUnavailable::Fatal, ..next };
        (HandOver::new(first(settings), settings, next), said)
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
    // One that comes, but too late to be of use, is as good.
    let late =
        NextBackend { on_unavailable: OnUnavailable::Fatal, ..next(Due::new(NEVER, move || Ok(first(settings)))).0 };
    let mut relay = HandOver::new(first(settings), settings, late);
    assert_same(&expected(settings, &frames), &through(&mut relay, &frames), "too late");
    assert!(relay.name().ends_with(" while the GPU was opening"), "{}", relay.name());
}

#[test]
fn a_backend_that_fails_before_it_has_taken_over_leaves_it_to_the_first() {
    let settings = all_settings()[8];
    let frames = frames(PixelFormat::Gray);
    for backend in available() {
        let second = Failing::at(backend.make(settings, 3), Call::WarmUp(2));
        let (next, said) = next(Due::new(6, move || Ok(Box::new(second))));
        let mut relay = HandOver::new(first(settings), settings, next);
        assert_same(&expected(settings, &frames), &through(&mut relay, &frames), &backend.name);
        let name = relay.name();
        drop(relay);
        assert_eq!(*said.lock().unwrap(), [format!("failing failed, going on with {name}: out of order")]);
    }
}

#[test]
fn a_backend_that_fails_after_it_has_taken_over_is_replaced() {
    // Each frame by itself, so that nothing is lost with the one that fails.
    let settings = Settings::default();
    let frames = frames(PixelFormat::Gray);
    for backend in available() {
        for at in [0, 1, 9] {
            let second = Failing::at(backend.make(settings, 3), Call::Submit(at));
            let (next, said) = next(Due::new(4, move || Ok(Box::new(second))));
            let report = said.clone();
            let wrap = Box::new(move |second, settings| {
                let build = Box::new(move || Box::new(Reference::new(settings)) as Box<dyn Equalizer>);
                let report = Box::new(move |line: &str| report.lock().unwrap().push(line.to_owned()));
                Box::new(Fallback::new(second, settings, build, report)) as Box<dyn Equalizer>
            });
            let mut relay = HandOver::new(first(settings), settings, NextBackend { wrap, ..next });
            assert_same(&expected(settings, &frames), &through(&mut relay, &frames), &backend.name);
            assert_eq!(*said.lock().unwrap(), ["failing failed, going on with reference: out of order"]);
        }
    }
}

#[test]
fn a_backend_is_waited_for_rather_than_more_frames_held_for_it() {
    let frames = frames(PixelFormat::Gray);
    let bytes = 45 * 7;
    let (window, alone) = (all_settings()[5], Settings::default());
    // A window of 5 and a flash of 2 take 7 frames; the eighth pushes the first one out.
    for (settings, most, moment) in [
        (window, 0, Some(0)),
        (window, 3 * bytes, Some(3)),
        (window, 4 * bytes - 1, Some(3)),
        (window, 7 * bytes - 1, Some(6)),
        (window, 7 * bytes, None),
        (alone, 0, None),
    ] {
        let taken = Arc::new(AtomicUsize::new(0));
        let counter = taken.clone();
        let pending = Due::new(NEVER, move || {
            counter.fetch_add(1, Ordering::SeqCst);
            Ok(one_backend().make(settings, 1))
        });
        let mut relay = HandOver::new(first(settings), settings, next(pending).0).keeping_at_most(most);
        let mut taken_at = None;
        let mut found = Vec::new();
        for (number, frame) in frames[..20].iter().enumerate() {
            relay.submit(frame.clone()).unwrap();
            if taken.load(Ordering::SeqCst) > 0 {
                taken_at.get_or_insert(number);
            }
            while collect(&mut relay, &mut found) {}
        }
        assert_eq!(taken_at, moment, "{most} bytes, {settings:?}");
        assert_same(&expected(settings, &frames[..20]), &found, "waited for");
    }
}

/// A backend that tells when it is gone.
struct Watched(Box<dyn Equalizer>, #[expect(dead_code, reason = "it counts who lives")] Arc<()>);

impl Equalizer for Watched {
    fn submit(&mut self, frame: Frame) -> Result<()> {
        self.0.submit(frame)
    }

    fn warm_up(&mut self, frame: Frame) -> Result<()> {
        self.0.warm_up(frame)
    }

    fn collect(&mut self) -> Result<Option<Frame>> {
        self.0.collect()
    }

    fn finish(&mut self) -> Result<()> {
        self.0.finish()
    }

    fn in_flight(&self) -> usize {
        self.0.in_flight()
    }

    fn capacity(&self) -> usize {
        self.0.capacity()
    }

    fn set(&mut self, settings: Settings) {
        self.0.set(settings);
    }

    fn set_curve(&mut self, curve: Option<Arc<Curve>>) {
        self.0.set_curve(curve);
    }

    fn name(&self) -> String {
        self.0.name()
    }
}

#[test]
fn the_first_backend_goes_with_its_last_frame() {
    let ahead = 3;
    let settings = Settings { smoothing: Smoothing::new(5, 1).looking_ahead(ahead), ..Settings::default() };
    let (frames, life) = (frames(PixelFormat::Gray), Arc::new(()));
    let began = Box::new(Watched(first(settings), life.clone()));
    let pending = Due::new(6, move || Ok(one_backend().make(settings, 2)));
    let mut relay = HandOver::new(began, settings, next(pending).0);
    let mut found = Vec::new();
    for (number, frame) in frames[..15].iter().enumerate() {
        relay.submit(frame.clone()).unwrap();
        while collect(&mut relay, &mut found) {}
        // Frame 5 is the last one of the first backend, and waits for three more.
        let is_there = number < 5 + ahead as usize;
        assert_eq!(Arc::strong_count(&life) == 2, is_there, "at frame {number}");
    }
}

/// Memory that can be told from any other.
struct Marked;

impl Pool for Marked {
    fn buffer(&self, len: usize) -> Result<Box<dyn Buffer>> {
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
    let mut second = Failing::new(first(settings), |_| Ok(()));
    second.pool = Some(Arc::new(Marked));
    let mut relay = HandOver::new(first(settings), settings, next(Due::new(2, move || Ok(Box::new(second)))).0);
    let pool = relay.input_pool().expect("a pool");
    for (number, frame) in frames(PixelFormat::Yuv420p)[..4].iter().enumerate() {
        relay.submit(frame.clone()).unwrap();
        let is_there = number >= 2;
        assert_eq!(pool.buffer(100).unwrap()[99] == 7, is_there, "frame {number}");
        assert_eq!(pool.planes(PixelFormat::Yuv420p), if is_there { 0..1 } else { 0..3 }, "frame {number}");
    }
}

#[test]
fn of_the_memory_that_was_lent_before_nothing_is_kept() {
    let late = LatePool::default();
    let (first, second) = (late.buffer(100).unwrap(), late.buffer(100).unwrap());
    let (address, shared) = (first.as_ptr(), second.freeze());
    drop(first);
    assert_eq!(late.buffer(100).unwrap().as_ptr(), address, "used again until then");
    late.arrive(Arc::new(Marked));
    assert_eq!(late.buffer(100).unwrap()[99], 7);
    assert_eq!(shared.size(), shared.bytes().len(), "what is still held stays");
}

fn quiet() -> Notices {
    Notices::new(false, |_, _| {})
}

fn open(dir: &Dir, name: &str) -> (Box<dyn Source>, histeq_video::pipeline::Input) {
    let options = InputOptions {
        url: dir.path(name).display().to_string(),
        format: None,
        raw: RawOptions { size: None, rate: None, pixel_format: None },
        video_stream: None,
        part: Part { start: None, duration: None, frames: None },
        decode_on: DecodeOn::Cpu,
    };
    source::open(&options, &Cancel::default(), quiet(), Arc::default()).unwrap()
}

#[test]
fn a_gpu_that_turns_out_to_be_missing_leaves_no_output_where_it_was_insisted_on() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25:duration=1 -c:v ffv1 in.mkv");
    for after in [0, 10, NEVER] {
        let (source, input) = open(&dir, "in.mkv");
        let output = dir.path("out.mkv").display().to_string();
        let target = Target::new(&output, "in.mkv", Files::One, Overwrite::No).unwrap();
        let sink = sink::open(input, target, OutputOptions::default(), &mut || false, quiet()).unwrap();
        let settings = all_settings()[5];
        let pending = Due::new(after, || Err(anyhow!("no such GPU")));
        let next = NextBackend { on_unavailable: OnUnavailable::Fatal, ..next(pending).0 };
        let relay = Box::new(HandOver::new(first(settings), settings, next));
        let result = run(source, relay, sink, &Cancel::default(), &Progress::default(), |_| {});
        assert_eq!(result.unwrap_err().to_string(), "no such GPU", "after {after}");
        assert_eq!(dir.names(), ["in.mkv"], "after {after}");
    }
}

#[test]
fn a_gpu_is_waited_for_only_where_it_may_encode() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25:duration=1 -c:v ffv1 ffv1.mkv");
    let asked = |input: &str, output: &str, encoder: Option<&str>| {
        let (_, input) = open(&dir, input);
        let target = Target::new(&dir.path(output).display().to_string(), "", Files::One, Overwrite::Yes).unwrap();
        let encoder = EncoderChoice { encoder: encoder.map(str::to_owned), ..EncoderChoice::default() };
        let mut asked = false;
        let mut on_gpu = || {
            asked = true;
            false
        };
        sink::open(input, target, OutputOptions { encoder, ..OutputOptions::default() }, &mut on_gpu, quiet()).unwrap();
        asked
    };
    assert!(!asked("ffv1.mkv", "out.mkv", None), "no NVENC for FFV1");
    assert!(!asked("ffv1.mkv", "out.png", None), "still images");
    assert!(!asked("ffv1.mkv", "out.y4m", None), "raw frames");
    if !encoder_is_here("H.264", "libx264") {
        return;
    }
    dir.ffmpeg("-i ffv1.mkv -c:v libx264 h264.mkv");
    assert!(!asked("h264.mkv", "out.mkv", Some("libx264")), "the encoder is named");
    assert_eq!(asked("h264.mkv", "out.mkv", None), encoder_is_here("NVENC", "h264_nvenc"), "NVENC is compiled in");
}

#[test]
fn a_file_through_a_gpu_that_is_still_opening_has_the_bytes_of_the_cpu() {
    if gpu().is_none() {
        return;
    }
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=1280x720:rate=50:duration=12 -c:v mpeg4 -q:v 5 in.mkv");
    for options in ["", "--exact", "--look-ahead 0 --method clahe --start 0.5"] {
        dir.succeeds(&format!("--encoder ffv1 {options} --backend cpu -y in.mkv cpu.mkv"));
        dir.ffmpeg("-i cpu.mkv -f framemd5 cpu.md5");
        for backend in if options.is_empty() { &["auto", "cuda"][..] } else { &["cuda"] } {
            let run = dir.succeeds(&format!("--encoder ffv1 {options} --backend {backend} -y in.mkv gpu.mkv"));
            assert!(run.stderr.contains(" by cuda ("), "{options}: {}", run.stderr);
            dir.ffmpeg("-i gpu.mkv -f framemd5 gpu.md5");
            assert_eq!(dir.read("gpu.md5"), dir.read("cpu.md5"), "{backend} {options}");
        }
    }
    // Known only when its driver has started: by then frames have been written.
    let run = dir.run("--encoder ffv1 --backend cuda --gpu 99 in.mkv none.mkv").exits_with(1);
    run.says(&["no GPU 99 (--gpu takes 0 to "]);
    assert!(!dir.names().iter().any(|name| name.contains("none")), "{:?}", dir.names());
    let run = dir.succeeds("--encoder ffv1 --gpu 99 in.mkv auto.mkv");
    assert_eq!(run.stderr.matches("no GPU 99: equalizing on the CPU").count(), 1, "{}", run.stderr);
}
