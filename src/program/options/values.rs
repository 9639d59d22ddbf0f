//! Parsers of single values, for all commands.

use clap::builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use histeq::internal::options::OptionError;
use histeq::internal::spec::parameters::Named;
use histeq_media::ffmpeg::{Rational, parse_number, parse_rate, parse_size, parse_time};
use histeq_media::sys::files::Name;
use histeq_media::sys::{printable, without_middle, without_password};
use jiff::{Span, SpanRelativeTo};
use std::ffi::OsStr;
use std::str::FromStr;
use std::time::Duration;

/// A usage error; clap adds the usage line when it formats the error.
pub fn usage(kind: ErrorKind, message: &str) -> clap::Error {
    clap::Error::raw(kind, message)
}

/// A usage error in one line, with the proposals of clap in brackets.
pub fn in_one_line(error: &clap::Error) -> String {
    if error.kind() == ErrorKind::InvalidUtf8
        && let Some(name) = std::env::args_os().find(|name| name.to_str().is_none())
    {
        return format!("{} is not UTF-8, as all have to be that are no names of files", Name::from(&name));
    }
    let text = error.render().to_string();
    let message = text.split("\n\nUsage:").next().and_then(|text| text.split("\n\nFor more information").next());
    let text = message.unwrap_or_default().trim_start_matches("error: ").trim();
    let (mut message, mut tips) = (String::new(), Vec::new());
    for line in text.split('\n').map(str::trim).filter(|line| !line.is_empty()) {
        match line.strip_prefix("tip: ") {
            // Clap's tip on how to pass the word as a file name is replaced: the word is probably a mistyped option.
            Some(tip) if tip.contains("as a value, use") => tips.push("--help lists all options"),
            Some(tip) if tip.contains("a similar") && !is_slip(error) => {
                tips.extend(tip.contains("argument").then_some("--help lists all options"));
            }
            Some(tip) => tips.push(tip),
            None if message.is_empty() => message.push_str(line),
            None => message.extend([" ", line]),
        }
    }
    let message = without_middle(&message);
    if tips.is_empty() { message.into_owned() } else { format!("{message} ({})", tips.join("; ")) }
}

/// Whether the typed word is a slip of the one that clap proposes: it differs by one letter, or by two if it has at
/// least six.
fn is_slip(error: &clap::Error) -> bool {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.trim_start_matches('-')),
        _ => None,
    };
    let pairs = [
        (ContextKind::InvalidArg, ContextKind::SuggestedArg),
        (ContextKind::InvalidValue, ContextKind::SuggestedValue),
    ];
    pairs.into_iter().filter_map(|(typed, ours)| text(typed).zip(text(ours))).all(|(typed, ours)| {
        let most = if typed.len() < 6 { 1 } else { 2 };
        strsim::osa_distance(typed, ours) <= most
    })
}

/// A command line as it can be typed, without passwords.
pub fn shown_command(words: impl Iterator<Item = Name>) -> String {
    // The words after this option were added by the parent process.
    let words = words.skip(1).take_while(|word| *word != "--one-of").map(|word| without_password(&word).quoted());
    let words: Vec<String> = std::iter::once("histeq-video".to_owned()).chain(words).collect();
    printable(&words.join(" ")).into_owned()
}

/// The name of an input: a `file:` URL (`file:a.mp4`, `file:///a.mp4`) becomes the name of the file, and FFmpeg's URL
/// of a pipe (`pipe:0`, `pipe:3`) becomes `-` or the name of the descriptor. A file that has such a name stays a file.
pub fn input_name(name: Name) -> Name {
    stream_name(name, 0)
}

/// The name of an output, whose prefixes are as for [`input_name`]. The system's names of stdout become `-`: opening
/// them would truncate a file that the shell appends to.
pub fn output_name(name: Name) -> Name {
    match stream_name(name, 1) {
        name if ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].iter().any(|of_stdout| name == *of_stdout) => {
            "-".into()
        }
        name => name,
    }
}

/// A name without FFmpeg's prefixes of files and pipes. `-` is the descriptor `standard`.
fn stream_name(name: Name, standard: u32) -> Name {
    let is_there = name.path().exists();
    if let Some(path) = name.bytes().strip_prefix(b"file:").filter(|_| !is_there) {
        let path = path.strip_prefix(b"//").filter(|path| path.starts_with(b"/")).unwrap_or(path);
        return Name::from_bytes(path.to_vec());
    }
    match name.text().and_then(|name| name.strip_prefix("pipe:")).map(|number| (number, number.parse::<u32>())) {
        Some((number, _)) if !number.is_empty() && !number.bytes().all(|byte| byte.is_ascii_digit()) => name,
        // FFmpeg would take the plain name for a pipe.
        Some(_) if is_there => format!("./{name}").into(),
        Some(("", _)) => "-".into(),
        Some((_, Ok(number))) if number == standard => "-".into(),
        Some((number, _)) => format!("/dev/fd/{number}").into(),
        None => name,
    }
}

