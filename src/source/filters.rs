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
    /// Over nine frames, and by non-local means within each: for files, since it takes long.
    Thorough,
    /// Over nine frames, and by a bilateral filter within each: keeps up with a camera.
    Quick,
    /// By a bilateral filter within each frame.
    Light,
}

/// The frames that `atadenoise` needs on each side of a frame.
const AROUND: u32 = 4;

/// The least strength of FFmpeg's `nlmeans`.
const LEAST_NLMEANS: f64 = 1.0;

impl Denoise {
    /// The filters in FFmpeg's syntax, for pictures of this many bits per sample.
    pub fn chain(self, depth: u8) -> String {
        let bilateral = |spatial: f64, range: f64| {
            let range = range * self.strength;
            format!("bilateral=sigmaS={spatial}:sigmaR={range}:planes=7")
        };
        let [a, b, c, d] = [0.02, 0.04, 0.03, 0.06].map(|threshold| threshold * self.strength);
        let over_time = format!("atadenoise=0a={a}:0b={b}:1a={c}:1b={d}:2a={c}:2b={d}:s={}", 2 * AROUND + 1);
        match self.kind {
            // It takes 8 bits only.
            DenoiseKind::Thorough if depth <= 8 => {
                let nlmeans = (2.0 * self.strength).max(LEAST_NLMEANS);
                format!("{over_time},nlmeans=s={nlmeans}:p=5:r=7")
            }
            DenoiseKind::Thorough | DenoiseKind::Quick => format!("{over_time},{}", bilateral(3.0, 0.025)),
            DenoiseKind::Light => bilateral(2.0, 0.02),
        }
    }

    /// The number of frames on each side of a frame that decide what it becomes.
    pub fn reach(self) -> u32 {
        match self.kind {
            DenoiseKind::Thorough | DenoiseKind::Quick => AROUND,
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
