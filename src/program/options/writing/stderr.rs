//! Options that choose what is printed on stderr, and what counts as an error.

use clap::{Args, ValueEnum};
use histeq_media::sys::files::Name;
use std::io::IsTerminal;

/// What is printed on stderr, and what counts as an error, as typed.
#[derive(Args, Clone, Debug)]
pub struct StderrArgs {
    /// Print errors only, and what of the input is lost
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,

    /// Print details too, and FFmpeg's own messages
    #[arg(short, long, help_heading = "Messages", hide_short_help = true)]
    pub verbose: bool,

    /// How to report progress on stderr
    #[arg(long, value_enum, ignore_case = true, default_value_t = ProgressArg::Auto, overrides_with = "progress")]
    #[arg(help_heading = "Messages", hide_short_help = true)]
    pub progress: ProgressArg,

    /// Write what --progress json prints to this file or pipe instead, or to this number of an open descriptor
    ///
    /// Stderr keeps the messages for people.
    #[arg(long, value_name = "FILE|FD", value_hint = clap::ValueHint::FilePath, overrides_with = "progress_file")]
    #[arg(help_heading = "Messages", hide_short_help = true)]
    pub progress_file: Option<Name>,

    /// Treat warnings as errors: a stream that the container cannot hold, damaged frames, a pixel format narrowed
    #[arg(long, help_heading = "Messages", hide_short_help = true)]
    pub strict: bool,

    /// Take the options in [preset.NAME] of config.toml, a preset of one's own
    ///
    /// Other options replace those of the preset. docs/recipes.md describes the file, and variables that set options.
    #[arg(long = "use", value_name = "NAME", help_heading = "Messages", hide_short_help = true)]
    pub preset_name: Option<String>,
}

/// What progress looks like.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgressArg {
    /// A bar on a terminal, lines of text where TERM is dumb, nothing elsewhere.
    Auto,
    /// A line of text now and then.
    Plain,
    /// Lines of JSON and nothing else: all events of the run, which docs/progress.md describes.
    Json,
    /// Nothing.
    None,
}

/// How much is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verbosity {
    /// Errors.
    Quiet,
    /// Warnings, notes and the line at the end too.
    Normal,
    /// Details and FFmpeg's messages too.
    Verbose,
}

/// How progress is shown on stderr.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeterStyle {
    Bar,
    /// Lines of text.
    Plain,
    /// Nothing is shown.
    Silent,
}

impl MeterStyle {
    /// The style for each of several sources, which share one bar.
    #[must_use]
    pub fn for_each_source(self) -> Self {
        if self == MeterStyle::Bar { MeterStyle::Silent } else { self }
    }

    /// The style for several sources together: lines are printed by each source.
    #[must_use]
    pub fn for_all_sources(self) -> Self {
        if self == MeterStyle::Bar { self } else { MeterStyle::Silent }
    }
}

/// Where events go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum EventsTo {
    #[default]
    Nowhere,
    /// Stderr.
    Stderr,
    /// This file, or the descriptor of this number.
    File(Name),
}

/// What a run prints on stderr.
#[derive(Clone, Debug)]
pub struct StderrOptions {
    /// Whether warnings are errors.
    pub strict: bool,
    /// How much is printed.
    pub verbosity: Verbosity,
    /// How progress is shown on stderr.
    pub meter: MeterStyle,
    /// Where events go.
    pub events: EventsTo,
    /// Whether this is a child process: its parent, another process of this program, reads its events on stderr and
    /// prints what there is to print, and it ends when its stdin is closed.
    pub is_child: bool,
}

impl StderrOptions {
    /// The options of a command that has neither progress nor events.
    pub fn messages_alone(is_quiet: bool, is_verbose: bool) -> Self {
        let verbosity = match (is_quiet, is_verbose) {
            (true, _) => Verbosity::Quiet,
            (_, true) => Verbosity::Verbose,
            _ => Verbosity::Normal,
        };
        let (meter, events) = (MeterStyle::Silent, EventsTo::Nowhere);
        StderrOptions { strict: false, verbosity, meter, events, is_child: false }
    }

    /// Whether to print details and FFmpeg's own messages.
    pub fn is_verbose(&self) -> bool {
        self.verbosity == Verbosity::Verbose
    }
}

impl From<StderrArgs> for StderrOptions {
    fn from(args: StderrArgs) -> Self {
        let verbosity = match (args.quiet, args.verbose) {
            (true, _) => Verbosity::Quiet,
            (_, true) => Verbosity::Verbose,
            _ => Verbosity::Normal,
        };
        StderrOptions {
            strict: args.strict,
            verbosity,
            meter: match args.progress {
                ProgressArg::Plain => MeterStyle::Plain,
                ProgressArg::Auto if std::io::stderr().is_terminal() && verbosity > Verbosity::Quiet => {
                    // A terminal of the type `dumb` cannot move its cursor back.
                    let is_dumb = std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
                    if is_dumb { MeterStyle::Plain } else { MeterStyle::Bar }
                }
                ProgressArg::Auto | ProgressArg::Json | ProgressArg::None => MeterStyle::Silent,
            },
            events: match (args.progress_file, args.progress) {
                (Some(file), _) if !file.is_empty() => EventsTo::File(file),
                (_, ProgressArg::Json) => EventsTo::Stderr,
                _ => EventsTo::Nowhere,
            },
            is_child: false,
        }
    }
}
