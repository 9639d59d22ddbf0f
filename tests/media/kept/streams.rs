//! Streams that are not equalized: they are copied bit for bit, converted to the container's subtitle format, or
//! reported if they have to be left out.

use super::film;
use crate::support::media::reader::{assert_same_times, encoder_is_here, seconds};
use crate::support::programs::program::Dir;
use serde_json::Value;

const SUBTITLES: &str = "1\n00:00:00,200 --> 00:00:00,900\nfirst line\n\n2\n00:00:01,000 --> 00:00:01,800\nsecond\n";

/// A Matroska file with a stream of each kind.
fn everything(dir: &Dir) {
    dir.write("text.srt", SUBTITLES.as_bytes());
    dir.write("font.ttf", b"not really a font");
    dir.ffmpeg("-i text.srt styled.ass");
    dir.ffmpeg(
        "-f lavfi -i testsrc2=size=96x64:rate=25:duration=2 -f lavfi -i testsrc=size=64x48:rate=10:duration=2 \
         -f lavfi -i sine=duration=2 -f lavfi -i sine=frequency=900:duration=2 -i text.srt -i styled.ass \
         -map 0 -map 1 -map 2 -map 3 -map 4 -map 5 -attach font.ttf -metadata:s:t mimetype=font/ttf \
         -c:v:0 mpeg4 -q:v 3 -c:v:1 mjpeg -pix_fmt:v:1 yuvj420p -c:a:0 aac -c:a:1 flac -c:s:0 srt -c:s:1 ass \
         -metadata:s:v:0 title='the picture' -metadata:s:v:0 language=fra \
         -metadata:s:a:0 language=deu -metadata:s:a:1 language=eng -metadata:s:a:1 title='The comment' \
         -metadata:s:s:0 language=swe -metadata:s:s:1 title=Songs \
         -disposition:v:0 default -disposition:v:1 0 -disposition:a:0 0 -disposition:a:1 default+comment \
         -disposition:s:0 forced -disposition:s:1 0 in.mkv",
    );
}

/// The properties of a stream that every container has to keep.
fn description(stream: &Value) -> Vec<Value> {
    let tag = |key: &str| stream["tags"][key].clone();
    vec![stream["codec_type"].clone(), tag("language"), tag("title"), stream["disposition"].clone()]
}

#[track_caller]
fn assert_copied(dir: &Dir, input: &str, output: &str, stream: &str) {
    let payload = |file: &str| dir.payload(&format!("0:{stream}"), file);
    assert_eq!(payload(output), payload(input), "the packets of stream {stream}");
    assert_same_times(&dir.packet_times(stream, output), &dir.packet_times(stream, input), 0.001);
}

#[test]
fn every_other_stream_of_a_matroska_file_is_copied() {
    let dir = Dir::new();
    everything(&dir);
    dir.succeeds("--backend cpu in.mkv out.mkv").never_says("warning");
    let (before, after) = (dir.streams("in.mkv"), dir.streams("out.mkv"));
    assert_eq!(after.len(), before.len());
    for (before, after) in before.iter().zip(&after) {
        assert_eq!(description(after), description(before));
    }
    for stream in ["1", "2", "3", "4", "5"] {
        assert_copied(&dir, "in.mkv", "out.mkv", stream);
    }
    dir.ffmpeg("-dump_attachment:t:0 out.ttf -i out.mkv -t 0 -f null -");
    assert_eq!(dir.read("out.ttf"), dir.read("font.ttf"));
    assert_eq!(after[6]["tags"]["mimetype"], "font/ttf");
    assert_eq!(after[6]["tags"]["filename"], "font.ttf");
}

#[test]
fn another_video_stream_can_be_the_one_that_is_equalized() {
    let dir = Dir::new();
    everything(&dir);
    dir.succeeds("--backend cpu --video-stream 1 --encoder ffv1 in.mkv out.mkv");
    assert_copied(&dir, "in.mkv", "out.mkv", "0");
    let after = dir.streams("out.mkv");
    assert_eq!((&after[1]["codec_name"], &after[1]["width"]), (&"ffv1".into(), &64.into()));
}

#[test]
fn sound_in_mp4_and_transport_streams_is_copied() {
    let dir = Dir::new();
    for container in ["mp4", "mov", "ts"] {
        let (input, output) = (format!("in.{container}"), format!("out.{container}"));
        film(&dir, &input, "-c:v mpeg4 -q:v 3", "-c:a aac -metadata:s:a language=deu");
        dir.succeeds(&format!("--backend cpu {input} {output}"));
        let (before, after) = (dir.streams(&input), dir.streams(&output));
        assert_eq!(description(&after[1]), description(&before[1]), "{container}");
        assert_copied(&dir, &input, &output, "1");
    }
}

#[test]
fn cover_art_stays_cover_art() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=32x32 -frames:v 1 cover.png");
    film(&dir, "film.mp4", "-c:v mpeg4 -q:v 3", "-c:a aac");
    for container in ["mp4", "mkv"] {
        let (input, output) = (format!("in.{container}"), format!("out.{container}"));
        let attach = match container {
            "mkv" => "-attach cover.png -metadata:s:t mimetype=image/png -map 0",
            _ => "-i cover.png -map 0 -map 1 -disposition:v:1 attached_pic",
        };
        dir.ffmpeg(&format!("-i film.mp4 {attach} -c copy {input}"));
        dir.succeeds(&format!("--backend cpu {input} {output}")).never_says("warning");
        let after = dir.streams(&output);
        assert_eq!(after.len(), 3, "{container}");
        assert_eq!(after[2]["disposition"]["attached_pic"], 1, "{container}");
        assert_eq!(dir.payload("0:2", &output), dir.payload("0:2", &input), "{container}");
    }
}

