//! `histeq-video preview`: the options of drawing every look on one sheet.

use super::many::listed_but;
use crate::options::reading::input::InputArgs;
use crate::options::reading::limits::{LimitArgs, RunLimits};
use crate::options::reading::part::PartArgs;
use crate::options::reading::sandbox::{Sandbox, SandboxArgs};
use crate::options::values::{input_name, named, output_name, usage};
use crate::options::writing::output::{OutputFile, OverwriteArgs};
use crate::options::writing::stderr::StderrOptions;
use crate::options::writing::web::{WebOptions, WebTokenArg, web_address};
use clap::Args;
use clap::error::ErrorKind;
use histeq::Options;
use histeq::internal::spec::parameters::{Look, Named, Strength};
use histeq_media::ffmpeg::mux::Container;
use histeq_media::sink::encoder::EncoderChoice;
use histeq_media::sink::files::name_of;
use histeq_media::sink::{OutputKind, OutputOptions};
use histeq_media::source::{InputOptions, Isolation};
use histeq_media::sys::files::{Name, number_pattern};
use histeq_media::sys::{host, without_password};
use std::ffi::OsStr;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// The options of `preview`, as typed.
#[derive(Args, Debug)]
#[command(after_help = "histeq-video preview --help shows all other options.")]
#[command(after_long_help = "\
The rows are the original and each look; the default is marked, and so is a row that looks like one above it. The \
sheet is an approximation: large pictures are made smaller first, and their temporal windows are shorter.

Of several inputs, and of the videos in folders, each gets a sheet of its own, NAME-looks.png; sheets that are there \
are skipped.

Times are written as 90 (seconds), 1:30, 00:01:30.5, 5m or 1h30m.

Examples:
  histeq-video preview dive.mov
  histeq-video preview --looks natural,underwater --strength 0.5,1 dive.mov
  histeq-video preview --output-dir sheets day1 day2
  histeq-video preview --web dive.mov
  histeq-video preview --start 1:30 --duration 20 --frames 6 street.mp4 street.png
  histeq-video preview photo.jpg - | display -")]
pub struct PreviewArgs {
    /// Video, image, numbered images (%05d.png), or a folder of videos; there may be several
    #[arg(value_hint = clap::ValueHint::AnyPath)]
    pub input: Name,

    /// Image to write: png, jpg, webp, or - for stdout (png) [default: INPUT-looks.png in this folder]
    #[arg(value_hint = clap::ValueHint::FilePath)]
    pub output: Option<Name>,

    /// Further inputs
    #[arg(hide = true, value_hint = clap::ValueHint::AnyPath)]
    pub more: Vec<Name>,

    /// Show these looks, in this order [default: all]
    #[arg(long, visible_alias = "look", value_name = "LOOK,...", value_delimiter = ',', value_parser = named::<Look>())]
    pub looks: Vec<Look>,

    /// Show each look with these strengths, 0 to 1, on a row each
    #[arg(long, value_name = "S,...", value_delimiter = ',', value_parser = strength)]
    pub strength: Vec<(String, Strength)>,

    /// Draw a sheet for each input into this folder; all names are inputs then
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub output_dir: Option<PathBuf>,

    /// Choose the frames from here on
    #[arg(long, value_name = "T")]
    pub start: Option<String>,

    /// Choose the frames from this length
    #[arg(long, value_name = "T")]
    pub duration: Option<String>,

    /// Show the file in a browser instead, at this address [default: 127.0.0.1:8100]
    ///
    /// Any frame of it, the original beside each look and strength, and at the end the command that makes what is
    /// shown. A port (8080) is one of this machine alone; 0.0.0.0 or 0.0.0.0:8080 can be opened from others, by the
    /// address with a token that is printed. docs/live.md has the rest.
    #[arg(long, value_name = "ADDRESS", value_parser = web_address, num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "", conflicts_with_all = ["output", "output_dir", "frames"])]
    pub web: Option<SocketAddr>,

    /// The access token of the view.
    #[command(flatten)]
    pub web_token: WebTokenArg,

