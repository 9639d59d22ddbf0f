//! The settings of equalization.

use super::named::named;
use super::{MethodName, Strength};
use crate::spec::curves::Levels;
use crate::spec::natural::Assumed;
use crate::spec::restoration::faint::Function;

/// How frames are equalized. [`Settings::default`] is textbook equalization, of each frame alone, without modifiers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// The method.
    pub method: Method,
    /// The temporal window, in frames.
    pub smoothing: Smoothing,
    /// The distance of two frames above which they belong to two scenes.
    pub scene_threshold: Threshold,
    /// The cap of a bin. Without effect on tiles.
    pub plateau: Plateau,
    /// Number of bins of a histogram; `None` is one for each level. A tile has at most 4,096.
    pub bins: Option<u32>,
    /// The largest slope of a curve, relative to that of the stretched levels; with [`Method::Detail`] the gain of
    /// detail. `hides_noise` may lower it.
    pub max_gain: Gain,
    /// Whether the stretch of levels and the slope of curves are limited so that noise stays invisible. For the methods
    /// that count samples. Without effect on windows of one frame, except with [`Method::Detail`], which then measures
    /// the noise within the frame. See [`noise`](crate::spec::restoration::noise).
    pub hides_noise: bool,
    /// How the levels in use are stretched. For the methods that count samples.
    pub stretch: Stretch,
    /// The share of the equalized picture in the output.
    pub strength: Strength,
    /// The part of the frame that is counted. Without effect on tiles, each of which counts its own part.
    pub region: Region,
    /// The treatment of chroma.
    pub chroma: Chroma,
    /// Whether, in HDR (PQ and HLG), the peak of a scene becomes no brighter. See [`tone`](crate::spec::curves::tone).
    pub keeps_peak: bool,
    /// How noise is removed before all else.
    pub denoise: Denoise,
}

impl Settings {
    /// The largest number of frames before a frame on which its result depends. A run that begins this many frames
    /// early gives the same bytes as a run over the whole video. 0 where frames do not depend on each other.
    pub fn warm_up(&self) -> u32 {
        let memory = self.smoothing.memory();
        // A cut depends on the frames around it, and there is none in the first three frames of a video.
        let scene = self.smoothing.flash() + 4;
        let window = match self.smoothing {
            Smoothing { frames: 0 | 1, .. } => 0,
            Smoothing { frames, ahead, .. } if self.method.is_natural() => {
                frames - 1 - ahead + self.smoothing.foreign_look_back() + scene
            }
            _ => memory + scene,
        };
        // The counted region of each of those frames depends on the black bars of `memory` frames before it.
        let bars = if self.region == Region::Auto { memory } else { 0 };
        window + bars + self.denoise.before()
    }

    /// The largest number of frames after a frame that have to be known before its result can be computed.
    pub fn look_ahead(&self) -> u32 {
        let measured = if self.needs_measures() { self.guide_look_ahead() } else { 0 };
        measured + self.denoise.behind() + self.backend_look_ahead()
    }

    /// Whether the mapping of a frame depends on more than its counts: scenes, levels or colour are decided from its
    /// [`Measure`](crate::spec::Measure).
    pub fn needs_measures(&self) -> bool {
        let scenes = self.smoothing.frames() > 1 && self.scene_threshold != Threshold::NEVER;
        scenes
            || !self.stretch.is_off()
            || !self.method.counts()
            || self.keeps_peak
            || self.hides_noise
            || matches!(self.method, Method::Detail { .. })
            || self.denoise != Denoise::Off
    }

    /// The largest number of frames after a frame that a backend waits for before it equalizes the frame.
    pub fn backend_look_ahead(&self) -> u32 {
        self.method.look_ahead(self.smoothing)
    }

    /// The properties that frames of one window share.
    pub fn window_kind(&self) -> WindowKind {
        WindowKind::new(self.method, self.smoothing, self.region, self.plateau, self.bins)
    }

    /// The number of frames after a frame that have to be measured before its guide is decided.
    pub fn guide_look_ahead(&self) -> u32 {
        match self.smoothing {
            Smoothing { ahead: 0, .. } => 0,
            Smoothing { ahead, flash, .. } if self.method.is_of_frame() => ahead.max(flash),
            Smoothing { flash, .. } => flash,
        }
    }
}

/// How noise is removed before equalization.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Denoise {
    /// Noise stays.
    #[default]
    Off,
    /// Noise is removed as far as the correction would make it visible, with [`Method::Natural`].
    AsShown(Cleaner),
    /// Noise is removed from every frame.
    Always(Cleaner),
}

/// How noise is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cleaner {
    /// The share of noise that is removed.
    pub share: Strength,
    /// How much is done to remove it.
    pub effort: Effort,
    /// The largest numbers of frames before a frame, and after it, that are used to denoise it; at most those of
    /// [`Effort::Best`].
    pub around: (u32, u32),
}

