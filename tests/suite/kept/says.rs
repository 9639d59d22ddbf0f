//! What a file says of itself: the output says it too, or one warning names all that it does not.

use crate::documents::read;
use crate::program::Dir;
use crate::reader::encoder_is_here;
use histeq_media::ffmpeg::{Container, Encoder};
use histeq_media::sink::{KEPT, Said};

/// A video of everything in the table, and one of HDR, which does not go with the rest.
fn films(dir: &Dir) -> Vec<(&'static str, Vec<Said>)> {
    let name = "tests/data/spherical-stereo.mkv";
    dir.write("plain.mkv", &std::fs::read(name).unwrap_or_else(|error| panic!("{name}: {error}")));
    dir.write("chapters.txt", b";FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=1000\ntitle=the first\n");
    dir.ffmpeg(
        "-i plain.mkv -i chapters.txt -map 0 -map_chapters 1 -c copy -metadata location=+48.1+011.5/ \
         -metadata timecode=01:02:03:04 film.mkv",
    );
    let of_film = vec![Said::Chapters, Said::Timecode, Said::Place, Said::Sphere, Said::Stereo];
    let mut films = vec![("film.mkv", of_film)];
    if encoder_is_here("HDR10", "libx265") {
        dir.ffmpeg(
            "-f lavfi -i testsrc2=size=128x96:rate=25 -frames:v 4 -c:v libx265 -pix_fmt yuv420p10le -x265-params \
             log-level=none:colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc:master-display=G(13250,34500)B(7500,3000)\
             R(34000,16000)WP(15635,16450)L(10000000,50) hdr.mkv",
        );
        films.push(("hdr.mkv", vec![Said::MasteringDisplay]));
    }
    films
}

/// Does a program that knows nothing but the file find it there?
fn is_there(said: Said, described: &str) -> bool {
    described.contains(match said {
        Said::Chapters => "the first",
        Said::Timecode => "01:02:03:04",
        Said::Place => "48.1",
        Said::Sphere => "Spherical Mapping",
        Said::Stereo => "Stereo 3D",
        Said::MasteringDisplay => "Mastering display metadata",
    })
}

#[test]
fn every_container_keeps_what_the_table_says_and_a_warning_names_the_rest() {
    let dir = Dir::new();
    let films = films(&dir);
    let muxers = dir.tool("ffmpeg", "-v error -hide_banner -muxers", None).stdout;
    let muxers = String::from_utf8(muxers).expect("text");
    let names = muxers.lines().filter_map(|line| line.trim().strip_prefix("E ")).filter_map(|rest| {
        // Some have several names.
        rest.split_whitespace().next()?.split(',').next()
    });
    // Others are devices, servers, or folders of segments.
    let is_file = |name: &&str| {
        let container = Container::guess(Some(name), "");
        container.is_some_and(|container| !container.opens_more() && !container.writes_segments())
    };
    let names: Vec<&str> = names.filter(is_file).collect();
    let mut seen = Vec::new();
    for name in names {
        for (input, said) in &films {
            let run = dir.run(&format!("--backend cpu -y --output-format {name} {input} out.bin"));
            let is_file = run.code == Some(0) && dir.path("out.bin").is_file();
            let mut probe =
                dir.other_command("ffprobe", "-v error -of json -show_format -show_streams -show_chapters out.bin");
            let described = probe.output().expect("a tool that runs").stdout;
            let described = String::from_utf8_lossy(&described).into_owned();
            let container = Container::guess(Some(name), "").expect("a container");
            if !is_file || !described.contains("\"codec_type\": \"video\"") || container.is_images() {
                continue;
            }
            let codec = if described.contains("\"codec_name\": \"hevc\"") { Encoder::find("libx265") } else { None };
            let warning = run.stderr.lines().filter(|line| line.contains("does not say what")).collect::<Vec<_>>();
            let is_animation = matches!(name, "gif" | "apng" | "webp" | "image2pipe" | "yuv4mpegpipe" | "rawvideo");
            for (one, called, _) in KEPT.iter().filter(|(one, ..)| said.contains(one) && !is_animation) {
                let is_kept = one.is_kept(container, codec);
                let is_named = warning.len() == 1 && warning[0].contains(called);
                assert!(is_named != is_kept, "{input} as {name}, of which {called} is kept: {is_kept}: {}", run.stderr);
                // x265 says it in the video, where ffprobe finds it in the frames.
                let in_video = *one == Said::MasteringDisplay && codec.is_some();
                assert!(!is_kept || in_video || is_there(*one, &described), "{name} keeps no {called}: {described}");
                // Its muxer keeps chapters of some files, and of others not.
                let may_be_there = name.starts_with("og") && *one == Said::Chapters;
                let is_old = described.contains("Lavf59");
                assert!(is_kept || may_be_there || !is_old || !is_there(*one, &described), "{name} keeps {called}");
            }
            seen.push(name.to_owned());
            if warning.len() == 1 && ["mov", "mpegts"].contains(&name) {
                dir.run(&format!("--backend cpu -y --strict --output-format {name} {input} out.bin")).fails();
            }
        }
        let _ = std::fs::remove_file(dir.path("out.bin"));
    }
    for known in KEPT.iter().flat_map(|(_, _, by)| *by) {
        // DV takes pictures of two sizes: another test has them.
        let is_here = Container::guess(Some(known), "").is_some() && *known != "dv";
        // What WebM holds, some FFmpeg cannot encode.
        let has_encoder =
            ["libvpx", "libvpx-vp9", "libaom-av1", "libsvtav1"].iter().any(|name| Encoder::find(name).is_some());
        let is_here = is_here && (*known != "webm" || has_encoder);
        assert!(!is_here || seen.iter().any(|name| name == known), "{known} of the table was not tried: {seen:?}");
    }
}

