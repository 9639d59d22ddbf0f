//! How a video is to be displayed: sample aspect ratio, rotation, fields, colours, light levels.

use crate::support::media::reader::{encoder_is_here, list};
use crate::support::programs::program::Dir;
use serde_json::Value;

/// A short video with no sound.
fn clip(dir: &Dir, file: &str, options: &str) {
    dir.ffmpeg(&format!("-f lavfi -i testsrc2=size=128x96:rate=25 -frames:v 8 {options} {file}"));
}

/// The side data of a stream or a frame with this ffprobe name.
fn side_data(frame: &Value, name: &str) -> Option<Value> {
    list(&frame["side_data_list"]).into_iter().find(|entry| entry["side_data_type"] == name)
}

#[test]
fn pixels_that_are_not_square_stay_so() {
    let dir = Dir::new();
    for container in ["mkv", "mp4", "avi", "ts"] {
        let codec = if container == "ts" { "mpeg2video" } else { "mpeg4" };
        clip(&dir, &format!("in.{container}"), &format!("-vf setsar=16/15 -c:v {codec} -q:v 3"));
        let sar = |file: &str| dir.streams(file)[0]["sample_aspect_ratio"].clone();
        for out in ["mkv", "mp4", container] {
            dir.succeeds(&format!("--backend cpu -y in.{container} out.{out}"));
            assert_eq!(sar(&format!("out.{out}")), sar(&format!("in.{container}")), "{container} to {out}");
        }
    }
}

#[test]
fn what_the_container_says_of_pixels_outweighs_what_is_in_the_pictures() {
    if !encoder_is_here("a shape of pixels in both places", "libx264") {
        return;
    }
    let dir = Dir::new();
    clip(&dir, "plain.mp4", "-vf setsar=64/45 -c:v libx264");
    for input in ["in.mkv", "in.mp4"] {
        dir.ffmpeg(&format!("-i plain.mp4 -c copy -aspect 2:1 {input}"));
        let sar = |file: &str| dir.streams(file)[0]["sample_aspect_ratio"].clone();
        assert_eq!(sar(input), "3:2", "the clip says something else than its pictures");
        for output in ["out.mkv", "out.mp4", "out.y4m"] {
            dir.succeeds(&format!("--backend cpu -y {input} {output}"));
            assert_eq!(sar(output), "3:2", "{input} to {output}");
        }
    }
}

#[test]
fn rotation_is_kept() {
    let dir = Dir::new();
    clip(&dir, "plain.mp4", "-c:v mpeg4 -q:v 3");
    for angle in ["90", "180"] {
        dir.ffmpeg(&format!("-i plain.mp4 -c copy -metadata:s:v rotate={angle} in.mp4"));
        let matrix =
            |file: &str| side_data(&dir.streams(file)[0], "Display Matrix").map(|side| side["rotation"].clone());
        if matrix("in.mp4").is_none() {
            // Since FFmpeg 6, the rotation is an option of the input.
            dir.ffmpeg(&format!("-display_rotation {angle} -i plain.mp4 -c copy in.mp4"));
        }
        assert!(matrix("in.mp4").is_some(), "the clip is rotated");
        for out in ["out.mp4", "out.mov"] {
            dir.succeeds(&format!("--backend cpu -y in.mp4 {out}"));
            assert_eq!(matrix(out), matrix("in.mp4"), "{out}");
            assert_eq!(dir.streams(out)[0]["width"], 128, "turned once more");
        }
    }
}

#[test]
fn interlaced_video_stays_interlaced_with_its_field_order() {
    let dir = Dir::new();
    for (order, top, field_order) in [("tff", 1, "tt"), ("bff", 0, "bb")] {
        for (codec, container) in [("mpeg2video", "ts"), ("libx264", "mkv"), ("libx264", "mp4"), ("ffv1", "mkv")] {
            if !encoder_is_here("interlaced video", codec) {
                continue;
            }
            let options = match codec {
                "libx264" => format!("-x264-params {order}=1"),
                "mpeg2video" => "-q:v 2".to_owned(),
                _ => String::new(),
            };
            let fields = format!("setfield={order}");
            let input = format!("in.{container}");
            clip(
                &dir,
                &input,
                &format!("-vf {fields} -flags +ildct+ilme -field_order {field_order} -c:v {codec} {options}"),
            );
            let output = format!("out.{container}");
            dir.succeeds(&format!("--backend cpu -y {input} {output}")).never_says("warning");
            let frames = dir.frames(&output);
            assert_eq!(frames.len(), dir.frames(&input).len());
            for frame in &frames {
                assert_eq!(frame["interlaced_frame"], 1, "{codec} in {container}, {order}");
                assert_eq!(frame["top_field_first"], top, "{codec} in {container}, {order}");
            }
            let told = |file: &str| dir.streams(file)[0]["field_order"].clone();
            assert_eq!(told(&output), told(&input), "{codec} in {container}, {order}");
        }
    }
}

#[test]
fn progressive_video_stays_progressive() {
    let dir = Dir::new();
    clip(&dir, "in.mkv", "-c:v ffv1");
    dir.succeeds("--backend cpu --encoder mpeg4 in.mkv out.mkv");
    assert!(dir.frames("out.mkv").iter().all(|frame| frame["interlaced_frame"] == 0));
}

