//! Options of ffmpeg, HandBrake and yt-dlp: those with one possible meaning are translated, others are errors that name
//! the right option.

use super::option_args::is_rare;
use super::values::usage;
use super::web::web_address;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, Error};
use histeq::options::OPTIONS;
use std::ffi::OsString;
use std::path::Path;

/// Options of other programs, and their names here.
const SYNONYMS: [(&str, &str); 23] = [
    ("-c:v", "--encoder"),
    ("-codec:v", "--encoder"),
    ("-vcodec", "--encoder"),
    ("--codec", "--encoder"),
    ("-e", "--encoder"),
    ("-crf", "--crf"),
    ("-preset", "--preset"),
    ("-b:v", "--bitrate"),
    ("-ss", "--start"),
    ("-t", "--duration"),
    ("-pix_fmt", "--output-pixel-format"),
    ("-frames:v", "--frames"),
    ("-vframes", "--frames"),
    ("-threads", "--threads"),
    ("-movflags", "--output-option=movflags"),
    ("-for", "--for"),
    ("-look", "--look"),
    ("-method", "--method"),
    ("-strength", "--strength"),
    ("--overwrite", "-y"),
    ("--yes", "-y"),
    ("--simulate", "--dry-run"),
    ("--info", "--dry-run"),
];

/// Options that state a default of this program: they are left out.
const DEFAULTS: [&str; 4] = ["-hide_banner", "-nostdin", "-stats", "-nostats"];

/// Options with a value that state a default of this program.
const DEFAULTS_WITH_VALUE: [(&str, &str); 6] = [
    ("-c:a", "copy"),
    ("-acodec", "copy"),
    ("-c:s", "copy"),
    ("-scodec", "copy"),
    ("-map", "0"),
    ("-map_metadata", "0"),
];

/// Levels that FFmpeg's `-v` takes, and options for them; `-v` alone is an option of this program.
const LEVELS: [(&str, Option<&str>); 9] = [
    ("quiet", Some("-q")),
    ("panic", Some("-q")),
    ("fatal", Some("-q")),
    ("error", Some("-q")),
    ("warning", None),
    ("info", None),
    ("verbose", Some("-v")),
    ("debug", Some("-v")),
    ("trace", Some("-v")),
];

/// Encoders by the names of HandBrake and of their libraries.
const ENCODERS: [(&str, &str); 6] = [
    ("x264", "libx264"),
    ("x265", "libx265"),
    ("svt_av1", "libsvtav1"),
    ("nvenc_h264", "h264_nvenc"),
    ("nvenc_h265", "hevc_nvenc"),
    ("qsv_h264", "h264_qsv"),
];

const FILTERS: &str = "--filter CHAIN filters before equalization here, and --filter-after CHAIN behind it";
const SOUND: &str = "sound is passed on as it is here (--for web makes AAC of it)";
const SUBTITLES: &str = "subtitles are passed on as they are here";
const ENCODER: &str = "--encoder-option KEY=VALUE sets an option of the encoder here";
const RESUME: &str = "--jobs N goes on where an interrupted run stopped, when it is called again";
const KERNELS: &str = "kernels are chosen in studies of them: histeq-lab stages --help";
const START: &str = "--start T says where the part begins here, in seconds or as 1:30";
const END: &str = "--duration T says how long the part is, from --start T on";

/// Options that are refused, and what to use.
const ANSWERS: [(&str, &str); 40] = [
    ("-vf", FILTERS),
    ("-filter:v", FILTERS),
    ("-filter_complex", FILTERS),
    ("--vf", FILTERS),
    ("-af", SOUND),
    ("-an", "--streams -a leaves the sound out here"),
    ("-c:a", SOUND),
    ("-acodec", SOUND),
    ("-b:a", SOUND),
    ("-c", "--encoder NAME chooses the encoder of the video here; all other streams are copied"),
    ("-codec", "--encoder NAME chooses the encoder of the video here; all other streams are copied"),
    ("-map", "--video-stream N chooses the video here, and --streams LIST what is kept beside it"),
    ("-to", END),
    ("--end", END),
    ("--start-at", START),
    ("--stop-at", END),
    ("-tune", ENCODER),
    ("-profile:v", ENCODER),
    ("-g", ENCODER),
    ("-x264-params", ENCODER),
    ("-x265-params", ENCODER),
    ("-c:s", SUBTITLES),
    ("-scodec", SUBTITLES),
    ("-sn", "--streams -s leaves the subtitles out here"),
    ("-map_metadata", "metadata are copied here"),
    ("-progress", "--progress json prints events here, and --progress-file NAME writes them into a file"),
    ("-re", "histeq-video live keeps the pace of a source; files and pipes are read as fast as they come"),
    ("-Z", "--for web makes what browsers and phones play, and --for edit what editors take"),
    ("-hwaccel", "--decoder nvdec decodes on a GPU here"),
    ("--resume", RESUME),
    ("--continue", RESUME),
    ("--audio-bitrate", SOUND),
    ("--difference", "ffmpeg -i A -i B -lavfi blend=all_mode=difference OUTPUT shows how far two videos are apart"),
    ("--decoders", "--decoder nvdec:N or cpu:N says how many work at once"),
    ("--log-level", "-q prints errors alone, and -v details"),
    ("--histogram", KERNELS),
    ("--scan", "--dry-run says what a file is and becomes here, and histeq-lab --scan KERNEL chooses a kernel"),
    ("--block-size", KERNELS),
    ("--pixels-per-thread", KERNELS),
    ("--quality", "--crf Q sets the quality here, on the encoder's own scale"),
];

