//! Options that choose how to equalize.

use super::look::{ChromaArg, LookArg, MethodArg};
use super::output::DepthArgs;
use super::region::check_region;
use super::values::{curves_name, number, usage, value};
use anyhow::Result;
use clap::error::ErrorKind;
use clap::{Args, ValueEnum};
use histeq::equalize::OutputDepth;
use histeq::spec::{
    Chroma, Footage, Gain, Measure, Method, Plateau, Rect, Region, Settings, Smoothing, Strength, Stretch, Threshold,
    clahe::TileBins,
};
use histeq_media::ffmpeg::parse_size;
use histeq_media::pipeline::{Input, InputKind, Notices};
use histeq_media::source::DenoiseKind;
use histeq_media::sys::is_pipe;
use serde_json::{Map, Value, json};

/// How to equalize, as typed.
#[derive(Args, Debug)]
pub struct EqualizeArgs {
    /// Preset for a kind of footage
    ///
    /// A preset sets --method, --levels, --strength, --max-gain, --plateau, --chroma, --smooth and --scene-threshold. Each of
    /// these options, if given, replaces the preset's value.
    #[arg(long, value_enum, value_name = "LOOK", default_value_t = LookArg::Natural)]
    pub look: LookArg,

    /// Share of the equalization to apply, 0 to 1 [default: by look]
    ///
    /// 0 leaves the levels as --levels has them, 1 is fully equalized; there are 256 steps.
    #[arg(long, value_parser = number::<f64>, value_name = "S", allow_negative_numbers = true)]
    pub strength: Option<f64>,

    /// What is done [default: by look]
    #[arg(long, value_enum)]
    pub method: Option<MethodArg>,

    /// Textbook equalization of each frame by itself, the same as --look exact
    ///
    /// No temporal window, contrast limit or plateau: noise in flat pictures grows, and brightness can flicker. Goes with
    /// none of the options that choose these.
    #[arg(long, conflicts_with_all = ["look", "smooth", "scene_threshold", "max_gain", "plateau", "strength", "method"])]
    #[arg(conflicts_with = "levels")]
    #[arg(help_heading = "Equalization", hide_short_help = true)]
    pub exact: bool,

    /// The most that the range of levels in use is stretched, 1 (not at all) to 4096 [default: by look]
    ///
    /// The darkest and the brightest colours of a scene are moved towards black and white, as far as the range between is
    /// unused; equalization adds its share to that.
    #[arg(long, value_parser = number::<f64>, value_name = "S", allow_negative_numbers = true)]
    #[arg(help_heading = "Equalization", hide_short_help = true)]
    pub levels: Option<f64>,

    /// Contrast limit: the largest slope of the curve, 1 to 4096; 0 is no limit; or auto [default: by look]
    ///
    /// This is about the most by which equalization amplifies contrast, and with it noise, beyond --levels. Higher values
    /// show more, lower ones are calmer, and 1 adds nothing. auto measures the noise of each scene, and lowers the look's limit
    /// and --levels as far as keeps noise from being seen; with --method global and clahe, and a temporal window.
    #[arg(long, value_name = "G", allow_negative_numbers = true)]
    #[arg(help_heading = "Equalization", hide_short_help = true)]
    pub max_gain: Option<String>,

    /// Length of the temporal window in seconds, 0 to 3600, at most 512 frames; or scene [default: by look]
    ///
    /// The frames of a scene within the window share one histogram, which prevents flicker. A longer window is steadier and
    /// follows changes of light more slowly; 0 equalizes each frame by itself. scene gives all frames of a scene the same curve:
    /// a file is then read twice. Not with --look-ahead, --method clahe or --method deflicker, pipes, network streams and live.
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    #[arg(help_heading = "Equalization", hide_short_help = true)]
    pub smooth: Option<String>,

    /// Difference between two frames, 0 to 1, above which they are a scene cut [default: by look]
    ///
    /// The difference is that of brightness in most parts of the picture. A cut restarts the temporal window. Lower values find
    /// more cuts, at each of which brightness may jump; 1 finds none.
    #[arg(long, value_parser = number::<f64>, value_name = "T", allow_negative_numbers = true)]
    #[arg(help_heading = "Equalization", hide_short_help = true)]
    pub scene_threshold: Option<f64>,

    /// Maximum count of one level of a frame, in samples (500) or in percent of the frame (0.5%); 0 is no cap
    /// [default: by look]
    ///
    /// A cap keeps large flat areas from taking contrast away from small details; the lower it is, the more range small
    /// details get. Not with --method clahe.
    #[arg(long, value_name = "P", help_heading = "Equalization", hide_short_help = true)]
    pub plateau: Option<String>,

