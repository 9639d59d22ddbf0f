//! Options that are not on the command line: from a preset of the user's own, the environment, and a configuration
//! file.

use super::picture::option_args::{SET, is_rare, rare_without};
use super::values::usage;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};
use histeq_media::sys::files::{Name, read_regular};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::de::{DeTable, DeValue};
use toml::{Spanned, Table, Value};

/// What the names of environment variables begin with.
const PREFIX: &str = "HISTEQ_";

/// The variable that names the configuration file; if the variable is empty, no file is read.
const CONFIG: &str = "HISTEQ_CONFIG";

/// The most bytes of the configuration file.
const MAX_BYTES: u64 = 16 << 20;

/// The error for a text with a NUL, at which FFmpeg would end the text.
pub(super) const HAS_NUL: &str = "a text cannot have a NUL (\\u0000) in it";

/// A file and its text, for error messages with line and column.
pub(super) struct Text<'a> {
    pub path: &'a Path,
    pub text: &'a str,
}

impl Text<'_> {
    /// An error at this byte range of the text, with its line and column.
    pub fn error(&self, place: Range<usize>, message: &str) -> clap::Error {
        usage(ErrorKind::InvalidValue, &format!("{}: {message}", self.place(&place)))
    }

    /// The file, with line and column of a byte range.
    pub fn place(&self, place: &Range<usize>) -> String {
        let before = &self.text[..place.start.min(self.text.len())];
        let line = 1 + before.matches('\n').count();
        let column = 1 + before.chars().rev().take_while(|&c| c != '\n').count();
        format!("{}:{line}:{column}", Name::from(self.path))
    }
}

/// Options by their long names.
pub(super) type NamedOptions = BTreeMap<String, Vec<String>>;

/// The origin of options, for messages.
pub(super) struct Origin {
    pub name: String,
    pub options: NamedOptions,
    /// Whether an unknown option is an error.
    pub is_checked: bool,
}

/// `words` for `program` with the options that apply by default, and the origins of these. Those of the command line
/// take precedence, then those of `--use`, of the environment, and of the configuration file. An option that conflicts
/// with one that takes precedence is left out.
pub(super) fn with_defaults(
    program: Command,
    words: Vec<OsString>,
) -> Result<(Vec<OsString>, Option<String>), clap::Error> {
    with_origins(program, words, Vec::new())
}

/// As [`with_defaults`], with other origins that take precedence over all but the command line.
pub(super) fn with_origins(
    mut program: Command,
    words: Vec<OsString>,
    first: Vec<Origin>,
) -> Result<(Vec<OsString>, Option<String>), clap::Error> {
    program.build();
    let name = words.get(1).and_then(|word| word.to_str());
    let subcommand = name.and_then(|name| program.find_subcommand(name)).cloned();
    let place = if subcommand.is_some() { 2 } else { 1 };
    let lenient = program.clone().ignore_errors(true).try_get_matches_from(&words);
    let Ok(typed) = lenient else { return Ok((words, None)) };
    let command = subcommand.as_ref().unwrap_or(&program);
    let typed = typed.subcommand().map_or(&typed, |(_, typed)| typed);
    let mut taken: Vec<&Arg> = command.get_arguments().filter(|arg| is_typed(typed, arg)).collect();
    let (mut added, mut names) = (Vec::new(), Vec::new());
    let typed_set = typed.try_get_many::<String>(SET).ok().flatten().into_iter().flatten();
    let mut set: Vec<String> = typed_set.map(|text| set_name(text).to_owned()).collect();
    for mut origin in first.into_iter().chain(origins(typed)?) {
        let (mut given, mut own_set) = (Vec::new(), Vec::new());
        set_rare(&mut origin.options);
        if let Some(values) = origin.options.get_mut(SET) {
            let replaced = |name: &str| taken.iter().any(|arg| rare_without(arg.get_id().as_str()).contains(&name));
            values.retain(|text| !set.iter().any(|name| name == set_name(text)) && !replaced(set_name(text)));
            own_set.extend(values.iter().map(|text| set_name(text).to_owned()));
        }
        for (option, values) in &origin.options {
            let is = |arg: &&Arg| arg.get_long() == Some(option) && is_settable(arg);
            let Some(arg) = command.get_arguments().find(is) else {
                let is_of_another =
                    || program.get_subcommands().chain([&program]).any(|c| c.get_arguments().any(|arg| is(&arg)));
                if origin.is_checked && !is_of_another() {
                    return Err(invalid(&format!("{}: there is no option {option}", origin.name)));
                }
                continue;
            };
            let conflicts =
                |a: &Arg, b: &Arg| command.get_arg_conflicts_with(a).iter().any(|c| c.get_id() == b.get_id());
            let is_taken = |other: &&Arg| {
                let is_same = other.get_id() == arg.get_id() && option != SET;
                is_same || conflicts(arg, other) || conflicts(other, arg)
            };
            let without = rare_without(arg.get_id().as_str());
            if taken.iter().any(is_taken) || set.iter().any(|name| without.contains(&name.as_str())) {
                continue;
            }
            let set =
                words_for(arg, option, values).map_err(|what| invalid(&format!("{}: {option} {what}", origin.name)))?;
            if !set.is_empty() {
                given.push(arg);
                names.push(origin.name.clone());
                added.extend(set);
            }
        }
        taken.extend(given);
        set.extend(own_set);
    }
    names.dedup();
    let mut all = words;
    all.splice(place.min(all.len())..place.min(all.len()), added);
    Ok((all, (!names.is_empty()).then(|| names.join(", "))))
}

