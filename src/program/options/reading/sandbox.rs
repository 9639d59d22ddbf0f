//! The option of the sandbox around decoding, and what the sandbox has to allow.

use crate::options::values::{named, usage};
use crate::options::writing::output::OutputFile;
use clap::Args;
use clap::error::ErrorKind;
use histeq::internal::cuda;
use histeq::internal::equalize::backend::{Backend, BackendChoice};
use histeq_media::ffmpeg::decode::DecodeOn;
use histeq_media::ffmpeg::demux::opens_more;
use histeq_media::ffmpeg::encode::Encoder;
use histeq_media::ffmpeg::is_url;
use histeq_media::ffmpeg::mux::Container;
use histeq_media::sandbox::{Places, ProcessWall};
use histeq_media::source::{InputOptions, Isolation};
use histeq_media::sys::files::Name;
use std::path::PathBuf;

/// The option, as typed.
#[derive(Args, Debug)]
pub struct SandboxArgs {
    /// Decode in a process of its own, and take from it and from the program what they do not need: files, network,
    /// other programs
    ///
    /// auto takes what the kernel can take and the run can do without. Devices, playlists and NVDEC are read by the
    /// program itself, and where a GPU is used, nothing is taken from the program. on takes it all, leaves a GPU alone,
    /// or is an error. off decodes in the program. docs/limits.md lists what is left.
    #[arg(long, value_parser = named::<Isolation>(), default_value_t = Isolation::Auto, value_name = "WHEN")]
    #[arg(help_heading = "Limits", hide_short_help = true)]
    pub sandbox: Isolation,
}

/// The sandbox of a run.
#[derive(Clone, Copy, Debug)]
pub struct Sandbox {
    when: Isolation,
    /// Whether a GPU driver is in use, which opens files, devices and sockets of its own.
    with_driver: bool,
    /// Whether filters and encoders may open files that options name.
    with_other_files: bool,
}

impl SandboxArgs {
    /// The sandbox of a run without a GPU that reads `inputs` and writes `output`. Sets the isolation of each input.
    pub(crate) fn check<'a>(
        self,
        inputs: impl IntoIterator<Item = &'a mut InputOptions>,
        output: &OutputFile,
    ) -> Result<Sandbox, clap::Error> {
        let (when, encoder) = (self.sandbox, &output.options.encoder);
        let is_required = when == Isolation::Required;
        let refuse = |name: &Name, what: &str| {
            let message = format!("--sandbox on: {name}: {what} (use --sandbox auto or off)");
            Err(usage(ErrorKind::ArgumentConflict, &message))
        };
        if is_required && is_url(&output.name) {
            return refuse(&output.name, "an output of this kind is a connection");
        }
        for input in inputs {
            match input.obstacle() {
                Some(what) if is_required => return refuse(&input.url, what),
                None => input.isolation = when,
                Some(_) => {}
            }
        }
        let named = encoder.encoder.as_deref().and_then(Encoder::find);
        let container = Container::guess(output.options.format.as_deref(), &output.name);
        Ok(Sandbox {
            when,
            with_driver: named.is_some_and(Encoder::is_hardware),
            with_other_files: !encoder.options.is_empty()
                || !output.options.container.is_empty()
                || container.is_some_and(Container::opens_more),
        })
    }
}

impl Sandbox {
    /// Whether there is no sandbox.
    pub fn is_off(self) -> bool {
        self.when == Isolation::Off
    }

    /// Adjusts the sandbox to a run on this backend, with filters if `has_filters`.
    pub(crate) fn with(mut self, backend: &mut BackendChoice, has_filters: bool) -> Result<Self, clap::Error> {
        self.with_other_files |= has_filters;
        if self.when == Isolation::Required {
            if backend.backend.needs_gpu() {
                let message = "--sandbox on: the driver of a GPU opens devices from all threads (use --backend cpu, or \
                     --sandbox auto)";
                return Err(usage(ErrorKind::ArgumentConflict, message));
            }
            backend.backend = Backend::Cpu;
        }
        let is_there = || !cuda::find_driver().is_err_and(|error| error.is_no_driver());
        if self.when == Isolation::Auto && backend.backend.may_use_gpu() && is_there() {
            self.with_driver = true;
        }
        Ok(self)
    }

    /// The wall, if any, around a process that reads `inputs`, and writes the files and folders `written`. `replaces`:
    /// some of these may exist already.
    pub fn around_process(
        self,
        inputs: &[&InputOptions],
        output: &Name,
        written: impl IntoIterator<Item = PathBuf>,
        replaces: bool,
    ) -> Option<ProcessWall> {
        let is_required = self.when == Isolation::Required;
        let is_isolated = |input: &&InputOptions| input.isolation != Isolation::Off;
        let network = is_url(output) || inputs.iter().any(|input| is_url(&input.url) && !is_isolated(input));
        let knows_places = is_required || inputs.iter().all(is_isolated) && !network && !self.with_other_files;
        let places = || Places {
            read: inputs.iter().flat_map(|input| input.readable()).collect(),
            written: written.into_iter().chain([PathBuf::from("/dev/null")]).collect(),
        };
        let has_wall =
            is_required || self.when == Isolation::Auto && !self.with_driver && !inputs.iter().any(is_device);
        has_wall.then(|| ProcessWall { places: knows_places.then(places), network, replaces, is_required })
    }
}

/// Whether an input is a device or decoded by NVDEC, whose libraries may open any file.
fn is_device(input: &&InputOptions) -> bool {
    input.format.as_deref().is_some_and(opens_more) || matches!(input.decode_on, DecodeOn::Nvdec(_))
}
