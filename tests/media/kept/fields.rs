//! The two fields of interlaced video, whose rows alternate.

use crate::support::media::clips::phone;
use crate::support::media::reader::{encoder_is_here, filter_is_here};
use crate::support::programs::program::Dir;

const COLUMNS: usize = 64;

/// Two interlaced 4:2:0 or 4:2:2 frames of `height` rows. The top and the bottom field each have one code of luma and
/// one of Cb; Cr has the codes of Cb exchanged.
fn interlaced(dir: &Dir, chroma: &str, height: usize, luma: [u8; 2], cb: [u8; 2]) {
    let mut bytes = format!("YUV4MPEG2 W{COLUMNS} H{height} F25:1 It A1:1 C{chroma}\n").into_bytes();
    let chroma_rows = if chroma.starts_with("420") { height.div_ceil(2) } else { height };
    let plane = |columns: usize, rows: usize, codes: [u8; 2]| -> Vec<u8> {
        (0..rows).flat_map(|y| vec![codes[y % 2]; columns]).collect()
    };
    for _ in 0..2 {
        bytes.extend(b"FRAME\n");
        bytes.extend(plane(COLUMNS, height, luma));
        bytes.extend(plane(COLUMNS / 2, chroma_rows, cb));
        bytes.extend(plane(COLUMNS / 2, chroma_rows, [cb[1], cb[0]]));
    }
    dir.write("in.y4m", &bytes);
}

/// A sample in the middle of each row of a plane.
fn middle(plane: &[u8], row_bytes: usize, rows: usize) -> Vec<u8> {
    (0..rows).map(|y| plane[y * row_bytes + row_bytes / 2]).collect()
}

#[track_caller]
fn alternate(found: &[u8], codes: [u8; 2], what: &str) {
    let is_right = found.iter().enumerate().all(|(y, code)| code.abs_diff(codes[y % 2]) <= 1);
    assert!(is_right, "{what}: {found:?} instead of {codes:?} in turn");
}

fn interlaced_frames(dir: &Dir, file: &str) -> Vec<bool> {
    dir.frames(file).iter().map(|frame| frame["interlaced_frame"] == 1).collect()
}

#[test]
fn conversions_of_chroma_keep_fields_apart() {
    let dir = Dir::new();
    let (luma, cb) = ([60, 180], [90, 210]);
    // Some of these heights do not divide into fields with whole chroma rows.
    for height in [48_usize, 47, 50, 2] {
        for (source, target, columns, rows) in [
            ("420mpeg2", "yuv422p", COLUMNS / 2, height),
            ("420mpeg2", "yuv444p", COLUMNS, height),
            ("422", "yuv420p", COLUMNS / 2, height.div_ceil(2)),
        ] {
            interlaced(&dir, source, height, luma, cb);
            dir.succeeds(&format!(
                "--backend cpu --strict --levels 1 --strength 0 --encoder ffv1 --output-pixel-format {target} -y in.y4m \
                 out.mkv"
            ));
            assert_eq!(interlaced_frames(&dir, "out.mkv"), [true; 2], "{source} to {target}");
            let pixels = dir.raw("out.mkv", target);
            let what = format!("{source} to {target}, {height} rows");
            alternate(&middle(&pixels, COLUMNS, height), luma, &what);
            if height > 2 {
                alternate(&middle(&pixels[COLUMNS * height..], columns, rows), cb, &what);
            }
        }
    }
    // In RGB, blue depends on Cb.
    interlaced(&dir, "420mpeg2", 48, [110; 2], cb);
    dir.succeeds("--backend cpu --levels 1 --strength 0 --encoder ffv1 --output-pixel-format bgr0 -y in.y4m out.mkv");
    let pixels = dir.raw("out.mkv", "bgr0");
    let blue = middle(&pixels, 4 * COLUMNS, 48);
    assert!(blue[0].abs_diff(blue[1]) > 100, "{blue:?}");
    alternate(&blue, [blue[0], blue[1]], "blue");
}

#[test]
fn a_cast_is_taken_off_each_field_by_its_own_chroma() {
    let dir = Dir::new();
    interlaced(&dir, "420mpeg2", 48, [110; 2], [90, 210]);
    // The look is given, because by default the program would classify the frame as a drawing and leave its colours.
    dir.succeeds("--backend cpu --look underwater --encoder ffv1 -y in.y4m out.mkv");
    let rows = middle(&dir.raw("out.mkv", "yuv420p"), COLUMNS, 48);
    assert!(rows[0].abs_diff(rows[1]) > 4, "luma is changed by the colour: {rows:?}");
    alternate(&rows, [rows[0], rows[1]], "underwater");
}

#[test]
fn fields_that_are_scaled_are_named() {
    let dir = Dir::new();
    interlaced(&dir, "420mpeg2", 48, [60, 180], [128; 2]);
    let line = "--levels 1 --strength 0 --encoder ffv1 --fit 32x24 -y in.y4m out.mkv";
    let words = ["scaled from 48 to 24 rows, interlaced video becomes progressive", "--filter yadif"];
    dir.succeeds(&format!("--backend cpu {line}")).says(&words);
    assert_eq!(interlaced_frames(&dir, "out.mkv"), [false; 2]);
    dir.run(&format!("--backend cpu --strict {line}")).fails().says(&words);
    dir.succeeds(&format!("--backend cpu --strict --filter yadif {line}")).never_says("interlaced");
    assert_eq!(interlaced_frames(&dir, "out.mkv"), [false; 2]);
}

