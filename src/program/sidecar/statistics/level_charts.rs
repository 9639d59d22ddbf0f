//! Charts of levels: histograms and curve of the whole video, which the page's script draws again for one moment, and both over
//! time, as pictures.

use super::chart::{Heading, axis, chart, time_range};
use super::levels::{Layer, LevelColumns};
use super::series::Series;
use anyhow::Result;
use base64::{Engine, engine::general_purpose::STANDARD};
use histeq::frame::{Frame, HostPool, Matrix, PixelFormat, Range};
use histeq_media::ffmpeg::Still;
use histeq_media::svg::Drawing;

/// Columns of a picture.
const COLUMNS: usize = 480;

/// A bin with this many times its part of the samples fills a histogram.
const MOST_OF_MEAN: f32 = 8.0;

/// A bin with this many times its part of the samples has its full colour in a picture.
const FULL_OF_MEAN: f32 = 4.0;

/// A level that moved by this part of the range has its full colour.
const FAR: f32 = 0.35;

const BEFORE: [u8; 3] = [0x7a, 0x87, 0x97];
const AFTER: [u8; 3] = [0xd9, 0x48, 0x0f];
const DARKER: [u8; 3] = [0x19, 0x71, 0xc2];

/// The charts; empty without frames.
///
/// # Errors
/// When a picture cannot be encoded.
pub fn charts(levels: &LevelColumns, series: &Series) -> Result<String> {
    let Some(of) = levels.levels() else { return Ok(String::new()) };
    let codes = (f64::from(of.lo()), f64::from(of.hi()));
    let across = axis(codes, false);
    let (before, after) = (levels.of_all(Layer::Before), levels.of_all(Layer::After));
    let highest = before.iter().chain(&after).copied().fold(0.0, f32::max);
    let top = highest.min(MOST_OF_MEAN / before.len() as f32);
    let mut drawing = Drawing::stretched((before.len() as f64, 1.0));
    drawing.path("histogram before", format_args!("{}", steps(&before, top)));
    drawing.path("histogram after", format_args!("{}", steps(&after, top)));
    let heading = Heading {
        title: "Histogram: how much of the picture has each level (%)",
        legend: &[("before", "before"), ("after", "after")],
        data: &format!("data-levels=\"histogram\" data-top=\"{top}\""),
    };
    let percent = axis((0.0, f64::from(top) * 100.0), true);
    let mut charts = format!("<div class=\"pair\">\n{}", chart(&heading, &across, &percent, &drawing.finish()));
    let up = axis(codes, true);
    if levels.has_curves() {
        let curve = levels.of_all(Layer::Curve);
        let mut drawing = Drawing::stretched(((curve.len() - 1) as f64, 1.0));
        drawing.path("grid", format_args!("M0 1L{} 0", curve.len() - 1));
        drawing.path("line after", format_args!("{}", line(&curve)));
        let heading = Heading { title: "Curve: what each level became", legend: &[], data: "data-levels=\"curve\"" };
        charts += &chart(&heading, &across, &up, &drawing.finish());
    }
    charts += "</div>\n";
    let mut add = |title: &str, legend: &[(&str, &str)], layer: Layer, name: &str| {
        let data = format!("data-time data-picture=\"{name}\"");
        let picture = STANDARD.encode(Still::Png.encode(&picture(levels, series, layer)?)?);
        let picture = format!("<img class=\"fill\" alt=\"\" src=\"data:image/png;base64,{picture}\">");
        charts += &chart(&Heading { title, legend, data: &data }, &axis(time_range(series), false), &up, &picture);
        anyhow::Ok(())
    };
    add("Histogram over time, before: levels from dark (below) to bright", &[], Layer::Before, "before")?;
    add("Histogram over time, after", &[], Layer::After, "after")?;
    if levels.has_curves() {
        let legend = [("became brighter", "after"), ("became darker", "third")];
        add("Curve over time: what each level became", &legend, Layer::Curve, "curve")?;
    }
    Ok(charts)
}

/// A line around bars of these heights.
fn steps(shares: &[f32], top: f32) -> String {
    let bar = |(bin, share): (usize, &f32)| format!("V{:.3}H{}", 1.0 - (share / top).min(1.0), bin + 1);
    format!("M0 1{}V1Z", shares.iter().enumerate().map(bar).collect::<String>())
}

fn line(values: &[f32]) -> String {
    let point = |(bin, value): (usize, &f32)| format!("L{bin} {:.4}", 1.0 - value);
    format!("M{}", values.iter().enumerate().map(point).collect::<String>().trim_start_matches('L'))
}

/// A layer over time: white above, black below. Its colour covers the page where there is much of it.
fn picture(levels: &LevelColumns, series: &Series, layer: Layer) -> Result<Frame> {
    let (from, to) = time_range(series);
    let rows = levels.of_all(layer).len();
    let columns: Vec<Vec<f32>> = (0..COLUMNS)
        .map(|x| levels.of_column(levels.at(from + (to - from) * x as f64 / (COLUMNS - 1) as f64), layer))
        .collect();
    let colour = |column: &[f32], bin: usize| {
        let Some(value) = column.get(bin) else { return [0; 4] };
        let (colour, share) = match layer {
            Layer::Before => (BEFORE, (value * rows as f32 / FULL_OF_MEAN).sqrt()),
            Layer::After => (AFTER, (value * rows as f32 / FULL_OF_MEAN).sqrt()),
            Layer::Curve => {
                let moved = value - bin as f32 / (rows - 1).max(1) as f32;
                (if moved > 0.0 { AFTER } else { DARKER }, moved.abs() / FAR)
            }
        };
        let [red, green, blue] = colour;
        [red, green, blue, (share.min(1.0) * 255.0).round() as u8]
    };
    let pixels: Vec<u8> =
        (0..rows).rev().flat_map(|bin| columns.iter().flat_map(move |column| colour(column, bin))).collect();
    let plane = HostPool::default().plane_from(&pixels, 4 * COLUMNS, rows);
    Ok(Frame::new(PixelFormat::Rgba, (COLUMNS, rows), Range::Full, Matrix::Bt709, vec![plane])?)
}
