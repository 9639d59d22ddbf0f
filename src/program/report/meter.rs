//! Progress while a run goes on: a bar, lines of text, and events.

use super::bar_line::BarLine;
use super::events::{Event, Events, ProgressRecord};
use super::summary::counted;
use super::width::{cut, shown};
use crate::options::writing::MeterStyle;
use histeq_media::pipeline::{Input, Progress};
use histeq_media::sys::{print_line, printable};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Time between two printed lines.
const INTERVAL: Duration = Duration::from_millis(500);

/// The time over which the rate of a live run is measured.
const NOW: Duration = Duration::from_secs(3);

/// The time from the first frames until the remaining time is estimated.
const SURE: Duration = Duration::from_secs(1);

/// The steps of the bar.
const STEPS: f64 = 1000.0;

/// The most terminal columns of a file's name after the bar.
const NAME: usize = 24;

/// The work whose progress a meter shows.
#[derive(Clone, Debug, Default)]
pub struct Metered {
    /// Number of frames, if known.
    pub frames: Option<u64>,
    /// The share that is done, 0 to 1, of work that is not counted in frames.
    pub share: Option<f64>,
    /// Frames a second of the video, if known.
    pub rate: Option<f64>,
    /// Which of two passes this is, if there are two.
    pub pass: Option<u32>,
    /// Number of the source, and its name, if there are several.
    pub source: Option<usize>,
    pub name: Option<String>,
    /// Whether the run is live: the present rate is shown, not the mean of the run.
    pub is_live: bool,
}

impl Metered {
    /// The frames of `input`.
    pub fn for_input(input: &Input) -> Self {
        Metered { frames: input.frames, rate: input.rate(), ..Metered::default() }
    }
}

/// Shows the progress of one run.
pub struct Meter {
    style: MeterStyle,
    events: Option<Events>,
    pub metered: Metered,
    /// How many of the frames were done before this run: they do not count for the speed.
    pub before: u64,
    /// How many pieces or files are done, if the work has such parts, and the file that is worked on.
    pub part: Option<String>,
    pub file: Option<String>,
    begin: Instant,
    /// When the first frames were done, and how much of the work was done then.
    first: Option<(Instant, f64)>,
    /// Counts of frames of the last seconds of a live run, oldest first.
    counts: VecDeque<(Instant, u64)>,
    /// The time between two lines or events.
    pub interval: Duration,
    /// When the last line was printed.
    printed: Instant,
    /// The progress bar, hidden in other styles.
    pub bar: ProgressBar,
}

