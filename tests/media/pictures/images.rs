//! Images and image sequences are processed as video is.

use crate::support::media::reader::{encoder_is_here, filter_is_here, seconds};
use crate::support::media::textbook::{Raw, assert_same_video};
use crate::support::programs::program::{Dir, Run, program};

const SIZE: (usize, usize) = (64, 48);

fn picture(dir: &Dir, file: &str, format: &str, options: &str) {
    dir.ffmpeg(&format!("-f lavfi -i testsrc2=size=64x48,format={format} -frames:v 1 {options} -update 1 {file}"));
}

#[test]
fn an_image_without_loss_is_equalized_to_the_sample() {
    let dir = Dir::new();
    for (file, format) in [
        ("a.png", "rgb24"),
        ("b.png", "rgb48be"),
        ("c.png", "rgba"),
        ("d.png", "rgba64be"),
        ("e.png", "gray"),
        ("f.png", "gray16be"),
        ("g.tiff", "rgb24"),
        ("h.tiff", "gray16le"),
        ("i.bmp", "bgr24"),
    ] {
        let raw = Raw { format, size: SIZE, limited: false };
        picture(&dir, file, format, "");
        let out = format!("out-{file}");
        dir.succeeds(&format!("--exact {file} {out}"));
        let expected = raw.equalized(&dir.raw(file, format));
        assert_same_video(file, raw, &dir.raw(&out, format), &expected);
        assert_eq!(dir.streams(&out)[0]["pix_fmt"], dir.streams(file)[0]["pix_fmt"], "{file}");
    }
}

#[test]
fn an_image_holds_its_own_codec_alone() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 2 -c:v ffv1 in.mkv");
    for (encoder, output) in [
        ("ffv1", "q.png"),
        ("mjpeg", "q.png"),
        ("png", "q.jpg"),
        ("rawvideo", "q.bmp"),
        ("mpeg4", "q.webp"),
        ("ffv1", "q%02d.tif"),
        ("mjpeg", "q%02d.PNG"),
    ] {
        let kind = output.rsplit('.').next().expect("an extension");
        let run = dir.run(&format!("--encoder {encoder} --frames 1 in.mkv {output}"));
        run.exits_with(2).says(&[&format!("{output}: {kind} cannot hold what {encoder} makes")]);
        assert_eq!(dir.names(), ["in.mkv"], "{encoder} {output}");
    }
    for (encoder, output) in [("png", "a.png"), ("mjpeg", "a.jpeg"), ("tiff", "a%02d.TIF")] {
        dir.succeeds(&format!("--encoder {encoder} --frames 1 in.mkv {output}"));
        assert_eq!(dir.streams(&output.replace("%02d", "01"))[0]["codec_name"], encoder, "{output}");
    }
    // The name has no extension of a format, but the options choose one.
    dir.succeeds("--encoder png --output-format image2 --frames 1 in.mkv a.picture");
    assert!(dir.read("a.picture").starts_with(b"\x89PNG"));
}

/// FFmpeg's encoder makes narrow Theora that FFmpeg's decoder refuses.
#[test]
fn theora_that_is_too_narrow_to_be_decoded_is_not_made() {
    if !encoder_is_here("narrow Theora", "libtheora") {
        return;
    }
    let dir = Dir::new();
    for (size, is_made) in [("2x2", false), ("1x40", false), ("17x40", false), ("18x2", true)] {
        let scale = size.replace('x', ":");
        let source = format!("-f lavfi -i color=gray:size=64x64:rate=25,scale={scale},format=yuv420p");
        dir.ffmpeg(&format!("{source} -frames:v 3 -c:v rawvideo in.mkv"));
        let run = dir.run("--backend cpu --denoise 0 -y in.mkv out.ogv");
        match is_made {
            true => assert_eq!((run.code, dir.streams("out.ogv")[0]["width"].as_u64()), (Some(0), Some(18))),
            false => {
                run.exits_with(1).says(&[&format!("a picture of {size} is too narrow for Theora"), "use .mkv"]);
                assert_eq!(dir.names(), ["in.mkv"], "{size}");
            }
        }
    }
}

#[test]
fn a_jpeg_becomes_a_jpeg_that_looks_equalized() {
    let dir = Dir::new();
    picture(&dir, "in.jpg", "yuvj420p", "-q:v 2");
    dir.succeeds("--exact in.jpg out.jpg");
    let raw = Raw { format: "yuvj420p", size: SIZE, limited: false };
    let expected = raw.equalized(&dir.raw("in.jpg", raw.format));
    let found = dir.raw("out.jpg", raw.format);
    assert_eq!(found.len(), expected.len());
    let pixels = SIZE.0 * SIZE.1;
    let apart: u64 = (0..pixels).map(|index| u64::from(found[index].abs_diff(expected[index]))).sum();
    assert!(apart / (pixels as u64) < 6, "{apart} levels apart over {pixels} pixels");
}

#[test]
fn a_webp_becomes_a_webp() {
    if !encoder_is_here("webp", "libwebp") {
        return;
    }
    let dir = Dir::new();
    picture(&dir, "in.webp", "yuv420p", "-quality 95");
    dir.succeeds("in.webp out.webp");
    let stream = &dir.streams("out.webp")[0];
    assert_eq!((&stream["codec_name"], &stream["width"]), (&"webp".into(), &64.into()));
}

