//! A video in pieces gives the same frames, timestamps, sound, measurements and curves as one run, even if processes
//! are killed or interrupted.

use crate::support::media::clips::phone;
use crate::support::media::reader::encoder_is_here;
use crate::support::programs::program::{Dir, Run};
use crate::support::programs::running::Running;
use crate::support::skip::is_here;
use rustix::process::Signal;
use serde_json::Value;
use std::process::Stdio;
use std::time::Duration;

/// A clip of a few scenes and flashes, with low contrast, sound and B-frames. It is so small that the look natural
/// measures every pixel, which saves time.
fn film(dir: &Dir, name: &str, seconds: u32, options: &str) {
    film_of(dir, "80x44", name, seconds, options);
}

/// A clip that takes longer, for tests that interfere while it is processed.
fn long_film(dir: &Dir, name: &str, seconds: u32, options: &str) {
    film_of(dir, "160x90", name, seconds, options);
}

fn film_of(dir: &Dir, size: &str, name: &str, seconds: u32, options: &str) {
    let dim = "colorlevels=romin=0.2:romax=0.7:gomin=0.2:gomax=0.7:bomin=0.2:bomax=0.7";
    let scenes = r"hue=b=if(eq(mod(n\,61)\,40)\,4\,0):h=90*floor(n/37)";
    dir.ffmpeg(&format!(
        "-f lavfi -i testsrc2=size={size}:rate=25,{dim},{scenes},format=yuv420p -f lavfi -i sine=frequency=440 -t {seconds} {options} {name}"
    ));
}

/// The properties of a file's packets that do not depend on the encoding of the video.
fn times(dir: &Dir, file: &str) -> Vec<(String, i64, i64)> {
    let value_of = |value: &Value, key: &str| value[key].as_i64().unwrap_or(i64::MIN);
    let kind = |packet: &Value| packet["codec_type"].as_str().unwrap_or_default().to_owned();
    let packets = dir.probe("-show_packets", file)["packets"].as_array().cloned().unwrap_or_default();
    let mut times: Vec<_> =
        packets.iter().map(|packet| (kind(packet), value_of(packet, "pts"), value_of(packet, "duration"))).collect();
    times.sort();
    times
}

/// Equalizes `input` in one run and in pieces of `piece` seconds, and requires equal results. Returns the number of the
/// first frame of each piece.
#[track_caller]
fn check(dir: &Dir, input: &str, extension: &str, piece: f64, options: &str) -> Vec<usize> {
    let (one, joined) = (format!("one.{extension}"), format!("joined.{extension}"));
    let options = format!("--backend cpu {options}");
    // CLAHE has a curve for each tile, so there is no single curve to save.
    let records = |name: &str| match options.contains("clahe") {
        true => format!("--stats {name}.csv"),
        false => format!("--stats {name}.csv --save-curves {name}.curves"),
    };
    dir.succeeds(&format!("-y {input} {one} {options} {}", records("one")));
    let plan = dir.succeeds(&format!("plan -y {input} {joined} {options} {} --piece {piece}", records("joined")));
    dir.write("plan.json", &plan.stdout);
    dir.succeeds("run plan.json --jobs 2");
    dir.succeeds("join plan.json");
    assert_eq!(times(dir, &one), times(dir, &joined), "times of {input}, {options}");
    // Frames can be compared only if they are encoded losslessly.
    let streams = if options.contains("ffv1") { "-map 0:v -map 0:a?" } else { "-map 0:a?" };
    let hash = |file: &str| dir.tool("ffmpeg", &format!("-v error -i {file} {streams} -f framehash -"), None).stdout;
    assert!(hash(&one) == hash(&joined), "{input}, {options}");
    assert_eq!(without_clock(dir, "one.csv"), without_clock(dir, "joined.csv"), "measurements of {input}, {options}");
    if dir.path("one.curves").exists() {
        assert!(dir.read("one.curves") == dir.read("joined.curves"), "curves of {input}, {options}");
    }
    let left = dir.names().into_iter().filter(|name| name.contains(".pieces")).collect::<Vec<_>>();
    assert_eq!(left, [""; 0], "pieces are removed");
    for name in ["one.curves", "joined.curves"] {
        let _ = std::fs::remove_file(dir.path(name));
    }
    let plan: Value = serde_json::from_slice(&plan.stdout).expect("JSON");
    let pieces = plan["files"][0]["pieces"].as_array().cloned().unwrap_or_default();
    pieces.iter().filter_map(|piece| usize::try_from(piece[0].as_u64()?).ok()).collect()
}

/// The CSV of measurements without the columns of processing times.
fn without_clock(dir: &Dir, name: &str) -> Vec<String> {
    let text = String::from_utf8(dir.read(name)).expect("text");
    let names: Vec<&str> = text.lines().next().unwrap_or_default().split(',').collect();
    let kept = |line: &str| {
        let columns = line.split(',').zip(&names).filter(|(_, name)| !name.ends_with("_ms"));
        columns.map(|(column, _)| column).collect::<Vec<_>>().join(",")
    };
    text.lines().map(kept).collect()
}

#[test]
fn pieces_are_joined_to_the_frames_measurements_and_curves_of_one_run() {
    let dir = Dir::new();
    film(&dir, "film.mkv", 7, "-c:v ffv1 -c:a pcm_s16le");
    for options in ["", "--roi auto", "--set look-ahead=0 --smooth 1", "--max-gain auto", "--output-depth 10"] {
        check(&dir, "film.mkv", "mkv", 1.1, &format!("--encoder ffv1 {options}"));
    }
}

