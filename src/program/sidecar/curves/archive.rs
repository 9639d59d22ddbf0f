//! The archive of `--save-curves NAME.npz`, which NumPy reads (`numpy.load`). In it are these arrays:
//!
//! | array | type | what it is |
//! |---|---|---|
//! | `frames` | `u32` | the number of each frame with a curve |
//! | `curve_of_frame` | `u32` | for each of them, the row of its curve in `curves` |
//! | `curves` | `u16` | a row for each different curve: the output code of each input code |
//! | `chroma_gain` | `u32` | for each row, the gain of chroma in 4096ths |
//! | `depth` | `u8` | bits of a sample |
//! | `range` | `u16` | the codes of black and white |

use super::CurveFormat;
use anyhow::{Context, Result, ensure};
use histeq::frame::limits;
use histeq::spec::Curve;
use npyz::{AutoSerialize, WriterBuilder};
use std::collections::HashMap;
use std::io::{Cursor, Write};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// The curves of a run. They are kept until its end: the archive begins with how many there are.
#[derive(Default)]
pub struct Archive {
    /// The row of each different curve with its gain of chroma.
    rows: HashMap<(Curve, u32), u32>,
    frames: Vec<u32>,
    curve_of_frame: Vec<u32>,
}

impl Archive {
    /// Adds the curve of the next frame.
    ///
    /// # Errors
    /// When it takes too much memory, or the number of the frame is too high.
    pub fn add(&mut self, frame: u64, curve: &Curve, chroma_gain: u32) -> Result<()> {
        let bytes = 2 * self.rows.len() * curve.codes().len() + 8 * self.frames.len();
        let most = limits::memory() / 4;
        ensure!(
            bytes < most,
            "more than {} MiB of curves (name it .jsonl, or give more with --max-memory)",
            most >> 20
        );
        let next = self.rows.len() as u32;
        self.frames.push(frame.try_into().context("a frame number above 32 bits (name it .jsonl)")?);
        self.curve_of_frame.push(*self.rows.entry((curve.clone(), chroma_gain)).or_insert(next));
        Ok(())
    }

    /// Writes it to `file`; its curves have this format.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(self, format: CurveFormat, mut file: impl Write) -> Result<()> {
        let levels = format.levels();
        let mut rows: Vec<((Curve, u32), u32)> = self.rows.into_iter().collect();
        rows.sort_unstable_by_key(|(_, row)| *row);
        let (frames, count) = (self.frames.len() as u64, rows.len() as u64);
        // In memory first, since a pipe cannot be written in any order.
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        let codes = rows.iter().flat_map(|((curve, _), _)| curve.codes().iter().copied());
        array(&mut zip, "frames", &[frames], self.frames.into_iter())?;
        array(&mut zip, "curve_of_frame", &[frames], self.curve_of_frame.into_iter())?;
        array(&mut zip, "curves", &[count, levels.codes() as u64], codes)?;
        array(&mut zip, "chroma_gain", &[count], rows.iter().map(|((_, gain), _)| *gain))?;
        array(&mut zip, "depth", &[], [format.depth].into_iter())?;
        array(&mut zip, "range", &[2], [levels.lo(), levels.hi()].into_iter())?;
        file.write_all(zip.finish()?.get_ref())?;
        Ok(())
    }
}

/// Adds an array of this shape.
fn array<T: AutoSerialize>(
    zip: &mut ZipWriter<Cursor<Vec<u8>>>,
    name: &str,
    shape: &[u64],
    values: impl Iterator<Item = T>,
) -> Result<()> {
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated).large_file(true);
    zip.start_file(format!("{name}.npy"), options)?;
    let mut array = npyz::WriteOptions::new().default_dtype().shape(shape).writer(zip).begin_nd()?;
    array.extend(values)?;
    array.finish()?;
    Ok(())
}
