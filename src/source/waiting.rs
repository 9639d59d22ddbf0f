//! The pauses between attempts to open again what is gone.

use crate::pipeline::Cancel;
use std::time::{Duration, Instant};

/// The first pause, and the longest.
const SHORTEST: Duration = Duration::from_millis(250);
const LONGEST: Duration = Duration::from_secs(4);

/// How often a pause checks for cancellation.
const LOOK: Duration = Duration::from_millis(50);

/// Pauses, each twice as long as the one before.
pub struct Pauses(Duration);

impl Default for Pauses {
    fn default() -> Self {
        Pauses(SHORTEST)
    }
}

impl Pauses {
    /// Waits for the next attempt; false when the run is cancelled.
    pub fn wait(&mut self, cancel: &Cancel) -> bool {
        let begin = Instant::now();
        while begin.elapsed() < self.0 {
            if cancel.is_cancelled() {
                return false;
            }
            std::thread::sleep(LOOK);
        }
        self.0 = (self.0 * 2).min(LONGEST);
        !cancel.is_cancelled()
    }
}
