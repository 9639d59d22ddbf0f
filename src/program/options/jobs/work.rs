//! `histeq-video web`: the options of the page on which files are equalized, and the runs that the page may start.

use super::many::{Jobs, jobs};
use super::preview::LookRow;
use crate::options::command::Job;
use crate::options::reading::limits::{LimitArgs, RunLimits};
use crate::options::reading::sandbox::SandboxArgs;
use crate::options::values::{parse_count, shown_command, usage, value};
use crate::options::writing::stderr::StderrOptions;
use crate::options::writing::web::{WebOptions, WebTokenArg, web_address};
use clap::Args;
use clap::error::ErrorKind;
use histeq::internal::spec::parameters::{Look, Named};
use histeq_media::source::Isolation;
use histeq_media::sys::files::{Name, is_image_name};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;

/// The options of `web`, as typed.
#[derive(Args, Debug)]
#[command(after_help = "histeq-video web --help shows all other options.")]
#[command(after_long_help = "\
The page lists the films and pictures of the folders, shows any frame of them under every look, and makes the files that \
are chosen, one after the other, beside their originals: clip-equalized.mp4 for clip.mp4. No file is replaced. Closing \
the page ends nothing; Ctrl-C ends the program, and what it works on as it does elsewhere.

Examples:
  histeq-video web
  histeq-video web ~/Videos/holiday
  histeq-video web --web=0.0.0.0 --root ~/Videos ~/Videos/dive
  histeq-video web --read-only --no-browser /srv/films")]
pub struct WorkArgs {
    /// Films, pictures and folders of them that the page shows [default: this folder]
    #[arg(value_name = "INPUT", value_hint = clap::ValueHint::AnyPath)]
    pub names: Vec<Name>,

    /// Where the page is [default: 127.0.0.1:8100]
    ///
    /// A port (8080) is one of this machine alone; 0.0.0.0 or 0.0.0.0:8080 can be opened from others, such as a
    /// telephone, by the address with a token that is printed. docs/live.md has the rest.
    #[arg(long, value_name = "ADDRESS", value_parser = web_address)]
    pub web: Option<SocketAddr>,

    /// The access token of the page.
    #[command(flatten)]
    pub token: WebTokenArg,

    /// The folder that the page may go up to, which all names lie in [default: it stays in those that are named]
    ///
    /// Nothing outside is listed, read or written, whatever links lead there.
    #[arg(long, value_name = "FOLDER", value_hint = clap::ValueHint::DirPath)]
    pub root: Option<PathBuf>,

    /// Only show: nothing is written, and nothing is taken from the page
    #[arg(long)]
    pub read_only: bool,

    /// Work on this many files at once; auto: as many as pay here [default: 1]
    #[arg(long, value_name = "N", value_parser = jobs)]
    pub jobs: Option<Jobs>,

    /// The most bytes that all files dropped on the page have together
    #[arg(long, value_name = "SIZE", default_value = "4G")]
    pub max_upload: String,

    /// Print the address, and open no browser
    ///
    /// One is opened where the page is for this machine alone, there is a desktop, and --sandbox is not on.
    #[arg(long)]
    pub no_browser: bool,

    /// RunLimits on time, memory and size of each run.
    #[command(flatten)]
    pub limits: LimitArgs,

    /// The sandbox.
    #[command(flatten)]
    pub sandbox: SandboxArgs,

    /// Print errors only
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,

    /// Print details too, and FFmpeg's own messages
    #[arg(short, long, help_heading = "Messages", hide_short_help = true)]
    pub verbose: bool,
}

/// The checked options of `web`.
#[derive(Debug)]
pub struct WorkJob {
    /// The files and folders that the page shows.
    pub names: Vec<Name>,
    /// The address of the page, and its token.
    pub view: WebOptions,
    /// The highest folder that the page may show.
    pub root: Option<PathBuf>,
    pub read_only: bool,
    /// How many files are worked on at once.
    pub jobs: Jobs,
    /// The most bytes of all files that are uploaded on the page.
    pub max_upload: u64,
    /// Whether a browser may be opened.
    pub opens_browser: bool,
    pub isolation: Isolation,
    pub limits: RunLimits,
    /// The options that each run gets.
    pub options: Vec<OsString>,
    pub stderr: StderrOptions,
}

impl WorkJob {
    /// Checks and converts `args`.
    pub fn from_args(args: WorkArgs) -> Result<Self, clap::Error> {
        if args.names.iter().any(Name::is_empty) {
            return Err(usage(ErrorKind::ValueValidation, "the name of an input is empty"));
        }
        let max_upload =
            value("--max-upload", "a number of bytes like 500M or 4G", Some(args.max_upload), parse_count)?;
        let address = args.web.map_or_else(|| web_address(""), Ok);
        let address = address.map_err(|wrong| usage(ErrorKind::ValueValidation, &wrong))?;
        let isolation = args.sandbox.sandbox;
        let mut options: Vec<OsString> = args.limits.words().into_iter().map(OsString::from).collect();
        if isolation != Isolation::Auto {
            options.extend(["--sandbox".into(), isolation.to_string().into()]);
        }
        options.extend(args.verbose.then(|| "--verbose".into()));
        Ok(WorkJob {
            names: if args.names.is_empty() { vec![".".into()] } else { args.names },
            view: WebOptions { address, token: args.token.web_token },
            root: args.root,
            read_only: args.read_only,
            jobs: args.jobs.unwrap_or(Jobs::Exactly(1)),
            max_upload: max_upload.unwrap_or_default(),
            opens_browser: !args.no_browser && isolation != Isolation::Required && address.ip().is_loopback(),
            isolation,
            limits: args.limits.check()?,
            options,
            stderr: StderrOptions::messages_alone(args.quiet, args.verbose),
        })
    }
}

