//! Each option as a method, checked when it is set.

use super::{MaxGain, OptionError, OptionInfo, Options, Smooth, StretchLimit};
use crate::spec::parameters::{
    Chroma, Effort, Gain, Look, MethodName, OutputDepth, Plateau, Rect, Region, Strength, Threshold,
};
use std::fmt::Display;

/// The longest temporal window and look-ahead, in seconds.
const MAX_SECONDS: f64 = 3600.0;

/// `made` of `value`, or the error that `value` is none of the option's values.
fn checked<T>(name: &str, value: impl Display, made: Option<T>) -> Result<T, OptionError> {
    let values = OptionInfo::named(name).map_or("", |option| option.values);
    made.ok_or_else(|| OptionError::value(name, values, &value.to_string()))
}

/// `seconds`, if it may be the length of a window.
pub(super) fn checked_seconds(seconds: f64) -> Option<f64> {
    Some(seconds).filter(|seconds| (0.0..=MAX_SECONDS).contains(seconds))
}

/// The largest stretch of this gain, which is at least 1.
pub(super) fn checked_levels(gain: f64) -> Option<StretchLimit> {
    Gain::from_slope(gain).filter(|gain| *gain != Gain::OFF).map(StretchLimit::Gain)
}

/// A plateau of this percentage of a frame.
pub(super) fn checked_percent(percent: f64) -> Option<Plateau> {
    let percent = Some(percent).filter(|percent| (0.0..=100.0).contains(percent))?;
    Some(if percent == 0.0 { Plateau::Off } else { Plateau::Millionths((percent * 10_000.0).round() as u32) })
}

/// A plateau of this count.
pub(super) fn checked_count(samples: u32) -> Plateau {
    if samples == 0 { Plateau::Off } else { Plateau::Count(samples) }
}

/// A grid of these tiles.
pub(super) fn checked_tiles(columns: u32, rows: u32) -> Option<(u32, u32)> {
    Some((columns, rows)).filter(|_| [columns, rows].iter().all(|count| (1..=256).contains(count)))
}

/// This number of bins.
pub(super) fn checked_bins(bins: u32) -> Option<u32> {
    Some(bins).filter(|bins| (2..=65536).contains(bins))
}

/// This rectangle, if it has a pixel.
pub(super) fn checked_region([x, y, width, height]: [usize; 4]) -> Option<Region> {
    (width > 0 && height > 0).then_some(Region::Fixed(Rect { x, y, width, height }))
}

