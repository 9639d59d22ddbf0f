//! How to equalize: what was asked for, and what is best for the kind of input where nothing was. The numbers behind
//! the looks are here; how they were found is in `benches/results/looks.md`.

use super::equalize_args::{ChromaArg, EqualizeArgs, LookArg, MethodArg};
use super::values::{usage, value};
use crate::ffmpeg::parse_size;
use crate::io::is_pipe;
use crate::pipeline::{Input, InputKind};
use crate::spec::{Chroma, Gain, Method, Plateau, Rect, Region, Settings, Smoothing, Strength, Threshold};
use clap::error::ErrorKind;

/// What was asked for; `None` leaves it to the look.
#[derive(Clone, Copy, Debug)]
pub struct RequestedSettings {
    look: LookArg,
    smooth: Option<f64>,
    scene_threshold: Option<Threshold>,
    plateau: Option<Plateau>,
    max_gain: Option<Gain>,
    strength: Option<Strength>,
    method: Option<MethodArg>,
    tiles: (u32, u32),
    bins: Option<u32>,
    chroma: Chroma,
    region: Region,
    /// Seconds, if asked for.
    look_ahead: Option<f64>,
    /// Whether frames may be held back without being asked for: of files, not of live input.
    may_hold_back: bool,
    /// Whether only luma is written.
    pub gray: bool,
}

/// The numbers of a look.
struct Look {
    /// Seconds.
    smooth: f64,
    /// 0 to 1.
    scene_threshold: f64,
    /// 0 is no limit.
    max_gain: f64,
    plateau: Plateau,
    strength: f64,
}

const EXACT: Look = Look { smooth: 0.0, scene_threshold: 1.0, max_gain: 0.0, plateau: Plateau::Off, strength: 1.0 };
const NATURAL: Look = Look { smooth: 2.0, scene_threshold: 0.2, max_gain: 2.5, plateau: Plateau::Off, strength: 1.0 };
const NIGHT: Look = Look { smooth: 3.0, max_gain: 4.0, strength: 0.85, ..NATURAL };
const HAZE: Look = Look { max_gain: 5.0, ..NATURAL };
const THERMAL: Look = Look { max_gain: 0.0, plateau: Plateau::Millionths(1000), ..NATURAL };

/// Bytes of frames that are held back without being asked for.
const HELD_BACK: usize = 256 << 20;

/// The contrast limit of CLAHE, where a look has none or means that of a single curve.
const CLAHE_GAIN: f64 = 3.0;

