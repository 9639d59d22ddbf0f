//! Scene detection: it decides which frames make up the temporal window of a frame.
//!
//! The distance of two frames is that of their cumulative distributions over [`COARSE`] equal bins of the levels:
//! `D = mean over k of |C_a[k]/N_a - C_b[k]/N_b|`, from 0 to 1. This is the earth mover's distance, as a share of the
//! largest one: it is small for fades and pans, and large for a cut between scenes.
//!
//! There are two windows: that of the current scene, and that of the scene before the last cut. If a second cut follows
//! within F frames, and the new frame is close to the frame before the first cut, the frames between were a flash: the two
//! windows change places, and the old scene continues without the flash. Otherwise the older window is discarded.
//!
//! A frame is forgotten W + F frames later, in either window. At a cut, the new frame is compared only with the frame before
//! it and the frame before the last cut. So the result for a frame depends on the W + F frames that end with it, and on no
//! frame before them.

use super::{Histogram, Levels, Settings, Smoothing, Threshold};

/// Number of bins of the distributions that are compared.
pub const COARSE: usize = 64;

/// The cumulative distribution of a frame over [`COARSE`] bins of its levels: level `l` of `L` falls into bin
/// `l * COARSE / L`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Distribution([u64; COARSE]);

impl Distribution {
    fn of(histogram: &Histogram) -> Self {
        let count = histogram.levels().count();
        let mut bins = [0; COARSE];
        for (level, samples) in histogram.counts().iter().enumerate() {
            bins[level * COARSE / count] += samples;
        }
        let mut sum = 0;
        Distribution(bins.map(|samples| {
            sum += samples;
            sum
        }))
    }

    /// N, the number of samples.
    fn total(&self) -> u64 {
        self.0[COARSE - 1]
    }

    /// Whether `D > threshold`.
    fn differs(&self, other: &Distribution, threshold: Threshold) -> bool {
        let pairs = self.0.iter().zip(&other.0);
        let most = u64::from(threshold.of_1000()) * COARSE as u64;
        if self.total() == other.total() {
            return pairs.map(|(a, b)| a.abs_diff(*b)).sum::<u64>() * 1000 > most * self.total();
        }
        // Without division; the products take more than 64 bits.
        let (own, others) = (u128::from(self.total()), u128::from(other.total()));
        let distance: u128 = pairs.map(|(a, b)| (u128::from(*a) * others).abs_diff(u128::from(*b) * own)).sum();
        distance * 1000 > u128::from(most) * own * others
    }
}

/// How a frame changes the sums of the two windows. The histograms of the last frames are kept in [`Smoothing::memory`]
/// slots, one for each frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WindowUpdate {
    /// All frames before are forgotten: all sums and slots are empty.
    pub reset: bool,
    /// Frames that leave a window: their histograms are subtracted from its sum first.
    pub evicted: [Option<EvictedFrame>; 2],
    /// The window that the frame belongs to, 0 or 1.
    pub window: usize,
    /// The frame is the first one of that window.
    pub starts_window: bool,
    /// The slot for the histogram of the frame.
    pub slot: usize,
    /// Number of frames in the window, this one included.
    pub frames: u32,
    /// The number of the scene, from 0.
    pub scene: u64,
    /// Number of scenes so far.
    pub begun: u64,
    /// The frame is the first after a cut.
    pub cut: bool,
    /// The frame is the first after a flash.
    pub after_flash: bool,
}

/// A frame that leaves a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EvictedFrame {
    /// The slot of its histogram.
    pub slot: usize,
    /// The window that it leaves, 0 or 1.
    pub window: usize,
}

/// One of the two windows.
#[derive(Clone, Copy, Debug, Default)]
struct SceneWindow {
    /// The mark of its frames; 0 before the first one.
    mark: u64,
    /// Number of its oldest frame.
    oldest: u64,
    frames: u32,
    scene: u64,
}

/// Assigns each frame of a video, in order, to a scene and a window.
#[derive(Clone, Debug)]
pub struct Scenes {
    smoothing: Smoothing,
    threshold: Threshold,
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
    /// The last frame.
    last: Option<Distribution>,
    /// The frame before the last cut, and the number of the frame after it.
    before_cut: Option<(Distribution, u64)>,
}

impl Scenes {
    /// The state before the first frame.
    pub fn new(settings: &Settings) -> Self {
        let Settings { smoothing, scene_threshold: threshold, .. } = *settings;
        Scenes {
            smoothing,
            threshold,
            shape: None,
            number: 0,
            marks: vec![0; smoothing.memory() as usize],
            windows: [SceneWindow::default(); 2],
            current: 0,
            next_mark: 1,
            next_scene: 0,
            last: None,
            before_cut: None,
        }
    }

    /// The state before the first frame, except that the numbers of scenes continue those of `before`.
    #[must_use]
    pub fn after(settings: &Settings, before: &Scenes) -> Self {
        Scenes { next_scene: before.next_scene, ..Scenes::new(settings) }
    }

    /// Adds the next frame, with this histogram and this size (columns, rows). The histogram may be of a part of the frame:
    /// its number of samples may change from frame to frame.
    pub fn next(&mut self, histogram: &Histogram, size: (usize, usize)) -> WindowUpdate {
        let shape = (histogram.levels(), size);
        let reset = self.shape != Some(shape);
        if reset {
            self.reset(shape);
        }
        let slot = (self.number % self.marks.len() as u64) as usize;
        let forgotten = self.holder(slot).map(|window| self.drop_oldest(window));

        let now = Distribution::of(histogram);
        let cut = self.last.as_ref().is_some_and(|last| now.differs(last, self.threshold));
        let mut after_flash = false;
        if let Some(last) = self.last.take().filter(|_| cut) {
            after_flash = self.before_cut.as_ref().is_some_and(|(before, since)| {
                self.number - since <= u64::from(self.smoothing.flash()) && !now.differs(before, self.threshold)
            });
            self.before_cut = Some((last, self.number));
            self.current = 1 - self.current;
        }
        let starts_window = self.windows[self.current].mark == 0 || cut && !after_flash;
        if starts_window {
            self.open_window();
        }
        let full = self.windows[self.current].frames == self.smoothing.frames();
        let pushed_out = full.then(|| self.drop_oldest(self.current));

        let window = &mut self.windows[self.current];
        if window.frames == 0 {
            window.oldest = self.number;
        }
        window.frames += 1;
        self.marks[slot] = window.mark;
        self.number += 1;
        self.last = Some(now);
        WindowUpdate {
            reset,
            evicted: [forgotten, pushed_out],
            window: self.current,
            starts_window,
            slot,
            frames: window.frames,
            scene: window.scene,
            begun: self.next_scene,
            cut: cut && !after_flash,
            after_flash,
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
        self.last = None;
        self.before_cut = None;
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

    /// Removes the oldest frame from a window.
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