    /// Number of tiles of --method clahe, across and down, 1 to 256 each [default: 8x8]
    ///
    /// More tiles bring out smaller structures, and their noise.
    #[arg(long, value_name = "CxR", help_heading = "Equalization", hide_short_help = true)]
    pub tiles: Option<String>,

    /// Number of histogram bins, 2 to 65536 [default: one for each level]
    ///
    /// With fewer bins than levels the curve is smoother: it is straight within each bin.
    #[arg(long, value_name = "B", value_parser = clap::value_parser!(u32).range(2..=65536))]
    #[arg(help_heading = "Equalization", hide_short_help = true)]
    pub bins: Option<u32>,

    /// What happens to colour [default: by look]
    #[arg(long, value_enum, help_heading = "Equalization", hide_short_help = true)]
    pub chroma: Option<ChromaArg>,

    /// Write luma only
    #[arg(long, help_heading = "Equalization", hide_short_help = true)]
    pub gray: bool,

    /// Count the histogram in this rectangle only, in pixels of the decoded picture, or auto: all but black bars
    /// [default: whole frame]
    ///
    /// X,Y is the upper left corner, counted from 0,0. The curve applies to the whole picture. With --method clahe, which
    /// counts each tile, the levels that are stretched are those of the rectangle.
    #[arg(long, value_name = "X,Y,W,H", help_heading = "Equalization", hide_short_help = true)]
    pub roi: Option<String>,

    /// Count each pixel by the brightness of this picture: black does not count, white counts fully
    ///
    /// For the rim of a fisheye lens, an endoscope's surroundings, a clock that is burnt in. The picture has the size of the
    /// video; the curve applies to all of it. For scenes, levels and haze, a pixel counts unless it is black. Within --roi, if
    /// both are given. Not with --method clahe.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    #[arg(help_heading = "Equalization", hide_short_help = true)]
    pub mask: Option<String>,

    /// Write the curves of all frames to this file, as lines of JSON that can be edited; not with --method clahe
    ///
    /// A name that ends in .npz makes an archive that NumPy reads, with a record for each frame; it cannot be loaded again.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    #[arg(help_heading = "Equalization", hide_short_help = true)]
    pub save_curves: Option<String>,

    /// Apply the curves in this file instead of equalizing
    ///
    /// Of the options that choose how to equalize, only --strength, --chroma and --gray go with it.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    #[arg(help_heading = "Equalization", hide_short_help = true)]
    #[arg(conflicts_with_all = ["look", "exact", "smooth", "scene_threshold", "max_gain", "plateau", "levels"])]
    #[arg(conflicts_with_all = ["method", "tiles", "bins", "roi", "mask"])]
    pub load_curves: Option<String>,
}

/// The checked options of equalization; the look decides where an option is `None`.
#[derive(Clone, Debug)]
pub struct EqualizeOptions {
    look: LookArg,
    /// Seconds.
    smooth: Option<f64>,
    whole_scenes: bool,
    scene_threshold: Option<Threshold>,
    plateau: Option<Plateau>,
    max_gain: Option<Gain>,
    hides_noise: bool,
    strength: Option<Strength>,
    levels: Option<Gain>,
    method: Option<MethodArg>,
    tiles: (u32, u32),
    bins: Option<u32>,
    chroma: Option<ChromaArg>,
    region: Region,
    /// Look-ahead in seconds, if given.
    look_ahead: Option<f64>,
    /// Whether a look-ahead is the default: for files, not for live input.
    may_look_ahead: bool,
    /// File of the picture by which pixels count.
    pub mask: Option<String>,
    /// Whether only luma is written.
    pub gray: bool,
    /// How many bits come out.
    pub output_depth: OutputDepth,
    /// File to write the curves to.
    pub save_curves: Option<String>,
    /// File of curves to apply in place of equalization.
    pub load_curves: Option<String>,
}

/// Memory for the frames of the default look-ahead, bytes.
const LOOK_AHEAD_MEMORY: usize = 256 << 20;

/// The temporal window of --method deflicker: a longer one takes slow changes for flicker.
const DEFLICKER_SECONDS: f64 = 1.0;

