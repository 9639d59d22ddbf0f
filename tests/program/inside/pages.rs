//! The pages match the command line: the list of options is generated from its definition, and the program accepts each
//! command line in a page.

use super::documents::{OPTIONS, pages, read};
use crate::options::{Args, Job};
use clap::{Arg, Command, CommandFactory, Parser};

const GENERATED: &str =
    "<!-- From here on generated: HISTEQ_REGENERATE=1 cargo test -p histeq-video -- pages:: command_line:: -->\n";

#[test]
fn the_definition_of_the_command_line_is_sound() {
    Args::command().debug_assert();
}

/// `HISTEQ_REGENERATE=1` writes the generated part again.
#[test]
fn the_options_page_says_what_the_program_says() {
    let page = read(OPTIONS);
    let (by_hand, listed) = page.split_once(GENERATED).expect("the line above the generated part");
    let expected = options_list();
    if std::env::var_os("HISTEQ_REGENERATE").is_some() {
        std::fs::write(OPTIONS, format!("{by_hand}{GENERATED}{expected}")).expect("the page can be written");
        return;
    }
    assert!(listed == expected, "{OPTIONS} is out of date (HISTEQ_REGENERATE=1 writes it again)");
}
#[test]
fn every_command_line_in_the_pages_is_one_that_the_program_takes() {
    let mut checked = 0;
    for page in pages() {
        for line in shell_lines(&read(&page)) {
            let words = shlex(&line);
            for call in words.split(|word| matches!(word.as_str(), "|" | ">" | ";")) {
                if call.first().is_some_and(|word| word == "histeq-video") {
                    let understood = Args::try_parse_from(call).and_then(Job::from_args).map(drop);
                    assert!(understood.is_ok(), "{}: {line}: {}", page.display(), understood.unwrap_err());
                    checked += 1;
                }
            }
        }
    }
    assert!(checked > 40, "only {checked} command lines were found");
}
/// The lines of all blocks of shell commands.
fn shell_lines(text: &str) -> Vec<String> {
    let blocks = text.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
    blocks.flat_map(str::lines).map(str::to_owned).collect()
}

/// The words of a shell line without its comment. Single quotes keep words together.
fn shlex(line: &str) -> Vec<String> {
    let line = line.split(" #").next().unwrap_or_default();
    let parts = line.split('\'').enumerate();
    parts
        .flat_map(|(index, part)| match index % 2 {
            0 => part.split_whitespace().map(str::to_owned).collect(),
            _ => vec![part.to_owned()],
        })
        .collect()
}
/// All options of all commands, in Markdown.
fn options_list() -> String {
    let mut command = Args::command();
    command.build();
    let mut page = section(&command, &command);
    for other in command.get_subcommands().filter(|other| other.get_name() != "help") {
        page += &section(other, &command);
        let snapshot = format!("{}/tests/program/help/{}.txt", env!("CARGO_MANIFEST_DIR"), other.get_name());
        let has_page = ["devices", "completions", "man"].contains(&other.get_name());
        assert!(has_page || std::path::Path::new(&snapshot).exists(), "{snapshot} is missing");
    }
    page
}

/// The options of a command under their headings. Other commands only name the options that they share with the main
/// command, which may have more conflicts and more names of `--set`.
fn section(command: &Command, main: &Command) -> String {
    let is_main = command.get_name() == main.get_name();
    let title = if is_main { "histeq-video" } else { &format!("histeq-video {}", command.get_name()) };
    let mut page = format!("\n## {title}\n\n{}.\n", command.get_about().expect("what it does"));
    let visible = command.get_arguments().filter(|argument| !argument.is_hide_set());
    // The page says in one place that all commands have `--help`.
    let visible: Vec<&Arg> = visible.filter(|argument| is_main || argument.get_id() != "help").collect();
    let names: Vec<String> = visible.iter().map(|argument| name(argument)).collect();
    let row_here = |argument: &Arg| row(argument, &conflicts(argument, command));
    let of_main = main.get_arguments().map(|argument| {
        let rest = conflicts(argument, main).into_iter().filter(|other| names.contains(other));
        row(argument, &rest.collect::<Vec<_>>())
    });
    let of_main: Vec<String> = of_main.collect();
    let is_shared = |argument: &Arg| {
        let is_same = || of_main.contains(&row_here(argument)) || !names_beyond(argument, main).is_empty();
        !is_main && !argument.is_positional() && is_same()
    };
    let heading = |argument: &Arg| match argument.is_positional() {
        true => "Arguments".to_owned(),
        false => argument.get_help_heading().unwrap_or("Everyday options").to_owned(),
    };
    let mut headings: Vec<String> = Vec::new();
    for argument in visible.iter().filter(|argument| !is_shared(argument)) {
        if !headings.contains(&heading(argument)) {
            headings.push(heading(argument));
        }
    }
    headings.sort_by_key(|heading| match heading.as_str() {
        "Arguments" => 0,
        "Everyday options" => 1,
        _ => 2,
    });
    for group in headings {
        page += &format!("\n### {group}\n\n| option | what it does | default |\n|---|---|---|\n");
        let rows = visible.iter().filter(|argument| heading(argument) == group && !is_shared(argument));
        page.extend(rows.map(|argument| row_here(argument)));
    }
    let shared = visible.iter().filter(|argument| is_shared(argument)).map(|argument| {
        let beyond = names_beyond(argument, main);
        let without = if beyond.is_empty() { String::new() } else { format!(" (without {})", beyond.join(", ")) };
        format!("{}{without}", name(argument))
    });
    let shared: Vec<String> = shared.collect();
    if !shared.is_empty() {
        page += &format!("\nThe same as for [`histeq-video`](#histeq-video) alone: {}.\n", shared.join(", "));
    }
    page
}

