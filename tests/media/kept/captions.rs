//! Closed captions inside of the video stream (ATSC A/53).

use crate::support::media::reader::{encoder_is_here, list};
use crate::support::programs::program::Dir;

/// An H.264 SEI message with captions: registered user data (type 4) of the ATSC, with one pair of caption bytes.
fn caption_message() -> Vec<u8> {
    let payload = [0xb5, 0x00, 0x31, b'G', b'A', b'9', b'4', 0x03, 0xc1, 0xff, 0xfc, 0x94, 0x2c, 0xff];
    let mut message = vec![0, 0, 0, 1, 0x06, 0x04, payload.len() as u8];
    message.extend(payload);
    message.push(0x80);
    message
}

/// Inserts a caption message after each access unit delimiter of an Annex B stream.
fn with_captions(stream: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut index = 0;
    while index < stream.len() {
        // A delimiter is a start code, 0x09 and one more byte.
        if stream[index..].starts_with(&[0, 0, 0, 1, 0x09]) {
            out.extend(&stream[index..index + 6]);
            out.extend(caption_message());
            index += 6;
        } else {
            out.push(stream[index]);
            index += 1;
        }
    }
    out
}

#[test]
fn closed_captions_are_kept() {
    if !encoder_is_here("closed captions", "libx264") {
        return;
    }
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=96x64:rate=25 -frames:v 10 -c:v libx264 -bf 0 -x264-params aud=1 plain.h264");
    dir.write("in.h264", &with_captions(&dir.read("plain.h264")));
    dir.ffmpeg("-i in.h264 -c copy -bsf:v setts=pts=N*48000:dts=N*48000 in.ts");
    let captioned = |file: &str| {
        let is_caption = |side: &serde_json::Value| {
            side["side_data_type"].as_str().is_some_and(|name| name.contains("Closed Captions"))
        };
        dir.frames(file).iter().filter(|frame| list(&frame["side_data_list"]).iter().any(is_caption)).count()
    };
    assert_eq!(captioned("in.ts"), 10, "the clip has captions");
    for output in ["out.ts", "out.mkv", "out.mp4"] {
        dir.succeeds(&format!("--backend cpu in.ts {output}"));
        assert_eq!(captioned(output), 10, "{output}");
    }
}
