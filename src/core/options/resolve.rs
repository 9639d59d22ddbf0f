//! The settings for a video: those of its look, replaced by the options that are given.

use super::{MaxGain, OptionError, Options, Smooth, StretchLimit};
use crate::frame::{Model, PixelFormat};
use crate::note::Note;
use crate::spec::clahe::TileBins;
use crate::spec::parameters::{
    Cleaner, Denoise, Gain, Look, LookParameters, Method, MethodName, OutputDepth, Plateau, Rect, Region, Settings,
    Smoothing, Strength, Stretch, Threshold,
};
use crate::spec::restoration::faint::Function;

/// The properties of a video that are known before its first frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Video {
    /// Bits of a sample; `None` if not known.
    pub depth: Option<u8>,
    /// Whether its frames are gray.
    pub is_gray: bool,
    /// Columns and rows of its frames; `None` if not known.
    pub size: Option<(usize, usize)>,
    /// Frames a second; `None` if not known, then 25 are assumed.
    pub rate: Option<f64>,
    /// Whether the whole video exists already, so that waiting for later frames adds no delay: a file, not a camera.
    pub is_stored: bool,
    /// Whether later frames may go in before a frame comes out, so that threads work on several frames. A caller that
    /// needs one frame out for each frame in must not set this. A caller that sets this leaves noise in frames if
    /// denoising is too slow.
    pub may_overlap: bool,
}

/// Memory for the frames of the default look-ahead, bytes.
const LOOK_AHEAD_MEMORY: usize = 256 << 20;

/// The length of the temporal window of `--method deflicker`: a longer window mistakes slow changes for flicker.
const DEFLICKER_SECONDS: f64 = 1.0;

/// The temporal window of `--method natural`: a change shorter than half of it does not affect other frames.
const NATURAL_SECONDS: f64 = 4.0;

/// The longest look-ahead by default.
const LOOK_AHEAD_SECONDS: f64 = 1.0;

/// Settings for a video, and notes on them.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// The settings.
    pub settings: Settings,
    /// Notes on what the caller may not expect.
    pub notes: Vec<Note>,
}

impl Video {
    /// A stored video of this format and size, with unknown rate.
    pub fn new(format: PixelFormat, size: (usize, usize)) -> Self {
        let is_gray = format.descriptor().model == Model::Gray;
        Video { depth: Some(format.depth()), is_gray, size: Some(size), is_stored: true, ..Video::default() }
    }

    /// Whether the video is gray of more than 8 bits, as from thermal cameras or in medicine.
    fn is_deep_gray(&self) -> bool {
        self.is_gray && self.depth.is_some_and(|depth| depth > 8)
    }

    /// Frames a second: 25 if that is unknown.
    pub fn frames_a_second(&self) -> f64 {
        self.rate.filter(|rate| rate.is_finite() && *rate > 0.0).unwrap_or(25.0)
    }

    /// Upper bound of the bytes of a frame, if known: chroma counts as 4:4:4.
    pub fn frame_bytes(&self) -> Option<usize> {
        let (width, height) = self.size?;
        let components = if self.is_gray { 1 } else { 3 };
        Some(width * height * components * usize::from(self.depth?.div_ceil(8)))
    }
}

impl Options {
    /// The parameters of the look for this video.
    #[doc(hidden)]
    pub fn look_parameters(&self, video: &Video) -> LookParameters {
        self.look.parameters(video.is_deep_gray())
    }

    /// The requested method, or that of the look; `global` if that is `natural` and an option of equalization is set.
    fn method_of(&self, look: &LookParameters, notes: &mut Vec<Note>) -> MethodName {
        let asked = [
            ("{plateau}", self.plateau.is_some()),
            ("{bins}", self.bins.is_some()),
            ("{max-gain}", self.max_gain.is_some()),
        ];
        let mut asked = asked.iter().filter(|(_, given)| *given);
        if let Some(method) = self.method {
            if !method.equalizes() {
                notes.extend(
                    asked.map(|(option, _)| Note::Note(format!("{option} does nothing with {{method}} {method}"))),
                );
            }
            return method;
        }
        match asked.next() {
            Some((option, _)) if look.method == MethodName::Natural => {
                notes.push(Note::Note(format!("{option} is for equalization: {{method}} global")));
                MethodName::Global
            }
            _ => look.method,
        }
    }

