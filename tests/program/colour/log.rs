//! Footage that is tagged as log is converted to BT.709 before anything else.

use crate::support::programs::program::Dir;
use std::path::Path;

/// The metadata with which Final Cut Pro tags S-Log3.
const NAMED: &str = "-movflags use_metadata_tags -metadata com.apple.proapps.customcolor=com.sony.s-log3-cine";

/// The light of gray patch `gray`, relative to white paper: one stop per patch, up to 4.
fn light(gray: usize) -> f64 {
    2_f64.powi(gray as i32 - 8)
}

/// Ten frames with a column of 16 pixels for each gray, in S-Log3 by Sony's document, as 10-bit codes.
fn film(dir: &Dir, file: &str, range: &str, options: &str) {
    let code = |light: f64| match light >= 0.01125 {
        true => 420.0 + 261.5 * ((light + 0.01) / 0.19).log10(),
        false => light * (171.210_294_692_9 - 95.0) / 0.01125 + 95.0,
    };
    let row = (0..176).flat_map(|x| (code(light(x / 16)).round() as u16).to_le_bytes());
    let luma = row.collect::<Vec<_>>().repeat(64);
    let chroma = 512_u16.to_le_bytes().repeat(176 * 64 * 2);
    dir.write("log.yuv", &[luma, chroma].concat().repeat(10));
    dir.ffmpeg(&format!(
        "-f rawvideo -pix_fmt yuv444p10le -s 176x64 -r 25 -color_range {range} -i log.yuv \
         -vf setparams=range={range}:colorspace=bt709:color_primaries=bt709:color_trc=bt709 -c:v ffv1 {options} {file}"
    ));
}

/// The luma in the middle of each gray column.
fn grays(dir: &Dir, file: &str) -> Vec<f64> {
    let samples = dir.raw(file, "yuv444p10le");
    let luma = |x: usize| u16::from_le_bytes([samples[2 * (176 * 32 + x)], samples[2 * (176 * 32 + x) + 1]]);
    (0..11).map(|gray| f64::from(luma(16 * gray + 8))).collect()
}

/// The displayed signal of gray light, as a 10-bit code of limited range: sRGB's curve, 0.409 for 18 % gray, a shoulder
/// from 0.8 on.
fn shown(light: f64) -> f64 {
    let signal_of = |light: f64| match light <= 0.003_130_8 {
        true => 12.92 * light,
        false => 1.055 * light.powf(1.0 / 2.4) - 0.055,
    };
    let gain = ((0.409_f64 + 0.055) / 1.055).powf(2.4) / 0.18;
    let (signal, top) = (signal_of(gain * light), signal_of(gain * 38.421));
    let signal = if signal <= 0.8 {
        signal
    } else {
        let (x, slope) = ((signal - 0.8) / (top - 0.8), (top - 0.8) / 0.2);
        0.8 + 0.2 * slope * x / (1.0 + (slope - 1.0) * x)
    };
    64.0 + 876.0 * signal
}

#[test]
fn grays_of_a_named_film_are_shown_as_their_light_is() {
    let dir = Dir::new();
    // At strength 0, only the log conversion is applied.
    for (range, file) in [("tv", "limited.mkv"), ("pc", "full.mkv")] {
        // FFmpeg 9 writes FFV1 in limited range only, so the clip is H.264.
        film(&dir, file, range, "-c:v libx264 -qp 0");
        dir.succeeds(&format!("-y --backend cpu --log s-log3 --strength 0 --encoder ffv1 {file} out.mkv"))
            .says(&["log (S-Log3, as --log says)"]);
        let found = grays(&dir, "out.mkv");
        for (x, found) in found.iter().enumerate() {
            let expected = shown(light(x));
            assert!((found - expected).abs() < 4.0, "{file}: gray {x} is {found}, not {expected}: {found:?}");
        }
        let frame = &dir.frames("out.mkv")[0];
        let tags = ["color_range", "color_space", "color_primaries", "color_transfer"].map(|tag| frame[tag].clone());
        assert_eq!(tags, ["tv", "bt709", "bt709", "bt709"], "{file}");
    }
}

