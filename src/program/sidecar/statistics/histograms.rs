//! The archive of `--stats NAME.npz`, which NumPy reads (`numpy.load`). In it are these arrays:
//!
//! | array | type | shape | what it is |
//! |---|---|---|---|
//! | `frame` | `u32` | frames | the number of each frame |
//! | `time` | `f64` | frames | its presentation time in seconds; NaN if unknown |
//! | `before`, `after` | `u32` | frames, levels | how many samples of luminance have each level |
//! | `depth` | `u8` | | bits of a sample |
//! | `range` | `u16` | 2 | the codes of the first and of the last level |

use super::FrameRecord;
use anyhow::{Context, Result, ensure};
use histeq::frame::limits;
use histeq::spec::{Histogram, Levels};
use npyz::{AutoSerialize, WriterBuilder};
use std::io::{Cursor, Write};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// The histograms of a run. They are kept until the end: the archive begins with how many there are.
#[derive(Default)]
pub struct Histograms {
    levels: Option<Levels>,
    frame: Vec<u32>,
    time: Vec<f64>,
    /// Before, and after.
    counts: [Vec<u32>; 2],
}

impl Histograms {
    /// Adds those of a frame, before and after.
    ///
    /// # Errors
    /// When they take too much memory, or have other levels than those of the frames before.
    pub fn add(&mut self, record: &FrameRecord, histograms: [&Histogram; 2]) -> Result<()> {
        let most = limits::memory() / 4;
        let bytes = size_of::<u32>() * 2 * self.counts[0].len();
        ensure!(bytes < most, "more than {} MiB of histograms (a part, or more with --max-memory)", most >> 20);
        for (counts, histogram) in self.counts.iter_mut().zip(histograms) {
            let levels = *self.levels.get_or_insert(histogram.levels());
            ensure!(levels == histogram.levels(), "frame {}: its levels are others (name it .jsonl)", record.frame);
            let count = |&count: &u64| u32::try_from(count).context("more samples than 32 bits can count");
            for level in histogram.counts() {
                counts.push(count(level)?);
            }
        }
        self.frame.push(record.frame.try_into().context("a frame number above 32 bits (name it .jsonl)")?);
        self.time.push(record.time.unwrap_or(f64::NAN));
        Ok(())
    }

    /// Writes the archive to `file`.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(self, mut file: impl Write) -> Result<()> {
        let levels = self.levels.context("no frame has been measured")?;
        let frames = self.frame.len() as u64;
        let [before, after] = self.counts;
        let shape = [frames, levels.count() as u64];
        // In memory first, since a pipe cannot be written in any order.
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        array(&mut zip, "frame", &[frames], self.frame.into_iter())?;
        array(&mut zip, "time", &[frames], self.time.into_iter())?;
        array(&mut zip, "before", &shape, before.into_iter())?;
        array(&mut zip, "after", &shape, after.into_iter())?;
        array(&mut zip, "depth", &[], [levels.depth()].into_iter())?;
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