/// Calls `$implement` with a setter for each option: its documentation, arguments, the documentation of its error if
/// it has one, and what it does to `Options`.
macro_rules! with_option_setters {
    ($implement:ident) => {
        $implement! {
                /// Sets the preset: [`Look::Natural`] by default, which means [`Look::Thermal`] for gray of more than 8
                /// bits unless the method is natural.
                fn look(look: Look) => |options, look| options.look = look;

                /// Sets the share of the correction that is applied, from 0 to 1, in 256 steps; by default that of the
                /// look.
                fn strength(share: f64), when "When `share` is out of this range." => |options, share| {
                    options.strength = Some(checked("strength", share, Strength::from_share(share))?);
                    Ok(())
                };

                /// Sets what is done; by default what the look does.
                fn method(method: MethodName) => |options, method| options.method = Some(method);

                /// Sets the most that the range of levels in use is stretched, a factor from 1 (not stretched) to 4096;
                /// by default that of the look.
                fn levels(gain: f64), when "When `gain` is out of this range." => |options, gain| {
                    options.levels = Some(checked("levels", gain, checked_levels(gain))?);
                    Ok(())
                };

                /// Stretches the levels in use to the whole range, however few they are.
                fn levels_full() => |options| options.levels = Some(StretchLimit::Full);

                /// Sets the contrast limit, the largest slope of the curve: from 1 to 4096, or 0 for no limit; by
                /// default that of the look.
                fn max_gain(slope: f64), when "When `slope` is out of this range." => |options, slope| {
                    options.max_gain = Some(MaxGain::Fixed(checked("max-gain", slope, Gain::from_slope(slope))?));
                    Ok(())
                };

                /// Measures the noise of each scene, and lowers the look's contrast limit as far as keeps noise from
                /// being seen.
                fn max_gain_auto() => |options| options.max_gain = Some(MaxGain::Auto);

                /// Sets the length of the temporal window in seconds, from 0 (each frame by itself) to 3600, at most
                /// 512 frames; by default that of the look.
                fn smooth(seconds: f64), when "When `seconds` is out of this range." => |options, seconds| {
                    options.smooth = Some(Smooth::Seconds(checked("smooth", seconds, checked_seconds(seconds))?));
                    Ok(())
                };

                /// Gives all frames of a scene one curve, for which a [`survey`](crate::Builder::survey) finds the
                /// scenes first.
                fn smooth_scene() => |options| options.smooth = Some(Smooth::Scene);

                /// Sets the difference between two frames, from 0 to 1, above which they are a scene cut; by default
                /// that of the look.
                fn scene_threshold(difference: f64), when "When `difference` is out of this range." => |options, difference| {
                    let threshold = checked("scene-threshold", difference, Threshold::from_share(difference))?;
                    options.scene_threshold = Some(threshold);
                    Ok(())
                };

                /// Sets the largest count of one level of a frame, in samples; 0 is no cap. By default that of the
                /// look.
                fn plateau(samples: u32) => |options, samples| options.plateau = Some(checked_count(samples));

                /// Sets the largest count of one level of a frame, in percent of its samples, from 0 (no cap) to 100.
                fn plateau_percent(percent: f64), when "When `percent` is out of this range." => |options, percent| {
                    options.plateau = Some(checked("plateau", format_args!("{percent}%"), checked_percent(percent))?);
                    Ok(())
                };

                /// Sets the number of tiles of the methods clahe and detail, across and down, from 1 to 256 each; by
                /// default 8 x 8, or 16 x 12 with detail.
                fn tiles(columns: u32, rows: u32), when "When one of them is out of this range." => |options, columns, rows| {
                    let tiles = checked("tiles", format_args!("{columns}x{rows}"), checked_tiles(columns, rows))?;
                    options.tiles = Some(tiles);
                    Ok(())
                };

                /// Sets the number of histogram bins, from 2 to 65536; by default one for each level.
                fn bins(bins: u32), when "When `bins` is out of this range." => |options, bins| {
                    options.bins = Some(checked("bins", bins, checked_bins(bins))?);
                    Ok(())
                };

                /// Sets what happens to colour; by default what the look does.
                fn chroma(chroma: Chroma) => |options, chroma| options.chroma = Some(chroma);

                /// Leaves luma alone in the output, if `gray`; false by default.
                fn gray(gray: bool) => |options, gray| options.gray = gray;

                /// Counts the pixels of this rectangle alone: its upper left corner, counted from 0, and its columns
                /// and rows. By default, all pixels count.
                fn roi(x: usize, y: usize, width: usize, height: usize), when "When it has no pixel." => |options, x, y, width, height| {
                    let region = checked_region([x, y, width, height]);
                    options.region = checked("roi", format_args!("{x},{y},{width},{height}"), region)?;
                    Ok(())
                };

                /// Counts all pixels but those of black bars.
                fn roi_auto() => |options| options.region = Region::Auto;

                /// Sets the length of the part of the temporal window that lies after each frame, in seconds, from 0 to
                /// 3600, at most 511 frames. By default half of the window, at most 1 second and 256 MiB of frames; 0
                /// for live video. Scenes and noise wait for a few more frames, which
                /// [`reach`](crate::Equalizer::reach) counts.
                fn look_ahead(seconds: f64), when "When `seconds` is out of this range." => |options, seconds| {
                    options.look_ahead = Some(checked("look-ahead", seconds, checked_seconds(seconds))?);
                    Ok(())
                };

                /// Sets the share of noise that is removed, from 0 to 1. By default 1 with the method natural, as far
                /// as live video keeps up, else 0.
                fn denoise(share: f64), when "When `share` is out of this range." => |options, share| {
                    options.denoise = Some(checked("denoise", share, Strength::from_share(share))?);
                    Ok(())
                };

                /// Sets how much is done to remove noise: [`Effort::Fast`] by default.
                fn denoise_effort(effort: Effort) => |options, effort| options.denoise_effort = Some(effort);

                /// Sets the bits of the output: [`OutputDepth::AsInput`] by default.
                fn output_depth(depth: OutputDepth) => |options, depth| options.output_depth = depth;
        }
    };
}
pub(crate) use with_option_setters;

