//! The correction of a frame: all parts of the rule together.

use super::in_light::{InLight, MAX_PEAK, balance_of_codes};
use super::parts::belief::Belief;
use super::parts::cast::{self, Cast};
use super::parts::contrast::Contrast;
use super::parts::line::StretchLine;
use super::parts::meant::Meant;
use super::parts::veil::{RegionalVeil, Regions};
use super::parts::{dark, middle, shade};
use super::points::{Occurrences, Points, WHITE, luma, ramp, ratio, times, with_luma};
use super::tone_curve::{ToneCurve, Toned};
use super::tuning::contrast::{MAX_GAIN, MIN_LIGHT};
use super::tuning::line::DARK_SHARE;
use super::tuning::noise::{LIFTED, MIN_NOISE, NEAR_BLACK, SHOWN, TAKEN, VISIBLE, WORTH_IT};
use super::tuning::noticeable::MOVES;
use super::tuning::veil::{CHOSEN, KEPT_MEAN};
use super::{Assumed, Found, FrameLight, light, log};
use crate::spec::Transfer;
use crate::spec::chroma::UNIT_GAIN;
use crate::spec::curves::tone::{self, Balance};
use crate::spec::curves::{Curve, Levels, Mapping};
use crate::spec::measure::REGIONS;
use crate::spec::parameters::{Chroma, Method, Settings, Strength};
use crate::spec::transfer::FINE_WHITE;
use std::sync::Arc;

/// The correction of a frame, part by part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Correction {
    /// Applied first: the gains of red, green and blue, in 4096ths, and the offsets that are added.
    balance: ([i32; 3], [i32; 3]),
    /// Applied second: the gain of luma in each region, in 4096ths, and the offset that is added.
    gains: Regions,
    offsets: Regions,
    /// The gain of chroma in each region, in 4096ths.
    chroma: Regions,
    /// The curve of luma, applied last.
    curve: ToneCurve,
    /// How much of each deficiency was measured.
    pub(crate) found: Found,
    /// Whether the look assumes a deficiency, and the measures alone lead to the same correction.
    pub(crate) is_as_measured: bool,
    /// The transfer function of the codes of the frame.
    transfer: Transfer,
    /// For HDR, the peak of the scene after the balance, and before it, in 4096ths of a level.
    peak: [i32; 2],
    /// The mean luma, at which the gain of chroma of HDR is computed.
    middle: i32,
}

impl Correction {
    /// The correction that changes nothing.
    pub fn identity() -> Self {
        Correction {
            balance: ([4096; 3], [0; 3]),
            gains: [[4096; REGIONS]; REGIONS],
            offsets: [[0; REGIONS]; REGIONS],
            chroma: [[4096; REGIONS]; REGIONS],
            curve: ToneCurve::identity(),
            found: Found::NOTHING,
            is_as_measured: false,
            transfer: Transfer::Sdr,
            peak: [0; 2],
            middle: 0,
        }
    }

    /// The correction of a scene that lacks nothing, with the transfer and the peak of this one.
    #[must_use]
    pub fn cleared(&self) -> Self {
        let Correction { transfer, peak: [_, peak], middle, .. } = *self;
        Correction { transfer, peak: [peak; 2], middle, ..Correction::identity() }
    }

