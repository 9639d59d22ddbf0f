//! `--roi`: the histogram comes from a rectangle, the curve is applied to the whole frame.

use super::{RAW, frame, luma, through};
use crate::support::media::textbook::assert_same_video;
use crate::support::programs::program::Dir;

/// A frame with a gradient in a rectangle, and distant levels around it.
fn picture() -> Vec<u8> {
    let inside = |x: usize, y: usize| (100..200).contains(&x) && (40..90).contains(&y);
    frame(RAW, |x, y| if inside(x, y) { 60 + (x as u64 - 100) / 2 } else { 180 + y as u64 % 40 })
}

#[test]
fn the_histogram_comes_from_the_rectangle_and_the_curve_goes_everywhere() {
    let dir = Dir::new();
    let video = picture().repeat(3);
    // The contents of the rectangle, as a separate video.
    let small = crate::support::media::textbook::Raw { size: (100, 50), ..RAW };
    let inside = frame(small, |x, _| 60 + x as u64 / 2);
    for options in ["--exact", "--method global", "--look thermal", "--look thermal --set bins=64"] {
        let found = luma(RAW, &through(&dir, RAW, &format!("{options} --roi 100,40,100,50 --verify"), &video));
        let expected = luma(small, &through(&dir, small, options, &inside));
        for y in 0..50 {
            let row = &found[(40 + y) * 320 + 100..][..100];
            assert_eq!(row, &expected[y * 100..][..100], "row {y} with '{options}'");
        }
        // Levels above those of the rectangle are mapped to the end of its curve.
        assert!(found[..320 * 40].iter().all(|&level| level >= expected[99]), "'{options}'");
    }
}

#[test]
fn a_rectangle_that_lies_partly_outside_is_cut_off_at_the_edge() {
    let dir = Dir::new();
    let video = picture();
    for (beyond, within) in [
        ("300,170,500,500", "300,170,20,10"),
        ("0,0,320,180", "0,0,9999,9999"),
        ("319,179,5,1", "319,179,1,1"),
        ("120,20,10,1000", "120,20,10,160"),
    ] {
        for options in ["--exact", ""] {
            let value_of = |roi: &str| through(&dir, RAW, &format!("{options} --roi {roi}"), &video);
            assert_same_video(&format!("--roi {beyond} '{options}'"), RAW, &value_of(beyond), &value_of(within));
        }
    }
    dir.ffmpeg("-f lavfi -i testsrc2=size=96x64:rate=25 -frames:v 1 -c:v ffv1 in.mkv");
    for (roi, counts) in [("90,0,10,64", "6x64"), ("0,60,96,5", "96x4")] {
        let run = dir.run(&format!("--roi {roi} in.mkv out.mkv -y")).exits_with(0);
        run.says(&["warning", &format!("--roi {roi}"), "96x64", counts]);
        dir.run(&format!("--strict --roi {roi} in.mkv strict.mkv")).fails().says(&[counts]);
    }
    let run = dir.run("--roi 90,0,6,64 in.mkv out.mkv -y").exits_with(0);
    assert!(!run.stderr.contains("--roi"), "{}", run.stderr);
    let whole = through(&dir, RAW, "--exact", &video);
    assert_same_video("all of it", RAW, &through(&dir, RAW, "--exact --roi 0,0,5000,5000", &video), &whole);
}

#[test]
fn a_rectangle_that_lies_outside_of_the_picture_is_an_error_that_names_the_size() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=96x64:rate=25 -frames:v 3 -pix_fmt yuv420p -c:v ffv1 in.mkv");
    dir.ffmpeg("-i in.mkv -frames:v 1 -update 1 in.png");
    dir.ffmpeg("-i in.mkv in.y4m");
    dir.ffmpeg("-i in.mkv -c:v mpeg2video -f mpegts in.ts");
    let before = dir.names();
    for input in ["in.mkv", "in.png", "in.y4m", "in.ts"] {
        for roi in ["96,0,10,10", "0,64,10,10", "5000,5000,1,1"] {
            let run = dir.run(&format!("--roi {roi} {input} out.mkv")).fails();
            let run = run.says(&[input, &format!("--roi {roi}"), "outside", "96x64"]);
            assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
        }
    }
    let run = dir.fed("--roi 96,0,10,10 - -", &dir.read("in.ts")).fails().says(&["stdin", "96x64"]);
    assert_eq!((run.stdout.len(), run.stderr.lines().count()), (0, 1), "{}", run.stderr);
    let run = dir.run("live --no-preview --record out.mkv --roi 0,64,1,1 -f lavfi testsrc2=s=96x64:d=1").fails();
    assert_eq!(run.says(&["96x64"]).stderr.lines().count(), 1);
    assert_eq!(dir.names(), before);
}

#[test]
fn black_bars_do_not_count_with_an_automatic_region() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=s=96x64:r=25:d=1.2,lutyuv=y=60+val/3 -pix_fmt yuv420p -c:v ffv1 bare.mkv");
    for (bars, crop) in [("96:96:0:16", "96:64:0:16"), ("160:64:32:0", "96:64:32:0"), ("160:96:2:30", "96:64:2:30")] {
        dir.ffmpeg(&format!("-i bare.mkv -vf pad={bars}:black -c:v ffv1 -y barred.mkv"));
        for options in ["--look thermal", "--look thermal --smooth 0", "--set plateau=500 --max-gain 0 --strength 1"] {
            dir.succeeds(&format!("--backend cpu --encoder ffv1 -y {options} bare.mkv expected.mkv"));
            dir.succeeds(&format!("--backend cpu --encoder ffv1 -y {options} --roi auto barred.mkv found.mkv"));
            dir.ffmpeg(&format!("-i found.mkv -vf crop={crop} -c:v ffv1 -y cropped.mkv"));
            let (found, expected) = (dir.raw("cropped.mkv", "gray"), dir.raw("expected.mkv", "gray"));
            assert!(found == expected, "bars {bars}, {options}: the picture is not what it is without them");
            dir.succeeds(&format!("--backend cpu --encoder ffv1 -y {options} barred.mkv counted.mkv"));
            dir.ffmpeg(&format!("-i counted.mkv -vf crop={crop} -c:v ffv1 -y cropped.mkv"));
            assert!(dir.raw("cropped.mkv", "gray") != expected, "bars {bars}, {options}: they should have counted");
        }
    }
}
