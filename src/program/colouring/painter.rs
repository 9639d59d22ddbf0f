//! Colours a frame, and puts the bar into it.

use crate::draw::colour_bar::{ColourBar, LABELS};
use crate::palette::{Palette, WHITE};
use anyhow::{Context, Result, bail};
use histeq::frame::{Component, Frame, HostPool, Luminance, PixelFormat, PlaneMut, Range, Sample};
use histeq::spec::Levels;

/// Colours frames, one after the other.
pub struct Painter {
    palette: Palette,
    format: PixelFormat,
    pool: HostPool,
    /// The colours of the levels of frames.
    table: Option<(Levels, Vec<[u16; 3]>)>,
    /// The last bar, with its labels and the size of its picture.
    bar: Option<([String; LABELS], (usize, usize), ColourBar)>,
}

impl Painter {
    /// Makes pictures of `format`, which is RGB.
    pub fn new(palette: Palette, format: PixelFormat) -> Self {
        Painter { palette, format, pool: HostPool::default(), table: None, bar: None }
    }

    /// The luminance of `frame`, which is gray, in colours; with a bar that has these labels, if there are any.
    ///
    /// # Errors
    /// When it is not gray, a GPU that it is on fails, or there is no room for the bar.
    pub fn paint(&mut self, frame: &Frame, labels: Option<[String; LABELS]>) -> Result<Frame> {
        let Luminance::Stored(luma) = frame.format().descriptor().luminance else {
            bail!("--palette: a picture of {} is not gray (a bug: please report it)", frame.format());
        };
        frame.bring_down()?;
        let size = (frame.width(), frame.height());
        let levels = frame.levels();
        let to = self.format.descriptor();
        let Luminance::FromRgb { r, g, b } = to.luminance else { bail!("{} is not RGB", self.format) };
        let out = Out { sample: to.sample, components: [r, g, b] };
        let table = match self.table.take().filter(|(of, _)| *of == levels) {
            Some((_, table)) => table,
            None => colours(self.palette, levels, to.sample.max()),
        };
        let planes = 0..to.planes().len();
        let plane = |index| self.pool.plane(self.format.row_bytes(index, size.0), self.format.rows(index, size.1));
        let mut planes: Vec<PlaneMut> = planes.map(plane).collect();
        let sample = frame.format().descriptor().sample;
        for y in 0..size.1 {
            let row = frame.planes()[luma.plane].row(y);
            for x in 0..size.0 {
                let level = levels.level_of(sample.read(row, x * luma.step + luma.offset));
                out.write(&mut planes, (x, y), table[level]);
            }
        }
        self.table = Some((levels, table));
        if let Some(labels) = labels {
            let bar = self.bar(size, labels)?;
            for (at, pixel) in bar.pixels.iter().enumerate() {
                let (x, y) = (bar.at.0 + at % bar.size.0, bar.at.1 + at / bar.size.0);
                let [_, colour @ ..] = pixel.to_be_bytes();
                let fit = |component: u8| (u32::from(component) * u32::from(out.sample.max()) + 127) / 255;
                out.write(&mut planes, (x, y), colour.map(|component| fit(component) as u16));
            }
        }
        let planes = planes.into_iter().map(PlaneMut::freeze).collect();
        Ok(Frame::new(self.format, size, Range::Full, frame.matrix(), planes)?)
    }

    /// The bar with these labels, drawn anew where it is another one.
    fn bar(&mut self, size: (usize, usize), labels: [String; LABELS]) -> Result<&ColourBar> {
        let last = self.bar.take().filter(|(of, picture, _)| *of == labels && *picture == size);
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

/// Where the components of a pixel are.
struct Out {
    sample: Sample,
    components: [Component; 3],
}

impl Out {
    fn write(&self, planes: &mut [PlaneMut], (x, y): (usize, usize), colour: [u16; 3]) {
        for (component, code) in self.components.iter().zip(colour) {
            self.sample.write(planes[component.plane].row_mut(y), x * component.step + component.offset, code);
        }
    }
}

/// The colours of levels, from black to white.
fn colours(palette: Palette, levels: Levels, highest: u16) -> Vec<[u16; 3]> {
    let steps = levels.count() as u64 - 1;
    let share = |level: u64| ((level * u64::from(WHITE) + steps / 2) / steps) as u32;
    (0..=steps).map(|level| palette.colour_up_to(share(level), highest)).collect()
}