    /// The correction that a frame with these points needs, with no gain of its levels above `most`, in 4096ths. Casts
    /// and tints are removed only if `takes_cast`.
    pub fn new(points: Points, assumed: Assumed, takes_cast: bool, faithful: bool, most: i32) -> Self {
        let (drawn, points) = (points.drawn, points.without_overlay());
        let chooses = !faithful && !points.transfer.is_hdr();
        let meant = if assumed == Assumed::Nothing && chooses { Meant::for_points(&points) } else { Meant::default() };
        let (there, looks_log) = (points.presence(), log::likeness(&points));
        let sure = |assumption: Assumed, measured: i32| if assumed == assumption { there } else { measured };
        let is_told = assumed != Assumed::Nothing || points.transfer.is_hdr();
        let believed = if is_told { Belief::FULL } else { Belief::new(&points.without_letters()) };
        let darkest_colour = points.corners(5_000)[0];
        let darkest = dark::black_of(darkest_colour);
        let (seems_dark, under_letters) = dark::share(&points, darkest);
        let seems_dark = sure(Assumed::Dark, seems_dark);
        let dark = times(times(seems_dark, believed.dark), 4096 - meant.dark);
        let of_cast = match assumed {
            _ if !takes_cast => Cast { share: 0, water: 0 },
            Assumed::Cast => Cast { share: there, water: 4096 },
            Assumed::Nothing | Assumed::Veil | Assumed::Dark => Cast::new(&points, darkest_colour, believed.water),
        };
        // The colours of a drawing are no cast: a green screen is green.
        let cast = times(of_cast.share, 4096 - meant.drawn);
        let top = |points: &Points| Occurrences::new(points.luma()).at(998_000);
        let (transfer, peak, top_before) = (points.transfer, points.peak, top(&points));

        let (mut balance, mut points) = (UNBALANCED, points);
        if dark > 0 && cast > 0 {
            balance.0 = dark::balance(&points, dark, cast);
            points = points.changed(|rgb, _| std::array::from_fn(|channel| times(rgb[channel], balance.0[channel])));
        }
        let by_levels = times(cast, 4096 - dark);
        let mut paler = 4096;
        if by_levels > 0 {
            let (gains, offsets, chroma) = cast::balance(&points, Cast { share: by_levels, ..of_cast });
            paler = chroma;
            points = points.changed(|rgb, _| {
                std::array::from_fn(|channel| times(rgb[channel], gains[channel]) + offsets[channel])
            });
            balance = (std::array::from_fn(|channel| times(balance.0[channel], gains[channel])), offsets);
        }

        let line = StretchLine::new(
            &points,
            most,
            times(times(4096 - times(dark, DARK_SHARE), believed.line), 4096 - meant.drawn),
        );
        let tint = if takes_cast { line.tint(&points) } else { [0; 3] };
        if tint != [0; 3] {
            points = points.changed(|rgb, _| std::array::from_fn(|channel| rgb[channel] - tint[channel]));
        }
        balance.1 = std::array::from_fn(|channel| balance.1[channel] - tint[channel]);
        let balanced = i64::from(peak) * i64::from(ratio(top(&points), top_before)) / 4096;
        let balanced = if balance == UNBALANCED { peak } else { balanced.min(MAX_PEAK.into()) as i32 };
        let middle = luma(points.mean());
        if [line.gain, line.offset, line.chroma] != [4096, 0, 4096] {
            points = points.toned(|level| times(level, line.gain) + line.offset, line.chroma);
        }
        let part = times(times(times(4096 - dark, there), believed.veil), 4096 - meant.drawn);
        let part = if chooses { times(part, CHOSEN) } else { part };
        let mean_before = luma(points.mean());
        let veil = RegionalVeil::new(&points, darkest, part, (assumed == Assumed::Veil).then_some(there));
        if veil.share > 0 {
            let (taken, gains) = (veil.taken.as_flattened(), veil.gains.as_flattened());
            points = points.changed(|rgb, region| {
                let (level, gain) = (luma(rgb), gains[region]);
                with_luma(rgb, level, times((level - taken[region]).max(0), gain), RegionalVeil::chroma(gain))
            });
        }
        let mean_behind = luma(points.mean());
        if paler != 4096 {
            points = points.toned(|level| level, paler);
        }
        if under_letters {
            points = points.without_letters().into_owned();
        }
        let exposure = dark::gain(&points, dark).min(most.max(4096));
        if exposure > 4096 {
            points = points.toned(|level| dark::exposed(level, exposure), dark::chroma(exposure));
        }
        let lift = times(dark::lift(&points, seems_dark, cast), 4096 - meant.dark).min(most.max(4096) - 4096);
        if lift > 0 {
            points = points.toned(|level| dark::lifted(level, lift), dark::chroma(4096 + lift));
        }
        let bend = middle::bend(&points, middle::lifted(line.share, veil.share));
        let of_light = times(dark::chroma(exposure), dark::chroma(4096 + lift));
        let mut all = times(times(times(line.chroma, paler), of_light), middle::chroma(&points, bend));
        let (mut shade, mut contrast, mut given_back) = (0, Contrast::NONE, 0);
        if chooses {
            if bend != 0 {
                points = points.toned(|level| middle::bent(level, bend), 4096);
            }
            let clear = times(shade::lift_to(mean_behind, mean_before), KEPT_MEAN);
            let room = ratio(most.max(4096), times(exposure, 4096 + lift)) - 4096;
            shade = shade::lift(&points, times(4096 - meant.dark, there)).max(clear).min(room.max(0));
            shade = shade::without_clipping(&points, shade);
            if shade != 0 {
                points = points.toned(|level| shade::lifted(level, shade), shade::chroma(shade));
            }
            let max_gain = ratio(most.min(MAX_GAIN), line.gain).max(4096);
            contrast = Contrast::for_points(&points, times(4096 - meant.drawn, there), dark, max_gain);
            // Contrast that moves black down darkens the shadows, too: `given_back` keeps the mean brightness.
            let mean = |becomes: &dyn Fn(i32) -> i32| {
                let sum: i64 = points.luma().map(|level| i64::from(becomes(level))).sum();
                (sum / points.count().max(1) as i64) as i32
            };
            let least = times(mean(&|level| level), MIN_LIGHT);
            let left = ratio(4096 + room.max(0), shade::slope(shade)) - 4096;
            given_back = shade::lift_to(mean(&|level| contrast.applied(level)), least).min(left.max(0));
            all = times(times(times(all, shade::chroma(shade)), contrast.chroma), shade::chroma(given_back));
        }

        let by_region = |assumption: &dyn Fn(i32, i32) -> i32| {
            std::array::from_fn(|y| std::array::from_fn(|x| assumption(veil.taken[y][x], veil.gains[y][x])))
        };
        Correction {
            balance,
            gains: by_region(&|_, gain| times(line.gain, gain)),
            offsets: by_region(&|taken, gain| times(line.offset - taken, gain)),
            chroma: by_region(&|_, gain| times(all, RegionalVeil::chroma(gain))),
            curve: ToneCurve::through(|level| {
                let lit = middle::bent(dark::lifted(dark::exposed(level, exposure), lift), bend);
                shade::lifted(contrast.applied(shade::lifted(lit, shade)), given_back)
            }),
            found: Found {
                dark: dark.max(lift).max(shade),
                cast,
                unused: line.share,
                veil: veil.share,
                exposure: times(times(exposure, 4096 + lift), shade::slope(shade)),
                contrast: times(line.gain, contrast.gain()),
                noise: 0,
                flicker: 0,
                log: looks_log,
                bars: if drawn.bars { 4096 } else { 0 },
                captions: if drawn.captions { 4096 } else { 0 },
            },
            is_as_measured: false,
            transfer,
            peak: [balanced, peak],
            middle,
        }
    }