    /// Number of columns, 1 to 8: frames at equal distances; images and short videos have fewer
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..=8))]
    pub frames: u64,

    /// Options that describe the input.
    #[command(flatten)]
    pub input_kind: InputArgs,

    /// RunLimits on time, memory and size.
    #[command(flatten)]
    pub limits: LimitArgs,

    /// The sandbox.
    #[command(flatten)]
    pub sandbox: SandboxArgs,

    /// What to do if a sheet exists.
    #[command(flatten)]
    pub overwrite: OverwriteArgs,

    /// Print errors only
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,

    /// Print details too, and FFmpeg's own messages
    #[arg(short, long, help_heading = "Messages", hide_short_help = true)]
    pub verbose: bool,
}

/// The checked options of `preview`.
#[derive(Debug)]
pub struct PreviewJob {
    /// The inputs, and the sheet of each.
    pub sheets: Vec<(InputOptions, OutputFile)>,
    /// The folder of the sheets, if there are many.
    pub folder: Option<PathBuf>,
    /// The rows below the original.
    pub rows: Vec<LookRow>,
    /// The most columns of the sheet, 1 to 8.
    pub frames: u64,
    /// The view of the file in a browser in place of sheets, and the command that equalizes it.
    pub web: Option<(WebOptions, ReadyCommand)>,
    pub limits: RunLimits,
    pub sandbox: Sandbox,
    pub stderr: StderrOptions,
}

/// A row of the sheet: a look, and its strength, if one was asked for, as it was typed.
#[derive(Clone, Debug, PartialEq)]
pub struct LookRow {
    pub look: Look,
    pub strength: Option<(String, Strength)>,
}

impl LookRow {
    /// `look`, with the strength in `text`, if there is one.
    ///
    /// # Errors
    /// When `text` is no number from 0 to 1.
    pub fn read(look: Look, text: Option<&str>) -> Result<Self, String> {
        let strength = text.map(|text| strength(text).map_err(|values| format!("strength is {values}")));
        Ok(LookRow { look, strength: strength.transpose()? })
    }

    /// The options of the row as words of a command line.
    pub(crate) fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        if self.look != Look::default() {
            words.extend(["--look".to_owned(), self.look.to_string()]);
        }
        words.extend(self.strength.iter().flat_map(|(share, _)| ["--strength", share].map(str::to_owned)));
        words
    }
}

/// The command that equalizes a file as the browser shows it.
#[derive(Clone, Debug)]
pub struct ReadyCommand {
    /// Options that describe the input, and choose a part of it.
    options: Vec<String>,
    input: Name,
}

impl ReadyCommand {
    /// The command for the whole of `input`.
    pub fn new(input: Name) -> Self {
        ReadyCommand { options: Vec::new(), input }
    }

    /// The last part of the name of the input.
    pub fn input_name(&self) -> Name {
        last_part(&self.input)
    }

    /// The command for a look and its strength, quoted for a shell. `with_place`: it has the path of the input, not
    /// only the file's name.
    pub fn with(&self, row: &LookRow, with_place: bool) -> String {
        let Some(name) = self.input.text().filter(|name| !name.contains(char::is_control)) else {
            return "# the name of the file is no text: give it another one".to_owned();
        };
        let mut words = vec!["histeq-video".to_owned()];
        words.extend(self.options.iter().cloned());
        words.extend(row.words());
        words.push(no_option(&if with_place { without_password(name) } else { self.input_name() }));
        words.push(no_option(&equalized_name(&self.input)));
        words.iter().map(|word| Name::from(word).quoted()).collect::<Vec<String>>().join(" ")
    }
}

/// The name of a file in a form that is not read as an option.
fn no_option(name: &Name) -> String {
    format!("{}{name}", if name.bytes().starts_with(b"-") { "./" } else { "" })
}

/// `NAME-equalized.mp4` in the current folder, for `folder/NAME.mp4`; a file of Matroska where the input's kind cannot
/// be written.
fn equalized_name(input: &Name) -> Name {
    let name = last_part(input);
    let is_written =
        |name: &Name| OutputKind::for_name(name, None) == OutputKind::Images || Container::guess(None, name).is_some();
    let extension = name.path().extension().filter(|extension| is_written(&Name::from_parts([&"a.", extension])));
    let extension = extension.unwrap_or(OsStr::new("mkv"));
    name_of(&name.path().file_stem().unwrap_or_default().into(), &Name::from_parts([&"-equalized.", &extension]))
}

