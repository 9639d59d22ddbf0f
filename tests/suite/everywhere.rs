//! Outputs that work everywhere: what players, browsers and pipes need of a file.

use crate::interrupt::interrupted;
use crate::program::Dir;
use crate::reader::encoder_is_here;

/// The types of the boxes of an mp4 or mov file, in order.
fn boxes(bytes: &[u8]) -> Vec<String> {
    let (mut types, mut at) = (Vec::new(), 0);
    while let Some([a, b, c, d, kind @ ..]) = bytes.get(at..at + 8) {
        types.push(String::from_utf8_lossy(kind).into_owned());
        at += u32::from_be_bytes([*a, *b, *c, *d]).max(8) as usize;
    }
    types
}

#[track_caller]
fn is_index_in_front(dir: &Dir, name: &str) -> bool {
    let boxes = boxes(&dir.read(name));
    let place = |kind: &str| boxes.iter().position(|other| other == kind).unwrap_or_else(|| panic!("{boxes:?}"));
    place("moov") < place("mdat")
}

fn with_clip() -> Dir {
    let dir = Dir::new();
    dir.ffmpeg(
        "-f lavfi -i testsrc2=size=96x64:rate=25 -f lavfi -i sine -t 1 -c:v mpeg4 -c:a aac -metadata mood=calm in.mkv",
    );
    dir
}

#[test]
fn mp4_and_mov_have_their_index_in_front_unless_told_otherwise() {
    let dir = with_clip();
    for container in ["mp4", "mov", "m4v", "3gp"] {
        let sound = if container == "3gp" { "--encoder mpeg4 " } else { "" };
        dir.succeeds(&format!("{sound}--sandbox on in.mkv out.{container}"));
        assert!(is_index_in_front(&dir, &format!("out.{container}")), "{container}");
        dir.succeeds(&format!("{sound}--output-option movflags=-faststart in.mkv behind.{container}"));
        assert!(!is_index_in_front(&dir, &format!("behind.{container}")), "{container}");
    }
    // What the program asks for itself stays: metadata of any key.
    for name in ["out.mp4", "behind.mp4"] {
        let tags = dir.tool("ffprobe", &format!("-v error -show_entries format_tags=mood -of csv=p=0 {name}"), None);
        assert_eq!(String::from_utf8_lossy(&tags.stdout).trim(), "calm", "{name}");
    }
}

#[test]
fn our_own_mp4_comes_through_our_own_stdin() {
    let dir = with_clip();
    dir.succeeds("--exact --encoder mpeg4 in.mkv own.mp4");
    dir.succeeds("--exact --encoder ffv1 own.mp4 named.mkv");
    let mp4 = dir.read("own.mp4");
    dir.fed("--exact --encoder ffv1 - piped.mkv", &mp4).exits_with(0);
    let streams = |name: &str| {
        dir.tool("ffprobe", &format!("-v error -show_entries stream=codec_name -of csv=p=0 {name}"), None).stdout
    };
    assert_eq!(streams("piped.mkv"), streams("named.mkv"));
    assert_eq!(dir.frames("piped.mkv"), dir.frames("named.mkv"));
}

#[test]
fn options_reach_the_container_and_unknown_ones_are_named() {
    let dir = with_clip();
    dir.succeeds("--output-option brand=isom in.mkv out.mp4");
    assert_eq!(&dir.read("out.mp4")[8..12], b"isom");
    dir.run("--output-option colour=blue in.mkv no.mp4").exits_with(1).says(&["container mp4 has no option colour"]);
    dir.run("--output-option brand=isom in.mkv no.y4m").exits_with(1).says(&[
        "raw frames",
        "brand",
        "drop --output-option",
    ]);
    assert_eq!(dir.names(), ["in.mkv", "out.mp4"]);
}

#[test]
fn a_partial_mp4_is_playable_and_has_its_index_in_front() {
    if !encoder_is_here("interrupting", "libx264") {
        return;
    }
    let dir = Dir::new();
    let (code, said) = interrupted(&dir, "OPTIONS long.mkv out.mp4");
    assert_eq!(code, Some(130), "{said}");
    assert_eq!(dir.names(), ["long.mkv", "out.partial.mp4"]);
    assert!(is_index_in_front(&dir, "out.partial.mp4"));
    assert!((5..2000).contains(&dir.frames("out.partial.mp4").len()));
}
