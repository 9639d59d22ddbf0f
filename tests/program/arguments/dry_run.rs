//! `--dry-run` says what a run would do, `--version --json` what is installed; neither does anything.

use crate::support::media::reader::{encoder_is_here, filter_is_here};
use crate::support::programs::program::Dir;
use crate::support::programs::tiny_disk::TinyDisk;
use crate::support::skip::skip;
use serde_json::Value;

fn json(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(bytes)))
}

#[test]
fn a_dry_run_says_what_a_run_does_and_writes_nothing() {
    if !encoder_is_here("a dry run", "libx264") {
        return;
    }
    let dir = Dir::new();
    dir.ffmpeg(
        "-f lavfi -i testsrc2=size=320x240:rate=25 -frames:v 150 -vf lutyuv=y=16+(val-16)/6 -c:v libx264 in.mp4",
    );
    let before = dir.files();
    let run = dir.succeeds("--backend cpu --dry-run --json in.mp4 out.mp4");
    assert_eq!((dir.files(), run.stderr.as_str()), (before.clone(), ""));
    let said = json(&run.stdout);
    let (input, output) = (&said["input"], &said["output"]);
    assert_eq!(
        (&input["codec"], &input["size"], &input["frames"], &input["seconds"]),
        (&"h264".into(), &serde_json::json!([320, 240]), &150.into(), &6.0.into())
    );
    assert_eq!(
        (&output["name"], &output["exists"], &output["container"], &output["encoder"]),
        (&"out.mp4".into(), &false.into(), &"mp4".into(), &"libx264".into())
    );
    assert_eq!(said["settings"]["look"], "natural");
    let found = said["found"].as_array().expect("a list");
    assert_eq!(found.len(), 3);
    assert!(
        found.iter().all(|place| place["frames"] == 16 && place["found"]["contrast"].as_f64() >= Some(1.0)),
        "{said}"
    );
    assert!(found.iter().all(|place| place["found_text"].is_string()), "{said}");
    assert_eq!((&said["protocol"], &said["version"]), (&2.into(), &env!("CARGO_PKG_VERSION").into()));
    assert_eq!(said["command"], "histeq-video --backend cpu --dry-run --json in.mp4 out.mp4");
    assert!(output["free_bytes"].as_u64() > output["bytes"].as_u64(), "{output}");
    // The plain text names the same encoder as the JSON.
    let words = String::from_utf8(dir.succeeds("--backend cpu --dry-run in.mp4 out.mp4").stdout).expect("text");
    for text in ["in.mp4: h264, 320x240", "look    natural", "out.mp4: libx264 in mp4, about", "Nothing was written"] {
        assert!(words.contains(text), "{text} in:\n{words}");
    }
    dir.succeeds("--backend cpu -q in.mp4 out.mp4");
    let said = json(&dir.succeeds("--backend cpu --dry-run --json -y in.mp4 out.mp4").stdout);
    assert_eq!(said["output"]["exists"], true);
}

/// Gray of 16 bits gets the look thermal without being asked.
#[test]
fn what_gray_of_many_bits_gets_is_said() {
    let dir = Dir::new();
    dir.ffmpeg(
        "-f lavfi -i gradients=size=160x96:x0=0:x1=159:y0=0:y1=0:c0=black:c1=white:n=2:speed=0.00001:rate=10 \
                -vf format=gray16le,lut=val/16+20000 -frames:v 5 -c:v ffv1 in.mkv",
    );
    let samples = dir.raw("in.mkv", "gray16le");
    let levels = samples.as_chunks::<2>().0.iter().map(|bytes| u16::from_le_bytes(*bytes));
    let range = f64::from(levels.clone().max().unwrap_or(0) - levels.min().unwrap_or(0));
    assert!(range > 2000.0, "{range}");
    for look in ["", "--smooth 0", "--method detail"] {
        let run = dir.succeeds(&format!("--backend cpu {look} --encoder ffv1 -y in.mkv out.mkv"));
        assert!(dir.raw("out.mkv", "gray16le") != samples, "{look}");
        let dry_run = dir.succeeds(&format!("--backend cpu {look} --dry-run -y in.mkv out.mkv")).stdout;
        for said in [run.stderr, String::from_utf8(dry_run).expect("text")] {
            let said = said.replace('\n', " ");
            assert!(said.contains("gray of more than 8 bits gets the look thermal; "), "{said}");
            let gain =
                said.split("levels stretched to the whole range (").nth(1).and_then(|text| text.split(' ').next());
            let gain: f64 = gain.and_then(|gain| gain.parse().ok()).unwrap_or_else(|| panic!("{look}: {said}"));
            let wanted = 65_535.0 / range;
            assert!((gain / wanted - 1.0).abs() < 0.1, "{gain} times, not {wanted}");
            assert!(!said.contains("applied as it is"), "{said}");
        }
    }
    // There is no note if the user chooses the look. `--look exact` does not stretch levels.
    let asked = dir.succeeds("--backend cpu --look thermal --encoder ffv1 -y in.mkv out.mkv");
    asked.says(&["levels stretched to the whole range ("]).never_says("gets the look");
    dir.succeeds("--backend cpu --look exact --encoder ffv1 -y in.mkv out.mkv").never_says("stretched");
}