#[test]
fn a_film_that_names_its_curve_is_shown_and_its_name_is_taken_away() {
    let dir = Dir::new();
    film(&dir, "log.mov", "tv", &format!("-c:v prores_ks {NAMED} -metadata title=kept"));
    let line = "-y --backend cpu --encoder prores_ks";
    dir.succeeds(&format!("{line} log.mov out.mov"))
        .says(&["log (S-Log3, by its metadata): brought to BT.709", "\nlog (S-Log3, by its metadata)"]);
    let about = |file: &str| dir.probe("-show_format", file).to_string();
    assert!(about("log.mov").contains("s-log3") && !about("out.mov").contains("s-log3"));
    assert!(about("out.mov").contains("kept"));
    assert_eq!(dir.frames("out.mov")[0]["color_transfer"], "bt709");
    // The output is no longer tagged as log, so a second run does not convert it again.
    dir.succeeds(&format!("{line} out.mov again.mov")).never_says("S-Log3");
    // The result equals that of `--log s-log3`, not that of `--log off`.
    dir.succeeds(&format!("{line} --log s-log3 log.mov told.mov"));
    dir.succeeds(&format!("{line} --log off log.mov off.mov")).never_says("S-Log3");
    let raw = |file: &str| dir.raw(file, "yuv422p10le");
    assert!(raw("out.mov") == raw("told.mov") && raw("out.mov") != raw("off.mov"));
    let event = dir.succeeds(&format!("{line} --progress json log.mov out.mov")).stderr;
    let found = event.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let found = found.filter_map(|event| event["found_text"].as_str().map(str::to_owned)).collect::<Vec<_>>();
    assert!(found.len() == 1 && found[0].starts_with("log (S-Log3, by its metadata); "), "{found:?}");
}

#[test]
fn without_corrections_or_under_other_looks_log_stays_as_it_is() {
    let dir = Dir::new();
    film(&dir, "log.mov", "tv", &format!("-c:v prores_ks {NAMED}"));
    film(&dir, "unnamed.mov", "tv", "-c:v prores_ks");
    for options in ["--strength 0", "--look exact", "--exact", "--method clahe", "--method global --strength 0.5"] {
        let line = format!("-y --backend cpu {options} --encoder ffv1");
        dir.succeeds(&format!("{line} log.mov named.mkv")).never_says("S-Log3");
        dir.succeeds(&format!("{line} unnamed.mov plain.mkv"));
        assert!(dir.raw("named.mkv", "yuv422p10le") == dir.raw("plain.mkv", "yuv422p10le"), "{options}");
        if options == "--strength 0" {
            assert!(dir.raw("named.mkv", "yuv422p10le") == dir.raw("log.mov", "yuv422p10le"));
        }
        let told = dir.succeeds(&format!("{line} --log s-log3 unnamed.mov told.mkv"));
        told.says(&["log (S-Log3, as --log says)"]);
        // Exact equalization of these few grays gives the same output with and without the conversion.
        if !["--look exact", "--exact"].contains(&options) {
            assert!(dir.raw("told.mkv", "yuv422p10le") != dir.raw("plain.mkv", "yuv422p10le"), "{options}");
        }
    }
}

#[test]
fn pieces_walls_and_pipes_show_log_as_one_process_does() {
    let dir = Dir::new();
    dir.ffmpeg(&format!(
        "-f lavfi -i testsrc2=size=160x96:rate=25:duration=4 -vf format=yuv422p10le -c:v prores_ks {NAMED} log.mov"
    ));
    let line = "-y --backend cpu --encoder ffv1";
    dir.succeeds(&format!("{line} log.mov whole.mkv")).says(&["S-Log3"]);
    let whole = dir.raw("whole.mkv", "yuv422p10le");
    for options in ["--jobs 2", "--sandbox on"] {
        dir.succeeds(&format!("{line} {options} log.mov other.mkv")).says(&["S-Log3"]);
        assert!(dir.raw("other.mkv", "yuv422p10le") == whole, "{options}");
    }
    dir.succeeds(&format!("{line} --start 1 --frames 30 log.mov part.mkv"));
    let frame = 160 * 96 * 2 * 2;
    assert!(dir.raw("part.mkv", "yuv422p10le") == whole[25 * frame..55 * frame]);
    // Pipes, 8-bit video and RGB carry no tag, so `--log` has to name the curve.
    dir.ffmpeg("-i log.mov -pix_fmt yuv420p log.y4m");
    dir.fed(&format!("{line} --log s-log3 - piped.mkv"), &dir.read("log.y4m")).exits_with(0).says(&["S-Log3"]);
    assert_eq!(dir.pixel_format("piped.mkv"), "yuv420p");
    dir.ffmpeg("-i log.mov -pix_fmt gbrp10le -c:v ffv1 rgb.mkv");
    dir.succeeds(&format!("{line} --log s-log3 --strict rgb.mkv out.mkv"));
    assert_eq!(dir.pixel_format("out.mkv"), "gbrp10le");
}