#[test]
fn colours_mean_what_they_meant() {
    let dir = Dir::new();
    let keys = ["color_range", "color_space", "color_transfer", "color_primaries", "chroma_location"];
    let colours = |file: &str| {
        let stream = dir.streams(file).remove(0);
        keys.map(|key| stream[key].clone())
    };
    for (range, matrix, transfer, primaries) in [
        ("tv", "bt709", "bt709", "bt709"),
        ("pc", "bt470bg", "gamma28", "bt470bg"),
        ("tv", "bt2020nc", "arib-std-b67", "bt2020"),
    ] {
        let tags = format!(
            "-color_range {range} -colorspace {matrix} -color_trc {transfer} -color_primaries {primaries} \
             -chroma_sample_location left"
        );
        for (codec, container) in [("libx264", "mkv"), ("libx264", "mp4"), ("libx264", "ts"), ("ffv1", "mkv")] {
            if !encoder_is_here("colours", codec) {
                continue;
            }
            let (input, output) = (format!("in.{container}"), format!("out.{container}"));
            clip(&dir, &input, &format!("-c:v {codec} -pix_fmt yuv420p {tags}"));
            dir.succeeds(&format!("--backend cpu -y {input} {output}"));
            let found = colours(&output);
            assert_eq!(found, colours(&input), "{codec} in {container}");
            assert_eq!(found[0], range, "{codec} in {container}");
        }
    }
}

#[test]
fn ten_bits_stay_ten_bits() {
    let dir = Dir::new();
    for (codec, format) in [
        ("libx264", "yuv420p10le"),
        ("libx265", "yuv420p10le"),
        ("prores_ks", "yuv422p10le"),
        ("libvpx-vp9", "yuv420p10le"),
    ] {
        if !encoder_is_here("ten bits", codec) {
            continue;
        }
        let options = if codec == "libx265" { "-x265-params log-level=none" } else { "" };
        clip(&dir, "in.mov.mkv", &format!("-c:v {codec} -pix_fmt {format} {options}"));
        dir.succeeds("--backend cpu -y in.mov.mkv out.mkv");
        let (before, after) = (&dir.streams("in.mov.mkv")[0], &dir.streams("out.mkv")[0]);
        assert_eq!(after["pix_fmt"], format, "{codec}");
        assert_eq!(after["codec_name"], before["codec_name"], "{codec}");
    }
}

#[test]
fn the_mastering_display_is_kept_and_light_levels_that_no_longer_hold_are_not() {
    if !encoder_is_here("HDR10", "libx265") {
        return;
    }
    let dir = Dir::new();
    let light = "master-display=G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,50):max-cll=1000,400";
    // FFmpeg 5.1 takes the colours from the options, 7.1 from the frames.
    let colours = "-color_range tv -colorspace bt2020nc -color_trc smpte2084 -color_primaries bt2020 \
                   -vf setparams=range=tv:colorspace=bt2020nc:color_trc=smpte2084:color_primaries=bt2020";
    for container in ["mkv", "mp4"] {
        let input = format!("in.{container}");
        clip(&dir, &input, &format!("-c:v libx265 -pix_fmt yuv420p10le {colours} -x265-params log-level=none:{light}"));
        for output in ["out.mkv", "out.mp4"] {
            dir.succeeds(&format!("--backend cpu -y {input} {output}"));
            let of_frame = |file: &str, name| side_data(&dir.frames(file)[0], name);
            let of_stream = |name| side_data(&dir.streams(output)[0], name);
            let (mastering, light) = ("Mastering display metadata", "Content light level metadata");
            assert!(of_frame(&input, mastering).is_some() && of_frame(&input, light).is_some(), "the clip has both");
            assert_eq!(of_frame(output, mastering), of_frame(&input, mastering), "{input} to {output}, in the frames");
            assert!(of_stream(mastering).is_some(), "{input} to {output}, in the container");
            assert_eq!(of_stream(light), None, "{input} to {output}, in the container");
            // x265 writes zeros, which mean unknown light levels.
            let light = of_frame(output, light);
            assert!(light.is_none_or(|light| light["max_content"] == 0 && light["max_average"] == 0));
            assert_eq!(dir.streams(output)[0]["color_transfer"], "smpte2084");
        }
    }
}

#[test]
fn dv_codes_fields() {
    let dir = Dir::new();
    dir.ffmpeg(
        "-f lavfi -i testsrc2=size=720x576:rate=25 -frames:v 4 -pix_fmt yuv420p -c:v dvvideo -flags +ildct in.dv",
    );
    for output in ["out.dv", "out.mov"] {
        dir.succeeds(&format!("--backend cpu --strict --encoder dvvideo -y in.dv {output}"));
        let fields = |file: &str| -> Vec<[bool; 2]> {
            dir.frames(file)
                .iter()
                .map(|frame| [frame["interlaced_frame"] == 1, frame["top_field_first"] == 1])
                .collect()
        };
        assert_eq!(fields(output), fields("in.dv"), "{output}");
        assert!(fields(output)[0][0], "DV has fields");
    }
}
