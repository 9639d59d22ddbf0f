//! Frames in any order: one pass over a video, or over a part of it and the frames around, decides what is applied to
//! each frame. Then any frame can be equalized, on any thread.

use super::builder::InputFormat;
use super::{Builder, Input, Reach};
use crate::Result;
use crate::equalize::{self, output_format};
use crate::frame::{Frame, PixelFormat};
use crate::options::OptionError;
use crate::spec::clahe::TileBins;
use crate::spec::parameters::{OutputDepth, Settings};

pub use crate::equalize::Decided;

/// The most threads on which frames are measured.
const MAX_THREADS: usize = 6;

/// A pass over a video that decides what is applied to each frame. Its memory does not grow with the video,
/// except with one curve for each scene, where it grows with the number of scenes and frames.
pub struct Study {
    pass: equalize::FrameStudy,
    builder: Builder,
    settings: Settings,
    number: u64,
}

/// Applies the decisions of a [`Study`] to frames, on the thread of the caller, with the same bytes as
/// [`Equalizer`](super::Equalizer). Denoising a frame takes longer the first time than later.
pub struct Mapper {
    mapper: equalize::FrameMapper,
    picture: InputFormat,
}

impl Builder {
    /// A pass that decides what is applied to frames. It does not support masks.
    ///
    /// # Errors
    /// When options exclude each other, or there is a mask.
    pub fn study(&self) -> Result<Study> {
        let settings = self.settings_in_any_order()?;
        Ok(Study { pass: self.pass(settings), builder: self.clone(), settings, number: 0 })
    }

    /// A mapper for frames on which a [`Study`] with the same options has decided. It works on the CPU, and each thread
    /// needs its own.
    ///
    /// # Errors
    /// As for [`study`](Builder::study).
    pub fn mapper(&self) -> Result<Mapper> {
        let settings = self.settings_in_any_order()?;
        let mapper =
            equalize::FrameMapper::new(settings, self.options.gray, self.options.output_depth, self.given_limits());
        Ok(Mapper { mapper, picture: self.picture.clone() })
    }

    /// The format of equalized frames: that of the input, unless `gray` or `output-depth` chose another one.
    ///
    /// # Errors
    /// When there is no such format.
    pub fn output_format(&self) -> Result<PixelFormat> {
        let (format, _) = self.picture.kind();
        output_format(format, self.options.gray, self.options.output_depth)
    }

    fn settings_in_any_order(&self) -> Result<Settings> {
        if self.picture.mask.is_some() {
            return Err(OptionError::invalid("a mask does not go with frames in any order".to_owned()).into());
        }
        self.settings(&self.options, self.options.has_whole_scenes())
    }

    fn pass(&self, settings: Settings) -> equalize::FrameStudy {
        let options = &self.options;
        // With a single thread, none is started: the caller's thread measures.
        let threads =
            Some(self.own_threads()).filter(|threads| *threads > 1).map_or(0, |threads| threads.min(MAX_THREADS));
        equalize::FrameStudy::new(
            settings,
            options.gray,
            options.output_depth,
            options.has_whole_scenes(),
            threads,
            self.given_limits(),
        )
    }
}

impl Study {
    /// How many frames before and after a frame its result depends on; `None` for all frames, with one curve for each
    /// scene.
    pub fn reach(&self) -> Option<Reach> {
        let windows = Reach { before: self.settings.warm_up(), behind: self.settings.look_ahead() };
        Some(windows).filter(|_| !self.builder.options.has_whole_scenes())
    }

    /// Discards all frames, and begins again with the frame of this number. The decision on a frame is the same as in
    /// the whole video if as many frames before it are pushed first as [`reach`](Study::reach) returns, or all there
    /// are.
    pub fn restart(&mut self, number: u64) {
        (self.pass, self.number) = (self.builder.pass(self.settings), number);
    }

    /// Adds the next frame.
    ///
    /// # Errors
    /// When the input does not have the bytes of such a frame, or the video has ended.
    pub fn push<'a>(&mut self, input: impl Into<Input<'a>>) -> Result<()> {
        self.pass.push(self.builder.picture.frame(&input.into(), None)?)
    }

    /// Ends the video: all remaining frames can be decided.
    ///
    /// # Errors
    /// As for [`push`](Study::push).
    pub fn finish(&mut self) -> Result<()> {
        self.pass.finish()
    }

    /// The next decision, in the order of the frames, with the number of its frame. Frames are measured on several
    /// threads; this waits for those that were pushed.
    ///
    /// # Errors
    /// As for [`push`](Study::push).
    pub fn decided(&mut self) -> Result<Option<(u64, Decided)>> {
        let Some(decided) = self.pass.decided()? else { return Ok(None) };
        self.number += 1;
        Ok(Some((self.number - 1, decided)))
    }

    /// An upper bound of the bytes of a [`Decided`], approximately.
    pub fn bytes_of_decided(&self) -> usize {
        let depth = self.builder.picture.kind().0.depth();
        let codes =
            1_usize << if self.builder.options.output_depth == OutputDepth::AsInput { depth } else { depth.max(12) };
        match self.settings.method.grid() {
            Some((columns, rows)) => columns as usize * rows as usize * codes.min(TileBins::MAX) * 8,
            // The curve of the frame, and the curve of the denoised frame, which has two bits more.
            None => 2 * (codes + (4 << depth).min(1 << 16)),
        }
    }
}

impl Mapper {
    /// Equalizes the frame of `decided`. `frames` are the frames [around](Decided::around) it: first those before it,
    /// then the frame itself, then those after it.
    ///
    /// # Errors
    /// When the number of frames is wrong, or one has another format or size.
    pub fn apply(&mut self, decided: &Decided, frames: &[Input<'_>]) -> Result<Frame> {
        let frames = frames.iter().map(|input| self.picture.frame(input, None)).collect::<Result<Vec<_>>>()?;
        self.mapper.apply(decided, &frames)
    }
}
