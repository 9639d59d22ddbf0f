//! What people type who do not know the program: it is understood, or answered with what they want.

use crate::support::program::{Dir, Run, usage_error};
use crate::support::reader::encoder_is_here;
use crate::support::skip::skip;

fn with_clip(name: &str) -> Dir {
    let dir = Dir::new();
    dir.ffmpeg(&format!("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 10 -c:v ffv1 {name}"));
    dir
}

/// Requires that the program says one line.
#[track_caller]
fn in_one_line(run: Run) -> Run {
    assert_eq!(run.stderr.lines().count(), 1, "`{}` said:\n{}", run.command, run.stderr);
    run.says(&["histeq-video: error: "])
}

#[test]
fn no_arguments_are_answered_with_three_examples() {
    let run = usage_error("");
    assert_eq!(run.stderr.lines().filter(|line| line.starts_with("  histeq-video ")).count(), 3, "{}", run.stderr);
    run.says(&["Usage: histeq-video", "histeq-video -h"]).never_says("error");
}

#[test]
fn the_short_help_fits_on_a_terminal_of_24_lines() {
    let dir = Dir::new();
    let short = String::from_utf8(dir.succeeds("-h").stdout).expect("text");
    let rows: Vec<&str> = short.lines().collect();
    assert!(rows.len() <= 24 && rows.iter().all(|row| row.len() <= 80), "{} rows:\n{short}", rows.len());
    // It is written by hand: each option is one, and each command, too.
    let long = String::from_utf8(dir.succeeds("--help").stdout).expect("text");
    let options: Vec<&str> = rows.iter().filter_map(|row| row.trim().split("  ").next()).collect();
    let options: Vec<&&str> = options.iter().filter(|name| name.starts_with('-')).collect();
    assert!(options.len() >= 8);
    for option in options {
        assert!(long.lines().any(|row| row.trim().starts_with(*option)), "{option}");
    }
    for command in ["live", "preview", "compare", "plan", "run", "join", "status", "bench", "devices"] {
        assert!(short.contains(command), "{command}");
        dir.succeeds(&format!("{command} --help"));
    }
}

#[test]
fn names_of_input_and_output_may_have_the_options_of_ffmpeg() {
    for line in ["-i in.mkv out.mkv", "-i in.mkv -o out.mkv", "-o out.mkv -i in.mkv", "--output out.mkv in.mkv"] {
        let dir = with_clip("in.mkv");
        dir.succeeds(&format!("-q {line}"));
        assert_eq!(dir.frames("out.mkv").len(), 10, "{line}");
    }
    let dir = with_clip("in.mkv");
    dir.succeeds("-q -ss 0.2 -t 0.12 -c:v ffv1 -i in.mkv out.mkv");
    assert_eq!(dir.frames("out.mkv").len(), 3);
    if encoder_is_here("options of ffmpeg", "libx264") {
        dir.succeeds("-q -e libx264 -crf 30 -preset ultrafast in.mkv out.mp4");
    }
}

#[test]
fn options_of_other_programs_are_answered_in_a_line() {
    let dir = with_clip("in.mkv");
    let before = dir.files();
    for (line, says) in [
        ("-vf scale=640:-2 in.mkv out.mkv", "--filter CHAIN"),
        ("-c:a aac in.mkv out.mkv", "sound is passed on"),
        ("-sn in.mkv out.mkv", "--streams -s leaves the subtitles out"),
        ("-progress - in.mkv out.mkv", "--progress json"),
        ("-Z Fast in.mkv out.mkv", "--for web"),
        ("-map 0:v in.mkv out.mkv", "--video-stream"),
        ("--resume in.mkv", "--jobs N"),
        ("in.mkv --stop-at seconds:5 -o out.mkv", "--duration T"),
        ("--bitrate 5 in.mkv out.mkv", "5M are megabits"),
        ("--target-size 10 in.mkv out.mp4", "10M are megabytes"),
        ("--for youtube in.mkv", "--for web --fit off"),
        ("--for=WhatsApp in.mkv", "--target-size 16M"),
        ("compare --difference 8 in.mkv in.mkv out.mkv", "blend=all_mode=difference"),
        ("--look nihgt in.mkv out.mkv", "'night'"),
        ("--zzz in.mkv", "--help lists all options"),
        ("--strength 50 in.mkv out.mkv", "a number from 0 to 1"),
        ("--save-curves look.3dl in.mkv out.mkv", ".jsonl"),
        ("--save-curves curves.csv in.mkv out.mkv", ".cube"),
        ("--save-curves curves.npz in.mkv out.mkv", "lines of JSON (.jsonl)"),
    ] {
        in_one_line(dir.run(line).exits_with(2)).says(&[says]);
    }
    assert_eq!(dir.files(), before);
    dir.succeeds("-r 10 in.mkv out.mkv").says(&["-r is ignored", "--filter-after fps=N"]);
    dir.succeeds("-y --method natural --set bins=8 in.mkv out.mkv")
        .says(&["--set bins does nothing with --method natural"]);
}