/// Whether an option may be set elsewhere than on the command line. Hidden ones are for child processes and tests.
pub(super) fn is_settable(arg: &Arg) -> bool {
    let action = arg.get_action();
    let asks = matches!(action, ArgAction::Help | ArgAction::HelpShort | ArgAction::HelpLong | ArgAction::Version);
    !arg.is_hide_set() && !asks
}

/// The variable that sets this option.
pub(super) fn variable_of(option: &str) -> String {
    format!("{PREFIX}{}", option.to_uppercase().replace('-', "_"))
}

/// The name in a `NAME=VALUE` of `--set`.
fn set_name(text: &str) -> &str {
    text.split('=').next().unwrap_or(text)
}

/// Converts rare options, which the command line has only as `--set NAME=VALUE`, to values of `--set`.
fn set_rare(options: &mut NamedOptions) {
    let (rare, mut rest): (NamedOptions, NamedOptions) =
        std::mem::take(options).into_iter().partition(|(option, _)| is_rare(option));
    if !rare.is_empty() {
        let texts = rare.iter().flat_map(|(name, values)| values.iter().map(move |value| format!("{name}={value}")));
        rest.entry(SET.to_owned()).or_default().extend(texts);
    }
    *options = rest;
}

/// The origins of options, in the order of precedence.
fn origins(typed: &ArgMatches) -> Result<Vec<Origin>, clap::Error> {
    let mut origins = Vec::new();
    let (path, config) = config()?;
    let path = Name::from(path);
    let preset = typed.try_get_one::<String>("preset_name").ok().flatten();
    if let Some(name) = preset {
        let options = section(&config, "preset").and_then(|presets| presets.get(name)).and_then(Value::as_table);
        let Some(options) = options else {
            let known: Vec<&String> = section(&config, "preset").into_iter().flat_map(Table::keys).collect();
            let known: Vec<&str> = known.into_iter().map(String::as_str).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            return Err(invalid(&format!("--use {name}: {path} has no [preset.{name}] (it has {known})")));
        };
        let name = format!("[preset.{name}] of {path}");
        origins.push(Origin { options: values(options, &name)?, name, is_checked: true });
    }
    let set = std::env::vars_os().filter_map(|(name, value)| {
        let option = name.to_str()?.strip_prefix(PREFIX)?.to_lowercase().replace('_', "-");
        Some((name.into_string().ok()?, option, value.into_string().ok()?))
    });
    // An empty variable sets nothing.
    let set = set.filter(|(_, _, value)| !value.is_empty());
    origins.extend(set.map(|(name, option, value)| Origin {
        name,
        options: [(option, vec![value])].into(),
        is_checked: false,
    }));
    if let Some(defaults) = section(&config, "defaults") {
        let name = format!("[defaults] of {path}");
        origins.push(Origin { options: values(defaults, &name)?, name, is_checked: true });
    }
    Ok(origins)
}

/// Where the configuration file is if no variable names it. Folders that are not absolute are left out, as the XDG Base
/// Directory Specification wants.
fn usual_config() -> Option<PathBuf> {
    let absolute = |folder: &PathBuf| folder.is_absolute();
    let given = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(absolute);
    let folder = given.or_else(|| Some(std::env::home_dir().filter(absolute)?.join(".config")))?;
    Some(folder.join("histeq-video/config.toml"))
}

