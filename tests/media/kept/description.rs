//! Descriptive metadata: chapters, tags of the file and of its streams, timecode.

use super::film;
use crate::support::media::reader::{encoder_is_here, list};
use crate::support::programs::program::Dir;

const CHAPTERS: &str = ";FFMETADATA1\ntitle=A title\nartist=Somebody\ncomment=Said so\n\n[CHAPTER]\nTIMEBASE=1/1000\n\
START=0\nEND=700\ntitle=Beginning\n\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=700\nEND=2000\ntitle=End; with a semicolon\n";

fn with_chapters(dir: &Dir, file: &str) {
    dir.write("chapters.txt", CHAPTERS.replace("End; with", "End\\; with").as_bytes());
    film(dir, "plain.mkv", "-c:v mpeg4 -q:v 3", "-c:a aac");
    dir.ffmpeg(&format!("-i plain.mkv -i chapters.txt -map 0 -map_metadata 1 -map_chapters 1 -c copy {file}"));
}

#[test]
fn chapters_and_metadata_are_kept() {
    let dir = Dir::new();
    for container in ["mkv", "mp4", "mov"] {
        let (input, output) = (format!("in.{container}"), format!("out.{container}"));
        with_chapters(&dir, &input);
        dir.succeeds(&format!("--backend cpu {input} {output}")).never_says("warning");
        let chapters = |file: &str| {
            let found = list(&dir.probe("-show_chapters", file)["chapters"]);
            let value_of =
                |c: &serde_json::Value| (c["start_time"].clone(), c["end_time"].clone(), c["tags"]["title"].clone());
            found.iter().map(value_of).collect::<Vec<_>>()
        };
        assert_eq!(chapters(&output), chapters(&input), "{container}");
        assert_eq!(chapters(&output).len(), 2);
        let tags = dir.probe("-show_format", &output)["format"]["tags"].clone();
        let tag = |key: &str| tags[key].as_str().or(tags[key.to_uppercase()].as_str()).map(str::to_owned);
        assert_eq!(tag("title").as_deref(), Some("A title"), "{container}");
        assert_eq!(tag("artist").as_deref(), Some("Somebody"), "{container}");
        assert_eq!(tag("comment").as_deref(), Some("Said so"), "{container}");
    }
}

#[test]
fn chapters_of_a_part_are_those_that_lie_in_it() {
    let dir = Dir::new();
    with_chapters(&dir, "in.mkv");
    dir.succeeds("--backend cpu --start 1 in.mkv out.mkv");
    let chapters = list(&dir.probe("-show_chapters", "out.mkv")["chapters"]);
    assert_eq!(chapters.len(), 1);
    assert_eq!(chapters[0]["start_time"], "0.000000");
    assert_eq!(chapters[0]["end_time"], "1.000000");
}

#[test]
fn chapters_end_with_the_last_frame_that_was_asked_for() {
    let dir = Dir::new();
    with_chapters(&dir, "in.mkv");
    dir.succeeds("--backend cpu --frames 10 in.mkv out.mp4");
    let chapters = list(&dir.probe("-show_chapters", "out.mp4")["chapters"]);
    assert_eq!(chapters.len(), 1, "{chapters:?}");
    assert_eq!(chapters[0]["end_time"], "0.400000");
}

#[test]
fn cover_art_goes_before_keys_that_mp4_has_no_field_for() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x64 -frames:v 1 -update 1 cover.jpg");
    film(&dir, "film.mkv", "-c:v mpeg4 -q:v 3", "-metadata title=Night");
    dir.ffmpeg("-i film.mkv -i cover.jpg -map 0 -map 1 -c copy -disposition:v:1 attached_pic plain.mp4");
    dir.ffmpeg(
        "-i film.mkv -attach cover.jpg -metadata:s:t mimetype=image/jpeg -map 0 -c copy -metadata CAMERA=north odd.mkv",
    );
    for (input, line) in [("plain.mp4", "--strict "), ("odd.mkv", "")] {
        let run = dir.succeeds(&format!("{line}--backend cpu -y {input} out.mp4"));
        let covers = dir.streams("out.mp4").iter().filter(|stream| stream["disposition"]["attached_pic"] == 1).count();
        assert_eq!(covers, 1, "{input}");
        assert_eq!(run.stderr.contains("CAMERA is left out"), input == "odd.mkv", "{}", run.stderr);
        let tags = dir.probe("-show_format", "out.mp4")["format"]["tags"].clone();
        assert_eq!(tags["title"], "Night", "{tags}");
    }
}

