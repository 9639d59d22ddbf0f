//! The file of `--save-curves NAME.cube`: the mapping of a scene, as a table for grading programs (the format of
//! Iridas and Adobe, which FFmpeg's `lut1d` and `lut3d`, OpenColorIO and Resolve read).
//!
//! A table is the same for the whole frame: if the mapping differs by region, the table has the mean of the regions.
//! Gray video gets one curve with a point for each level (`LUT_1D_SIZE`). In colour video, luma has a curve and chroma
//! a gain, so the table is one of colours (`LUT_3D_SIZE`). Its grid is so fine that tetrahedral interpolation is at
//! most half a level of 255 off for 999 colours in 1,000.
//!
//! Inputs and outputs are R, G and B from black to white as 0 to 1. Outputs may lie outside of that range: programs
//! clip them after interpolation. The table of log footage expects log as its input.
//!
//! For YUV of limited range, white is the value to which FFmpeg converts it in RGB of the same depth, such as 1020 of
//! 1023 at 10 bits: in FFmpeg, a table that stretches levels from mid-gray would be a level off if its white were 1.
//! In programs whose white is 1, outputs are up to 1/256 off.

use super::{CurveFormat, FramePlace};
use anyhow::{Context, Result};
use histeq::internal::frame::Matrix;
use histeq::internal::spec::curves::tone::{Balance, Veil};
use histeq::internal::spec::curves::{Curve, Levels, Mapping};
use histeq::internal::spec::measure::REGIONS;
use histeq_media::pipeline::{Notices, Outcome};
use histeq_media::sink::files::Target;
use histeq_media::source::Developed;
use histeq_media::sys::files::Name;
use std::fmt::Write as _;
use std::io::Write;

/// The grid sizes that are tried, coarse to fine.
const SIZES: [usize; 4] = [17, 33, 65, 129];

/// One colour in this many may be off by more than half a level.
const ONE_IN: usize = 1000;

/// The error for a mapping that no table can represent.
const NO_TABLE: &str = "what is done to HDR in light is no table (take .jsonl)";

/// Half a level at 8 bits.
const HALF: f64 = 0.5 / 255.0;

/// The most scenes that get tables.
const MAX_SCENES: usize = 999;

/// The mappings of the scenes of a video.
#[derive(Default)]
pub struct Cubes {
    /// The conversion from log, which is applied first.
    log: Option<Table>,
    scenes: Vec<SceneLook>,
    /// Whether scenes were left out.
    has_more: bool,
}

/// A scene, and the mapping of a frame in its second half.
struct SceneLook {
    first: FramePlace,
    last: FramePlace,
    mapping: Mapping,
    /// When the scene has this many frames, its mapping is replaced by that of the current frame.
    next: u64,
}

impl Cubes {
    /// From now on, the tables begin with the conversion from log.
    pub fn follow(&mut self, log: &Developed) {
        let (size, points) = log.colours();
        self.log = Some(Table { size, points });
    }

    /// Adds the mapping of the next frame.
    ///
    /// # Errors
    /// When no table can represent it.
    pub fn add(&mut self, place: FramePlace, format: CurveFormat, mapping: &Mapping) -> Result<()> {
        let has_room = self.scenes.len() < MAX_SCENES;
        // After a flash, the scene before it continues.
        match self.scenes.iter_mut().rev().take(2).find(|scene| scene.last.scene == place.scene) {
            Some(scene) => {
                scene.last = place;
                let frames = place.frame - scene.first.frame + 1;
                if frames >= scene.next {
                    (scene.mapping, scene.next) = (mapping.clone(), 2 * frames);
                }
            }
            None if has_room => {
                ColourMap::new(mapping, format, place.matrix).context(NO_TABLE)?;
                self.scenes.push(SceneLook { first: place, last: place, mapping: mapping.clone(), next: 2 });
            }
            None => self.has_more = true,
        }
        Ok(())
    }

