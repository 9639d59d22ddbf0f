//! `histeq-video INPUT OUTPUT`: the options of equalizing a file.

use super::many::{Jobs, Listed, ManyArgs, ManyJob, Unchanged, differ_from_inputs, listed};
use crate::options::picture::backend_args::BackendArgs;
use crate::options::picture::equalize::{EqualizeArgs, EqualizeOptions};
use crate::options::picture::filter::{FilterOptions, takes_commands};
use crate::options::picture::option_args::{FILES, OUTPUT, OptionArgs};
use crate::options::picture::palette::PaletteOptions;
use crate::options::reading::input::InputArgs;
use crate::options::reading::limits::{LimitArgs, RunLimits};
use crate::options::reading::part::PartArgs;
use crate::options::reading::sandbox::{Sandbox, SandboxArgs};
use crate::options::reading::sequence;
use crate::options::values::{input_name, output_name, usage};
use crate::options::writing::output::{OutputArgs, OutputFile};
use crate::options::writing::purpose::{Purpose, PurposeArgs};
use crate::options::writing::stderr::{StderrArgs, StderrOptions};
use clap::error::ErrorKind;
use clap::{ArgAction, Args, ValueEnum};
use histeq::Limits;
use histeq::internal::equalize::backend::BackendChoice;
use histeq_media::ffmpeg::decode::DecodeOn;
use histeq_media::ffmpeg::is_url;
use histeq_media::ffmpeg::mux::Container;
use histeq_media::sink::files::{Overwrite, name_of};
use histeq_media::sink::live::network_format;
use histeq_media::sink::{OutputKind, is_sequence_name};
use histeq_media::source::{InputOptions, Isolation, Reading};
use histeq_media::sys::files::{Name, number_pattern};
use histeq_media::sys::io::is_pipe;
use histeq_media::sys::without_password;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::str::FromStr;

/// How many decoders of a GPU work on a file: one more than the most that a GPU has.
const DECODERS: u8 = 8;

/// The options of equalizing a file, as typed.
#[derive(Args, Debug)]
pub struct FileArgs {
    /// Video, image, numbered images (%05d.png, the first of them, or their folder), URL that FFmpeg can read, or - for
    /// stdin
    #[arg(required = true, value_hint = clap::ValueHint::FilePath)]
    pub input: Option<Name>,

    /// File to write; its name decides the container; - is stdout [default: NAME-equalized.EXT]
    ///
    /// Without --output-format, what goes to stdout is y4m. The default lies beside the input.
    #[arg(value_hint = clap::ValueHint::FilePath)]
    pub output: Option<Name>,

    /// Options for many cores and many files.
    #[command(flatten)]
    pub many: ManyArgs,

    /// How to equalize.
    #[command(flatten)]
    pub equalize: EqualizeArgs<FILES>,

    /// Filters before equalization.
    #[command(flatten)]
    pub filters: FilterOptions,

    /// False colours after equalization.
    #[command(flatten)]
    pub palette: PaletteOptions,

    /// Pass the equalized pictures through FFmpeg's video filters: CHAIN is what ffmpeg -vf takes
    ///
    /// For what is to come after equalization: scaling, sharpening, a logo. Size, rate and pixel format of the output
    /// are those of the filtered video. Measurements, curves and --roi are those of the video ahead of these filters.
    #[arg(long, value_name = "CHAIN", help_heading = "Filters", hide_short_help = true)]
    pub filter_after: Option<String>,

    /// Which part of the input to equalize.
    #[command(flatten)]
    pub part: PartArgs,

    /// Options that describe the input.
    #[command(flatten)]
    pub input_kind: InputArgs,

    /// Video stream to equalize, counted from 0 among the video streams; the others are copied [default: the main one]
    #[arg(long, value_name = "N", help_heading = "Input", hide_short_help = true)]
    pub video_stream: Option<usize>,