#[test]
fn an_image_becomes_a_video_and_a_video_an_image() {
    let dir = Dir::new();
    picture(&dir, "in.png", "rgb24", "");
    dir.succeeds("in.png out.mp4");
    assert_eq!(dir.frames("out.mp4").len(), 1);
    dir.succeeds("--frames 1 out.mp4 out.png");
    assert_eq!(dir.streams("out.png")[0]["codec_name"], "png");
}

#[test]
fn one_image_cannot_hold_a_second_frame() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48 -frames:v 3 -c:v ffv1 in.mkv");
    let before = dir.names();
    dir.run("in.mkv out.png").fails().says(&["an image holds one frame only", "%05d", "--frames 1"]);
    assert_eq!(dir.names(), before);
}

#[test]
fn a_sequence_of_images_goes_in_and_comes_out() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25,format=rgb24 -frames:v 4 in%03d.png");
    dir.succeeds("--exact in%03d.png out%03d.png");
    let raw = Raw { format: "rgb24", size: SIZE, limited: false };
    let expected = raw.equalized(&dir.raw("in%03d.png", raw.format));
    assert_same_video("a sequence", raw, &dir.raw("out%03d.png", raw.format), &expected);
    assert_eq!(dir.names().iter().filter(|name| name.starts_with("out")).count(), 4);
    dir.succeeds("--exact --rate 10 --encoder ffv1 in%03d.png out.mkv");
    assert_eq!(dir.streams("out.mkv")[0]["avg_frame_rate"], "10/1");
    assert_same_video("images to video", raw, &dir.raw("out.mkv", raw.format), &expected);
}

#[test]
fn a_folder_of_images_is_read_and_never_written_into() {
    let dir = Dir::new();
    std::fs::create_dir(dir.path("stack")).expect("a folder");
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=1:duration=3 f%03d.png");
    for number in 1..=3 {
        let name = format!("f{number:03}.png");
        std::fs::rename(dir.path(&name), dir.path("stack").join(name)).expect("a file");
    }
    let names = |folder: &str| {
        dir.names().into_iter().filter(|name| name.starts_with(&format!("{folder}/"))).collect::<Vec<_>>()
    };
    let images = |folder: &str| [1, 2, 3].map(|number| format!("{folder}/f{number:03}.png"));
    let before = images("stack").map(|name| dir.read(&name));
    dir.succeeds("--backend cpu --dry-run stack");
    assert!(!dir.path("stack-equalized").exists());
    dir.succeeds("--backend cpu stack").says(&["3 frames in ", "-> stack-equalized/f%03d.png"]);
    dir.run("--backend cpu stack").exits_with(10).says(&["stack-equalized/f001.png exists"]);
    dir.succeeds("--backend cpu -y stack/");
    // `.` names the folder, too.
    Run::from_command(dir.command("--backend cpu -y .").current_dir(dir.path("stack")), ".").exits_with(0);
    dir.succeeds("--backend cpu --for archive stack").says(&["-> stack-equalized.mkv"]);
    assert_eq!(names("stack"), images("stack"));
    assert_eq!(names("stack-equalized"), images("stack-equalized"));
    assert_eq!(images("stack").map(|name| dir.read(&name)), before);
}

#[test]
fn a_sequence_begins_with_whatever_number_is_there() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 4 -start_number 117 in%03d.png");
    dir.succeeds("--exact --encoder ffv1 in%03d.png out.mkv").never_says("missing");
    assert_eq!(dir.frames("out.mkv").len(), 4);
}

#[test]
fn what_cannot_be_read_before_a_gap_is_an_error() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 12 in%d.png");
    std::fs::remove_file(dir.path("in9.png")).expect("an image of the sequence");
    std::fs::remove_file(dir.path("in4.png")).expect("an image of the sequence");
    std::fs::create_dir(dir.path("in4.png")).expect("a folder");
    let run = dir.run("--encoder ffv1 in%d.png out.mkv");
    run.says(&["in9.png is missing", "read error"]);
}

#[test]
fn a_photo_that_is_cut_short_is_damaged() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=320x240 -frames:v 1 -update 1 whole.jpg");
    dir.succeeds("--strict whole.jpg out.jpg");
    let whole = dir.read("whole.jpg");
    dir.write("half.jpg", &whole[..whole.len() / 2]);
    // Both the packet and the decoded image count as damaged.
    dir.succeeds("half.jpg half.png")
        .says(&["half.jpg: frame 0: the image is cut short", "2 damaged frames or packets"]);
    dir.run("--strict -y half.jpg half.png").fails();
}

#[test]
fn films_of_images_are_what_players_take() {
    if !encoder_is_here("films of images", "libx264") {
        return;
    }
    let dir = Dir::new();
    picture(&dir, "in.png", "rgb24", "");
    let format = |file: &str| dir.streams(file)[0]["pix_fmt"].clone();
    dir.succeeds("--strict in.png out.mp4").says(&["yuv420p, which all players take"]);
    assert_eq!(format("out.mp4"), "yuv420p");
    dir.succeeds("in.png out.mkv");
    assert_eq!(format("out.mkv"), "yuv444p");
}

