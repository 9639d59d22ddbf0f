//! Shell completions and man pages, from the same definitions as `--help`.

use super::command::Args;
use clap::error::ErrorKind;
use clap::{Command, CommandFactory};
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate, complete};
use clap_complete::env::{Bash, Elvish, EnvCompleter, Fish, Powershell, Shells, Zsh};
use clap_complete::{CompleteEnv, Shell};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use histeq_media::ffmpeg::encoders;
use std::ffi::OsString;
use std::io::{Result, Write};
use std::path::Path;

const PROGRAM: &str = "histeq-video";

/// The variable with which a shell requests completions.
const ASKED_BY: &str = "_HISTEQ_VIDEO_COMPLETE";

/// The variable that holds the number of the word that is completed, where it is not the last one.
const INDEX: &str = "_CLAP_COMPLETE_INDEX";

const SHELLS: Shells<'static> = Shells(&[&JoinedBash, &Elvish, &Fish, &Powershell, &Zsh]);

/// Prints completions if a shell requests them, and ends the program; returns otherwise.
pub fn answer_shell() {
    CompleteEnv::with_factory(completed).var(ASKED_BY).shells(SHELLS).complete();
}

/// The script with which `shell` asks for completions.
pub fn completions(shell: Shell) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    if let Some(completer) = SHELLS.completer(&shell.to_string()) {
        completer.write_registration(ASKED_BY, PROGRAM, PROGRAM, PROGRAM, &mut text)?;
    }
    if shell == Shell::Zsh {
        // The first time, zsh calls the file itself.
        let call = "[[ $funcstack[1] == _histeq-video ]] && _clap_dynamic_completer_histeq_video \"$@\"";
        writeln!(text, "{call}")?;
    }
    Ok(text)
}

/// The definitions, with values that this machine knows. Options are candidates where a dash is typed.
fn completed() -> Command {
    let words: Vec<OsString> = std::env::args_os().skip_while(|word| word != "--").skip(1).collect();
    let index = std::env::var(INDEX).ok().and_then(|index| index.parse().ok());
    let word = index.or(words.len().checked_sub(1)).and_then(|index: usize| words.get(index));
    let is_dash = word.is_some_and(|word| word.as_encoded_bytes().starts_with(b"-"));
    with_values(Args::command(), is_dash)
}

fn with_values(command: Command, shows_options: bool) -> Command {
    let is_man = command.get_name() == "man";
    let command = command.mut_args(|argument| {
        let is_hidden = argument.is_hide_set() || !shows_options && !argument.is_positional();
        let argument = argument.hide(is_hidden);
        match argument.get_id().as_str() {
            "encoder" => argument.add(ArgValueCandidates::new(encoder_names)),
            "command" if is_man => argument.add(ArgValueCandidates::new(command_names)),
            _ => argument,
        }
    });
    let command = command.disable_help_flag(!shows_options).disable_version_flag(!shows_options);
    command.mut_subcommands(|command| with_values(command, shows_options))
}

fn encoder_names() -> Vec<CompletionCandidate> {
    let candidate = |encoder: histeq_media::ffmpeg::Encoder| {
        CompletionCandidate::new(encoder.name()).help(Some(encoder.description().into()))
    };
    encoders().into_iter().map(candidate).collect()
}

fn command_names() -> Vec<CompletionCandidate> {
    documented().get_subcommands().map(|command| CompletionCandidate::new(command.get_name())).collect()
}

/// Bash breaks words at `=`: it asks for `ni` in `--look = ni`, and takes `night` for it.
struct JoinedBash;

impl EnvCompleter for JoinedBash {
    fn name(&self) -> &'static str {
        Bash.name()
    }

    fn is(&self, name: &str) -> bool {
        Bash.is(name)
    }

    fn write_registration(&self, var: &str, name: &str, bin: &str, completer: &str, to: &mut dyn Write) -> Result<()> {
        Bash.write_registration(var, name, bin, completer, to)
    }

    fn write_complete(
        &self,
        command: &mut Command,
        mut words: Vec<OsString>,
        folder: Option<&Path>,
        to: &mut dyn Write,
    ) -> Result<()> {
        let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
        let mut index: usize = number(INDEX).unwrap_or_default();
        let mut prefix = String::new();
        if let [.., option, equals, _] = words.get(..=index).unwrap_or_default()
            && equals == "="
            && option.as_encoded_bytes().starts_with(b"--")
        {
            prefix = format!("{}=", option.to_string_lossy());
            let value = words.remove(index);
            words.truncate(index - 1);
            index -= 2;
            words[index].push("=");
            words[index].push(value);
        }
        let candidates = complete(command, words, index, folder)?;
        let values = candidates.iter().map(|candidate| candidate.get_value().to_string_lossy());
        let values: Vec<_> = values.map(|value| value.trim_start_matches(&prefix).to_owned()).collect();
        let between = std::env::var("_CLAP_IFS").unwrap_or_else(|_| "\n".to_owned());
        write!(to, "{}", values.join(&between))
    }
}

