//! Numbered images: opened by their folder or their first image, with any first number, and with gaps.

use crate::support::programs::program::Dir;

/// Writes images with these numbers into `folder`, by an FFmpeg name pattern. Each has another gray level.
fn images(dir: &Dir, folder: &str, pattern: &str, numbers: &[u32]) {
    std::fs::create_dir_all(dir.path(folder)).expect("a folder");
    dir.ffmpeg(&format!(
        "-y -f lavfi -i color=size=32x24:rate=25,format=gray,geq=lum=20+7*N -frames:v {} all%d.png",
        numbers.len()
    ));
    for (index, number) in numbers.iter().enumerate() {
        let width = pattern.find("%0").map_or(0, |index| usize::from(pattern.as_bytes()[index + 2] - b'0'));
        let number = format!("{number:0width$}");
        let place = if width > 0 { format!("%0{width}d") } else { "%d".to_owned() };
        let name = format!("{folder}/{}", pattern.replace(&place, &number));
        std::fs::rename(dir.path(format!("all{}.png", index + 1)), dir.path(name)).expect("an image");
    }
}

/// For each frame of `file`, the index of the image of `images` that it shows.
fn places(dir: &Dir, file: &str) -> Vec<usize> {
    let samples = dir.raw(file, "gray");
    samples.chunks_exact(32 * 24).map(|frame| (usize::from(frame[0]) - 20) / 7).collect()
}

/// Options that leave the frames unchanged.
const AS_IT_IS: &str = "--backend cpu --strength 0 --encoder ffv1 -y";

#[test]
fn a_folder_of_images_is_a_sequence() {
    let dir = Dir::new();
    images(&dir, "shots", "f_%04d.png", &[998, 999, 1000, 1001]);
    dir.write("shots/notes.txt", b"no image");
    for folder in ["shots", "shots/", "./shots"] {
        dir.succeeds(&format!("{AS_IT_IS} {folder} out.mkv")).never_says("missing");
        assert_eq!(places(&dir, "out.mkv"), [0, 1, 2, 3], "{folder}");
    }
    dir.succeeds("--backend cpu --sandbox on --strength 0 --encoder ffv1 -y shots out.mkv");
    assert_eq!(places(&dir, "out.mkv"), [0, 1, 2, 3]);
    dir.succeeds("--backend cpu -y shots out%05d.png");
    assert!(dir.path("out00998.png").exists() && dir.path("out01001.png").exists(), "{:?}", dir.names());
    // If there are several sequences, the program asks the user to choose.
    images(&dir, "shots", "g%d.png", &[9, 10]);
    let both = ["'shots/f_%04d.png' (4 images)", "'shots/g%d.png' (2 images)", "--output-dir DIR shots"];
    dir.run("-y shots out.mkv").exits_with(2).says(&both);
    std::fs::remove_file(dir.path("shots/g10.png")).expect("an image");
    dir.run("-y shots out.mkv").exits_with(2).says(&["'shots/f_%04d.png' (4 images), shots/g9.png"]);
    std::fs::create_dir(dir.path("empty")).expect("a folder");
    dir.run("empty out.mkv").exits_with(2).says(&["empty is a folder"]);
}