#[test]
fn an_odd_size_is_no_obstacle() {
    if !encoder_is_here("odd sizes", "libx264") {
        return;
    }
    let dir = Dir::new();
    for format in ["yuv420p", "yuv422p10le", "gray", "gbrp"] {
        dir.ffmpeg(&format!(
            "-f lavfi -i testsrc2=size=64x48:rate=25,format={format},crop=17:13:exact=1 -frames:v 3 -c:v ffv1 -y in.mkv"
        ));
        dir.succeeds("--encoder libx264 --backend cpu -y in.mkv out.mp4");
        let stream = &dir.streams("out.mp4")[0];
        assert_eq!((&stream["width"], &stream["height"]), (&17.into(), &13.into()), "{format}");
    }
}

#[test]
fn an_image_that_cannot_be_written_leaves_the_old_one_as_it_was() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 3 in%d.png");
    dir.write("out2.png", b"an old image");
    // A folder that has the output's name makes the run fail.
    std::fs::create_dir(dir.path("out3.png")).expect("a folder");
    dir.run("-y in%d.png out%d.png").exits_with(10).says(&["out3.png is a folder"]);
    std::fs::remove_dir(dir.path("out3.png")).expect("an empty folder");
    assert_eq!(dir.names(), ["in1.png", "in2.png", "in3.png", "out1.png", "out2.png"]);
    dir.write("out2.png", b"an old image");
    let mut small = dir.other_command("sh", "-c");
    small.arg(format!("ulimit -f 1; exec {} --backend cpu -y in%d.png out%d.png", program().display()));
    Run::from_command(&mut small, "with small files").fails().says(&["out%d.png: cannot be written: File too large"]);
    assert_eq!(dir.read("out2.png"), b"an old image");
    dir.succeeds("-y in%d.png out%d.png");
    assert_eq!(dir.names(), ["in1.png", "in2.png", "in3.png", "out1.png", "out2.png", "out3.png"]);
}

#[test]
fn what_only_raw_frames_want_to_hear_is_not_swallowed() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 3 -c:v ffv1 in.mkv");
    let run = dir.succeeds("--encoder ffv1 -r 10 -s 32x24 --pixel-format gray in.mkv out.mkv");
    run.says(&["-r is ignored", "-s is ignored", "--pixel-format is ignored"]);
    assert_eq!(dir.streams("out.mkv")[0]["width"], 64);
}

#[test]
fn folders_may_have_per_cent_signs_in_their_names() {
    let dir = Dir::new();
    for folder in ["100%", "20%d"] {
        std::fs::create_dir(dir.path(folder)).expect("a folder");
        dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 3 in%d.png");
        for number in 1..=3 {
            let (source, target) = (format!("in{number}.png"), format!("{folder}/in{number}.png"));
            std::fs::copy(dir.path(source), dir.path(target)).expect("a copy");
        }
        dir.succeeds(&format!("{folder}/in%d.png {folder}/out%d.png"));
        dir.succeeds(&format!("{folder}/in1.png {folder}/single.png"));
        for name in ["out1.png", "out2.png", "out3.png", "single.png"] {
            assert!(dir.names().contains(&format!("{folder}/{name}")), "{name} in {:?}", dir.names());
        }
    }
    dir.run("in%d.png out%99999999d.png").fails();
}

#[test]
fn numbered_images_keep_their_numbers() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=32x24:rate=25 -frames:v 5 -start_number 1017 in%04d.png");
    dir.succeeds("in%04d.png out%05d.png");
    dir.succeeds("--start 0.08 --frames 2 in%04d.png part%d.png");
    dir.ffmpeg("-f lavfi -i testsrc2=size=32x24:rate=25 -frames:v 2 -c:v ffv1 film.mkv");
    dir.succeeds("film.mkv film%d.png");
    let written: Vec<String> = dir.names().into_iter().filter(|name| !name.starts_with("in")).collect();
    let expected = "film.mkv film1.png film2.png out01017.png out01018.png out01019.png out01020.png out01021.png part1019.png \
                    part1020.png";
    assert_eq!(written.join(" "), expected);
    assert!(dir.raw("part1019.png", "rgb24") == dir.raw("out01019.png", "rgb24"));
}

/// A TIFF file with a gray image of 8x8 pixels for each of `kinds`, the values of tag 254 (NewSubfileType).
fn tiff(kinds: &[u32], is_big_endian: bool) -> Vec<u8> {
    let short = |value: u16| if is_big_endian { value.to_be_bytes() } else { value.to_le_bytes() };
    let long = |value: u32| if is_big_endian { value.to_be_bytes() } else { value.to_le_bytes() };
    let mut file = if is_big_endian { b"MM\0*".to_vec() } else { b"II*\0".to_vec() };
    file.extend([0; 4]);
    let mut link = 4;
    for (page, &kind) in kinds.iter().enumerate() {
        let pixels = file.len() as u32;
        file.extend((0..64).map(|pixel| (pixel * 3 + page * 20) as u8));
        let place = long(file.len() as u32);
        file[link..link + 4].copy_from_slice(&place);
        let entries = [
            (254, kind),
            (256, 8),
            (257, 8),
            (258, 8),
            (259, 1),
            (262, 1),
            (273, pixels),
            (277, 1),
            (278, 8),
            (279, 64),
        ];
        file.extend(short(entries.len() as u16));
        for (tag, value) in entries {
            file.extend([short(tag), short(4)].concat());
            file.extend([long(1), long(value)].concat());
        }
        link = file.len();
        file.extend([0; 4]);
    }
    file
}

