//! What each suite measures: without a GPU the CPU's columns, with one all of them.

use super::{all_have, rows, run};
use crate::support::backends::gpu;
use crate::support::programs::program::Dir;
use crate::support::skip::skip;

#[test]
fn without_a_gpu_the_documents_suites_measure_the_cpu() {
    let dir = Dir::new();
    for (suite, table, count) in [("stages", "cpu", 10), ("scans", "cpu", 8), ("luminance", "cpu", 9)] {
        let report = run(&dir, &format!("{suite} --backend cpu"));
        let rows = rows(&report, table);
        assert_eq!(rows.len(), count, "{suite}");
        all_have(rows, &["time"]);
        assert!(report["notes"][0].as_str().is_some_and(|note| note.contains("No GPU")), "{}", report["notes"]);
    }
    let report = run(&dir, "bins --backend cpu");
    assert_eq!(rows(&report, "cpu").len(), 17);
    all_have(rows(&report, "cpu"), &["sequential"]);
    let report = run(&dir, "cdf-min --backend cpu");
    assert_eq!(rows(&report, "cdf-min").len(), 10);
    all_have(rows(&report, "cdf-min"), &["sequential", "this program, CPU"]);
    all_have(rows(&report, "program"), &["read", "write", "CPU"]);
}

#[test]
fn python_equalizes_the_same_images() {
    let report = run(&Dir::new(), "scans --backend cpu");
    let rows = rows(&report, "python");
    assert_eq!(rows.iter().filter(|row| row["keys"]["way"] == "loop").count(), 4);
    all_have(rows, &["time", "over the loop here"]);
}

#[test]
fn an_image_of_the_user_takes_the_place_of_those_that_are_made() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 1 photo.png");
    for (suite, table, count) in
        [("stages", "cpu", 2), ("cdf-min", "program", 1), ("scans", "cpu", 2), ("luminance", "cpu", 3)]
    {
        let report = run(&dir, &format!("{suite} photo.png --backend cpu"));
        let rows = rows(&report, table);
        assert_eq!(rows.len(), count, "{suite}");
        assert!(rows.iter().all(|row| row["keys"]["size"] == "64x48"), "{suite}");
    }
    // Limited-range video is converted to full range.
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 1 -pix_fmt yuv420p video.mp4");
    for suite in ["stages", "luminance"] {
        run(&dir, &format!("{suite} video.mp4 --backend cpu"));
    }
    dir.run("stages nowhere.png").fails().says(&["nowhere.png"]);
    dir.run("kernels photo.png").exits_with(2).says(&["kernels takes no file"]);
}

#[test]
fn bins_counts_as_many_elements_into_as_many_bins_as_it_is_told() {
    let report = run(&Dir::new(), "bins --elements 5000 --bins 300 --backend cpu");
    let keys: Vec<_> = rows(&report, "cpu").iter().map(|row| row["keys"].clone()).collect();
    let expected =
        ["random", "ones"].map(|input| serde_json::json!({"elements": "5000", "bins": "300", "input": input}));
    assert_eq!(keys, expected);
    Dir::new().run("bins --elements 5000").exits_with(2).says(&["--bins"]);
}

#[test]
fn without_a_gpu_its_own_suites_say_so_and_end_well() {
    let dir = Dir::new();
    for (suite, table) in [("stages", "stages"), ("bins", "elements")] {
        let report = run(&dir, &format!("{suite} --backend cpu"));
        assert_eq!(rows(&report, table).len(), 0, "{suite}");
        let text = String::from_utf8(dir.succeeds(&format!("{suite} --quick --backend cpu")).stdout).expect("text");
        assert!(text.contains("No GPU is measured: --backend cpu"), "{text}");
    }
}