#[test]
fn text_subtitles_become_the_kind_that_the_container_holds() {
    let dir = Dir::new();
    everything(&dir);
    let texts = |file: &str, stream: &str| {
        let run = dir.ffmpeg(&format!("-copyts -i {file} -map 0:{stream} -f srt -"));
        String::from_utf8_lossy(&run.stdout).replace('\r', "")
    };
    dir.succeeds("--backend cpu in.mkv out.mp4").says(&["stream #6", "attachment", ".mkv"]);
    let after = dir.streams("out.mp4");
    assert_eq!(after[4]["codec_name"], "mov_text");
    assert_eq!(after[5]["codec_name"], "mov_text");
    assert_eq!(after[4]["tags"]["language"], "swe");
    assert_eq!(after[4]["disposition"]["forced"], 1);
    assert_eq!(texts("out.mp4", "4"), texts("in.mkv", "4"));
    if encoder_is_here("subtitles in webm", "libvpx-vp9") {
        film(&dir, "talk.mkv", "-c:v mpeg4 -q:v 3", "-c:a libvorbis");
        dir.ffmpeg("-i talk.mkv -i text.srt -map 0 -map 1 -c copy -c:s srt talk2.mkv");
        dir.succeeds("--backend cpu talk2.mkv out.webm");
        assert_eq!(dir.streams("out.webm")[2]["codec_name"], "webvtt");
        assert_eq!(texts("out.webm", "2"), texts("talk2.mkv", "2"));
    }
    dir.succeeds("--backend cpu out.mp4 back.mkv");
    assert_eq!(dir.streams("back.mkv")[4]["codec_name"], "subrip");
    // Only the texts are compared, because subtitles may be shifted together with video and audio.
    let words = |text: String| text.lines().filter(|line| !line.contains("-->")).collect::<Vec<_>>().join("\n");
    assert_eq!(words(texts("back.mkv", "4")), words(texts("in.mkv", "4")));
}

#[test]
fn sound_that_the_container_cannot_hold_is_re_encoded_and_named() {
    let dir = Dir::new();
    film(&dir, "in.mkv", "-c:v mpeg4 -q:v 3", "-c:a wmav2 -metadata:s:a language=deu");
    let run = dir.succeeds("--backend cpu in.mkv out.mp4");
    run.says(&["warning", "stream #1 (audio, wmav2, deu)", "re-encoded (aac)", "mp4", ".mkv"]);
    let sound = &dir.streams("out.mp4")[1];
    assert_eq!((&sound["codec_name"], &sound["tags"]["language"]), (&"aac".into(), &"deu".into()));
    let before = dir.names();
    dir.run("--backend cpu --strict in.mkv strict.mp4").fails().says(&["stream #1", "--strict"]);
    assert_eq!(dir.names(), before);
}

#[test]
fn data_streams_are_copied_where_they_can_be() {
    let dir = Dir::new();
    film(&dir, "film.ts", "-c:v mpeg2video -q:v 3", "-c:a mp2");
    dir.write("data.bin", &[7; 1000]);
    dir.ffmpeg("-i film.ts -f data -i data.bin -map 0 -map 1 -c copy in.ts");
    let before = dir.streams("in.ts");
    assert_eq!(before[2]["codec_type"], "data", "the clip has a data stream");
    dir.succeeds("--backend cpu in.ts out.ts");
    assert_eq!(dir.payload("0:2", "out.ts"), dir.payload("0:2", "in.ts"));
    dir.succeeds("--backend cpu in.ts out.mkv").says(&["stream #2 (data", "left out"]);
}

#[test]
fn durations_are_those_of_the_input() {
    // Durations may differ by an audio packet: only some containers count a packet that is partly trimmed.
    let dir = Dir::new();
    for file in ["mkv", "mp4"] {
        film(&dir, &format!("in.{file}"), "-c:v mpeg4 -q:v 3", "-c:a aac");
        dir.succeeds(&format!("--backend cpu in.{file} out.{file}"));
        let duration =
            |name: &str| seconds(&dir.probe("-show_format", &format!("{name}.{file}"))["format"]["duration"]);
        assert!((duration("out") - duration("in")).abs() < 0.03, "{} instead of {}", duration("out"), duration("in"));
    }
}

#[test]
fn sound_that_a_broadcast_cannot_carry_is_re_encoded_with_a_word() {
    let dir = Dir::new();
    for sound in ["flac", "pcm_alaw", "pcm_s16le"] {
        film(&dir, "in.mkv", "-c:v mpeg2video -q:v 3", &format!("-c:a {sound}"));
        for (output, becomes) in [("out.ts", "aac"), ("out.mpg", "mp2"), ("out.vob", "mp2")] {
            let run = dir.succeeds(&format!("--backend cpu --encoder mpeg2video -y in.mkv {output}"));
            let run = run.says(&["is re-encoded", "cannot hold it"]);
            let kinds: Vec<Value> = dir.streams(output).iter().map(|stream| stream["codec_name"].clone()).collect();
            assert_eq!(kinds, ["mpeg2video", becomes], "{sound} in {output}: {run:?}");
            dir.run(&format!("--backend cpu --strict --encoder mpeg2video -y in.mkv {output}")).fails();
        }
    }
    dir.run("--backend cpu --encoder ffv1 -y in.mkv out.ts").fails().says(&["mpegts cannot hold what ffv1 makes"]);
}