#[test]
fn the_pages_of_a_tiff_are_frames() {
    let dir = Dir::new();
    for is_big_endian in [false, true] {
        dir.write("one.tif", &tiff(&[0], is_big_endian));
        dir.write("small.tif", &tiff(&[0, 1, 4], is_big_endian));
        dir.write("three.tif", &tiff(&[2, 2, 2], is_big_endian));
        for name in ["one.tif", "small.tif", "--frames 1 three.tif"] {
            dir.succeeds(&format!("-y {name} out.png"));
        }
        dir.run("three.tif no.png").fails().says(&["an image holds one frame only", "--frames 1"]);
        // The expected frames come from a separate file for each page.
        for page in 0..3 {
            let bytes: Vec<u8> = (0..64).map(|pixel| pixel * 3 + page * 20).collect();
            dir.write("page.raw", &bytes);
            dir.ffmpeg(&format!("-f rawvideo -pix_fmt gray -s 8x8 -i page.raw page{page}.png"));
        }
        dir.succeeds("-y --encoder ffv1 page%d.png apart.mkv");
        dir.succeeds("-y --encoder ffv1 three.tif pages.mkv").says(&["3 frames in"]);
        assert_eq!(dir.frames("pages.mkv").len(), 3);
        assert!(dir.raw("pages.mkv", "gray") == dir.raw("apart.mkv", "gray"), "{is_big_endian}");
        dir.succeeds("-y --encoder ffv1 --frames 2 three.tif pages.mkv").says(&["2 frames in"]);
        dir.succeeds("-y three.tif out%d.png");
        assert!(dir.path("out3.png").exists());
    }
    // Only the first page of each numbered file is read; a warning says so.
    dir.write("t1.tif", &tiff(&[2, 2], false));
    dir.write("t2.tif", &tiff(&[0], false));
    dir.succeeds("-y --encoder ffv1 t%d.tif pages.mkv").says(&["frame 0: the image has several pages", "1 damaged"]);
    assert_eq!(dir.frame_times("pages.mkv"), [0.0, 0.04]);
    dir.run("-y --strict --encoder ffv1 t%d.tif pages.mkv").fails();
    // In a TIFF video, each packet is a single image.
    dir.ffmpeg("-f lavfi -i testsrc2=s=64x48:r=25 -frames:v 5 -c:v tiff film.mov");
    let told = dir.succeeds("-y --encoder ffv1 --progress json film.mov film.mkv").stderr;
    assert!(told.contains("\"frames\":5"), "{told}");
    // A thumbnail before the main page is skipped.
    let mut thumb = tiff(&[1, 0], false);
    dir.write("thumb.tif", &thumb);
    dir.ffmpeg("-f rawvideo -pix_fmt gray -s 8x8 -i page.raw second.png");
    dir.write("page.raw", &(0..64).map(|pixel| pixel * 3 + 20).collect::<Vec<u8>>());
    dir.ffmpeg("-f rawvideo -pix_fmt gray -s 8x8 -i page.raw second.png");
    for input in ["thumb.tif", "second.png"] {
        dir.succeeds(&format!("-y --look exact {input} {}.pgm", &input[..5]));
    }
    assert!(dir.read("thumb.pgm") == dir.read("secon.pgm"));
    // Pages whose tag for the lengths of strips (279) is missing, and pages with a date (306) that lies outside of the
    // file.
    for (tag, index) in [(279u16, 0), (277, 8)] {
        thumb = tiff(&[0, 0], false);
        for tag in
            (0..thumb.len() - 12).filter(|place| thumb[*place..place + 4] == [tag as u8, 1, 4, 0]).collect::<Vec<_>>()
        {
            match index {
                0 => thumb[tag..tag + 2].copy_from_slice(&60_000u16.to_le_bytes()),
                _ => thumb[tag..tag + 12].copy_from_slice(&[0x32, 1, 2, 0, 99, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]),
            }
        }
        dir.write("odd.tif", &thumb);
        let run = dir.succeeds("-y --encoder ffv1 odd.tif odd.mkv").says(&["2 frames in"]);
        assert!(!run.stderr.contains("damaged"), "{tag}: {}", run.stderr);
    }
}

#[test]
fn a_tiff_that_claims_its_bytes_many_times_takes_no_memory_for_them() {
    let dir = Dir::new();
    let mut file = b"II*\0\x08\0\0\0".to_vec();
    // Two pages; the value of each of their 4000 tags covers the whole file.
    let tags = 4000u16;
    let list = 2 + usize::from(tags) * 12 + 4;
    let end = (8 + 2 * list) as u32;
    for next in [8 + list as u32, 0] {
        file.extend(tags.to_le_bytes());
        for tag in 0..tags {
            file.extend([(40_000 + tag).to_le_bytes(), 1u16.to_le_bytes()].concat());
            file.extend([end.to_le_bytes(), 0u32.to_le_bytes()].concat());
        }
        file.extend(next.to_le_bytes());
    }
    dir.write("bomb.tif", &file);
    let program = crate::support::programs::program::program();
    let line =
        format!("-v 900000; exec {} --backend cpu --max-memory 100M --threads 1 bomb.tif bomb.mkv", program.display());
    let run = Run::from_command(
        std::process::Command::new("sh").arg("-c").arg(format!("ulimit {line}")).current_dir(dir.path(".")),
        &line,
    );
    let said = run.fails().stderr;
    let is_told =
        said.contains("not a single frame could be decoded") || said.contains("the decoder has no more memory");
    assert!(is_told, "{said}");
}

