//! What was typed of how to equalize; the same for files and cameras.

use clap::{Args, ValueEnum};

/// How to equalize.
#[derive(Args, Debug)]
pub struct EqualizeArgs {
    /// Preset of the options below for a kind of footage; single options override it
    #[arg(long, value_enum, value_name = "LOOK", default_value_t = LookArg::Natural, help_heading = "Equalization")]
    pub look: LookArg,

    /// Each frame by itself, textbook equalization [default: for single images]
    #[arg(long, conflicts_with_all = ["look", "smooth", "scene_threshold", "max_gain", "plateau", "strength", "method"])]
    #[arg(help_heading = "Equalization")]
    pub exact: bool,

    /// How far to go towards the equalized picture: 0 is the input, 1 is fully equalized [default: by look, mostly 1]
    #[arg(long, value_name = "S", allow_negative_numbers = true, help_heading = "Equalization")]
    pub strength: Option<f64>,

    /// Contrast limit: the most by which contrast, and noise, is amplified, 1 to 4096; 0 is no limit [default: by look]
    #[arg(long, value_name = "G", allow_negative_numbers = true, help_heading = "Equalization")]
    pub max_gain: Option<f64>,

    /// Temporal window in seconds, against flicker; 0 equalizes each frame by itself [default: by look]
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, help_heading = "Equalization")]
    pub smooth: Option<f64>,

    /// Difference between two frames, 0 to 1, above which they are a scene cut, which restarts the window; 1 finds no cuts
    /// [default: by look]
    #[arg(long, value_name = "T", allow_negative_numbers = true, help_heading = "Equalization")]
    pub scene_threshold: Option<f64>,

    /// Maximum count of one histogram bin, in samples or in percent of the frame (0.5%), which keeps large flat areas from
    /// taking contrast away from small details; 0 is no cap [default: by look]
    #[arg(long, value_name = "P", help_heading = "Equalization")]
    pub plateau: Option<String>,

    /// One curve for the frame, or one for each tile, which brings out local contrast
    #[arg(long, value_enum, help_heading = "Equalization")]
    pub method: Option<MethodArg>,

    /// Tiles of --method clahe, across and down, 1 to 256 each [default: 8x8]
    #[arg(long, value_name = "CxR", help_heading = "Equalization")]
    pub tiles: Option<String>,

    /// Histogram bins, 2 to 65536 [default: one for each level]
    #[arg(long, value_name = "B", value_parser = clap::value_parser!(u32).range(2..=65536))]
    #[arg(help_heading = "Equalization")]
    pub bins: Option<u32>,

    /// Leave colour alone, or let saturation follow brightness
    #[arg(long, value_enum, default_value_t = ChromaArg::Keep, help_heading = "Equalization")]
    pub chroma: ChromaArg,

    /// Write luma only
    #[arg(long, help_heading = "Equalization")]
    pub gray: bool,

    /// Take the histogram from this rectangle of the decoded picture, or auto: all but black bars [default: whole frame]
    #[arg(long, value_name = "X,Y,W,H", help_heading = "Equalization")]
    pub roi: Option<String>,

    /// Write the curves of all frames to this file, as lines of JSON that can be edited
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, help_heading = "Equalization")]
    pub save_curves: Option<String>,

    /// Apply the curves in this file instead of equalizing; of the options above, combines with --strength only
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, help_heading = "Equalization")]
    #[arg(conflicts_with_all = ["look", "exact", "smooth", "scene_threshold", "max_gain", "plateau"])]
    #[arg(conflicts_with_all = ["method", "tiles", "bins", "roi"])]
    pub load_curves: Option<String>,
}

/// Named sets of options.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookArg {
    /// Most video; gray of more than 8 bits gets thermal, a single image gets exact.
    Natural,
    /// Dark and noisy.
    Night,
    /// Fog, haze, under water.
    Haze,
    /// Thermal cameras, and other footage that uses a small part of the range.
    Thermal,
    /// The textbook.
    Exact,
}

/// The way from histograms to what a pixel becomes.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum MethodArg {
    /// One curve for the frame.
    Global,
    /// Contrast-limited adaptive histogram equalization: a curve for each tile.
    Clahe,
}

/// What happens to colour.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChromaArg {
    /// Colour is left alone.
    Keep,
    /// Saturation follows brightness.
    Scale,
}
