//! A backend that has been taken over from, until its last frame has come out.

use crate::equalize::Equalizer;
use crate::frame::Frame;
use anyhow::Result;
use std::collections::VecDeque;

/// The first backend at its end.
pub(super) struct DrainingBackend {
    backend: Box<dyn Equalizer>,
    /// Frames of its own that have not come out.
    owed: usize,
    /// Frames behind those that it has yet to look at.
    to_see: u32,
    done: VecDeque<Frame>,
}

impl DrainingBackend {
    /// `backend`, out of which `owed` frames are to come, at least 1; `ahead` is how many each of them waits for.
    pub fn new(backend: Box<dyn Equalizer>, owed: usize, ahead: u32) -> Self {
        DrainingBackend { backend, owed, to_see: ahead, done: VecDeque::new() }
    }

    /// Shows it the next frame behind its own, if one of its own waits for that.
    ///
    /// # Errors
    /// When the backend fails.
    pub fn look_at(&mut self, frame: &Frame) -> Result<()> {
        if self.to_see == 0 {
            return Ok(());
        }
        self.to_see -= 1;
        make_room(self.backend.as_mut(), &mut self.done)?;
        self.backend.submit(frame.clone())
    }

    /// The next of its own frames, waiting until it is done; `None` when that one is held back, or there is none.
    ///
    /// # Errors
    /// When the backend fails.
    pub fn collect(&mut self) -> Result<Option<Frame>> {
        if self.ready() == 0 {
            return Ok(None);
        }
        let frame = self.done.pop_front().map_or_else(|| self.backend.collect(), |frame| Ok(Some(frame)))?;
        self.owed -= usize::from(frame.is_some());
        Ok(frame)
    }

    /// How many of its own frames can be collected. Those that it has only looked at come behind them.
    pub fn ready(&self) -> usize {
        (self.done.len() + self.backend.in_flight()).min(self.owed)
    }

    /// Whether one of its own frames waits for others.
    pub fn holds_back(&self) -> bool {
        self.ready() < self.owed
    }

    /// Whether all of its own frames have come out.
    pub fn has_left(&self) -> bool {
        self.owed == 0
    }

    /// The backend.
    pub fn backend(&mut self) -> &mut Box<dyn Equalizer> {
        &mut self.backend
    }
}

/// Takes frames out of `backend` until it may be given another one.
///
/// # Errors
/// When the backend fails.
pub(super) fn make_room(backend: &mut dyn Equalizer, done: &mut VecDeque<Frame>) -> Result<()> {
    while backend.in_flight() >= backend.capacity() {
        done.extend(backend.collect()?);
    }
    Ok(())
}
