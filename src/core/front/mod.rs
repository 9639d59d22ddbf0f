//! The interface for callers: [`Equalizer`] takes frames from a caller's memory, and gives them back equalized.
//!
//! ```text
//! Builder -> Options::resolve -> BackendStartup -> EqualizeStage
//! push: Input -> Frame (a copy) -> EqualizeStage -> Output -> the caller's memory
//! ```
//!
//! | file | what it is |
//! |---|---|
//! | `builder.rs` | the configuration of an equalizer |
//! | `input.rs` | a frame in the caller's memory |
//! | `output.rs` | an equalized frame |
//! | `device.rs` | frames in the memory of a GPU, in and out |
//! | `lazy.rs` | an equalizer that is opened with its first frame |
//! | `survey.rs` | the scenes of a video, found in a first pass |
//! | `any_order.rs` | frames in any order: a first pass decides what is applied to each |

mod any_order;
mod builder;
mod device;
mod input;
mod lazy;
mod output;
mod survey;

pub use any_order::{Decided, Mapper, Study};
pub use builder::Builder;
pub use input::{Input, PlaneInput};
pub use lazy::LazyEqualizer;
pub use output::{Output, PlaneOutput};
pub use survey::{SceneSurvey, Scenes};

use crate::cuda::Gpu;
use crate::equalize::EqualizeStage;
use crate::equalize::backend::SharedBackend;
use crate::frame::{Frame, PixelFormat};
use crate::options::Options;
use crate::spec::parameters::{Look, Settings};
use crate::{Error, Result};
use input::packed_bytes;
use std::collections::VecDeque;
use std::sync::Arc;

/// Equalizes a video. Gives the same bytes as the program with the same options.
///
/// Several frames are processed at once, and with a look-ahead the newest frames wait for later ones, so a frame comes
/// out some calls after it went in. All frames come out, in order.
pub struct Equalizer {
    builder: Builder,
    backend: SharedBackend,
    stage: EqualizeStage,
    settings: Settings,
    /// Whether [`Equalizer::finish`] was called: no frame may be pushed any more.
    is_finished: bool,
    done: DoneFrames,
}

struct DoneFrames {
    outputs: VecDeque<Output>,
    /// The number of the frame that is added to `outputs` next.
    number: u64,
    gpu: Option<Arc<Gpu>>,
}

/// How many frames around a frame its result depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// Frames before the frame.
    pub before: u32,
    /// Frames after the frame.
    pub behind: u32,
}

impl Equalizer {
    /// A builder of an equalizer for frames of this format and of `width` x `height` pixels.
    pub fn builder(format: PixelFormat, width: usize, height: usize) -> Builder {
        Builder::new(format, (width, height))
    }