#[test]
fn pages_of_a_tiff_are_read_whatever_their_samples_are_stored_as() {
    let dir = Dir::new();
    let chain = "testsrc2=s=64x48:r=25,format";
    for (format, compression) in
        [("gray16le", "raw"), ("gray16le", "deflate"), ("rgb24", "lzw"), ("rgb48le", "packbits"), ("rgba", "deflate")]
    {
        // FFmpeg writes each frame to a file of its own; the files become the pages of `all.tif`.
        dir.ffmpeg(&format!(
            "-f lavfi -i {chain}={format} -frames:v 3 -c:v tiff -compression_algo {compression} p%d.tif"
        ));
        let files: Vec<Vec<u8>> = (1..=3).map(|page| dir.read(&format!("p{page}.tif"))).collect();
        dir.write("all.tif", &joined(&files));
        for input in ["p%d.tif", "all.tif"] {
            dir.succeeds(&format!("-y --encoder ffv1 --backend cpu {input} {}.mkv", &input[..1]));
        }
        assert_eq!(dir.frames("a.mkv").len(), 3);
        let pixels = if format.starts_with("gray") { "gray16le" } else { "rgba64le" };
        assert!(dir.raw("a.mkv", pixels) == dir.raw("p.mkv", pixels), "{format}, {compression}");
    }
}

#[test]
fn pages_in_colour_behind_a_gray_one_are_narrowed_with_a_word() {
    let dir = Dir::new();
    for (page, format) in [(1, "gray"), (2, "rgb24"), (3, "rgb24")] {
        dir.ffmpeg(&format!(
            "-f lavfi -i testsrc2=s=64x48,format={format} -frames:v 1 -c:v tiff -compression_algo raw p{page}.tif"
        ));
    }
    let file = |page: u32| dir.read(&format!("p{page}.tif"));
    dir.write("gray-first.tif", &joined(&[file(1), file(2), file(3)]));
    dir.write("gray-last.tif", &joined(&[file(2), file(1)]));
    let narrowed = "the video changes to rgb24; from there on it is narrowed to gray";
    for output in ["--encoder ffv1 gray-first.tif out.mkv", "gray-first.tif out.y4m"] {
        let run = dir.succeeds(&format!("-y --backend cpu {output}"));
        assert_eq!(run.stderr.matches(narrowed).count(), 1, "{}", run.stderr);
    }
    dir.run("-y --strict --encoder ffv1 gray-first.tif strict.mkv").fails().says(&[narrowed]);
    let colours = |name: &str| dir.streams(name)[0]["pix_fmt"].clone();
    assert_eq!(colours("out.mkv"), "gray");
    // The filter that the warning proposes keeps the colours.
    let run = dir.succeeds("-y --backend cpu --filter format=rgb24 gray-first.tif rgb%d.png");
    assert!(!run.stderr.contains("narrowed") && colours("rgb3.png") == "rgb24", "{}", run.stderr);
    let run = dir.succeeds("-y --encoder ffv1 --backend cpu gray-last.tif out.mkv");
    assert!(!run.stderr.contains("narrowed"), "{}", run.stderr);
}

/// A TIFF with one page from each file. All offsets of a page grow by the number of bytes before it.
fn joined(files: &[Vec<u8>]) -> Vec<u8> {
    let u32_at = |file: &[u8], index: usize| u32::from_le_bytes(file[index..index + 4].try_into().expect("4 bytes"));
    let u16_at = |file: &[u8], index: usize| u16::from_le_bytes(file[index..index + 2].try_into().expect("2 bytes"));
    let mut all = Vec::new();
    let mut link = 4;
    for file in files {
        let begin = all.len() as u32;
        let mut file = file.clone();
        let list = u32_at(&file, 4) as usize;
        let tags = usize::from(u16_at(&file, list));
        for tag in (0..tags).map(|tag| list + 2 + tag * 12) {
            let bytes = [0, 1, 1, 2, 4, 8][usize::from(u16_at(&file, tag + 2))] * u32_at(&file, tag + 4);
            let mut places = if bytes > 4 { vec![tag + 8] } else { Vec::new() };
            if u16_at(&file, tag) == 273 {
                let offsets = if bytes > 4 { u32_at(&file, tag + 8) as usize } else { tag + 8 };
                places.extend((0..bytes as usize / 4).map(|strip| offsets + strip * 4));
            }
            for place in places {
                let moved = u32_at(&file, place) + begin;
                file[place..place + 4].copy_from_slice(&moved.to_le_bytes());
            }
        }
        all.extend(&file);
        if begin > 0 {
            all[link..link + 4].copy_from_slice(&(begin + list as u32).to_le_bytes());
        }
        link = begin as usize + list + 2 + tags * 12;
    }
    all
}

