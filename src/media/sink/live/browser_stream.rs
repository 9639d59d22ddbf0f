//! Two frames stacked vertically, as video for browsers: H.264 in fragmented mp4, one fragment for each stacked frame,
//! for Media Source Extensions.

use crate::ffmpeg::demux::Media;
use crate::ffmpeg::encode::{Encoder, VideoEncoder, VideoOptions};
use crate::ffmpeg::filter::{Converter, VideoFormat};
use crate::ffmpeg::frame::{Picture, RawFormat, StreamSideData};
use crate::ffmpeg::mux::{Container, Muxer, OutputStream};
use crate::ffmpeg::{Packet, microseconds};
use crate::pipeline::Cancel;
use crate::sink::files::target::Target;
use anyhow::{Context, Result, ensure};
use crossbeam_channel::{Receiver, Sender, unbounded};
use ffmpeg_next::Rational;
use histeq::internal::frame::{Frame, HostPool, PixelFormat};
use std::fs::File;
use std::io::{BufReader, ErrorKind, Read};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// H.264 encoders, fastest first, with their options for low latency.
const ENCODERS: &[(&str, &[(&str, &str)])] = &[
    ("libx264", &[("preset", "ultrafast"), ("tune", "zerolatency"), ("crf", "21"), ("bf", "0"), ("forced-idr", "1")]),
    ("libopenh264", &[("allow_skip_frames", "0")]),
];

/// The longest time between key frames. A new viewer is sent all frames since the last key frame.
const KEY_DISTANCE: Duration = Duration::from_secs(2);

/// Muxer options: a fragment for each frame, and a header that is complete before the first frame.
const FRAGMENTS: &[(&str, &str)] =
    &[("movflags", "frag_every_frame+empty_moov+default_base_moof"), ("flush_packets", "1")];

/// The largest mp4 box that is read, in bytes.
const MAX_BOX: u32 = 64 << 20;

/// A part of the mp4 stream.
pub enum Fragment {
    /// The header, before all frames.
    Header {
        /// The codec string, such as `avc1.42C01F` (RFC 6381).
        codec: String,
        /// The boxes `ftyp` and `moov`.
        bytes: Vec<u8>,
    },
    /// A fragment with one stacked frame.
    Picture {
        /// The boxes `moof` and `mdat`.
        bytes: Vec<u8>,
        /// Whether it is a key frame.
        is_key: bool,
    },
}

/// Stacks two frames vertically, as limited-range YUV 4:2:0 for browsers.
pub struct Pairs {
    converter: Converter,
    pool: HostPool,
    /// Format and size of each of the two frames.
    half: VideoFormat,
}

impl Pairs {
    /// Stacks frames in the format of `first`, scaled down to at most `most_rows` rows each, with even sizes.
    ///
    /// # Errors
    /// When FFmpeg does not have the pixel format of `first`.
    pub fn new(first: &Frame, most_rows: usize) -> Result<Self> {
        let source = VideoFormat::from_picture(&Picture::from_frame(first)?);
        let (width, height) = source.size;
        let rows = height.min(most_rows).next_multiple_of(2);
        let size = ((width * rows / height).next_multiple_of(2).max(2), rows);
        let format = RawFormat::from(PixelFormat::Yuv420p);
        let colour = source.colour.converted(source.format, format, source.size).named().limited_range();
        let half = VideoFormat { format, size, colour };
        Ok(Pairs { converter: Converter::quick(), pool: HostPool::default(), half })
    }

    /// Converts one frame to its format and size in the stack.
    ///
    /// # Errors
    /// When it cannot be converted.
    pub fn single(&mut self, picture: &Frame) -> Result<Frame> {
        self.converter.frame(picture, self.half)
    }

    /// Stacks `upper` on `lower`.
    ///
    /// # Errors
    /// When one of them cannot be converted.
    pub fn join(&mut self, [upper, lower]: [&Frame; 2]) -> Result<Frame> {
        let (upper, lower) = (self.single(upper)?, self.single(lower)?);
        let planes = upper.planes().iter().zip(lower.planes()).map(|(upper, lower)| {
            let mut both = self.pool.plane(upper.row_bytes(), upper.rows() + lower.rows());
            (0..upper.rows()).for_each(|y| both.row_mut(y).copy_from_slice(upper.row(y)));
            (0..lower.rows()).for_each(|y| both.row_mut(upper.rows() + y).copy_from_slice(lower.row(y)));
            both.freeze()
        });
        let size = (upper.width(), upper.height() * 2);
        Ok(Frame::new(upper.format(), size, upper.range(), upper.matrix(), planes.collect())?)
    }
}

