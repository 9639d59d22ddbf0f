//! The progress of a run: counters that the stages update and a display reads.

use histeq::internal::equalize::EqualizeStage;
use histeq::internal::spec::natural::Found;
use histeq::internal::spec::parameters::Strength;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A stage of the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Reading and decoding.
    Source,
    /// Equalizing.
    Equalize,
    /// Encoding and writing.
    Sink,
}

/// The message for a video that equalization does not change.
pub const UNCHANGED: &str = "the method changes no sample";

/// The message for a video for which the look's assumptions make no difference.
const AS_MEASURED: &str = "the look changes nothing here: what it is sure of is found without it";

/// The message for a video that was not corrected because the strength is 0.
pub const NOT_CORRECTED: &str = "nothing was corrected (strength 0)";

/// Counters of one run.
#[derive(Default)]
pub struct Progress {
    decoded: AtomicU64,
    written: AtomicU64,
    damaged: AtomicU64,
    dropped: AtomicU64,
    /// In microseconds; 0 if unknown.
    latency: AtomicU64,
    /// The time without frames, in milliseconds; 0 while there is a signal.
    silence: AtomicU64,
    position: AtomicI64,
    busy: [AtomicU64; 3],
    /// What the analysis found about the video, and the strength with which that was corrected.
    found: OnceLock<(Found, Strength)>,
    /// What is known about the video before it is analysed, in words.
    about: OnceLock<String>,
    /// The gain by which levels were stretched to the full range.
    stretched: OnceLock<f64>,
    /// The reason, if no sample has changed.
    unchanged: OnceLock<&'static str>,
    /// Set if the analysis found nothing to correct in any frame.
    found_nothing: OnceLock<()>,
    /// Set if the look's assumptions made no difference.
    as_measured: OnceLock<()>,
}

impl Progress {
    /// Number of decoded frames; if nothing is decoded, number of video packets.
    pub fn decoded(&self) -> u64 {
        self.decoded.load(Ordering::Relaxed)
    }

    /// Number of frames that the sink has written, without those that are still in the encoder.
    pub fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    /// Number of damaged frames and packets.
    pub fn damaged(&self) -> u64 {
        self.damaged.load(Ordering::Relaxed)
    }

    /// Number of frames of a live input that were not equalized in time.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// The time from capture to display of the last live frame; without a viewer, to its equalization.
    pub fn latency(&self) -> Option<Duration> {
        Some(self.latency.load(Ordering::Relaxed)).filter(|&latency| latency > 0).map(Duration::from_micros)
    }

    /// The time since the last frame of a live input, if the signal is lost.
    pub fn no_signal(&self) -> Option<Duration> {
        Some(self.silence.load(Ordering::Relaxed)).filter(|&silence| silence > 0).map(Duration::from_millis)
    }

    /// Time of the last decoded frame, in microseconds from the start of the video.
    pub fn position(&self) -> i64 {
        self.position.load(Ordering::Relaxed)
    }

    /// The total time that a stage has worked, not counting waits for other stages.
    pub fn busy(&self, stage: Stage) -> Duration {
        Duration::from_nanos(self.busy[stage as usize].load(Ordering::Relaxed))
    }

    /// What the analysis found about the video, once known.
    pub fn found(&self) -> Option<Found> {
        self.found.get().map(|(found, _)| *found)
    }

    /// Description and analysis of the video, in words, as far as known.
    pub fn found_in_words(&self) -> Option<String> {
        let unchanged = self.unchanged.get().map(|&why| why.to_owned());
        let stretched = self.stretched.get().filter(|_| unchanged.is_none());
        let stretched = stretched.map(|gain| format!("levels stretched to the whole range ({gain:.1} times)"));
        let found = self.found();
        let as_measured = self.as_measured.get().filter(|_| found.is_some_and(|found| !found.is_nothing()));
        let as_measured = as_measured.map(|_| AS_MEASURED.to_owned());
        let found = found.map(|found| found.to_string());
        let words = [self.about.get().cloned(), found, as_measured, stretched, unchanged];
        let words: Vec<String> = words.into_iter().flatten().collect();
        (!words.is_empty()).then(|| words.join("; "))
    }

    /// The strength, from 0 to 1, with which the findings were corrected, once known.
    pub fn strength(&self) -> Option<f64> {
        if self.unchanged.get() == Some(&NOT_CORRECTED) {
            return Some(0.0);
        }
        self.found.get().map(|(_, strength)| (f64::from(strength.to_256ths()) / 2.56).round() / 100.0)
    }

    /// Sets what is known about the video before it is analysed: its log curve, or the assumed kind of video.
    pub fn set_about(&self, words: String) {
        self.about.get_or_init(|| words);
    }

