//! `--progress json`: a protocol that scripts can trust.

use crate::program::outputs::interrupt::interrupted_raw;
use crate::support::media::reader::encoder_is_here;
use crate::support::programs::program::Dir;
use crate::support::skip::skip;
use serde_json::Value;
use std::process::Stdio;

/// The events on `lines`, each of which must be JSON.
#[track_caller]
fn events(lines: &str) -> Vec<Value> {
    let event = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    lines.lines().map(event).collect()
}

/// The kinds of events, without consecutive duplicates.
fn kinds(events: &[Value]) -> Vec<&str> {
    let mut kinds: Vec<&str> = events.iter().map(|event| event["event"].as_str().expect("a kind")).collect();
    kinds.dedup();
    kinds
}

fn with_clip() -> Dir {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=96x64:rate=25 -frames:v 60 -c:v ffv1 in.mkv");
    dir
}

#[test]
fn a_run_tells_its_start_its_progress_and_its_result() {
    let dir = with_clip();
    for options in ["", "-q"] {
        let run = dir.succeeds(&format!("{options} -y --backend cpu --look haze --progress json in.mkv out.mkv"));
        let events = events(&run.stderr);
        assert_eq!(kinds(&events), ["start", "progress", "result"]);
        let start = &events[0];
        assert_eq!((&start["protocol"], &start["version"]), (&2.into(), &env!("CARGO_PKG_VERSION").into()));
        let command = start["command"].as_str().unwrap_or_default().replace("  ", " ");
        assert!(command.ends_with("-y --backend cpu --look haze --progress json in.mkv out.mkv"), "{start}");
        assert_eq!(
            (&start["input"], &start["outputs"][0], &start["frames"]),
            (&"in.mkv".into(), &"out.mkv".into(), &60.into())
        );
        let settings = &start["settings"];
        assert_eq!(
            (&settings["look"], &settings["method"], &settings["smooth"]),
            (&"haze".into(), &"natural".into(), &4.0.into())
        );
        let result = events.last().expect("an event");
        assert_eq!((&result["exit_code"], &result["frames"], &result["damaged"]), (&0.into(), &60.into(), &0.into()));
        let output = &result["outputs"][0];
        assert_eq!((&output["name"], &output["frames"]), (&"out.mkv".into(), &60.into()));
        assert_eq!(output["bytes"], dir.read("out.mkv").len());
        let [haze, exposure] = ["haze", "exposure"].map(|name| result["found"][name].as_f64().expect("a number"));
        assert!((0.0..=1.0).contains(&haze) && exposure >= 1.0, "{result}");
        assert!(result["found_text"].is_string(), "{result}");
        assert!(
            result["seconds"].as_f64() > Some(0.0)
                && result["summary"].as_str().is_some_and(|text| text.contains("60 frames"))
        );
        let last = &events[events.len() - 2];
        assert_eq!((&last["frame"], &last["percent"], &last["eta"]), (&60.into(), &100.0.into(), &0.0.into()));
    }
}

#[test]
fn warnings_errors_and_refusals_are_events_too() {
    let dir = with_clip();
    dir.ffmpeg("-i in.mkv -f lavfi -i sine=duration=1 -c:v copy -c:a flac sound.mkv");
    let run = dir.succeeds("--progress json --encoder libx264 sound.mkv out.3gp");
    let told = events(&run.stderr);
    let warning = told.iter().find(|event| event["event"] == "warning").expect("a warning");
    assert!(warning["message"].as_str().is_some_and(|text| text.contains("re-encoded")), "{warning}");
    for (line, code, message) in [
        ("missing.mkv no.mkv", 4, "missing.mkv"),
        ("--crf high in.mkv no.mkv", 2, "high"),
        ("in.mkv out.mkv third.mkv", 2, "--output-dir"),
        ("in.mkv no.mkv --colour blue", 2, "--colour"),
    ] {
        let told = events(&dir.run(&format!("--progress json {line}")).exits_with(code).stderr);
        assert_eq!(kinds(&told), ["error", "result"], "{line}");
        assert!(told[0]["message"].as_str().is_some_and(|text| text.contains(message)), "{line}: {}", told[0]);
        assert_eq!(told[1]["exit_code"], code, "{line}");
        assert_eq!(told[1]["outputs"].as_array().map(Vec::len), Some(0), "{line}");
    }
}

