//! The filters that pictures pass before they are equalized.

/// Denoisers, and how much they remove.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Denoise {
    /// Which denoisers.
    pub kind: DenoiseKind,
    /// How much they remove, above 0 to 1.
    pub strength: f64,
}

/// A set of denoisers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DenoiseKind {
    /// By a bilateral filter within each frame, and then over nine frames.
    Strong,
    /// By a bilateral filter within each frame.
    Light,
}

/// The frames that `atadenoise` needs on each side of a frame.
const AROUND: u32 = 4;

impl Denoise {
    /// The filters in FFmpeg's syntax.
    pub fn chain(self) -> String {
        let bilateral = |spatial: f64, range: f64| {
            let range = range * self.strength;
            format!("bilateral=sigmaS={spatial}:sigmaR={range}:planes=7")
        };
        match self.kind {
            DenoiseKind::Strong => {
                // Within each frame first: what noise is left differs less from frame to frame, so that lower thresholds, which
                // blur less motion, find it. `a=s`: on each side, the frames before the first one that differs by more.
                // Chroma has lower ones: with those of luma, what moves takes on the colour of what is behind it.
                let [a, b, c, d] = [0.025, 0.08, 0.012, 0.04].map(|threshold| threshold * self.strength);
                let frames = 2 * AROUND + 1;
                let over_time = format!("atadenoise=0a={a}:0b={b}:1a={c}:1b={d}:2a={c}:2b={d}:s={frames}:a=s");
                format!("{},{over_time}", bilateral(1.5, 0.08))
            }
            DenoiseKind::Light => bilateral(2.0, 0.02),
        }
    }

    /// The number of frames on each side of a frame that decide what it becomes.
    pub fn reach(self) -> u32 {
        match self.kind {
            DenoiseKind::Strong => AROUND,
            DenoiseKind::Light => 0,
        }
    }
}

/// The filters of a run, in their order.
#[derive(Clone, Debug, Default)]
pub struct Filters {
    /// Denoisers.
    pub denoise: Option<Denoise>,
    /// A chain in the syntax of `ffmpeg -vf`.
    pub chain: Option<String>,
}
