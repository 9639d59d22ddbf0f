//! `--palette`, `--colour-bar` and `--range`.

use crate::support::media::reader::encoder_is_here;
use crate::support::programs::program::{Dir, usage_error};

/// A horizontal ramp of 256x160 pixels: every level of 8 bits, or every 257th level of 16 bits.
fn ramp(dir: &Dir, file: &str, options: &str) {
    dir.ffmpeg(&format!("-f lavfi -i nullsrc=size=256x160:rate=25,format=gray,geq=lum=X -frames:v 2 {options} {file}"));
}

/// A 16-bit ramp that begins at `first` and rises by `per_column` in each column.
fn deep_ramp(dir: &Dir, file: &str, first: u32, per_column: u32) {
    dir.ffmpeg(&format!(
        "-f lavfi -i nullsrc=size=256x160:rate=25,format=gray16le,geq=lum={first}+{per_column}*X -frames:v 1 {file}"
    ));
}

/// The RGB values of row `y` in the first frame of a file.
fn row(dir: &Dir, file: &str, y: usize, format: &str) -> Vec<[u16; 3]> {
    let bytes = dir.raw(file, format);
    let codes: Vec<u16> = match format {
        "rgb24" => bytes.iter().map(|byte| u16::from(*byte)).collect(),
        _ => bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect(),
    };
    codes[y * 256 * 3..][..256 * 3].chunks_exact(3).map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect()
}

#[test]
fn points_of_palettes_have_their_colours_with_8_and_16_bits() {
    let dir = Dir::new();
    ramp(&dir, "in.mkv", "-c:v ffv1");
    deep_ramp(&dir, "deep.png", 0, 257);
    for (palette, points) in [
        ("lava", [(0, [0, 0, 0]), (85, [255, 0, 0]), (170, [255, 255, 0]), (255, [255, 255, 255])]),
        ("rainbow", [(0, [0, 0, 255]), (51, [0, 204, 255]), (204, [255, 204, 0]), (255, [255, 0, 0])]),
        ("ironbow", [(0, [0, 0, 0]), (102, [179, 17, 128]), (204, [252, 184, 38]), (255, [255, 255, 255])]),
        ("inferno", [(0, [0, 0, 4]), (15, [10, 7, 34]), (150, [217, 77, 61]), (255, [252, 255, 164])]),
        ("viridis", [(0, [68, 1, 84]), (15, [72, 23, 105]), (150, [33, 165, 133]), (255, [253, 231, 37])]),
        ("turbo", [(0, [48, 18, 59]), (15, [63, 62, 156]), (150, [219, 226, 54]), (255, [122, 4, 3])]),
    ] {
        for input in ["in.mkv", "deep.png"] {
            dir.succeeds(&format!("--strength 0 --palette {palette} -y --encoder png {input} out.mkv"));
            let row = row(&dir, "out.mkv", 80, "rgb24");
            for (level, colour) in points {
                assert_eq!(row[level], colour, "{palette} of {input} at {level}");
            }
        }
    }
}

#[test]
fn black_hot_is_the_inverse_of_white_hot_and_both_are_luminance() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=256x160:rate=25 -frames:v 2 -c:v ffv1 in.mkv");
    dir.succeeds("--exact --set gray --encoder ffv1 in.mkv gray.mkv");
    let gray = dir.raw("gray.mkv", "gray");
    dir.succeeds("--exact --palette white-hot --encoder png in.mkv white.mkv");
    dir.succeeds("--exact --palette Black-Hot --encoder png in.mkv black.mkv");
    let (white, black) = (dir.raw("white.mkv", "rgb24"), dir.raw("black.mkv", "rgb24"));
    assert!(white.iter().zip(&black).all(|(white, black)| *white == 255 - black));
    assert!(white.chunks_exact(3).all(|pixel| pixel[0] == pixel[1] && pixel[1] == pixel[2]));
    // Luma 16 to 235 becomes RGB 0 to 255.
    let full = |code: u8| ((u32::from(code.clamp(16, 235)) - 16) * 255 + 109) / 219;
    let expected: Vec<u32> = gray.iter().map(|code| full(*code)).collect();
    let found: Vec<u32> = white.chunks_exact(3).map(|pixel| pixel[0].into()).collect();
    assert_eq!(found.len(), 2 * 256 * 160);
    assert!(found.iter().zip(&expected).all(|(found, expected)| found.abs_diff(*expected) <= 1));
}

#[test]
fn colours_have_more_bits_where_the_output_asks_for_them() {
    let dir = Dir::new();
    deep_ramp(&dir, "deep.png", 20_000, 4);
    dir.succeeds("--range 20000:21020 --palette white-hot deep.png out8.png");
    dir.succeeds("--range 20000:21020 --palette white-hot --output-pixel-format rgb48be deep.png out16.png");
    assert_eq!(["out8.png", "out16.png"].map(|file| dir.pixel_format(file)), ["rgb24", "rgb48be"]);
    let row = row(&dir, "out16.png", 0, "rgb48le");
    // The range of 1020 levels spans 255 columns of 4 levels.
    assert_eq!([0, 1, 100, 255].map(|x| row[x][0]), [0, 257, 25_700, 65_535]);
}