#[test]
fn a_stream_that_is_announced_and_never_comes_is_left_out() {
    let dir = Dir::new();
    dir.ffmpeg(
        "-f lavfi -i testsrc2=size=96x64:rate=25:duration=1 -f lavfi -i sine=duration=1 -map 0 -map 1 -map 1 \
         -c:v mpeg2video -c:a mp2 whole.ts",
    );
    // A packet has 188 bytes and contains the PID of its stream; the second audio stream has 0x102.
    let whole = dir.read("whole.ts");
    let is_sent = |packet: &&[u8]| (u16::from(packet[1] & 31) << 8 | u16::from(packet[2])) != 0x102;
    dir.write("in.ts", &whole.chunks_exact(188).filter(is_sent).collect::<Vec<_>>().concat());
    for output in ["out.mkv", "out.mp4", "out.ts"] {
        let run = dir.succeeds(&format!("--backend cpu --encoder mpeg4 -y in.ts {output}"));
        run.says(&["stream #2", "is left out: nothing of it was found"]);
        assert_eq!(dir.streams(output).len(), 2, "{output}");
    }
}

/// FFmpeg omits a track without packets, which the program must not report as an incomplete index.
#[test]
fn sound_that_lies_outside_of_a_part_is_no_reason_to_lose_it() {
    let dir = Dir::new();
    dir.ffmpeg(
        "-f lavfi -i testsrc2=size=96x64:rate=25:duration=3 -itsoffset 2 -f lavfi -i sine=duration=1 -c:v mpeg4 -c:a aac late.mkv",
    );
    for (options, output) in [("--duration 1", "out.mp4"), ("--frames 20", "out.mov"), ("--duration 1", "out.mkv")] {
        let run = dir.succeeds(&format!("--backend cpu --encoder mpeg4 {options} -y late.mkv {output}"));
        let is_kept = output.ends_with("mkv");
        assert_eq!(run.stderr.contains("stream #1 has nothing in what was written"), !is_kept, "{}", run.stderr);
        assert_eq!(dir.streams(output).len(), 1 + usize::from(is_kept), "{options} {output}");
        assert!(dir.frames(output).len() >= 20, "{options} {output}");
    }
    dir.succeeds("--backend cpu --encoder mpeg4 --start 1.5 -y late.mkv out.mp4").never_says("has nothing in");
    assert_eq!(dir.streams("out.mp4").len(), 2);
}

#[test]
fn what_comes_later_in_joined_broadcasts_is_named_and_can_be_had() {
    let dir = Dir::new();
    let joined = |second: &str| {
        for pid in ["300", second] {
            let clip = "-f lavfi -i testsrc2=size=96x64:rate=25:duration=1 -c:v mpeg2video";
            dir.ffmpeg(&format!("{clip} -mpegts_start_pid 0x{pid} -y {pid}.ts"));
        }
        dir.write("in.ts", &[dir.read("300.ts"), dir.read(&format!("{second}.ts"))].concat());
    };
    joined("400");
    let line = "--backend cpu --encoder mpeg4 -y in.ts out.mkv";
    dir.succeeds(line).says(&["stream #1", "is left out: nothing of it was found at the beginning", "--video-stream"]);
    assert_eq!(dir.frames("out.mkv").len(), 25);
    dir.run(&format!("--strict {line}")).fails();
    dir.succeeds(&format!("--video-stream 1 {line}"));
    assert_eq!(dir.frames("out.mkv").len(), 25);
    // If the second half has the same PID, it belongs to the same stream.
    joined("300");
    dir.succeeds(line).says(&["the clock of stream #0", "jumps by", "times go on from there"]);
    assert_eq!(dir.frames("out.mkv").len(), 50);
}

/// Replaces the last occurrence of each word by another of the same length.
fn patched(mut bytes: Vec<u8>, words: &[(&[u8], &[u8])]) -> Vec<u8> {
    for (word, by) in words {
        let offset = bytes.windows(word.len()).rposition(|bytes| bytes == *word).expect("the word is in the file");
        bytes[offset..offset + by.len()].copy_from_slice(by);
    }
    bytes
}

