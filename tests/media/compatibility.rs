//! Outputs that work everywhere: the requirements of players, browsers and pipes.

use crate::program::outputs::interrupt::interrupted;
use crate::support::media::reader::{encoder_is_here, filter_is_here};
use crate::support::programs::program::{Dir, usage_error};

/// The types of the boxes of an mp4 or mov file, in order.
fn boxes(bytes: &[u8]) -> Vec<String> {
    let (mut types, mut offset) = (Vec::new(), 0);
    while let Some([a, b, c, d, kind @ ..]) = bytes.get(offset..offset + 8) {
        types.push(String::from_utf8_lossy(kind).into_owned());
        offset += u32::from_be_bytes([*a, *b, *c, *d]).max(8) as usize;
    }
    types
}

#[track_caller]
fn is_index_in_front(dir: &Dir, name: &str) -> bool {
    let boxes = boxes(&dir.read(name));
    let place = |kind: &str| boxes.iter().position(|other| other == kind).unwrap_or_else(|| panic!("{boxes:?}"));
    place("moov") < place("mdat")
}

fn with_clip() -> Dir {
    let dir = Dir::new();
    dir.ffmpeg(
        "-f lavfi -i testsrc2=size=96x64:rate=25 -f lavfi -i sine -t 1 -c:v mpeg4 -c:a aac -metadata mood=calm in.mkv",
    );
    dir
}

#[test]
fn mp4_and_mov_have_their_index_in_front_unless_told_otherwise() {
    let dir = with_clip();
    for container in ["mp4", "mov", "m4v", "3gp"] {
        let sound = if container == "3gp" { "--encoder mpeg4 " } else { "" };
        dir.succeeds(&format!("{sound}--sandbox on in.mkv out.{container}"));
        assert!(is_index_in_front(&dir, &format!("out.{container}")), "{container}");
        dir.succeeds(&format!("{sound}--output-option movflags=-faststart in.mkv behind.{container}"));
        assert!(!is_index_in_front(&dir, &format!("behind.{container}")), "{container}");
    }
    // `movflags` keeps the flag that the program sets itself, which writes metadata with arbitrary keys.
    for name in ["out.mp4", "behind.mp4"] {
        let tags = dir.tool("ffprobe", &format!("-v error -show_entries format_tags=mood -of csv=p=0 {name}"), None);
        assert_eq!(String::from_utf8_lossy(&tags.stdout).trim(), "calm", "{name}");
    }
}

#[test]
fn our_own_mp4_comes_through_our_own_stdin() {
    let dir = with_clip();
    dir.succeeds("--exact --encoder mpeg4 in.mkv own.mp4");
    dir.succeeds("--exact --encoder ffv1 own.mp4 named.mkv");
    let mp4 = dir.read("own.mp4");
    dir.fed("--exact --encoder ffv1 - piped.mkv", &mp4).exits_with(0);
    let streams = |name: &str| {
        dir.tool("ffprobe", &format!("-v error -show_entries stream=codec_name -of csv=p=0 {name}"), None).stdout
    };
    assert_eq!(streams("piped.mkv"), streams("named.mkv"));
    assert_eq!(dir.frames("piped.mkv"), dir.frames("named.mkv"));
}

#[test]
fn options_reach_the_container_and_unknown_ones_are_named() {
    let dir = with_clip();
    dir.succeeds("--output-option brand=isom in.mkv out.mp4");
    assert_eq!(&dir.read("out.mp4")[8..12], b"isom");
    dir.run("--output-option colour=blue in.mkv no.mp4").fails().says(&["container mp4 has no option colour"]);
    dir.run("--output-option brand=isom in.mkv no.y4m").fails().says(&["raw frames", "brand", "drop --output-option"]);
    assert_eq!(dir.names(), ["in.mkv", "out.mp4"]);
}

#[test]
fn a_partial_mp4_is_playable_and_has_its_index_in_front() {
    if !encoder_is_here("interrupting", "libx264") {
        return;
    }
    let dir = Dir::new();
    let (code, said) = interrupted(&dir, "OPTIONS long.mkv out.mp4");
    assert_eq!(code, Some(130), "{said}");
    assert_eq!(dir.names(), ["long.mkv", "out.partial.mp4"]);
    assert!(is_index_in_front(&dir, "out.partial.mp4"));
    assert!((5..2000).contains(&dir.frames("out.partial.mp4").len()));
}