/// The name of a file without its folders, or that of the file that a URL names.
fn last_part(input: &Name) -> Name {
    // Query and fragment of a URL are no part of the name.
    let Some((url, (_, rest))) = input.text().and_then(|url| Some((url, url.split_once("://")?))) else {
        return input.path().file_name().map_or_else(|| input.clone(), Name::from);
    };
    let place = rest.split(['?', '#']).next().unwrap_or_default();
    let of_path = place.split_once('/').and_then(|(_, path)| path.rsplit('/').find(|part| !part.is_empty()));
    of_path.or(host(url)).unwrap_or("stream").into()
}

fn strength(text: &str) -> Result<(String, Strength), String> {
    let mut options = Options::default();
    options.set("strength", text).map_err(|_| "a number from 0 to 1".to_owned())?;
    Ok((text.to_owned(), options.strength.unwrap_or_default()))
}

impl PreviewJob {
    /// Checks and converts `args`.
    pub fn from_args(args: PreviewArgs) -> Result<Self, clap::Error> {
        let invalid = |message: &str| usage(ErrorKind::ValueValidation, message);
        let names: Vec<Name> = [args.input].into_iter().chain(args.output).chain(args.more).collect();
        if names.iter().any(Name::is_empty) {
            return Err(invalid("the name of the input or the output is empty"));
        }
        let is_image = |name: &Name| *name == "-" || OutputKind::for_name(name, None) == OutputKind::Images;
        let (folder, files) = match (args.output_dir, &names[..]) {
            (None, [input]) if !input.path().is_dir() => (None, vec![(input_name(input.clone()), None)]),
            // An existing second video is an input, not the name of a sheet.
            (None, [input, output]) if is_image(output) || !output.path().exists() => {
                let output = output_name(output.clone());
                if !is_image(&output) {
                    return Err(invalid(&format!("{output}: the sheet is an image (give it a name like looks.png)")));
                }
                (None, vec![(input_name(input.clone()), Some(output))])
            }
            (folder, names) => {
                let folder = folder.unwrap_or_else(|| PathBuf::from("."));
                let files = sheets_of(names, &folder)?;
                (Some(folder), files.into_iter().map(|(input, output)| (input, Some(output))).collect())
            }
        };
        let mut options = args.input_kind.words();
        for (name, value) in [("--start", &args.start), ("--duration", &args.duration)] {
            options.extend(value.iter().flat_map(|value| [name.to_owned(), value.clone()]));
        }
        let (format, raw) = args.input_kind.check()?;
        let part = PartArgs { start: args.start, duration: args.duration, frames: None }.part()?;
        let overwrite = args.overwrite.choice(false);
        let sheet = |(input, output): (Name, Option<Name>)| {
            let is_made_up = folder.is_some() || output.is_none();
            let name = output.unwrap_or_else(|| default_output(&input));
            let to_stdout = |text: &str| (name == "-").then(|| text.to_owned());
            let encoder = EncoderChoice { encoder: to_stdout("png"), ..EncoderChoice::default() };
            let options = OutputOptions { format: to_stdout("image2pipe"), encoder, ..OutputOptions::default() };
            let (format, raw, part) = (format.clone(), raw.clone(), part);
            let input = InputOptions { url: input, format, raw, part, ..InputOptions::default() };
            (input, OutputFile { options, name, most_bytes: None, overwrite, makes_folder: false, is_made_up })
        };
        let mut sheets: Vec<_> = files.into_iter().map(sheet).collect();
        let Some((_, output)) = sheets.first() else {
            return Err(invalid("there is no video in these folders"));
        };
        let output = output.clone();
        let web = match (args.web_token.view(args.web), &sheets[..]) {
            (None, _) => None,
            (Some(view), [(input, _)]) if folder.is_none() => {
                if args.sandbox.sandbox == Isolation::Required {
                    return Err(usage(
                        ErrorKind::ArgumentConflict,
                        "--sandbox on: --web takes connections (use --sandbox auto or off)",
                    ));
                }
                Some((view, ReadyCommand { options, input: input.url.clone() }))
            }
            _ => return Err(usage(ErrorKind::ArgumentConflict, "--web shows one file")),
        };
        let sandbox = args.sandbox.check(sheets.iter_mut().map(|(input, _)| input), &output)?;
        let looks = if args.looks.is_empty() { Look::ALL.to_vec() } else { args.looks };
        let strengths: Vec<_> = match args.strength.is_empty() {
            true => vec![None],
            false => args.strength.into_iter().map(Some).collect(),
        };
        let row = |look| strengths.iter().map(move |strength| LookRow { look, strength: strength.clone() });
        Ok(PreviewJob {
            sheets,
            folder,
            rows: looks.into_iter().flat_map(row).collect(),
            frames: args.frames,
            web,
            limits: args.limits.check()?,
            sandbox,
            stderr: StderrOptions::messages_alone(args.quiet, args.verbose),
        })
    }
}