#[test]
fn the_first_image_is_its_sequence_where_a_film_is_written_and_itself_where_an_image_is() {
    let dir = Dir::new();
    images(&dir, ".", "f_%04d.png", &[7, 8, 9, 10]);
    let run = dir.succeeds(&format!("{AS_IT_IS} f_0007.png out.mkv"));
    run.says(&["f_0007.png is the first of 4 images, which are all read", "--frames 1"]);
    assert_eq!(places(&dir, "out.mkv"), [0, 1, 2, 3]);
    dir.succeeds("--backend cpu -y f_0007.png out%d.png");
    assert!(["out7.png", "out10.png"].iter().all(|name| dir.path(name).exists()), "{:?}", dir.names());
    dir.succeeds(&format!("{AS_IT_IS} --frames 1 f_0007.png out.mkv"));
    assert_eq!(places(&dir, "out.mkv"), [0]);
    // A single image is read if the output is an image, if its number is not the first, and if the next number is
    // missing.
    dir.succeeds("--backend cpu -y --strength 0 f_0007.png still.png").never_says("first of");
    assert_eq!(places(&dir, "still.png"), [0]);
    dir.succeeds(&format!("{AS_IT_IS} f_0008.png out.mkv")).never_says("first of");
    assert_eq!(places(&dir, "out.mkv"), [1]);
    std::fs::remove_file(dir.path("f_0008.png")).expect("an image");
    dir.succeeds(&format!("{AS_IT_IS} f_0007.png out.mkv")).never_says("first of");
    assert_eq!(places(&dir, "out.mkv"), [0]);
}

#[test]
fn what_is_missing_in_a_sequence_is_skipped_held_or_an_error() {
    let dir = Dir::new();
    images(&dir, ".", "in%d.png", &[1, 2, 4, 5, 8]);
    let run = dir.succeeds(&format!("{AS_IT_IS} in%d.png out.mkv")).never_says("damaged");
    run.says(&["warning: in%d.png: in3.png and 2 other images are missing", "--gaps hold"]);
    assert_eq!(places(&dir, "out.mkv"), [0, 1, 2, 3, 4], "all that are there");
    let run = dir.succeeds(&format!("{AS_IT_IS} --gaps hold in%d.png out.mkv"));
    run.says(&["in3.png and 2 other images are missing: the image before is shown"]);
    assert_eq!(places(&dir, "out.mkv"), [0, 1, 1, 2, 3, 3, 3, 4]);
    dir.succeeds(&format!("{AS_IT_IS} --gaps hold --start 0.2 --frames 2 in%d.png out.mkv"));
    assert_eq!(places(&dir, "out.mkv"), [3, 3]);
    dir.run("--gaps error -y in%d.png no.mkv").exits_with(4).says(&["in3.png and 2 other images are missing"]);
    for gaps in ["skip", "hold"] {
        dir.run(&format!("--strict --gaps {gaps} in%d.png no.mkv")).fails().says(&["missing"]);
    }
    assert!(!dir.path("no.mkv").exists());
    // Output numbers equal the input numbers; with `--gaps hold`, missing numbers are filled.
    let numbers = |name: &str| (1..10).filter(|number| dir.path(format!("{name}{number}.png")).exists()).collect();
    dir.succeeds("--backend cpu in%d.png skipped%d.png");
    dir.succeeds("--backend cpu --gaps hold in%d.png held%d.png");
    let (skipped, held): (Vec<u32>, Vec<u32>) = (numbers("skipped"), numbers("held"));
    assert_eq!((skipped, held), (vec![1, 2, 4, 5, 8], (1..9).collect()));
    dir.succeeds("--backend cpu --start 0.08 --frames 2 in%d.png part%d.png");
    assert!(dir.path("part4.png").exists() && dir.path("part5.png").exists(), "{:?}", dir.names());
}

#[test]
fn numbers_in_steps_have_gaps_only_where_a_step_is_missing() {
    let dir = Dir::new();
    images(&dir, ".", "in%03d.png", &[100, 110, 120, 130]);
    dir.succeeds(&format!("--strict {AS_IT_IS} --gaps error in%03d.png out.mkv"));
    assert_eq!(places(&dir, "out.mkv"), [0, 1, 2, 3]);
    dir.succeeds("--backend cpu in%03d.png out%d.png");
    assert!([100, 110, 120, 130].iter().all(|number| dir.path(format!("out{number}.png")).exists()));
    std::fs::remove_file(dir.path("in110.png")).expect("an image");
    dir.succeeds(&format!("{AS_IT_IS} --gaps hold in%03d.png out.mkv")).says(&["in%03d.png"]);
    assert_eq!(places(&dir, "out.mkv"), [0, 0, 2, 3]);
}

