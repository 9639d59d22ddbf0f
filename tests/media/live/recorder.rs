//! Recordings in segments: they contain all frames, have the right names, and old ones are deleted.

use super::{Beside, without_display};
use crate::support::programs::program::{Dir, Run, usage_error};
use crate::support::programs::running::{Running, under_load};
use crate::support::programs::tiny_disk::TinyDisk;
use crate::support::skip::skip;
use histeq_media::ffmpeg::filter::FilterGraph;
use rustix::process::Signal;
use std::fs;
use std::io::{Read, Write};
use std::time::{Duration, Instant};

/// Options that leave the frames unchanged.
const AS_IS: &str = "--no-preview --levels 1 --strength 0 --denoise 0";

/// The names of the segments, in order of creation.
fn segments(dir: &Dir, extension: &str) -> Vec<String> {
    let mut names: Vec<String> = dir.names().into_iter().filter(|name| name.starts_with("s-")).collect();
    names.retain(|name| name.ends_with(extension));
    names.sort();
    names
}

#[test]
fn no_frame_and_no_sound_is_lost_or_twice_between_segments() {
    for (extension, encoder) in [("mkv", "ffv1"), ("mp4", "libx264")] {
        let dir = Dir::new();
        dir.ffmpeg(
            "-f lavfi -i testsrc2=s=64x48:r=10:d=4.5 -f lavfi -i sine=r=48000:d=4.5 -pix_fmt yuv420p -c:v ffv1 -c:a aac \
             in.mkv",
        );
        let name = format!("s-%Y%m%d-%H%M%S.{extension}");
        let encoder = if encoder == "ffv1" { "--encoder ffv1" } else { "--encoder libx264 --crf 0" };
        let run = dir.succeeds(&format!("live --backend cpu {AS_IS} {encoder} --segment 1s --record {name} in.mkv"));
        let all = segments(&dir, extension);
        assert!((4..=7).contains(&all.len()), "{all:?}: {}", run.stderr);
        let frames: Vec<u8> = all.iter().flat_map(|name| dir.raw(name, "yuv420p")).collect();
        assert!(frames == dir.raw("in.mkv", "yuv420p"), "{extension}: other frames than the source has");
        let mut sound = 0;
        for name in &all {
            let (pictures, packets) = (dir.frame_times(name), dir.packet_times("a:0", name));
            assert!(pictures[0].abs() < 0.002, "{name} begins at {}", pictures[0]);
            assert!(packets[0].abs() < 0.05, "the sound of {name} begins at {}", packets[0]);
            assert!(packets.is_sorted(), "{name}: {packets:?}");
            sound += packets.len();
        }
        let (was, lost) = (dir.packet_times("a:0", "in.mkv").len(), "sound is lost or twice");
        // Players skip AAC's first packet (priming), and a segment may lack it.
        assert!((was - 2..=was + 1).contains(&sound), "{extension}: {sound} packets of {was}: {lost}");
        assert!(run.stderr.contains(&format!("45 frames -> {name}")), "{run:?}");
    }
}

#[test]
fn only_recordings_of_this_pattern_go_in_this_run_and_in_later_ones() {
    let dir = Dir::new();
    let source = "-f lavfi 'testsrc2=s=64x48:r=10,realtime'";
    let record = |more: &str| {
        dir.succeeds(&format!("live {AS_IS} --segment 1s --record s-%s.mkv {more} --duration 2.5 {source}"))
    };
    record("");
    let first = segments(&dir, "mkv");
    assert!(first.len() >= 3, "{first:?}");
    // Two files that must not be deleted: one with a matching name that was not recorded, and a renamed recording.
    dir.write("s-1000000000.mkv", b"other");
    fs::rename(dir.path(&first[0]), dir.path("evidence.mkv")).expect("a name");
    record("--keep-size 0.001k");
    let left = segments(&dir, "mkv");
    assert!(left.contains(&"s-1000000000.mkv".to_owned()), "{left:?}");
    assert!(dir.names().contains(&"evidence.mkv".to_owned()));
    assert!(first.iter().all(|name| !left.contains(name)), "{left:?} of {first:?}");
}

/// A source whose FFV1 takes 46 kB/s.
const NOISE: &str = "testsrc2=s=64x48:r=10,noise=alls=100:allf=t,realtime";

/// The total size of all recordings whose names begin with `begin`.
fn bytes(dir: &Dir, begin: &str) -> u64 {
    let names = dir.names().into_iter().filter(|name| name.starts_with(begin) && name.ends_with(".mkv"));
    names.map(|name| fs::metadata(dir.path(name)).expect("a file").len()).sum()
}

