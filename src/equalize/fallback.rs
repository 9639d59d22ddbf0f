//! A backend that outlives the failure of another one: frames under way are kept until they are done, and when the
//! first backend fails a second one does them again and goes on. The picture does not show it, since every backend
//! gives the same bytes; only a temporal window begins anew with the oldest frame under way, for what lies before has
//! gone with the first backend.

use super::Equalizer;
use crate::frame::{Frame, Pool};
use crate::spec::{Curve, Settings};
use anyhow::Result;
use std::collections::VecDeque;
use std::sync::Arc;

/// Told once, in a sentence, that the second backend has taken over and why.
pub type Report = Box<dyn Fn(&str) + Send>;

/// Makes the second backend when it is needed.
pub type Build = Box<dyn FnOnce() -> Box<dyn Equalizer> + Send>;

/// A backend with another one behind it.
pub struct Fallback {
    active: Box<dyn Equalizer>,
    settings: Settings,
    curve: Option<Arc<Curve>>,
    /// No more frames will come.
    finished: bool,
    /// What is left to fall back to.
    reserve: Option<Reserve>,
    /// Frames that the second backend finished before anybody asked for them.
    done: VecDeque<Frame>,
}

struct Reserve {
    build: Build,
    report: Report,
    /// The frames under way as they went in, and their settings and curves. They share their planes with the caller's, so keeping
    /// them is cheap.
    under_way: VecDeque<(Frame, Settings, Option<Arc<Curve>>)>,
}

impl Fallback {
    /// `primary`, which was made with these settings, until it fails; then `report` is told and the backend that
    /// `build` makes goes on.
    pub fn new(primary: Box<dyn Equalizer>, settings: Settings, build: Build, report: Report) -> Self {
        let reserve = Some(Reserve { build, report, under_way: VecDeque::new() });
        Fallback { active: primary, settings, curve: None, finished: false, reserve, done: VecDeque::new() }
    }

    /// Puts the second backend to work on the frames under way; the error itself if there is none left.
    fn take_over(&mut self, error: anyhow::Error) -> Result<()> {
        let Some(Reserve { build, report, under_way }) = self.reserve.take() else { return Err(error) };
        let second = build();
        // What the first backend remembered is gone with it.
        let remembered = self.settings.warm_up() > 0 && self.curve.is_none();
        let loss = if remembered { ", whose temporal window begins anew" } else { "" };
        report(&format!("{} failed, going on with {}{loss}: {error:#}", self.active.name(), second.name()));
        self.active = second;
        for (frame, settings, curve) in under_way {
            self.active.set(settings);
            self.active.set_curve(curve);
            self.submit_to_active(frame)?;
        }
        self.active.set(self.settings);
        self.active.set_curve(self.curve.clone());
        if self.finished { self.active.finish() } else { Ok(()) }
    }

    /// Submits a frame, making room first: the second backend may take fewer frames at once than the first one did.
    fn submit_to_active(&mut self, frame: Frame) -> Result<()> {
        // It may lie on the GPU that has failed.
        frame.bring_down()?;
        while self.active.in_flight() >= self.active.capacity() {
            self.done.extend(self.active.collect()?);
        }
        self.active.submit(frame)
    }
}

impl Equalizer for Fallback {
    fn submit(&mut self, frame: Frame) -> Result<()> {
        let Some(reserve) = &mut self.reserve else { return self.submit_to_active(frame) };
        reserve.under_way.push_back((frame.clone(), self.settings, self.curve.clone()));
        self.active.submit(frame).or_else(|error| self.take_over(error))
    }

    fn collect(&mut self) -> Result<Option<Frame>> {
        if let Some(frame) = self.done.pop_front() {
            return Ok(Some(frame));
        }
        match self.active.collect() {
            Ok(frame) => {
                if let Some(reserve) = self.reserve.as_mut().filter(|_| frame.is_some()) {
                    reserve.under_way.pop_front();
                }
                Ok(frame)
            }
            Err(error) => {
                self.take_over(error)?;
                self.collect()
            }
        }
    }

    fn warm_up(&mut self, frame: Frame) -> Result<()> {
        match self.active.warm_up(frame.clone()) {
            Ok(()) => Ok(()),
            Err(error) => {
                self.take_over(error)?;
                frame.bring_down()?;
                self.active.warm_up(frame)
            }
        }
    }

    fn finish(&mut self) -> Result<()> {
        self.finished = true;
        self.active.finish().or_else(|error| self.take_over(error))
    }

    fn in_flight(&self) -> usize {
        self.done.len() + self.active.in_flight()
    }

    fn capacity(&self) -> usize {
        self.active.capacity()
    }

    fn input_pool(&self) -> Option<Arc<dyn Pool>> {
        self.active.input_pool()
    }

    fn set(&mut self, settings: Settings) {
        self.settings = settings;
        self.active.set(settings);
    }

    fn set_curve(&mut self, curve: Option<Arc<Curve>>) {
        self.active.set_curve(curve.clone());
        self.curve = curve;
    }

    fn name(&self) -> String {
        self.active.name()
    }
}