    /// Adds a copy of a frame. Once the backend works on as many frames as it can, this also returns the oldest
    /// finished frame. [`collect`](Equalizer::collect) waits for frames that are not finished.
    ///
    /// # Errors
    /// When the input does not have the bytes of such a frame, the backend fails, or the video has ended. Also where
    /// the [`Limits`](crate::Limits) leave no room ([`ErrorKind::Limit`](crate::ErrorKind::Limit)): the frame is not
    /// taken, and the equalizer stays usable. Drop outputs and push again; where all frames in use wait for later ones,
    /// only [`finish`](Equalizer::finish) or [`restart`](Equalizer::restart) makes room.
    pub fn push<'a>(&mut self, input: impl Into<Input<'a>>) -> Result<Option<Output>> {
        self.make_room()?;
        let frame = self.frame(&input.into())?;
        self.submit(frame)
    }

    /// Collects as many frames as needed for the stage to take another one. To be called before that is copied: the
    /// copy reuses the memory of a frame that is done.
    fn make_room(&mut self) -> Result<()> {
        if self.is_finished {
            return Err(Error::Finished);
        }
        while !self.stage.has_room() && self.done.collect(&mut self.stage)? {}
        // Memory for the copy is checked when it is allocated. Where it is reused, the result still needs some.
        let (format, size) = self.builder.picture.kind();
        Ok(self.builder.given_limits().check_result(packed_bytes(format, size))?)
    }

    fn submit(&mut self, frame: Frame) -> Result<Option<Output>> {
        self.stage.submit(frame)?;
        Ok(self.done.outputs.pop_front())
    }

    /// The oldest frame that needs no later one, waiting until it is done; `None` if all frames that went in have come
    /// out, or wait for later ones. For callers who need each frame at once: a camera, with [`Builder::live`].
    ///
    /// # Errors
    /// When the backend fails.
    pub fn collect(&mut self) -> Result<Option<Output>> {
        if self.done.outputs.is_empty() {
            self.done.collect(&mut self.stage)?;
        }
        Ok(self.done.outputs.pop_front())
    }

    /// Ends the video: the iterator returns the remaining frames, also those that waited for later ones.
    ///
    /// # Errors
    /// When the backend fails; so may each frame.
    pub fn finish(&mut self) -> Result<impl Iterator<Item = Result<Output>> + '_> {
        if !self.is_finished {
            self.stage.finish()?;
            self.is_finished = true;
        }
        Ok(std::iter::from_fn(|| self.collect().transpose()))
    }

    /// Begins another video, or another part of this one, whose next frame has this number. Earlier frames
    /// have no effect any more, and frames that have not come out are dropped.
    ///
    /// # Errors
    /// When the backend fails.
    pub fn restart(&mut self, number: u64) -> Result<()> {
        self.done.outputs.clear();
        self.done.number = number;
        self.stage = self.builder.stage(&self.backend, self.settings, number)?;
        self.is_finished = false;
        Ok(())
    }

    /// Adds a frame before the wanted ones: it is counted, and does not come out. If after
    /// [`restart`](Equalizer::restart) as many such frames go in as [`reach`](Equalizer::reach) returns, or all there
    /// are, the frames that follow have the same bytes as in a run over the whole video.
    ///
    /// # Errors
    /// As for [`push`](Equalizer::push).
    pub fn warm_up<'a>(&mut self, input: impl Into<Input<'a>>) -> Result<()> {
        let frame = self.frame(&input.into())?;
        if self.is_finished { Err(Error::Finished) } else { self.stage.warm_up(frame) }
    }

    /// How many frames before and after a frame its result depends on: none if [`Scenes`] were given.
    pub fn reach(&self) -> Reach {
        match self.builder.scenes {
            Some(_) => Reach::default(),
            None => Reach { before: self.settings.warm_up(), behind: self.settings.look_ahead() },
        }
    }

    /// Sets other options for the frames that are pushed from now on, as an operator does while a camera films. The
    /// options `gray` and `output_depth`, which decide on the format of the output, stay as they were built.
    ///
    /// # Errors
    /// As for [`Builder::build`]; the options then stay as they were.
    pub fn change(&mut self, options: &Options) -> Result<()> {
        let Options { gray, output_depth, .. } = self.builder.options;
        let options = Options { gray, output_depth, ..options.clone() };
        self.settings = self.builder.settings(&options, self.builder.scenes.is_some())?;
        self.builder.options = options;
        if !self.is_finished {
            self.stage.set(self.settings);
        }
        Ok(())
    }

    /// The options for the next frame.
    pub fn options(&self) -> &Options {
        &self.builder.options
    }

    /// The look.
    pub fn look(&self) -> Look {
        self.builder.options.look
    }

    /// The settings for the next frame.
    #[doc(hidden)]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The name of the backend: `cpu (avx512, 2 threads)`.
    pub fn backend_name(&self) -> String {
        self.stage.name()
    }

    /// A copy of the input in memory that the backend reads fast.
    fn frame(&self, input: &Input<'_>) -> Result<Frame> {
        self.builder.picture.frame(input, self.stage.input_pool().as_deref())
    }
}

impl DoneFrames {
    /// Moves the oldest frame that waits for no later one from the stage to `outputs`. Returns whether there was one.
    fn collect(&mut self, stage: &mut EqualizeStage) -> Result<bool> {
        let Some(equalized) = stage.collect()? else { return Ok(false) };
        self.outputs.push_back(Output::new(equalized, self.number, self.gpu.clone()));
        self.number += 1;
        Ok(true)
    }
}