#[test]
fn a_range_is_its_formula_for_all_files_alike() {
    let dir = Dir::new();
    deep_ramp(&dir, "a.png", 20_000, 10);
    deep_ramp(&dir, "b.png", 21_000, 20);
    for name in ["a", "b"] {
        dir.succeeds(&format!("--range 20500:22500 {name}.png {name}-out.png"));
        let codes = |file: &str| -> Vec<u64> {
            let bytes = dir.raw(file, "gray16le");
            bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]).into()).collect()
        };
        let (before, after) = (codes(&format!("{name}.png")), codes(&format!("{name}-out.png")));
        for (before, after) in before.into_iter().zip(after) {
            let above = before.saturating_sub(20_500).min(2_000);
            assert_eq!(after, (above * 65_535 + 1_000) / 2_000, "{name}: {before}");
        }
    }
    // `--range` is in codes of the input, also with limited range, and when `--output-depth` adds bits.
    ramp(&dir, "in.mkv", "-vf scale=out_range=tv,format=yuv420p,setrange=tv -c:v ffv1");
    dir.succeeds("--range 100:200 --output-depth 10 --encoder ffv1 in.mkv ten.mkv");
    dir.succeeds("--range 100:200 --encoder ffv1 in.mkv eight.mkv");
    let luma = |file: &str, format: &str, bytes: usize| dir.raw(file, format)[..256 * 160 * bytes].to_vec();
    let (before, eight) = (luma("in.mkv", "yuv420p", 1), luma("eight.mkv", "yuv420p", 1));
    for (before, after) in before.iter().zip(&eight) {
        let above = (u32::from(*before)).saturating_sub(100).min(100);
        assert_eq!(u32::from(*after), 16 + (above * 219 + 50) / 100, "{before}");
    }
    let ten = luma("ten.mkv", "yuv420p10le", 2);
    let ten = ten.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
    assert!(ten.zip(&eight).all(|(ten, eight)| ten.abs_diff(4 * u16::from(*eight)) <= 12));
}

/// A floating-point TIFF of 256x160 pixels, with `value(x)` in column x.
fn float_tiff(value: impl Fn(u32) -> f32) -> Vec<u8> {
    let rows: Vec<u8> = (0..160).flat_map(|_| (0..256).flat_map(|x| value(x).to_le_bytes())).collect();
    let entries: [(u16, u16, u32); 9] = [
        (256, 4, 256),
        (257, 4, 160),
        (258, 3, 32),
        (259, 3, 1),
        (262, 3, 1),
        (273, 4, 8),
        (278, 4, 160),
        (279, 4, rows.len() as u32),
        (339, 3, 3),
    ];
    let mut file = b"II*\0".to_vec();
    file.extend((8 + rows.len() as u32).to_le_bytes());
    file.extend(&rows);
    file.extend((entries.len() as u16).to_le_bytes());
    for (tag, kind, value) in entries {
        file.extend(tag.to_le_bytes());
        file.extend(kind.to_le_bytes());
        file.extend(1u32.to_le_bytes());
        file.extend(value.to_le_bytes());
    }
    file.extend([0; 4]);
    file
}

#[test]
fn a_range_and_a_bar_are_in_the_unit_of_the_file() {
    let dir = Dir::new();
    // The samples are temperatures from -10 to 117.5 degrees.
    dir.write("in.tif", &float_tiff(|x| x as f32 / 2.0 - 10.0));
    let out = |options: &str| {
        dir.succeeds(&format!("--range 20:60 {options} -y in.tif out.png"));
        dir.raw("out.png", "gray16le").chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect()
    };
    let found: Vec<u16> = out("");
    for (x, code) in found[..256].iter().enumerate() {
        let share = ((x as f64 / 2.0 - 10.0 - 20.0) / 40.0).clamp(0.0, 1.0);
        // The codes have 16 bits for the whole range of the samples, so rounding moves them by up to 3.
        assert!((share * 65_535.0 - f64::from(*code)).abs() < 3.0, "{x}: {code}");
    }
    // With another `--sample-range`, the same range in degrees gives nearly the same codes.
    let other: Vec<u16> = out("--sample-range -50:200");
    assert!(found.iter().zip(&other).all(|(a, b)| a.abs_diff(*b) < 8));
}

/// Do these columns contain a letter of the labels, which are white?
fn has_letters(rows: &[u8], width: usize, columns: std::ops::Range<usize>) -> bool {
    rows.chunks_exact(3 * width)
        .any(|row| row[3 * columns.start..3 * columns.end].chunks_exact(3).any(|p| p == [255; 3]))
}