    /// The noticeable part of the correction: nothing if it moves no level by more than 2 of 255, all of it if it moves
    /// one by 4. If no deficiency is left then, it is the identity.
    #[must_use]
    pub fn noticeable(&self) -> Self {
        let moves = self.moves();
        let share = ramp(moves, MOVES[0], MOVES[1]) as u32;
        // A share too small to change a code of 8 bits counts as 0.
        let share = if share * (moves as u32) < 8 * 4096 { 0 } else { share };
        let mut mean = MeanCorrection::default();
        mean.add(&self.cleared(), 4096 - share);
        mean.add(self, share);
        let noticed = mean.get().unwrap_or(*self);
        if noticed.found.is_nothing() { Correction { found: noticed.found, ..noticed.cleared() } } else { noticed }
    }

    /// The largest distance by which the correction moves a level of gray, or a colour from gray, in sixteenths of 255.
    /// The search ends when the distance is so large that all of the correction counts.
    fn moves(&self) -> i32 {
        let then = Toned { curve: self.curve, light: light::FULL }.frame_curve(WHITE as u64);
        let (gains, offsets) = self.balance;
        let peak = if self.transfer.is_hdr() { self.peak[0].max(self.peak[1]) >> 12 } else { WHITE };
        let places = ToneCurve::identity();
        let levels = || places.points().iter().copied().chain([peak]);
        let by_region = self.gains.as_flattened().iter().zip(self.offsets.as_flattened());
        let mut regions: Vec<_> = by_region.zip(self.chroma.as_flattened()).collect();
        regions.dedup();
        let mut most = 0;
        for ((gain, offset), chroma) in regions {
            most = most.max(times(WHITE, chroma - 4096).abs());
            for (channel, level) in (0..3).flat_map(|channel| levels().map(move |level| (channel, level))) {
                let balanced = (times(level, gains[channel]) + offsets[channel]).max(0);
                let rest = (times(balanced, *gain) + offset).max(0);
                let becomes = then.fine(i64::from(rest) << 12) >> 12;
                most = most.max((becomes - i64::from(level)).abs().min(WHITE.into()) as i32);
            }
            if most >= MOVES[1] {
                break;
            }
        }
        most
    }

