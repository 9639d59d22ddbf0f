//! Damaged input and unwritable outputs: one clear error line, the right exit code, no leftovers, no damaged files.

use crate::support::media::reader::encoder_is_here;
use crate::support::programs::program::{Dir, Run, program};
use crate::support::programs::running::{Running, under_load};
use crate::support::programs::tiny_disk::TinyDisk;
use crate::support::skip::skip;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const CLIP: &str = "-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 10";

fn clip(dir: &Dir, file: &str) {
    dir.ffmpeg(&format!("{CLIP} -c:v ffv1 {file}"));
}

/// Requires that `line` fails quickly, in one line that says all of `texts`, and changes no file.
#[track_caller]
fn refuses(dir: &Dir, line: &str, texts: &[&str]) {
    let before = dir.files();
    let begin = Instant::now();
    let run = dir.run(&format!("--backend cpu {line}")).fails().says(texts);
    // On an idle machine, it takes a tenth of a second.
    assert!(begin.elapsed() < under_load(Duration::from_secs(5)), "`{line}` took {:?}", begin.elapsed());
    assert_one_error(&run);
    assert!(dir.files() == before, "`{line}` changed files: {:?}", dir.names());
}

#[track_caller]
fn assert_one_error(run: &Run) {
    let lines: Vec<&str> = run.stderr.lines().collect();
    assert!(
        lines.len() == 1 && lines[0].starts_with("histeq-video: error: "),
        "`{}` said:\n{}",
        run.command,
        run.stderr
    );
}

fn noise(count: usize) -> Vec<u8> {
    let mut random = crate::support::pictures::Random::new(7);
    (0..count).map(|_| random.next() as u8).collect()
}

#[test]
fn an_input_that_is_no_video_is_refused() {
    let dir = Dir::new();
    dir.write("empty.mp4", b"");
    dir.write("noise.mp4", &noise(300_000));
    dir.write("noise", &noise(300_000));
    dir.write("letter.txt", "Dear reader,\nthis is a letter.\n".repeat(300).as_bytes());
    dir.write("letter.mp4", "Dear reader,\nthis is a letter.\n".repeat(300).as_bytes());
    for (file, says) in [
        ("missing.mp4", "No such file"),
        ("empty.mp4", "the file is empty"),
        ("noise.mp4", "not a video"),
        ("noise", "not a video"),
        ("letter.txt", "a text file"),
        ("letter.mp4", "not a video"),
    ] {
        refuses(&dir, &format!("{file} out.mp4"), &[file, says]);
    }
}

#[test]
fn an_input_without_video_is_refused_by_what_it_has() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i sine=duration=1 -c:a pcm_s16le sound.wav");
    refuses(&dir, "sound.wav out.mkv", &["sound.wav", "no video stream", "audio"]);
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48 -frames:v 1 cover.png");
    dir.ffmpeg("-i sound.wav -i cover.png -map 0 -map 1 -c:a flac -c:v copy -disposition:v attached_pic song.flac");
    refuses(&dir, "song.flac out.mkv", &["song.flac", "cover art", "--video-stream 0"]);
    clip(&dir, "in.mkv");
    refuses(&dir, "-f abacus in.mkv out.mkv", &["no input format abacus"]);
}

#[test]
fn an_output_that_cannot_be_is_refused() {
    let dir = Dir::new();
    clip(&dir, "in.mkv");
    std::fs::create_dir(dir.path("folder")).expect("Is a directory");
    refuses(&dir, "in.mkv folder", &["folder is a folder"]);
    refuses(&dir, "in.mkv nowhere/out.mkv", &["no folder nowhere"]);
    refuses(&dir, "in.mkv nowhere/out%03d.png", &["no folder nowhere"]);
    refuses(&dir, "-y in.mkv in.mkv", &["in.mkv is the input itself"]);
    refuses(&dir, "-y in.mkv ./folder/../in.mkv", &["is the input itself"]);
    refuses(&dir, "in.mkv out.abacus", &["out.abacus", "no container", "--output-format"]);
    refuses(&dir, "in.mkv out", &["no container"]);
    refuses(&dir, "--output-format abacus in.mkv out.mkv", &["no container abacus"]);
    refuses(&dir, "--encoder abacus in.mkv out.mkv", &["no encoder abacus"]);
    refuses(&dir, "--encoder aac in.mkv out.mkv", &["no encoder aac"]);
    refuses(&dir, "--encoder mpeg2 in.mkv out.mkv", &["no encoder mpeg2 here"]);
    if encoder_is_here("a codec in place of an encoder", "libx264") {
        refuses(&dir, "--encoder h264 in.mkv out.mkv", &["h264 is a codec", "--encoder libx264"]);
        refuses(&dir, "--encoder libx264 --preset quick in.mkv out.mkv", &["no preset quick", "veryfast"]);
    }
    refuses(&dir, "--encoder ffv1 in.mkv out.webm", &["webm", "ffv1"]);
    std::fs::hard_link(dir.path("in.mkv"), dir.path("twin.mkv")).expect("a hard link");
    refuses(&dir, "-y in.mkv twin.mkv", &["is the input itself"]);
    std::os::unix::fs::symlink("in.mkv", dir.path("link.mkv")).expect("a link");
    refuses(&dir, "-y in.mkv link.mkv", &["is the input itself"]);
}

