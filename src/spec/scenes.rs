//! Which scene a frame belongs to, and so which frames make its histogram.
//!
//! Two frames are as different as their cumulative distributions: over [`COARSE`] equal bins of the levels,
//! `D = mean over k of |C_a[k]/N_a - C_b[k]/N_b|`, from 0 to 1. That is the earth mover's distance on a line, as
//! a share of its length: it sees fades and pans as the small shifts that they are, and a cut between scenes as the jump
//! that it is.
//!
//! There are two windows: the one of the scene at hand, and the one that the last cut put aside. Where a second cut
//! follows within F frames, and the new frame is close to the frame before the first cut, that was a flash: the windows
//! change places, and the scene goes on without the frames between. Otherwise the window that was put aside is given up.
//!
//! A frame is forgotten W + F frames after it, in whichever window it is. So what is known of a frame depends on the
//! W + F frames that end with it and on nothing else, however scenes and flashes follow each other: the decisions at a
//! cut compare the new frame with the frame before it and the frame before the last cut only.

use super::{Histogram, Levels, Settings, Smoothing, Threshold};

/// Bins in which frames are compared.
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

    /// N.
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
        // Multiplied out, which takes more than 64 bits.
        let (own, others) = (u128::from(self.total()), u128::from(other.total()));
        let distance: u128 = pairs.map(|(a, b)| (u128::from(*a) * others).abs_diff(u128::from(*b) * own)).sum();
        distance * 1000 > u128::from(most) * own * others
    }
}

/// What a frame means for the sums of the windows. A frame's histogram is kept in a slot; there are
/// [`Smoothing::memory`] of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WindowUpdate {
    /// Nothing from before counts any more: all sums and slots are empty.
    pub anew: bool,
    /// Slots to be subtracted from the sum of a window, before anything else.
    pub leaving: [Option<EvictedFrame>; 2],
    /// The window that the frame belongs to, 0 or 1.
    pub window: usize,
    /// That window begins with this frame.
    pub fresh: bool,
    /// The slot that takes the frame's histogram.
    pub slot: usize,
    /// How many frames the window has, this one included.
    pub frames: u32,
    /// The number of the scene, from 0.
    pub scene: u64,
    /// How many scenes have begun so far.
    pub begun: u64,
    /// The frame is the first after a cut.
    pub cut: bool,
    /// The frame is the first after a flash.
    pub after_flash: bool,
}

/// A frame that leaves a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EvictedFrame {
    /// Where its histogram is.
    pub slot: usize,
    /// The window.
    pub window: usize,
}

/// One of the two windows.
#[derive(Clone, Copy, Debug, Default)]
struct Window {
    /// What its frames are marked with; 0 for none.
    mark: u64,
    /// Number of the first frame that is in it.
    oldest: u64,
    frames: u32,
    scene: u64,
}

/// What is known of the frames so far.
#[derive(Clone, Debug)]
pub struct Scenes {
    smoothing: Smoothing,
    threshold: Threshold,
    /// Levels and size of the frames at hand; others begin everything anew.
    shape: Option<(Levels, (usize, usize))>,
    /// Of the next frame, since everything began.
    number: u64,
    /// The mark of the window that each slot's frame is in.
    marks: Vec<u64>,
    windows: [Window; 2],
    current: usize,
    next_mark: u64,
    next_scene: u64,
    last: Option<Distribution>,
    /// The frame before the last cut, and the number of the one after it.
    before_cut: Option<(Distribution, u64)>,
}

impl Scenes {
    /// Nothing seen so far.
    pub fn new(settings: &Settings) -> Self {
        let Settings { smoothing, scene_threshold: threshold, .. } = *settings;
        Scenes {
            smoothing,
            threshold,
            shape: None,
            number: 0,
            marks: vec![0; smoothing.memory() as usize],
            windows: [Window::default(); 2],
            current: 0,
            next_mark: 1,
            next_scene: 0,
            last: None,
            before_cut: None,
        }
    }

    /// Nothing seen so far, but scenes have other numbers than those of `before`.
    #[must_use]
    pub fn after(settings: &Settings, before: &Scenes) -> Self {
        Scenes { next_scene: before.next_scene, ..Scenes::new(settings) }
    }

    /// Where the next frame belongs, which has this size and this histogram. Not all of it has to be counted: the number
    /// of samples may change from frame to frame.
    pub fn next(&mut self, histogram: &Histogram, size: (usize, usize)) -> WindowUpdate {
        let shape = (histogram.levels(), size);
        let anew = self.shape != Some(shape);
        if anew {
            self.begin_anew(shape);
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
        let fresh = self.windows[self.current].mark == 0 || cut && !after_flash;
        if fresh {
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
            anew,
            leaving: [forgotten, pushed_out],
            window: self.current,
            fresh,
            slot,
            frames: window.frames,
            scene: window.scene,
            begun: self.next_scene,
            cut: cut && !after_flash,
            after_flash,
        }
    }

    /// Gives the scene at hand this number, as of `begun` scenes so far.
    pub fn name_current(&mut self, number: u64, begun: u64) {
        self.windows[self.current].scene = number;
        self.next_scene = begun;
    }

    /// The slots of the frames that are in a window.
    pub fn members(&self, window: usize) -> impl Iterator<Item = usize> {
        let mark = self.windows[window].mark;
        self.marks.iter().enumerate().filter(move |(_, found)| mark != 0 && **found == mark).map(|(slot, _)| slot)
    }

    fn begin_anew(&mut self, shape: (Levels, (usize, usize))) {
        self.shape = Some(shape);
        self.number = 0;
        self.marks.fill(0);
        self.windows = [Window::default(); 2];
        self.last = None;
        self.before_cut = None;
    }

    fn open_window(&mut self) {
        self.windows[self.current] =
            Window { mark: self.next_mark, oldest: self.number, frames: 0, scene: self.next_scene };
        self.next_mark += 1;
        self.next_scene += 1;
    }

    /// The window that the frame in `slot` is in.
    fn holder(&self, slot: usize) -> Option<usize> {
        (0..2).find(|&window| self.marks[slot] != 0 && self.marks[slot] == self.windows[window].mark)
    }

    /// Takes the oldest frame out of a window.
    fn drop_oldest(&mut self, window: usize) -> EvictedFrame {
        let slot_of = |number: u64| (number % self.marks.len() as u64) as usize;
        let Window { mark, oldest, .. } = self.windows[window];
        let slot = slot_of(oldest);
        let next = (oldest + 1..self.number).find(|&number| self.marks[slot_of(number)] == mark);
        self.marks[slot] = 0;
        let window_state = &mut self.windows[window];
        window_state.oldest = next.unwrap_or(self.number);
        window_state.frames -= 1;
        EvictedFrame { slot, window }
    }
}