    /// Where to decode: auto, cpu or nvdec; with :N, that many decoders at once
    ///
    /// nvdec uses the decoder of --gpu (4:2:0 video in H.264, HEVC, AV1, VP9 and others). That frees the CPU for the
    /// encoder, but damaged frames are not reported; auto therefore takes the CPU.
    ///
    /// A GPU can have several decoders, of which nvdec takes up to 8, nvdec:2 up to 2, and cpu:3 three on the CPU.
    /// Where only pictures are written (y4m, rawvideo, null), and in the first pass of
    /// --smooth scene, they decode pieces of a file at the same time, from key frame to key frame, to the same frames.
    #[arg(long, default_value = "auto", value_name = "DECODER[:N]")]
    #[arg(help_heading = "Input", hide_short_help = true)]
    pub decoder: Decoders,

    /// How to write the output.
    #[command(flatten)]
    pub output_options: OutputArgs,

    /// The purpose of the output.
    #[command(flatten)]
    pub purpose: PurposeArgs,

    /// Options of the equalized frames.
    #[command(flatten)]
    pub equalized: OptionArgs<OUTPUT>,

    /// Also write measurements of each frame: a table (.csv), lines of JSON (.jsonl, or - for stdout), or a page
    /// with plots (.html); may be repeated
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, action = ArgAction::Append)]
    #[arg(help_heading = "Output", hide_short_help = true)]
    pub stats: Vec<Name>,

    /// Leave out of the output's metadata that this program made it, and with which settings
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    pub no_provenance: bool,

    /// Say what would be read and written, with which settings, and about how large; write nothing
    ///
    /// A few frames are looked at, and encoded to nowhere, so that what the look finds, the encoder and the size are
    /// those of this video. What is said goes to stdout; with --output-dir, of each file.
    #[arg(long, conflicts_with = "jobs")]
    pub dry_run: bool,

    /// Print JSON: what --dry-run says, or, with --version, what this build and this machine have
    #[arg(long, help_heading = "Messages", hide_short_help = true)]
    pub json: bool,

    /// Recompute every frame with the reference and name the first difference
    #[arg(long, hide = true)]
    pub verify: bool,

    /// RunLimits on time, memory and size.
    #[command(flatten)]
    pub limits: LimitArgs,

    /// The sandbox.
    #[command(flatten)]
    pub sandbox: SandboxArgs,

    /// What is printed on stderr, and what is an error.
    #[command(flatten)]
    pub stderr: StderrArgs,

    /// Where equalization runs.
    #[command(flatten)]
    pub device: BackendArgs,
}

impl FileArgs {
    /// The job of many files; `None` without `--output-dir`.
    pub(crate) fn many(&mut self) -> Result<Option<ManyJob>, clap::Error> {
        if self.many.one_of.is_some() {
            return Ok(None);
        }
        let Some(into) = self.many.output_dir.take() else { return Ok(None) };
        let mut names = std::mem::take(&mut self.many.more);
        names.splice(0..0, [self.input.take(), self.output.take()].into_iter().flatten());
        let is_named = self.output_options.output_format.is_none();
        let extension = self.purpose.purpose.filter(|_| is_named).map(Purpose::extension);
        let Listed { files, left_out } = listed(&names, &into, extension)?;
        let (jobs, overwrites) = (self.many.jobs.take().unwrap_or(Jobs::Exactly(1)), self.output_options.overwrite.yes);
        if overwrites {
            differ_from_inputs(&files)?;
        }
        // The options are checked with the first file.
        if let Some((input, output)) = files.first() {
            (self.input, self.output) = (Some(input.clone()), Some(output.clone()));
        }
        Ok(Some(ManyJob { files, left_out, jobs, overwrites, stderr: self.stderr.clone().into() }))
    }
}

/// Where decoding runs.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecoderArg {
    /// The CPU, which reports damaged frames.
    Auto,
    /// The CPU.
    Cpu,
    /// The decoder of an NVIDIA GPU, or an error.
    Nvdec,
}