#[test]
fn an_encoder_that_has_seen_nothing_does_not_keep_a_refusal_waiting() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=128x96:rate=25 -frames:v 10 -c:v ffv1 in.mkv");
    for encoder in ["libsvtav1", "libx264", "libvpx-vp9"] {
        if !encoder_is_here("a refusal after the encoder is open", encoder) {
            continue;
        }
        for (options, says) in [
            ("--output-format mp4 in.mkv -", "cannot be written into a pipe"),
            ("--encoder-option x1=1 in.mkv out.mkv", "x1"),
        ] {
            let mut command = dir.command(&format!("--backend cpu --encoder {encoder} {options}"));
            let said = std::fs::File::create(dir.path("said.txt")).expect("a file");
            let mut run = Running::start(command.stdout(Stdio::null()).stderr(said));
            let code = run.ends_within(Duration::from_secs(60));
            let said = String::from_utf8(dir.read("said.txt")).expect("text");
            assert!(crate::support::programs::program::failed(code), "{encoder} {options}: {code:?} {said}");
            let error = said.lines().last().and_then(|line| line.strip_prefix("histeq-video: error: "));
            assert!(error.is_some_and(|error| error.contains(says)), "{encoder} {options}: {said}");
        }
    }
    let into_a_pipe = "--encoder mpeg4 --output-format mp4 in.mkv -";
    refuses(&dir, into_a_pipe, &["cannot be written into a pipe", "--output-format matroska"]);
}

#[test]
fn an_output_folder_that_takes_no_files_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let dir = Dir::new();
    clip(&dir, "in.mkv");
    std::fs::create_dir(dir.path("sealed")).expect("Is a directory");
    dir.write("sealed/out.mkv", b"precious");
    let mode = |name: &str, mode| {
        std::fs::set_permissions(dir.path(name), std::fs::Permissions::from_mode(mode)).expect("permissions");
    };
    mode("sealed", 0o555);
    mode("", 0o755);
    // Root may write anywhere, so the program runs as a user who may not.
    let line = format!("--reuid 65534 --regid 65534 --clear-groups {}", program().display());
    let unprivileged = |what: &str| dir.other_command("setpriv", &format!("{line} {what}"));
    let root = is_root();
    if root && !unprivileged("--version").output().is_ok_and(|output| output.status.success()) {
        skip("a read-only folder", "root may write anywhere, and the program cannot be run as another user");
        return;
    }
    for what in ["in.mkv sealed/new.mkv", "-y in.mkv sealed/out.mkv", "in.mkv sealed/%03d.png"] {
        let run = Run::from_command(&mut if root { unprivileged(what) } else { dir.command(what) }, what);
        let run = run.fails().says(&["sealed", "Permission denied (name an output elsewhere"]);
        assert_one_error(&run);
    }
    assert_eq!(dir.names(), ["in.mkv", "sealed/out.mkv"]);
    assert_eq!(dir.read("sealed/out.mkv"), b"precious");
    mode("sealed", 0o755);
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output().expect("id runs");
    id.stdout.trim_ascii() == b"0"
}

#[test]
fn a_device_that_is_full_is_an_error() {
    let dir = Dir::new();
    clip(&dir, "in.mkv");
    let run = dir.run("--backend cpu -y --encoder ffv1 --output-format matroska in.mkv /dev/full").fails();
    assert_one_error(&run.says(&["/dev/full", "No space left on device"]));
}

