//! Colour tables (.cube): those that the program saves of a scene for grading programs, and those of other programs.

use crate::support::programs::program::{Dir, Run};
use std::path::Path;

const PIXELS: usize = 160 * 96;

/// The filters with which ffmpeg converts frames to 16-bit RGB.
const RGB: &str =
    "scale=in_color_matrix=bt709:flags=bilinear+accurate_rnd+full_chroma_int+full_chroma_inp,format=gbrp16le";

/// A folder with a 16-bit clip: ten equal frames, dark and of low contrast.
fn folder() -> Dir {
    let dir = Dir::new();
    let dull = "format=gbrp16le,lutrgb=r=val/4+4000:g=val/3+5000:b=val/3+7000";
    let tags = "setparams=colorspace=bt709:color_primaries=bt709:color_trc=bt709:range=tv";
    dir.ffmpeg(&format!(
        "-f lavfi -i testsrc=size=160x96:rate=10:duration=1,{dull},scale=out_color_matrix=bt709,format=yuv444p16le,{tags} \
         -colorspace bt709 -color_range tv -c:v ffv1 in.mkv"
    ));
    dir
}

/// The samples of all frames of a video in 16-bit RGB, after a filter.
fn rgb(dir: &Dir, name: &str, filter: &str) -> Vec<u16> {
    let line = format!("-nostdin -v error -y -i {name} -vf {RGB}{filter} -f rawvideo rgb.raw");
    // `None` keeps no result for later runs, because the filter may read a table file.
    dir.tool("ffmpeg", &line, None);
    dir.read("rgb.raw").chunks_exact(2).map(|bytes| u16::from_le_bytes([bytes[0], bytes[1]])).collect()
}

/// Maps the samples by a table, with tetrahedral interpolation. ffmpeg gives the same, as another test shows, but takes
/// seconds to read a table.
fn through(dir: &Dir, table: &str, samples: &[u16]) -> Vec<u16> {
    let text = String::from_utf8(dir.read(table)).expect("text");
    let size: usize = text.lines().find_map(|line| line.strip_prefix("LUT_3D_SIZE ")?.parse().ok()).expect("a size");
    let is_entry = |line: &&str| line.starts_with(|first: char| first.is_ascii_digit() || first == '-');
    let entry = |line: &str| {
        let mut numbers = line.split(' ').map(|number| number.parse::<f32>().expect("a number"));
        [(); 3].map(|()| numbers.next().expect("three numbers"))
    };
    let entries: Vec<[f32; 3]> = text.lines().filter(is_entry).map(entry).collect();
    assert_eq!(entries.len(), size.pow(3), "{table}");
    let mut made = samples.to_vec();
    for position in (0..samples.len()).filter(|position| position % (3 * PIXELS) < PIXELS) {
        // The planes are in the order green, blue, red.
        let places = [position + 2 * PIXELS, position, position + PIXELS];
        let levels = places.map(|place| f32::from(samples[place]) / 65_535.0 * (size - 1) as f32);
        let mut corner = levels.map(|level| (level as usize).min(size - 2));
        let mut order = [0, 1, 2].map(|channel| (levels[channel] - corner[channel] as f32, channel));
        order.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut colour = [0.0; 3];
        let mut add = |corner: [usize; 3], share: f32| {
            let entry = entries[corner[0] + size * (corner[1] + size * corner[2])];
            colour.iter_mut().zip(entry).for_each(|(sum, value)| *sum += share * value);
        };
        add(corner, 1.0 - order[0].0);
        for (index, (share, channel)) in order.into_iter().enumerate() {
            corner[channel] += 1;
            add(corner, share - order.get(index + 1).map_or(0.0, |next| next.0));
        }
        for (place, value) in places.into_iter().zip(colour) {
            made[place] = (value * 65_535.0).round().clamp(0.0, 65_535.0) as u16;
        }
    }
    made
}

/// The number of samples that differ by more than half an 8-bit level, and the number of all samples.
fn apart(a: &[u16], b: &[u16]) -> (usize, usize) {
    assert_eq!(a.len(), b.len());
    (a.iter().zip(b).filter(|(a, b)| a.abs_diff(**b) > 129).count(), a.len())
}