#[test]
fn an_address_behind_web_is_no_camera_and_no_video() {
    let dir = with_clip("in.mkv");
    dir.succeeds("live --backend cpu --web 0 --frames 3 in.mkv").says(&["in a browser: http://127.0.0.1:"]);
    dir.succeeds("live --backend cpu --web localhost:0 --frames 3 in.mkv").says(&["in a browser: http://127.0.0.1:"]);
    dir.run("preview --web 0 none.mkv").fails().says(&["none.mkv: "]);
}

#[test]
fn words_that_say_what_is_so_here_are_left_out() {
    if !encoder_is_here("words of ffmpeg", "libx264") {
        return;
    }
    let dir = with_clip("in.mkv");
    dir.succeeds(
        "-hide_banner -nostdin -v error -i in.mkv -map 0 -map_metadata 0 -c:a copy -c:s copy -e x264 -q 30 -f matroska out.bin",
    );
    let found = dir.probe("-show_streams -show_format", "out.bin");
    assert_eq!(found["streams"][0]["codec_name"], "h264", "{found}");
    assert!(found["format"]["format_name"].as_str().is_some_and(|name| name.contains("matroska")), "{found}");
    dir.succeeds("-look exact -for web -y in.mkv out.mp4");
}

#[test]
fn what_a_folder_holds_of_this_program_is_not_equalized_again() {
    let dir = with_clip("in.mkv");
    dir.succeeds("-q in.mkv in-equalized.mkv");
    if rustix::fs::getxattr(dir.path("in-equalized.mkv"), "user.histeq-video", &mut [0u8; 1]).is_err() {
        return skip("attributes", "this file system keeps none");
    }
    dir.succeeds("--output-dir clear .").says(&["1 file with 10 frames"]);
    dir.succeeds("--output-dir clear .").says(&["1 file was there (-y makes it again)"]);
    // Named, it is taken.
    dir.succeeds("--output-dir twice in-equalized.mkv").says(&["1 file with 10 frames"]);
}

#[test]
fn a_command_that_is_misspelt_is_proposed() {
    let dir = with_clip("in.mkv");
    in_one_line(dir.run("prevew in.mkv").exits_with(2)).says(&["prevew: no such file, and no such command: preview?"]);
    in_one_line(dir.run("complete in.mkv in2.mkv").exits_with(2)).says(&["?"]);
    // What looks like a file is one, and so is what is like no command.
    in_one_line(dir.run("tapes out.mkv").exits_with(4)).says(&["tapes: No such file"]);
    in_one_line(dir.run("a out.mkv").exits_with(4)).says(&["a: No such file"]);
    in_one_line(dir.run("preview.mkv out.mkv").exits_with(4)).says(&["preview.mkv: No such file"]);
}

#[test]
fn of_two_sources_none_is_replaced() {
    let dir = with_clip("a.mkv");
    dir.ffmpeg("-f lavfi -i testsrc=size=64x48:rate=25 -frames:v 10 -c:v ffv1 b.mkv");
    let before = dir.files();
    // As a shell has it for *.mkv.
    in_one_line(dir.run("a.mkv b.mkv").fails())
        .says(&["b.mkv exists, and may be a source", "--output-dir DIR"])
        .never_says("-y");
    let run = dir.run("-y a.mkv b.mkv");
    let keeps_attributes = run.code != Some(0);
    if keeps_attributes {
        in_one_line(run.fails()).says(&["-y does not replace it", "--output-dir DIR"]);
        assert_eq!(dir.files(), before);
        // What was made here is replaced, and so is what a pattern does not stand for.
        dir.succeeds("-q a.mkv c.mkv");
        std::fs::remove_file(dir.path("b.mkv")).expect("a file");
        dir.run("a.mkv c.mkv").fails().says(&["c.mkv exists (use -y to overwrite it)"]);
        dir.succeeds("-q -y a.mkv c.mkv");
        std::fs::copy(dir.path("a.mkv"), dir.path("b.mkv")).expect("a copy");
        dir.succeeds("-q -y a.mkv b.mkv");
    } else {
        crate::support::skip::skip("sources that -y does not replace", "the file system keeps no attributes");
    }
}

