//! What the user asks of an output.

use crate::sink::encoder::choice::EncoderChoice;
use crate::sink::encoder::format::PixelChoice;
use crate::sink::encoder::two_pass::SizeRule;
use crate::sink::kept::stream_choice::StreamChoice;
use crate::sink::recorder::segmentation::Segmentation;

/// The options of an output.
#[derive(Clone, Debug, Default)]
pub struct OutputOptions {
    /// The container's name; by default, the file name decides.
    pub format: Option<String>,
    /// The encoder and its settings.
    pub encoder: EncoderChoice,
    /// The user's muxer options.
    pub container: Vec<(String, String)>,
    /// Whether to encode in real time, into a file that is playable at any time while it is written.
    pub live: bool,
    /// The pixel format to encode.
    pub pixels: PixelChoice,
    /// The size that larger frames are scaled down to; width and height are swapped for portrait frames.
    pub fit: Option<(usize, usize)>,
    /// The only audio codec that is allowed; audio in another codec is re-encoded. `None` allows all.
    pub sound: Option<&'static str>,
    /// Which of the other streams are kept; `None` for all.
    pub streams: Option<StreamChoice>,
    /// Whether the output's size is measured or limited; `None` for neither.
    pub size: Option<SizeRule>,
    /// Whether the video begins at time zero in the output, whatever its times in the input are.
    pub from_zero: bool,
    /// How a recording is split into segments, if it is.
    pub segments: Option<Segmentation>,
    /// Program and settings that made the output, for its metadata.
    pub provenance: Option<String>,
}