#[test]
fn an_output_that_exists_is_skipped_with_a_code_of_its_own() {
    let dir = with_clip();
    dir.write("out.mkv", b"precious");
    dir.run("-n in.mkv out.mkv").exits_with(3).says(&["out.mkv exists: nothing was done"]).never_says("error");
    assert_eq!(dir.run("-n -q in.mkv out.mkv").exits_with(3).stderr, "");
    let told = events(&dir.run("-n --progress json in.mkv out.mkv").exits_with(3).stderr);
    assert_eq!((kinds(&told), &told[1]["exit_code"]), (vec!["note", "result"], &3.into()));
    dir.run("compare -n in.mkv in.mkv out.mkv").exits_with(3);
    dir.run("live --no-preview -n --record out.mkv in.mkv").exits_with(3);
    dir.run("preview -n in.mkv out.png").exits_with(0);
    dir.run("preview -n in.mkv out.png").exits_with(3);
    assert_eq!(dir.read("out.mkv"), b"precious");
    // `-n` skips a run whose output exists; any other existing file makes the run fail.
    dir.write("stats.csv", b"precious");
    dir.run("-n --stats stats.csv in.mkv new.mkv").fails().says(&["stats.csv exists"]);
    dir.run("in.mkv out.mkv").fails().says(&["use -y"]);
}

#[test]
fn a_machine_without_a_gpu_is_no_news_unless_one_was_asked_for() {
    if histeq::internal::cuda::find_driver().is_ok() {
        skip("no-gpu", "there is one");
        return;
    }
    let dir = with_clip();
    dir.succeeds("in.mkv out.mkv").never_says("CUDA");
    dir.succeeds("-v in.mkv out-v.mkv").says(&["no CUDA driver found: equalizing on the CPU"]);
    dir.succeeds("--gpu 1 in.mkv out-1.mkv").says(&["no CUDA driver found: equalizing on the CPU"]);
}

#[test]
fn events_go_into_a_file_or_a_descriptor_and_messages_stay_on_stderr() {
    let dir = with_clip();
    let run = dir.succeeds("--progress-file told.jsonl in.mkv out.mkv");
    assert!(run.stderr.contains("60 frames in") && !run.stderr.contains("\"event\""), "{}", run.stderr);
    let told = String::from_utf8(dir.read("told.jsonl")).expect("text");
    assert_eq!(kinds(&events(&told)), ["start", "progress", "result"]);
    dir.run("-y --progress-file in.mkv in.mkv other.mkv")
        .exits_with(10)
        .says(&["in.mkv is read or written by the run"]);
    dir.run("-y --progress-file other.mkv in.mkv other.mkv")
        .exits_with(10)
        .says(&["other.mkv is read or written by the run"]);
    dir.run("--progress-file 77 in.mkv other.mkv").exits_with(2).says(&["77", "no open descriptor"]);
    assert_eq!(String::from_utf8(dir.read("told.jsonl")).expect("text"), told);
    let mut command = dir.command("-q --progress-file 1 in.mkv other.mkv");
    let output = command.stdout(Stdio::piped()).output().expect("a run");
    assert_eq!(kinds(&events(&String::from_utf8_lossy(&output.stdout))), ["start", "progress", "result"]);
    assert_eq!(dir.names(), ["in.mkv", "other.mkv", "out.mkv", "told.jsonl"]);
}