#[test]
fn fields_that_are_turned_are_named() {
    if !encoder_is_here("interlaced video of a phone", "libx264") {
        return;
    }
    let dir = Dir::new();
    let clip = "-f lavfi -i testsrc2=size=128x96:rate=25 -frames:v 4 -vf setfield=tff,format=yuv420p \
                -flags +ilme+ildct -x264-params tff=1";
    let header = |file: &str| {
        let bytes = dir.read(file);
        let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
        String::from_utf8_lossy(line).into_owned()
    };
    for (angle, order) in [(90, " Ip"), (180, " Ib"), (270, " Ip")] {
        phone(&dir, "in.mp4", clip, angle);
        let words = ["turned by 90 degrees, interlaced video becomes progressive", "--filter yadif"];
        let line = "--levels 1 --strength 0 -y in.mp4 out.y4m";
        let run = dir.succeeds(&format!("--backend cpu {line}"));
        if angle == 180 {
            run.never_says("warning");
        } else {
            run.says(&words);
            dir.run(&format!("--backend cpu --strict {line}")).fails().says(&words);
        }
        let found = header("out.y4m");
        // Turned by 180 degrees, a frame begins with a row of the bottom field.
        assert!(found.contains(order), "{angle}: {found}");
        // An mp4 file signals the rotation, so its fields are kept.
        dir.succeeds("--backend cpu --strict --encoder libx264 -y in.mp4 out.mp4");
        assert!(interlaced_frames(&dir, "out.mp4").iter().all(|is_interlaced| *is_interlaced), "{angle}");
    }
}

/// The options of all runs with filters: frames stay unchanged.
const AS_IT_IS: &str = "--backend cpu --levels 1 --strength 0 --encoder ffv1 -y";

#[test]
fn filters_that_scale_and_convert_keep_fields_apart() {
    let dir = Dir::new();
    let (luma, cb) = ([60, 180], [90, 210]);
    interlaced(&dir, "420mpeg2", 48, luma, cb);
    for (chain, format, columns, rows) in [
        ("scale=32:24", "yuv420p", 32, 24),
        ("scale=32:24:flags=lanczos", "yuv420p", 32, 24),
        ("scale=64:96", "yuv420p", 64, 96),
        ("format=yuv444p", "yuv444p", 64, 48),
        ("format=yuv422p,scale=64:32", "yuv422p", 64, 32),
        ("crop=64:40,hflip", "yuv420p", 64, 40),
        ("crop=64:40:0:8", "yuv420p", 64, 40),
    ] {
        dir.succeeds(&format!("{AS_IT_IS} --strict --filter {chain} in.y4m out.mkv"));
        assert_eq!(interlaced_frames(&dir, "out.mkv"), [true; 2], "{chain}");
        let pixels = dir.raw("out.mkv", format);
        alternate(&middle(&pixels, columns, rows), luma, chain);
        let across = if format == "yuv444p" { columns } else { columns / 2 };
        let down = if format == "yuv420p" { rows / 2 } else { rows };
        alternate(&middle(&pixels[columns * rows..], across, down), cb, chain);
    }
    // Filters after equalization, and filters in RGB, to which libavfilter converts, keep fields apart, too.
    for line in ["--filter-after scale=32:24", "--filter lutrgb,scale=32:24"] {
        dir.succeeds(&format!("{AS_IT_IS} --strict {line} in.y4m out.mkv"));
        let rows = middle(&dir.raw("out.mkv", "yuv420p"), 32, 24);
        assert!(rows[0].abs_diff(rows[1]) > 60, "{line}: {rows:?}");
        alternate(&rows, [rows[0], rows[1]], line);
    }
}