    /// Whether the correction makes noise visible: its slope near black, or its gain of chroma, is above 1.5.
    pub fn shows_noise(&self) -> bool {
        let gain = self.chroma.as_flattened().iter().copied().max().unwrap_or(4096);
        self.slope_near_black().max(gain) > 4096 + 2048
    }

    /// The share of noise of this deviation, in 256ths of a level of frames with these levels, that is removed before
    /// this correction: none where noise stays invisible, `most` where it would be visible. With a large gain, at least
    /// the noise that encoders leave is assumed, because it repeats from frame to frame and is not measured. A small
    /// share is not removed: it is not visible, and removing it takes as long as removing all noise.
    pub fn noise_shown(&self, noise: Option<u32>, levels: Levels, most: Strength) -> Strength {
        let gain = self.chroma.as_flattened().iter().copied().max().unwrap_or(4096).max(self.slope_near_black());
        let least = (MIN_NOISE as i64 * i64::from(ramp(gain, TAKEN[0], TAKEN[1]))) >> 12;
        let noise = noise.map_or(0, |noise| (i64::from(noise) * 255 / (levels.count() as i64 - 1)).max(least));
        let shown = (noise * i64::from(gain) / 4096).min(1 << 20) as i32;
        let share = times(ramp(shown, SHOWN[0], SHOWN[1]), ramp(gain, LIFTED[0], LIFTED[1]));
        let share = times(share, ramp(share, WORTH_IT[0], WORTH_IT[1]));
        Strength::from_256ths(times(most.to_256ths() as i32, share) as u32)
    }

    /// Limits slopes near black and gains of chroma, so that noise of this deviation, in 256ths of a level of frames
    /// with these levels, stays invisible.
    #[must_use]
    pub fn calmed(mut self, noise: Option<u32>, levels: Levels) -> Self {
        let Some(noise) = noise else { return self };
        // Compressed video repeats its noise from frame to frame, so that too little is measured.
        let noise = (u64::from(noise) * 255 / (levels.count() as u64 - 1)).max(MIN_NOISE) as i64;
        let [most_near_black, most_chroma] = VISIBLE.map(|visible| (visible * 256 * 4096 / noise).max(4096) as i32);
        let slope = self.slope_near_black();
        if slope > most_near_black {
            let less = 4096 - ratio(most_near_black, slope);
            let places = ToneCurve::identity();
            for (point, place) in self.curve.points_mut().iter_mut().zip(places.points()) {
                let near = 4096 - ramp(*place, NEAR_BLACK[0], NEAR_BLACK[1]);
                *point -= times(*point, times(less, times(near, near)));
            }
        }
        self.chroma.as_flattened_mut().iter_mut().for_each(|gain| *gain = (*gain).min(most_chroma));
        self
    }

