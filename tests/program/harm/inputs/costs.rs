//! Small inputs that are expensive to read: memory and time are bounded.

use crate::support::media::reader::encoder_is_here;
use crate::support::programs::program::{Dir, Run, program};
use crate::support::programs::running::Running;
use crate::support::skip::skip;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

pub(crate) const TIME: &str = "/usr/bin/time";

/// Runs the program with this stdin. Returns the run and its peak memory in MiB; `None` where memory cannot be
/// measured.
fn measured(dir: &Dir, line: &str, input: &[u8]) -> Option<(Run, usize)> {
    if !Path::new(TIME).exists() {
        skip("the memory of a run", "there is no /usr/bin/time");
        return None;
    }
    let mut command = dir.other_command(TIME, &format!("-q -f %M -o peak {} --backend cpu", program().display()));
    command.args(line.split(' '));
    let run = Run::fed(&mut command, line, input);
    let peak = String::from_utf8(dir.read("peak")).expect("text");
    let peak: usize = peak.trim().parse().expect("KiB");
    println!("{line}: {} MiB", peak >> 10);
    Some((run, peak >> 10))
}

/// A GIF of `frames` frames of `size` x `size` pixels. In each frame, all pixels but one are transparent.
pub(crate) fn gif(size: u16, frames: usize) -> Vec<u8> {
    let [low, high] = size.to_le_bytes();
    let mut bytes = b"GIF89a".to_vec();
    // A palette of two colours.
    bytes.extend([low, high, low, high, 0x80, 0, 0, 0, 0, 0, 255, 255, 255]);
    for _ in 0..frames {
        bytes.extend([0x21, 0xf9, 4, 0, 10, 0, 0, 0]);
        bytes.extend([0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 0x01, 0]);
    }
    bytes.push(0x3b);
    bytes
}

#[test]
fn a_header_without_its_frame_takes_no_memory() {
    let dir = Dir::new();
    let y4m = "YUV4MPEG2 W16384 H16384 F25:1 C444p16\nFRAME\n";
    dir.write("in.y4m", y4m.as_bytes());
    let raw = "-f rawvideo -s 16384x16384 --pixel-format gbrap16le";
    for line in ["- out.mkv", "in.y4m out.mkv", &format!("{raw} - out.mkv"), &format!("{raw} in.y4m out.mkv")] {
        let Some((run, peak)) = measured(&dir, line, y4m.as_bytes()) else { return };
        run.fails().says(&["not a single whole frame"]);
        assert!(peak < 300, "{line}: {peak} MiB");
    }
}

#[test]
fn a_small_file_of_large_frames_keeps_to_its_memory() {
    let dir = Dir::new();
    // A frame takes 64 MiB.
    dir.write("in.gif", &gif(4096, 8));
    let line = "--max-memory 500M --output-format null in.gif out";
    let Some((run, peak)) = measured(&dir, line, b"") else { return };
    run.exits_with(0).says(&["8 frames"]);
    assert!(peak < 700, "{line}: {peak} MiB");
    let line = "--max-memory 100M --output-format null in.gif out";
    let Some((run, peak)) = measured(&dir, line, b"") else { return };
    run.fails().says(&[
        "in.gif: frame 0",
        "a frame of 67 MB and its result do not fit into the 100 MB",
        "--max-memory",
    ]);
    assert!(peak < 400, "{line}: {peak} MiB");
}

#[test]
fn frames_that_grow_in_the_middle_do_not_exceed_the_memory() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 30 -c:v mjpeg small.mjpeg");
    dir.ffmpeg("-f lavfi -i testsrc2=size=8000x6000:rate=25 -frames:v 3 -c:v mjpeg large.mjpeg");
    dir.write("in.mjpeg", &[dir.read("small.mjpeg"), dir.read("large.mjpeg")].concat());
    let line = "--max-memory 100M --output-format null in.mjpeg out";
    let Some((run, peak)) = measured(&dir, line, b"") else { return };
    run.fails().says(&["in.mjpeg: frame 30", "do not fit", "--max-memory"]);
    assert!(peak < 500, "{line}: {peak} MiB");
}

