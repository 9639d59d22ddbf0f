//! Metadata that FFmpeg does not expose or does not write: the program applies it, keeps it, or reports the loss.

use super::film;
use crate::support::media::reader::{encoder_is_here, list};
use crate::support::programs::program::{Dir, Run};

/// An mp4 box.
fn made_box(code: &[u8; 4], content: &[u8]) -> Vec<u8> {
    [&(content.len() as u32 + 8).to_be_bytes()[..], code, content].concat()
}

/// Appends `added` to the box at this path of an mp4 file. The box has to follow the samples, whose offsets stay valid.
fn with_box(mut file: Vec<u8>, path: &[&[u8; 4]], added: &[u8]) -> Vec<u8> {
    let (mut start, mut end) = (0, 0);
    for code in path {
        let offset = start + file[start..].windows(4).position(|four| four == *code).expect("a box") - 4;
        let length = u32::from_be_bytes(file[offset..offset + 4].try_into().expect("four bytes"));
        file[offset..offset + 4].copy_from_slice(&(length + added.len() as u32).to_be_bytes());
        (start, end) = (offset + 8, offset + length as usize);
    }
    file.splice(end..end, added.iter().copied());
    file
}

fn has(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// Requires a single warning about lost metadata, which contains `lost`, and a failure with `--strict`.
#[track_caller]
fn names(dir: &Dir, line: &str, lost: &[&str]) -> Run {
    dir.run(&format!("--backend cpu --strict -y {line}")).fails().says(lost);
    let run = dir.succeeds(&format!("--backend cpu -y {line}"));
    let warnings = run.stderr.lines().filter(|line| line.contains("does not say what")).count();
    assert_eq!(warnings, 1, "{}", run.stderr);
    run.says(lost)
}

#[test]
fn the_part_of_the_picture_that_the_container_means_is_cut_out() {
    let dir = Dir::new();
    let source = "-f lavfi -i testsrc2=size=96x64:rate=25:duration=0.4,format=yuv420p";
    dir.ffmpeg(&format!("{source} -c:v ffv1 meant.mkv"));
    let colours = "setparams=range=tv:colorspace=bt709:color_primaries=bt709:color_trc=bt709";
    let tags = "-color_range tv -colorspace bt709 -color_primaries bt709 -color_trc bt709";
    dir.ffmpeg(&format!("{source},pad=104:96:8:16,{colours} -c:v ffv1 {tags} -write_crc32 0 plain.mkv"));
    // Elements of the crop (16 rows above and below, 8 columns on the left) replace those of the colours.
    let mut file = dir.read("plain.mkv");
    let offset = file.windows(2).position(|two| two == b"\x55\xb0").expect("colours");
    let room = usize::from(file[offset + 2] & 0x7f) + 3;
    let crop = b"\x54\xbb\x81\x10\x54\xaa\x81\x10\x54\xcc\x81\x08\xec";
    let rest = room - crop.len() - 1;
    file.splice(offset..offset + room, [&crop[..], &[0x80 | rest as u8], &vec![0; rest]].concat());
    dir.write("in.mkv", &file);
    for options in ["", "--sandbox off"] {
        dir.succeeds(&format!("--backend cpu --strict --strength 0 -y {options} in.mkv out.mkv"));
        let video = &dir.streams("out.mkv")[0];
        assert_eq!((video["width"].as_i64(), video["height"].as_i64()), (Some(96), Some(64)), "{video}");
        assert!(dir.raw("out.mkv", "yuv420p") == dir.raw("meant.mkv", "yuv420p"), "the picture that is meant");
    }
    let said: serde_json::Value =
        serde_json::from_slice(&dir.succeeds("--dry-run --json in.mkv out2.mkv").stdout).expect("JSON");
    assert_eq!(said["input"]["size"], serde_json::json!([96, 64]));
    // In mp4, the crop is the clean aperture.
    dir.ffmpeg(&format!("{source},pad=96:96:0:16 -c:v mpeg4 -q:v 2 plain.mp4"));
    let to_video: [&[u8; 4]; 7] = [b"moov", b"trak", b"mdia", b"minf", b"stbl", b"stsd", b"mp4v"];
    let aperture = |height: u32| {
        let numbers = [96, 1, height, 1, 0, 1, 0, 1].map(u32::to_be_bytes);
        with_box(dir.read("plain.mp4"), &to_video, &made_box(b"clap", &numbers.concat()))
    };
    dir.write("in.mp4", &aperture(64));
    for output in ["out.mp4", "out.png"] {
        dir.succeeds(&format!("--backend cpu --strict -y --frames 1 in.mp4 {output}"));
        let video = &dir.streams(output)[0];
        assert_eq!((video["width"].as_i64(), video["height"].as_i64()), (Some(96), Some(64)), "{video}");
        assert!(matches!(video["sample_aspect_ratio"].as_str(), None | Some("1:1")), "{video}");
    }
    // A crop of half a row is not possible.
    dir.write("half.mp4", &aperture(63));
    names(&dir, "half.mp4 out.mp4", &["crop"]);
    assert_eq!(dir.streams("out.mp4")[0]["height"], 96);
}

#[test]
fn boxes_of_cameras_and_what_lies_behind_a_film_are_named() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=96x64:rate=25 -frames:v 5 -c:v mpeg4 -q:v 2 plain.mp4");
    dir.succeeds("--backend cpu --strict -y plain.mp4 out.mp4");
    let file = with_box(dir.read("plain.mp4"), &[b"moov"], &made_box(b"gps ", &[1; 16]));
    let mut file = with_box(file, &[b"moov", b"udta"], &made_box(b"GPMF", &[2; 16]));
    file.extend(made_box(b"uuid", b"\xbe\x7a\xcf\xcb\x97\xa9\x42\xe8\x9c\x71\x99\x94\x91\xe3\xaf\xac<x/>"));
    let padded = [&file[..], &[0; 32]].concat();
    dir.write("padded.mp4", &padded);
    let lost = ["GPS (box gps)", "box GPMF", "XMP"];
    names(&dir, "padded.mp4 out.mkv", &lost).never_says("behind its end");
    file.extend([0xff; 40]);
    dir.write("in.mp4", &file);
    names(&dir, "in.mp4 out.mp4", &[&lost[..], &["data behind its end"]].concat());
}

