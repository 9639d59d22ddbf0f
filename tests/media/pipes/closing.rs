//! How a pipe ends: in the middle of a frame, by a reader that closes it, by Ctrl-C while no data arrives; and what
//! must not be written to it.

use super::noise;
use super::stream::{Stream, stream};
use crate::support::media::textbook::{Raw, assert_same_video};
use crate::support::programs::program::{Dir, Run};
use crate::support::programs::running::{Running, under_load};
use rustix::process::Signal;
use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const RAW: Raw = Raw { format: "yuv420p", size: (64, 48), limited: true };
const HEADER: &str = "YUV4MPEG2 W64 H48 F25:1 C420jpeg";
const DESCRIBED: &str = "-f rawvideo -s 64x48 --pixel-format yuv420p --backend cpu --exact";

/// The longest time that Ctrl-C may take when there is nothing to finish.
const SOON: Duration = Duration::from_secs(5);

/// A command that runs the program with pipes as stdin, stdout and stderr.
fn piped(dir: &Dir, line: &str) -> Command {
    let mut command = dir.command(line);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn make_fifo(dir: &Dir, name: &str) {
    Run::from_command(&mut dir.other_command("mkfifo", name), name).exits_with(0);
}

#[test]
fn a_last_frame_that_is_cut_off_is_reported_and_the_whole_ones_are_written() {
    let dir = Dir::new();
    let video = noise(RAW, 3);
    let (whole, expected) = (2 * RAW.frame_bytes(), RAW.equalized(&video));
    let y4m = stream(HEADER, RAW, &video);
    for cut in [1, RAW.frame_bytes() / 2, RAW.frame_bytes() - 1] {
        let raw = dir.fed(&format!("{DESCRIBED} --output-format rawvideo - -"), &video[..whole + cut]).exits_with(0);
        let says = format!("stdin: frame 2: the last frame is cut off ({cut} of {} bytes)", RAW.frame_bytes());
        let raw = raw.says(&["warning", &says, "1 damaged"]);
        assert_same_video("raw", RAW, &raw.stdout, &expected[..whole]);
        let framed = dir.fed("--exact --backend cpu - -", &y4m[..y4m.len() - RAW.frame_bytes() + cut]).exits_with(0);
        let framed = framed.says(&["warning", &says]);
        assert_same_video("y4m", RAW, &Stream::parse(&framed.stdout, RAW).video, &expected[..whole]);
        dir.fed(&format!("--strict {DESCRIBED} - -"), &video[..whole + cut]).fails().says(&["--strict"]);
        // Even with `-q`, the program warns that a part of the input is lost.
        let run = dir.fed(&format!("-q {DESCRIBED} - -"), &video[..whole + cut]).exits_with(0);
        assert_eq!(run.stderr, format!("histeq-video: warning: {says}\n"));
    }
    let headless = dir.fed("--exact --backend cpu - -", &y4m[..y4m.len() - RAW.frame_bytes()]).exits_with(0);
    headless.says(&["the last frame is cut off (0 of"]);
    let nothing = dir.fed(&format!("{DESCRIBED} - -"), &video[..100]).fails();
    nothing.says(&["the last frame is cut off (100 of", "not a single whole frame"]);
}

#[test]
fn a_reader_that_goes_away_ends_the_run_quietly() {
    let dir = Dir::new();
    let input = stream(HEADER, RAW, &noise(RAW, 600));
    for output in ["", "--output-format rawvideo", "--output-format nut --encoder rawvideo"] {
        let mut running = Running::start(&mut piped(&dir, &format!("--backend cpu {output} - -")));
        let child = running.child();
        let (mut stdin, mut stderr) = (child.stdin.take().expect("a pipe"), child.stderr.take().expect("a pipe"));
        let mut begin = vec![0; 10_000];
        let mut said = String::new();
        std::thread::scope(|scope| {
            scope.spawn(|| drop(stdin.write_all(&input)));
            let mut stdout = child.stdout.take().expect("a pipe");
            stdout.read_exact(&mut begin).expect("a beginning");
            drop(stdout);
            stderr.read_to_string(&mut said).expect("text");
        });
        assert_eq!((running.ends_within(under_load(SOON)), said.as_str()), (Some(0), ""), "with '{output}'");
    }
}

#[test]
fn nothing_but_frames_comes_out_of_stdout() {
    let dir = Dir::new();
    let video = noise(RAW, 30);
    let input = stream(HEADER, RAW, &video);
    let expected = RAW.equalized(&video);
    for options in ["-v --progress plain", "-q --progress json", "--verify"] {
        let run =
            dir.fed(&format!("--exact --backend cpu {options} --output-format rawvideo - -"), &input).exits_with(0);
        assert_same_video(options, RAW, &run.stdout, &expected);
    }
    let run = dir.fed("--backend cpu -q - -", &input).exits_with(0);
    assert_eq!(run.stderr, "");
}

#[test]
fn a_writer_is_told_when_enough_has_been_read() {
    let dir = Dir::new();
    let video = noise(RAW, 600);
    let run = dir.fed(&format!("{DESCRIBED} --frames 3 --output-format rawvideo - -"), &video).exits_with(0);
    assert_same_video("--frames 3", RAW, &run.stdout, &RAW.equalized(&video[..3 * RAW.frame_bytes()]));
}

#[test]
fn a_fifo_is_read_as_stdin_is() {
    let dir = Dir::new();
    let video = noise(RAW, 5);
    dir.write("in.y4m", &stream(HEADER, RAW, &video));
    dir.ffmpeg("-i in.y4m -c:v ffv1 -f matroska in.mkv");
    make_fifo(&dir, "fifo");
    dir.write("out.y4m", b"old");
    for (input, options) in [("in.y4m", ""), ("in.mkv", ""), ("in.mkv", "-f matroska")] {
        let mut running =
            Running::start(&mut dir.command(&format!("--exact --backend cpu -q -y {options} fifo out.y4m")));
        // The program waits until a writer opens the FIFO.
        std::thread::sleep(Duration::from_millis(50));
        let mut fifo = OpenOptions::new().write(true).open(dir.path("fifo")).expect("a reader");
        fifo.write_all(&dir.read(input)).expect("a reader that reads on");
        drop(fifo);
        assert_eq!(running.ends_within(Duration::from_secs(60)), Some(0), "{input}");
        let found = Stream::parse(&dir.read("out.y4m"), RAW);
        assert_same_video(input, RAW, &found.video, &RAW.equalized(&video));
    }
}

#[test]
fn a_fifo_is_written_to_its_reader() {
    let dir = Dir::new();
    let video = noise(RAW, 5);
    dir.write("in.y4m", &stream(HEADER, RAW, &video));
    make_fifo(&dir, "fifo");
    let mut running = Running::start(&mut dir.command("--exact --backend cpu -q --output-format rawvideo in.y4m fifo"));
    let found = std::fs::read(dir.path("fifo")).expect("frames");
    assert_eq!(running.ends_within(under_load(SOON)), Some(0));
    assert_same_video("a FIFO", RAW, &found, &RAW.equalized(&video));
    let mut running = Running::start(&mut dir.command("--exact --backend cpu -q in.y4m fifo"));
    let found = std::fs::read(dir.path("fifo")).expect("y4m");
    assert_eq!(running.ends_within(under_load(SOON)), Some(0));
    assert_same_video("a FIFO of y4m", RAW, &Stream::parse(&found, RAW).video, &RAW.equalized(&video));
}

#[test]
fn a_fifo_waits_for_a_reader_who_comes_late_and_lets_go_of_one_who_leaves() {
    let dir = Dir::new();
    let video = noise(RAW, 600);
    dir.write("in.y4m", &stream(HEADER, RAW, &video));
    make_fifo(&dir, "fifo");
    for (output, input) in [
        ("--output-format rawvideo", "-f rawvideo -s 64x48 -pix_fmt yuv420p"),
        ("--output-format nut --encoder rawvideo", ""),
    ] {
        let line = format!("--exact --backend cpu -q {output} --frames 5 in.y4m fifo");
        let mut running = Running::start(&mut dir.command(&line));
        std::thread::sleep(Duration::from_millis(300));
        dir.ffmpeg(&format!("{input} -i fifo -f rawvideo found.raw"));
        assert_eq!(running.ends_within(under_load(SOON)), Some(0), "with '{output}'");
        assert_same_video(output, RAW, &dir.read("found.raw"), &RAW.equalized(&video[..5 * RAW.frame_bytes()]));

        let mut running = Running::start(
            dir.command(&format!("--backend cpu {output} in.y4m fifo")).stdout(Stdio::null()).stderr(Stdio::piped()),
        );
        let mut fifo = std::fs::File::open(dir.path("fifo")).expect("a writer");
        fifo.read_exact(&mut [0; 10_000]).expect("a beginning");
        drop(fifo);
        let mut said = String::new();
        running.child().stderr.take().expect("a pipe").read_to_string(&mut said).expect("text");
        assert_eq!((running.ends_within(under_load(SOON)), said.as_str()), (Some(0), ""), "with '{output}'");
    }
}

#[test]
fn ctrl_c_ends_a_run_at_once_that_waits_for_a_reader() {
    let dir = Dir::new();
    dir.write("in.y4m", &stream(HEADER, RAW, &noise(RAW, 2)));
    make_fifo(&dir, "fifo");
    for line in [
        "--backend cpu --output-format rawvideo in.y4m fifo",
        "--backend cpu --output-format yuv4mpegpipe in.y4m fifo",
        "--backend cpu --output-format matroska --encoder ffv1 in.y4m fifo",
        "live --backend cpu --no-preview -f lavfi testsrc2 --output-format nut --encoder ffv1 -o fifo",
    ] {
        let mut running = Running::start(dir.command(line).stderr(Stdio::piped()));
        running.wait_until_it_listens();
        // By then, the program waits for a reader of its output.
        std::thread::sleep(Duration::from_millis(400));
        running.signal(Signal::INT);
        assert_eq!(running.ends_within(under_load(SOON)), Some(130), "`{line}`");
        let mut said = String::new();
        running.child().stderr.take().expect("a pipe").read_to_string(&mut said).expect("text");
        assert!(said.contains("fifo: interrupted before anybody read from it"), "`{line}` said {said}");
    }
    assert_eq!(std::fs::read_dir(dir.path("")).expect("a folder").count(), 2);
}

#[test]
fn ctrl_c_ends_a_run_at_once_that_waits_for_its_first_byte() {
    let dir = Dir::new();
    make_fifo(&dir, "fifo");
    for line in [
        "--backend cpu - -".to_owned(),
        "--backend cpu - out.mkv".to_owned(),
        "--backend cpu fifo -".to_owned(),
        "--backend cpu -f matroska - -".to_owned(),
        "--backend cpu -f yuv4mpegpipe fifo -".to_owned(),
        format!("{DESCRIBED} - -"),
        format!("{DESCRIBED} fifo out.mkv"),
        "live --backend cpu --no-preview -f mpegts -o - fifo".to_owned(),
        "live --backend cpu --no-preview --record out.mkv -".to_owned(),
    ] {
        for signal in [Signal::INT, Signal::TERM] {
            let mut running = Running::start(&mut piped(&dir, &line));
            running.wait_until_it_listens();
            // By then, the program waits for its first byte of input.
            std::thread::sleep(Duration::from_millis(100));
            running.signal(signal);
            assert_eq!(running.ends_within(under_load(SOON)), Some(130), "`{line}` after {signal:?}");
            let mut said = String::new();
            let stderr = running.child().stderr.take();
            stderr.expect("a pipe").read_to_string(&mut said).expect("text");
            assert!(said.contains("interrupted") && !said.contains("-f rawvideo -s"), "`{line}` said {said}");
            let files = std::fs::read_dir(dir.path("")).expect("a folder").count();
            assert_eq!(files, 1, "something lies beside the FIFO after `{line}`");
        }
    }
}

#[test]
fn ctrl_c_in_a_silence_keeps_the_frames_before_it() {
    let dir = Dir::new();
    let video = noise(RAW, 4);
    let y4m = stream(HEADER, RAW, &video);
    // The input stops between two frames, in a frame, and in a frame header.
    for cut in [0, 100, RAW.frame_bytes() + 3] {
        let mut running = Running::start(&mut piped(&dir, "--exact --backend cpu - -"));
        let child = running.child();
        let mut stdin = child.stdin.take().expect("a pipe");
        let mut stdout = child.stdout.take().expect("a pipe");
        stdin.write_all(&y4m[..y4m.len() - cut]).expect("a reader");
        running.wait_until_it_listens();
        // By then, the program waits for more data.
        std::thread::sleep(Duration::from_millis(200));
        running.signal(Signal::INT);
        assert_eq!(running.ends_within(under_load(SOON)), Some(130), "{cut} bytes before the end");
        let mut found = Vec::new();
        stdout.read_to_end(&mut found).expect("frames");
        let frames = video.len() - if cut == 0 { 0 } else { RAW.frame_bytes() };
        let found = Stream::parse(&found, RAW).video;
        assert_same_video("before Ctrl-C", RAW, &found, &RAW.equalized(&video[..frames]));
    }
}

#[test]
fn one_ctrl_c_ends_a_run_whose_reader_reads_nothing() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=640x360:rate=25 -frames:v 50 -c:v ffv1 in.mkv");
    Run::from_command(&mut dir.other_command("mkfifo", "fifo"), "mkfifo").exits_with(0);
    for output in [
        "-",
        "--output-format rawvideo -",
        "--output-format nut --encoder rawvideo -",
        "-y fifo",
        "-y --output-format nut --encoder rawvideo fifo",
    ] {
        let mut running = Running::start(&mut piped(&dir, &format!("--backend cpu in.mkv {output}")));
        let fifo = dir.path("fifo");
        let is_fifo = output.ends_with("fifo");
        let reader = is_fifo.then(|| std::fs::File::open(fifo).expect("a FIFO"));
        let begin = Instant::now();
        let waiting = |running: &mut Running| match &reader {
            Some(fifo) => rustix::io::ioctl_fionread(fifo),
            None => rustix::io::ioctl_fionread(running.child().stdout.as_ref().expect("a pipe")),
        };
        while waiting(&mut running).expect("a number of bytes") == 0 {
            assert!(begin.elapsed() < Duration::from_secs(60), "{output}: it writes nothing");
            std::thread::sleep(Duration::from_millis(5));
        }
        // By then the pipe is full.
        std::thread::sleep(Duration::from_millis(500));
        running.signal(Signal::INT);
        assert_eq!(running.ends_within(under_load(SOON)), Some(130), "{output}");
        let mut said = String::new();
        running.child().stderr.take().expect("a pipe").read_to_string(&mut said).expect("text");
        assert!(said.contains("its reader read nothing"), "{output}: {said}");
    }
}