#[test]
fn raw_frames_that_do_not_fit_are_refused() {
    let dir = Dir::new();
    let raw = "-f rawvideo -s 4000x3000 --pixel-format yuv444p16le --max-memory 80M - out.mkv";
    dir.fed(raw, &[0; 1000]).fails().says(&["stdin: frame 0", "do not fit", "--max-memory"]);
    assert_eq!(dir.names(), [""; 0]);
}

#[test]
fn more_pixels_than_allowed_are_refused() {
    let dir = Dir::new();
    let clip = "-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 3";
    let mut inputs = vec!["in.mkv", "in.y4m", "in.gif", "in.png", "in.avi"];
    dir.ffmpeg(&format!("{clip} -c:v ffv1 in.mkv"));
    dir.ffmpeg(&format!("{clip} -f yuv4mpegpipe in.y4m"));
    dir.ffmpeg(&format!("{clip} in.gif"));
    dir.ffmpeg(&format!("{clip} -frames:v 1 -update 1 in.png"));
    dir.ffmpeg(&format!("{clip} -c:v mjpeg in.avi"));
    // For such small frames, FFmpeg's decoder allocates more than the pixels need.
    for mpeg2 in ["in.ts", "mpeg2.mkv"] {
        dir.ffmpeg(&format!("{clip} -c:v mpeg2video {mpeg2}"));
        inputs.push(mpeg2);
    }
    if encoder_is_here("a stream that tells its size in its packets", "libx264") {
        dir.ffmpeg(&format!("{clip} -c:v libx264 in.h264"));
        inputs.push("in.h264");
    }
    for input in inputs {
        let line = format!("--backend cpu --max-pixels 3071 {input} out.mkv");
        dir.run(&line).exits_with(8).says(&[input, "--max-pixels"]);
        assert!(!dir.path("out.mkv").exists(), "{input}");
        dir.succeeds(&format!("--backend cpu --max-pixels 3072 --encoder ffv1 -y {input} whole.mkv"));
    }
    // Rows whose length is no multiple of FFmpeg's alignment.
    dir.ffmpeg("-f lavfi -i testsrc2=size=100x70:rate=25 -frames:v 1 -update 1 odd.png");
    dir.ffmpeg("-f lavfi -i testsrc2=size=100x70:rate=25 -frames:v 3 -c:v ffv1 odd.mkv");
    for input in ["odd.png", "odd.mkv"] {
        dir.run(&format!("--backend cpu --max-pixels 6999 {input} out.mkv")).fails().says(&["--max-pixels"]);
        dir.succeeds(&format!("--backend cpu --max-pixels 7000 --encoder ffv1 -y {input} whole.mkv"));
    }
    dir.run("preview --max-pixels 3071 in.mkv out.png").fails().says(&["--max-pixels"]);
    dir.run("compare --max-pixels 3071 in.mkv in.mkv out.mkv").fails().says(&["--max-pixels"]);
}

/// FFmpeg reports frames that are too large as damage.
#[test]
fn a_size_that_is_known_only_while_decoding_is_one_of_the_limit() {
    let dir = Dir::new();
    let clip = |size: &str| format!("-f lavfi -i testsrc2=size={size}:rate=25 -frames:v 3");
    // The decoder with which FFmpeg probes the file has such a limit, too, so the size is not known from probing.
    dir.ffmpeg(&format!("{} -c:v mpeg2video large.ts", clip("1280x720")));
    let large = "--backend cpu --max-pixels 300000 large.ts out.mkv";
    for line in [large.to_owned(), format!("--strict {large}"), format!("--sandbox off {large}")] {
        let said = "large.ts: frames of 1280x720 are too large: --max-pixels allows for 300000 pixels";
        dir.run(&line).exits_with(8).says(&[said]);
        assert!(!dir.path("out.mkv").exists(), "{line}");
    }
    dir.succeeds("--backend cpu --max-pixels 921600 --encoder ffv1 large.ts whole.mkv");
    assert_eq!(dir.frames("whole.mkv").len(), 3);
    // For long rows, FFmpeg's padding and working memory are larger than the frame, which alone counts for the limit.
    dir.ffmpeg(&format!("{} -c:v mpeg2video wide.ts", clip("3200x16")));
    dir.succeeds("--backend cpu --max-pixels 51200 --encoder ffv1 wide.ts wide.mkv");
    // FFmpeg's own limit is at least 2^18 pixels, so the program checks smaller frames itself.
    for (name, size) in [("small.mjpeg", "64x48"), ("grown.mjpeg", "320x240")] {
        dir.ffmpeg(&format!("{} -c:v mjpeg {name}", clip(size)));
    }
    dir.write("in.mjpeg", &[dir.read("small.mjpeg"), dir.read("grown.mjpeg")].concat());
    dir.run("--backend cpu --max-pixels 3072 --encoder ffv1 in.mjpeg out.mkv")
        .exits_with(8)
        .says(&["frames of 320x240 are too large", "--max-pixels"]);
    assert!(!dir.path("out.mkv").exists());
}

