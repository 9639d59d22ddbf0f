//! The archive of `--save-curves NAME.npz`, which NumPy reads (`numpy.load`). In it are these arrays:
//!
//! | array | type | shape | what it is |
//! |---|---|---|---|
//! | `frames` | `u32` | | the number of each frame |
//! | `curve_of_frame` | `u32` | | for each of them, its row in the arrays below |
//! | `curves` | `u16` | rows, codes | the output code of each input code; the code itself where regions have curves |
//! | `chroma_gain` | `u32` | rows | the gain of chroma in 4096ths; with regions, 4096 |
//! | `balance` | `i32` | rows, 6 | done first: gains of red, green, blue in 4096ths; offsets in 16ths of a level |
//! | `regions` | `u32` | rows, 3, 8, 8 | in place of the curve, by region: what is taken off, gain, gain of chroma |
//! | `region_curve` | `i32` | rows, 17 | then: what becomes of the levels `255 * i * i / 256`, in sixteenths of 255 |
//! | `region_light` | `u32` | rows | the light that this curve is for, in 65536ths |
//! | `region_ceiling` | `u16` | rows | peak to preserve: higher levels are kept |
//! | `region_transfer` | `u8` | rows | 0, or of HDR, whose regions are corrected in light, 1 for PQ and 2 for HLG |
//! | `region_peak` | `u32` | rows, 2 | of HDR, the peak of the scene and what it becomes at most, in 65536ths of 255 |
//! | `depth` | `u8` | | bits of a sample |
//! | `range` | `u16` | 2 | the codes of black and white |
//!
//! What is taken off in regions is in sixteenths of a level, gains are in 4096ths. Where a frame has no balance or no
//! regions, its row has those that change nothing.

use super::CurveFormat;
use anyhow::{Context, Result, ensure};
use histeq::frame::limits;
use histeq::spec::chroma::UNIT_GAIN;
use histeq::spec::measure::REGIONS;
use histeq::spec::natural::{InLight, ToneCurve, Toned, light};
use histeq::spec::tone::{Balance, Veil};
use histeq::spec::{Curve, Levels, Mapping, Transfer};
use npyz::{AutoSerialize, WriterBuilder};
use std::io::{Cursor, Write};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// What is applied in a run. It is kept until the end: the archive begins with how much there is.
#[derive(Default)]
pub struct Archive {
    rows: Vec<Mapping>,
    frames: Vec<u32>,
    curve_of_frame: Vec<u32>,
}

impl Archive {
    /// Adds the next frame, to which this is applied: another mapping than to the one before if `is_new`.
    ///
    /// # Errors
    /// When it takes too much memory, or the number of the frame is too high.
    pub fn add(&mut self, frame: u64, format: CurveFormat, mapping: &Mapping, is_new: bool) -> Result<()> {
        let row = 2 * format.levels().codes() + size_of::<Veil>();
        let bytes = self.rows.len() * row + 8 * self.frames.len();
        let most = limits::memory() / 4;
        ensure!(
            bytes < most,
            "more than {} MiB of curves (name it .jsonl, or give more with --max-memory)",
            most >> 20
        );
        if is_new {
            self.rows.push(mapping.clone());
        }
        self.frames.push(frame.try_into().context("a frame number above 32 bits (name it .jsonl)")?);
        self.curve_of_frame.push(self.rows.len() as u32 - 1);
        Ok(())
    }

    /// Writes it to `file`; its curves have this format.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(self, format: CurveFormat, mut file: impl Write) -> Result<()> {
        let levels = format.levels();
        let (identity, clear) = (Curve::identity(levels), clear(levels));
        let same = Row { curve: &identity, chroma_gain: UNIT_GAIN, balance: Balance::IDENTITY, veil: &clear };
        let rows: Vec<Row> = self.rows.iter().map(|mapping| same.with(mapping)).collect();
        let (frames, count) = (self.frames.len() as u64, rows.len() as u64);
        let (codes, regions, points) = (levels.codes() as u64, REGIONS as u64, 17);
        // In memory first, since a pipe cannot be written in any order.
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        array(&mut zip, "frames", &[frames], self.frames.into_iter())?;
        array(&mut zip, "curve_of_frame", &[frames], self.curve_of_frame.into_iter())?;
        array(&mut zip, "curves", &[count, codes], rows.iter().flat_map(|row| row.curve.codes().iter().copied()))?;
        array(&mut zip, "chroma_gain", &[count], rows.iter().map(|row| row.chroma_gain))?;
        array(&mut zip, "balance", &[count, 6], rows.iter().flat_map(Row::balance))?;
        array(&mut zip, "regions", &[count, 3, regions, regions], rows.iter().flat_map(Row::regions))?;
        array(&mut zip, "region_curve", &[count, points], rows.iter().flat_map(|row| *row.toned().curve.points()))?;
        array(&mut zip, "region_light", &[count], rows.iter().map(|row| row.toned().light))?;
        array(&mut zip, "region_ceiling", &[count], rows.iter().map(|row| row.veil.ceiling as u16))?;
        array(&mut zip, "region_transfer", &[count], rows.iter().map(|row| row.light().0))?;
        array(&mut zip, "region_peak", &[count, 2], rows.iter().flat_map(|row| row.light().1))?;
        array(&mut zip, "depth", &[], [format.depth].into_iter())?;
        array(&mut zip, "range", &[2], [levels.lo(), levels.hi()].into_iter())?;
        file.write_all(zip.finish()?.get_ref())?;
        Ok(())
    }
}

/// What is in a row of the arrays.
#[derive(Clone, Copy)]
struct Row<'a> {
    curve: &'a Curve,
    chroma_gain: u32,
    balance: Balance,
    veil: &'a Veil,
}

impl<'a> Row<'a> {
    /// Replaces the parts that this mapping has.
    fn with(self, mapping: &'a Mapping) -> Self {
        match mapping {
            Mapping::Curve { curve, chroma_gain } => Row { curve, chroma_gain: *chroma_gain, ..self },
            Mapping::Veil(veil) => Row { veil, ..self },
            Mapping::Balance(balance) => Row { balance: *balance, ..self },
            Mapping::Balanced { balance, then } => Row { balance: *balance, ..self }.with(then),
            Mapping::Tiles { .. } => self,
        }
    }

    fn balance(&self) -> impl Iterator<Item = i32> + use<> {
        self.balance.gains.map(|gain| gain as i32).into_iter().chain(self.balance.offsets)
    }

    fn regions(&self) -> impl Iterator<Item = u32> + use<'a> {
        let veil = self.veil;
        [&veil.taken, &veil.gains, &veil.chroma].into_iter().flat_map(|regions| regions.as_flattened().iter().copied())
    }

    fn light(&self) -> (u8, [u32; 2]) {
        self.veil.in_light.map_or((0, [0; 2]), |InLight { transfer, peak }| match transfer {
            Transfer::Sdr => (0, peak),
            Transfer::Pq => (1, peak),
            Transfer::Hlg => (2, peak),
        })
    }

    fn toned(&self) -> Toned {
        self.veil.then.unwrap_or(Toned { curve: ToneCurve::identity(), light: light::FULL })
    }
}

/// The veil that changes nothing.
fn clear(levels: Levels) -> Veil {
    let gains = [[UNIT_GAIN; REGIONS]; REGIONS];
    let ceiling = levels.count() as u32 - 1;
    Veil { taken: [[0; REGIONS]; REGIONS], gains, chroma: gains, then: None, in_light: None, ceiling }
}

/// Adds an array of this shape.
pub(in crate::sidecar) fn array<T: AutoSerialize>(
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
