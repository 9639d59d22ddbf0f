//! Other programs at both ends of a pipe: FFmpeg, x264 and mpv read our output, and we read theirs.

use super::noise;
use super::stream::{Stream, stream};
use crate::support::media::textbook::{Raw, assert_same_video};
use crate::support::programs::program::{Dir, Run};
use crate::support::skip::is_here;
use std::io::Read;
use std::process::Stdio;

const RAW: Raw = Raw { format: "yuv420p", size: (64, 48), limited: true };
const FRAMES: usize = 6;

/// The program's output for a y4m stream of this format and chroma tag.
fn equalized_y4m(dir: &Dir, raw: Raw, tags: &str) -> Vec<u8> {
    let (w, h) = raw.size;
    let input = stream(&format!("YUV4MPEG2 W{w} H{h} F25:1 Ip A1:1 {tags}"), raw, &noise(raw, FRAMES));
    dir.fed("--exact --backend cpu - -", &input).exits_with(0).stdout
}

fn other(dir: &Dir, program: &str, line: &str, input: &[u8]) -> Run {
    Run::fed(&mut dir.other_command(program, line), line, input).exits_with(0)
}

#[test]
fn ffmpeg_and_we_read_each_other_through_running_pipes() {
    let dir = Dir::new();
    let clip = "-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 40 -pix_fmt yuv420p";
    dir.ffmpeg(&format!("{clip} -f rawvideo in.raw"));
    let mut writer = dir.other_command("ffmpeg", &format!("-v error {clip} -f yuv4mpegpipe -"));
    let mut writer = writer.stdout(Stdio::piped()).spawn().expect("ffmpeg runs");
    let mut between = dir.command("--exact --backend cpu -q - -");
    between.stdin(writer.stdout.take().expect("a pipe")).stdout(Stdio::piped());
    let mut between = between.spawn().expect("the program runs");
    let mut reader = dir.other_command("ffmpeg", "-v error -f yuv4mpegpipe -i - -f rawvideo -");
    reader.stdin(between.stdout.take().expect("a pipe")).stdout(Stdio::piped());
    let mut reader = reader.spawn().expect("ffmpeg runs");
    let mut found = Vec::new();
    reader.stdout.take().expect("a pipe").read_to_end(&mut found).expect("frames");
    for child in [&mut writer, &mut between, &mut reader] {
        assert!(child.wait().expect("it ends").success());
    }
    assert_same_video("three programs", RAW, &found, &RAW.equalized(&dir.read("in.raw")));
}

#[test]
fn x264_takes_our_y4m_and_we_take_what_it_encodes() {
    if !is_here("x264") {
        return;
    }
    let dir = Dir::new();
    for (format, tags, options) in [
        ("yuv420p", "C420jpeg", ""),
        ("yuv420p", "C420mpeg2 XCOLORRANGE=FULL", ""),
        ("yuv422p", "C422", "--output-csp i422"),
        ("yuv444p", "C444", "--output-csp i444"),
        ("yuv420p10le", "C420p10", "--output-depth 10"),
        ("gray", "Cmono", "--output-csp i400"),
    ] {
        let raw = Raw { format, limited: !tags.contains("FULL") && format != "gray", ..RAW };
        let ours = equalized_y4m(&dir, raw, tags);
        let line = format!("--quiet --demuxer y4m --qp 0 {options} -o out.264 -");
        other(&dir, "x264", &line, &ours);
        // x264 encodes losslessly, so its output shows the frames that it has read.
        let expected = raw.equalized(&noise(raw, FRAMES));
        let read_as = if tags.contains("FULL") { "yuvj420p" } else { format };
        assert_same_video(tags, raw, &dir.raw("out.264", read_as), &expected);
        dir.fed("--exact --backend cpu -y -f h264 --encoder ffv1 - back.mkv", &dir.read("out.264")).exits_with(0);
        // FFmpeg decodes gray H.264 as 4:2:0 of another range.
        if format == "gray" {
            assert_eq!(dir.frames("back.mkv").len(), FRAMES);
        } else {
            assert_same_video(tags, raw, &dir.raw("back.mkv", read_as), &raw.equalized(&expected));
        }
    }
}

#[test]
fn mpv_takes_our_y4m_and_we_take_what_it_writes() {
    if !is_here("mpv") {
        return;
    }
    let dir = Dir::new();
    for (format, tags) in [("yuv420p", "C420jpeg"), ("yuv444p", "C444"), ("yuv420p10le", "C420p10"), ("gray", "Cmono")]
    {
        let raw = Raw { format, limited: format != "gray", ..RAW };
        let ours = equalized_y4m(&dir, raw, tags);
        let played = other(&dir, "mpv", "--no-config --vo=null --ao=null --untimed -", &ours);
        let said = String::from_utf8_lossy(&played.stdout).into_owned();
        assert!(said.contains("64x48") && said.contains("End of file"), "mpv said of {tags}: {said}");
        let line = "--no-config --really-quiet --of=yuv4mpegpipe --ofopts=strict=-1 -o - -";
        let theirs = other(&dir, "mpv", line, &ours).stdout;
        let expected = raw.equalized(&noise(raw, FRAMES));
        assert_same_video(&format!("{tags} as mpv reads it"), raw, &Stream::parse(&theirs, raw).video, &expected);
        let run = dir.fed("--exact --backend cpu - -", &theirs).exits_with(0);
        assert_same_video(tags, raw, &Stream::parse(&run.stdout, raw).video, &raw.equalized(&expected));
    }
}
