//! Two videos as one (`compare`): side by side or split, with their histograms and the curve between them.
//!
//! ```text
//! source A ─┐
//!           ├─ Pair: frames that are shown together ──> Comparer: one picture of both ──> sink
//! source B ─┘
//! ```

mod comparer;
mod layout;
mod pair;

pub use comparer::Comparer;
pub use layout::View;
pub use pair::Pair;