#[test]
fn who_cannot_write_waits_for_nothing_more_to_read() {
    let dir = Dir::new();
    let input = stream(HEADER, RAW, &noise(RAW, 30));
    dir.write("in.y4m", &input);
    dir.ffmpeg("-i in.y4m -c:v mpeg2video -f mpegts in.ts");
    for (input, output, code, says) in [
        ("in.y4m", "-y --output-format rawvideo - /dev/full", 9, "/dev/full: cannot be written"),
        ("in.ts", "--encoder-option nope=1 - out.mkv", 1, "has no option nope"),
        ("in.y4m", "--output-format rawvideo - -", 0, ""),
    ] {
        let mut running = Running::start(&mut piped(&dir, &format!("--backend cpu {output}")));
        let child = running.child();
        let mut stdin = child.stdin.take().expect("a pipe");
        stdin.write_all(&dir.read(input)).expect("a reader");
        drop(child.stdout.take());
        // No more data arrives, but the pipe stays open.
        assert_eq!(running.ends_within(Duration::from_secs(60)), Some(code), "{output}");
        let mut said = String::new();
        running.child().stderr.take().expect("a pipe").read_to_string(&mut said).expect("text");
        assert!(said.contains(says) && said.lines().count() <= 1, "{output}: {said}");
    }
}

#[test]
fn frames_larger_than_any_are_refused() {
    let dir = Dir::new();
    for size in ["100000x100000", "2147483647x2147483647", "268435457x1"] {
        let raw = format!("-f rawvideo -s {size} --pixel-format rgba64le --backend cpu - out.mkv");
        dir.fed(&raw, b"some bytes").fails().says(&["too large"]);
    }
    let all =
        dir.fed(&format!("{DESCRIBED} --start 1 --frames 18446744073709551615 - -"), &noise(RAW, 30)).exits_with(0);
    assert_eq!(all.stderr.lines().count(), 2, "{}", all.stderr);
    assert_eq!(dir.names(), [""; 0]);
}
