//! What is asked for of an equalizer, until its first frame.

use super::choosing::Choosing;
use super::{Done, Equalizer, Input, SceneSurvey, Scenes, State};
use crate::equalize::{Backend, BackendChoice, BackendStartup, Mask, Survey};
use crate::frame::{Frame, FrameError, HostPool, Matrix, Model, PixelFormat, Plane, Pool, Range};
use crate::note::{Note, Notes};
use crate::options::{Options, Resolved, Video};
use crate::spec::{Look, Settings};
use crate::{Error, Result};
use std::collections::VecDeque;
use std::sync::Arc;

/// Builds an [`Equalizer`]. What is not set is as for the program: look natural, YUV of limited range and gray of full range,
/// the matrix of BT.601, frames that may wait for later ones, on a GPU if there is one.
#[derive(Clone)]
pub struct Builder {
    picture: Picture,
    video: Video,
    options: Options,
    choice: BackendChoice,
    scenes: Option<Scenes>,
    notes: Notes,
    stays_on_gpu: bool,
}

/// The pictures that go in.
#[derive(Clone)]
pub(super) struct Picture {
    format: PixelFormat,
    size: (usize, usize),
    range: Range,
    matrix: Matrix,
    is_hdr: bool,
    pub mask: Option<Arc<Mask>>,
    host: HostPool,
}

impl Picture {
    /// A frame with a copy of the bytes of `input`, as far as `pool` is for them in memory of that.
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
        let mut frame = self.of_planes(input.copied(self.kind(), &self.host, pool)?)?;
        frame.pts = input.pts();
        Ok(frame)
    }

    /// A frame of these planes.
    pub fn of_planes(&self, planes: Vec<Plane>) -> Result<Frame> {
        let mut frame = Frame::new(self.format, self.size, self.range, self.matrix, planes)?;
        frame.is_hdr = self.is_hdr;
        Ok(frame)
    }

    /// Format and size.
    pub fn kind(&self) -> (PixelFormat, (usize, usize)) {
        (self.format, self.size)
    }
}

/// Checks that options go together, and with a mask and scenes that were found, if there are any.
pub(super) fn check(options: &Options, has_mask: bool, has_scenes: bool) -> Result<()> {
    options.check()?;
    if has_mask && options.is_clahe() {
        return Err(Error::MaskedTiles);
    }
    if options.has_whole_scenes() != has_scenes { Err(Error::NoScenes) } else { Ok(()) }
}

/// The settings for a video; what is to be said of them is noted.
pub(super) fn resolved(options: &Options, video: &Video, notes: &Notes) -> Result<Settings> {
    let Resolved { settings, notes: said } = options.resolve(video)?;
    said.iter().for_each(|note: &Note| notes.send(note));
    Ok(settings)
}

impl Builder {
    pub(super) fn new(format: PixelFormat, size: (usize, usize)) -> Self {
        let picture = Picture {
            format,
            size,
            range: if format.descriptor().model == Model::Yuv { Range::Limited } else { Range::Full },
            matrix: Matrix::Bt601,
            is_hdr: false,
            mask: None,
            host: HostPool::default(),
        };
        Builder {
            picture,
            video: Video::new(format, size),
            options: Options::default(),
            choice: BackendChoice::default(),
            scenes: None,
            notes: Notes::default(),
            stays_on_gpu: false,
        }
    }

    /// The preset.
    #[must_use]
    pub fn look(mut self, look: Look) -> Self {
        self.options.look = look;
        self
    }

    /// The share of the equalization to apply, 0 to 1, in place of the look's.
    ///
    /// # Errors
    /// When it is out of range.
    pub fn strength(self, share: f64) -> Result<Self> {
        self.set("strength", &share.to_string())
    }

    /// Sets the option `name` of [`OPTIONS`](crate::options::OPTIONS) to what `text` stands for: `("max-gain", "1.5")`.
    ///
    /// # Errors
    /// When there is no such option, or `text` is none of its values.
    pub fn set(mut self, name: &str, text: &str) -> Result<Self> {
        self.options.set(name, text)?;
        Ok(self)
    }

    /// All options at once.
    #[must_use]
    pub fn options(self, options: Options) -> Self {
        Builder { options, ..self }
    }

    /// Frames a second, on which the lengths of temporal windows depend; 25 if it is not set.
    #[must_use]
    pub fn rate(mut self, rate: f64) -> Self {
        self.video.rate = Some(rate);
        self
    }

