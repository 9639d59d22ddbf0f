//! The command line of `bench`.

use crate::program::Dir;

#[test]
fn without_a_suite_they_are_listed() {
    let run = Dir::new().succeeds("bench");
    let text = String::from_utf8(run.stdout).expect("text");
    for suite in ["stages", "cdf-min", "scans", "bins", "luminance", "kernels", "stream", "transcode", "cpu"] {
        assert!(text.lines().any(|line| line.trim_start().starts_with(suite)), "{suite} in {text}");
    }
}

#[test]
fn what_makes_no_sense_is_a_usage_error() {
    let dir = Dir::new();
    for (line, says) in [
        ("bench abacus", "abacus"),
        ("bench transcode", "transcode takes a file"),
        ("bench cpu in.mp4", "only transcode takes a file"),
        ("bench --csv a.csv", "name it"),
        ("bench --compare references --plot a.svg", "name it"),
        ("bench cpu --compare references", "no document has figures for cpu"),
        ("bench cpu --compare guesses", "guesses"),
        ("bench cpu --repeat 0", "--repeat"),
        ("bench bins --saturate 0", "--saturate"),
        ("bench scans --formula none", "none"),
        ("bench scans --scan sideways", "sideways"),
        ("bench scans --block-size 100", "64, 128, 256, 512, 1024"),
        ("bench stages --pixels-per-thread 257", "257"),
    ] {
        dir.run(line).exits_with(2).says(&[says]);
    }
    assert!(dir.names().is_empty());
}

#[test]
fn a_gpu_that_has_to_be_there_and_is_not_is_an_error() {
    Dir::new().run("bench scans --quick --backend cuda --gpu 99").exits_with(1).says(&["histeq-video: error:"]);
}