#[test]
fn a_suite_of_the_gpu_needs_one() {
    if gpu().is_some() {
        skip("no-gpu", "there is one");
        return;
    }
    let dir = Dir::new();
    for suite in ["kernels", "stream"] {
        let run = dir.run(&format!("{suite} --quick --repeat 1 --warmup 0")).exits_with(6);
        let run = run.says(&[&format!("{suite} needs a GPU: no CUDA driver found")]);
        assert!(run.stdout.is_empty(), "{}", String::from_utf8_lossy(&run.stdout));
    }
    // The run measures the columns of the CPU before it fails.
    let run = dir.run("scans --quick --repeat 1 --warmup 0").exits_with(6);
    let run = run.says(&["scans needs a GPU: no CUDA driver found", "nothing of: Scans, with the publication"]);
    let text = String::from_utf8(run.stdout).expect("text");
    assert!(text.contains("sequential") && !text.contains("## Scans"), "{text}");
}

#[test]
fn cpu_measures_every_path_on_one_thread_and_the_best_on_all() {
    let dir = Dir::new();
    let report = run(&dir, "cpu");
    let frames = rows(&report, "frames");
    all_have(frames, &["copy", "exact", "share of copy", "modified", "clahe"]);
    for size_and_depth in
        frames.chunk_by(|a, b| (&a["keys"]["size"], &a["keys"]["bits"]) == (&b["keys"]["size"], &b["keys"]["bits"]))
    {
        let on_one = size_and_depth.iter().filter(|row| row["keys"]["threads"] == "1");
        assert_eq!(on_one.count(), histeq::internal::equalize::cpu::Isa::available().count());
        let all = std::thread::available_parallelism().map_or(1, usize::from).to_string();
        assert!(size_and_depth.iter().any(|row| row["keys"]["threads"] == *all));
    }
    all_have(rows(&report, "passes"), &["histogram", "map", "tile histograms", "tile curves", "tile map"]);
}

#[test]
fn with_a_gpu_every_suite_measures_and_verifies_it() {
    if gpu().is_none() {
        return;
    }
    let dir = Dir::new();
    for (suite, table, measures) in [
        ("stages", "stages", &["upload", "histogram", "map", "equalize", "download", "total"][..]),
        ("stages", "sweep", &["histogram", "map"]),
        ("stages", "kernels", &["time"]),
        ("scans", "alone", &["time"]),
        ("cdf-min", "cdf-min", &["kernels, reduction", "with copies, first-nonzero", "kernels, tuned"]),
        ("cdf-min", "program", &["set-up", "steps, reduction", "GPU, first-nonzero", "GPU with set-up, reduction"]),
        ("cdf-min", "gains", &["reduction", "first-nonzero, with set-up"]),
        ("scans", "scans", &["kernels", "with copies", "speed-up", "speed-up of kernels"]),
        ("bins", "elements", &["kernels", "histogram", "saturation", "with upload", "prefetch"]),
        ("bins --saturate 3", "bins", &["kernels", "speed-up"]),
        ("luminance", "luminance", &["kernel", "with upload", "speed-up"]),
        ("kernels", "frames", &["copy", "exact", "modified", "look-ahead", "clahe", "detail", "share of bandwidth"]),
        ("kernels", "kernels", &["histogram", "histogram and curve", "map", "exact"]),
        ("stream", "ring", &["pinned", "copied", "rate", "bus", "share of bus"]),
    ] {
        let report = run(&dir, &format!("{suite} --backend cuda"));
        assert!(!rows(&report, table).is_empty(), "{suite}");
        all_have(rows(&report, table), measures);
    }
}

#[test]
fn with_a_gpu_the_documents_own_arithmetic_is_verified_too() {
    if gpu().is_none() {
        return;
    }
    let dir = Dir::new();
    for suite in ["stages", "cdf-min", "scans", "luminance"] {
        run(&dir, &format!("{suite} --backend cuda --formula own"));
    }
    let report = run(&dir, "stages --backend cuda --formula floor-no-min");
    let stages = rows(&report, "stages").iter().filter(|row| row["keys"]["kernels"] != "tuned");
    all_have(&stages.cloned().collect::<Vec<_>>(), &["differing"]);
    let report = run(&dir, "scans --backend cuda --scan blelloch --block-size 128 --histogram global");
    assert_eq!(rows(&report, "scans").len(), 8);
}
