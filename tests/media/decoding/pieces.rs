//! Several decoders for pieces of one file give the result of a single decoder: the same bytes, timestamps and
//! warnings. These decoders run on the CPU; NVDEC shares the code that divides the file and orders the frames.

use crate::media::decoding::in_place::Ledger;
use crate::support::media::reader::encoder_is_here;
use crate::support::pictures::difference;
use crate::support::programs::program::Dir;
use histeq::internal::frame::{Buffer, Frame, PixelFormat, Pool};
use histeq_media::ffmpeg::frame::Picture;
use histeq_media::pipeline::{Cancel, Level, Notices, Progress, Source};
use histeq_media::source::{self, InputOptions, Part};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// The notices on the start and the end of decoding in pieces.
const SAYS: [&str; 2] = ["decoded in pieces", "not in pieces any more"];

/// A list of notices.
type Said = Arc<Mutex<Vec<String>>>;

/// Opens a file for this number of decoders. Returns also its progress and the list of its notices.
fn open(file: &Path, decoders: usize, part: Part) -> (Box<dyn Source>, Arc<Progress>, Said) {
    let said = Said::default();
    let list = said.clone();
    let notices = Notices::new(false, move |level, text| list.lock().unwrap().push(format!("{level:?}: {text}")));
    let options = InputOptions { url: file.into(), part, decoders, ..InputOptions::default() };
    let progress: Arc<Progress> = Arc::default();
    let (source, _) = source::open(&options, &Cancel::default(), notices, progress.clone()).unwrap();
    (source, progress, said)
}

/// The result of decoding a file.
struct Decoded {
    frames: Vec<Frame>,
    /// The error that ended decoding before the end of the file, if there was one.
    end: Result<(), String>,
    damaged: u64,
    /// Warnings and notes.
    said: Vec<String>,
    /// Was the file decoded in pieces at its beginning, and up to its end?
    in_pieces: [bool; 2],
}

fn decode(file: &Path, decoders: usize, part: Part) -> Decoded {
    let (mut source, progress, said) = open(file, decoders, part);
    // A pool that is small makes the pieces short.
    source.use_pool(Arc::new(Narrow(Ledger::default(), 240 * PICTURE)));
    source.look_around(if part.start.is_some() { 20 } else { 0 }, 0);
    let mut frames = Vec::new();
    let end = loop {
        match source.next() {
            Ok(Some(delivery)) => frames.extend(delivery.frame),
            Ok(None) => break Ok(()),
            Err(error) => break Err(format!("{error:#}")),
        }
    };
    let said = said.lock().unwrap().clone();
    let [begun, ended] = SAYS.map(|text| said.iter().any(|line| line.contains(text)));
    let said = said.into_iter().filter(|line| !line.starts_with("Detail")).collect();
    Decoded { frames, end, damaged: progress.damaged(), said, in_pieces: [begun, begun && !ended] }
}

fn duration(frame: &Frame) -> i64 {
    let picture = frame.attachment.as_ref().and_then(|attachment| attachment.downcast_ref::<Picture>());
    picture.expect("a decoded picture").duration()
}

/// Requires that three decoders give what one gives. Returns whether they were used at the beginning, and to the end.
fn same_in_pieces(dir: &Dir, file: &str, part: Part) -> [bool; 2] {
    let one = decode(&dir.path(file), 1, part);
    let several = decode(&dir.path(file), 3, part);
    for (number, (expected, found)) in one.frames.iter().zip(&several.frames).enumerate() {
        assert_eq!(difference(expected, found), None, "{file}: frame {number} of {}", one.frames.len());
        assert_eq!(duration(expected), duration(found), "{file}: frame {number}");
    }
    assert_eq!(one.frames.len(), several.frames.len(), "{file}");
    assert_eq!((one.end, one.damaged), (several.end, several.damaged), "{file}");
    assert_eq!(one.said.len(), several.said.len(), "{file}: {:?}, {:?}", one.said, several.said);
    assert!(!one.in_pieces[0]);
    several.in_pieces
}

const WHOLE: Part = Part { start: None, duration: None, frames: None };

/// `in_pieces` of a file that is decoded in pieces throughout, and of one that never is.
const ALL: [bool; 2] = [true, true];
const NONE: [bool; 2] = [false, false];

/// Bytes of a frame of `film`.
const PICTURE: usize = 96 * 64 * 3 / 2;

