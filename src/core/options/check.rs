//! Which options exclude each other, and the errors of invalid options.

use super::{MaxGain, Options, Smooth};
use crate::spec::parameters::{Look, MethodName, Named, Region};
use std::fmt;

/// An unknown option, an invalid value of an option, or options that exclude each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionError {
    /// A message with the names of options in braces: `{max-gain}`.
    text: String,
    is_conflict: bool,
}

impl OptionError {
    pub(super) fn unknown(name: &str) -> Self {
        OptionError { text: format!("there is no option {name}"), is_conflict: false }
    }

    /// The error for `text`, which is not a value of option `name`. `values` describes the valid values.
    pub(super) fn value(name: &str, values: &str, text: &str) -> Self {
        OptionError { text: format!("{{{name}}} is {values}, not {text}"), is_conflict: false }
    }

    /// The error for a value of option `name` that only earlier versions had; it says what replaces the value. `None`
    /// for other values.
    #[doc(hidden)]
    pub fn for_removed_value(name: &str, text: &str) -> Option<Self> {
        let instead = match (name, text) {
            ("method", "dehaze") => "{look} haze takes a veil off, and {method} natural where there is one",
            ("method", "balance") => "{look} underwater takes a cast away, and {method} natural where there is one",
            ("chroma", "scale") => "follow makes saturation grow with the contrast of the stretched levels",
            _ => return None,
        };
        Some(OptionError::invalid(format!("{{{name}}} {text} is gone: {instead}")))
    }

    pub(super) fn conflict(text: &str) -> Self {
        OptionError { text: text.to_owned(), is_conflict: true }
    }

    pub(crate) fn invalid(text: String) -> Self {
        OptionError { text, is_conflict: false }
    }

    /// Whether each option is valid on its own, but two of them exclude each other.
    pub fn is_conflict(&self) -> bool {
        self.is_conflict
    }

    /// The text with `before` before the name of each option: `--` for a command line.
    pub fn with_prefix(&self, before: &str) -> String {
        self.text.replace('{', before).replace('}', "")
    }
}

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.with_prefix(""))
    }
}

impl std::error::Error for OptionError {}

impl Options {
    /// Checks that no two options exclude each other.
    ///
    /// # Errors
    /// When two do.
    pub fn check(&self) -> Result<(), OptionError> {
        use MethodName::{Asinh, Clahe, Deflicker, Detail, Global, Midtones};
        let conflict = |text: &str| Err(OptionError::conflict(text));
        let (tiled, scene) = (self.tiled_method(), self.has_whole_scenes());
        if let Some(method @ (Clahe | Detail | Deflicker | Asinh | Midtones)) = self.method.filter(|_| scene) {
            return conflict(&format!(
                "{{smooth}} scene does not go with {{method}} {}: it makes one curve for a scene, by equalization alone",
                method.name()
            ));
        }
        if let Some(method) = tiled {
            let conflict =
                |option: &str, why: &str| conflict(&format!("{option} does not go with {{method}} {method}, {why}"));
            if self.plateau.is_some() {
                return conflict("{plateau}", "whose limit is {max-gain}");
            }
            if self.region != Region::Whole {
                return conflict("{roi}", "which counts each tile by itself");
            }
        }
        if self.tiles.is_some() && tiled.is_none() {
            return conflict("{tiles} goes with {method} clahe and detail only");
        }
        if scene && self.look_ahead.is_some() {
            return conflict("{look-ahead} does not go with {smooth} scene, which looks at all of a scene");
        }
        if scene && self.denoise.is_some_and(|share| share.to_256ths() > 0) {
            return conflict("{denoise} does not go with {smooth} scene");
        }
        if self.denoise_effort.is_some() && (scene || self.denoise.is_some_and(|share| share.to_256ths() == 0)) {
            return conflict("{denoise-effort} has no effect where noise stays ({denoise} 0, {smooth} scene)");
        }
        if self.max_gain == Some(MaxGain::Auto) {
            if self.method.is_some_and(|method| !matches!(method, Global | Clahe)) {
                return conflict("{max-gain} auto goes with {method} global and {method} clahe only");
            }
            let has_no_window = match self.smooth {
                Some(Smooth::Seconds(seconds)) => seconds == 0.0,
                Some(Smooth::Scene) => false,
                None => self.look == Look::Exact,
            };
            if has_no_window {
                let text = "{max-gain} auto measures noise over the temporal window: give {smooth} more than 0 seconds";
                return conflict(text);
            }
        }
        Ok(())
    }
}
