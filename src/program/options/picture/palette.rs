//! Options of false colours.

use crate::options::values::named;
use crate::palette::Palette;
use clap::Args;
use serde_json::{Map, Value, json};

/// Colours behind equalization.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct PaletteOptions {
    /// Show the equalized luminance in the colours of this palette, as RGB
    ///
    /// Of video in colour, luminance alone is taken, as with --set gray. Colours have 8 bits, or more where --output-depth or
    /// --output-pixel-format ask for it. --filter-after comes behind.
    #[arg(long, value_parser = named::<Palette>(), value_name = "NAME", help_heading = "Filters", hide_short_help = true)]
    pub palette: Option<Palette>,

    /// Draw a bar of the colours of --palette at the right, with the values that they stand for
    ///
    /// The values are samples of the input, or in the unit of a TIFF, FITS or SER whose samples became 16 bits along a
    /// line (--sample-range). They follow the curve of each frame; with --range they stay. Only where all of a frame has
    /// one curve: --look thermal, --method global, asinh and midtones, --range and --load-curves.
    #[arg(long, alias = "color-bar", requires = "palette", help_heading = "Filters", hide_short_help = true)]
    pub colour_bar: bool,
}

impl PaletteOptions {
    /// The values that have an effect, by the names of their options.
    pub fn report(&self) -> Map<String, Value> {
        let palette = self.palette.map(|palette| ("palette".to_owned(), json!(palette.to_string())));
        palette.into_iter().chain(self.colour_bar.then(|| ("colour-bar".to_owned(), json!(true)))).collect()
    }
}
