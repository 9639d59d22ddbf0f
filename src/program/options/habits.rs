//! Options of ffmpeg, HandBrake, ImageMagick, yt-dlp, x264 and OBS, which users may type here: those with one meaning
//! are translated, all others are an error that names what to use.

use super::elsewhere;
use super::picture::option_args::is_rare;
use super::values::{seconds, usage};
use super::writing::web::web_address;
use crate::options::habits_table::Here::{Is, Says};
use crate::options::habits_table::{DEFAULTS, DEFAULTS_WITH_VALUE, LEVELS, LIGHT, NAMED, UNDO, VALUES, WORDS};
use clap::error::ErrorKind;
use clap::{Arg, Command, Error};
use histeq::internal::options::OPTIONS;
use histeq_media::ffmpeg::parse_number;
use histeq_media::sys::files::Name;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Translates the options of other programs in `words`.
///
/// # Errors
/// When an option has no translation: the message names what to use.
pub(super) fn understood(program: &Command, words: Vec<OsString>) -> Result<Vec<OsString>, Error> {
    // `bench`, `run` and others have few options, and other programs lack these commands.
    let first = words.get(1).and_then(|word| word.to_str()).unwrap_or_default().to_owned();
    let first = first.as_str();
    if let ("bench", Some(word)) = (first, words.get(2)) {
        let word = word.display();
        let answer = format!("bench {word}: bench alone measures this machine; histeq-lab {word} does that now");
        return Err(usage(ErrorKind::UnknownArgument, &answer));
    }
    if ["bench", "run", "join", "status", "devices", "completions", "man", "help"].contains(&first) {
        return Ok(words);
    }
    if UNDO.contains(&first) && !Path::new(first).exists() {
        let answer = "nothing is undone: the video that was equalized is as it was, and keeps its samples";
        return Err(usage(ErrorKind::InvalidSubcommand, &format!("{first}: {answer}")));
    }
    let known = program.find_subcommand(first);
    let (command, is_main) = (known.unwrap_or(program), known.is_none());
    // `live` has an option -o of its own.
    let has_output = find(command, "-o").is_some();
    let (mut inputs, mut is_raw, mut names, mut outputs) = (0, false, Vec::new(), Vec::new());
    let mut rest = words.into_iter();
    let mut options: Vec<OsString> = rest.by_ref().take(if is_main { 1 } else { 2 }).collect();
    while let Some(word) = rest.next() {
        if word == "--" {
            options.push(word);
            break;
        }
        let Some((typed, inline)) = parts(&word) else {
            names.push(word.clone());
            options.push(word);
            continue;
        };
        let next = rest.as_slice().first();
        is_raw |= typed == "-f" && next.is_some_and(|next| next == "rawvideo");
        let given = inline.as_ref().or(next).and_then(|value| value.to_str()).unwrap_or_default().to_owned();
        if DEFAULTS.contains(&typed.as_str()) {
            continue;
        }
        if inline.is_none() && DEFAULTS_WITH_VALUE.contains(&(typed.as_str(), given.as_str())) {
            rest.next();
            continue;
        }
        // FFmpeg's `-v LEVEL`, HandBrake's `-q NUMBER`, and `-f` after an input, for the output's format. If a file
        // of the value's name exists, the value is an input.
        let stands_alone = inline.is_none() && !Path::new(&given).exists();
        let level = LEVELS.iter().find(|(level, _)| stands_alone && *level == given);
        if let ("-v" | "-loglevel", Some((_, ours))) = (typed.as_str(), level) {
            rest.next();
            options.extend(ours.map(OsString::from));
            continue;
        }
        let ours = match typed.as_str() {
            "-q" if stands_alone && given.parse::<f64>().is_ok() => "--crf".to_owned(),
            "-f" if inputs > 0 && first != "live" => "--output-format".to_owned(),
            // Before the input, these options describe its raw frames.
            "-pix_fmt" | "-video_size" | "-s:v" | "-framerate" if is_raw && inputs == 0 && names.is_empty() => {
                match typed.as_str() {
                    "-pix_fmt" => "--pixel-format".to_owned(),
                    "-framerate" => "-r".to_owned(),
                    _ => "-s".to_owned(),
                }
            }
            _ => meant(program, command, &typed, (&word, &given))
                .map_err(|answer| usage(ErrorKind::UnknownArgument, &format!("{typed}: {answer}")))?,
        };
        match ours.as_str() {
            "-i" | "--input" => {
                inputs += 1;
                let inline = inline.map(as_name);
                options.extend(inline.clone());
                names.extend(inline);
                continue;
            }
            // The output's name moves to the end.
            "-o" | "--output" if !has_output => {
                let name = match (inline, next) {
                    (Some(inline), _) => as_name(inline),
                    (None, Some(next)) if parts(next).is_none() => rest.next().unwrap_or_default(),
                    _ => {
                        let answer = format!("{typed}: the name of the output is missing behind it");
                        return Err(usage(ErrorKind::InvalidValue, &answer));
                    }
                };
                outputs.push(name);
                continue;
            }
            _ => {}
        }
        let argument = find(command, &ours).filter(|argument| argument.get_action().takes_values());
        let long = argument.and_then(Arg::get_long).unwrap_or_default();
        let value = value_here(long, &given, is_main).map_err(|answer| usage(ErrorKind::InvalidValue, &answer))?;
        let needs_equals = argument.is_some_and(Arg::is_require_equals_set);
        if inline.is_some() || ours.contains('=') || needs_equals && stands_apart(long, &given) {
            let given = inline.or_else(|| rest.next()).unwrap_or_default();
            let given = value.map_or(given, OsString::from);
            // If the option takes no value, clap reports that.
            options.push(Name::from_parts([&ours, &"=", &given]).into());
            continue;
        }
        options.push(ours.into());
        let mut values = argument.filter(|_| !needs_equals).map_or(0, values_of);
        if let Some(value) = value {
            rest.next();
            options.push(value.into());
            values = values.saturating_sub(1);
        }
        options.extend(rest.by_ref().take(values));
    }
    let is_folder = |word: &OsString| word.as_bytes().starts_with(b"--output-dir");
    if inputs > 1 && !["compare", "preview", "live", "web"].contains(&first) && !options.iter().any(is_folder) {
        let answer = "-i: one input makes one output here; --output-dir DIR takes many";
        return Err(usage(ErrorKind::TooManyValues, answer));
    }
    match without_quotes(&names) {
        Some((first, whole)) => {
            let answer =
                format!("{first}: no such file, but {} is there: a name with spaces needs quotes", whole.quoted());
            Err(usage(ErrorKind::ValueValidation, &answer))
        }
        None => Ok(options.into_iter().chain(rest).chain(outputs).collect()),
    }
}

