//! The header of a YUV4MPEG2 stream: `YUV4MPEG2 W1920 H1080 F30000:1001 Ip A1:1 C420jpeg XCOLORRANGE=LIMITED`.
//!
//! The tags are those of mjpegtools and of FFmpeg (libavformat/yuv4mpegdec.c and yuv4mpegenc.c). Samples of two bytes
//! are little-endian.

use super::RawVideo;
use crate::ffmpeg::{ChromaLocation, Rational};
use anyhow::{Result, anyhow, bail, ensure};
use histeq::internal::frame::{PixelFormat, Range};
use std::fmt::Write;

/// The magic word of a stream.
pub const HEADER: &[u8] = b"YUV4MPEG2";

/// The magic word of a frame.
pub const FRAME: &[u8] = b"FRAME";

/// The longest header line that is read, in bytes; other programs write far shorter ones.
pub const MAX_LINE: usize = 4096;

/// The longest header that all readers accept, in bytes.
const SHORT: usize = 96;

/// Chroma tags with their pixel format and chroma location. The first tag of a format is its default in writing. mono14
/// is left out, because FFmpeg reads it as mono.
const TAGS: &[(&str, PixelFormat, ChromaLocation)] = {
    use ChromaLocation::{Center, Left, TopLeft, Unspecified};
    use PixelFormat::*;
    &[
        ("420jpeg", Yuv420p, Center),
        ("420mpeg2", Yuv420p, Left),
        ("420paldv", Yuv420p, TopLeft),
        ("420", Yuv420p, Center),
        ("411", Yuv411p, Unspecified),
        ("422", Yuv422p, Unspecified),
        ("444", Yuv444p, Unspecified),
        ("mono", Gray, Unspecified),
        ("420p9", Yuv420p9le, Unspecified),
        ("422p9", Yuv422p9le, Unspecified),
        ("444p9", Yuv444p9le, Unspecified),
        ("mono9", Gray9le, Unspecified),
        ("420p10", Yuv420p10le, Unspecified),
        ("422p10", Yuv422p10le, Unspecified),
        ("444p10", Yuv444p10le, Unspecified),
        ("mono10", Gray10le, Unspecified),
        ("420p12", Yuv420p12le, Unspecified),
        ("422p12", Yuv422p12le, Unspecified),
        ("444p12", Yuv444p12le, Unspecified),
        ("mono12", Gray12le, Unspecified),
        ("420p14", Yuv420p14le, Unspecified),
        ("422p14", Yuv422p14le, Unspecified),
        ("444p14", Yuv444p14le, Unspecified),
        ("420p16", Yuv420p16le, Unspecified),
        ("422p16", Yuv422p16le, Unspecified),
        ("444p16", Yuv444p16le, Unspecified),
        ("mono16", Gray16le, Unspecified),
    ]
};

/// Whether a y4m stream can carry this format.
pub fn is_carried(format: PixelFormat) -> bool {
    TAGS.iter().any(|(_, carried, _)| *carried == format)
}

/// Parses a header line.
///
/// # Errors
/// When it is not a header, or is not supported.
pub fn parse(line: &[u8]) -> Result<RawVideo> {
    let line = String::from_utf8_lossy(line);
    let mut words = line.split_ascii_whitespace();
    ensure!(words.next().map(str::as_bytes) == Some(HEADER), "not a y4m stream");
    let (mut width, mut height) = (None, None);
    let mut video = RawVideo {
        format: PixelFormat::Yuv420p,
        size: (0, 0),
        rate: Rational::new(25, 1),
        range: None,
        sample_aspect_ratio: None,
        interlaced: None,
        chroma_location: ChromaLocation::Unspecified,
    };
    for word in words {
        let (tag, value) = word.split_at_checked(1).unwrap_or((word, ""));
        let nonsense = || anyhow!("y4m header: {word} makes no sense");
        match tag {
            "W" => width = Some(value.parse::<u16>().map_err(|_| nonsense())?),
            "H" => height = Some(value.parse::<u16>().map_err(|_| nonsense())?),
            // 0:0 means an unknown rate.
            "F" => video.rate = ratio(value).ok_or_else(nonsense)?.unwrap_or(video.rate),
            "A" => video.sample_aspect_ratio = ratio(value).ok_or_else(nonsense)?,
            "I" => {
                video.interlaced = match value {
                    "t" => Some(true),
                    "b" => Some(false),
                    // Progressive, unknown, or given in each frame ("m").
                    _ => None,
                }
            }
            "C" => (video.format, video.chroma_location) = chroma(value)?,
            "X" => match value {
                "COLORRANGE=FULL" => video.range = Some(Range::Full),
                "COLORRANGE=LIMITED" => video.range = Some(Range::Limited),
                // A comment, or a copy of the chroma tag ("YSCSS").
                _ => {}
            },
            _ => {}
        }
    }
    match (width, height) {
        (Some(width @ 1..), Some(height @ 1..)) => Ok(RawVideo { size: (width.into(), height.into()), ..video }),
        _ => bail!("y4m header: no width or no height"),
    }
}