#[test]
fn sequences_are_inputs_of_a_folder_of_outputs_which_goes_on_where_it_was_interrupted() {
    let dir = Dir::new();
    images(&dir, "shots/day", "f_%04d.png", &[1, 2, 3, 4]);
    images(&dir, "shots/day", "g%d.png", &[5, 6]);
    images(&dir, "shots/night", "%02d.png", &[1, 2]);
    dir.ffmpeg("-f lavfi -i color=size=32x24 -frames:v 1 shots/day/cover.png");
    let line = "--backend cpu --output-dir out shots";
    dir.succeeds(line).says(&["4 files with 9 frames"]);
    let all = ["day/f_0001.png", "day/f_0004.png", "day/g5.png", "day/g6.png", "day/cover.png", "night/02.png"];
    for name in all {
        assert!(dir.path(format!("out/{name}")).exists(), "{name}");
    }
    dir.succeeds(line).says(&["0 files", "4 files were there"]);
    // A missing output image is written again, an existing one is kept.
    let whole = dir.read("out/day/f_0003.png");
    std::fs::remove_file(dir.path("out/day/f_0003.png")).expect("an image");
    dir.write("out/day/f_0002.png", b"as it was");
    dir.succeeds(line).says(&["1 file with 4 frames", "3 files were there"]);
    assert_eq!(dir.read("out/day/f_0003.png"), whole);
    assert_eq!(dir.read("out/day/f_0002.png"), b"as it was");
    // The video of a sequence is named after the pattern without the number, or after its folder.
    dir.succeeds("--backend cpu --for archive --output-dir films shots/day/f_%04d.png shots/night");
    let films = ["films/f.mkv", "films/night.mkv"].map(|name| dir.frames(name).len());
    assert_eq!(films, [4, 2]);
    // In a folder that contains videos, only the videos are equalized.
    dir.ffmpeg("-f lavfi -i testsrc2=size=32x24 -frames:v 2 -c:v ffv1 shots/night/film.mkv");
    dir.succeeds("--backend cpu --output-dir videos shots/night").says(&["1 file with 2 frames"]);
}

#[test]
fn scans_in_dpx_keep_of_their_headers_what_ffmpeg_keeps() {
    let dir = Dir::new();
    let picture = "testsrc2=size=64x48:rate=24,setsar=4/3,format=gbrp10le";
    dir.ffmpeg(&format!("-y -f lavfi -i {picture} -frames:v 2 -color_trc bt709 -color_primaries bt709 scan%02d.dpx"));
    for number in 1..=2 {
        let name = format!("scan{number:02}.dpx");
        let mut scan = std::fs::read(dir.path(&name)).expect("a scan");
        // Header fields: file name, creator, project, device.
        for (index, text) in [(36, "reel_7.dpx"), (160, "scanner 3"), (260, "archive"), (1556, "ARRISCAN")] {
            scan[index..][..text.len()].copy_from_slice(text.as_bytes());
        }
        dir.write(&name, &scan);
    }
    dir.tool("ffmpeg", "-v error -y -i scan%02d.dpx theirs%02d.dpx", None);
    dir.succeeds("--backend cpu --strength 0 -y scan%02d.dpx ours%02d.dpx");
    // The header has the bytes that FFmpeg writes.
    let header = |name: &str| std::fs::read(dir.path(name)).expect("a file")[..1664].to_vec();
    for number in 1..=2 {
        assert!(header(&format!("ours{number:02}.dpx")) == header(&format!("theirs{number:02}.dpx")));
    }
    let shape = dir.probe("-show_entries stream=sample_aspect_ratio,pix_fmt", "ours01.dpx").to_string();
    assert!(shape.contains("4:3") && shape.contains("gbrp10"), "{shape}");
}