impl RequestedSettings {
    /// What `args` ask for.
    ///
    /// # Errors
    /// When they do not agree, or a value makes no sense: a usage error for clap to print.
    pub fn from_args(args: EqualizeArgs) -> Result<Self, clap::Error> {
        let invalid = |message: &str| usage(ErrorKind::ValueValidation, message);
        if args.smooth.is_some_and(|seconds| !(0.0..=3600.0).contains(&seconds)) {
            return Err(invalid("--smooth is seconds, 0 or more"));
        }
        let clahe = args.method == Some(MethodArg::Clahe);
        for (given, option) in [(args.plateau.is_some(), "--plateau"), (args.roi.is_some(), "--roi")] {
            if clahe && given {
                return Err(usage(ErrorKind::ArgumentConflict, &format!("{option} does not go with --method clahe")));
            }
        }
        if args.save_curves.is_some() && clahe {
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
        let max_gain = args
            .max_gain
            .map(|gain| Gain::from_slope(gain).ok_or_else(|| invalid("--max-gain is 0 (no limit), or from 1 to 4096")));
        Ok(RequestedSettings {
            // Loaded curves already include the look.
            look: if args.exact || args.load_curves.is_some() { LookArg::Exact } else { args.look },
            smooth: args.smooth,
            scene_threshold: threshold.transpose()?,
            plateau: value("--plateau", "a count like 500 or a percentage like 0.5%", args.plateau, parse_plateau)?,
            max_gain: max_gain.transpose()?,
            strength: strength.transpose()?,
            method: args.method,
            tiles: tiles.unwrap_or((8, 8)),
            bins: args.bins,
            chroma: match args.chroma {
                ChromaArg::Keep => Chroma::Keep,
                ChromaArg::Scale => Chroma::Scale,
            },
            region: value("--roi", "X,Y,W,H in pixels, or auto", args.roi, parse_region)?.unwrap_or_default(),
            look_ahead: None,
            may_hold_back: false,
            gray: args.gray,
        })
    }

    /// The same for a job that reads `input`, with this look-ahead in seconds if one was asked for.
    ///
    /// # Errors
    /// When it makes no sense.
    pub fn looking_ahead(self, seconds: Option<f64>, input: &str) -> Result<Self, clap::Error> {
        if seconds.is_some_and(|seconds| !(0.0..=3600.0).contains(&seconds)) {
            return Err(usage(ErrorKind::ValueValidation, "--look-ahead is seconds, 0 or more"));
        }
        let may_hold_back = !is_pipe(input) && !input.contains("://");
        Ok(RequestedSettings { look_ahead: seconds, may_hold_back, ..self })
    }

    /// Whether each tile gets a curve.
    pub fn is_clahe(&self) -> bool {
        self.method == Some(MethodArg::Clahe)
    }

    /// Whether the curve is made of the plain histogram of each frame, whatever the input.
    pub fn is_textbook(&self) -> bool {
        let plain_window = self.smooth.is_none_or(|seconds| seconds == 0.0);
        let plain_bins = self.bins.is_none() && self.plateau.is_none_or(|plateau| plateau == Plateau::Off);
        let unlimited = self.max_gain.is_none_or(|gain| gain == Gain::OFF);
        self.look == LookArg::Exact && !self.is_clahe() && plain_window && plain_bins && unlimited
    }

    /// The settings for this input.
    pub fn resolve(&self, input: &Input) -> Settings {
        let look = match (self.look, input.kind()) {
            (LookArg::Exact, _) | (LookArg::Natural, InputKind::Image) => EXACT,
            (LookArg::Thermal, _) | (LookArg::Natural, InputKind::DeepGray) => THERMAL,
            (LookArg::Natural, InputKind::Video) => NATURAL,
            (LookArg::Night, _) => NIGHT,
            (LookArg::Haze, _) => HAZE,
        };
        let clahe = self.method == Some(MethodArg::Clahe);
        let (max_gain, plateau) = if clahe { (CLAHE_GAIN, Plateau::Off) } else { (look.max_gain, look.plateau) };
        // The numbers of the table are in range.
        Settings {
            method: if clahe { Method::Clahe { columns: self.tiles.0, rows: self.tiles.1 } } else { Method::Global },
            smoothing: self.smoothing(self.smooth.unwrap_or(look.smooth), input),
            scene_threshold: self
                .scene_threshold
                .unwrap_or_else(|| Threshold::from_share(look.scene_threshold).unwrap_or_default()),
            plateau: self.plateau.unwrap_or(plateau),
            bins: self.bins,
            max_gain: self.max_gain.unwrap_or_else(|| Gain::from_slope(max_gain).unwrap_or_default()),
            strength: self.strength.unwrap_or_else(|| Strength::from_share(look.strength).unwrap_or_default()),
            region: self.region,
            chroma: self.chroma,
        }
    }
}

impl RequestedSettings {
    /// The temporal window of `seconds` seconds.
    fn smoothing(&self, seconds: f64, input: &Input) -> Smoothing {
        let rate = input.rate().unwrap_or(25.0);
        let smoothing = Smoothing::of_seconds(seconds, rate);
        smoothing.looking_ahead(match self.look_ahead {
            Some(seconds) => (seconds * rate).round().min(f64::from(Smoothing::MOST)) as u32,
            None if self.may_hold_back => {
                let frames = HELD_BACK / input.frame_bytes().unwrap_or(HELD_BACK).max(1);
                (smoothing.frames() / 2).min(frames as u32)
            }
            None => 0,
        })
    }
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
