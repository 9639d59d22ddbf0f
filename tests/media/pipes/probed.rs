//! Containers that FFmpeg recognizes on stdin, and the advice for those that it cannot read from a pipe.

use super::noise;
use super::stream::Stream;
use crate::support::media::reader::assert_same_times;
use crate::support::media::textbook::{Raw, assert_same_video};
use crate::support::pictures::Random;
use crate::support::programs::program::{Dir, Run};

const RAW: Raw = Raw { format: "yuv420p", size: (64, 48), limited: true };

#[test]
fn transport_streams_nut_and_matroska_are_told_by_what_is_in_them() {
    let dir = Dir::new();
    for (container, codec) in [("mpegts", "mpeg2video"), ("nut", "rawvideo"), ("matroska", "ffv1"), ("mpegts", "mpeg4")]
    {
        dir.ffmpeg(&format!(
            "-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 12 -pix_fmt yuv420p -c:v {codec} -f {container} in"
        ));
        let run = dir.fed("--exact --backend cpu - -", &dir.read("in")).exits_with(0);
        let found = Stream::parse(&run.stdout, RAW);
        assert_eq!(found.tag('F'), Some("25:1"), "{container}");
        assert_same_video(container, RAW, &found.video, &RAW.equalized(&dir.raw("in", RAW.format)));
    }
}

#[test]
fn a_part_of_what_comes_in_is_cut_out_although_a_pipe_cannot_seek() {
    let dir = Dir::new();
    for container in ["mpegts", "matroska", "mp4 -movflags +faststart"] {
        // All frames depend on a single keyframe, which a pipe cannot deliver twice.
        dir.ffmpeg(&format!(
            "-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 50 -pix_fmt yuv420p -c:v mpeg4 -g 100 -f {container} in"
        ));
        let all = RAW.equalized(&dir.raw("in", RAW.format));
        let run = dir.fed("--exact --backend cpu --start 1 --frames 5 - -", &dir.read("in")).exits_with(0);
        let part = &all[25 * RAW.frame_bytes()..30 * RAW.frame_bytes()];
        assert_same_video(container, RAW, &Stream::parse(&run.stdout, RAW).video, part);
    }
}

#[test]
fn an_mp4_with_its_index_at_the_end_gets_the_remedy_or_is_read_where_stdin_is_a_file() {
    let dir = Dir::new();
    // The file is larger than the data that FFmpeg buffers before it gives up seeking.
    dir.ffmpeg("-f lavfi -i testsrc2=size=640x360:rate=25 -frames:v 50 -c:v mpeg4 -q:v 1 in.mp4");
    let run = dir.fed("--backend cpu - out.mkv", &dir.read("in.mp4")).fails();
    run.says(&["index in front", "+faststart"]);
    assert_eq!(dir.names(), ["in.mp4"]);
    // Unlike a pipe, a file on stdin can seek to its index.
    let file = std::fs::File::open(dir.path("in.mp4")).expect("the file");
    let line = "--backend cpu --encoder ffv1 - out.mkv";
    Run::from_command(dir.command(line).stdin(file), line).exits_with(0);
    assert_eq!(dir.frames("out.mkv").len(), 50);
}

#[test]
fn sound_travels_from_a_pipe_into_a_file() {
    let dir = Dir::new();
    dir.ffmpeg(
        "-f lavfi -i testsrc2=size=64x48:rate=25 -f lavfi -i sine -t 1 -c:v ffv1 -pix_fmt yuv420p -c:a flac -f matroska in",
    );
    dir.fed("--exact --backend cpu --encoder ffv1 - out.mkv", &dir.read("in")).exits_with(0);
    assert_eq!(dir.payload("0:a:0", "out.mkv"), dir.payload("0:a:0", "in"));
    let expected = RAW.equalized(&dir.raw("in", RAW.format));
    assert_same_video("a pipe into a file", RAW, &dir.raw("out.mkv", RAW.format), &expected);
    assert_same_times(&dir.frame_times("out.mkv"), &dir.frame_times("in"), 0.001);
    let run = dir.fed("--backend cpu - -", &dir.read("in")).exits_with(0);
    run.says(&["the other streams are left out"]);
}

#[test]
fn rows_with_padding_behind_them_leave_it_behind() {
    let dir = Dir::new();
    for (w, h) in [(33, 17), (35, 6), (1, 1)] {
        let raw = Raw { size: (w, h), ..RAW };
        dir.write("in.raw", &noise(raw, 4));
        let described = format!("-f rawvideo -pixel_format yuv420p -video_size {w}x{h} -i in.raw");
        // This decoder pads rows to a multiple of 64 bytes.
        dir.ffmpeg(&format!("{described} -c:v ffv1 -f matroska in"));
        let expected = raw.equalized(&dir.read("in.raw"));
        let run = dir.fed("--exact --backend cpu - -", &dir.read("in")).exits_with(0);
        assert_same_video("y4m", raw, &Stream::parse(&run.stdout, raw).video, &expected);
        let run = dir.fed("--exact --backend cpu --output-format rawvideo - -", &dir.read("in")).exits_with(0);
        assert_same_video("raw", raw, &run.stdout, &expected);
    }
}

#[test]
fn a_format_that_does_not_tell_can_be_named() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 5 -c:v mpeg2video -f mpegts in");
    let run = dir.fed("--exact --backend cpu -f mpegts - -", &dir.read("in")).exits_with(0);
    let expected = RAW.equalized(&dir.raw("in", RAW.format));
    assert_same_video("named", RAW, &Stream::parse(&run.stdout, RAW).video, &expected);
    dir.fed("--backend cpu -f abacus - -", &dir.read("in")).fails().says(&["no input format abacus"]);
}

#[test]
fn what_cannot_be_told_is_refused_with_the_flags_that_help() {
    let dir = Dir::new();
    let mut random = Random::new(3);
    let anything: Vec<u8> = (0..200_000).map(|_| random.next() as u8).collect();
    for input in [&anything, &noise(RAW, 8), &vec![128; 100_000], &vec![0; 3]] {
        let run = dir.fed("--backend cpu - -", input).fails();
        let run = run.says(&["error: stdin: ", "-f rawvideo -s WxH --pixel-format yuv420p -r 25"]);
        assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
        assert_eq!(run.stdout, b"");
    }
    let run = dir.fed("--backend cpu - -", b"").fails().says(&["stdin: no data received"]);
    assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
}
