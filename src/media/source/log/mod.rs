//! Log footage: pictures of cameras that record scene light on a logarithmic scale, so that they look flat and pale. If
//! the metadata of a file names the curve, the pictures are converted for displays before they are measured.
//!
//! | file | what it is |
//! |---|---|
//! | `curves.rs` | the curves and primaries that makers of cameras publish |
//! | `rendering.rs` | from light to a display, as a cube of colours for FFmpeg's `haldclut` |
//! | `names.rs` | what names a curve in the metadata and the tags of a file |

mod curves;
mod names;
mod rendering;

pub use curves::LogCurve;
pub use names::{NamedBy, forget, named_in};
pub use rendering::{SIDE, colours, cube};

use crate::ffmpeg::frame::RawFormat;
use histeq::internal::frame::Frame;
use std::fmt;
use std::sync::OnceLock;

/// Which footage counts as log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogChoice {
    /// Footage whose metadata names a curve is log.
    #[default]
    Auto,
    /// No footage is log.
    Off,
    /// All footage is log, with this curve.
    Curve(LogCurve),
}

/// A curve, and who named it. In words: `S-Log3, by its metadata`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedLog {
    /// The curve.
    pub curve: LogCurve,
    /// Who named the curve.
    pub by: NamedBy,
}

/// Log footage that is brought to BT.709.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Developed {
    /// Its curve.
    pub named: NamedLog,
    /// Whether its pictures have full range.
    pub is_full: bool,
}

impl Developed {
    /// The 3D LUT of the conversion: its points in each direction, and their colours, 0 to 1, with red changing
    /// fastest. Between them, FFmpeg interpolates within tetrahedra.
    pub fn colours(&self) -> (usize, Vec<[f64; 3]>) {
        (SIDE, colours(self.named.curve, self.is_full).collect())
    }
}

impl fmt::Display for NamedLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let by = match self.by {
            NamedBy::Metadata => "by its metadata",
            NamedBy::Tags => "by its tags",
            NamedBy::Option => "as --log says",
        };
        write!(f, "log ({}, {by})", self.curve.names().1)
    }
}

/// The cubes (3D LUTs) of a curve, made when they are needed: for pictures of limited and of full range.
pub struct Cubes {
    curve: LogCurve,
    made: [OnceLock<Frame>; 2],
}

impl Cubes {
    /// The cubes of `curve`.
    pub fn new(curve: LogCurve) -> Self {
        Cubes { curve, made: Default::default() }
    }

    /// The cube for pictures of full range, or else for limited range.
    ///
    /// # Panics
    /// Never: the cube has the planes of its format.
    pub fn get(&self, full: bool) -> &Frame {
        self.made[usize::from(full)].get_or_init(|| cube(self.curve, full).expect("a cube of the right size"))
    }
}

/// The filters for pictures of `format`, with the cube as their input `[cube]`. YUV gets limited range. FFmpeg 9
/// converts transfer characteristics automatically and refuses unknown ones, so pictures are tagged as BT.709 before.
pub fn chain(format: RawFormat) -> String {
    let flags = "flags=bilinear+accurate_rnd+full_chroma_int+full_chroma_inp";
    let (scaled, tags) = match format.is_rgb() {
        true => (String::new(), "colorspace=gbr:range=pc"),
        false => (format!("scale=out_color_matrix=bt709:out_range=tv:{flags},"), "colorspace=bt709:range=tv"),
    };
    format!(
        "[in]setparams=color_primaries=bt709:color_trc=bt709,scale={flags},format=rgb48le[log];\
         [log][cube]haldclut=interp=tetrahedral,{scaled}format={},\
         setparams=color_primaries=bt709:color_trc=bt709:{tags}",
        format.name().replacen("yuvj", "yuv", 1)
    )
}