#[test]
fn keys_that_mp4_has_no_field_for_are_kept_too() {
    let dir = Dir::new();
    film(&dir, "in.mkv", "-c:v mpeg4 -q:v 3", "-metadata CAMERA=north -metadata title=Night");
    dir.succeeds("--backend cpu in.mkv out.mp4");
    let tags = dir.probe("-show_format", "out.mp4")["format"]["tags"].clone();
    assert_eq!((&tags["CAMERA"], &tags["title"]), (&"north".into(), &"Night".into()), "{tags}");
    dir.succeeds("--backend cpu out.mp4 again.mp4");
    let again = dir.probe("-show_format", "again.mp4")["format"]["tags"].clone();
    assert_eq!((&again["CAMERA"], &again["title"]), (&"north".into(), &"Night".into()), "{again}");
}

#[test]
fn the_time_of_recording_is_kept() {
    let dir = Dir::new();
    let when = "2024-05-06T07:08:09.000000Z";
    for container in ["mp4", "mkv"] {
        film(&dir, &format!("in.{container}"), "-c:v mpeg4 -q:v 3", &format!("-metadata creation_time={when}"));
        dir.succeeds(&format!("--backend cpu in.{container} out.{container}"));
        let tags = dir.probe("-show_format", &format!("out.{container}"))["format"]["tags"].clone();
        assert_eq!(tags["creation_time"], when, "{container}");
    }
}

#[test]
fn timecode_is_kept() {
    let dir = Dir::new();
    for (input, outputs) in
        [("in.mov", ["out.mov", "out.mp4", "out.mkv"]), ("in.mp4", ["out.mp4", "out.mov", "out.mkv"])]
    {
        film(&dir, input, "-c:v mpeg4 -q:v 3", "-c:a aac -timecode 01:02:03:04");
        for output in outputs {
            dir.succeeds(&format!("--backend cpu -y {input} {output}")).never_says("warning");
            let told =
                dir.probe("-show_entries stream_tags=timecode:format_tags=timecode:stream=codec_tag_string", output);
            assert!(told.to_string().to_lowercase().contains("01:02:03:04"), "{input} to {output}: {told}");
            let tracks = told["streams"].to_string().matches("tmcd").count();
            assert_eq!(tracks, usize::from(!output.ends_with("mkv")), "{input} to {output}: {told}");
        }
    }
}

#[test]
fn what_an_editor_conforms_by_is_kept_timecode_and_reel() {
    let dir = Dir::new();
    for codec in ["prores_ks -profile:v 3 -pix_fmt yuv422p10le", "dnxhd -profile:v dnxhr_hqx -pix_fmt yuv422p10le"] {
        dir.ffmpeg(&format!(
            "-f lavfi -i testsrc2=size=256x128:rate=25:duration=0.2 -c:v {codec} -timecode 01:02:03:04 \
             -metadata:s:v reel_name=A007C003 in.mov"
        ));
        for options in ["", "--for edit "] {
            dir.succeeds(&format!("--backend cpu {options}-y in.mov out.mov"));
            let told = dir.probe("-show_entries stream=codec_name,pix_fmt:stream_tags", "out.mov").to_string();
            for kept in ["\"timecode\":\"01:02:03:04\"", "\"reel_name\":\"A007C003\"", "yuv422p10le"] {
                assert!(told.contains(kept), "{codec} {options}: no {kept} in {told}");
            }
        }
    }
}