#[test]
fn the_size_of_a_dry_run_is_near_that_of_the_run() {
    if !encoder_is_here("a dry run", "libx264") {
        return;
    }
    let dir = Dir::new();
    let clip = |filters: &str, name: &str| {
        dir.ffmpeg(&format!("-f lavfi -i {filters} -frames:v 300 -c:v ffv1 {name}"));
    };
    // A still picture, whose bytes are nearly all in keyframes; motion; scene changes.
    clip("testsrc2=size=320x240:rate=25,select=eq(n\\,0),loop=-1:1,setpts=N/25/TB,fps=25", "still.mkv");
    clip("testsrc2=size=96x72:rate=25", "motion.mkv");
    clip("testsrc2=size=96x72:rate=25,negate=enable=gt(mod(n\\,100)\\,50)", "scenes.mkv");
    clip("testsrc2=size=96x72:rate=25,noise=alls=20:allf=t", "grain.mkv");
    dir.ffmpeg("-i motion.mkv -f lavfi -i sine=duration=12 -c:v copy -c:a aac sound.mkv");
    for line in [
        "still.mkv out.mp4",
        "motion.mkv out.mp4",
        "scenes.mkv out.mkv",
        "grain.mkv out.mp4",
        "sound.mkv out.mp4",
        "--encoder mpeg4 motion.mkv out.mp4",
        "--bitrate 40k grain.mkv out.mp4",
        "--encoder ffv1 motion.mkv out.mkv",
    ] {
        let said = json(&dir.succeeds(&format!("-y --backend cpu --dry-run --json {line}")).stdout);
        dir.succeeds(&format!("-y -q --backend cpu {line}"));
        let output = line.rsplit(' ').next().expect("an output");
        let (estimate, bytes) = (said["output"]["bytes"].as_f64().expect("a size"), dir.read(output).len() as f64);
        assert!(estimate > bytes / 2.0 && estimate < bytes * 2.0, "{line}: {estimate} for {bytes}");
    }
}

#[test]
fn a_dry_run_takes_images_raw_outputs_and_scenes_and_refuses_what_a_run_refuses() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 20 -c:v ffv1 in.mkv");
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48 -frames:v 1 in.png");
    for line in ["in.png out.png", "in.mkv out.y4m", "--smooth scene in.mkv out.mkv", "--method clahe in.mkv out.mkv"] {
        let said = json(&dir.succeeds(&format!("--backend cpu --dry-run --json {line}")).stdout);
        assert!(said["found"][0]["frames"].as_u64() > Some(0), "{line}: {said}");
    }
    // One file starts at 5 s; in the other one, the audio is longer than the video.
    dir.ffmpeg("-i in.mkv -c copy -output_ts_offset 5 late.mkv");
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25:d=4 -f lavfi -i sine=d=20 -c:v ffv1 -c:a pcm_s16le sound.mkv");
    for (name, frames) in [("late.mkv", 20), ("sound.mkv", 500)] {
        let said = json(&dir.succeeds(&format!("--backend cpu --dry-run --json {name} out.mkv")).stdout);
        assert_eq!(said["input"]["frames"], frames, "{said}");
        std::fs::remove_file(dir.path(name)).expect("a file");
    }
    dir.run("--dry-run missing.mkv").exits_with(4);
    dir.run("--dry-run in.mkv nowhere/out.mkv").exits_with(4);
    dir.run("--dry-run -y in.mkv in.mkv").exits_with(10);
    dir.run("--dry-run --stats nowhere/s.csv in.mkv out.mkv").exits_with(4);
    dir.run("--dry-run in.mkv .").exits_with(10);
    let help = String::from_utf8(dir.succeeds("plan --help").stdout).expect("text");
    assert!(!help.contains("--dry-run\n") && !help.contains("--json\n"), "{help}");
    dir.run("plan --dry-run in.mkv out.mkv").exits_with(2).says(&["leave plan out"]);
    dir.run("--dry-run --encoder abacus in.mkv out.mkv").fails().says(&["no encoder abacus"]);
    dir.run("--json in.mkv out.mkv").exits_with(2).says(&["--dry-run"]);
    dir.fed("--dry-run - out.mkv", b"").fails().says(&["which a pipe does not allow"]);
    assert_eq!(dir.names(), ["in.mkv", "in.png"]);
}