impl Meter {
    /// Starts a meter, which also sends events.
    pub fn start((style, events): (MeterStyle, Option<Events>), metered: Metered) -> Self {
        let has_end = metered.frames.is_some() || metered.share.is_some();
        let bar = match style {
            MeterStyle::Bar => ProgressBar::with_draw_target(
                has_end.then_some(STEPS as u64),
                ProgressDrawTarget::term_like_with_hz(Box::new(BarLine::default()), 10),
            ),
            _ => ProgressBar::hidden(),
        };
        let template = if has_end { "{prefix}{wide_bar} {msg}" } else { "{prefix}{spinner} {msg}" };
        // The templates are constants, and valid.
        bar.set_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()));
        let now = Instant::now();
        Meter {
            style,
            events,
            metered,
            before: 0,
            part: None,
            file: None,
            begin: now,
            first: None,
            counts: VecDeque::from([(now, 0)]),
            interval: INTERVAL,
            printed: now,
            bar,
        }
    }

    /// Shows the progress.
    pub fn update(&mut self, progress: &Progress) {
        self.count(progress.written());
        if self.style == MeterStyle::Bar {
            let record = self.record(progress, false);
            let [before, behind] = self.around_bar(&record);
            self.bar.set_prefix(before);
            self.bar.set_message(behind);
            self.bar.set_position(record.percent.map_or(0, |percent| (percent / 100.0 * STEPS) as u64));
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

    /// The text before and after the bar. A narrow terminal cuts off the end, so what matters most comes first.
    fn around_bar(&self, record: &ProgressRecord) -> [String; 2] {
        let percent = record.percent.map(|percent| format!("{:>3.0}% ", percent.floor())).unwrap_or_default();
        let eta = record.eta.map(|eta| format!("ETA {} ", clock(eta))).unwrap_or_default();
        let before = format!("{percent}{eta}{}", self.prefix());
        if let Some(seconds) = record.no_signal {
            return [before, no_signal(seconds)];
        }
        let name = |file: &str| format!(": {}", cut(&printable(file.rsplit('/').next().unwrap_or(file)), NAME));
        let part = self.part(name).map(|part| format!("{part}, ")).unwrap_or_default();
        let frames = match record.frames {
            // The container's number of frames may be too low.
            Some(frames) => format!("{}/{} frames", record.frame, frames.max(record.frame)),
            None => counted(record.frame, "frame"),
        };
        let rates = self.rates(record, ", ");
        let time = match record.percent {
            Some(_) => String::new(),
            None => format!(", {} so far", clock(self.begin.elapsed().as_secs_f64())),
        };
        [before, format!("{part}{frames}, {rates}{time}")]
    }

    /// Remembers when the first frames were done and, for a live run, the latest counts of frames.
    fn count(&mut self, frames: u64) {
        let now = Instant::now();
        if frames > self.before {
            let (done, _) = self.done(frames);
            self.first.get_or_insert((now, done));
        }
        if self.metered.is_live {
            self.counts.push_back((now, frames));
            // The rate is measured from the last count that is at least `NOW` old.
            while self.counts.get(1).is_some_and(|&(time, _)| now - time >= NOW) {
                self.counts.pop_front();
            }
        }
    }

    /// How many parts are done, with the file that is worked on as `name` shows it.
    fn part(&self, name: impl Fn(&str) -> String) -> Option<String> {
        let file = self.file.as_deref().map(name).unwrap_or_default();
        self.part.as_ref().map(|part| format!("{part}{file}"))
    }

    /// The text in front of the progress of one of two passes, or of one of several sources.
    fn prefix(&self) -> String {
        let pass = self.metered.pass.map(|pass| format!("pass {pass} of 2  "));
        pass.or(self.metered.name.as_ref().map(|name| format!("{name}: "))).unwrap_or_default()
    }

    /// Frames a second, and the speed relative to playback. Before the first frame is written, what the run waits for:
    /// corrections look ahead, and encoders hold frames.
    fn rates(&self, ProgressRecord { frame, decoded, fps, speed, .. }: &ProgressRecord, between: &str) -> String {
        match (*frame > self.before, *decoded) {
            (true, _) => format!("{fps:.0$} fps{between}{speed:.2}x", usize::from(*fps < 9.95)),
            (false, 0) => "waiting for the first frame".to_owned(),
            (false, decoded) => format!("reading ahead: {}", counted(decoded, "frame")),
        }
    }

    fn has_lines(&self) -> bool {
        self.style == MeterStyle::Plain || self.events.is_some()
    }

    /// The amount of work that is done, and the total, if known.
    fn done(&self, frames: u64) -> (f64, Option<f64>) {
        let by_frames = (frames as f64, self.metered.frames.filter(|&all| all > 0).map(|all| all as f64));
        self.metered.share.map_or(by_frames, |share| (share, Some(1.0)))
    }

    /// The work that is done per second since the first frames: before them, the encoder only filled its queue.
    fn steady(&self, done: f64) -> Option<f64> {
        let (time, first) = self.first.filter(|(time, _)| time.elapsed() >= SURE)?;
        Some((done - first) / time.elapsed().as_secs_f64()).filter(|rate| *rate > 0.0)
    }

    /// Frames a second: since the beginning or, in a live run, within the last [`NOW`].
    fn fps(&self, frame: u64) -> f64 {
        let (since, before) = match self.counts.front() {
            Some(&oldest) if self.metered.is_live => oldest,
            _ => (self.begin, self.before),
        };
        frame.saturating_sub(before) as f64 / since.elapsed().as_secs_f64().max(1e-6)
    }

    fn record(&self, progress: &Progress, done: bool) -> ProgressRecord {
        let (frame, frames) = (progress.written(), self.metered.frames);
        let (fps, position) = (self.fps(frame), progress.position() as f64 / 1e6);
        let read = progress.decoded() as f64 / position;
        let rate = self.metered.rate.or(Some(read).filter(|rate| rate.is_normal()));
        let (part, all) = self.done(frame);
        let share = all.map(|all| (part / all).min(1.0));
        let rest = all.zip(self.steady(part)).map(|(all, rate)| (all - part).max(0.0) / rate);
        ProgressRecord {
            pass: self.metered.pass,
            source: self.metered.source,
            decoded: progress.decoded(),
            frame,
            frames,
            percent: if done { Some(100.0) } else { share.map(|share| rounded(share * 100.0, 10.0)) },
            fps: rounded(fps, 10.0),
            position: rounded(position, 1000.0),
            speed: rounded(rate.map_or(0.0, |rate| fps / rate), 100.0),
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
            let (frame, rates, prefix) = (record.frame, self.rates(record, "  "), self.prefix());
            let part = self.part(|file| format!(": {file}")).map(|part| format!("  {part}")).unwrap_or_default();
            print_line(&shown(&format!("{prefix}{percent}frame {frame}  {rates}{eta}{silence}{part}")));
        }
    }
}

fn no_signal(seconds: f64) -> String {
    format!("no signal for {seconds:.0} s")
}

/// A time as on a clock: `48s`, `1:05`, `2:00:10`.
fn clock(seconds: f64) -> String {
    let seconds = seconds.round() as u64;
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds}s"),
        (0, minutes, seconds) => format!("{minutes}:{seconds:02}"),
        (hours, minutes, seconds) => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

/// Rounds to multiples of 1/`parts`, to limit the digits in JSON.
fn rounded(value: f64, parts: f64) -> f64 {
    (value * parts).round() / parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meter(metered: Metered) -> Meter {
        Meter::start((MeterStyle::Silent, None), metered)
    }

    #[test]
    fn rates_are_shown_only_when_they_are_known() {
        let meter = meter(Metered { frames: Some(30), rate: Some(25.0), ..Metered::default() });
        let progress = Progress::default();
        let text = |progress: &Progress| meter.rates(&meter.record(progress, false), ", ");
        assert_eq!(text(&progress), "waiting for the first frame");
        (1..=12).for_each(|frame| progress.count_decoded(frame * 40_000));
        let record = meter.record(&progress, false);
        assert_eq!((record.decoded, record.frame, record.eta, record.speed), (12, 0, None, 0.0));
        assert_eq!(text(&progress), "reading ahead: 12 frames");
        progress.reach(3, 12, 480_000, 0);
        assert!(text(&progress).contains(" fps, "), "{}", text(&progress));
    }

    #[test]
    fn speed_is_the_rate_of_frames_by_that_of_the_video() {
        let mut meter = meter(Metered { frames: Some(1000), rate: Some(12.5), ..Metered::default() });
        let ago = |seconds| Instant::now().checked_sub(Duration::from_secs(seconds)).expect("a time");
        (meter.begin, meter.first) = (ago(10), Some((ago(5), 11.0)));
        let progress = Progress::default();
        // Far more has been read than written.
        progress.reach(211, 900, 72_000_000, 0);
        let record = meter.record(&progress, false);
        assert!((record.fps - 21.1).abs() < 0.11 && (record.speed - 1.69).abs() < 0.02, "{record:?}");
        assert!(record.eta.is_some_and(|eta| (eta - 789.0 / 40.0).abs() < 0.2), "{record:?}");
        assert_eq!(meter.rates(&ProgressRecord { fps: 4.25, speed: 0.171, ..record.clone() }, ", "), "4.2 fps, 0.17x");
        assert_eq!(meter.rates(&ProgressRecord { fps: 21.1, ..record }, "  "), "21 fps  1.69x");
    }

    #[test]
    fn what_matters_most_is_cut_off_last() {
        let mut meter = meter(Metered { frames: Some(1000), rate: Some(12.5), ..Metered::default() });
        let ago = |seconds| Instant::now().checked_sub(Duration::from_secs(seconds)).expect("a time");
        (meter.begin, meter.first) = (ago(10), Some((ago(5), 11.0)));
        let progress = Progress::default();
        progress.reach(211, 900, 72_000_000, 0);
        let [before, behind] = meter.around_bar(&meter.record(&progress, false));
        assert!(
            before.starts_with(" 21% ETA ") && behind.starts_with("211/1000 frames, 21 fps, 1.6"),
            "{before}{behind}"
        );
        // For many files, the share is computed from their sizes.
        meter.metered = Metered { share: Some(0.25), ..Metered::default() };
        meter.first = Some((ago(5), 0.0));
        (meter.part, meter.file) =
            (Some("1/4 files".to_owned()), Some("card/day 1/a-name-of-many-letters-0001.mp4".to_owned()));
        let record = meter.record(&progress, false);
        assert_eq!((record.percent, record.frames), (Some(25.0), None));
        assert!(record.eta.is_some_and(|eta| (eta - 15.0).abs() < 0.5), "{record:?}");
        let [before, behind] = meter.around_bar(&record);
        assert!(before.starts_with(" 25% ETA 15s "), "{before}");
        assert!(
            behind.starts_with("1/4 files: a-name-…letters-0001.mp4, 211 frames, ") && !behind.contains("so far"),
            "{behind}"
        );
    }

    #[test]
    fn a_live_run_shows_the_rate_of_now() {
        let mut meter = meter(Metered { rate: Some(10.0), is_live: true, ..Metered::default() });
        let ago = |seconds: f64| Instant::now().checked_sub(Duration::from_secs_f64(seconds)).expect("a time");
        // No frames for a minute, then ten a second.
        meter.counts = [(60.0, 0), (3.5, 0), (1.0, 25)].map(|(seconds, frames)| (ago(seconds), frames)).into();
        meter.begin = ago(60.0);
        let progress = Progress::default();
        progress.reach(35, 35, 3_500_000, 0);
        meter.update(&progress);
        let record = meter.record(&progress, false);
        assert!((record.fps - 10.0).abs() < 0.2 && (record.speed - 1.0).abs() < 0.03, "{record:?}");
        assert!(meter.counts.len() == 3, "{:?}", meter.counts);
    }

    #[test]
    fn times_are_those_of_a_clock() {
        for (seconds, text) in [(0.4, "0s"), (59.0, "59s"), (65.0, "1:05"), (7210.0, "2:00:10")] {
            assert_eq!(clock(seconds), text);
        }
    }
}
