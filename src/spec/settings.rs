//! Everything that decides what a frame becomes, apart from the frames themselves.

use super::{Levels, Strength};

/// How frames are equalized. [`Settings::default`] is the textbook: each frame by itself, and nothing else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// One curve for a frame, or one for each tile.
    pub method: Method,
    /// How many frames make a histogram.
    pub smoothing: Smoothing,
    /// How different two frames must be to belong to two scenes.
    pub scene_threshold: Threshold,
    /// What a bin may hold; without effect on [`Method::Clahe`], whose plateau is `max_gain`.
    pub plateau: Plateau,
    /// How many bins a histogram has; `None` is one a level. A tile has at most 4,096.
    pub bins: Option<u32>,
    /// How steep a curve may be.
    pub max_gain: Gain,
    /// How far the picture goes from the input to the equalized one.
    pub strength: Strength,
    /// Which part of the frame is counted; without effect on [`Method::Clahe`], which counts each tile.
    pub region: Region,
    /// What happens to colour.
    pub chroma: Chroma,
}

impl Settings {
    /// How many frames before a frame decide together with it what becomes of it, at most: a run that begins so many
    /// frames early gives the bytes of the whole video. 0 where each frame is by itself.
    pub fn warm_up(&self) -> u32 {
        let memory = self.smoothing.memory();
        let window = if self.smoothing.frames() > 1 { memory } else { 0 };
        // What is counted of each of those depends on the black bars of as many before it.
        let bars = if self.region == Region::Auto { memory } else { 0 };
        window + bars
    }
}

/// The way from histograms to what a pixel becomes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// One curve for the whole frame.
    #[default]
    Global,
    /// Contrast-limited adaptive histogram equalization: a curve a tile, blended between their centres.
    Clahe {
        /// Tiles in a row.
        columns: u32,
        /// Rows of tiles.
        rows: u32,
    },
}

/// The temporal window, in frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Smoothing {
    frames: u32,
    flash: u32,
    ahead: u32,
}

impl Smoothing {
    /// Each frame by itself.
    pub const OFF: Smoothing = Smoothing { frames: 1, flash: 0, ahead: 0 };

    /// The most frames that a window may have: the sums of larger ones would not fit 64 bits everywhere.
    pub const MOST: u32 = 512;

    /// A window of `frames` frames, which a scene that is interrupted by at most `flash` frames takes up again.
    /// `frames` is brought into 1 to [`MOST`](Smoothing::MOST), and `flash` below that.
    pub fn new(frames: u32, flash: u32) -> Self {
        Smoothing { frames: frames.clamp(1, Smoothing::MOST), flash: flash.min(Smoothing::MOST), ahead: 0 }
    }

    /// The window of so many seconds at `rate` frames a second: `max(1, round(seconds * rate))` frames, and a quarter
    /// of a second, at least one frame, for flashes. [`Smoothing::OFF`] for 0 seconds or less.
    pub fn of_seconds(seconds: f64, rate: f64) -> Self {
        if seconds <= 0.0 {
            return Smoothing::OFF;
        }
        let frames = |seconds: f64| (seconds * rate).round().clamp(1.0, f64::from(Smoothing::MOST)) as u32;
        Smoothing::new(frames(seconds), frames(0.25))
    }

    /// The same window, of which up to so many frames lie ahead of the one that is equalized; fewer than it has.
    #[must_use]
    pub fn looking_ahead(self, frames: u32) -> Self {
        Smoothing { ahead: frames.min(self.frames - 1), ..self }
    }

    /// A: frames that each frame waits for.
    pub const fn ahead(self) -> u32 {
        self.ahead
    }

    /// W: frames whose histograms are summed up, this one included.
    pub const fn frames(self) -> u32 {
        self.frames
    }

    /// F: frames that a flash may last.
    pub const fn flash(self) -> u32 {
        self.flash
    }

    /// W + F: how many frames back anything is remembered.
    pub const fn memory(self) -> u32 {
        self.frames + self.flash
    }
}

impl Default for Smoothing {
    fn default() -> Self {
        Smoothing::OFF
    }
}

/// A distance of two frames, in thousandths of the largest there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Threshold(u16);

impl Threshold {
    /// No two frames are as different as this.
    pub const NEVER: Threshold = Threshold(1000);

    /// `round(1000 * share)`; `None` unless `share` is between 0 and 1.
    pub fn from_share(share: f64) -> Option<Self> {
        (0.0..=1.0).contains(&share).then(|| Threshold((share * 1000.0).round() as u16))
    }

    /// In thousandths.
    pub const fn of_1000(self) -> u32 {
        self.0 as u32
    }
}

impl Default for Threshold {
    fn default() -> Self {
        Threshold::NEVER
    }
}

/// The most samples that a bin may hold, for each frame of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Plateau {
    /// As many as there are.
    #[default]
    Off,
    /// So many, at least 1.
    Count(u32),
    /// So many millionths of a frame's samples, but at least one sample.
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

    /// The largest limit, which no curve of 16 bits reaches in practice.
    pub const MOST: f64 = 4096.0;

    /// `g = round(256 * gain)`; 0 is no limit. `None` unless `gain` is 0 or between 1 and [`MOST`](Gain::MOST).
    pub fn from_slope(gain: f64) -> Option<Self> {
        (gain == 0.0 || (1.0..=Gain::MOST).contains(&gain)).then(|| Gain((gain * 256.0).round() as u32))
    }

    /// The slope in 256ths; `None` without a limit.
    pub fn of_256(self) -> Option<u32> {
        (self.0 != 0).then_some(self.0)
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
    /// All of a frame of this size.
    pub const fn whole((width, height): (usize, usize)) -> Self {
        Rect { x: 0, y: 0, width, height }
    }

    /// What of it lies in a frame of this size; `None` if nothing does.
    pub fn within(self, (width, height): (usize, usize)) -> Option<Self> {
        let columns = self.width.min(width.saturating_sub(self.x));
        let rows = self.height.min(height.saturating_sub(self.y));
        (columns > 0 && rows > 0).then_some(Rect { width: columns, height: rows, ..self })
    }
}

/// Which part of a frame makes the histogram; the curve is applied to all of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Region {
    /// All of it.
    #[default]
    Whole,
    /// What of this rectangle lies in the frame; all of it, if nothing does.
    Fixed(Rect),
    /// All but the black bars around a picture of another shape.
    Auto,
}

/// What happens to colour when luma changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Chroma {
    /// Chroma samples are carried over.
    #[default]
    Keep,
    /// Saturation follows luma, as [`chroma`](super::chroma) says.
    Scale,
}

impl Chroma {
    /// Is [`Scale`](Chroma::Scale) asked for?
    pub fn is_scaled(self) -> bool {
        self == Chroma::Scale
    }
}

/// How many bins the histogram of these levels has, if `asked` for.
pub fn bins(levels: Levels, asked: Option<u32>) -> usize {
    asked.map_or(levels.count(), |bins| (bins.max(1) as usize).min(levels.count()))
}
