//! The header of a YUV4MPEG2 stream: `YUV4MPEG2 W1920 H1080 F30000:1001 Ip A1:1 C420jpeg XCOLORRANGE=LIMITED`.
//!
//! The tags are those of mjpegtools and of FFmpeg (libavformat/yuv4mpegdec.c and yuv4mpegenc.c), which other programs
//! follow. Numbers of two bytes are little-endian.

use super::RawVideo;
use crate::ffmpeg::{Rational, Siting};
use crate::frame::{PixelFormat, Range};
use std::fmt::Write;

/// What a stream begins with.
pub const HEADER: &[u8] = b"YUV4MPEG2";

/// What each frame begins with.
pub const FRAME: &[u8] = b"FRAME";

/// No line of a stream is longer than this; those of other programs are far shorter.
pub const LONGEST_LINE: usize = 4096;

/// Some readers take no longer header than this.
const SHORT: usize = 96;

/// A header that describes nothing that we can read.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum HeaderError {
    /// It does not begin as it should.
    #[error("not a y4m stream")]
    NotY4m,
    /// A parameter that makes no sense.
    #[error("y4m header: {0} makes no sense")]
    Nonsense(String),
    /// No width or no height.
    #[error("y4m header: no width or no height")]
    NoSize,
    /// Alpha, which the format can name but hardly anybody reads.
    #[error("y4m with alpha ({0}) is not supported (convert it to 444 first)")]
    Alpha(String),
    /// Another chroma tag than those known.
    #[error("y4m chroma {0} is not known")]
    Chroma(String),
}

/// Chroma tags and what they stand for; the first of a format is the one that is written. There is no mono14: FFmpeg
/// takes it for mono.
const TAGS: &[(&str, PixelFormat, Option<Siting>)] = {
    use PixelFormat::*;
    &[
        ("420jpeg", Yuv420p, Some(Siting::Center)),
        ("420mpeg2", Yuv420p, Some(Siting::Left)),
        ("420paldv", Yuv420p, Some(Siting::TopLeft)),
        ("420", Yuv420p, Some(Siting::Center)),
        ("411", Yuv411p, None),
        ("422", Yuv422p, None),
        ("444", Yuv444p, None),
        ("mono", Gray, None),
        ("420p9", Yuv420p9le, None),
        ("422p9", Yuv422p9le, None),
        ("444p9", Yuv444p9le, None),
        ("mono9", Gray9le, None),
        ("420p10", Yuv420p10le, None),
        ("422p10", Yuv422p10le, None),
        ("444p10", Yuv444p10le, None),
        ("mono10", Gray10le, None),
        ("420p12", Yuv420p12le, None),
        ("422p12", Yuv422p12le, None),
        ("444p12", Yuv444p12le, None),
        ("mono12", Gray12le, None),
        ("420p14", Yuv420p14le, None),
        ("422p14", Yuv422p14le, None),
        ("444p14", Yuv444p14le, None),
        ("420p16", Yuv420p16le, None),
        ("422p16", Yuv422p16le, None),
        ("444p16", Yuv444p16le, None),
        ("mono16", Gray16le, None),
    ]
};

/// Can a y4m stream carry this format?
pub fn is_carried(format: PixelFormat) -> bool {
    TAGS.iter().any(|(_, carried, _)| *carried == format)
}

