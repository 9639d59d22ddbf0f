//! The only table of the options of equalization: name, values, help, and how an option is set and reported.

use super::{MaxGain, OptionError, Options, Smooth, parse};
use crate::spec::parameters::{
    Chroma, Denoise, Effort, Gain, Look, Method, MethodName, Named, OutputDepth, Plateau, Rect, Region, Settings,
    Strength, Stretch,
};

/// One option.
pub struct OptionInfo {
    /// Its name: `max-gain`.
    pub name: &'static str,
    /// The section of the help that lists the option.
    pub section: Section,
    /// The kind of its values.
    pub kind: ValueKind,
    /// The placeholder for a value in a command line's help: `SECONDS`.
    pub placeholder: &'static str,
    /// The valid values in a phrase, for errors: `a number from 0 to 1`.
    pub values: &'static str,
    /// The default; `by look` if the look decides.
    pub default: &'static str,
    /// A description in one line.
    pub summary: &'static str,
    /// A longer description, or an empty text. It contains names of options as `--name`.
    pub details: &'static str,
    /// Sets the option; `None` if the text is not a valid value.
    parse: fn(&mut Options, &str) -> Option<()>,
    /// The option's value in a video with these settings; `None` where the option has no effect.
    report: fn(&Options, &Settings) -> Option<OptionValue>,
}

/// The section of the help that lists an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// Among the options that most people need.
    Everyday,
    /// Among the options of equalization.
    Equalization,
    /// Among the options of equalization that need a file, because all frames have to exist already.
    Files,
    /// Among the options of the output.
    Output,
}

/// The kind of values of an option.
#[derive(Clone, Copy, Debug)]
pub enum ValueKind {
    /// No value: the option is set or not.
    Flag,
    /// A number from `least` to `most`.
    Number {
        /// The least value.
        least: f64,
        /// The largest value.
        most: f64,
    },
    /// One of these names, each with its description.
    Choice(fn() -> Vec<(&'static str, &'static str)>),
    /// Any text.
    Text,
}

/// The value of an option, as it is reported.
#[derive(Clone, Debug, PartialEq)]
pub enum OptionValue {
    /// A name or another text.
    Text(String),
    /// A whole number.
    Count(u64),
    /// A number.
    Number(f64),
    /// Whether a flag is set.
    Flag(bool),
}

fn text(value: impl Into<String>) -> Option<OptionValue> {
    Some(OptionValue::Text(value.into()))
}

fn count(value: impl Into<u64>) -> Option<OptionValue> {
    Some(OptionValue::Count(value.into()))
}

fn slope(gain: Gain) -> Option<OptionValue> {
    Some(OptionValue::Number(gain.to_256ths().map_or(0.0, |slope| f64::from(slope) / 256.0)))
}

fn choices<T: Named>() -> Vec<(&'static str, &'static str)> {
    T::ALL.iter().map(|value| (value.name(), value.about())).collect()
}

impl OptionInfo {
    /// The option of this name.
    pub fn named(name: &str) -> Option<&'static OptionInfo> {
        OPTIONS.iter().find(|option| option.name == name)
    }

    /// The names of the option's values, each with its description; empty unless the values are names.
    pub fn choices(&self) -> Vec<(&'static str, &'static str)> {
        if let ValueKind::Choice(choices) = self.kind { choices() } else { Vec::new() }
    }

    /// The least and the largest value; `None` unless the values are numbers.
    pub fn bounds(&self) -> Option<(f64, f64)> {
        if let ValueKind::Number { least, most } = self.kind { Some((least, most)) } else { None }
    }

    /// Sets the option in `options` to the value that `text` denotes; a flag accepts `true` and `false`.
    ///
    /// # Errors
    /// When `text` is not a valid value.
    pub fn set(&self, options: &mut Options, text: &str) -> Result<(), OptionError> {
        (self.parse)(options, text).ok_or_else(|| match self.kind {
            ValueKind::Choice(choices) => {
                let names: Vec<_> = choices().into_iter().map(|(name, _)| name).collect();
                let error = || OptionError::value(self.name, &format!("one of {}", names.join(", ")), text);
                OptionError::for_removed_value(self.name, text).unwrap_or_else(error)
            }
            _ => OptionError::value(self.name, self.values, text),
        })
    }

    /// The option's value in a video with these settings; `None` where the option has no effect. Times are in frames.
    #[doc(hidden)]
    pub fn report(&self, options: &Options, settings: &Settings) -> Option<OptionValue> {
        (self.report)(options, settings)
    }
}