/// The values of `entries` for all streams of a file, as ffprobe prints them.
fn streams(dir: &Dir, name: &str, entries: &str) -> String {
    let line = format!("-v error -show_entries stream={entries} -of csv=p=0 {name}");
    String::from_utf8_lossy(&dir.tool("ffprobe", &line, None).stdout).trim().replace('\n', "; ")
}

#[test]
fn a_file_for_the_web_is_8_bit_420_of_h264_with_aac_at_most_1080p_and_its_index_in_front() {
    if !encoder_is_here("files for the web", "libx264") {
        return;
    }
    let dir = Dir::new();
    let sound = "-f lavfi -i sine -ac 6 -c:a pcm_s24le";
    dir.ffmpeg(&format!(
        "-f lavfi -i testsrc2=size=2560x1440:rate=25 {sound} -frames:v 6 -t 0.24 -c:v prores_ks prores.mov"
    ));
    dir.ffmpeg(&format!(
        "-f lavfi -i testsrc2=size=98x66:rate=25 {sound} -t 0.24 -c:v ffv1 -pix_fmt gbrp12le -vf crop=97:65 odd.mkv"
    ));
    dir.ffmpeg(&format!(
        "-f lavfi -i testsrc2=size=1440x2560:rate=25 {sound} -t 0.24 -c:v mjpeg -pix_fmt yuvj444p tall.avi"
    ));
    for (input, size) in [("prores.mov", "1920,1080"), ("odd.mkv", "96,64"), ("tall.avi", "1080,1920")] {
        dir.succeeds(&format!("--strict -y --for web {input} web.mp4")).never_says("re-encoded");
        let expected = format!("h264,High,{size},yuv420p; aac,LC");
        assert_eq!(streams(&dir, "web.mp4", "codec_name,profile,width,height,pix_fmt"), expected, "{input}");
        assert!(is_index_in_front(&dir, "web.mp4"));
        assert_eq!(dir.frames("web.mp4").len(), 6, "{input}");
    }
    // Explicit options override `--for web`.
    if encoder_is_here("files for the web", "libx265") {
        dir.succeeds("-y --for web --fit 640x640 --encoder libx265 prores.mov web.mp4");
        assert_eq!(streams(&dir, "web.mp4", "codec_name,width,height"), "hevc,640,360; aac");
    }
    dir.succeeds("-y --for web --fit off --output-pixel-format yuv422p prores.mov web.mp4");
    assert_eq!(streams(&dir, "web.mp4", "codec_name,width,height,pix_fmt"), "h264,2560,1440,yuv422p; aac");
    if encoder_is_here("files for the web", "libvpx-vp9") && encoder_is_here("files for the web", "libopus") {
        dir.succeeds("--for web prores.mov web.webm");
        assert_eq!(streams(&dir, "web.webm", "codec_name,width,height,pix_fmt"), "vp9,1920,1080,yuv420p; opus");
    }
}

#[test]
fn files_to_keep_to_edit_and_to_watch_are_what_they_should_be() {
    let dir = with_clip();
    dir.succeeds("--for archive in.mkv archive.mkv");
    assert_eq!(streams(&dir, "archive.mkv", "codec_name,pix_fmt"), "ffv1,yuv420p; aac");
    let kept = dir.succeeds("--encoder ffv1 in.mkv kept.mkv");
    assert!(dir.raw("archive.mkv", "yuv420p") == dir.raw("kept.mkv", "yuv420p"), "{}", kept.stderr);
    let keys =
        dir.tool("ffprobe", "-v error -select_streams v -show_entries packet=flags -of csv=p=0 archive.mkv", None);
    assert!(String::from_utf8_lossy(&keys.stdout).lines().all(|flags| flags.starts_with('K')));
    dir.succeeds("--for edit in.mkv edit.mov");
    assert_eq!(streams(&dir, "edit.mov", "codec_name,pix_fmt"), "prores,yuv422p10le; aac");
    if encoder_is_here("files to watch", "libx265") {
        dir.succeeds("--for quality in.mkv quality.mp4");
        assert_eq!(streams(&dir, "quality.mp4", "codec_name,pix_fmt"), "hevc,yuv420p10le; aac");
    }
    for (line, says) in [
        ("--for web in.mkv out.avi", "--for web makes a .mp4 or .webm file, which out.avi is not"),
        ("--for archive in.mkv out.mp4", "--for archive makes a .mkv file"),
        ("--for web in.mkv -", "--for web makes a .mp4 or .webm file"),
        ("--fit big in.mkv out.mp4", "--fit is a size like 1280x720, or off, not big"),
    ] {
        usage_error(line).says(&[says]);
    }
    dir.run("--fit 64x64 in.mkv out.y4m").fails().says(&["drop --fit"]);
}