#[test]
fn filters_that_mix_fields_are_named() {
    let dir = Dir::new();
    interlaced(&dir, "420mpeg2", 48, [60, 180], [90, 210]);
    let way_out = "(yadif ahead of it makes frames of them)";
    for (chain, name, stays) in [
        ("gblur", "gblur", true),
        ("hflip,boxblur=2", "boxblur", true),
        ("unsharp,bwdif=0", "unsharp", false),
        ("transpose", "transpose", false),
        ("rotate=1", "rotate", false),
        // 25 rows do not divide into two equal fields.
        ("scale=32:25", "scale", false),
        // In 4:2:0, two rows of luma are one row of chroma, so this moves chroma into the other field.
        ("crop=64:44", "crop by 2 rows", true),
        ("pad=64:52:0:2", "pad by 2 rows", true),
        ("crop=64:40:0:ih/4-10", "crop by 2 rows", true),
        ("crop=64:40:0:4:exact=1,crop=64:36:0:1:exact=1", "crop by 1 rows", true),
        ("colormatrix=bt601:bt709", "colormatrix", true),
        ("chromashift=crv=1", "chromashift", true),
        ("format=gbrp,rgbashift=rv=1", "rgbashift", true),
        ("tmix,scale=32:24", "scale", false),
    ] {
        if !filter_is_here(chain, name.split(' ').next().unwrap_or_default()) {
            continue;
        }
        let line = format!("--filter {chain} in.y4m out.mkv");
        let mixes = format!("--filter {chain}: {name} mixes the fields of interlaced pictures");
        let words = [mixes.as_str(), way_out];
        dir.run(&format!("{AS_IT_IS} --strict {line}")).fails().says(&words);
        let run = dir.succeeds(&format!("{AS_IT_IS} {line}")).says(&words);
        assert_eq!(run.stderr.matches("mixes the fields").count(), 1, "{}", run.stderr);
        assert_eq!(interlaced_frames(&dir, "out.mkv"), [stays; 2], "{chain}");
        let after = format!("{AS_IT_IS} --filter-after {chain} in.y4m out.mkv");
        dir.succeeds(&after).says(&[&format!("--filter-after {chain}: {name} mixes")]);
        // There is no warning for deinterlaced frames, or if the user declares them progressive.
        for apart in [format!("yadif,{chain}"), format!("setfield=prog,{chain}")] {
            dir.succeeds(&format!("{AS_IT_IS} --strict --filter {apart} in.y4m out.mkv")).never_says("mixes");
            assert_eq!(interlaced_frames(&dir, "out.mkv"), [false; 2], "{apart}");
        }
    }
    dir.succeeds(&format!("{AS_IT_IS} --strict --filter separatefields,gblur,weave in.y4m out.mkv"));
}

#[test]
fn an_upside_down_picture_begins_with_the_other_field() {
    let dir = Dir::new();
    interlaced(&dir, "420mpeg2", 48, [60, 180], [90, 210]);
    for (chain, luma, is_top_first) in
        [("vflip", [180, 60], 0), ("hflip,vflip", [180, 60], 0), ("vflip,vflip", [60, 180], 1)]
    {
        dir.succeeds(&format!("{AS_IT_IS} --strict --filter {chain} in.y4m out.mkv"));
        assert_eq!(interlaced_frames(&dir, "out.mkv"), [true; 2], "{chain}");
        assert_eq!(dir.frames("out.mkv")[0]["top_field_first"], is_top_first, "{chain}");
        alternate(&middle(&dir.raw("out.mkv", "yuv420p"), COLUMNS, 48), luma, chain);
    }
}

#[test]
fn filters_that_leave_rows_where_they_are_are_not_named() {
    let dir = Dir::new();
    interlaced(&dir, "420mpeg2", 48, [60, 180], [90, 210]);
    for chain in [
        "scroll=h=0.1",
        "transpose=passthrough=landscape",
        "chromashift=cbh=2:crv=2",
        "zscale=32:48",
        "crop=64:40:0:-2",
        "crop=64:40:0:ih/12",
        "pad=64:ih+8:0:oh/2-ih/2",
        "tmix",
        "lagfun",
        "maskfun",
    ] {
        if !filter_is_here(chain, chain.split('=').next().unwrap_or_default()) {
            continue;
        }
        dir.succeeds(&format!("{AS_IT_IS} --strict --filter {chain} in.y4m out.mkv"));
        let frames = dir.frames("out.mkv");
        assert!(!frames.is_empty(), "{chain}");
        for frame in frames {
            assert_eq!((&frame["interlaced_frame"], &frame["top_field_first"]), (&1.into(), &1.into()), "{chain}");
        }
    }
    // The filter `pp=lb` deinterlaces itself.
    if filter_is_here("fields by pp", "pp") {
        dir.succeeds(&format!("{AS_IT_IS} --strict --filter pp=lb in.y4m out.mkv")).never_says("yadif");
    }
    let line = format!("{AS_IT_IS} --filter crop=64:40:0:2*n in.y4m out.mkv");
    dir.succeeds(&line).says(&["crop may exchange the fields of interlaced pictures"]);
}

#[test]
fn the_order_of_fields_follows_the_filters_whatever_the_stream_says() {
    let dir = Dir::new();
    interlaced(&dir, "422", 48, [60, 180], [90, 210]);
    // The stream's own order of fields is "tb" here.
    dir.ffmpeg("-i in.y4m -vf setfield=tff -c:v ffv1 -flags +ilme+ildct -field_order tb in.mkv");
    for (chain, is_top_first, order) in [
        ("hflip", 1, "tb"),
        ("vflip", 0, "bb"),
        ("crop=64:40:0:ih/4-9", 0, "bb"),
        ("pad=64:ih+2:0:oh/2-ih/2", 0, "bb"),
        ("crop=64:40:0:-1", 1, "tb"),
    ] {
        dir.succeeds(&format!("{AS_IT_IS} --strict --filter {chain} in.mkv out.mkv"));
        assert_eq!(dir.frames("out.mkv")[0]["top_field_first"], is_top_first, "{chain}");
        assert_eq!(dir.streams("out.mkv")[0]["field_order"], order, "{chain}");
    }
}
