//! One video in pieces: planned once, worked on by any number of processes and machines, and joined to the file that a
//! run without pieces would write.
//!
//! | file | what it is |
//! |---|---|
//! | `plan.rs` | the plan: files, their pieces, and what each piece is made from |
//! | `times.rs` | the times of all frames, run-length encoded |
//! | `folder.rs` | the folder of the pieces: which of them exist and are valid |
//! | `joining.rs` | the order and the times of the packets of all pieces |
//! | `records.rs` | measurements and curves of pieces, in one file |
//! | `processes.rs` | child processes, and their events |
//! | `jobs.rs` | `--jobs`: one video by several processes |
//! | `batch.rs` | `--output-dir`: many files |

mod batch;
mod child;
mod folder;
mod jobs;
mod joining;
mod plan;
mod processes;
mod records;
mod times;

pub use batch::{failure_of, make_folder_of, run_batch};
pub use child::{ChildEnd, ChildError, ChildRun, ProcessOutput, TRY_AGAIN, as_strict_and_verbose};
pub use folder::{PieceFolder, PieceState, file_of_piece, files_of_records, hash_of, hashes_of_records, make_folder};
pub use jobs::{most_jobs, run_jobs};
pub use joining::Joining;
pub use plan::{FilePlan, PieceLength, Plan, Planning};
pub use processes::ProcessPool;
pub use records::join_records;
pub use times::Times;
