//! Metadata of a file: the output keeps it, or one warning names all that is lost.

use crate::support::documents::read;
use crate::support::media::reader::encoder_is_here;
use crate::support::programs::program::Dir;
use histeq_media::ffmpeg::encode::Encoder;
use histeq_media::ffmpeg::mux::Container;
use histeq_media::sink::kept::{FileMetadata, KEPT, KEPT_OF_IMAGES};
use std::sync::Mutex;

/// A video with all metadata of the table, and an HDR video, which cannot be combined with the rest.
fn films(dir: &Dir) -> Vec<(&'static str, Vec<FileMetadata>)> {
    let name = "tests/data/spherical-stereo.mkv";
    dir.write("plain.mkv", &std::fs::read(name).unwrap_or_else(|error| panic!("{name}: {error}")));
    dir.write("chapters.txt", b";FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=1000\ntitle=the first\n");
    dir.ffmpeg(
        "-i plain.mkv -i chapters.txt -map 0 -map_chapters 1 -c copy -metadata location=+48.1+011.5/ \
         -metadata timecode=01:02:03:04 film.mkv",
    );
    let of_film = vec![
        FileMetadata::Chapters,
        FileMetadata::Timecode,
        FileMetadata::Place,
        FileMetadata::Sphere,
        FileMetadata::Stereo,
    ];
    let mut films = vec![("film.mkv", of_film)];
    if encoder_is_here("HDR10", "libx265") {
        dir.ffmpeg(
            "-f lavfi -i testsrc2=size=128x96:rate=25 -frames:v 4 -c:v libx265 -pix_fmt yuv420p10le -x265-params \
             log-level=none:colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc:master-display=G(13250,34500)B(7500,3000)\
             R(34000,16000)WP(15635,16450)L(10000000,50) hdr.mkv",
        );
        films.push(("hdr.mkv", vec![FileMetadata::MasteringDisplay]));
    }
    films
}

/// Does ffprobe's description of a file contain this metadata?
fn is_there(said: FileMetadata, described: &str) -> bool {
    described.contains(match said {
        FileMetadata::Chapters => "the first",
        FileMetadata::Timecode => "01:02:03:04",
        FileMetadata::Place => "48.1",
        FileMetadata::Sphere => "Spherical Mapping",
        FileMetadata::Stereo => "Stereo 3D",
        FileMetadata::MasteringDisplay => "Mastering display metadata",
    })
}

