//! The media type of a file with its codec (RFC 6381), by which the page asks the browser whether it can play the file.

use crate::web::http::bodies;
use histeq_media::ffmpeg::demux::Stream;
use std::path::Path;

/// The media type of a file by its name and video stream, for `canPlayType`; `None` where only trying tells whether a
/// browser plays it.
pub fn media_type(name: &Path, video: &Stream) -> Option<String> {
    let kind = bodies::kind(name);
    let codec = match kind {
        "video/webm" if matches!(video.codec.as_str(), "vp8" | "vp9") => video.codec.clone(),
        "video/webm" | "video/mp4" => codec(&video.codec, video.header())?,
        // For Matroska, the answer of `canPlayType` is unreliable.
        _ => return None,
    };
    Some(format!("{kind}; codecs=\"{codec}\""))
}

/// The codec with profile and level, by its name and its header in MP4 (ISO/IEC 14496-15, AV1 in ISOBMFF).
fn codec(name: &str, header: &[u8]) -> Option<String> {
    match (name, header) {
        ("h264", [1, profile, constraints, level, ..]) => {
            Some(format!("avc1.{profile:02X}{constraints:02X}{level:02X}"))
        }
        ("hevc", [1, profile, a, b, c, d, constraints @ ..]) if constraints.len() > 6 => {
            let space = ["", "A", "B", "C"][usize::from(profile >> 6)];
            let tier = if profile & 0x20 == 0 { 'L' } else { 'H' };
            let flags = u32::from_be_bytes([*a, *b, *c, *d]).reverse_bits();
            let (constraints, level) = (&constraints[..6], constraints[6]);
            let used = constraints.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
            let constraints: String = constraints[..used].iter().map(|byte| format!(".{byte:X}")).collect();
            Some(format!("hvc1.{space}{}.{flags:X}.{tier}{level}{constraints}", profile & 0x1F))
        }
        ("av1", [0x81, first, second, ..]) => {
            let tier = if second & 0x80 == 0 { 'M' } else { 'H' };
            let depth = match second & 0x60 {
                0 => 8,
                0x40 => 10,
                _ => 12,
            };
            Some(format!("av01.{}.{:02}{tier}.{depth:02}", first >> 5, first & 0x1F))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::codec;

    #[test]
    fn codecs_are_named_as_browsers_know_them() {
        let main_10 = [1, 2, 0x20, 0, 0, 0, 0x90, 0, 0, 0, 0, 0, 120, 0xF0];
        let main = [1, 0x21, 0x60, 0, 0, 0, 0xB0, 0, 0, 1, 0, 0, 93];
        for (name, header, expected) in [
            ("h264", &[1, 0x64, 0, 0x28, 0xFF][..], Some("avc1.640028")),
            ("hevc", &main_10[..], Some("hvc1.2.4.L120.90")),
            ("hevc", &main[..], Some("hvc1.1.6.H93.B0.0.0.1")),
            ("av1", &[0x81, 0x08, 0x4C, 0][..], Some("av01.0.08M.10")),
            ("av1", &[0x81, 0x28, 0x80, 0][..], Some("av01.1.08H.08")),
            // No type: start codes instead of a header, as in broadcasts; a truncated header; no header; a codec that
            // browsers lack.
            ("h264", &[0, 0, 0, 1, 0x67][..], None),
            ("hevc", &main[..12], None),
            ("h264", &[][..], None),
            ("prores", &[1, 2, 3, 4, 5, 6][..], None),
        ] {
            assert_eq!(codec(name, header).as_deref(), expected, "{name} {header:?}");
        }
    }
}