#[test]
fn pieces_are_equalized_with_every_method_as_in_one_run() {
    let dir = Dir::new();
    film(&dir, "film.mkv", 5, "-c:v ffv1 -c:a pcm_s16le");
    for options in ["--look haze", "--method deflicker", "--look night", "--exact", "--smooth 0.4 --set gray"] {
        check(&dir, "film.mkv", "mkv", 1.8, &format!("--encoder ffv1 {options}"));
    }
}

/// Makes clips of nine kinds, or of all, with 300 frames each. Returns their names.
fn kinds(dir: &Dir, are_all: bool) -> Vec<&'static str> {
    let x264 = |options: &str| format!("-c:v libx264 -preset veryfast {options}");
    for (name, options) in [
        ("closed.mp4", x264("-bf 3 -g 48 -c:a aac")),
        ("open.mkv", x264("-bf 3 -x264-params open-gop=1:keyint=30 -c:a aac")),
        ("varying.mkv", x264("-vf settb=1/1000,setpts=40*N+N*N/20 -fps_mode passthrough -bf 2 -c:a aac")),
        ("refreshed.ts", x264("-x264-params intra-refresh=1:keyint=50 -c:a mp2")),
        ("interlaced.ts", "-vf setfield=tff -c:v mpeg2video -flags +ilme+ildct -bf 2 -g 15 -c:a mp2".to_owned()),
        (
            "deep.mkv",
            "-c:v libx265 -preset ultrafast -pix_fmt yuv420p10le -x265-params log-level=none:keyint=40 -c:a flac"
                .to_owned(),
        ),
        ("vp9.webm", "-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -g 60 -c:a libopus".to_owned()),
        ("photos.mov", "-c:v mjpeg -c:a pcm_s16le".to_owned()),
        ("old.avi", "-c:v mpeg4 -g 40 -c:a mp3".to_owned()),
    ] {
        if are_all || !["vp9.webm", "photos.mov", "old.avi"].contains(&name) {
            film(dir, name, 12, &options);
        }
    }
    dir.write("words.srt", b"1\n00:00:01,000 --> 00:00:03,000\nHere\n\n2\n00:00:08,000 --> 00:00:11,000\nThere\n");
    dir.ffmpeg("-i open.mkv -i words.srt -c copy -c:s subrip told.mkv");
    phone(dir, "turned.mp4", "-i closed.mp4 -preset veryfast -c:a copy", 90);
    for (name, delays) in [("late.mp4", ["0", "1.31"]), ("early.mkv", ["0.77", "0"])] {
        let [video, sound] = delays;
        let inputs = format!("-itsoffset {video} -i closed.mp4 -itsoffset {sound} -i closed.mp4");
        dir.ffmpeg(&format!("{inputs} -map 0:v -map 1:a -c copy {name}"));
    }
    dir.ffmpeg("-ss 1.9 -i open.mkv -c copy cut.mp4");
    dir.ffmpeg("-i closed.mp4 -c copy -frames:v 144 first.ts");
    dir.ffmpeg(
        "-i closed.mp4 -c copy -frames:v 144 -output_ts_offset 5000 -mpegts_flags +initial_discontinuity second.ts",
    );
    dir.write("jumps.ts", &[dir.read("first.ts"), dir.read("second.ts")].concat());
    vec![
        "closed.mp4",
        "told.mkv",
        "refreshed.ts",
        "interlaced.ts",
        "deep.mkv",
        "varying.mkv",
        "turned.mp4",
        "late.mp4",
        "jumps.ts",
        "cut.mp4",
        "vp9.webm",
        "early.mkv",
        "photos.mov",
        "old.avi",
    ]
}

/// Nine kinds of clips, each with one number of pieces and one set of options. `HISTEQ_LONG=1` tries all combinations,
/// which takes a quarter of an hour, and adds the clips in the folder `HISTEQ_CLIPS`.
#[test]
fn pieces_of_every_kind_of_file_are_joined_to_one_run() {
    const OPTIONS: [&str; 4] = ["", "--method clahe", "--roi auto", "--smooth 5"];
    const PIECES: [usize; 4] = [1, 3, 7, 17];
    const SHORT: [usize; 7] = [3, 3, 7, 3, 3, 7, 17];
    if !["libx264", "libx265", "libvpx-vp9", "libopus"].iter().all(|encoder| encoder_is_here("films", encoder)) {
        return;
    }
    let dir = Dir::new();
    let is_long = std::env::var_os("HISTEQ_LONG").is_some();
    let mut films: Vec<String> = kinds(&dir, is_long).into_iter().map(str::to_owned).collect();
    films.push(concat!(env!("CARGO_MANIFEST_DIR"), "/samples/parking-lot.mp4").to_owned());
    let more = std::env::var_os("HISTEQ_CLIPS").map(std::fs::read_dir);
    let more = more.into_iter().flat_map(|folder| folder.expect("a folder of clips"));
    films.extend(more.map(|clip| clip.expect("a clip").path().display().to_string()));
    films.truncate(if is_long { films.len() } else { 9 });
    for (number, film) in films.iter().enumerate() {
        let times = dir.frame_times(film);
        for (which, options) in OPTIONS.iter().enumerate() {
            for count in PIECES {
                if !is_long && (which != number % 4 || count != SHORT[number % 7]) {
                    continue;
                }
                // The timestamps of `jumps.ts` do not give its length, because its clock jumps.
                let seconds = if film == "jumps.ts" { 11.52 } else { times[times.len() - 1] - times[0] + 0.04 };
                let piece = (seconds / count as f64 * 1.03).max(0.1);
                let begins = check(&dir, film, "mkv", piece, &format!("--encoder ffv1 --encoder-option g=1 {options}"));
                println!("{film} {options}: {} pieces", begins.len());
                assert!(is_long || (begins.len() > 1) == (count > 1), "{film}: {begins:?}");
            }
        }
    }
}

