//! Options of the filters that pictures pass before they are equalized.

use super::values::{number, usage};
use clap::Args;
use clap::error::ErrorKind;
use histeq_media::source::{Denoise, DenoiseKind, Filters};

/// Filters ahead of equalization, as typed.
#[derive(Args, Debug)]
pub struct FilterArgs {
    /// Pass the decoded pictures through FFmpeg's video filters before they are equalized: CHAIN is what ffmpeg -vf takes
    ///
    /// Size, rate and pixel format of the output are those of the filtered video, with no fewer bits than the input, and --roi
    /// counts its pixels. --start, --duration and --frames count in the input, and the filters see that part alone. Filters
    /// that hold all frames, such as reverse, need memory for all of them.
    #[arg(long, value_name = "CHAIN", help_heading = "Filters", hide_short_help = true)]
    pub filter: Option<String>,

    /// Remove noise before --filter and equalization: 0 is off, 1 is the most [default: by look]
    ///
    /// FFmpeg's denoisers smooth each frame (bilateral) and then average up to nine (atadenoise). Live pictures come four
    /// frames later. --look night denoises unless this is 0, --look underwater with a light bilateral alone.
    #[arg(long, value_parser = number::<f64>, value_name = "S", allow_negative_numbers = true, help_heading = "Filters", hide_short_help = true)]
    pub denoise: Option<f64>,
}

/// The checked options of the filters; the look decides on the denoiser.
#[derive(Clone, Debug, Default)]
pub struct FilterOptions {
    denoise: Option<f64>,
    chain: Option<String>,
}

impl FilterArgs {
    /// Checks the options.
    pub(super) fn check(self) -> Result<FilterOptions, clap::Error> {
        if self.denoise.is_some_and(|strength| !(0.0..=1.0).contains(&strength)) {
            return Err(usage(ErrorKind::ValueValidation, "--denoise is between 0 and 1"));
        }
        Ok(FilterOptions { denoise: self.denoise, chain: self.filter })
    }
}

impl FilterOptions {
    /// Whether there are filters whose reach is not known.
    pub fn has_chain(&self) -> bool {
        self.chain.is_some()
    }

    /// The filters of a look with these denoisers, which are on unless `--denoise 0` is given.
    pub fn of_look(&self, by_look: Option<DenoiseKind>) -> Filters {
        let strength = self.denoise.unwrap_or(if by_look.is_some() { 1.0 } else { 0.0 });
        let kind = by_look.unwrap_or(DenoiseKind::Strong);
        Filters { denoise: (strength > 0.0).then_some(Denoise { kind, strength }), chain: self.chain.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn denoise(given: Option<f64>, by_look: Option<DenoiseKind>) -> Option<Denoise> {
        let options = FilterArgs { filter: None, denoise: given }.check().expect("a strength in range");
        options.of_look(by_look).denoise
    }

    #[test]
    fn the_denoiser_of_a_look_is_on_unless_it_is_switched_off() {
        for kind in [DenoiseKind::Strong, DenoiseKind::Light] {
            assert_eq!(denoise(None, Some(kind)), Some(Denoise { kind, strength: 1.0 }));
            assert_eq!(denoise(Some(0.3), Some(kind)), Some(Denoise { kind, strength: 0.3 }));
            assert_eq!(denoise(Some(0.0), Some(kind)), None);
        }
        assert_eq!(denoise(None, None), None);
        assert_eq!(denoise(Some(1.0), None), Some(Denoise { kind: DenoiseKind::Strong, strength: 1.0 }));
    }
}