/// Each input of `names`, of which some are folders, and its sheet in the folder `into`.
fn sheets_of(names: &[Name], into: &Path) -> Result<Vec<(Name, Name)>, clap::Error> {
    let mut files = listed_but(names, into, None, None)?.files;
    for (input, output) in &mut files {
        *output = output.path().parent().unwrap_or(into).join(default_output(input)).into();
    }
    let mut sheets: Vec<&Name> = files.iter().map(|(_, sheet)| sheet).collect();
    sheets.sort();
    match sheets.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => {
            let message = format!("two inputs would become {} (use two folders)", pair[0]);
            Err(usage(ErrorKind::ValueValidation, &message))
        }
        None => Ok(files),
    }
}

/// `NAME-looks.png` in the current folder, for `folder/NAME.mp4`; without the number in the pattern of numbered images.
fn default_output(input: &Name) -> Name {
    let name = match number_pattern(input) {
        Some((place, _)) => Name::from_bytes([&input.bytes()[..place.start], &input.bytes()[place.end..]].concat()),
        None => input.clone(),
    };
    let name = last_part(&name);
    let stem = name.path().file_stem().unwrap_or_default();
    // `%03d.png` without its number is `.png`, which is a stem.
    match stem.is_empty() || stem.as_encoded_bytes().starts_with(b".") {
        true => "looks.png".into(),
        false => Name::from_parts([&stem, &"-looks.png"]),
    }
}

#[cfg(test)]
mod tests {
    use super::{LookRow, ReadyCommand, default_output};
    use histeq::internal::spec::parameters::Look;

    #[test]
    fn the_sheet_is_named_after_the_input() {
        for (input, output) in [
            ("clips/night.mp4", "night-looks.png"),
            ("a.b.mkv", "a.b-looks.png"),
            ("frame%03d.png", "frame-looks.png"),
            ("%03d.png", "looks.png"),
            ("https://host/clips/a.mp4?token=1", "a-looks.png"),
        ] {
            assert_eq!(default_output(&input.into()), output);
        }
    }

    #[test]
    fn the_command_can_be_pasted_into_a_shell() {
        let command = |options: &[&str], input: &str| ReadyCommand {
            options: options.iter().map(|word| (*word).to_owned()).collect(),
            input: input.into(),
        };
        let night = command(&[], "clips/at night's.mov");
        let natural = LookRow::read(Look::Natural, None).expect("no strength");
        let expected = "histeq-video --look night --strength 0.5 \"clips/at night's.mov\" \"at night's-equalized.mov\"";
        assert_eq!(night.with(&LookRow::read(Look::Night, Some("0.5")).expect("a strength"), true), expected);
        assert_eq!(night.with(&natural, false), "histeq-video \"at night's.mov\" \"at night's-equalized.mov\"");
        let url = command(&[], "http://me:hush@host/a.mp4?password=hush");
        assert_eq!(url.with(&natural, true), "histeq-video 'http://me@host/a.mp4?password=***' a-equalized.mp4");
        let raw = command(&["--size", "64x48"], "a.yuv");
        assert_eq!(raw.with(&natural, true), "histeq-video --size 64x48 a.yuv a-equalized.yuv");
        for (input, output) in [
            ("f/frame%05d.png", "histeq-video 'frame%05d.png' 'frame%05d-equalized.png'"),
            ("https://host/a/b.mp4?x=1", "histeq-video b.mp4 b-equalized.mp4"),
            ("http://me:hush@host:90/", "histeq-video host host-equalized.mkv"),
            ("./--stats=a.mp4", "histeq-video './--stats=a.mp4' './--stats=a-equalized.mp4'"),
            ("a\u{3}b.mp4", "# the name of the file is no text: give it another one"),
            ("clip.unknown", "histeq-video clip.unknown clip-equalized.mkv"),
        ] {
            assert_eq!(command(&[], input).with(&natural, false), output);
        }
    }
}
