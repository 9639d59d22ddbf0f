//! The places that are written to, and files in the making.
//!
//! | file | what it is |
//! |---|---|
//! | `target.rs`, `ending.rs` | the files of a run, each under another name until it is whole |
//! | `place.rs` | what may be overwritten, and what stands in the way |
//! | `sources.rs` | which outputs are an input, or may be one |
//! | `temporary.rs`, `file_names.rs` | files in the making, and names beside a file's own |
//! | `together.rs` | outputs that get their names together |
//! | `power_loss.rs` | has a recording written to the disk while it grows |

mod ending;
pub(crate) mod file_names;
pub(crate) mod place;
pub(crate) mod power_loss;
pub(crate) mod sources;
pub(crate) mod target;
pub(crate) mod temporary;
pub(crate) mod together;

pub use file_names::{is_free, name_of, next_names};
pub use place::{Files, Overwrite, Skipped};
pub use sources::is_made_here;
pub use target::Target;
pub use temporary::Leftover;
pub use together::Together;
