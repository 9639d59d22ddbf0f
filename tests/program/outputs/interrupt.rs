//! Ctrl-C and SIGTERM: the first signal asks for a clean end, the second ends the program at once.

use crate::support::media::reader::encoder_is_here;
use crate::support::programs::program::{Dir, told};
use crate::support::programs::running::{Running, under_load};
use rustix::process::Signal;
use std::io::{BufRead, BufReader};
use std::process::{ChildStderr, Stdio};
use std::time::{Duration, Instant};

/// Options that make a run slow, and report its progress.
const OPTIONS: &str = "--encoder libx264 --preset placebo --progress json";

/// A run that takes long enough to be interrupted.
struct Slow {
    running: Running,
    stderr: BufReader<ChildStderr>,
}

impl Slow {
    /// Starts the run, and waits until it has written frames.
    fn start(dir: &Dir, size: &str, options: &str) -> Self {
        Slow::start_line(dir, size, &format!("{OPTIONS} {options} long.mkv out.mkv"))
    }

    fn start_line(dir: &Dir, size: &str, line: &str) -> Self {
        dir.ffmpeg(&format!("-f lavfi -i testsrc2=size={size}:rate=25 -frames:v 50 -c:v mpeg4 -q:v 3 short.mkv"));
        dir.ffmpeg("-stream_loop 40 -i short.mkv -c copy long.mkv");
        std::fs::remove_file(dir.path("short.mkv")).expect("a file to remove");
        let mut running = Running::start(dir.command(line).stderr(Stdio::piped()));
        let stderr = BufReader::new(running.child().stderr.take().expect("a pipe"));
        let mut slow = Slow { running, stderr };
        slow.wait_for(|line| {
            let record: serde_json::Value = serde_json::from_str(line).unwrap_or_default();
            record["frame"].as_u64().is_some_and(|frame| frame >= 5)
        });
        slow
    }

    fn wait_for(&mut self, is_it: impl Fn(&str) -> bool) {
        let mut line = String::new();
        while self.stderr.read_line(&mut line).expect("stderr can be read") > 0 {
            if is_it(line.trim()) {
                return;
            }
            line.clear();
        }
        panic!("the run ended before it could be interrupted");
    }

    /// Waits for the end. Returns the exit code and the messages.
    fn end(self) -> (Option<i32>, String) {
        let (code, rest) = self.end_raw();
        (code, rest.lines().filter_map(told).map(|line| line + "\n").collect())
    }

    /// Waits for the end. Returns the exit code and the raw events.
    fn end_raw(mut self) -> (Option<i32>, String) {
        let mut rest = String::new();
        std::io::Read::read_to_string(&mut self.stderr, &mut rest).expect("stderr can be read");
        (self.running.ends_within(Duration::from_secs(60)), rest)
    }
}

/// Runs `line`, in which `OPTIONS` slow it down, and interrupts it once it has written frames of `long.mkv` to
/// `out.mkv`. Returns its exit code and its messages.
pub fn interrupted(dir: &Dir, line: &str) -> (Option<i32>, String) {
    let run = Slow::start_line(dir, "96x64", &line.replace("OPTIONS", OPTIONS));
    run.running.signal(Signal::INT);
    run.end()
}

/// Like [`interrupted`], but returns all raw events after the interruption.
pub fn interrupted_raw(dir: &Dir, line: &str) -> (Option<i32>, String) {
    let run = Slow::start_line(dir, "96x64", &line.replace("OPTIONS", OPTIONS));
    run.running.signal(Signal::INT);
    run.end_raw()
}

