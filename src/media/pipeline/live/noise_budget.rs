//! Limits denoising to what the machine can do in real time: if it delays frames, it is switched off.

use crate::pipeline::Notices;
use histeq::internal::spec::parameters::{Denoise, Settings};
use std::time::{Duration, Instant};

/// How long denoising stays off. After that, the machine may be less busy, or the frames less noisy.
const PAUSE: Duration = Duration::from_secs(60 * 60);

/// Decides for each frame whether it may be denoised.
pub(super) struct NoiseBudget {
    /// Whether denoising is switched off if it takes too long; else the user's settings are kept.
    is_limited: bool,
    /// Whether the last frame was denoised.
    removes: bool,
    pauses_until: Option<Instant>,
    is_told: bool,
    notices: Notices,
}

impl NoiseBudget {
    pub(super) fn new(is_limited: bool, notices: Notices) -> Self {
        NoiseBudget { is_limited, removes: false, pauses_until: None, is_told: false, notices }
    }

    /// The settings for the next frame at the time `now`; `is_late` tells whether captured frames wait.
    pub(super) fn limit(&mut self, settings: Settings, is_late: bool, now: Instant) -> Settings {
        if !self.is_limited || settings.denoise == Denoise::Off {
            return settings;
        }
        if self.removes && is_late {
            (self.removes, self.pauses_until) = (false, Some(now + PAUSE));
            if !std::mem::replace(&mut self.is_told, true) {
                self.notices.note(
                    "noise stays in the picture: this machine does not remove it as fast as frames come (--denoise 1 \
                     removes it all the same, a smaller picture takes less time)",
                );
            }
        }
        match self.pauses_until.is_some_and(|until| now < until) {
            true => Settings { denoise: Denoise::Off, ..settings },
            false => settings,
        }
    }

    /// Stores whether the last frame was denoised.
    pub(super) fn look(&mut self, removed: bool) {
        self.removes = removed;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use histeq::internal::spec::parameters::{Cleaner, Effort, Strength};

    #[test]
    fn noise_stays_for_an_hour_where_frames_wait_for_its_removal() {
        let effort = Effort::Fast;
        let denoise = Denoise::AsShown(Cleaner { share: Strength::FULL, effort, around: (effort.reach(), 0) });
        let settings = Settings { denoise, ..Settings::default() };
        let (mut budget, begin) = (NoiseBudget::new(true, Notices::silent()), Instant::now());
        let mut value_at = |seconds: u64, is_late: bool, removed: bool| {
            let limited = budget.limit(settings, is_late, begin + Duration::from_secs(seconds));
            budget.look(removed && limited.denoise != Denoise::Off);
            limited.denoise != Denoise::Off
        };
        // If frames wait although the last one was not denoised, denoising stays on.
        assert!(value_at(0, true, false) && value_at(1, false, true));
        assert!(!value_at(2, true, true) && !value_at(3, false, true) && !value_at(3601, false, true));
        assert!(value_at(3603, false, true) && !value_at(3604, true, true));
        let mut asked = NoiseBudget::new(false, Notices::silent());
        asked.look(true);
        assert_eq!(asked.limit(settings, true, begin), settings);
    }
}