#[test]
fn a_stream_that_can_be_neither_copied_nor_decoded_is_left_out() {
    let dir = Dir::new();
    dir.write("text.srt", SUBTITLES.as_bytes());
    dir.ffmpeg(
        "-f lavfi -i testsrc2=size=64x48:rate=5:duration=1 -f lavfi -i sine=duration=1 -i text.srt -map 0 -map 0 -map 1 \
         -map 1 -map 2 -c:v mpeg4 -c:a aac -c:s srt all.mkv",
    );
    dir.ffmpeg("-i all.mkv -map 0 -map -0:s -c copy all.mp4");
    // The second audio stream of some phones: FFmpeg knows its sample rate, but not its codec.
    dir.write("in.mov", &patched(dir.read("all.mp4"), &[(b"mp4a", b"apac"), (b"esds", b"dapa")]));
    dir.write("sound.mkv", &patched(dir.read("all.mkv"), &[(b"A_AAC", b"A_XYZ")]));
    dir.write("words.mkv", &patched(dir.read("all.mkv"), &[(b"S_TEXT/UTF8", b"S_TEXT/ABCD")]));
    dir.write("video.mkv", &patched(dir.read("all.mkv"), &[(b"V_MPEG4/ISO/ASP", b"V_XYZAB/ISO/ASP")]));
    for (input, number, streams) in [("in.mov", 3, 4), ("sound.mkv", 3, 5), ("words.mkv", 4, 5), ("video.mkv", 1, 5)] {
        for output in ["mov", "mp4", "mkv", "ts", "avi", "nut", "mpg"] {
            let run = dir.succeeds(&format!("--backend cpu --encoder mpeg4 -y {input} out.{output}"));
            let unknown = format!("stream #{number}");
            // FFmpeg 9 knows this codec and copies the stream.
            if input == "in.mov" && dir.streams(&format!("out.{output}")).len() == streams {
                continue;
            }
            let line = run.stderr.lines().find(|line| line.contains(&unknown) && line.contains("left out"));
            let line = line.unwrap_or_else(|| panic!("{input} to {output}: {}", run.stderr));
            assert!(line.contains("warning") && line.contains(&format!("--streams -{number} ")), "{line}");
            assert_eq!(dir.frames(&format!("out.{output}")).len(), 5, "{input} to {output}");
        }
        let left = dir.streams("out.mov").len();
        if input == "in.mov" && left == streams {
            continue;
        }
        assert_eq!(left, streams - 1, "{input}: all others are there");
        let options = format!("--backend cpu --encoder mpeg4 --strict -y {input} out.mov");
        dir.run(&options).fails().says(&[&format!("stream #{number}"), "--strict"]);
        dir.succeeds(&format!("--streams -{number} {options}")).never_says("left out");
    }
}

#[test]
fn the_user_chooses_what_is_kept_beside_the_video() {
    let dir = Dir::new();
    everything(&dir);
    for (choice, kept) in [
        ("2", &[0, 2][..]),
        ("-1,-t", &[0, 2, 3, 4, 5]),
        ("a:eng,s", &[0, 3, 4, 5]),
        ("-a,-v", &[0, 4, 5, 6]),
        ("t", &[0, 6]),
    ] {
        dir.succeeds(&format!("--backend cpu --strict --streams {choice} -y in.mkv out.mkv"));
        let (before, after) = (dir.streams("in.mkv"), dir.streams("out.mkv"));
        let kept: Vec<_> = kept.iter().map(|&index: &usize| description(&before[index])).collect();
        assert_eq!(after.iter().map(description).collect::<Vec<_>>(), kept, "{choice}");
    }
    // `-v` leaves out other videos; the equalized one stays.
    dir.succeeds("--backend cpu --video-stream 1 --streams -v,-a,-s,-t -y in.mkv out.mkv");
    assert_eq!(dir.streams("out.mkv").len(), 1);
    dir.run("--backend cpu --streams a:2 -y in.mkv out.mkv").exits_with(2).says(&["no stream a:2", "stream #3"]);
    dir.run("--backend cpu --streams all -y in.mkv out.mkv").exits_with(2).says(&["--streams", "names no streams"]);
}

#[test]
fn video_goes_where_it_can() {
    let dir = Dir::new();
    film(&dir, "in.mkv", "-c:v mpeg4 -q:v 3", "-c:a pcm_s16le");
    for encoder in ["huffyuv", "ffvhuff", "utvideo", "wmv2"] {
        dir.succeeds(&format!("--backend cpu --encoder {encoder} -y in.mkv out.mkv"));
        assert_eq!(dir.frames("out.mkv").len(), 50, "{encoder}");
    }
    if encoder_is_here("theora", "libtheora") {
        dir.succeeds("--backend cpu in.mkv out.ogv");
        assert_eq!(dir.frames("out.ogv").len(), 50);
    }
    if encoder_is_here("transparent VP9", "libvpx-vp9") {
        dir.ffmpeg(
            "-f lavfi -i testsrc2=size=96x64:rate=5:duration=1,format=yuva420p -c:v libvpx-vp9 -auto-alt-ref 0 a.webm",
        );
        dir.succeeds("--backend cpu --strict a.webm a.mkv");
        dir.ffmpeg("-c:v libvpx-vp9 -i a.mkv -frames:v 1 -f rawvideo -pix_fmt yuva420p alpha.raw");
        dir.ffmpeg("-c:v libvpx-vp9 -i a.webm -frames:v 1 -f rawvideo -pix_fmt yuva420p before.raw");
        let plane = 96 * 64;
        let alpha = |file: &str| dir.read(file)[plane * 3 / 2..].to_vec();
        let far = alpha("alpha.raw").iter().zip(alpha("before.raw")).filter(|(a, b)| a.abs_diff(*b) > 32).count();
        assert!(far * 20 < plane, "alpha is off in {far} of {plane} pixels");
    }
    if encoder_is_here("VP8", "libvpx") && encoder_is_here("H.264", "libx264") {
        film(&dir, "v.webm", "-c:v libvpx", "-an");
        dir.succeeds("--backend cpu v.webm v.mov");
        assert_eq!(dir.streams("v.mov")[0]["codec_name"], "h264");
    }
}

