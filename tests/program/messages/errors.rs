//! The exit code and the `kind` in JSON say what kind of failure an error is. docs/reliability.md lists both.

use crate::program::harm::compromised::isolation::with_decoder;
use crate::program::harm::servers::refuse;
use crate::support::media::reader::encoder_is_here;
use crate::support::programs::program::{Dir, Run};
use crate::support::programs::running::Running;
use crate::support::skip::skip;
use rustix::process::Signal;
use serde_json::Value;
use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::process::Stdio;
use std::time::Duration;

fn with_clip() -> Dir {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 10 -c:v ffv1 in.mkv");
    dir
}

/// The kind of the only error of this run, whose last event has its exit code.
#[track_caller]
fn kind(run: &Run) -> String {
    let events: Vec<Value> = run.stderr.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let errors: Vec<&Value> = events.iter().filter(|event| event["event"] == "error").collect();
    assert_eq!(errors.len(), 1, "{}", run.stderr);
    let message = errors[0]["message"].as_str().expect("a message");
    assert!(!message.is_empty() && !message.contains('\n'), "{message}");
    assert_eq!(events.last().expect("an event")["exit_code"].as_i64(), run.code.map(Into::into), "{}", run.stderr);
    errors[0]["kind"].as_str().expect("a kind").to_owned()
}

#[test]
fn each_kind_of_failure_has_a_name_and_an_exit_code_of_its_own() {
    let dir = with_clip();
    dir.write("noise.mkv", &[7; 3000]);
    dir.write("text.mkv", b"no video");
    dir.write("old.mkv", b"precious");
    dir.succeeds("-q in.mkv in.y4m");
    let plan = dir.succeeds("plan in.mkv planned.mkv --encoder ffv1");
    dir.write("plan.json", &plan.stdout);
    let page = std::fs::read_to_string("docs/reliability.md").expect("a page");
    for (expected, code, line) in [
        ("usage", 2, "--no-such-option in.mkv out.mkv"),
        ("usage", 2, "--strength 5 in.mkv out.mkv"),
        ("usage", 2, "."),
        ("usage", 2, "--video-stream 3 in.mkv out.mkv"),
        ("usage", 2, "--start 100 in.mkv out.mkv"),
        ("usage", 2, "--start 0.01 --duration 0.01 in.mkv out.mkv"),
        ("usage", 2, "-f yuv4mpegpipe --start 100 in.y4m out.mkv"),
        ("usage", 2, "run plan.json --piece 99"),
        ("usage", 2, "join plan.json --file 9"),
        ("missing", 4, "missing.mkv out.mkv"),
        ("missing", 4, "missing%03d.png out.mkv"),
        ("missing", 4, "in.mkv nowhere/out.mkv"),
        ("refused", 5, "live --no-preview --record live.mkv rtsp://127.0.0.1:9/cam"),
        ("damage", 7, "noise.mkv out.mkv"),
        ("damage", 7, "text.mkv out.mkv"),
        ("limit", 8, "--max-pixels 1000 in.mkv out.mkv"),
        ("limit", 8, "--max-duration 0.2 in.mkv out.mkv"),
        ("disk", 9, "--encoder ffv1 -y --output-format matroska in.mkv /dev/full"),
        ("exists", 10, "in.mkv old.mkv"),
        ("failed", 1, "--encoder abacus in.mkv out.mkv"),
        ("failed", 1, "--encoder ffv1 --encoder-option abacus=1 in.mkv out.mkv"),
    ] {
        let run = dir.run(&format!("{line} --progress json")).exits_with(code);
        assert_eq!(kind(&run), expected, "{line}: {}", run.stderr);
        assert!(page.contains(&format!("| {code} | `{expected}` |")), "{expected} is not in docs/reliability.md");
        // Without JSON, the error is one line.
        let run = dir.run(line).exits_with(code);
        let last = run.stderr.lines().last().unwrap_or_default().to_owned();
        assert!(last.starts_with("histeq-video: error: "), "{line}: {}", run.stderr);
    }
    if std::env::var_os("HISTEQ_GPU").is_none() && dir.run("--backend cuda in.mkv gpu.mkv").code != Some(0) {
        let run = dir.run("--backend cuda --progress json in.mkv gpu.mkv").exits_with(6);
        assert_eq!(kind(&run), "device");
        assert!(page.contains("| 6 | `device` |"));
    } else {
        skip("no-gpu", "there is one");
    }
    // The error of a batch has the kind of all files that have failed.
    let run = dir.run("--output-dir out noise.mkv text.mkv --progress json").exits_with(7);
    assert_eq!(kind(&run), "damage");
    assert!(!run.stderr.contains("noise.mkv: noise.mkv"), "{}", run.stderr);
}

