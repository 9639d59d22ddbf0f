//! The specification applied to frames, one sample at a time, by the simplest loops. It is slow; every backend is
//! tested against it, and `--verify` recomputes a whole run with it.

use crate::Result;
use crate::equalize::{Applied, Equalized, Executor, Role, Work};
use crate::frame::{ChromaSamples, Component, Frame, HostPool, Luminance, PlaneMut};
use crate::spec::chroma::{UNIT_GAIN, moved_with_gain};
use crate::spec::clahe::{TileBins, TileCurves, TileHistograms, Tiles};
use crate::spec::curves::tone::{Balance, BalanceOfYuv, Veil};
use crate::spec::curves::{Histogram, Mapping};
use crate::spec::moved;
use crate::spec::parameters::{Chroma, Rect, Settings};
use crate::spec::time::{Counts, Decision, Remembered, Temporal};
use std::collections::VecDeque;
use std::sync::Arc;

/// The backend that defines the result of every other backend.
#[derive(Default)]
pub struct Reference {
    temporal: Temporal<(Work, Arc<Counts>)>,
    pool: HostPool,
    done: VecDeque<Equalized>,
}

impl Reference {
    /// `frame`, equalized after the frames before it.
    ///
    /// # Panics
    /// With a look-ahead, because the frame then waits for later frames.
    pub fn equalize(&mut self, frame: &Frame, settings: Settings) -> Frame {
        self.take(Work::new(frame.clone(), settings));
        self.done.pop_front().expect("a frame that waits for no other").frame
    }

    fn take(&mut self, work: Work) {
        let settings = *work.settings();
        match work.role().clone() {
            Role::Apply(mapping) => {
                let Equalized { frame, applied } = apply(work.frame(), work.settings(), &mapping, &self.pool);
                self.done.push_back(Equalized { frame, applied: Applied { mapping: Some(mapping), ..applied } });
            }
            Role::WarmUp => {
                let counts = counts(&work);
                let scene = self.temporal.decide(&settings, work.guide(), &counts).scene;
                let applied = Applied { counts: Some(counts), scene: Some(scene), ..Applied::default() };
                self.done.push_back(Equalized { frame: work.into_frame(), applied });
            }
            Role::Equalize => {
                // If the look-ahead is shorter than before, frames beyond it stop waiting.
                self.finish_until(settings.backend_look_ahead() as usize);
                let counts = counts(&work);
                let guide = work.guide().clone();
                let ready = self.temporal.next(&settings, &guide, &counts.clone(), (work, counts));
                self.done.extend(ready.map(|(waiting, decision)| equalize(waiting, decision, &self.pool)));
            }
        }
    }

    /// Equalizes the frames that wait, until no more than `most` are left.
    fn finish_until(&mut self, most: usize) {
        while self.temporal.waiting() > most
            && let Some((waiting, decision)) = self.temporal.pop_waiting()
        {
            self.done.push_back(equalize(waiting, decision, &self.pool));
        }
    }
}

/// Counts the frame of `work`, unless the work has its counts already.
fn counts(work: &Work) -> Arc<Counts> {
    let (frame, settings) = (work.frame(), work.settings());
    if let Some(counts) = work.counts() {
        return counts.clone();
    }
    Arc::new(match (settings.method, frame.tiles(settings.method)) {
        (method, _) if !method.counts() => work.uncounted(),
        (_, None) => {
            Counts::Frame { size: (frame.width(), frame.height()), histogram: histogram(frame, work.counted()) }
        }
        (_, Some(tiles)) => Counts::Tiles {
            frame: work.counts_frame_with_tiles().then(|| histogram(frame, frame.whole())),
            tiles: tile_histograms(frame, tiles, TileBins::new(frame.levels(), settings.bins)),
        },
    })
}

/// The frame of `work`, with `decision` applied to it.
fn equalize((work, counts): (Work, Arc<Counts>), decision: Decision, pool: &HostPool) -> Equalized {
    let Equalized { frame, applied } = apply(work.frame(), work.settings(), &decision.mapping, pool);
    let mapping = (!work.settings().method.counts()).then_some(decision.mapping);
    Equalized { frame, applied: Applied { counts: Some(counts), scene: Some(decision.scene), mapping, ..applied } }
}

/// Applies this mapping to `frame`.
fn apply(frame: &Frame, settings: &Settings, mapping: &Mapping, pool: &HostPool) -> Equalized {
    let chroma = settings.chroma;
    let mut applied = Applied::default();
    let frame = match mapping {
        Mapping::Curve { curve, chroma_gain } => {
            applied.curves = Some(curve.codes().into());
            applied.chroma_gain = Some(*chroma_gain);
            map(frame, PixelColour::new(chroma, *chroma_gain), pool, |_, _, code| curve.apply(code))
        }
        Mapping::Tiles { window, tone } => {
            let curves = TileCurves::equalizing(window, settings, &tone.tile_levels());
            applied.curves = Some(curves.luts().into());
            map(frame, PixelColour::new(chroma, tone.chroma_gain), pool, |x, y, code| curves.value(x, y, code))
        }
        Mapping::Veil(veil) => without_veil(frame, veil, chroma, pool),
        Mapping::Balance(balance) => balanced(frame, balance, pool),
        Mapping::Balanced { balance, then } => apply(&balanced(frame, balance, pool), settings, then, pool).frame,
    };
    Equalized { frame, applied }
}

