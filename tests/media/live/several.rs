//! Several sources in one process: each is recorded as it would be alone, whatever happens to the others.

use super::network::inputs::sender;
use super::{Beside, frames_counted, pause};
use crate::media::decoding::nvdec::is_here;
use crate::support::backends::gpu;
use crate::support::media::reader::encoder_is_here;
use crate::support::programs::program::{Dir, usage_error};
use std::net::UdpSocket;
use std::os::unix::fs::symlink;

/// Makes files of several sizes and lengths, with a frame rate at which a busy machine drops no frames. Returns their
/// names and frame counts.
fn films(dir: &Dir, encoder: &str) -> [(&'static str, usize); 3] {
    let films = [
        ("a.mkv", "testsrc2=s=256x144:r=10:d=1.5", 15),
        ("b.mkv", "smptebars=s=192x160:r=10:d=0.8", 8),
        ("c.mkv", "testsrc=s=320x176:r=10:d=1.2", 12),
    ];
    films.map(|(file, source, frames)| {
        dir.ffmpeg(&format!("-f lavfi -i {source} -pix_fmt yuv420p -c:v {encoder} {file}"));
        (file, frames)
    })
}

/// Records each source alone, then all of them, with these options, and compares the frames. Returns the messages of
/// the common run.
#[track_caller]
fn several_are_as_each_alone(dir: &Dir, options: &str, films: &[(&str, usize)]) -> String {
    let line = format!("live --no-preview --encoder ffv1 {options}");
    let names: Vec<&str> = films.iter().map(|(file, _)| *file).collect();
    let run = dir.succeeds(&format!("{line} --progress-file 2 --record all-%02d.mkv {}", names.join(" ")));
    for (number, (file, frames)) in (1..).zip(films) {
        dir.succeeds(&format!("{line} --record alone-{number}.mkv {file}"));
        assert_eq!(dir.frame_times(&format!("all-0{number}.mkv")).len(), *frames, "{file}: {}", run.stderr);
        let [all, alone] = [format!("all-0{number}.mkv"), format!("alone-{number}.mkv")];
        assert!(dir.raw(&all, "yuv420p") == dir.raw(&alone, "yuv420p"), "{file}: other pictures; {}", run.stderr);
        for said in [
            format!("source {number}, {file}: {frames} frames in "),
            format!("{{\"event\":\"progress\",\"source\":{number},"),
        ] {
            assert!(run.stderr.contains(&said), "not said: {said}; but: {}", run.stderr);
        }
        assert_eq!(frames_counted(&run.stderr, &all), *frames, "{file}");
        // The summary's line of each output names its source.
        let is_of_output = |line: &&str| !line.starts_with('{') && line.contains(&format!(" -> {all}"));
        let of_output = run.stderr.lines().find(is_of_output).unwrap_or_default();
        let bytes = dir.read(&all).len() as f64;
        let size = if bytes < 1e6 { format!("{:.0} kB", bytes / 1e3) } else { format!("{:.1} MB", bytes / 1e6) };
        assert_eq!(of_output, format!("source {number}, {file}: {frames} frames, {size} -> {all}"));
    }
    run.stderr
}

#[test]
fn several_sources_give_the_frames_that_each_gives_alone() {
    let dir = Dir::new();
    let films = films(&dir, "ffv1");
    let said = several_are_as_each_alone(&dir, "--backend cpu", &films);
    // The three sources share the cores.
    let threads = (std::thread::available_parallelism().expect("cores").get() / 3).clamp(1, 8);
    let threads = if threads == 1 { "1 thread)".to_owned() } else { format!("{threads} threads)") };
    let said: Vec<&str> = said.lines().filter(|line| !line.starts_with('{')).collect();
    assert_eq!(said.iter().filter(|line| line.contains(&threads)).count(), 3, "{said:?}");
}

#[test]
fn several_sources_share_a_gpu() {
    if gpu().is_none() || !encoder_is_here("several sources on a GPU", "libx264") {
        return;
    }
    let dir = Dir::new();
    let films = films(&dir, "libx264 -bf 0");
    several_are_as_each_alone(&dir, "-y --backend cuda", &films);
    if is_here(&dir.path("a.mkv")) {
        several_are_as_each_alone(&dir, "-y --backend cuda --decoder nvdec", &films);
    }
}

#[test]
fn a_source_that_fails_leaves_the_others_alone() {
    let dir = Dir::new();
    let films = films(&dir, "ffv1");
    symlink("/dev/full", dir.path("out-4.mkv")).expect("a link");
    let line = "live -y --backend cpu --encoder ffv1 --record out-%d.mkv a.mkv missing.mkv c.mkv b.mkv";
    let run = dir.run(line).fails();
    let run = run.says(&["error: source 2: missing.mkv: ", "error: source 4: ", "error: 2 of 4 sources failed: "]);
    for (number, (file, frames)) in [(1, films[0]), (3, films[2])] {
        assert_eq!(dir.frame_times(&format!("out-{number}.mkv")).len(), frames, "{file}: {}", run.stderr);
    }
    assert!(!dir.path("out-2.mkv").exists());
}

#[test]
fn ctrl_c_finishes_the_recordings_of_all_sources() {
    let dir = Dir::new();
    let cameras = "-f lavfi 'testsrc2=s=160x96:r=30,realtime' 'smptebars=s=128x96:r=20,realtime'";
    let live = Beside::live(&dir, &format!("--encoder mpeg4 {cameras} --record out-%d.mkv"));
    live.until("frames of both", |heard| heard.frames.len() == 2 && heard.fewest_frames() >= 20);
    live.interrupt();
    let (code, said) = live.end();
    assert_eq!(code, Some(0), "{said}");
    for file in ["out-1.mkv", "out-2.mkv"] {
        let frames = dir.frame_times(file).len();
        assert!(frames >= 20 && frames_counted(&said, file) == frames, "{frames} frames: {said}");
    }
}

#[test]
fn a_source_that_is_lost_is_waited_for_while_the_others_go_on() {
    let dir = Dir::new();
    let sockets = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").expect("a socket"));
    let [one, two] = sockets.map(|socket| socket.local_addr().expect("a port").port());
    let urls = format!("udp://127.0.0.1:{one} udp://127.0.0.1:{two}");
    let live = Beside::live(&dir, &format!("--encoder mpeg4 --record out-%d.mkv {urls}"));
    let (stays, goes) = (sender(&dir, one, 10), sender(&dir, two, 10));
    live.until("frames of both", |heard| heard.frames.len() == 2 && heard.fewest_frames() >= 30);
    drop(goes);
    live.until_it_says(&format!("source 2: udp://127.0.0.1:{two}: no data for 3 s; waiting for it to come back"));
    let comes = sender(&dir, two, 10);
    live.until_it_says(&format!("source 2: udp://127.0.0.1:{two}: back after"));
    pause(1.0);
    live.until_more_frames(20);
    live.interrupt();
    let (code, said) = live.end();
    drop((stays, comes));
    assert_eq!(code, Some(0), "{said}");
    let longest_gap = |file: &str| {
        let times = dir.frame_times(file);
        times.windows(2).map(|pair| pair[1] - pair[0]).fold(0.0, f64::max)
    };
    let gaps = ["out-1.mkv", "out-2.mkv"].map(longest_gap);
    assert!(gaps[0] < 2.0 && gaps[1] > 2.0, "{gaps:?}: {said}");
}

#[test]
fn what_does_not_go_with_several_sources_is_a_usage_error_with_the_way_out() {
    for (line, says) in [
        ("live a b --record out.mkv", "--record out.mkv is one place for 2 sources"),
        ("live a b --record out.mkv", "%d, the number of the source (as in cam-%d.mkv)"),
        ("live a b --record %d/out.mkv", "the last part of the name needs %d"),
        ("live a b c --record out-%d.mkv --output -", "--output - is one place for 3 sources"),
        ("live a b --record out-%d.mkv --loopback /dev/video10", "--loopback /dev/video10 is one place"),
        ("live a b --record out-%d.mkv --save-curves out.jsonl", "--save-curves out.jsonl is one place"),
        ("live a b --no-preview", "say where the pictures go (--record 'cam-%d.mkv')"),
        ("live - - --record out-%d.mkv", "stdin"),
        ("live a b --record out-%d.mkv --audio default", "--audio takes one microphone"),
        ("live a b --record out-%d.m3u8", "out-%d.m3u8: the segments of several sources"),
    ] {
        usage_error(line).says(&[says]);
    }
    let dir = Dir::new();
    dir.run("live a b --record out.mkv").exits_with(2);
    assert!(dir.names().is_empty());
}

#[test]
fn several_sources_are_never_written_to_one_file_nor_to_one_that_is_read() {
    let dir = Dir::new();
    dir.write("real.mkv", b"precious");
    for name in ["out-1.mkv", "out-2.mkv"] {
        symlink("real.mkv", dir.path(name)).expect("a link");
    }
    std::fs::create_dir(dir.path("folder")).expect("a folder");
    let numbers = "a b c d e f g h i j k";
    for (line, says) in [
        ("--record out-%d.mkv a b".to_owned(), "out-1.mkv and out-2.mkv are one file for two sources"),
        ("--record out-%d.mkv a real.mkv".to_owned(), "out-1.mkv is the input itself"),
        (format!("--record new-1%d.mkv --output folder/../new-%d.mkv {numbers}"), "are one file for two sources"),
    ] {
        dir.run(&format!("live -y --backend cpu {line}")).fails().says(&[says]);
    }
    assert_eq!(dir.read("real.mkv"), b"precious");
    assert_eq!(dir.names().len(), 3);
}
