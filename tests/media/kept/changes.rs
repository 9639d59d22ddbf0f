//! Properties that change in the middle of a video, while an encoder or a container states them only once: frames are
//! converted if the conversion is exact; otherwise, there is a warning.

use crate::support::media::reader::encoder_is_here;
use crate::support::programs::program::{Dir, Run};

/// Concatenates elementary streams. Each part has a source, a number of frames and encoder options.
fn joined(dir: &Dir, file: &str, parts: &[(&str, usize, &str)]) {
    let extension = file.rsplit('.').next().expect("an extension");
    let mut all = Vec::new();
    for (source, frames, options) in parts {
        dir.ffmpeg(&format!("-f lavfi -i {source} -frames:v {frames} {options} part.{extension}"));
        all.extend(dir.read(&format!("part.{extension}")));
    }
    dir.write(file, &all);
}

const SOURCE: &str = "testsrc2=size=128x96:rate=25";
const X264: &str = "-c:v libx264 -preset veryfast -crf 18 -pix_fmt yuv420p";
const MPEG2: &str = "-c:v mpeg2video -q:v 3 -bf 0 -g 5";

/// Requires that the program warns once with these words, and fails with `--strict`.
#[track_caller]
fn warns(dir: &Dir, line: &str, words: &[&str]) -> Run {
    let run = dir.succeeds(&format!("--backend cpu -y {line}"));
    let lines: Vec<&str> = run.stderr.lines().filter(|line| line.contains("warning")).collect();
    assert!(lines.len() == 1 && words.iter().all(|word| lines[0].contains(word)), "{line}: {}", run.stderr);
    dir.run(&format!("--backend cpu -y --strict {line}")).fails().says(words);
    run
}

/// For each frame: is it interlaced, and is its top field first?
fn fields(dir: &Dir, file: &str) -> Vec<(bool, bool)> {
    dir.frames(file).iter().map(|frame| (frame["interlaced_frame"] == 1, frame["top_field_first"] == 1)).collect()
}

#[test]
fn progressive_pictures_among_interlaced_ones_leave_the_order_of_fields_as_it_is() {
    if !encoder_is_here("fields", "libx264") {
        return;
    }
    let dir = Dir::new();
    for (order, is_top) in [("tff", true), ("bff", false)] {
        let coded = format!("-vf setfield={order} -flags +ilme+ildct");
        for (extension, codec) in [("h264", X264), ("m2v", MPEG2)] {
            let (input, frames) = (format!("in.{extension}"), format!("{codec} {coded}"));
            joined(&dir, &input, &[(SOURCE, 20, &frames), (SOURCE, 5, codec), (SOURCE, 25, &frames)]);
            let before = fields(&dir, &input);
            assert!(
                before.iter().filter(|frame| !frame.0).count() == 5 && before[0] == (true, is_top),
                "the clip is mixed"
            );
            for (encoder, output) in
                [("libx264", "mkv"), ("libx264", "mp4"), ("mpeg2video", "ts"), ("prores_ks", "mov"), ("ffv1", "mkv")]
            {
                let output = format!("out.{output}");
                dir.succeeds(&format!("--backend cpu --strict --encoder {encoder} -y {input} {output}"));
                let after = fields(&dir, &output);
                assert_eq!(after.len(), before.len(), "{encoder}");
                let right = after.iter().all(|frame| *frame == (true, is_top) || !frame.0 && encoder == "ffv1");
                assert!(right, "{order} {input} by {encoder}: {after:?}");
            }
        }
    }
}

#[test]
fn a_video_that_becomes_interlaced_or_changes_the_order_of_its_fields_is_named() {
    if !encoder_is_here("fields", "libx264") {
        return;
    }
    let dir = Dir::new();
    let coded = |order: &str| format!("{X264} -vf setfield={order} -flags +ilme+ildct");
    joined(&dir, "becomes.h264", &[(SOURCE, 10, X264), (SOURCE, 20, &coded("tff"))]);
    warns(&dir, "--encoder libx264 becomes.h264 out.mkv", &["becomes interlaced", "setfield=tff"]);
    assert!(fields(&dir, "out.mkv").iter().all(|frame| !frame.0));
    dir.succeeds("--backend cpu --strict --filter setfield=tff -y becomes.h264 out.mkv");
    assert!(fields(&dir, "out.mkv").iter().all(|frame| *frame == (true, true)), "the way out that the warning tells");
    joined(&dir, "turns.h264", &[(SOURCE, 10, &coded("tff")), (SOURCE, 20, &coded("bff"))]);
    warns(&dir, "--encoder libx264 turns.h264 out.mkv", &["the bottom field comes first", "fieldorder=tff"]);
    assert!(fields(&dir, "out.mkv").iter().all(|frame| *frame == (true, true)));
    dir.succeeds("--backend cpu --strict --filter fieldorder=tff -y turns.h264 out.mkv");
}

#[test]
fn pixels_of_another_shape_are_named() {
    if !encoder_is_here("shapes", "libx264") {
        return;
    }
    let dir = Dir::new();
    let shape = |codec: &str, ratio: &str| format!("{codec} -vf setsar={ratio}");
    joined(&dir, "in.h264", &[(SOURCE, 10, &shape(X264, "1/1")), (SOURCE, 10, &shape(X264, "16/15"))]);
    joined(&dir, "in.m2v", &[(SOURCE, 10, &shape(MPEG2, "1/1")), (SOURCE, 10, &shape(MPEG2, "4/3"))]);
    for (input, ratio) in [("in.h264", "16:15"), ("in.m2v", "4:3")] {
        for output in ["out.mkv", "out.mp4", "out.ts", "out.y4m"] {
            warns(&dir, &format!("{input} {output}"), &["pixels change from 1:1 to", ratio, "stretched"]);
        }
    }
    // A frame of another size with the same display aspect ratio is scaled without a warning about distortion.
    let wide = "testsrc2=size=64x96:rate=25";
    joined(&dir, "same.h264", &[(SOURCE, 10, &shape(X264, "1/1")), (wide, 10, &shape(X264, "2/1"))]);
    warns(&dir, "same.h264 out.mkv", &["changes size to 64x96"]);
}