impl From<Chroma> for PixelColour<'_> {
    /// With [`Chroma::Follow`], the gain is 1.
    fn from(chroma: Chroma) -> Self {
        PixelColour::new(chroma, UNIT_GAIN)
    }
}

/// Removes a veil of haze from `frame`.
pub fn without_veil(frame: &Frame, veil: &Veil, chroma: Chroma, pool: &HostPool) -> Frame {
    let tiles = Veil::tiles((frame.width(), frame.height()));
    let curves = veil.curves(frame.levels(), tiles);
    let gain = |x, y| veil.chroma_gain(&tiles, x, y);
    let colour = match chroma {
        Chroma::Keep => PixelColour::Keep,
        Chroma::Follow => PixelColour::Gain(Box::new(gain)),
    };
    map(frame, colour, pool, |x, y, code| curves.value(x, y, code))
}

/// `frame` with red, green and blue stretched separately; gray is stretched as green is.
pub fn balanced(frame: &Frame, balance: &Balance, pool: &HostPool) -> Frame {
    let descriptor = frame.format().descriptor();
    let (levels, max) = (frame.levels(), descriptor.sample.max());
    let rewritten = frame.rewritten_planes(true);
    // Chroma and alpha samples between the luminance samples do not change.
    let copy = |plane| pool.copy_of(plane);
    let mut planes: Vec<PlaneMut> = frame.planes()[rewritten.clone()].iter().map(copy).collect();
    match (descriptor.luminance, descriptor.chroma) {
        (Luminance::FromRgb { r, g, b }, _) => {
            for (y, x) in (0..frame.height()).flat_map(|y| (0..frame.width()).map(move |x| (y, x))) {
                let after = balance.rgb([r, g, b].map(|component| read(frame, component, x, y)), max);
                for (component, code) in [r, g, b].into_iter().zip(after) {
                    write(frame, &mut planes, component, x, y, code);
                }
            }
        }
        (Luminance::Stored(luma), None) => {
            for (y, x) in (0..frame.height()).flat_map(|y| (0..frame.width()).map(move |x| (y, x))) {
                let level = levels.level_of(read(frame, luma, x, y)) as u16;
                let [_, gray, _] = balance.rgb([level; 3], (levels.count() - 1) as u16);
                write(frame, &mut planes, luma, x, y, levels.lo() + gray);
            }
        }
        (Luminance::Stored(luma), Some(ChromaSamples { cb, cr, log2_width, log2_height })) => {
            let colours = frame.colours();
            let sums = BalanceOfYuv::new(balance, &colours, frame.weights());
            let level = |x: usize, y: usize| levels.level_of(read(frame, luma, x, y)) as i32;
            let offset =
                |component: Component, x: usize, y: usize| i32::from(read(frame, component, x, y)) - colours.centre;
            let columns = frame.width().div_ceil(1 << log2_width);
            // For each pair of chroma samples, the sum and the number of the luma levels that it covers.
            let mut covered: Vec<(i32, i32)> = vec![(0, 0); columns * frame.height().div_ceil(1 << log2_height)];
            for (y, x) in (0..frame.height()).flat_map(|y| (0..frame.width()).map(move |x| (y, x))) {
                let (chroma_x, chroma_y) = (x >> log2_width, frame.chroma_row(y));
                let (all, count) = &mut covered[chroma_y * columns + chroma_x];
                (*all, *count) = (*all + level(x, y), *count + 1);
                let sum = sums.sum(0, [level(x, y), offset(cb, chroma_x, chroma_y), offset(cr, chroma_x, chroma_y)]);
                write(frame, &mut planes, luma, x, y, levels.lo() + sum.clamp(0, levels.count() as i32 - 1) as u16);
            }
            for (index, (all, count)) in covered.into_iter().enumerate() {
                let (x, y) = (index % columns, index / columns);
                let before = [all / count, offset(cb, x, y), offset(cr, x, y)];
                for (component, row) in [(cb, 1), (cr, 2)] {
                    let code = colours.centre + sums.sum(row, before).clamp(-colours.reach, colours.reach);
                    write(frame, &mut planes, component, x, y, code as u16);
                }
            }
        }
    }
    frame.replacing(rewritten, planes)
}

/// The treatment of the colour of a pixel.
pub enum PixelColour<'a> {
    /// Colour stays as it is.
    Keep,
    /// Colour has this gain at pixel (x, y), in 4096ths.
    Gain(Box<dyn Fn(usize, usize) -> u32 + 'a>),
}

impl PixelColour<'_> {
    /// The treatment by `chroma`, with this gain for [`Chroma::Follow`].
    pub fn new(chroma: Chroma, gain: u32) -> Self {
        match chroma {
            Chroma::Keep => PixelColour::Keep,
            Chroma::Follow if gain == UNIT_GAIN => PixelColour::Keep,
            Chroma::Follow => PixelColour::Gain(Box::new(move |_, _| gain)),
        }
    }
}

