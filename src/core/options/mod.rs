//! The options of a caller, independent of a video: a look, and options that replace its values.
//!
//! | file | what it is |
//! |---|---|
//! | `table.rs` | every option once: name, values, help, how it is set and reported |
//! | `parse.rs` | the parsing of values |
//! | `check.rs` | which options exclude each other |
//! | `resolve.rs` | the settings for a video |
//! | `python.rs` | names of options in Python |
//!
//! The command line, and every other host, builds its options from [`OPTIONS`]: an option added there is available
//! everywhere.

mod check;
mod parse;
mod python;
mod resolve;
mod table;

pub use check::OptionError;
pub use python::{in_python, python_name};
pub use resolve::{Resolved, Video};
pub use table::{OPTIONS, OptionInfo, OptionValue, Section, ValueKind};

use crate::spec::{Chroma, Effort, Gain, Look, MethodName, OutputDepth, Plateau, Region, Strength, Threshold};

/// The requested options. [`Options::default`] is the look for most video; where an option is `None`, the look decides.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Options {
    /// The preset.
    pub look: Look,
    /// The share of the equalization to apply.
    pub strength: Option<Strength>,
    /// The method.
    pub method: Option<MethodName>,
    /// How far the range of levels in use is stretched.
    pub levels: Option<StretchLimit>,
    /// The contrast limit.
    pub max_gain: Option<MaxGain>,
    /// The temporal window.
    pub smooth: Option<Smooth>,
    /// The difference between two frames above which they are a scene cut.
    pub scene_threshold: Option<Threshold>,
    /// The largest count of one level of a frame.
    pub plateau: Option<Plateau>,
    /// Tiles of local equalization, across and down, 1 to 256 each.
    pub tiles: Option<(u32, u32)>,
    /// Number of histogram bins, 2 to 65536.
    pub bins: Option<u32>,
    /// The treatment of colour.
    pub chroma: Option<Chroma>,
    /// Whether the output has luma only.
    pub gray: bool,
    /// The part of the frame that is counted.
    pub region: Region,
    /// Length of the part of the temporal window after each frame, in seconds.
    pub look_ahead: Option<f64>,
    /// The share of noise that is removed.
    pub denoise: Option<Strength>,
    /// How much is done to remove noise.
    pub denoise_effort: Option<Effort>,
    /// The depth of the output.
    pub output_depth: OutputDepth,
}

/// How far the levels in use may be stretched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StretchLimit {
    /// By at most this gain.
    Gain(Gain),
    /// To the whole range, even if few levels are in use.
    Full,
}

/// The requested contrast limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaxGain {
    /// This limit.
    Fixed(Gain),
    /// The limit of the look, lowered for each scene as far as needed to keep noise invisible.
    Auto,
}

/// The requested temporal window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Smooth {
    /// This many seconds, 0 to 3600.
    Seconds(f64),
    /// The whole scene of a frame; a first pass finds the scenes.
    Scene,
}

impl Options {
    /// A look without further options.
    pub fn for_look(look: Look) -> Self {
        Options { look, ..Options::default() }
    }

    /// Sets the option `name` of [`OPTIONS`] to the value that `text` denotes.
    ///
    /// # Errors
    /// When there is no such option, or `text` is none of its values.
    pub fn set(&mut self, name: &str, text: &str) -> Result<(), OptionError> {
        let option = OptionInfo::named(name).ok_or_else(|| OptionError::unknown(name))?;
        option.set(self, text)
    }

    /// Whether all frames of a scene have one curve; a first pass finds the scenes and their curves.
    pub fn has_whole_scenes(&self) -> bool {
        self.smooth == Some(Smooth::Scene)
    }

    /// The requested method, if it has a curve for each tile.
    pub fn tiled_method(&self) -> Option<MethodName> {
        self.method.filter(|method| method.has_tiles())
    }
}
