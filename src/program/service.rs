//! Notifies a service manager of the state of a run: systemd, with `Type=notify`. Without one, nothing is sent.

use sd_notify::{NotifyState, notify};
use std::time::{Duration, Instant};

/// A run that may be a service.
pub struct Service {
    /// The interval of notifications that the run is alive; `None` if the manager wants none.
    interval: Option<Duration>,
    next: Instant,
}

impl Service {
    /// Sends that the service is ready.
    pub fn ready() -> Self {
        send(&[NotifyState::Ready]);
        // Twice as often as the manager demands.
        Service { interval: sd_notify::watchdog_enabled().map(|most| most / 2), next: Instant::now() }
    }

    /// Sends that the run is alive. To be called at least every 100 ms.
    pub fn alive(&mut self) {
        let now = Instant::now();
        if let Some(interval) = self.interval.filter(|_| now >= self.next) {
            send(&[NotifyState::Watchdog]);
            self.next = now + interval;
        }
    }

    /// Calls `read`, which reads the configuration again. Notifies the manager before and after.
    pub fn reload(&self, read: impl FnOnce()) {
        match NotifyState::monotonic_usec_now() {
            Ok(now) => send(&[NotifyState::Reloading, now]),
            Err(_) => send(&[NotifyState::Reloading]),
        }
        read();
        send(&[NotifyState::Ready]);
    }
}

impl Drop for Service {
    /// Sends that the run ends.
    fn drop(&mut self) {
        send(&[NotifyState::Stopping]);
    }
}

/// Ignores errors: a run does not depend on its manager.
fn send(state: &[NotifyState<'_>]) {
    let _ = notify(state);
}