/// A film of 420 frames with motion and cuts.
fn film(dir: &Dir, video: &str, file: &str) {
    let parts = ["testsrc2", "mandelbrot", "smptebars", "testsrc"];
    let inputs = parts.map(|source| format!("-f lavfi -i {source}=size=96x64:rate=25")).join(" ");
    let cut = |part: usize| format!("[{part}]trim=end_frame=105,setsar=1,format=yuv420p[v{part}]");
    let cuts = [0, 1, 2, 3].map(cut).join(";");
    dir.ffmpeg(&format!(
        "{inputs} -filter_complex {cuts};[v0][v1][v2][v3]concat=n=4,setpts=N/25/TB,fps=25 -frames:v 420 {video} {file}"
    ));
}

const CLOSED: &str = "-c:v libx264 -preset veryfast -g 50 -bf 3";
const OPEN: &str = "-c:v libx264 -preset veryfast -g 50 -bf 3 -x264-params open-gop=1:b-pyramid=normal:ref=4";

#[test]
fn files_that_can_be_cut_are_decoded_in_pieces() {
    let dir = Dir::new();
    let x265 = "-c:v libx265 -preset ultrafast -x265-params log-level=none:keyint=50:min-keyint=50:bframes=3:b-adapt=0";
    let av1 = "-c:v libsvtav1 -preset 12 -g 60";
    for (encoder, video, file) in [
        ("libx264", CLOSED, "closed.mp4"),
        ("libx264", CLOSED, "closed.ts"),
        ("libx264", OPEN, "open.mp4"),
        ("libx264", OPEN, "open.ts"),
        ("libx264", "-c:v libx264 -preset veryfast -g 1", "intra.mkv"),
        ("libx264", "-c:v libx264 -preset veryfast -pix_fmt yuv420p10le -g 40 -tune zerolatency", "low-delay.mkv"),
        ("libx265", &format!("{x265}:open-gop=1"), "open-hevc.mkv"),
        ("libx265", &format!("{x265}:open-gop=1:b-intra=1:b-pyramid=1"), "open-hevc.mp4"),
        ("libx265", &format!("{x265}:open-gop=0"), "closed-hevc.mp4"),
        (
            "libvpx-vp9",
            "-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -auto-alt-ref 1 -lag-in-frames 12 -g 60",
            "vp9.webm",
        ),
        ("libvpx", "-c:v libvpx -deadline realtime -cpu-used 8 -auto-alt-ref 1 -lag-in-frames 12 -g 60", "vp8.webm"),
        ("libsvtav1", av1, "av1.mkv"),
    ] {
        if encoder_is_here("files that are decoded in pieces", encoder) {
            film(&dir, video, file);
            assert_eq!(same_in_pieces(&dir, file, WHOLE), ALL, "{file}");
        }
    }
}

#[test]
fn a_variable_rate_and_a_clock_that_jumps_go_through_pieces() {
    let dir = Dir::new();
    let every = "-vf select='not(eq(mod(n\\,7)\\,3))+lt(n\\,40)'";
    dir.ffmpeg(&format!(
        "-f lavfi -i testsrc2=size=96x64:rate=25 {every} -fps_mode vfr -frames:v 420 {CLOSED} vfr.mkv"
    ));
    assert_eq!(same_in_pieces(&dir, "vfr.mkv", WHOLE), ALL);

    film(&dir, CLOSED, "first.ts");
    dir.ffmpeg("-i first.ts -c copy -output_ts_offset 5000 second.ts");
    dir.write("jumps.ts", &[dir.read("first.ts"), dir.read("second.ts"), dir.read("first.ts")].concat());
    assert!(same_in_pieces(&dir, "jumps.ts", WHOLE)[0]);
}

#[test]
fn frames_that_an_edit_list_hides_are_in_no_piece() {
    let dir = Dir::new();
    film(&dir, &format!("{OPEN} -g 30"), "whole.mp4");
    dir.ffmpeg("-ss 1.9 -i whole.mp4 -c copy cut.mp4");
    let hidden = dir
        .packets("v:0", "cut.mp4")
        .iter()
        .filter(|packet| packet["flags"].as_str().is_some_and(|flags| flags.starts_with("KD")))
        .count();
    assert_eq!(hidden, 1);
    assert_eq!(same_in_pieces(&dir, "cut.mp4", WHOLE), ALL);
}

