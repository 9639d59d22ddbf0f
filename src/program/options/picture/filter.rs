//! Options of the filters before equalization.

use super::equalize::EqualizeOptions;
use crate::options::values::AnyCase;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use histeq_media::source::{LogChoice, LogCurve};
use histeq_media::sys::files::Name;

/// Filters ahead of equalization.
#[derive(Args, Clone, Debug, Default)]
pub struct FilterOptions {
    /// Pass the decoded pictures through FFmpeg's video filters before they are equalized: CHAIN is what ffmpeg -vf
    /// takes
    ///
    /// Size, rate and pixel format of the output are those of the filtered video, with no fewer bits than the input,
    /// and --roi counts its pixels. --start, --duration and --frames count in the input, and the filters see that part
    /// alone. Filters that hold all frames, such as reverse, need memory for all of them.
    #[arg(long, value_name = "CHAIN", help_heading = "Filters", hide_short_help = true)]
    pub filter: Option<String>,

    /// A table of colours (.cube) that the decoded pictures pass through before they are equalized, and before --filter
    ///
    /// Tables of curves and of colours, as grading programs write them. They are applied to RGB of 16 bits; of colours,
    /// what lies between is found within tetrahedra. Log footage becomes what displays show before (--log off leaves it
    /// to the table).
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    #[arg(help_heading = "Filters", hide_short_help = true)]
    pub lut: Option<Name>,

    /// Log footage, which becomes what displays show (BT.709) before all else: the curve, or auto where the file names
    /// it
    ///
    /// auto goes by metadata of cameras and recorders (Apple Log, S-Log3, V-Log, LogC3, Blackmagic Film 5) and by the
    /// transfer characteristics log100 and log316. It does nothing with --strength 0, with --look exact and thermal,
    /// and with any --method but natural. Where a curve is given, it is applied with any of them.
    #[arg(long, value_parser = log_choices(), value_name = "CURVE", default_value = "auto")]
    #[arg(help_heading = "Filters", hide_short_help = true)]
    pub log: LogChoice,
}

fn log_choices() -> impl TypedValueParser<Value = LogChoice> {
    let curves = LogCurve::all().map(|curve| (curve.names().0, LogChoice::Curve(curve)));
    let choices: Vec<_> = [("auto", LogChoice::Auto), ("off", LogChoice::Off)].into_iter().chain(curves).collect();
    let names = AnyCase(PossibleValuesParser::new(choices.iter().map(|(name, _)| *name)));
    names.map(move |given| {
        choices.iter().find(|(name, _)| *name == given).map_or(LogChoice::Auto, |(_, choice)| *choice)
    })
}

/// Whether a chain has the filter `zmq`, whose library ends the program when it gets no socket.
pub fn takes_commands(chain: &str) -> bool {
    let name = |filter: &str| filter.split(['=', '@', '[']).next().unwrap_or_default().trim().to_owned();
    chain.split([',', ';', ']']).any(|filter| name(filter) == "zmq")
}

impl FilterOptions {
    /// The choice of `--log`; `auto` becomes off if the method of `equalize` does not convert log footage.
    pub fn log(&self, equalize: &EqualizeOptions) -> LogChoice {
        match self.log {
            LogChoice::Auto if !equalize.shows_log() => LogChoice::Off,
            choice => choice,
        }
    }
}