#[test]
fn hdr_becomes_sdr_for_the_web_as_bright_as_it_was_meant() {
    if !filter_is_here("HDR for the web", "zscale") || !encoder_is_here("HDR for the web", "libx264") {
        return;
    }
    let dir = Dir::new();
    let pale = "lutyuv=y=40+val/2:u=112+val/8:v=112+val/8";
    let pale = format!("-f lavfi -i testsrc2=size=96x64:rate=25,format=yuv420p,{pale} -frames:v 6");
    let light = "setparams=range=tv:color_primaries=bt709:color_trc=bt709:colorspace=bt709,zscale=t=linear:npl=203";
    for (transfer, tags) in [("smpte2084", "-color_primaries bt2020 -colorspace bt2020nc"), ("arib-std-b67", "")] {
        let hdr = format!("format=gbrpf32le,zscale=p=bt2020:t={transfer}:m=bt2020nc:r=tv:npl=203,format=yuv420p10le");
        let untagged = if tags.is_empty() { ",setparams=color_primaries=unknown:colorspace=unknown" } else { "" };
        dir.ffmpeg(&format!("{pale} -vf {light},{hdr}{untagged} -c:v ffv1 -color_trc {transfer} {tags} hdr.mkv"));
        let run = dir.succeeds("-y --strict --sandbox on --for web --strength 0 --levels 1 hdr.mkv web.mp4");
        run.says(&["HDR video becomes SDR"]).never_says("stays HDR");
        let colours = "pix_fmt,color_space,color_transfer,color_primaries";
        assert_eq!(streams(&dir, "web.mp4", colours), "yuv420p,bt709,bt709,bt709", "{transfer}");
        assert_eq!(dir.frames("web.mp4").len(), 6, "{transfer}");
        dir.ffmpeg(&format!("{pale} -c:v ffv1 sdr.mkv"));
        let (meant, seen) = (dir.raw("sdr.mkv", "yuv420p"), dir.raw("web.mp4", "yuv420p"));
        let apart: u64 = meant.iter().zip(&seen).map(|(meant, seen)| u64::from(meant.abs_diff(*seen))).sum();
        let apart = apart as f64 / meant.len() as f64;
        assert!(meant.len() == seen.len() && apart < 4.0, "{transfer}: {apart} apart");
    }
    // Without `--for web`, HDR stays HDR.
    dir.succeeds("-y --encoder ffv1 hdr.mkv own.mkv").says(&["stays HDR"]);
    assert_eq!(streams(&dir, "own.mkv", "color_transfer"), "arib-std-b67");
}

#[test]
fn an_output_that_is_not_named_lies_beside_the_input() {
    let dir = with_clip();
    std::fs::create_dir(dir.path("films")).expect("a folder");
    std::fs::copy(dir.path("in.mkv"), dir.path("films/clip.one.MKV")).expect("a copy");
    dir.succeeds("films/clip.one.MKV").says(&["-> films/clip.one-equalized.MKV"]);
    dir.succeeds("--for web in.mkv");
    dir.ffmpeg("-i in.mkv -frames:v 1 photo.png");
    dir.succeeds("photo.png");
    dir.succeeds("--output-format null --stats run.csv in.mkv");
    let names = [
        "films/clip.one-equalized.MKV",
        "films/clip.one.MKV",
        "in-equalized.mp4",
        "in.mkv",
        "photo-equalized.png",
        "photo.png",
        "run.csv",
    ];
    assert_eq!(dir.names(), names);
    dir.run("in.mkv photo.png third.mkv").exits_with(2).says(&["third.mkv is one name too many", "--output-dir DIR"]);
    dir.run("photo.png").fails().says(&["photo-equalized.png exists"]);
    for line in ["-", "http://example.org/film.mp4", "--output-format nut in.mkv"] {
        usage_error(line).says(&["an output is required"]);
    }
    usage_error("-q devices").says(&["devices is a command"]);
    assert_eq!(dir.names(), names);
}

