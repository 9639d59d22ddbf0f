//! Opens the sink for the output that was asked for.

use super::file::{FileSink, OutputOptions, is_sequence};
use super::fit::PixelChoice;
use super::raw::{Framing, RawSink};
use super::reconnecting::{Reconnecting, network_format};
use super::target::{Files, Overwrite, Target, TargetError};
#[cfg(target_os = "linux")]
use super::virtual_camera::VirtualCameraSink;
use crate::ffmpeg::Container;
use crate::pipeline::{Input, Notices, Sink};
use crate::sys::is_fifo;
use anyhow::{Result, bail};

/// Where the output `name` is written, which is in this container if one is named. `input` is the file that it must not be.
///
/// # Errors
/// When nothing may, or can, be written there.
pub fn target(name: &str, format: Option<&str>, input: &str, overwrite: Overwrite) -> Result<Target, TargetError> {
    let container = Container::guess(format, name);
    if container.is_some_and(Container::discards) {
        return Ok(Target::nowhere(name));
    }
    Target::new(name, input, files(name, container), overwrite)
}

/// Where a live output `name` is written: directly, because a recording should be there even after a crash.
///
/// # Errors
/// When it exists and is to be kept, or is a folder.
pub fn live_target(name: &str, format: Option<&str>, overwrite: Overwrite) -> Result<Target, TargetError> {
    if network_format(name).is_some() {
        return Ok(Target::network(name));
    }
    Target::direct(name, files(name, Container::guess(format, name)), overwrite)
}

/// Is the output of this name, or in this container, a playlist with segments beside it?
pub fn writes_segments(name: &str, format: Option<&str>) -> bool {
    Container::guess(format, name).is_some_and(Container::writes_segments)
}

/// The files that the output `name` stands for, in this container.
fn files(name: &str, container: Option<Container>) -> Files {
    match container.is_some_and(Container::writes_segments) {
        true => Files::List,
        false if is_sequence(name) => Files::Sequence,
        false => Files::One,
    }
}

/// Do only the pictures of a video go into the output `name`, as they are: raw frames, or none at all?
pub fn takes_only_pictures(name: &str, format: Option<&str>) -> bool {
    framing(name, format).is_some() || Container::guess(format, name).is_some_and(Container::discards)
}

/// The headers around raw frames; `None` for other outputs.
fn framing(name: &str, format: Option<&str>) -> Option<Framing> {
    match format {
        Some("rawvideo") => Some(Framing::Raw),
        Some("yuv4mpegpipe" | "y4m") => Some(Framing::Y4m),
        None if name == "-" => Some(Framing::Y4mIfPossible),
        None if is_fifo(name) && Container::guess(None, name).is_none() => Some(Framing::Y4mIfPossible),
        None => match Container::guess(None, name).map(Container::name).as_deref() {
            Some("yuv4mpegpipe") => Some(Framing::Y4m),
            Some("rawvideo") => Some(Framing::Raw),
            _ => None,
        },
        Some(_) => None,
    }
}

/// Opens the output. `on_gpu` returns whether there is a GPU, which may be able to encode; it may be slow, and is called only
/// if needed.
///
/// # Errors
/// When container or encoder are not here, do not go together, or the output cannot be opened.
pub fn open(
    input: Input,
    target: Target,
    options: OutputOptions,
    on_gpu: &mut dyn FnMut() -> bool,
    notices: Notices,
) -> Result<Box<dyn Sink>> {
    let framing = framing(target.name(), options.format.as_deref());
    if let (Some(_), PixelChoice::Exactly(_)) = (framing, options.pixels) {
        bail!("{}: raw frames keep their pixel format (drop --output-pixel-format)", target.name());
    }
    if framing.is_some() && options.fit.is_some() {
        bail!("{}: raw frames keep their size (drop --fit; --filter scale=... scales them)", target.name());
    }
    if let (Some(_), Some((key, _))) = (framing, options.container.first()) {
        bail!("{}: raw frames are in no container that has an option {key} (drop --output-option)", target.name());
    }
    Ok(match framing {
        Some(framing) => Box::new(RawSink::create(input, target, framing, notices)?),
        #[cfg(target_os = "linux")]
        None if options.format.as_deref() == Some("v4l2") => {
            let device = target.name().to_owned();
            let sink = FileSink::create(input, target, options, on_gpu, notices)?;
            Box::new(VirtualCameraSink::new(Box::new(sink), &device))
        }
        None if target.is_network() => Box::new(Reconnecting::create(input, target, options, on_gpu(), notices)?),
        None => Box::new(FileSink::create(input, target, options, on_gpu, notices)?),
    })
}