#[test]
fn every_encoder_of_the_table_gives_files_with_the_times_of_one_run() {
    let dir = Dir::new();
    film(&dir, "film.mp4", 5, "-c:v libx264 -preset veryfast -bf 3 -c:a aac");
    let packets =
        |file: &str| dir.tool("ffmpeg", &format!("-v error -i {file} -map 0:a -c copy -f hash -"), None).stdout;
    for (extension, options) in [
        ("mp4", "--encoder libx264 --preset veryfast"),
        ("ts", "--encoder libx264 --preset veryfast"),
        ("mkv", "--encoder libx265 --preset ultrafast"),
        ("mov", "--encoder prores_ks"),
        ("webm", "--encoder libvpx-vp9 --preset 8"),
        ("mkv", "--encoder utvideo"),
    ] {
        let encoder = options.split(' ').nth(1).expect("an encoder");
        if !encoder_is_here("pieces", encoder) {
            continue;
        }
        let begins = check(&dir, "film.mp4", extension, 1.1, options);
        let joined = format!("joined.{extension}");
        // Transport streams and WebM divide the sound into other packets.
        if !["ts", "webm"].contains(&extension) {
            assert!(packets("film.mp4") == packets(&joined), "sound of {joined}, {options}");
        }
        let times = dir.frame_times(&joined);
        assert_eq!((times.len(), begins.len()), (125, 5), "{joined}, {options}");
        // In a transport stream, players seek to frames that are no keyframes, and print warnings.
        let seams = begins[1..].iter().filter(|_| extension != "ts" && options.contains("libx26"));
        let starts: Vec<f64> = seams.flat_map(|begin| [(times[*begin] - 0.4).max(0.0), times[*begin]]).collect();
        plays(&dir, &joined, &starts);
    }
}

/// Requires that FFmpeg and mpv play the whole file, and a second from each of these times, without a warning.
#[track_caller]
fn plays(dir: &Dir, file: &str, starts: &[f64]) {
    let parts = starts.iter().map(|start| format!("-ss {start:.6} -t 1 -i {file} "));
    let inputs: String = std::iter::once(format!("-i {file} ")).chain(parts).collect();
    let outputs: String =
        (0..=starts.len()).map(|input| format!("-map {input}:v -map {input}:a? -f null - ")).collect();
    let run = dir.tool("ffmpeg", &format!("-v warning -xerror {inputs}{}", outputs.trim_end()), None);
    assert_eq!(run.stderr, "", "{file}, and from {starts:?}");
    if is_here("mpv") {
        let parts: String =
            starts.iter().map(|start| format!(" --{{ --start={start:.6} --length=1 {file} --}}")).collect();
        // `--untimed` makes mpv's player report that audio is out of sync, so its warnings are suppressed.
        let quiet = "--no-config --vo=null --ao=null --ao-null-untimed --untimed --msg-level=all=warn,cplayer=error";
        let run = dir.tool("mpv", &format!("{quiet} {file}{parts}"), None);
        let said = String::from_utf8_lossy(&run.stdout) + &*run.stderr;
        assert_eq!(said.trim(), "", "{file}, and from {starts:?}");
    }
}

/// The hash and the timestamp of each decoded frame of a file.
fn frames(dir: &Dir, file: &str) -> Vec<u8> {
    dir.tool("ffmpeg", &format!("-v error -i {file} -map 0 -f framehash -"), None).stdout
}

#[test]
fn jobs_cut_work_and_join_in_one_command() {
    let dir = Dir::new();
    film(&dir, "film.mkv", 20, "-c:v ffv1 -c:a pcm_s16le");
    dir.succeeds("film.mkv one.mkv --encoder ffv1 --backend cpu");
    let run = dir.succeeds("film.mkv joined.mkv --encoder ffv1 --backend cpu --jobs 2 --stats joined.csv");
    run.says(&["500 frames in", "by 2 jobs in 2 pieces, ", " MB -> joined.mkv"]);
    assert!(frames(&dir, "one.mkv") == frames(&dir, "joined.mkv"));
    assert_eq!(dir.names(), ["film.mkv", "joined.csv", "joined.mkv", "one.mkv"]);
    // Options that pieces do not support are refused with `--jobs 2`; with `--jobs auto`, one process runs.
    let refused = dir.run("film.mkv other.mkv --bitrate 1M --jobs 2").fails();
    refused.says(&["--bitrate", "--crf"]);
    dir.succeeds("film.mkv other.mkv --frames 5 --encoder ffv1 --filter vflip --jobs auto");
    dir.run("film.mkv joined.mkv --jobs 2").fails().says(&["joined.mkv exists (use -y"]);
    // `--threads 8` counts as eight cores.
    let auto =
        dir.succeeds("film.mkv auto.mkv --encoder ffv1 --backend cpu --exact --jobs auto --threads 8 --progress plain");
    // A fast machine may print no progress line.
    let under_way = auto.stderr.lines().filter(|line| line.contains("/4 pieces") && !line.starts_with("100"));
    under_way.for_each(|line| assert!(line.ends_with("/4 pieces: film.mkv"), "{line}"));
    auto.says(&["by 4 jobs in 4 pieces", "  4/4 pieces"]);
    std::fs::rename(dir.path("auto.mkv"), dir.path("-film.mkv")).expect("a file");
    dir.succeeds("-y --jobs 2 --encoder ffv1 --backend cpu -- -film.mkv joined.mkv")
        .says(&["in 2 pieces, ", " MB -> joined.mkv"]);
}