named! {
    /// The effort of denoising, which is the same with every backend.
    #[derive(Default)]
    pub enum Effort {
        #[default]
        Fast = "fast", "A frame is made clean with two on either side, smooth parts with three";
        Best = "best", "With four everywhere, in a fifth more time: less noise is left";
    }
}

impl Effort {
    /// The most frames on either side of a frame that are used to denoise it.
    #[doc(hidden)]
    pub fn reach(self) -> u32 {
        match self {
            Effort::Fast => 3,
            Effort::Best => 4,
        }
    }

    /// The most frames on either side with which every part of a frame is denoised. Farther ones serve smooth parts,
    /// where less noise is easily seen and a rough motion is enough.
    #[doc(hidden)]
    pub fn everywhere(self) -> u32 {
        match self {
            Effort::Fast => 2,
            Effort::Best => 4,
        }
    }
}

impl Denoise {
    fn cleaner(self) -> Option<Cleaner> {
        match self {
            Denoise::Off => None,
            Denoise::AsShown(cleaner) | Denoise::Always(cleaner) => Some(cleaner),
        }
    }

    /// The largest share of noise that is removed.
    pub fn share(self) -> Strength {
        self.cleaner().map_or(Strength::from_256ths(0), |cleaner| cleaner.share)
    }

    /// How much is done to remove noise.
    pub fn effort(self) -> Effort {
        self.cleaner().map_or(Effort::default(), |cleaner| cleaner.effort)
    }

    /// The most frames before a frame that are used to denoise it.
    pub fn before(self) -> u32 {
        self.cleaner().map_or(0, |cleaner| cleaner.around.0)
    }

    /// The most frames after a frame that are used to denoise it.
    pub fn behind(self) -> u32 {
        self.cleaner().map_or(0, |cleaner| cleaner.around.1)
    }
}

/// The method of equalization.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// One curve for the whole frame.
    #[default]
    Global,
    /// Contrast-limited adaptive histogram equalization: one curve for each tile, blended between the centres of tiles.
    Clahe {
        /// Tiles in a row.
        columns: u32,
        /// Rows of tiles.
        rows: u32,
    },
    /// Amplifies small differences of brightness beside large ones, by a curve for each tile, blended as those of
    /// [`Clahe`](Method::Clahe). See [`detail`](crate::spec::curves::detail).
    Detail {
        /// Tiles in a row.
        columns: u32,
        /// Rows of tiles.
        rows: u32,
    },
    /// Evens out flicker of the light; counts no samples. See [`deflicker`](crate::spec::restoration::deflicker).
    Deflicker,
    /// Brightens what is faint in linear data; counts no samples. See [`faint`](crate::spec::restoration::faint).
    Faint(Function),
    /// Corrects the deficiencies of each scene; counts no samples. See [`natural`](crate::spec::natural).
    Natural {
        /// The deficiency that is assumed instead of measured.
        assumed: Assumed,
        /// The largest gain of levels.
        most: Gain,
        /// Whether faults alone are corrected. Else contrast and light are also set as viewers choose them.
        faithful: bool,
    },
}

impl Method {
    /// The name of the method.
    pub fn name(self) -> MethodName {
        match self {
            Method::Global => MethodName::Global,
            Method::Clahe { .. } => MethodName::Clahe,
            Method::Detail { .. } => MethodName::Detail,
            Method::Deflicker => MethodName::Deflicker,
            Method::Faint(Function::Asinh) => MethodName::Asinh,
            Method::Faint(Function::Midtones) => MethodName::Midtones,
            Method::Natural { .. } => MethodName::Natural,
        }
    }

    /// Whether samples are counted.
    pub fn counts(self) -> bool {
        self == Method::Global || self.grid().is_some()
    }

    /// Columns and rows of its tiles; `None` where there is one curve for the frame.
    pub fn grid(self) -> Option<(u32, u32)> {
        match self {
            Method::Clahe { columns, rows } | Method::Detail { columns, rows } => Some((columns, rows)),
            Method::Global | Method::Deflicker | Method::Faint(_) | Method::Natural { .. } => None,
        }
    }

    /// Whether it is [`Method::Natural`].
    pub fn is_natural(self) -> bool {
        matches!(self, Method::Natural { .. })
    }

    /// Whether each frame gets its own mapping, decided from frames before and after it, instead of the mapping of a
    /// later frame.
    pub fn is_of_frame(self) -> bool {
        matches!(self, Method::Deflicker | Method::Natural { .. })
    }

    /// The largest number of frames after a frame that a backend waits for before it equalizes the frame.
    pub fn look_ahead(self, smoothing: Smoothing) -> u32 {
        if self.is_of_frame() { 0 } else { smoothing.ahead }
    }
}

