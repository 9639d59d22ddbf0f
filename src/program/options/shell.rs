//! Shell completions and man pages, from the same definitions as `--help`.

use super::command::Args;
use super::defaults::{is_settable, variable_of};
use super::picture::option_args::RARE;
use clap::error::ErrorKind;
use clap::{Arg, Command, CommandFactory};
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate, complete};
use clap_complete::env::{Bash, Elvish, EnvCompleter, Fish, Powershell, Shells, Zsh};
use clap_complete::{CompleteEnv, Shell};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use histeq_media::ffmpeg::encode::encoders;
use std::collections::BTreeSet;
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
        // At the first completion, zsh runs the file as the function: it has to call the completer.
        let call = "[[ $funcstack[1] == _histeq-video ]] && _clap_dynamic_completer_histeq_video \"$@\"";
        writeln!(text, "{call}")?;
    }
    Ok(text)
}

/// The definitions of the commands, with the encoders of this machine as values. Options are candidates only for a word
/// that begins with a dash.
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
    let candidate = |encoder: histeq_media::ffmpeg::encode::Encoder| {
        CompletionCandidate::new(encoder.name()).help(Some(encoder.description().into()))
    };
    encoders().into_iter().map(candidate).collect()
}

fn command_names() -> Vec<CompletionCandidate> {
    documented().get_subcommands().map(|command| CompletionCandidate::new(command.get_name())).collect()
}

/// Bash splits words at `=`: for `--look=ni` it completes `ni`, and expects `night`.
struct JoinedBash;