#[test]
fn the_bar_has_all_colours_and_stands_beside_the_picture() {
    let dir = Dir::new();
    deep_ramp(&dir, "in.png", 20_000, 1);
    dir.succeeds("--range 20000:20255 --palette viridis in.png plain.png");
    dir.succeeds("--range 20000:20255 --palette viridis --colour-bar in.png bar.png");
    dir.succeeds("--range 20000:20260 --palette viridis --colour-bar in.png wider.png");
    dir.succeeds("--look thermal --levels 1 --strength 1 --palette viridis --color-bar in.png equalized.png");
    let (plain, bar) = (dir.raw("plain.png", "rgb24"), dir.raw("bar.png", "rgb24"));
    let pixel = |x: usize, y: usize| -> [u8; 3] { std::array::from_fn(|c| bar[3 * (256 * y + x) + c]) };
    // The bar covers the last 54 columns (five letters of 6 pixels, a bar of 12, margins of 4) and the middle 120 rows.
    assert!((0..160).all(|y| plain[3 * 256 * y..][..3 * 202] == bar[3 * 256 * y..][..3 * 202]));
    assert_eq!((pixel(202, 20), pixel(255, 139), pixel(202, 19) == [0; 3]), ([0; 3], [0; 3], false));
    // The bar's top has the palette's last colour, its bottom the first one.
    assert_eq!((pixel(245, 29), pixel(245, 130)), ([253, 231, 37], [68, 1, 84]));
    for middle in [29, 130, 79] {
        assert!(has_letters(&bar[3 * 256 * (middle - 5)..][..3 * 256 * 10], 256, 206..236), "{middle}");
    }
    // Each level has the same number of pixels, so the equalization curve is straight, and its labels equal those of
    // `--range`.
    let letters = |picture: &[u8]| -> Vec<u8> {
        (20..140).flat_map(|y| picture[3 * (256 * y + 202)..][..3 * 38].to_vec()).collect()
    };
    let pictures = ["equalized.png", "wider.png"].map(|file| letters(&dir.raw(file, "rgb24")));
    assert!(pictures[0] == letters(&bar) && pictures[1] != pictures[0]);
}

#[test]
fn palettes_go_through_pipes_numbered_images_and_players() {
    let dir = Dir::new();
    ramp(&dir, "in%02d.png", "");
    dir.succeeds("--palette inferno in%02d.png out%02d.png");
    assert_eq!(dir.frames("out%02d.png").len(), 2);
    let piped = "-f rawvideo -s 256x160 --pixel-format gray --strength 0 --palette lava --output-format rawvideo - -";
    let run = dir.fed(piped, &dir.raw("in%02d.png", "gray"));
    assert_eq!(run.stdout.len(), 2 * 3 * 256 * 160, "{}", run.stderr);
    assert_eq!(run.stdout[3 * 85..][..3], [255, 0, 0]);
    dir.succeeds("--palette inferno --filter-after scale=128:80 in%02d.png small%02d.png");
    assert_eq!(dir.raw("small%02d.png", "rgb24").len(), 2 * 3 * 128 * 80);
    if encoder_is_here("a palette for players", "libx264") {
        dir.succeeds("--palette inferno in%02d.png out.mp4");
        assert_eq!(dir.pixel_format("out.mp4"), "yuv420p");
    }
}

#[test]
fn what_does_not_go_together_is_refused() {
    let dir = Dir::new();
    ramp(&dir, "in.mkv", "-c:v ffv1");
    for (arguments, message) in [
        ("--colour-bar in.mkv out.mkv", "--palette <NAME>"),
        ("--palette sepia in.mkv out.mkv", "ironbow"),
        ("--range 5:5 in.mkv out.mkv", "the smaller one first"),
        ("--range 5:6 --strength 0.5 in.mkv out.mkv", "cannot be used with"),
        ("--range 5:6 --exact in.mkv out.mkv", "cannot be used with"),
        ("--range 5:6 --load-curves c.jsonl in.mkv out.mkv", "cannot be used with"),
        ("--range 5:6 --set look-ahead=1 in.mkv out.mkv", "--set look-ahead does not go with --range"),
        ("--range 5:6 --denoise 1 in.mkv out.mkv", "--denoise does not go with --range"),
    ] {
        usage_error(arguments).says(&[message]);
    }
    // The program knows only from the opened video whether the method has a single curve.
    for options in ["--method clahe", "--method natural", "--method deflicker"] {
        let run = dir.run(&format!("{options} --palette ironbow --colour-bar in.mkv out.mkv"));
        run.exits_with(2).says(&["it stands for no one value"]);
    }
    dir.ffmpeg("-f lavfi -i color=size=48x32:color=gray:rate=25 -frames:v 1 small.png");
    dir.run("--range 0:255 --palette lava --colour-bar small.png out.png").fails().says(&["48x32 has no room for it"]);
}