#[test]
fn pieces_that_are_damaged_are_made_again() {
    let dir = Dir::new();
    film(&dir, "film.mkv", 20, "-r 5 -c:v ffv1 -c:a pcm_s16le");
    dir.succeeds("film.mkv one.mkv --encoder ffv1 --backend cpu");
    let line = "film.mkv joined.mkv --encoder ffv1 --backend cpu";
    // The damage is in a packet, in the description, or at the truncated end.
    for (damaged, part) in [(0, 0.3), (1, 0.999), (1, 1.0)] {
        dir.write("plan.json", &dir.succeeds(&format!("plan -y {line} --jobs 2")).stdout);
        dir.succeeds("run plan.json");
        let piece = format!(".joined.mkv.pieces/00000{damaged}.piece");
        let mut bytes = dir.read(&piece);
        let offset = (bytes.len() as f64 * part) as usize;
        match bytes.get_mut(offset) {
            Some(byte) => *byte ^= 1,
            None => bytes.truncate(offset - 100),
        }
        dir.write(&piece, &bytes);
        let run = dir.succeeds(&format!("-y {line} --jobs 2"));
        assert_eq!(run.stderr.contains("000000.piece: damaged since it was made"), damaged == 0, "{}", run.stderr);
        assert!(frames(&dir, "one.mkv") == frames(&dir, "joined.mkv"), "piece {damaged}");
    }
    assert_eq!(dir.names(), ["film.mkv", "joined.mkv", "one.mkv", "plan.json"]);
}

#[test]
fn pieces_whose_measurements_or_curves_have_changed_are_not_joined() {
    let dir = Dir::new();
    film(&dir, "film.mkv", 20, "-r 5 -c:v ffv1 -c:a pcm_s16le");
    let line = "film.mkv joined.mkv --encoder ffv1 --backend cpu --stats s.csv --save-curves c.jsonl";
    dir.succeeds(&format!("-y {line}"));
    let (stats, curves) = (without_clock(&dir, "s.csv"), dir.read("c.jsonl"));
    for kind in ["stats", "curves"] {
        dir.write("plan.json", &dir.succeeds(&format!("plan -y {line} --jobs 2")).stdout);
        dir.succeeds("run plan.json");
        let record = format!(".joined.mkv.pieces/000001.{kind}.jsonl");
        // One digit changes, so the line is still valid JSON.
        let mut bytes = dir.read(&record);
        let digit = bytes.iter().rposition(u8::is_ascii_digit).expect("a digit");
        bytes[digit] = if bytes[digit] == b'1' { b'2' } else { b'1' };
        dir.write(&record, &bytes);
        dir.run("join -y plan.json").fails().says(&[&format!("000001.{kind}.jsonl: damaged"), "run piece 1 again"]);
        std::fs::remove_file(dir.path(&record)).expect("a file");
        dir.run("join -y plan.json").fails().says(&[&format!("000001.{kind}.jsonl: missing")]);
        let again = dir.succeeds(&format!("-y {line} --jobs 2"));
        assert!(again.stderr.contains("000001.piece: damaged since it was made"), "{}", again.stderr);
        assert_eq!(without_clock(&dir, "s.csv"), stats, "{kind}");
        assert!(dir.read("c.jsonl") == curves, "{kind}");
    }
}

#[test]
fn what_a_process_warns_of_is_a_warning_and_how_far_it_is_is_shown() {
    let dir = Dir::new();
    film(&dir, "film.mkv", 20, "-r 5 -c:v ffv1 -c:a pcm_s16le");
    let line = "-y --encoder ffv1 --backend cpu --roi 50,0,50,44";
    for files in ["--jobs 2 film.mkv out.mkv", "--jobs 2 --output-dir out film.mkv"] {
        let events = format!("{line} --progress-file events.jsonl {files}");
        let said = dir.succeeds(&events).stderr;
        let warnings: Vec<&str> = said.lines().filter(|line| line.contains("warning: ")).collect();
        let is_named = |line: &&str| line.starts_with("histeq-video: warning: film.mkv: --roi");
        assert!(!warnings.is_empty() && warnings.iter().all(is_named) && said.contains("past the edge"), "{said}");
        let events = String::from_utf8(dir.read("events.jsonl")).expect("text");
        let events: Vec<Value> = events.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        let value_of = |name: &str| events.iter().filter(|event| event["event"] == name).cloned().collect::<Vec<_>>();
        assert!(
            value_of("warning")
                .iter()
                .any(|event| event["message"].as_str().is_some_and(|said| said.starts_with("film.mkv: --roi")))
        );
        let last = value_of("progress").pop().expect("progress");
        // The clip has 5 frames/s, so the speed is a fifth of `fps`.
        assert_eq!(last["frame"], 100, "{last}");
        let (speed, fps) = (last["speed"].as_f64().expect("a number"), last["fps"].as_f64().expect("a number"));
        assert!((speed - fps / 5.0).abs() < 0.02 + fps / 100.0, "{last}");
        dir.run(&format!("{line} --strict {files}")).fails().says(&["past the edge"]);
    }
}

#[test]
fn two_runs_do_not_work_on_one_output_in_pieces() {
    let dir = Dir::new();
    long_film(&dir, "film.mkv", 20, "-c:v ffv1 -c:a pcm_s16le");
    let line = "film.mkv joined.mkv --encoder ffv1 --backend cpu --jobs 2";
    let mut first = Running::start(&mut dir.command(line));
    while !dir.path(".joined.mkv.pieces/plan.json").exists() {
        std::thread::sleep(Duration::from_millis(1));
    }
    first.signal(Signal::STOP);
    let second = dir.run(&format!("{line} --set gray")).fails().says(&["another run is at work on it"]);
    assert_eq!(second.stderr.lines().count(), 1, "{}", second.stderr);
    first.signal(Signal::CONT);
    assert_eq!(first.ends_within(Duration::from_secs(60)), Some(0));
    dir.succeeds("film.mkv one.mkv --encoder ffv1 --backend cpu");
    assert!(frames(&dir, "one.mkv") == frames(&dir, "joined.mkv"));
}