#[test]
fn no_page_of_a_damaged_tiff_is_lost_without_a_word() {
    let dir = Dir::new();
    // The last page's link leads back to the first page.
    let mut endless = tiff(&[0, 0], false);
    let begin = endless[4..8].to_vec();
    let last = endless.len() - 4;
    endless[last..].copy_from_slice(&begin);
    dir.write("endless.tif", &endless);
    dir.succeeds("--encoder ffv1 endless.tif endless.mkv").says(&["2 frames in"]);
    // Three damaged second pages: truncated, with samples outside of the file, and with tiles, which FFmpeg does not
    // read.
    let whole = tiff(&[0, 0], false);
    let patched = |tag: u16, page: usize, change: &dyn Fn(&mut [u8])| {
        let mut file = whole.clone();
        let tags: Vec<usize> = (0..file.len() - 12)
            .filter(|index| file[*index..index + 4] == [tag as u8, (tag >> 8) as u8, 4, 0])
            .collect();
        change(&mut file[tags[page]..tags[page] + 12]);
        file
    };
    let outside = patched(273, 1, &|tag| tag[8..12].copy_from_slice(&u32::MAX.to_le_bytes()));
    let tiles = patched(273, 1, &|tag| tag[..2].copy_from_slice(&324u16.to_le_bytes()));
    for (name, file) in [("cut", whole[..300].to_vec()), ("outside", outside), ("tiles", tiles)] {
        dir.write("bad.tif", &file);
        let run = dir.succeeds(&format!("-y --encoder ffv1 bad.tif {name}.mkv"));
        assert!(
            run.stderr.contains("warning: bad.tif: frame 1: ") && run.stderr.contains("1 damaged"),
            "{name}: {}",
            run.stderr
        );
        dir.run(&format!("-y --strict bad.tif {name}.mkv")).fails();
    }
}

#[test]
fn animations_keep_their_frames_and_go_on() {
    let dir = Dir::new();
    // The frames differ clearly, because WebP encoders merge similar frames.
    dir.ffmpeg(
        "-f lavfi -i color=size=32x24:rate=10,format=rgb24,geq=r=36*N:g=255-36*N:b=3*X -frames:v 7 -plays 0 in.apng",
    );
    for input in ["in.apng", "anim.gif"] {
        dir.succeeds(&format!("-y {input} out.apng"));
        let bytes = dir.read("out.apng");
        let control = bytes.windows(4).position(|name| name == b"acTL").expect("a control chunk");
        assert_eq!(bytes[control + 4..control + 12], [0, 0, 0, 7, 0, 0, 0, 0], "seven frames, without an end: {input}");
        dir.succeeds(&format!("-y {input} anim.gif.gif"));
        std::fs::rename(dir.path("anim.gif.gif"), dir.path("anim.gif")).expect("a gif");
        assert_eq!(dir.frames("anim.gif").len(), 7, "{input}");
    }
    if !encoder_is_here("animated WebP", "libwebp_anim") {
        return;
    }
    dir.succeeds("in.apng out.webp");
    assert_eq!(dir.read("out.webp").windows(4).filter(|name| name == b"ANMF").count(), 7);
    // FFmpeg reads animated WebP only since version 9.
    let read = dir.run("out.webp back.mkv");
    match read.code {
        Some(0) => assert_eq!(dir.frames("back.mkv").len(), 7),
        _ => drop(read.fails().says(&["out.webp", "animated", "convert IN OUT.apng"])),
    }
}

#[test]
fn floating_point_is_cut_off_with_a_word_or_refused() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=32x24 -frames:v 1 -pix_fmt gbrpf32le in.exr");
    let run = dir.succeeds("in.exr out.png").says(&["warning", "below 0 or above 1 is cut off"]);
    run.never_says("-auto-level").never_says("writer");
    dir.run("--strict in.exr no.png").fails().says(&["cut off"]);
}

#[test]
fn the_light_of_exr_is_linear_and_that_of_others_is_not() {
    if !filter_is_here("linear light", "zscale") {
        return;
    }
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i color=c83c28:size=64x48,format=gbrp -frames:v 1 in.png");
    let line = "--backend cpu --levels 1 --strength 0 -y";
    let [to_linear, from_linear] = ["zscale=tin=iec61966-2-1:t=linear", "zscale=tin=linear:t=iec61966-2-1"];
    dir.succeeds(&format!("{line} in.png out.exr")).says(&["light of displays", to_linear]);
    dir.run(&format!("{line} --strict in.png no.exr")).fails().says(&["light of displays"]);
    dir.succeeds(&format!("{line} --strict --filter-after {to_linear} in.png linear.exr"));
    // Without the filter, the PNG holds linear light: sRGB 0xc8 is 0x94 in linear light.
    let run = dir.succeeds(&format!("{line} linear.exr dark.png"));
    // FFmpeg 7 and later write the transfer function into the PNG, so that no warning is needed.
    if dir.streams("dark.png")[0]["color_transfer"] != "linear" {
        run.says(&["linear light", from_linear]);
    }
    assert!(dir.raw("dark.png", "rgb24")[0].abs_diff(0x94) <= 1);
    let run = dir.succeeds(&format!("{line} --filter {from_linear} linear.exr out.png"));
    run.never_says("linear light");
    let pixel = &dir.raw("out.png", "rgb24")[..3];
    assert!(pixel.iter().zip([0xc8, 0x3c, 0x28]).all(|(found, meant)| found.abs_diff(meant) <= 2), "{pixel:?}");
    dir.succeeds(&format!("{line} linear.exr back.exr")).never_says("light of displays");
}

