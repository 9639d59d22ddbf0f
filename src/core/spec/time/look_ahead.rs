//! The look-ahead: a frame waits until the A frames after it are counted. Its temporal window then ends up to A frames
//! after it, but never after the last frame of its scene. So the first frames of a scene have a window of several
//! frames, and the curve begins to follow a fade before the fade begins.

use std::collections::VecDeque;

/// The frames that wait, each with its scene and the curve of the window that ends with it. A frame leaves with the
/// curve of the last frame of its scene among the A frames after it.
#[derive(Clone, Debug)]
pub struct LookAhead<F, C> {
    /// Scene, frame and curve of each waiting frame, oldest first.
    waiting: VecDeque<(u64, F, C)>,
}

impl<F, C> Default for LookAhead<F, C> {
    fn default() -> Self {
        LookAhead { waiting: VecDeque::new() }
    }
}

impl<F, C: Clone> LookAhead<F, C> {
    /// Adds the next frame. Returns the oldest one if more than `ahead` frames wait then.
    pub fn push(&mut self, ahead: u32, scene: u64, frame: F, curve: C) -> Option<(F, C)> {
        self.waiting.push_back((scene, frame, curve));
        if self.waiting.len() > ahead as usize { self.pop() } else { None }
    }

    /// The oldest waiting frame, if it leaves when a frame of this scene is added next, and gets the curve of that
    /// frame.
    pub fn taker(&mut self, ahead: u32, scene: u64) -> Option<&mut F> {
        let leaves = ahead > 0 && self.waiting.len() >= ahead as usize;
        let (_, oldest, _) = self.waiting.front_mut().filter(|(other, ..)| leaves && *other == scene)?;
        Some(oldest)
    }

    /// How many frames wait.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether no frame waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Removes the oldest frame: for the end of the video, when no frame follows.
    pub fn pop(&mut self) -> Option<(F, C)> {
        let (scene, frame, curve) = self.waiting.pop_front()?;
        let last = self.waiting.iter().rev().find(|(other, ..)| *other == scene);
        Some((frame, last.map_or(curve, |(.., last)| last.clone())))
    }
}