#[test]
fn stdout_that_leads_to_the_input_is_refused() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 10 -c:v ffv1 in.mkv");
    let before = dir.read("in.mkv");
    let run = |words: &str| {
        let line = format!("-c '{} --backend cpu {words}'", program().display());
        Run::from_command(&mut dir.other_command("sh", &line), &line)
    };
    for words in [
        "in.mkv - --output-format matroska >>in.mkv",
        "in.mkv - --output-format matroska 1<>in.mkv",
        "./in.mkv - --output-format rawvideo >>in.mkv",
        "--format matroska - - --output-format matroska <in.mkv >>in.mkv",
        "in.mkv out.mkv --stats - >>in.mkv",
    ] {
        let run = run(words).exits_with(10).says(&["stdout is the input itself"]);
        assert!(dir.read("in.mkv") == before && run.stderr.lines().count() == 1, "`{words}`: {}", run.stderr);
    }
    for words in ["- in.mkv -y <in.mkv", "--format matroska - ./in.mkv -y <in.mkv"] {
        run(words).exits_with(10).says(&["in.mkv is the input itself"]);
        assert!(dir.read("in.mkv") == before, "`{words}`");
    }
    run("in.mkv - --encoder ffv1 --output-format matroska >>other.mkv").exits_with(0);
    assert_eq!(dir.frames("other.mkv").len(), 10);
}

#[test]
fn a_disk_that_takes_no_more_files_is_full() {
    let dir = Dir::new();
    let Some(_disk) = TinyDisk::mount(dir.path("disk"), "8m,nr_inodes=1") else {
        return skip("a disk without inodes", "a small file system cannot be mounted");
    };
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 5 -c:v ffv1 in.mkv");
    for line in [
        "in.mkv disk/out.mkv",
        "in.mkv disk/%03d.png",
        "in.mkv out.mkv --stats disk/stats.csv",
        "in.mkv out.mkv --save-curves disk/curves.jsonl",
        "in.mkv disk/out.mkv --jobs 2",
        "--output-dir disk/new in.mkv",
        "in.mkv out.mkv --progress-file disk/events.jsonl --progress json",
        "live --no-preview --record disk/out.mkv -f lavfi testsrc2=s=64x48:r=10,realtime --duration 1",
    ] {
        let run = dir.run(line).exits_with(9).says(&["No space left on device", "disk/"]);
        assert_eq!(run.stderr.lines().count(), 1, "`{line}` said {}", run.stderr);
    }
}

#[test]
fn a_full_disk_is_an_error_that_leaves_nothing_behind() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=320x180:rate=25 -frames:v 40 -c:v ffv1 in.mkv");
    let Some(disk) = TinyDisk::mount(dir.path("disk"), "24k") else {
        skip("a full disk", "a small file system cannot be mounted");
        return;
    };
    for (line, left) in [
        ("--backend cpu --encoder ffv1 in.mkv disk/out.mkv", vec![]),
        ("--backend cpu --encoder mpeg4 --bitrate 9M in.mkv disk/out.mp4", vec![]),
        ("--backend cpu -y --encoder ffv1 in.mkv disk/old.mkv", vec!["disk/old.mkv"]),
    ] {
        for name in &left {
            dir.write(name, b"precious");
        }
        let run = dir.run(line).fails().says(&["No space left on device"]);
        assert_one_error(&run);
        assert_eq!(
            dir.names().iter().filter(|name| name.starts_with("disk")).collect::<Vec<_>>(),
            left.iter().collect::<Vec<_>>()
        );
        for name in &left {
            assert_eq!(dir.read(name), b"precious");
        }
    }
    // Muxers that open segment files themselves do not report write errors.
    for output in ["disk/out.m3u8", "disk/out.mpd"] {
        let line = format!("--backend cpu --encoder libx264 --preset ultrafast --crf 1 in.mkv {output}");
        if encoder_is_here("segments on a full disk", "libx264") {
            dir.run(&line).fails().says(&[&format!("{output}: cannot be written: No space left on device")]);
        }
        for name in dir.names().iter().filter(|name| name.starts_with("disk/")) {
            std::fs::remove_file(dir.path(name)).expect("a file of the run");
        }
    }
    drop(disk);
}

