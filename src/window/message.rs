//! A message that is seen for a while: what became of a screenshot, for those who do not see the terminal.

use crossbeam_channel::{Receiver, Sender, unbounded};
use std::time::{Duration, Instant};

/// How long it is seen.
const WHILE: Duration = Duration::from_secs(3);

/// The newest message, and where more come from.
pub struct Messages {
    sender: Sender<String>,
    receiver: Receiver<String>,
    seen: Option<(String, Instant)>,
}

impl Default for Messages {
    fn default() -> Self {
        let (sender, receiver) = unbounded();
        Messages { sender, receiver, seen: None }
    }
}

impl Messages {
    /// Where other threads leave them.
    pub fn sender(&self) -> Sender<String> {
        self.sender.clone()
    }

    /// Brings the message up to date; whether it is another one than before.
    pub fn update(&mut self) -> bool {
        if let Some(text) = self.receiver.try_iter().last() {
            self.seen = Some((text, Instant::now()));
            return true;
        }
        self.seen.take_if(|(_, since)| since.elapsed() > WHILE).is_some()
    }

    /// What is seen now.
    pub fn text(&self) -> Option<&str> {
        self.seen.as_ref().map(|(text, _)| text.as_str())
    }
}
