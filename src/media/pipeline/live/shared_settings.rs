//! Settings that can be changed during a live run.

use histeq::spec::Settings;
use std::sync::{Arc, Mutex, PoisonError};

/// The current settings, shared by its clones.
#[derive(Clone, Default)]
pub struct SharedSettings(Arc<Mutex<Settings>>);

impl SharedSettings {
    /// Starts with `settings`.
    pub fn new(settings: Settings) -> Self {
        SharedSettings(Arc::new(Mutex::new(settings)))
    }

    /// The current settings.
    pub fn get(&self) -> Settings {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the settings, from the next frame that is equalized on.
    pub fn set(&self, settings: Settings) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = settings;
    }
}