    /// The range of luma codes of YUV (limited unless it is set) and gray pictures (full). RGB has full range.
    #[must_use]
    pub fn range(mut self, range: Range) -> Self {
        self.picture.range = range;
        self
    }

    /// The matrix between RGB and YUV.
    #[must_use]
    pub fn matrix(mut self, matrix: Matrix) -> Self {
        self.picture.matrix = matrix;
        self
    }

    /// The codes mean absolute brightness: HDR by PQ or HLG.
    #[must_use]
    pub fn hdr(mut self) -> Self {
        self.picture.is_hdr = true;
        self
    }

    /// Frames come as they are filmed: by default none waits for later ones.
    #[must_use]
    pub fn live(mut self) -> Self {
        self.video.is_stored = false;
        self
    }

    /// Where to equalize.
    #[must_use]
    pub fn backend(mut self, backend: Backend) -> Self {
        self.choice.backend = backend;
        self
    }

    /// The GPU to use, counted from 0.
    #[must_use]
    pub fn gpu(mut self, index: usize) -> Self {
        self.choice.gpu = index;
        self
    }

    /// Threads of the CPU backend; by default one for each core, at most 8.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.choice.threads = Some(threads);
        self
    }

    /// Leaves results in memory of the GPU, for [`Output::copy_to_device`](super::Output::copy_to_device). Each comes down when
    /// it is read on the host. Without effect where the CPU equalizes.
    #[must_use]
    pub fn stay_on_gpu(mut self) -> Self {
        self.stays_on_gpu = true;
        self
    }

    /// Counts each pixel by its weight, 0 to 255: a weight for each, row by row from the top.
    ///
    /// # Errors
    /// When there are not as many weights as pixels, or all are 0.
    pub fn mask(mut self, weights: &[u8]) -> Result<Self> {
        let mask = Mask::new(self.picture.size, weights.to_vec()).ok_or(Error::NoMask { size: self.picture.size })?;
        self.picture.mask = Some(Arc::new(mask));
        Ok(self)
    }

    /// Gives each frame the curve of its scene, with `--smooth scene`: a [`survey`](Builder::survey) has found them.
    #[must_use]
    pub fn scenes(self, scenes: &Scenes) -> Self {
        Builder { scenes: Some(scenes.clone()), ..self }
    }

    /// Calls `tell` with what a caller may not expect: the CPU works in place of a GPU, an option has another value than the
    /// look's.
    #[must_use]
    pub fn on_note(self, tell: impl Fn(&Note) + Send + Sync + 'static) -> Self {
        Builder { notes: Notes::new(tell), ..self }
    }

    /// Opens the backend. Without a GPU the CPU equalizes, unless a GPU was chosen; so it does after a failure of the GPU, with
    /// a note.
    ///
    /// # Errors
    /// When options do not go together, or the chosen backend is missing.
    pub fn build(self) -> Result<Equalizer> {
        check(&self.options, self.picture.mask.is_some(), self.scenes.is_some())?;
        let (width, height) = self.picture.size;
        if width == 0 || height == 0 {
            return Err(FrameError::Empty { width, height }.into());
        }
        let backend = BackendStartup::begin(self.choice).open(&self.notes)?;
        let Builder { picture, video, options, scenes, notes, stays_on_gpu, .. } = self;
        let state = State::Choosing(Choosing::new(video, picture.mask.clone()));
        let is_open = options.look_is_open();
        let done = Done { outputs: VecDeque::new(), number: 0, gpu: backend.gpu().cloned() };
        let mut equalizer = Equalizer { picture, options, video, backend, scenes, notes, stays_on_gpu, state, done };
        if !is_open {
            let settings = resolved(&equalizer.options, &equalizer.video, &equalizer.notes)?;
            equalizer.state = State::Running(equalizer.stage(settings)?, settings);
        }
        Ok(equalizer)
    }

    /// Finds the scenes of a video, for [`scenes`](Builder::scenes): each gets one curve, whichever of its frames is asked for
    /// in which order.
    ///
    /// # Errors
    /// When options do not go together, `--smooth` is not `scene`, or the look is to be decided by the first frames.
    pub fn survey(&self) -> Result<SceneSurvey> {
        check(&self.options, self.picture.mask.is_some(), true)?;
        if self.options.look_is_open() {
            return Err(Error::LookIsOpen);
        }
        let settings = resolved(&self.options, &self.video, &self.notes)?;
        let Options { gray, output_depth, .. } = self.options;
        let survey = Survey::new(settings, gray, output_depth, self.picture.mask.clone());
        Ok(SceneSurvey::new(survey, self.picture.clone()))
    }
}