#[test]
fn a_part_of_a_file_is_the_same_in_pieces() {
    let dir = Dir::new();
    for (video, file) in [(CLOSED, "closed.mp4"), (OPEN, "open.mkv")] {
        film(&dir, &format!("{video} -g 20"), file);
        for part in [
            Part { start: Some(1_230_000), ..WHOLE },
            Part { start: Some(3_000_000), duration: Some(12_500_000), ..WHOLE },
            Part { duration: Some(13_010_000), ..WHOLE },
            Part { frames: Some(301), ..WHOLE },
        ] {
            assert_eq!(same_in_pieces(&dir, file, part), ALL, "{file}, {part:?}");
        }
    }
}

#[test]
fn what_cannot_be_cut_is_decoded_by_one_decoder() {
    let dir = Dir::new();
    film(&dir, "-c:v libx264 -preset veryfast -g 1000", "one-group.mp4");
    film(&dir, "-c:v mpeg2video -bf 2 -q:v 4", "mpeg2.ts");
    film(&dir, "-c:v mpeg4 -bf 2", "mpeg4.avi");
    film(&dir, &format!("{CLOSED} -flags +ilme+ildct -x264-params tff=1"), "fields.mp4");
    film(&dir, &format!("{CLOSED} -frames:v 200"), "short.mp4");
    dir.ffmpeg("-i one-group.mp4 -c copy -bsf:v h264_mp4toannexb times-missing.h264");
    for file in ["one-group.mp4", "mpeg2.ts", "mpeg4.avi", "fields.mp4", "short.mp4", "times-missing.h264"] {
        let [_, to_the_end] = same_in_pieces(&dir, file, WHOLE);
        assert!(!to_the_end || file == "one-group.mp4", "{file}");
    }
}

#[test]
fn key_frames_that_are_none_are_no_beginning_of_a_piece() {
    let dir = Dir::new();
    film(&dir, CLOSED, "lies.mp4");
    let mut bytes = dir.read("lies.mp4");
    let list = bytes.windows(4).position(|name| name == b"stss").expect("a list of key frames");
    let count = u32::from_be_bytes(bytes[list + 8..list + 12].try_into().unwrap()) as usize;
    assert!(count > 4, "{count} key frames");
    // The first entry stays valid; the others now name frames that are no keyframes.
    for number in bytes[list + 16..list + 12 + 4 * count].chunks_exact_mut(4) {
        number[3] = number[3].wrapping_add(9);
    }
    dir.write("lies.mp4", &bytes);
    same_in_pieces(&dir, "lies.mp4", WHOLE);

    // With intra refresh, columns are refreshed one by one: there are recovery points, but no keyframes.
    film(&dir, "-c:v libx264 -preset veryfast -g 50 -x264-params intra-refresh=1", "refresh.ts");
    same_in_pieces(&dir, "refresh.ts", WHOLE);
}

#[test]
fn another_size_or_other_parameters_end_the_pieces() {
    let dir = Dir::new();
    film(&dir, CLOSED, "small.ts");
    dir.ffmpeg(&format!("-f lavfi -i testsrc2=size=128x96:rate=25 -frames:v 200 {CLOSED} large.ts"));
    dir.ffmpeg(&format!("-f lavfi -i testsrc2=size=96x64:rate=25 -frames:v 200 {CLOSED} -refs 1 -coder 0 other.ts"));
    for (file, parts) in
        [("sizes.ts", ["small.ts", "large.ts", "small.ts"]), ("parameters.ts", ["small.ts", "other.ts", "small.ts"])]
    {
        dir.write(file, &parts.map(|part| dir.read(part)).concat());
        assert_eq!(same_in_pieces(&dir, file, WHOLE), [true, false], "{file}");
    }
}

#[test]
fn damage_is_the_same_and_is_said_the_same() {
    let dir = Dir::new();
    for (video, file) in [(CLOSED, "closed.mp4"), (OPEN, "open.mp4")] {
        film(&dir, video, file);
        let packets = dir.packets("v:0", file);
        let is_key = |number: &usize| packets[*number]["flags"].as_str().is_some_and(|flags| flags.starts_with('K'));
        let key = (200..packets.len()).find(is_key).expect("a key frame");
        // The first packet, two others, a keyframe, the next one (shown before an open GOP's keyframe), and the last.
        for number in [0, 30, 130, key, key + 1, packets.len() - 1] {
            let index: usize =
                packets[number]["pos"].as_str().and_then(|index| index.parse().ok()).expect("a place in the file");
            let mut damaged = dir.read(file);
            damaged[index..index + 4].fill(0x7f);
            dir.write("damaged.mp4", &damaged);
            assert!(!same_in_pieces(&dir, "damaged.mp4", WHOLE)[1], "{file}, packet {number}");
        }
    }
    for file in ["cut.ts", "cut.mkv"] {
        film(&dir, OPEN, file);
        let whole = dir.read(file);
        dir.write(file, &whole[..whole.len() / 20 * 19]);
        assert!(same_in_pieces(&dir, file, WHOLE)[0], "{file}");
    }
}

