//! y4m as input and output, and the meaning of its header.

use super::noise;
use super::stream::{Stream, stream};
use crate::support::media::reader::{assert_same_times, encoder_is_here};
use crate::support::media::textbook::{Raw, assert_same_video};
use crate::support::programs::program::Dir;
use std::fmt::Write;

/// Every pixel format that FFmpeg writes to y4m, and its tag.
const CARRIED: [(&str, &str); 24] = [
    ("gray", "mono"),
    ("gray9le", "mono9"),
    ("gray10le", "mono10"),
    ("gray12le", "mono12"),
    ("gray16le", "mono16"),
    ("yuv411p", "411"),
    ("yuv420p", "420jpeg"),
    ("yuv422p", "422"),
    ("yuv444p", "444"),
    ("yuv420p9le", "420p9"),
    ("yuv422p9le", "422p9"),
    ("yuv444p9le", "444p9"),
    ("yuv420p10le", "420p10"),
    ("yuv422p10le", "422p10"),
    ("yuv444p10le", "444p10"),
    ("yuv420p12le", "420p12"),
    ("yuv422p12le", "422p12"),
    ("yuv444p12le", "444p12"),
    ("yuv420p14le", "420p14"),
    ("yuv422p14le", "422p14"),
    ("yuv444p14le", "444p14"),
    ("yuv420p16le", "420p16"),
    ("yuv422p16le", "422p16"),
    ("yuv444p16le", "444p16"),
];

const SMALL: Raw = Raw { format: "yuv420p", size: (6, 4), limited: true };

/// Sends two frames with this header through the program, and parses the output.
#[track_caller]
fn through(dir: &Dir, header: &str, raw: Raw) -> Stream {
    let video = noise(raw, 2);
    let run = dir.fed("--exact --backend cpu - -", &stream(header, raw, &video)).exits_with(0);
    let found = Stream::parse(&run.stdout, raw);
    assert_same_video(header, raw, &found.video, &raw.equalized(&video));
    assert!(run.stdout.iter().position(|&byte| byte == b'\n') < Some(96), "a long header: {}", found.header);
    found
}

/// Sends a y4m stream of every supported format through the program, and decodes the outputs with FFmpeg.
fn check_every_format(dir: &Dir, size: (usize, usize)) {
    let (mut inputs, mut writes) = (String::new(), String::new());
    for (index, (format, tag)) in CARRIED.into_iter().enumerate() {
        let raw = raw_of(format, size);
        let run = dir.fed("--exact --backend cpu - -", &dir.read(&format!("{format}.y4m"))).exits_with(0);
        let found = Stream::parse(&run.stdout, raw);
        assert_eq!(found.tag('C'), Some(tag), "{}", found.header);
        assert_same_video(format, raw, &found.video, &raw.equalized(&noise(raw, 3)));
        dir.write(&format!("{format}.out.y4m"), &run.stdout);
        write!(inputs, "-i {format}.out.y4m ").expect("room");
        write!(writes, "-map {index} -f rawvideo -pix_fmt {format} {format}.raw ").expect("room");
    }
    dir.ffmpeg(&format!("{inputs}{writes}"));
    for (format, _) in CARRIED {
        let raw = raw_of(format, size);
        let read = dir.read(&format!("{format}.raw"));
        assert_same_video(&format!("{format} as FFmpeg reads it"), raw, &read, &raw.equalized(&noise(raw, 3)));
    }
}

fn raw_of(format: &'static str, size: (usize, usize)) -> Raw {
    Raw { format, size, limited: !format.starts_with("gray") }
}

#[test]
fn every_format_that_ffmpeg_writes_is_read_and_written_so_that_ffmpeg_reads_it() {
    let dir = Dir::new();
    for size @ (w, h) in [(38, 11), (16, 6)] {
        let (mut inputs, mut writes) = (String::new(), String::new());
        for (index, (format, _)) in CARRIED.into_iter().enumerate() {
            dir.write(&format!("{format}.raw"), &noise(raw_of(format, size), 3));
            write!(inputs, "-f rawvideo -pixel_format {format} -video_size {w}x{h} -i {format}.raw ").expect("room");
            write!(writes, "-map {index} -strict -1 {format}.y4m ").expect("room");
        }
        dir.ffmpeg(&format!("{inputs}{writes}"));
        check_every_format(&dir, size);
    }
}

/// FFmpeg 5.1 can read such streams; when it writes more than 8 bits, it omits a byte of each chroma row.
#[test]
fn every_format_of_an_odd_width_is_read_and_written_so_that_ffmpeg_reads_it() {
    let dir = Dir::new();
    for (format, tag) in CARRIED {
        let raw = raw_of(format, (37, 11));
        let bytes = stream(&format!("YUV4MPEG2 W37 H11 F25:1 C{tag}"), raw, &noise(raw, 3));
        dir.write(&format!("{format}.y4m"), &bytes);
    }
    check_every_format(&dir, (37, 11));
}