#[test]
fn events_continue_those_of_earlier_runs_and_no_other_file() {
    let dir = with_clip();
    let told = || String::from_utf8(dir.read("told.jsonl")).expect("text");
    dir.succeeds("--progress-file told.jsonl in.mkv out.mkv");
    let first = told();
    dir.run("-n --progress-file told.jsonl in.mkv out.mkv").exits_with(3);
    dir.succeeds("-n --progress-file told.jsonl in.mkv more.mkv");
    let all = told();
    let rest = all.strip_prefix(&first).expect("the first events");
    assert_eq!(kinds(&events(rest)), ["note", "result", "start", "progress", "result"]);
    dir.succeeds("-y --progress-file told.jsonl in.mkv out.mkv");
    assert_eq!(kinds(&events(&told())), ["start", "progress", "result"]);
    dir.write("letter.txt", b"Dear reader,\n");
    for options in ["", "-n", "-y"] {
        let line = format!("{options} --progress-file letter.txt in.mkv other.mkv");
        dir.run(&line).fails().says(&["letter.txt exists, and holds no events", "another name"]);
    }
    assert_eq!(dir.read("letter.txt"), b"Dear reader,\n");
    // A line that was truncated on a full disk does not merge with the next event.
    dir.write("told.jsonl", b"{\"event\":\"progress\",\"frame\":");
    dir.succeeds("--progress-file told.jsonl in.mkv again.mkv");
    assert_eq!(kinds(&events(told().split_once('\n').expect("lines").1)), ["start", "progress", "result"]);
    // The file has progress of several inputs, too; an input or output cannot be the progress file.
    dir.succeeds("-y --output-dir out --progress-file told.jsonl in.mkv");
    assert!(!told().contains("again.mkv") && told().starts_with("{\"event\":"), "{}", told());
    let whole = dir.read("in.mkv");
    dir.run("-y --output-dir out --progress-file in.mkv in.mkv").fails().says(&["in.mkv"]);
    dir.run("-y --output-dir out --progress-file out/in.mkv in.mkv").fails().says(&["out/in.mkv"]);
    dir.write("plan.json", &dir.succeeds("plan in.mkv joined.mkv --encoder ffv1").stdout);
    dir.succeeds("run plan.json");
    for file in ["in.mkv", "plan.json", ".joined.mkv.pieces/000000.piece"] {
        dir.run(&format!("join -y plan.json --progress-file {file}")).fails().says(&[file, "exists"]);
    }
    assert!(dir.read("in.mkv") == whole);
    dir.succeeds("join -y plan.json --progress-file told.jsonl");
}

#[test]
fn a_batch_without_videos_is_told_of_like_any_other() {
    let dir = Dir::new();
    std::fs::create_dir(dir.path("empty")).expect("a folder");
    let run = dir.succeeds("--progress json --output-dir out empty");
    let told = events(&run.stderr);
    assert_eq!(kinds(&told), ["warning", "result"]);
    assert_eq!(told[1]["exit_code"], 0);
    assert_eq!(dir.succeeds("-q --output-dir out empty").stderr, "");
    dir.succeeds("-q --progress-file told.jsonl --output-dir out empty");
    assert_eq!(kinds(&events(&String::from_utf8(dir.read("told.jsonl")).expect("text"))), ["warning", "result"]);
    dir.run("--strict --output-dir out empty").exits_with(1).says(&["there is no video in these folders"]);
}

#[test]
fn events_that_a_full_disk_does_not_take_are_told_of_once() {
    let dir = with_clip();
    let full = "--progress-file /dev/full --encoder ffv1 in.mkv";
    let run = dir.succeeds(&format!("{full} out.mkv")).says(&["warning: /dev/full: events are lost from here on"]);
    assert_eq!(run.stderr.matches("events are lost").count(), 1, "{}", run.stderr);
    assert_eq!(dir.succeeds(&format!("-q {full} quiet.mkv")).stderr, "");
    let run = dir.run(&format!("--strict {full} strict.mkv")).exits_with(9);
    run.says(&["error: /dev/full: events are lost from here on", "--strict"]);
    assert_eq!(dir.frames("out.mkv").len(), dir.frames("strict.mkv").len());
}

#[test]
fn found_is_null_where_nothing_is_looked_for_or_nothing_was_done() {
    let dir = with_clip();
    for line in ["--method clahe --encoder ffv1 in.mkv out.mkv", "missing.mkv out.mkv"] {
        let told = events(&dir.run(&format!("--progress json {line}")).stderr);
        let result = told.last().expect("a result").as_object().expect("an object");
        assert!(result.get("found").is_some_and(serde_json::Value::is_null), "{line}: {result:?}");
    }
}

