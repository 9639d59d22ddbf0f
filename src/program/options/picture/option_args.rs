//! The options of [`histeq::internal::options::OPTIONS`] as arguments of clap: names, values and help are those of the
//! table.

use crate::options::values::{AnyCase, seconds, usage};
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use histeq::internal::options::{OPTIONS, OptionError, OptionInfo, Options, Section, ValueKind};

/// Options of the table that choose how to equalize files.
pub const FILES: u8 = 0;
/// Options of the table that choose how to equalize live input.
pub const LIVE: u8 = 1;
/// Options of the table for the output.
pub const OUTPUT: u8 = 2;

/// Options of the table that few need: those that `--set` sets.
pub const RARE: [&str; 8] =
    ["scene-threshold", "plateau", "denoise-effort", "tiles", "bins", "chroma", "gray", "look-ahead"];

/// The option that sets the [`RARE`] ones.
pub const SET: &str = "set";

/// The options of one part of the table: [`FILES`], [`LIVE`] or [`OUTPUT`].
#[derive(Debug)]
pub struct OptionArgs<const PART: u8> {
    /// The options that were given.
    pub options: Options,
    /// The names of those that `--set` has set.
    pub set: Vec<&'static str>,
}

/// Whether `--set` sets this option.
pub fn is_rare(name: &str) -> bool {
    RARE.contains(&name)
}

/// The options of `--set` that the option `other` excludes.
pub fn rare_without(other: &str) -> &'static [&'static str] {
    match other {
        "exact" => &["scene-threshold", "plateau", "look-ahead"],
        "load_curves" | "range" => &["scene-threshold", "plateau", "tiles", "bins"],
        _ => &[],
    }
}

/// `text` with options in the form in which users type them: `--set bins` for `--bins`.
pub fn typed(text: &str) -> String {
    RARE.iter().fold(text.to_owned(), |text, name| text.replace(&format!("--{name}"), &format!("--{SET} {name}")))
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

/// The text of a value in the form that the table takes: names in lower case, times in seconds.
fn for_table(option: &OptionInfo, text: &str) -> String {
    let text = text.to_lowercase();
    let is_time = option.values.starts_with("a number of seconds") && text.parse::<f64>().is_err();
    seconds(&text).ok().filter(|_| is_time).map_or(text, |time| time.to_string())
}

/// An error of options, as clap prints it.
pub fn option_error(error: &OptionError) -> clap::Error {
    let kind = if error.is_conflict() { ErrorKind::ArgumentConflict } else { ErrorKind::ValueValidation };
    usage(kind, &typed(&error.with_prefix("--")))
}

fn argument(option: &'static OptionInfo) -> Arg {
    let argument = Arg::new(option.name).long(option.name).hide_short_help(option.section != Section::Everyday);
    let argument = match option.section {
        Section::Everyday => argument,
        Section::Equalization => argument.help_heading("Equalization"),
        // `--exact` is an option of the program, which the table does not have.
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
            // `auto` is an alias of the default look, and is not listed.
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
        details => argument.long_help(typed(&format!("{summary}\n\n{details}"))).help(summary),
    }
}

/// The argument `--set`, for these options.
fn set_argument(options: &[&OptionInfo]) -> Arg {
    let mut help = "Set an option that few need; may be repeated".to_owned();
    let summary = help.clone();
    for option in options {
        let names: Vec<_> = option.choices().iter().map(|(name, about)| format!("{name} ({about})")).collect();
        let values = if names.is_empty() { option.values.to_owned() } else { names.join(", ") };
        help += &format!("\n\n{}: {} [{values}; default: {}]", option.name, option.summary, option.default);
        if !option.details.is_empty() {
            help += &format!(". {}", typed(option.details));
        }
    }
    let argument = Arg::new(SET).long(SET).value_name("NAME=VALUE").action(ArgAction::Append).hide_short_help(true);
    argument.help_heading("Equalization").help(summary).long_help(help)
}

impl<const PART: u8> Args for OptionArgs<PART> {
    fn augment_args(command: Command) -> Command {
        let (rare, common): (Vec<_>, Vec<_>) = Self::table().partition(|option| is_rare(option.name));
        let set = (!rare.is_empty()).then(|| set_argument(&rare));
        command.args(common.into_iter().map(argument)).args(set)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<const PART: u8> FromArgMatches for OptionArgs<PART> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut args = OptionArgs { options: Options::default(), set: Vec::new() };
        args.update_from_arg_matches(matches)?;
        Ok(args)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for option in Self::table().filter(|option| !is_rare(option.name)) {
            let text = match option.kind {
                ValueKind::Flag => matches.get_flag(option.name).then_some("true"),
                _ => matches.get_one::<String>(option.name).map(String::as_str),
            };
            if let Some(text) = text {
                option.set(&mut self.options, &for_table(option, text)).map_err(|error| option_error(&error))?;
            }
        }
        let rare: Vec<_> = Self::table().filter(|option| is_rare(option.name)).collect();
        if rare.is_empty() {
            return Ok(());
        }
        for text in matches.get_many::<String>(SET).into_iter().flatten() {
            let (name, value) = text.split_once('=').unwrap_or((text, "true"));
            let Some(option) = rare.iter().find(|option| option.name == name) else {
                let names: Vec<&str> = rare.iter().map(|option| option.name).collect();
                let message =
                    format!("--{SET} takes NAME=VALUE, where NAME is one of {}, not {text}", names.join(", "));
                return Err(usage(ErrorKind::ValueValidation, &message));
            };
            let value = match (option.kind, value) {
                (ValueKind::Flag, "1") => "true",
                (ValueKind::Flag, "0") => "false",
                _ => value,
            };
            option.set(&mut self.options, &for_table(option, value)).map_err(|error| option_error(&error))?;
            self.set.push(option.name);
        }
        Ok(())
    }
}
