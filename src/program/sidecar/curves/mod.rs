//! Curve files: what is applied to frames is saved during a run (`--save-curves`), and loaded instead of computed
//! (`--load-curves`). So a look can be kept, edited, or applied to another camera of the same scene.
//!
//! ```text
//! statistics::CurveSaver (an Observer) -> CurveWriter -> file -> CurveFile -> LoadedCurves (a MappingSource)
//! ```
//!
//! A file has one JSON object on each line. The first line has the format: version, depth and range. Each of the others
//! has a curve (`lut`: the output code for each input code, code 0 first) and the number of the first frame with this
//! curve, counted from 0 at the first frame of the run:
//!
//! ```json
//! {"histeq_curves":1,"depth":8,"range":"limited"}
//! {"frame":0,"lut":[0,1,2]}
//! {"frame":25,"lut":[0,2,4]}
//! ```
//!
//! (with 256 codes each at 8 bits). The first curve is also used for frames before its number, so a file with a single
//! curve applies to all frames. Where colour follows (`--set chroma=follow`), a line also has the gain of chroma, in
//! 4096ths (`"chroma_gain":5120`); without, the gain is 4096, which leaves colour as it is.
//!
//! What a curve alone does not describe is in other fields of a line:
//!
//! * `balance`, before a `lut` or `regions` or alone, has a [`Balance`](histeq::internal::spec::curves::tone::Balance): `gains` of red,
//!   green and blue in 4096ths, and their `offsets` in sixteenths of a level;
//! * `regions`, in place of a `lut`, has a [`Veil`](histeq::internal::spec::curves::tone::Veil) of 8x8 regions, row by row: `taken` in
//!   sixteenths of a level, `gains` and `chroma` in 4096ths; where a curve follows, `curve` with the 17 `points` of a
//!   [`ToneCurve`](histeq::internal::spec::natural::ToneCurve) in sixteenths of 255, and the `light` that it is for in 65536ths;
//!   where it is not white, the `ceiling`; and of HDR `in_light`, an [`InLight`](histeq::internal::spec::natural::InLight) with
//!   the `transfer`, `pq` or `hlg`, and the `peak` of the scene and what it becomes at most, in 65536ths of 255.
//!
//! ```json
//! {"frame":30,"balance":{"gains":[5200,4096,4300],"offsets":[-64,0,-16]},"lut":[0,2,4],"chroma_gain":4500}
//! ```
//!
//! Programs that do not know these fields refuse such a line, and name the first of them. So the version is still 1.
//!
//! A file whose name ends in `.cube` is a table for grading programs (`cube.rs`), which is only written.

mod apply;
mod cube;
mod lines;
mod load;
mod save;

pub use apply::LoadedCurves;
pub use lines::CurveFormat;
pub use load::CurveFile;
pub use save::{CurveWriter, FramePlace};