#[test]
fn transfer_characteristics_that_are_logarithms_name_themselves() {
    let dir = Dir::new();
    for (transfer, name) in [("log100", "log 100:1, by its tags"), ("log316", "log 316:1, by its tags")] {
        dir.ffmpeg(&format!(
            "-f lavfi -i testsrc2=size=96x64:rate=25:duration=0.4 -vf setparams=color_trc={transfer} -c:v ffv1 \
             -color_trc {transfer} in.mkv"
        ));
        dir.succeeds("-y --backend cpu --encoder ffv1 in.mkv out.mkv").says(&[name]);
        assert_eq!(dir.frames("out.mkv")[0]["color_transfer"], "bt709");
    }
}

/// The note on footage that looks like log but has no tag.
const ASKED: &str = "this looks like log footage, but nothing names its curve (--log s-log3";

#[test]
fn log_that_nothing_names_is_asked_after_and_other_footage_is_not() {
    let dir = Dir::new();
    let sample = |name: &str| Path::new("samples").join(name).canonicalize().expect("a sample").display().to_string();
    // Converts sRGB to S-Log3, as a signal of limited range.
    let code = "maxval*(420+261.5*log((exp(2.4*log((val/maxval+0.055)/1.055))+0.01)/0.19)/log(10)-64)/876";
    let tags = "setparams=colorspace=bt709:color_primaries=bt709:color_trc=bt709:range=tv";
    let to_ten = format!(
        "scale=384:216:out_color_matrix=bt709,format=yuv422p10le,{tags} -frames:v 12 -an -c:v ffv1 -color_range tv"
    );
    dir.ffmpeg(&format!(
        "-i {} -vf format=gbrp16le,lutrgb=r={code}:g={code}:b={code},{to_ten} log.mkv",
        sample("parking-lot.mp4")
    ));
    let line = "-y --backend cpu --denoise 0 --encoder ffv1";
    dir.succeeds(&format!("{line} log.mkv out.mkv")).says(&[ASKED]);
    let events = dir.succeeds(&format!("{line} --progress json log.mkv out.mkv")).stderr;
    let notes = events.lines().filter(|line| line.contains(r#""event":"note""#) && line.contains(ASKED));
    assert_eq!(notes.count(), 1, "{events}");
    for told in ["--log off", "--log s-log3", "--strength 0", "--look exact"] {
        dir.succeeds(&format!("{line} {told} log.mkv out.mkv")).never_says("looks like log");
    }
    // The converted clip does not look like log any more.
    dir.succeeds(&format!("{line} --log s-log3 --strength 0 log.mkv shown.mkv"));
    dir.succeeds(&format!("{line} shown.mkv out.mkv")).never_says("looks like log");
    for name in ["parking-lot.mp4", "coast.mp4"] {
        dir.ffmpeg(&format!("-i {} -vf {to_ten} ten.mkv", sample(name)));
        dir.succeeds(&format!("{line} ten.mkv out.mkv")).never_says("looks like log");
        dir.succeeds(&format!("{line} --frames 12 {} out.mkv", sample(name))).never_says("looks like log");
    }
    // Light haze, and dimmed video, do not look like log.
    for dull in ["lutyuv=y=val*0.7+180", "lutyuv=y=val*0.5+32"] {
        dir.ffmpeg(&format!(
            "-f lavfi -i testsrc2=size=160x120:rate=25,format=yuv422p10le,{dull} -frames:v 12 -c:v ffv1 d.mkv"
        ));
        dir.succeeds(&format!("{line} d.mkv out.mkv")).never_says("looks like log");
    }
}

#[test]
fn a_curve_that_there_is_not_is_an_error() {
    let run = Dir::new().run("--log d-log-m in.mov out.mov").exits_with(2);
    run.says(&["d-log-m", "s-log3", "apple-log"]);
}