#[test]
fn a_run_that_takes_too_long_ends_and_keeps_what_there_is() {
    let dir = Dir::new();
    // The input has no end.
    let input = "-f lavfi testsrc2=size=64x48:rate=25";
    let line = format!("--backend cpu --encoder mpeg4 --max-seconds 3 {input} out.mkv");
    dir.run(&line).fails().says(&["the run took longer than --max-seconds allows", "out.partial.mkv"]);
    assert_eq!(dir.names(), ["out.partial.mkv"]);
    assert!(dir.frames("out.partial.mkv").len() > 1);
}

#[test]
fn a_run_that_waits_for_its_input_does_not_wait_for_longer_than_allowed() {
    let dir = Dir::new();
    let mut command = dir.command("--backend cpu --max-seconds 1 - out.mkv");
    let mut running = Running::start(command.stdin(Stdio::piped()).stderr(Stdio::null()));
    assert!(crate::support::programs::program::failed(running.ends_within(Duration::from_secs(60))));
    assert_eq!(dir.names(), [""; 0]);
}

#[test]
fn streams_by_the_hundred_take_memory_and_time_for_themselves_alone() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 10 -c:v ffv1 in.mkv");
    dir.write("a.ttf", &[7; 1000]);
    dir.write("a.srt", b"1\n00:00:00,100 --> 00:00:00,200\ntext\n");
    let files = "-attach a.ttf ".repeat(600);
    dir.ffmpeg(&format!("-i in.mkv {files} -metadata:s:t mimetype=font/ttf -c copy files.mkv"));
    dir.ffmpeg(&format!("-i in.mkv -i a.srt -map 0 {} -c copy texts.mkv", "-map 1 ".repeat(600)));
    for (input, kind) in [("files.mkv", "attachment"), ("texts.mkv", "subtitle")] {
        let Some((run, peak)) = measured(&dir, &format!("--encoder ffv1 -y {input} out.mkv"), b"") else { return };
        run.exits_with(0);
        assert!(peak < 250, "{input}: {peak} MiB");
        let line = "-v error -show_entries stream=codec_type -of csv=p=0 out.mkv";
        let kinds = String::from_utf8(dir.tool("ffprobe", line, None).stdout).expect("text");
        assert_eq!(kinds.lines().filter(|line| line.starts_with(kind)).count(), 600, "{input}");
    }
}

#[test]
fn packets_that_come_by_the_hundred_thousand_or_are_too_large_cost_no_frame() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 25 -c:v mpeg4 in.mkv");
    let events = "Dialogue: 0,0:00:00.10,0:00:00.20,D,x\n".repeat(150_000);
    let head = "[Script Info]\nScriptType: v4.00+\n[Events]\nFormat: Layer, Start, End, Style, Text\n";
    dir.write("many.ass", format!("{head}{events}").as_bytes());
    dir.write("large.srt", format!("1\n00:00:00,100 --> 00:00:00,200\n{}\n", "x".repeat(65 << 20)).as_bytes());
    for (text, packets) in [("many.ass", 150_000), ("large.srt", 0)] {
        dir.ffmpeg(&format!("-i in.mkv -i {text} -map 0 -map 1 -c copy text.mkv"));
        let run = dir.succeeds("--backend cpu --encoder ffv1 -y text.mkv out.mkv");
        assert_eq!(run.stderr.contains("stream #1: a packet of 65 MiB is left out"), packets == 0, "{}", run.stderr);
        assert_eq!(dir.frames("out.mkv").len(), 25, "{text}");
        let line = "-v error -select_streams s -show_entries packet=size -of csv=p=0 out.mkv";
        let found = dir.tool("ffprobe", line, None).stdout.split(|&byte| byte == b'\n').count() - 1;
        assert_eq!(found, packets, "{text}");
    }
}