#[test]
fn an_interrupted_run_leaves_a_playable_file_of_what_was_encoded() {
    if !encoder_is_here("interrupting", "libx264") {
        return;
    }
    for signal in [Signal::INT, Signal::TERM] {
        let dir = Dir::new();
        let run = Slow::start(&dir, "96x64", "");
        run.running.signal(signal);
        let (code, said) = run.end();
        assert_eq!(code, Some(130), "{said}");
        assert!(said.contains("interrupted"), "{said}");
        assert_eq!(dir.names(), ["long.mkv", "out.partial.mkv"]);
        let frames = dir.frames("out.partial.mkv").len();
        assert!((5..2000).contains(&frames), "{frames} frames after {signal:?}");
        assert!(said.contains(&format!("{frames} frames in")), "{frames} frames in the file, but: {said}");
    }
}

#[test]
fn an_interrupted_run_keeps_its_hands_off_the_file_that_was_there() {
    if !encoder_is_here("interrupting", "libx264") {
        return;
    }
    let dir = Dir::new();
    dir.write("out.mkv", b"precious");
    let run = Slow::start(&dir, "96x64", "-y");
    run.running.signal(Signal::INT);
    let (code, said) = run.end();
    assert_eq!(code, Some(130), "{said}");
    assert_eq!(dir.names(), ["long.mkv", "out.mkv", "out.partial.mkv"]);
    assert_eq!(dir.read("out.mkv"), b"precious");
    assert!(dir.frames("out.partial.mkv").len() >= 5);
}

#[test]
fn a_second_signal_ends_at_once_and_leaves_nothing() {
    if !encoder_is_here("interrupting", "libx264") {
        return;
    }
    let dir = Dir::new();
    let mut run = Slow::start(&dir, "1280x720", "");
    run.running.signal(Signal::INT);
    run.wait_for(|line| line.contains("again to give up at once"));
    std::thread::sleep(Duration::from_millis(300));
    let begin = Instant::now();
    run.running.signal(Signal::INT);
    let (code, said) = run.end();
    assert_eq!(code, Some(130), "{said}");
    assert!(begin.elapsed() < under_load(Duration::from_secs(5)), "it took {:?}", begin.elapsed());
    assert_eq!(dir.names(), ["long.mkv"]);
}

#[test]
fn a_signal_that_comes_twice_at_once_is_one() {
    if !encoder_is_here("interrupting", "libx264") {
        return;
    }
    let dir = Dir::new();
    let run = Slow::start_line(&dir, "96x64", &"OPTIONS long.mkv out.mkv".replace("OPTIONS", OPTIONS));
    // As by `timeout`, which sends it to its child and to its group.
    run.running.signal(Signal::INT);
    run.running.signal(Signal::TERM);
    let (code, said) = run.end();
    assert_eq!(code, Some(130), "{said}");
    assert_eq!(dir.names(), ["long.mkv", "out.partial.mkv"]);
}

#[test]
fn signals_that_were_ignored_stay_so() {
    if !encoder_is_here("ignored signals", "libx264") {
        return;
    }
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=96x64:rate=25 -frames:v 100 -c:v mpeg4 -q:v 3 in.mkv");
    let program = dir.command("").get_program().to_owned();
    let mut shell = dir.other_command("sh", "-c");
    let line = format!("trap '' HUP; exec {} --backend cpu {OPTIONS} in.mkv out.mkv", program.display());
    let mut running = Running::start(shell.arg(line).stderr(Stdio::null()));
    running.wait_until_it_ignores(Signal::HUP);
    running.signal(Signal::HUP);
    assert_eq!(running.ends_within(Duration::from_secs(60)), Some(0));
    assert_eq!(dir.frames("out.mkv").len(), 100);
}

