//! The options that choose kernel variants.

use crate::support::backends::gpu;
use crate::support::program::{Dir, usage_error};

fn clip(dir: &Dir) {
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 10 -c:v ffv1 in.mkv");
}

#[test]
fn variants_that_make_no_sense_are_usage_errors() {
    for (options, says) in [
        ("--histogram abacus", "possible values: global, privatized, coarsened, aggregated, replicated"),
        ("--scan kogge", "brent-kung"),
        ("--block-size 100", "64, 128, 256, 512, 1024"),
        ("--pixels-per-thread 257", "257"),
        ("--pixels-per-thread 0", "0"),
        ("--backend cpu --histogram global", "--histogram is about CUDA kernels, and does not go with --backend cpu"),
        ("--backend cpu --exact --block-size 64", "--block-size is about CUDA kernels"),
        ("--scan blelloch", "--scan takes --exact"),
        ("--exact --bins 64 --scan blelloch", "--scan takes --exact"),
        ("--look exact --smooth 1 --scan blelloch", "--scan takes --exact"),
        ("--method clahe --histogram global", "does not go with --method clahe"),
        ("--load-curves curves.jsonl --histogram global", "--load-curves"),
    ] {
        usage_error(&format!("{options} in.mkv out.mkv")).says(&[says]);
        usage_error(&format!("live --no-preview --record out.mkv {options} in.mkv")).says(&[says]);
    }
}

#[test]
fn variants_give_the_bytes_of_any_other_backend() {
    let dir = Dir::new();
    clip(&dir);
    for (index, options) in [
        "--exact --histogram global --scan brent-kung --block-size 64",
        "--exact --histogram aggregated --pixels-per-thread 16 --scan hillis-steele",
        "--exact --look natural --scan warp-shuffle",
        "--histogram privatized",
        "--block-size 256",
    ]
    .into_iter()
    .enumerate()
    {
        let options = options.replace("--exact --look natural", "--exact");
        let exact = if options.contains("--exact") { "--exact" } else { "" };
        let (found, expected) = (format!("found{index}.mkv"), format!("expected{index}.mkv"));
        dir.succeeds(&format!("--backend cpu {exact} --encoder ffv1 in.mkv {expected}"));
        let run = dir.succeeds(&format!("{options} --encoder ffv1 in.mkv {found}"));
        if gpu().is_none() {
            run.says(&["equalizing on the CPU, which has no kernel variants"]);
        }
        assert_eq!(dir.frames(&found), dir.frames(&expected), "{options}");
    }
}