/// Encodes stacked frames as fragmented mp4.
pub struct BrowserStream {
    encoder: VideoEncoder,
    video: OutputStream,
    pairs: Pairs,
    begin: Instant,
    last_key: Option<Duration>,
    last_time: i64,
    is_key: Sender<bool>,
    // In the order of dropping: the muxer writes its end, the pipe is closed, and then the reader thread ends.
    muxer: Option<Muxer>,
    pipe: Option<Target>,
    reader: Option<JoinHandle<()>>,
}

impl BrowserStream {
    /// Whether this FFmpeg has one of `ENCODERS`.
    pub fn is_possible() -> bool {
        ENCODERS.iter().any(|(name, _)| Encoder::find(name).is_some())
    }

    /// Starts a video of frames in the format of `first`, scaled down to at most `most_rows` rows each. A separate
    /// thread calls `give` with each part of the mp4 stream.
    ///
    /// # Errors
    /// When this FFmpeg lacks an encoder, or it cannot be opened.
    pub fn open(first: &Frame, most_rows: usize, give: impl FnMut(Fragment) + Send + 'static) -> Result<Self> {
        let found = ENCODERS.iter().find_map(|(name, options)| Some((Encoder::find(name)?, *options)));
        let (encoder, options) = found.context("this FFmpeg has no encoder for browsers (libx264 or libopenh264)")?;
        let pairs = Pairs::new(first, most_rows)?;
        let (columns, rows) = pairs.half.size;
        let pair = VideoFormat { size: (columns, rows * 2), ..pairs.half };
        let options = options.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        // The encoder derives the H.264 level from this frame rate; actual frame intervals may vary.
        let frame_rate = Some(Rational::new(30, 1));
        let options =
            VideoOptions { global_header: true, options, frame_rate, ..VideoOptions::new(pair, microseconds()) };
        let encoder = VideoEncoder::open(encoder, &options)?;

        let (read, write) = std::io::pipe()?;
        let pipe = Target::pipe(&"the view in a browser".into(), File::from(std::os::fd::OwnedFd::from(write)));
        let container = Container::guess(Some("mp4"), "").context("this FFmpeg has no muxer for mp4")?;
        let mut muxer = Muxer::open(container, &pipe.url(), Some(Cancel::default().flag().into()), None)?;
        let media = Media::for_raw_video("rawvideo", Rational::new(25, 1), None);
        let video = muxer.add_encoded(&encoder, &media.streams[0], &Vec::new(), &StreamSideData::default())?;
        let (is_key, keys) = unbounded();
        let reader = File::from(std::os::fd::OwnedFd::from(read));
        let reader = std::thread::Builder::new().name("fragments".to_owned()).spawn(move || {
            // An error only ends the stream, like the end of the pipe.
            let _ = split(reader, &keys, give);
        })?;
        let mut stream = BrowserStream {
            encoder,
            video,
            pairs,
            begin: Instant::now(),
            last_key: None,
            last_time: -1,
            is_key,
            muxer: None,
            pipe: Some(pipe),
            reader: Some(reader),
        };
        let options: Vec<_> = FRAGMENTS.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        muxer.write_header(&options)?;
        stream.muxer = Some(muxer);
        Ok(stream)
    }

    /// Adds two frames, which are shown stacked from now on.
    ///
    /// # Errors
    /// When it cannot be converted or encoded.
    pub fn write(&mut self, pictures: [&Frame; 2]) -> Result<()> {
        self.write_at(self.begin.elapsed(), pictures)
    }

    /// Adds two frames, which are shown stacked from `time` on, counted from the start of the video.
    ///
    /// # Errors
    /// When it cannot be converted or encoded.
    pub fn write_at(&mut self, time: Duration, pictures: [&Frame; 2]) -> Result<()> {
        let both = self.pairs.join(pictures)?;
        let mut picture = Picture::from_frame(&both)?;
        picture.set_colour(self.pairs.half.colour);
        self.last_time = (self.last_time + 1).max(time.as_micros() as i64);
        picture.set_time(Some(self.last_time));
        if self.last_key.is_none_or(|key| time.saturating_sub(key) >= KEY_DISTANCE) {
            self.last_key = Some(time);
            picture.make_key();
        }
        self.encoder.send(Some(&mut picture))?;
        while let Some(packet) = self.encoder.receive()? {
            self.put(packet)?;
        }
        Ok(())
    }

