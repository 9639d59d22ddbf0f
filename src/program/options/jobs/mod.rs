//! The options of each command, and the job that they become.
//! | file | what it is |
//! |---|---|
//! | `file.rs`, `many.rs` | a file; many cores and many files |
//! | `pieces.rs` | `plan`, `run`, `join` and `status` |
//! | `live.rs`, `cameras.rs` | `live`; the file of cameras of `live --config` |
//! | `compare.rs`, `preview.rs`, `work.rs` | `compare`, `preview`, `web` |

pub(crate) mod cameras;
pub(crate) mod compare;
pub(crate) mod file;
pub(crate) mod live;
pub(crate) mod many;
pub(crate) mod pieces;
pub(crate) mod preview;
pub(crate) mod work;

pub use cameras::{Camera, CameraFile};
pub use compare::{CompareJob, CompareView};
pub use file::{FileJob, StatsFormat};
pub use live::{LiveJob, Scheduled};
pub use many::{Jobs, ManyJob, Unchanged, is_video_name};
pub use pieces::{JoinJob, PlanJob, PlannedFile, RunJob, StatusArgs};
pub use preview::{LookRow, PreviewJob, ReadyCommand};
pub use work::{Chosen, WorkJob};
