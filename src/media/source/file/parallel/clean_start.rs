//! Finds packets that a decoder can begin with: it then gives the same pictures as a decoder that has read everything
//! before.

use crate::ffmpeg::demux::Stream;

/// What the beginning of a packet shows.
#[derive(Default)]
pub struct PacketStart {
    /// Whether no earlier packet is needed for the packet's picture and later ones, except pictures that are shown
    /// before it.
    pub is_clean: bool,
    /// The parameter sets (VPS, SPS, PPS) in the packet.
    pub parameter_sets: Vec<u8>,
}

/// A codec for which clean key frames can be recognized.
#[derive(Clone, Copy)]
pub enum KeyFrameCodec {
    /// H.264. Each NAL unit begins with its length, in this number of bytes; with `None`, with a start code.
    H264(Option<usize>),
    /// HEVC, with the same length bytes or start codes.
    Hevc(Option<usize>),
    /// VP8.
    Vp8,
    /// VP9.
    Vp9,
    /// AV1: only the container marks key frames.
    Av1,
}

impl KeyFrameCodec {
    /// The codec of this video; `None` for codecs not listed here.
    pub fn for_stream(stream: &Stream) -> Option<Self> {
        // A header of mp4 (avcC, hvcC) begins with its version, 1; data with start codes begins with 0.
        let length_bytes = |index: usize| {
            let header = stream.header();
            header.get(index).filter(|_| header[0] == 1).map(|byte| usize::from(byte & 3) + 1)
        };
        match stream.codec.as_str() {
            "h264" => Some(KeyFrameCodec::H264(length_bytes(4))),
            "hevc" => Some(KeyFrameCodec::Hevc(length_bytes(21))),
            "vp8" => Some(KeyFrameCodec::Vp8),
            "vp9" => Some(KeyFrameCodec::Vp9),
            "av1" => Some(KeyFrameCodec::Av1),
            _ => None,
        }
    }

    /// Whether pictures that are shown before a key frame may follow it in the file.
    pub fn may_be_open(self) -> bool {
        matches!(self, KeyFrameCodec::H264(_) | KeyFrameCodec::Hevc(_))
    }

    /// Examines the first picture in a packet. Callers also have to check that the container marks it as a key frame.
    pub fn start(self, packet: &[u8]) -> PacketStart {
        let mut start = PacketStart::default();
        match self {
            KeyFrameCodec::H264(length_bytes) => {
                let mut recovers = false;
                for unit in units(packet, length_bytes).filter(|unit| !unit.is_empty()) {
                    match unit[0] & 31 {
                        kind @ 1..=5 => {
                            start.is_clean = kind == 5 || kind == 1 && recovers;
                            break;
                        }
                        6 => recovers |= is_exact_recovery_point(&bounded(unit)[1..]),
                        7 | 8 => start.parameter_sets.extend_from_slice(bounded(unit)),
                        _ => {}
                    }
                }
            }
            KeyFrameCodec::Hevc(length_bytes) => {
                for unit in units(packet, length_bytes).filter(|unit| unit.len() > 2) {
                    match (unit[0] >> 1) & 63 {
                        kind @ 0..=31 => {
                            // first_slice_segment_in_pic_flag is 1; no_output_of_prior_pics_flag is 0, so no picture is
                            // discarded.
                            start.is_clean = (16..=21).contains(&kind) && unit[2] & 0xc0 == 0x80;
                            break;
                        }
                        32..=34 => start.parameter_sets.extend_from_slice(bounded(unit)),
                        _ => {}
                    }
                }
            }
            KeyFrameCodec::Vp8 => start.is_clean = packet.first().is_some_and(|byte| byte & 1 == 0),
            // show_existing_frame is 0, frame_type is 0 (a key frame), and the profile is 0 to 2.
            KeyFrameCodec::Vp9 => {
                start.is_clean = packet.first().is_some_and(|byte| byte & 0xcc == 0x80 && byte & 0x30 != 0x30);
            }
            KeyFrameCodec::Av1 => start.is_clean = true,
        }
        start
    }
}

/// The NAL units of a packet. With start codes, each slice reaches to the end of the packet: see [`bounded`].
fn units(mut rest: &[u8], length_bytes: Option<usize>) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || match length_bytes {
        Some(count) => {
            let (length, behind) = rest.split_at_checked(count)?;
            let length = length.iter().fold(0, |length, &byte| length << 8 | usize::from(byte));
            let (unit, behind) = behind.split_at_checked(length)?;
            rest = behind;
            Some(unit)
        }
        None => {
            rest = &rest[start_code(rest)? + 3..];
            Some(rest)
        }
    })
}

