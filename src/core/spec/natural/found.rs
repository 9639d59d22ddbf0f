//! The measured deficiencies of a scene.

use std::fmt;

/// How much of each deficiency a scene has, and the gains of its correction, in 4096ths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The share of darkness.
    pub dark: i32,
    /// The share of a colour cast.
    pub cast: i32,
    /// The share of the stretch, which rises with the unused levels.
    pub unused: i32,
    /// The share of a veil.
    pub veil: i32,
    /// The gain of the exposure.
    pub exposure: i32,
    /// The gain of the levels in use.
    pub contrast: i32,
    /// The share of the noise that is removed.
    pub noise: i32,
    /// The share of the flicker of the light that is evened out.
    pub flicker: i32,
    /// The share of frames that look like log footage.
    pub log: i32,
    /// The share of frames with bars that are left out.
    pub bars: i32,
    /// The share of frames with letters over the picture that are left out.
    pub captions: i32,
}

impl Found {
    /// The result for a scene that lacks nothing.
    pub const NOTHING: Found = Found {
        dark: 0,
        cast: 0,
        unused: 0,
        veil: 0,
        exposure: 4096,
        contrast: 4096,
        noise: 0,
        flicker: 0,
        log: 0,
        bars: 0,
        captions: 0,
    };

    /// Whether most of the scene looks like log footage.
    pub fn looks_log(&self) -> bool {
        self.log > 3072
    }

    /// Whether a scene lacks nothing: it stays as it is, to the byte.
    pub fn is_nothing(&self) -> bool {
        let Found { log, bars, captions, .. } = *self;
        *self == Found { log, bars, captions, ..Found::NOTHING }
    }
}

/// The mean of the results for frames.
#[derive(Clone, Copy, Debug, Default)]
pub struct MeanFound {
    sums: [i64; 11],
    frames: i64,
}

impl MeanFound {
    /// Adds the result for a frame.
    pub fn add(&mut self, found: &Found) {
        let Found { dark, cast, unused, veil, exposure, contrast, noise, flicker, log, bars, captions } = *found;
        let values = [dark, cast, unused, veil, exposure, contrast, noise, flicker, log, bars, captions];
        self.sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += i64::from(value));
        self.frames += 1;
    }

    /// The mean, rounded up, so that [`Found::is_nothing`] holds only if it holds for each frame; `None` without
    /// frames.
    pub fn get(&self) -> Option<Found> {
        let mean = |sum: i64| (sum + self.frames - 1).checked_div(self.frames).map(|mean| mean as i32);
        let [dark, cast, unused, veil, exposure, contrast, noise, flicker, log, bars, captions] = self.sums.map(mean);
        let (dark, cast, unused, veil, exposure, contrast) = (dark?, cast?, unused?, veil?, exposure?, contrast?);
        let (noise, flicker, log, bars, captions) = (noise?, flicker?, log?, bars?, captions?);
        Some(Found { dark, cast, unused, veil, exposure, contrast, noise, flicker, log, bars, captions })
    }
}

/// The least share of a deficiency that the text mentions.
const LITTLE: i32 = 4096 / 20;

/// The least gain of the exposure that the text mentions: viewers do not see smaller ones, which may only make up for a
/// removed veil.
const SEEN: i32 = 4096 + 4096 * 3 / 20;

impl fmt::Display for Found {
    /// In words: `dark (brightened 3.1 times), some haze`. Of a scene that lacks nothing: `nothing to correct`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = |share: i32| match share {
            ..1400 => "a little ",
            1400..2800 => "some ",
            _ => "",
        };
        let of_1 = |of_4096: i32| f64::from(of_4096) / 4096.0;
        let mut parts = Vec::new();
        if self.dark >= LITTLE && self.exposure >= SEEN {
            let how = if self.dark < 2800 { "rather " } else { "" };
            parts.push(format!("{how}dark (brightened {:.1} times)", of_1(self.exposure)));
        }
        if self.contrast >= 4096 + LITTLE {
            let contrast = format!("contrast raised {:.1} times", of_1(self.contrast));
            parts.push(if self.unused >= LITTLE { format!("flat ({contrast})") } else { contrast });
        }
        let shares = [
            (self.veil, "haze"),
            (self.cast, "colour cast"),
            (self.noise, "noise removed"),
            (self.flicker, "flicker evened out"),
        ];
        for (share, name) in shares {
            if share >= LITTLE {
                parts.push(format!("{}{name}", how(share)));
            }
        }
        match parts.len() {
            _ if self.is_nothing() => write!(f, "nothing to correct")?,
            0 => write!(f, "next to nothing to correct")?,
            _ => write!(f, "{}", parts.join(", "))?,
        }
        match [self.bars, self.captions].map(|share| share >= LITTLE) {
            [false, false] => Ok(()),
            [true, false] => write!(f, ", bars left out"),
            [false, true] => write!(f, ", captions left out"),
            [true, true] => write!(f, ", bars and captions left out"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_is_said_in_words() {
        let clean = Found { contrast: 4200, ..Found::NOTHING };
        assert_eq!(Found::NOTHING.to_string(), "nothing to correct");
        assert_eq!(clean.to_string(), "next to nothing to correct");
        let night = Found { dark: 4096, exposure: 12_700, veil: 1638, ..Found::NOTHING };
        assert_eq!(night.to_string(), "dark (brightened 3.1 times), some haze");
        let noisy = Found { noise: 4096, ..night };
        assert_eq!(noisy.to_string(), "dark (brightened 3.1 times), some haze, noise removed");
        assert_eq!(
            Found { noise: 2048, ..night }.to_string(),
            "dark (brightened 3.1 times), some haze, some noise removed"
        );
        // The text mentions no gain that viewers do not see.
        let hardly = Found { dark: 2000, exposure: 4400, contrast: 8192, unused: 4096, ..Found::default() };
        assert_eq!(hardly.to_string(), "flat (contrast raised 2.0 times)");
        assert_eq!(Found { contrast: 4096, ..hardly }.to_string(), "next to nothing to correct");
        assert_eq!(Found { veil: LITTLE, ..clean }.to_string(), "a little haze");
        let drawn_over = Found { bars: 4096, captions: LITTLE, ..night };
        assert_eq!(drawn_over.to_string(), format!("{night}, bars and captions left out"));
        let letterbox = Found { bars: 4096, ..Found::NOTHING };
        assert!(letterbox.is_nothing() && letterbox.to_string() == "nothing to correct, bars left out");
        let mut mean = MeanFound::default();
        assert_eq!(mean.get(), None);
        [clean, night].iter().for_each(|found| mean.add(found));
        assert_eq!(mean.get().map(|found| (found.dark, found.contrast)), Some((2048, 4148)));
    }

    #[test]
    fn a_film_lacks_nothing_if_that_is_so_of_each_of_its_frames() {
        let mut mean = MeanFound::default();
        (0..1000).for_each(|_| mean.add(&Found::NOTHING));
        assert!(mean.get().is_some_and(|found| found.is_nothing()));
        mean.add(&Found { contrast: 4097, ..Found::NOTHING });
        assert!(mean.get().is_some_and(|found| !found.is_nothing()));
    }
}
