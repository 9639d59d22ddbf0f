//! The points of a frame by which its correction is decided, and what is asked of them.

use super::letters;
use crate::spec::measure::{BLOCK_COLUMNS, BLOCK_ROWS, BLOCKS, REGIONS};
use crate::spec::transfer::{self, FINE_WHITE};
use crate::spec::{Lattice, Transfer};
use std::borrow::Cow;

/// White: levels of the points are in sixteenths of 255, whatever the depth of the frame.
pub const WHITE: i32 = 16 * 255;

/// A level of 255, as levels of the points are.
pub const fn of_255(level: i32) -> i32 {
    16 * level
}

/// The share of the way from `none` to `all` that `value` has gone, in 4096ths.
pub fn ramp(value: i32, none: i32, all: i32) -> i32 {
    let way = i64::from(all - none).max(1);
    (4096 * i64::from(value - none) / way).clamp(0, 4096) as i32
}

/// `whole` times a number of 4096ths, rounded to the nearest.
pub fn times(whole: i32, of_4096: i32) -> i32 {
    ((i64::from(whole) * i64::from(of_4096) + 2048) >> 12) as i32
}

/// `part / whole` in 4096ths; `whole` counts as 1 at least.
pub fn ratio(part: i32, whole: i32) -> i32 {
    (4096 * i64::from(part) / i64::from(whole.max(1))) as i32
}

/// From `from`, a share of the way to `to`, in 4096ths.
pub fn between(from: i32, to: i32, of_4096: i32) -> i32 {
    from + times(to - from, of_4096)
}

/// Points of a frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Points {
    /// Red, green and blue.
    rgb: Vec<[i16; 3]>,
    /// The region of each, row by row.
    region: Vec<u8>,
    /// The block of each.
    block: Vec<u8>,
    /// Whether each belongs to letters.
    letters: Vec<bool>,
    /// How far the luma of the next point of its row lies from that of each; below 0 where there is none.
    step: Vec<i16>,
    /// What codes meant.
    transfer: Transfer,
    /// Of HDR, the luma at 99.8 %, in 4096ths of a level of points; it may lie above white.
    peak: i32,
}

/// How often each level occurs.
pub struct Occurrences {
    of_level: Vec<u32>,
    count: u32,
}

impl Points {
    /// The points of a lattice that count, where `white` is the highest level.
    pub fn of(lattice: &Lattice, white: u16) -> Self {
        let white = i32::from(white).max(1);
        let inverse = (1_u64 << 44).div_ceil(white as u64);
        let transfer = lattice.transfer;
        let in_light =
            |level: u16| transfer.scale().map(|scale| scale.level(transfer::place(level.into(), white.into())));
        let scaled = |level: u16| match in_light(level) {
            Some(level) => ((level.min(FINE_WHITE) + 2048) >> 12) as i16,
            // Divided by `white`: below 2^28, the error of the inverse, less than 2^-28, leaves the quotient as it is.
            None => ((((i32::from(level).min(white) * WHITE + white / 2) as u64) * inverse) >> 44) as i16,
        };
        let (columns, rows) = lattice.size;
        let mut points = Points { transfer, ..Points::default() };
        let mut lumas = Vec::new();
        let letters = letters::find(lattice, white);
        let mut before = None;
        for point in (0..lattice.luma.len()).filter(|&point| lattice.counts(point)) {
            points.letters.push(letters[point]);
            let (x, y) = (point % columns, point / columns);
            let rgb = lattice.rgb(point).map(scaled);
            let level = luma(rgb.map(i32::from)) as i16;
            if let (Some((at, last)), Some(step)) = (before, points.step.last_mut())
                && x > 0
                && at + 1 == point
            {
                *step = i16::abs(level - last);
            }
            before = Some((point, level));
            points.step.push(-1);
            points.rgb.push(rgb);
            let region = y * REGIONS / rows * REGIONS + x * REGIONS / columns;
            points.region.push(if lattice.is_part { 0 } else { region as u8 });
            points.block.push((y * BLOCK_ROWS / rows * BLOCK_COLUMNS + x * BLOCK_COLUMNS / columns) as u8);
            lumas.push(lattice.luma[point]);
        }
        if transfer.is_hdr() && !lumas.is_empty() {
            let rank = (lumas.len() * 998 / 1000).min(lumas.len() - 1);
            points.peak = in_light(*lumas.select_nth_unstable(rank).1).unwrap_or(0) as i32;
        }
        points
    }