fn start_code(bytes: &[u8]) -> Option<usize> {
    bytes.windows(3).position(|bytes| bytes == [0, 0, 1])
}

/// A unit up to the next start code, which no unit has inside.
fn bounded(unit: &[u8]) -> &[u8] {
    let end = start_code(unit).unwrap_or(unit.len());
    // A start code of four bytes begins with another zero, and no unit ends with one.
    &unit[..unit[..end].iter().rposition(|&byte| byte != 0).map_or(1, |last| last + 1)]
}

/// Whether this H.264 message (SEI) promises that everything is decoded exactly from its picture on, in the order of
/// display.
fn is_exact_recovery_point(message: &[u8]) -> bool {
    let mut zeros = 0;
    // Emulation prevention: after two zeros, a 3 is inserted.
    let plain = message.iter().copied().filter(|&byte| {
        let is_inserted = zeros >= 2 && byte == 3;
        zeros = if byte == 0 { zeros + 1 } else { 0 };
        !is_inserted
    });
    let plain: Vec<u8> = plain.collect();
    let mut rest = plain.iter().copied();
    let number = |rest: &mut dyn Iterator<Item = u8>| {
        let mut sum = 0;
        loop {
            let byte = rest.next()?;
            sum += usize::from(byte);
            if byte < 255 {
                return Some(sum);
            }
        }
    };
    while let (Some(kind), Some(length)) = (number(&mut rest), number(&mut rest)) {
        let first = rest.next();
        if kind == 6 {
            // recovery_frame_cnt is 0 (the bit 1 in Exp-Golomb code), and exact_match_flag is 1.
            return first.is_some_and(|byte| byte & 0xc0 == 0xc0);
        }
        if length > 1 && rest.nth(length - 2).is_none() {
            break;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETS: [&[u8]; 2] = [&[0x67, 100, 0, 31], &[0x68, 0xee, 0x3c]];
    /// A unit with an SEI message of 300 bytes, with an emulation prevention byte, and a recovery point.
    fn message(recovery: u8) -> Vec<u8> {
        [&[0x06, 5, 255, 45][..], &[0, 0, 3, 0, 0, 3, 1], &[7; 295], &[6, 1, recovery, 0x80]].concat()
    }

    /// The same units as two packets: with length fields, and with start codes.
    fn packets(units: &[&[u8]]) -> [(KeyFrameCodec, Vec<u8>); 2] {
        let with_lengths = units.iter().flat_map(|unit| [&(unit.len() as u32).to_be_bytes()[..], unit].concat());
        let with_codes = units.iter().flat_map(|unit| [&[0, 0, 0, 1][..], unit].concat());
        [(KeyFrameCodec::H264(Some(4)), with_lengths.collect()), (KeyFrameCodec::H264(None), with_codes.collect())]
    }

    #[test]
    fn a_recovery_point_is_a_clean_start_only_if_it_is_exact_and_at_once() {
        for (recovery, is_clean) in [(0xc4, true), (0x84, false), (0x44, false)] {
            for (codec, packet) in packets(&[SETS[0], SETS[1], &message(recovery), &[0x61, 0x88, 0x84, 0, 0, 0]]) {
                let start = codec.start(&packet);
                assert_eq!((start.is_clean, start.parameter_sets), (is_clean, SETS.concat()), "{recovery:#x}");
            }
        }
        for (kind, is_clean) in [(0x65, true), (0x61, false)] {
            for (codec, packet) in packets(&[&[9, 0x10], &[kind, 0x88]]) {
                let start = codec.start(&packet);
                assert_eq!((start.is_clean, start.parameter_sets.len()), (is_clean, 0), "{kind:#x}");
            }
        }
    }

    #[test]
    fn bytes_that_are_no_packet_are_no_clean_start() {
        let (_, whole) = &packets(&[SETS[0], &message(0xc4), &[0x65, 0x88]])[0];
        for codec in [
            KeyFrameCodec::H264(Some(4)),
            KeyFrameCodec::H264(None),
            KeyFrameCodec::Hevc(None),
            KeyFrameCodec::Hevc(Some(2)),
        ] {
            for length in 0..whole.len() - 2 {
                assert!(!codec.start(&whole[..length]).is_clean, "{length}");
            }
        }
    }
}