#[test]
fn what_the_header_says_of_the_picture_is_kept() {
    let dir = Dir::new();
    for tags in [
        "F30000:1001 Ip A1:1 C420jpeg XYSCSS=420JPEG XCOLORRANGE=LIMITED",
        "F25:1 It A64:45 C420mpeg2 XYSCSS=420MPEG2 XCOLORRANGE=LIMITED",
        "F24000:1001 Ib A0:0 C420paldv XYSCSS=420PALDV XCOLORRANGE=LIMITED",
        "F2997:125 Ip A10:11 C420jpeg XYSCSS=420JPEG XCOLORRANGE=FULL",
    ] {
        let header = format!("YUV4MPEG2 W6 H4 {tags}");
        let raw = Raw { limited: !tags.contains("FULL"), ..SMALL };
        assert_eq!(through(&dir, &header, raw).header, header);
    }
}

#[test]
fn what_the_header_does_not_say_is_as_everybody_takes_it() {
    let dir = Dir::new();
    let found = through(&dir, "YUV4MPEG2 W6 H4", SMALL);
    assert_eq!(found.header, "YUV4MPEG2 W6 H4 F25:1 Ip A0:0 C420jpeg XYSCSS=420JPEG XCOLORRANGE=LIMITED");
    let gray = Raw { format: "gray", limited: false, ..SMALL };
    let found = through(&dir, "YUV4MPEG2 H4 Cmono W6 Im F0:0 Xwhatever Znothing", gray);
    assert_eq!(found.header, "YUV4MPEG2 W6 H4 F25:1 Ip A0:0 Cmono XCOLORRANGE=FULL");
    let found = through(&dir, "YUV4MPEG2 W6 H4 Cmono XCOLORRANGE=LIMITED", Raw { limited: true, ..gray });
    assert!(found.header.ends_with("Cmono XCOLORRANGE=LIMITED"), "{}", found.header);
}

#[test]
fn ffmpeg_reads_in_our_header_what_it_has_put_into_its_own() {
    let dir = Dir::new();
    let source = "-f lavfi -i testsrc2=size=36x24:rate=30000/1001 -frames:v 2";
    for options in [
        "-vf setsar=64/45,setfield=tff,format=yuv422p",
        "-vf setsar=10/11,setfield=bff,format=yuv420p -chroma_sample_location left",
        "-vf setfield=prog,scale=out_range=full,format=yuv444p -color_range pc",
        "-vf format=yuvj420p -strict -1",
    ] {
        dir.ffmpeg(&format!("{source} {options} in.y4m"));
        let run = dir.fed("--backend cpu - -", &dir.read("in.y4m")).exits_with(0);
        dir.write("out.y4m", &run.stdout);
        let (before, after) = (dir.streams("in.y4m"), dir.streams("out.y4m"));
        for what in ["pix_fmt", "r_frame_rate", "sample_aspect_ratio", "field_order", "chroma_location"] {
            assert_eq!(after[0][what], before[0][what], "{what} with {options}");
        }
        let range = before[0]["color_range"].as_str().unwrap_or("tv");
        assert_eq!(after[0]["color_range"], range, "{options}");
        assert_same_times(&dir.frame_times("out.y4m"), &dir.frame_times("in.y4m"), 0.001);
    }
}

#[test]
fn parameters_of_single_frames_are_read_past() {
    let dir = Dir::new();
    let video = noise(SMALL, 3);
    let mut bytes = b"YUV4MPEG2 W6 H4 F25:1 Im\n".to_vec();
    for (frame, head) in video.chunks(SMALL.frame_bytes()).zip(["FRAME Ixyz", "FRAME", "FRAME Itpp Xone Xtwo"]) {
        bytes.extend_from_slice(format!("{head}\n").as_bytes());
        bytes.extend_from_slice(frame);
    }
    let found = Stream::parse(&dir.fed("--exact --backend cpu - -", &bytes).exits_with(0).stdout, SMALL);
    assert_same_video("frames with parameters", SMALL, &found.video, &SMALL.equalized(&video));
    assert_eq!(found.parameters, ["", "", ""]);
}

#[test]
fn headers_are_short_enough_for_every_reader_whatever_they_say() {
    let dir = Dir::new();
    let raw = Raw { format: "yuv420p16le", size: (1026, 1), limited: true };
    let found = through(&dir, "YUV4MPEG2 W1026 H1 F1000000:1000033 It A10000:10001 C420p16", raw);
    for said in ["W1026", "H1", "F1000000:1000033", "It", "A10000:10001", "C420p16"] {
        assert!(found.header.split(' ').any(|word| word == said), "{said} is not in {}", found.header);
    }
}

