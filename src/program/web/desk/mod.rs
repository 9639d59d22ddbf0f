//! The page that equalizes files of a folder.
//! | file | what it is |
//! |---|---|
//! | `work.rs` | what the page may ask for |
//! | `folder.rs`, `small.rs` | the files and folders that it may see, and small pictures of them |
//! | `uploads.rs` | files that are dropped on it |
//! | `queue.rs` | the queue of files to equalize, each by a child process |

pub(crate) mod folder;
pub(crate) mod queue;
mod small;
pub(crate) mod uploads;
pub(crate) mod work;

pub use folder::Shelf;
pub use queue::Queue;
pub use uploads::Uploads;
pub use work::{Work, open_on_desktop};
