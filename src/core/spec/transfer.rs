//! The codes of HDR, converted to levels that the rule for SDR expects.
//!
//! SDR codes are assumed to be those of IEC 61966-2-1, as in the rule for SDR. The same formula, continued above white,
//! gives a level to the light of an HDR code, where white is diffuse white: 203 cd/m2 (ITU-R BT.2408). The light is
//! that of a reference display, for PQ by SMPTE ST 2084, for HLG by ARIB STD-B67 and ITU-R BT.2100 with a peak of 1000
//! cd/m2, whose system gamma of 1.2 is applied to each component by itself: 75 % of the signal are diffuse white. So
//! levels of PQ go up to 5.3 times white, those of HLG up to twice.
//!
//! A [`Scale`] has these levels at 1,025 evenly spaced positions ("places") from black to white of the signal, linear
//! between them. They are computed when they are first needed, in integers, by logarithms and powers of 40 bits.

use super::natural::WHITE;
use super::parameters::named;
use std::sync::OnceLock;

named! {
    /// How codes represent light: the transfer function.
    #[derive(Default)]
    pub enum Transfer {
        #[default]
        Sdr = "sdr", "As in SDR video: white is the white of the display";
        Pq = "pq", "Perceptual quantization, SMPTE ST 2084: HDR10";
        Hlg = "hlg", "Hybrid log-gamma, ARIB STD-B67";
    }
}

impl Transfer {
    /// Whether it is a transfer of HDR, whose codes mean absolute brightness.
    pub fn is_hdr(self) -> bool {
        self != Transfer::Sdr
    }

    /// Its scale; `None` for SDR, whose codes are the levels.
    #[doc(hidden)]
    pub fn scale(self) -> Option<&'static Scale> {
        static SCALES: [OnceLock<Scale>; 2] = [OnceLock::new(), OnceLock::new()];
        match self {
            Transfer::Sdr => None,
            Transfer::Pq => Some(SCALES[0].get_or_init(|| Scale::new(Powers::pq))),
            Transfer::Hlg => Some(SCALES[1].get_or_init(|| Scale::new(Powers::hlg))),
        }
    }

    /// Converts the mean of a block from codes of this transfer to levels; `white` is the highest code. All are in
    /// sixteenths.
    #[doc(hidden)]
    pub fn lit(self, mean: u32, white: u32) -> u32 {
        self.scale().map_or(mean, |scale| {
            let level = scale.level(place(mean.into(), white.into()));
            (level * i64::from(white) / FINE_WHITE).min(u32::MAX.into()) as u32
        })
    }
}

/// The number of pieces of a [`Scale`].
pub const PIECES: usize = 1024;

/// The place of the highest code; black is at 0.
pub const LAST_PLACE: i64 = (PIECES as i64) << 16;

/// Diffuse white, in the levels of a scale: 4096ths of a sixteenth of 255.
pub const FINE_WHITE: i64 = (WHITE as i64) << 12;

/// The place of the code that is `part / whole` of the way from black to white.
pub fn place(part: i64, whole: i64) -> i64 {
    (part * LAST_PLACE + whole / 2) / whole.max(1)
}

/// A table from the code of an HDR transfer function to a level of SDR.
#[derive(Debug)]
pub struct Scale {
    levels: Vec<i64>,
}

impl Scale {
    fn new(light: impl Fn(&Powers, u64) -> u64) -> Self {
        let powers = Powers::new();
        let level = |index: usize| {
            let code = powers.code(light(&powers, index as u64 * (ONE / PIECES as u64)));
            ((u128::from(code) * FINE_WHITE as u128) >> BITS) as i64
        };
        Scale { levels: (0..=PIECES).map(level).collect() }
    }

    /// The levels at its places, black first.
    pub fn levels(&self) -> &[i64] {
        &self.levels
    }

    /// The level at a place.
    pub fn level(&self, place: i64) -> i64 {
        let place = place.clamp(0, LAST_PLACE);
        let index = ((place >> 16) as usize).min(PIECES - 1);
        let [low, high] = [self.levels[index], self.levels[index + 1]];
        low + (((high - low) * (place - ((index as i64) << 16))) >> 16)
    }

    /// The place of a level; that of black or of the highest code where the level lies outside.
    pub fn place(&self, level: i64) -> i64 {
        place_in(&self.levels, level)
    }

    /// As [`place`](Scale::place), searched from where the last level was found; `near` is 0 at first.
    pub fn place_near(&self, level: i64, near: &mut usize) -> i64 {
        place_near(&self.levels, level, near)
    }
}

/// The position of a value in a rising list, in 65536ths of an entry.
fn place_in(list: &[i64], value: i64) -> i64 {
    place_behind(list, value, list.partition_point(|level| *level <= value))
}