#[test]
fn texts_that_are_not_utf_8_are_named() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=96x64:rate=25 -frames:v 5 -c:v mpeg4 -metadata title=fXr plain.avi");
    let mut file = dir.read("plain.avi");
    let offset = file.windows(3).position(|three| three == b"fXr").expect("the title");
    file[offset + 1] = 0xfc;
    dir.write("in.avi", &file);
    names(&dir, "in.avi out.mkv", &["texts that are not UTF-8", "title"]);
    dir.succeeds("--backend cpu --strict -y plain.avi out.mkv");
}

#[test]
fn a_second_layer_of_hevc_is_named() {
    if !encoder_is_here("layers of HEVC", "libx265") {
        return;
    }
    let dir = Dir::new();
    dir.ffmpeg(
        "-f lavfi -i testsrc2=size=96x64:rate=25 -frames:v 5 -c:v libx265 -x265-params log-level=none plain.mp4",
    );
    let mut file = dir.read("plain.mp4");
    let offset = file.windows(4).rposition(|set| set == b"\x40\x01\x0c\x01").expect("the parameter set of the video");
    // The video parameter set announces a second layer.
    file[offset + 3] |= 0x10;
    dir.write("in.mp4", &file);
    names(&dir, "in.mp4 out.mkv", &["second layer of HEVC"]);
    dir.succeeds("--backend cpu --strict -y plain.mp4 out.mkv");
}

