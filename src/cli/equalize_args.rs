//! What was typed of how to equalize; the same for files and cameras.

use clap::{Args, ValueEnum};

/// How to equalize.
#[derive(Args, Debug)]
pub struct EqualizeArgs {
    /// Preset for a kind of footage
    ///
    /// A preset sets --smooth, --scene-threshold, --max-gain, --plateau and --strength. Each of these options, if given,
    /// replaces the preset's value.
    #[arg(long, value_enum, value_name = "LOOK", default_value_t = LookArg::Natural)]
    pub look: LookArg,

    /// Share of the equalization to apply, 0 to 1 [default: by look, mostly 1]
    ///
    /// 0 leaves the input as it is, 1 is fully equalized; there are 256 steps.
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub strength: Option<f64>,

    /// One curve for the frame, or one per tile for local contrast [default: global]
    #[arg(long, value_enum)]
    pub method: Option<MethodArg>,

    /// Textbook equalization of each frame by itself, the same as --look exact [default: for single images]
    ///
    /// No temporal window, contrast limit or plateau: noise in flat pictures grows, and brightness can flicker. Goes with
    /// none of the options that choose these.
    #[arg(long, conflicts_with_all = ["look", "smooth", "scene_threshold", "max_gain", "plateau", "strength", "method"])]
    #[arg(help_heading = "Equalization", hide_short_help = true)]
    pub exact: bool,

    /// Contrast limit: the largest slope of the curve, 1 to 4096; 0 is no limit [default: by look]
    ///
    /// This is about the most by which contrast, and with it noise, is amplified. Higher values show more, lower ones are
    /// calmer, and 1 leaves the picture as it is.
    #[arg(long, value_name = "G", allow_negative_numbers = true)]
    #[arg(help_heading = "Equalization", hide_short_help = true)]
    pub max_gain: Option<f64>,

    /// Length of the temporal window in seconds, 0 to 3600, at most 512 frames [default: by look]
    ///
    /// The frames of a scene within the window share one histogram, which prevents flicker. A longer window is steadier and
    /// follows changes of light more slowly; 0 equalizes each frame by itself.
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    #[arg(help_heading = "Equalization", hide_short_help = true)]
    pub smooth: Option<f64>,

    /// Difference between two frames, 0 to 1, above which they are a scene cut [default: by look]
    ///
    /// The difference is the one between the frames' cumulative histograms. A cut restarts the temporal window. Lower values
    /// find more cuts, at each of which brightness may jump; 1 finds none.
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    #[arg(help_heading = "Equalization", hide_short_help = true)]
    pub scene_threshold: Option<f64>,

    /// Maximum count of one histogram bin, in samples (500) or in percent of the frame (0.5%); 0 is no cap
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

    /// What happens to colour
    #[arg(long, value_enum, default_value_t = ChromaArg::Keep, help_heading = "Equalization", hide_short_help = true)]
    pub chroma: ChromaArg,

    /// Write luma only
    #[arg(long, help_heading = "Equalization", hide_short_help = true)]
    pub gray: bool,

    /// Count the histogram in this rectangle only, in pixels of the decoded picture, or auto: all but black bars
    /// [default: whole frame]
    ///
    /// X,Y is the upper left corner, counted from 0,0. The curve applies to the whole picture. Not with --method clahe.
    #[arg(long, value_name = "X,Y,W,H", help_heading = "Equalization", hide_short_help = true)]
    pub roi: Option<String>,

    /// Write the curves of all frames to this file, as lines of JSON that can be edited; not with --method clahe
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    #[arg(help_heading = "Equalization", hide_short_help = true)]
    pub save_curves: Option<String>,

    /// Apply the curves in this file instead of equalizing
    ///
    /// Of the options that choose how to equalize, only --strength, --chroma and --gray go with it.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    #[arg(help_heading = "Equalization", hide_short_help = true)]
    #[arg(conflicts_with_all = ["look", "exact", "smooth", "scene_threshold", "max_gain", "plateau"])]
    #[arg(conflicts_with_all = ["method", "tiles", "bins", "roi"])]
    pub load_curves: Option<String>,
}

/// Named sets of options.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookArg {
    /// Most video; gray video of more than 8 bits gets thermal, a single image gets exact.
    Natural,
    /// Dark and noisy footage.
    Night,
    /// Fog, haze, under water.
    Haze,
    /// Thermal cameras, and other footage that uses a small part of the range.
    Thermal,
    /// Textbook equalization of each frame by itself.
    Exact,
}

/// How many curves a frame gets.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum MethodArg {
    /// One curve for the frame.
    Global,
    /// A curve per tile, blended between tiles (contrast-limited adaptive histogram equalization).
    Clahe,
}

/// What happens to colour.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChromaArg {
    /// Colour stays as it is.
    Keep,
    /// Saturation rises and falls with brightness.
    Scale,
}