/// As [`place_in`], searched from where the last value was found: `behind` is the number of entries that are not above
/// that value.
fn place_near(list: &[i64], value: i64, behind: &mut usize) -> i64 {
    while list.get(*behind).is_some_and(|level| *level <= value) {
        *behind += 1;
    }
    while behind.checked_sub(1).is_some_and(|last| list[last] > value) {
        *behind -= 1;
    }
    place_behind(list, value, *behind)
}

fn place_behind(list: &[i64], value: i64, behind: usize) -> i64 {
    let Some(index) = behind.checked_sub(1) else { return 0 };
    match list.get(behind) {
        None => (index as i64) << 16,
        Some(level) => ((index as i64) << 16) + (((value - list[index]) << 16) / (level - list[index])),
    }
}

/// The light of levels, in 2^32ths of that of diffuse white.
#[derive(Debug)]
pub struct LightOfLevels(Vec<i64>);

/// The highest level of the table, in multiples of white.
const HIGHEST: usize = 16;

impl LightOfLevels {
    /// The shared table, made on first use.
    pub fn get() -> &'static Self {
        static LIGHT: OnceLock<LightOfLevels> = OnceLock::new();
        LIGHT.get_or_init(|| {
            let powers = Powers::new();
            let light = |index: usize| (powers.light(index as u64 * (ONE / 256)) >> (BITS - 32)) as i64;
            LightOfLevels((0..=256 * HIGHEST).map(light).collect())
        })
    }

    /// The light of a level; above the highest level of the table, the light of that level.
    pub fn light(&self, level: i64) -> i64 {
        const STEP: i64 = FINE_WHITE / 256;
        let level = level.clamp(0, HIGHEST as i64 * FINE_WHITE - 1);
        let index = (level / STEP) as usize;
        let [low, high] = [self.0[index], self.0[index + 1]];
        // No overflow: light is below 2^42, and `STEP` is below 2^16.
        low + (high - low) * (level % STEP) / STEP
    }

    /// The level of a light, searched from where the last level was found; `near` is 0 at first.
    pub fn level_near(&self, light: i64, near: &mut usize) -> i64 {
        (place_near(&self.0, light, near) * (FINE_WHITE / 256)) >> 16
    }
}

/// The fraction bits of fixed-point numbers in this file.
const BITS: u32 = 40;
const ONE: u64 = 1 << BITS;

/// Powers of positive numbers.
struct Powers {
    /// The square root of 2, its square root, and so on, with 62 fraction bits.
    roots: [u128; BITS as usize],
}

impl Powers {
    fn new() -> Self {
        let mut root = 2 << 62;
        let next = |_| {
            root = u128::isqrt(root << 62);
            root
        };
        Powers { roots: std::array::from_fn(next) }
    }

    /// The logarithm to the base 2 of a number above 0.
    fn log2(number: u64) -> i64 {
        let zeros = number.leading_zeros();
        let whole = i64::from(63 - zeros) - i64::from(BITS);
        let mut rest = u128::from(number << zeros);
        let part = (0..BITS).fold(0, |part, _| {
            rest = (rest * rest) >> 63;
            let bit = rest >> 64;
            rest >>= bit;
            2 * part + bit as i64
        });
        (whole << BITS) + part
    }

    /// 2 to the power of `power`, which is below 20.
    fn exp2(&self, power: i64) -> u64 {
        let bits = self.roots.iter().enumerate().filter(|(index, _)| (power >> (BITS as usize - 1 - index)) & 1 == 1);
        let part = bits.fold(1 << 62, |product: u128, (_, root)| (product * root) >> 62);
        let down = 22 - (power >> BITS);
        if down > 100 { 0 } else { (part >> down) as u64 }
    }

    /// A number to the power of `over / under`.
    fn power(&self, number: u64, over: i64, under: i64) -> u64 {
        if number == 0 {
            return 0;
        }
        self.exp2((i128::from(Self::log2(number)) * i128::from(over) / i128::from(under)) as i64)
    }

    /// The light of a PQ signal, a share of its range, relative to diffuse white.
    fn pq(&self, signal: u64) -> u64 {
        let power = u128::from(self.power(signal, 32, 2523));
        let one = u128::from(ONE);
        let over = power.saturating_sub(one * 107 / 128);
        let under = (one * 2413 / 128).saturating_sub(power * 299 / 16);
        let of_10000 = self.power((over * one / under.max(1)) as u64, 8192, 1305);
        (u128::from(of_10000) * 10_000 / 203) as u64
    }

