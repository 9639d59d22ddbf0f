//! Draws the one picture of two frames.

use super::layout::{Layout, View};
use crate::chart::{Canvas, Lettering, bars, curve, divider, label};
use crate::equalize::cpu::{Engine, Isa};
use crate::equalize::relation;
use crate::ffmpeg::{Colour, Converter, Picture, RawFormat, VideoFormat};
use crate::frame::{Frame, HostPool, Model, PixelFormat};
use anyhow::Result;

/// Draws two frames as one picture.
pub struct Comparer {
    view: View,
    names: [String; 2],
    /// Whether what comes out is an image, which has red, green and blue.
    rgb: bool,
    projections: [Converter; 2],
    finish: Converter,
    /// Room for the picture that is drawn.
    pixels: Vec<u32>,
    pool: HostPool,
    engine: Engine,
}

impl Comparer {
    /// Draws A and B, whose labels are `names`; `rgb` asks for pictures in RGB whatever those of A are.
    pub fn new(view: View, names: [String; 2], rgb: bool) -> Self {
        let pool = HostPool::default();
        let Some(engine) = Engine::new(Isa::best(), pool.clone()) else {
            unreachable!("the best of the available instruction sets is available")
        };
        Comparer {
            view,
            names,
            rgb,
            projections: Default::default(),
            finish: Converter::default(),
            pixels: Vec::new(),
            pool,
            engine,
        }
    }

    /// One picture of both, with the time and the properties of `a`.
    ///
    /// # Errors
    /// When a frame cannot be converted.
    pub fn draw(&mut self, a: &Frame, b: &Frame) -> Result<Frame> {
        let (of_a, of_b) = (Picture::from_frame(a)?, Picture::from_frame(b)?);
        let layout = Layout::new(self.view, of_a.size(), width_beside(&of_a, &of_b));
        // Encoders of 4:2:0 take no odd sizes; a black row or column makes them even.
        let even = |length: usize| if self.rgb { length } else { length.next_multiple_of(2) };
        let size = (even(layout.size.0), even(layout.size.1));

        let [project_a, project_b] = &mut self.projections;
        let mut pixels = std::mem::take(&mut self.pixels);
        pixels.resize(size.0 * size.1, 0);
        let mut canvas = Canvas::new(&mut pixels, size, 1);
        canvas.copy(&project_a.rgb(a, of_a.size())?, (0, 0), layout.columns[0].clone());
        let (columns, x) = layout.of_b.clone();
        canvas.copy(&project_b.rgb(b, layout.size_of_b)?, (x, 0), columns);
        self.annotate(&mut canvas, [a, b], &layout);

        let mut drawn = canvas.to_frame(&self.pool)?;
        self.pixels = pixels;
        drawn.pts = a.pts;
        drawn.attachment.clone_from(&a.attachment);
        let (format, colour) = self.outcome(a, &of_a);
        self.finish.frame(&drawn, VideoFormat { format: format.into(), size, colour })
    }

    /// Labels, histograms and the curve.
    fn annotate(&mut self, canvas: &mut Canvas, [a, b]: [&Frame; 2], layout: &Layout) {
        let lettering = Lettering::for_height(layout.size.1);
        divider(canvas, layout.columns[1].start, layout.size.1, lettering.scale);
        for ((name, columns), side) in self.names.iter().zip(layout.columns.clone()).zip(layout.sides) {
            label(canvas, name, columns, side, lettering);
        }
        let Some(charts) = layout.charts(lettering) else { return };
        for (frame, chart) in [a, b].into_iter().zip(charts) {
            canvas.shade(chart.offset(lettering.margin() as i32 / 2));
            bars(canvas, chart, &self.engine.histogram(frame, frame.whole()));
        }
        if let Some(points) = relation(a, b, 1) {
            curve(canvas, charts[0], &points, lettering.scale + 1);
        }
    }

    /// The format and the colours of what comes out: 8 bits, with as much chroma as A has.
    fn outcome(&self, a: &Frame, of_a: &Picture) -> (PixelFormat, Colour) {
        let model = a.format().descriptor().model;
        if self.rgb || model == Model::Rgb {
            let rgb = RawFormat::from(PixelFormat::Rgb24);
            return (PixelFormat::Rgb24, of_a.colour().converted(of_a.format(), rgb, false));
        }
        let format = match of_a.format().chroma_resolution() {
            16 => PixelFormat::Yuv444p,
            8 => PixelFormat::Yuv422p,
            _ => PixelFormat::Yuv420p,
        };
        match model {
            Model::Yuv => (format, of_a.colour()),
            // Curves have colours, even where pictures have none.
            _ => {
                let rgb = RawFormat::from(PixelFormat::Bgr0);
                (format, of_a.colour().converted(rgb, format.into(), a.height() >= 720))
            }
        }
    }
}

/// The width that B has when it is as high as A and keeps its shape on a screen.
fn width_beside(a: &Picture, b: &Picture) -> usize {
    if a.size() == b.size() {
        return a.size().0;
    }
    let aspect = |picture: &Picture| picture.sample_aspect_ratio().map_or(1.0, f64::from);
    let width = b.size().0 as f64 * a.size().1 as f64 / b.size().1 as f64 * aspect(b) / aspect(a);
    (width.round() as usize).max(1)
}
