//! Levels and colour: what is done to the picture before equalization adds its share.
//!
//! Most footage lacks contrast because it uses a part of its levels. A straight [`Line`] brings the ends p and q of the levels
//! in use to where they belong, equalization is blended with that line, and chroma has the gain of the line, so that colours
//! grow as contrast does. `p` is an end of the *darkest* component of R, G and B, `q` one of the *brightest*
//! ([`Ends`]): between them no component is clipped. All numbers are means over the window of the scene; levels are in
//! sixteenths, `T` is white, gains are in 4096ths.
//!
//! * [`Stretch::Unused`]: what is stretched depends on the share of the range that is unused, `u = 1 - (q - p) / T`:
//!   `k = (u - 0.08) / 0.2`, from 0 to 1. So clean footage stays as it is. p moves by `k` of the way to black, and q by
//!   `k * w` of the way to white, with `w = p / 16` (of 255) between 0.4 and 1: a picture with true blacks may be meant to
//!   be dim. Equalization has `k` of its strength.
//! * [`Stretch::Dark`]: p is half of the level at 0.1 %, because darkness adds no veil; q is the level at 99.9 %, but at most
//!   2.5 times that at 90 %, so that lamps do not hold the picture down. They become 5 and 250 of 255. What is still dark then
//!   is lifted: `r = (1 + a) / (1 + a * y)`, where a brings the mean to 56 of 255.
//! * [`Method::Dehaze`](super::Method::Dehaze): haze adds a veil that grows with depth. Each of 8x8 regions has a black point
//!   `b`, a hundredth of its darkest components; the least of 3x3 regions, then the mean of 3x3. With the airlight
//!   `A = 0.94 q`, `B = min(0.9 b, 0.65 A)` is taken off and the rest has the gain `A / (A - B)` (the model of J. Tarel and
//!   N. Hautière, Fast visibility restoration from a single color or gray level image, ICCV 2009, by region). If white comes
//!   out below 230 in the clearest region, all gains grow by up to 1.5. Regions are blended as tiles are.
//! * [`Balance`]: water takes red first. Each of R, G and B has its own ends, half way to the mean colours of the darkest and
//!   of the brightest 0.3 %, which become 6 and 249; then each is multiplied by the 0.15th power of the ratio of the means.

use super::chroma::{Colours, UNIT_GAIN};
use super::clahe::{TileCurves, Tiles};
use super::measure::{Ends, REGIONS};
use super::{Gain, Levels, Strength, Stretch, Weights};

/// Most knots of a line.
pub const KNOTS: usize = 8;

/// A knot of a line: from here on it rises by `slope`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Knot {
    /// Where it is, in sixteenths of a level.
    pub from: u32,
    /// What it becomes, in sixteenths of a level.
    pub to: u32,
    /// The rise behind it, in 65536ths.
    pub slope: u32,
}

/// A rising line of straight pieces from level to level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    knots: [Knot; KNOTS],
    used: u32,
}

impl Line {
    /// The line that changes nothing.
    pub const IDENTITY: Line = Line { knots: [Knot { from: 0, to: 0, slope: 1 << 16 }; KNOTS], used: 0 };

    /// The line through these points, in sixteenths of a level, from left to right; points that are not right of the one
    /// before are left out. There are at most [`KNOTS`] + 1.
    pub fn through(points: &[(u32, u32)]) -> Self {
        let mut line = Line { used: 0, ..Line::IDENTITY };
        let mut last: Option<(u32, u32)> = None;
        for &(from, to) in points {
            let Some((x, y)) = last else {
                last = Some((from, to));
                continue;
            };
            if from <= x || line.used as usize == KNOTS {
                continue;
            }
            let slope = ((u64::from(to.saturating_sub(y)) << 16) / u64::from(from - x)) as u32;
            line.knots[line.used as usize] = Knot { from: x, to: y, slope };
            line.used += 1;
            last = Some((from, to));
        }
        line
    }

    /// Whether it changes nothing.
    pub fn is_identity(&self) -> bool {
        self.used == 0
    }