fn chroma(tag: &str) -> Result<(PixelFormat, ChromaLocation)> {
    match TAGS.iter().find(|(known, ..)| *known == tag) {
        Some((_, format, location)) => Ok((*format, *location)),
        None if tag.contains("alpha") => bail!("y4m with alpha ({tag}) is not supported (convert it to 444 first)"),
        None => bail!("y4m chroma {tag} is not known"),
    }
}

/// Parses a ratio such as `30000:1001`; `Some(None)` for a zero, which means "unknown".
fn ratio(text: &str) -> Option<Option<Rational>> {
    let (numerator, denominator) = text.split_once(':')?;
    let (numerator, denominator): (u32, u32) = (numerator.parse().ok()?, denominator.parse().ok()?);
    let (numerator, denominator) = (i32::try_from(numerator).ok()?, i32::try_from(denominator).ok()?);
    Some((numerator > 0 && denominator > 0).then(|| Rational::new(numerator, denominator)))
}

/// The header line of `video`, with its line end; `None` for a format that y4m cannot carry.
pub fn header(video: &RawVideo) -> Option<String> {
    let of_format = |(_, format, _): &&(&str, PixelFormat, ChromaLocation)| *format == video.format;
    let exact = TAGS.iter().filter(of_format).find(|(.., location)| *location == video.chroma_location);
    let (tag, ..) = exact.or_else(|| TAGS.iter().find(of_format))?;
    let mut line = format!("{} W{} H{}", String::from_utf8_lossy(HEADER), video.size.0, video.size.1);
    let mut add = |text: std::fmt::Arguments| line.write_fmt(text).expect("a String takes everything");
    add(format_args!(" F{}:{}", video.rate.numerator(), video.rate.denominator()));
    let interlacing = match video.interlaced {
        None => "p",
        Some(true) => "t",
        Some(false) => "b",
    };
    add(format_args!(" I{interlacing}"));
    let aspect = video.sample_aspect_ratio.map_or((0, 0), |ratio| (ratio.numerator(), ratio.denominator()));
    add(format_args!(" A{}:{} C{tag}", aspect.0, aspect.1));
    // Older readers read the chroma format only from this comment.
    let comment = match video.format {
        PixelFormat::Gray => String::new(),
        _ if tag.starts_with("mono") => String::new(),
        _ => format!(" XYSCSS={}", tag.to_ascii_uppercase()),
    };
    let range = match video.range {
        Some(Range::Full) => " XCOLORRANGE=FULL",
        Some(Range::Limited) => " XCOLORRANGE=LIMITED",
        None => "",
    };
    if line.len() + comment.len() + range.len() + 1 < SHORT {
        line.push_str(&comment);
    }
    line.push_str(range);
    line.push('\n');
    Some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        for &(_, format, chroma_location) in TAGS {
            for range in [None, Some(Range::Full), Some(Range::Limited)] {
                for interlaced in [None, Some(true), Some(false)] {
                    let sample_aspect_ratio = Some(Rational::new(64, 45));
                    let rate = Rational::new(30000, 1001);
                    let size = (1920, 1080);
                    let video =
                        RawVideo { format, size, rate, range, sample_aspect_ratio, interlaced, chroma_location };
                    let line = header(&video).unwrap();
                    assert!(line.len() <= SHORT, "{line}");
                    assert_eq!(parse(line.trim_end().as_bytes()).unwrap(), video, "{line}");
                }
            }
        }
    }

    #[test]
    fn a_header_without_chroma_is_420_and_an_unknown_rate_is_25() {
        let video = parse(b"YUV4MPEG2 W16 H8 F0:0 A0:0").unwrap();
        assert_eq!((video.format, video.size, video.rate), (PixelFormat::Yuv420p, (16, 8), Rational::new(25, 1)));
        assert_eq!((video.sample_aspect_ratio, video.interlaced, video.range), (None, None, None));
    }

    #[test]
    fn the_error_names_the_fault_of_a_header() {
        for (header, error) in [
            (&b"RIFF"[..], "not a y4m stream"),
            (b"YUV4MPEG2 W16", "y4m header: no width or no height"),
            (b"YUV4MPEG2 W0 H16", "y4m header: no width or no height"),
            (b"YUV4MPEG2 Wx H16", "y4m header: Wx makes no sense"),
            (b"YUV4MPEG2 W16 H16 C444alpha", "y4m with alpha (444alpha) is not supported (convert it to 444 first)"),
            (b"YUV4MPEG2 W16 H16 C999", "y4m chroma 999 is not known"),
        ] {
            assert_eq!(parse(header).unwrap_err().to_string(), error);
        }
    }
}
