//! The configuration of an equalizer.

use super::{DoneFrames, Equalizer, Input, SceneSurvey, Scenes};
use crate::equalize::backend::{Backend, BackendChoice, BackendStartup, SharedBackend};
use crate::equalize::counting::Mask;
use crate::equalize::{EqualizeStage, Executor, SceneMappings, Survey};
use crate::frame::{Frame, FrameError, HostPool, Limits, Matrix, Model, PixelFormat, Plane, Pool, Range, Transfer};
use crate::note::{Note, Notes};
use crate::options::{OptionInfo, OptionValue, Options, Resolved, Video, with_option_setters};
use crate::spec::parameters::{Chroma, Effort, Look, MethodName, Named, OutputDepth, Settings, setters};
use crate::{Error, Result};
use std::collections::VecDeque;
use std::sync::Arc;

/// Builds an [`Equalizer`]. Its defaults are those of the program: the look natural, YUV of limited range and gray of
/// full range, the [usual matrix](Matrix::usual), frames that may wait for later ones, and a GPU if there is one.
#[derive(Clone)]
pub struct Builder {
    pub(super) picture: InputFormat,
    video: Video,
    pub(super) options: Options,
    choice: BackendChoice,
    executor: Option<Arc<MakeExecutor>>,
    pub(super) scenes: Option<Scenes>,
    notes: Notes,
    stays_on_gpu: bool,
}

/// The largest number of threads that [`Builder::described`] accepts.
const MAX_THREADS: usize = 1024;

type MakeExecutor = dyn Fn() -> Box<dyn Executor> + Send + Sync;

/// The properties of input frames.
#[derive(Clone)]
pub(super) struct InputFormat {
    format: PixelFormat,
    size: (usize, usize),
    range: Range,
    matrix: Option<Matrix>,
    transfer: Transfer,
    pub mask: Option<Arc<Mask>>,
    host: HostPool,
}

impl InputFormat {
    /// A frame with a copy of the bytes of `input`, where possible in memory of `pool`. A shared frame is not copied.
    pub fn frame(&self, input: &Input<'_>, pool: Option<&dyn Pool>) -> Result<Frame> {
        if let Some(frame) = input.shared() {
            let (width, height) = self.size;
            if (frame.format(), frame.width(), frame.height()) != (self.format, width, height) {
                let (found, size) = (frame.format(), (frame.width(), frame.height()));
                return Err(Error::OtherPicture { expected: self.format, wanted: self.size, found, size });
            }
            let mut frame = frame.clone();
            frame.pts = input.pts();
            return Ok(frame);
        }
        let mut frame = self.frame_from_planes(input.copied(self.kind(), &self.host, pool)?)?;
        frame.pts = input.pts();
        Ok(frame)
    }

    /// A frame of these planes.
    pub fn frame_from_planes(&self, planes: Vec<Plane>) -> Result<Frame> {
        let usual = Matrix::usual(self.format.descriptor().model, self.size);
        let mut frame = Frame::new(self.format, self.size, self.range, self.matrix.unwrap_or(usual), planes)?;
        frame.transfer = self.transfer;
        Ok(frame)
    }

    /// Format and size.
    pub fn kind(&self) -> (PixelFormat, (usize, usize)) {
        (self.format, self.size)
    }
}

impl Builder {
    pub(super) fn new(format: PixelFormat, size: (usize, usize)) -> Self {
        let picture = InputFormat {
            format,
            size,
            range: if format.descriptor().model == Model::Yuv { Range::Limited } else { Range::Full },
            matrix: None,
            transfer: Transfer::Sdr,
            mask: None,
            host: HostPool::default(),
        };
        Builder {
            picture,
            video: Video::new(format, size),
            options: Options::default(),
            choice: BackendChoice::default(),
            executor: None,
            scenes: None,
            notes: Notes::default(),
            stays_on_gpu: false,
        }
    }

    /// Sets the option `name` of [`OPTIONS`](crate::options::OPTIONS) to the value `text`: `("max-gain", "1.5")`.
    ///
    /// # Errors
    /// When there is no such option, or `text` is none of its values.
    pub fn set(mut self, name: &str, text: &str) -> Result<Self> {
        self.options.set(name, text)?;
        Ok(self)
    }

    /// The value that an option has in this video: that which was set, or else the look's. `None` where it has no
    /// effect, or options exclude each other. Times are in frames.
    pub fn value(&self, option: &OptionInfo) -> Option<OptionValue> {
        let resolved = self.options.resolve(&self.video).ok()?;
        option.report(&self.options, &resolved.settings)
    }

    /// The names that [`described`](Builder::described) accepts.
    pub const DESCRIBED: [&str; 8] = ["rate", "range", "matrix", "transfer", "live", "backend", "gpu", "threads"];