#[test]
fn what_lies_behind_a_jpeg_is_named_and_its_xmp_goes_with_it() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc=size=64x48 -frames:v 1 -pix_fmt yuvj420p plain.jpg");
    let plain = dir.read("plain.jpg");
    let photo = |words: &str, behind: &[u8]| {
        let xmp = format!("http://ns.adobe.com/xap/1.0/\0<x:xmpmeta xmlns:x='adobe:ns:meta/'>{words}</x:xmpmeta>");
        let head = [&b"\xff\xe1"[..], &(xmp.len() as u16 + 2).to_be_bytes(), xmp.as_bytes()].concat();
        [&plain[..2], &head, &plain[2..], behind].concat()
    };
    let film = made_box(b"ftyp", b"isom\0\0\0\0");
    for (words, behind, lost) in [
        ("<Container:Directory hdrgm:Version='1.0'/>", &plain[..], "gain map behind a JPEG"),
        ("<Container:Directory GCamera:MotionPhoto='1'/>", &film[..], "film behind a JPEG"),
        ("nothing", &b"SEFT"[..], "other data behind a JPEG"),
    ] {
        dir.write("in.jpg", &photo(words, behind));
        for output in ["out.jpg", "out.png"] {
            names(&dir, &format!("in.jpg {output}"), &[lost]);
            let bytes = dir.read(output);
            assert!(!has(&bytes, b"Container:Directory"), "{output}: XMP of what is not there");
            assert_eq!(has(&bytes, b"adobe:ns:meta"), words == "nothing", "{output}: other XMP stays");
        }
    }
    dir.write("in.jpg", &photo("hello", &[0; 64]));
    dir.succeeds("--backend cpu --strict -y in.jpg out.jpg");
}

#[test]
fn programmes_and_names_of_services_are_kept_in_transport_streams() {
    let dir = Dir::new();
    film(&dir, "one.ts", "-c:v mpeg2video -q:v 3", "-c:a mp2 -metadata service_name=Channel9");
    dir.ffmpeg(
        "-i one.ts -f lavfi -i smptebars=s=160x120:r=25:d=2 -map 0 -map 1 -c copy -c:v:1 mpeg2video \
         -program title=Nine:program_num=9:st=0:st=1 -program title=Ten:program_num=10:st=2 two.ts",
    );
    let programmes = |file: &str| {
        let found = list(&dir.probe("-show_programs", file)["programs"]);
        let name =
            |programme: &serde_json::Value| programme["tags"]["service_name"].as_str().unwrap_or_default().to_owned();
        found
            .iter()
            .map(|programme| (programme["program_id"].as_i64(), name(programme), programme["nb_streams"].as_i64()))
            .collect::<Vec<_>>()
    };
    for input in ["one.ts", "two.ts"] {
        dir.succeeds(&format!("--backend cpu --strict -y {input} out.ts"));
        assert_eq!(programmes("out.ts"), programmes(input));
    }
    assert_eq!(programmes("out.ts").len(), 2);
    // A programme is dropped if all its streams are.
    dir.succeeds("--backend cpu --strict -y --video-stream 0 --streams a two.ts out.ts");
    assert_eq!(programmes("out.ts"), [(Some(9), "Nine".to_owned(), Some(2))]);
    dir.succeeds("--backend cpu --strict -y one.ts out.mkv");
    assert!(has(&dir.read("out.mkv"), b"Channel9"));
    names(&dir, "one.ts out.mp4", &["names of services", "Channel9"]);
    names(&dir, "two.ts out.mkv", &["2 programmes", "Nine, Ten"]);
    // FFmpeg's default service name is not kept.
    film(&dir, "none.ts", "-c:v mpeg2video -q:v 3", "-c:a mp2");
    dir.succeeds("--backend cpu --strict -y none.ts out.mkv");
}

/// The checksum of a table of a transport stream.
fn checksum(table: &[u8]) -> [u8; 4] {
    let doubled = |sum: u32| if sum >> 31 == 0 { sum << 1 } else { (sum << 1) ^ 0x04c1_1db7 };
    let add = |sum: u32, byte: &u8| (0..8).fold(sum ^ (u32::from(*byte) << 24), |sum, _| doubled(sum));
    table.iter().fold(u32::MAX, add).to_be_bytes()
}

/// Changes the tables of a transport stream by FFmpeg such that its last stream has the type of ad markers (SCTE 35).
fn with_ad_markers(mut file: Vec<u8>) -> Vec<u8> {
    for packet in file.chunks_exact_mut(188).filter(|packet| packet.starts_with(&[0x47, 0x50, 0])) {
        // The table follows the packet header and a pointer. Its last five bytes describe the last stream.
        let end = 5 + 3 + usize::from(packet[7]) - 4;
        let mut table = packet[5..end].to_vec();
        let last = table.len() - 5;
        table[last] = 0x86;
        table.splice(12..12, *b"\x05\x04CUEI");
        table[2] += 6;
        table[11] += 6;
        let table = [&table[..], &checksum(&table)].concat();
        packet[5..].fill(0xff);
        packet[5..5 + table.len()].copy_from_slice(&table);
    }
    file
}