    /// The slope near black, with the mean gain of the regions, in 4096ths.
    fn slope_near_black(&self) -> i32 {
        let gains = self.gains.as_flattened();
        let mean = gains.iter().sum::<i32>() / gains.len() as i32;
        let [black, _, beside, ..] = self.curve.points();
        let identity = ToneCurve::identity();
        times(ratio(beside - black, identity.points()[2]), mean)
    }

    /// The mapping of a frame with these levels and this light.
    pub fn mapping(&self, frame_light: &FrameLight, levels: Levels) -> Mapping {
        let light = frame_light.light;
        let white = 16 * (levels.count() as i64 - 1);
        let of_level = |level: i32| (i64::from(level) * white / i64::from(WHITE)) as i32;
        let lit = |level: i32| (i64::from(of_level(level)) * i64::from(light) / 65_536) as i32;
        let regions = |number: &dyn Fn(usize, usize) -> i32| {
            std::array::from_fn(|y| std::array::from_fn(|x| number(y, x).max(0) as u32))
        };
        let lifted = |gain: i32, y: usize, x: usize| {
            ((i64::from(gain) * i64::from(frame_light.gain((y, x)))) >> 12).min(tone::MAX_GAIN.into()) as i32
        };
        let gain = |y: usize, x: usize| lifted(self.gains[y][x], y, x);
        let taken =
            |y: usize, x: usize| (-4096 * i64::from(lit(self.offsets[y][x])) / i64::from(gain(y, x).max(1))) as i32;
        let mean = |numbers: &Regions| numbers.as_flattened().iter().sum::<i32>() / (REGIONS * REGIONS) as i32;
        let curve = frame_light.curve(self.curve, [mean(&self.gains), mean(&self.offsets)]);
        let then = (curve != ToneCurve::identity()).then_some(Toned { curve, light });
        let of_scene = |level: i32| ((i64::from(level) * i64::from(light)) >> 16).clamp(0, MAX_PEAK.into());
        let [peak, scene_peak] = self.peak.map(|peak| of_scene(peak) as u32);
        let in_light = InLight { transfer: self.transfer, peak: [peak, scene_peak.max(FINE_WHITE as u32)] };
        let mut veil = tone::Veil {
            taken: regions(&taken),
            gains: regions(&gain),
            chroma: regions(&|y, x| lifted(self.chroma[y][x], y, x)),
            then,
            in_light: self.transfer.is_hdr().then_some(in_light),
            ceiling: levels.count() as u32 - 1,
        };
        if let Some(in_light) = veil.in_light {
            let number = veil.regions().zip(veil.chroma.as_flattened().to_vec());
            let middle = of_scene(self.middle << 12);
            let then = then.map(|then| then.frame_curve(WHITE as u64));
            let gains = number.map(|(region, gain)| {
                in_light.region(region, then.as_ref(), white).map_or(gain, |region| region.chroma(gain, middle))
            });
            let gains: Vec<u32> = gains.collect();
            veil.chroma.as_flattened_mut().copy_from_slice(&gains);
        }
        let one = |number: &[[u32; REGIONS]; REGIONS]| number.as_flattened().iter().all(|value| *value == number[0][0]);
        let mapping = if one(&veil.taken) && one(&veil.gains) && one(&veil.chroma) {
            let curve = if veil.is_clear() { Curve::identity(levels) } else { veil.curve_of((0, 0), levels) };
            Mapping::Curve { curve: curve.into(), chroma_gain: veil.chroma[0][0] }
        } else {
            Mapping::Veil(veil.into())
        };
        let (gains, offsets) = self.balance;
        let balance = match self.transfer.scale() {
            Some(_) if self.balance == UNBALANCED => Balance::IDENTITY,
            Some(scale) => {
                let lit = |level: i32| (i64::from(level) * i64::from(light) / 65_536) as i32;
                let number: [_; 3] =
                    std::array::from_fn(|index| balance_of_codes(scale, gains[index], lit(offsets[index]), white));
                Balance { gains: number.map(|(gain, _)| gain), offsets: number.map(|(_, offset)| offset) }
            }
            None => {
                let before = i64::from(frame_light.before());
                let lit = |level: i32| (i64::from(of_level(level)) * before / 65_536) as i32;
                frame_light.balance(Balance { gains: gains.map(|gain| gain.max(0) as u32), offsets: offsets.map(lit) })
            }
        };
        match (balance == Balance::IDENTITY, &mapping) {
            (true, _) => mapping,
            (false, Mapping::Curve { curve, chroma_gain: UNIT_GAIN }) if **curve == Curve::identity(levels) => {
                Mapping::Balance(balance)
            }
            (false, _) => Mapping::Balanced { balance, then: Arc::new(mapping) },
        }
    }

