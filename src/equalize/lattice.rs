//! The samples of a frame from which scenes, levels and colour are decided: at the points of a [`Lattice`].

use crate::frame::{ChromaSamples, Component, Frame, Luminance};
use crate::spec::{Lattice, Measure, Rect};

/// Measures the part `counted` of a frame, which lies in it.
pub fn measure(frame: &Frame, counted: Rect) -> Measure {
    let lattice = lattice(frame, counted);
    Measure::of(&lattice, frame.levels(), (frame.width(), frame.height()))
}

/// The samples at the points of the lattice over the part `counted` of a frame.
fn lattice(frame: &Frame, counted: Rect) -> Lattice {
    let size @ (columns, rows) = Lattice::size_for((counted.width, counted.height));
    let descriptor = frame.format().descriptor();
    let (levels, sample) = (frame.levels(), descriptor.sample);
    let xs: Vec<usize> = (0..columns).map(|column| counted.x + Lattice::pixel(column, columns, counted.width)).collect();
    let read = |row: &[u8], of: Component, x: usize| sample.read(row, of.offset + x * of.step);
    let mut luma = Vec::with_capacity(columns * rows);
    let mut rgb = Vec::new();
    for y in (0..rows).map(|row| counted.y + Lattice::pixel(row, rows, counted.height)) {
        match (descriptor.luminance, descriptor.chroma) {
            (Luminance::FromRgb { r, g, b }, _) => {
                let rows = [r, g, b].map(|component| frame.planes()[component.plane].row(y));
                for &x in &xs {
                    let codes = [read(rows[0], r, x), read(rows[1], g, x), read(rows[2], b, x)];
                    luma.push(frame.weights().luminance(codes));
                    rgb.push(codes);
                }
            }
            (Luminance::Stored(of_luma), None) => {
                let row = frame.planes()[of_luma.plane].row(y);
                luma.extend(xs.iter().map(|&x| levels.level_of(read(row, of_luma, x)) as u16));
            }
            (Luminance::Stored(of_luma), Some(ChromaSamples { cb, cr, log2_width, log2_height })) => {
                let colours = frame.colours();
                let row = frame.planes()[of_luma.plane].row(y);
                let [cb_row, cr_row] = [cb, cr].map(|of| frame.planes()[of.plane].row(y >> log2_height));
                for &x in &xs {
                    let level = levels.level_of(read(row, of_luma, x)) as u16;
                    let chroma = [read(cb_row, cb, x >> log2_width), read(cr_row, cr, x >> log2_width)];
                    luma.push(level);
                    rgb.push(colours.rgb(level, chroma));
                }
            }
        }
    }
    Lattice { size, luma, rgb }
}