#[test]
fn a_video_that_is_whole_outlives_a_record_that_has_no_room() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 20 -c:v ffv1 in.mkv");
    let Some(_disk) = TinyDisk::mount(dir.path("disk"), "4k") else {
        skip("a full disk", "a small file system cannot be mounted");
        return;
    };
    dir.write("out.mkv", b"precious");
    let run = dir.run("--backend cpu --encoder ffv1 -y --stats disk/page.html in.mkv out.mkv").exits_with(9);
    let run = run.says(&["what is whole is out.new.mkv: disk/page.html: cannot be written: No space left on device"]);
    assert_one_error(&run);
    assert_eq!(dir.frames("out.new.mkv").len(), 20);
    assert_eq!(dir.read("out.mkv"), b"precious");
    assert_eq!(dir.names(), ["in.mkv", "out.mkv", "out.new.mkv"]);
}

#[test]
fn a_video_goes_on_where_a_record_fills_its_disk() {
    let dir = Dir::new();
    // The clip fades in, so each frame has another curve.
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25,fade=in:0:200 -frames:v 200 -c:v ffv1 in.mkv");
    let Some(_disk) = TinyDisk::mount(dir.path("disk"), "8k") else {
        skip("a full disk", "a small file system cannot be mounted");
        return;
    };
    dir.write("out.mkv", b"precious");
    for strict in ["", "--strict "] {
        for (options, name, cut) in [
            ("--stats", "disk/s.csv", "disk/s.partial.csv"),
            ("--stats", "disk/s.jsonl", "disk/s.partial.jsonl"),
            ("--exact --save-curves", "disk/c.jsonl", "disk/c.partial.jsonl"),
        ] {
            let line = format!("{strict}--backend cpu --encoder ffv1 -y {options} {name} in.mkv out.mkv");
            let full = format!("{name}: cannot be written: No space left on device");
            let run = dir.run(&line).exits_with(9).says(&[
                &format!("histeq-video: warning: {full}; it ends here, and the video goes on (make room, "),
                &format!("histeq-video: error: what is whole is out.new.mkv: {full} (what there is of it: {cut}; name an output on another disk)"),
            ]);
            let said = ["warning: ", "error: "].map(|kind| run.stderr.matches(kind).count());
            assert_eq!(said, [1, 1], "`{line}` said {}", run.stderr);
            assert_eq!(dir.frames("out.new.mkv").len(), 200, "{line}");
            assert_eq!(dir.read("out.mkv"), b"precious");
            assert_eq!(dir.names(), [cut, "in.mkv", "out.mkv", "out.new.mkv"]);
            let kept = String::from_utf8(dir.read(cut)).expect("text");
            assert!(kept.ends_with('\n') && (2..200).contains(&kept.lines().count()), "{line}: {kept}");
            let columns = kept.lines().next().expect("a line").matches(',').count();
            let is_whole = |line: &str| match name.ends_with(".csv") {
                true => line.matches(',').count() == columns,
                false => serde_json::from_str::<serde_json::Value>(line).is_ok(),
            };
            assert!(kept.lines().all(is_whole), "{line}: {kept}");
            for file in [cut, "out.new.mkv"] {
                std::fs::remove_file(dir.path(file)).expect("a file of the run");
            }
        }
    }
    // Without a video output, the run fails when its statistics cannot be written.
    let run = dir.run("--backend cpu --stats disk/s.csv --output-format null in.mkv").exits_with(9);
    assert_one_error(&run.says(&["disk/s.csv: cannot be written: No space left on device"]));
    assert_eq!(dir.names(), ["in.mkv", "out.mkv"]);
}