/// The kind and the number of decoders.
#[derive(Clone, Copy, Debug)]
pub struct Decoders {
    kind: DecoderArg,
    count: u8,
}

impl FromStr for Decoders {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, count) = text.split_once(':').map_or((text, None), |(name, count)| (name, Some(count)));
        let kind = DecoderArg::from_str(name, true).map_err(|_| "auto, cpu or nvdec is needed".to_owned())?;
        let count = match count {
            Some(count) => count.parse().ok().filter(|count| (1..=32).contains(count)),
            None => Some(if kind == DecoderArg::Nvdec { DECODERS } else { 1 }),
        };
        Ok(Decoders { kind, count: count.ok_or("a number from 1 to 32 is needed behind the colon")? })
    }
}

impl DecoderArg {
    /// The decoder; `gpu` is the index of the GPU.
    pub(crate) fn on(self, gpu: usize) -> DecodeOn {
        match self {
            DecoderArg::Auto | DecoderArg::Cpu => DecodeOn::Cpu,
            DecoderArg::Nvdec => DecodeOn::Nvdec(gpu),
        }
    }
}

/// The format of a file of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatsFormat {
    /// A table with a header line: `.csv`.
    Csv,
    /// A JSON object on each line: `.jsonl`.
    JsonLines,
    /// A page with plots: `.html`.
    Page,
    /// For one piece of a video whose page is written when the pieces are joined: a `PieceRecord` on each line.
    PieceOfPage,
}

impl StatsFormat {
    /// The format for the extension of a file name; lines of JSON for stdout.
    pub fn for_name(name: &Name) -> Option<Self> {
        if *name == "-" {
            return Some(StatsFormat::JsonLines);
        }
        let extension = name.path().extension()?.to_ascii_lowercase();
        match extension.to_str()? {
            "csv" => Some(StatsFormat::Csv),
            "jsonl" => Some(StatsFormat::JsonLines),
            "html" => Some(StatsFormat::Page),
            _ => None,
        }
    }
}

/// The checked options of equalizing a file.
#[derive(Clone, Debug)]
pub struct FileJob {
    /// The input.
    pub input: InputOptions,
    /// The output.
    pub output: OutputFile,
    /// The purpose of the output.
    pub purpose: Option<Purpose>,
    /// Files of statistics, and their formats.
    pub stats: Vec<(Name, StatsFormat)>,
    /// Filters before equalization.
    pub filters: FilterOptions,
    /// Colours that are applied after equalization.
    pub palette: PaletteOptions,
    /// Filters after equalization.
    pub filter_after: Option<String>,
    /// How to equalize.
    pub equalize: EqualizeOptions,
    /// Where to equalize.
    pub backend: BackendChoice,
    /// Whether to recompute each frame with the reference.
    pub verify: bool,
    /// Whether the output's metadata names this program and its settings.
    pub has_provenance: bool,
    /// Whether to print what would be done and do nothing; and whether as JSON.
    pub dry_run: Option<bool>,
    pub limits: RunLimits,
    pub sandbox: Sandbox,
    pub stderr: StderrOptions,
    /// How many processes work on pieces of the video; `None` if it is not split.
    pub jobs: Option<Jobs>,
    /// What to do with a video that needs no correction.
    pub unchanged: Unchanged,
}

