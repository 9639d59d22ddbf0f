//! Reads a recording with FFmpeg's libraries, because FFmpeg's programs take seconds to start in an emulated machine.

use ffmpeg::format::Pixel;
use ffmpeg::software::scaling::{Context, Flags};
use ffmpeg::util::frame::Video;
use ffmpeg_next as ffmpeg;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

/// All frames of a file.
#[derive(Debug, Default)]
pub struct Film {
    /// The timestamp of each frame, in seconds.
    pub times: Vec<f64>,
    /// Each frame, scaled to 16x9 pixels of red, green and blue.
    pub thumbnails: Vec<Vec<u8>>,
    /// A hash of the samples of each frame, without the padding of rows.
    pub hashes: Vec<u64>,
    /// The width and height of each frame.
    pub sizes: Vec<(u32, u32)>,
}

impl Film {
    /// Decodes a file, which must be complete.
    #[track_caller]
    pub fn read(path: &Path) -> Self {
        ffmpeg::init().expect("FFmpeg");
        let mut input = ffmpeg::format::input(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let stream = input.streams().best(ffmpeg::media::Type::Video).expect("a video stream");
        let (index, unit) = (stream.index(), f64::from(stream.time_base()));
        let context = ffmpeg::codec::Context::from_parameters(stream.parameters()).expect("a known codec");
        let mut decoder = context.decoder().video().expect("a decoder");
        let (mut film, mut picture) = (Film::default(), Video::empty());
        for (stream, packet) in input.packets() {
            if stream.index() == index {
                decoder.send_packet(&packet).expect("a whole packet");
                while decoder.receive_frame(&mut picture).is_ok() {
                    film.add(&picture, unit);
                }
            }
        }
        decoder.send_eof().expect("a decoder that ends");
        while decoder.receive_frame(&mut picture).is_ok() {
            film.add(&picture, unit);
        }
        film
    }

    fn add(&mut self, picture: &Video, unit: f64) {
        let size = (picture.width(), picture.height());
        let mut scaler =
            Context::get(picture.format(), size.0, size.1, Pixel::RGB24, 16, 9, Flags::AREA).expect("swscale");
        let mut small = Video::empty();
        scaler.run(picture, &mut small).expect("swscale");
        let rows = (0..9).flat_map(|y| small.data(0)[y * small.stride(0)..][..16 * 3].to_vec());
        self.thumbnails.push(rows.collect());
        let mut hasher = DefaultHasher::new();
        for plane in 0..picture.planes() {
            let (width, stride) = (picture.plane_width(plane) as usize, picture.stride(plane));
            picture.data(plane).chunks(stride).for_each(|row| row[..width.min(row.len())].hash(&mut hasher));
        }
        self.hashes.push(hasher.finish());
        self.times.push(picture.timestamp().map_or(f64::NAN, |time| time as f64 * unit));
        self.sizes.push(size);
    }

    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Requires increasing timestamps and different frames. Vivid writes the time and a number into each frame, so two
    /// equal frames show that a later frame has overwritten an earlier one.
    #[track_caller]
    pub fn is_in_order(&self) {
        self.is_in_order_with_a_restart_at(self.len());
    }

    /// Like `is_in_order`, for a camera that was opened again at this frame: vivid's time and numbers begin again
    /// there, so later frames may equal earlier ones.
    #[track_caller]
    pub fn is_in_order_with_a_restart_at(&self, frame: usize) {
        // After a stall of the machine, vivid sends all frames that are due at once, with equal timestamps.
        let was_held_up = self.times.windows(2).any(|pair| pair[1] - pair[0] > 2.0);
        let in_order = |pair: &[f64]| pair[0] < pair[1] || (was_held_up && pair[0] == pair[1]);
        assert!(self.times.windows(2).all(in_order), "{:?}", self.times);
        let (before, after) = self.hashes.split_at(frame);
        for hashes in [before, after] {
            let mut different = hashes.to_vec();
            different.sort_unstable();
            different.dedup();
            assert_eq!(different.len(), hashes.len(), "a picture is there twice");
        }
    }
}

/// The largest difference between two thumbnails: of their RGB channels, or of their luma if `gray`.
pub fn difference(a: &[u8], b: &[u8], gray: bool) -> u8 {
    let luma = |p: &[u8]| ((u32::from(p[0]) * 299 + u32::from(p[1]) * 587 + u32::from(p[2]) * 114) / 1000) as u8;
    let values = |picture: &[u8]| if gray { picture.chunks(3).map(luma).collect() } else { picture.to_vec() };
    values(a).into_iter().zip(values(b)).map(|(a, b)| a.abs_diff(b)).max().unwrap_or(255)
}