impl Executor for Reference {
    fn submit(&mut self, work: Work) -> Result<()> {
        work.frame().bring_down()?;
        self.take(work);
        Ok(())
    }

    fn remember(&mut self, seen: &Remembered) -> Result<()> {
        self.temporal.remember(seen);
        Ok(())
    }

    fn collect(&mut self) -> Result<Option<Equalized>> {
        Ok(self.done.pop_front())
    }

    fn finish(&mut self) -> Result<()> {
        self.finish_until(0);
        Ok(())
    }

    fn in_flight(&self) -> usize {
        self.done.len()
    }

    fn name(&self) -> String {
        "reference".to_owned()
    }
}

/// The histogram of the luminance in a part of `frame`.
pub fn histogram(frame: &Frame, counted: Rect) -> Histogram {
    let mut histogram = Histogram::new(frame.levels());
    for y in counted.y..counted.y + counted.height {
        for x in counted.x..counted.x + counted.width {
            histogram.add(luminance(frame, x, y));
        }
    }
    histogram
}

/// The histograms of the luminance in the tiles of `frame`.
pub fn tile_histograms(frame: &Frame, tiles: Tiles, bins: TileBins) -> TileHistograms {
    let mut histograms = TileHistograms::new(tiles, bins);
    let (width, height) = tiles.padded();
    for y in 0..height {
        for x in 0..width {
            let (seen_x, seen_y) = tiles.seen_at(x, y);
            histograms.add(x, y, luminance(frame, seen_x, seen_y));
        }
    }
    histograms
}

/// `frame` with the luminance that `value` gives for each pixel (x, y) and its code; planes that do not change are
/// shared with `frame`.
pub fn map<'a>(
    frame: &Frame,
    colour: impl Into<PixelColour<'a>>,
    pool: &HostPool,
    value: impl Fn(usize, usize, u16) -> u16,
) -> Frame {
    let colour = &colour.into();
    let rewritten = frame.rewritten_planes(!matches!(colour, PixelColour::Keep));
    // Chroma and alpha samples between the luminance samples do not change.
    let copy = |plane| pool.copy_of(plane);
    let mut planes: Vec<PlaneMut> = frame.planes()[rewritten.clone()].iter().map(copy).collect();
    let sample = frame.format().descriptor().sample;
    for y in 0..frame.height() {
        for x in 0..frame.width() {
            let luminance_before = luminance(frame, x, y);
            let luminance_after = value(x, y, luminance_before);
            match frame.format().descriptor().luminance {
                Luminance::Stored(luma) => write(frame, &mut planes, luma, x, y, luminance_after),
                Luminance::FromRgb { r, g, b } => {
                    let before = [r, g, b].map(|component| read(frame, component, x, y));
                    let after = match colour {
                        PixelColour::Keep => {
                            before.map(|code| moved(code, luminance_before, luminance_after, sample.max()))
                        }
                        PixelColour::Gain(gain) => {
                            moved_with_gain(before, luminance_before, luminance_after, gain(x, y), sample.max())
                        }
                    };
                    for (component, code) in [r, g, b].into_iter().zip(after) {
                        write(frame, &mut planes, component, x, y, code);
                    }
                }
            }
        }
    }
    if let PixelColour::Gain(gain) = colour {
        gain_chroma(frame, &mut planes, gain);
    }
    frame.replacing(rewritten, planes)
}

/// Writes the chroma samples of `frame`, if it has any, into `planes`, each with the gain at the first pixel that it
/// covers. Interlaced frames use the same pixel as progressive ones.
fn gain_chroma(frame: &Frame, planes: &mut [PlaneMut], gain: impl Fn(usize, usize) -> u32) {
    let Some(ChromaSamples { cb, cr, log2_width, log2_height }) = frame.format().descriptor().chroma else { return };
    let colours = frame.colours();
    let (width, height) = (1 << log2_width, 1 << log2_height);
    for y in 0..frame.height().div_ceil(height) {
        for x in 0..frame.width().div_ceil(width) {
            let gain = gain(x * width, y * height);
            for component in [cb, cr] {
                write(frame, planes, component, x, y, colours.followed(read(frame, component, x, y), gain));
            }
        }
    }
}

fn luminance(frame: &Frame, x: usize, y: usize) -> u16 {
    match frame.format().descriptor().luminance {
        Luminance::Stored(luma) => read(frame, luma, x, y),
        Luminance::FromRgb { r, g, b } => {
            frame.weights().luminance([r, g, b].map(|component| read(frame, component, x, y)))
        }
    }
}

fn read(frame: &Frame, component: Component, x: usize, y: usize) -> u16 {
    let row = frame.planes()[component.plane].row(y);
    frame.format().descriptor().sample.read(row, component.offset + x * component.step)
}

fn write(frame: &Frame, planes: &mut [PlaneMut], component: Component, x: usize, y: usize, code: u16) {
    let row = planes[component.plane].row_mut(y);
    frame.format().descriptor().sample.write(row, component.offset + x * component.step, code);
}
