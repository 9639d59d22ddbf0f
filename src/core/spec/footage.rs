//! What kind of footage a video is, judged by its first frames: which look suits it.

use super::Measure;
use super::measure::{Ends, REGIONS};
use super::tone::smoothed;

/// A kind of footage, and what shows it: numbers of 255.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Footage {
    /// Red is weak everywhere: under water.
    UnderWater {
        /// The mean of red.
        red: u32,
        /// The larger mean of green and blue.
        others: u32,
    },
    /// Nothing is bright.
    Dark {
        /// The level below which 99.8 % of the brightest components lie.
        brightest: u32,
        /// The mean of luminance.
        mean: u32,
    },
    /// Nothing is dark, and some regions less than others.
    Hazy {
        /// The black point of the clearest region.
        clearest: u32,
        /// That of the most hazy one.
        densest: u32,
    },
    /// None of these.
    Other {
        /// The level below which 0.1 % of the darkest components lie.
        darkest: u32,
        /// The level below which 99.8 % of the brightest components lie.
        brightest: u32,
    },
}

impl Footage {
    /// The kind of a video with these frames; of none, it is [`Footage::Other`].
    pub fn of(frames: &[Measure]) -> Self {
        let Some(first) = frames.first() else { return Footage::Other { darkest: 0, brightest: 255 } };
        let frames: Vec<&Measure> = frames.iter().filter(|frame| frame.levels == first.levels).collect();
        let white = 16 * (first.levels.count() as u64 - 1);
        let of_255 = |level: u32| (u64::from(level) * 255 / white) as u32;
        let ends = Ends::mean_of(frames.iter().map(|frame| &frame.ends));
        let luma = frames.iter().map(|frame| u64::from(frame.mean)).sum::<u64>() / frames.len() as u64;
        let (darkest, brightest) = (of_255(ends.dark[1]), of_255(ends.bright[1]));

        let [red, green, blue] = ends.mean.map(of_255);
        let [[red_low, red_high], [green_low, green_high], [blue_low, blue_high]] =
            ends.channels.map(|channel| channel.map(of_255));
        let weak = |part: u32, whole: u32| part * 100 < whole * 68;
        if weak(red_high, green_high.max(blue_high))
            && weak(red, green.max(blue))
            && green_low.max(blue_low) >= red_low + 18
        {
            return Footage::UnderWater { red, others: green.max(blue) };
        }
        let mean = of_255(luma as u32);
        if brightest <= 140 && darkest <= 16 && mean <= 80 {
            return Footage::Dark { brightest, mean };
        }
        let sum = |y: usize, x: usize| frames.iter().map(|frame| u64::from(frame.veil[y][x])).sum::<u64>();
        let black: [[u32; REGIONS]; REGIONS] =
            std::array::from_fn(|y| std::array::from_fn(|x| (sum(y, x) / frames.len() as u64) as u32));
        let black = smoothed(&black);
        let clearest = of_255(black.iter().flatten().copied().min().unwrap_or(0));
        let densest = of_255(black.iter().flatten().copied().max().unwrap_or(0));
        if clearest >= 28 && densest >= clearest + 40 && brightest >= 190 {
            return Footage::Hazy { clearest, densest };
        }
        Footage::Other { darkest, brightest }
    }
}
