//! Options of the filters that pictures pass before they are equalized.

use super::equalize::EqualizeOptions;
use super::values::{number, usage};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use histeq_media::source::{Denoise, DenoiseKind, Filters, LogChoice, LogCurve};

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

    /// Log footage, which becomes what displays show (BT.709) before all else: the curve, or auto where the file names it
    ///
    /// auto goes by metadata of cameras and recorders (Apple Log, S-Log3, V-Log, LogC3, Blackmagic Film 5) and by the transfer
    /// characteristics log100 and log316. It does nothing with --strength 0, with --look exact and thermal, and with any
    /// --method but natural. Where a curve is given, it is applied with any of them.
    #[arg(long, value_parser = log_choices(), value_name = "CURVE", default_value = "auto", help_heading = "Filters", hide_short_help = true)]
    pub log: LogChoice,
}

fn log_choices() -> impl TypedValueParser<Value = LogChoice> {
    let curves = LogCurve::ALL.map(|curve| (curve.names().0, LogChoice::Curve(curve)));
    let choices: Vec<_> = [("auto", LogChoice::Auto), ("off", LogChoice::Off)].into_iter().chain(curves).collect();
    let names = PossibleValuesParser::new(choices.iter().map(|(name, _)| *name));
    names.map(move |given| {
        choices.iter().find(|(name, _)| *name == given).map_or(LogChoice::Auto, |(_, choice)| *choice)
    })
}

/// The checked options of the filters; the look decides on the denoiser.
#[derive(Clone, Debug, Default)]
pub struct FilterOptions {
    denoise: Option<f64>,
    chain: Option<String>,
    log: LogChoice,
}

impl FilterArgs {
    /// Checks the options.
    pub(super) fn check(self) -> Result<FilterOptions, clap::Error> {
        if self.denoise.is_some_and(|strength| !(0.0..=1.0).contains(&strength)) {
            return Err(usage(ErrorKind::ValueValidation, "--denoise is between 0 and 1"));
        }
        Ok(FilterOptions { denoise: self.denoise, chain: self.filter, log: self.log })
    }
}

impl FilterOptions {
    /// Whether there are filters whose reach is not known.
    pub fn has_chain(&self) -> bool {
        self.chain.is_some()
    }

    /// What is taken for log.
    pub fn log(&self, equalize: &EqualizeOptions) -> LogChoice {
        match self.log {
            LogChoice::Auto if !equalize.shows_log() => LogChoice::Off,
            choice => choice,
        }
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
        let options =
            FilterArgs { filter: None, denoise: given, log: LogChoice::Auto }.check().expect("a strength in range");
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