impl FileJob {
    /// Checks and converts `args`.
    pub fn from_args(args: FileArgs) -> Result<Self, clap::Error> {
        let (keeps_images, unchanged, is_in_folder) = (args.many.keep_images, args.many.unchanged, args.many.made_up);
        let without_links = args.many.no_links;
        if args.json && !args.dry_run {
            let message = "--json goes with --dry-run and with --version (--progress json tells of a run)";
            return Err(usage(ErrorKind::MissingRequiredArgument, message));
        }
        let (input, output, jobs, is_child) = match args.many {
            ManyArgs { one_of: Some(one), .. } => {
                let mut names = one.into_iter();
                (names.next(), names.next(), None, true)
            }
            ManyArgs { output_dir: Some(_), .. } => {
                return Err(usage(ErrorKind::ArgumentConflict, "--output-dir is for many files"));
            }
            ManyArgs { more, .. } if !more.is_empty() => {
                let message = format!(
                    "{} is one name too many: there is one INPUT and one OUTPUT (--output-dir DIR takes many inputs \
                     and writes each into a folder; compare takes two inputs)",
                    more[0]
                );
                return Err(usage(ErrorKind::UnknownArgument, &message));
            }
            ManyArgs { jobs, .. } => (args.input, args.output, jobs, false),
        };
        let Some(input) = input else {
            return Err(usage(ErrorKind::MissingRequiredArgument, "an input is required"));
        };
        if input.is_empty() || output.as_ref().is_some_and(Name::is_empty) {
            return Err(usage(ErrorKind::ValueValidation, "the name of the input or the output is empty"));
        }
        let input = input_name(input);
        let is_free = args.input_kind.format.is_none();
        if is_free && is_live(&input, output.is_some() || args.output_options.output_format.is_some()) {
            let word = without_password(&input).quoted();
            let message =
                format!("{word} is live: histeq-video live {word} shows it, and records it with --record FILE");
            return Err(usage(ErrorKind::ValueValidation, &message));
        }
        if let Some(folder) = output.as_ref().filter(|name| name.bytes().ends_with(b"/") && !is_url(name))
            && !folder.path().exists()
        {
            let word = folder.quoted();
            let message =
                format!("{folder}: there is no such folder (--output-dir {word} makes it, and writes into it)");
            return Err(usage(ErrorKind::ValueValidation, &message));
        }
        let folder = if is_free { sequence::image_pattern(&input)? } else { None };
        let named_folder = folder.is_some().then(|| input.clone());
        let makes_folder = named_folder.is_some() && output.is_none();
        let is_nowhere = args.output_options.output_format.as_deref() == Some("null");
        let is_made_up = (output.is_none() || is_in_folder) && !is_nowhere;
        let input = folder.unwrap_or(input);
        let output = match output {
            Some(output) => output_name(output),
            None => beside(&input, named_folder, args.purpose.purpose, args.output_options.output_format.as_deref())?,
        };
        let from_stdin = input == "-";
        // In a child process, an image is not the first of a sequence: the parent names each image.
        let may_begin = is_free && !is_child;
        let format = args.output_options.output_format.as_deref();
        let begun = if may_begin { sequence::begun_by(&input, &output, format) } else { None };
        let (input, named) = match begun {
            Some(pattern) => (pattern, Some(input)),
            None => (input, None),
        };
        let mut equalize = EqualizeOptions::for_file(args.equalize, args.equalized, &input)?;
        equalize.options.gray |= args.palette.palette.is_some();
        let purpose = args.purpose.purpose;
        let mut output = args.output_options.file(output, from_stdin);
        if keeps_images {
            output.overwrite = Overwrite::Keep;
        }
        (output.makes_folder, output.is_made_up) = (makes_folder, is_made_up);
        let unchanged = unchanged_of(unchanged, &input, &output.name, jobs, equalize.options.gray)?;
        args.purpose.apply(&mut output, &mut equalize.options.output_depth)?;
        // Not for NVDEC, which needs the GPU at once, nor for --verify, which checks its frames.
        let cpu_may_begin = args.decoder.kind != DecoderArg::Nvdec && !args.verify;
        if output.most_bytes.is_some() {
            check_size(&output, &input, equalize.options.has_whole_scenes())?;
        }
        let mut backend = args.device.choice(cpu_may_begin);
        let stats = stats(args.stats, &output.name)?;
        let is_of_curves = |name: &Name| equalize.save_curves.as_ref() == Some(name);
        if is_of_curves(&output.name) || stats.iter().any(|(name, _)| is_of_curves(name)) {
            let message = "--save-curves, --stats and the output are files of their own, with names of their own";
            return Err(usage(ErrorKind::ArgumentConflict, message));
        }
        let (format, raw) = args.input_kind.check()?;
        let mut input = InputOptions {
            url: input,
            format,
            raw,
            video_stream: args.video_stream,
            part: args.part.part()?,
            reading: Reading::Decoded,
            to_sdr: purpose == Some(Purpose::Web),
            // NVDEC conceals damage without a report: only on request.
            decode_on: args.decoder.kind.on(args.device.gpu),
            decoders: args.decoder.count.into(),
            isolation: Isolation::Off,
            without_links,
            named,
            limits: Limits::default(),
        };
        let has_filters = args.filters.filter.is_some() || args.filters.lut.is_some() || args.filter_after.is_some();
        let sandbox = args.sandbox.check([&mut input], &output)?.with(&mut backend, has_filters)?;
        let chains = [&args.filters.filter, &args.filter_after];
        if !sandbox.is_off() && chains.into_iter().flatten().any(|chain| takes_commands(chain)) {
            let message = "the filter zmq takes commands from the network, which no wall allows (use --sandbox off)";
            return Err(usage(ErrorKind::ArgumentConflict, message));
        }
        Ok(FileJob {
            input,
            output,
            purpose,
            stats,
            filters: args.filters,
            palette: args.palette,
            filter_after: args.filter_after,
            equalize,
            backend,
            verify: args.verify,
            has_provenance: !args.no_provenance,
            dry_run: args.dry_run.then_some(args.json),
            limits: args.limits.check()?,
            sandbox,
            stderr: StderrOptions { is_child, ..args.stderr.into() },
            jobs,
            unchanged,
        })
    }

