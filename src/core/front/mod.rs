//! What callers use: [`Equalizer`] takes frames from a caller's memory, and gives them back equalized.
//!
//! ```text
//! Builder -> Options::resolve -> BackendStartup -> EqualizeStage
//! push: Input -> Frame (a copy) -> EqualizeStage -> Output -> the caller's memory
//! ```
//!
//! | file | what it is |
//! |---|---|
//! | `builder.rs` | what is asked for, until the first frame |
//! | `input.rs` | a frame in the caller's memory |
//! | `output.rs` | an equalized frame |
//! | `device.rs` | frames in the memory of a GPU, in and out |
//! | `choosing.rs` | the look that is decided by the first frames |
//! | `survey.rs` | the scenes of a video, found in a pass of its own |

mod builder;
mod choosing;
mod device;
mod input;
mod output;
mod survey;

pub use builder::Builder;
pub use input::{Input, PlaneInput};
pub use output::{Output, PlaneOutput};
pub use survey::{SceneSurvey, Scenes};

use crate::cuda::Gpu;
use crate::equalize::{EqualizeStage, SceneMappings, SharedBackend};
use crate::frame::{Frame, PixelFormat};
use crate::note::Notes;
use crate::options::{Options, Video};
use crate::spec::{Look, Settings};
use crate::{Error, Result};
use builder::Picture;
use choosing::Choosing;
use std::collections::VecDeque;
use std::sync::Arc;

/// A video on its way through an equalizer: the bytes that come out are those of the program with the same options, but for
/// what the program's filters do before (the denoisers of the looks night and underwater).
///
/// Several frames are under way at once, and with a look-ahead the newest wait for later ones, so a frame comes out some calls
/// after it went in. All come out, in their order.
pub struct Equalizer {
    picture: Picture,
    options: Options,
    video: Video,
    backend: SharedBackend,
    scenes: Option<Scenes>,
    notes: Notes,
    /// Whether results stay on the GPU.
    stays_on_gpu: bool,
    state: State,
    done: Done,
}

/// Frames that have come out of the stage.
struct Done {
    outputs: VecDeque<Output>,
    /// The number of the next one.
    number: u64,
    gpu: Option<Arc<Gpu>>,
}

/// What becomes of a frame that goes in.
enum State {
    /// It is held until the look is decided.
    Choosing(Choosing),
    /// It is equalized.
    Running(Box<EqualizeStage>, Settings),
    /// It is too late: [`Equalizer::finish`] was called.
    Finished(Box<EqualizeStage>, Settings),
}

/// How many frames around a frame its result depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// Frames before it.
    pub before: u32,
    /// Frames behind it.
    pub behind: u32,
}

impl Equalizer {
    /// An equalizer for pictures of this format and of `width` x `height` pixels.
    pub fn builder(format: PixelFormat, width: usize, height: usize) -> Builder {
        Builder::new(format, (width, height))
    }