#[test]
fn settings_are_those_of_the_picture_that_have_an_effect() {
    let dir = with_clip();
    let settings = |options: &str| {
        let run = dir.succeeds(&format!("-y --backend cpu --progress json --encoder ffv1 {options} in.mkv out.mkv"));
        events(&run.stderr)[0]["settings"].as_object().expect("an object").clone()
    };
    let natural = settings("--strength 0.5 --start 0 --frames 5");
    assert_eq!(natural["strength"], 0.5);
    for name in ["max-gain", "plateau", "encoder", "start", "frames"] {
        assert!(!natural.contains_key(name), "{name}: {natural:?}");
    }
    let global = settings("--method global --max-gain 3");
    assert_eq!((&global["max-gain"], &global["plateau"]), (&3.0.into(), &0.into()), "{global:?}");
}

#[test]
fn frames_count_when_they_are_encoded() {
    if !encoder_is_here("frames in an encoder", "libx264") {
        return;
    }
    let dir = Dir::new();
    // The encoder accepts all frames before it returns the first packet.
    dir.ffmpeg("-f lavfi -i testsrc2=size=640x360:rate=25 -frames:v 100 -c:v mpeg4 -q:v 2 in.mkv");
    let options = "--encoder libx264 --preset veryslow --encoder-option rc-lookahead=250";
    let run = dir.succeeds(&format!("{options} --progress json in.mkv out.mkv"));
    let told = events(&run.stderr);
    let frames: Vec<u64> = told.iter().filter_map(|event| event["frame"].as_u64()).collect();
    assert!(frames.is_sorted() && frames.last() == Some(&100), "{frames:?}");
    // Progress counts encoded frames: all frames are decoded before the first one is encoded.
    assert!(frames.iter().any(|&frames| frames < 100), "{frames:?}");
    assert!(told.iter().all(|event| event["percent"] != 100.0 || event["frame"] == 100), "{}", run.stderr);
}

#[test]
fn speed_belongs_to_frames_a_second() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=96x64:rate=12.5 -frames:v 40 -c:v ffv1 in.mkv");
    let run = dir.succeeds("--progress json --filter realtime in.mkv --encoder ffv1 out.mkv");
    let told = events(&run.stderr);
    assert_eq!(told[0]["frame_rate"], 12.5);
    let progress: Vec<&Value> = told.iter().filter(|event| event["event"] == "progress").collect();
    assert!(progress.len() > 3, "{}", run.stderr);
    for event in progress {
        let number = |name: &str| event[name].as_f64().expect("a number");
        assert!((number("speed") - number("fps") / 12.5).abs() < 0.01, "{event}");
        assert!(number("decoded") >= number("frame"), "{event}");
        assert!(number("frame") > 0.0 || event["eta"].is_null(), "{event}");
    }
}

#[test]
fn an_encoder_that_fills_up_is_said_to() {
    if !encoder_is_here("frames in an encoder", "libx264") {
        return;
    }
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=640x360:rate=25 -frames:v 100 -c:v mpeg4 -q:v 2 in.mkv");
    let options = "--encoder libx264 --preset veryslow --encoder-option rc-lookahead=250";
    let run = dir.succeeds(&format!("{options} --progress plain in.mkv out.mkv"));
    let lines: Vec<&str> = run.stderr.lines().filter(|line| line.contains("%  frame ")).collect();
    let (filling, done): (Vec<&&str>, Vec<&&str>) = lines.iter().partition(|line| line.contains("frame 0  "));
    assert!(filling.iter().any(|line| line.contains("  reading ahead: ")), "{}", run.stderr);
    assert!(filling.iter().all(|line| !line.contains("fps") && !line.contains("eta")), "{}", run.stderr);
    assert!(!done.is_empty() && done.iter().all(|line| line.contains(" fps  ")), "{}", run.stderr);
}

