//! The specification applied to frames, one sample at a time, by the simplest loops that can be read aloud. Slow; every
//! backend is tested against it, and `--verify` recomputes a whole run with it.

use super::{Applied, Equalized, Equalizer, Role, Work};
use crate::frame::{ChromaSamples, Component, Frame, HostPool, Luminance, PlaneMut};
use crate::spec::chroma::{Covered, rescaled};
use crate::spec::clahe::{TileBins, TileCurves, TileHistograms, Tiles};
use crate::spec::{Chroma, Counts, Decision, Histogram, Mapping, Rect, Remembered, Settings, Temporal, moved};
use anyhow::Result;
use std::collections::VecDeque;
use std::sync::Arc;

/// The backend that is the definition.
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
    /// With a look-ahead, for then it waits for later frames.
    pub fn equalize(&mut self, frame: &Frame, settings: Settings) -> Frame {
        self.take(Work::new(frame.clone(), settings));
        self.done.pop_front().expect("a frame that waits for no other").frame
    }

    fn take(&mut self, work: Work) {
        let (settings, frame) = (*work.settings(), work.frame());
        match work.role().clone() {
            Role::SendThrough(curve) => {
                let frame = map(frame, settings.chroma, &self.pool, |_, _, code| curve.apply(code));
                let applied = Applied { curves: Some(curve.codes().into()), ..Applied::default() };
                self.done.push_back(Equalized { frame, applied });
            }
            Role::WarmUp => {
                let counts = counts(&work);
                let scene = self.temporal.decide(&settings, &counts).scene;
                let applied = Applied { counts: Some(counts.into()), scene: Some(scene), curves: None };
                self.done.push_back(Equalized { frame: work.into_frame(), applied });
            }
            Role::Equalize => {
                let counts = Arc::new(counts(&work));
                let ready = self.temporal.next(&settings, &counts.clone(), (work, counts));
                self.done.extend(ready.map(|((work, counts), decision)| apply(&work, counts, decision, &self.pool)));
            }
        }
    }
}

/// What is counted of the frame of `work`.
fn counts(work: &Work) -> Counts {
    let (frame, settings) = (work.frame(), work.settings());
    match frame.tiles(settings.method) {
        None => Counts::Frame { size: (frame.width(), frame.height()), histogram: histogram(frame, work.counted()) },
        Some(tiles) => Counts::Tiles {
            frame: work.counts_frame_with_tiles().then(|| histogram(frame, frame.whole())),
            tiles: tile_histograms(frame, tiles, TileBins::new(frame.levels(), settings.bins)),
        },
    }
}

/// The frame of `work`, sent through what was decided.
fn apply(work: &Work, counts: Arc<Counts>, decision: Decision, pool: &HostPool) -> Equalized {
    let (frame, chroma) = (work.frame(), work.settings().chroma);
    let (frame, curves) = match decision.mapping {
        Mapping::Curve(curve) => (map(frame, chroma, pool, |_, _, code| curve.apply(code)), curve.codes().into()),
        Mapping::Tiles(window) => {
            let curves = TileCurves::equalizing(&window, work.settings());
            (map(frame, chroma, pool, |x, y, code| curves.value(x, y, code)), curves.luts().into())
        }
    };
    let applied = Applied { counts: Some(counts), scene: Some(decision.scene), curves: Some(curves) };
    Equalized { frame, applied }
}

impl Equalizer for Reference {
    fn submit(&mut self, work: Work) -> Result<()> {
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
        while let Some(((work, counts), decision)) = self.temporal.pop_waiting() {
            self.done.push_back(apply(&work, counts, decision, &self.pool));
        }
        Ok(())
    }

    fn in_flight(&self) -> usize {
        self.done.len()
    }

    fn capacity(&self) -> usize {
        1
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

/// `frame` with the luminance that `value` gives for each pixel (x, y) and its code; planes that hold nothing of what
/// changes are shared with `frame`.
pub fn map(frame: &Frame, chroma: Chroma, pool: &HostPool, value: impl Fn(usize, usize, u16) -> u16) -> Frame {
    let rewritten = frame.rewritten_planes(chroma.is_scaled());
    let mut planes: Vec<PlaneMut> = rewritten.clone().map(|index| copy_of(frame, index, pool)).collect();
    let sample = frame.format().descriptor().sample;
    for y in 0..frame.height() {
        for x in 0..frame.width() {
            let from = luminance(frame, x, y);
            let to = value(x, y, from);
            match frame.format().descriptor().luminance {
                Luminance::Stored(luma) => write(frame, &mut planes, luma, x, y, to),
                Luminance::FromRgb { r, g, b } => {
                    let before = [r, g, b].map(|component| read(frame, component, x, y));
                    let after = match chroma {
                        Chroma::Keep => before.map(|code| moved(code, from, to, sample.max())),
                        Chroma::Scale => rescaled(before, from, to, sample.max()),
                    };
                    for (component, code) in [r, g, b].into_iter().zip(after) {
                        write(frame, &mut planes, component, x, y, code);
                    }
                }
            }
        }
    }
    if chroma.is_scaled() {
        scale_chroma(frame, &mut planes, value);
    }
    let mut planes = planes.into_iter().map(PlaneMut::freeze);
    frame.with_planes(|index| if rewritten.contains(&index) { planes.next() } else { None })
}

/// Scales the chroma samples of `frame`, if it has any, by the gain of the luma that they cover, into `planes`.
fn scale_chroma(frame: &Frame, planes: &mut [PlaneMut], value: impl Fn(usize, usize, u16) -> u16) {
    let Some(ChromaSamples { cb, cr, log2_width, log2_height }) = frame.format().descriptor().chroma else { return };
    let colours = frame.colours();
    let (width, height) = (1 << log2_width, 1 << log2_height);
    for y in 0..frame.height().div_ceil(height) {
        for x in 0..frame.width().div_ceil(width) {
            let mut covered = Covered::default();
            for y in y * height..((y + 1) * height).min(frame.height()) {
                for x in x * width..((x + 1) * width).min(frame.width()) {
                    let from = luminance(frame, x, y);
                    covered.before += colours.level(from);
                    covered.after += colours.level(value(x, y, from));
                    covered.samples += 1;
                }
            }
            let [new_cb, new_cr] = colours.pair([cb, cr].map(|component| read(frame, component, x, y)), covered);
            write(frame, planes, cb, x, y, new_cb);
            write(frame, planes, cr, x, y, new_cr);
        }
    }
}

/// The luminance of pixel (x, y).
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

/// A writable copy of a plane: what lies between the luminance samples (packed chroma, alpha) stays as it is.
fn copy_of(frame: &Frame, index: usize, pool: &HostPool) -> PlaneMut {
    let plane = &frame.planes()[index];
    let mut copy = pool.plane(plane.row_bytes(), plane.rows());
    for y in 0..plane.rows() {
        copy.row_mut(y).copy_from_slice(plane.row(y));
    }
    copy
}