#[test]
fn photos_with_another_ending_stay_photos() {
    let dir = Dir::new();
    picture(&dir, "plain.jpg", "yuvj420p", "-q:v 2");
    picture(&dir, "plain.bmp", "bgr24", "");
    let endings = [("jfif", "jpg"), ("JPE", "jpg"), ("jif", "jpg"), ("dib", "bmp")];
    for (ending, usual) in endings {
        let begin = dir.read(&format!("plain.{usual}"))[..2].to_vec();
        std::fs::copy(dir.path(format!("plain.{usual}")), dir.path(format!("a.{ending}"))).expect("a copy");
        dir.succeeds(&format!("--backend cpu a.{ending}"));
        assert_eq!(dir.read(&format!("a-equalized.{ending}"))[..2], begin, "{ending}");
        dir.succeeds(&format!("--backend cpu plain.{usual} named.{ending}"));
        assert_eq!(dir.read(&format!("named.{ending}"))[..2], begin, "{ending}");
        std::fs::remove_file(dir.path(format!("named.{ending}"))).expect("a file");
    }
    std::fs::create_dir(dir.path("photos")).expect("a folder");
    for (ending, _) in endings {
        std::fs::rename(dir.path(format!("a.{ending}")), dir.path(format!("photos/a.{ending}"))).expect("a file");
    }
    dir.succeeds("--backend cpu --output-dir out photos");
    assert!(endings.iter().all(|(ending, _)| dir.path(format!("out/a.{ending}")).is_file()), "{:?}", dir.names());
}

#[test]
fn the_last_picture_of_an_animation_is_shown_as_long_as_it_was() {
    let dir = Dir::new();
    dir.ffmpeg(
        "-f lavfi -i testsrc=size=64x48:rate=20:duration=1.5 -vf select=eq(n\\,0)+eq(n\\,2)+eq(n\\,8)+eq(n\\,9) -fps_mode vfr \
         -final_delay 100 in.gif",
    );
    dir.ffmpeg("-i in.gif -fps_mode vfr -final_delay 1 in.apng");
    let shown = |file: &str| -> Vec<i64> {
        let packets = dir.probe("-show_entries packet=duration_time", file)["packets"].clone();
        let packets = packets.as_array().expect("packets").clone();
        packets.iter().map(|packet| (seconds(&packet["duration_time"]) * 1000.0).round() as i64).collect()
    };
    let before = [100, 300, 50, 1000];
    for input in ["in.gif", "in.apng"] {
        assert_eq!(shown(input), before, "{input}");
        for output in ["out.gif", "out.apng"] {
            dir.succeeds(&format!("-y {input} {output}"));
            assert_eq!(shown(output), before, "{input} to {output}");
        }
        if encoder_is_here("animated WebP", "libwebp_anim") {
            dir.succeeds(&format!("-y {input} out.webp"));
            let bytes = dir.read("out.webp");
            let images = bytes.windows(4).enumerate().filter(|(_, name)| name == b"ANMF").map(|(index, _)| index);
            let time = |index: usize| {
                i64::from(u32::from_le_bytes([bytes[index + 20], bytes[index + 21], bytes[index + 22], 0]))
            };
            assert_eq!(images.map(time).collect::<Vec<_>>(), before, "{input} to out.webp");
        }
    }
}

#[test]
fn what_players_of_gif_slow_down_is_named() {
    let dir = Dir::new();
    for (rate, is_slow) in [(25, false), (50, false), (60, true), (100, true), (240, true)] {
        dir.ffmpeg(&format!("-f lavfi -i testsrc=size=64x48:rate={rate},format=gray -frames:v 12 -c:v ffv1 in.mkv"));
        let run = dir.run("--strict -y in.mkv out.gif");
        assert_eq!(run.code == Some(0), !is_slow, "{rate}: {}", run.stderr);
        if is_slow {
            run.says(&["1/50 s", "--filter-after fps=50"]);
            dir.succeeds("--strict --filter-after fps=50 -y in.mkv out.gif");
        }
    }
}

#[test]
fn what_is_made_of_one_image_is_one_image_whatever_its_name() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc=size=64x48 -frames:v 1 plain.png");
    std::fs::rename(dir.path("plain.png"), dir.path("p%d.png")).expect("a file that can be renamed");
    dir.succeeds("p%d.png").says(&["-> p_d-equalized.png"]);
    assert!(dir.path("p_d-equalized.png").exists() && !dir.path("p1-equalized.png").exists(), "{:?}", dir.names());
}

#[test]
fn pictures_of_avif_keep_their_colour_and_may_be_small() {
    if !encoder_is_here("pictures of AVIF", "libaom-av1") {
        return;
    }
    let dir = Dir::new();
    let (picture, encoder) = ("-f lavfi -i testsrc2=size=40x30 -frames:v 1", "-c:v libaom-av1 -still-picture 1");
    dir.ffmpeg(&format!("{picture} -pix_fmt yuv444p {encoder} yuv.avif"));
    dir.ffmpeg(&format!("{picture} -pix_fmt rgb24 rgb.png"));
    for input in ["yuv.avif", "rgb.png"] {
        dir.succeeds(&format!("--backend cpu --strict -y {input} out.avif"));
        assert_eq!(dir.streams("out.avif")[0]["pix_fmt"], "yuv444p", "{input}");
    }
}