/// An element of Matroska.
pub(crate) fn element(id: &[u8], body: &[u8]) -> Vec<u8> {
    // A length of eight bytes.
    let length = (body.len() as u64 | 1 << 56).to_be_bytes();
    [id, &length, body].concat()
}

#[test]
fn descriptions_that_no_video_needs_are_refused() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 3 -c:v ffv1 in.mkv");
    let mut chapters = ";FFMETADATA1\n".to_owned();
    for start in 0..10_001 {
        chapters += &format!("[CHAPTER]\nTIMEBASE=1/1000\nSTART={start}\nEND={}\n", start + 1);
    }
    dir.write("chapters.txt", chapters.as_bytes());
    dir.ffmpeg("-i in.mkv -i chapters.txt -map 0 -map_chapters 1 -c copy chapters.mkv");
    dir.run("--backend cpu chapters.mkv out.mkv").fails().says(&["more than 10000 chapters"]);
    let text: String = (0..17).map(|key| format!("key{key}={}\n", "a".repeat(1 << 20))).collect();
    let text = format!(";FFMETADATA1\n{text}");
    dir.write("text.txt", text.as_bytes());
    dir.ffmpeg("-i in.mkv -i text.txt -map 0 -map_metadata 1 -c copy text.mkv");
    dir.run("--backend cpu text.mkv out.mkv").fails().says(&["more than 16777216 bytes of metadata"]);
    let track = |number: u16| {
        let number = number.to_be_bytes();
        let subtitle = [element(b"\x83", &[0x11]), element(b"\x86", b"S_TEXT/UTF8")].concat();
        element(b"\xae", &[element(b"\xd7", &number), element(b"\x73\xc5", &number), subtitle].concat())
    };
    let tracks = element(b"\x16\x54\xae\x6b", &(1..=1001).flat_map(track).collect::<Vec<u8>>());
    let head = element(b"\x1a\x45\xdf\xa3", &element(b"\x42\x82", b"matroska"));
    let cluster = element(b"\x1f\x43\xb6\x75", &element(b"\xe7", &[0]));
    dir.write("streams.mkv", &[head, element(b"\x18\x53\x80\x67", &[tracks, cluster].concat())].concat());
    dir.run("--backend cpu streams.mkv out.mkv").fails().says(&["streams.mkv: it has more than 1000 streams"]);
    assert!(!dir.path("out.mkv").exists());
}

#[test]
fn more_video_streams_than_memory_has_room_for_are_refused_before_they_are_probed() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=1024x1024:rate=25 -frames:v 1 -c:v mjpeg one.mkv");
    dir.ffmpeg(&format!("-i one.mkv {} -c copy many.mkv", "-map 0 ".repeat(12)));
    let run = dir.run("--backend cpu --max-memory 30M --encoder mpeg4 many.mkv out.mkv");
    run.fails().says(&["many.mkv", "12 video streams", "36 MiB", "--max-memory"]);
    assert!(!dir.path("out.mkv").exists());
    dir.succeeds("--backend cpu --max-memory 60M --encoder mpeg4 many.mkv out.mkv");
    dir.succeeds("--backend cpu --max-memory 30M --encoder mpeg4 one.mkv one-out.mkv");
}

#[test]
fn memory_that_is_too_little_for_the_run_is_told_with_how_much_is_needed() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=640x360:rate=30 -frames:v 60 -c:v mpeg4 -q:v 3 in.mkv");
    let line = "--threads 2 --encoder mpeg4 -y in.mkv out.mkv";
    let run = dir.run(&format!("--max-memory 8M {line}")).exits_with(8);
    let run =
        run.says(&["a frame of 0.3 MB", "into the 8.0 MB for frames", "the run needs about ", "a look-ahead of 0"]);
    let needed = run.stderr.split("--max-memory ").nth(1).and_then(|rest| rest.split(',').next()).expect("a size");
    dir.succeeds(&format!("--max-memory {needed} {line}"));
    dir.succeeds(&format!("--set look-ahead=0 --max-memory 8M {line}"));
}