#[test]
fn the_version_as_json_has_what_is_here() {
    let dir = Dir::new();
    let said = json(&dir.succeeds("--version --json").stdout);
    assert_eq!(said["version"], env!("CARGO_PKG_VERSION"));
    assert!(said["ffmpeg"].as_str().is_some_and(|version| version.starts_with("libavcodec")), "{said}");
    let gpus = said["gpus"].as_array().expect("a list");
    assert_eq!(gpus.is_empty(), said["no_gpu"].is_string(), "{said}");
    assert_eq!(said["sandbox"] == false, said["no_sandbox"].is_string(), "{said}");
}

#[test]
fn a_length_that_is_not_allowed_is_refused() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 50 -c:v ffv1 in.mkv");
    dir.run("--max-duration 1 in.mkv out.mkv")
        .exits_with(8)
        .says(&["in.mkv: 2.0 s long: --max-duration allows for 1.0 s"]);
    dir.run("--max-duration 1 preview in.mkv").exits_with(2);
    dir.run("preview --max-duration 1 in.mkv out.png").exits_with(8);
    assert_eq!(dir.names(), ["in.mkv"]);
    dir.succeeds("--max-duration 2 in.mkv out.mkv");
    dir.succeeds("-y --max-duration 1 --duration 1 in.mkv out.mkv");
    let raw = dir.read("in.mkv");
    dir.fed("--max-duration 0:01 - piped.mkv", &raw).exits_with(8).says(&["--max-duration"]);
}

#[test]
fn a_dry_run_tells_the_size_the_pixels_and_the_rate_of_the_output() {
    if !encoder_is_here("a dry run", "libx264") {
        return;
    }
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=320x240:rate=25 -frames:v 20 -c:v ffv1 in.mkv");
    let line = "--backend cpu --fit 160x120 --output-pixel-format yuv422p10le --filter-after fps=12.5 in.mkv out.mp4";
    let said = json(&dir.succeeds(&format!("--dry-run --json {line}")).stdout);
    let output = &said["output"];
    assert_eq!(
        (&output["size"], &output["pixel_format"], &output["fps"]),
        (&serde_json::json!([160, 120]), &"yuv422p10le".into(), &12.5.into()),
        "{output}"
    );
    let words = String::from_utf8(dir.succeeds(&format!("--dry-run {line}")).stdout).expect("text");
    assert!(words.contains("160x120, yuv422p10le, 12.50 fps"), "{words}");
    dir.succeeds(&format!("-q {line}"));
    let stream = &dir.streams("out.mp4")[0];
    assert_eq!((&stream["width"], &stream["pix_fmt"]), (&160.into(), &"yuv422p10le".into()), "{stream}");
}

#[test]
fn a_dry_run_of_many_files_has_an_entry_for_each() {
    let dir = Dir::new();
    for name in ["a.mkv", "b.mkv", "c.mkv"] {
        dir.ffmpeg(&format!("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 10 -c:v ffv1 {name}"));
    }
    dir.write("d.mkv", b"no video");
    std::fs::create_dir(dir.path("out")).expect("a folder");
    dir.write("out/b.mkv", b"precious");
    let before = dir.files();
    let line = "--backend cpu --dry-run --output-dir out a.mkv b.mkv c.mkv d.mkv";
    let run = dir.run(&format!("--json {line}")).exits_with(7);
    let text = String::from_utf8(run.stdout).expect("text");
    let entries: Vec<Value> = text.lines().map(|line| json(line.as_bytes())).collect();
    let outputs: Vec<&str> = entries.iter().filter_map(|entry| entry["output"]["name"].as_str()).collect();
    assert_eq!(outputs, ["out/a.mkv", "out/b.mkv", "out/c.mkv", "out/d.mkv"]);
    assert_eq!((&entries[0]["output"]["encoder"], &entries[1]["skipped"]), (&"ffv1".into(), &true.into()), "{text}");
    assert_eq!((&entries[3]["error"]["kind"], &entries[3]["input"]["name"]), (&"damage".into(), &"d.mkv".into()));
    let words = String::from_utf8(dir.run(line).exits_with(7).stdout).expect("text");
    for said in
        ["writes  out/a.mkv: ffv1", "leaves  out/b.mkv, which is there", "fails   d.mkv: not a video", "4 files, about"]
    {
        assert!(words.contains(said), "{said} in:\n{words}");
    }
    assert_eq!(dir.files(), before);
    // Only a run makes the output folder.
    dir.succeeds("--backend cpu --dry-run --output-dir new a.mkv");
    assert!(!dir.path("new").exists());
}