#[test]
fn whole_files_of_kinds_that_are_not_read_are_no_damage() {
    let dir = Dir::new();
    let clip = "-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 10";
    dir.ffmpeg(&format!("{clip} -c:v mjpeg plain.mov"));
    let key = "00112233445566778899aabbccddeeff";
    dir.ffmpeg(&format!(
        "{clip} -c:v mpeg4 -encryption_scheme cenc-aes-ctr -encryption_key {key} -encryption_kid {key} encrypted.mp4"
    ));
    let plain = dir.read("plain.mov");
    // The codec's FourCC follows a version, a count and a length in the `stsd` box.
    let offset = plain.windows(4).rposition(|four| four == b"stsd").expect("a description") + 16;
    for (file, codec) in [("prores-raw.mov", b"aprn"), ("clip.braw", b"brxq")] {
        dir.write(file, &[&plain[..offset], codec, &plain[offset + 4..]].concat());
    }
    let heic = b"\0\0\0\x18ftypheic\0\0\0\0mif1heic\0\0\0\x0cmeta\0\0\0\0";
    dir.write("photo.heic", heic);
    dir.write("photo.cr3", b"\0\0\0\x18ftypcrx \0\0\0\x01crx isom\0\0\0\x08moov");
    for file in ["page.pdf", "page.jpg"] {
        dir.write(file, &[&b"%PDF-1.4\n"[..], &[b'x'; 2000]].concat());
    }
    dir.write("scan.dcm", &[&[0; 128][..], b"DICM\x02\0\0\0UL\x04\0", &[0; 2000]].concat());
    let rest: [(&str, &[u8]); 9] = [
        ("clip.mp4.zip", b"PK\x03\x04"),
        ("clip.7z", b"7z\xbc\xaf\x27\x1c"),
        ("saved.mp4", b"\n<!DOCTYPE html><html>"),
        ("shot.raf", b"FUJIFILMCCD-RAW "),
        ("shot.orf", b"IIRO\x08\0\0\0"),
        ("clip.ari", b"ARRI\x12\x34\x56\x78"),
        ("clip.r3d", b"\0\0\x02\0RED2"),
        ("drawing.xcf", b"gimp xcf v011\0"),
        ("page.ps", b"%!PS-Adobe-3.0\n"),
    ];
    for (file, begin) in rest {
        dir.write(file, &[begin, &[0; 2000]].concat());
    }
    dir.write("film.iso", &[&[0; 0x8001][..], b"CD001\x01\0", &[0; 2000]].concat());
    for (file, what, way_out) in [
        ("clip.mp4.zip", "an archive", "unpacked"),
        ("clip.7z", "an archive", "unpacked"),
        ("saved.mp4", "a web page", "another one"),
        ("shot.raf", "a raw photo", "DNG Converter"),
        ("shot.orf", "a raw photo", "DNG Converter"),
        ("clip.ari", "ARRIRAW", "Reference Tool"),
        ("clip.r3d", "REDCODE RAW", "REDCINE-X"),
        ("drawing.xcf", "GIMP", "TIFF"),
        ("page.ps", "PostScript", "gs "),
        ("film.iso", "the image of a disc", "VTS_01_1.VOB"),
        ("encrypted.mp4", "is encrypted", "-decryption_key"),
        ("prores-raw.mov", "ProRes RAW", "Compressor"),
        ("clip.braw", "Blackmagic RAW", "Resolve"),
        ("photo.heic", "HEIC", "heif-convert"),
        ("photo.cr3", "CR3", "DNG Converter"),
        ("page.pdf", "PDF", "pdftoppm"),
        ("page.jpg", "PDF", "pdftoppm"),
        ("scan.dcm", "DICOM", "dcmj2pnm"),
    ] {
        for options in ["", "--sandbox off"] {
            let run = dir.run(&format!("--progress json {options} {file} out.mkv")).exits_with(11);
            assert_eq!(kind(&run.says(&[what, way_out])), "unsupported", "{file}");
        }
    }
    assert!(!dir.path("out.mkv").exists());
    // A truncated file with such an extension is damage, not an unknown format.
    dir.write("cut.mov", &plain[..plain.len() / 2]);
    assert_eq!(kind(&dir.run("--progress json cut.mov out.mkv").exits_with(7)), "damage");
}