    /// Names of all files that the run writes.
    pub fn written_files(&self) -> impl Iterator<Item = &Name> {
        let stats = self.stats.iter().map(|(name, _)| name);
        [&self.output.name].into_iter().chain(&self.equalize.save_curves).chain(stats)
    }

    /// Names of all files that the run reads beside its input.
    pub fn read_files(&self) -> impl Iterator<Item = &Name> {
        self.equalize.read_files().chain(&self.filters.lut)
    }
}

/// Whether an input of this name is one for `live`: a camera, or a stream without an output.
fn is_live(input: &Name, has_output: bool) -> bool {
    let is_stream = input.text().and_then(network_format).is_some();
    input.bytes().starts_with(b"/dev/video") || is_stream && !has_output
}

/// Checks that `--target-size` is possible with this input and output.
fn check_size(output: &OutputFile, input: &Name, has_whole_scenes: bool) -> Result<(), clap::Error> {
    let name = &output.name;
    let why = if is_pipe(input) || is_url(input) {
        "an input that can be read twice: a file"
    } else if has_whole_scenes {
        "--smooth with a number of seconds"
    } else {
        match OutputKind::for_name(name, output.options.format.as_deref()) {
            OutputKind::File if *name != "-" && !is_url(name) => return Ok(()),
            OutputKind::Segments if !is_url(name) => "an output that is one file",
            _ => "an output that is one file of encoded video",
        }
    };
    Err(usage(ErrorKind::ArgumentConflict, &format!("--target-size needs {why}")))
}

