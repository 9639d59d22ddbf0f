//! The specification applied to frames, one sample at a time, by the simplest loops that can be read aloud. Slow; every
//! backend is tested against it, and `--verify` recomputes a whole run with it.

use super::{Counted, Equalizer, levels, tiles, weights, whole};
use crate::frame::{Component, Frame, HostPool, Luminance, PlaneMut};
use crate::spec::clahe::{TileBins, TileCurves, TileHistograms, Tiles};
use crate::spec::{Curve, Equalization, Histogram, LookAhead, Rect, Settings, moved};
use anyhow::Result;
use std::collections::VecDeque;
use std::sync::Arc;

/// The backend that is the definition.
pub struct Reference {
    equalization: Equalization,
    counted: Counted,
    curve: Option<Arc<Curve>>,
    look_ahead: LookAhead<Frame, Mapping>,
    pool: HostPool,
    done: VecDeque<Frame>,
}

/// What a frame is sent through.
#[derive(Clone)]
enum Mapping {
    Curve(Arc<Curve>),
    Tiles(Arc<TileCurves>),
}

impl Reference {
    /// A reference with these settings.
    pub fn new(settings: Settings) -> Self {
        Reference {
            equalization: Equalization::new(settings),
            counted: Counted::default(),
            curve: None,
            look_ahead: LookAhead::new(settings.smoothing.ahead()),
            pool: HostPool::default(),
            done: VecDeque::new(),
        }
    }

    /// `frame`, equalized, where none is held back.
    ///
    /// # Panics
    /// With a look-ahead.
    pub fn equalize(&mut self, frame: &Frame) -> Frame {
        self.take(frame);
        self.done.pop_front().expect("a frame that waits for no other")
    }

    fn take(&mut self, frame: &Frame) {
        if let Some(curve) = self.curve.clone() {
            return self.map(Some((frame.clone(), Mapping::Curve(curve))));
        }
        let (scene, mapping) = self.remember(frame);
        let ready = self.look_ahead.push(scene, frame.clone(), mapping);
        self.map(ready);
    }

    /// The scene of a frame, and what the frame is sent through if it waits for no other.
    fn remember(&mut self, frame: &Frame) -> (u64, Mapping) {
        let settings = *self.equalization.settings();
        let size = (frame.width(), frame.height());
        match tiles(frame, settings.method) {
            None => {
                let counted = self.counted.next(frame, &settings);
                let step = self.equalization.next(&histogram(frame, counted), size);
                (step.turn.scene, Mapping::Curve(step.curve.into()))
            }
            Some(tiles) => {
                let counts = tile_histograms(frame, tiles, TileBins::new(levels(frame), settings.bins));
                let step = self.equalization.next_tiles(&histogram(frame, whole(frame)), &counts);
                (step.turn.scene, Mapping::Tiles(TileCurves::equalizing(&step.window, &settings).into()))
            }
        }
    }

    fn map(&mut self, ready: Option<(Frame, Mapping)>) {
        self.done.extend(ready.map(|(frame, mapping)| match mapping {
            Mapping::Curve(curve) => map(&frame, &self.pool, |_, _, code| curve.apply(code)),
            Mapping::Tiles(curves) => map(&frame, &self.pool, |x, y, code| curves.value(x, y, code)),
        }));
    }
}

impl Equalizer for Reference {
    fn submit(&mut self, frame: Frame) -> Result<()> {
        self.take(&frame);
        Ok(())
    }

    fn warm_up(&mut self, frame: Frame) -> Result<()> {
        self.remember(&frame);
        Ok(())
    }

    fn collect(&mut self) -> Result<Option<Frame>> {
        Ok(self.done.pop_front())
    }

    fn finish(&mut self) -> Result<()> {
        while let Some(ready) = self.look_ahead.pop() {
            self.map(Some(ready));
        }
        Ok(())
    }

    fn in_flight(&self) -> usize {
        self.done.len()
    }

    fn capacity(&self) -> usize {
        1
    }

    fn set(&mut self, settings: Settings) {
        self.equalization.set(settings);
    }

    fn set_curve(&mut self, curve: Option<Arc<Curve>>) {
        self.curve = curve;
    }

    fn name(&self) -> String {
        "reference".to_owned()
    }
}

/// The histogram of the luminance in a part of `frame`.
pub fn histogram(frame: &Frame, counted: Rect) -> Histogram {
    let mut histogram = Histogram::new(levels(frame));
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

/// `frame` with the luminance that `value` gives for each pixel (x, y) and its code; planes that hold none of it are
/// shared with `frame`.
pub fn map(frame: &Frame, pool: &HostPool, value: impl Fn(usize, usize, u16) -> u16) -> Frame {
    let mut planes: Vec<PlaneMut> = frame.rewritten_planes().map(|index| copy_of(frame, index, pool)).collect();
    let sample = frame.format().descriptor().sample;
    let mut write = |component: Component, x: usize, y: usize, code: u16| {
        sample.write(planes[component.plane].row_mut(y), component.offset + x * component.step, code);
    };
    for y in 0..frame.height() {
        for x in 0..frame.width() {
            let from = luminance(frame, x, y);
            let to = value(x, y, from);
            match frame.format().descriptor().luminance {
                Luminance::Stored(luma) => write(luma, x, y, to),
                Luminance::FromRgb { r, g, b } => {
                    for component in [r, g, b] {
                        write(component, x, y, moved(read(frame, component, x, y), from, to, sample.max()));
                    }
                }
            }
        }
    }
    let mut planes = planes.into_iter().map(PlaneMut::freeze);
    frame.with_planes(|index| if frame.rewritten_planes().contains(&index) { planes.next() } else { None })
}

/// The luminance of pixel (x, y).
fn luminance(frame: &Frame, x: usize, y: usize) -> u16 {
    match frame.format().descriptor().luminance {
        Luminance::Stored(luma) => read(frame, luma, x, y),
        Luminance::FromRgb { r, g, b } => {
            weights(frame).luminance([r, g, b].map(|component| read(frame, component, x, y)))
        }
    }
}

fn read(frame: &Frame, component: Component, x: usize, y: usize) -> u16 {
    let row = frame.planes()[component.plane].row(y);
    frame.format().descriptor().sample.read(row, component.offset + x * component.step)
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
