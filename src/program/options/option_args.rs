//! The options of [`histeq::options::OPTIONS`] as arguments of clap: names, values and help are those of the table.

use super::values::{AnyCase, usage};
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use histeq::options::{OPTIONS, OptionError, OptionInfo, Options, Section, ValueKind};

/// Options of the table that choose how to equalize files.
pub const FILES: u8 = 0;
/// Those that choose how to equalize live input.
pub const LIVE: u8 = 1;
/// Those of what comes out.
pub const OUTPUT: u8 = 2;

/// A part of the table.
#[derive(Debug)]
pub struct OptionArgs<const PART: u8> {
    /// The options that were given.
    pub options: Options,
}

impl<const PART: u8> OptionArgs<PART> {
    fn table() -> impl Iterator<Item = &'static OptionInfo> {
        OPTIONS.iter().filter(|option| match option.section {
            Section::Everyday | Section::Equalization => PART != OUTPUT,
            Section::Files => PART == FILES,
            Section::Output => PART == OUTPUT,
        })
    }
}

/// An error of options, as clap prints it.
pub fn option_error(error: &OptionError) -> clap::Error {
    let kind = if error.is_conflict() { ErrorKind::ArgumentConflict } else { ErrorKind::ValueValidation };
    usage(kind, &error.with_prefix("--"))
}

/// The argument for an option.
fn argument(option: &'static OptionInfo) -> Arg {
    let argument = Arg::new(option.name).long(option.name).hide_short_help(option.section != Section::Everyday);
    let argument = match option.section {
        Section::Everyday => argument,
        Section::Equalization => argument.help_heading("Equalization"),
        // An option of the program, beside the table.
        Section::Files => argument.help_heading("Equalization").conflicts_with("exact"),
        Section::Output => argument.help_heading("Output"),
    };
    let mut shows_default = true;
    let argument = match option.kind {
        ValueKind::Flag => {
            shows_default = false;
            argument.action(ArgAction::SetTrue)
        }
        ValueKind::Choice(choices) => {
            let choices = choices();
            let is_choice = choices.iter().any(|(name, _)| *name == option.default);
            shows_default = !is_choice;
            // `auto` is the default look, and stands in no list.
            let other = |name| (option.name == "look" && name == option.default).then_some("auto");
            let values =
                choices.into_iter().map(|(name, about)| PossibleValue::new(name).help(about).aliases(other(name)));
            let argument =
                argument.value_name(option.placeholder).value_parser(AnyCase(PossibleValuesParser::new(values)));
            if is_choice { argument.default_value(option.default) } else { argument }
        }
        ValueKind::Number { .. } | ValueKind::Text => {
            argument.value_name(option.placeholder).allow_negative_numbers(true)
        }
    };
    let default = if shows_default { format!(" [default: {}]", option.default) } else { String::new() };
    let summary = format!("{}{default}", option.summary);
    match option.details {
        "" => argument.help(summary),
        details => argument.long_help(format!("{summary}\n\n{details}")).help(summary),
    }
}

impl<const PART: u8> Args for OptionArgs<PART> {
    fn augment_args(command: Command) -> Command {
        command.args(Self::table().map(argument))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<const PART: u8> FromArgMatches for OptionArgs<PART> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut args = OptionArgs { options: Options::default() };
        args.update_from_arg_matches(matches)?;
        Ok(args)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for option in Self::table() {
            let text = match option.kind {
                ValueKind::Flag => matches.get_flag(option.name).then_some("true"),
                _ => matches.get_one::<String>(option.name).map(String::as_str),
            };
            if let Some(text) = text {
                option.set(&mut self.options, &text.to_lowercase()).map_err(|error| option_error(&error))?;
            }
        }
        Ok(())
    }
}
