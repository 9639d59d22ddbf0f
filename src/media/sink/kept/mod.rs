//! What an output keeps of a file beside its picture: other streams and metadata.
//!
//! | file | what it is |
//! |---|---|
//! | `streams.rs`, `stream_choice.rs` | the other streams, and which of them are kept |
//! | `metadata.rs` | the metadata of file and streams |
//! | `table.rs` | which metadata of files each container keeps |

pub(crate) mod metadata;
pub(crate) mod stream_choice;
pub(crate) mod streams;
pub(crate) mod table;

pub use stream_choice::StreamChoice;
pub use table::{FileMetadata, KEPT, KEPT_OF_IMAGES};