#[test]
fn a_table_gives_a_grading_program_our_picture() {
    let dir = folder();
    let original = rgb(&dir, "in.mkv", "");
    for look in ["--method global --strength 1", "--look underwater", "--look faithful"] {
        dir.succeeds(&format!(
            "-y {look} --smooth scene --denoise 0 --save-curves look.cube --encoder ffv1 in.mkv out.mkv"
        ));
        let ours = rgb(&dir, "out.mkv", "");
        let theirs = rgb(&dir, "in.mkv", ",lut3d=look.cube:interp=tetrahedral");
        let (wrong, total) = apart(&theirs, &ours);
        assert!(wrong * 1000 <= total, "{look}: {wrong} of {total} are more than half a level off");
        let (changed, _) = apart(&original, &ours);
        assert!(changed * 2 > total, "{look} changes only {changed} of {total}");
        let applied = through(&dir, "look.cube", &original);
        assert!(
            theirs.iter().zip(applied).all(|(theirs, applied)| theirs.abs_diff(applied) <= 1),
            "{look}: not what FFmpeg makes"
        );
    }
}

#[test]
fn the_table_of_log_takes_log() {
    let dir = folder();
    let original = rgb(&dir, "in.mkv", "");
    dir.succeeds("--log s-log3 --strength 0 --encoder ffv1 in.mkv shown.mkv");
    let shown = rgb(&dir, "shown.mkv", "");
    // The default look is not tested here: it leaves video unchanged that it classifies as a drawing.
    for look in ["--strength 0", "--look faithful --smooth scene", "--method global --strength 1 --smooth scene"] {
        dir.succeeds(&format!(
            "-y --log s-log3 {look} --denoise 0 --save-curves look.cube --encoder ffv1 in.mkv out.mkv"
        ));
        let ours = rgb(&dir, "out.mkv", "");
        let (wrong, total) = apart(&through(&dir, "look.cube", &original), &ours);
        assert!(wrong * 1000 <= total, "{look}: {wrong} of {total} are more than half a level off");
        for (before, what) in [(&original, "log"), (&shown, "what is shown of it")] {
            let (changed, _) = apart(before, &ours);
            assert!(
                changed * 2 > total || look == "--strength 0",
                "{look} changes only {changed} of {total} of {what}"
            );
        }
    }
}

/// Each scene is stretched around mid-gray, which amplifies an error of a table's white point to whole levels.
#[test]
fn the_table_of_each_scene_gives_its_picture() {
    let dir = Dir::new();
    let dull = "format=gbrp16le,lutrgb=r=val/3+20000:g=val/3+21000:b=val/3+20500";
    let tags = "setparams=colorspace=bt709:color_primaries=bt709:color_trc=bt709:range=tv";
    dir.ffmpeg(&format!(
        "-f lavfi -i testsrc=size=160x96:rate=10:duration=2,{dull} \
         -f lavfi -i mandelbrot=size=160x96:rate=10,trim=duration=2,negate,{dull} \
         -filter_complex [0][1]concat,scale=out_color_matrix=bt709,format=yuv444p16le,{tags} \
         -colorspace bt709 -color_range tv -c:v ffv1 in.mkv"
    ));
    let original = rgb(&dir, "in.mkv", "");
    let scenes = |samples: &[u16]| samples.chunks(samples.len() / 2).map(<[u16]>::to_vec).collect::<Vec<_>>();
    // The default look is not tested here: it leaves video unchanged that it classifies as a drawing.
    for look in ["--look faithful", "--method global --strength 1"] {
        let run = dir.succeeds(&format!(
            "-y {look} --smooth scene --denoise 0 --save-curves look.cube --encoder ffv1 in.mkv out.mkv"
        ));
        run.says(&["2 scenes: look.cube is of the first one, look-2.cube of the last"]);
        let ours = scenes(&rgb(&dir, "out.mkv", ""));
        for (scene, table) in ["look.cube", "look-2.cube"].into_iter().enumerate() {
            let theirs = scenes(&through(&dir, table, &original));
            let (wrong, total) = apart(&theirs[scene], &ours[scene]);
            assert!(wrong * 1000 <= total, "{look} {table}: {wrong} of {total} are more than half a level off");
            let (changed, _) = apart(&scenes(&original)[scene], &ours[scene]);
            assert!(changed * 2 > total, "{look} changes only {changed} of {total}");
        }
    }
}

#[test]
fn gray_video_gets_a_curve() {
    let dir = folder();
    dir.ffmpeg("-i in.mkv -pix_fmt gray16le -c:v ffv1 gray.mkv");
    dir.succeeds("--method global --strength 1 --smooth scene --save-curves look.cube --encoder ffv1 gray.mkv out.mkv");
    assert!(String::from_utf8_lossy(&dir.read("look.cube")).contains("LUT_1D_SIZE 65536\n"));
    let (wrong, total) = apart(&rgb(&dir, "gray.mkv", ",lut1d=look.cube"), &rgb(&dir, "out.mkv", ""));
    assert!(wrong * 1000 <= total, "{wrong} of {total} are more than half a level off");
}

