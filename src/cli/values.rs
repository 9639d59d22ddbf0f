//! What the text of an option stands for, the same for all commands.

use super::Args;
use crate::ffmpeg::{Rational, parse_rate, parse_size, parse_time};
use crate::source::Part;
use clap::CommandFactory;
use clap::error::ErrorKind;
use std::path::Path;

/// A usage error for clap to print.
pub fn usage(kind: ErrorKind, message: &str) -> clap::Error {
    Args::command().error(kind, message)
}

/// The name of a file that was given as a URL (`file:a.mp4`, `file:///a.mp4`), so that it is treated as any other.
pub fn plain_name(name: String) -> String {
    match name.strip_prefix("file:").filter(|_| !Path::new(&name).exists()) {
        Some(path) => path.strip_prefix("//").filter(|path| path.starts_with('/')).unwrap_or(path).to_owned(),
        None => name,
    }
}

/// The same for an output. Stdout stays stdout under the names that the system has for it: to open those would empty the file
/// that a shell appends to.
pub fn output_name(name: String) -> String {
    match plain_name(name) {
        name if ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].contains(&name.as_str()) => "-".to_owned(),
        name => name,
    }
}

/// Makes sure that a file of curves is named, if one is to be written.
pub fn curves_name(name: Option<String>) -> Result<Option<String>, clap::Error> {
    match name.as_deref() {
        Some("-" | "") => Err(usage(ErrorKind::ValueValidation, "--save-curves takes a file's name")),
        _ => Ok(name),
    }
}

/// What an option's text stands for.
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

fn time(option: &str, text: Option<String>) -> Result<Option<i64>, clap::Error> {
    let not_negative = |text: &str| parse_time(text).filter(|&time| time >= 0);
    value(option, "a time like 90, 1:30 or 00:01:30.5", text, not_negative)
}

pub fn duration(text: Option<String>) -> Result<Option<i64>, clap::Error> {
    match time("--duration", text)? {
        Some(0) => Err(usage(ErrorKind::ValueValidation, "--duration is more than 0")),
        duration => Ok(duration),
    }
}

/// The size in pixels that `--size` gives.
pub fn size(text: Option<String>) -> Result<Option<(usize, usize)>, clap::Error> {
    value("--size", "a size like 1920x1080", text, parse_size)
}

/// The frames a second that `--rate` gives.
pub fn rate(text: Option<String>) -> Result<Option<Rational>, clap::Error> {
    value("--rate", "a rate like 25, 29.97 or 30000/1001", text, parse_rate)
}

/// The part of the input that `--start`, `--duration` and `--frames` give.
pub fn part(start: Option<String>, length: Option<String>, frames: Option<u64>) -> Result<Part, clap::Error> {
    Ok(Part { start: time("--start", start)?, duration: duration(length)?, frames })
}