#[test]
fn an_interrupted_run_tells_the_name_of_what_it_leaves() {
    if !encoder_is_here("interrupting", "libx264") {
        return;
    }
    let dir = Dir::new();
    let (code, rest) = interrupted_raw(&dir, "OPTIONS long.mkv out.mkv");
    let told = events(&rest);
    let result = told.last().expect("an event");
    assert_eq!((code, &result["exit_code"]), (Some(130), &130.into()));
    assert_eq!(result["outputs"][0]["name"], dir.path("out.partial.mkv").file_name().unwrap().to_str().unwrap());
    assert_eq!(dir.frames("out.partial.mkv").len() as u64, result["frames"].as_u64().expect("a number"));
}

#[test]
fn an_interrupted_list_of_segments_is_partial() {
    if !encoder_is_here("interrupting", "libx264") {
        return;
    }
    let dir = Dir::new();
    let (code, said) =
        interrupted_raw(&dir, "OPTIONS --output-option hls_time=0.2 --encoder-option g=5 long.mkv out.m3u8");
    assert_eq!(code, Some(130), "{said}");
    assert!(dir.path("out.partial.m3u8").exists() && !dir.path("out.m3u8").exists(), "{:?}", dir.names());
    assert!(dir.frames("out.partial.m3u8").len() >= 5);
}

#[test]
fn what_was_found_does_not_depend_on_the_strength() {
    let dir = Dir::new();
    let dim = "lutyuv=y=16+(val-16)/3";
    dir.ffmpeg(&format!("-f lavfi -i testsrc2=size=160x120:rate=25,{dim} -frames:v 20 -c:v ffv1 in.mkv"));
    let mut found = Vec::new();
    for strength in ["1", "0.4"] {
        let options = format!("--backend cpu --strength {strength}");
        let run = dir.succeeds(&format!("{options} --progress json -y in.mkv out.mkv"));
        let told = events(&run.stderr);
        let result = told.last().expect("an event");
        assert_eq!(result["strength"].as_f64(), strength.parse().ok(), "{result}");
        let dry_run = dir.succeeds(&format!("{options} --dry-run --json in.mkv out2.mkv")).stdout;
        let dry_run: Value = serde_json::from_slice(&dry_run).expect("JSON");
        let run = dir.succeeds(&format!("{options} --progress json -y --output-dir out in.mkv"));
        let file = events(&run.stderr).into_iter().find(|event| event["event"] == "file").expect("an event");
        assert_eq!(file["strength"], result["strength"], "{file}");
        found.push([result["found"].clone(), file["found"].clone(), dry_run["found"].clone()]);
        let is_part = strength != "1";
        for line in [format!("{options} -y in.mkv out.mkv"), format!("{options} -y --output-dir out in.mkv")] {
            let said = dir.succeeds(&line).stderr;
            assert_eq!(said.contains("corrected with strength 0.4"), is_part, "{said}");
        }
    }
    assert!(found[0][0]["cast"].as_f64() > Some(0.05), "{found:?}");
    assert_eq!(found[0], found[1]);
}

#[test]
fn what_was_found_is_said_in_words_of_everybody() {
    let dir = Dir::new();
    let picture = "format=yuv420p,lutyuv=y=18+val/8:u=128:v=128,noise=alls=12:allf=t";
    dir.ffmpeg(&format!("-f lavfi -i smptebars=size=160x120:rate=25 -vf {picture} -frames:v 20 -c:v ffv1 in.mkv"));
    let line =
        |options: &str| dir.succeeds(&format!("--backend cpu --encoder ffv1 -y {options} in.mkv out.mkv")).stderr;
    // The mean luma, and the mean absolute difference to the previous frame. Frames differ by noise alone.
    let measures = |file: &str| {
        let frames = dir.raw(file, "gray");
        let mean = frames.iter().map(|&sample| f64::from(sample)).sum::<f64>() / frames.len() as f64;
        let pairs = frames.iter().zip(&frames[160 * 120..]).map(|(one, next)| f64::from(one.abs_diff(*next)));
        (mean, pairs.sum::<f64>() / (frames.len() - 160 * 120) as f64)
    };
    let (dark, _) = measures("in.mkv");
    let said = line("");
    let (bright, clean) = measures("out.mkv");
    assert!(said.starts_with("dark (brightened ") && bright > 1.5 * dark, "{dark}, {bright}: {said}");
    assert!(said.lines().next().is_some_and(|found| found.ends_with(", noise removed")), "{said}");
    assert!(!said.contains("exposed") && !said.contains("(1.0)"), "{said}");
    let said = line("--denoise 0.5");
    let (_, half) = measures("out.mkv");
    assert!(said.contains(", some noise removed\n"), "{said}");
    let said = line("--denoise 0");
    let (_, noisy) = measures("out.mkv");
    assert!(!said.contains("noise"), "{said}");
    assert!(2.0 * clean < noisy && clean < half && half < noisy, "{clean}, {half}, {noisy}");
}