    /// Its knots, from left to right; none where it is the identity.
    pub fn knots(&self) -> &[Knot] {
        &self.knots[..self.used as usize]
    }

    /// What becomes of a level, where `most` is white: the nearest level to the line.
    pub fn level(&self, level: u32, most: u32) -> u32 {
        let at = 16 * level;
        let Some(knot) = self.knots().iter().rev().find(|knot| knot.from <= at).or(self.knots().first()) else {
            return level;
        };
        let rise = (u64::from(at.saturating_sub(knot.from)) * u64::from(knot.slope) + (1 << 15)) >> 16;
        ((u64::from(knot.to) + rise + 8) >> 4).min(most.into()) as u32
    }

    /// What becomes of a code. The identity leaves codes outside of the levels alone; other lines take them for black or
    /// white.
    pub fn code(&self, code: u16, levels: Levels) -> u16 {
        if self.is_identity() {
            return code;
        }
        levels.lo() + self.level(levels.level_of(code) as u32, levels.count() as u32 - 1) as u16
    }
}

/// What is done to the levels and the colour of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tone {
    /// What equalization is blended with.
    pub line: Line,
    /// The first and the last level over which equalization spreads what it cuts off.
    pub range: (u32, u32),
    /// The share of equalization.
    pub strength: Strength,
    /// The gain of chroma where it follows, in 4096ths.
    pub chroma_gain: u32,
}

impl Tone {
    /// Equalization alone, of this strength.
    pub fn plain(levels: Levels, strength: Strength) -> Self {
        let range = (0, levels.count() as u32 - 1);
        Tone { line: Line::IDENTITY, range, strength, chroma_gain: UNIT_GAIN }
    }

    /// The levels of a scene with these ends, stretched as `stretch` says, with up to `strength` of equalization.
    pub fn of(ends: &Ends, levels: Levels, stretch: Stretch, strength: Strength) -> Self {
        match stretch {
            Stretch::Off => Tone::plain(levels, strength),
            Stretch::Unused(most) => unused(ends, levels, most, strength),
            Stretch::Dark(most) => dark(ends, levels, most, strength),
        }
    }
}

/// The share `of_4096` of `whole`.
fn share(whole: u32, of_4096: u32) -> u32 {
    (u64::from(whole) * u64::from(of_4096) / 4096) as u32
}

/// `part / whole` in 4096ths.
fn ratio(part: u32, whole: u32) -> u32 {
    (u64::from(part) * 4096 / u64::from(whole.max(1))).min(u32::MAX.into()) as u32
}

/// Where white is, in sixteenths of a level.
fn white_of(levels: Levels) -> u32 {
    16 * (levels.count() as u32 - 1)
}

/// `of_255` of 255 of the range, in sixteenths of a level.
fn of_255(levels: Levels, of_255: u32) -> u32 {
    (u64::from(white_of(levels)) * u64::from(of_255) / 255) as u32
}

fn unused(ends: &Ends, levels: Levels, most: Gain, strength: Strength) -> Tone {
    let white = white_of(levels);
    let (p, q) = (ends.dark[0], ends.bright[3]);
    let used = q.saturating_sub(p).max(of_255(levels, 8).max(1));
    // (u - 0.08) / 0.2
    let k = (4096u32.saturating_sub(ratio(used, white)).saturating_sub(328) * 5).min(4096);
    if k == 0 {
        let strength = Strength::of_share_256(0);
        return Tone { strength, ..Tone::plain(levels, strength) };
    }
    let lifted_black = ratio(p, of_255(levels, 16)).clamp(1638, 4096);
    let low = p - share(p, k);
    let high = q + share(white.saturating_sub(q), share(k, lifted_black));
    let high = high.min(low.saturating_add(most.times(used))).max(low);
    let line = Line::through(&[(0, 0), (p, low), (p + used, high), (white.max(p + used + 1), white.max(high))]);
    Tone {
        line,
        range: (p / 16, (p + used).div_ceil(16).min(levels.count() as u32 - 1)),
        strength: Strength::of_share_256(share(strength.of_256(), k)),
        chroma_gain: ratio(high - low, used),
    }
}

