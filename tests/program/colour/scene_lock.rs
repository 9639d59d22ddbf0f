//! `--smooth scene`: a file is read twice, and all frames of a scene get one mapping.

use crate::program::outputs::interrupt::interrupted;
use crate::support::programs::program::{Dir, usage_error};
use serde_json::Value;

/// Frames in each scene of the clip.
const FRAMES: usize = 30;

/// Two brightening scenes; the first has weak colours and a flash of two frames, the second strong colours.
fn film(dir: &Dir, format: &str) {
    let weak = "lutyuv=y='60+val/4':u='128+(val-128)/2':v='128+(val-128)/2'";
    let flash = "drawbox=color=white:t=fill:enable='between(n\\,12\\,13)'";
    dir.ffmpeg(&format!(
        "-f lavfi -i testsrc2=size=96x64:rate=25 -filter_complex \
         [0]trim=end_frame={FRAMES},{weak},{flash}[a];\
         [0]trim=start_frame={FRAMES}:end_frame=60,setpts=PTS-STARTPTS,hflip,lutyuv=y='30+val*3/5'[b];\
         [a][b]concat,geq=lum='lum(X\\,Y)+N/3':cb='cb(X\\,Y)':cr='cr(X\\,Y)',format={format} -c:v ffv1 in.mkv"
    ));
}