#[test]
fn jobs_that_are_interrupted_while_they_plan_write_nothing() {
    let dir = Dir::new();
    long_film(&dir, "film.mkv", 20, "-c:v ffv1 -c:a pcm_s16le");
    for signal in [Signal::INT, Signal::TERM] {
        let mut command = dir.command("film.mkv joined.mkv --encoder ffv1 --backend cpu --jobs 2");
        let mut running = Running::start(&mut command);
        let planner = loop {
            let planner = running.children().pop().filter(|child| child.line().contains(" plan "));
            if planner.is_some() || running.child().try_wait().expect("a process").is_some() {
                break planner.expect("a child that plans");
            }
        };
        running.signal(signal);
        // The signal ends the process: its thread for signals starts only after the sandbox, which has to cover all
        // threads.
        assert_eq!(running.ends_within(Duration::from_secs(60)), None);
        let begin = std::time::Instant::now();
        while planner.line().contains(" plan ") {
            assert!(begin.elapsed() < Duration::from_secs(60), "its child goes on");
        }
        assert_eq!(dir.names(), ["film.mkv"]);
    }
}

#[test]
fn an_interrupted_job_keeps_what_is_whole_and_goes_on_from_there() {
    let dir = Dir::new();
    // Each process runs for longer than a minute, and makes several pieces one after the other.
    long_film(&dir, "film.mkv", 200, "-r 5 -c:v ffv1 -c:a pcm_s16le");
    dir.succeeds("film.mkv one.mkv --encoder ffv1 --backend cpu");
    let line = "film.mkv joined.mkv --encoder ffv1 --backend cpu --jobs 1 --verify";
    let mut running = Running::start(dir.command(&line.replace("--jobs 1", "--jobs 2")).stderr(Stdio::piped()));
    let first = dir.path(".joined.mkv.pieces/000000.piece");
    while !first.exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    running.signal(Signal::INT);
    assert_eq!(running.ends_within(Duration::from_secs(60)), Some(130));
    assert!(!dir.path("joined.mkv").exists());
    let whole = dir.frame_times("one.mkv");
    let partial = dir.frame_times("joined.partial.mkv");
    assert!(partial.len() < whole.len() && whole.starts_with(&partial), "{} of {}", partial.len(), whole.len());
    dir.succeeds(line).says(&["pieces are there from before", " of them in "]);
    assert!(frames(&dir, "one.mkv") == frames(&dir, "joined.mkv"));
    assert_eq!(dir.names(), ["film.mkv", "joined.mkv", "joined.partial.mkv", "one.mkv"]);
}

#[test]
fn a_piece_whose_process_is_killed_is_tried_again() {
    let dir = Dir::new();
    long_film(&dir, "film.mkv", 20, "-c:v ffv1 -c:a pcm_s16le");
    let mut command = dir.command("film.mkv joined.mkv --encoder ffv1 --backend cpu --jobs 2 --verify");
    let mut running = Running::start(command.stderr(Stdio::piped()));
    let killed = loop {
        if let Some(child) = running.children().into_iter().find(|child| child.line().contains("--piece 1 ")) {
            break child;
        }
    };
    killed.signal(Signal::KILL);
    assert_eq!(running.ends_within(Duration::from_secs(60)), Some(0));
    let mut said = String::new();
    std::io::Read::read_to_string(running.child().stderr.as_mut().expect("a pipe"), &mut said).expect("text");
    assert!(said.contains("piece 1: its process has ended: signal: 9 (SIGKILL): trying again"), "{said}");
    dir.succeeds("film.mkv one.mkv --encoder ffv1 --backend cpu");
    assert!(frames(&dir, "one.mkv") == frames(&dir, "joined.mkv"));
}

/// How often processes are killed: `HISTEQ_KILLS=50` makes a long test of it.
fn kills() -> u32 {
    std::env::var("HISTEQ_KILLS").ok().and_then(|count| count.parse().ok()).unwrap_or(5)
}

#[test]
#[ignore = "tries many faults at random: tests/program/faults.sh runs it"]
fn processes_that_are_killed_leave_nothing_wrong_behind() {
    let dir = Dir::new();
    long_film(&dir, "film.mkv", 20, "-c:v ffv1 -c:a pcm_s16le");
    dir.succeeds("film.mkv one.mkv --encoder ffv1 --backend cpu");
    let plan = dir.succeeds("plan film.mkv joined.mkv --encoder ffv1 --backend cpu --piece 3 --verify").stdout;
    dir.write("plan.json", &plan);
    let mut killed_at_work = 0;
    for kill in 0..kills() {
        // Two processes make the same piece; one of them is killed after 0 to 0.4 s.
        let piece = kill % 6;
        let _ = std::fs::remove_file(dir.path(format!(".joined.mkv.pieces/00000{piece}.piece")));
        let command = || dir.command(&format!("run plan.json --piece {piece} --quiet"));
        let mut killed = Running::start(&mut command());
        let mut other = Running::start(&mut command());
        std::thread::sleep(Duration::from_millis(u64::from(kill * 37 % 400)));
        killed.signal(Signal::KILL);
        assert_eq!(other.ends_within(Duration::from_secs(60)), Some(0));
        killed_at_work += u32::from(killed.ends_within(Duration::from_secs(60)).is_none());
    }
    println!("{killed_at_work} processes were killed");
    let mut left = dir.names();
    left.retain(|name| name.contains(".pieces") && !name.ends_with(".piece"));
    assert_eq!(left, [""; 0], "nothing but whole pieces is left");
    dir.succeeds("run plan.json --jobs 2");
    dir.succeeds("join plan.json");
    assert!(frames(&dir, "one.mkv") == frames(&dir, "joined.mkv"));
}