#[test]
fn another_matrix_is_converted_and_other_colours_are_named() {
    if !encoder_is_here("colours", "libx264") {
        return;
    }
    let dir = Dir::new();
    let bars = "smptebars=size=128x96:rate=25";
    // Older encoders take the colours from options, newer ones from the frames.
    let tagged = |matrix: &str, name: &str, more: &str| {
        let (filter, option) = match more.split_once('=') {
            Some((key, value)) => (format!(",setparams={more}"), format!("-{key} {value}")),
            None => Default::default(),
        };
        format!(
            "-vf scale=out_color_matrix={matrix}:out_range=tv,format=yuv444p{filter} -c:v libx264 -qp 0 -colorspace {name} \
             -color_range tv {option}"
        )
    };
    let [hd, sd] = [("bt709", "bt709"), ("bt601", "smpte170m")].map(|(matrix, name)| tagged(matrix, name, ""));
    joined(&dir, "in.h264", &[(bars, 5, &hd), (bars, 5, &sd)]);
    for (output, strict) in [("out.mkv", "--strict"), ("out.nut", "")] {
        let line = format!("--backend cpu {strict} --strength 0 --levels 1 --encoder ffv1 -y in.h264 {output}");
        dir.succeeds(&line).says(&["the matrix changes from bt709 to smpte170m", "converted to bt709"]);
        let pixels = dir.raw(output, "yuv444p");
        let frame = 128 * 96 * 3;
        assert_eq!(pixels.len(), 10 * frame);
        // The upper bars are 20 columns wide; only their middle is compared, because edges differ between the two clips
        // anyway.
        let most = |pixels: &[u8]| {
            let inside = (0..frame).filter(|index| (6..14).contains(&(index % 128 % 20)) && index / 128 % 96 < 60);
            inside.map(|index| pixels[index].abs_diff(pixels[9 * frame + index])).max()
        };
        assert!(most(&pixels) <= Some(4), "the bars are {:?} levels off", most(&pixels));
        assert!(most(&dir.raw("in.h264", "yuv444p")) > Some(15), "the clip has two matrices");
    }
    for (what, first, then, words) in [
        ("curve", "color_trc=bt709", "color_trc=arib-std-b67", ["transfer characteristics", "bt709 to arib-std-b67"]),
        ("light", "", "color_trc=smpte2084", ["transfer characteristics", "smpte2084"]),
        ("gamut", "color_primaries=bt709", "color_primaries=bt2020", ["primaries", "bt709 to bt2020"]),
        ("matrix", "", "colorspace=ycgco", ["matrix coefficients", "bt709 to ycgco"]),
    ] {
        let input = format!("{what}.h264");
        let parts = [first, then].map(|more| tagged("bt709", "bt709", more));
        joined(&dir, &input, &[(bars, 5, &parts[0]), (bars, 5, &parts[1])]);
        warns(&dir, &format!("{input} out.mkv"), &words);
    }
    // Both tags mean the same transfer function.
    let same = ["color_trc=bt709", "color_trc=smpte170m"].map(|more| tagged("bt709", "bt709", more));
    joined(&dir, "same.h264", &[(bars, 5, &same[0]), (bars, 5, &same[1])]);
    dir.succeeds("--backend cpu --strict -y same.h264 out.mkv");
}

/// The notes on conversions match the written frames.
#[test]
fn what_is_said_of_the_format_is_what_is_written() {
    let dir = Dir::new();
    let clip = |file: &str, filter: &str, options: &str| {
        dir.ffmpeg(&format!("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 3 -vf {filter} {options} {file}"));
    };
    clip("alpha.mkv", "format=rgba,colorchannelmixer=aa=0.5,format=yuva420p", "-c:v ffv1");
    clip("deep.mkv", "format=yuv422p10le", "-c:v ffv1");
    clip("fields.mkv", "setfield=tff,format=yuv420p", "-c:v ffv1 -flags +ildct -field_order tt");
    for (encoder, line, said, format) in [
        (
            "mpeg4",
            "alpha.mkv out.mp4",
            "does not take the alpha of yuva420p: the video becomes yuv420p, which is opaque",
            "yuv420p",
        ),
        ("mpeg4", "deep.mkv out.mp4", "does not take yuv422p10le: the video is narrowed to yuv420p", "yuv420p"),
        ("libvpx-vp9", "fields.mkv out.mkv", "cannot code fields: interlaced video becomes frames", "yuv420p"),
    ] {
        if !encoder_is_here("formats", encoder) {
            continue;
        }
        let run = dir.succeeds(&format!("-y --backend cpu --strength 0 --levels 1 --encoder {encoder} {line}"));
        run.says(&[said]);
        let output = line.split(' ').next_back().expect("an output");
        let stream = &dir.streams(output)[0];
        assert_eq!(stream["pix_fmt"], format, "{line}");
        assert!(dir.frames(output).iter().all(|frame| frame["interlaced_frame"] == 0), "{line}");
        let input = line.split(' ').next().expect("an input");
        // FFmpeg converts both files to gray according to their range tags.
        let [before, after] = [input, output].map(|file| dir.raw(file, "gray"));
        let apart = crate::support::pictures::apart(&before, &after);
        assert!(apart < 6.0, "{line}: {apart} apart");
    }
}
