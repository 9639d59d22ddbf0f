//! Colours a frame, and puts the bar into it.

use crate::draw::colour_bar::{ColourBar, LABELS};
use crate::palette::{Palette, WHITE};
use anyhow::{Context, Result, bail};
use histeq::Limits;
use histeq::internal::frame::{Component, Frame, HostPool, Luminance, PixelFormat, PlaneMut, Range, Sample};
use histeq::internal::spec::curves::Levels;

/// Colours frames, one after the other.
pub struct Painter {
    palette: Palette,
    format: PixelFormat,
    pool: HostPool,
    /// The levels of the last frame, and the colour of each.
    table: Option<(Levels, Vec<[u16; 3]>)>,
    /// The last bar, with its labels and the size of its frame.
    bar: Option<([String; LABELS], (usize, usize), ColourBar)>,
}

impl Painter {
    /// A painter whose frames have `format`, which must be RGB.
    pub fn new(palette: Palette, format: PixelFormat, limits: &Limits) -> Self {
        Painter { palette, format, pool: HostPool::new(limits), table: None, bar: None }
    }

    /// Colours the luminance of `frame`, which must be gray, and draws a bar if `labels` are given.
    ///
    /// # Errors
    /// When `frame` is not gray, the GPU that holds it fails, or it is too small for the bar.
    pub fn paint(&mut self, frame: &Frame, labels: Option<[String; LABELS]>) -> Result<Frame> {
        let Luminance::Stored(luma) = frame.format().descriptor().luminance else {
            bail!("--palette: a picture of {} is not gray (a bug: please report it)", frame.format());
        };
        frame.bring_down()?;
        let size = (frame.width(), frame.height());
        let levels = frame.levels();
        let target = self.format.descriptor();
        let Luminance::FromRgb { r, g, b } = target.luminance else { bail!("{} is not RGB", self.format) };
        let out = Out { sample: target.sample, components: [r, g, b] };
        let table = match self.table.take().filter(|(known, _)| *known == levels) {
            Some((_, table)) => table,
            None => colours(self.palette, levels, target.sample.max()),
        };
        let planes = 0..target.planes().len();
        let plane = |index| self.pool.plane(self.format.row_bytes(index, size.0), self.format.rows(index, size.1));
        let mut planes: Vec<PlaneMut> = planes.map(plane).collect();
        let sample = frame.format().descriptor().sample;
        let mut colours = vec![[0; 3]; size.0];
        for y in 0..size.1 {
            let row = frame.planes()[luma.plane].row(y);
            for (x, colour) in colours.iter_mut().enumerate() {
                *colour = table[levels.level_of(sample.read(row, x * luma.step + luma.offset))];
            }
            out.write(&mut planes, (0, y), &colours);
        }
        self.table = Some((levels, table));
        if let Some(labels) = labels {
            let bar = self.bar(size, labels)?;
            for (y, row) in bar.pixels.chunks_exact(bar.size.0).enumerate() {
                let fit = |component: u8| (u32::from(component) * u32::from(out.sample.max()) + 127) / 255;
                let colour = |pixel: &u32| {
                    let [_, colour @ ..] = pixel.to_be_bytes();
                    colour.map(|component| fit(component) as u16)
                };
                out.write(&mut planes, (bar.at.0, bar.at.1 + y), &row.iter().map(colour).collect::<Vec<_>>());
            }
        }
        let planes = planes.into_iter().map(PlaneMut::freeze).collect();
        Ok(Frame::new(self.format, size, Range::Full, frame.matrix(), planes)?)
    }

    /// The bar with these labels for a frame of this size: the last bar if both are the same, else a new one.
    fn bar(&mut self, size: (usize, usize), labels: [String; LABELS]) -> Result<&ColourBar> {
        let last = self.bar.take().filter(|(known, picture, _)| *known == labels && *picture == size);
        let bar = match last {
            Some((_, _, bar)) => bar,
            None => ColourBar::draw(size, self.palette, &labels).with_context(|| {
                format!(
                    "--colour-bar: a picture of {}x{} has no room for it (--filter scale=320:-2 makes it larger)",
                    size.0, size.1
                )
            })?,
        };
        Ok(&self.bar.insert((labels, size, bar)).2)
    }
}

/// Sample type and component positions of the output.
struct Out {
    sample: Sample,
    components: [Component; 3],
}

impl Out {
    /// Writes pixels of row `y`, from column `x` on.
    fn write(&self, planes: &mut [PlaneMut], (x, y): (usize, usize), colours: &[[u16; 3]]) {
        for (index, Component { plane, offset, step }) in self.components.into_iter().enumerate() {
            let row = planes[plane].row_mut(y);
            for (place, colour) in (x..).zip(colours) {
                self.sample.write(row, place * step + offset, colour[index]);
            }
        }
    }
}

/// The colours of levels, from black to white.
fn colours(palette: Palette, levels: Levels, highest: u16) -> Vec<[u16; 3]> {
    let steps = levels.count() as u64 - 1;
    let share = |level: u64| ((level * u64::from(WHITE) + steps / 2) / steps) as u32;
    (0..=steps).map(|level| palette.colour_up_to(share(level), highest)).collect()
}
