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

/// What makes SDR of HDR: light by zscale, in multiples of the white of an SDR picture in HDR (203 cd/m2, ITU-R BT.2408); up to
/// 0.6 it stays as it is, and what is above, up to 1,000 cd/m2, has the rest. Of primaries and matrix, what is not told is that
/// of HDR.
pub fn to_sdr([has_primaries, has_matrix]: [bool; 2]) -> String {
    let primaries = if has_primaries { "" } else { "setparams=color_primaries=bt2020," };
    let matrix = if has_matrix { "" } else { "setparams=colorspace=bt2020nc," };
    let forgotten = ["MASTERING_DISPLAY_METADATA", "CONTENT_LIGHT_LEVEL", "DYNAMIC_HDR_PLUS"];
    let forgotten = forgotten.map(|kind| format!("sidedata=mode=delete:type={kind},")).concat();
    format!(
        "{primaries}{matrix}{forgotten}zscale=t=linear:npl=203,format=gbrpf32le,zscale=p=bt709,\
         tonemap=mobius:param=0.6:peak=4.926,zscale=t=bt709:m=bt709:r=tv,format=yuv420p10le"
    )
}

/// The filters of a run, in their order.
#[derive(Clone, Debug, Default)]
pub struct Filters {
    /// Denoisers.
    pub denoise: Option<Denoise>,
    /// A chain in the syntax of `ffmpeg -vf`.
    pub chain: Option<String>,
}