impl EqualizeOptions {
    /// Checks and converts `args`.
    ///
    /// # Errors
    /// When options conflict, or a value is out of range: a usage error.
    pub(super) fn from_args(args: EqualizeArgs, depth: DepthArgs) -> Result<Self, clap::Error> {
        let save_curves = curves_name(args.save_curves)?;
        let invalid = |message: &str| usage(ErrorKind::ValueValidation, message);
        let whole_scenes = args.smooth.as_deref() == Some("scene");
        let smooth = args.smooth.filter(|_| !whole_scenes);
        let smooth = value("--smooth", "a number of seconds from 0 to 3600, or scene", smooth, parse_seconds)?;
        let clahe = args.method == Some(MethodArg::Clahe);
        if whole_scenes && (clahe || args.method == Some(MethodArg::Deflicker)) {
            let message = "--smooth scene does not go with --method clahe or --method deflicker";
            return Err(usage(ErrorKind::ArgumentConflict, message));
        }
        if args.mask.as_deref().is_some_and(|name| name.is_empty() || is_pipe(name)) {
            return Err(invalid("--mask takes a file's name"));
        }
        for (given, option) in [(args.plateau.is_some(), "--plateau"), (args.mask.is_some(), "--mask")] {
            if clahe && given {
                return Err(usage(ErrorKind::ArgumentConflict, &format!("{option} does not go with --method clahe")));
            }
        }
        if save_curves.is_some() && clahe {
            let message = "--save-curves does not go with --method clahe, which has a curve for each tile";
            return Err(usage(ErrorKind::ArgumentConflict, message));
        }
        if args.tiles.is_some() && !clahe {
            return Err(usage(ErrorKind::ArgumentConflict, "--tiles goes with --method clahe only"));
        }
        let tiles = value("--tiles", "two numbers from 1 to 256 like 8x8", args.tiles, parse_tiles)?;
        let strength = args
            .strength
            .map(|share| Strength::from_share(share).ok_or_else(|| invalid("--strength is between 0 and 1")));
        let threshold = args
            .scene_threshold
            .map(|share| Threshold::from_share(share).ok_or_else(|| invalid("--scene-threshold is between 0 and 1")));
        let hides_noise = args.max_gain.as_deref() == Some("auto");
        let own_method = args.method.is_some_and(|method| !matches!(method, MethodArg::Global | MethodArg::Clahe));
        if hides_noise && own_method {
            let message = "--max-gain auto goes with --method global and --method clahe only";
            return Err(usage(ErrorKind::ArgumentConflict, message));
        }
        if hides_noise && !whole_scenes && smooth.map_or(args.look == LookArg::Exact, |seconds| seconds == 0.0) {
            let message = "--max-gain auto measures noise over the temporal window: give --smooth more than 0 seconds";
            return Err(usage(ErrorKind::ArgumentConflict, message));
        }
        let max_gain = args.max_gain.filter(|_| !hides_noise);
        let max_gain = value("--max-gain", "0 (no limit), from 1 to 4096, or auto", max_gain, parse_gain)?;
        let levels = args.levels.map(|most| {
            let gain = Gain::from_slope(most).filter(|gain| *gain != Gain::OFF);
            gain.ok_or_else(|| invalid("--levels is from 1 (not stretched) to 4096"))
        });
        Ok(EqualizeOptions {
            // Loaded curves already include the look.
            look: if args.exact || args.load_curves.is_some() { LookArg::Exact } else { args.look },
            smooth,
            whole_scenes,
            scene_threshold: threshold.transpose()?,
            plateau: value("--plateau", "a count like 500 or a percentage like 0.5%", args.plateau, parse_plateau)?,
            max_gain,
            hides_noise,
            strength: strength.transpose()?,
            levels: levels.transpose()?,
            method: args.method,
            tiles: tiles.unwrap_or((8, 8)),
            bins: args.bins,
            chroma: args.chroma,
            region: value("--roi", "X,Y,W,H in pixels, or auto", args.roi, parse_region)?.unwrap_or_default(),
            look_ahead: None,
            may_look_ahead: false,
            mask: args.mask,
            gray: args.gray,
            output_depth: depth.into(),
            save_curves,
            load_curves: args.load_curves,
        })
    }

    /// The options of this look and no others, for a file.
    pub fn of_look(look: LookArg) -> Self {
        EqualizeOptions {
            look,
            smooth: None,
            whole_scenes: false,
            scene_threshold: None,
            plateau: None,
            max_gain: None,
            hides_noise: false,
            strength: None,
            levels: None,
            method: None,
            tiles: (8, 8),
            bins: None,
            chroma: None,
            region: Region::default(),
            look_ahead: None,
            may_look_ahead: true,
            mask: None,
            gray: false,
            output_depth: OutputDepth::AsInput,
            save_curves: None,
            load_curves: None,
        }
    }