fn dark(ends: &Ends, levels: Levels, most: Gain, strength: Strength) -> Tone {
    let white = white_of(levels);
    let p = ends.dark[1] / 2;
    let q = ends.bright[2].min(ends.bright[0] * 5 / 2);
    let used = q.saturating_sub(p).max(of_255(levels, 8).max(1));
    let (low, high) = (of_255(levels, 5), of_255(levels, 250));
    let high = high.min(low.saturating_add(most.times(used))).max(low);
    let gain = ratio(high - low, used);
    // The mean after the levels, and what lifts it to 56 of 255.
    let luma = (ends.mean[0] + 2 * ends.mean[1] + ends.mean[2]) / 4;
    let mean = (low + share(luma.saturating_sub(p), gain)).clamp(1, white);
    let aim = of_255(levels, 56);
    // a = (aim / mean - 1) / (1 - aim / white), from 0 to 1, and no more than leaves the largest gain.
    let a = (u64::from(ratio(aim, mean).saturating_sub(4096)) * 4096 / u64::from(4096 - ratio(aim, white))).min(4096) as u32;
    let a = a.min(ratio(most.times(4096), gain).saturating_sub(4096));
    let lifted = |y: u32| {
        let rise = u64::from(4096 + a) * u64::from(y) * 4096 / u64::from((4096 * 4096 + u64::from(a) * u64::from(ratio(y, white))).max(1));
        rise.min(white.into()) as u32
    };
    let at = |eighths: u32| (p + used * eighths / 16, lifted(low + share(high - low, eighths * 256)));
    let end = (p + used).max(white) + 1;
    let points = [(0, lifted(low.saturating_sub(share(p, gain)))), at(0), at(1), at(3), at(6), at(10), at(16), (end, white.max(lifted(high)))];
    let lift_at_mean = ratio(lifted(mean), mean);
    Tone {
        line: Line::through(&points),
        range: (p / 16, (p + used).div_ceil(16).min(levels.count() as u32 - 1)),
        strength,
        chroma_gain: share(gain, lift_at_mean),
    }
}

/// A veil that lies over the picture, by region: what is taken off, and the gain of the rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Veil {
    /// What is taken off in each region, in sixteenths of a level.
    pub taken: [[u32; REGIONS]; REGIONS],
    /// The gain of the rest, in 4096ths.
    pub gains: [[u32; REGIONS]; REGIONS],
}

impl Veil {
    /// The veil of a scene whose regions have these black points, in sixteenths of a level, and of whose points these are
    /// the ends.
    pub fn of(black: &[[u32; REGIONS]; REGIONS], ends: &Ends, levels: Levels) -> Self {
        let q = ends.bright[1].max(16);
        let airlight = share(q, 3850);
        let taken = smoothed(black).map(|row| row.map(|mean| share(mean, 3686).min(share(airlight, 2662))));
        let gain = |taken: u32| ratio(airlight, airlight - taken);
        let clearest = taken.iter().flatten().copied().min().unwrap_or(0);
        let white = share(q.saturating_sub(clearest), gain(clearest));
        let brighter = ratio(of_255(levels, 210), white).clamp(4096, 6144);
        Veil { taken, gains: taken.map(|row| row.map(|taken| share(gain(taken), brighter))) }
    }
}

/// The mean over 3x3 regions of the least of 3x3 regions; the border is repeated.
pub fn smoothed(black: &[[u32; REGIONS]; REGIONS]) -> [[u32; REGIONS]; REGIONS] {
    let near = |index: usize| index.saturating_sub(1)..=(index + 1).min(REGIONS - 1);
    let least: [[u32; REGIONS]; REGIONS] = std::array::from_fn(|y| {
        std::array::from_fn(|x| near(y).flat_map(|y| near(x).map(move |x| black[y][x])).min().unwrap_or(0))
    });
    let clamped = |index: usize, step: usize| (index + step).saturating_sub(1).min(REGIONS - 1);
    std::array::from_fn(|y| {
        std::array::from_fn(|x| (0..9).map(|cell| least[clamped(y, cell / 3)][clamped(x, cell % 3)]).sum::<u32>() / 9)
    })
}