    /// Those that are in none of these blocks.
    #[must_use]
    pub fn outside(mut self, blocks: &[bool; BLOCKS]) -> Self {
        if blocks.contains(&true) {
            let stays: Vec<bool> = self.block.iter().map(|block| !blocks[usize::from(*block)]).collect();
            self.keep(&stays);
        }
        self
    }

    fn keep(&mut self, stays: &[bool]) {
        fn kept<T: Copy>(of: &mut Vec<T>, stays: &[bool]) {
            let mut stays = stays.iter();
            of.retain(|_| stays.next() == Some(&true));
        }
        kept(&mut self.rgb, stays);
        kept(&mut self.region, stays);
        kept(&mut self.block, stays);
        kept(&mut self.letters, stays);
        kept(&mut self.step, stays);
    }

    /// Whether some of them belong to letters.
    pub fn has_letters(&self) -> bool {
        self.letters.contains(&true)
    }

    /// Those that belong to no letters.
    #[must_use]
    pub fn without_letters(&self) -> Cow<'_, Points> {
        if !self.has_letters() {
            return Cow::Borrowed(self);
        }
        let stays: Vec<bool> = self.letters.iter().map(|letter| !letter).collect();
        let mut points = self.clone();
        points.keep(&stays);
        Cow::Owned(points)
    }

    /// What the codes of the frame meant.
    pub fn transfer(&self) -> Transfer {
        self.transfer
    }

    /// Of HDR, the peak of the frame, in 4096ths of a level.
    pub fn peak(&self) -> i32 {
        self.peak
    }

    /// How much of a picture there is, in 4096ths: nothing where levels are 4 of 255 apart, all from 40 on.
    pub fn presence(&self) -> i32 {
        let lumas = Occurrences::of(self.luma());
        ramp(lumas.at(999_000) - lumas.at(1_000), of_255(4), of_255(40))
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.rgb.len()
    }

    /// Red, green and blue of each.
    pub fn rgb(&self) -> impl Iterator<Item = [i32; 3]> + Clone + '_ {
        self.rgb.iter().map(|rgb| rgb.map(i32::from))
    }

    /// The luma of each.
    pub fn luma(&self) -> impl Iterator<Item = i32> + Clone + '_ {
        self.rgb().map(luma)
    }

    /// The levels of red, green and blue.
    pub fn channels(&self) -> [Occurrences; 3] {
        std::array::from_fn(|channel| Occurrences::of(self.rgb().map(|rgb| rgb[channel])))
    }

    /// The levels of the largest component of each point.
    pub fn brightest(&self) -> Occurrences {
        Occurrences::of(self.rgb().map(|[r, g, b]| r.max(g).max(b)))
    }

    /// How far the lumas of neighbours in a row lie apart.
    pub fn steps(&self) -> Occurrences {
        Occurrences::of(self.step.iter().filter(|step| **step >= 0).map(|step| i32::from(*step)))
    }

    /// Red, green and blue of each in the upper third of the frame.
    pub fn upper_third(&self) -> impl Iterator<Item = [i32; 3]> + '_ {
        let is_upper = |block: u8| usize::from(block) < BLOCKS / 3;
        self.rgb().zip(&self.block).filter(move |(_, block)| is_upper(**block)).map(|(rgb, _)| rgb)
    }

    /// The mean of `value` over the points where `takes` their luma; of none, black.
    pub fn mean_where(&self, takes: impl Fn(i32) -> bool) -> [i32; 3] {
        mean(self.rgb().filter(|rgb| takes(luma(*rgb))))
    }

    /// The mean colour.
    pub fn mean(&self) -> [i32; 3] {
        self.mean_where(|_| true)
    }

    /// The mean colours of the darkest and of the brightest points: this share of them, in millionths, and all that are as
    /// dark or as bright as the last of these.
    pub fn corners(&self, share: u32) -> [[i32; 3]; 2] {
        let lumas: Vec<i32> = self.luma().collect();
        let of_luma = Occurrences::of(lumas.iter().copied());
        let (dark, bright) = (of_luma.at(share), of_luma.at(1_000_000 - share));
        let taken = |takes: &dyn Fn(i32) -> bool| {
            mean(self.rgb().zip(&lumas).filter(|(_, luma)| takes(**luma)).map(|(rgb, _)| rgb))
        };
        [taken(&|luma| luma <= dark), taken(&|luma| luma >= bright)]
    }

    /// The level at this share of the least components of each region, in millionths; `None` of a region without points.
    pub fn darkest_of_regions(&self, share: u32) -> [[Option<i32>; REGIONS]; REGIONS] {
        let mut darkest = vec![Vec::new(); REGIONS * REGIONS];
        for ([r, g, b], region) in self.rgb.iter().zip(&self.region) {
            darkest[usize::from(*region)].push(*r.min(g).min(b));
        }
        let at = |levels: &mut Vec<i16>| {
            let rank = (levels.len() as u64 * u64::from(share) / 1_000_000) as usize;
            (!levels.is_empty()).then(|| i32::from(*levels.select_nth_unstable(rank).1))
        };
        std::array::from_fn(|y| std::array::from_fn(|x| at(&mut darkest[y * REGIONS + x])))
    }

    /// The same points after `becomes` has changed their colours, by region; from black to white.
    #[must_use]
    pub fn changed(mut self, becomes: impl Fn([i32; 3], usize) -> [i32; 3]) -> Self {
        for (rgb, region) in self.rgb.iter_mut().zip(&self.region) {
            *rgb = becomes(rgb.map(i32::from), usize::from(*region)).map(|level| level.clamp(0, WHITE) as i16);
        }
        self
    }
}