/// Checks `--unchanged`: what to do with an input that needs no correction. Numbered images are always written.
fn unchanged_of(
    unchanged: Unchanged,
    input: &Name,
    output: &Name,
    jobs: Option<Jobs>,
    gray: bool,
) -> Result<Unchanged, clap::Error> {
    if unchanged == Unchanged::Encode || is_sequence_name(output) {
        return Ok(Unchanged::Encode);
    }
    let conflict = |why: &str| Err(usage(ErrorKind::ArgumentConflict, &format!("--unchanged {unchanged} {why}")));
    let end = |name: &Name| name.path().extension().map(|extension| extension.to_ascii_lowercase());
    if gray {
        return conflict("cannot be used with --set gray");
    }
    if jobs.is_some() {
        return conflict("does not go with --jobs: a piece does not know the others");
    }
    if is_pipe(input) || is_url(input) || is_pipe(output) || is_url(output) {
        return conflict("is for files");
    }
    if unchanged == Unchanged::Copy && end(input) != end(output) {
        return conflict("needs an output whose name ends as that of the input: its bytes are the same");
    }
    Ok(unchanged)
}

/// The default name of an output: `clip-equalized.mp4` for `clip.mp4`, in its folder. For a folder of images, it lies
/// beside the folder: `scans-equalized/%03d.tif`, or a film, `scans-equalized.mp4`.
fn beside(
    input: &Name,
    folder: Option<Name>,
    purpose: Option<Purpose>,
    format: Option<&str>,
) -> Result<Name, clap::Error> {
    if format == Some("null") {
        return Ok("null".into());
    }
    if is_pipe(input) || is_url(input) || format.is_some() {
        let message = "an output is required, unless the input is a file and decides its container";
        return Err(usage(ErrorKind::MissingRequiredArgument, message));
    }
    let path = input.path();
    let has_container = |extension: &&str| Container::guess(None, format!("a.{extension}")).is_some();
    let suffix = path.extension().and_then(OsStr::to_str).filter(has_container);
    let extension = purpose.map(Purpose::extension).or(suffix).unwrap_or("mkv");
    let end = Name::from_parts([&"-equalized.", &extension]);
    if let Some(folder) = folder {
        // The path `.` has no file name, but its absolute form has.
        let whole = if folder.path().file_name().is_some() {
            folder.path().to_owned()
        } else {
            folder.path().canonicalize().map_err(|error| usage(ErrorKind::Io, &format!("{folder}: {error}")))?
        };
        let Some(name) = whole.file_name() else {
            return Err(usage(
                ErrorKind::MissingRequiredArgument,
                "an output is required: nothing is beside this folder",
            ));
        };
        return Ok(match purpose {
            Some(_) => whole.with_file_name(name_of(&name.into(), &end)).into(),
            None => {
                let file = path.file_name().unwrap_or_default();
                whole.with_file_name(name_of(&name.into(), &"-equalized".into())).join(file).into()
            }
        });
    }
    let mut stem = path.file_stem().unwrap_or_default().as_bytes().to_vec();
    // An existing file is one image, even with % in its name, and so is its output.
    if path.is_file() && number_pattern(input).is_some() {
        stem.iter_mut().filter(|byte| **byte == b'%').for_each(|byte| *byte = b'_');
    }
    Ok(path.with_file_name(name_of(&Name::from_bytes(stem), &end)).into())
}

fn stats(names: Vec<Name>, output: &Name) -> Result<Vec<(Name, StatsFormat)>, clap::Error> {
    let mut stats: Vec<(Name, StatsFormat)> = Vec::new();
    for name in names {
        if name == *output {
            return Err(usage(ErrorKind::ArgumentConflict, "--stats and the output are two files, with two names"));
        }
        if stats.iter().any(|(other, _)| *other == name) {
            return Err(usage(ErrorKind::ArgumentConflict, &format!("--stats names {name} twice")));
        }
        let Some(format) = StatsFormat::for_name(&name) else {
            let is_archive = name.path().extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npz"));
            let way = match is_archive {
                true => " (count histograms in the frames of ffmpeg -i VIDEO -vf extractplanes=y -f rawvideo -)",
                false => "",
            };
            let message = format!("--stats is a file .csv, .jsonl or .html, or - for stdout, not {name}{way}");
            return Err(usage(ErrorKind::ValueValidation, &message));
        };
        stats.push((name, format));
    }
    Ok(stats)
}
