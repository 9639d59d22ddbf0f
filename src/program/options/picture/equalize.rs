//! Options that choose how to equalize: those of the core's table, and files that are read and written beside the
//! video.

use super::option_args::{FILES, LIVE, OUTPUT, OptionArgs, is_rare, option_error, rare_without, typed};
use crate::options::reading::input::sample_range;
use crate::options::values::{curves_name, is_cube, usage};
use anyhow::{Result, anyhow};
use clap::Args;
use clap::error::ErrorKind;
use histeq::internal::options::{OPTIONS, OptionValue, Options, Resolved, Video};
use histeq::internal::spec::parameters::{Chroma, Look, Method, Settings};
use histeq_media::pipeline::{Input, Notices};
use histeq_media::sys::files::Name;
use histeq_media::sys::io::is_pipe;
use serde_json::{Map, Value, json};

/// How to equalize, as typed.
#[derive(Args, Debug)]
pub struct EqualizeArgs<const PART: u8> {
    /// The options of the core.
    #[command(flatten)]
    pub table: OptionArgs<PART>,

    /// Textbook equalization of each frame by itself, the same as --look exact
    ///
    /// No temporal window, contrast limit or plateau: noise in flat pictures grows, and brightness can flicker. Goes
    /// with none of the options that choose these.
    #[arg(long, conflicts_with_all = ["look", "smooth", "max-gain", "strength"])]
    #[arg(conflicts_with_all = ["method", "levels"])]
    #[arg(help_heading = "Equalization", hide_short_help = true)]
    pub exact: bool,

    /// Count each pixel by the brightness of this picture: black does not count, white counts fully
    ///
    /// For the rim of a fisheye lens, an endoscope's surroundings, a clock that is burnt in. The picture has the size
    /// of the video; the curve applies to all of it. For scenes, levels and haze, a pixel counts unless it is black.
    /// Within --roi, if both are given. Not with --method clahe.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    #[arg(help_heading = "Equalization", hide_short_help = true)]
    pub mask: Option<Name>,

    /// Write the curves of all frames to this file, as lines of JSON that can be edited; not with --method clahe
    ///
    /// Where one curve does not say all, a line has the balance of colours and what is done by region, too. A name that
    /// ends in .cube makes a table of each scene for grading programs, which cannot be loaded again.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    #[arg(help_heading = "Equalization", hide_short_help = true)]
    pub save_curves: Option<Name>,

    /// Apply the curves in this file instead of equalizing
    ///
    /// Of the options that choose how to equalize, only --strength, and chroma and gray of --set, go with it.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    #[arg(help_heading = "Equalization", hide_short_help = true)]
    #[arg(conflicts_with_all = ["look", "exact", "smooth", "max-gain", "levels"])]
    #[arg(conflicts_with_all = ["method", "roi", "mask"])]
    pub load_curves: Option<Name>,

    /// Show samples from LOW to HIGH, which become black and white along a straight line, instead of equalizing
    ///
    /// LOW:HIGH are samples of the input, or in the unit of a TIFF, FITS or SER whose samples became 16 bits along a
    /// line (--sample-range). The line is the same for all frames and files, so that a level, and a colour of
    /// --palette, means the same everywhere. What lies outside is black or white.
    #[arg(long, value_name = "LOW:HIGH", value_parser = sample_range, allow_hyphen_values = true)]
    #[arg(help_heading = "Equalization", hide_short_help = true)]
    #[arg(conflicts_with_all = ["look", "exact", "smooth", "max-gain", "levels", "strength"])]
    #[arg(conflicts_with_all = ["method", "roi", "mask", "load_curves"])]
    pub range: Option<(f64, f64)>,
}

/// The checked options of equalization.
#[derive(Clone, Debug)]
pub struct EqualizeOptions {
    /// The options of the core.
    pub options: Options,
    /// Whether the video is stored, so that frames may wait for later ones: files, not live input.
    is_stored: bool,
    /// Whether the video comes from cameras.
    is_live: bool,
    /// File of the image whose brightness is the weight of each pixel.
    pub mask: Option<Name>,
    /// File to write the curves to.
    pub save_curves: Option<Name>,
    /// File of curves to apply in place of equalization.
    pub load_curves: Option<Name>,
    /// The samples that become black and white in place of equalization.
    pub range: Option<(f64, f64)>,
}