#[test]
fn a_number_of_frames_has_as_much_sound() {
    let dir = Dir::new();
    dir.ffmpeg(
        "-f lavfi -i testsrc2=size=64x48:rate=5:duration=4 -f lavfi -i sine=duration=4 -map 0 -map 1 -c:v mpeg4 -c:a mp2 in.mkv",
    );
    for frames in [1, 5] {
        dir.succeeds(&format!("--backend cpu --encoder ffv1 --frames {frames} -y in.mkv out.mkv"));
        assert_eq!(dir.frames("out.mkv").len(), frames);
        let sound = dir.packet_times("a:0", "out.mkv");
        let begin = dir.frame_times("out.mkv")[0];
        let (length, last) = (begin + frames as f64 / 5.0, sound[sound.len() - 1]);
        assert!((length - 0.04..length).contains(&last), "{frames} frames, the last sound at {last}");
    }
}

#[test]
fn video_that_never_begins_in_a_part_is_named() {
    let dir = Dir::new();
    dir.ffmpeg(
        "-f lavfi -i testsrc2=size=64x48:rate=25:duration=2 -map 0 -map 0 -c:v:0 mpeg4 -g:v:0 100 -c:v:1 ffv1 two.mkv",
    );
    let run = dir.succeeds("--backend cpu --video-stream 1 --start 1 --encoder ffv1 two.mkv out.mkv");
    run.says(&["stream #0", "is left out: no key frame of it"]);
    dir.succeeds("--backend cpu --video-stream 1 --encoder ffv1 -y two.mkv out.mkv").never_says("left out");
}

#[test]
fn a_broadcast_goes_into_segments_of_mp4() {
    let dir = Dir::new();
    film(&dir, "in.ts", "-c:v mpeg2video -q:v 3", "-c:a aac");
    if encoder_is_here("DASH", "libx264") {
        dir.succeeds("--backend cpu --preset ultrafast in.ts out.mpd");
        for stream in 0..2 {
            // Some builds of FFmpeg cannot read DASH, so the segments are concatenated here.
            dir.write(
                "one.mp4",
                &[dir.read(&format!("init-stream{stream}.m4s")), dir.read(&format!("chunk-stream{stream}-00001.m4s"))]
                    .concat(),
            );
            assert!(dir.packets("0", "one.mp4").len() > 40, "stream {stream}");
        }
    }
}

#[test]
fn mpeg_2_stays_in_the_containers_made_for_it() {
    let dir = Dir::new();
    film(&dir, "in.mkv", "-vf setfield=tff -flags +ildct+ilme -c:v mpeg2video -q:v 3", "-c:a mp2");
    for output in ["out.mpg", "out.vob"] {
        dir.succeeds(&format!("--strict --backend cpu in.mkv {output}"));
        assert_eq!(dir.streams(output)[0]["codec_name"], "mpeg2video", "{output}");
        assert!(dir.frames(output).iter().all(|frame| frame["interlaced_frame"] == 1), "{output}");
    }
}

/// Writes `whole.avi`, a film with two AAC streams, and `in.avi`, in which the first one lacks its header, as in files
/// of some cameras: `cbSize` in its format is 0.
fn with_and_without_header(dir: &Dir) {
    dir.ffmpeg(
        "-f lavfi -i testsrc2=size=64x48:rate=10:duration=2 -f lavfi -i sine=duration=2 -f lavfi -i \
         sine=frequency=900:duration=2 -map 0 -map 1 -map 2 -c:v mpeg4 -g 5 -c:a aac whole.avi",
    );
    let mut bytes = dir.read("whole.avi");
    let value_at =
        |bytes: &[u8], part: &[u8]| bytes.windows(part.len()).position(|window| window == part).expect("a part");
    let sound = value_at(&bytes, b"auds");
    let size = sound + value_at(&bytes[sound..], b"strf") + 8 + 16;
    assert_eq!(bytes[size - 16], 0xff, "AAC");
    assert_ne!(bytes[size], 0);
    bytes[size] = 0;
    dir.write("in.avi", &bytes);
}

#[test]
fn converted_sound_that_the_muxer_refuses_is_left_out_too() {
    let dir = Dir::new();
    let sound = "-f lavfi -i sine=duration=1 -f lavfi -i sine=frequency=900:duration=1";
    dir.ffmpeg(&format!(
        "-f lavfi -i testsrc2=size=96x64:rate=25:duration=1 {sound} -map 0 -map 1 -map 2 -map 1 -c:v mpeg4 \
         -c:a:0 ac3 -c:a:1 flac -c:a:2 alac in.mkv"
    ));
    for (options, output) in [("--encoder flv", "out.flv"), ("", "out.rm")] {
        let line = format!("--backend cpu {options} in.mkv");
        let said = ["#2 (audio, flac)", "#3 (audio, alac)"]
            .map(|stream| format!("stream {stream} is left out: {} does not take it: ", &output[4..]));
        let run = dir.succeeds(&format!("{line} {output}"));
        // FFmpeg 8 and later writes several audio tracks to FLV.
        if dir.streams(output).len() == 4 {
            run.never_says("left out");
            continue;
        }
        run.says(&said.each_ref().map(String::as_str));
        let mut kinds: Vec<String> =
            dir.streams(output).iter().map(|stream| stream["codec_type"].to_string()).collect();
        kinds.sort();
        assert_eq!(kinds, ["\"audio\"", "\"video\""], "{output}");
        assert_eq!(dir.packet_times("v:0", output).len(), 25, "{output}");
        // The first audio stream is complete.
        let end = dir.packet_times("a:0", output).into_iter().fold(0.0, f64::max);
        assert!((0.9..1.1).contains(&end), "{output}: {end}");
        dir.run(&format!("--strict {line} strict-{output}")).fails();
        assert!(!dir.path(format!("strict-{output}")).exists());
    }
}