#[test]
fn each_scene_has_a_table_with_its_times() {
    let dir = Dir::new();
    dir.ffmpeg(
        "-f lavfi -i testsrc=size=160x96:rate=10:duration=2 -f lavfi -i mandelbrot=size=160x96:rate=10 \
         -filter_complex [1]trim=duration=2,negate[b];[0]format=yuv420p[a];[b]format=yuv420p[c];[a][c]concat -c:v ffv1 in.mkv",
    );
    let line = "--method global --strength 1 --denoise 0 --save-curves look.cube --encoder ffv1";
    let run = dir.succeeds(&format!("{line} in.mkv out.mkv"));
    run.says(&["2 scenes: look.cube is of the first one, look-2.cube of the last"]);
    let text = |name: &str| String::from_utf8_lossy(&dir.read(name)).into_owned();
    assert!(text("look.cube").contains("scene 1 of 2: 00:00:00.000 to 00:00:02.000, frames 0 to 19"));
    assert!(text("look-2.cube").contains("scene 2 of 2: 00:00:02.000 to 00:00:04.000, frames 20 to 39"));
    // Without -y, existing files are kept.
    std::fs::remove_file(dir.path("look.cube")).expect("removed");
    dir.write("look-2.cube", b"mine");
    dir.run(&format!("{line} in.mkv again.mkv")).fails().says(&["look-2.cube exists"]);
    assert_eq!(dir.read("look-2.cube"), b"mine");
    dir.succeeds(&format!("-y {line} in.mkv again.mkv"));
    assert!(text("look-2.cube").contains("LUT_3D_SIZE"));
}

#[test]
fn what_a_table_leaves_out_is_said() {
    let dir = folder();
    let clip = Path::new("samples/parking-lot.mp4").canonicalize().expect("a sample");
    let line = "--look haze --frames 10 --save-curves look.cube --encoder ffv1";
    let run = Run::from_command(dir.command(line).arg(clip).arg("out.mkv"), line).exits_with(0);
    run.says(&["warning: look.cube: what is done by region is left out, and its mean is in the table"]);
    for (line, why) in [
        ("--save-curves a.cube - -", "goes with files, not with pipes and live"),
        ("--load-curves look.cube in.mkv b.mkv", "--lut applies a .cube"),
        ("--save-curves a.cube --method clahe in.mkv b.mkv", "has a curve for each tile"),
    ] {
        dir.run(line).exits_with(2).says(&[why]);
    }
    dir.run("plan --save-curves a.cube in.mkv b.mkv").fails().says(&["a scene can lie in several pieces"]);
}

#[test]
fn a_table_is_applied_before_all_else() {
    let dir = folder();
    dir.write(
        "inverse.cube",
        b"TITLE \"inverse\"\nLUT_3D_SIZE 2\n1 1 1\n0 1 1\n1 0 1\n0 0 1\n1 1 0\n0 1 0\n1 0 0\n0 0 0\n",
    );
    dir.write("it's 1D.cube", b"LUT_1D_SIZE 2\n1 1 1\n0 0 0\n");
    let original = rgb(&dir, "in.mkv", "");
    for name in ["inverse.cube", "it's 1D.cube"] {
        let output = Run::from_command(
            dir.command("-y --strength 0 --encoder ffv1").args(["--lut", name, "in.mkv", "out.mkv"]),
            name,
        );
        output.exits_with(0);
        let inverse: Vec<u16> = rgb(&dir, "out.mkv", "").into_iter().map(|sample| 65_535 - sample).collect();
        let (wrong, total) = apart(&original, &inverse);
        assert!(wrong * 1000 <= total, "{name}: {wrong} of {total} differ");
    }
    // Applying a look's table to the input gives the same output as the look.
    dir.succeeds("-y --method global --strength 1 --smooth scene --denoise 0 --save-curves look.cube --encoder ffv1 in.mkv out.mkv");
    dir.succeeds("--lut look.cube --strength 0 --encoder ffv1 in.mkv again.mkv");
    let (wrong, total) = apart(&rgb(&dir, "out.mkv", ""), &rgb(&dir, "again.mkv", ""));
    assert!(wrong * 1000 <= total, "{wrong} of {total} differ");
}

