//! An independent reader of files: FFmpeg's command-line tools, or its libraries where starting a tool would take
//! longer than reading, without any code of the program.

use crate::support::programs::program::Dir;
use crate::support::skip::skip;
use ffmpeg_next as ffmpeg;
use ffmpeg_next::frame::Video;
use serde_json::Value;
use std::sync::OnceLock;

/// Does this FFmpeg have the encoder of a test's clip? If not, prints that `what` is skipped.
pub fn encoder_is_here(what: &str, encoder: &str) -> bool {
    static LIST: OnceLock<String> = OnceLock::new();
    let list = LIST.get_or_init(|| {
        let list = Dir::new().ffmpeg("-encoders");
        String::from_utf8_lossy(&list.stdout).into_owned()
    });
    let here = list.lines().any(|line| line.split_whitespace().nth(1) == Some(encoder));
    if !here {
        skip(encoder, &format!("this FFmpeg has no such encoder ({what})"));
    }
    here
}

/// Does this FFmpeg have the filter? If not, prints that `what` is skipped.
pub fn filter_is_here(what: &str, filter: &str) -> bool {
    let list = Dir::new().ffmpeg("-filters").stdout;
    let here = String::from_utf8_lossy(&list).lines().any(|line| line.split_whitespace().nth(1) == Some(filter));
    if !here {
        skip(filter, &format!("this FFmpeg has no such filter ({what})"));
    }
    here
}

impl Dir {
    /// ffprobe's output for a file. `what` is one of its `-show_...` options, with further options.
    pub fn probe(&self, what: &str, file: &str) -> Value {
        let line = format!("-v error -of json {what} {file}");
        let run = self.tool("ffprobe", &line, self.clip(file).map(|clip| vec![clip]));
        serde_json::from_slice(&run.stdout).expect("ffprobe's JSON")
    }

    /// The streams of a file.
    pub fn streams(&self, file: &str) -> Vec<Value> {
        let streams = self.probe("-show_streams", file);
        streams["streams"].as_array().expect("ffprobe's list of streams").clone()
    }

    /// The frames of a file's first video stream, in display order.
    pub fn frames(&self, file: &str) -> Vec<Value> {
        list(&self.probe("-select_streams v:0 -show_frames", file)["frames"])
    }

    /// The packets of one stream (`a:0`), in the order of the file.
    pub fn packets(&self, stream: &str, file: &str) -> Vec<Value> {
        list(&self.probe(&format!("-select_streams {stream} -show_packets"), file)["packets"])
    }

    /// The timestamp of each frame of the first video stream, in seconds.
    pub fn frame_times(&self, file: &str) -> Vec<f64> {
        let mut times = Vec::new();
        self.decode(file, |frame, unit| times.push(in_seconds(frame.timestamp(), unit)));
        times
    }

    /// The timestamp of each packet of a stream (`a:0` or `1`), in seconds.
    pub fn packet_times(&self, stream: &str, file: &str) -> Vec<f64> {
        let mut input = self.input(file);
        let index = match stream.split_once(':') {
            None => stream.parse().expect("the number of a stream"),
            Some((kind, number)) => {
                let medium = match kind {
                    "v" => ffmpeg::media::Type::Video,
                    "a" => ffmpeg::media::Type::Audio,
                    _ => ffmpeg::media::Type::Subtitle,
                };
                let mut of_kind = input.streams().filter(|stream| stream.parameters().medium() == medium);
                of_kind.nth(number.parse().expect("a number")).expect("a stream of that kind").index()
            }
        };
        let of_stream = input.packets().filter(|(stream, _)| stream.index() == index);
        of_stream.map(|(stream, packet)| in_seconds(packet.pts(), stream.time_base().into())).collect()
    }

    /// The MD5 of all payloads of one stream (`0:a:0`).
    pub fn payload(&self, stream: &str, file: &str) -> String {
        let run = self.ffmpeg(&format!("-i {file} -map {stream} -c copy -f streamhash -hash md5 -"));
        let line = String::from_utf8_lossy(&run.stdout).into_owned();
        line.trim().rsplit_once('=').expect("a stream's hash").1.to_owned()
    }