#[test]
fn a_name_that_the_program_makes_too_long_is_shortened() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 3 -c:v ffv1 in.mkv");
    for (letter, count) in [("n", 251), ("é", 125)] {
        let input = format!("{}.mkv", letter.repeat(count));
        std::fs::copy(dir.path("in.mkv"), dir.path(&input)).expect("a file");
        dir.succeeds(&format!("-q {input}"));
        let made = format!("{}-equalized.mkv", letter.repeat(241 / letter.len()));
        assert!(dir.path(&made).is_file(), "{:?}", dir.names());
        dir.succeeds(&format!("-q --output-dir out {input}"));
        assert!(dir.path("out").join(&input).is_file());
    }
    if encoder_is_here("--for web", "libx264") {
        let input = format!("{}.ts", "w".repeat(252));
        dir.ffmpeg("-i in.mkv -c:v mpeg2video -pix_fmt yuv420p -f mpegts short.ts");
        std::fs::rename(dir.path("short.ts"), dir.path(&input)).expect("a file");
        dir.succeeds(&format!("-q --for web --output-dir web {input}"));
        assert!(dir.path("web").join(format!("{}.mp4", "w".repeat(251))).is_file());
    }
}

#[test]
fn damage_under_strict_is_of_that_kind() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=320x240:rate=25 -frames:v 50 -c:v ffv1 whole.mkv");
    let whole = dir.read("whole.mkv");
    dir.write("in.mkv", &whole[..whole.len() / 2]);
    let run = dir.run("--strict --progress json in.mkv out.mkv").exits_with(7);
    assert_eq!(kind(&run), "damage");
}

#[test]
fn raw_frames_fail_as_other_inputs_do() {
    let dir = Dir::new();
    let (header, frame) = ("YUV4MPEG2 W6 H4 F25:1\n", [60; 36]);
    dir.write("cut.y4m", &[header.as_bytes(), b"FRAME\n", &frame, b"FRAME\n", &frame[..9]].concat());
    dir.write("cut.raw", &[frame; 2].concat()[..50]);
    dir.write("empty.raw", b"");
    dir.write("empty.y4m", b"");
    let raw = "-f rawvideo -s 6x4 --pixel-format yuv420p";
    for (expected, code, line) in [
        ("damage", 7, "--strict cut.y4m out.mkv".to_owned()),
        ("damage", 7, format!("--strict {raw} cut.raw out.mkv")),
        ("usage", 2, "-f rawvideo --pixel-format yuv420p cut.raw out.mkv".to_owned()),
        ("usage", 2, "-f rawvideo -s 6x4 - out.mkv".to_owned()),
        ("usage", 2, "-f rawvideo -s 6x4 --pixel-format nosuch cut.raw out.mkv".to_owned()),
        ("usage", 2, "-f rawvideo -s 6x4 --pixel-format pal8 cut.raw out.mkv".to_owned()),
        ("missing", 4, format!("{raw} - out.mkv")),
        ("missing", 4, format!("{raw} empty.raw out.mkv")),
        ("missing", 4, "-f yuv4mpegpipe - out.mkv".to_owned()),
        ("missing", 4, "empty.y4m out.mkv".to_owned()),
    ] {
        let run = dir.fed(&format!("--backend cpu --progress json --encoder ffv1 {line}"), b"").exits_with(code);
        assert_eq!(kind(&run), expected, "{line}: {}", run.stderr);
    }
    assert_eq!(dir.names(), ["cut.raw", "cut.y4m", "empty.raw", "empty.y4m"]);
}