/// The mean of colours; of none, black.
fn mean(colours: impl Iterator<Item = [i32; 3]>) -> [i32; 3] {
    let (mut sums, mut count) = ([0_i64; 3], 0);
    for rgb in colours {
        sums.iter_mut().zip(rgb).for_each(|(sum, level)| *sum += i64::from(level));
        count += 1;
    }
    sums.map(|sum| (sum / count.max(1)) as i32)
}

/// The luma of a colour, with the weights of ITU-R BT.709, in 65536ths.
pub fn luma([r, g, b]: [i32; 3]) -> i32 {
    (13_933 * r + 46_871 * g + 4_732 * b + (1 << 15)) >> 16
}

/// How far a colour is from gray, in 4096ths.
pub fn saturation([r, g, b]: [i32; 3]) -> i32 {
    4096 - ratio(r.min(g).min(b), r.max(g).max(b))
}

/// A colour with another luma, and this gain of what lies beside it, in 4096ths.
pub fn with_luma(rgb: [i32; 3], from: i32, to: i32, gain: i32) -> [i32; 3] {
    rgb.map(|level| to + times(level - from, gain))
}

impl Occurrences {
    /// Of levels from 0 to [`WHITE`].
    pub fn of(levels: impl Iterator<Item = i32>) -> Self {
        let mut of_level = vec![0; WHITE as usize + 1];
        let count = levels.map(|level| of_level[level.clamp(0, WHITE) as usize] += 1).count() as u32;
        Occurrences { of_level, count }
    }

    /// The level at this share of them, in millionths; 0 of none.
    pub fn at(&self, share: u32) -> i32 {
        let rank = (u64::from(self.count) * u64::from(share) / 1_000_000).min(u64::from(self.count.saturating_sub(1)));
        let mut below = 0;
        let reached = self.of_level.iter().position(|&count| {
            below += u64::from(count);
            below > rank
        });
        reached.unwrap_or(0) as i32
    }
}
