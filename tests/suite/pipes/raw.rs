//! Raw frames in, raw frames out.

use super::noise;
use crate::program::Dir;
use crate::textbook::{Raw, assert_same_video};
use histeq_video::frame::{Model, PixelFormat};
use std::fmt::Write;

/// An odd size and an even one, both small and neither square.
const SIZES: [(usize, usize); 2] = [(37, 11), (16, 6)];

/// A raw video of this format; what is not YUV has its full range.
fn raw_of(format: PixelFormat, size: (usize, usize)) -> Raw {
    Raw { format: format.name(), size, limited: format.descriptor().model == Model::Yuv }
}

/// The options that describe it.
fn described(raw: Raw) -> String {
    format!("-f rawvideo -s {}x{} --pixel-format {} --backend cpu", raw.size.0, raw.size.1, raw.format)
}

#[test]
fn every_native_pixel_format_goes_from_pipe_to_pipe_to_the_byte() {
    let dir = Dir::new();
    for &format in PixelFormat::ALL {
        for size in SIZES {
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
