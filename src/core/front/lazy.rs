//! An equalizer that is opened with its first frame, for hosts whose callers set all options by name.

use super::{Builder, Equalizer, Input, SceneSurvey};
use crate::frame::Limits;
use crate::options::OptionError;
use crate::{Error, Result};

/// An [`Equalizer`] that is opened when it is first needed.
pub struct LazyEqualizer {
    /// The configuration with which the equalizer is opened.
    builder: Builder,
    survey: Option<SceneSurvey>,
    equalizer: Option<Equalizer>,
}

impl LazyEqualizer {
    /// A wrapper that builds its equalizer with `builder`.
    pub fn new(builder: Builder) -> Self {
        LazyEqualizer { builder, survey: None, equalizer: None }
    }

    /// Sets an option or a property by its name. Options of [`OPTIONS`](crate::options::OPTIONS) can be set at any
    /// time, for the frames that follow; `gray`, `output-depth`, and the names of [`Builder::described`], only before
    /// the equalizer is open.
    ///
    /// # Errors
    /// When there is no such name, or no such value, options exclude each other, or the equalizer is open.
    pub fn set(&mut self, name: &str, value: &str) -> Result<()> {
        if Builder::DESCRIBED.contains(&name) {
            let wrong = || OptionError::invalid(format!("{name} is not {value}"));
            let changed = self.builder.clone().described(name, value).ok_or_else(wrong)?;
            self.check_not_open(name)?;
            self.builder = changed;
            return Ok(());
        }
        let Some(equalizer) = &mut self.equalizer else {
            self.builder = self.builder.clone().set(name, value)?;
            return Ok(());
        };
        let before = equalizer.options();
        let mut options = before.clone();
        options.set(name, value)?;
        if !options.has_format_of(before) {
            return Err(Error::TooLate { what: name.to_owned() });
        }
        equalizer.change(&options)
    }

    /// Counts each pixel by its weight, as [`Builder::mask`] does.
    ///
    /// # Errors
    /// As for [`Builder::mask`], or when the equalizer is open.
    pub fn mask(&mut self, weights: &[u8]) -> Result<()> {
        self.check_not_open("a mask")?;
        self.builder = self.builder.clone().mask(weights)?;
        Ok(())
    }

    /// Works within these limits, as [`Builder::limits`] does.
    ///
    /// # Errors
    /// When the equalizer is open.
    pub fn limits(&mut self, limits: &Limits) -> Result<()> {
        self.check_not_open("limits")?;
        self.builder = self.builder.clone().limits(limits);
        Ok(())
    }

    /// Adds the next frame of a first pass. The equalizer is opened with the scenes that this pass finds.
    ///
    /// # Errors
    /// As for [`Builder::survey`] and [`SceneSurvey::push`].
    pub fn survey<'a>(&mut self, input: impl Into<Input<'a>>) -> Result<()> {
        let survey = match &mut self.survey {
            Some(survey) => survey,
            None => self.survey.insert(self.builder.survey()?),
        };
        survey.push(input)
    }

    /// The equalizer; opens it on the first call.
    ///
    /// # Errors
    /// As for [`Builder::build`].
    pub fn open(&mut self) -> Result<&mut Equalizer> {
        match &mut self.equalizer {
            Some(equalizer) => Ok(equalizer),
            none => {
                if let Some(survey) = self.survey.take() {
                    self.builder = self.builder.clone().scenes(&survey.finish());
                }
                Ok(none.insert(self.builder.clone().build()?))
            }
        }
    }

    /// The equalizer, if it is open.
    pub fn opened(&mut self) -> Option<&mut Equalizer> {
        self.equalizer.as_mut()
    }

    /// The configuration with which the equalizer is opened.
    pub fn builder(&self) -> &Builder {
        &self.builder
    }

    /// Checks that the equalizer is not open yet.
    ///
    /// # Errors
    /// When it is open, so that `what` cannot be set any more.
    pub fn check_not_open(&self, what: &str) -> Result<()> {
        if self.equalizer.is_some() { Err(Error::TooLate { what: what.to_owned() }) } else { Ok(()) }
    }
}
