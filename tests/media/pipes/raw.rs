//! Raw frames as input and output.

use super::noise;
use super::stream::Stream;
use crate::support::media::reader::encoder_is_here;
use crate::support::media::textbook::{Raw, assert_same_video};
use crate::support::programs::program::Dir;
use histeq::internal::frame::{Model, PixelFormat};
use std::fmt::Write;

/// An odd size and an even one, both small and neither square.
const SIZES: [(usize, usize); 2] = [(37, 11), (16, 6)];

/// A raw video of this format; YUV has limited range, everything else full range.
fn raw_of(format: PixelFormat, size: (usize, usize)) -> Raw {
    Raw { format: format.name(), size, limited: format.descriptor().model == Model::Yuv }
}

/// The options that describe the raw video.
fn described(raw: Raw) -> String {
    format!("-f rawvideo -s {}x{} --pixel-format {} --backend cpu --exact", raw.size.0, raw.size.1, raw.format)
}

#[test]
fn every_native_pixel_format_goes_from_pipe_to_pipe_to_the_byte() {
    let dir = Dir::new();
    for &format in PixelFormat::ALL {
        // Without subsampled chroma, one size is enough.
        let sizes = if format.descriptor().model == Model::Yuv { &SIZES[..] } else { &SIZES[..1] };
        for &size in sizes {
            let raw = raw_of(format, size);
            let video = noise(raw, 3);
            let run = dir.fed(&format!("{} --output-format rawvideo - -", described(raw)), &video).exits_with(0);
            assert_same_video(raw.format, raw, &run.stdout, &raw.equalized(&video));
        }
    }
}

#[test]
fn ffmpeg_cuts_raw_video_of_every_native_format_into_the_same_frames() {
    let dir = Dir::new();
    let (mut inputs, mut maps) = (String::new(), String::new());
    for (index, &format) in PixelFormat::ALL.iter().enumerate() {
        let raw = raw_of(format, SIZES[0]);
        dir.write(&format!("{index}.raw"), &noise(raw, 2));
        let (w, h) = raw.size;
        write!(inputs, "-f rawvideo -pixel_format {format} -video_size {w}x{h} -i {index}.raw ").expect("room");
        write!(maps, "-map {index} ").expect("room");
    }
    let list = dir.ffmpeg(&format!("{inputs}{maps}-c copy -f framecrc -")).stdout;
    let list = String::from_utf8(list).expect("text");
    let mut found = vec![Vec::new(); PixelFormat::ALL.len()];
    for line in list.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<usize> = line.split(',').map_while(|field| field.trim().parse().ok()).collect();
        found[fields[0]].push(fields[4]);
    }
    for (&format, found) in PixelFormat::ALL.iter().zip(found) {
        assert_eq!(found, [raw_of(format, SIZES[0]).frame_bytes(); 2], "frames of {format}");
    }
}

#[test]
fn samples_above_their_depth_are_lowered_to_the_highest_code() {
    let dir = Dir::new();
    for &format in PixelFormat::ALL.iter().filter(|format| format.descriptor().sample.may_exceed()) {
        let (raw, sample) = (raw_of(format, SIZES[0]), format.descriptor().sample);
        let mut random = crate::support::pictures::Random::new(11);
        let video: Vec<u8> = (0..2 * raw.frame_bytes()).map(|_| random.next() as u8).collect();
        let mut lowered = video.clone();
        (0..video.len() / 2).for_each(|index| sample.write(&mut lowered, index, sample.read(&video, index)));
        let line = format!("{} --output-format rawvideo - -", described(raw));
        let says = format!("frame 0: samples above the {} bits of {format} are lowered", sample.depth);
        let run = dir.fed(&line, &video).exits_with(0).says(&[&says]);
        assert_same_video(raw.format, raw, &run.stdout, &raw.equalized(&lowered));
        if sample.depth == 10 {
            dir.fed(&line, &lowered).exits_with(0).never_says("lowered");
            dir.fed(&format!("--strict {line}"), &video).fails().says(&[&says]);
        }
    }
}

#[test]
fn samples_above_their_depth_are_lowered_in_files_too() {
    let dir = Dir::new();
    // Frames of this size are read by several threads on a machine with many cores.
    let raw = Raw { format: "yuv420p10le", size: (640, 360), limited: true };
    let video: Vec<u8> = noise(Raw { format: "yuv420p16le", ..raw }, 3);
    let lowered: Vec<u8> =
        video.as_chunks::<2>().0.iter().flat_map(|pair| u16::from_le_bytes(*pair).min(1023).to_le_bytes()).collect();
    dir.write("in.raw", &video);
    dir.ffmpeg("-f rawvideo -pixel_format yuv420p10le -video_size 640x360 -i in.raw -c copy in.nut");
    let expected = raw.equalized(&lowered);
    let out = "--output-format rawvideo";
    for line in [format!("{} {out} in.raw -", described(raw)), format!("--backend cpu --exact {out} in.nut -")] {
        let run = dir.succeeds(&line).says(&["are lowered to 1023"]);
        assert_same_video(&line, raw, &run.stdout, &expected);
    }
}