/// The properties that frames of one window share: a frame with other properties begins a new window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowKind {
    method: Method,
    /// The temporal window.
    pub(crate) smoothing: Smoothing,
    region: Region,
    plateau: Plateau,
    bins: Option<u32>,
}

impl WindowKind {
    /// The kind of frames with these settings.
    pub fn new(method: Method, smoothing: Smoothing, region: Region, plateau: Plateau, bins: Option<u32>) -> Self {
        // Windows of frames have a count for each level, whatever the bins; windows of tiles have one for each bin.
        let bins = if method == Method::Global { None } else { bins };
        WindowKind { method, smoothing, region, plateau, bins }
    }
}

/// How the levels that a scene uses are stretched before equalization; see [`tone`](crate::spec::curves::tone).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stretch {
    /// Levels are not stretched.
    #[default]
    Off,
    /// Levels are stretched by as much as the unused share of the range calls for.
    Unused {
        /// The largest factor of the stretch.
        most: Gain,
        /// Whether the strength of equalization is scaled by the share of the stretch that is applied.
        fades: bool,
    },
    /// Levels are stretched to the whole range, however little of it is in use: for thermal footage.
    Full {
        /// The share of the stretch that is applied.
        share: Strength,
    },
}

impl Stretch {
    /// Whether levels stay as they are.
    pub fn is_off(self) -> bool {
        self == Stretch::Off
    }
}

/// The temporal window, in frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Smoothing {
    frames: u32,
    flash: u32,
    ahead: u32,
}

impl Smoothing {
    /// A window of one frame: frames do not depend on each other.
    pub const OFF: Smoothing = Smoothing { frames: 1, flash: 0, ahead: 0 };

    /// The longest window, in frames: the sums of longer ones would not fit 64 bits everywhere.
    pub const MAX: u32 = 512;

    /// A window of `frames` frames, which continues after a flash of at most `flash` frames. `frames` is clamped to 1
    /// to [`MAX`](Smoothing::MAX), `flash` to 0 to [`MAX`](Smoothing::MAX).
    pub fn new(frames: u32, flash: u32) -> Self {
        Smoothing { frames: frames.clamp(1, Smoothing::MAX), flash: flash.min(Smoothing::MAX), ahead: 0 }
    }

    /// A window of `seconds` seconds at `rate` frames a second: `max(1, round(seconds * rate))` frames. Flashes may
    /// last a quarter of a second, at least one frame. [`Smoothing::OFF`] for 0 seconds or less.
    pub fn from_seconds(seconds: f64, rate: f64) -> Self {
        if seconds <= 0.0 {
            return Smoothing::OFF;
        }
        let frames = |seconds: f64| (seconds * rate).round().clamp(1.0, f64::from(Smoothing::MAX)) as u32;
        Smoothing::new(frames(seconds), frames(0.25))
    }

    /// The most frames before a frame with which it is compared to find foreign blocks; see
    /// [`natural::light`](crate::spec::natural::light).
    pub fn foreign_look_back(self) -> u32 {
        self.frames / 2
    }

    /// Sets how many frames of the window lie after the frame that is equalized: less than the whole window.
    #[must_use]
    pub fn looking_ahead(self, frames: u32) -> Self {
        Smoothing { ahead: frames.min(self.frames - 1), ..self }
    }

    /// A: number of later frames that each frame waits for.
    pub const fn ahead(self) -> u32 {
        self.ahead
    }

    /// W: number of frames whose histograms are summed up, this one included.
    pub const fn frames(self) -> u32 {
        self.frames
    }

    /// F: the longest flash, in frames.
    pub const fn flash(self) -> u32 {
        self.flash
    }

    /// W + F: number of most recent frames that are kept, this one included.
    pub const fn memory(self) -> u32 {
        self.frames + self.flash
    }
}

impl Default for Smoothing {
    fn default() -> Self {
        Smoothing::OFF
    }
}

/// A distance of two frames, in thousandths of the largest possible distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Threshold(u16);

impl Threshold {
    /// The largest distance, which no two frames exceed: no cuts.
    pub const NEVER: Threshold = Threshold(1000);

    /// The smallest distance, which any change exceeds.
    pub const ZERO: Threshold = Threshold(0);

    /// A threshold of `share`, as `round(1000 * share)`; `None` unless `share` is between 0 and 1.
    pub fn from_share(share: f64) -> Option<Self> {
        (0.0..=1.0).contains(&share).then(|| Threshold((share * 1000.0).round() as u16))
    }

    /// The threshold in thousandths.
    pub const fn to_1000ths(self) -> u32 {
        self.0 as u32
    }
}