#[test]
fn what_a_full_disk_has_taken_is_kept_and_can_be_played() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=320x180:rate=25 -f lavfi -i sine=d=4 -t 4 -c:v ffv1 -c:a pcm_s16le in.mkv");
    let Some(_disk) = TinyDisk::mount(dir.path("disk"), "600k") else {
        skip("a full disk", "a small file system cannot be mounted");
        return;
    };
    let whole = dir.frames("in.mkv").len();
    for (options, name) in [
        ("--encoder ffv1", "out.mkv"),
        ("--encoder mpeg4 --bitrate 9M", "out.mp4"),
        ("--encoder mpeg4 --bitrate 9M --output-option movflags=-faststart", "out.mov"),
        ("--encoder mpeg4 --bitrate 9M", "out.avi"),
        ("", "out.y4m"),
    ] {
        let kept = format!("disk/{}", name.replace('.', ".partial."));
        let run = dir.run(&format!("--backend cpu {options} in.mkv disk/{name}")).exits_with(9);
        let said = "No space left on device (what there is of it: ";
        let said = format!("disk/{name}: cannot be written: {said}{kept}; name an output on another disk)");
        let run = run.says(&[&said]);
        assert!(run.stderr.lines().filter(|line| line.contains("error")).count() == 1, "{}", run.stderr);
        assert_eq!(dir.names().iter().filter(|file| file.starts_with("disk/")).collect::<Vec<_>>(), [&kept], "{name}");
        let frames = dir.frames(&kept).len();
        assert!(frames > 2 && frames < whole, "{name}: {frames} of {whole}");
        // Each kept file can be decoded.
        let played = dir.try_tool("ffmpeg", &format!("-v error -xerror -i {kept} -f null -"));
        assert_eq!((played.code, played.stderr.as_str()), (Some(0), ""), "{name}");
        std::fs::remove_file(dir.path(&kept)).expect("a file of the run");
    }
    // Preallocated blocks are freed, and an output that fits is written completely.
    dir.succeeds("--backend cpu --encoder ffv1 --frames 5 in.mkv disk/part.mkv");
    let blocks = std::os::unix::fs::MetadataExt::blocks(&std::fs::metadata(dir.path("disk/part.mkv")).expect("a file"));
    assert!(blocks * 512 < dir.read("disk/part.mkv").len() as u64 + 8192, "{blocks} blocks");
}

#[test]
fn a_file_without_its_index_is_refused() {
    let dir = Dir::new();
    dir.ffmpeg(&format!("{CLIP} -c:v mpeg4 whole.mp4"));
    let whole = dir.read("whole.mp4");
    dir.write("cut.mp4", &whole[..whole.len() / 2]);
    refuses(&dir, "cut.mp4 out.mp4", &["cut.mp4", "not a video, or damaged", "moov atom not found"]);
}

#[test]
fn a_file_cut_within_its_header_is_refused() {
    let dir = Dir::new();
    clip(&dir, "whole.mkv");
    for length in [1, 40, 300] {
        dir.write("in.mkv", &dir.read("whole.mkv")[..length]);
        refuses(&dir, "in.mkv out.mkv", &["in.mkv: not a video, or damaged beyond recognition"]);
    }
}

#[test]
fn a_file_cut_in_the_middle_gives_what_it_holds() {
    let dir = Dir::new();
    for (name, options) in
        [("whole.mp4", "-movflags +faststart"), ("whole.mkv", ""), ("whole.ts", ""), ("whole.avi", "")]
    {
        dir.ffmpeg(&format!(
            "-f lavfi -i testsrc2=size=128x96:rate=25 -frames:v 50 -c:v mpeg2video -q:v 2 {options} {name}"
        ));
        let whole = dir.read(name);
        let cut = name.replace("whole", "cut");
        dir.write(&cut, &whole[..whole.len() / 2]);
        let run = dir.succeeds(&format!("--backend cpu --encoder ffv1 -y {cut} out.mkv")).says(&["warning", &cut]);
        let frames = dir.frames("out.mkv").len();
        assert!((15..35).contains(&frames), "{frames} frames of {cut}");
        assert!(run.stderr.lines().count() <= 7, "{}", run.stderr);
        dir.run(&format!("--strict --encoder ffv1 {cut} strict.mkv")).fails();
        assert!(!dir.path("strict.mkv").exists());
    }
}

/// The file up to the end of packet `count` of its only stream.
fn cut_after_packet(dir: &Dir, whole: &str, cut: &str, count: usize) {
    let found = dir.probe("-show_packets", whole);
    let packet = &found["packets"].as_array().expect("packets")[count - 1];
    let number = |key: &str| packet[key].as_str().and_then(|text| text.parse::<usize>().ok()).expect("a number");
    // In AVI, `pos` is the position of the chunk's header of 8 bytes, and chunks are padded to even lengths.
    let head = if whole.ends_with(".avi") { 8 } else { 0 };
    let end = number("pos") + head + number("size");
    let end = if head > 0 { end.next_multiple_of(2) } else { end };
    dir.write(cut, &dir.read(whole)[..end]);
}