#[test]
fn an_input_that_cannot_be_opened_is_named_before_an_output_that_exists() {
    let dir = with_clip("out.mkv");
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48 -frames:v 1 out.png");
    let before = dir.files();
    for line in ["missing.mkv out.mkv", "compare missing.mkv out.mkv out.png", "preview missing.mkv out.png"] {
        in_one_line(dir.run(line).exits_with(4)).says(&["missing.mkv: No such file or directory"]).never_says("exists");
    }
    assert_eq!(dir.files(), before);
}

#[test]
fn a_folder_as_an_input_says_how() {
    let dir = with_clip("in.mkv");
    // A number may be in the name of a folder, too.
    std::fs::create_dir(dir.path("set1")).expect("a folder");
    dir.ffmpeg("-i in.mkv -frames:v 1 one.png");
    std::fs::rename(dir.path("one.png"), dir.path("set1/one.png")).expect("a file");
    dir.succeeds("-q set%d/one.png out.mkv");
    std::fs::create_dir(dir.path("two")).expect("a folder");
    for line in ["two", "two out.mkv"] {
        in_one_line(dir.run(line).exits_with(2)).says(&["two is a folder", "--output-dir DIR two"]);
    }
}

#[test]
fn a_run_that_changes_nothing_to_be_seen_says_so() {
    let dir = Dir::new();
    // All levels are in use, there is no cast, and no veil.
    dir.ffmpeg("-f lavfi -i testsrc2=size=320x240:rate=25 -frames:v 10 -c:v ffv1 in.mkv");
    let run = dir.succeeds("--backend cpu --encoder ffv1 in.mkv out.mkv");
    run.says(&["nothing to correct, so it looks as before\n(`histeq-video preview` shows other looks"]);
    // Whatever the method.
    let said = "the method changes no sample, so it looks as before (`histeq-video preview` shows other looks)\n";
    for method in ["global", "clahe"] {
        let line = format!("--method {method} --strength 0 --levels 1 --backend cpu -y --encoder ffv1 in.mkv out.mkv");
        dir.succeeds(&line).says(&[said]);
    }
    dir.succeeds("--exact --backend cpu -y --encoder ffv1 in.mkv out.mkv").never_says("as before");
}

#[test]
fn an_input_that_is_no_video_is_named_before_an_output_that_exists() {
    let dir = with_clip("in.mkv");
    dir.write("text.mp4", b"no video");
    let before = dir.files();
    in_one_line(dir.run("text.mp4 in.mkv").exits_with(7)).says(&["text.mp4: not a video"]).never_says("exists");
    in_one_line(dir.run("in.mkv text.mp4").exits_with(10)).says(&["text.mp4 exists (use -y"]);
    dir.run("-n text.mp4 in.mkv").exits_with(3);
    assert_eq!(dir.files(), before);
}

#[test]
fn a_plan_has_no_dry_run() {
    let dir = with_clip("in.mkv");
    in_one_line(dir.run("plan --dry-run in.mkv out.mkv").exits_with(2)).says(&["--dry-run: plan writes no video"]);
}

#[test]
fn an_image_for_a_video_is_one_line() {
    let dir = with_clip("in.mkv");
    in_one_line(dir.run("in.mkv out.png").fails()).says(&["out.png: an image holds one frame only", "--frames 1"]);
    dir.succeeds("-q --frames 1 in.mkv out.png");
}

#[test]
fn nvenc_without_a_gpu_says_what_is_missing() {
    if histeq::cuda::find_driver().is_ok() {
        skip("no-gpu", "there is one");
        return;
    }
    if !encoder_is_here("NVENC", "h264_nvenc") {
        return;
    }
    let dir = with_clip("in.mkv");
    let run = in_one_line(dir.run("--encoder h264_nvenc in.mkv out.mkv").exits_with(6));
    run.says(&["encoder h264_nvenc needs a GPU", "no CUDA driver found"]).never_says("not permitted");
}

#[test]
fn web_video_says_what_it_scales_down() {
    if !encoder_is_here("web video", "libx264") {
        return;
    }
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=2560x1440:rate=25 -frames:v 2 -c:v ffv1 in.mkv");
    dir.succeeds("--for web in.mkv out.mp4").says(&["scaled down from 2560x1440 to 1920x1080 (--fit off"]);
    assert_eq!(dir.streams("out.mp4")[0]["width"], 1920);
    dir.succeeds("--for web --fit off -y in.mkv out.mp4").never_says("scaled down");
    assert_eq!(dir.streams("out.mp4")[0]["width"], 2560);
}

