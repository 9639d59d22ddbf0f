//! The temporal window of each frame: which frames of its scene it shares its counts with.
//!
//! There are two windows: that of the current scene, and that of the scene before the last cut. A [`Change`] is how a
//! frame continues the one before it. A cut opens a window in place of the older one; after a flash that was mistaken
//! for a scene, the two are swapped, and the old scene continues without the flash; a frame of a known flash is in no
//! window.
//!
//! A frame is forgotten W + F frames later, in either window. So the result for a frame depends on the W + F frames
//! that end with it, and on no frame before them.

use super::{Change, Scene};
use crate::spec::curves::Levels;
use crate::spec::parameters::Smoothing;

/// How a frame changes the sums of the two windows. The histograms of the last frames are kept in [`Smoothing::memory`]
/// slots, one for each frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WindowUpdate {
    /// Whether all frames before are forgotten, so that all sums and slots are empty.
    pub reset: bool,
    /// Frames that leave a window: their histograms are subtracted from its sum first.
    pub evicted: [Option<EvictedFrame>; 2],
    /// The window of the frame, 0 or 1.
    pub window: usize,
    /// Whether the frame is part of `window`; a frame of a flash is not.
    pub joins: bool,
    /// Whether the frame is the first one of that window.
    pub starts_window: bool,
    /// The slot for the histogram of the frame.
    pub slot: usize,
    /// Number of frames in the window, this one included if it joins.
    pub frames: u32,
    /// The scene of the frame.
    pub scene: Scene,
}

/// A frame that leaves a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EvictedFrame {
    /// The slot of the histogram of the frame.
    pub slot: usize,
    /// The window that the frame leaves, 0 or 1.
    pub window: usize,
}

/// One of the two windows.
#[derive(Clone, Copy, Debug, Default)]
struct SceneWindow {
    /// The mark of the frames of the window in `SceneWindows::marks`; 0 before the first one.
    mark: u64,
    /// Number of the oldest frame of the window.
    oldest: u64,
    frames: u32,
    scene: u64,
}

/// Assigns each frame of a video, in order, to a scene and a window.
#[derive(Clone, Debug)]
pub struct SceneWindows {
    smoothing: Smoothing,
    /// Levels and size of the last frame; a frame with others resets everything.
    shape: Option<(Levels, (usize, usize))>,
    /// Number of the next frame, counted from the last reset.
    number: u64,
    /// For each slot, the mark of the window of its frame.
    marks: Vec<u64>,
    windows: [SceneWindow; 2],
    /// Index of the window of the current scene.
    current: usize,
    next_mark: u64,
    next_scene: u64,
}

impl SceneWindows {
    /// The state before the first frame.
    pub fn new(smoothing: Smoothing) -> Self {
        SceneWindows {
            smoothing,
            shape: None,
            number: 0,
            marks: vec![0; smoothing.memory() as usize],
            windows: [SceneWindow::default(); 2],
            current: 0,
            next_mark: 1,
            next_scene: 0,
        }
    }

    /// The state before the first frame, except that the numbers of scenes continue those of `before`.
    #[must_use]
    pub fn after(smoothing: Smoothing, before: &SceneWindows) -> Self {
        SceneWindows { next_scene: before.next_scene, ..SceneWindows::new(smoothing) }
    }

    /// Adds the next frame, with these levels and this size (columns, rows).
    pub fn next(&mut self, change: Change, levels: Levels, size: (usize, usize)) -> WindowUpdate {
        let shape = (levels, size);
        let reset = self.shape != Some(shape);
        if reset {
            self.reset(shape);
        }
        let slot = (self.number % self.marks.len() as u64) as usize;
        let forgotten = self.holder(slot).map(|window| self.drop_oldest(window));

        let cut = change == Change::Cut && !reset;
        let after_flash = change == Change::AfterFlash && !reset;
        if cut || after_flash {
            self.current = 1 - self.current;
        }
        let starts_window = self.windows[self.current].mark == 0 || cut;
        if starts_window {
            self.open_window();
        }
        // A window without frames accepts even a frame of a flash.
        let joins = change != Change::Flash || self.windows[self.current].frames == 0;
        let full = joins && self.windows[self.current].frames == self.smoothing.frames();
        let pushed_out = full.then(|| self.drop_oldest(self.current));

        let window = &mut self.windows[self.current];
        self.marks[slot] = 0;
        if joins {
            if window.frames == 0 {
                window.oldest = self.number;
            }
            window.frames += 1;
            self.marks[slot] = window.mark;
        }
        self.number += 1;
        WindowUpdate {
            reset,
            evicted: [forgotten, pushed_out],
            window: self.current,
            joins,
            starts_window,
            slot,
            frames: window.frames,
            scene: Scene { number: window.scene, begun: self.next_scene, cut, after_flash },
        }
    }

    /// Sets the number of the current scene, and the number of scenes so far.
    pub fn set_current_number(&mut self, number: u64, begun: u64) {
        self.windows[self.current].scene = number;
        self.next_scene = begun;
    }

    /// The slots of the frames in a window.
    pub fn members(&self, window: usize) -> impl Iterator<Item = usize> {
        let mark = self.windows[window].mark;
        self.marks.iter().enumerate().filter(move |(_, found)| mark != 0 && **found == mark).map(|(slot, _)| slot)
    }

    fn reset(&mut self, shape: (Levels, (usize, usize))) {
        self.shape = Some(shape);
        self.number = 0;
        self.marks.fill(0);
        self.windows = [SceneWindow::default(); 2];
    }

    fn open_window(&mut self) {
        self.windows[self.current] =
            SceneWindow { mark: self.next_mark, oldest: self.number, frames: 0, scene: self.next_scene };
        self.next_mark += 1;
        self.next_scene += 1;
    }

    /// The window that the frame in `slot` is in.
    fn holder(&self, slot: usize) -> Option<usize> {
        (0..2).find(|&window| self.marks[slot] != 0 && self.marks[slot] == self.windows[window].mark)
    }

    fn drop_oldest(&mut self, window: usize) -> EvictedFrame {
        let slot_of = |number: u64| (number % self.marks.len() as u64) as usize;
        let SceneWindow { mark, oldest, .. } = self.windows[window];
        let slot = slot_of(oldest);
        let next = (oldest + 1..self.number).find(|&number| self.marks[slot_of(number)] == mark);
        self.marks[slot] = 0;
        let window_state = &mut self.windows[window];
        window_state.oldest = next.unwrap_or(self.number);
        window_state.frames -= 1;
        EvictedFrame { slot, window }
    }
}