    /// Takes a frame in, of which it makes a copy, and returns the oldest one that is done, if as many are under way as the
    /// backend works on. [`collect`](Equalizer::collect) waits for those that are under way.
    ///
    /// # Errors
    /// When the input does not have the bytes of such a picture, the backend fails, or no frames are expected any more.
    pub fn push<'a>(&mut self, input: impl Into<Input<'a>>) -> Result<Option<Output>> {
        let frame = self.frame(&input.into())?;
        self.submit(frame)
    }

    fn submit(&mut self, frame: Frame) -> Result<Option<Output>> {
        match &mut self.state {
            State::Choosing(choosing) => {
                if choosing.hold(frame)? {
                    self.choose()?;
                }
            }
            State::Running(stage, _) => self.done.submit(stage, frame)?,
            State::Finished(..) => return Err(Error::Finished),
        }
        Ok(self.done.outputs.pop_front())
    }

    /// The oldest frame that needs no later one, waiting until it is done; `None` if all frames that went in have come out, or
    /// wait for later ones. For callers who need each frame at once: a camera, with [`Builder::live`].
    ///
    /// # Errors
    /// When the backend fails.
    pub fn collect(&mut self) -> Result<Option<Output>> {
        if self.done.outputs.is_empty()
            && let State::Running(stage, _) | State::Finished(stage, _) = &mut self.state
        {
            self.done.collect(stage)?;
        }
        Ok(self.done.outputs.pop_front())
    }

    /// Ends the video: the frames that are left come out of the iterator, also those that waited for later ones.
    ///
    /// # Errors
    /// When the backend fails; so may each frame.
    pub fn finish(&mut self) -> Result<impl Iterator<Item = Result<Output>> + '_> {
        if let State::Choosing(_) = self.state {
            self.choose()?;
        }
        if let State::Running(stage, _) = &mut self.state {
            stage.finish()?;
        }
        self.state = match std::mem::replace(&mut self.state, State::Choosing(Choosing::default())) {
            State::Running(stage, settings) | State::Finished(stage, settings) => State::Finished(stage, settings),
            choosing @ State::Choosing(_) => choosing,
        };
        Ok(std::iter::from_fn(|| self.collect().transpose()))
    }

    /// Begins another video, or another part of this one, whose next frame has this number. What was seen is forgotten, and
    /// what is under way is dropped; a look that the first frames decided stays.
    ///
    /// # Errors
    /// When the backend fails.
    pub fn restart(&mut self, number: u64) -> Result<()> {
        self.done.outputs.clear();
        self.done.number = number;
        self.state = match &self.state {
            State::Choosing(choosing) => State::Choosing(choosing.again()),
            State::Running(_, settings) | State::Finished(_, settings) => {
                State::Running(self.stage(*settings)?, *settings)
            }
        };
        Ok(())
    }

    /// Takes in a frame from before those that are wanted: it is counted, and does not come out. After
    /// [`restart`](Equalizer::restart), with as many frames as [`reach`](Equalizer::reach) says, or all there are, the frames
    /// that follow have the bytes that they have in the whole video.
    ///
    /// # Errors
    /// As for [`push`](Equalizer::push); and when the look is not decided.
    pub fn warm_up<'a>(&mut self, input: impl Into<Input<'a>>) -> Result<()> {
        let frame = self.frame(&input.into())?;
        match &mut self.state {
            State::Running(stage, _) => stage.warm_up(frame),
            State::Choosing(_) => Err(Error::LookIsOpen),
            State::Finished(..) => Err(Error::Finished),
        }
    }

    /// How many frames around a frame its result depends on: none if [`Scenes`] were given. `None` until the look is decided.
    pub fn reach(&self) -> Option<Reach> {
        if self.scenes.is_some() {
            return Some(Reach::default());
        }
        let settings = self.settings()?;
        Some(Reach { before: settings.warm_up(), behind: settings.look_ahead() })
    }

    /// Other options for the frames that are pushed from now on, as an operator changes them while a camera films. The options
    /// `gray` and `output_depth`, which decide on the format of the output, stay as they were built. [`Look::Auto`] is the look
    /// that was decided, if one was; frames that are held for the decision get the look that they decide.
    ///
    /// # Errors
    /// As for [`Builder::build`]; nothing has changed then.
    pub fn change(&mut self, options: &Options) -> Result<()> {
        let Options { gray, output_depth, look, .. } = self.options;
        let mut options = Options { gray, output_depth, ..options.clone() };
        builder::check(&options, self.picture.mask.is_some(), self.scenes.is_some())?;
        if options.look_is_open() {
            if let State::Choosing(_) = self.state {
                options.resolve(&self.video)?;
                self.options = options;
                return Ok(());
            }
            options.look = look;
        }
        let settings = builder::resolved(&options, &self.video, &self.notes)?;
        if let State::Choosing(choosing) = &self.state
            && !choosing.is_empty()
        {
            self.choose()?;
        }
        match &mut self.state {
            State::Choosing(_) => self.state = State::Running(self.stage(settings)?, settings),
            State::Running(stage, now) => {
                stage.set(settings);
                *now = settings;
            }
            State::Finished(_, next) => *next = settings,
        }
        self.options = options;
        Ok(())
    }

    /// The options that hold for the next frame, the look as it was decided.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The look; [`Look::Auto`] until it is decided.
    pub fn look(&self) -> Look {
        self.options.look
    }

    /// The settings that hold; `None` until the look is decided.
    pub fn settings(&self) -> Option<&Settings> {
        match &self.state {
            State::Choosing(_) => None,
            State::Running(_, settings) | State::Finished(_, settings) => Some(settings),
        }
    }

    /// What does the work: `cpu (avx512, 2 threads)`; empty until the look is decided.
    pub fn backend_name(&self) -> String {
        match &self.state {
            State::Choosing(_) => String::new(),
            State::Running(stage, _) | State::Finished(stage, _) => stage.name(),
        }
    }

    /// A copy of the input in memory that the backend reads fast.
    fn frame(&self, input: &Input<'_>) -> Result<Frame> {
        let pool = match &self.state {
            State::Running(stage, _) => stage.input_pool(),
            State::Choosing(_) | State::Finished(..) => None,
        };
        self.picture.frame(input, pool.as_deref())
    }

    /// Decides the look by the frames that are held, and equalizes those.
    fn choose(&mut self) -> Result<()> {
        let State::Choosing(choosing) = &mut self.state else { return Ok(()) };
        let (frames, reason) = choosing.choose(&mut self.options);
        self.notes.note(format!("--look auto: {reason}"));
        let settings = builder::resolved(&self.options, &self.video, &self.notes)?;
        let mut stage = self.stage(settings)?;
        for frame in frames {
            self.done.submit(&mut stage, frame)?;
        }
        self.state = State::Running(stage, settings);
        Ok(())
    }

    /// A stage that begins with the frame that comes next.
    fn stage(&self, settings: Settings) -> Result<Box<EqualizeStage>> {
        let backend = self.backend.backend(&self.notes)?;
        let stage = EqualizeStage::new(backend, settings)
            .gray(self.options.gray)
            .with_output_depth(self.options.output_depth)
            .with_mask(self.picture.mask.clone())
            .staying_on_device(self.stays_on_gpu)
            .from_frame(self.done.number);
        let mappings = self.scenes.as_ref().map(|scenes| Box::new(SceneMappings(scenes.mapped.clone())) as _);
        Ok(Box::new(stage.with_mappings(mappings)))
    }
}

impl Done {
    /// Submits a frame, after what has to come out first for that.
    fn submit(&mut self, stage: &mut EqualizeStage, frame: Frame) -> Result<()> {
        while !stage.has_room() {
            if !self.collect(stage)? {
                break;
            }
        }
        stage.submit(frame)
    }

    /// Takes the oldest frame out that needs no later one. Answers whether there was one.
    fn collect(&mut self, stage: &mut EqualizeStage) -> Result<bool> {
        let Some(equalized) = stage.collect()? else { return Ok(false) };
        self.outputs.push_back(Output::new(equalized, self.number, self.gpu.clone()));
        self.number += 1;
        Ok(true)
    }
}