/// A pool with the buffers of a ledger that claims to have memory for this number of bytes.
struct Narrow(Ledger, usize);

impl Pool for Narrow {
    fn buffer(&self, len: usize) -> Result<Box<dyn Buffer>, histeq::internal::frame::MemoryError> {
        self.0.buffer(len)
    }

    fn planes(&self, format: PixelFormat) -> Range<usize> {
        self.0.planes(format)
    }

    fn make_room(&self) -> usize {
        self.1
    }
}

#[test]
fn no_more_frames_wait_than_there_is_room_for() {
    let dir = Dir::new();
    film(&dir, CLOSED, "in.mp4");
    let expected = decode(&dir.path("in.mp4"), 1, WHOLE).frames;
    // Two pieces of 50 frames do not fit into 60 frames of memory.
    for (room, in_pieces) in [(160, ALL), (60, NONE)] {
        let ledger = Ledger::default();
        let (mut source, _, said) = open(&dir.path("in.mp4"), 4, WHOLE);
        source.use_pool(Arc::new(Narrow(ledger.clone(), room * PICTURE)));
        let mut number = 0;
        while let Some(delivery) = source.next().unwrap() {
            let Some(frame) = delivery.frame else { continue };
            assert_eq!(difference(&expected[number], &frame), None, "frame {number}");
            number += 1;
            drop(frame);
            if number % 100 == 1 {
                std::thread::sleep(std::time::Duration::from_millis(300));
            }
            // Each decoder holds some frames of its own.
            assert!(ledger.lent() <= room + 4 * 24, "{} frames", ledger.lent());
        }
        assert_eq!(number, expected.len());
        drop(source);
        assert_eq!(ledger.lent(), 0);
        let [begun, ended] = SAYS.map(|text| said.lock().unwrap().iter().any(|line| line.contains(text)));
        assert_eq!([begun, begun && !ended], in_pieces);
        assert!(said.lock().unwrap().iter().all(|line| line.starts_with(&format!("{:?}", Level::Detail))));
    }
}

#[test]
fn a_source_that_is_dropped_ends_its_decoders() {
    let dir = Dir::new();
    film(&dir, CLOSED, "in.mp4");
    let ledger = Ledger::default();
    let (mut source, ..) = open(&dir.path("in.mp4"), 3, WHOLE);
    source.use_pool(Arc::new(ledger.clone()));
    source.next().unwrap().expect("a frame");
    drop(source);
    assert_eq!(ledger.lent(), 0);
}

#[test]
fn the_program_decodes_in_pieces_where_only_pictures_are_written() {
    let dir = Dir::new();
    film(&dir, CLOSED, "silent.mp4");
    dir.ffmpeg("-i silent.mp4 -f lavfi -i sine -shortest -c:v copy in.mp4");
    dir.succeeds("--backend cpu in.mp4 one.y4m");
    let run = dir.succeeds("-v --backend cpu --decoder cpu:3 in.mp4 several.y4m").says(&[SAYS[0]]);
    assert!(!run.stderr.contains(SAYS[1]), "{run:?}");
    assert!(dir.read("one.y4m") == dir.read("several.y4m"));
    dir.succeeds("-v --backend cpu --decoder cpu:3 --output-format null in.mp4 nothing").says(&[SAYS[0]]);
    // The first pass writes no sound.
    dir.succeeds("-v --backend cpu --smooth scene --encoder mpeg4 --decoder cpu:3 in.mp4 scenes.mkv").says(&[SAYS[0]]);
    let run = dir.succeeds("-v --backend cpu --encoder mpeg4 --decoder cpu:3 in.mp4 out.mkv");
    assert!(!run.stderr.contains(SAYS[0]), "{run:?}");
}
