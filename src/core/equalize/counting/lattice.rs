//! Samples of a frame at the points of a [`Lattice`], from which scenes, levels and colour are decided.

use super::Mask;
use crate::Result;
use crate::frame::{ChromaSamples, Component, Frame, Luminance, SomeRows};
use crate::spec::parameters::Rect;
use crate::spec::{Lattice, Measure};
use std::array;
use std::rc::Rc;

/// Measures the part `counted` of a frame, which has to lie in the frame, without the pixels that a mask of the frame's
/// size leaves out. Of a frame on a GPU, only the rows with points of the lattice are copied to the host.
///
/// # Errors
/// When the GPU that the frame is on fails.
pub fn measure(frame: &Frame, counted: Rect, mask: Option<&Mask>) -> Result<Measure> {
    let lattice = lattice(frame, counted, mask)?;
    Ok(Measure::new(&lattice, frame.levels(), (frame.width(), frame.height())))
}

/// The samples at the points of the lattice over the part `counted` of a frame.
fn lattice(frame: &Frame, counted: Rect, mask: Option<&Mask>) -> Result<Lattice> {
    let size @ (columns, rows) = Lattice::size_for((counted.width, counted.height));
    let descriptor = frame.format().descriptor();
    let (levels, sample) = (frame.levels(), descriptor.sample);
    let xs: Vec<usize> =
        (0..columns).map(|column| counted.x + Lattice::pixel(column, columns, counted.width)).collect();
    let read = |row: &[u8], component: Component, x: usize| sample.read(row, component.offset + x * component.step);
    let mut luma = Vec::with_capacity(columns * rows);
    let mut rgb = Vec::new();
    let ys: Vec<usize> = (0..rows).map(|row| counted.y + Lattice::pixel(row, rows, counted.height)).collect();
    match (descriptor.luminance, descriptor.chroma) {
        (Luminance::FromRgb { r, g, b }, _) => {
            let [of_r, of_g, of_b] = rows_of(frame, [r, g, b], &ys)?;
            for row in 0..rows {
                let rows = [of_r.row(row), of_g.row(row), of_b.row(row)];
                for &x in &xs {
                    let codes = [read(rows[0], r, x), read(rows[1], g, x), read(rows[2], b, x)];
                    luma.push(frame.weights().luminance(codes));
                    rgb.push(codes);
                }
            }
        }
        (Luminance::Stored(of_luma), None) => {
            let [luma_rows] = rows_of(frame, [of_luma], &ys)?;
            for row in (0..rows).map(|row| luma_rows.row(row)) {
                luma.extend(xs.iter().map(|&x| levels.level_of(read(row, of_luma, x)) as u16));
            }
        }
        (Luminance::Stored(of_luma), Some(ChromaSamples { cb, cr, log2_width, log2_height: _ })) => {
            let colours = frame.colours();
            let chroma_ys: Vec<usize> = ys.iter().map(|&y| frame.chroma_row(y)).collect();
            let [luma_rows] = rows_of(frame, [of_luma], &ys)?;
            let [cb_rows, cr_rows] = rows_of(frame, [cb, cr], &chroma_ys)?;
            for row in 0..rows {
                let [luma_row, cb_row, cr_row] = [luma_rows.row(row), cb_rows.row(row), cr_rows.row(row)];
                for &x in &xs {
                    let level = levels.level_of(read(luma_row, of_luma, x)) as u16;
                    let chroma = [read(cb_row, cb, x >> log2_width), read(cr_row, cr, x >> log2_width)];
                    luma.push(level);
                    rgb.push(colours.rgb(level, chroma));
                }
            }
        }
    }
    let is_left_out = |mask: &Mask| ys.iter().flat_map(|&y| xs.iter().map(move |&x| !mask.includes(x, y))).collect();
    let mut left_out: Vec<bool> = mask.map(is_left_out).unwrap_or_default();
    match left_out.iter().position(|is_left_out| !is_left_out) {
        None => left_out.clear(),
        // A masked-out point repeats a counted one, so that it adds no difference between neighbours.
        Some(mut counted) => {
            for index in 0..left_out.len() {
                if !left_out[index] {
                    counted = index;
                    continue;
                }
                luma[index] = luma[counted];
                if !rgb.is_empty() {
                    rgb[index] = rgb[counted];
                }
            }
        }
    }
    Ok(Lattice { size, luma, rgb, left_out, is_part: counted != frame.whole(), transfer: frame.transfer })
}

/// The rows of each component's plane; components of one plane share them.
fn rows_of<'a, const N: usize>(
    frame: &'a Frame,
    components: [Component; N],
    ys: &'a [usize],
) -> Result<[Rc<SomeRows<'a>>; N]> {
    let mut rows: Vec<Rc<SomeRows<'a>>> = Vec::new();
    for Component { plane, .. } in components {
        let same = components.iter().take(rows.len()).position(|other| other.plane == plane);
        rows.push(match same {
            Some(index) => rows[index].clone(),
            None => Rc::new(frame.planes()[plane].rows_at(ys)?),
        });
    }
    Ok(array::from_fn(|index| rows[index].clone()))
}
