//! Exponential back-off between attempts to open a camera, a microphone or a connection again.

use super::{Cancel, Notices};
use anyhow::Result;
use std::time::{Duration, Instant};

/// The first pause, and the longest.
const SHORTEST: Duration = Duration::from_millis(250);
const LONGEST: Duration = Duration::from_secs(4);

/// How many different errors are noted while something is waited for.
const MOST_NOTED: usize = 4;

/// Interval of checks for cancellation during a pause.
const CHECK: Duration = Duration::from_millis(50);

/// Pauses of which each is twice as long as the one before, up to [`Pauses::LONGEST`].
pub struct Pauses(Duration);

impl Default for Pauses {
    fn default() -> Self {
        Pauses(SHORTEST)
    }
}

impl Pauses {
    /// The longest pause.
    pub const LONGEST: Duration = LONGEST;

    /// Calls `open` after each pause until it succeeds, and notes the first few different errors of the attempts before.
    /// Returns its result and the seconds that have passed; `None` when the run is cancelled, or at `end`.
    pub fn until_open<T>(
        cancel: &Cancel,
        notices: &Notices,
        end: Option<Instant>,
        mut open: impl FnMut() -> Result<T>,
    ) -> Option<(T, f64)> {
        let (begin, mut pauses, mut noted) = (Instant::now(), Pauses::default(), Vec::new());
        let left = || end.map_or(Self::LONGEST, |end| end.saturating_duration_since(Instant::now()));
        while pauses.wait_at_most(left().min(Self::LONGEST), cancel) && !left().is_zero() {
            let error = match open() {
                Ok(open) => return Some((open, begin.elapsed().as_secs_f64())),
                Err(error) => format!("{error:#}"),
            };
            if noted.len() < MOST_NOTED && !noted.contains(&error) && !left().is_zero() {
                notices.note(&error);
                noted.push(error);
            } else {
                notices.detail(&error);
            }
        }
        None
    }

    /// The pause before the next attempt; doubles the one after it.
    pub fn longer(&mut self) -> Duration {
        let pause = self.0;
        self.0 = (pause * 2).min(LONGEST);
        pause
    }

    /// Waits until the next attempt, for at most this long; false when the run is cancelled.
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
