//! The short help of each command, and commands of similar names.

use clap::Command;
use clap::error::{ContextKind, ContextValue};

/// Other words for commands.
const COMMANDS: [(&str, &str); 6] = [
    ("camera", "live"),
    ("webcam", "live"),
    ("record", "live"),
    ("stream", "live"),
    ("diff", "compare"),
    ("version", "--version"),
];

/// The command of `program` that a mistyped word may mean.
pub(super) fn similar_command(program: &Command, word: &str) -> Option<String> {
    if let Some((_, command)) = COMMANDS.iter().find(|(theirs, _)| *theirs == word) {
        return Some((*command).to_owned());
    }
    let commands = Command::new("").subcommands(program.get_subcommands().cloned());
    let error = commands.try_get_matches_from(["", word]).err()?;
    let similar = match error.get(ContextKind::SuggestedSubcommand)? {
        ContextValue::Strings(names) => names.clone(),
        ContextValue::String(name) => vec![name.clone()],
        _ => return None,
    };
    // Few people mistype the first letter: `tapes`, for example, does not mean `status`.
    similar.into_iter().find(|name| name.chars().next() == word.chars().next())
}

/// The short help (`-h`), on 24 lines.
pub(super) const SHORT_HELP: &str = "\
Bring out what is hidden in dark, hazy or flat video

Usage: histeq-video [OPTIONS] <INPUT> [OUTPUT]

  histeq-video dark.mp4                    makes dark-equalized.mp4
  histeq-video preview dark.mp4            draws every look on one sheet
  histeq-video --output-dir clear holiday  equalizes the videos of a folder

Options:
      --look <LOOK>       natural, night, haze, underwater, faithful, ...
      --strength <S>      Share of the correction to apply, 0 to 1
      --start <T>         Start at this time of the input, like 90 or 1:30
      --duration <T>      Stop after this long
      --for <PURPOSE>     What it is for: web, archive, edit or quality
      --output-dir <DIR>  Equalize many files and folders into this folder
      --dry-run           Say what would be done, and write nothing
  -y                      Overwrite an existing output

Commands: web (all of it on a page), live (a camera), preview, compare
  of specialists: plan, run, join, status, bench, devices, completions, man

histeq-video --help shows all options, exit codes and more examples, and
histeq-video COMMAND --help those of a command.
";

/// What is printed without arguments: the examples of the short help.
pub fn examples() -> String {
    let end = SHORT_HELP.find("\nOptions:").unwrap_or(SHORT_HELP.len());
    format!("{}\nhisteq-video -h lists what most people need.\n", &SHORT_HELP[..end])
}