#[test]
fn what_is_no_y4m_that_we_can_read_is_refused_by_its_name() {
    let dir = Dir::new();
    for (bytes, says) in [
        (&b"YUV4MPEG2 W6 H4 F25:1 C444alpha\nFRAME\n"[..], "alpha (444alpha) is not supported"),
        (b"YUV4MPEG2 W6 H4 F25:1 C420p11\n", "chroma 420p11 is not known"),
        (b"YUV4MPEG2 W6 F25:1\n", "no width or no height"),
        (b"YUV4MPEG2 W6 H4x F25:1\n", "H4x makes no sense"),
        (b"YUV4MPEG2 W6 H4 F25:1", "its header has no end"),
        (b"YUV4MPEG2 W6 H4 F25:1\n", "not a single whole frame"),
    ] {
        let run = dir.fed("--backend cpu - -", bytes).fails().says(&["error: stdin: ", says]);
        assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
        assert_eq!(run.stdout, b"");
    }
    let run = dir.fed("-f yuv4mpegpipe - -", b"RIFF").fails();
    run.says(&["not a y4m stream"]);
}

#[test]
fn a_frame_that_begins_in_the_wrong_place_is_an_error() {
    let dir = Dir::new();
    let video = noise(SMALL, 2);
    let mut bytes = stream("YUV4MPEG2 W6 H4", SMALL, &video);
    bytes.extend_from_slice(b"RAMFE\n");
    let run = dir.fed("--backend cpu - -", &bytes).fails();
    let run = run.says(&["stdin: frame 2", "no frame header"]);
    assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
}

#[test]
fn what_y4m_cannot_carry_goes_out_as_raw_frames_unless_y4m_is_asked_for() {
    let dir = Dir::new();
    for format in ["rgb24", "nv12", "yuva420p", "yuv410p", "yuv420p10be", "gbrp", "ya8", "gray14le"] {
        let limited = !["rgb24", "gbrp", "ya8", "gray14le"].contains(&format);
        let raw = Raw { format, limited, ..SMALL };
        let video = noise(raw, 2);
        let described = format!("-f rawvideo -s 6x4 --pixel-format {format} --backend cpu --exact");
        let run = dir.fed(&format!("{described} - -"), &video).exits_with(0);
        let run = run.says(&["y4m cannot carry", &format!("raw frames of 6x4 {format}")]);
        assert_same_video(format, raw, &run.stdout, &raw.equalized(&video));
        let run = dir.fed(&format!("{described} --output-format yuv4mpegpipe - -"), &video).fails();
        let run = run.says(&["y4m cannot carry", "--output-format rawvideo"]);
        assert_eq!(run.stdout, b"");
    }
}

#[test]
fn a_size_that_changes_is_scaled_to_the_first_one() {
    if !encoder_is_here("a size that changes", "libx264") {
        return;
    }
    let dir = Dir::new();
    let clip = "-frames:v 4 -c:v libx264 -qp 10 -pix_fmt yuv420p";
    dir.ffmpeg(&format!("-f lavfi -i testsrc2=size=64x48:rate=25 {clip} a.ts"));
    dir.ffmpeg(&format!("-f lavfi -i testsrc2=size=98x64:rate=25 {clip} -output_ts_offset 0.16 b.ts"));
    let joined = [dir.read("a.ts"), dir.read("b.ts")].concat();
    let run = dir.fed("--exact --backend cpu - -", &joined).exits_with(0);
    let run = run.says(&["changes size to 98x64", "scaled to 64x48"]);
    let raw = Raw { format: "yuv420p", size: (64, 48), limited: true };
    let found = Stream::parse(&run.stdout, raw);
    assert_eq!(found.video.len(), 8 * raw.frame_bytes());
    let first = raw.equalized(&dir.raw("a.ts", raw.format));
    assert_same_video("the frames of the first size", raw, &found.video[..first.len()], &first);
}

#[test]
fn files_are_read_and_written_as_pipes_are() {
    let dir = Dir::new();
    let video = noise(SMALL, 3);
    dir.write("in.y4m", &stream("YUV4MPEG2 W6 H4 F24:1 C420mpeg2", SMALL, &video));
    dir.succeeds("--exact --backend cpu in.y4m out.y4m");
    let found = Stream::parse(&dir.read("out.y4m"), SMALL);
    assert_same_video("a file", SMALL, &found.video, &SMALL.equalized(&video));
    assert_eq!((found.tag('F'), found.tag('C')), (Some("24:1"), Some("420mpeg2")));
    assert_eq!(dir.names(), ["in.y4m", "out.y4m"]);
}
