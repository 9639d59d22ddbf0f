//! Progress while a run goes on: a bar, lines of text, or lines of JSON.

use crate::io::print_line;
use crate::pipeline::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use std::time::{Duration, Instant};

/// Time between two printed lines.
const INTERVAL: Duration = Duration::from_millis(500);

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeterStyle {
    /// A progress bar.
    Bar,
    /// Lines of text.
    Plain,
    /// Lines of JSON.
    Json,
    /// Nothing.
    Silent,
}

impl MeterStyle {
    /// The style for each of several sources: a bar is for all of them.
    #[must_use]
    pub fn of_each(self) -> Self {
        if self == MeterStyle::Bar { MeterStyle::Silent } else { self }
    }

    /// The style for all of several sources: lines are for each of them.
    #[must_use]
    pub fn of_all(self) -> Self {
        if self == MeterStyle::Bar { self } else { MeterStyle::Silent }
    }
}

/// One state of a run, as `--progress json` prints it.
#[derive(Serialize)]
struct ProgressRecord {
    /// Which of two passes runs, 1 or 2, if there are two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pass: Option<u32>,
    /// Number of the source, from 1, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<usize>,
    /// Frames written.
    frame: u64,
    /// Frames in all, if known.
    frames: Option<u64>,
    /// Percent done, 0 to 100, if the length is known.
    percent: Option<f64>,
    /// Frames per second since the beginning.
    fps: f64,
    /// Seconds of video per second.
    speed: f64,
    /// Seconds left, if known.
    eta: Option<f64>,
    /// Damaged frames and packets.
    damaged: u64,
    /// Whether the run has succeeded: in the last record.
    done: bool,
}

/// Shows the progress of one run.
pub struct Meter {
    style: MeterStyle,
    pass: Option<u32>,
    source: Option<usize>,
    frames: Option<u64>,
    begin: Instant,
    printed: Instant,
    bar: ProgressBar,
}

impl Meter {
    /// Starts a meter for this many frames, if that is known: for this one of two passes, if there are two, and for the source
    /// of this number, if there are several.
    pub fn start(style: MeterStyle, frames: Option<u64>, pass: Option<u32>, source: Option<usize>) -> Self {
        let bar = match style {
            MeterStyle::Bar => ProgressBar::with_draw_target(frames, ProgressDrawTarget::stderr_with_hz(10)),
            _ => ProgressBar::hidden(),
        };
        let template = match frames {
            Some(_) => "{prefix}{percent:>3}% {wide_bar} {pos}/{len} frames {msg} ETA {eta}",
            None => "{prefix}{spinner} {pos} frames {msg} {elapsed}",
        };
        // The templates are constants, and valid.
        bar.set_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_prefix(prefix(pass, source));
        let now = Instant::now();
        Meter { style, pass, source, frames, begin: now, printed: now, bar }
    }

    /// The bar; hidden in other styles.
    pub fn bar(&self) -> ProgressBar {
        self.bar.clone()
    }

    /// Shows the progress.
    pub fn update(&mut self, progress: &Progress) {
        match self.style {
            MeterStyle::Silent => {}
            MeterStyle::Bar => {
                let record = self.record(progress, false);
                if let Some(frames) = self.frames.filter(|&frames| frames < record.frame) {
                    // The container was wrong about its length.
                    self.bar.set_length(frames.max(record.frame));
                }
                self.bar.set_position(record.frame);
                self.bar.set_message(format!("{:.0} fps, {:.2}x", record.fps, record.speed));
            }
            MeterStyle::Plain | MeterStyle::Json => {
                if self.printed.elapsed() >= INTERVAL {
                    self.printed = Instant::now();
                    self.print(&self.record(progress, false));
                }
            }
        }
    }

    /// Removes the bar, or prints the last line. `done`: the run has succeeded.
    pub fn finish(&self, progress: &Progress, done: bool) {
        self.bar.finish_and_clear();
        if matches!(self.style, MeterStyle::Plain | MeterStyle::Json) {
            self.print(&self.record(progress, done));
        }
    }

    fn record(&self, progress: &Progress, done: bool) -> ProgressRecord {
        let seconds = self.begin.elapsed().as_secs_f64().max(1e-6);
        let frame = progress.written();
        let fps = frame as f64 / seconds;
        let share = self.frames.filter(|&frames| frames > 0).map(|frames| (frame as f64 / frames as f64).min(1.0));
        let rest = self.frames.filter(|_| fps > 0.0).map(|frames| frames.saturating_sub(frame) as f64 / fps);
        ProgressRecord {
            pass: self.pass,
            source: self.source,
            frame,
            frames: self.frames,
            percent: if done { Some(100.0) } else { share.map(|share| rounded(share * 100.0, 10.0)) },
            fps: rounded(fps, 10.0),
            speed: rounded(progress.position() as f64 / 1e6 / seconds, 100.0),
            eta: if done { Some(0.0) } else { rest.map(|rest| rounded(rest, 10.0)) },
            damaged: progress.damaged(),
            done,
        }
    }

    fn print(&self, record: &ProgressRecord) {
        let line = match self.style {
            MeterStyle::Json => serde_json::to_string(record).unwrap_or_default(),
            _ => {
                let percent = record.percent.map(|percent| format!("{percent:5.1}%  ")).unwrap_or_default();
                let eta = record.eta.map(|eta| format!("  eta {eta:.0} s")).unwrap_or_default();
                let ProgressRecord { pass, source, frame, fps, speed, .. } = record;
                format!("{}{percent}frame {frame}  {fps:.1} fps  {speed:.2}x{eta}", prefix(*pass, *source))
            }
        };
        print_line(&line);
    }
}

/// What stands in front of the progress of one of two passes, or of one of several sources.
fn prefix(pass: Option<u32>, source: Option<usize>) -> String {
    let pass = pass.map(|pass| format!("pass {pass} of 2  "));
    pass.or(source.map(|source| format!("source {source}  "))).unwrap_or_default()
}

/// Rounds to multiples of 1/`parts`, to limit the digits in JSON.
fn rounded(value: f64, parts: f64) -> f64 {
    (value * parts).round() / parts
}