    /// The settings for this video.
    ///
    /// # Errors
    /// When options exclude each other, or the counted region lies outside of the frame.
    #[doc(hidden)]
    pub fn resolve(&self, video: &Video) -> Result<Resolved, OptionError> {
        self.check()?;
        let mut notes = Vec::new();
        let look = self.look_parameters(video);
        let method = self.method_of(&look, &mut notes);
        let (is_clahe, is_detail) = (method == MethodName::Clahe, method == MethodName::Detail);
        // The looks have plateaus and strengths for a single curve only.
        let (max_gain, plateau, strength) = if is_clahe {
            (look.max_gain_of_tiles, Plateau::Off, 1.0)
        } else if is_detail {
            (look.gain_of_detail, Plateau::Off, 1.0)
        } else if matches!(
            method,
            MethodName::Deflicker | MethodName::Natural | MethodName::Asinh | MethodName::Midtones
        ) {
            (look.max_gain, look.plateau, 1.0)
        } else {
            (look.max_gain, look.plateau, look.strength)
        };
        if (is_clahe || is_detail) && self.look != Look::Exact {
            let fixed = self.max_gain.and_then(MaxGain::fixed);
            let given = [("{max-gain}", max_gain, fixed.is_some()), ("{strength}", strength, self.strength.is_some())];
            let defaults =
                given.iter().filter(|(.., given)| !given).map(|(option, value, _)| format!("{option} {value}"));
            let defaults: Vec<String> = defaults.collect();
            if !defaults.is_empty() {
                let defaults = defaults.join(" and ");
                notes.push(Note::Note(format!("{{method}} {method} has its own {defaults}, not those of the look")));
            }
        }
        let levels_there = video.depth.map(|depth| 1_u32 << depth.min(16));
        let resolution = self.bins.or(levels_there).filter(|&bins| bins as usize > TileBins::MAX);
        if let Some(bins) = resolution.filter(|_| method.has_tiles()) {
            let most = TileBins::MAX;
            notes.push(Note::Note(format!(
                "{{method}} {method} counts {most} steps of brightness in a tile, not {bins}"
            )));
        }
        let smooth = match method {
            MethodName::Deflicker => DEFLICKER_SECONDS,
            MethodName::Natural => NATURAL_SECONDS,
            _ => look.smooth,
        };
        // The parameters of the looks are in range.
        let gain = |slope| Gain::from_slope(slope).unwrap_or_default();
        let (levels, fills_range) = match self.levels {
            Some(StretchLimit::Gain(gain)) => (gain, false),
            Some(StretchLimit::Full) => (Gain::OFF, true),
            None => (gain(look.levels), look.fills_range),
        };
        // The look blends equalization with a stretch of levels. If that stretch is off, equalization has full
        // strength.
        let defaults = if look.fills_range && !fills_range { 1.0 } else { strength };
        let defaults = Strength::from_share(defaults).unwrap_or_default();
        let (strength, share) = match self.strength {
            Some(strength) if method == MethodName::Global && fills_range && self.levels.is_none() => {
                parts(strength, defaults)
            }
            strength => (strength.unwrap_or(defaults), Strength::FULL),
        };
        let (columns, rows) = self.tiles.unwrap_or(if is_detail { (16, 12) } else { (8, 8) });
        let settings = Settings {
            method: match method {
                MethodName::Global => Method::Global,
                MethodName::Clahe => Method::Clahe { columns, rows },
                MethodName::Detail => Method::Detail { columns, rows },
                MethodName::Deflicker => Method::Deflicker,
                MethodName::Asinh => Method::Faint(Function::Asinh),
                MethodName::Midtones => Method::Faint(Function::Midtones),
                MethodName::Natural => Method::Natural {
                    assumed: look.assumed,
                    most: self.levels.map_or(Gain::OFF, |_| levels),
                    faithful: look.faithful,
                },
            },
            smoothing: self.smoothing(self.smooth.unwrap_or(Smooth::Seconds(smooth)), video),
            scene_threshold: self
                .scene_threshold
                .unwrap_or_else(|| Threshold::from_share(look.scene_threshold).unwrap_or_default()),
            plateau: self.plateau.unwrap_or(plateau),
            bins: self.bins,
            max_gain: self.max_gain.and_then(MaxGain::fixed).unwrap_or(gain(max_gain)),
            hides_noise: is_detail || self.max_gain == Some(MaxGain::Auto),
            strength,
            stretch: match (method, levels == gain(1.0)) {
                (MethodName::Global | MethodName::Clahe | MethodName::Detail, ..) if fills_range => {
                    Stretch::Full { share }
                }
                // The strength of the look fades where levels need little stretch; a requested strength does not.
                (MethodName::Global, false) => Stretch::Unused { most: levels, fades: self.strength.is_none() },
                (MethodName::Clahe | MethodName::Detail, false) => Stretch::Unused { most: levels, fades: false },
                _ => Stretch::Off,
            },
            region: self.region,
            chroma: self.chroma.unwrap_or(look.chroma),
            keeps_peak: self.look != Look::Exact,
            denoise: self.resolved_denoise(method, video),
        };
        notes.extend(self.check_region(video)?);
        Ok(Resolved { settings, notes })
    }

    /// How noise is removed. With one curve for each scene, noise stays.
    fn resolved_denoise(&self, method: MethodName, video: &Video) -> Denoise {
        let is_natural = method == MethodName::Natural && !self.has_whole_scenes();
        let effort = self.denoise_effort.unwrap_or_default();
        let reach = effort.reach();
        let behind = match self.look_ahead {
            Some(seconds) if seconds <= 0.0 => 0,
            // Live video waits for at most 2 later frames.
            Some(_) if !video.is_stored => reach.min(2),
            None if !video.is_stored => 0,
            _ => reach,
        };
        let cleaner = |share| Cleaner { share, effort, around: (reach, behind) };
        match self.denoise {
            Some(share) if share.to_256ths() == 0 => Denoise::Off,
            Some(share) if is_natural => Denoise::AsShown(cleaner(share)),
            Some(share) => Denoise::Always(cleaner(share)),
            None if is_natural && (video.is_stored || video.may_overlap) => Denoise::AsShown(cleaner(Strength::FULL)),
            None => Denoise::Off,
        }
    }