#[test]
fn an_input_that_has_changed_is_found_wherever_it_has() {
    let dir = Dir::new();
    long_film(&dir, "film.mkv", 12, "-c:v libx264 -qp 4 -g 25 -c:a aac -b:a 16k");
    let plan = |piece: f64| {
        let plan = dir.succeeds(&format!("plan -y film.mkv joined.mkv --encoder ffv1 --piece {piece}"));
        dir.write("plan.json", &plan.stdout);
    };
    plan(3.0);
    let whole = dir.read("film.mkv");
    // One byte is changed, and the length is not: the pieces that decode the byte fail.
    let mut changed = whole.clone();
    let index = whole.len() * 5 / 8;
    changed[index] ^= 0x10;
    dir.write("film.mkv", &changed);
    let codes: Vec<Option<i32>> = (0..4).map(|piece| dir.run(&format!("run plan.json --piece {piece}")).code).collect();
    assert!(codes.contains(&Some(65)) && codes.contains(&Some(0)), "{codes:?}");
    let joined = dir.run("join plan.json");
    assert_ne!(joined.code, Some(0), "{}", joined.stderr);
    // Pieces of the original file are not joined when the input has changed.
    dir.write("film.mkv", &whole);
    dir.succeeds("run plan.json --jobs 2");
    dir.write("film.mkv", &changed);
    dir.run("join plan.json").exits_with(65).says(&["not the one that was planned"]);
    dir.write("film.mkv", &whole[..whole.len() - 1]);
    dir.run("run plan.json --piece 0").exits_with(0).says(&["is done"]);
    dir.run("join plan.json").exits_with(65).says(&["another length"]);
    assert!(!dir.path("joined.mkv").exists());
    // Pieces of another plan are not joined either.
    dir.write("film.mkv", &whole);
    plan(2.0);
    let status = dir.succeeds("status --json plan.json").stdout;
    let status: Value = serde_json::from_slice(&status).expect("JSON");
    assert_eq!((&status["done"], &status["pieces"]), (&Value::from(0), &Value::from(5)), "{status}");
    assert_eq!(status["wrong"].as_array().map(Vec::len), Some(4), "{status}");
    dir.run("join plan.json").fails().says(&["5 of 5 pieces are missing"]);
}

#[test]
fn pieces_that_are_joined_are_done_and_left_alone() {
    let dir = Dir::new();
    film(&dir, "film.mkv", 6, "-c:v ffv1 -c:a pcm_s16le");
    // An older file under the output's name does not count as a result of the plan.
    dir.write("joined.mkv", b"old");
    let plan = dir.succeeds("plan -y film.mkv joined.mkv --encoder ffv1 --piece 2").stdout;
    dir.write("plan.json", &plan);
    let status = |wanted: [usize; 2]| {
        let status: Value = serde_json::from_slice(&dir.succeeds("status --json plan.json").stdout).expect("JSON");
        let missing = status["missing"].as_array().map(Vec::len);
        assert_eq!((status["done"].as_u64(), missing), (Some(wanted[0] as u64), Some(wanted[1])), "{status}");
    };
    status([0, 3]);
    dir.succeeds("run plan.json --piece 0");
    dir.succeeds("run plan.json --piece 2");
    status([2, 1]);
    // `--partial` joins the pieces before the first missing one, and exits like an interrupted run.
    dir.run("join --partial plan.json").exits_with(130).says(&[" frames of 1 piece, ", "joined.partial.mkv"]);
    status([2, 1]);
    dir.succeeds("run plan.json");
    dir.succeeds("join plan.json");
    status([3, 0]);
    let said = String::from_utf8(dir.succeeds("status plan.json").stdout).expect("text");
    assert!(said.contains("3 of 3 pieces are done") && !said.contains("missing"), "{said}");
    dir.succeeds("run plan.json --piece 1").says(&["piece 1 is done: ", "joined.mkv is joined"]);
    dir.succeeds("run plan.json --jobs 2");
    assert!(!dir.path(".joined.mkv.pieces").exists(), "{:?}", dir.names());
    assert_eq!(dir.frame_times("joined.mkv").len(), 150);
    // After the output is removed, no piece counts as done.
    std::fs::remove_file(dir.path("joined.mkv")).expect("a file");
    status([0, 3]);
}

#[test]
fn a_full_disk_asks_for_another_attempt() {
    let dir = Dir::new();
    film(&dir, "film.mkv", 6, "-c:v ffv1 -c:a pcm_s16le");
    let plan = dir.succeeds("plan film.mkv joined.mkv --encoder ffv1 --piece 3").stdout;
    dir.write("plan.json", &plan);
    let program = dir.command("").get_program().to_string_lossy().into_owned();
    let line = format!("-c 'ulimit -f 30; exec {program} run plan.json --piece 0'");
    Run::from_command(&mut dir.other_command("bash", &line), &line).exits_with(75).says(&["cannot be written"]);
    assert!(!dir.path(".joined.mkv.pieces/000000.piece").exists());
    dir.succeeds("run plan.json");
    dir.succeeds("join plan.json");
}

