//! Kinds of output, by name and optional container. Code that treats kinds differently calls these methods; each is an
//! exhaustive `match`, so that the compiler lists all decisions for a new kind.

use super::file::is_sequence_name;
use super::files::place::Files;
use super::live::reconnecting::network_format;
use super::raw::Framing;
use crate::ffmpeg::mux::Container;
use crate::sys::files::Name;
use crate::sys::io::is_fifo;
use std::ffi::OsStr;

/// A kind of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputKind {
    /// Raw frames, with these headers.
    Raw(Framing),
    /// Nothing is written.
    Nowhere,
    /// A virtual camera.
    VirtualCamera,
    /// A server, which may disconnect and return.
    Server,
    /// An image, or a sequence of images.
    Images,
    /// A playlist with segments in the same folder.
    Segments,
    /// One file, or one stream, of encoded video.
    File,
}

/// FFmpeg's name of the format for virtual cameras.
pub const VIRTUAL_CAMERA: &str = "v4l2";

impl OutputKind {
    /// The kind of the output `name`, in this container if one is given.
    pub fn for_name(name: impl AsRef<OsStr>, format: Option<&str>) -> Self {
        let name = name.as_ref();
        let container = Container::guess(format, name);
        let is = |property: fn(Container) -> bool| container.is_some_and(property);
        if let Some(framing) = framing(name, format) {
            OutputKind::Raw(framing)
        } else if is(Container::discards) {
            OutputKind::Nowhere
        } else if format == Some(VIRTUAL_CAMERA) {
            OutputKind::VirtualCamera
        } else if name.to_str().is_some_and(|name| network_format(name).is_some()) {
            OutputKind::Server
        } else if is(Container::is_images) || is(Container::is_fits) && is_sequence_name(name) {
            OutputKind::Images
        } else if is(Container::writes_segments) {
            OutputKind::Segments
        } else {
            OutputKind::File
        }
    }

    /// Whether the output takes only the frames of a video, uncompressed: raw frames, or no output at all.
    pub fn takes_only_pictures(self) -> bool {
        match self {
            OutputKind::Raw(_) | OutputKind::Nowhere => true,
            OutputKind::VirtualCamera
            | OutputKind::Server
            | OutputKind::Images
            | OutputKind::Segments
            | OutputKind::File => false,
        }
    }

    /// Whether the size of the output depends on a video encoder.
    pub fn is_encoded_video(self) -> bool {
        match self {
            OutputKind::Raw(_) | OutputKind::Nowhere | OutputKind::Images => false,
            OutputKind::VirtualCamera | OutputKind::Server | OutputKind::Segments | OutputKind::File => true,
        }
    }

    /// Whether the output can have streams other than the video.
    pub fn takes_other_streams(self) -> bool {
        match self {
            OutputKind::VirtualCamera => false,
            OutputKind::Raw(_)
            | OutputKind::Nowhere
            | OutputKind::Server
            | OutputKind::Images
            | OutputKind::Segments
            | OutputKind::File => true,
        }
    }

    /// How many files `name` denotes.
    pub(super) fn files(self, name: &Name) -> Files {
        match self {
            OutputKind::Segments => Files::List,
            OutputKind::Images if is_sequence_name(name) => Files::Sequence,
            OutputKind::Raw(_)
            | OutputKind::Nowhere
            | OutputKind::VirtualCamera
            | OutputKind::Server
            | OutputKind::Images
            | OutputKind::File => Files::One,
        }
    }
}

/// The headers around raw frames; `None` for other outputs.
fn framing(name: &OsStr, format: Option<&str>) -> Option<Framing> {
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