    /// Writes a table for each scene: `target`, and beside it NAME-2.cube, NAME-3.cube and so on.
    ///
    /// # Errors
    /// When one cannot be written.
    pub fn write(self, format: CurveFormat, target: Target, outcome: Outcome, notices: &Notices) -> Result<()> {
        let name = target.name().to_owned();
        let count = self.scenes.len();
        if self.has_more {
            notices.warn(&format!("{name}: the video has more than {MAX_SCENES} scenes: the others have no tables"))?;
        }
        let (mut next, mut means) = (Some(target), 0);
        for (index, scene) in self.scenes.iter().enumerate() {
            let look = ColourMap::new(&scene.mapping, format, scene.first.matrix);
            let look = ColourMap { log: self.log.as_ref(), ..look.with_context(|| format!("{name}: {NO_TABLE}"))? };
            means += usize::from(look.is_mean);
            let Some(mut target) = next.take() else { break };
            next = (index + 1 < count).then(|| target.beside(&numbered(&name, index + 2))).transpose()?;
            let [start, end] = [scene.first.seconds.0, scene.last.seconds.0 + scene.last.seconds.1].map(time_code);
            let frames = (scene.first.frame, scene.last.frame);
            let mut comments = vec![
                format!(
                    "histeq-video, scene {} of {count}: {start} to {end}, frames {} to {}",
                    index + 1,
                    frames.0,
                    frames.1
                ),
                "R, G and B from black to white; red changes first".to_owned(),
            ];
            if look.log.is_some() {
                comments.push("It takes log, which it brings to BT.709 first".to_owned());
            }
            if look.is_mean {
                comments.push("The mean of regions, which the video is corrected by".to_owned());
            }
            let mut writer = target.patient_writer()?;
            look.write(&comments, &mut writer).with_context(|| format!("{name}: cannot be written"))?;
            drop(writer);
            target.end(outcome)?;
        }
        if means > 0 {
            notices.warn(&format!(
                "{name}: what is done by region is left out, and its mean is in the table (--method global has one curve \
                 for the picture)"
            ))?;
        }
        if count > 1 {
            notices
                .note(&format!("{count} scenes: {name} is of the first one, {} of the last", numbered(&name, count)));
        }
        Ok(())
    }
}

/// The name of the table of a scene after the first.
fn numbered(name: &Name, number: usize) -> Name {
    let path = name.path();
    let [stem, extension] = [path.file_stem(), path.extension()].map(|part| part.unwrap_or_default());
    path.with_file_name(Name::from_parts([&stem, &format!("-{number}."), &extension])).into()
}

