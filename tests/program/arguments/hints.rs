//! Mistakes of people who do not know the program: it understands them, or answers with the right command.

use crate::support::media::reader::{encoder_is_here, filter_is_here};
use crate::support::programs::program::{Dir, Run, program, usage_error};
use crate::support::skip::skip;

pub fn with_clip(name: &str) -> Dir {
    let dir = Dir::new();
    dir.ffmpeg(&format!("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 10 -c:v ffv1 {name}"));
    dir
}

/// Requires that the program says one line.
#[track_caller]
pub fn in_one_line(run: Run) -> Run {
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
    // The short help is written by hand: its options and commands have to exist.
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
fn raw_frames_are_described_as_ffmpeg_describes_them() {
    let dir = Dir::new();
    let frames = vec![100; 3 * 64 * 48 * 3 / 2];
    let raw = "-f rawvideo -pix_fmt yuv420p -video_size 64x48 -framerate 12.5 -i - --encoder ffv1 raw.mkv";
    dir.fed(raw, &frames).exits_with(0);
    let stream = &dir.streams("raw.mkv")[0];
    assert_eq!(
        (&stream["width"], &stream["r_frame_rate"], dir.frames("raw.mkv").len()),
        (&64.into(), &"25/2".into(), 3)
    );
}

#[test]
fn a_forgotten_unit_removes_no_recording() {
    let dir = with_clip("in.mkv");
    for (options, says) in [("--keep 7", "7 seconds"), ("--keep-size 20", "20G are gigabytes")] {
        let line = format!("live --no-preview --record c-%s.mkv --segment 1h {options} in.mkv");
        in_one_line(dir.run(&line).exits_with(2)).says(&[says]);
    }
    assert_eq!(dir.names(), ["in.mkv"]);
}

#[test]
fn a_word_that_means_an_option_brings_no_other_one_in() {
    let dir = with_clip("in.mkv");
    dir.succeeds("-q in.mkv");
    let before = dir.read("in-equalized.mkv");
    for line in [
        "in.mkv --output=-y",
        "in.mkv -o -y",
        "in.mkv --output -y",
        "in.mkv --force=no",
        "in.mkv --yes=false",
        "in.mkv --overwrite=0",
        "in.mkv --output=--sandbox=off",
        "--input=--stats=x.csv in.mkv",
    ] {
        assert_ne!(dir.run(line).code, Some(0), "{line}");
        assert!(dir.read("in-equalized.mkv") == before, "{line}");
    }
    assert_eq!(dir.names(), ["in-equalized.mkv", "in.mkv"]);
    // The name of a file may begin with a dash.
    dir.succeeds("-q in.mkv --output=-y.mkv");
    assert_eq!(dir.names(), ["-y.mkv", "in-equalized.mkv", "in.mkv"]);
    // `debug` after `-v` is a log level, unless a folder has that name.
    std::fs::create_dir(dir.path("debug")).expect("a folder");
    std::fs::copy(dir.path("in.mkv"), dir.path("debug/a.mkv")).expect("a copy");
    dir.succeeds("--output-dir eq -v debug in.mkv").says(&["2 files"]);
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
    // An earlier output is equalized if the user names it, or if its folder contains nothing else.
    dir.succeeds("--output-dir twice in-equalized.mkv").says(&["1 file with 10 frames"]);
    dir.succeeds("--output-dir again clear").says(&["1 file with 10 frames"]);
}

#[test]
fn a_command_that_is_misspelt_is_proposed() {
    let dir = with_clip("in.mkv");
    in_one_line(dir.run("prevew in.mkv").exits_with(2)).says(&["prevew: no such file, and no such command: preview?"]);
    in_one_line(dir.run("complete in.mkv in2.mkv").exits_with(2)).says(&["?"]);
    // Words that look like files, or resemble no command, are treated as files.
    in_one_line(dir.run("tapes out.mkv").exits_with(4)).says(&["tapes: No such file"]);
    in_one_line(dir.run("a out.mkv").exits_with(4)).says(&["a: No such file"]);
    in_one_line(dir.run("preview.mkv out.mkv").exits_with(4)).says(&["preview.mkv: No such file"]);
}

#[test]
fn none_of_two_sources_is_replaced() {
    let dir = with_clip("a.mkv");
    dir.ffmpeg("-f lavfi -i testsrc=size=64x48:rate=25 -frames:v 10 -c:v ffv1 b.mkv");
    let before = dir.files();
    // A shell expands `*.mkv` to this command line.
    in_one_line(dir.run("a.mkv b.mkv").fails())
        .says(&["b.mkv exists, and may be a source", "--output-dir DIR"])
        .never_says("-y");
    let run = dir.run("-y a.mkv b.mkv");
    let keeps_attributes = run.code != Some(0);
    if keeps_attributes {
        in_one_line(run.fails()).says(&["-y does not replace it", "--output-dir DIR"]);
        assert_eq!(dir.files(), before);
        // With -y, an output of this program is replaced, and so is a file if no pattern expands to the two names.
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
    // The number may be in the name of the folder.
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
    // The clip uses all levels, has neither a colour cast nor haze, and a clock in its corner.
    dir.ffmpeg("-f lavfi -i testsrc2=size=320x240:rate=25 -frames:v 10 -c:v ffv1 in.mkv");
    let run = dir.succeeds("--backend cpu --encoder ffv1 in.mkv out.mkv");
    run.says(&[
        "nothing to correct, captions left out, so it looks as before (`histeq-video preview` shows other looks",
    ]);
    // Runs that choose a method print the note, too.
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
    if histeq::internal::cuda::find_driver().is_ok() {
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
fn dnxhr_has_a_profile_for_every_size_and_format() {
    if !encoder_is_here("DNxHR", "dnxhd") {
        return;
    }
    let dir = Dir::new();
    for (format, profile, made) in [
        ("yuv420p", "DNXHR HQ", "yuv422p"),
        ("yuv422p10le", "DNXHR HQX", "yuv422p10le"),
        ("yuv444p", "DNXHR 444", "yuv444p10le"),
        ("bgr0", "DNXHR 444", "gbrp10le"),
    ] {
        let source = format!("-f lavfi -i testsrc2=size=320x180:rate=25,format={format}");
        dir.ffmpeg(&format!("{source} -frames:v 2 -c:v ffv1 -y in.mkv"));
        dir.succeeds("--encoder dnxhd -y in.mkv out.mov");
        let stream = &dir.streams("out.mov")[0];
        assert_eq!((&stream["profile"], &stream["pix_fmt"]), (&profile.into(), &made.into()), "{format}");
    }
    dir.ffmpeg("-f lavfi -i testsrc2=size=1920x1080:rate=25,format=yuv422p -frames:v 2 -c:v ffv1 -y in.mkv");
    dir.succeeds("--encoder dnxhd --bitrate 120M -y in.mkv out.mov");
    assert_eq!(dir.streams("out.mov")[0]["profile"], "DNXHD");
    let words = ["DNxHD has few sizes and bit rates", "--bitrate 120M"];
    dir.run("--encoder dnxhd --bitrate 1M -y in.mkv out.mov").fails().says(&words);
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
    // A file named `restore` is an input, not the command.
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

#[test]
fn what_people_type_elsewhere_is_answered_with_what_does_it_here() {
    let dir = with_clip("in.mkv");
    dir.write("-dash.mkv", &dir.read("in.mkv"));
    let before = dir.files();
    for (line, says) in [
        ("--resolution 640x480", "--fit 1280x720"),
        ("--scale 2", "--fit 1280x720"),
        ("-resize 50%", "--fit 1280x720"),
        ("--crop 32:32:0:0", "--filter crop=W:H:X:Y"),
        ("--fps 30", "--filter-after fps=N"),
        ("--rotate 90", "--filter-after transpose=1"),
        ("--stabilize", "--filter deshake"),
        ("--deinterlace", "--filter yadif"),
        ("--brightness 1.2", "--look night"),
        ("--exposure 1", "--filter-after eq=gamma=1.3"),
        ("--gamma=1.2", "--filter-after eq=gamma=1.3"),
        ("--contrast 2", "--filter-after eq=contrast=1.2"),
        ("--strength 1.5", "--filter-after eq=gamma=1.3"),
        ("--normalize", "--exact"),
        ("--low-noise", "--denoise S"),
        ("--audio aac", "sound is passed on"),
        ("--no-audio", "--streams -a"),
        ("--to 5", "--duration T"),
        ("--trim 0:5", "--start T"),
        ("--recursive", "--output-dir DIR FOLDER"),
        ("--quality 20", "--crf Q"),
        ("--hwaccel cuda", "--decoder nvdec"),
        ("--x264-params a=1", "--encoder-option KEY=VALUE"),
        ("--export-lut x.cube", "--save-curves NAME.cube"),
        ("--size 16M", "--target-size 16M"),
        ("--json", "--progress json"),
        ("--startrecording", "histeq-video live"),
        ("--record a.mkv", "histeq-video live --record"),
        ("--web", "histeq-video live --web"),
        ("--web=8125", "it is an option of live, preview"),
        ("--for telegram", "--for web"),
        ("--for=Signal", "--for web"),
        ("--for tv", "--for quality"),
        ("--for davinci", "--for edit"),
        ("--for prores", "--for edit"),
        ("--encoder nvenc", "h264_nvenc"),
        ("--encoder=prores_hq", "--encoder-option profile=hq"),
        ("-c:v copy", "encoded again"),
        ("--output-pixel-format 10bit", "--output-depth 10"),
        ("-dash.mkv", "./-dash.mkv names it"),
    ] {
        let run = in_one_line(dir.run(&format!("{line} in.mkv out.mkv")).exits_with(2)).says(&[says]);
        run.never_says("a similar");
    }
    for (line, says) in [
        ("live --filter-after hflip in.mkv", "(histeq-video --filter-after)"),
        ("compare --split --look night in.mkv in.mkv out.mkv", "--look"),
        ("preview --crf 20 in.mkv", "--crf"),
    ] {
        in_one_line(dir.run(line).exits_with(2)).says(&[says, "it is an option of"]);
    }
    assert_eq!(dir.files(), before);
}

#[test]
fn an_option_is_proposed_by_its_spelling_where_few_letters_differ() {
    let dir = with_clip("in.mkv");
    for (word, ours) in [
        ("--framse", "--frames"),
        ("--durration", "--duration"),
        ("--strenght", "--strength"),
        ("--lok", "--look"),
        ("--encodr", "--encoder"),
    ] {
        in_one_line(dir.run(&format!("{word} 1 in.mkv out.mkv")).exits_with(2)).says(&[&format!("exists: '{ours}'")]);
    }
    // Clap finds all of these similar to an option.
    for word in ["--progressive", "--lutz-file", "--sampling", "--curvature", "--forth"] {
        let run = in_one_line(dir.run(&format!("{word} in.mkv out.mkv")).exits_with(2));
        run.says(&["--help lists all options"]).never_says("a similar");
    }
    in_one_line(dir.run("run --jubs 2 plan.json").exits_with(2)).says(&["exists: '--jobs'"]);
    assert_eq!(dir.names(), ["in.mkv"]);
}

#[test]
fn a_name_behind_an_equals_sign_is_that_of_the_output() {
    let dir = with_clip("in.mkv");
    for line in
        ["in.mkv --output=a.mkv", "--input=in.mkv '--output=b c.mkv'", "--vcodec=ffv1 --silent --out d.mkv -i in.mkv"]
    {
        dir.succeeds(line);
    }
    dir.succeeds("--force --vcodec ffv1 --ss 0.2s --t 0.12 in.mkv a.mkv");
    assert_eq!(dir.names(), ["a.mkv", "b c.mkv", "d.mkv", "in.mkv"]);
    assert_eq!(["a.mkv", "'b c.mkv'", "d.mkv"].map(|name| dir.frames(name).len()), [3, 10, 10]);
    let frames = vec![100; 2 * 64 * 48 * 3];
    let line = "-f rawvideo -s 64x48 --pixel-format bgr --encoder ffv1 - raw.mkv";
    dir.fed(line, &frames).exits_with(0);
    assert_eq!(dir.frames("raw.mkv").len(), 2);
}

#[test]
fn a_time_may_have_units_wherever_one_is_taken() {
    let dir = with_clip("in.mkv");
    let made = |name: &str, options: &str| {
        dir.succeeds(&format!("-q --backend cpu --encoder ffv1 {options} in.mkv {name}.nut"));
        (dir.frames(&format!("{name}.nut")).len(), dir.raw(&format!("{name}.nut"), "yuv420p"))
    };
    let plain = made("plain", "--start 0.2 --duration 60 --smooth 0.2 --set look-ahead=0.1");
    assert_eq!(plain.0, 5);
    let limits = "--max-duration 1h --max-seconds 90s";
    let units = made("units", &format!("--start 200ms --duration 1m {limits} --smooth 200ms --set look-ahead=100ms"));
    assert!(units == plain);
    made("colons", &format!("--start 0:00.2 --duration 1:30 {limits} --smooth 0:02"));
    dir.succeeds("live -q --backend cpu --no-preview --wait=1m --duration 1h --encoder ffv1 --record live.mkv in.mkv");
    assert!(!dir.frames("live.mkv").is_empty());
    for line in ["--start soon in.mkv out.mkv", "--smooth 2h in.mkv out.mkv", "live --wait=later in.mkv"] {
        in_one_line(dir.run(line).exits_with(2));
    }
}

#[test]
fn what_is_live_is_answered_with_the_command_for_it() {
    let dir = Dir::new();
    for name in ["rtsp://127.0.0.1:1/gate", "srt://127.0.0.1:1", "rtmp://127.0.0.1/live/a", "/dev/video0"] {
        in_one_line(dir.run(name).exits_with(2)).says(&[&format!("histeq-video live {name}"), "--record FILE"]);
    }
    in_one_line(dir.run("/dev/video0 out.mkv").exits_with(2)).says(&["histeq-video live /dev/video0"]);
    // A stream may be recorded to a file, without `live`.
    in_one_line(dir.run("rtsp://127.0.0.1:1/gate out.mkv").fails()).never_says("histeq-video live");
    let dir = with_clip("in.mkv");
    let mut command = dir.command("live in.mkv");
    for name in ["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET"] {
        command.env_remove(name);
    }
    Run::from_command(&mut command, "live in.mkv").fails().says(&["no display", "--web", "--record out.mkv"]);
    dir.succeeds("live --backend cpu --web 0 --duration 1 in.mkv").says(&["in a browser: http://127.0.0.1:"]);
    assert_eq!(dir.names(), ["in.mkv"]);
}

#[test]
fn brighter_is_what_the_answer_to_brightness_makes() {
    if !filter_is_here("a brighter picture", "eq") {
        return;
    }
    let dir = with_clip("in.mkv");
    let answer = in_one_line(dir.run("--brightness 1.3 in.mkv").exits_with(2)).stderr;
    let (_, option) = answer.split_once("--filter-after ").expect("an option");
    let chain = option.split(' ').next().expect("a chain");
    let light = |name: &str, options: &str| -> u64 {
        dir.succeeds(&format!("-q --backend cpu --encoder ffv1 {options} in.mkv {name}"));
        dir.raw(name, "gray").iter().map(|&level| u64::from(level)).sum()
    };
    let (before, after) = (light("as-it-is.mkv", ""), light("brighter.mkv", &format!("--filter-after {chain}")));
    assert!(after > before + before / 20, "{before} {after}");
}

#[test]
fn a_folder_in_place_of_a_file_is_answered_with_the_option_for_folders() {
    let dir = with_clip("in.mkv");
    std::fs::create_dir(dir.path("my dives 2026")).expect("a folder");
    in_one_line(dir.run("in.mkv .").exits_with(10)).says(&["--output-dir . "]);
    in_one_line(dir.run("in.mkv 'my dives 2026'").exits_with(10)).says(&["--output-dir 'my dives 2026' "]);
    in_one_line(dir.run("in.mkv nowhere/").exits_with(2)).says(&["no such folder", "--output-dir nowhere/ "]);
    in_one_line(dir.run("--output-dir in.mkv/x in.mkv").fails())
        .says(&["in.mkv/x: the folder cannot be made", "elsewhere"]);
    std::fs::copy(dir.path("in.mkv"), dir.path("my dives 2026/it's one.mkv")).expect("a copy");
    // The unquoted words are the parts of one name.
    for line in ["my dives 2026", "--output-dir out my dives 2026", "preview my dives 2026", "live my dives 2026"] {
        let run = in_one_line(dir.run(line).exits_with(2));
        run.says(&["my: no such file, but 'my dives 2026' is there", "quotes"]);
    }
    // The proposed command works in a shell.
    let said = in_one_line(dir.run("'my dives 2026'").exits_with(2)).stderr;
    let (_, proposal) = said.split_once(" is a folder (").expect("a proposal");
    let options = proposal.split(" equalizes").next().expect("a command line");
    let line = format!("{} -q --backend cpu {options}", program().display());
    Run::from_command(dir.other_command("bash", "-c").arg(&line), &line).exits_with(0);
    std::fs::rename(dir.path("DIR/it's one.mkv"), dir.path("one.mkv")).expect("a file");
    assert_eq!(dir.frames("one.mkv").len(), 10);
}

#[test]
fn no_message_has_the_code_of_a_systems_error() {
    let dir = with_clip("in.mkv");
    for (line, code) in [
        ("--lut missing.cube in.mkv out.mkv", 4),
        ("--load-curves missing.jsonl in.mkv out.mkv", 4),
        ("--progress json --load-curves missing.jsonl in.mkv out.mkv", 4),
        ("--output-dir in.mkv/x in.mkv", 4),
        ("live --config missing.toml", 2),
        ("run missing.json", 4),
        ("status missing.json", 4),
        ("man --out in.mkv/pages", 4),
    ] {
        let run = dir.run(line).exits_with(code).never_says("os error");
        assert!(
            ["No such file or directory", "Not a directory"].iter().any(|words| run.stderr.contains(words)),
            "{line}"
        );
    }
    let mut command = dir.command("in.mkv");
    Run::from_command(command.env("HISTEQ_CONFIG", "missing.toml"), "in.mkv")
        .exits_with(2)
        .says(&["missing.toml: No such file or directory (HISTEQ_CONFIG= reads none)"]);
}
