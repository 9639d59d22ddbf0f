//! Curves in files: written as the frames get them (`--save-curves`), and given to frames in place of their own
//! (`--load-curves`), so that a look can be kept, edited, or applied to another camera of the same scene.
//!
//! ```text
//! Observer (beside the backend) -> CurveWriter -> file -> CurveFile -> KeptCurves (ahead of the backend)
//! ```
//!
//! A file is lines of JSON. The first one says what the curves are for; each of the others has a curve, as what each
//! code becomes, code 0 first, and the number of the first frame that gets it, counted from the first one of the run:
//!
//! ```json
//! {"histeq_curves":1,"depth":8,"range":"limited"}
//! {"frame":0,"lut":[0,1,2]}
//! {"frame":25,"lut":[0,2,4]}
//! ```
//!
//! (with 256 codes each). The first curve is also that of frames before its number, so that a file with one single
//! curve is for all frames.

mod apply;
mod lines;
mod load;
mod save;

pub use apply::KeptCurves;
pub use lines::Kind;
pub use load::CurveFile;
pub use save::CurveWriter;
