//! Rotated video is turned upright if the output cannot signal a rotation.

use crate::support::media::clips::phone;
use crate::support::media::reader::encoder_is_here;
use crate::support::programs::program::Dir;

/// A clip of 128x96 non-square pixels with the rotation of a phone's video.
fn turned(dir: &Dir, file: &str, format: &str, angle: u32) {
    let clip = "-f lavfi -i testsrc2=size=128x96:rate=25 -frames:v 4 -qp 0";
    phone(dir, file, &format!("{clip} -vf setsar=4/3,format={format}"), angle);
}

#[test]
fn pictures_are_turned_where_the_output_cannot_say_so() {
    if !encoder_is_here("a phone's video", "libx264") {
        return;
    }
    let dir = Dir::new();
    for format in ["yuv420p", "yuv444p", "yuv420p10le"] {
        for angle in [90, 180, 270] {
            turned(&dir, "in.mp4", format, angle);
            // The ffmpeg program applies the rotation when it decodes.
            let (expected, size) = match angle {
                180 => (dir.upright("in.mp4", format), (128, 96, "4:3")),
                _ => (dir.upright("in.mp4", format), (96, 128, "3:4")),
            };
            for output in ["out.avi", "out.y4m", "out.nut"] {
                let encoder = if output == "out.y4m" { "" } else { "--encoder ffv1" };
                dir.succeeds(&format!("--backend cpu --strict --levels 1 --strength 0 {encoder} -y in.mp4 {output}"));
                assert!(dir.raw(output, format) == expected, "{format} turned by {angle} in {output}");
                let stream = &dir.streams(output)[0];
                let found = (&stream["width"], &stream["height"], &stream["sample_aspect_ratio"]);
                assert_eq!(found, (&size.0.into(), &size.1.into(), &size.2.into()), "{angle} in {output}");
            }
        }
    }
}

#[test]
fn half_of_the_chroma_is_no_obstacle() {
    if !encoder_is_here("a phone's video of 4:2:2", "libx264") {
        return;
    }
    let dir = Dir::new();
    turned(&dir, "in.mp4", "yuv422p", 90);
    dir.succeeds("--backend cpu --encoder ffv1 in.mp4 out.avi");
    dir.succeeds("--backend cpu --frames 1 in.mp4 out.png");
    for output in ["out.avi", "out.png"] {
        let stream = &dir.streams(output)[0];
        assert_eq!((&stream["width"], &stream["height"]), (&96.into(), &128.into()), "{output}");
    }
    assert_eq!(dir.streams("out.avi")[0]["pix_fmt"], "yuv444p");
    turned(&dir, "deep.mp4", "yuv422p10le", 270);
    dir.succeeds("--backend cpu --strict --encoder ffv1 deep.mp4 deep.avi");
    assert_eq!(dir.streams("deep.avi")[0]["pix_fmt"], "yuv444p10le");
}

#[test]
fn where_the_container_tells_them_to_turn_they_stay() {
    if !encoder_is_here("a phone's video", "libx264") {
        return;
    }
    let dir = Dir::new();
    turned(&dir, "in.mp4", "yuv420p", 90);
    for output in ["out.mp4", "out.mov"] {
        dir.succeeds(&format!("--backend cpu --encoder libx264 in.mp4 {output}"));
        let stream = dir.streams(output)[0].clone();
        assert_eq!(stream["width"], 128, "{output}");
        assert!(stream.to_string().contains("Display Matrix"), "{output}: {stream}");
    }
}

/// A photo with an Exif orientation, as cameras write it.
fn photo(dir: &Dir, file: &str, orientation: u8) {
    dir.ffmpeg("-f lavfi -i testsrc2=size=128x96 -frames:v 1 -pix_fmt yuvj444p -q:v 2 plain.jpg");
    let jpeg = dir.read("plain.jpg");
    // A big-endian directory with one entry: orientation (0x0112), a single 16-bit number.
    let tags =
        [b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0".as_slice(), &[orientation, 0, 0, 0, 0, 0, 0]];
    let tags = tags.concat();
    let marker = [0xff, 0xe1, 0, 2 + tags.len() as u8];
    dir.write(file, &[&jpeg[..2], &marker, &tags, &jpeg[2..]].concat());
}

#[test]
fn every_photo_of_a_sequence_lies_as_it_was_taken() {
    let dir = Dir::new();
    for (number, orientation) in [(1, 6), (2, 8), (3, 5)] {
        photo(&dir, &format!("in{number}.jpg"), orientation);
        dir.succeeds(&format!("--backend cpu --levels 1 --strength 0 in{number}.jpg alone{number}.png"));
    }
    dir.succeeds("--backend cpu --levels 1 --strength 0 in%d.jpg out%d.png");
    for number in 1..=3 {
        let (found, expected) = (format!("out{number}.png"), format!("alone{number}.png"));
        assert!(dir.raw(&found, "rgb24") == dir.raw(&expected, "rgb24"), "photo {number}");
    }
}

#[test]
fn photos_lie_as_their_camera_was_held() {
    let dir = Dir::new();
    let turns = [
        "null",
        "hflip",
        "hflip,vflip",
        "vflip",
        "transpose=cclock_flip",
        "transpose=clock",
        "transpose=clock_flip",
        "transpose=cclock",
    ];
    for (orientation, turn) in (1..).zip(turns) {
        photo(&dir, "in.jpg", orientation);
        // Later versions of the ffmpeg program apply the orientation of Exif themselves.
        dir.ffmpeg(&format!("-noautorotate -i in.jpg -vf {turn} -f rawvideo -pix_fmt rgb24 expected.rgb"));
        for output in ["out.png", "out.mp4"] {
            if output == "out.mp4" && !encoder_is_here("a photo as a video", "libx264") {
                continue;
            }
            let options = if output == "out.png" { "" } else { "--encoder libx264 --crf 0" };
            dir.succeeds(&format!("--backend cpu --levels 1 --strength 0 {options} -y in.jpg {output}"));
            let (found, expected) = (dir.raw(output, "rgb24"), dir.read("expected.rgb"));
            assert_eq!(found.len(), expected.len(), "{output} of orientation {orientation}");
            let far = found.iter().zip(&expected).filter(|(a, b)| a.abs_diff(**b) > 24).count();
            assert!(far * 50 < found.len(), "{output} of orientation {orientation}: {far} of {} are off", found.len());
        }
    }
}