/// `name` in a form that is not read as an option: `./-a` for `-a`.
fn as_name(name: OsString) -> OsString {
    match parts(&name) {
        Some(_) => Path::new(".").join(name).into(),
        None => name,
    }
}

/// The option in `word`, and the value after its equals sign; `None` if the word is a name.
fn parts(word: &OsStr) -> Option<(String, Option<OsString>)> {
    let bytes = word.as_bytes();
    let is_option = bytes.len() > 1 && bytes.starts_with(b"-");
    let place = bytes.iter().position(|byte| *byte == b'=').unwrap_or(bytes.len());
    let name = std::str::from_utf8(&bytes[..place]).ok().filter(|_| is_option)?;
    Some((name.to_owned(), bytes.get(place + 1..).map(|value| OsStr::from_bytes(value).to_owned())))
}

/// The option of `command` of this name.
fn find<'a>(command: &'a Command, name: &str) -> Option<&'a Arg> {
    command.get_arguments().find(|argument| match name.strip_prefix("--") {
        Some(long) => {
            let is_alias = argument.get_all_aliases().is_some_and(|aliases| aliases.contains(&long));
            argument.get_long() == Some(long) || is_alias
        }
        None => argument.get_short().is_some_and(|short| name.strip_prefix('-') == Some(short.to_string().as_str())),
    })
}

/// How many of the words after an option are its values.
fn values_of(argument: &Arg) -> usize {
    argument.get_num_args().map_or(1, |count| count.max_values())
}

