//! Opens the sink for the output that the user has chosen.

use super::encoder::choice::Pace;
use super::encoder::format::PixelChoice;
use super::encoder::two_pass::{Pass, SizeRule};
use super::file::{FileSink, container};
use super::files::place::Overwrite;
use super::files::target::Target;
use super::kind::OutputKind;
use super::live::reconnecting::Reconnecting;
use super::live::virtual_camera::VirtualCameraSink;
use super::options::OutputOptions;
use super::raw::RawSink;
use super::recorder::Recorder;
use crate::ffmpeg::Rational;
use crate::ffmpeg::demux::Media;
use crate::pipeline::{Delivery, Encoding, Input, Notices, Outcome, Sink};
use crate::sys::files::Name;
use anyhow::{Result, bail};
use histeq::internal::frame::{Frame, HostPool, Matrix, PixelFormat, Range};
use std::path::PathBuf;
use std::sync::Arc;

/// The target for the output `name`, in the container `format` if given. The output must not be the file `input`.
///
/// # Errors
/// When the output must not or cannot be written there.
pub fn target(name: &Name, format: Option<&str>, input: &Name, overwrite: Overwrite) -> Result<Target> {
    match OutputKind::for_name(name, format) {
        OutputKind::Nowhere => Ok(Target::nowhere(name)),
        kind => Target::new(name, input, kind.files(name), overwrite),
    }
}

/// The target for the live output `name`. It is written under its final name, so that a recording survives a crash.
///
/// # Errors
/// When it exists and must not be replaced, or is a folder.
pub fn live_target(name: &Name, format: Option<&str>, overwrite: Overwrite) -> Result<Target> {
    match OutputKind::for_name(name, format) {
        OutputKind::Server => Ok(Target::network(name)),
        kind => Target::direct(name, kind.files(name), overwrite),
    }
}

/// Opens the output. `on_gpu` returns whether there is a GPU, which may be able to encode; it can be slow, and is
/// called only if needed.
///
/// # Errors
/// When this FFmpeg lacks container or encoder, the container cannot hold the codec, or the output cannot be opened.
pub fn open(
    input: Input,
    target: Target,
    mut options: OutputOptions,
    on_gpu: &mut dyn FnMut() -> bool,
    notices: Notices,
) -> Result<Box<dyn Sink>> {
    if let Some(segmentation) = options.segments.take() {
        let place = (target.name(), target.cancel().clone());
        return Ok(Box::new(Recorder::create(input, place, (options, segmentation), on_gpu(), notices)?));
    }
    Ok(match OutputKind::for_name(target.name(), options.format.as_deref()) {
        OutputKind::Raw(framing) => {
            check_raw(target.name(), &options)?;
            Box::new(RawSink::create(input, target, framing, notices)?)
        }
        OutputKind::VirtualCamera => {
            let device = target.name().path().to_owned();
            let sink = FileSink::create(input, target, options, on_gpu, notices)?;
            Box::new(VirtualCameraSink::new(Box::new(sink), &device))
        }
        OutputKind::Server if target.is_network() => {
            Box::new(Reconnecting::create(input, target, options, on_gpu(), notices)?)
        }
        OutputKind::Nowhere | OutputKind::Server | OutputKind::Images | OutputKind::Segments | OutputKind::File => {
            Box::new(FileSink::create(input, target, options, on_gpu, notices)?)
        }
    })
}

/// Checks that an output can be encoded in two passes.
///
/// # Errors
/// When its container or its encoder does not support that.
pub fn check_two_passes(input: &Input, name: &Name, options: &OutputOptions) -> Result<()> {
    let mut encoder = options.encoder.clone();
    let codec = encoder.regard(input, Pace::Offline);
    encoder.pass = Some(Pass { stats: PathBuf::new(), bit_rate: None });
    encoder.candidates(codec, container(name, options.format.as_deref())?, name, &mut || false).map(drop)
}

/// Encodes one frame with the options for the output `name`, and discards the result. Returns how it was encoded, if
/// known.
///
/// # Errors
/// As for [`open`], except that no file is opened.
pub fn try_out(
    name: &Name,
    options: OutputOptions,
    (size, rate): ((usize, usize), Rational),
) -> Result<Option<Encoding>> {
    let format = PixelFormat::Yuv420p;
    let planes = (0..3).map(|plane| {
        let pool = HostPool::default();
        pool.plane(format.row_bytes(plane, size.0), format.rows(plane, size.1)).freeze()
    });
    let mut frame = Frame::new(format, size, Range::Limited, Matrix::Bt709, planes.collect())?;
    frame.pts = Some(0);
    let media = Media::for_raw_video("rawvideo", rate, None);
    let input = Input { picture: Some((format.into(), size)), ..Input::new(name.clone(), media) };
    let size = Some(SizeRule::Measure(Arc::default()));
    let options = OutputOptions { segments: None, size, ..options };
    let mut sink = open(input, Target::discarding(name)?, options, &mut || false, Notices::silent())?;
    sink.write(Delivery { frame: Some(frame), ..Delivery::default() })?;
    let encoding = sink.encoding();
    sink.finish(Outcome::Complete)?;
    Ok(encoding)
}

/// Checks that the options contain none that raw frames do not support.
fn check_raw(name: &Name, options: &OutputOptions) -> Result<()> {
    if let PixelChoice::Exactly(_) = options.pixels {
        bail!("{name}: raw frames keep their pixel format (drop --output-pixel-format)");
    }
    if options.fit.is_some() {
        bail!("{name}: raw frames keep their size (drop --fit; --filter scale=... scales them)");
    }
    if let Some((key, _)) = options.container.first() {
        bail!("{name}: raw frames are in no container that has an option {key} (drop --output-option)");
    }
    Ok(())
}