/// A time as hours, minutes, seconds and thousandths.
fn time_code(seconds: f64) -> String {
    let thousandths = (seconds.max(0.0) * 1000.0).round() as u64;
    let (seconds, thousandths) = (thousandths / 1000, thousandths % 1000);
    format!("{:02}:{:02}:{:02}.{thousandths:03}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// A mapping of colours that is the same everywhere in the frame.
pub struct ColourMap<'a> {
    /// The conversion from log, which is applied first.
    log: Option<&'a Table>,
    /// White in the RGB that the table is for.
    white: f64,
    balance: Option<[(f64, f64); 3]>,
    /// The outputs for levels from black to white, and the gain of chroma.
    curve: Option<(Vec<f64>, f64)>,
    /// The weights of red, green and blue in luma; `None` of gray.
    weights: Option<[f64; 3]>,
    /// The number of levels of the frames.
    levels: usize,
    /// Whether the mapping differs by region, so that this is its mean.
    pub is_mean: bool,
}

impl ColourMap<'_> {
    /// The map of `mapping` for frames of this format; `None` for curves of tiles, and for HDR ([`Veil::is_of_light`]).
    pub fn new(mapping: &Mapping, format: CurveFormat, matrix: Option<Matrix>) -> Option<Self> {
        let levels = format.levels();
        let plain = ColourMap {
            log: None,
            white: matrix.map_or(1.0, |_| white(levels)),
            balance: None,
            curve: None,
            weights: matrix.map(weights),
            levels: levels.count(),
            is_mean: false,
        };
        Some(match mapping {
            Mapping::Curve { curve, chroma_gain } => {
                ColourMap { curve: Some((outputs(curve, levels), gain(*chroma_gain))), ..plain }
            }
            Mapping::Veil(veil) if veil.is_of_light() => return None,
            Mapping::Veil(veil) => {
                let (curve, chroma, is_mean) = everywhere(veil, levels);
                ColourMap { curve: Some((curve, chroma)), is_mean, ..plain }
            }
            Mapping::Balance(balance) => ColourMap { balance: Some(lines(balance, levels)), ..plain },
            Mapping::Balanced { balance, then } => {
                let then = ColourMap::new(then, format, matrix)?;
                ColourMap { balance: Some(lines(balance, levels)), ..then }
            }
            Mapping::Tiles { .. } => return None,
        })
    }

    /// The output for a colour.
    fn apply(&self, rgb: [f64; 3]) -> [f64; 3] {
        let rgb = self.log.map_or(rgb, |log| log.at(rgb));
        self.corrected(rgb.map(|level| level / self.white)).map(|level| level * self.white)
    }

    /// The output for a colour where white is 1, without the conversion from log.
    fn corrected(&self, rgb: [f64; 3]) -> [f64; 3] {
        let rgb = match &self.balance {
            Some(lines) => std::array::from_fn(|channel| lines[channel].0 * rgb[channel] + lines[channel].1),
            None => rgb,
        };
        let Some((curve, gain)) = &self.curve else { return rgb };
        let Some(weights) = self.weights else { return rgb.map(|level| between(curve, level)) };
        let luma: f64 = rgb.iter().zip(weights).map(|(level, weight)| level * weight).sum();
        let after = between(curve, luma);
        rgb.map(|level| after + gain * (level - luma))
    }

    /// Writes the table, with these lines of comment.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, comments: &[String], out: &mut impl Write) -> Result<()> {
        let mut text = String::new();
        for comment in comments {
            writeln!(text, "# {comment}")?;
        }
        let is_gray = self.weights.is_none();
        let table = if is_gray { self.curves() } else { self.colours() };
        writeln!(text, "LUT_{}_SIZE {}", if is_gray { "1D" } else { "3D" }, table.size)?;
        for [r, g, b] in &table.points {
            writeln!(text, "{r:.6} {g:.6} {b:.6}")?;
        }
        out.write_all(text.as_bytes())?;
        Ok(())
    }

    fn curves(&self) -> Table {
        let value_at = |index: usize| self.apply([index as f64 / (self.levels - 1) as f64; 3]);
        Table { size: self.levels, points: (0..self.levels).map(value_at).collect() }
    }

    /// The coarsest table that is fine enough, or the finest.
    fn colours(&self) -> Table {
        // All points of the conversion from log are points of these tables.
        let sizes = self.log.map_or(SIZES.to_vec(), |log| vec![log.size, 2 * log.size - 1]);
        let finest = sizes[sizes.len() - 1];
        let mut fine = sizes.into_iter().map(|size| Table::new(self, size));
        fine.find(|table| table.size == finest || table.is_fine(self)).expect("the finest is one of them")
    }
}

/// Colours on a grid; red changes fastest.
struct Table {
    size: usize,
    points: Vec<[f64; 3]>,
}

impl Table {
    fn new(look: &ColourMap<'_>, size: usize) -> Self {
        let place = |step: usize| step as f64 / (size - 1) as f64;
        let colour = |index: usize| [index % size, index / size % size, index / size / size].map(place);
        Table { size, points: (0..size * size * size).map(|index| look.apply(colour(index))).collect() }
    }

    /// Whether at most one test colour in [`ONE_IN`] is more than half a level off. Test colours are grays, and a grid
    /// between the points of all tables. Colours whose output is clipped do not count: all tables clip them alike.
    fn is_fine(&self, look: &ColourMap<'_>) -> bool {
        const STEPS: usize = 41;
        let place = |step: usize| (step as f64 + 0.37) / STEPS as f64;
        let colours = (0..STEPS * STEPS * STEPS)
            .map(|index| [index % STEPS, index / STEPS % STEPS, index / STEPS / STEPS].map(place));
        let grays = (0..4000).map(|step| [f64::from(step) / 4000.0; 3]);
        let off = |rgb: [f64; 3]| {
            let becomes = look.apply(rgb);
            let is_clipped = becomes.iter().any(|level| !(0.0..=1.0).contains(level));
            let apart = becomes.into_iter().zip(self.at(rgb)).map(|(a, b)| (a - b.clamp(0.0, 1.0)).abs());
            (!is_clipped).then(|| apart.fold(0.0, f64::max) > HALF)
        };
        let few = |colours: &mut dyn Iterator<Item = [f64; 3]>| {
            let shown = colours.filter_map(off);
            let (count, off) = shown.fold((0, 0), |(count, wrong), off| (count + 1, wrong + usize::from(off)));
            off * ONE_IN <= count
        };
        few(&mut { grays }) && few(&mut { colours })
    }