/// `--name`, or `-n` where there is no long name.
fn name(argument: &Arg) -> String {
    match (argument.get_long(), argument.get_short()) {
        (Some(long), _) => format!("`--{long}`"),
        (None, Some(short)) => format!("`-{short}`"),
        (None, None) => format!("`{}`", argument.get_id()),
    }
}

/// The names that the main command's `--set` has in addition to those of the same option of another command.
fn names_beyond(argument: &Arg, main: &Command) -> Vec<String> {
    let same = main.get_arguments().find(|other| other.get_id() == "set" && other.get_id() == argument.get_id());
    let (words, of_main) = (paragraphs(argument), same.map(paragraphs).unwrap_or_default());
    let beyond = of_main.strip_prefix(words.as_slice()).unwrap_or_default();
    beyond.iter().filter_map(|paragraph| paragraph.split_once(':')).map(|(name, _)| format!("`{name}`")).collect()
}

/// The paragraphs of an option's help, without line breaks.
fn paragraphs(argument: &Arg) -> Vec<String> {
    let help = argument.get_long_help().or(argument.get_help()).map(ToString::to_string).unwrap_or_default();
    help.split("\n\n").map(|paragraph| paragraph.replace('\n', " ")).collect()
}

/// An option as a row of a table, with the names of the options that it conflicts with.
fn row(argument: &Arg, conflicts: &[String]) -> String {
    let takes_value = argument.get_action().takes_values();
    let value = argument.get_value_names().map(|names| names.join(" ")).unwrap_or_default();
    let names = match (argument.get_short(), argument.get_long()) {
        (Some(short), Some(long)) => format!("-{short}, --{long}"),
        (None, Some(long)) => format!("--{long}"),
        (Some(short), None) => format!("-{short}"),
        (None, None) => String::new(),
    };
    let is_optional = argument.get_num_args().is_some_and(|count| count.min_values() == 0);
    let shown = match (takes_value, is_optional) {
        (true, true) => format!("{names}[={value}]"),
        (true, false) => format!("{names} {value}"),
        (false, _) => names,
    };
    let paragraphs = paragraphs(argument);
    let (first, mut default) = without_default(&paragraphs[0]);
    // Each name of `--set` has a paragraph.
    let space = if argument.get_id() == "set" { "<br>" } else { " " };
    let help = match &paragraphs[1..] {
        [] => first,
        rest => format!("{}{space}{}", sentence(&first), rest.join(space)),
    };
    let given: Vec<String> =
        argument.get_default_values().iter().map(|value| format!("`{}`", value.to_string_lossy())).collect();
    if takes_value && !given.is_empty() {
        default = given.join(",");
    }
    let mut text = with_options_as_code(&help);
    let values = if takes_value { argument.get_possible_values() } else { Vec::new() };
    if !values.is_empty() {
        let list: Vec<String> = values
            .iter()
            .map(|value| match value.get_help() {
                Some(help) => format!("`{}`: {}", value.get_name(), with_options_as_code(&help.to_string())),
                None => format!("`{}`", value.get_name()),
            })
            .collect();
        let explained = values.iter().any(|value| value.get_help().is_some());
        text = format!("{}{}", sentence(&text), if explained { "<br>" } else { " " });
        text += &list.join(if explained { "<br>" } else { ", " });
    }
    if !conflicts.is_empty() {
        text = format!(
            "{}{}Not with {}.",
            sentence(&text),
            if values.is_empty() { " " } else { "<br>" },
            conflicts.join(", ")
        );
    }
    format!("| `{}` | {} | {} |\n", shown.trim(), text.replace('|', "\\|"), default.replace('|', "\\|"))
}

/// The text, ended by a full stop.
fn sentence(text: &str) -> String {
    let ended = text.ends_with('.') || text.contains("<br>");
    if ended { text.to_owned() } else { format!("{text}.") }
}

/// Splits the text of an option's help from its default.
fn without_default(help: &str) -> (String, String) {
    let Some((text, default)) = help.split_once(" [default: ") else { return (help.to_owned(), String::new()) };
    (text.to_owned(), with_options_as_code(default.trim_end_matches(']')))
}

/// Formats options as code, together with the value after them if it is a valid one: `--method clahe`.
fn with_options_as_code(text: &str) -> String {
    let command = Args::command();
    let is_value_of = |value: &str, option: &str| {
        let found = command.get_arguments().find(|argument| argument.get_long() == option.strip_prefix("--"));
        found.is_some_and(|found| found.get_possible_values().iter().any(|possible| possible.get_name() == value))
    };
    let bare = |word: &str| word.trim_end_matches(['.', ',', ';', ':', ')']).to_owned();
    let mut words = text.split(' ').peekable();
    let mut written = Vec::new();
    while let Some(word) = words.next() {
        if !word.starts_with("--") {
            written.push(word.to_owned());
            continue;
        }
        let whole = match words.next_if(|next| is_value_of(&bare(next), word)) {
            Some(value) => format!("{word} {value}"),
            None => word.to_owned(),
        };
        let code = bare(&whole);
        written.push(format!("`{code}`{}", &whole[code.len()..]));
    }
    written.join(" ")
}

/// The options that conflict with this one, whichever of the two declares it.
fn conflicts(argument: &Arg, command: &Command) -> Vec<String> {
    let excludes = |one: &Arg, other: &Arg| {
        command.get_arg_conflicts_with(one).iter().any(|found| found.get_id() == other.get_id())
    };
    let visible = command.get_arguments().filter(|other| !other.is_hide_set() && other.get_id() != argument.get_id());
    visible.filter(|other| excludes(argument, other) || excludes(other, argument)).map(name).collect()
}