impl EqualizeOptions {
    /// Checks and converts `args`.
    fn from_args<const PART: u8>(
        args: EqualizeArgs<PART>,
        output: OptionArgs<OUTPUT>,
        is_stored: bool,
    ) -> Result<Self, clap::Error> {
        let save_curves = curves_name(args.save_curves)?;
        let mut options = args.table.options;
        options.output_depth = output.options.output_depth;
        let conflict = |message: &str| Err(usage(ErrorKind::ArgumentConflict, message));
        let rest = [
            (args.exact, "exact", "--exact"),
            (args.load_curves.is_some(), "load_curves", "--load-curves"),
            (args.range.is_some(), "range", "--range"),
        ];
        for (_, id, other) in rest.into_iter().filter(|(is_given, ..)| *is_given) {
            if let Some(name) = args.table.set.iter().find(|name| rare_without(id).contains(name)) {
                return conflict(&format!("--set {name} cannot be used with {other}"));
            }
        }
        if args.mask.as_ref().is_some_and(|name| name.is_empty() || is_pipe(name)) {
            return Err(usage(ErrorKind::ValueValidation, "--mask takes a file's name"));
        }
        if let (Some(method), true) = (options.tiled_method(), args.mask.is_some()) {
            return conflict(&format!(
                "--mask does not go with --method {method}, which counts each tile without weights"
            ));
        }
        if args.load_curves.is_some() && options.look_ahead.is_some() {
            return conflict("--set look-ahead does not go with --load-curves, whose curves wait for no frames");
        }
        if args.load_curves.is_some() && options.denoise.is_some_and(|share| share.to_256ths() > 0) {
            return conflict("--denoise does not go with --load-curves, which measures no noise");
        }
        if args.range.is_some() && options.look_ahead.is_some() {
            return conflict("--set look-ahead does not go with --range, which waits for no frames");
        }
        if args.range.is_some() && options.denoise.is_some_and(|share| share.to_256ths() > 0) {
            return conflict("--denoise does not go with --range, which measures no noise");
        }
        if let (Some(method), true) = (options.tiled_method(), save_curves.is_some()) {
            return conflict(&format!(
                "--save-curves does not go with --method {method}, which has a curve for each tile"
            ));
        }
        if !is_stored && save_curves.as_ref().is_some_and(is_cube) {
            return conflict("--save-curves NAME.cube, a table of a scene, goes with files, not with pipes and live");
        }
        if args.load_curves.as_ref().is_some_and(is_cube) {
            return conflict("--load-curves takes lines of JSON (.jsonl); --lut applies a .cube");
        }
        if options.has_whole_scenes() && !is_stored {
            let message =
                "--smooth scene reads the input twice: it goes with files, not with pipes, network streams and live";
            return conflict(message);
        }
        options.check().map_err(|error| option_error(&error))?;
        if args.exact || args.load_curves.is_some() || args.range.is_some() {
            // Curves that are given already include the look.
            options.look = Look::Exact;
        }
        if args.load_curves.is_some() {
            // The gains of chroma in the file are for chroma that follows luma.
            options.chroma = options.chroma.or(Some(Chroma::Follow));
        }
        Ok(EqualizeOptions {
            options,
            is_stored,
            is_live: false,
            mask: args.mask,
            save_curves,
            load_curves: args.load_curves,
            range: args.range,
        })
    }

    /// Checks and converts the options for a job that reads `input`.
    pub(crate) fn for_file(
        args: EqualizeArgs<FILES>,
        output: OptionArgs<OUTPUT>,
        input: &Name,
    ) -> Result<Self, clap::Error> {
        EqualizeOptions::from_args(args, output, !is_pipe(input) && !input.to_string().contains("://"))
    }

    /// Checks and converts the options for live input.
    pub(crate) fn for_live(args: EqualizeArgs<LIVE>, output: OptionArgs<OUTPUT>) -> Result<Self, clap::Error> {
        let options = EqualizeOptions::from_args(args, output, false)?;
        Ok(EqualizeOptions { is_live: true, ..options })
    }

    /// The options of this look and no others, for a file.
    pub fn for_look(look: Look) -> Self {
        let options = Options::for_look(look);
        EqualizeOptions {
            options,
            is_stored: true,
            is_live: false,
            mask: None,
            save_curves: None,
            load_curves: None,
            range: None,
        }
    }

    /// Whether frames get curves that are given, in place of equalization.
    pub fn has_given_curves(&self) -> bool {
        self.load_curves.is_some() || self.range.is_some()
    }