#[test]
fn a_dry_run_refuses_what_the_run_refuses_in_the_same_words() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 20 -c:v ffv1 in.mkv");
    dir.write("there.mkv", b"precious");
    let before = dir.files();
    for line in [
        "in.mkv out",
        "in.mkv out.xyz",
        "in.mkv rtmp://127.0.0.1/x",
        "in.mkv nowhere/out.mkv",
        "in.mkv there.mkv",
        "-n in.mkv there.mkv",
        "in.mkv out.png",
        "--fit 32x32 in.mkv out.y4m",
        "--output-pixel-format rgb24 in.mkv out.y4m",
        "--encoder-option bogus=1 in.mkv out%d.png",
        "--encoder mpeg2video --encoder-option bogus=1 in.mkv out.m3u8",
        "--encoder mpeg4 --encoder-option bogus=1 in.mkv out.mp4",
        "--encoder mpeg4 --output-option bogus=1 in.mkv out.mp4",
        "--encoder mpeg4 in.mkv out.webm",
        "--target-size 1M --encoder ffv1 in.mkv out.mkv",
        "--encoder mpeg4 --crf 77 in.mkv out.mp4",
        "--stats there.mkv/s.csv in.mkv out.mkv",
    ] {
        let dry = dir.run(&format!("--backend cpu --dry-run {line}"));
        assert_eq!(dir.files(), before, "{line}");
        let run = dir.run(&format!("--backend cpu {line}"));
        let last = |said: &str| said.lines().last().unwrap_or_default().to_owned();
        assert!(run.code != Some(0) && !run.stderr.is_empty(), "{line}: {}", run.stderr);
        assert_eq!((dry.code, last(&dry.stderr)), (run.code, last(&run.stderr)), "{line}");
        for name in dir.names().iter().filter(|name| !before.contains_key(std::path::Path::new(name))) {
            std::fs::remove_file(dir.path(name)).expect("a file of the run");
        }
    }
}

#[test]
fn a_dry_run_looks_at_the_room_on_the_disk() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=320x180:rate=25 -frames:v 100 -c:v mpeg4 -q:v 2 in.mkv");
    let Some(_disk) = TinyDisk::mount(dir.path("disk"), "300k") else {
        skip("a small disk", "a small file system cannot be mounted");
        return;
    };
    let run = dir.run("--backend cpu --dry-run --json --encoder ffv1 in.mkv disk/out.mkv").exits_with(9);
    let output = json(&run.stdout)["output"].clone();
    assert_eq!(output["free_bytes"], 300 << 10);
    assert!(output["bytes"].as_u64() > output["free_bytes"].as_u64(), "{output}");
    run.says(&["disk/out.mkv: about ", " do not fit there: 307 kB are free"]);
    dir.run("--backend cpu --dry-run --encoder ffv1 --output-dir disk/new in.mkv").exits_with(9);
    dir.succeeds("--backend cpu --dry-run --encoder ffv1 --frames 2 in.mkv disk/out.mkv");
}

#[test]
fn a_dry_run_says_each_thing_once() {
    if !encoder_is_here("video for the web", "libx264") || !filter_is_here("HDR for the web", "zscale") {
        return;
    }
    let dir = Dir::new();
    dir.ffmpeg(
        "-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 60 -c:v ffv1 -pix_fmt yuv420p10le -color_primaries bt2020 \
         -color_trc arib-std-b67 -colorspace bt2020nc in.mkv",
    );
    let run = dir.succeeds("--backend cpu --dry-run --for web in.mkv out.mp4").says(&["HDR"]);
    let lines: Vec<&str> = run.stderr.lines().collect();
    let different: std::collections::HashSet<&&str> = lines.iter().collect();
    assert_eq!(different.len(), lines.len(), "{}", run.stderr);
}