fn lines(dir: &Dir, file: &str) -> Vec<Value> {
    let text = String::from_utf8(dir.read(file)).expect("text");
    text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

#[test]
fn scenes_are_found_of_frames_as_deep_as_they_are_equalized() {
    let dir = Dir::new();
    film(&dir, "yuv420p");
    for (depth, codes) in [("8", 4096), ("10", 1024)] {
        let options = format!("--method global --smooth scene --output-depth {depth} --save-curves c.jsonl");
        dir.succeeds(&format!("{options} --encoder ffv1 -y in.mkv out.mkv"))
            .says(&["first pass: 2 scenes in 60 frames"]);
        let curves = lines(&dir, "c.jsonl");
        assert_eq!(curves.len(), 3);
        assert_eq!(curves[1]["lut"].as_array().unwrap().len(), codes);
    }
}

#[test]
fn every_frame_of_a_scene_has_the_same_curve_and_a_cut_starts_another() {
    let dir = Dir::new();
    film(&dir, "yuv420p");
    let run = dir.succeeds(
        "--method global --smooth scene --save-curves c.jsonl --stats s.jsonl --verify --encoder ffv1 in.mkv out.mkv",
    );
    run.says(&["first pass: 2 scenes in 60 frames"]);
    let starts: Vec<u64> = lines(&dir, "c.jsonl")[1..].iter().map(|line| line["frame"].as_u64().unwrap()).collect();
    assert_eq!(starts, [0, FRAMES as u64]);
    for (number, record) in lines(&dir, "s.jsonl").iter().enumerate() {
        assert_eq!(record["scene"], u64::from(number >= FRAMES), "frame {number}");
        assert_eq!(record["cut"], number == FRAMES, "frame {number}");
        assert_eq!(record["curve_change"].as_f64().unwrap() > 0.0, number == FRAMES, "frame {number}");
    }
    dir.succeeds("--load-curves c.jsonl --encoder ffv1 in.mkv again.mkv");
    assert!(dir.raw("out.mkv", "yuv420p") == dir.raw("again.mkv", "yuv420p"));
    dir.succeeds("--method global --smooth 0.2 --save-curves c.jsonl --encoder ffv1 -y in.mkv out.mkv");
    assert!(lines(&dir, "c.jsonl").len() > 10, "with a window, the curve should follow the light");
}

#[test]
fn a_scene_is_what_a_window_is_that_holds_all_of_it() {
    let dir = Dir::new();
    for (format, options) in [
        ("yuv420p", "--method global"),
        ("yuv444p10le", "--look night --method global --denoise 0"),
        ("yuv420p", "--look night --method global"),
        ("bgr0", "--look thermal --set bins=50"),
        ("yuv420p", "--roi 10,10,50,40 --set plateau=60 --set gray"),
        ("yuv420p", "--filter hflip --max-gain 3 --strength 0.7"),
    ] {
        film(&dir, format);
        let value_of = |window: &str| {
            dir.succeeds(&format!("{options} {window} --encoder ffv1 -y in.mkv out.mkv"));
            dir.raw("out.mkv", format)
        };
        let whole = value_of("--smooth scene");
        assert!(whole == value_of("--smooth 4 --set look-ahead=4"), "{format} {options}");
        assert!(whole != value_of("--smooth 0.2"), "{format} {options}");
    }
}

#[test]
fn a_part_of_a_file_is_like_a_file_of_that_part() {
    let dir = Dir::new();
    film(&dir, "yuv444p");
    dir.ffmpeg("-i in.mkv -vf trim=start_frame=10:end_frame=45,setpts=PTS-STARTPTS -c:v ffv1 part.mkv");
    for options in ["", "--look haze"] {
        dir.succeeds(&format!("{options} --smooth scene --encoder ffv1 -y part.mkv expected.mkv"));
        let expected = dir.raw("expected.mkv", "yuv444p");
        for part in ["--start 0.4 --frames 35", "--start 0.4 --duration 1.4"] {
            dir.succeeds(&format!("{options} --smooth scene {part} --encoder ffv1 -y in.mkv out.mkv"));
            assert!(expected == dir.raw("out.mkv", "yuv444p"), "{options} {part}");
        }
    }
}

#[test]
fn a_mask_statistics_and_pictures_of_two_sizes_go_with_whole_scenes() {
    let dir = Dir::new();
    film(&dir, "yuv420p");
    dir.ffmpeg("-f lavfi -i color=white:size=96x64 -frames:v 1 -vf format=gray,drawbox=20:0:32:64:black:fill mask.png");
    let value_of = |options: &str| {
        dir.succeeds(&format!("{options} --method global --encoder ffv1 -y in.mkv out.mkv"));
        dir.raw("out.mkv", "yuv420p")
    };
    let masked = value_of("--smooth scene --mask mask.png");
    assert!(masked == value_of("--smooth 4 --set look-ahead=4 --mask mask.png"));
    assert!(masked != value_of("--smooth scene"));
    for look in ["haze", "underwater"] {
        dir.succeeds(&format!("--look {look} --smooth scene --stats s.jsonl --encoder ffv1 -y in.mkv out.mkv"));
        assert_eq!(lines(&dir, "s.jsonl").len(), 60);
    }
    for (file, size) in [("a.mjpeg", "96x64"), ("b.mjpeg", "64x48")] {
        dir.ffmpeg(&format!("-f lavfi -i testsrc2=size={size}:rate=25 -frames:v 5 {file}"));
    }
    dir.write("both.mjpeg", &[dir.read("a.mjpeg"), dir.read("b.mjpeg")].concat());
    dir.succeeds("--smooth scene both.mjpeg both.mkv").says(&["2 scenes in 10 frames"]);
    dir.ffmpeg("-f lavfi -i testsrc2=size=96x64:rate=25 -frames:v 3 frame%d.png");
    dir.succeeds("--smooth scene frame%d.png new%d.png").says(&["1 scene in 3 frames"]);
    dir.succeeds("--smooth scene frame1.png new.png").says(&["1 scene in 1 frame"]);
}

#[test]
fn what_cannot_be_read_twice_is_refused() {
    let dir = Dir::new();
    for line in ["--smooth scene - out.mkv", "--smooth scene rtsp://host/film out.mkv", "live --smooth scene in.mkv"] {
        usage_error(line).says(&["--smooth scene reads the input twice"]);
    }
    for (line, other) in [
        ("--smooth scene --method clahe in.mkv out.mkv", "clahe"),
        ("--smooth scene --method detail in.mkv out.mkv", "detail"),
        ("--smooth scene --method deflicker in.mkv out.mkv", "deflicker"),
        ("--smooth scene --set look-ahead=1 in.mkv out.mkv", "--set look-ahead"),
        ("--smooth scene --exact in.mkv out.mkv", "--exact"),
        ("--smooth scenes in.mkv out.mkv", "a number of seconds from 0 to 3600, or scene"),
    ] {
        usage_error(line).says(&["--smooth", other]);
    }
    let run = dir.run("--smooth scene -f lavfi testsrc2=size=64x48 out.mkv").fails();
    assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    run.says(&["reads the input twice"]);
}

#[test]
fn a_first_pass_that_fails_or_is_interrupted_writes_nothing() {
    let dir = Dir::new();
    let (code, said) = interrupted(&dir, "--smooth scene --filter realtime --progress json long.mkv out.mkv");
    assert_eq!(code, Some(130), "{said}");
    assert!(said.contains("interrupted in the first pass: nothing was written"), "{said}");
    assert_eq!(dir.names(), ["long.mkv"]);
    dir.run("--smooth scene --stats s.csv --save-curves c.jsonl none.mkv out.mkv").fails().says(&["none.mkv"]);
    assert_eq!(dir.names(), ["long.mkv"]);
}

#[test]
fn progress_says_which_pass_runs() {
    let dir = Dir::new();
    film(&dir, "yuv420p");
    let run = dir.succeeds("-q --smooth scene --progress json in.mkv out.mkv");
    let records: Vec<Value> = run.stderr.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let passes: Vec<u64> = records.iter().filter_map(|record| record["pass"].as_u64()).collect();
    assert!(passes.is_sorted() && passes.first() == Some(&1) && passes.last() == Some(&2), "{passes:?}");
    assert_eq!(records.last().unwrap()["exit_code"], 0);
    let run = dir.succeeds("--smooth scene --progress plain in.mkv -y out.mkv");
    run.says(&["pass 1 of 2", "pass 2 of 2"]);
}