/// A gain and an offset for each of R, G and B: `c' = c * gain + offset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Balance {
    /// In 4096ths.
    pub gains: [u32; 3],
    /// In sixteenths of a level.
    pub offsets: [i32; 3],
}

impl Balance {
    /// The balance that changes nothing.
    pub const IDENTITY: Balance = Balance { gains: [UNIT_GAIN; 3], offsets: [0; 3] };

    /// The balance of a scene with these ends.
    pub fn of(ends: &Ends, levels: Levels) -> Self {
        let (low, high) = (of_255(levels, 6), of_255(levels, 249));
        let mut means = [0u32; 3];
        let mut balance = Balance { gains: [0; 3], offsets: [0; 3] };
        for (channel, mean) in means.iter_mut().enumerate() {
            let [mut p, mut q] = ends.channels[channel];
            p += ends.corners[0][channel].saturating_sub(p) / 2;
            q -= q.saturating_sub(ends.corners[1][channel]) / 2;
            let used = q.saturating_sub(p).max(of_255(levels, 8).max(1));
            let gain = ratio(high - low, used).min(12 * 4096);
            balance.gains[channel] = gain;
            balance.offsets[channel] = low as i32 - share(p, gain) as i32;
            *mean = (share(ends.mean[channel], gain) as i32 + balance.offsets[channel]).max(1) as u32;
        }
        let gray = means.iter().sum::<u32>() / 3;
        for (channel, mean) in means.into_iter().enumerate() {
            let factor = root_of_ratio(gray, mean);
            balance.gains[channel] = share(balance.gains[channel], factor);
            let offset = i64::from(balance.offsets[channel]) * i64::from(factor) / 4096;
            balance.offsets[channel] = offset as i32;
        }
        balance
    }
}

/// `(a / b)^0.15` in 4096ths, for ratios from a quarter to 4, by a table of its logarithm: 0.15 is close to 1/8 + 1/40.
fn root_of_ratio(a: u32, b: u32) -> u32 {
    // Three square roots give the eighth root; the fortieth part is a fifth of that, to first order.
    let eighth = (0..3).fold(ratio(a, b).clamp(1024, 16384), |x, _| (u64::from(x) * 4096).isqrt() as u32);
    let fortieth = 4096 + (eighth as i32 - 4096) / 5;
    share(eighth, fortieth as u32)
}

/// A [`Balance`] of YUV: luma and chroma after it are sums of luma and chroma before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BalanceOfYuv {
    /// For each of luma, Cb and Cr: its factors of luma, Cb and Cr, and what is added, all in 65536ths. Luma is in levels,
    /// chroma in codes from its centre.
    pub rows: [[i64; 4]; 3],
}

impl BalanceOfYuv {
    /// The balance of pictures with these colours, and these weights of R, G and B in luma.
    pub fn new(balance: &Balance, colours: &Colours, weights: Weights) -> Self {
        // R, G and B as sums of luma, Cb and Cr; in 32768ths.
        let one = 1 << 15;
        let (red, blue) = (i64::from(colours.red), i64::from(colours.blue));
        let rgb = [
            [one, 0, red],
            [one, -i64::from(colours.green_of_cb), -i64::from(colours.green_of_cr)],
            [one, blue, 0],
        ];
        // The same after the balance: 32768ths times 4096ths, and sixteenths.
        let balanced: [[i64; 4]; 3] = std::array::from_fn(|channel| {
            let [y, cb, cr] = rgb[channel].map(|factor| factor * i64::from(balance.gains[channel]));
            [y, cb, cr, i64::from(balance.offsets[channel]) << 23]
        });
        // Luma, in 2^27ths, with weights of 65536ths.
        let weights = [weights.r, weights.g, weights.b].map(i64::from);
        let luma: [i64; 4] = std::array::from_fn(|term| {
            (0..3).map(|channel| balanced[channel][term] * weights[channel]).sum::<i64>() >> 16
        });
        // (B - Y) / blue and (R - Y) / red, where those are in 32768ths.
        let difference = |channel: usize, factor: i64| -> [i64; 4] {
            std::array::from_fn(|term| ((balanced[channel][term] - luma[term]) << 4) / factor)
        };
        BalanceOfYuv { rows: [luma.map(|term| term >> 11), difference(2, blue), difference(0, red)] }
    }

