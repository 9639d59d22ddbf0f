//! The options of a caller, independent of a video: a look, and options that replace its values.
//!
//! | file | what it is |
//! |---|---|
//! | `table.rs` | every option once: name, values, help, how it is set and reported |
//! | `parse.rs` | the parsing of values |
//! | `setters.rs` | each option as a method |
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
mod setters;
mod table;

pub use check::OptionError;
pub use python::{in_python, python_name};
pub use resolve::{Resolved, Video};
pub(crate) use setters::with_option_setters;
pub use table::{OPTIONS, OptionInfo, OptionValue, Section, ValueKind};

use crate::spec::parameters::{
    Chroma, Effort, Gain, Look, MethodName, OutputDepth, Plateau, Region, Strength, Threshold,
};

/// The requested options. [`Options::default`] is the look for most video; the look decides on options that were not
/// set.
///
/// ```
/// use histeq::{Look, Options};
///
/// let options = Options::default().look(Look::Night).max_gain(1.5)?.smooth(2.0)?;
/// let refused = Options::default().max_gain(0.5).unwrap_err();
/// assert_eq!(refused.to_string(), "max-gain is 0 (no limit), from 1 to 4096, or auto, not 0.5");
/// # Ok::<(), histeq::OptionError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Options {
    /// The preset.
    #[doc(hidden)]
    pub look: Look,
    /// The share of the equalization to apply.
    #[doc(hidden)]
    pub strength: Option<Strength>,
    /// The method.
    #[doc(hidden)]
    pub method: Option<MethodName>,
    /// How far the range of levels in use is stretched.
    #[doc(hidden)]
    pub levels: Option<StretchLimit>,
    /// The contrast limit.
    #[doc(hidden)]
    pub max_gain: Option<MaxGain>,
    /// The temporal window.
    #[doc(hidden)]
    pub smooth: Option<Smooth>,
    /// The difference between two frames above which they are a scene cut.
    #[doc(hidden)]
    pub scene_threshold: Option<Threshold>,
    /// The largest count of one level of a frame.
    #[doc(hidden)]
    pub plateau: Option<Plateau>,
    /// Tiles of local equalization, across and down, 1 to 256 each.
    #[doc(hidden)]
    pub tiles: Option<(u32, u32)>,
    /// Number of histogram bins, 2 to 65536.
    #[doc(hidden)]
    pub bins: Option<u32>,
    /// The treatment of colour.
    #[doc(hidden)]
    pub chroma: Option<Chroma>,
    /// Whether the output has luma only.
    #[doc(hidden)]
    pub gray: bool,
    /// The part of the frame that is counted.
    #[doc(hidden)]
    pub region: Region,
    /// Length of the part of the temporal window after each frame, in seconds.
    #[doc(hidden)]
    pub look_ahead: Option<f64>,
    /// The share of noise that is removed.
    #[doc(hidden)]
    pub denoise: Option<Strength>,
    /// How much is done to remove noise.
    #[doc(hidden)]
    pub denoise_effort: Option<Effort>,
    /// The depth of the output.
    #[doc(hidden)]
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
    #[doc(hidden)]
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

    /// Whether results by these options and by `other` have the same format, for any input.
    pub fn has_format_of(&self, other: &Options) -> bool {
        (self.gray, self.output_depth) == (other.gray, other.output_depth)
    }

    /// Whether all frames of a scene have one curve; a first pass finds the scenes and their curves.
    pub fn has_whole_scenes(&self) -> bool {
        self.smooth == Some(Smooth::Scene)
    }

    /// The requested method, if it has a curve for each tile.
    #[doc(hidden)]
    pub fn tiled_method(&self) -> Option<MethodName> {
        self.method.filter(|method| method.has_tiles())
    }
}