impl EnvCompleter for JoinedBash {
    fn name(&self) -> &'static str {
        Bash.name()
    }

    fn is(&self, name: &str) -> bool {
        Bash.is(name)
    }

    fn write_registration(
        &self,
        var: &str,
        name: &str,
        bin: &str,
        completer: &str,
        target: &mut dyn Write,
    ) -> Result<()> {
        Bash.write_registration(var, name, bin, completer, target)
    }

    fn write_complete(
        &self,
        command: &mut Command,
        mut words: Vec<OsString>,
        folder: Option<&Path>,
        target: &mut dyn Write,
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
        write!(target, "{}", values.join(&between))
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

/// Files that the program reads and writes without an option that names them.
const FILES: [(&str, &str); 4] = [
    ("~/.config/histeq-video/config.toml", "Options that hold without being given, and presets for --use."),
    ("NAME-equalized.EXT", "The output, where none is named."),
    ("NAME.partial.EXT", "What an interrupted run had encoded: a file that plays."),
    (".NAME.pieces", "Pieces of a video that is worked on with --jobs, until they are joined."),
];

/// The meaning of each exit code; docs/reliability.md has details.
const EXIT_STATUS: [(&str, &str); 15] = [
    ("0", "Done, or the reader of stdout went away."),
    ("1", "Failed otherwise than by what has a code of its own."),
    ("2", "Usage error: the command line, or what it asks of an input that has not got it."),
    ("3", "Nothing done: the output exists (-n)."),
    ("4", "Missing: an input, or the folder of an output, is not there."),
    ("5", "Refused: the system, a server or a camera does not allow it."),
    ("6", "Device: a GPU or a camera is missing, is in use, or has failed."),
    ("7", "Damage: an input is no video, or nothing of it can be decoded; any damage under --strict."),
    ("8", "Limit: more than --max-pixels, --max-memory, --max-seconds, --max-duration or --target-size allows."),
    ("9", "Disk: what is written is not taken, as by a full disk."),
    ("10", "Exists: an output exists, and is kept."),
    ("11", "Unsupported: an input is whole, and of a kind that is not read."),
    ("65", "The input is not the one that was planned (run, join)."),
    ("75", "Another attempt may succeed (run)."),
    ("130", "Interrupted: what was encoded is kept as a file that plays."),
];

/// Variables that the program reads, beside those that set options.
const ENVIRONMENT: [(&str, &str); 6] = [
    ("HISTEQ_CONFIG", "Another configuration file; none, if it is empty."),
    ("XDG_CONFIG_HOME", "The folder of histeq-video/config.toml, in place of ~/.config."),
    ("NO_COLOR", "Takes the colours from help and usage errors; other messages have none."),
    ("TERM", "Where it is dumb, progress is lines of text."),
    ("TZ", "The time zone of names of recordings, of schedules, and of --osd."),
    ("CUDA_VISIBLE_DEVICES", "The GPUs that may be used, as for all programs with CUDA."),
];

/// Where known limits are listed, and how to report a bug.
const BUGS: &str = "docs/limits.md lists what does not work, or works differently than expected; packages have it \
                    below /usr/share/doc/histeq-video. A report has the command, what histeq-video --version --json \
                    prints, and the smallest file that shows the fault.";

/// The man page's text on the variables that set options.
fn variables() -> String {
    let command = documented();
    let arguments = command.get_subcommands().chain([&command]).flat_map(Command::get_arguments);
    let options = arguments.filter(|option| is_settable(option)).filter_map(Arg::get_long).chain(RARE);
    // `--use` and `--config` have no variables: they are for the command line only.
    let names = options.filter(|option| !["use", "config"].contains(option)).map(variable_of);
    let names: Vec<String> = names.collect::<BTreeSet<_>>().into_iter().collect();
    format!(
        "The option of this name, for the commands that have it: one of the command line or of --use comes first, and \
         one of the configuration file last. Options without a value take true or false. An empty variable sets \
         nothing. {}.",
        names.join(", ")
    )
}

/// Writes names, each with its description.
fn listed(rows: &[(&str, &str)]) -> impl Fn(&mut Roff) {
    move |roff: &mut Roff| {
        for (name, what) in rows {
            roff.control("TP", []).text([roman(*name)]).text([roman(*what)]);
        }
    }
}

/// A man page. Sections that most people look for come first.
fn page(mut command: Command) -> Result<Vec<u8>> {
    let is_program = command.get_name() == PROGRAM;
    let usage = command.render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").lines().next().unwrap_or_default().replace(['<', '>'], "");
    let help = command.get_after_long_help().or(command.get_after_help()).map(ToString::to_string).unwrap_or_default();
    let (notes, examples) = help.split_once("Examples:\n").unwrap_or((help.as_str(), ""));
    let (codes, notes): (Vec<&str>, Vec<&str>) = notes.lines().partition(|line| line.starts_with("Exit codes: "));
    let (codes, notes) = (codes.concat(), notes.join("\n").trim().to_owned());
    let has_subcommands = command.get_subcommands().any(|command| !command.is_hide_set());
    let has_options = command.get_arguments().any(|argument| !argument.is_hide_set());
    let commands = command.get_subcommands().filter_map(|command| Some(format!("{}(1)", command.get_display_name()?)));
    let commands: Vec<String> = commands.collect();
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
        section("FILES", &listed(&FILES), &mut text)?;
    }
    if has_options {
        man.render_options_section(&mut text)?;
    }
    if has_subcommands {
        man.render_subcommands_section(&mut text)?;
    }
    if is_program {
        section("EXIT STATUS", &listed(&EXIT_STATUS), &mut text)?;
        let variables = variables();
        let rows: Vec<_> = [("HISTEQ_OPTION", variables.as_str())].into_iter().chain(ENVIRONMENT).collect();
        section("ENVIRONMENT", &listed(&rows), &mut text)?;
    } else if let Some(codes) = codes.strip_prefix("Exit codes: ") {
        let codes = |roff: &mut Roff| {
            roff.text([roman(codes)]);
        };
        section("EXIT STATUS", &codes, &mut text)?;
    }
    if !notes.is_empty() {
        let paragraphs = |roff: &mut Roff| {
            for paragraph in notes.split("\n\n") {
                roff.control("PP", []).text([roman(paragraph.trim())]);
            }
        };
        section("NOTES", &paragraphs, &mut text)?;
    }
    let rest = match is_program {
        true => {
            let bugs = |roff: &mut Roff| {
                roff.text([roman(BUGS)]);
            };
            section("BUGS", &bugs, &mut text)?;
            format!("{}, ffmpeg(1), ffprobe(1), mpv(1)", commands.join(", "))
        }
        false => format!("{PROGRAM}(1)"),
    };
    let rest = |roff: &mut Roff| {
        roff.text([roman(rest.as_str())]);
    };
    section("SEE ALSO", &rest, &mut text)?;
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
