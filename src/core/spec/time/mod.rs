//! Frames in time: scenes, windows, and the frames behind.
//!
//! | file | what it is |
//! |---|---|
//! | `cuts` | where scenes change |
//! | `scenes`, `window` | windows over the frames of a scene |
//! | `temporal`, `look_ahead` | decisions for each frame, some frames behind |
//! | `whole_scenes` | one curve for all of a scene |

pub mod cuts;
pub(crate) mod look_ahead;
pub(crate) mod scenes;
pub(crate) mod temporal;
pub(crate) mod whole_scenes;
pub(crate) mod window;

pub use cuts::Change;
pub use look_ahead::LookAhead;
pub use scenes::{EvictedFrame, SceneWindows, WindowUpdate};
pub use temporal::{Counts, Decision, Remembered, Scene, Temporal};
pub use whole_scenes::{MappedScene, MappedScenes, WholeScenes};
pub use window::WindowSums;
