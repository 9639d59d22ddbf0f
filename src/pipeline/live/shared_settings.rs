//! Settings that can be turned while the camera films.

use crate::spec::Settings;
use std::sync::{Arc, Mutex, PoisonError};

/// The settings at hand; shared by its clones.
#[derive(Clone, Default)]
pub struct SharedSettings(Arc<Mutex<Settings>>);

impl SharedSettings {
    /// Begins with these.
    pub fn new(settings: Settings) -> Self {
        SharedSettings(Arc::new(Mutex::new(settings)))
    }

    /// What it stands at.
    pub fn get(&self) -> Settings {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Turns it; the next frame to be equalized shows it.
    pub fn set(&self, settings: Settings) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = settings;
    }
}