    /// Sets a property of the video by its name: `rate` (frames a second), `range`, `matrix`, `transfer`, or `live`
    /// (`true` or `false`); or one of the backend: `backend`, `gpu`, or `threads` (0 to 1024). `None` when there is no
    /// such name, or no such value.
    pub fn described(self, name: &str, value: &str) -> Option<Self> {
        match name {
            "rate" => {
                let rate = value.parse().ok().filter(|rate: &f64| rate.is_finite() && *rate > 0.0);
                rate.map(|rate| self.rate(rate))
            }
            "range" => Range::from_name(value).map(|range| self.range(range)),
            "matrix" => Matrix::from_name(value).map(|matrix| self.matrix(matrix)),
            "transfer" => Transfer::from_name(value).map(|transfer| self.transfer(transfer)),
            "live" => match value {
                "true" => Some(self.live()),
                "false" => Some(self.stored()),
                _ => None,
            },
            "backend" => Backend::from_name(value).map(|backend| self.backend(backend)),
            "gpu" => value.parse().ok().map(|gpu| self.gpu(gpu)),
            "threads" => {
                let threads = value.parse().ok().filter(|threads| *threads <= MAX_THREADS);
                threads.map(|threads| self.threads(threads))
            }
            _ => None,
        }
    }

    setters! {
        /// Sets all options at once.
        pub fn options(options: Options) => options = options;

        /// Sets the frames per second, on which the lengths of temporal windows depend; 25 by default.
        pub fn rate(rate: f64) => video.rate = Some(rate);

        /// Sets the range of luma codes of YUV (limited by default) and gray frames (full by default). RGB has full
        /// range.
        pub fn range(range: Range) => picture.range = range;

        /// Sets the matrix between RGB and YUV; the [usual one](Matrix::usual) by default.
        pub fn matrix(matrix: Matrix) => picture.matrix = Some(matrix);

        /// Sets the transfer function of the codes: SDR (default), or HDR by PQ or HLG.
        pub fn transfer(transfer: Transfer) => picture.transfer = transfer;

        /// Frames arrive as they are filmed: by default no frame waits for later ones.
        pub fn live() => video.is_stored = false;

        /// All frames exist already, as in a file (the default): the opposite of [`live`](Builder::live).
        pub fn stored() => video.is_stored = true;

        /// Sets where to equalize.
        pub fn backend(backend: Backend) => choice.backend = backend;

        /// Sets the GPU to use, counted from 0.
        pub fn gpu(index: usize) => choice.gpu = index;

        /// Sets the number of threads of the CPU backend; by default one for each core, at most 8. With 0, or if the
        /// system refuses threads, all work is done on the thread of the caller.
        pub fn threads(threads: usize) => choice.threads = Some(threads);

        /// Leaves results in memory of the GPU, for [`Output::copy_to_device`](super::Output::copy_to_device). A result
        /// is copied to the host when it is read there. Without effect where the CPU equalizes.
        pub fn stay_on_gpu() => stays_on_gpu = true;

        /// Gives each frame the curve of its scene, with [`smooth_scene`](Builder::smooth_scene): a
        /// [`survey`](Builder::survey) has found the scenes.
        pub fn scenes(scenes: &Scenes) => scenes = Some(scenes.clone());
    }

    /// Equalizes with a caller's backend in place of [`backend`](Builder::backend): with
    /// [`Reference`](crate::equalize::backend::reference::Reference), or with a new backend that is compared with the
    /// reference. `make` makes a backend for each video.
    #[must_use]
    #[doc(hidden)]
    pub fn executor(mut self, make: impl Fn() -> Box<dyn Executor> + Send + Sync + 'static) -> Self {
        self.choice.backend = Backend::Cpu;
        self.executor = Some(Arc::new(make));
        self
    }

    /// Works within these limits: frames that the equalizer copies and makes count towards them, and they set the
    /// number of threads where [`threads`](Builder::threads) does not. By default, only the pixels of a frame are
    /// limited.
    #[must_use]
    pub fn limits(mut self, limits: &Limits) -> Self {
        self.picture.host = HostPool::new(limits);
        self.choice.limits = limits.clone();
        self
    }

    /// Counts each pixel by its weight, 0 to 255. `weights` are row by row from the top.
    ///
    /// # Errors
    /// When there are not as many weights as pixels, or all are 0.
    pub fn mask(mut self, weights: &[u8]) -> Result<Self> {
        let mask = Mask::new(self.picture.size, weights.to_vec()).ok_or(Error::NoMask { size: self.picture.size })?;
        self.picture.mask = Some(Arc::new(mask));
        Ok(self)
    }