    /// Row `row` of the sums for this luma, in levels, and this chroma, in codes from its centre; rounded.
    #[inline]
    pub fn sum(&self, row: usize, [luma, cb, cr]: [i32; 3]) -> i32 {
        let [of_luma, of_cb, of_cr, added] = self.rows[row];
        let sum = of_luma * i64::from(luma) + of_cb * i64::from(cb) + of_cr * i64::from(cr) + added;
        ((sum + (1 << 15)) >> 16) as i32
    }
}

impl Balance {
    /// The components of an RGB pixel; `max` is the highest code.
    pub fn rgb(&self, rgb: [u16; 3], max: u16) -> [u16; 3] {
        std::array::from_fn(|channel| {
            let sum = i64::from(rgb[channel]) * i64::from(self.gains[channel]) + i64::from(self.offsets[channel]) * 256;
            ((sum + 2048) >> 12).clamp(0, max.into()) as u16
        })
    }
}

impl Veil {
    /// The tiles of a picture of this size (columns, rows) that the regions are.
    pub fn tiles(size: (usize, usize)) -> Tiles {
        Tiles::new(REGIONS as u32, REGIONS as u32, size)
    }

    /// The curve of each region, which takes its veil off.
    pub fn curves(&self, levels: Levels, tiles: Tiles) -> TileCurves {
        let most = levels.count() as u64 - 1;
        let mut luts = Vec::with_capacity(tiles.count() * levels.codes());
        for (taken, gain) in self.regions() {
            let level = |code: usize| {
                let level = 16 * levels.level_of(code as u16) as u64;
                (level.saturating_sub(taken.into()) * u64::from(gain) + (1 << 15)) >> 16
            };
            luts.extend((0..levels.codes()).map(|code| levels.lo() + level(code).min(most) as u16));
        }
        TileCurves::given(tiles, levels, luts)
    }

    /// What is taken off in each region and the gain of the rest, row by row.
    pub fn regions(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.taken.iter().flatten().copied().zip(self.gains.iter().flatten().copied())
    }

    /// The gain of chroma at pixel (x, y), blended between the regions as their curves are.
    pub fn chroma_gain(&self, tiles: &Tiles, x: usize, y: usize) -> u32 {
        let mut gain = [0];
        let one_pixel = |_| x;
        self.blend_row(tiles, y, one_pixel, &mut gain);
        gain[0]
    }

    /// The same in row `y`, at every `step`-th pixel from the first on.
    pub fn row_of_gains(&self, tiles: &Tiles, y: usize, step: usize, gains: &mut [u32]) {
        self.blend_row(tiles, y, |index| index * step, gains);
    }

    fn blend_row(&self, tiles: &Tiles, y: usize, x_of: impl Fn(usize) -> usize, gains: &mut [u32]) {
        let down = tiles.down(y);
        let (width, height) = (2 * tiles.width, 2 * tiles.height);
        let [above, below] = down.tiles.map(|row| self.gains[row]);
        let column = |column: usize| {
            u64::from(above[column]) * (height - down.weight) as u64 + u64::from(below[column]) * down.weight as u64
        };
        let columns: [u64; REGIONS] = std::array::from_fn(column);
        for (index, gain) in gains.iter_mut().enumerate() {
            let across = tiles.across(x_of(index));
            let [left, right] = across.tiles.map(|column| columns[column]);
            let sum = left * (width - across.weight) as u64 + right * across.weight as u64;
            *gain = (sum / (width * height) as u64) as u32;
        }
    }
}