#[test]
fn no_run_ends_with_more_than_may_be_kept() {
    let dir = Dir::new();
    let line = "live --encoder ffv1 --segment 1s --record s-%s.mkv --duration 4.5";
    let run = dir.succeeds(&format!("{line} {AS_IS} -f lavfi '{NOISE}'"));
    assert!(bytes(&dir, "s-") > 150_000, "{} bytes: {}", bytes(&dir, "s-"), run.stderr);
    let run = dir.succeeds(&format!("{line} --keep-size 110k {AS_IS} -f lavfi '{NOISE}'"));
    let left = bytes(&dir, "s-");
    assert!((30_000..=110_000).contains(&left), "{left} bytes: {}", run.stderr);
}

#[test]
fn what_stands_above_all_cameras_is_kept_of_all_together() {
    let dir = Dir::new();
    // Earlier recordings of camera `roof` count although the camera is unreachable.
    dir.succeeds(&format!(
        "live {AS_IS} --encoder ffv1 --segment 1s --record roof-%s.mkv --duration 3.5 -f lavfi '{NOISE}'"
    ));
    let newest = dir.names().into_iter().rfind(|name| name.starts_with("roof-")).map(|name| bytes(&dir, &name));
    let newest = newest.expect("a segment");
    let head = "keep-size = \"200k\"\nsegment = \"1s\"\nencoder = \"ffv1\"\nlevels = 1\nstrength = 0\ndenoise = 0\n";
    let camera = |name: &str, more: &str| {
        format!("[camera.{name}]\nsource = \"{NOISE}\"\nformat = \"lavfi\"\nrecord = \"{name}-%s.mkv\"\n{more}\n")
    };
    let roof = "[camera.roof]\nsource = \"tcp://127.0.0.1:9\"\nrecord = \"roof-%s.mkv\"\n";
    let cameras = [camera("gate", ""), camera("yard", ""), camera("door", "keep-size = \"90k\"")].concat();
    dir.write("c.toml", format!("{head}{cameras}{roof}").as_bytes());
    let live = Beside::live(&dir, "--config c.toml");
    let frames = |heard: &super::Heard| [1, 2, 3].map(|source| heard.frames.get(&source).copied().unwrap_or(0));
    live.until("frames of three", |heard| frames(heard).iter().all(|frames| *frames > 45));
    live.signal(Signal::TERM);
    let (code, said) = live.end();
    assert_eq!(code, Some(0), "{said}");
    let [gate, yard, roof, door] = ["gate-", "yard-", "roof-", "door-"].map(|name| bytes(&dir, name));
    assert!(gate + yard + roof <= 200_000, "{gate} + {yard} + {roof} bytes: {said}");
    assert!(gate > 0 && yard > 0 && roof == newest, "{gate}, {yard}, {roof} bytes, {newest} of the newest: {said}");
    assert!((1..=90_000).contains(&door), "{door} bytes: {said}");
}

#[test]
fn a_full_disk_takes_the_oldest_recording_or_is_waited_for() {
    let dir = Dir::new();
    let Some(_disk) = TinyDisk::mount(dir.path("disk"), "800k") else {
        return skip("a full disk", "a small file system cannot be mounted");
    };
    let fill = || dir.write("disk/filler", &[0; 500_000]);
    fill();
    let line = format!("{AS_IS} --encoder ffv1 --segment 1s --record disk/s-%s.mkv -f lavfi '{NOISE}'");
    let here = || -> Vec<String> { dir.names().into_iter().filter(|name| name.ends_with(".mkv")).collect() };
    let live = Beside::live(&dir, &line);
    live.until_it_says("s-%s.mkv: No space left on device; waiting until the disk takes recordings again");
    let before = here();
    live.until_more_frames(10);
    assert_eq!(here(), before, "{}", live.said());
    fs::remove_file(dir.path("disk/filler")).expect("the filler");
    live.until_it_says(": recording again after ");
    live.until("two more", |_| here().len() > before.len() + 2);
    live.signal(Signal::TERM);
    let (code, said) = live.end();
    assert_eq!(code, Some(0), "{said}");
    let frames: usize = here().iter().map(|name| dir.frame_times(name).len()).sum();
    assert!(
        said.contains(&format!("{frames} frames, ")) && said.contains(" because it was away -> disk/s-%s.mkv"),
        "{said}"
    );

    here().iter().for_each(|name| fs::remove_file(dir.path(name)).expect("a recording"));
    fill();
    let live = Beside::live(&dir, &format!("--keep 1h {line}"));
    live.until(": removed", |heard| {
        heard.text.contains(": removed, because the disk is full") || heard.text.contains("keeps no attributes")
    });
    if live.said().contains("keeps no attributes") {
        return skip("kernel", "a file system in memory keeps no attributes here");
    }
    let oldest = here()[0].clone();
    live.until("the next one goes, too", |_| !dir.path(&oldest).exists());
    live.signal(Signal::TERM);
    let (code, said) = live.end();
    assert_eq!(code, Some(0), "{said}");
    let removed: Vec<&str> = said
        .lines()
        .filter_map(|line| line.strip_prefix("histeq-video: ")?.strip_suffix(": removed, because the disk is full"))
        .collect();
    assert!(removed.len() > 1 && removed.is_sorted(), "{said}");
    let (left, newest) = (here(), removed[removed.len() - 1]);
    assert!(!left.is_empty() && left.iter().all(|name| name.as_str() > newest), "{left:?}: {said}");
}