/// The man page of a subcommand, or of the program.
///
/// # Errors
/// When there is no such subcommand: a usage error for clap to print.
pub fn man_page(subcommand: Option<&str>) -> std::result::Result<Vec<u8>, clap::Error> {
    let mut command = documented();
    let Some(name) = subcommand else { return Ok(page(command)?) };
    match command.find_subcommand(name).cloned() {
        Some(found) => Ok(page(found)?),
        None => Err(command.error(ErrorKind::InvalidSubcommand, format!("there is no subcommand {name}"))),
    }
}

/// Writes the man pages of the program and of each subcommand, as `histeq-video.1`, `histeq-video-live.1` and so on.
pub fn man_pages(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder)?;
    let command = documented();
    let commands = command.get_subcommands().cloned().chain([command.clone()]);
    for command in commands {
        let name = command.get_display_name().unwrap_or(PROGRAM).to_owned();
        std::fs::write(folder.join(format!("{name}.1")), page(command)?)?;
    }
    Ok(())
}

/// Files that the program reads and writes beside those that are named.
const FILES: [(&str, &str); 4] = [
    ("~/.config/histeq-video/config.toml", "Options that hold without being given, and presets for --use."),
    ("NAME-equalized.EXT", "The output, where none is named."),
    ("NAME.partial.EXT", "What an interrupted run had encoded: a file that plays."),
    (".NAME.pieces", "Pieces of a video that is worked on with --jobs, until they are joined."),
];

/// A man page. Sections that most people look for come first.
fn page(mut command: Command) -> Result<Vec<u8>> {
    let is_program = command.get_name() == PROGRAM;
    let usage = command.render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").lines().next().unwrap_or_default().replace(['<', '>'], "");
    let help = command.get_after_long_help().or(command.get_after_help()).map(ToString::to_string).unwrap_or_default();
    let (notes, examples) = match help.split_once("Examples:\n") {
        Some((notes, examples)) => (notes.trim().to_owned(), examples.to_owned()),
        None => (help.trim().to_owned(), String::new()),
    };
    let has_subcommands = command.get_subcommands().any(|command| !command.is_hide_set());
    let has_options = command.get_arguments().any(|argument| !argument.is_hide_set());
    // Subcommands have no version.
    let man = Man::new(command).source(concat!("histeq-video ", env!("CARGO_PKG_VERSION")));

    let mut text = Vec::new();
    man.render_title(&mut text)?;
    man.render_name_section(&mut text)?;
    let section = |title: &str, fill: &dyn Fn(&mut Roff), text: &mut Vec<u8>| {
        let mut roff = Roff::new();
        roff.control("SH", [title]);
        fill(&mut roff);
        roff.to_writer(text)
    };
    let synopsis = |roff: &mut Roff| {
        roff.text([roman(usage.as_str())]);
    };
    section("SYNOPSIS", &synopsis, &mut text)?;
    man.render_description_section(&mut text)?;
    if !examples.is_empty() {
        let lines = |roff: &mut Roff| {
            roff.control("nf", []);
            for line in examples.lines() {
                roff.text([roman(line.trim())]);
            }
            roff.control("fi", []);
        };
        section("EXAMPLES", &lines, &mut text)?;
    }
    if is_program {
        let files = |roff: &mut Roff| {
            for (name, what) in FILES {
                roff.control("TP", []).text([roman(name)]).text([roman(what)]);
            }
        };
        section("FILES", &files, &mut text)?;
    }
    if has_options {
        man.render_options_section(&mut text)?;
    }
    if has_subcommands {
        man.render_subcommands_section(&mut text)?;
    }
    if !notes.is_empty() {
        let paragraphs = |roff: &mut Roff| {
            for paragraph in notes.split("\n\n") {
                roff.control("PP", []).text([roman(paragraph.trim())]);
            }
        };
        section("NOTES", &paragraphs, &mut text)?;
    }
    if is_program {
        man.render_version_section(&mut text)?;
    }
    Ok(text)
}

/// The definitions, with full names of the subcommands.
fn documented() -> Command {
    let mut command = Args::command().disable_help_subcommand(true);
    command.build();
    command
}