/// Extensions of other formats for curves or tables, which `--save-curves` refuses.
const OTHERS: [&str; 12] =
    [".3dl", ".lut", ".look", ".icc", ".csv", ".tsv", ".txt", ".html", ".npy", ".npz", ".mat", ".xlsx"];

/// Whether a name is that of a table for grading programs.
pub fn is_cube(name: &Name) -> bool {
    name.path().extension().is_some_and(|extension| extension.eq_ignore_ascii_case("cube"))
}

/// Checks the name that `--save-curves` gives.
pub fn curves_name(name: Option<Name>) -> Result<Option<Name>, clap::Error> {
    match &name {
        Some(name) if name.is_empty() || *name == "-" => {
            Err(usage(ErrorKind::ValueValidation, "--save-curves takes a file's name"))
        }
        Some(other) if OTHERS.iter().any(|end| other.to_string().to_lowercase().ends_with(end)) => {
            let message = format!(
                "--save-curves writes lines of JSON (.jsonl) or a table for grading programs (.cube), not {other}"
            );
            Err(usage(ErrorKind::ValueValidation, &message))
        }
        _ => Ok(name),
    }
}

/// Parses the text of `option`; `kind` describes valid values in the error.
pub fn value<T>(
    option: &str,
    kind: &str,
    text: Option<String>,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, clap::Error> {
    let Some(text) = text else { return Ok(None) };
    match parse(&text) {
        Some(value) => Ok(Some(value)),
        None => Err(usage(ErrorKind::ValueValidation, &format!("{option} is {kind}, not {text}"))),
    }
}

/// The microseconds of a time: seconds, as FFmpeg writes times, or with units (`90`, `1:30`, `10m`, `1h 30m`, `7d`).
fn microseconds(text: &str) -> Option<i64> {
    let of_units = || text.parse::<Span>().ok()?.to_duration(SpanRelativeTo::days_are_24_hours()).ok();
    parse_time(text).or_else(|| i64::try_from(of_units()?.as_micros()).ok())
}

/// A time in microseconds, at least 0.
pub fn time(option: &str, text: Option<String>) -> Result<Option<i64>, clap::Error> {
    let not_negative = |text: &str| microseconds(text).filter(|&time| time >= 0);
    value(option, "a time like 90, 1:30 or 5m", text, not_negative)
}

/// A time in seconds.
pub fn seconds(text: &str) -> Result<f64, String> {
    number(text).or_else(|error| microseconds(text).map(|time| time as f64 / 1e6).ok_or(error))
}

/// The microseconds that `--duration` gives, more than 0.
pub fn duration(text: Option<String>) -> Result<Option<i64>, clap::Error> {
    match time("--duration", text)? {
        Some(0) => Err(usage(ErrorKind::ValueValidation, "--duration is more than 0")),
        duration => Ok(duration),
    }
}

/// A length of time, more than 0.
pub fn span(text: &str) -> Result<Duration, String> {
    let length = microseconds(text).filter(|&time| time > 0);
    let length = length.map(|time| Duration::from_micros(time.unsigned_abs()));
    length.ok_or_else(|| "a length of time is needed, like 10m, 1h or 7d".to_owned())
}

/// The size in pixels that `--size` gives.
pub fn size(text: Option<String>) -> Result<Option<(usize, usize)>, clap::Error> {
    value("--size", "a size like 1920x1080", text, parse_size)
}

/// The frames a second that `--rate` gives.
pub fn rate(text: Option<String>) -> Result<Option<Rational>, clap::Error> {
    value("--rate", "a rate like 25, 29.97 or 30000/1001", text, parse_rate)
}

/// A count of at least 1, like 34M or 4Gi.
pub fn parse_count(text: &str) -> Option<u64> {
    parse_number(text).filter(|count| *count >= 1.0).map(|count| count as u64)
}

/// A number, with or without decimals.
pub fn number<T: FromStr + Into<f64> + Copy>(text: &str) -> Result<T, String> {
    let number = text.trim().parse().ok().filter(|&number: &T| number.into().is_finite());
    number.ok_or_else(|| "a number is needed, like 18 or 0.5".to_owned())
}

/// A parser that ignores the case of names, all of which are in lower case.
#[derive(Clone)]
pub struct AnyCase<P>(pub P);

impl<P: TypedValueParser> TypedValueParser for AnyCase<P> {
    type Value = P::Value;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<P::Value, clap::Error> {
        let text = StringValueParser::new().parse_ref(command, argument, value)?;
        let text = text.to_lowercase();
        if let Some(gone) = argument.and_then(|option| OptionError::for_removed_value(option.get_id().as_str(), &text))
        {
            return Err(usage(ErrorKind::ValueValidation, &gone.with_prefix("--")));
        }
        self.0.parse_ref(command, argument, text.as_ref())
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        self.0.possible_values()
    }
}

/// A parser of the names of these values, which `--help` lists.
pub fn named<T: Named + Send + Sync>() -> impl TypedValueParser<Value = T> {
    let values = T::ALL.iter().map(|value| PossibleValue::new(value.name()).help(value.about()));
    AnyCase(PossibleValuesParser::new(values)).map(|name| T::from_name(&name).expect("one of the listed names"))
}