    /// The light of an HLG signal, a share of its range, relative to diffuse white.
    fn hlg(&self, signal: u64) -> u64 {
        // a = 0.17883277, b = 1 - 4a, c = 0.55991073; the logarithm of e to the base 2 is 1.44269504.
        let of_scene = if signal <= ONE / 2 {
            ((u128::from(signal) * u128::from(signal) / 3) >> BITS) as u64
        } else {
            let one = i128::from(ONE);
            let over = i128::from(signal) - one * 55_991_073 / 100_000_000;
            let power = over * 144_269_504 / 17_883_277;
            let b = ONE as i128 * 28_466_892 / 100_000_000;
            ((i128::from(self.exp2(power as i64)) + b) / 12) as u64
        };
        (u128::from(self.power(of_scene, 6, 5)) * 1000 / 203) as u64
    }

    /// The SDR code of this light, continued above white.
    fn code(&self, light: u64) -> u64 {
        let light = u128::from(light);
        if light * 10_000_000 <= 31_308 * u128::from(ONE) {
            return (light * 1292 / 100) as u64;
        }
        let root = u128::from(self.power(light as u64, 5, 12));
        ((root * 1055 - 55 * u128::from(ONE)) / 1000) as u64
    }

    /// The light of an SDR code.
    fn light(&self, code: u64) -> u64 {
        let wide = u128::from(code);
        if wide * 100_000 <= 4045 * u128::from(ONE) {
            return (wide * 100 / 1292) as u64;
        }
        self.power(((wide * 1000 + 55 * u128::from(ONE)) / 1055) as u64, 12, 5)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The light of a signal by the published formulas, relative to diffuse white.
    fn light(transfer: Transfer, signal: f64) -> f64 {
        if transfer == Transfer::Pq {
            let (m1, m2) = (2610.0 / 16384.0, 2523.0 / 4096.0 * 128.0);
            let (c1, c2, c3) = (3424.0 / 4096.0, 2413.0 / 4096.0 * 32.0, 2392.0 / 4096.0 * 32.0);
            let power = signal.powf(1.0 / m2);
            return 10_000.0 / 203.0 * ((power - c1).max(0.0) / (c2 - c3 * power)).powf(1.0 / m1);
        }
        let (a, b, c) = (0.178_832_77, 0.284_668_92, 0.559_910_73);
        let scene = if signal <= 0.5 { signal * signal / 3.0 } else { (f64::exp((signal - c) / a) + b) / 12.0 };
        1000.0 / 203.0 * scene.powf(1.2)
    }

    fn code(light: f64) -> f64 {
        if light <= 0.003_130_8 { 12.92 * light } else { 1.055 * light.powf(1.0 / 2.4) - 0.055 }
    }

    #[test]
    fn scales_are_the_published_formulas() {
        for transfer in [Transfer::Pq, Transfer::Hlg] {
            let scale = transfer.scale().unwrap();
            assert!(scale.levels().is_sorted() && scale.levels()[0] == 0, "{transfer:?}");
            for (index, &level) in scale.levels().iter().enumerate() {
                let expected = FINE_WHITE as f64 * code(light(transfer, index as f64 / PIECES as f64));
                let apart = (level as f64 - expected).abs();
                assert!(apart <= 1.0 + 1e-6 * expected, "{transfer:?} at {index}: {level}, not {expected}");
            }
        }
        // Diffuse white is at 58 % of PQ and 75 % of HLG.
        for (transfer, place) in [(Transfer::Pq, 0.580_69), (Transfer::Hlg, 0.75)] {
            let level = transfer.scale().unwrap().level((LAST_PLACE as f64 * place) as i64);
            assert!((level as f64 / FINE_WHITE as f64 - 1.0).abs() < 0.001, "{transfer:?}: {level}");
        }
        assert!(Transfer::Sdr.scale().is_none() && Transfer::Sdr.lit(77, 100) == 77);
    }

    #[test]
    fn a_level_has_its_place_and_its_light_and_back() {
        for transfer in [Transfer::Pq, Transfer::Hlg] {
            let scale = transfer.scale().unwrap();
            for place in (0..=LAST_PLACE).step_by(9_973).filter(|place| *place > 8 << 16) {
                assert!((scale.place(scale.level(place)) - place).abs() < 1 << 13, "{transfer:?} {place}");
            }
            assert_eq!([scale.place(-1), scale.place(0), scale.place(i64::MAX / 4)], [0, 0, LAST_PLACE]);
        }
        let light = LightOfLevels::get();
        for level in (0..6 * FINE_WHITE).step_by(100_003) {
            let as_code = level as f64 / FINE_WHITE as f64;
            let expected = if as_code <= 0.040_45 { as_code / 12.92 } else { ((as_code + 0.055) / 1.055).powf(2.4) };
            let found = light.light(level) as f64 / (1_u64 << 32) as f64;
            assert!((found - expected).abs() <= 2e-3 * expected + 1e-8, "{level}: {found}, not {expected}");
            assert!((light.level_near(light.light(level), &mut 0) - level).abs() <= 2, "{level}");
        }
    }
}
