//! Frames that wait for the ones behind them: with a look-ahead of A, the window of a frame ends up to A frames after it,
//! at the last frame of its scene. So the first frames of a scene have a window worth the name, and a fade is known
//! before it has begun.

use std::collections::VecDeque;

/// Frames, each with its scene and the curve of the window that ends with it. A frame leaves with the curve of the last
/// frame of its scene that is at most A frames behind it.
#[derive(Clone, Debug)]
pub struct LookAhead<F, C> {
    waiting: VecDeque<Waiting<F, C>>,
}

#[derive(Clone, Debug)]
struct Waiting<F, C> {
    scene: u64,
    frame: F,
    curve: C,
}

impl<F, C> Default for LookAhead<F, C> {
    fn default() -> Self {
        LookAhead { waiting: VecDeque::new() }
    }
}

impl<F, C: Clone> LookAhead<F, C> {
    /// Takes the next frame in, and gives the oldest one if more than `ahead` frames wait then.
    pub fn push(&mut self, ahead: u32, scene: u64, frame: F, curve: C) -> Option<(F, C)> {
        self.waiting.push_back(Waiting { scene, frame, curve });
        if self.waiting.len() > ahead as usize { self.pop() } else { None }
    }

    /// The oldest frame that waits, when there is none to wait for any more.
    pub fn pop(&mut self) -> Option<(F, C)> {
        let Waiting { scene, frame, curve } = self.waiting.pop_front()?;
        let last = self.waiting.iter().rev().find(|other| other.scene == scene);
        Some((frame, last.map_or(curve, |last| last.curve.clone())))
    }
}