#[test]
fn a_disk_that_takes_no_more_files_is_waited_for() {
    let dir = Dir::new();
    let Some(_disk) = TinyDisk::mount(dir.path("disk"), "8m,nr_inodes=2") else {
        return skip("a disk without inodes", "a small file system cannot be mounted");
    };
    dir.write("disk/filler", b"");
    let live =
        Beside::live(&dir, &format!("{AS_IS} --encoder ffv1 --segment 1s --record disk/s-%s.mkv -f lavfi '{NOISE}'"));
    live.until_it_says("s-%s.mkv: No space left on device; waiting until the disk takes recordings again");
    fs::remove_file(dir.path("disk/filler")).expect("the filler");
    live.until_it_says(": recording again after ");
    live.signal(Signal::TERM);
    let (code, said) = live.end();
    assert_eq!(code, Some(0), "{said}");
    let all: Vec<String> = dir.names().into_iter().filter(|name| name.ends_with(".mkv")).collect();
    assert!(all.len() == 1 && !dir.frame_times(&all[0]).is_empty(), "{all:?}");
}

#[test]
fn a_recording_that_was_killed_before_its_first_frame_is_no_segment() {
    let dir = Dir::new();
    // The encoder's look-ahead is longer than this test.
    let line = format!(
        "{AS_IS} --segment 1h --record s-%s.mkv --encoder libx264 --encoder-option rc-lookahead=250 -f lavfi \
         'testsrc2=s=64x48:r=10,realtime'"
    );
    let live = Beside::live(&dir, &line);
    live.until_more_frames(5);
    live.signal(Signal::KILL);
    drop(live);
    assert_eq!(segments(&dir, "mkv").len(), 1);
    dir.succeeds(&format!("live {line} --frames 3"));
    let all = segments(&dir, "mkv");
    assert_eq!(all.len(), 1, "{all:?}");
    assert_eq!(dir.frame_times(&all[0]).len(), 3);
}

#[test]
fn what_cannot_be_cut_into_segments_is_a_usage_error() {
    for (line, said) in [
        ("live --segment 1h", "--record"),
        ("live --keep 7d --record a.mkv", "--segment"),
        ("live --segment 0 --record a-%s.mkv x", "a length of time is needed, like 10m, 1h or 7d"),
        ("live --segment soon --record a-%s.mkv x", "a length of time is needed"),
        ("live --segment 1h --keep-size much --record a-%s.mkv x", "--keep-size is a number of bytes"),
        ("live --segment 1h --record a-%s.m3u8 x", "--segment writes files of video"),
        ("live --segment 1h --record a-%s.mkv x y", "use --config FILE"),
    ] {
        usage_error(line).says(&[said]);
    }
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=s=64x48:r=10:d=0.5 -c:v ffv1 in.mkv");
    for (name, code, said) in [
        ("a.mkv", 2, "segments need the time in their names (as in cam-%Y%m%d-%H%M%S.mkv)"),
        ("nowhere/a-%s.mkv", 4, "there is no folder nowhere (make it first)"),
    ] {
        dir.run(&format!("live {AS_IS} --segment 1h --record {name} in.mkv")).exits_with(code).says(&[said]);
    }
}

#[test]
fn a_live_list_has_a_key_frame_where_each_segment_ends() {
    let dir = Dir::new();
    dir.succeeds(&format!(
        "live {AS_IS} --record s.m3u8 --output-option hls_time=1 --duration 3.5 -f lavfi \
         'testsrc2=s=64x48:r=10,realtime'"
    ));
    let list = String::from_utf8(dir.read("s.m3u8")).expect("a text");
    let lengths: Vec<f64> =
        list.lines().filter_map(|line| line.strip_prefix("#EXTINF:")?.trim_end_matches(',').parse().ok()).collect();
    assert_eq!(lengths.len(), 4, "{list}");
    assert!(lengths[..3].iter().all(|length| (length - 1.0).abs() < 0.15), "{list}");
}

