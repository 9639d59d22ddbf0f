//! The specification applied to frames, one sample at a time, by the simplest loops that can be read aloud. Slow; every
//! backend is tested against it, and `--verify` recomputes a whole run with it.

use super::{CountedRegion, Equalizer, colours, kind, levels, tiles, weights, whole};
use crate::frame::{ChromaSamples, Component, Frame, HostPool, Luminance, PlaneMut};
use crate::spec::chroma::{Covered, rescaled};
use crate::spec::clahe::{TileBins, TileCurves, TileHistograms, Tiles};
use crate::spec::{Chroma, Curve, Equalization, Histogram, Levels, LookAhead, Rect, Settings, moved};
use anyhow::Result;
use std::collections::VecDeque;
use std::sync::Arc;

/// The backend that is the definition.
pub struct Reference {
    equalization: Equalization,
    counted: CountedRegion,
    curve: Option<Arc<Curve>>,
    look_ahead: LookAhead<Frame, Mapping>,
    /// Of the last frame that came.
    kind: Option<(Levels, (usize, usize))>,
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
            counted: CountedRegion::default(),
            curve: None,
            look_ahead: LookAhead::new(settings.smoothing.ahead()),
            kind: None,
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
        if self.kind.replace(kind(frame)) != Some(kind(frame)) {
            self.let_go();
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

    /// Maps the frames that wait: no more of their kind will come.
    fn let_go(&mut self) {
        while let Some(ready) = self.look_ahead.pop() {
            self.map(Some(ready));
        }
    }

    fn map(&mut self, ready: Option<(Frame, Mapping)>) {
        let chroma = self.equalization.settings().chroma;
        self.done.extend(ready.map(|(frame, mapping)| match mapping {
            Mapping::Curve(curve) => map(&frame, chroma, &self.pool, |_, _, code| curve.apply(code)),
            Mapping::Tiles(curves) => map(&frame, chroma, &self.pool, |x, y, code| curves.value(x, y, code)),
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
        self.let_go();
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
    let colours = colours(frame);
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
            weights(frame).luminance([r, g, b].map(|component| read(frame, component, x, y)))
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