#[test]
fn what_shows_no_alpha_gets_none() {
    let dir = Dir::new();
    // PNGs with an opaque palette, and with a partly transparent one.
    dir.ffmpeg("-f lavfi -i testsrc=size=64x48 -frames:v 1 -pix_fmt pal8 opaque.png");
    dir.succeeds("--backend cpu --strict --strength 0 opaque.png out.png");
    assert_eq!(dir.streams("out.png")[0]["pix_fmt"], "rgb24");
    assert_eq!(dir.raw("out.png", "rgb24"), dir.raw("opaque.png", "rgb24"));
    dir.ffmpeg("-f lavfi -i color=red@0.5:size=64x48,format=rgba -frames:v 1 clear.png");
    dir.ffmpeg(
        "-i clear.png -lavfi split[a][b];[a]palettegen=reserve_transparent=1[p];[b][p]paletteuse=alpha_threshold=200 \
         -frames:v 1 -pix_fmt pal8 -y palette.png",
    );
    dir.succeeds("--backend cpu --strict --strength 0 palette.png out2.png");
    assert_eq!(dir.streams("out2.png")[0]["pix_fmt"], "rgba");
    // FFmpeg decodes a CMYK JPEG, a format for print, to frames with alpha.
    let cmyk = "tests/data/cmyk.jpg";
    dir.write("cmyk.jpg", &std::fs::read(cmyk).unwrap_or_else(|error| panic!("{cmyk}: {error}")));
    for (output, format) in [("cmyk.png", "rgb24"), ("cmyk-out.jpg", "yuvj444p")] {
        dir.succeeds(&format!("--backend cpu --strict --strength 0 cmyk.jpg {output}")).never_says("alpha");
        assert_eq!(dir.streams(output)[0]["pix_fmt"], format, "{output}");
    }
    let (before, after) = (dir.raw("cmyk.jpg", "rgb24"), dir.raw("cmyk.png", "rgb24"));
    let apart = before.iter().zip(&after).map(|(a, b)| a.abs_diff(*b)).max();
    assert!(apart <= Some(3), "{apart:?}");
}

/// A raw photo: a TIFF with one directory, of a 16-bit Bayer mosaic whose samples rise from the left to the right.
fn mosaic((width, height): (u16, u16)) -> Vec<u8> {
    let samples = (0..height).flat_map(|_| (0..width).flat_map(|x| (x * 600).to_le_bytes()));
    let samples: Vec<u8> = samples.collect();
    let (size, rows) = (samples.len() as u32, u32::from(height));
    let directory = 8 + size;
    // Tag, type (1: bytes, 3: 16 bits, 4: 32 bits), count, value.
    let tags: [(u16, u16, u32, u32); 11] = [
        (256, 3, 1, width.into()),
        (257, 3, 1, rows),
        (258, 3, 1, 16),
        (259, 3, 1, 1),
        (262, 3, 1, 32_803),
        (273, 4, 1, 8),
        (277, 3, 1, 1),
        (278, 3, 1, rows),
        (279, 4, 1, size),
        (33_421, 3, 2, 2 << 16 | 2),
        (33_422, 1, 4, u32::from_le_bytes([0, 1, 1, 2])),
    ];
    let mut file = [b"II*\0".to_vec(), directory.to_le_bytes().to_vec(), samples].concat();
    file.extend((tags.len() as u16).to_le_bytes());
    for (tag, kind, count, value) in tags {
        file.extend([tag.to_le_bytes(), kind.to_le_bytes()].concat());
        file.extend([count.to_le_bytes(), value.to_le_bytes()].concat());
    }
    file.extend([0; 4]);
    file
}

#[test]
fn the_mosaic_of_a_camera_keeps_its_16_bits() {
    let dir = Dir::new();
    dir.write("photo.dng", &mosaic((96, 48)));
    let run = dir.succeeds("--backend cpu --strength 0 photo.dng out.png");
    if dir.streams("out.png")[0]["color_transfer"] != "linear" {
        run.says(&["linear light"]);
    }
    assert_eq!(dir.streams("photo.dng")[0]["pix_fmt"], "bayer_rggb16le");
    assert_eq!(dir.streams("out.png")[0]["pix_fmt"], "rgb48be");
    // After a conversion to 8 bits, the low byte of each sample would be zero or equal to its high byte.
    let samples = dir.raw("out.png", "rgb48le");
    let fine = samples.chunks_exact(2).filter(|sample| sample[0] != sample[1] && sample[0] != 0).count();
    assert!(fine * 10 > samples.len() / 2 * 8, "{fine} of {} samples", samples.len() / 2);
}

#[test]
fn pictures_of_webp_come_through_a_pipe_one_behind_the_other() {
    if !encoder_is_here("WebP in a pipe", "libwebp") {
        return;
    }
    let dir = Dir::new();
    for options in ["-pix_fmt yuv420p", "-pix_fmt bgra -lossless 1", "-vf format=yuva420p,colorchannelmixer=aa=0.5"] {
        let source = "-f lavfi -i testsrc2=size=96x64:rate=25 -frames:v 4";
        dir.ffmpeg(&format!("{source} {options} -c:v libwebp -f image2 p%d.webp"));
        let joined: Vec<u8> = (1..=4).flat_map(|number| dir.read(&format!("p{number}.webp"))).collect();
        dir.fed("--backend cpu --strength 0 --encoder ffv1 -y - out.mkv", &joined).exits_with(0);
        assert_eq!(dir.frames("out.mkv").len(), 4, "{options}");
        assert_eq!(dir.streams("out.mkv")[0]["width"], 96, "{options}");
        let last = dir.raw("p4.webp", "rgb24");
        let found = dir.raw("out.mkv", "rgb24");
        let far = |(a, b): (&u8, &u8)| a.abs_diff(*b) > 16;
        let apart = found[3 * last.len()..].iter().zip(&last).filter(|pair| far(*pair)).count();
        assert!(apart * 50 < last.len(), "{options}: {apart} of {} samples are others", last.len());
    }
}
