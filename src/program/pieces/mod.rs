//! One video in pieces: planned once, worked on by any number of processes and machines, and joined to what one run gives.
//!
//! | file | what it is |
//! |---|---|
//! | `plan.rs` | the plan: files, their pieces, and what each piece is made from |
//! | `times.rs` | the times of all frames, short |
//! | `joining.rs` | which packet of which piece comes next, and when |
//! | `records.rs` | measurements and curves of pieces, in one file |

pub mod jobs;
mod joining;
mod plan;
pub mod processes;
mod records;
mod times;

pub use joining::{Joining, PieceState, is_intact, state_of};
pub use plan::{FilePlan, PieceLength, Plan, Planning, hash_of_file};
pub use records::{hashes_of_records, join_curves, join_stats};
pub use times::Times;