/// All options, in the order in which they are listed.
pub static OPTIONS: &[OptionInfo] = &[
    OptionInfo {
        name: "look",
        section: Section::Everyday,
        kind: ValueKind::Choice(choices::<Look>),
        placeholder: "LOOK",
        values: "the name of a look",
        default: "natural",
        summary: "Preset for a kind of footage",
        details: "A preset sets --method, --levels, --strength, --max-gain, --plateau, --chroma, --smooth and \
                  --scene-threshold. Each of these options, if given, replaces the preset's value. Where one of them \
                  belongs to equalization (--plateau, --bins, --max-gain), --method is global then. auto is another \
                  name for natural.",
        parse: |options, text| Look::from_name(text).map(|look| options.look = look),
        report: |options, _| text(options.look.name()),
    },
    OptionInfo {
        name: "strength",
        section: Section::Everyday,
        kind: ValueKind::Number { least: 0.0, most: 1.0 },
        placeholder: "S",
        values: "a number from 0 to 1",
        default: "by look",
        summary: "Share of the correction to apply, 0 to 1",
        details: "With --method natural, and the look thermal without --levels, 0 is the input. With other \
                  equalization, 0 leaves the levels as --levels has them, 1 is fully equalized. With deflicker, it is \
                  how much of the flicker goes. There are 256 steps.",
        parse: |options, text| parse::strength(text).map(|strength| options.strength = Some(strength)),
        report: |options, settings| {
            let strength = match settings.stretch {
                Stretch::Full { share } if share != Strength::FULL => options.strength.unwrap_or(settings.strength),
                _ => settings.strength,
            };
            Some(OptionValue::Number(f64::from(strength.to_256ths()) / 256.0))
        },
    },
    OptionInfo {
        name: "method",
        section: Section::Everyday,
        kind: ValueKind::Choice(choices::<MethodName>),
        placeholder: "METHOD",
        values: "the name of a method",
        default: "by look",
        summary: "What is done",
        details: "",
        parse: |options, text| MethodName::from_name(text).map(|method| options.method = Some(method)),
        report: |_, settings| text(settings.method.name().name()),
    },
    OptionInfo {
        name: "levels",
        section: Section::Equalization,
        kind: ValueKind::Text,
        placeholder: "S",
        values: "a number from 1 (not stretched) to 4096, or full",
        default: "by look",
        summary: "The most that the range of levels in use is stretched, 1 (not at all) to 4096, or full",
        details: "The darkest and the brightest colours of a scene are moved towards black and white, as far as the \
                  range between is unused; equalization adds its share to that. full stretches them to the whole \
                  range, however few they are. With --method natural, neither contrast nor light has a larger gain.",
        parse: |options, text| parse::levels(text).map(|levels| options.levels = Some(levels)),
        report: |_, settings| match (settings.method, settings.stretch) {
            (Method::Natural { most, .. }, _) => most.to_256ths().and(slope(most)),
            (_, Stretch::Off) => Some(OptionValue::Number(1.0)),
            (_, Stretch::Unused { most, .. }) => slope(most),
            // A share below 1 is the `strength` of the look thermal, which is reported as that option.
            (_, Stretch::Full { share }) => (share == Strength::FULL).then(|| text("full")).flatten(),
        },
    },
    OptionInfo {
        name: "max-gain",
        section: Section::Equalization,
        kind: ValueKind::Text,
        placeholder: "G",
        values: "0 (no limit), from 1 to 4096, or auto",
        default: "by look",
        summary: "Contrast limit: the largest slope of the curve, 1 to 4096; 0 is no limit; or auto",
        details: "This is about the most by which equalization amplifies contrast, and with it noise, beyond --levels. \
                  Higher values show more, lower ones are calmer, and 1 adds nothing. With --method clahe, it is the \
                  clip limit of OpenCV: what is cut off the counts of a tile is spread over all levels again, so that \
                  the slope is up to 1 more, and no level is cut below one pixel. A tile with fewer pixels than there \
                  are levels, as of 16 bits, has hardly a limit: 256 --bins give it one. auto measures the noise of \
                  each scene, and lowers the look's limit and --levels as far as keeps noise from being seen; with \
                  --method global and clahe, and a temporal window. With --method detail, it is the gain of detail, \
                  4 for thermal and else 2, which noise always lowers.",
        parse: |options, text| parse::max_gain(text).map(|gain| options.max_gain = Some(gain)),
        report: |_, settings| match settings.method.name() {
            // This method does not equalize, so the limit has no effect.
            MethodName::Natural => None,
            MethodName::Detail => slope(settings.max_gain),
            _ if settings.hides_noise => text("auto"),
            _ => slope(settings.max_gain),
        },
    },
    OptionInfo {
        name: "smooth",
        section: Section::Equalization,
        kind: ValueKind::Text,
        placeholder: "SECONDS",
        values: "a number of seconds from 0 to 3600, or scene",
        default: "by look",
        summary: "Length of the temporal window in seconds, 0 to 3600, at most 512 frames; or scene",
        details: "The frames of a scene within the window share one histogram, which prevents flicker. A longer window \
                  is steadier and follows changes of light more slowly; 0 equalizes each frame by itself. Light that \
                  wavers more slowly than this window is no flicker to --method deflicker. scene gives all frames of a \
                  scene the same curve: a file is then read twice. Not with --look-ahead, --method clahe, detail, \
                  deflicker, asinh or midtones, pipes, network streams and live.",
        parse: |options, text| parse::smooth(text).map(|smooth| options.smooth = Some(smooth)),
        report: |options, settings| match options.smooth {
            Some(Smooth::Scene) => text("scene"),
            _ => count(settings.smoothing.frames()),
        },
    },
    OptionInfo {
        name: "scene-threshold",
        section: Section::Equalization,
        kind: ValueKind::Number { least: 0.0, most: 1.0 },
        placeholder: "T",
        values: "a number from 0 to 1",
        default: "by look",
        summary: "Difference between two frames, 0 to 1, above which they are a scene cut",
        details: "The difference is that of brightness in most parts of the picture. A cut restarts the temporal \
                  window. Lower values find more cuts, at each of which brightness may jump; 1 finds none.",
        parse: |options, text| parse::threshold(text).map(|threshold| options.scene_threshold = Some(threshold)),
        report: |_, settings| Some(OptionValue::Number(f64::from(settings.scene_threshold.to_1000ths()) / 1e3)),
    },
    OptionInfo {
        name: "plateau",
        section: Section::Equalization,
        kind: ValueKind::Text,
        placeholder: "P",
        values: "a count like 500 or a percentage like 0.5%",
        default: "by look",
        summary: "Maximum count of one level of a frame, in samples (500) or in percent of the frame (0.5%); 0 is no \
                  cap",
        details: "A cap keeps large flat areas from taking contrast away from small details; the lower it is, the more \
                  range small details get. Not with --method clahe and detail.",
        parse: |options, text| parse::plateau(text).map(|plateau| options.plateau = Some(plateau)),
        report: |_, settings| match settings.plateau {
            _ if settings.method.name() == MethodName::Natural => None,
            Plateau::Off => count(0_u32),
            Plateau::Count(samples) => count(samples),
            Plateau::Millionths(millionths) => text(format!("{}%", f64::from(millionths) / 1e4)),
        },
    },
    OptionInfo {
        name: "denoise",
        section: Section::Equalization,
        kind: ValueKind::Number { least: 0.0, most: 1.0 },
        placeholder: "S",
        values: "a number from 0 to 1",
        default: "1 with --method natural, for files and, as far as it keeps up, in live, else 0",
        summary: "Remove noise along motion before all else: 0 is off, 1 is all of it",
        details: "With --method natural, noise goes as far as the correction would show it: what is not lifted keeps \
                  its noise, and its bytes. With other methods it goes from every frame. A frame is made clean with \
                  the three before it and, of files, the three behind it, never across a cut. Not with --smooth scene \
                  and --load-curves.",
        parse: |options, text| parse::strength(text).map(|share| options.denoise = Some(share)),
        report: |_, settings| Some(OptionValue::Number(f64::from(settings.denoise.share().to_256ths()) / 256.0)),
    },
    OptionInfo {
        name: "denoise-effort",
        section: Section::Equalization,
        kind: ValueKind::Choice(choices::<Effort>),
        placeholder: "EFFORT",
        values: "the name of an effort",
        default: "fast, where noise goes",
        summary: "How much is done to remove noise",
        details: "Frames of pipes, streams and cameras are made clean with those before them; of pipes and streams, \
                  --look-ahead adds the two behind.",
        parse: |options, text| Effort::from_name(text).map(|effort| options.denoise_effort = Some(effort)),
        report: |_, settings| match settings.denoise {
            Denoise::Off => None,
            denoise => text(denoise.effort().name()),
        },
    },
    OptionInfo {
        name: "tiles",
        section: Section::Equalization,
        kind: ValueKind::Text,
        placeholder: "CxR",
        values: "two numbers from 1 to 256 like 8x8",
        default: "8x8, with --method detail 16x12",
        summary: "Number of tiles of --method clahe and detail, across and down, 1 to 256 each",
        details: "More tiles bring out smaller structures, and their noise.",
        parse: |options, text| parse::tiles(text).map(|tiles| options.tiles = Some(tiles)),
        report: |_, settings| settings.method.grid().and_then(|(columns, rows)| text(format!("{columns}x{rows}"))),
    },
    OptionInfo {
        name: "bins",
        section: Section::Equalization,
        kind: ValueKind::Number { least: 2.0, most: 65536.0 },
        placeholder: "B",
        values: "a number from 2 to 65536",
        default: "one for each level",
        summary: "Number of histogram bins, 2 to 65536",
        details: "With fewer bins than levels the curve is smoother: it is straight within each bin.",
        parse: |options, text| parse::bins(text).map(|bins| options.bins = Some(bins)),
        report: |_, settings| settings.bins.and_then(count),
    },
    OptionInfo {
        name: "chroma",
        section: Section::Equalization,
        kind: ValueKind::Choice(choices::<Chroma>),
        placeholder: "CHROMA",
        values: "the name of a treatment of colour",
        default: "by look",
        summary: "What happens to colour",
        details: "",
        parse: |options, text| Chroma::from_name(text).map(|chroma| options.chroma = Some(chroma)),
        report: |_, settings| text(settings.chroma.name()),
    },
    OptionInfo {
        name: "gray",
        section: Section::Equalization,
        kind: ValueKind::Flag,
        placeholder: "",
        values: "true or false",
        default: "false",
        summary: "Write luma only",
        details: "",
        parse: |options, text| text.parse().ok().map(|gray| options.gray = gray),
        report: |options, _| Some(OptionValue::Flag(options.gray)),
    },
    OptionInfo {
        name: "roi",
        section: Section::Equalization,
        kind: ValueKind::Text,
        placeholder: "X,Y,W,H",
        values: "X,Y,W,H in pixels, or auto",
        default: "whole frame",
        summary: "Count the histogram in this rectangle only, in pixels of the decoded picture, or auto: all but black \
                  bars",
        details: "X,Y is the upper left corner, counted from 0,0. The curve applies to the whole picture. Not \
                  with --method clahe and detail, which count each tile.",
        parse: |options, text| parse::region(text).map(|region| options.region = region),
        report: |_, settings| match settings.region {
            Region::Whole => None,
            Region::Fixed(Rect { x, y, width, height }) => text(format!("{x},{y},{width},{height}")),
            Region::Auto => text("auto"),
        },
    },
    OptionInfo {
        name: "look-ahead",
        section: Section::Files,
        kind: ValueKind::Number { least: 0.0, most: 3600.0 },
        placeholder: "SECONDS",
        values: "a number of seconds from 0 to 3600",
        default: "half of --smooth for files, at most 1 second and 256 MiB of frames; 0 for pipes and URLs",
        summary: "Length of the part of --smooth that lies ahead of each frame, in seconds, 0 to 3600",
        details: "With a look-ahead, the first frames of a scene flicker no more than the rest. It delays the output \
                  by its length and holds that many frames in memory; 0 delays nothing.",
        parse: |options, text| parse::seconds(text).map(|seconds| options.look_ahead = Some(seconds)),
        report: |_, settings| count(settings.look_ahead()),
    },
    OptionInfo {
        name: "output-depth",
        section: Section::Output,
        kind: ValueKind::Choice(|| OutputDepth::CHOICES.map(|(name, about, _)| (name, about)).to_vec()),
        placeholder: "BITS",
        values: "auto, 8 or 10",
        default: "auto",
        summary: "Bits of the output: against bands in skies and other smooth areas of 8-bit video",
        details: "With 8 and 10, 8-bit video gets noise of half a level, too fine to be seen, before its contrast \
                  grows, so that no gaps come between the levels. For files that are encoded, 10 serves best.",
        parse: |options, text| {
            let (.., depth) = OutputDepth::CHOICES.into_iter().find(|(name, ..)| *name == text)?;
            options.output_depth = depth;
            Some(())
        },
        report: |options, _| match options.output_depth {
            OutputDepth::AsInput => text("auto"),
            OutputDepth::Eight => count(8_u32),
            OutputDepth::Ten => count(10_u32),
        },
    },
];

impl MaxGain {
    /// The limit, if it is a fixed one.
    pub(super) fn fixed(self) -> Option<Gain> {
        match self {
            MaxGain::Fixed(gain) => Some(gain),
            MaxGain::Auto => None,
        }
    }
}