    /// The correction that these points need under these settings; `None` unless their method is [`Method::Natural`].
    pub fn under(settings: &Settings, points: Points) -> Option<Self> {
        let Method::Natural { assumed, most, faithful } = settings.method else { return None };
        let most = most.to_256ths().map_or(i32::MAX, |most| 16 * most.min(1 << 24) as i32);
        let is_hdr = points.transfer.is_hdr();
        let takes_cast = |assumed: Assumed| settings.chroma != Chroma::Keep && (!is_hdr || assumed == Assumed::Cast);
        let measured = (assumed != Assumed::Nothing)
            .then(|| Correction::new(points.clone(), Assumed::Nothing, takes_cast(Assumed::Nothing), faithful, most));
        let mut correction = Correction::new(points, assumed, takes_cast(assumed), faithful, most);
        correction.is_as_measured =
            measured.is_some_and(|measured| correction == Correction { found: correction.found, ..measured });
        if !settings.keeps_peak {
            correction.peak = [MAX_PEAK as i32; 2];
        }
        Some(correction)
    }

    /// Calls `see` with every number that is averaged, in a fixed order.
    fn each_number(&mut self, mut see: impl FnMut(&mut i32)) {
        let Correction { balance: (gains, offsets), gains: by_region, offsets: added, chroma, curve, found, .. } = self;
        let regions = [by_region, added, chroma].into_iter().flat_map(|regions| regions.as_flattened_mut());
        let Found { dark, cast, unused, veil, exposure, contrast, .. } = found;
        let all = gains.iter_mut().chain(offsets).chain(regions).chain(curve.points_mut());
        let found = [dark, cast, unused, veil, exposure, contrast];
        all.chain(found).chain(&mut self.peak).chain([&mut self.middle]).for_each(&mut see);
    }
}

/// The balance that changes nothing.
const UNBALANCED: ([i32; 3], [i32; 3]) = ([4096; 3], [0; 3]);

/// How many numbers of a correction are averaged.
const NUMBERS: usize = 2 * 3 + 3 * REGIONS * REGIONS + 17 + 6 + 3;

/// A weighted mean of corrections.
#[derive(Clone, Debug)]
pub struct MeanCorrection {
    sums: [i64; NUMBERS],
    weights: i64,
    last: Option<Correction>,
}

impl Default for MeanCorrection {
    fn default() -> Self {
        MeanCorrection { sums: [0; NUMBERS], weights: 0, last: None }
    }
}