/// The goals that the page offers, and the options of each.
const GOALS: [(&str, &[&str]); 3] =
    [("keep", &[]), ("web", &["--for", "web"]), ("whatsapp", &["--for", "web", "--target-size", "16M"])];

/// The choices on the page for a file. Each is refused unless it is a value that the program knows.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Chosen {
    pub look: String,
    /// The strength; `None` for that of the look.
    #[serde(default)]
    pub strength: Option<f64>,
    /// The name of one of the [`goals`](Self::goals).
    pub goal: String,
}

/// A run of this program that makes a file.
#[derive(Clone, Debug)]
pub struct PlannedRun {
    /// Its options.
    pub options: Vec<OsString>,
    /// The output, as the program names it.
    pub output: Name,
}

impl Chosen {
    /// The goals that may be chosen, with the options of each.
    pub fn goals() -> impl Iterator<Item = (&'static str, String)> {
        GOALS.iter().map(|(name, words)| (*name, words.join(" ")))
    }

    /// The run that equalizes `input`, with the options `common` of all runs, checked like a command line.
    ///
    /// # Errors
    /// When a value does not exist, or conflicts with the file.
    pub fn plan(&self, input: &Name, common: &[OsString]) -> Result<PlannedRun, String> {
        let look = Look::from_name(&self.look).ok_or_else(|| format!("there is no look {:?}", self.look))?;
        let row = LookRow::read(look, self.strength.map(|share| share.to_string()).as_deref())?;
        let goal = GOALS.iter().find(|(name, _)| *name == self.goal);
        let (_, goal) = goal.ok_or_else(|| format!("there is no goal {:?}", self.goal))?;
        let mut options: Vec<OsString> = row.words().into_iter().map(OsString::from).collect();
        if !is_image_name(input.path()) {
            options.extend(goal.iter().map(OsString::from));
        }
        let all =
            [OsString::from("histeq-video")].into_iter().chain(common.iter().cloned()).chain(options.iter().cloned());
        let words = all.chain(["--".into(), input.clone().into()]);
        let job = Job::from_words(words.collect()).map_err(|error| crate::options::values::in_one_line(&error))?;
        let Job::File(job) = job else { return Err("this is no file".to_owned()) };
        Ok(PlannedRun { options, output: job.output.name })
    }
}

impl PlannedRun {
    /// The command of the run, quoted for a shell. `with_place`: it has the paths of the files, not only their names.
    pub fn command(&self, input: &Name, with_place: bool) -> String {
        let name = |name: &Name| match name.path().file_name() {
            Some(last) if !with_place => last.into(),
            _ => name.clone(),
        };
        let no_option =
            |name: Name| if name.bytes().starts_with(b"-") { Name::from_parts([&"./", &name]) } else { name };
        let files = [no_option(name(input)), no_option(name(&self.output))];
        // The first word is the program's name.
        shown_command(std::iter::once(Name::default()).chain(self.options.iter().map(Name::from)).chain(files))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(look: &str, strength: Option<f64>, goal: &str) -> Chosen {
        Chosen { look: look.to_owned(), strength, goal: goal.to_owned() }
    }

    #[test]
    fn what_is_chosen_becomes_a_command_with_the_programs_own_name_of_the_output() {
        let clip = Name::from("/clips/at night's.mov");
        for (input, output, command) in [
            (chosen("natural", None, "keep"), "/clips/at night's-equalized.mov", ""),
            (chosen("night", Some(0.5), "keep"), "/clips/at night's-equalized.mov", " --look night --strength 0.5"),
            (chosen("natural", None, "web"), "/clips/at night's-equalized.mp4", " --for web"),
            (
                chosen("haze", Some(1.0), "whatsapp"),
                "/clips/at night's-equalized.mp4",
                " --look haze --strength 1 --for web --target-size 16M",
            ),
        ] {
            let run = input.plan(&clip, &[]).expect("a run");
            assert_eq!(run.output, *output);
            let name = output.rsplit('/').next().expect("a name");
            let expected = format!("histeq-video{command} \"at night's.mov\" \"{name}\"");
            assert_eq!(run.command(&clip, false), expected);
            assert!(run.command(&clip, true).contains("/clips/"));
        }
        let photo = chosen("night", None, "whatsapp").plan(&"/clips/-a.jpg".into(), &[]).expect("a run");
        assert_eq!(
            photo.command(&"/clips/-a.jpg".into(), false),
            "histeq-video --look night ./-a.jpg ./-a-equalized.jpg"
        );
    }

    #[test]
    fn what_does_not_exist_is_refused() {
        for wrong in [
            chosen("none", None, "keep"),
            chosen("--look", None, "keep"),
            chosen("night", Some(2.0), "keep"),
            chosen("night", Some(f64::NAN), "keep"),
            chosen("night", None, "--for"),
            chosen("night", None, ""),
        ] {
            assert!(wrong.plan(&"/a.mp4".into(), &[]).is_err(), "{wrong:?}");
        }
        assert!(serde_json::from_str::<Chosen>(r#"{"look": "night", "goal": "web", "encoder": "x"}"#).is_err());
    }
}
