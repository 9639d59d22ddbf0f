//! Draws two frames as one picture.

use super::layout::PairLayout;
use crate::draw::chart::{Canvas, Lettering, bars, curve, divider, label};
use crate::options::jobs::CompareView;
use anyhow::Result;
use histeq::Limits;
use histeq::internal::equalize::counting::relation;
use histeq::internal::equalize::cpu::{Engine, Isa};
use histeq::internal::frame::{Frame, HostPool, Model, PixelFormat};
use histeq_media::ffmpeg::filter::{Converter, VideoFormat};
use histeq_media::ffmpeg::frame::{Colour, Picture, RawFormat};

/// Draws two frames as one picture.
pub struct Comparer {
    view: CompareView,
    names: Option<[String; 2]>,
    /// Whether the output is RGB, as for images.
    rgb: bool,
    /// Convert A and B to RGB.
    to_rgb: [Converter; 2],
    /// Converts the drawn picture to the output format.
    to_output: Converter,
    /// The pixels of the drawn picture.
    pixels: Vec<u32>,
    pool: HostPool,
    engine: Engine,
}

impl Comparer {
    /// Draws A and B with the labels `names`, or, without them, nothing over the pictures. With `rgb`, the output is
    /// RGB for every format of A.
    pub fn new(view: CompareView, names: Option<[String; 2]>, rgb: bool, limits: &Limits) -> Self {
        let pool = HostPool::new(limits);
        let Some(engine) = Engine::new(Isa::best(), pool.clone()) else {
            unreachable!("the best of the available instruction sets is available")
        };
        Comparer {
            view,
            names,
            rgb,
            to_rgb: Default::default(),
            to_output: Converter::default(),
            pixels: Vec::new(),
            pool,
            engine,
        }
    }

    /// Draws both frames as one, which has the time and the properties of `a`.
    ///
    /// # Errors
    /// When a frame cannot be converted.
    pub fn draw(&mut self, a: &Frame, b: &Frame) -> Result<Frame> {
        let (of_a, of_b) = (Picture::from_frame(a)?, Picture::from_frame(b)?);
        let layout = PairLayout::new(self.view, of_a.size(), width_beside(&of_a, &of_b));
        // 4:2:0 needs even sizes: a black row or column is added.
        let even = |length: usize| if self.rgb { length } else { length.next_multiple_of(2) };
        let size = (even(layout.size.0), even(layout.size.1));

        let [rgb_of_a, rgb_of_b] = &mut self.to_rgb;
        let mut pixels = std::mem::take(&mut self.pixels);
        pixels.resize(size.0 * size.1, 0);
        let mut canvas = Canvas::new(&mut pixels, size, 1);
        canvas.copy(&rgb_of_a.rgb(a, of_a.size())?, (0, 0), layout.columns[0].clone());
        let (columns, x) = layout.of_b.clone();
        canvas.copy(&rgb_of_b.rgb(b, layout.size_of_b)?, (x, 0), columns);
        self.annotate(&mut canvas, [a, b], &layout);

        let mut drawn = canvas.to_frame(&self.pool)?;
        self.pixels = pixels;
        drawn.pts = a.pts;
        drawn.attachment.clone_from(&a.attachment);
        let (format, colour) = self.output_format(a, &of_a);
        self.to_output.frame(&drawn, VideoFormat { format: format.into(), size, colour })
    }

    /// Draws labels, histograms and the curve.
    fn annotate(&mut self, canvas: &mut Canvas, [a, b]: [&Frame; 2], layout: &PairLayout) {
        let Some(names) = &self.names else { return };
        let lettering = Lettering::for_height(layout.size.1);
        divider(canvas, layout.columns[1].start, layout.size.1, lettering.scale);
        for ((name, columns), side) in names.iter().zip(layout.columns.clone()).zip(layout.sides) {
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

    /// The format and the colours of the output: 8 bits, with the chroma resolution of A.
    fn output_format(&self, a: &Frame, of_a: &Picture) -> (PixelFormat, Colour) {
        let model = a.format().descriptor().model;
        if self.rgb || model == Model::Rgb {
            let rgb = RawFormat::from(PixelFormat::Rgb24);
            return (PixelFormat::Rgb24, of_a.colour().converted(of_a.format(), rgb, of_a.size()));
        }
        let format = match of_a.format().chroma_resolution() {
            16 => PixelFormat::Yuv444p,
            8 => PixelFormat::Yuv422p,
            _ => PixelFormat::Yuv420p,
        };
        match model {
            Model::Yuv => (format, of_a.colour()),
            // Gray frames get chroma, too: the curve is drawn in colour.
            _ => {
                let rgb = RawFormat::from(PixelFormat::Bgr0);
                (format, of_a.colour().converted(rgb, format.into(), of_a.size()))
            }
        }
    }
}

/// The width of B when it is scaled to the height of A, with its display aspect ratio.
fn width_beside(a: &Picture, b: &Picture) -> usize {
    if a.size() == b.size() {
        return a.size().0;
    }
    let aspect = |picture: &Picture| picture.sample_aspect_ratio().map_or(1.0, f64::from);
    let width = b.size().0 as f64 * a.size().1 as f64 / b.size().1 as f64 * aspect(b) / aspect(a);
    (width.round() as usize).max(1)
}