#[test]
fn a_strength_of_0_says_that_nothing_was_done() {
    let dir = Dir::new();
    let dim = "lutyuv=y=16+(val-16)/3";
    dir.ffmpeg(&format!("-f lavfi -i testsrc2=size=160x120:rate=25,{dim} -frames:v 20 -c:v ffv1 in.mkv"));
    dir.ffmpeg("-i in.mkv -pix_fmt gray16le -c:v ffv1 gray.mkv");
    let words = "nothing was corrected (strength 0)";
    for (input, format) in [("in.mkv", "yuv420p"), ("gray.mkv", "gray16le")] {
        let line = format!("--backend cpu --strength 0 --encoder ffv1 -y {input} out.mkv");
        let said = dir.succeeds(&line).stderr;
        assert_eq!((said.matches(words).count(), said.contains("times)")), (1, false), "{said}");
        assert!(dir.raw("out.mkv", format) == dir.raw(input, format), "{input}");
        let told = events(&dir.succeeds(&format!("--progress json {line}")).stderr);
        let result = told.last().expect("an event");
        assert!(result["found_text"].as_str().is_some_and(|found| found.contains(words)), "{result}");
        assert_eq!(result["strength"], 0.0, "{result}");
        let many = events(
            &dir.succeeds(&format!("--backend cpu --strength 0 --progress json -y --output-dir out {input}")).stderr,
        );
        let file = many.into_iter().find(|event| event["event"] == "file").expect("an event");
        assert_eq!((&file["found_text"], &file["strength"]), (&result["found_text"], &result["strength"]));
        dir.succeeds(&format!("--backend cpu --strength 0 --dry-run {input} new.mkv"));
    }
    // There is no note with another strength, nor for `global`, which stretches levels even at strength 0.
    for options in ["--strength 0.1", "--method global --strength 0"] {
        dir.succeeds(&format!("--backend cpu {options} --encoder ffv1 -y in.mkv out.mkv")).never_says("nothing was");
    }
}

#[test]
fn the_start_tells_how_the_output_is_encoded() {
    if !encoder_is_here("an encoder", "libx264") {
        return;
    }
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=160x120:rate=25 -frames:v 10 -c:v ffv1 in.mkv");
    for (line, container, encoder, options) in [
        ("--crf 23 --preset fast in.mkv out.mp4", "mp4", Some("libx264"), vec![("crf", "23"), ("preset", "fast")]),
        ("--bitrate 500k --encoder libx264 in.mkv out.mkv", "matroska", Some("libx264"), vec![("b", "500k")]),
        ("--for archive in.mkv out2.mkv", "matroska", Some("ffv1"), vec![("g", "1")]),
        ("--for web --target-size 1M in.mkv out2.mp4", "mp4", Some("libx264"), vec![("crf", "21")]),
        ("in.mkv out.y4m", "yuv4mpegpipe", None, vec![]),
    ] {
        let run = dir.succeeds(&format!("--backend cpu -y --progress json {line}"));
        let start = events(&run.stderr).into_iter().find(|event| event["event"] == "start").expect("an event");
        let encoding = &start["encoding"];
        assert_eq!(
            (encoding["container"].as_str(), encoding["encoder"].as_str()),
            (Some(container), encoder),
            "{line}"
        );
        for (key, value) in options {
            assert_eq!(encoding["options"][key], value, "{line}: {encoding}");
        }
        assert!(!encoding.to_string().contains("/dev/"), "{encoding}");
    }
    let line = "--backend cpu -y --progress json --output-option movflags=-faststart in.mkv out.mp4";
    let start = events(&dir.succeeds(line).stderr).remove(0);
    assert_eq!(start["encoding"]["container_options"]["movflags"], "-faststart", "{start}");
    let line =
        "live --backend cpu --no-preview -f lavfi testsrc2 --frames 5 --encoder ffv1 --record live.mkv --progress json";
    let start =
        events(&dir.succeeds(line).stderr).into_iter().find(|event| event["event"] == "start").expect("an event");
    assert_eq!((&start["encoding"]["container"], &start["encoding"]["encoder"]), (&"matroska".into(), &"ffv1".into()));
}

