//! Settings that can be changed during a live run.

use histeq::internal::spec::Settings;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The current settings, shared by its clones.
#[derive(Clone, Default)]
pub struct SharedSettings {
    settings: Arc<Mutex<Settings>>,
    recording_is_paused: Arc<AtomicBool>,
}

impl SharedSettings {
    /// The current settings.
    pub fn get(&self) -> Settings {
        *self.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the settings for all frames that are equalized from now on.
    pub fn set(&self, settings: Settings) {
        *self.settings.lock().unwrap_or_else(PoisonError::into_inner) = settings;
    }

    /// Whether recordings currently receive neither frames nor audio.
    pub fn is_recording_paused(&self) -> bool {
        self.recording_is_paused.load(Ordering::Relaxed)
    }

    /// Pauses or resumes recordings. Other outputs still receive all frames.
    pub fn pause_recording(&self, pause: bool) {
        self.recording_is_paused.store(pause, Ordering::Relaxed);
    }
}