    /// Calls `receive` with notes on what a caller may not expect: the CPU replaces a GPU, or options override the
    /// look.
    #[must_use]
    pub fn on_note(self, receive: impl Fn(&Note) + Send + Sync + 'static) -> Self {
        Builder { notes: Notes::new(receive), ..self }
    }

    /// Opens the backend. Without a GPU the CPU equalizes, unless a GPU was chosen. If a GPU fails
    /// later, the CPU continues, with a note.
    ///
    /// # Errors
    /// When options exclude each other, or the chosen backend is missing.
    pub fn build(self) -> Result<Equalizer> {
        let settings = self.settings(&self.options, self.scenes.is_some())?;
        let (width, height) = self.picture.size;
        if width == 0 || height == 0 {
            return Err(FrameError::Empty { width, height }.into());
        }
        let most = self.given_limits().pixels();
        if width.checked_mul(height).is_none_or(|pixels| pixels as u64 > most) {
            return Err(Error::TooLarge { size: self.picture.size, most });
        }
        let backend = BackendStartup::begin(self.choice.clone()).open(&self.notes)?;
        let stage = self.stage(&backend, settings, 0)?;
        let done = DoneFrames { outputs: VecDeque::new(), number: 0, gpu: backend.gpu().cloned() };
        Ok(Equalizer { builder: self, backend, stage, settings, is_finished: false, done })
    }

    /// The settings that result from `options`. Checks that they suit the mask, and that scenes are known if and only
    /// if they are needed. Passes notes to the receiver.
    pub(super) fn settings(&self, options: &Options, has_scenes: bool) -> Result<Settings> {
        options.check()?;
        if self.picture.mask.is_some() && options.tiled_method().is_some() {
            return Err(Error::MaskedTiles);
        }
        if options.has_whole_scenes() != has_scenes {
            return Err(Error::NoScenes);
        }
        let Resolved { settings, notes } = options.resolve(&self.video)?;
        notes.iter().for_each(|note| self.notes.send(&note.with_prefix("")));
        Ok(settings)
    }

    pub(super) fn given_limits(&self) -> &Limits {
        &self.choice.limits
    }

    /// The requested number of threads, or one for each core.
    pub(super) fn own_threads(&self) -> usize {
        self.choice.threads.unwrap_or_else(|| self.given_limits().threads())
    }

    /// A stage that begins with frame `number`.
    pub(super) fn stage(&self, backend: &SharedBackend, settings: Settings, number: u64) -> Result<EqualizeStage> {
        let mappings = self.scenes.as_ref().map(|scenes| Box::new(SceneMappings(scenes.mapped.clone())) as _);
        let executor = match &self.executor {
            Some(make) => make(),
            None => backend.backend(&self.notes)?,
        };
        Ok(EqualizeStage::new(executor, settings)
            .within(self.given_limits())
            .gray(self.options.gray)
            .with_output_depth(self.options.output_depth)
            .with_mask(self.picture.mask.clone())
            .staying_on_device(self.stays_on_gpu)
            .from_frame(number)
            .denoising_on(self.own_threads())
            .with_mappings(mappings))
    }

    /// Finds the scenes of a video, for [`scenes`](Builder::scenes). Each scene gets one curve, so that its frames can
    /// be equalized in any order.
    ///
    /// # Errors
    /// When options exclude each other, or [`smooth_scene`](Builder::smooth_scene) is not one of them.
    pub fn survey(&self) -> Result<SceneSurvey> {
        let settings = self.settings(&self.options, true)?;
        let Options { gray, output_depth, .. } = self.options;
        let survey = Survey::new(settings, gray, output_depth, self.picture.mask.clone(), self.given_limits());
        Ok(SceneSurvey::new(survey, self.picture.clone()))
    }
}

macro_rules! implement {
    ($($(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),*) $(, when $error:literal)? => $set:expr;)*) => {
        /// The options, one by one. [`set`](Builder::set) sets them by their names.
        impl Builder {
            $(implement! { @one $(#[$doc])* fn $name($($argument: $type),*) $(, when $error)? })*
        }
    };
    (@one $(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),*), when $error:literal) => {
        $(#[$doc])*
        ///
        /// # Errors
        #[doc = $error]
        pub fn $name(self, $($argument: $type),*) -> Result<Self> {
            let options = self.options.$name($($argument),*)?;
            Ok(Builder { options, ..self })
        }
    };
    (@one $(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),*)) => {
        $(#[$doc])*
        #[must_use]
        pub fn $name(self, $($argument: $type),*) -> Self {
            let options = self.options.$name($($argument),*);
            Builder { options, ..self }
        }
    };
}
with_option_setters!(implement);