#[test]
fn a_file_cut_between_two_frames_is_not_taken_for_whole() {
    let dir = Dir::new();
    let clip = "-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 795";
    dir.ffmpeg(&format!("{clip} -c:v mjpeg -q:v 20 whole.avi"));
    dir.ffmpeg(&format!("{clip} -c:v mpeg4 -bf 2 -movflags +faststart whole.mp4"));
    for kind in ["avi", "mp4"] {
        let whole = format!("whole.{kind}");
        dir.succeeds(&format!("--backend cpu --strict --encoder mpeg4 -y {whole} out.mkv")).never_says("ends early");
    }
    for (kind, count) in [("avi", 199), ("avi", 780), ("mp4", 199), ("mp4", 794)] {
        let (whole, cut) = (format!("whole.{kind}"), format!("cut.{kind}"));
        cut_after_packet(&dir, &whole, &cut, count);
        let says =
            format!("{cut} ends early: {count} of 795 frames are there, whole or in part (the file was cut short)");
        dir.succeeds(&format!("--backend cpu --encoder mpeg4 -y {cut} out.mkv")).says(&["warning", &says]);
        if count == 199 {
            dir.run(&format!("--backend cpu --encoder mpeg4 --strict {cut} strict.mkv")).fails().says(&[&says]);
            assert!(!dir.path("strict.mkv").exists());
        }
        // A part that is still there can be requested.
        dir.succeeds(&format!("--backend cpu --encoder mpeg4 --strict -y --frames 50 {cut} out.mkv"));
    }
}

/// FFmpeg's demuxer only logs a cut, and the duration in the header is too coarse to show the last frames.
#[test]
fn a_matroska_file_that_is_cut_anywhere_is_not_taken_for_whole() {
    let dir = Dir::new();
    dir.ffmpeg(&format!("{CLIP} -c:v ffv1 -frames:v 50 whole.mkv"));
    let bytes = dir.read("whole.mkv");
    for share in [50, 80, 90, 97] {
        dir.write("cut.mkv", &bytes[..bytes.len() * share / 100]);
        let line = "--backend cpu --encoder ffv1 -y cut.mkv out.mkv";
        dir.succeeds(line).says(&["cut.mkv ends early"]);
        dir.run(&format!("--strict {line}")).fails().says(&["cut.mkv ends early"]);
    }
    dir.succeeds("--backend cpu --strict --encoder ffv1 -y whole.mkv out.mkv").never_says("ends early");
}

#[test]
fn whole_files_of_uneven_rates_edits_and_dropped_frames_do_not_end_early() {
    let dir = Dir::new();
    let clip = "-f lavfi -i testsrc2=size=128x96:rate=25 -frames:v 100";
    dir.ffmpeg(&format!("{clip} -c:v mpeg4 -bf 2 -g 30 whole.mp4"));
    // The edit list skips the frames before 1.5 s.
    dir.ffmpeg("-ss 1.5 -i whole.mp4 -c copy edited.mp4");
    dir.ffmpeg("-ss 0.5 -t 2.1 -i whole.mp4 -c copy ended.mov");
    let uneven = "-vf select='not(mod(n\\,3))+lt(n\\,20)' -fps_mode vfr";
    dir.ffmpeg(&format!("{clip} {uneven} -c:v mpeg4 uneven.mp4"));
    // AVI stores an empty packet for each frame that is left out.
    dir.ffmpeg(&format!("{clip} {uneven} -c:v mpeg4 dropped.avi"));
    dir.ffmpeg("-i uneven.mp4 -c copy copied.avi");
    dir.ffmpeg(&format!("{clip} -c:v mpeg4 -movflags frag_keyframe+empty_moov pieces.mp4"));
    dir.ffmpeg(&format!("{clip} -vf setfield=tff -c:v mpeg2video -flags +ildct+ilme fields.mov"));
    dir.ffmpeg(&format!("{clip} -c:v mpeg4 -bf 2 between.avi"));
    // A muxer that cannot seek back leaves a wrong frame count in the header.
    let piped = dir.other_command("ffmpeg", "-v error -i between.avi -c copy -f avi -").output().expect("ffmpeg runs");
    dir.write("piped.avi", &piped.stdout);
    for file in [
        "whole.mp4",
        "edited.mp4",
        "ended.mov",
        "uneven.mp4",
        "dropped.avi",
        "copied.avi",
        "pieces.mp4",
        "fields.mov",
        "between.avi",
        "piped.avi",
    ] {
        dir.succeeds(&format!("--backend cpu --encoder mpeg4 -y {file} out.mkv")).never_says("ends early");
    }
}

