//! Inputs that the fuzzers of `tests/program/fuzz` have found to be harmful.

use crate::support::programs::program::Dir;

#[test]
fn a_fault_that_ffmpeg_finds_in_itself_is_an_error() {
    let dir = Dir::new();
    // FFmpeg 5.1 decodes this to a frame without a buffer, and a failed assertion aborts the program.
    dir.write("in.dv", include_bytes!("../../../data/fuzz/no-buffer.dv"));
    let run = dir.run("--backend cpu --encoder ffv1 in.dv out.mkv");
    assert!(run.code == Some(0) || crate::support::programs::program::failed(run.code), "{run:?}");
    if run.code != Some(0) {
        run.says(&["histeq-video: error: "]);
        assert_eq!(dir.names(), ["in.dv"]);
    }
}

#[test]
fn a_part_without_a_frame_is_an_error() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=1/5 -frames:v 3 -c:v ffv1 in.mkv");
    for options in ["", "--smooth scene", "--set look-ahead=1", "--filter hflip"] {
        let line = format!("--backend cpu --encoder ffv1 --start 1 --duration 1 {options} in.mkv out.mkv");
        dir.run(&line).exits_with(2).says(&["in.mkv: no frame in this part"]);
    }
    dir.run("compare --start 1 --duration 1 in.mkv in.mkv out.mkv").exits_with(2).says(&["no frame in this part"]);
    assert!(!dir.path("out.mkv").exists());
}