/// FFmpeg 5.1 cannot convert NV16, and no encoder takes it.
#[test]
fn nv16_is_encoded_as_planar_video() {
    let dir = Dir::new();
    let raw = Raw { format: "nv16", size: (38, 11), limited: true };
    let video = noise(raw, 3);
    dir.fed(&format!("{} --encoder ffv1 - out.mkv", described(raw)), &video).exits_with(0);
    let planar = Raw { format: "yuv422p", ..raw };
    let chroma = |pairs: &[u8], which: usize| pairs.iter().skip(which).step_by(2).copied().collect::<Vec<u8>>();
    let frames = raw.equalized(&video);
    let expected = frames.chunks_exact(raw.frame_bytes()).flat_map(|frame| {
        let (luma, pairs) = frame.split_at(38 * 11);
        [luma.to_vec(), chroma(pairs, 0), chroma(pairs, 1)].concat()
    });
    assert_same_video("planar", planar, &dir.raw("out.mkv", "yuv422p"), &expected.collect::<Vec<u8>>());
}

const RAW: Raw = Raw { format: "nv12", size: (64, 48), limited: true };

#[test]
fn raw_frames_become_a_file_of_the_rate_that_was_said() {
    let dir = Dir::new();
    let video = noise(RAW, 10);
    dir.fed(&format!("{} -r 30000/1001 --encoder ffv1 - out.mkv", described(RAW)), &video).exits_with(0);
    assert_same_video("a file", RAW, &dir.raw("out.mkv", RAW.format), &RAW.equalized(&video));
    assert_eq!(dir.streams("out.mkv")[0]["r_frame_rate"], "30000/1001");
    if encoder_is_here("raw frames into mp4", "libx264") {
        dir.fed(&format!("{} -r 30 - out.mp4", described(RAW)), &video).exits_with(0);
        let stream = &dir.streams("out.mp4")[0];
        assert_eq!((&stream["codec_name"], &stream["r_frame_rate"]), (&"h264".into(), &"30/1".into()));
        assert_eq!(dir.frames("out.mp4").len(), 10);
    }
    dir.fed(&format!("{} --output-format rawvideo - out.bin", described(RAW)), &video).exits_with(0);
    assert_same_video("raw frames in a file", RAW, &dir.read("out.bin"), &RAW.equalized(&video));
    dir.write("in.bin", &video);
    let run = dir.succeeds(&format!("{} --output-format rawvideo in.bin -", described(RAW)));
    assert_same_video("raw frames from a file", RAW, &run.stdout, &RAW.equalized(&video));
}

#[test]
fn the_rate_of_raw_frames_is_in_the_y4m_header() {
    let dir = Dir::new();
    let raw = Raw { format: "yuv420p", ..RAW };
    for (option, tag) in [("", "25:1"), ("-r 30", "30:1"), ("-r 30000/1001", "30000:1001"), ("-r ntsc", "30000:1001")] {
        let run = dir.fed(&format!("{} {option} - -", described(raw)), &noise(raw, 1)).exits_with(0);
        assert_eq!(Stream::parse(&run.stdout, raw).tag('F'), Some(tag));
    }
}

#[test]
fn full_range_is_said_by_the_name_of_the_format() {
    let dir = Dir::new();
    let raw = Raw { format: "yuvj422p", limited: false, ..RAW };
    let video = noise(raw, 2);
    let found = Stream::parse(&dir.fed(&format!("{} - -", described(raw)), &video).exits_with(0).stdout, raw);
    assert_same_video("yuvj422p", raw, &found.video, &raw.equalized(&video));
    assert!(found.header.ends_with("XCOLORRANGE=FULL"), "{}", found.header);
}

#[test]
fn a_part_of_raw_frames_is_counted_out() {
    let dir = Dir::new();
    let video = noise(RAW, 50);
    let all = RAW.equalized(&video);
    let frame = RAW.frame_bytes();
    for (options, first, count) in [
        ("--frames 7", 0, 7),
        ("--start 0.8", 20, 30),
        ("--start 0.8 --duration 0.4", 20, 10),
        ("--start 1 --frames 3", 25, 3),
        ("--duration 100", 0, 50),
    ] {
        let line = format!("{} {options} --output-format rawvideo - -", described(RAW));
        let run = dir.fed(&line, &video).exits_with(0);
        assert_same_video(options, RAW, &run.stdout, &all[first * frame..(first + count) * frame]);
    }
    let beyond = dir.fed(&format!("{} --start 3 - -", described(RAW)), &video).exits_with(2);
    beyond.says(&["no frame at or after --start"]);
}

#[test]
fn raw_frames_that_are_not_described_are_refused_with_what_is_missing() {
    let dir = Dir::new();
    for options in ["-f rawvideo", "-f rawvideo -s 64x48", "-f rawvideo --pixel-format nv12"] {
        let run = dir.fed(&format!("--backend cpu {options} - -"), &noise(RAW, 1)).exits_with(2);
        let run = run.says(&["error: stdin: raw frames need a size and a pixel format", "-s 1920x1080 --pixel-format"]);
        assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    }
    for (options, code, says) in [
        ("-s 64x48 --pixel-format abacus", 2, "no pixel format abacus"),
        ("-s 64x48 --pixel-format pal8", 2, "pal8 cannot be equalized as they are"),
        ("-s 64 --pixel-format nv12", 2, "--size is a size like 1920x1080, not 64"),
        ("-s 64x48 --pixel-format nv12 -r fast", 2, "--rate is a rate like"),
    ] {
        dir.fed(&format!("-f rawvideo {options} - -"), &noise(RAW, 1)).ends_as(code).says(&[says]);
    }
}