#[test]
fn a_stream_that_the_muxer_refuses_is_left_out_by_its_name() {
    let dir = Dir::new();
    with_and_without_header(&dir);
    let refused = |line: &str, stream: usize, output: &str, why: &str| {
        let run = dir.succeeds(&format!("--backend cpu {line} {output}"));
        run.says(&[
            &format!("stream #{stream} (audio, aac) is left out: "),
            why,
            &format!("(--streams -{stream} says"),
        ]);
        let found = dir.streams(output);
        let count = |kind: &str| found.iter().filter(|stream| stream["codec_type"] == kind).count();
        assert_eq!((found.len(), count("video"), count("audio")), (2, 1, 1), "{output}");
        assert_eq!(dir.packet_times("v:0", output).len(), 20);
    };
    // The muxer refuses the first packet of the stream.
    refused("--encoder mpeg4 in.avi", 1, "out.mkv", "matroska does not take it: Error parsing AAC extradata");
    assert_eq!(dir.payload("0:a:0", "out.mkv"), dir.payload("0:a:1", "whole.avi"));
    // The muxer refuses the stream when it writes the header. FFmpeg 8 and later writes several audio tracks to FLV.
    let run = dir.succeeds("--backend cpu --encoder flv whole.avi many.flv");
    if dir.streams("many.flv").len() == 3 {
        run.never_says("left out");
    } else {
        let why = "flv does not take it: cannot begin a flv file (at most one audio";
        refused("--encoder flv whole.avi", 2, "out.flv", why);
        assert_eq!(dir.payload("0:a:0", "out.flv"), dir.payload("0:a:0", "whole.avi"));
    }
    // A user who leaves the stream out gets no warning.
    dir.succeeds("--backend cpu --encoder mpeg4 --streams -1 -y in.avi out.mkv").never_says("warning");
    dir.run("--backend cpu --encoder mpeg4 --strict in.avi strict.mkv").fails().says(&["is left out", "--strict"]);
    assert!(!dir.path("strict.mkv").exists());
    dir.succeeds("--backend cpu --encoder mpeg4 whole.avi whole.mkv").never_says("is left out");
    assert_eq!(dir.streams("whole.mkv").len(), 3);
}

/// A second of video with audio; of its channels, only one is loud.
fn with_loud_channel(dir: &Dir, file: &str, (channels, loud): (usize, usize), sound: &str) {
    let each = (0..channels).map(|channel| if channel == loud { "0.5*sin(2000*t)" } else { "0" });
    let each = each.collect::<Vec<_>>().join("|");
    dir.ffmpeg(&format!(
        "-f lavfi -i testsrc2=size=96x64:rate=25:duration=1 -f lavfi -i aevalsrc={each}:d=1:s=48000{sound} \
         -map 0 -map 1 -c:v mpeg2video -q:v 3 {file}"
    ));
}

/// The sum of the absolute samples of each channel of the first audio stream.
fn levels(dir: &Dir, file: &str, channels: usize) -> Vec<u64> {
    dir.ffmpeg(&format!("-i {file} -map 0:a:0 -c:a pcm_s16le -f s16le levels.raw"));
    let mut levels = vec![0; channels];
    for (index, sample) in dir.read("levels.raw").chunks_exact(2).enumerate() {
        levels[index % channels] += u64::from(i16::from_le_bytes([sample[0], sample[1]]).unsigned_abs());
    }
    levels
}

/// The first audio stream. In FLV, ffprobe lists audio before video.
fn sound_of(dir: &Dir, file: &str) -> Value {
    let streams = dir.streams(file);
    streams.into_iter().find(|stream| stream["codec_type"] == "audio").expect("sound")
}