#[test]
fn what_is_no_table_is_an_error() {
    let dir = folder();
    dir.write("text.cube", b"hello\n");
    dir.write("short.cube", b"LUT_3D_SIZE 2\n1 1 1\n");
    for (line, why) in [
        ("--lut none.cube in.mkv out.mkv", "error: --lut none.cube: No such file or directory\n"),
        ("--lut in.mkv in.mkv out.mkv", "is no .cube file"),
        ("--lut text.cube in.mkv out.mkv", "has neither LUT_1D_SIZE nor LUT_3D_SIZE"),
        ("--lut short.cube in.mkv out.mkv", "short.cube"),
    ] {
        dir.run(line).fails().says(&[why]);
    }
    assert!(!dir.path("out.mkv").exists());
}

#[test]
fn a_table_with_what_is_no_number_is_an_error_that_names_its_line() {
    let dir = folder();
    for bad in ["nan 0 0", "0 -inf 0", "0 0 1e39", "0 40000 0", "0 0,5 0"] {
        for (name, head) in [("3d.cube", "# by hand\nLUT_3D_SIZE 2\n\n"), ("1d.cube", "TITLE \"a\"\n\nLUT_1D_SIZE 8\n")]
        {
            dir.write(name, format!("{head}0 0 0\n{bad}\n{}", "1 1 1\n".repeat(6)).as_bytes());
            let said = format!("--lut {name}: line 5: ");
            dir.run(&format!("--lut {name} in.mkv out.mkv")).exits_with(1).says(&[&said, "is no number of a table"]);
            assert!(!dir.path("out.mkv").exists(), "{bad}");
        }
    }
    dir.write("domain.cube", b"LUT_3D_SIZE 2\nDOMAIN_MAX inf 1 1\n");
    dir.run("--lut domain.cube in.mkv out.mkv").exits_with(1).says(&["domain.cube: line 2: inf"]);
}

#[test]
fn a_table_of_no_domain_and_one_of_endless_lines_are_errors() {
    let dir = folder();
    let rows = "0 0 0\n1 1 1\n";
    for domain in [
        "DOMAIN_MIN 0 1 0\n",
        "DOMAIN_MIN 0.5 0.5 0.5\nDOMAIN_MAX 1 1 0.5\n",
        "DOMAIN_MIN 1 1 1\nDOMAIN_MAX 0 0 0\n",
        "LUT_1D_INPUT_RANGE 1 0\n",
    ] {
        dir.write("a.cube", format!("LUT_1D_SIZE 2\n{domain}{rows}").as_bytes());
        dir.run("--lut a.cube in.mkv out.mkv").exits_with(1).says(&["--lut a.cube: its domain ends where it begins"]);
    }
    for line in ["# ".repeat(4000), "1 ".repeat(3_000_000)] {
        dir.write("a.cube", format!("LUT_1D_SIZE 2\n{line}\n{rows}").as_bytes());
        dir.run("--lut a.cube in.mkv out.mkv").exits_with(1).says(&["--lut a.cube: line 2 is longer than 4096 bytes"]);
    }
    assert!(!dir.path("out.mkv").exists());
    // A long comment and an unusual domain are valid.
    let comment = format!("# {}\n", "a".repeat(2000));
    dir.write("a.cube", format!("{comment}LUT_1D_SIZE 2\nDOMAIN_MIN -1 -1 -1\nDOMAIN_MAX 2 2 2\n{rows}").as_bytes());
    dir.succeeds("--lut a.cube --strength 0 --encoder ffv1 in.mkv out.mkv");
    assert_eq!(dir.frames("out.mkv").len(), 10);
}

#[test]
fn hdr_that_is_corrected_in_light_has_no_table() {
    let dir = Dir::new();
    let clip = Path::new("samples/parking-lot.mp4").canonicalize().expect("a sample");
    let tags = "-color_trc smpte2084 -color_primaries bt2020 -colorspace bt2020nc -color_range tv";
    dir.ffmpeg(&format!("-i {} -frames:v 5 -pix_fmt yuv420p10le -c:v ffv1 {tags} hdr.mkv", clip.display()));
    let line = "--look haze --denoise 0 --save-curves look.cube --encoder ffv1 hdr.mkv out.mkv";
    dir.run(line).fails().says(&["look.cube", "what is done to HDR in light is no table"]);
    assert_eq!(dir.names(), ["hdr.mkv"]);
}