#[test]
fn a_text_with_the_time_is_drawn_into_what_is_recorded() {
    if !FilterGraph::knows("drawtext") {
        return skip("drawtext", "this FFmpeg lacks the filter drawtext");
    }
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i color=gray:s=320x180:r=10:d=0.3 -pix_fmt yuv420p -c:v ffv1 in.mkv");
    let plain = |dir: &Dir, file: &str| dir.raw(file, "gray")[..320 * 180].to_vec();
    dir.succeeds(&format!("live {AS_IS} --encoder ffv1 --osd '%Y it''s [1]: {{50%%}}' --record out.mkv in.mkv"));
    let (before, after) = (plain(&dir, "in.mkv"), plain(&dir, "out.mkv"));
    let differs = |rows: std::ops::Range<usize>| {
        rows.flat_map(|row| row * 320..(row + 1) * 320)
            .filter(|&index| before[index].abs_diff(after[index]) > 40)
            .count()
    };
    assert!(differs(0..30) > 300, "{} pixels of text", differs(0..30));
    assert_eq!(differs(30..180), 0);
}

#[test]
fn a_recording_goes_on_and_ends_behind_a_stderr_that_nobody_reads() {
    for (more, is_read) in [("--progress json", true), ("--verbose", false)] {
        let dir = Dir::new();
        let (mut reader, mut writer) = std::io::pipe().expect("a pipe");
        let room = rustix::pipe::fcntl_setpipe_size(&writer, 4096).expect("a small pipe");
        writer.write_all(&vec![b'x'; room]).expect("room");
        let line = format!("live {AS_IS} {more} --encoder ffv1 --segment 1s --record s-%s.mkv -f lavfi '{NOISE}'");
        let mut command = without_display(dir.command(&line));
        let mut running = Running::start(command.stderr(writer));
        // `command` holds a write end of the pipe, so the reader would not see the end of the output.
        drop(command);
        let begin = Instant::now();
        while segments(&dir, "mkv").len() < 4 {
            assert!(begin.elapsed() < under_load(Duration::from_secs(60)), "{more}: {:?}", dir.names());
            std::thread::sleep(Duration::from_millis(20));
        }
        let read = move || {
            let mut said = String::new();
            reader.read_to_string(&mut said).expect("text");
            said
        };
        let (said, unread) = if is_read { (Some(std::thread::spawn(read)), None) } else { (None, Some(read)) };
        running.signal(Signal::INT);
        assert_eq!(running.ends_within(under_load(Duration::from_secs(60))), Some(0), "{more}");
        match (said, unread) {
            (Some(said), _) => {
                let said = said.join().expect("a reader without a fault");
                let lines = said.trim_start_matches('x').lines();
                let events: Vec<serde_json::Value> =
                    lines.map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect();
                let count = |name: &str| events.iter().filter(|event| event["event"] == name).count();
                assert!((count("start"), count("result")) == (1, 1) && count("segment") >= 3, "{said}");
                assert_eq!(events.last().expect("an event")["exit_code"], 0, "{said}");
            }
            (None, Some(mut read)) => assert_eq!(read(), "x".repeat(room), "nothing more has room"),
            (None, None) => unreachable!("one of them has it"),
        }
        let whole = segments(&dir, "mkv").iter().all(|name| !dir.frame_times(name).is_empty());
        assert!(whole, "{more}: {:?}", dir.names());
    }
}

#[test]
fn a_time_zone_that_is_no_file_is_not_read() {
    let dir = Dir::new();
    Run::from_command(&mut dir.other_command("mkfifo", "zone"), "mkfifo").exits_with(0);
    for (number, (zone, offset, is_told)) in
        [("/dev/zero", "+0000", true), ("zone", "+0000", true), ("XYZ-5:30", "+0530", false)].into_iter().enumerate()
    {
        let line = format!(
            "live {AS_IS} --encoder ffv1 --segment 1h --record s-{number}%z-%s.mkv --frames 3 -f lavfi '{NOISE}'"
        );
        let run = Run::from_command(without_display(dir.command(&line)).env("TZ", zone), &line).exits_with(0);
        assert_eq!(run.stderr.matches("times are in UTC").count(), usize::from(is_told), "{zone}: {}", run.stderr);
        let name = format!("s-{number}{offset}-");
        let files = std::fs::read_dir(dir.path("")).expect("a folder").flatten().map(|file| file.file_name());
        let files: Vec<_> = files.collect();
        assert!(files.iter().any(|file| file.to_string_lossy().starts_with(&name)), "{zone}: {files:?}");
    }
}