#[test]
fn a_plan_that_is_none_is_refused_in_a_line() {
    let dir = Dir::new();
    film(&dir, "film.mkv", 6, "-c:v ffv1 -c:a pcm_s16le");
    let plan =
        String::from_utf8(dir.succeeds("plan film.mkv joined.mkv --encoder ffv1 --piece 3").stdout).expect("text");
    for (old, new) in [
        ("\"histeq_plan\":1", "\"histeq_plan\":2"),
        ("histeq-video 0", "histeq-video 9"),
        ("libavcodec ", "libavcodec 9"),
        ("\"pieces\":[[0,", "\"pieces\":[[1,"),
        ("\"time_base\":[1,", "\"time_base\":[0,"),
        ("\"steps\":[[", "\"steps\":[[-"),
        ("\"packets\":12", "\"packets\":0"),
        ("{\"histeq_plan\"", "[\"histeq_plan\""),
    ] {
        assert!(plan.contains(old), "{old}");
        dir.write("plan.json", plan.replacen(old, new, 1).as_bytes());
        for command in ["run plan.json --piece 0", "join plan.json", "status plan.json"] {
            let run = dir.run(command).fails();
            assert_eq!(run.stderr.lines().count(), 1, "{old}: {}", run.stderr);
        }
    }
    dir.write("plan.json", plan.as_bytes());
    dir.run("run plan.json --piece 9").exits_with(2).says(&["there is no piece 9; the last one is 1"]);
    dir.run("run plan.json --piece 5-2").exits_with(2);
    for line in
        ["plan - joined.mkv", "plan film.mkv -", "plan film.mkv out%03d.png", "plan film.mkv o.mkv --filter vflip"]
    {
        dir.run(line).fails().says(&["leave --jobs out"]);
    }
    dir.run("plan film.mkv o.mkv --smooth scene").fails().says(&["leave --jobs out"]);
    dir.run("plan film.mkv o.mkv --encoder mpeg4").fails().says(&["mpeg4 cannot be joined", "libx264"]);
}

#[test]
fn many_files_go_into_a_folder_and_those_that_are_there_are_skipped() {
    let dir = Dir::new();
    for name in ["a.mkv", "b.mkv", "c.mkv"] {
        film(&dir, name, 2, "-c:v ffv1 -c:a pcm_s16le");
    }
    std::fs::create_dir_all(dir.path("tapes/deep")).expect("a folder");
    std::fs::rename(dir.path("b.mkv"), dir.path("tapes/b.mkv")).expect("a file");
    std::fs::rename(dir.path("c.mkv"), dir.path("tapes/deep/c.mkv")).expect("a file");
    dir.write("tapes/notes.txt", b"no video");
    dir.write("tapes/deep/broken.mkv", b"no video either");
    let line = "--output-dir out --jobs 2 --encoder ffv1 --backend cpu a.mkv tapes";
    let run = dir.run(line).fails();
    run.says(&["3 files with 150 frames", "1 file failed: ", "broken.mkv"]);
    let there = ["out/a.mkv", "out/b.mkv", "out/deep/c.mkv"];
    let outputs = || dir.names().into_iter().filter(|name| name.starts_with("out/")).collect::<Vec<_>>();
    assert_eq!(outputs(), there);
    dir.succeeds("a.mkv one.mkv --encoder ffv1 --backend cpu");
    assert!(frames(&dir, "one.mkv") == frames(&dir, "out/a.mkv"));
    std::fs::remove_file(dir.path("out/b.mkv")).expect("a file");
    std::fs::remove_file(dir.path("tapes/deep/broken.mkv")).expect("a file");
    dir.succeeds(line).says(&["1 file with 50 frames", "2 files were there"]);
    assert_eq!(outputs(), there);
    dir.run("--output-dir out a.mkv tapes/../a.mkv").exits_with(2).says(&["two inputs would become out/a.mkv"]);
    dir.run("a.mkv b.mkv c.mkv").exits_with(2).says(&["--output-dir"]);
}

#[test]
fn every_line_of_many_files_names_its_file() {
    let dir = Dir::new();
    for name in ["a.mkv", "b.mkv"] {
        dir.ffmpeg(&format!(
            "-f lavfi -i testsrc2=size=96x64:rate=25 -frames:v 30 -pix_fmt yuv444p12le -c:v ffv1 {name}"
        ));
    }
    dir.write("broken.mkv", b"no video");
    let line = "--output-dir out --jobs 2 --encoder prores_ks --backend cpu a.mkv b.mkv broken.mkv";
    let mut run = dir.run(line).fails();
    for name in ["a.mkv", "b.mkv"] {
        run = run.says(&[
            &format!("histeq-video: warning: {name}: encoder prores_ks does not take yuv444p12le"),
            &format!("{name}: 30 frames in "),
        ]);
    }
    let run = run.says(&["\nbroken.mkv: failed: not a video"]);
    // All lines but the summary name their file.
    let named = |line: &str| line.contains(".mkv") || line.starts_with("2 files with 60 frames in ");
    assert!(run.stderr.lines().all(named), "{}", run.stderr);

    std::fs::remove_file(dir.path("out/b.mkv")).expect("a file");
    let run = dir.run(&format!("--progress json {line}")).fails();
    let events: Vec<Value> = run.stderr.lines().map(|line| serde_json::from_str(line).expect("an event")).collect();
    assert!(
        run.stderr.contains("1 file with 30 frames in ") && run.stderr.contains("; 1 file was there"),
        "{}",
        run.stderr
    );
    let value_of = |name: &str| {
        let files = events.iter().filter(|event| event["event"] == "file" && event["input"] == name);
        let files: Vec<&Value> = files.collect();
        assert_eq!(files.len(), 1, "{name}: {}", run.stderr);
        files[0]
    };
    assert_eq!((&value_of("a.mkv")["exit_code"], &value_of("b.mkv")["exit_code"]), (&3.into(), &0.into()));
    assert_eq!((&value_of("b.mkv")["output"], &value_of("b.mkv")["frames"]), (&"out/b.mkv".into(), &30.into()));
    assert_eq!(
        (&value_of("broken.mkv")["exit_code"], &value_of("broken.mkv")["error"]["kind"]),
        (&7.into(), &"damage".into())
    );
    dir.ffmpeg("-f lavfi -i testsrc2=size=96x64:rate=25 -frames:v 500 -pix_fmt yuv444p12le -c:v ffv1 long.mkv");
    let run = dir.succeeds("--jobs 2 --encoder prores_ks --backend cpu long.mkv c.mkv");
    run.says(&["warning: long.mkv: encoder prores_ks does not take", "by 2 jobs"]);
}