    /// The same for a job that reads `input`, with this look-ahead in seconds, if given.
    ///
    /// # Errors
    /// When the look-ahead is out of range: a usage error.
    pub(super) fn for_file(self, seconds: Option<f64>, input: &str) -> Result<Self, clap::Error> {
        if seconds.is_some_and(|seconds| !(0.0..=3600.0).contains(&seconds)) {
            return Err(usage(ErrorKind::ValueValidation, "--look-ahead is a number of seconds from 0 to 3600"));
        }
        let may_look_ahead = !is_pipe(input) && !input.contains("://");
        if self.whole_scenes && !may_look_ahead {
            return Err(live_is_read_once());
        }
        if self.whole_scenes && seconds.is_some() {
            let message = "--look-ahead does not go with --smooth scene, which looks at all of a scene";
            return Err(usage(ErrorKind::ArgumentConflict, message));
        }
        Ok(EqualizeOptions { look_ahead: seconds, may_look_ahead, ..self })
    }

    /// The same for live input.
    ///
    /// # Errors
    /// When it has to be read twice: a usage error.
    pub(super) fn for_live(self) -> Result<Self, clap::Error> {
        if self.whole_scenes { Err(live_is_read_once()) } else { Ok(self) }
    }

    /// The files that are read.
    pub fn read_files(&self) -> impl Iterator<Item = &String> {
        self.load_curves.iter().chain(&self.mask)
    }

    /// Whether the window of a frame is its whole scene, which is found in a pass of its own.
    pub fn has_whole_scenes(&self) -> bool {
        self.whole_scenes
    }

    /// Whether each tile gets a curve.
    #[cfg(feature = "lab")]
    pub(super) fn is_clahe(&self) -> bool {
        self.method == Some(MethodArg::Clahe)
    }

    /// Whether the curve is that of the plain histogram of each frame, for any input.
    #[cfg(feature = "lab")]
    pub(super) fn is_textbook(&self) -> bool {
        let plain_window = !self.whole_scenes && self.smooth.is_none_or(|seconds| seconds == 0.0);
        let plain_bins = self.bins.is_none() && self.plateau.is_none_or(|plateau| plateau == Plateau::Off);
        let unlimited = self.max_gain.is_none_or(|gain| gain == Gain::OFF);
        self.look == LookArg::Exact
            && !self.is_clahe()
            && self.mask.is_none()
            && self.output_depth == OutputDepth::AsInput
            && plain_window
            && plain_bins
            && unlimited
            && !self.hides_noise
    }

    /// The look.
    pub fn look(&self) -> LookArg {
        self.look
    }

    /// Whether the look is still to be chosen, by the first frames of the input.
    pub fn look_is_open(&self) -> bool {
        self.look == LookArg::Auto
    }

    /// Chooses the look that suits these frames. Returns a line that says which, and why.
    pub fn choose_look(&mut self, frames: &[Measure]) -> String {
        let footage = Footage::of(frames);
        self.look = LookArg::for_footage(footage);
        LookArg::reason(footage)
    }

    /// The most frames before and behind the requested part that any look asks for.
    pub fn most_around(&self, input: &Input) -> (u32, u32) {
        // Night has the longest window. Its denoiser asks for some more.
        let smooth = self.smooth.unwrap_or_else(|| LookArg::Night.numbers(input.kind()).smooth);
        let smoothing = self.smoothing(smooth, input);
        let settings =
            Settings { smoothing, region: self.region, scene_threshold: Threshold::ZERO, ..Settings::default() };
        (settings.warm_up() + 16, settings.look_ahead() + 16)
    }

    /// What removes noise before equalization, by the look.
    pub fn denoiser(&self) -> Option<DenoiseKind> {
        self.look.numbers(InputKind::Video).denoise
    }

