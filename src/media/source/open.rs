//! Detects the kind of an input, and opens its source.

use super::file::{FileInput, FileSource, images_by_name, sequence_of};
use super::filter::filtered::in_sdr;
use super::isolated;
use super::options::{InputOptions, Isolation, RawOptions, check_size};
use super::raw::RawSource;
use crate::ffmpeg::decode::DecodeOn;
use crate::ffmpeg::demux::OpenError;
use crate::ffmpeg::frame::RawFormat;
use crate::ffmpeg::{ChromaLocation, Rational};
use crate::pipeline::{Cancel, FailureKind, Input, Interrupted, Notices, Progress, Source};
use crate::rawvideo::{self, HEADER, MAX_LINE, RawVideo};
use crate::sys::files::{note_input, open_regular, open_without_links};
use crate::sys::io::{Reader, is_pipe};
use crate::sys::without_password;
use anyhow::{Context, Result, ensure};
use histeq::internal::frame::Range;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// Opens the input.
///
/// # Errors
/// When it cannot be opened, is no video, or is raw video without a size or a pixel format.
pub fn open(
    options: &InputOptions,
    cancel: &Cancel,
    notices: Notices,
    progress: Arc<Progress>,
) -> Result<(Box<dyn Source>, Input)> {
    note_input(options.url.bytes());
    let mut opened = open_by_kind(options, cancel, notices.clone(), progress).map_err(|error| {
        // An interrupted open fails with misleading errors: report the interrupt.
        if cancel.is_cancelled() { Interrupted(name_of(options).into()).into() } else { error }
    })?;
    if options.url != "-" {
        opened.1.name = without_password(&options.url);
    }
    if options.to_sdr { in_sdr(opened, &notices) } else { Ok(opened) }
}

fn open_by_kind(
    options: &InputOptions,
    cancel: &Cancel,
    notices: Notices,
    progress: Arc<Progress>,
) -> Result<(Box<dyn Source>, Input)> {
    let name = &*name_of(options);
    let raw = |reader, video: RawVideo, framed| {
        check_size(name, video.size, &options.limits)?;
        ensure!(options.decode_on == DecodeOn::Cpu, "{name}: raw frames need no decoder (leave --decoder nvdec out)");
        let source = RawSource::new(reader, name, video, framed, options, notices.clone(), progress.clone());
        let input = source.input.clone();
        Ok((Box::new(source) as Box<dyn Source>, input))
    };
    let format = options.format.as_deref();
    let is_by_name = !options.without_links && !is_pipe(&options.url);
    let has_y4m_name = options.url.path().extension().is_some_and(|extension| extension == "y4m");
    let is_y4m_file = || format.is_none() && (has_y4m_name || begins_with(options.url.path(), [HEADER]));
    if is_by_name && !is_y4m_file() && !matches!(format, Some("rawvideo" | "yuv4mpegpipe")) {
        return open_file(options, name, None, cancel, notices, progress);
    }
    // Wrong options are reported before the wait for a pipe.
    let video = if format == Some("rawvideo") { Some(described(name, &options.raw)?) } else { None };
    let reader = match options.without_links {
        true => open_without_links(options.url.path()).map(|file| Reader::new(file, cancel.flag())),
        false => Reader::open(&options.url, cancel.flag()),
    };
    let mut reader = reader.with_context(|| name.to_owned())?;
    if reader.peek(1).with_context(|| name.to_owned())?.is_empty() {
        return Err(FailureKind::Missing.error(format!("{name}: no data received")));
    }
    if let Some(video) = video {
        return raw(reader, video, false);
    }
    let begins_as_y4m = format.is_none() && reader.peek(HEADER.len()).with_context(|| name.to_owned())? == HEADER;
    if begins_as_y4m || format == Some("yuv4mpegpipe") {
        let line = reader.line(MAX_LINE).with_context(|| name.to_owned())?;
        let line = line.with_context(|| format!("{name}: not a y4m stream, or its header has no end"))?;
        let video = rawvideo::parse(&line).with_context(|| name.to_owned())?;
        return raw(reader, video, true);
    }
    open_file(options, name, Some(reader), cancel, notices, progress)
}