#[test]
fn the_timecode_of_a_part_is_that_of_its_first_frame() {
    let dir = Dir::new();
    for (rate, timecode, start, expected) in [
        ("25", "01:02:03:04", "0.8", "01:02:03:24"),
        ("25", "23:59:59:20", "0.21", "00:00:00:01"),
        ("30000/1001", "00:00:59;28", "0.2", "00:01:00;06"),
    ] {
        dir.ffmpeg(&format!(
            "-f lavfi -i testsrc2=size=96x64:rate={rate}:duration=2 -c:v mpeg4 -g 5 -timecode {timecode} in.mov"
        ));
        for output in ["out.mov", "out.mp4", "out.mkv"] {
            dir.succeeds(&format!("--backend cpu --start {start} -y in.mov {output}"));
            let told = dir.probe("-show_entries stream_tags=timecode:format_tags=timecode", output).to_string();
            assert!(told.contains(expected), "{timecode} and {start} s in {output}: {told}");
        }
    }
}

#[test]
fn the_timecode_of_an_mp4_comes_through_a_pipe() {
    let dir = Dir::new();
    for (rate, timecode, start, expected) in [
        ("25", "01:02:03:04", "", "01:02:03:04"),
        ("25", "01:02:03:04", "--start 1", "01:02:04:04"),
        ("30000/1001", "10:00:00;02", "", "10:00:00;02"),
    ] {
        dir.ffmpeg(&format!(
            "-f lavfi -i testsrc2=size=96x64:rate={rate}:duration=2 -f lavfi -i sine=duration=2 -c:v mpeg4 -c:a aac \
             -timecode {timecode} -movflags +faststart in.mp4"
        ));
        let input = dir.read("in.mp4");
        dir.fed(&format!("--backend cpu --encoder mpeg4 -y {start} - out.mp4"), &input)
            .exits_with(0)
            .never_says("left out");
        let told = dir.probe("-show_entries stream_tags=timecode", "out.mp4").to_string();
        assert!(told.contains(expected), "{timecode} {start}: {told}");
    }
}

#[test]
fn timecode_counts_by_the_nominal_rate_where_the_rate_varies() {
    let dir = Dir::new();
    for (rate, timecode) in [
        ("30000/1001", "01:02:03;04"),
        ("60000/1001", "01:02:03;44"),
        ("30000/1001", "01:02:03:04"),
        ("60", "01:02:03:44"),
        ("24000/1001", "01:02:03:04"),
        ("25", "01:02:03:04"),
    ] {
        // Frames 1, 8, 15 and so on are missing.
        dir.ffmpeg(&format!(
            "-f lavfi -i testsrc2=size=96x64:rate={rate}:duration=2 -vf select=not(eq(mod(n\\,7)\\,1)) -fps_mode vfr -c:v mpeg4 \
             -q:v 3 -g 5 -timecode {timecode} in.mov"
        ));
        dir.ffmpeg("-i in.mov -c copy -map 0:v in.mkv");
        for (input, output) in
            [("in.mov", "out.mov"), ("in.mov", "out.mp4"), ("in.mov", "out.mkv"), ("in.mkv", "out.mov")]
        {
            dir.succeeds(&format!("--backend cpu --strict -y {input} {output}"));
            let entries = "-show_entries stream_tags=timecode:format_tags=timecode";
            let told = dir.probe(entries, output).to_string().to_lowercase();
            assert!(told.contains(timecode), "{rate} {timecode} in {input} to {output}: {told}");
            // Matroska stores only the average frame rate.
            if output != "out.mkv" && input == "in.mov" {
                let streams = dir.streams(output);
                let track =
                    streams.iter().find(|stream| stream["codec_tag_string"] == "tmcd").expect("a track of timecode");
                let ratio = |text: &str| {
                    let (over, under) = text.split_once('/').unwrap_or((text, "1"));
                    over.parse::<f64>().expect("a number") / under.parse::<f64>().expect("a number")
                };
                let found = ratio(track["avg_frame_rate"].as_str().expect("a rate"));
                assert!((found / ratio(rate) - 1.0).abs() < 0.0005, "{rate}: {found} in {input} to {output}");
            }
        }
        // A start one second later moves the timecode by one second, even if frames are missing in between.
        dir.succeeds("--backend cpu --start 1.001 -y in.mov out.mov");
        let told = dir.probe("-show_entries stream_tags=timecode", "out.mov").to_string();
        assert!(told.contains("01:02:04"), "{rate} {timecode}: {told}");
    }
}