    /// The settings for this input.
    ///
    /// # Errors
    /// When `--roi` lies outside the picture; with `--strict`, also when it extends past its edge.
    pub fn resolve(&self, input: &Input, notices: &Notices) -> Result<Settings> {
        let look = self.look.numbers(input.kind());
        let method = self.method.unwrap_or(look.method);
        // The plateaus of the looks are for a single curve, and so is their strength.
        let (max_gain, plateau, strength) = if method == MethodArg::Clahe {
            (look.max_gain_of_tiles, Plateau::Off, 1.0)
        } else {
            (look.max_gain, look.plateau, look.strength)
        };
        if method == MethodArg::Clahe && self.look != LookArg::Exact {
            let given =
                [("--max-gain", max_gain, self.max_gain.is_some()), ("--strength", strength, self.strength.is_some())];
            let own: Vec<String> = given
                .iter()
                .filter(|(.., given)| !given)
                .map(|(option, value, _)| format!("{option} {value}"))
                .collect();
            if !own.is_empty() {
                notices.note(&format!("--method clahe has its own {}, not those of the look", own.join(" and ")));
            }
        }
        let levels_there = input.picture.map(|(format, _)| 1_u32 << format.depth().min(16));
        let resolution = self.bins.or(levels_there).filter(|&bins| bins as usize > TileBins::MAX);
        if let Some(bins) = resolution.filter(|_| method == MethodArg::Clahe) {
            let most = TileBins::MAX;
            notices.note(&format!("--method clahe counts {most} steps of brightness in a tile, not {bins}"));
        }
        let smooth = if method == MethodArg::Deflicker { DEFLICKER_SECONDS } else { look.smooth };
        // The numbers of the looks are in range.
        let gain = |slope| Gain::from_slope(slope).unwrap_or_default();
        let levels = self.levels.unwrap_or(gain(look.levels));
        let settings = Settings {
            method: match method {
                MethodArg::Global => Method::Global,
                MethodArg::Clahe => Method::Clahe { columns: self.tiles.0, rows: self.tiles.1 },
                MethodArg::Dehaze => Method::Dehaze,
                MethodArg::Deflicker => Method::Deflicker,
                MethodArg::Balance => Method::Balance,
            },
            smoothing: self.smoothing(self.smooth.unwrap_or(smooth), input),
            scene_threshold: self
                .scene_threshold
                .unwrap_or_else(|| Threshold::from_share(look.scene_threshold).unwrap_or_default()),
            plateau: self.plateau.unwrap_or(plateau),
            bins: self.bins,
            max_gain: self.max_gain.unwrap_or(gain(max_gain)),
            hides_noise: self.hides_noise,
            strength: self.strength.unwrap_or_else(|| Strength::from_share(strength).unwrap_or_default()),
            stretch: match (method, levels == gain(1.0), look.is_dark) {
                // What is asked for is done, needed or not.
                (MethodArg::Global, false, false) => Stretch::Unused { most: levels, fades: self.strength.is_none() },
                (MethodArg::Clahe, true, false) if look.fills_range && self.levels.is_none() => Stretch::Full,
                (MethodArg::Clahe, false, false) => Stretch::Unused { most: levels, fades: false },
                (MethodArg::Global | MethodArg::Clahe, false, true) => Stretch::Dark { most: levels },
                _ => Stretch::Off,
            },
            region: self.region,
            // What was kept of colour is the gain that it follows.
            chroma: match self.chroma.unwrap_or(if self.load_curves.is_some() {
                ChromaArg::Follow
            } else {
                look.chroma
            }) {
                ChromaArg::Keep => Chroma::Keep,
                ChromaArg::Follow => Chroma::Follow,
                ChromaArg::Scale => Chroma::Scale,
            },
            keeps_peak: self.look != LookArg::Exact,
        };
        check_region(&settings, input, notices)?;
        Ok(settings)
    }