    /// Checks the counted rectangle against the frame. The part outside of the frame is not counted.
    fn check_region(&self, video: &Video) -> Result<Option<Note>, OptionError> {
        let (Region::Fixed(rect), Some(size)) = (self.region, video.size) else { return Ok(None) };
        let within = rect.within(size);
        if within == Some(rect) {
            return Ok(None);
        }
        let Rect { x, y, width, height } = rect;
        let picture = format!("picture of {}x{} pixels", size.0, size.1);
        match within {
            None => Err(OptionError::invalid(format!(
                "{{roi}} {x},{y},{width},{height} lies outside of its {picture} (X,Y is the rectangle's upper left \
                 corner, counted from 0,0)"
            ))),
            Some(counted) => Ok(Some(Note::Warning(format!(
                "{{roi}} {x},{y},{width},{height} extends past the edge of its {picture}: only {}x{} is counted",
                counted.width, counted.height
            )))),
        }
    }

    /// The temporal window, with its look-ahead.
    fn smoothing(&self, smooth: Smooth, video: &Video) -> Smoothing {
        let rate = video.frames_a_second();
        let seconds = match smooth {
            Smooth::Seconds(seconds) => seconds,
            // The window is the scene, which the first pass finds. Only the longest duration of a flash is needed,
            // which depends on the frame rate alone.
            Smooth::Scene => return Smoothing::from_seconds(1.0, rate),
        };
        let smoothing = Smoothing::from_seconds(seconds, rate);
        smoothing.looking_ahead(match self.look_ahead {
            Some(seconds) => (seconds * rate).round().min(f64::from(Smoothing::MAX)) as u32,
            None if video.is_stored => {
                // 8-bit frames that are lifted to more bits need two bytes a sample while they wait.
                let is_lifted = self.output_depth != OutputDepth::AsInput && video.depth == Some(8);
                let memory = if is_lifted { LOOK_AHEAD_MEMORY / 2 } else { LOOK_AHEAD_MEMORY };
                let frames = memory / video.frame_bytes().unwrap_or(memory).max(1);
                // Besides the look-ahead, as many frames wait for their scene as the longest flash has.
                let wanted = (smoothing.frames() / 2).min((LOOK_AHEAD_SECONDS * rate).round() as u32);
                wanted.min((frames as u32).saturating_sub(smoothing.flash()))
            }
            None => 0,
        })
    }
}

/// From the share of a look's result in the output, and the strength of equalization in that result: the strength of
/// equalization in the output, and the share of stretched levels in the rest.
fn parts(share: Strength, strength: Strength) -> (Strength, Strength) {
    let (share, strength) = (share.to_256ths(), strength.to_256ths());
    let equalized = share * strength / 256;
    let stretched = share * (256 - strength) / (256 - equalized).max(1);
    (Strength::from_256ths(equalized), Strength::from_256ths(stretched))
}

#[cfg(test)]
mod tests {
    use super::super::{OPTIONS, OptionValue};
    use super::*;

    #[test]
    fn all_of_a_blend_is_the_blend_and_none_of_it_is_the_input() {
        let strength = Strength::from_256ths(192);
        let value_of = |share| parts(Strength::from_256ths(share), strength);
        assert_eq!(value_of(256), (strength, Strength::FULL));
        assert_eq!(value_of(0), (Strength::from_256ths(0), Strength::from_256ths(0)));
        // A share of one half: 3 eighths of the output are equalized, an eighth is stretched, half is the input.
        let (equalized, stretched) = value_of(128);
        assert_eq!(equalized.to_256ths(), 96);
        let rest = 256 - equalized.to_256ths();
        assert_eq!(rest * stretched.to_256ths() / 256, 32 - 1);
    }

    #[test]
    fn what_is_reported_of_the_thermal_look_gives_the_same_settings() {
        let settings =
            |options: &Options| options.resolve(&Video::default()).expect("options that go together").settings;
        for given in
            [&[][..], &[("strength", "0")], &[("strength", "0.5")], &[("strength", "1")], &[("levels", "full")]]
        {
            let mut options = Options::for_look(Look::Thermal);
            given.iter().for_each(|(name, value)| options.set(name, value).expect("a value"));
            let wanted = settings(&options);
            let mut again = Options::for_look(Look::Thermal);
            for option in OPTIONS.iter().filter(|option| ["strength", "levels"].contains(&option.name)) {
                match option.report(&options, &wanted) {
                    Some(OptionValue::Number(number)) => again.set(option.name, &number.to_string()),
                    Some(OptionValue::Text(text)) => again.set(option.name, &text),
                    _ => Ok(()),
                }
                .expect("a value");
            }
            let found = settings(&again);
            assert_eq!((found.strength, found.stretch), (wanted.strength, wanted.stretch), "{given:?}");
        }
    }
}