macro_rules! implement {
    ($($(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),*) $(, when $error:literal)? => $set:expr;)*) => {
        impl Options {
            $(implement! { @one $(#[$doc])* fn $name($($argument: $type),*) $(, when $error)? => $set })*
        }
    };
    (@one $(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),*), when $error:literal => $set:expr) => {
        $(#[$doc])*
        ///
        /// # Errors
        #[doc = $error]
        pub fn $name(mut self, $($argument: $type),*) -> Result<Self, OptionError> {
            let set: fn(&mut Options, $($type),*) -> Result<(), OptionError> = $set;
            set(&mut self, $($argument),*)?;
            Ok(self)
        }
    };
    (@one $(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),*) => $set:expr) => {
        $(#[$doc])*
        #[must_use]
        pub fn $name(mut self, $($argument: $type),*) -> Self {
            let set: fn(&mut Options, $($type),*) = $set;
            set(&mut self, $($argument),*);
            self
        }
    };
}
with_option_setters!(implement);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::OPTIONS;
    use std::collections::BTreeSet;

    /// The options that a setter makes, and the name and the text that mean the same.
    fn pairs() -> Result<Vec<(Options, &'static str, &'static str)>, OptionError> {
        let options = Options::default;
        Ok(vec![
            (options().look(Look::Night), "look", "night"),
            (options().strength(0.5)?, "strength", "0.5"),
            (options().method(MethodName::Clahe), "method", "clahe"),
            (options().levels(4096.0)?, "levels", "4096"),
            (options().levels_full(), "levels", "full"),
            (options().max_gain(1.5)?, "max-gain", "1.5"),
            (options().max_gain(0.0)?, "max-gain", "0"),
            (options().max_gain_auto(), "max-gain", "auto"),
            (options().smooth(0.25)?, "smooth", "0.25"),
            (options().smooth_scene(), "smooth", "scene"),
            (options().scene_threshold(1.0)?, "scene-threshold", "1"),
            (options().plateau(500), "plateau", "500"),
            (options().plateau(0), "plateau", "0"),
            (options().plateau_percent(0.5)?, "plateau", "0.5%"),
            (options().tiles(3, 256)?, "tiles", "3x256"),
            (options().bins(65536)?, "bins", "65536"),
            (options().chroma(Chroma::Follow), "chroma", "follow"),
            (options().gray(true), "gray", "true"),
            (options().roi(1, 2, 3, 4)?, "roi", "1,2,3,4"),
            (options().roi_auto(), "roi", "auto"),
            (options().look_ahead(3600.0)?, "look-ahead", "3600"),
            (options().denoise(1.0)?, "denoise", "1"),
            (options().denoise_effort(Effort::Best), "denoise-effort", "best"),
            (options().output_depth(OutputDepth::Ten), "output-depth", "10"),
        ])
    }

    #[test]
    fn each_option_has_a_setter_that_does_what_its_name_and_a_text_do() {
        let pairs = pairs().expect("valid values");
        for (found, name, text) in &pairs {
            let mut expected = Options::default();
            expected.set(name, text).expect("a valid text");
            assert_eq!(*found, expected, "{name} {text}");
        }
        let tested: BTreeSet<&str> = pairs.iter().map(|(_, name, _)| *name).collect();
        assert_eq!(tested, OPTIONS.iter().map(|option| option.name).collect());
    }

    #[test]
    fn values_out_of_range_are_refused_when_they_are_set() {
        let options = Options::default;
        let refused = [
            (options().strength(1.01), "strength is a number from 0 to 1, not 1.01"),
            (options().levels(0.0), "levels is a number from 1 (not stretched) to 4096, or full, not 0"),
            (options().max_gain(f64::NAN), "max-gain is 0 (no limit), from 1 to 4096, or auto, not NaN"),
            (options().smooth(-1.0), "smooth is a number of seconds from 0 to 3600, or scene, not -1"),
            (options().scene_threshold(2.0), "scene-threshold is a number from 0 to 1, not 2"),
            (options().denoise(f64::INFINITY), "denoise is a number from 0 to 1, not inf"),
        ];
        for (found, expected) in refused {
            assert_eq!(found.expect_err("out of range").to_string(), expected);
        }
        let rest = [
            options().plateau_percent(100.1),
            options().tiles(0, 8),
            options().bins(1),
            options().roi(0, 0, 0, 9),
            options().look_ahead(3600.5),
        ];
        assert!(rest.iter().all(Result::is_err));
        let built = crate::Equalizer::builder(crate::PixelFormat::Gray, 8, 8).max_gain(0.5);
        assert!(matches!(built.err(), Some(crate::Error::Option(_))));
    }
}
