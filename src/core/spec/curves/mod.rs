//! Counts become a curve: histogram, contrast limit, levels, detail.
//!
//! | file | what it is |
//! |---|---|
//! | `histogram`, `modifiers` | counts of levels, and what is done to them: bins, plateau, contrast limit |
//! | `levels`, `tone` | the levels in use, and the range that they become |
//! | `curve`, `mapping` | a level for each level, and what is applied to a frame |
//! | `equalization` | the steps from counts to what is applied |
//! | `detail` | the method `detail` |

pub(crate) mod curve;
pub mod detail;
pub(crate) mod equalization;
pub(crate) mod histogram;
pub(crate) mod levels;
pub(crate) mod mapping;
pub mod modifiers;
pub mod tone;

pub use curve::Curve;
pub use equalization::{CurveStep, Equalization, TileStep};
pub use histogram::Histogram;
pub use levels::Levels;
pub use mapping::Mapping;
pub use tone::{Line, Tone};