impl MeanCorrection {
    /// Adds a correction to the mean, with this weight.
    pub fn add(&mut self, correction: &Correction, weight: u32) {
        let (mut copy, mut sums) = (*correction, self.sums.iter_mut());
        copy.each_number(|number| {
            if let Some(sum) = sums.next() {
                *sum += i64::from(*number) * i64::from(weight);
            }
        });
        self.weights += i64::from(weight);
        self.last = Some(copy);
    }

    /// The mean; `None` where all weights are 0.
    pub fn get(&self) -> Option<Correction> {
        let (mut mean, mut sums) = (self.last.filter(|_| self.weights > 0)?, self.sums.iter());
        mean.each_number(|number| {
            if let Some(sum) = sums.next() {
                *number = (sum + self.weights / 2).div_euclid(self.weights) as i32;
            }
        });
        Some(mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moves_no_level_far_is_nothing_and_does_nothing() {
        let identity = Correction::identity();
        let found = Found { contrast: 4200, ..Found::NOTHING };
        let moved = |by: i32| {
            let raised = |level: i32| if (1..WHITE).contains(&level) { level + by } else { level };
            Correction { curve: ToneCurve::through(raised), found, ..Correction::identity() }
        };
        let [none, half, all] = [32, 48, 64].map(|by| moved(by).noticeable());
        assert_eq!((none, all), (identity, moved(64)));
        assert!(none.found.is_nothing() && !half.found.is_nothing());
        assert_eq!(half.curve, moved(24).curve);
        for levels in [Levels::full(8), Levels::limited(10)] {
            let same = Mapping::Curve { curve: Curve::identity(levels).into(), chroma_gain: UNIT_GAIN };
            assert_eq!(none.mapping(&light::FULL.into(), levels), same);
            assert_ne!(half.mapping(&light::FULL.into(), levels), same);
        }
        let more = |correction: Correction| Correction { found, ..correction };
        let balanced = more(Correction { balance: ([4096, 4096, 4400], [0; 3]), ..identity });
        let mut one_region = more(identity);
        one_region.gains[7][7] = 4400;
        let coloured = more(Correction { chroma: [[4400; REGIONS]; REGIONS], ..identity });
        for correction in [balanced, one_region, coloured] {
            assert_eq!(correction.noticeable(), correction);
        }
        // A gain moves HDR levels above white further than levels below.
        let gain = more(Correction { gains: [[4104; REGIONS]; REGIONS], ..identity });
        assert!(gain.noticeable().found.is_nothing());
        let hdr = Correction { transfer: Transfer::Pq, peak: [MAX_PEAK as i32; 2], ..gain };
        assert_eq!(hdr.noticeable(), hdr);
    }

    #[test]
    fn noise_bounds_slopes_near_black_and_chroma_and_nothing_else() {
        let levels = Levels::limited(10);
        let exposed = ToneCurve::through(|level| 5 * level);
        let dark = Correction { curve: exposed, chroma: [[20_000; REGIONS]; REGIONS], ..Correction::identity() };
        assert!(dark.shows_noise() && !Correction::identity().shows_noise());
        assert_eq!(dark.calmed(None, levels), dark, "nothing is known of noise");
        // Noise with a standard deviation of 4 of 255.
        let noise = 4 * 256 * (levels.count() as u32 - 1) / 255;
        let calm = dark.calmed(Some(noise), levels);
        let bounds = VISIBLE.map(|visible| (visible * 4096 / 4) as i32);
        assert!(calm.slope_near_black().abs_diff(bounds[0]) < 500, "{}", calm.slope_near_black());
        assert!(calm.chroma.as_flattened().iter().all(|gain| gain.abs_diff(bounds[1]) < 10), "{:?}", calm.chroma[0]);
        let (before, after) = (dark.curve.points(), calm.curve.points());
        assert!(after.is_sorted(), "{after:?}");
        assert_eq!(before[8..], after[8..], "far from black nothing changes");
        let quiet = dark.calmed(Some(1), levels);
        assert_eq!(quiet.curve, dark.curve, "quantization shows less than this");
    }
}