    /// The output for a colour, interpolated between the four corners of the tetrahedron that it lies in.
    fn at(&self, rgb: [f64; 3]) -> [f64; 3] {
        let scaled = rgb.map(|level| level.clamp(0.0, 1.0) * (self.size - 1) as f64);
        let low = scaled.map(|place| (place as usize).min(self.size - 2));
        let part: [f64; 3] = std::array::from_fn(|channel| scaled[channel] - low[channel] as f64);
        let point = |indices: [usize; 3]| self.points[(indices[2] * self.size + indices[1]) * self.size + indices[0]];
        // Steps from the lowest corner along the channel with the largest fraction, then the next, then the last.
        let mut order = [0, 1, 2];
        order.sort_by(|&a, &b| part[b].total_cmp(&part[a]));
        let (mut corner, mut index) = (low, point(low));
        for channel in order {
            let before = point(corner);
            corner[channel] += 1;
            let after = point(corner);
            index = std::array::from_fn(|indices| index[indices] + part[channel] * (after[indices] - before[indices]));
        }
        index
    }
}

/// White in the RGB of the same depth to which FFmpeg converts YUV with these levels.
fn white(levels: Levels) -> f64 {
    match levels.lo() {
        0 => 1.0,
        _ => f64::from(255 << (levels.depth() - 8)) / (levels.codes() - 1) as f64,
    }
}

fn weights(matrix: Matrix) -> [f64; 3] {
    let weights = matrix.weights();
    let [r, g, b] = [weights.r, weights.g, weights.b].map(f64::from);
    [r, g, b].map(|weight| weight / (r + g + b))
}

fn gain(of_4096: u32) -> f64 {
    f64::from(of_4096) / 4096.0
}

/// The outputs of a curve for its levels, from 0 to 1.
fn outputs(curve: &Curve, levels: Levels) -> Vec<f64> {
    let white = (levels.count() - 1) as f64;
    let codes = &curve.codes()[usize::from(levels.lo())..=usize::from(levels.hi())];
    codes.iter().map(|&code| (f64::from(code) - f64::from(levels.lo())) / white).collect()
}

/// The output of a curve at `level`, interpolated between its levels, and constant beyond its ends.
fn between(curve: &[f64], level: f64) -> f64 {
    let scaled = level * (curve.len() - 1) as f64;
    let low = (scaled.max(0.0) as usize).min(curve.len() - 2);
    let part = (scaled - low as f64).clamp(0.0, 1.0);
    curve[low] + part * (curve[low + 1] - curve[low])
}

/// Gain and offset of each channel, for levels from 0 to 1.
fn lines(balance: &Balance, levels: Levels) -> [(f64, f64); 3] {
    let white = 16.0 * (levels.count() - 1) as f64;
    std::array::from_fn(|channel| (gain(balance.gains[channel]), f64::from(balance.offsets[channel]) / white))
}

/// The mean of the curves of all regions, the mean of their chroma gains, and whether regions differ.
fn everywhere(veil: &Veil, levels: Levels) -> (Vec<f64>, f64, bool) {
    let mut sums = vec![0.0; levels.count()];
    for place in (0..REGIONS * REGIONS).map(|region| (region / REGIONS, region % REGIONS)) {
        let curve = outputs(&veil.curve_of(place, levels), levels);
        sums.iter_mut().zip(curve).for_each(|(sum, output)| *sum += output);
    }
    let count = (REGIONS * REGIONS) as f64;
    let chroma = veil.chroma.as_flattened().iter().map(|&factor| gain(factor)).sum::<f64>() / count;
    let differ = |factor: &[[u32; REGIONS]; REGIONS]| factor.as_flattened().iter().any(|&one| one != factor[0][0]);
    let is_mean = [&veil.taken, &veil.gains, &veil.chroma].into_iter().any(differ);
    (sums.into_iter().map(|sum| sum / count).collect(), chroma, is_mean)
}
