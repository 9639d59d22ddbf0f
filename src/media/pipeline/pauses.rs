//! Exponential back-off between attempts to reopen a camera, a microphone or a connection.

use super::said;
use super::{Cancel, Notices};
use anyhow::Result;
use std::time::{Duration, Instant};

/// The first and the longest pause.
const MIN_PAUSE: Duration = Duration::from_millis(250);
const MAX_PAUSE: Duration = Duration::from_secs(4);

/// How many different errors are reported as notes while the run waits.
const MAX_NOTED: usize = 4;

/// The interval at which cancellation is checked during a pause.
const CHECK: Duration = Duration::from_millis(50);

/// Only one outage is reported in this time: an input that keeps ending right after opening would fill the log.
const SELDOM: Duration = Duration::from_secs(10);

/// Pauses, each twice as long as the one before, up to [`Pauses::MAX_PAUSE`].
pub struct Pauses {
    next: Duration,
    noted: Vec<String>,
}

impl Default for Pauses {
    fn default() -> Self {
        Pauses { next: MIN_PAUSE, noted: Vec::new() }
    }
}

impl Pauses {
    /// The longest pause.
    pub const MAX_PAUSE: Duration = MAX_PAUSE;

    /// Calls `open` after each pause until it succeeds. Reports the first few different errors of failed attempts as
    /// notes. Returns the result and the seconds passed; `None` if the run is cancelled, or at `end`.
    pub fn until_open<T>(
        &mut self,
        cancel: &Cancel,
        notices: &Notices,
        end: Option<Instant>,
        mut open: impl FnMut() -> Result<T>,
    ) -> Option<(T, f64)> {
        let begin = Instant::now();
        let left = || end.map_or(Self::MAX_PAUSE, |end| end.saturating_duration_since(Instant::now()));
        while self.wait_at_most(left().min(Self::MAX_PAUSE), cancel) && !left().is_zero() {
            let error = match open() {
                Ok(open) => return Some((open, begin.elapsed().as_secs_f64())),
                Err(error) => said(&error),
            };
            if self.noted.len() < MAX_NOTED && !self.noted.contains(&error) && !left().is_zero() {
                notices.note(&error);
                self.noted.push(error);
            } else {
                notices.detail(&error);
            }
        }
        None
    }

    /// Returns the pause before the next attempt, and doubles the pause after that.
    pub fn longer(&mut self) -> Duration {
        let pause = self.next;
        self.next = (pause * 2).min(MAX_PAUSE);
        pause
    }

    /// Waits until the next attempt, for at most `most`. Returns false if the run is cancelled.
    pub fn wait_at_most(&mut self, most: Duration, cancel: &Cancel) -> bool {
        let (begin, pause) = (Instant::now(), self.longer().min(most));
        while begin.elapsed() < pause {
            if cancel.is_cancelled() {
                return false;
            }
            std::thread::sleep(CHECK);
        }
        !cancel.is_cancelled()
    }
}

/// Whether an input is lost. The outage ends with the first new frame: opening the input is not enough.
#[derive(Default)]
pub struct Outage {
    lost: Option<LostInput>,
    /// When an outage was last reported.
    told: Option<Instant>,
}

struct LostInput {
    since: Instant,
    is_told: bool,
    pauses: Pauses,
}

impl Outage {
    /// Begins an outage and reports `message`. If one was reported recently or lasts, the message is only a detail.
    pub fn begin(&mut self, notices: &Notices, message: &str) {
        let since = Instant::now();
        let is_told = self.lost.is_none() && self.told.is_none_or(|told| since - told >= SELDOM);
        if is_told {
            notices.waiting(&format!("{message}; waiting for it to come back"));
            self.told = Some(since);
        } else {
            notices.detail(message);
        }
        self.lost.get_or_insert_with(|| LostInput { since, is_told, pauses: Pauses::default() });
    }

    /// Tries to reopen the input as [`Pauses::until_open`] does, with the pauses of this outage.
    pub fn until_open<T>(
        &mut self,
        cancel: &Cancel,
        notices: &Notices,
        end: Option<Instant>,
        open: impl FnMut() -> Result<T>,
    ) -> Option<T> {
        let mut without_loss = Pauses::default();
        let pauses = self.lost.as_mut().map_or(&mut without_loss, |lost| &mut lost.pauses);
        pauses.until_open(cancel, notices, end, open).map(|(open, _)| open)
    }

    /// Ends the outage, because the input `name` has given a frame.
    pub fn end(&mut self, notices: &Notices, name: &str) {
        let Some(LostInput { since, is_told, .. }) = self.lost.take() else { return };
        let message = format!("{name}: back after {:.1} s", since.elapsed().as_secs_f64());
        if is_told { notices.back(&message) } else { notices.detail(&message) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::Level;
    use std::sync::{Arc, Mutex};

    #[test]
    fn an_input_that_opens_and_gives_nothing_is_waited_for_longer_and_longer_and_told_once() {
        let said = Arc::new(Mutex::new(Vec::new()));
        let told = said.clone();
        let notices = Notices::new(false, move |level, message| {
            told.lock().expect("a list").push((level, message.to_owned()));
        });
        let (mut outage, cancel) = (Outage::default(), Cancel::default());
        let mut waits = Vec::new();
        for _ in 0..3 {
            outage.begin(&notices, "camera: the stream has ended");
            let begin = Instant::now();
            assert!(outage.until_open(&cancel, &notices, None, || Ok(())).is_some());
            waits.push(begin.elapsed());
        }
        assert!(waits[1] >= 2 * MIN_PAUSE && waits[2] >= 4 * MIN_PAUSE, "{waits:?}");
        outage.end(&notices, "camera");
        // After a frame, another outage begins within [`SELDOM`], so it is only a detail.
        outage.begin(&notices, "camera: the stream has ended");
        outage.end(&notices, "camera");
        let said = said.lock().expect("a list");
        let levels: Vec<Level> = said.iter().map(|(level, _)| *level).collect();
        let expected = [Level::Waiting, Level::Detail, Level::Detail, Level::Back, Level::Detail, Level::Detail];
        assert_eq!(levels, expected, "{said:?}");
        assert!(said[3].1.starts_with("camera: back after "), "{said:?}");
    }
}