#[test]
fn pictures_beside_films_are_counted_and_those_that_are_named_are_made() {
    let dir = Dir::new();
    std::fs::create_dir(dir.path("holiday")).expect("a folder");
    dir.ffmpeg("-f lavfi -i testsrc2=size=32x24 -frames:v 2 -c:v ffv1 holiday/a.mkv");
    for number in 1..=2 {
        let source = "color=c=0x405a50:s=64x48,noise=alls=20";
        dir.ffmpeg(&format!("-f lavfi -i {source} -frames:v 1 -q:v 2 holiday/IMG_000{number}.JPG"));
    }
    dir.write("holiday/a.thm", b"no picture");
    let left = "; 2 pictures beside videos were left out (name them to have them, as in holiday/*.JPG)";
    dir.succeeds("--backend cpu --output-dir out holiday").says(&["1 file with 2 frames", left]);
    let dry = dir.succeeds("--backend cpu --dry-run --output-dir dry holiday");
    assert!(String::from_utf8_lossy(&dry.stdout).contains(left));
    let made = || dir.names().into_iter().filter(|name| name.starts_with("out/")).collect::<Vec<_>>();
    assert_eq!(made(), ["out/a.mkv"]);
    let photos = "holiday/IMG_0001.JPG holiday/IMG_0002.JPG";
    let run = dir.succeeds(&format!("--backend cpu --output-dir out holiday {photos}"));
    run.says(&["2 files with 2 frames"]).never_says("left out");
    assert_eq!(made(), ["out/IMG_0001.JPG", "out/IMG_0002.JPG", "out/a.mkv"]);
    // The proposed command is for videos only, so its description must not mention the images.
    let run = dir.run("holiday").exits_with(2);
    run.says(&["--output-dir DIR holiday equalizes the videos in it"]).never_says("makes each of them");
}

#[test]
fn photos_of_a_camera_are_made_one_by_one_and_frames_are_a_film() {
    let dir = Dir::new();
    for folder in ["photos", "gap", "frames"] {
        std::fs::create_dir(dir.path(folder)).expect("a folder");
    }
    let picture = |colour: &str, size: &str, name: &str| {
        dir.ffmpeg(&format!("-f lavfi -i color=c={colour}:s={size},noise=alls=20 -frames:v 1 -q:v 2 {name}"));
    };
    picture("0xb0a890", "64x48", "photos/IMG_0001.JPG");
    picture("0x404a50", "48x64", "photos/IMG_0002.JPG");
    picture("0x70607a", "64x48", "photos/IMG_0003.JPG");
    picture("0x70607a", "64x48", "gap/a1.jpg");
    picture("0x405a50", "64x48", "gap/a3.jpg");
    for number in 1..=3 {
        picture("0x70607a", "64x48", &format!("frames/f{number}.jpg"));
    }
    dir.succeeds("-q --backend cpu --output-dir out photos");
    dir.succeeds("-q --backend cpu --output-dir out gap");
    for name in ["IMG_0001.JPG", "IMG_0002.JPG", "IMG_0003.JPG"] {
        dir.succeeds(&format!("-q --backend cpu photos/{name} alone.jpg -y"));
        assert!(dir.raw(&format!("out/{name}"), "rgb24") == dir.raw("alone.jpg", "rgb24"), "{name}");
    }
    assert!(dir.path("out/a1.jpg").exists() && dir.path("out/a3.jpg").exists());
    dir.run("photos").exits_with(2).says(&["photos is a folder with 3 pictures", "--output-dir DIR photos"]);
    // Numbered frames become one video; photos do so only if their pattern is given.
    dir.succeeds("--backend cpu --output-dir film frames").says(&["1 file with 3 frames"]);
    dir.succeeds("-q --backend cpu --encoder ffv1 frames/f%d.jpg film.mkv");
    assert_eq!(dir.frames("film.mkv").len(), 3);
    dir.succeeds("-q --backend cpu --encoder ffv1 gap/a%d.jpg gap.mkv");
    assert_eq!(dir.frames("gap.mkv").len(), 2);
}