#[test]
fn ad_markers_are_left_out_by_name() {
    let dir = Dir::new();
    film(&dir, "film.ts", "-c:v mpeg2video -q:v 3", "-c:a mp2");
    dir.write("data.bin", &[0; 1000]);
    dir.ffmpeg("-i film.ts -f data -i data.bin -map 0 -map 1 -c copy data.ts");
    dir.write("in.ts", &with_ad_markers(dir.read("data.ts")));
    assert_eq!(dir.streams("in.ts")[2]["codec_name"], "scte_35");
    for (output, why) in [("out.ts", "no player reads"), ("out.mp4", "mp4 cannot"), ("out.mkv", "cannot hold")] {
        let words = ["stream #2 (data, scte_35) is left out", why];
        dir.succeeds(&format!("--backend cpu -y in.ts {output}")).says(&words);
        assert_eq!(dir.streams(output).len(), 2, "{output}");
        dir.run(&format!("--backend cpu --strict -y in.ts {output}")).fails().says(&words);
        dir.succeeds(&format!("--backend cpu --strict -y --streams -2 in.ts {output}")).never_says("scte_35");
    }
}

/// Options for audio with a language and a title.
const NAMED: &str = "-c:a mp2 -metadata title=Night -metadata artist=Somebody -metadata encoded_by=nobody \
                     -metadata creation_time=2024-05-06T07:08:09Z -metadata:s:a language=deu \
                     -metadata:s:a title=Comment";

#[test]
fn texts_languages_and_names_that_a_container_has_no_place_for_are_named() {
    let dir = Dir::new();
    film(&dir, "in.mkv", "-c:v mpeg2video -q:v 3", NAMED);
    let languages = "has no place for languages of sound (1: deu)";
    for (output, tags, texts) in [
        ("out.ts", "has no place for names of streams (1: Comment)", "texts (3: "),
        ("out.mpg", "languages of sound (1: deu) and names of streams (1: Comment)", "texts (3: "),
        ("out.avi", languages, "texts (1: creation_time)"),
    ] {
        dir.succeeds(&format!("--backend cpu -y in.mkv {output}")).says(&["warning", tags, texts]).never_says("nobody");
        dir.run(&format!("--backend cpu --strict -y in.mkv {output}")).fails().says(&[tags]);
        let lost = [texts, "does not say what"];
        dir.run(&format!("--backend cpu --strict -y --streams -a in.mkv {output}")).fails().says(&lost);
    }
    for output in ["out.mkv", "out.mp4", "out.mov", "out.nut"] {
        dir.succeeds(&format!("--backend cpu --strict -y in.mkv {output}"));
        assert!(has(&dir.read(output), b"Comment"), "{output}");
    }
    // This file has nothing that MPEG program streams lack.
    film(&dir, "plain.mkv", "-c:v mpeg2video -q:v 3", "-c:a mp2 -metadata:s:a language=und");
    dir.succeeds("--backend cpu --strict -y plain.mkv out.mpg");
}

#[test]
fn languages_stay_in_mov_whose_codes_are_other_ones() {
    let dir = Dir::new();
    for (code, found) in [("deu", "ger"), ("nld", "dut"), ("fre", "fra"), ("eng", "eng")] {
        film(&dir, "in.mkv", "-c:v mpeg4 -q:v 3", &format!("-c:a aac -metadata:s:a language={code}"));
        dir.succeeds("--backend cpu --strict -y in.mkv out.mov");
        assert_eq!(dir.streams("out.mov")[1]["tags"]["language"], found, "{code}");
    }
}

