//! A message in the status line for a few seconds: the result of a screenshot.

use crossbeam_channel::{Receiver, Sender, unbounded};
use std::time::{Duration, Instant};

/// How long a message is shown.
const SHOWN_FOR: Duration = Duration::from_secs(3);

/// The newest message, and the channel of messages.
pub struct Messages {
    /// The sender for other threads.
    pub sender: Sender<String>,
    receiver: Receiver<String>,
    shown: Option<(String, Instant)>,
}

impl Default for Messages {
    fn default() -> Self {
        let (sender, receiver) = unbounded();
        Messages { sender, receiver, shown: None }
    }
}

impl Messages {
    /// Receives new messages, and removes an old one. Returns whether the shown message has changed.
    pub fn update(&mut self) -> bool {
        if let Some(text) = self.receiver.try_iter().last() {
            self.shown = Some((text, Instant::now()));
            return true;
        }
        self.shown.take_if(|(_, since)| since.elapsed() > SHOWN_FOR).is_some()
    }

    /// The shown message.
    pub fn text(&self) -> Option<&str> {
        self.shown.as_ref().map(|(text, _)| text.as_str())
    }
}