#[test]
fn names_that_do_not_fit_fail_as_the_page_says() {
    let dir = with_clip();
    dir.write("letter.txt", b"Dear reader,\n");
    for (expected, code, line) in [
        ("missing", 4, "plan nothere.mkv out.mkv"),
        ("missing", 4, "--jobs 2 nothere.mkv out.mkv"),
        ("usage", 2, "--output-dir letter.txt in.mkv"),
        ("missing", 4, "--output-dir letter.txt/below in.mkv"),
    ] {
        let run = dir.run(&format!("{line} --progress json")).exits_with(code);
        assert_eq!(kind(&run), expected, "{line}: {}", run.stderr);
    }
    dir.run("--output-dir letter.txt in.mkv").exits_with(2).says(&["letter.txt: a file, and no folder"]);
    dir.run("--progress-file letter.txt in.mkv out.mkv").exits_with(10);
    dir.run("--progress-file 77 in.mkv out.mkv").exits_with(2);
    assert_eq!(dir.names(), ["in.mkv", "letter.txt"]);
}

/// Disk errors may be retried; these are errors of the file name.
#[test]
fn a_folder_and_a_name_that_is_too_long_are_no_faults_of_the_disk() {
    let dir = with_clip();
    let long = "x".repeat(260);
    for line in [
        format!("in.mkv {long}.mkv"),
        format!("in.mkv out.mkv --stats {long}.csv"),
        format!("in.mkv {long}%d.png"),
        // The name becomes too long only when its number is filled in.
        format!("in.mkv {}%09d.png", &long[..245]),
        format!("live --no-preview --record {long}.mkv in.mkv"),
    ] {
        let run = dir.run(&format!("{line} --progress json")).exits_with(2);
        assert_eq!(kind(&run), "usage", "{line}: {}", run.stderr);
        assert_eq!(dir.names(), ["in.mkv"], "{line}");
    }
    std::fs::create_dir(dir.path("02.png")).expect("a folder");
    let run = dir.run("-y in.mkv %02d.png --progress json").exits_with(10);
    assert_eq!(kind(&run), "exists", "{}", run.stderr);
    assert!(dir.path("02.png").is_dir() && dir.path("01.png").is_file());
    let plan = dir.succeeds("plan in.mkv joined.mkv --encoder ffv1");
    dir.write("plan.json", &plan.stdout);
    std::fs::create_dir_all(dir.path(".joined.mkv.pieces/000000.piece")).expect("a folder");
    let run = dir.run("run plan.json --progress json").exits_with(10);
    assert_eq!(kind(&run), "exists", "{}", run.stderr);
    assert!(dir.path(".joined.mkv.pieces/000000.piece").is_dir());
}

/// Muxers and encoders return `errno` values for errors of their own.
#[test]
fn what_a_container_or_an_encoder_refuses_is_no_fault_of_the_system_or_of_the_input() {
    let dir = with_clip();
    let mut lines = vec!["in.mkv out.gxf --encoder mpeg2video", "in.mkv out.swf --encoder mpeg4"];
    if encoder_is_here("an encoder that refuses a number of threads", "libx265") {
        lines.push("in.mkv out.mkv --encoder libx265 --threads 256");
    }
    for line in lines {
        let run = dir.run(&format!("{line} --progress json")).exits_with(1);
        assert_eq!(kind(&run), "failed", "{line}: {}", run.stderr);
        assert_eq!(dir.names(), ["in.mkv"], "{line}");
    }
    // A full disk is still an error of the disk.
    let full = "--encoder mpeg4 -y --output-format avi in.mkv /dev/full";
    assert_eq!(kind(&dir.run(&format!("{full} --progress json")).exits_with(9)), "disk");
}