/// Words for a command that gives back what was there before.
const UNDO: [&str; 4] = ["restore", "undo", "revert", "reset"];

/// Values of `--for` that name a site or device, and the options for it.
const PLACES: [(&str, &str); 10] = [
    ("youtube", "--for web --fit off keeps the size, which YouTube wants"),
    ("vimeo", "--for web --fit off keeps the size, which Vimeo wants"),
    ("whatsapp", "--for web --target-size 16M is what WhatsApp takes"),
    ("discord", "--for web --target-size 10M is what Discord takes"),
    ("email", "--for web --target-size 20M is what most mail servers take"),
    ("mail", "--for web --target-size 20M is what most mail servers take"),
    ("instagram", "--for web is what Instagram takes"),
    ("facebook", "--for web is what Facebook takes"),
    ("tiktok", "--for web is what TikTok takes"),
    ("phone", "--for web is what phones play"),
];

/// `words` with options of other programs translated.
///
/// # Errors
/// When an option of another program has no translation: the message names the option to use.
pub(super) fn understood(words: Vec<OsString>) -> Result<Vec<OsString>, Error> {
    // These have few options, and other programs have no commands like them.
    let command = words.get(1).and_then(|word| word.to_str()).unwrap_or_default().to_owned();
    let command = command.as_str();
    if let ("bench", Some(word)) = (command, words.get(2)) {
        let word = word.display();
        let answer = format!("bench {word}: bench alone measures this machine; histeq-lab {word} does that now");
        return Err(usage(ErrorKind::UnknownArgument, &answer));
    }
    if ["bench", "run", "join", "status", "devices", "completions", "man", "help"].contains(&command) {
        return Ok(words);
    }
    if UNDO.contains(&command) && !Path::new(command).exists() {
        let answer = "nothing is undone: the video that was equalized is as it was, and keeps its samples";
        return Err(usage(ErrorKind::InvalidSubcommand, &format!("{command}: {answer}")));
    }
    // `live` has an option -o of its own.
    let has_output = command == "live";
    let is_folder = |word: &OsString| word.to_str().is_some_and(|word| word.starts_with("--output-dir"));
    let takes_many = ["compare", "preview", "live"].contains(&command) || words.iter().any(is_folder);
    let mut inputs = 0;
    let (mut options, mut outputs, mut rest) = (Vec::new(), Vec::new(), words.into_iter());
    while let Some(word) = rest.next() {
        let text = word.to_str().unwrap_or_default();
        if text == "--" {
            options.push(word);
            break;
        }
        let next = rest.as_slice().first().and_then(|next| next.to_str());
        if DEFAULTS.contains(&text) {
            continue;
        }
        if next.is_some_and(|next| DEFAULTS_WITH_VALUE.contains(&(text, next))) {
            rest.next();
            continue;
        }
        // FFmpeg's level, HandBrake's quality, and the format of the output behind an input.
        let other = match text {
            "-v" | "-loglevel" if next.is_some_and(|next| LEVELS.iter().any(|(level, _)| *level == next)) => {
                let level = rest.next().unwrap_or_default();
                let (_, ours) = LEVELS.iter().find(|(theirs, _)| level == *theirs).expect("one of them");
                options.extend(ours.map(OsString::from));
                continue;
            }
            "-q" if next.is_some_and(|next| next.parse::<f64>().is_ok()) => Some("--crf"),
            "-f" if inputs > 0 && command != "live" => Some("--output-format"),
            // No camera has a number for a name.
            "--wait" if next.is_some_and(|next| next.parse::<f64>().is_ok()) => {
                let seconds = rest.next().unwrap_or_default();
                options.push(format!("--wait={}", seconds.display()).into());
                continue;
            }
            // Nor has one, or a video, the name of a port or of an address.
            "--web" if next.is_some_and(|next| web_address(next).is_ok() && !Path::new(next).exists()) => {
                let address = rest.next().unwrap_or_default();
                options.push(format!("--web={}", address.display()).into());
                continue;
            }
            _ => None,
        };
        if let Some(ours) = other {
            options.push(ours.into());
            continue;
        }
        let name = text.split_once('=').map_or(text, |(name, _)| name);
        if let Some((_, answer)) = ANSWERS.iter().find(|(theirs, _)| *theirs == name) {
            return Err(usage(ErrorKind::UnknownArgument, &format!("{text}: {answer}")));
        }
        if let Some(rare) = name.strip_prefix("--").filter(|name| is_rare(name)) {
            let answer = format!("{name}: --set {rare}=VALUE says that here");
            return Err(usage(ErrorKind::UnknownArgument, &answer));
        }
        if let Some(ours) = value_as_option(text) {
            return Err(usage(ErrorKind::UnknownArgument, &format!("{text}: {ours} says that here")));
        }
        let purpose = text.strip_prefix("--for=").or(next.filter(|_| text == "--for"));
        let is_purpose =
            |(place, _): &&(&str, &str)| purpose.is_some_and(|purpose| purpose.eq_ignore_ascii_case(place));
        if let Some((place, answer)) = PLACES.iter().find(is_purpose) {
            return Err(usage(ErrorKind::InvalidValue, &format!("--for {place}: {answer}")));
        }
        match SYNONYMS.iter().find(|(theirs, _)| *theirs == text) {
            Some((_, ours)) if ours.contains('=') => {
                let value = rest.next().unwrap_or_default();
                options.push(format!("{ours}={}", value.display()).into());
            }
            Some((_, ours)) => options.push((*ours).into()),
            None if ["-i", "--input"].contains(&text) => {
                inputs += 1;
                if inputs > 1 && !takes_many {
                    let answer = "-i: one input makes one output here; --output-dir DIR takes many";
                    return Err(usage(ErrorKind::TooManyValues, answer));
                }
            }
            // The last name is the output's.
            None if !has_output && ["-o", "--output"].contains(&text) => outputs.extend(rest.next()),
            None => options.push(word),
        }
        let is_encoder = options.last().is_some_and(|last| last == "--encoder");
        let named = ENCODERS
            .iter()
            .find(|(theirs, _)| is_encoder && rest.as_slice().first().is_some_and(|next| next == theirs));
        if let Some((_, ours)) = named {
            rest.next();
            options.push((*ours).into());
        }
    }
    Ok(options.into_iter().chain(rest).chain(outputs).collect())
}

