//! A frame whose noise is removed, and what is computed from it: once, by the first thread that needs it.

use super::depth::{Part, SampleKind, parts};
use crate::cuda::Gpu;
use crate::denoise::light::light;
use crate::denoise::sheet::Sheet;
use crate::denoise::{Denoiser, Step, Steps};
use crate::frame::{Frame, Model, in_byte_order};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A frame, and what is computed from it.
pub(super) struct Seen {
    pub(super) frame: Frame,
    /// Whether the frame begins a scene or a sequence: there is no motion between it and the frame before.
    pub(super) begins: bool,
    pub(super) pictures: Vec<SeenPicture>,
}

/// A frame, or a field of it.
pub(super) struct SeenPicture {
    pub(super) rows: PictureRows,
    /// Its planes except alpha, as 12-bit codes minus 2048.
    pub(super) planes: OnceLock<Arc<Vec<Sheet>>>,
    pub(super) light: OnceLock<u32>,
    pub(super) on_cpu: KnownPicture<Steps>,
    pub(super) on_gpu: KnownPicture<Gpu>,
}

/// The rows of each plane that are denoised as one picture: all of them, or those of a field.
#[derive(Clone, Copy)]
pub(super) struct PictureRows {
    pub(super) first: usize,
    pub(super) step: usize,
}

impl PictureRows {
    /// The pictures of a frame: the two fields of an interlaced frame, because they show different times, or all rows.
    pub(super) fn for_frame(frame: &Frame) -> Vec<PictureRows> {
        let rows = parts(frame.format()).into_iter().map(|part| frame.height().div_ceil(1 << part.log2_height));
        let step = if frame.is_interlaced && rows.min() >= Some(2) { 2 } else { 1 };
        (0..step).map(|first| PictureRows { first, step }).collect()
    }

    /// The number of the picture's rows in a plane with `rows` rows.
    pub(super) fn count(self, rows: usize) -> usize {
        (rows - self.first).div_ceil(self.step)
    }
}

/// What an engine has computed for a picture.
pub(super) struct KnownPicture<E: Denoiser> {
    picture: Once<E::Picture>,
    step: Once<Step<E::Field>>,
}

impl<E: Denoiser> Default for KnownPicture<E> {
    fn default() -> Self {
        KnownPicture { picture: Once::default(), step: Once::default() }
    }
}

/// A value that is computed once, by the first thread that needs it; the others wait for it.
struct Once<T>(Mutex<Option<Arc<T>>>);

impl<T> Default for Once<T> {
    fn default() -> Self {
        Once(Mutex::new(None))
    }
}

impl<T> Once<T> {
    fn get<X>(&self, make: impl FnOnce() -> std::result::Result<T, X>) -> std::result::Result<Arc<T>, X> {
        let mut made = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = &*made {
            return Ok(made.clone());
        }
        Ok(made.insert(Arc::new(make()?)).clone())
    }
}

/// Selects what an engine has computed for a picture.
pub(super) type Of<E> = fn(&SeenPicture) -> &KnownPicture<E>;

/// What an engine has made, or its error.
pub(super) type Made<T, E> = std::result::Result<Arc<T>, <E as Denoiser>::Error>;

impl Seen {
    pub(super) fn planes(&self, index: usize) -> &Arc<Vec<Sheet>> {
        let picture = &self.pictures[index];
        picture.planes.get_or_init(|| Arc::new(sheets(&self.frame, picture.rows)))
    }

    pub(super) fn light(&self, index: usize) -> u32 {
        *self.pictures[index].light.get_or_init(|| light(&self.planes(index)[0]))
    }

    pub(super) fn picture<E: Denoiser>(&self, index: usize, engine: &E, known: Of<E>) -> Made<E::Picture, E> {
        let log2 = log2_of_chroma(&self.frame);
        known(&self.pictures[index]).picture.get(|| engine.picture(self.planes(index), log2))
    }

    pub(super) fn step<E: Denoiser>(
        &self,
        before: &Seen,
        index: usize,
        engine: &E,
        known: Of<E>,
    ) -> Made<Step<E::Field>, E> {
        known(&self.pictures[index])
            .step
            .get(|| Step::new(engine, &*self.picture(index, engine, known)?, &*before.picture(index, engine, known)?))
    }
}

/// Columns and rows of luma samples for each chroma sample, as powers of two.
pub(super) fn log2_of_chroma(frame: &Frame) -> (u8, u8) {
    let parts = parts(frame.format());
    let chroma = parts.iter().find(|part| part.kind == SampleKind::Chroma);
    chroma.map_or((0, 0), |part| (part.log2_width, part.log2_height))
}

/// Bits of the samples of sheets.
pub(super) const DEPTH: u8 = 12;

/// These rows of the planes of a frame except alpha, as 12-bit codes minus 2048. RGB becomes luma, `(r + 2g + b) / 4`,
/// and colour differences, `(2g - r - b) / 4` and `(r - b) / 2`, which separate noise from detail as well as YUV does.
pub(super) fn sheets(frame: &Frame, rows: PictureRows) -> Vec<Sheet> {
    let sample = frame.format().descriptor().sample;
    let (up, down) = (DEPTH.saturating_sub(sample.depth), sample.depth.saturating_sub(DEPTH));
    let parts = parts(frame.format()).into_iter().filter(|part| part.kind != SampleKind::Alpha);
    let sheet = |part: Part| {
        let width = frame.width().div_ceil(1 << part.log2_width);
        let mut sheet = Sheet::new(width, rows.count(frame.height().div_ceil(1 << part.log2_height)));
        for y in 0..sheet.height() {
            let row = frame.planes()[part.at.plane].row(rows.first + y * rows.step);
            let out = sheet.row_mut(y);
            if sample.bytes == 1 && part.at.step == 1 {
                for (out, code) in out.iter_mut().zip(row) {
                    *out = (i16::from(*code) << 4) - 2048;
                }
            } else if sample.bytes == 2 && part.at.step == 1 {
                in_byte_order!(sample.endian, |read, _| {
                    for (out, pair) in out.iter_mut().zip(row.as_chunks::<2>().0) {
                        let code = (read(*pair) >> sample.shift).min(sample.max());
                        *out = (code << up >> down) as i16 - 2048;
                    }
                });
            } else {
                for (x, out) in out.iter_mut().enumerate() {
                    let code = sample.read(row, part.at.offset + x * part.at.step);
                    *out = (code << up >> down) as i16 - 2048;
                }
            }
        }
        sheet
    };
    let mut sheets: Vec<Sheet> = parts.map(sheet).collect();
    if let (Model::Rgb, [red, green, blue]) = (frame.format().descriptor().model, &mut sheets[..]) {
        for y in 0..red.height() {
            let (green, blue) = (green.row_mut(y), blue.row_mut(y));
            for ((r, g), b) in red.row_mut(y).iter_mut().zip(green).zip(blue) {
                // A sum of four codes of 12 bits fits 16 bits.
                (*r, *g, *b) = ((*r + 2 * *g + *b) >> 2, (2 * *g - *r - *b) >> 2, (*r - *b) >> 1);
            }
        }
    }
    sheets.iter_mut().for_each(Sheet::repeat_edges);
    sheets
}