    fn put(&mut self, packet: Packet) -> Result<()> {
        let muxer = self.muxer.as_mut().context("it has been opened")?;
        // If the reader thread has ended, the muxer returns an error, too.
        let _ = self.is_key.send(packet.is_key());
        muxer.write(packet, self.video, self.encoder.time_base())?;
        Ok(())
    }
}

impl Drop for BrowserStream {
    fn drop(&mut self) {
        if let Some(muxer) = self.muxer.take() {
            // Writes the last frame. An error only means that the reader thread has ended.
            let _ = muxer.finish();
        }
        drop(self.pipe.take());
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
    }
}

/// Reads mp4 boxes, and passes header and fragments to `give`. `keys` receives for each frame whether it is a key
/// frame.
fn split(reader: File, keys: &Receiver<bool>, mut give: impl FnMut(Fragment)) -> Result<()> {
    let mut reader = BufReader::new(reader);
    let mut bytes = Vec::new();
    loop {
        let mut head = [0; 8];
        match reader.read_exact(&mut head) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(()),
            read => read?,
        }
        let length = u32::from_be_bytes([head[0], head[1], head[2], head[3]]);
        ensure!((8..=MAX_BOX).contains(&length), "a box of {length} bytes");
        let body = bytes.len() + 8;
        bytes.extend_from_slice(&head);
        bytes.resize(body + length as usize - 8, 0);
        reader.read_exact(&mut bytes[body..])?;
        match &head[4..] {
            b"moov" => {
                let codec = codec(&bytes).context("no avcC in the header")?;
                give(Fragment::Header { codec, bytes: std::mem::take(&mut bytes) });
            }
            b"mdat" => {
                let is_key = keys.recv().unwrap_or_default();
                give(Fragment::Picture { bytes: std::mem::take(&mut bytes), is_key });
            }
            // The fragment index at the end is discarded.
            b"mfra" => bytes.clear(),
            _ => {}
        }
    }
}

/// The codec by RFC 6381: profile, constraints and level of the `avcC` box (ISO/IEC 14496-15).
fn codec(header: &[u8]) -> Option<String> {
    let offset = header.windows(4).position(|name| name == b"avcC")? + 4;
    let [_version, profile, constraints, level]: [u8; 4] = header.get(offset..offset + 4)?.try_into().ok()?;
    Some(format!("avc1.{profile:02X}{constraints:02X}{level:02X}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use histeq::internal::frame::{Matrix, Range};
    use std::sync::{Arc, Mutex};

    #[test]
    fn a_video_has_a_header_and_a_fragment_for_each_picture_and_begins_with_a_key_frame() {
        if !BrowserStream::is_possible() {
            return;
        }
        let pool = HostPool::default();
        let frame = |value: u8| {
            let plane = |width, rows, value: u8| pool.plane_from(&vec![value; width * rows], width, rows);
            let planes = vec![plane(98, 50, value), plane(49, 25, 128), plane(49, 25, 128)];
            Frame::new(PixelFormat::Yuv420p, (98, 50), Range::Limited, Matrix::Bt709, planes).expect("a frame")
        };
        let given = Arc::new(Mutex::new(Vec::new()));
        let gives = given.clone();
        let give = move |fragment| gives.lock().expect("a lock").push(fragment);
        let mut stream = BrowserStream::open(&frame(16), 30, give).expect("a video");
        assert_eq!(stream.pairs.half.size, (58, 30));
        for value in [40, 80, 120] {
            stream.write([&frame(value), &frame(value + 60)]).expect("a picture");
        }
        drop(stream);
        let given = given.lock().expect("a lock");
        let Fragment::Header { codec, bytes } = &given[0] else { panic!("no header") };
        assert!(codec.starts_with("avc1.") && codec.len() == 11, "{codec}");
        assert_eq!(&bytes[4..8], b"ftyp");
        let keys: Vec<bool> = given[1..]
            .iter()
            .map(|fragment| match fragment {
                Fragment::Picture { bytes, is_key } => {
                    assert_eq!(&bytes[4..8], b"moof");
                    *is_key
                }
                Fragment::Header { .. } => panic!("two headers"),
            })
            .collect();
        assert_eq!(keys, [true, false, false]);
    }
}