#[test]
fn dnxhr_stays_dnxhr() {
    if !encoder_is_here("DNxHR", "dnxhd") {
        return;
    }
    for (profile, format, name) in
        [("hqx", "yuv422p10le", "DNXHR HQX"), ("sq", "yuv422p", "DNXHR SQ"), ("444", "yuv444p10le", "DNXHR 444")]
    {
        let dir = Dir::new();
        let source = "-f lavfi -i testsrc2=size=320x180:rate=25 -frames:v 5 -c:v dnxhd";
        dir.ffmpeg(&format!("{source} -profile:v dnxhr_{profile} -pix_fmt {format} in.mov"));
        dir.succeeds("in.mov out.mov").never_says("not kept");
        let stream = &dir.streams("out.mov")[0];
        assert_eq!((&stream["profile"], &stream["pix_fmt"]), (&name.into(), &format.into()), "{stream}");
    }
}

#[test]
fn a_second_input_is_never_taken_for_the_output() {
    let dir = with_clip("a.mkv");
    std::fs::copy(dir.path("a.mkv"), dir.path("b.mkv")).expect("a copy");
    let before = std::fs::read(dir.path("b.mkv")).expect("a file");
    in_one_line(dir.run("-y -i a.mkv -i b.mkv").exits_with(2)).says(&["-i: one input", "--output-dir DIR"]);
    assert!(std::fs::read(dir.path("b.mkv")).expect("a file") == before);
    dir.succeeds("-q --output-dir out -i a.mkv -i b.mkv");
}

#[test]
fn undo_is_answered_with_the_original() {
    let dir = with_clip("in.mkv");
    for line in ["restore in.mkv c.jsonl out.mkv", "undo in.mkv", "revert in.mkv c.jsonl out.mkv", "reset"] {
        in_one_line(dir.run(line).exits_with(2)).says(&["the video that was equalized is as it was"]);
    }
    assert_eq!(dir.names(), ["in.mkv"]);
    // A file may have this name.
    std::fs::copy(dir.path("in.mkv"), dir.path("restore")).expect("a copy");
    dir.succeeds("restore out.mkv");
}

#[test]
fn names_of_looks_methods_and_purposes_may_have_capitals() {
    let dir = with_clip("in.mkv");
    for option in
        ["--look Underwater", "--look AUTO", "--method Global", "--smooth Scene", "--set chroma=KEEP", "--log Off"]
    {
        dir.succeeds(&format!("-q -y --backend CPU {option} in.mkv out.mkv"));
    }
    dir.succeeds("preview -q -y --looks Night,EXACT in.mkv out.png");
    dir.run("--look Nihgt in.mkv out.mkv").exits_with(2).says(&["'night'"]);
    if encoder_is_here("a purpose", "libx264") {
        dir.succeeds("-q -y --for Web in.mkv out.mp4");
    }
}

#[test]
fn a_look_or_method_as_an_option_is_answered_with_the_option() {
    let dir = with_clip("in.mkv");
    for (line, says) in [
        ("--underwater in.mkv", "--look underwater"),
        ("--Night in.mkv", "--look night"),
        ("preview --haze in.mkv", "--look haze"),
        ("--clahe in.mkv out.mkv", "--method clahe"),
    ] {
        in_one_line(dir.run(line).exits_with(2)).says(&[says]);
    }
    assert_eq!(dir.names(), ["in.mkv"]);
}

#[test]
fn many_files_for_a_purpose_get_the_names_of_its_files() {
    if !encoder_is_here("web video", "libx264") {
        return;
    }
    let dir = with_clip("a.mkv");
    for name in ["b.mov", "c.MP4"] {
        dir.ffmpeg(&format!("-i a.mkv -c:v mpeg4 {name}"));
    }
    dir.succeeds("-q --output-dir web --for web a.mkv b.mov c.MP4");
    dir.succeeds("-q --output-dir kept --for archive a.mkv b.mov");
    let made: Vec<String> = dir.names().into_iter().filter(|name| name.contains('/')).collect();
    assert_eq!(made, ["kept/a.mkv", "kept/b.mkv", "web/a.mp4", "web/b.mp4", "web/c.MP4"]);
    assert_eq!(dir.streams("web/b.mp4")[0]["codec_name"], "h264");
    let format = &dir.probe("-show_format", "web/b.mp4")["format"];
    assert_ne!(format["tags"]["major_brand"], "qt  ", "{format}");
    dir.ffmpeg("-i a.mkv -c:v mpeg4 a.mov");
    in_one_line(dir.run("--output-dir both --for web a.mkv a.mov").exits_with(2))
        .says(&["two inputs would become both/a.mp4"]);
}