    /// Stores what was done to the video: the findings and the strength of their correction, the gain of its levels,
    /// and whether no sample has changed.
    pub(in crate::pipeline) fn set_done(&self, stage: &EqualizeStage) {
        if let Some(found) = stage.found() {
            self.found.get_or_init(|| (found, stage.strength()));
        }
        if let Some(gain) = stage.stretched() {
            self.stretched.get_or_init(|| gain);
        }
        if stage.was_told_nothing() {
            self.unchanged.get_or_init(|| NOT_CORRECTED);
        } else if stage.changed_nothing() {
            self.unchanged.get_or_init(|| UNCHANGED);
        }
        if stage.found_nothing() {
            self.found_nothing.get_or_init(|| ());
        }
        if stage.look_made_no_difference() {
            self.as_measured.get_or_init(|| ());
        }
    }

    /// Adds the working times of another pass over the input.
    pub fn add_work(&self, pass: &Progress) {
        for (busy, also) in self.busy.iter().zip(&pass.busy) {
            busy.fetch_add(also.load(Ordering::Relaxed), Ordering::Relaxed);
        }
    }

    /// Whether nothing was corrected in any frame, once that is known.
    pub fn corrected_nothing(&self) -> bool {
        self.about.get().is_none() && (self.unchanged.get().is_some() || self.found_nothing.get().is_some())
    }

    /// The sums over several concurrent runs, with the largest of their positions.
    pub fn sum<'a>(runs: impl Iterator<Item = &'a Progress>) -> Self {
        let sum = Progress::default();
        for run in runs {
            sum.decoded.fetch_add(run.decoded(), Ordering::Relaxed);
            sum.written.fetch_add(run.written(), Ordering::Relaxed);
            sum.damaged.fetch_add(run.damaged(), Ordering::Relaxed);
            sum.dropped.fetch_add(run.dropped(), Ordering::Relaxed);
            sum.silence.fetch_max(run.silence.load(Ordering::Relaxed), Ordering::Relaxed);
            sum.position.fetch_max(run.position(), Ordering::Relaxed);
        }
        sum
    }

    /// Counts a decoded frame at `position` microseconds.
    pub fn count_decoded(&self, position: i64) {
        self.decoded.fetch_add(1, Ordering::Relaxed);
        self.position.store(position, Ordering::Relaxed);
    }

    /// Sets the totals of other processes: written and decoded frames, the `position` reached, in microseconds from the
    /// start of the video, and damaged frames and packets.
    pub fn reach(&self, written: u64, decoded: u64, position: i64, damaged: u64) {
        self.decoded.store(decoded, Ordering::Relaxed);
        self.damaged.store(damaged, Ordering::Relaxed);
        self.written.store(written, Ordering::Relaxed);
        self.position.store(position, Ordering::Relaxed);
    }

    /// Sets the totals of a source in another process: decoded frames, the `position` reached, in microseconds, and
    /// damaged frames and packets.
    pub fn follow(&self, decoded: u64, position: i64, damaged: u64) {
        self.decoded.store(decoded, Ordering::Relaxed);
        self.position.store(position, Ordering::Relaxed);
        self.damaged.store(damaged, Ordering::Relaxed);
    }

    /// Counts a damaged frame or packet.
    pub fn count_damaged(&self) {
        self.damaged.fetch_add(1, Ordering::Relaxed);
    }

    pub(in crate::pipeline) fn count_written(&self) {
        self.written.fetch_add(1, Ordering::Relaxed);
    }

    pub(in crate::pipeline) fn set_written(&self, frames: u64) {
        self.written.store(frames, Ordering::Relaxed);
    }

    pub(in crate::pipeline) fn set_dropped(&self, frames: u64) {
        self.dropped.store(frames, Ordering::Relaxed);
    }

    pub(in crate::pipeline) fn set_latency(&self, latency: Duration) {
        self.latency.store((latency.as_micros() as u64).max(1), Ordering::Relaxed);
    }

    pub(in crate::pipeline) fn set_no_signal(&self, silence: Option<Duration>) {
        self.silence.store(silence.map_or(0, |silence| silence.as_millis() as u64), Ordering::Relaxed);
    }

    /// Runs `work` and adds its time to that of `stage`.
    pub(in crate::pipeline) fn measure<T>(&self, stage: Stage, work: impl FnOnce() -> T) -> T {
        let begin = Instant::now();
        let result = work();
        self.busy[stage as usize].fetch_add(begin.elapsed().as_nanos() as u64, Ordering::Relaxed);
        result
    }
}