/// The option that has the name of this one as a value: `--look night` for `--night`.
fn value_as_option(word: &str) -> Option<String> {
    let name = word.strip_prefix("--")?.to_lowercase();
    ["look", "method"].into_iter().find_map(|of| {
        let option = OPTIONS.iter().find(|option| option.name == of)?;
        // `--exact` is an option of its own.
        let is_value = name != "exact" && option.choices().iter().any(|(choice, _)| *choice == name);
        is_value.then(|| format!("--{of} {name}"))
    })
}

/// Other words for commands.
const COMMANDS: [(&str, &str); 3] = [("camera", "live"), ("webcam", "live"), ("diff", "compare")];

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
    // Few mistype the first letter, and `tapes` is no `status`.
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

Commands: live (a camera), preview, compare (two videos in one)
  of specialists: plan, run, join, status, bench, devices, completions, man

histeq-video --help shows all options, exit codes and more examples, and
histeq-video COMMAND --help those of a command.
";

/// What is printed without arguments: the examples of the short help.
pub fn examples() -> String {
    let end = SHORT_HELP.find("\nOptions:").unwrap_or(SHORT_HELP.len());
    format!("{}\nhisteq-video -h lists what most people need.\n", &SHORT_HELP[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Args;
    use clap::CommandFactory;

    #[test]
    fn what_other_programs_have_is_no_option_here() {
        let program = Args::command();
        let commands = || program.get_subcommands().chain([&program]);
        for (word, _) in SYNONYMS.iter().chain(&ANSWERS) {
            let is_ours = commands().flat_map(Command::get_arguments).any(|argument| {
                argument.get_long().is_some_and(|long| format!("--{long}") == *word)
                    || argument.get_short().is_some_and(|short| format!("-{short}") == *word)
            });
            assert!(!is_ours, "{word}");
        }
        for option in SYNONYMS.iter().filter_map(|(_, ours)| ours.strip_prefix("--")) {
            let name = option.split('=').next().unwrap_or(option);
            assert!(program.get_arguments().any(|argument| argument.get_long() == Some(name)), "--{name}");
        }
    }
}