    /// The files that are read.
    pub fn read_files(&self) -> impl Iterator<Item = &Name> {
        self.load_curves.iter().chain(&self.mask)
    }

    /// The description of this input for the core.
    pub fn video(&self, input: &Input) -> Video {
        let (depth, is_gray) = input.picture.map(|(format, _)| (format.depth(), format.is_gray())).unzip();
        Video {
            depth,
            is_gray: is_gray.unwrap_or(false),
            size: input.picture.map(|(_, size)| size),
            rate: input.rate(),
            is_stored: self.is_stored,
            may_overlap: self.is_live,
        }
    }

    /// Whether log footage with a tagged curve is converted to BT.709: with the natural method and with loaded curves,
    /// which are mostly of that method, unless the strength is 0.
    pub fn shows_log(&self) -> bool {
        let is_off = self.options.strength.is_some_and(|strength| strength.to_256ths() == 0);
        // The method does not depend on the rate.
        let resolved = self.options.resolve(&Video { rate: Some(25.0), ..Video::default() });
        let is_natural = resolved.is_ok_and(|found| matches!(found.settings.method, Method::Natural { .. }));
        !is_off && (is_natural || self.load_curves.is_some())
    }

    /// The settings for this input.
    ///
    /// # Errors
    /// When `--roi` lies outside the picture; with `--strict`, also when it extends past its edge.
    pub fn resolve(&self, input: &Input, notices: &Notices) -> Result<Settings> {
        let resolved = self.options.resolve(&self.video(input));
        let Resolved { settings, notes } =
            resolved.map_err(|error| anyhow!("{}: {}", input.name, typed(&error.with_prefix("--"))))?;
        for note in notes {
            match note.with_prefix("--") {
                histeq::Note::Warning(text) => notices.warn(&format!("{}: {}", input.name, typed(&text)))?,
                histeq::Note::Note(text) => notices.note(&typed(&text)),
                histeq::Note::Detail(text) => notices.detail(&typed(&text)),
            }
        }
        Ok(settings)
    }

    /// The effective values for this input by the names of their options, in the form that the options take. Options
    /// without effect are left out.
    pub fn report(&self, settings: &Settings, input: &Input) -> Map<String, Value> {
        let rate = self.video(input).frames_a_second();
        let seconds = |frames: u64| (frames as f64 / rate * 1e4).round() / 1e4;
        let value = |(name, value)| match value {
            OptionValue::Text(text) => json!(text),
            // A single frame: no smoothing.
            OptionValue::Count(1) if name == "smooth" => json!(0.0),
            OptionValue::Count(frames) if name == "smooth" => json!(seconds(frames)),
            // The frames that smoothing waits for; denoising may wait for more.
            OptionValue::Count(_) if name == "look-ahead" => json!(seconds(settings.smoothing.ahead().into())),
            OptionValue::Count(count) => json!(count),
            OptionValue::Number(number) => json!(number),
            OptionValue::Flag(is_set) => json!(is_set),
        };
        let shown = OPTIONS.iter().filter(|option| option.name != "look" || !self.has_given_curves());
        let shown = shown
            .filter_map(|option| Some((option.name, value((option.name, option.report(&self.options, settings)?)))));
        let files = [("load-curves", &self.load_curves), ("mask", &self.mask)];
        let files = files.into_iter().filter_map(|(name, file)| Some((name, json!(file.as_ref()?.to_string()))));
        let range = self.range.map(|(low, high)| ("range", json!(format!("{low}:{high}"))));
        shown.chain(files).chain(range).map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// The text in an output's metadata that names the program and its `settings`, as in a report. Names of files are
    /// left out.
    pub fn provenance(settings: &Map<String, Value>) -> String {
        let text = |(name, value): (&String, &Value)| match value.as_str() {
            _ if ["load-curves", "mask"].contains(&name.as_str()) => Some(format!("--{name}")),
            _ if *value == json!(false) || value.is_null() => None,
            text if is_rare(name) => Some(format!("--set {name}={}", text.map_or(value.to_string(), str::to_owned))),
            _ if *value == json!(true) => Some(format!("--{name}")),
            Some(text) => Some(format!("--{name} {text}")),
            None => Some(format!("--{name} {value}")),
        };
        let words: Vec<String> = settings.iter().filter_map(text).collect();
        format!("histeq-video {} {}", env!("CARGO_PKG_VERSION"), words.join(" "))
    }
}
