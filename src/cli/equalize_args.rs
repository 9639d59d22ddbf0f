//! What was typed of how to equalize; the same for files and cameras.

use clap::{Args, ValueEnum};

/// How to equalize.
#[derive(Args, Debug)]
pub struct EqualizeArgs {
    /// A set of the options below for a kind of footage; single options override it
    #[arg(long, value_enum, value_name = "LOOK", default_value_t = LookArg::Natural, help_heading = "Equalization")]
    pub look: LookArg,

    /// Each frame by itself, textbook equalization [default: for single images]
    #[arg(long, conflicts_with_all = ["look", "smooth", "scene_threshold", "max_gain", "plateau", "strength", "method"])]
    #[arg(help_heading = "Equalization")]
    pub exact: bool,

    /// How much of the way to the equalized picture to go: 0 is the input, 1 is fully equalized [default: 1]
    #[arg(long, value_name = "S", allow_negative_numbers = true, help_heading = "Equalization")]
    pub strength: Option<f64>,

    /// Contrast limit: how many times as strong contrasts, and noise, may become, 1 or more; 0 is no limit [default: by
    /// look]
    #[arg(long, value_name = "G", allow_negative_numbers = true, help_heading = "Equalization")]
    pub max_gain: Option<f64>,

    /// Seconds whose frames are looked at together, against flicker; 0 is each frame by itself [default: by look]
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, help_heading = "Equalization")]
    pub smooth: Option<f64>,

    /// How different two frames have to be to be a cut, 0 to 1; 1 is never [default: by look]
    #[arg(long, value_name = "T", allow_negative_numbers = true, help_heading = "Equalization")]
    pub scene_threshold: Option<f64>,

    /// The most that one level may count, in samples or in percent of the frame (0.5%): large flat areas no longer take
    /// the contrast of small things; 0 is no cap [default: by look]
    #[arg(long, value_name = "P", help_heading = "Equalization")]
    pub plateau: Option<String>,

    /// One curve for the frame, or one a tile, which brings out local contrast
    #[arg(long, value_enum, help_heading = "Equalization")]
    pub method: Option<MethodArg>,

    /// Tiles of --method clahe, across and down [default: 8x8]
    #[arg(long, value_name = "CxR", help_heading = "Equalization")]
    pub tiles: Option<String>,

    /// Histogram bins [default: one a level]
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

    /// Keep the curves of the frames in this file: lines of JSON, which can be edited
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, help_heading = "Equalization")]
    pub save_curves: Option<String>,

    /// Send frames through the curves of this file; of the options that make curves, only --strength goes with it
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, help_heading = "Equalization")]
    #[arg(conflicts_with_all = ["look", "exact", "smooth", "scene_threshold", "max_gain", "plateau"])]
    #[arg(conflicts_with_all = ["method", "tiles", "bins", "roi"])]
    pub load_curves: Option<String>,
}

/// Named sets of options.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookArg {
    /// What most video looks best with; gray of more than 8 bits gets thermal, a single image gets exact.
    Natural,
    /// Dark and noisy.
    Night,
    /// Fog, haze, under water.
    Haze,
    /// Thermal cameras, and others whose levels crowd in a small part of the range.
    Thermal,
    /// The textbook.
    Exact,
}

/// The way from histograms to what a pixel becomes.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum MethodArg {
    /// One curve for the frame.
    Global,
    /// Contrast-limited adaptive histogram equalization: a curve a tile.
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