/// What a header line says.
///
/// # Errors
/// When it is not a header, or describes what cannot be read.
pub fn parse(line: &[u8]) -> Result<RawVideo, HeaderError> {
    let line = String::from_utf8_lossy(line);
    let mut words = line.split_ascii_whitespace();
    if words.next().map(str::as_bytes) != Some(HEADER) {
        return Err(HeaderError::NotY4m);
    }
    let (mut width, mut height) = (None, None);
    let mut video = RawVideo {
        format: PixelFormat::Yuv420p,
        size: (0, 0),
        rate: Rational::new(25, 1),
        range: None,
        sample_aspect_ratio: None,
        interlaced: None,
        siting: None,
    };
    for word in words {
        let (tag, value) = word.split_at_checked(1).unwrap_or((word, ""));
        let nonsense = || HeaderError::Nonsense(word.to_owned());
        match tag {
            "W" => width = Some(value.parse::<u16>().map_err(|_| nonsense())?),
            "H" => height = Some(value.parse::<u16>().map_err(|_| nonsense())?),
            // 0:0 says that the rate is not known.
            "F" => video.rate = ratio(value).ok_or_else(nonsense)?.unwrap_or(video.rate),
            "A" => video.sample_aspect_ratio = ratio(value).ok_or_else(nonsense)?,
            "I" => {
                video.interlaced = match value {
                    "t" => Some(true),
                    "b" => Some(false),
                    // Progressive, unknown, or told by each frame ("m").
                    _ => None,
                }
            }
            "C" => (video.format, video.siting) = chroma(value)?,
            "X" => match value {
                "COLORRANGE=FULL" => video.range = Some(Range::Full),
                "COLORRANGE=LIMITED" => video.range = Some(Range::Limited),
                // A comment, or the chroma tag over again ("YSCSS").
                _ => {}
            },
            _ => {}
        }
    }
    match (width, height) {
        (Some(width @ 1..), Some(height @ 1..)) => Ok(RawVideo { size: (width.into(), height.into()), ..video }),
        _ => Err(HeaderError::NoSize),
    }
}

fn chroma(tag: &str) -> Result<(PixelFormat, Option<Siting>), HeaderError> {
    match TAGS.iter().find(|(known, ..)| *known == tag) {
        Some((_, format, siting)) => Ok((*format, *siting)),
        None if tag.contains("alpha") => Err(HeaderError::Alpha(tag.to_owned())),
        None => Err(HeaderError::Chroma(tag.to_owned())),
    }
}

/// `30000:1001`; `Some(None)` for a zero, which stands for "unknown".
fn ratio(text: &str) -> Option<Option<Rational>> {
    let (numerator, denominator) = text.split_once(':')?;
    let (numerator, denominator): (u32, u32) = (numerator.parse().ok()?, denominator.parse().ok()?);
    let (numerator, denominator) = (i32::try_from(numerator).ok()?, i32::try_from(denominator).ok()?);
    Some((numerator > 0 && denominator > 0).then(|| Rational::new(numerator, denominator)))
}

/// The header line of `video`, with its line end; `None` for a format that y4m cannot carry.
pub fn header(video: &RawVideo) -> Option<String> {
    let of_format = |(_, format, _): &&(&str, PixelFormat, Option<Siting>)| *format == video.format;
    let with_siting = TAGS.iter().filter(of_format).find(|(.., siting)| siting.is_some() && *siting == video.siting);
    let (tag, ..) = with_siting.or_else(|| TAGS.iter().find(of_format))?;
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
    // Older readers know the chroma by this comment only.
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
        for &(_, format, siting) in TAGS {
            for range in [None, Some(Range::Full), Some(Range::Limited)] {
                for interlaced in [None, Some(true), Some(false)] {
                    let sample_aspect_ratio = Some(Rational::new(64, 45));
                    let rate = Rational::new(30000, 1001);
                    let size = (1920, 1080);
                    let video = RawVideo { format, size, rate, range, sample_aspect_ratio, interlaced, siting };
                    let line = header(&video).unwrap();
                    assert!(line.len() <= SHORT, "{line}");
                    assert_eq!(parse(line.trim_end().as_bytes()), Ok(video), "{line}");
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
    fn bad_headers_say_what_is_wrong() {
        assert_eq!(parse(b"RIFF"), Err(HeaderError::NotY4m));
        assert_eq!(parse(b"YUV4MPEG2 W16"), Err(HeaderError::NoSize));
        assert_eq!(parse(b"YUV4MPEG2 W0 H16"), Err(HeaderError::NoSize));
        assert_eq!(parse(b"YUV4MPEG2 Wx H16"), Err(HeaderError::Nonsense("Wx".to_owned())));
        assert_eq!(parse(b"YUV4MPEG2 W16 H16 C444alpha"), Err(HeaderError::Alpha("444alpha".to_owned())));
        assert_eq!(parse(b"YUV4MPEG2 W16 H16 C999"), Err(HeaderError::Chroma("999".to_owned())));
    }
}