#[test]
fn surround_that_is_converted_keeps_each_of_its_channels() {
    let dir = Dir::new();
    with_loud_channel(&dir, "six.mkv", (6, 4), " -c:a pcm_s16le");
    with_loud_channel(&dir, "side.mkv", (6, 4), ":c=5.1(side) -c:a ac3");
    with_loud_channel(&dir, "eight.mkv", (8, 6), " -c:a pcm_s16le");
    for (input, output, video, sound, loud) in [
        ("six.mkv", "six.mp4", "mpeg4", "aac", Some(4)),
        ("six.mkv", "six.flv", "flv", "aac", Some(4)),
        // In MPEG program streams, surround is AC-3.
        ("six.mkv", "six.mpg", "mpeg2video", "ac3", Some(4)),
        ("side.mkv", "side.webm", "libvpx", "opus", Some(4)),
        ("eight.mkv", "eight.webm", "libvpx", "opus", None),
        ("eight.mkv", "eight.mp4", "mpeg4", "aac", None),
    ] {
        if sound == "opus" && !["libvpx", "libopus"].iter().all(|name| encoder_is_here("surround in WebM", name)) {
            continue;
        }
        dir.succeeds(&format!("--backend cpu --encoder {video} {input} {output}")).never_says("mixed");
        let (before, after) = (&dir.streams(input)[1], sound_of(&dir, output));
        assert_eq!((&after["codec_name"], &after["channels"]), (&sound.into(), &before["channels"]), "{output}");
        let channels = after["channels"].as_u64().expect("a number") as usize;
        let found = levels(&dir, output, channels);
        let most = *found.iter().max().expect("channels");
        let is_loud: Vec<usize> = (0..channels).filter(|&channel| found[channel] * 20 > most).collect();
        assert!(most > 1_000_000 && is_loud.len() == 1, "{output}: {found:?}");
        assert!(loud.is_none_or(|loud| is_loud == [loud]), "{output}: {found:?}");
    }
    if encoder_is_here("surround for the web", "libx264") {
        dir.succeeds("--backend cpu --for web side.mkv web.mp4").never_says("mixed");
        assert_eq!(dir.streams("web.mp4")[1]["channels"], 6);
        let found = levels(&dir, "web.mp4", 6);
        assert!((0..6).all(|channel| channel == 4 || found[channel] * 20 < found[4]), "{found:?}");
    }
}

#[test]
fn channels_that_are_mixed_are_told() {
    let dir = Dir::new();
    with_loud_channel(&dir, "in.mkv", (8, 6), " -c:a pcm_s16le");
    let line = "--backend cpu --encoder mpeg2video in.mkv";
    let said = "warning: stream #1 (audio, pcm_s16le): 8 channels are mixed to 6: ac3 in mpeg takes no more";
    dir.succeeds(&format!("{line} out.mpg")).says(&[said]);
    assert_eq!(dir.streams("out.mpg")[1]["channels"], 6);
    assert!(levels(&dir, "out.mpg", 6).iter().sum::<u64>() > 1_000_000);
    dir.run(&format!("--strict {line} strict.mpg")).fails();
    assert!(!dir.path("strict.mpg").exists());
}

#[test]
fn sound_whose_channels_no_encoder_takes_is_left_out_by_name() {
    let dir = Dir::new();
    with_loud_channel(&dir, "in.mkv", (12, 6), " -c:a pcm_s16le");
    for (output, encoder) in [("out.mp4", "mpeg4"), ("out.flv", "flv"), ("out.webm", "libvpx")] {
        if !encoder_is_here("twelve channels", encoder) {
            continue;
        }
        let run = dir.succeeds(&format!("--backend cpu --encoder {encoder} in.mkv {output}"));
        let streams = dir.streams(output);
        // Newer versions of FFmpeg have a layout of twelve channels, so they can mix them.
        if streams.len() == 2 {
            run.says(&["12 channels are mixed to 8"]);
            assert!(dir.packets("a:0", output).len() > 20, "{output}");
        } else {
            run.says(&["stream #1 (audio, pcm_s16le) is left out: it cannot become", "no 12 channels", "--streams -1"]);
            dir.run(&format!("--backend cpu --strict --encoder {encoder} in.mkv strict-{output}")).fails();
        }
        assert_eq!(dir.frames(output).len(), 25, "{output}");
    }
}

#[test]
fn sound_gets_a_rate_and_a_codec_that_the_container_takes() {
    let dir = Dir::new();
    let film = |file: &str, rate: u32, sound: &str| {
        dir.ffmpeg(&format!(
            "-f lavfi -i testsrc2=size=96x64:rate=25:duration=2 -f lavfi -i sine=duration=2:sample_rate={rate} -map 0 \
             -map 1 -c:v mpeg2video -q:v 3 -c:a {sound} {file}"
        ));
    };
    for (rate, sound, output, becomes, new_rate) in [
        // FLV has no rate of 8000 Hz; it would say 5512 Hz.
        (8000, "pcm_s16le", "flv", "aac", "8000"),
        (48_000, "pcm_s16le", "flv", "aac", "48000"),
        (96_000, "pcm_s16le", "flv", "aac", "96000"),
        (44_100, "pcm_s16le", "flv", "aac", "44100"),
        (8000, "pcm_s16le", "mxf", "pcm_s24le", "48000"),
        (96_000, "pcm_s16le", "mxf", "pcm_s24le", "48000"),
        (44_100, "aac", "mxf", "pcm_s24le", "48000"),
        (48_000, "pcm_s16le", "mxf", "pcm_s16le", "48000"),
        (32_000, "libmp3lame", "flv", "aac", "32000"),
    ] {
        if sound == "libmp3lame" && !encoder_is_here("MP3 in FLV", sound) {
            continue;
        }
        film("in.mkv", rate, sound);
        let (video, output) = (if output == "flv" { "flv" } else { "mpeg2video" }, format!("out.{output}"));
        let run = dir.succeeds(&format!("--backend cpu --encoder {video} -y in.mkv {output}")).never_says("left out");
        let after = sound_of(&dir, &output);
        let found = (&after["codec_name"], &after["sample_rate"]);
        assert_eq!(found, (&becomes.into(), &new_rate.into()), "{rate} Hz of {sound} to {output}: {}", run.stderr);
        assert_eq!(run.stderr.contains("is re-encoded"), sound != becomes, "{}", run.stderr);
        // The duration of the audio is unchanged.
        let end = dir.packet_times("a:0", &output).into_iter().fold(0.0, f64::max);
        assert!((1.8..2.2).contains(&end), "{rate} Hz of {sound} to {output} ends at {end}");
        // The tone has 440 Hz, so there are 880 zero crossings per second.
        dir.ffmpeg(&format!("-i {output} -map 0:a:0 -ac 1 -ar 48000 -c:a pcm_s16le -f s16le wave.raw"));
        let wave = dir.read("wave.raw");
        let is_above = |sample: &[u8]| i16::from_le_bytes([sample[0], sample[1]]) > 0;
        let second = &wave[48_000..144_000];
        let above: Vec<bool> = second.chunks_exact(2).map(is_above).collect();
        let crossings = above.windows(2).filter(|pair| pair[0] != pair[1]).count();
        assert!((870..890).contains(&crossings), "{rate} Hz of {sound} to {output}: {crossings} crossings a second");
    }
}