#[test]
fn broken_packets_are_counted_and_decoding_goes_on() {
    if !encoder_is_here("broken packets", "libx264") {
        return;
    }
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=320x180:rate=25 -frames:v 60 -c:v libx264 -g 10 -threads 1 whole.mkv");
    // The packets are damaged, the container is intact.
    dir.ffmpeg("-i whole.mkv -c copy -bsf:v noise=amount=2000 broken.mkv");
    let run = dir
        .succeeds("--backend cpu --encoder ffv1 broken.mkv out.mkv")
        .says(&["warning: broken.mkv: frame ", "damaged"]);
    assert!(run.stderr.lines().any(|line| line.ends_with("damaged frames or packets")), "{}", run.stderr);
    assert!(run.stderr.lines().count() <= 6, "{}", run.stderr);
    let frames = dir.frames("out.mkv").len();
    assert!((30..=60).contains(&frames), "{frames} frames");
    let strict = dir.run("--backend cpu --strict --encoder ffv1 broken.mkv strict.mkv").fails();
    assert_one_error(&strict);
    assert!(!dir.path("strict.mkv").exists());
}

/// In most runs, the program did not count damaged frames whose successor in decoding order is shown later.
#[test]
fn concealed_damage_is_told_whichever_thread_of_the_decoder_finds_it() {
    if !encoder_is_here("concealed damage", "libx264") {
        return;
    }
    let dir = Dir::new();
    let noise = "noise=alls=10:allf=t";
    dir.ffmpeg(&format!(
        "-f lavfi -i testsrc2=size=320x180:rate=25,{noise} -frames:v 60 -c:v libx264 -bf 3 -threads 1 whole.mp4"
    ));
    let mut bytes = dir.read("whole.mp4");
    let middle = bytes.len() / 2;
    (0..3).for_each(|index| bytes[middle + 7 * index] ^= 0x55);
    dir.write("broken.mp4", &bytes);
    for _ in 0..12 {
        dir.run("--backend cpu --exact --strict -y broken.mp4 - --output-format null").fails().says(&["damaged"]);
    }
    dir.run("--backend cpu --exact --strict -y whole.mp4 - --output-format null").exits_with(0);
}

#[test]
fn a_stream_that_never_decodes_is_an_error() {
    let dir = Dir::new();
    dir.ffmpeg(&format!("{CLIP} -c:v mpeg4 whole.avi"));
    let mut bytes = dir.read("whole.avi");
    // Everything between header and index becomes noise, but for the chunk headers, 8 bytes each.
    let mut offset = bytes.windows(4).position(|word| word == b"movi").expect("frames") + 4;
    while bytes[offset..offset + 4] == *b"00dc" {
        let size = u32::from_le_bytes(bytes[offset + 4..offset + 8].try_into().expect("four bytes")) as usize;
        bytes[offset + 8..offset + 8 + size].fill(0x55);
        offset += 8 + size.next_multiple_of(2);
    }
    dir.write("broken.avi", &bytes);
    let before = dir.names();
    dir.run("--backend cpu broken.avi out.mkv").fails().says(&["broken.avi", "not a single frame could be decoded"]);
    assert_eq!(dir.names(), before);
}

#[test]
fn frames_of_y4m_are_known_by_their_begin_whatever_the_file_is_called() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 3 -pix_fmt yuv420p in.y4m");
    dir.write("upload.video", &dir.read("in.y4m"));
    dir.succeeds("--backend cpu --encoder ffv1 upload.video out.mkv");
    assert_eq!(dir.frames("out.mkv").len(), 3);
    dir.write("upload.video", b"YUV4MPEG2 W30000 H30000 F25:1\nFRAME\n");
    dir.run("--max-pixels 9M upload.video none.mkv").ends_as(8).says(&["frames of 30000x30000 are too large"]);
}