/// The option of `command` that `typed` means, which may be another program's name for it. `word` is the whole word,
/// `given` the option's value.
///
/// # Errors
/// When there is none: a message that names what to use.
fn meant(program: &Command, command: &Command, typed: &str, (word, given): (&OsStr, &str)) -> Result<String, String> {
    if find(command, typed).is_some() || NAMED.contains(&typed) {
        return Ok(typed.to_owned());
    }
    let bare = typed.trim_start_matches('-').replace('_', "-");
    let bare = if bare.len() > 1 { bare.to_lowercase() } else { bare };
    let is_it = |names: &str| names.split(' ').any(|name| name == typed || name == bare);
    if let Some(answer) = elsewhere::answer(command, is_it, given) {
        return Err(answer);
    }
    let mut long = format!("--{bare}");
    match WORDS.iter().find(|(names, _)| is_it(names)) {
        Some((_, Is(ours))) => {
            let name = ours.split('=').next().unwrap_or_default();
            if NAMED.contains(&name) || find(command, name).is_some() {
                return Ok((*ours).to_owned());
            }
            // Another command may have this option.
            long = name.to_owned();
        }
        Some((_, Says(answer))) => return Err((*answer).to_owned()),
        None => {}
    }
    if find(command, &long).is_some() {
        return Ok(long);
    }
    if is_rare(&bare) {
        return Err(format!("--set {bare}=VALUE says that here"));
    }
    if let Some(ours) = value_as_option(&long) {
        return Err(format!("{ours} says that here"));
    }
    if Path::new(word).exists() {
        let path = Name::from_parts([&"./", &word]).quoted();
        return Err(format!("a file whose name begins with a dash: {path} names it, and ./* all of them"));
    }
    let commands = [program].into_iter().chain(program.get_subcommands());
    let has_it = |command: &&Command| find(command, &long).is_some_and(|argument| !argument.is_hide_set());
    let rest: Vec<&str> = commands.filter(has_it).map(Command::get_name).collect();
    match rest.first() {
        None => Ok(typed.to_owned()),
        Some(other) => {
            let command = if *other == program.get_name() { String::new() } else { format!(" {other}") };
            Err(format!("it is an option of {} ({}{command} {long})", rest.join(", "), program.get_name()))
        }
    }
}

/// The value of this program for a value of another program; `None` if `given` is not one.
///
/// # Errors
/// When there is no such value here: a message that names what to use.
fn value_here(option: &str, given: &str, is_main: bool) -> Result<Option<&'static str>, String> {
    let is_more_than_all = || given.parse::<f64>().is_ok_and(|share| share > 1.0);
    if is_main && option == "strength" && is_more_than_all() {
        return Err(format!(
            "--strength is a number from 0 to 1, which is all of the correction, not {given} ({LIGHT})"
        ));
    }
    let has_unit = given.ends_with(|last: char| last.is_ascii_alphabetic());
    if is_main && option == "size" && has_unit && parse_number(given).is_some() {
        let answer = "says how large the file may be; --size is that of raw frames";
        return Err(format!("--size {given}: --target-size {given} {answer}"));
    }
    let given = given.to_lowercase();
    let is_it = |names: &str, name: &str| names.split(' ').any(|other| other == name);
    match VALUES.iter().find(|(options, names, _)| is_it(options, option) && is_it(names, &given)) {
        Some((.., Is(ours))) => Ok(Some(*ours)),
        Some((.., Says(answer))) => Err(format!("--{option} {given}: {answer}")),
        None => Ok(None),
    }
}

/// Whether the word after an option that needs an equals sign is its value, and not the name of a camera.
fn stands_apart(option: &str, given: &str) -> bool {
    let is_value = match option {
        "web" => web_address(given).is_ok(),
        "wait" => seconds(given).is_ok(),
        _ => false,
    };
    is_value && !given.is_empty() && !Path::new(given).exists()
}

/// The first of several words that, joined by spaces, are the name of an existing file, and that name.
fn without_quotes(names: &[OsString]) -> Option<(Name, Name)> {
    const MAX_WORDS: usize = 20;
    let whole = |begin: usize| {
        let ends = begin + 2..=names.len().min(begin + MAX_WORDS);
        ends.map(|end| names[begin..end].join(OsStr::new(" "))).find(|whole| Path::new(whole).exists())
    };
    let missing = (0..names.len()).filter(|&begin| !Path::new(&names[begin]).exists());
    missing.into_iter().find_map(|begin| Some((Name::from(&names[begin]), whole(begin)?.into())))
}

/// `words` with requests for help in the form that clap knows: `help`, `-h live` and `live help` are translated.
pub(super) fn asked(program: &Command, words: Vec<OsString>) -> Vec<OsString> {
    let is_command = |name: &str| program.find_subcommand(name).is_some();
    let texts: Vec<&str> = words.iter().skip(1).filter_map(|word| word.to_str()).collect();
    let asked = match texts[..] {
        ["help"] => vec!["-h"],
        [help @ ("-h" | "--help"), command] if is_command(command) => vec![command, help],
        [command, "help"] if is_command(command) && !Path::new("help").exists() => vec![command, "--help"],
        _ => return words,
    };
    words.iter().take(1).cloned().chain(asked.into_iter().map(OsString::from)).collect()
}