#[test]
fn wtv_gets_sound_that_can_be_decoded() {
    let dir = Dir::new();
    film(&dir, "in.mkv", "-c:v mpeg2video -q:v 3", "-c:a aac");
    dir.succeeds("--backend cpu in.mkv out.wtv").says(&["stream #1 (audio, aac) is re-encoded"]);
    dir.ffmpeg("-i out.wtv -map 0:a -f s16le -ac 1 -ar 48000 out.raw");
    let seconds = dir.read("out.raw").len() as f64 / 96_000.0;
    assert!((seconds - 2.0).abs() < 0.1, "{seconds} s of sound");
}

#[test]
fn dv_gets_sound_in_stereo_without_compression() {
    let dir = Dir::new();
    dir.ffmpeg(
        "-f lavfi -i testsrc2=size=720x576:rate=25:duration=1 -f lavfi -i sine=duration=1 -f lavfi -i \
         sine=frequency=900:duration=1 -map 0 -map 1 -map 2 -c:v mpeg4 -q:v 3 -c:a aac in.mkv",
    );
    dir.succeeds("--backend cpu --denoise 0 --streams 1 in.mkv out.dv").never_says("left out");
    let streams = dir.streams("out.dv");
    let sound = (&streams[1]["codec_name"], &streams[1]["channels"], &streams[1]["sample_rate"]);
    assert_eq!(sound, (&"pcm_s16le".into(), &2.into(), &"44100".into()));
    assert_eq!(streams[0]["codec_name"], "dvvideo");
    assert!(dir.frames("out.dv").len() >= 24);
    film(&dir, "small.mkv", "-c:v mpeg4 -q:v 3", "-c:a aac");
    dir.run("--backend cpu small.mkv small.dv").fails().says(&["DV is 720x576", "dvvideo refuses 96x64"]);
    assert!(!dir.path("small.dv").exists());
}

#[test]
fn transport_streams_of_cameras_and_discs_have_packets_of_192_bytes() {
    let dir = Dir::new();
    film(&dir, "in.ts", "-c:v mpeg2video -q:v 3", "-c:a ac3");
    for (line, output, length) in [
        ("", "out.m2ts", 192),
        ("", "out.mts", 192),
        ("", "out.MTS", 192),
        ("--output-format mpegts", "named.m2ts", 192),
        ("", "out.ts", 188),
        ("--output-option mpegts_m2ts_mode=0", "plain.m2ts", 188),
    ] {
        dir.succeeds(&format!("--backend cpu --strict --encoder mpeg2video {line} in.ts {output}"));
        let bytes = dir.read(output);
        assert_eq!(bytes.len() % length, 0, "{output}");
        let is_whole = bytes.chunks_exact(length).all(|packet| packet[length - 188] == 0x47);
        assert!(is_whole, "{output} has packets of {length} bytes");
        assert_eq!(dir.frames(output).len(), 50, "{output}");
        assert_eq!(dir.payload("0:a:0", output), dir.payload("0:a:0", "in.ts"), "{output}");
    }
    // M2TS has no stream type for data.
    dir.write("data.bin", &[7; 1000]);
    dir.ffmpeg("-i in.ts -f data -i data.bin -map 0 -map 1 -c copy data.ts");
    dir.succeeds("--backend cpu --encoder mpeg2video data.ts data.m2ts").says(&["stream #2 (data", "is left out"]);
    assert_eq!(dir.streams("data.m2ts").len(), 2);
}

#[test]
fn av1_stays_av1_with_all_its_colour_and_at_any_size() {
    if !encoder_is_here("all colour of AV1", "libaom-av1") {
        return;
    }
    let dir = Dir::new();
    for (size, format) in [("96x48", "yuv420p"), ("160x128", "yuv444p"), ("160x128", "yuv420p")] {
        dir.ffmpeg(&format!(
            "-f lavfi -i testsrc2=size={size}:rate=25,format={format} -frames:v 5 -c:v libaom-av1 -cpu-used 8 \
             -usage realtime in.mkv"
        ));
        let run = dir.succeeds("--backend cpu --strict -y in.mkv out.mkv").never_says("Svt[error]");
        let video = &dir.streams("out.mkv")[0];
        let found = format!("{}x{}", video["width"], video["height"]);
        assert_eq!((found.as_str(), &video["pix_fmt"]), (size, &format.into()), "{}", run.stderr);
        assert_eq!(video["codec_name"], "av1");
        assert_eq!(dir.frames("out.mkv").len(), 5);
    }
}