impl Default for Threshold {
    fn default() -> Self {
        Threshold::NEVER
    }
}

/// The cap of a bin, for each frame of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Plateau {
    /// No cap.
    #[default]
    Off,
    /// A cap of this many samples; 0 counts as 1.
    Count(u32),
    /// A cap of this many millionths of the samples of a frame, but at least one sample.
    Millionths(u32),
}

impl Plateau {
    /// The cap for a frame of `samples` samples; `None` without one.
    pub fn cap(self, samples: u64) -> Option<u64> {
        match self {
            Plateau::Off => None,
            Plateau::Count(count) => Some(u64::from(count.max(1))),
            Plateau::Millionths(millionths) => Some((samples * u64::from(millionths) / 1_000_000).max(1)),
        }
    }
}

/// The contrast limit: the largest slope of a curve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gain(u32);

impl Gain {
    /// No limit.
    pub const OFF: Gain = Gain(0);

    /// The largest limit that can be set.
    pub const MAX: f64 = 4096.0;

    /// A limit of `gain`, as `round(256 * gain)`; 0 is no limit. `None` unless `gain` is 0 or between 1 and
    /// [`MAX`](Gain::MAX).
    pub fn from_slope(gain: f64) -> Option<Self> {
        (gain == 0.0 || (1.0..=Gain::MAX).contains(&gain)).then(|| Gain((gain * 256.0).round() as u32))
    }

    /// The slope in 256ths; `None` without a limit.
    pub fn to_256ths(self) -> Option<u32> {
        (self.0 != 0).then_some(self.0)
    }

    /// The lower one of this limit and one of `of_256` 256ths, which may be less than 1 for tiles.
    #[must_use]
    pub(crate) fn at_most(self, of_256: u32) -> Self {
        Gain(self.to_256ths().map_or(of_256, |slope| slope.min(of_256)))
    }

    /// `value` times the slope, rounded down; the largest number without a limit.
    pub fn times(self, value: u32) -> u32 {
        self.to_256ths()
            .map_or(u32::MAX, |slope| (u64::from(value) * u64::from(slope) / 256).min(u32::MAX.into()) as u32)
    }
}

/// A rectangle of pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rect {
    /// First column.
    pub x: usize,
    /// First row.
    pub y: usize,
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
}

impl Rect {
    /// The rectangle of all pixels of a frame of this size (columns, rows).
    pub const fn whole((width, height): (usize, usize)) -> Self {
        Rect { x: 0, y: 0, width, height }
    }

    /// The part of the rectangle inside of a frame of this size (columns, rows); `None` if it lies outside.
    pub fn within(self, (width, height): (usize, usize)) -> Option<Self> {
        let columns = self.width.min(width.saturating_sub(self.x));
        let rows = self.height.min(height.saturating_sub(self.y));
        (columns > 0 && rows > 0).then_some(Rect { width: columns, height: rows, ..self })
    }
}

/// The part of a frame that is counted. The curve is applied to all of the frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Region {
    /// All of the frame.
    #[default]
    Whole,
    /// This rectangle, as far as it lies in the frame; all of the frame if it lies outside.
    Fixed(Rect),
    /// All but the black bars of letterboxed video.
    Auto,
}

named! {
    /// The treatment of chroma when luma changes. [`chroma`](crate::spec::chroma) has the rule of `Follow`,
    /// [`tone`](crate::spec::curves::tone) the gain.
    #[derive(Default)]
    pub enum Chroma {
        #[default]
        Keep = "keep", "Colour stays as it is";
        Follow = "follow", "Saturation grows with the contrast of the stretched levels";
    }
}

impl Chroma {
    /// Whether chroma samples may change.
    #[doc(hidden)]
    pub fn changes(self) -> bool {
        self != Chroma::Keep
    }
}

/// The depth of the output, which [`Depth`](crate::equalize::Depth) produces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutputDepth {
    /// The depth of the input.
    #[default]
    AsInput,
    /// 8 bits, dithered.
    Eight,
    /// 10 bits, or the depth of the input if that is more than 8 bits.
    Ten,
}

impl OutputDepth {
    /// The choices: name, description, value.
    pub(crate) const CHOICES: [(&'static str, &'static str, OutputDepth); 3] = [
        ("auto", "As many as the input has, without noise", OutputDepth::AsInput),
        ("8", "8; video of more bits is dithered", OutputDepth::Eight),
        ("10", "10; video of more bits keeps them", OutputDepth::Ten),
    ];
}

/// Number of bins of a histogram of these levels: `requested`, from 1 to one for each level; `None` is one for each
/// level.
pub fn bins(levels: Levels, requested: Option<u32>) -> usize {
    requested.map_or(levels.count(), |bins| (bins.max(1) as usize).min(levels.count()))
}