const PAGE: &str = "docs/files.md";
const BEGIN: &str = "<!-- Generated: HISTEQ_REGENERATE=1 cargo test -p histeq-video --test suite -- kept::says -->\n";
const END: &str = "<!-- End of what is generated -->\n";

/// `HISTEQ_REGENERATE=1` writes the table again.
#[test]
fn the_page_about_files_says_what_each_container_keeps() {
    let page = read(PAGE);
    let (before, rest) = page.split_once(BEGIN).expect("the line above the table");
    let (table, after) = rest.split_once(END).expect("the line below the table");
    let containers: Vec<&str> = KEPT.iter().flat_map(|(_, _, by)| *by).copied().fold(Vec::new(), |mut all, name| {
        if !all.contains(&name) {
            all.push(name);
        }
        all
    });
    let mut expected = format!("| | {} |\n|---|{}\n", containers.join(" | "), "---|".repeat(containers.len()));
    for (_, called, by) in KEPT {
        let marks = containers.iter().map(|name| if by.contains(name) { "yes" } else { "" });
        expected += &format!("| {called} | {} |\n", marks.collect::<Vec<_>>().join(" | "));
    }
    if std::env::var_os("HISTEQ_REGENERATE").is_some() {
        std::fs::write(PAGE, format!("{before}{BEGIN}{expected}{END}{after}")).expect("the page can be written");
        return;
    }
    assert!(table == expected, "{PAGE} is out of date (HISTEQ_REGENERATE=1 writes it again)");
}

#[test]
fn dynamic_metadata_of_hdr_that_no_longer_holds_is_named() {
    if !encoder_is_here("Dolby Vision", "libx265") {
        return;
    }
    let dir = Dir::new();
    dir.ffmpeg(
        "-f lavfi -i testsrc2=size=128x96:rate=25 -frames:v 4 -c:v libx265 -pix_fmt yuv420p10le -x265-params log-level=none \
         -tag:v hvc1 plain.mp4",
    );
    for (profile, compatibility, words) in [(5, 0, "the colours are wrong"), (8, 4, "does not fit equalized pictures")]
    {
        let file = format!("dolby-{profile}.mp4");
        dir.write(&file, &with_record(dir.read("plain.mp4"), profile, compatibility));
        for output in ["out.mp4", "out.mkv", "out.mov"] {
            let run = dir.succeeds(&format!("--backend cpu -y {file} {output}"));
            run.says(&["warning", &format!("Dolby Vision of profile {profile}"), words]);
            dir.run(&format!("--backend cpu -y --strict {file} {output}")).fails().says(&["Dolby Vision"]);
        }
    }
    dir.succeeds("--backend cpu -y --strict plain.mp4 out.mp4");
}

/// The file with a record of Dolby Vision in the description of its video, which is behind its samples.
fn with_record(mut file: Vec<u8>, profile: u8, compatibility: u8) -> Vec<u8> {
    let mut record = vec![0, 0, 0, 32];
    record.extend(b"dvvC");
    record.extend([1, 0, profile << 1, 0b101, compatibility << 4]);
    record.resize(32, 0);
    let at = |file: &[u8], name: &[u8]| file.windows(4).position(|bytes| bytes == name).expect("a box") - 4;
    let length = |file: &[u8], at: usize| u32::from_be_bytes(file[at..at + 4].try_into().expect("four bytes"));
    let hevc = at(&file, b"hvcC");
    let end = hevc + length(&file, hevc) as usize;
    for name in [b"moov", b"trak", b"mdia", b"minf", b"stbl", b"stsd", b"hvc1"] {
        let at = at(&file, name);
        let longer = length(&file, at) + 32;
        file[at..at + 4].copy_from_slice(&longer.to_be_bytes());
    }
    file.splice(end..end, record);
    file
}

#[test]
fn what_a_picture_says_of_itself_and_its_copy_does_not_is_named() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc=size=64x48 -frames:v 1 -pix_fmt yuvj420p plain.jpg");
    // EXIF of one entry: the maker of the camera.
    let mut exif = b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x0f\0\x02\0\0\0\x05\0\0\0\x1a\0\0\0\0Acme\0".to_vec();
    let mut segment = vec![0xff, 0xe1, 0, (exif.len() + 2) as u8];
    segment.append(&mut exif);
    let mut photo = dir.read("plain.jpg");
    photo.splice(2..2, segment);
    dir.write("photo.jpg", &photo);
    for output in ["out.jpg", "out.png", "out.tif"] {
        dir.succeeds(&format!("--strict -y plain.jpg {output}"));
        let run = dir.succeeds(&format!("-y photo.jpg {output}"));
        run.says(&["warning", "does not say what photo.jpg says", "Make"]);
        dir.run(&format!("--strict -y photo.jpg {output}")).fails().says(&["Make"]);
    }
    // A gamma of 1: a linear picture, which is not shown as it was without it.
    dir.ffmpeg("-f lavfi -i testsrc=size=64x48 -frames:v 1 plain.png");
    let mut linear = dir.read("plain.png");
    let is_chunk = |name: &[u8; 4], bytes: &[u8]| bytes.windows(4).position(|four| four == name);
    let at = is_chunk(b"IDAT", &linear).expect("a picture") - 4;
    linear.splice(at..at, *b"\0\0\0\x04gAMA\0\x01\x86\xa0\x31\xe8\x96\x5f");
    dir.write("linear.png", &linear);
    dir.succeeds("-y linear.png out.tif").says(&["warning", "gamma"]);
    dir.run("-y --strict linear.png out.jpg").fails().says(&["gamma"]);
    dir.succeeds("-y --strict plain.png out.tif");
}