#[test]
fn an_interrupted_run_does_not_wait_for_all_that_a_slow_encoder_holds() {
    if !encoder_is_here("interrupting", "libx264") {
        return;
    }
    let dir = Dir::new();
    // The encoder's look-ahead holds 60 frames. Each takes a good part of a second, even on many cores.
    let run = Slow::start(&dir, "1280x720", "--encoder-option threads=2");
    let begin = Instant::now();
    run.running.signal(Signal::INT);
    let (code, said) = run.end();
    let took = begin.elapsed();
    assert_eq!(code, Some(130), "{said}");
    assert!(said.contains("interrupted, finishing the file within seconds"), "{said}");
    // The encoder finishes the frames that it has begun, which takes a busy machine long, and begins no others.
    assert!(took < under_load(Duration::from_secs(10)), "it took {took:?}");
    let frames = dir.frames("out.partial.mkv").len();
    assert!(frames < 45, "{frames} frames were encoded in {took:?}");
    assert!(said.contains(&format!("{frames} frames in")), "{frames} frames in the file, but: {said}");
}

/// If a run was interrupted after its last frame had been read, it counted as complete: it replaced the old file by a
/// part of the film, and exited with 0.
#[test]
fn a_run_that_ends_while_its_last_frames_wait_is_not_called_whole() {
    if !encoder_is_here("interrupting", "libx264") {
        return;
    }
    let dir = Dir::new();
    // The clip has fewer frames than the encoder's look-ahead, so no packet is written before the end.
    dir.ffmpeg("-f lavfi -i testsrc2=size=1280x720:rate=25 -frames:v 40 -c:v mpeg4 -q:v 3 clip.mkv");
    dir.write("out.mkv", b"what was there");
    let line = "--backend cpu --encoder-option threads=1 -y clip.mkv out.mkv";
    let run = Slow::start_line(&dir, "96x64", &format!("{OPTIONS} {line}"));
    run.running.signal(Signal::INT);
    let (code, said) = run.end();
    assert_eq!(code, Some(130), "{said}");
    assert_eq!(dir.read("out.mkv"), b"what was there");
    let frames = dir.frames("out.partial.mkv").len();
    assert!(frames < 40, "{frames} frames: {said}");
    std::fs::remove_file(dir.path("out.partial.mkv")).expect("a file to remove");
    dir.run(&format!("{OPTIONS} --max-seconds 2 {line}")).exits_with(8);
    assert_eq!(dir.read("out.mkv"), b"what was there");
}

#[test]
fn two_signals_end_a_run_whose_messages_nobody_reads() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=96x64:rate=25 -frames:v 2000 -c:v mpeg4 -q:v 3 long.mkv");
    let (_reader, writer) = rustix::pipe::pipe().expect("a pipe");
    let bytes = rustix::pipe::fcntl_setpipe_size(&writer, 4096).expect("a small pipe");
    rustix::io::write(&writer, &vec![b' '; bytes]).expect("a full pipe");
    let mut command = dir.command("--backend cpu --encoder ffv1 long.mkv out.mkv");
    let mut running = Running::start(command.stderr(Stdio::from(writer)));
    running.wait_until_it_listens();
    running.signal(Signal::INT);
    std::thread::sleep(Duration::from_secs(2));
    running.signal(Signal::INT);
    assert_eq!(running.ends_within(Duration::from_secs(60)), Some(130));
}

#[test]
fn an_interrupted_one_of_many_files_leaves_what_was_encoded_too() {
    if !encoder_is_here("interrupting", "libx264") {
        return;
    }
    let dir = Dir::new();
    let (code, said) = interrupted_raw(&dir, "--output-dir out OPTIONS long.mkv");
    assert_eq!(code, Some(130), "{said}");
    assert_eq!(dir.names(), ["long.mkv", "out/long.partial.mkv"]);
    let frames = dir.frames("out/long.partial.mkv").len();
    let told: Vec<serde_json::Value> = said.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let value_of = |kind: &str| told.iter().find(|event| event["event"] == kind).expect("an event");
    let (file, result) = (value_of("file"), value_of("result"));
    assert_eq!((&file["exit_code"], &file["partial"]), (&130.into(), &"out/long.partial.mkv".into()), "{file}");
    assert_eq!(file["frames"].as_u64(), Some(frames as u64), "{file}");
    assert_eq!(result["outputs"][0]["name"], "out/long.partial.mkv", "{result}");
}
