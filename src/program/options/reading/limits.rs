//! Options that limit the time, memory and size of a run.

use crate::options::values::{parse_count, usage, value};
use anyhow::Result;
use clap::Args;
use clap::error::ErrorKind;
use histeq::Limits;
use histeq::internal::frame::limits::MAX_PIXELS;
use histeq_media::ffmpeg::limit_allocations;
use histeq_media::pipeline::{FailureKind, Input};
use std::time::Duration;

/// The limits, as typed.
#[derive(Args, Debug)]
pub struct LimitArgs {
    /// Refuse videos with more pixels in a frame, like 34M [default: 268435456, which is 16384x16384]
    #[arg(long, value_name = "N", help_heading = "Limits", hide_short_help = true)]
    pub max_pixels: Option<String>,

    /// Memory for frames, in bytes, like 500M or 4Gi [default: half of what the machine or the container has left]
    ///
    /// These count: frames that are read ahead, decoded, queued, equalized or kept for later use, also in memory that
    /// is pinned for a GPU. With large frames, fewer are under way at once; if one of them and its result do not fit,
    /// that is an error. The memory of encoders, filters and libraries comes on top, up to a share that docs/limits.md
    /// states; beyond it, the run is ended.
    #[arg(long, value_name = "SIZE", help_heading = "Limits", hide_short_help = true)]
    pub max_memory: Option<String>,

    /// Give up after this long by the clock on the wall, with exit code 8
    ///
    /// What was encoded by then is kept as after an interruption.
    #[arg(long, value_name = "T", help_heading = "Limits", hide_short_help = true)]
    pub max_seconds: Option<String>,

    /// Refuse inputs that are longer, or whose length is not known: of a part, its own length counts
    #[arg(long, value_name = "T", help_heading = "Limits", hide_short_help = true)]
    pub max_duration: Option<String>,

    /// The number of threads.
    #[command(flatten)]
    pub threads: ThreadArgs,
}

/// How many threads do the work, as typed.
#[derive(Args, Debug)]
pub struct ThreadArgs {
    /// Threads for each of decoding, filtering, equalizing and encoding, 1 to 256 [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    #[arg(help_heading = "Limits", hide_short_help = true)]
    pub threads: Option<u16>,
}

impl ThreadArgs {
    /// The default limits, except for `--threads`.
    pub(crate) fn limits(&self) -> RunLimits {
        RunLimits { threads: self.threads, ..RunLimits::default() }
    }
}

/// The limits of a run.
#[derive(Clone, Copy, Debug)]
pub struct RunLimits {
    pixels: u64,
    /// Bytes for frames; half of the machine's available memory if `None`.
    memory: Option<usize>,
    /// How long the run may take.
    pub time: Option<Duration>,
    /// How long an input may be, in microseconds.
    pub duration: Option<i64>,
    threads: Option<u16>,
}

impl LimitArgs {
    /// The options as words of a command line.
    pub(crate) fn words(&self) -> Vec<String> {
        let values = [
            ("--max-pixels", self.max_pixels.clone()),
            ("--max-memory", self.max_memory.clone()),
            ("--max-seconds", self.max_seconds.clone()),
            ("--max-duration", self.max_duration.clone()),
            ("--threads", self.threads.threads.map(|threads| threads.to_string())),
        ];
        values.into_iter().filter_map(|(name, value)| Some([name.to_owned(), value?])).flatten().collect()
    }

    /// Checks and converts the limits.
    pub fn check(self) -> Result<RunLimits, clap::Error> {
        let pixels = value("--max-pixels", "a number of pixels like 34M", self.max_pixels, parse_count)?;
        let memory = value("--max-memory", "a number of bytes like 500M or 4Gi", self.max_memory, parse_count)?;
        let time = crate::options::values::time("--max-seconds", self.max_seconds)?;
        if time == Some(0) {
            return Err(usage(ErrorKind::ValueValidation, "--max-seconds is more than 0"));
        }
        let time = time.map(|time| Duration::from_micros(time.unsigned_abs()));
        Ok(RunLimits {
            pixels: pixels.unwrap_or(MAX_PIXELS),
            memory: memory.map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX)),
            time,
            duration: crate::options::values::time("--max-duration", self.max_duration)?,
            threads: self.threads.threads,
        })
    }
}

impl Default for RunLimits {
    fn default() -> Self {
        RunLimits { pixels: MAX_PIXELS, memory: None, time: None, duration: None, threads: None }
    }
}

impl RunLimits {
    /// These limits with this many threads, if that is given.
    #[must_use]
    pub fn with_threads(self, threads: Option<u16>) -> Self {
        RunLimits { threads: threads.or(self.threads), ..self }
    }

    /// These limits without a time limit.
    #[must_use]
    pub fn without_time(self) -> Self {
        RunLimits { time: None, ..self }
    }

    /// Checks the length of an input.
    ///
    /// # Errors
    /// When the input is longer than allowed, or its length is not known.
    pub fn check_length(&self, input: &Input) -> Result<()> {
        let Some(most) = self.duration.filter(|_| !input.is_image()) else { return Ok(()) };
        let seconds = |time: i64| time as f64 / 1e6;
        let by_rate = input.frames.zip(input.rate()).map(|(frames, rate)| (frames as f64 / rate * 1e6) as i64);
        let length = match input.duration.or(by_rate) {
            Some(length) if length <= most => return Ok(()),
            Some(length) => format!("{:.1} s long", seconds(length)),
            None => "of a length that is not known beforehand".to_owned(),
        };
        let message = format!("{}: {length}: --max-duration allows for {:.1} s", input.name, seconds(most));
        Err(FailureKind::Limit.error(format!("{message} (--duration T takes a part)")))
    }

    /// The limits of frames and threads, for all that works on this run, and the available memory if the memory limit
    /// was computed from it. Also limits the allocations of FFmpeg, for the whole process.
    pub fn begin(&self) -> (Limits, Option<usize>) {
        let available = if self.memory.is_none() { Limits::available() } else { None };
        let memory = self.memory.unwrap_or_else(|| available.map_or(usize::MAX, |available| available / 2));
        limit_allocations(memory);
        let limits = Limits::default().with_pixels(self.pixels).with_memory(memory);
        let threads = self.threads.map(usize::from);
        (threads.into_iter().fold(limits, Limits::with_threads), available)
    }
}
