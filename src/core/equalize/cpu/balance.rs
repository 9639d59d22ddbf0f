//! Red, green and blue, each stretched by itself: luma and chroma depend on each other, so both are rewritten at once.

use super::engine::Engine;
use crate::frame::{ChromaSamples, Component, Frame, Luminance, PlaneMut};
use crate::spec::Curve;
use crate::spec::tone::{Balance, BalanceOfYuv};

impl Engine {
    /// `frame` with red, green and blue stretched each by itself.
    pub fn balance(&mut self, frame: &Frame, balance: &Balance) -> Frame {
        let descriptor = frame.format().descriptor();
        let (sample, levels) = (descriptor.sample, frame.levels());
        match (descriptor.luminance, descriptor.chroma) {
            (Luminance::Stored(_), None) => {
                self.map(frame, &Curve::of_balanced_gray(balance, levels), super::Colour::Keep)
            }
            (Luminance::FromRgb { r, g, b }, _) => self.rewrite_all(frame, |y, planes| {
                for x in 0..frame.width() {
                    let places = [r, g, b].map(|of| (of.plane, of.offset + x * of.step));
                    let rgb = places.map(|(plane, index)| sample.read(frame.planes()[plane].row(y), index));
                    for ((plane, index), code) in places.into_iter().zip(balance.rgb(rgb, sample.max())) {
                        sample.write(planes[plane].row_mut(y), index, code);
                    }
                }
            }),
            (Luminance::Stored(luma), Some(chroma)) => {
                let sums = BalanceOfYuv::new(balance, &frame.colours(), frame.weights());
                let mut rows = Rows { frame, luma, chroma, sums, codes: Vec::new(), offsets: [Vec::new(), Vec::new()] };
                self.rewrite_all(frame, |y, planes| {
                    if y.is_multiple_of(1 << chroma.log2_height) {
                        rows.write(y, planes);
                    }
                })
            }
        }
    }

    /// `frame` with its planes copied, and each row then written by `write_row`.
    fn rewrite_all(&self, frame: &Frame, mut write_row: impl FnMut(usize, &mut [PlaneMut])) -> Frame {
        let rewritten = frame.rewritten_planes(true);
        let copy = |plane: usize| {
            let plane = &frame.planes()[plane];
            let mut copy = self.pool.plane(plane.row_bytes(), plane.rows());
            (0..plane.rows()).for_each(|y| copy.row_mut(y).copy_from_slice(plane.row(y)));
            copy
        };
        let mut to: Vec<PlaneMut> = rewritten.clone().map(copy).collect();
        (0..frame.height()).for_each(|y| write_row(y, &mut to));
        let mut to = to.into_iter().map(PlaneMut::freeze);
        frame.with_planes(|plane| if rewritten.contains(&plane) { to.next() } else { None })
    }
}

/// A row of chroma and the rows of luma that it covers.
struct Rows<'a> {
    frame: &'a Frame,
    luma: Component,
    chroma: ChromaSamples,
    sums: BalanceOfYuv,
    /// The levels of luma, summed up over what a pair of chroma samples covers.
    codes: Vec<i32>,
    /// Cb and Cr, from their centre.
    offsets: [Vec<i32>; 2],
}

impl Rows<'_> {
    /// Writes the rows of luma from `y` on that share a row of chroma, and that row.
    fn write(&mut self, y: usize, planes: &mut [PlaneMut]) {
        let ChromaSamples { cb, cr, log2_width, log2_height } = self.chroma;
        let (frame, sample, levels) = (self.frame, self.frame.format().descriptor().sample, self.frame.levels());
        let (colours, width) = (frame.colours(), frame.width());
        let pairs = width.div_ceil(1 << log2_width);
        let chroma_y = y >> log2_height;
        for (component, offsets) in [cb, cr].into_iter().zip(&mut self.offsets) {
            let row = frame.planes()[component.plane].row(chroma_y);
            offsets.clear();
            let read = |x: usize| i32::from(sample.read(row, component.offset + x * component.step)) - colours.centre;
            offsets.extend((0..pairs).map(read));
        }
        self.codes.clear();
        self.codes.resize(pairs, 0);
        let [cbs, crs] = &self.offsets;
        let highest = levels.count() as i32 - 1;
        let rows = y..(y + (1 << log2_height)).min(frame.height());
        for y in rows.clone() {
            let row = frame.planes()[self.luma.plane].row(y);
            let to = planes[self.luma.plane].row_mut(y);
            for x in 0..width {
                let place = self.luma.offset + x * self.luma.step;
                let level = levels.level_of(sample.read(row, place)) as i32;
                let pair = x >> log2_width;
                self.codes[pair] += level;
                let sum = self.sums.sum(0, [level, cbs[pair], crs[pair]]);
                sample.write(to, place, levels.lo() + sum.clamp(0, highest) as u16);
            }
        }
        for pair in 0..pairs {
            let columns = (1 << log2_width).min(width - (pair << log2_width));
            let mean = self.codes[pair] / (columns * rows.len()) as i32;
            let before = [mean, cbs[pair], crs[pair]];
            for (component, row) in [(cb, 1), (cr, 2)] {
                let code = colours.centre + self.sums.sum(row, before).clamp(-colours.reach, colours.reach);
                let to = planes[component.plane].row_mut(chroma_y);
                sample.write(to, component.offset + pair * component.step, code as u16);
            }
        }
    }
}