#[test]
fn names_of_tracks_of_mp4_are_kept() {
    let dir = Dir::new();
    film(&dir, "in.mp4", "-c:v mpeg4 -q:v 3", "-c:a aac -metadata:s:a title=Comment -metadata:s:v title=Picture");
    for options in ["", "--sandbox off"] {
        dir.succeeds(&format!("--backend cpu --strict -y {options} in.mp4 out.mkv"));
        let names: Vec<_> = dir.streams("out.mkv").iter().map(|stream| stream["tags"]["title"].clone()).collect();
        assert_eq!(names, ["Picture", "Comment"], "{options}");
    }
    dir.succeeds("--backend cpu --strict -y in.mp4 out.mp4");
    assert!(has(&dir.read("out.mp4"), b"Comment"));
}

/// Inserts a user data message (SEI) after each access unit delimiter of an H.264 stream.
fn with_message(stream: &[u8], kind: u8, payload: &[u8]) -> Vec<u8> {
    let message = [&[0, 0, 0, 1, 6, kind, payload.len() as u8][..], payload, &[0x80]].concat();
    let mut out = Vec::new();
    for (index, byte) in stream.iter().enumerate() {
        // A delimiter is a start code, 9, and one more byte.
        if index >= 6 && stream[index - 6..index].starts_with(&[0, 0, 0, 1, 9]) {
            out.extend(&message);
        }
        out.push(*byte);
    }
    out
}

#[test]
fn user_data_of_frames_is_kept_where_the_encoder_writes_it_and_else_named() {
    if !encoder_is_here("messages of H.264", "libx264") {
        return;
    }
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=96x64:rate=25 -frames:v 10 -c:v libx264 -bf 0 -x264-params aud=1 plain.h264");
    let data = [&b"0123456789abcdef"[..], b"drone at 47.1 north"].concat();
    let plain = dir.read("plain.h264");
    dir.write("data.h264", &with_message(&plain, 5, &data));
    dir.write("format.h264", &with_message(&plain, 4, b"\xb5\x00\x31DTG1\x41\xfa"));
    for name in ["plain", "data", "format"] {
        dir.ffmpeg(&format!("-i {name}.h264 -c copy -bsf:v setts=pts=N*48000:dts=N*48000 {name}.ts"));
    }
    let count = |part: &[u8]| dir.read("out.mkv").windows(part.len()).filter(|window| *window == part).count();
    for options in ["", "--sandbox off", "--filter hflip"] {
        dir.succeeds(&format!("--backend cpu --strict -y {options} data.ts out.mkv"));
        assert_eq!(count(b"drone at 47.1 north"), 10, "{options}");
        assert_eq!(count(b"x264 - core"), 1, "{options}: what the encoder says of itself");
    }
    names(&dir, "--encoder mpeg4 data.ts out.mkv", &["user data in the video (SEI)"]);
    dir.succeeds("--backend cpu --strict -y --encoder mpeg4 plain.ts out.mkv");
    names(&dir, "format.ts out.mkv", &["AFD 10"]);
}

#[test]
fn how_both_eyes_lie_in_a_frame_is_kept_by_the_video_or_the_container() {
    if !encoder_is_here("frame packing", "libx264") {
        return;
    }
    let dir = Dir::new();
    let packed = "-c:v libx264 -x264-params frame-packing=3";
    dir.ffmpeg(&format!("-f lavfi -i testsrc2=size=96x64:rate=25 -frames:v 5 {packed} in.ts"));
    for line in ["in.ts out.ts", "--encoder mpeg4 in.ts out.mkv"] {
        dir.succeeds(&format!("--backend cpu --strict -y {line}"));
        let output = line.rsplit(' ').next().expect("an output");
        let said = dir.probe("-show_streams -show_frames", output).to_string();
        assert!(said.contains("Stereo 3D"), "{line}: {said}");
    }
    names(&dir, "--encoder mpeg4 in.ts out.avi", &["stereo 3D"]);
}

#[test]
fn the_timecode_of_mpeg_stays_in_mpeg_and_is_else_named() {
    let dir = Dir::new();
    film(&dir, "in.ts", "-c:v mpeg2video -q:v 3 -gop_timecode 10:20:30:05", "-c:a mp2");
    dir.succeeds("--backend cpu --strict -y --encoder mpeg2video in.ts out.ts");
    let first = dir.frames("out.ts")[0].to_string();
    assert!(first.contains("10:20:30:05"), "{first}");
    names(&dir, "--encoder mpeg4 in.ts out.mkv", &["timecode in the video (10:20:30:05)"]);
}
