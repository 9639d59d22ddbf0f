//! The clock of transport and program streams (PCR, SCR) never passes the decoding time of a later packet, as ISO
//! 13818-1 requires: hardware players discard late packets.

use crate::media::kept::film;
use crate::support::programs::program::Dir;

/// Parses a 33-bit timestamp with marker bits, in ticks of 90 kHz.
fn time(bytes: &[u8]) -> i64 {
    let [a, b, c, d, e] = bytes[..5] else { unreachable!("five bytes") };
    (i64::from(a) >> 1 & 7) << 30 | i64::from(b) << 22 | i64::from(c >> 1) << 15 | i64::from(d) << 7 | i64::from(e >> 1)
}

/// The decoding time (DTS) in a PES header. `header` begins after the packet length.
fn decoding_time(header: &[u8]) -> Option<i64> {
    // An MPEG-1 header begins with stuffing bytes and a buffer size, an MPEG-2 header with flags.
    if header[0] >> 6 != 2 {
        let stuffing = header.iter().take_while(|&&byte| byte == 0xff).count();
        let rest = &header[stuffing + if header[stuffing] >> 6 == 1 { 2 } else { 0 }..];
        return match rest[0] >> 4 {
            2 => Some(time(rest)),
            3 => Some(time(&rest[5..])),
            _ => None,
        };
    }
    match header[1] >> 6 {
        2 => Some(time(&header[3..])),
        3 => Some(time(&header[8..])),
        _ => None,
    }
}

/// For each packet of a transport stream, its decoding time minus the clock, in seconds.
fn margins_of_transport_stream(stream: &[u8]) -> Vec<f64> {
    let (mut clock, mut margins) = (None, Vec::new());
    for packet in stream.chunks_exact(188) {
        let has_field = packet[3] & 0x20 != 0;
        if has_field && packet[4] > 0 && packet[5] & 0x10 != 0 {
            let base = packet[6..10].iter().fold(0i64, |base, &byte| base << 8 | i64::from(byte));
            clock = Some(base << 1 | i64::from(packet[10] >> 7));
        }
        let payload = &packet[if has_field { 5 + usize::from(packet[4]) } else { 4 }..];
        let begins = packet[1] & 0x40 != 0 && payload.starts_with(&[0, 0, 1]) && payload[3] >= 0xbd;
        let due = if begins { decoding_time(&payload[6..]) } else { None };
        margins.extend(due.zip(clock).map(|(due, clock)| (due - clock) as f64 / 90_000.0));
    }
    margins
}

/// For each packet of a program stream, its decoding time minus the clock, in seconds.
fn margins_of_program_stream(stream: &[u8]) -> Vec<f64> {
    let (mut clock, mut margins, mut index) = (None, Vec::new(), 0);
    while index + 14 < stream.len() {
        let here = &stream[index..];
        match here {
            [0, 0, 1, 0xba, first, ..] if first >> 6 == 1 => {
                let bits = here[4..10].iter().fold(0i64, |bits, &byte| bits << 8 | i64::from(byte));
                clock = Some((bits >> 43 & 7) << 30 | (bits >> 27 & 0x7fff) << 15 | bits >> 11 & 0x7fff);
                index += 14 + usize::from(here[13] & 7);
            }
            [0, 0, 1, 0xba, ..] => {
                clock = Some(time(&here[4..]));
                index += 12;
            }
            [0, 0, 1, id @ 0xbb..=0xff, high, low, ..] => {
                let length = usize::from(*high) << 8 | usize::from(*low);
                let is_stream = matches!(id, 0xbd | 0xc0..=0xef);
                let due = if is_stream { decoding_time(&here[6..]) } else { None };
                margins.extend(due.zip(clock).map(|(due, clock)| (due - clock) as f64 / 90_000.0));
                index += 6 + length;
            }
            _ => index += 1,
        }
    }
    margins
}

#[test]
fn what_is_decoded_comes_after_the_clock() {
    let dir = Dir::new();
    film(&dir, "in.mkv", "-c:v mpeg2video -q:v 2 -bf 2", "-c:a mp2");
    film(&dir, "late.ts", "-c:v mpeg2video -q:v 2 -bf 2", "-c:a mp2 -output_ts_offset 40");
    for (input, output) in
        [("in.mkv", "out.ts"), ("late.ts", "late.out.ts"), ("in.mkv", "out.mpg"), ("in.mkv", "out.vob")]
    {
        dir.succeeds(&format!("--backend cpu {input} {output}"));
        let stream = dir.read(output);
        let margins = if output.ends_with("ts") {
            margins_of_transport_stream(&stream)
        } else {
            margins_of_program_stream(&stream)
        };
        assert!(margins.len() > 20, "{output}: {} times", margins.len());
        // Much more than a second would overflow the decoder's buffers.
        assert!(margins.iter().all(|margin| (0.0..1.5).contains(margin)), "{output}: {margins:?}");
    }
}