#[test]
fn every_container_keeps_what_the_table_says_and_a_warning_names_the_rest() {
    let dir = Dir::new();
    let films = films(&dir);
    let muxers = dir.tool("ffmpeg", "-v error -hide_banner -muxers", None).stdout;
    let muxers = String::from_utf8(muxers).expect("text");
    let names = muxers.lines().filter_map(|line| line.trim().strip_prefix("E ")).filter_map(|rest| {
        // Some muxers have several names; the first one is used.
        rest.split_whitespace().next()?.split(',').next()
    });
    // Other muxers write to devices or servers, or make folders of segments.
    let is_file = |name: &&str| {
        let container = Container::guess(Some(name), "");
        container.is_some_and(|container| !container.opens_more() && !container.writes_segments())
    };
    let names: Vec<&str> = names.filter(is_file).collect();
    let mut seen = Vec::new();
    for name in names {
        for (input, said) in &films {
            let run = dir.run(&format!("--backend cpu -y --output-format {name} {input} out.bin"));
            // Without an encoder for this film, there is none for the other one: a container with HEVC takes H.264, or
            // prefers HEVC.
            if run.stderr.contains("no available encoder makes video that") {
                break;
            }
            if run.code != Some(0) || !dir.path("out.bin").is_file() {
                continue;
            }
            let probe = "-v error -of json -show_format -show_streams -show_chapters out.bin";
            let described = String::from_utf8_lossy(&dir.try_tool("ffprobe", probe).stdout).into_owned();
            let container = Container::guess(Some(name), "").expect("a container");
            if !described.contains("\"codec_type\": \"video\"") || container.is_images() {
                continue;
            }
            let codec = if described.contains("\"codec_name\": \"hevc\"") { Encoder::find("libx265") } else { None };
            let warning = run.stderr.lines().filter(|line| line.contains("does not say what")).collect::<Vec<_>>();
            let is_animation =
                matches!(name, "gif" | "apng" | "avif" | "webp" | "fits" | "image2pipe" | "yuv4mpegpipe" | "rawvideo");
            for (one, called, _) in KEPT.iter().filter(|(one, ..)| said.contains(one) && !is_animation) {
                let is_kept = one.is_kept(container, codec);
                let is_named = warning.len() == 1 && warning[0].contains(called);
                assert!(is_named != is_kept, "{input} as {name}, of which {called} is kept: {is_kept}: {}", run.stderr);
                // x265 writes the mastering display into the video stream, where ffprobe shows it only in the frames.
                let in_video = *one == FileMetadata::MasteringDisplay && codec.is_some();
                assert!(!is_kept || in_video || is_there(*one, &described), "{name} keeps no {called}: {described}");
                // Ogg keeps the chapters of only some files.
                let may_be_there = name.starts_with("og") && *one == FileMetadata::Chapters;
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
        // DV supports only two frame sizes; another test covers it.
        let is_here = Container::guess(Some(known), "").is_some() && *known != "dv";
        // Some builds of FFmpeg have no encoder for WebM and Ogg.
        let has_encoder =
            ["libvpx", "libvpx-vp9", "libaom-av1", "libsvtav1"].iter().any(|name| Encoder::find(name).is_some());
        let is_here = is_here && ((*known != "webm" && !known.starts_with("og")) || has_encoder);
        assert!(!is_here || seen.iter().any(|name| name == known), "{known} of the table was not tried: {seen:?}");
    }
}

const PAGE: &str = "docs/files.md";
/// Only one test at a time may write the page.
static ALONE: Mutex<()> = Mutex::new(());
const BEGIN: &str =
    "<!-- Generated: HISTEQ_REGENERATE=1 cargo test -p histeq-video --test suite -- kept::metadata -->\n";
const END: &str = "<!-- End of what is generated -->\n";

/// `HISTEQ_REGENERATE=1` writes the table again.
#[test]
fn the_page_about_files_says_what_each_container_keeps() {
    let _alone = ALONE.lock();
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

/// An mp4 file with a Dolby Vision record in the sample description of its video. `moov` has to follow the samples.
fn with_record(mut file: Vec<u8>, profile: u8, compatibility: u8) -> Vec<u8> {
    let mut record = vec![0, 0, 0, 32];
    record.extend(b"dvvC");
    record.extend([1, 0, profile << 1, 0b101, compatibility << 4]);
    record.resize(32, 0);
    let value_at = |file: &[u8], name: &[u8]| file.windows(4).position(|bytes| bytes == name).expect("a box") - 4;
    let length =
        |file: &[u8], value_at: usize| u32::from_be_bytes(file[value_at..value_at + 4].try_into().expect("four bytes"));
    let hevc = value_at(&file, b"hvcC");
    let end = hevc + length(&file, hevc) as usize;
    for name in [b"moov", b"trak", b"mdia", b"minf", b"stbl", b"stsd", b"hvc1"] {
        let value_at = value_at(&file, name);
        let longer = length(&file, value_at) + 32;
        file[value_at..value_at + 4].copy_from_slice(&longer.to_be_bytes());
    }
    file.splice(end..end, record);
    file
}

/// A segment of a JPEG file.
fn segment(marker: u8, contents: &[u8]) -> Vec<u8> {
    let length = (contents.len() as u16 + 2).to_be_bytes();
    [&[0xff, marker], &length[..], contents].concat()
}

/// An EXIF directory of tags, big-endian, at offset `begin`.
fn list(begin: usize, tags: &[(u16, u16, u32, Vec<u8>)]) -> Vec<u8> {
    let (mut head, mut values) = ((tags.len() as u16).to_be_bytes().to_vec(), Vec::new());
    let behind = begin + 2 + tags.len() * 12 + 4;
    for (kind, numeric_type, count, bytes) in tags {
        head.extend([kind.to_be_bytes(), numeric_type.to_be_bytes()].concat());
        head.extend(count.to_be_bytes());
        if bytes.len() <= 4 {
            head.extend(bytes.iter().copied().chain([0; 4]).take(4));
        } else {
            head.extend(((behind + values.len()) as u32).to_be_bytes());
            values.extend(bytes);
            values.resize(values.len().next_multiple_of(2), 0);
        }
    }
    head.extend([0; 4]);
    head.extend(values);
    head
}

/// EXIF of a camera in portrait orientation, with a date, a location, and 300 dpi.
fn exif() -> Vec<u8> {
    let numbers = |values: &[u32]| values.iter().flat_map(|number| number.to_be_bytes()).collect::<Vec<u8>>();
    let main = |exif: u32, place: u32| {
        let tags = [
            (271, 2, 5, b"Acme\0".to_vec()),
            (274, 3, 1, vec![0, 6]),
            (282, 5, 1, numbers(&[300, 1])),
            (283, 5, 1, numbers(&[300, 1])),
            (296, 3, 1, vec![0, 2]),
            (34665, 4, 1, numbers(&[exif])),
            (34853, 4, 1, numbers(&[place])),
        ];
        list(8, &tags)
    };
    let size = [(40962, 4, 1, numbers(&[64])), (40963, 4, 1, numbers(&[48]))];
    let [width, height] = size;
    let begin = 8 + main(0, 0).len();
    let exif = list(begin, &[(36867, 2, 20, b"2024:01:02 03:04:05\0".to_vec()), width, height]);
    let index = begin + exif.len();
    let place = list(index, &[(1, 2, 2, b"N\0".to_vec()), (2, 5, 3, numbers(&[48, 1, 8, 1, 15, 1]))]);
    [b"MM\0*\0\0\0\x08".to_vec(), main(begin as u32, index as u32), exif, place].concat()
}

/// The smallest ICC profile that FFmpeg accepts: it checks only the length.
fn profile() -> Vec<u8> {
    let mut bytes = vec![0; 132];
    bytes[3] = 132;
    bytes[36..40].copy_from_slice(b"acsp");
    bytes
}

const XMP: &[u8] = b"<x:xmpmeta xmlns:x='adobe:ns:meta/'>hello</x:xmpmeta>";

/// Makes `photo.jpg`, a photo with all metadata that JPEG supports.
fn photo(dir: &Dir) {
    dir.ffmpeg("-f lavfi -i testsrc=size=64x48 -frames:v 1 -pix_fmt yuvj420p plain.jpg");
    let mut bytes = dir.read("plain.jpg");
    let exif = segment(0xe1, &[b"Exif\0\0", &exif()[..]].concat());
    let xmp = segment(0xe1, &[b"http://ns.adobe.com/xap/1.0/\0", XMP].concat());
    let icc = segment(0xe2, &[b"ICC_PROFILE\0\x01\x01", &profile()[..]].concat());
    bytes.splice(2..2, [exif, xmp, icc].concat());
    dir.write("photo.jpg", &bytes);
}

/// FFmpeg's description of the EXIF in a JPEG file, and the size of the image.
fn found(dir: &Dir, file: &str) -> (String, String) {
    let frame = dir.probe("-show_entries frame=width,height:frame_tags:frame_side_data", file)["frames"][0].clone();
    (frame.to_string(), format!("{}x{}", frame["width"], frame["height"]))
}

fn has(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[test]
fn a_photo_keeps_what_it_says_in_every_format_that_holds_it() {
    let dir = Dir::new();
    photo(&dir);
    let mut outputs = vec!["out.jpg", "out.png", "out.tif"];
    outputs.extend(encoder_is_here("webp", "libwebp").then_some("out.webp"));
    for output in outputs {
        // WebP has limited range, which causes another warning.
        let strict = if output.ends_with("webp") { "" } else { "--strict" };
        dir.succeeds(&format!("--backend cpu {strict} -y photo.jpg {output}")).never_says("does not say");
        let bytes = dir.read(output);
        let of_profile = if output.ends_with("png") { b"iCCP".to_vec() } else { profile() };
        for part in [&b"Acme\0"[..], b"2024:01:02 03:04:05\0", XMP, &of_profile] {
            assert!(has(&bytes, part), "{output}: {}", String::from_utf8_lossy(part));
        }
        // Converted back to JPEG, of which FFmpeg reads the whole EXIF. The image is upright now, and its orientation
        // is 1.
        dir.succeeds(&format!("--backend cpu {strict} -y {output} back.jpg")).never_says("does not say");
        let (said, size) = found(&dir, "back.jpg");
        for part in ["Acme", "2024:01:02 03:04:05", "GPSLatitude", "ICC profile"] {
            assert!(said.contains(part), "{output}: {part}: {said}");
        }
        assert_eq!(size, "48x64", "{output}: it was turned once");
        // FFmpeg 9 reports the orientation only as a matrix.
        for parts in [["\"Orientation\":\"    1\"", "\"rotation\":0"], ["PixelXDimension\":\"     48\""; 2]] {
            assert!(parts.iter().any(|part| said.contains(part)), "{output}: {parts:?}: {said}");
        }
        let bytes = dir.read("back.jpg");
        assert!(has(&bytes, b"JFIF\0\x01\x02\x01\x01\x2c\x01\x2c"), "{output}: 300 dots per inch: {said}");
    }
    // If the output supports no metadata, one warning names all that is lost, and `--strict` fails.
    let run = dir.succeeds("--backend cpu -y photo.jpg out.bmp");
    run.says(&["does not say what photo.jpg says", "EXIF", "Make", "XMP", "ICC profile", "resolution (dpi)"]);
    dir.run("--backend cpu -y --strict photo.jpg out.bmp").fails().says(&["EXIF"]);
    dir.succeeds("--backend cpu -y --strict plain.jpg out.bmp");
    // No video container supports ICC profiles.
    let film = "--encoder ffv1 -y photo.jpg out.mkv";
    dir.succeeds(&format!("--backend cpu {film}")).says(&["does not say what photo.jpg says", "ICC profile"]);
    dir.run(&format!("--backend cpu --strict {film}")).fails().says(&["ICC profile"]);
    // Each image of a sequence keeps its own metadata.
    std::fs::copy(dir.path("photo.jpg"), dir.path("s1.jpg")).expect("a file");
    let bytes = dir.read("photo.jpg");
    let offset = bytes.windows(4).position(|window| window == b"Acme").expect("a maker");
    dir.write("s2.jpg", &[&bytes[..offset], b"Else", &bytes[offset + 4..]].concat());
    dir.succeeds("--backend cpu --strict -y s%d.jpg t%d.png");
    assert!(has(&dir.read("t1.png"), b"Acme\0") && has(&dir.read("t2.png"), b"Else\0"));
    // Metadata is also kept with the decoder in the program's own process, and through filters.
    for options in ["--sandbox off", "--filter hflip", "--filter-after hflip"] {
        dir.succeeds(&format!("--backend cpu --strict -y {options} photo.jpg out.jpg"));
        assert!(found(&dir, "out.jpg").0.contains("GPSLatitude"), "{options}");
    }
}

#[test]
fn a_png_keeps_gamma_resolution_and_texts() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc=size=64x48 -frames:v 1 plain.png");
    let plain = dir.read("plain.png");
    let offset = plain.windows(4).position(|four| four == b"IDAT").expect("a picture") - 4;
    // A gamma of 1 (linear light), 11811 dots per metre, and a text. Without the gamma, the image would look different.
    let gamma = b"\0\0\0\x04gAMA\0\x01\x86\xa0\x31\xe8\x96\x5f";
    let dots = b"\0\0\0\x09pHYs\0\0\x2e\x23\0\0\x2e\x23\x01\x78\xa5\x3f\x76";
    let text = b"\0\0\0\x08tEXtTitle\0hi\x6a\x8b\x83\xdf";
    let mut linear = plain.clone();
    linear.splice(offset..offset, [&gamma[..], dots, text].concat());
    dir.write("linear.png", &linear);
    dir.succeeds("--backend cpu -y --strict linear.png out.png");
    for chunk in [&gamma[..], dots, text] {
        let once = dir.read("out.png").windows(chunk.len()).filter(|window| window == &chunk).count();
        assert_eq!(once, 1, "{}", String::from_utf8_lossy(&chunk[4..8]));
    }
    for kind in [b"gAMA", b"pHYs", b"sRGB"] {
        let count = dir.read("out.png").windows(4).filter(|window| window == kind).count();
        assert!(count <= 1 && (kind != b"sRGB" || count == 0), "{}", String::from_utf8_lossy(kind));
    }
    for output in ["out.jpg", "out.tif"] {
        dir.succeeds(&format!("--backend cpu -y linear.png {output}")).says(&["warning", "gamma", "texts of PNG"]);
        dir.run(&format!("--backend cpu -y --strict linear.png {output}")).fails().says(&["gamma"]);
        dir.succeeds(&format!("--backend cpu -y --strict plain.png {output}"));
    }
    dir.succeeds("--backend cpu -y linear.png out.tif");
    dir.succeeds("--backend cpu -y --strict out.tif back.png");
    assert!(has(&dir.read("back.png"), dots), "the resolution went through a TIFF");
}

#[test]
fn iptc_and_comments_stay_in_jpeg_and_are_else_named() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc=size=64x48 -frames:v 1 -pix_fmt yuvj420p plain.jpg");
    let caption = b"\x1c\x02\x78\0\x07caption";
    // A Photoshop block of odd length before the block of the caption.
    let blocks = [b"8BIM\x04\x0c\0\0\0\0\0\x03old\0".as_slice(), b"8BIM\x04\x04\0\0\0\0\0\x0c", caption].concat();
    let mut bytes = dir.read("plain.jpg");
    let blocks = segment(0xed, &[b"Photoshop 3.0\0", &blocks[..]].concat());
    bytes.splice(2..2, [segment(0xfe, b"by hand"), segment(0xfe, b"twice"), blocks].concat());
    dir.write("photo.jpg", &bytes);
    for (input, output) in [("photo.jpg", "out.jpg"), ("out.jpg", "again.jpg")] {
        dir.succeeds(&format!("--backend cpu --strict {input} {output}"));
        let bytes = dir.read(output);
        assert!(has(&bytes, b"by hand") && has(&bytes, caption), "{output}");
        assert!(!has(&bytes, b"old\0"), "other blocks tell of the old picture");
        assert!(!has(&bytes, b"Lavc"), "{output}");
        let place = |text: &[u8]| bytes.windows(text.len()).position(|window| window == text);
        let order = [&b"histeq-video "[..], b"by hand", b"twice"].map(place);
        assert!(order.is_sorted() && order[0].is_some(), "readers show the last comment: {order:?}");
    }
    let words = ["does not say what photo.jpg says", "IPTC", "comment of JPEG"];
    dir.run("--backend cpu --strict photo.jpg out.png").fails().says(&words);
    dir.succeeds("--backend cpu --strict plain.jpg out.png");
}

#[test]
fn what_avif_does_not_keep_of_a_photo_is_named() {
    if !encoder_is_here("AVIF", "libaom-av1") || Container::guess(Some("avif"), "").is_none() {
        return;
    }
    let dir = Dir::new();
    photo(&dir);
    let run = dir.succeeds("--backend cpu photo.jpg out.avif");
    run.says(&["does not say what photo.jpg says", "EXIF", "Make", "XMP", "resolution (dpi)"]);
    dir.run("--backend cpu --strict photo.jpg no.avif").fails().says(&["does not say"]);
    dir.succeeds("--backend cpu --strict plain.jpg plain.avif");
}

#[test]
fn primaries_of_png_are_no_display_of_hdr() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc=size=64x48 -frames:v 1 plain.png");
    let numbers = [31_270_u32, 32_900, 64_000, 33_000, 30_000, 60_000, 15_000, 6_000].map(u32::to_be_bytes).concat();
    let mut bytes = dir.read("plain.png");
    // The chunk follows the PNG header. Its checksum is that of these numbers.
    let chunk = [&32_u32.to_be_bytes()[..], b"cHRM", &numbers, &[0x9c, 0xba, 0x51, 0x3c]].concat();
    bytes.splice(33..33, chunk);
    dir.write("in.png", &bytes);
    dir.succeeds("--backend cpu --encoder ffv1 in.png out.mkv").never_says("mastering");
    let said = dir.probe("-show_streams -show_frames", "out.mkv").to_string();
    assert!(!said.contains("Mastering"), "{said}");
}

const IMAGES_BEGIN: &str =
    "<!-- Images, generated: HISTEQ_REGENERATE=1 cargo test -p histeq-video --test suite -- kept::metadata -->\n";

/// The image encoders of the table, and the common names of their formats.
const IMAGES: [(&str, &str); 6] =
    [("png", "PNG"), ("mjpeg", "JPEG"), ("tiff", "TIFF"), ("libwebp", "WebP"), ("libjxl", "JPEG XL"), ("apng", "APNG")];

/// `HISTEQ_REGENERATE=1` writes the table again.
#[test]
fn the_page_about_files_says_what_images_keep() {
    let _alone = ALONE.lock();
    let page = read(PAGE);
    let (before, rest) = page.split_once(IMAGES_BEGIN).expect("the line above the table");
    let (table, after) = rest.split_once(END).expect("the line below the table");
    let names: Vec<&str> = IMAGES.iter().map(|(_, name)| *name).collect();
    let mut expected = format!("| | {} |\n|---|{}\n", names.join(" | "), "---|".repeat(names.len()));
    for (_, called, by) in KEPT_OF_IMAGES {
        assert!(by.iter().all(|encoder| IMAGES.iter().any(|(known, _)| known == encoder)), "{called}: {by:?}");
        let marks = IMAGES.iter().map(|(encoder, _)| if by.contains(encoder) { "yes" } else { "" });
        expected += &format!("| {called} | {} |\n", marks.collect::<Vec<_>>().join(" | "));
    }
    if std::env::var_os("HISTEQ_REGENERATE").is_some() {
        std::fs::write(PAGE, format!("{before}{IMAGES_BEGIN}{expected}{END}{after}")).expect("the page can be written");
        return;
    }
    assert!(table == expected, "{PAGE} is out of date (HISTEQ_REGENERATE=1 writes it again)");
}
