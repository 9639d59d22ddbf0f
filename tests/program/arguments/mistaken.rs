//! Words whose meaning here differs from what users expect: the program explains them, and does not guess.

use super::hints::{in_one_line, with_clip};
use crate::support::media::reader::filter_is_here;
use crate::support::programs::program::Dir;

#[test]
fn a_day_of_the_month_is_no_counter() {
    let dir = with_clip("in.mkv");
    for name in ["x%d.mkv", "x%03d.mkv"] {
        let line = format!("live --no-preview --backend cpu --segment 1h --record {name} in.mkv");
        in_one_line(dir.run(&line).exits_with(2)).says(&["%d is the day of the month, and no counter"]);
    }
    let one = "live --no-preview --backend cpu --encoder ffv1 --record x%d.mkv in.mkv";
    dir.run(&format!("{one} --strict")).fails().says(&["x%d.mkv: %d is no counter"]);
    assert_eq!(dir.names(), ["in.mkv"]);
    dir.succeeds(one).says(&["x%d.mkv: %d is no counter and stays in the name"]);
    assert_eq!(dir.names(), ["in.mkv", "x%d.mkv"]);
    // In the names of daily files, `%d` is the day.
    dir.succeeds("live --no-preview --backend cpu --encoder ffv1 --segment 1d --record day-%d.mkv in.mkv")
        .never_says("counter");
    assert!(dir.names().iter().any(|name| name.starts_with("day-") && name.len() == "day-01.mkv".len()));
}

#[test]
fn options_of_ffmpeg_are_not_read_as_short_ones_with_a_value() {
    let dir = with_clip("in.mkv");
    let before = dir.files();
    for (words, says) in [
        ("-rtsp_transport tcp", "RTSP comes over TCP here"),
        ("-reconnect 1", "--wait=T"),
        ("-fflags nobuffer", "live reads without delay"),
        ("-stream_loop 2", "-stream_loop N -i IN -c copy OUT"),
        ("-shortest", "--duration T"),
        ("-sws_flags lanczos", "--filter-after scale=W:H:flags=lanczos"),
        ("-vsync 0", "frames keep their times"),
        ("-qmin 3", "--encoder-option KEY=VALUE"),
        ("-ignore_unknown", "--strict"),
        ("-probesize 32", "live reads without delay"),
    ] {
        let name = words.split(' ').next().expect("a word");
        for line in [format!("{words} in.mkv out.mkv"), format!("live --no-preview {words} in.mkv")] {
            in_one_line(dir.run(&line).exits_with(2)).says(&[&format!("{name}: "), says]);
        }
    }
    // Long options with a single dash are accepted, or answered with the right command.
    in_one_line(dir.run("-record a.mkv in.mkv").exits_with(2)).says(&["-record: ", "histeq-video live --record"]);
    assert_eq!(dir.files(), before);
    dir.succeeds("-strict -2 -frames 3 -i in.mkv out.mkv");
    assert_eq!(dir.frames("out.mkv").len(), 3);
}

#[test]
fn a_format_that_the_input_has_not_is_told_from_that_of_the_output() {
    let dir = with_clip("in.mkv");
    for line in ["--format mp4 in.mkv", "-f mp4 in.mkv out.mkv", "in.mkv --format mp4 out.mkv", "--format gif in.mkv"] {
        let run = in_one_line(dir.run(line).exits_with(2));
        let said = ["which --format says that the input is", "the name of the output decides", "--output-format"];
        run.says(&["in.mkv: not "]).says(&said).never_says("damaged");
    }
    in_one_line(dir.run("--format mkv in.mkv out.mkv").fails())
        .says(&["no input format mkv", "the name of the output decides its container"]);
    assert_eq!(dir.names(), ["in.mkv"]);
    dir.write("torn.mp4", &dir.read("in.mkv")[..30]);
    in_one_line(dir.run("torn.mp4 out.mkv").exits_with(7)).never_says("--format");
    dir.succeeds("-f matroska in.mkv out.mkv");
}

#[test]
fn each_command_says_where_its_page_is_and_what_keeps_its_files() {
    let dir = with_clip("in.mkv");
    let before = dir.files();
    for (line, says) in [
        ("web --port 8000", "--port: --web=8000 says where"),
        ("web --host=0.0.0.0 .", "--host: --web=0.0.0.0 says where"),
        ("web -p 8000", "-p: --web=8000 says where"),
        ("live --port 8000 in.mkv", "--port: --web=8000 says where"),
        ("live --listen 0.0.0.0:8000 in.mkv", "--listen: --web=0.0.0.0:8000 says where"),
        ("preview --bind in.mkv", "--bind: --web=ADDRESS says where"),
        ("--port 8000 in.mkv", "--web=8000 of web, live and preview says where"),
        ("live --max-size 10G in.mkv", "--segment 1h --keep-size 200G"),
        ("live --max-filesize=10M in.mkv", "--segment 1h --keep-size 200G"),
        ("live --target-size 16M in.mkv", "--segment 1h --keep-size 200G"),
        ("live --output-dir rec in.mkv", "--record DIR/cam-%Y%m%d-%H%M%S.mkv --segment 1h"),
        ("live -outdir rec in.mkv", "--record DIR/cam-%Y%m%d-%H%M%S.mkv --segment 1h"),
        ("live --trim-start 3 in.mkv", "--help lists all options"),
        ("live --seek 3 in.mkv", "it is an option of histeq-video"),
        ("web --output-dir rec", "beside its original"),
        ("web --look night", "it is an option of histeq-video"),
    ] {
        in_one_line(dir.run(line).exits_with(2)).says(&[says]);
    }
    assert_eq!(dir.files(), before);
}

#[test]
fn a_look_that_makes_no_difference_says_so() {
    if !filter_is_here("a cast", "geq") {
        return;
    }
    let dir = Dir::new();
    // The whole frame has an underwater tint.
    let water = "nullsrc=s=160x90:rate=25,geq=lum=128+60*sin(X/7)*cos(Y/5):cb=150:cr=100";
    dir.ffmpeg(&format!("-f lavfi -i {water} -frames:v 5 -pix_fmt yuv420p -c:v ffv1 in.mkv"));
    let made = |look: &str| {
        let run = dir.succeeds(&format!("--backend cpu -y --look {look} --encoder ffv1 in.mkv out.mkv"));
        (dir.raw("out.mkv", "yuv420p"), run.stderr.contains("; the look changes nothing here"))
    };
    let (by_default, says) = made("natural");
    assert!(!says && by_default != dir.raw("in.mkv", "yuv420p"));
    assert!(made("underwater") == (by_default.clone(), true));
    let (night, says) = made("night");
    assert!(!says && night != by_default);
}