/// The path of the configuration file, and what is in it.
fn config() -> Result<(PathBuf, Table), clap::Error> {
    let given = std::env::var_os(CONFIG);
    let path = given.as_ref().map(PathBuf::from).or_else(usual_config).unwrap_or_default();
    if [Path::new(""), Path::new("/dev/null")].contains(&&*path) || given.is_none() && !path.exists() {
        return Ok((path, Table::new()));
    }
    let name = Name::from(&path);
    let unread = |error: &dyn std::fmt::Display| invalid(&format!("{name}: {error} ({CONFIG}= reads none)"));
    let text = read_regular(&path, MAX_BYTES).map_err(|error| unread(&error))?;
    let text = String::from_utf8(text).map_err(|error| unread(&error))?;
    let placed = Text { path: &path, text: &text };
    let faulty = |error: toml::de::Error| placed.error(error.span().unwrap_or(0..0), error.message());
    let table = DeTable::parse(&text).map_err(faulty)?;
    if let Some(place) = table.get_ref().values().find_map(place_of_nul) {
        return Err(placed.error(place, HAS_NUL));
    }
    let config: Table = text.parse().map_err(faulty)?;
    if let Some(other) = config.keys().find(|key| !["defaults", "preset"].contains(&key.as_str())) {
        return Err(invalid(&format!("{name}: {other} belongs below [defaults] or [preset.NAME]")));
    }
    Ok((path, config))
}

/// The byte range of the first text that contains a NUL.
fn place_of_nul(value: &Spanned<DeValue<'_>>) -> Option<Range<usize>> {
    match value.get_ref() {
        DeValue::String(text) => text.contains('\0').then(|| value.span()),
        DeValue::Array(values) => values.iter().find_map(place_of_nul),
        DeValue::Table(table) => table.values().find_map(place_of_nul),
        _ => None,
    }
}

fn section<'a>(config: &'a Table, name: &str) -> Option<&'a Table> {
    config.get(name).and_then(Value::as_table)
}

/// The options of a table, of which each has a value or a list of them.
fn values(table: &Table, name: &str) -> Result<NamedOptions, clap::Error> {
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Integer(number) => Some(number.to_string()),
        Value::Float(number) => Some(number.to_string()),
        Value::Boolean(is_set) => Some(is_set.to_string()),
        Value::Array(_) | Value::Table(_) | Value::Datetime(_) => None,
    };
    let texts = |value: &Value| match value {
        Value::Array(values) => values.iter().map(text).collect(),
        value => text(value).map(|text| vec![text]),
    };
    let option = |(option, value): (&String, &Value)| match texts(value) {
        Some(values) => Ok((option.replace('_', "-"), values)),
        None => Err(invalid(&format!("{name}: {option} is a text, a number, true, false, or a list of them"))),
    };
    table.iter().map(option).collect()
}

/// The words that set an option.
pub(super) fn words_for(arg: &Arg, option: &str, values: &[String]) -> Result<Vec<OsString>, &'static str> {
    let is_flag = matches!(arg.get_action(), ArgAction::SetTrue);
    let may_stand_alone = is_flag || arg.get_num_args().is_some_and(|count| count.min_values() == 0);
    // `1` is "true" for a flag, and a value for other options, as in `wait = 1`.
    let is = |word: &str, digit: &str| matches!(values, [value] if value == word || is_flag && value == digit);
    match values {
        _ if may_stand_alone && is("true", "1") => Ok(vec![format!("--{option}").into()]),
        _ if may_stand_alone && is("false", "0") => Ok(Vec::new()),
        _ if is_flag => Err("is true or false"),
        _ => Ok(values.iter().map(|value| format!("--{option}={value}").into()).collect()),
    }
}

fn is_typed(typed: &ArgMatches, arg: &Arg) -> bool {
    let id = arg.get_id().as_str();
    typed.try_contains_id(id).unwrap_or(false) && typed.value_source(id) == Some(ValueSource::CommandLine)
}

fn invalid(message: &str) -> clap::Error {
    usage(ErrorKind::InvalidValue, message).format(&mut Command::new("histeq-video"))
}

/// Whether a word of the command line asks for help, for which defaults are not read.
pub(super) fn asks_for_help(word: &OsStr) -> bool {
    ["-h", "--help", "-V", "--version", "help"].iter().any(|other| word == *other)
}