/// The error of a pipe that FFmpeg does not recognize, with a hint how to describe raw frames, which it most likely
/// holds. `is_named`: the user gave a format.
pub(super) fn with_hint(error: anyhow::Error, is_named: bool) -> anyhow::Error {
    let hint = "raw frames have to be described: -f rawvideo -s WxH --pixel-format yuv420p -r 25";
    let may_be_raw = !is_named && !error.is::<OpenError>();
    if may_be_raw { FailureKind::Damage.error(format!("{error:#} ({hint})")) } else { error }
}

/// Opens what FFmpeg reads, from `reader` if there is one; in a process of its own if the options ask for one.
fn open_file(
    options: &InputOptions,
    name: &str,
    reader: Option<Reader>,
    cancel: &Cancel,
    notices: Notices,
    progress: Arc<Progress>,
) -> Result<(Box<dyn Source>, Input)> {
    let origin = match (reader, sequence_of(options, &notices)?) {
        (Some(mut reader), _) => match reader.whole_file() {
            Some(file) => FileInput::File(file),
            None => FileInput::Pipe(reader),
        },
        (None, Some(sequence)) => FileInput::Images(sequence, images_by_name(&options.url)),
        (None, None) => FileInput::Url,
    };
    if options.isolation != Isolation::Off && isolated::is_ready() {
        let opened = isolated::open_file(options, name, origin, cancel, notices, progress);
        return opened.map_err(|error| match is_playlist(options.url.path()) {
            true => error.context(
                "the sandbox opens no file that a playlist names (say with -f that it is one, or use --sandbox off)",
            ),
            false => error,
        });
    }
    let is_pipe = matches!(origin, FileInput::Pipe(_));
    ensure!(
        options.isolation != Isolation::Required,
        "{name}: --sandbox on: no process to decode in could be started (--sandbox auto goes on without)"
    );
    let source = FileSource::open(options.clone(), name, origin, cancel, notices, progress);
    let source = source.map_err(|error| if is_pipe { with_hint(error, options.format.is_some()) } else { error })?;
    let input = source.input.clone();
    Ok((Box::new(source), input))
}

/// Whether this file begins as a playlist does.
fn is_playlist(path: &Path) -> bool {
    begins_with(path, [&b"#EXTM3U"[..], b"ffconcat"])
}

/// Whether `path` is a regular file that begins with one of `all`.
fn begins_with<'a>(path: &Path, all: impl IntoIterator<Item = &'a [u8]>) -> bool {
    let mut begin = Vec::new();
    let read = open_regular(path).and_then(|file| file.take(16).read_to_end(&mut begin));
    read.is_ok() && all.into_iter().any(|with| begin.starts_with(with))
}

/// The name of the input in messages.
fn name_of(options: &InputOptions) -> String {
    if options.url == "-" { "stdin".to_owned() } else { without_password(&options.url).to_string() }
}

/// The properties of raw video from the options.
fn described(name: &str, options: &RawOptions) -> Result<RawVideo> {
    let (Some(size), Some(pixel_format)) = (options.size, &options.pixel_format) else {
        return Err(FailureKind::Usage.error(format!(
            "{name}: raw frames need a size and a pixel format (-s 1920x1080 --pixel-format yuv420p)"
        )));
    };
    let format = RawFormat::from_name(pixel_format).ok_or_else(|| {
        let known = ["24", "p", "le"].map(|end| format!("{pixel_format}{end}"));
        let known = known.iter().find(|name| RawFormat::from_name(name).is_some());
        let remedy = known.map_or("`ffmpeg -pix_fmts` lists them".to_owned(), |name| format!("{name}?"));
        FailureKind::Usage.error(format!("no pixel format {pixel_format} ({remedy})"))
    })?;
    let native = format.native().ok_or_else(|| {
        FailureKind::Usage.error(format!(
            "raw frames of {pixel_format} cannot be equalized as they are (convert them to a planar format)"
        ))
    })?;
    Ok(RawVideo {
        format: native,
        size,
        rate: options.rate.unwrap_or(Rational::new(25, 1)),
        range: format.is_full_range_yuv().then_some(Range::Full),
        sample_aspect_ratio: None,
        interlaced: None,
        chroma_location: ChromaLocation::Unspecified,
    })
}