#[test]
fn one_plan_covers_all_pieces_of_many_files() {
    let dir = Dir::new();
    film(&dir, "a.mkv", 6, "-c:v ffv1 -c:a pcm_s16le");
    film(&dir, "b.mkv", 3, "-c:v ffv1 -c:a pcm_s16le");
    let plan = dir.succeeds("plan --output-dir out --encoder ffv1 --backend cpu --piece 2 a.mkv b.mkv").stdout;
    dir.write("plan.json", &plan);
    dir.succeeds("run plan.json --piece 0-2");
    dir.run("join plan.json").fails().says(&["1 of 2 files are not joined", "2 of 2 pieces are missing"]);
    dir.succeeds("run plan.json --piece 3");
    dir.succeeds("run plan.json --piece 4");
    dir.succeeds("join plan.json --file 1");
    for name in ["a.mkv", "b.mkv"] {
        dir.succeeds(&format!("-y {name} one.mkv --encoder ffv1 --backend cpu"));
        assert!(frames(&dir, "one.mkv") == frames(&dir, &format!("out/{name}")), "{name}");
    }
}

#[test]
fn events_tell_what_several_processes_have_done() {
    let dir = Dir::new();
    film(&dir, "in.mkv", 4, "-c:v mpeg4");
    film(&dir, "other.mkv", 1, "-c:v mpeg4");
    let events = |run: &Run| -> Vec<Value> {
        run.stderr.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect()
    };
    let options = "--backend cpu --encoder ffv1 --progress json";
    for (line, start, outputs) in [
        (format!("{options} --jobs 2 in.mkv jobs.mkv"), true, 1),
        (format!("{options} --output-dir out in.mkv other.mkv"), false, 0),
    ] {
        let run = dir.succeeds(&line);
        let told = events(&run);
        let last = told.last().expect("a line");
        let frames = if start { 100 } else { 125 };
        assert_eq!((last["event"].as_str(), last["exit_code"].as_u64()), (Some("result"), Some(0)), "{}", run.stderr);
        assert_eq!((last["frames"].as_u64(), last["outputs"].as_array().map(Vec::len)), (Some(frames), Some(outputs)));
        assert_eq!(told[0]["event"] == "start", start, "{}", run.stderr);
        let shares: Vec<f64> = told.iter().filter_map(|event| event["percent"].as_f64()).collect();
        assert!(shares.is_sorted() && shares.last() == Some(&100.0), "{}", run.stderr);
        for file in told.iter().filter(|event| event["event"] == "file") {
            assert_eq!(file["bytes"], dir.read(file["output"].as_str().expect("a name")).len(), "{file}");
        }
    }
    // In a log, a progress line has the whole name of the current file.
    let name = "a-name-that-goes-on-and-on-as-those-of-cameras-do.mkv";
    std::fs::copy(dir.path("in.mkv"), dir.path(name)).expect("a copy");
    let options = "--backend cpu --encoder ffv1 --filter realtime --progress plain --jobs 1 -y --output-dir out";
    let line = format!("{options} {name} other.mkv");
    let said = dir.succeeds(&line).stderr;
    assert!(said.contains(&format!("  0/2 files: {name}\n")), "{said}");
    dir.write("plan.json", &dir.succeeds("plan --backend cpu --encoder ffv1 in.mkv joined.mkv").stdout);
    dir.succeeds("run plan.json");
    let told = events(&dir.succeeds("join --progress json plan.json"));
    assert_eq!(told.last().expect("a line")["outputs"][0]["frames"], 100);
    // Cause and remedy are separate, for programs that offer their own remedy.
    let refused = events(&dir.run("--jobs 2 --filter vflip --progress json in.mkv no.mkv").fails());
    let [cause, remedy] = ["cause", "remedy"].map(|part| refused[0][part].as_str().expect("a text").to_owned());
    assert_eq!((&*cause, &*remedy), ("in.mkv: --filter: filters can reach across pieces", "leave --jobs out"));
    assert_eq!(refused[0]["message"], format!("{cause} ({remedy})"));
    dir.run("plan -n --backend cpu --encoder ffv1 in.mkv joined.mkv").exits_with(3).says(&["joined.mkv exists"]);
}

#[test]
fn a_piece_that_takes_too_long_is_not_tried_again() {
    let dir = Dir::new();
    film(&dir, "in.mkv", 8, "-c:v mpeg4");
    let plan = dir.succeeds("plan --backend cpu --encoder ffv1 --piece 4 in.mkv out.mkv").stdout;
    // The time limit ends the run before a piece is done.
    let plan = String::from_utf8_lossy(&plan).replace(r#""arguments":["#, r#""arguments":["--max-seconds","0.001","#);
    dir.write("plan.json", plan.as_bytes());
    dir.run("run plan.json --piece 0").fails().says(&["took longer than", "--max-seconds"]);
}