#[test]
fn times_in_settings_are_seconds_which_can_be_typed() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=96x64:rate=30000/1001 -frames:v 60 -c:v ffv1 in.mkv");
    let settings = |options: &str| {
        let run = dir.succeeds(&format!("-y --backend cpu --progress json --encoder ffv1 {options} in.mkv out.mkv"));
        events(&run.stderr)[0]["settings"].as_object().expect("an object").clone()
    };
    let first = settings("--smooth 1.5 --set look-ahead=0.4");
    // Times are rounded to whole frames.
    let near = |name: &str, time: f64| (first[name].as_f64().expect("a number") - time).abs() < 0.5 * 1001.0 / 30000.0;
    assert!(near("smooth", 1.5) && near("look-ahead", 0.4), "{first:?}");
    let again = settings(&format!("--smooth {} --set look-ahead={}", first["smooth"], first["look-ahead"]));
    assert_eq!(again, first);
}

#[test]
fn the_time_of_a_run_is_that_of_both_passes_and_its_last_line_has_the_size() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=320x240:rate=25 -frames:v 60 -c:v mpeg4 -q:v 2 in.mkv");
    let result = |options: &str| {
        let run = dir.succeeds(&format!("-v -y --backend cpu --progress json {options} in.mkv out.mkv"));
        let told = events(&run.stderr);
        let first = told.iter().find_map(|event| {
            let message = event["message"].as_str().filter(|text| text.starts_with("first pass: "))?;
            message.rsplit_once('(')?.1.split_once(" s)")?.0.parse::<f64>().ok()
        });
        (first.expect("the time of the first pass"), told.last().expect("a result").clone())
    };
    let mut lines = vec!["--smooth scene --encoder ffv1"];
    lines.extend(encoder_is_here("two passes", "libx264").then_some("--target-size 60k --preset slower"));
    for line in lines {
        let (first, result) = result(line);
        let seconds = |name: &str| result[name].as_f64().expect("a number");
        // Each stage runs on one thread, so its time in both passes is at most the time of the run.
        let busy = ["decode_seconds", "equalize_seconds", "encode_seconds"].map(seconds);
        assert!(seconds("seconds") >= first && first > 0.0, "{line}: {first} s, {result}");
        assert!(busy.iter().all(|busy| *busy <= seconds("seconds")), "{line}: {result}");
        if line.contains("scene") {
            // The first pass encodes nothing, so its time adds to that of encoding.
            assert!(seconds("seconds") >= first + busy[2] && busy[2] > 0.0, "{line}: {first} s, {result}");
        }
        let last = result["summary"].as_str().and_then(|text| text.lines().last()).unwrap_or_default().to_owned();
        let told = last.strip_prefix("60 frames in ").and_then(|rest| rest.split(' ').next()?.parse::<f64>().ok());
        assert!(told.is_some_and(|told| (told - seconds("seconds")).abs() < 0.02), "{last}: {result}");
        let size = format!(", {:.0} kB -> out.mkv", dir.read("out.mkv").len() as f64 / 1e3);
        assert!(last.ends_with(&size), "{last}: {size}");
    }
}
