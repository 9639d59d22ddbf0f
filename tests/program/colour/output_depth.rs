//! `--output-depth`: stretched levels have no gaps, the curve equals that of the input's depth, and files, pipes,
//! images and cameras are tagged with their format.

use crate::support::programs::program::Dir;
use serde_json::Value;
use std::collections::BTreeSet;

/// A sky of 30 gray levels.
fn sky(dir: &Dir, file: &str, options: &str) {
    dir.ffmpeg(&format!(
        "-f lavfi -i nullsrc=size=320x192:rate=25,format=gray,geq=lum='round(100+Y*29/191)' -frames:v 10 {options} {file}"
    ));
}

/// The number of different 8-bit codes in the first frame of a file.
fn codes(dir: &Dir, file: &str) -> usize {
    dir.raw(file, "gray")[..320 * 192].iter().collect::<BTreeSet<_>>().len()
}

#[test]
fn what_is_stretched_has_no_gaps() {
    let dir = Dir::new();
    sky(&dir, "in.mkv", "-c:v ffv1 -pix_fmt gray");
    let options = "--backend cpu -y --method global --encoder ffv1 --verify --set gray";
    dir.succeeds(&format!("{options} in.mkv plain.mkv"));
    dir.succeeds(&format!("{options} --output-depth 8 in.mkv noise.mkv"));
    let (plain, noise) = (codes(&dir, "plain.mkv"), codes(&dir, "noise.mkv"));
    assert_eq!(plain, 30);
    assert!(noise > 2 * plain, "{noise} codes");
    let mean =
        |file| dir.raw(file, "gray").iter().map(|&code| f64::from(code)).sum::<f64>() / f64::from(10 * 320 * 192);
    let [plain, noise] = [mean("plain.mkv"), mean("noise.mkv")];
    // Each of the 30 levels is at least seven codes wide after equalization; the means may differ by half of that.
    assert!((plain - noise).abs() < 3.5, "{plain} and {noise}: noise makes nothing brighter");
}

#[test]
fn the_curve_is_that_of_the_video_as_it_came() {
    let dir = Dir::new();
    sky(&dir, "in.mkv", "-c:v ffv1 -pix_fmt yuv420p");
    let curve = |options: &str| -> Vec<f64> {
        dir.succeeds(&format!("--backend cpu -y {options} --output-format null --save-curves c.jsonl in.mkv none"));
        let text = String::from_utf8(dir.read("c.jsonl")).unwrap();
        let line: Value = serde_json::from_str(text.lines().nth(1).expect("a curve")).unwrap();
        line["lut"].as_array().unwrap().iter().map(|code| code.as_f64().unwrap()).collect()
    };
    for look in ["natural --method global", "thermal", "exact"] {
        let plain = curve(&format!("--look {look}"));
        for (depth, step) in [("8", 16), ("10", 4)] {
            let deep = curve(&format!("--look {look} --output-depth {depth}"));
            assert_eq!(deep.len(), 256 * step);
            // A code may differ by the distance between the codes of the neighbouring levels.
            for v in 101..129 {
                let (found, expected) = (deep[v * step] / step as f64, plain[v]);
                let most = 1.0 + plain[v + 1] - plain[v - 1];
                assert!((found - expected).abs() < most, "{look}, {depth}: {v} becomes {found}, not {expected}");
            }
        }
    }
}

#[test]
fn outputs_say_which_format_they_have() {
    let dir = Dir::new();
    sky(&dir, "in.mkv", "-c:v ffv1 -pix_fmt yuv420p");
    sky(&dir, "deep.mkv", "-c:v ffv1 -pix_fmt yuv420p10le");
    sky(&dir, "in.png", "-frames:v 1 -pix_fmt rgb24");
    for (options, input, output, expected) in [
        ("--output-depth 10", "in.mkv", "out.mkv", "yuv420p10le"),
        ("--output-depth 10", "in.mkv", "out.mp4", "yuv420p10le"),
        ("--output-depth 8", "in.mkv", "out.mkv", "yuv420p"),
        ("--output-depth 8", "deep.mkv", "out.mkv", "yuv420p"),
        ("--output-depth auto", "deep.mkv", "out.mkv", "yuv420p10le"),
        ("--output-depth 10", "in.png", "out.png", "rgb48be"),
        ("--output-depth 8", "in.png", "out.png", "rgb24"),
        ("live --no-preview --output-depth 10 --record", "in.mkv", "out.mp4", "yuv420p10le"),
    ] {
        match options.starts_with("live") {
            true => dir.succeeds(&format!("{options} {output} -y --backend cpu {input}")),
            false => dir.succeeds(&format!("--backend cpu -y {options} {input} {output}")),
        };
        assert_eq!(dir.streams(output)[0]["pix_fmt"], expected, "{options} {input} {output}");
    }
    let y4m = dir.succeeds("--backend cpu --output-depth 10 in.mkv -").stdout;
    let header = String::from_utf8_lossy(y4m.split(|&byte| byte == b'\n').next().unwrap()).into_owned();
    assert!(header.contains(" C420p10 "), "{header}");
    assert_eq!(y4m.len(), header.len() + 1 + 10 * ("FRAME\n".len() + 320 * 192 * 3));
}

#[test]
fn what_does_not_go_is_refused_with_a_way_out() {
    let dir = Dir::new();
    sky(&dir, "in.mkv", "-c:v ffv1 -pix_fmt yuv411p");
    let run = dir.run("--backend cpu --output-depth 10 in.mkv out.mkv").fails();
    run.says(&["yuv411p has no pixel format of more bits", "--filter format=yuv444p"]);
    dir.succeeds("--backend cpu --output-depth 10 --filter format=yuv444p in.mkv out.mkv");
    assert_eq!(dir.streams("out.mkv")[0]["pix_fmt"], "yuv444p10le");

    sky(&dir, "in.mkv", "-c:v ffv1 -pix_fmt yuv420p");
    let options = "--backend cpu -y --encoder ffv1 --output-depth 8";
    dir.succeeds(&format!("{options} --set chroma=keep --save-curves c.jsonl in.mkv saved.mkv"));
    let run = dir.run("--backend cpu -y --load-curves c.jsonl in.mkv no.mkv").fails();
    run.says(&["curves for 12 bits", "has 8 bits", "the same --output-depth"]);
    dir.succeeds(&format!("{options} --load-curves c.jsonl in.mkv loaded.mkv"));
    assert!(dir.raw("saved.mkv", "yuv420p") == dir.raw("loaded.mkv", "yuv420p"));
}