/// The tags of a file, with lowercase keys.
fn tags(dir: &Dir, file: &str) -> std::collections::BTreeMap<String, String> {
    let tags = dir.probe("-show_format", file)["format"]["tags"].clone();
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    tags.as_object().map_or_else(Default::default, |tags| {
        tags.iter().map(|(key, value)| (key.to_lowercase(), text(value))).collect()
    })
}

#[test]
fn an_output_tells_what_made_it_and_how() {
    let dir = Dir::new();
    film(&dir, "in.mkv", "-c:v mpeg4 -q:v 3", "");
    film(&dir, "told.mkv", "-c:v mpeg4 -q:v 3", "-metadata comment='Said so'");
    let ours = format!("histeq-video {} --", env!("CARGO_PKG_VERSION"));
    for output in ["out.mkv", "out.mp4", "out.mov", "out.avi"] {
        dir.succeeds(&format!("--backend cpu --look haze --smooth 2 in.mkv {output}"));
        let comment = tags(&dir, output).remove("comment").unwrap_or_default();
        assert!(comment.starts_with(&ours) && comment.contains(" --look haze "), "{output}: {comment}");
        assert!(comment.contains(" --smooth 2"), "{output}: {comment}");
        // The options in the comment work on the command line, and give the same comment.
        let options = comment.split_once("--").map_or("", |(_, options)| options);
        dir.succeeds(&format!("--backend cpu -y --{options} in.mkv again-{output}"));
        assert_eq!(tags(&dir, &format!("again-{output}")).remove("comment"), Some(comment), "{output}");
        dir.succeeds(&format!("--backend cpu -y --look haze --no-provenance in.mkv {output}"));
        assert_eq!(tags(&dir, output).remove("comment"), None, "{output}");
    }
    // The comment of the input is kept; Matroska has a separate tag for the settings.
    for output in ["kept.mkv", "kept.mp4"] {
        dir.succeeds(&format!("--backend cpu --look haze told.mkv {output}"));
        let mut kept = tags(&dir, output);
        assert_eq!(kept.remove("comment").as_deref(), Some("Said so"), "{output}");
        let settings = kept.remove("encoder_settings");
        assert_eq!(settings.is_some_and(|settings| settings.starts_with(&ours)), output == "kept.mkv", "{output}");
    }
    // y4m has no metadata, so a pipe gets no settings.
    let raw = dir.succeeds("--backend cpu in.mkv --output-format yuv4mpegpipe -").stdout;
    assert!(raw.starts_with(b"YUV4MPEG2") && !raw.windows(7).any(|bytes| bytes == b"histeq-"));
}

#[test]
fn an_image_tells_what_made_it_and_how() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48 -frames:v 1 in.png");
    let ours = format!("histeq-video {} --", env!("CARGO_PKG_VERSION"));
    let tells = |name: &str| dir.read(name).windows(ours.len()).any(|bytes| bytes == ours.as_bytes());
    for output in ["out.png", "out.jpg", "out.tif", "out.webp"] {
        if output.ends_with("webp") && !encoder_is_here("what made an image", "libwebp") {
            continue;
        }
        dir.succeeds(&format!("--backend cpu --strict in.png {output}"));
        assert!(tells(output), "{output}");
        let told = dir.raw(output, "rgb24");
        dir.succeeds(&format!("--backend cpu --strict -y --no-provenance in.png {output}"));
        assert!(!tells(output), "{output}");
        assert!(told == dir.raw(output, "rgb24"), "{output}: the picture is the same");
    }
}