/// The option that has the name of this one as a value: `--look night` for `--night`.
fn value_as_option(word: &str) -> Option<String> {
    let name = word.strip_prefix("--")?.to_lowercase();
    ["look", "method"].into_iter().find_map(|kind| {
        let option = OPTIONS.iter().find(|option| option.name == kind)?;
        // `--exact` is an option of its own.
        let is_value = name != "exact" && option.choices().iter().any(|(choice, _)| *choice == name);
        is_value.then(|| format!("--{kind} {name}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Args;
    use clap::CommandFactory;

    #[test]
    fn what_other_programs_have_is_no_option_here_and_what_it_is_here_is_one() {
        let program = Args::command();
        let any = |name: &str| {
            [&program].into_iter().chain(program.get_subcommands()).any(|command| find(command, name).is_some())
        };
        let mut known: Vec<&str> = Vec::new();
        for (names, here) in WORDS {
            for name in names.split(' ') {
                assert!(!known.contains(&name), "{name} stands twice");
                known.push(name);
                let is_exact = name.starts_with('-');
                let typed = if is_exact { name.to_owned() } else { format!("--{name}") };
                assert!(find(&program, &typed).is_none(), "{typed} is an option");
            }
            match here {
                Is(ours) => {
                    let ours = ours.split('=').next().unwrap_or_default();
                    assert!(NAMED.contains(&ours) || find(&program, ours).is_some(), "{ours}");
                }
                Says(answer) => {
                    named(answer).for_each(|name| assert!(any(&name) || name == "--scan", "{answer}: {name}"))
                }
            }
        }
        let of_commands =
            elsewhere::COMMAND_ANSWERS.iter().map(|(owner, names, answer)| (Some(*owner), *names, *answer));
        let of_ffmpeg = elsewhere::FFMPEG_ANSWERS.iter().map(|(names, answer)| (None, *names, *answer));
        for (owner, names, answer) in of_commands.chain(of_ffmpeg) {
            for name in names.split(' ') {
                let has_it = |command: &Command| {
                    owner.is_none_or(|owner| command.get_name() == owner)
                        && find(command, &format!("--{name}")).is_some()
                };
                let mut commands = [&program].into_iter().chain(program.get_subcommands());
                assert!(!commands.any(has_it), "--{name} is an option");
                assert!(owner.is_some() || !known.contains(&name), "{name} stands twice");
            }
            named(answer).for_each(|name| assert!(any(&name), "{answer}: {name}"));
        }
        for (options, _, here) in VALUES {
            options.split(' ').for_each(|option| assert!(any(&format!("--{option}")), "{option}"));
            if let Says(answer) = here {
                named(answer).for_each(|name| assert!(any(&name), "{answer}: {name}"));
            }
        }
    }

    #[test]
    fn words_with_one_meaning_are_translated_and_values_are_left_alone() {
        fn words(line: &str) -> Vec<&str> {
            ["histeq-video"].into_iter().chain(line.split(' ')).collect()
        }
        let program = Args::command();
        for (line, ours) in [
            ("-i a.mov --output=b.mov", "a.mov b.mov"),
            ("--input=a.mov --out b.mov", "a.mov b.mov"),
            ("-ss 5 -t=9 --vcodec=x265 a b", "--start 5 --duration=9 --encoder=libx265 a b"),
            ("--max_gain 2 -look night a b", "--max-gain 2 --look night a b"),
            ("--force --max-size 16M --silent a b", "-y --target-size 16M -q a b"),
            ("-movflags +faststart a b", "--output-option=movflags=+faststart a b"),
            ("--output-pixel-format bgr a b", "--output-pixel-format bgr24 a b"),
            // Values that look like options are kept.
            ("--streams -t --sample-range -1:2 a b", "--streams -t --sample-range -1:2 a b"),
            ("--one-of -an -ss --made-up", "--one-of -an -ss --made-up"),
            ("-strict -2 -i a b", "a b"),
            ("web --web 8125 --workers 2 -i a", "web --web 8125 --jobs 2 a"),
            ("live --web 8125 --wait 1m cam", "live --web=8125 --wait=1m cam"),
            ("preview --web 0.0.0.0:80 a.mov", "preview --web=0.0.0.0:80 a.mov"),
            ("live --web cam --audio default --output=-", "live --web cam --audio default --output=-"),
            ("a -- -ss b", "a -- -ss b"),
        ] {
            let typed = words(line).into_iter().map(OsString::from).collect();
            let found = understood(&program, typed).unwrap_or_else(|error| panic!("{line}: {error}"));
            assert_eq!(found, words(ours), "{line}");
        }
    }

    /// The options that an answer mentions.
    fn named(answer: &str) -> impl Iterator<Item = String> {
        let is_end = |c: char| !c.is_ascii_alphanumeric() && c != '-';
        let words = answer.split_whitespace().map(|word| word.trim_start_matches('('));
        let options = words.filter(|word| word.starts_with("--"));
        options
            .map(move |word| word.split(is_end).next().unwrap_or_default().to_owned())
            .filter(|name| name != "--help")
    }
}