    /// The settings that hold, by the names of their options; times are in frames.
    pub fn told(&self, settings: &Settings) -> Map<String, Value> {
        let slope = |gain: Gain| gain.of_256().map_or(0.0, |slope| f64::from(slope) / 256.0);
        let look = self.look.to_possible_value().map(|look| look.get_name().to_owned());
        let (method, tiles) = match settings.method {
            Method::Global => ("global", None),
            Method::Clahe { columns, rows } => ("clahe", Some(format!("{columns}x{rows}"))),
            Method::Dehaze => ("dehaze", None),
            Method::Deflicker => ("deflicker", None),
            Method::Balance => ("balance", None),
        };
        let told = json!({
            "look": look.filter(|_| self.load_curves.is_none()),
            "load-curves": self.load_curves,
            "method": method,
            "tiles": tiles,
            "smooth": if self.whole_scenes { json!("scene") } else { json!(settings.smoothing.frames()) },
            "look-ahead": settings.look_ahead(),
            "scene-threshold": f64::from(settings.scene_threshold.of_1000()) / 1e3,
            "levels": match settings.stretch {
                Stretch::Off => json!(1.0),
                Stretch::Unused { most, .. } | Stretch::Dark { most } => json!(slope(most)),
                Stretch::Full => json!("full"),
            },
            "strength": f64::from(settings.strength.of_256()) / 256.0,
            "max-gain": if self.hides_noise { json!("auto") } else { json!(slope(settings.max_gain)) },
            "plateau": match settings.plateau {
                Plateau::Off => json!(0),
                Plateau::Count(count) => json!(count),
                Plateau::Millionths(millionths) => json!(format!("{}%", f64::from(millionths) / 1e4)),
            },
            "bins": settings.bins,
            "chroma": match settings.chroma {
                Chroma::Keep => "keep",
                Chroma::Follow => "follow",
                Chroma::Scale => "scale",
            },
            "gray": self.gray,
            "roi": match settings.region {
                Region::Whole => Value::Null,
                Region::Fixed(Rect { x, y, width, height }) => json!(format!("{x},{y},{width},{height}")),
                Region::Auto => json!("auto"),
            },
            "mask": self.mask,
            "output-depth": match self.output_depth {
                OutputDepth::AsInput => json!("auto"),
                OutputDepth::Eight | OutputDepth::EightAgain => json!(8),
                OutputDepth::Ten => json!(10),
            },
        });
        // What does not hold is left out.
        let Value::Object(told) = told else { return Map::new() };
        told.into_iter().filter(|(_, value)| !value.is_null()).collect()
    }

    /// A temporal window of `seconds` seconds, with its look-ahead.
    fn smoothing(&self, seconds: f64, input: &Input) -> Smoothing {
        let rate = input.rate().unwrap_or(25.0);
        if self.whole_scenes {
            // The window is found in the first pass. How long a flash may be depends on the rate alone.
            return Smoothing::of_seconds(1.0, rate);
        }
        let smoothing = Smoothing::of_seconds(seconds, rate);
        smoothing.looking_ahead(match self.look_ahead {
            Some(seconds) => (seconds * rate).round().min(f64::from(Smoothing::MOST)) as u32,
            None if self.may_look_ahead => {
                // Frames wait in the depth that they are equalized in: those of 8 bits take twice the memory.
                let is_lifted = self.output_depth != OutputDepth::AsInput
                    && input.picture.is_some_and(|(format, _)| format.depth() == 8);
                let memory = if is_lifted { LOOK_AHEAD_MEMORY / 2 } else { LOOK_AHEAD_MEMORY };
                let frames = memory / input.frame_bytes().unwrap_or(memory).max(1);
                // As many as the longest flash has wait for their scene to be known.
                (smoothing.frames() / 2).min((frames as u32).saturating_sub(smoothing.flash()))
            }
            None => 0,
        })
    }
}

fn live_is_read_once() -> clap::Error {
    usage(
        ErrorKind::ArgumentConflict,
        "--smooth scene reads the input twice: it goes with files, not with pipes, network streams and live",
    )
}

fn parse_seconds(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|seconds| (0.0..=3600.0).contains(seconds))
}

fn parse_gain(text: &str) -> Option<Gain> {
    Gain::from_slope(text.trim().parse().ok()?)
}

fn parse_tiles(text: &str) -> Option<(u32, u32)> {
    let (columns, rows) = parse_size(text)?;
    let tiles = |count: usize| u32::try_from(count).ok().filter(|count| (1..=256).contains(count));
    Some((tiles(columns)?, tiles(rows)?))
}

fn parse_plateau(text: &str) -> Option<Plateau> {
    if let Some(percent) = text.strip_suffix('%') {
        let percent: f64 = percent.trim().parse().ok()?;
        let millionths = (percent * 10_000.0).round() as u32;
        let plateau = if percent == 0.0 { Plateau::Off } else { Plateau::Millionths(millionths) };
        return (0.0..=100.0).contains(&percent).then_some(plateau);
    }
    Some(match text.parse().ok()? {
        0 => Plateau::Off,
        count => Plateau::Count(count),
    })
}

fn parse_region(text: &str) -> Option<Region> {
    if text == "auto" {
        return Some(Region::Auto);
    }
    let numbers = text.split(',').map(|number| number.trim().parse().ok()).collect::<Option<Vec<usize>>>()?;
    let [x, y, width, height] = numbers[..] else { return None };
    (width > 0 && height > 0).then_some(Region::Fixed(Rect { x, y, width, height }))
}
