//! Progress while a run goes on: a bar, lines of text, and events.

use super::bar_line::BarLine;
use super::events::{Event, Events, ProgressRecord};
use crate::options::MeterStyle;
use histeq_media::pipeline::Progress;
use histeq_media::sys::print_line;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::{Duration, Instant};

/// Time between two printed lines.
const INTERVAL: Duration = Duration::from_millis(500);

/// Shows the progress of one run.
pub struct Meter {
    style: MeterStyle,
    events: Option<Events>,
    pass: Option<u32>,
    source: Option<usize>,
    frames: Option<u64>,
    /// How many of them were there before.
    before: u64,
    /// How many of its parts are done, if it has parts.
    part: Option<String>,
    begin: Instant,
    /// The time between two lines, and when the last one was printed.
    interval: Duration,
    printed: Instant,
    bar: ProgressBar,
}

impl Meter {
    /// Starts a meter for this many frames, if that is known: for this one of two passes, if there are two, and for the source
    /// of this number, if there are several. Sends events, too.
    pub fn start(
        (style, events): (MeterStyle, Option<Events>),
        frames: Option<u64>,
        pass: Option<u32>,
        source: Option<usize>,
    ) -> Self {
        let bar = match style {
            MeterStyle::Bar => ProgressBar::with_draw_target(
                frames,
                ProgressDrawTarget::term_like_with_hz(Box::new(BarLine::default()), 10),
            ),
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
        Meter {
            style,
            events,
            pass,
            source,
            frames,
            before: 0,
            part: None,
            begin: now,
            interval: INTERVAL,
            printed: now,
            bar,
        }
    }

    /// The bar; hidden in other styles.
    pub fn bar(&self) -> ProgressBar {
        self.bar.clone()
    }

    /// This many of the frames were there before: they do not count for the speed.
    pub fn set_before(&mut self, frames: u64) {
        self.before = frames;
    }

    /// Prints a line, and sends an event, this often.
    pub fn set_interval(&mut self, interval: Duration) {
        self.interval = interval;
    }

    /// Shows how many parts are done.
    pub fn set_part(&mut self, part: String) {
        self.part = Some(part);
    }

    /// Shows the progress.
    pub fn update(&mut self, progress: &Progress) {
        if self.style == MeterStyle::Bar {
            let record = self.record(progress, false);
            if let Some(frames) = self.frames.filter(|&frames| frames < record.frame) {
                // The container was wrong about its length.
                self.bar.set_length(frames.max(record.frame));
            }
            self.bar.set_position(record.frame);
            self.bar.set_message(match record.no_signal {
                Some(seconds) => no_signal(seconds),
                None => format!("{:.0} fps, {:.2}x{}", record.fps, record.speed, self.part()),
            });
        }
        if self.has_lines() && self.printed.elapsed() >= self.interval {
            self.printed = Instant::now();
            self.print(&self.record(progress, false));
        }
    }

    /// Removes the bar, or prints the last line. `done`: the run has succeeded.
    pub fn finish(&self, progress: &Progress, done: bool) {
        self.bar.finish_and_clear();
        if self.has_lines() {
            self.print(&self.record(progress, done));
        }
    }

    fn part(&self) -> String {
        self.part.as_ref().map(|part| format!(", {part}")).unwrap_or_default()
    }

    fn has_lines(&self) -> bool {
        self.style == MeterStyle::Plain || self.events.is_some()
    }

    fn record(&self, progress: &Progress, done: bool) -> ProgressRecord {
        let seconds = self.begin.elapsed().as_secs_f64().max(1e-6);
        let frame = progress.written();
        let fps = frame.saturating_sub(self.before) as f64 / seconds;
        let share = self.frames.filter(|&frames| frames > 0).map(|frames| (frame as f64 / frames as f64).min(1.0));
        let rest = self.frames.filter(|_| fps > 0.0).map(|frames| frames.saturating_sub(frame) as f64 / fps);
        ProgressRecord {
            pass: self.pass,
            source: self.source,
            frame,
            frames: self.frames,
            percent: if done { Some(100.0) } else { share.map(|share| rounded(share * 100.0, 10.0)) },
            fps: rounded(fps, 10.0),
            position: rounded(progress.position() as f64 / 1e6, 1000.0),
            speed: rounded(progress.position() as f64 / 1e6 / seconds, 100.0),
            eta: if done { Some(0.0) } else { rest.map(|rest| rounded(rest, 10.0)) },
            damaged: progress.damaged(),
            dropped: progress.dropped(),
            no_signal: progress.no_signal().map(|silence| rounded(silence.as_secs_f64(), 10.0)),
            latency_ms: progress.latency().map(|latency| rounded(latency.as_secs_f64() * 1e3, 10.0)),
        }
    }

    fn print(&self, record: &ProgressRecord) {
        self.events.iter().for_each(|events| events.send(&Event::Progress(record.clone())));
        if self.style == MeterStyle::Plain {
            let percent = record.percent.map(|percent| format!("{percent:5.1}%  ")).unwrap_or_default();
            let eta = record.eta.map(|eta| format!("  eta {eta:.0} s")).unwrap_or_default();
            let silence = record.no_signal.map(|seconds| format!("  {}", no_signal(seconds))).unwrap_or_default();
            let ProgressRecord { pass, source, frame, fps, speed, .. } = record;
            let (prefix, part) = (prefix(*pass, *source), self.part());
            print_line(&format!("{prefix}{percent}frame {frame}  {fps:.1} fps  {speed:.2}x{part}{eta}{silence}"));
        }
    }
}

fn no_signal(seconds: f64) -> String {
    format!("no signal for {seconds:.0} s")
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