#[test]
fn an_output_much_larger_than_its_input_is_worth_a_word() {
    if !encoder_is_here("a large output", "libx264") {
        return;
    }
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=1280x720:rate=25 -frames:v 15 -c:v libx264 in.mp4");
    let noisy = "--filter noise=alls=60:allf=t";
    let larger = "times as large as in.mp4";
    dir.succeeds(&format!("{noisy} in.mp4 large.mp4")).says(&[
        "large.mp4 is ",
        larger,
        "--crf",
        "--for web",
        "--target-size",
    ]);
    dir.succeeds(&format!("{noisy} --for archive in.mp4 large.mkv")).never_says(larger);
    dir.succeeds(&format!("{noisy} --encoder libx264 in.mp4 asked.mp4")).never_says(larger);
    dir.succeeds("in.mp4 small.mp4").never_says(larger);
    // GIF has no quality setting, so the warning proposes `--fit`, not `--crf`.
    dir.succeeds(&format!("{noisy} in.mp4 large.gif")).says(&["large.gif is ", larger, "--fit"]).never_says("--crf");
    dir.succeeds("--fit 320x180 in.mp4 small.gif").never_says(larger);
}

#[test]
fn a_file_for_a_limit_has_no_more_bytes_and_uses_what_it_may() {
    if !encoder_is_here("a file for a limit", "libx264") {
        return;
    }
    let dir = Dir::new();
    let noise = "-f lavfi -i testsrc2=size=320x240:rate=25,noise=alls=30:allf=t -f lavfi -i sine -t 2";
    dir.ffmpeg(&format!("{noise} -c:v mpeg4 -q:v 3 -c:a aac in.mkv"));
    let bytes = |name: &str| dir.read(name).len();
    // With mbtree, libx264 reads uninitialized memory, so its output may differ between runs.
    let same_bytes = "--look faithful --encoder-option x264-params=mbtree=0";
    dir.succeeds(&format!("{same_bytes} in.mkv usual.mp4"));
    assert!(bytes("usual.mp4") > 600_000, "{}", bytes("usual.mp4"));
    for (options, name, most) in
        [("", "a.mp4", 200_000), ("--sandbox on --for web", "b.mp4", 125_000), ("", "c.mkv", 300_000)]
    {
        let run = dir.succeeds(&format!("--look faithful --target-size {most} {options} in.mkv {name}"));
        assert!((most * 85 / 100..=most).contains(&bytes(name)), "{name}: {} of {most}; {}", bytes(name), run.stderr);
        assert_eq!(dir.frames(name).len(), 50, "{name}");
        assert_eq!(streams(&dir, name, "codec_name"), "h264; aac");
    }
    assert!(is_index_in_front(&dir, "a.mp4"));
    // An output below the size limit has the same bytes as without a limit.
    dir.succeeds(&format!("--target-size 50M {same_bytes} in.mkv same.mp4"));
    assert!(dir.read("same.mp4") == dir.read("usual.mp4"));
    if encoder_is_here("a file for a limit", "libx265") {
        dir.succeeds("--target-size 150k --encoder libx265 in.mkv d.mp4").never_says("warning");
        assert!((100_000..=150_000).contains(&bytes("d.mp4")), "{}", bytes("d.mp4"));
    }
    dir.run("--target-size 10k in.mkv no.mp4").fails().says(&["--target-size 10000: too small for 2.0 s"]);
    dir.run("--target-size 1M --encoder mpeg4 in.mkv no.mp4").fails().says(&["mpeg4 is not run in two passes"]);
    let told = dir.succeeds("--target-size 150k --progress json in.mkv told.mp4").stderr;
    let events = told.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
    let kinds: Vec<String> =
        events.map(|event| format!("{}{}", event["event"].as_str().unwrap(), event["pass"])).collect();
    let passes: Vec<&str> = kinds.iter().map(String::as_str).filter(|kind| !kind.starts_with("note")).collect();
    assert!(passes.contains(&"progress1") && passes.contains(&"progress2"), "{passes:?}");
    assert_eq!((passes.first(), passes.last()), (Some(&"startnull"), Some(&"resultnull")));
    for (line, says) in [
        ("--target-size 1M - out.mp4", "a file"),
        ("--target-size 1M --smooth scene in.mkv out.mp4", "--smooth with a number of seconds"),
        ("--target-size 1M in.mkv out%03d.png", "one file of encoded video"),
        ("--target-size 1M --crf 20 in.mkv out.mp4", "--crf"),
        ("--target-size big in.mkv out.mp4", "a number of bytes like 50M or 8Mi, not big"),
    ] {
        usage_error(line).says(&[says]);
    }
    // No file of the first pass is left.
    assert!(dir.names().iter().all(|name| !name.starts_with('.') && name != "no.mp4"), "{:?}", dir.names());
}