    /// The samples of all frames of the first video stream, in `format`. Frames are not rotated.
    pub fn raw(&self, file: &str, format: &str) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut converter: Option<Converter> = None;
        self.decode(file, |frame, _| {
            if converter.as_ref().is_none_or(|converter| converter.kind != Converter::kind(frame)) {
                converter = Some(Converter::new(frame, format));
            }
            bytes.extend(converter.as_mut().expect("it was just made").bytes(frame));
        });
        bytes
    }

    /// Like [`raw`](Self::raw), but frames are rotated as the file says.
    pub fn upright(&self, file: &str, format: &str) -> Vec<u8> {
        self.ffmpeg(&format!("-i {file} -map 0:v:0 -fps_mode passthrough -f rawvideo -pix_fmt {format} -")).stdout
    }

    fn input(&self, file: &str) -> ffmpeg::format::context::Input {
        ffmpeg::format::input(&self.path(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
    }

    /// FFmpeg's name of the format of the first video stream.
    pub fn pixel_format(&self, file: &str) -> &'static str {
        let decoder = self.decoder(&self.input(file)).0;
        decoder.format().descriptor().map_or("none", |descriptor| descriptor.name())
    }

    /// A decoder for the first video stream, the stream's index, and its time base in seconds.
    fn decoder(&self, input: &ffmpeg::format::context::Input) -> (ffmpeg::decoder::Video, usize, f64) {
        let mut streams = input.streams();
        let stream =
            streams.find(|stream| stream.parameters().medium() == ffmpeg::media::Type::Video).expect("a video");
        let context = ffmpeg::codec::Context::from_parameters(stream.parameters()).expect("parameters of a codec");
        let mut decoder = context.decoder();
        decoder.set_packet_time_base(stream.time_base());
        (decoder.video().expect("a decoder"), stream.index(), stream.time_base().into())
    }

    /// Calls `each` with the frames of the first video stream, in the order in which they are shown, and with the unit
    /// of their times in seconds.
    fn decode(&self, file: &str, mut each: impl FnMut(&Video, f64)) {
        let mut input = self.input(file);
        let (mut decoder, index, unit) = self.decoder(&input);
        let mut frame = Video::empty();
        let mut take = |decoder: &mut ffmpeg::decoder::Video| {
            while decoder.receive_frame(&mut frame).is_ok() {
                each(&frame, unit);
            }
        };
        for (_, packet) in input.packets().filter(|(stream, _)| stream.index() == index) {
            // Errors of broken packets are ignored, as by FFmpeg's tools.
            let _ = decoder.send_packet(&packet);
            take(&mut decoder);
        }
        decoder.send_eof().expect("an end");
        take(&mut decoder);
    }
}

/// A filter graph that converts frames of one kind to a pixel format, and an encoder that concatenates their planes.
struct Converter {
    kind: Kind,
    graph: ffmpeg::filter::Graph,
    joiner: ffmpeg::encoder::video::Encoder,
}

/// The properties that all frames of one filter graph share.
type Kind = (ffmpeg::format::Pixel, u32, u32, ffmpeg::color::Range, ffmpeg::color::Space);

impl Converter {
    fn kind(frame: &Video) -> Kind {
        (frame.format(), frame.width(), frame.height(), frame.color_range(), frame.color_space())
    }

    fn new(frame: &Video, format: &str) -> Self {
        let (pixel, width, height, range, space) = Converter::kind(frame);
        let mut source = format!(
            "video_size={width}x{height}:pix_fmt={}:time_base=1/25",
            pixel.descriptor().expect("a format").name()
        );
        // Since FFmpeg 7, range and matrix are parameters of the buffer source.
        if ffmpeg::filter::version() >> 16 >= 10 {
            let (range, space) = (ffmpeg::ffi::AVColorRange::from(range), ffmpeg::ffi::AVColorSpace::from(space));
            source += &format!(":range={}:colorspace={}", range as i32, space as i32);
        }
        let mut graph = ffmpeg::filter::Graph::new();
        let filter = |name| ffmpeg::filter::find(name).expect("one of FFmpeg's basic filters");
        graph.add(&filter("buffer"), "in", &source).expect("a source of frames");
        graph.add(&filter("buffersink"), "out", "").expect("a sink of frames");
        let chain = format!("scale=flags=bicubic,format={format}");
        let parser = graph.output("in", 0).and_then(|parser| parser.input("out", 0));
        parser.and_then(|parser| parser.parse(&chain)).expect("a chain of filters");
        graph.validate().expect("filters that fit together");
        let rawvideo = ffmpeg::encoder::find_by_name("rawvideo").expect("FFmpeg's encoder for raw frames");
        let mut joiner = ffmpeg::codec::Context::new_with_codec(rawvideo).encoder().video().expect("an encoder");
        joiner.set_width(width);
        joiner.set_height(height);
        joiner.set_format(format.parse().expect("the name of a format"));
        joiner.set_time_base((1, 25));
        Converter { kind: Converter::kind(frame), graph, joiner: joiner.open().expect("an open encoder") }
    }

    fn bytes(&mut self, frame: &Video) -> Vec<u8> {
        let (mut converted, mut packet) = (Video::empty(), ffmpeg::Packet::empty());
        self.graph.get("in").expect("the source").source().add(frame).expect("a frame that fits");
        self.graph.get("out").expect("the sink").sink().frame(&mut converted).expect("a converted frame");
        self.joiner.send_frame(&converted).expect("a frame to join");
        self.joiner.receive_packet(&mut packet).expect("a joined frame");
        packet.data().expect("samples").to_vec()
    }
}

fn in_seconds(time: Option<i64>, unit: f64) -> f64 {
    time.map_or(f64::NAN, |time| time as f64 * unit)
}

/// The elements of a JSON array.
pub fn list(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_default()
}

/// Parses a number that ffprobe prints as a string; NaN if there is none.
pub fn seconds(value: &Value) -> f64 {
    value.as_str().and_then(|text| text.parse().ok()).unwrap_or(f64::NAN)
}

/// Requires equal times, within half a unit of the coarser clock and ffprobe's rounding.
#[track_caller]
pub fn assert_same_times(found: &[f64], expected: &[f64], resolution: f64) {
    assert_eq!(found.len(), expected.len(), "count: {found:?} instead of {expected:?}");
    for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
        let apart = (found - expected).abs();
        assert!(apart <= resolution / 2.0 + 2e-6, "time {index} is {found}, should be {expected}");
    }
}
