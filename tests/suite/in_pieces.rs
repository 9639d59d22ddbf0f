//! A video in pieces gives what one run gives: the same frames, the same times, the same sound, measurements and curves;
//! whatever becomes of the processes that work on it.

use crate::program::Dir;
use serde_json::Value;

/// A film of a few scenes and flashes, with levels to be stretched, sound, and B-frames.
fn film(dir: &Dir, name: &str, seconds: u32, options: &str) {
    let dim = "colorlevels=romin=0.2:romax=0.7:gomin=0.2:gomax=0.7:bomin=0.2:bomax=0.7";
    let scenes = r"hue=b=if(eq(mod(n\,61)\,40)\,4\,0):h=90*floor(n/37)";
    dir.ffmpeg(&format!(
        "-f lavfi -i testsrc2=size=160x90:rate=25,{dim},{scenes},format=yuv420p -f lavfi -i sine=frequency=440 -t {seconds} {options} {name}"
    ));
}

/// Everything about the packets of a file that does not depend on how the video was encoded.
fn times(dir: &Dir, file: &str) -> Vec<(String, i64, i64)> {
    let of = |value: &Value, key: &str| value[key].as_i64().unwrap_or(i64::MIN);
    let kind = |packet: &Value| packet["codec_type"].as_str().unwrap_or_default().to_owned();
    let packets = dir.probe("-show_packets", file)["packets"].as_array().cloned().unwrap_or_default();
    let mut times: Vec<_> =
        packets.iter().map(|packet| (kind(packet), of(packet, "pts"), of(packet, "duration"))).collect();
    times.sort();
    times
}

/// Runs `options` on `input` once, and in pieces of this many seconds, and holds the two to be equal.
#[track_caller]
fn check(dir: &Dir, input: &str, extension: &str, piece: f64, options: &str) {
    let (one, joined) = (format!("one.{extension}"), format!("joined.{extension}"));
    let options = format!("--backend cpu {options}");
    dir.succeeds(&format!("-y {input} {one} {options} --stats one.csv --save-curves one.curves"));
    let records = "--stats joined.csv --save-curves joined.curves";
    let plan = dir.succeeds(&format!("plan -y {input} {joined} {options} {records} --piece {piece}"));
    dir.write("plan.json", &plan.stdout);
    dir.succeeds("run plan.json --jobs 2");
    dir.succeeds("join plan.json");
    assert_eq!(times(dir, &one), times(dir, &joined), "times of {input}, {options}");
    for stream in ["0:v", "0:a?"] {
        let hash =
            |file: &str| dir.tool("ffmpeg", &format!("-v error -i {file} -map {stream} -f framehash -"), None).stdout;
        let is_copied = stream == "0:a?";
        if is_copied || options.contains("ffv1") {
            assert!(hash(&one) == hash(&joined), "{stream} of {input}, {options}");
        }
    }
    assert_eq!(without_clock(dir, "one.csv"), without_clock(dir, "joined.csv"), "measurements of {input}, {options}");
    if dir.path("one.curves").exists() {
        assert!(dir.read("one.curves") == dir.read("joined.curves"), "curves of {input}, {options}");
    }
    let left = dir.names().into_iter().filter(|name| name.contains(".pieces")).collect::<Vec<_>>();
    assert_eq!(left, [""; 0], "pieces are removed");
    for name in ["one.curves", "joined.curves"] {
        let _ = std::fs::remove_file(dir.path(name));
    }
}

/// The measurements without how long they took.
fn without_clock(dir: &Dir, name: &str) -> Vec<String> {
    let text = String::from_utf8(dir.read(name)).expect("text");
    let columns = |line: &str| line.rsplitn(4, ',').last().unwrap_or_default().to_owned();
    text.lines().map(columns).collect()
}

#[test]
fn pieces_are_joined_to_the_frames_measurements_and_curves_of_one_run() {
    let dir = Dir::new();
    film(&dir, "film.mkv", 12, "-c:v ffv1 -c:a pcm_s16le");
    for options in ["", "--roi auto", "--look-ahead 0 --smooth 1", "--max-gain auto", "--output-depth 10"] {
        check(&dir, "film.mkv", "mkv", 1.7, &format!("--encoder ffv1 {options}"));
    }
}

#[test]
fn pieces_are_equalized_with_every_method_as_in_one_run() {
    let dir = Dir::new();
    film(&dir, "film.mkv", 12, "-c:v ffv1 -c:a pcm_s16le");
    for options in
        ["--look haze", "--method deflicker", "--look night", "--look auto", "--exact", "--smooth 0.4 --gray"]
    {
        check(&dir, "film.mkv", "mkv", 2.9, &format!("--encoder ffv1 {options}"));
    }
}

#[test]
fn pieces_of_every_kind_of_file_are_joined_to_one_run() {
    let dir = Dir::new();
    let x264 = |options: &str| format!("-c:v libx264 -preset veryfast {options}");
    for (name, options) in [
        ("closed.mp4", x264("-bf 3 -g 48 -c:a aac")),
        ("open.mkv", x264("-bf 3 -x264-params open-gop=1:keyint=30 -c:a aac")),
        ("refreshed.ts", x264("-x264-params intra-refresh=1:keyint=50 -c:a mp2")),
        ("broadcast.ts", "-c:v mpeg2video -bf 2 -g 15 -c:a mp2".to_owned()),
        (
            "deep.mkv",
            "-c:v libx265 -preset ultrafast -pix_fmt yuv420p10le -x265-params log-level=none:keyint=40 -c:a flac"
                .to_owned(),
        ),
        ("vp9.webm", "-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -g 60 -c:a libopus".to_owned()),
        ("photos.mov", "-c:v mjpeg -c:a pcm_s16le".to_owned()),
        ("old.avi", "-c:v mpeg4 -g 40 -c:a mp3".to_owned()),
        ("varying.mkv", x264("-vf setpts=N*40+N*N/40*20 -fps_mode passthrough -bf 2 -c:a aac")),
    ] {
        film(&dir, name, 12, &options);
        check(&dir, name, "mkv", 1.7, "--encoder ffv1");
    }
}

#[test]
fn every_encoder_of_the_table_gives_files_with_the_times_of_one_run() {
    let dir = Dir::new();
    film(&dir, "film.mp4", 8, "-c:v libx264 -preset veryfast -bf 3 -c:a aac");
    for (extension, options) in [
        ("mp4", "--encoder libx264 --preset veryfast"),
        ("ts", "--encoder libx264 --preset veryfast"),
        ("mkv", "--encoder libx265 --preset ultrafast"),
        ("mov", "--encoder prores_ks"),
        ("mov", "--encoder mjpeg"),
        ("webm", "--encoder libvpx-vp9 --preset 8"),
        ("mkv", "--encoder utvideo"),
    ] {
        check(&dir, "film.mp4", extension, 1.7, options);
        // A decoder that complains would say so here.
        let line = format!("-v warning -i joined.{extension} -map 0:v -f null -");
        assert_eq!(dir.tool("ffmpeg", &line, None).stderr, "", "{extension}, {options}");
    }
}