#[test]
fn an_interruption_before_the_first_frame_is_no_error() {
    let dir = Dir::new();
    for line in ["- out.mkv", "-f rawvideo -s 6x4 --pixel-format yuv420p - out.mkv", "-f matroska - out.mkv"] {
        let mut command = dir.command(&format!("--backend cpu --progress json {line}"));
        let mut running = Running::start(command.stdin(Stdio::piped()).stderr(Stdio::piped()));
        running.wait_until_it_listens();
        running.signal(Signal::TERM);
        assert_eq!(running.ends_within(Duration::from_secs(60)), Some(130), "{line}");
        let mut said = String::new();
        running.child().stderr.take().expect("a pipe").read_to_string(&mut said).expect("text");
        assert!(!said.contains("\"event\":\"error\""), "{line}: {said}");
        assert!(said.contains("interrupted before the first frame"), "{line}: {said}");
        let last: Value = serde_json::from_str(said.lines().last().expect("a line")).expect("JSON");
        assert_eq!((&last["event"], &last["exit_code"]), (&"result".into(), &130.into()), "{line}: {said}");
    }
    assert_eq!(dir.names(), [""; 0]);
}

#[test]
fn a_wait_that_is_over_says_what_was_refused() {
    let dir = Dir::new();
    let line = "live --no-preview --wait=2 --record live.mkv rtsp://127.0.0.1:9/cam";
    let run = dir.run(line).exits_with(5);
    let last = run.stderr.lines().last().expect("a line");
    assert!(last.contains("waited for 2 s") && last.contains("the connection is refused"), "{}", run.stderr);
    assert_eq!(dir.names(), [""; 0]);
}

#[test]
fn a_recording_that_fails_before_its_first_frame_leaves_nothing_in_the_way() {
    if !encoder_is_here("a recording that fails", "libx264") {
        return;
    }
    let dir = with_clip();
    let live = "live --backend cpu --no-preview --record seg.mkv";
    dir.run(&format!("{live} --output-option segment_time=3 in.mkv")).fails().says(&["no option segment_time"]);
    assert_eq!(dir.names(), ["in.mkv"]);
    dir.succeeds(&format!("{live} in.mkv"));
    assert_eq!(dir.frames("seg.mkv").len(), 10);
}

/// Libraries such as libjxl and SVT-AV1 print to stderr themselves.
#[test]
fn what_libraries_print_is_kept_from_those_who_read_stderr() {
    let Some(dir) = with_decoder() else { return };
    let run = |options: &str| {
        let line = format!("{options}--backend cpu --frames 3 --encoder mpeg4 -y in.mkv out.mkv");
        let mut command = dir.command(&line);
        command.env("LD_PRELOAD", dir.path("decoder.so")).env("ENCODER_SAYS", "a library speaks");
        Run::from_command(&mut command, &line).exits_with(0)
    };
    // The library does print, so that the rest of this test can fail.
    run("").says(&["a library speaks"]);
    assert_eq!(run("-q ").stderr, "");
    let events = run("--progress json ").stderr;
    assert!(events.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()), "{events}");
    dir.run("-q none.mkv out.mkv").exits_with(4).says(&["histeq-video: error: none.mkv"]);
}

#[test]
fn a_word_that_is_no_text_is_told_unless_it_is_a_name() {
    let dir = with_clip();
    let line = "--look <word> in.mkv out.mkv";
    let refused =
        Run::from_command(dir.command("--look").arg(OsStr::from_bytes(b"\xe9")).args(["in.mkv", "out.mkv"]), line);
    let refused = refused.exits_with(2).says(&["\\xe9 is not UTF-8, as all have to be that are no names of files"]);
    assert_eq!(refused.stderr.lines().count(), 1);
}

#[test]
fn what_a_server_answers_is_of_the_kind_of_a_file() {
    let dir = Dir::new();
    for (status, expected, code) in [
        ("404 Not Found", "missing", 4),
        ("410 Gone", "missing", 4),
        ("401 Unauthorized", "refused", 5),
        ("403 Forbidden", "refused", 5),
        ("500 Internal Server Error", "failed", 1),
    ] {
        let url = format!("http://127.0.0.1:{}/in.mkv", refuse(status));
        for line in [
            format!("{url} out.mkv"),
            format!("--sandbox off {url} out.mkv"),
            format!("live --no-preview --record out.mkv {url}"),
        ] {
            let run = dir.run(&format!("{line} --progress json")).exits_with(code);
            assert_eq!(kind(&run), expected, "{line}: {}", run.stderr);
        }
    }
    assert!(dir.names().is_empty(), "{:?}", dir.names());
}
