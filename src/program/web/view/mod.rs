//! What is looked at: live sources, and a file before it is equalized.
//! | file | what it is |
//! |---|---|
//! | `hub.rs` | sources, and who views them |
//! | `picture.rs`, `numbers.rs` | the video and the numbers that viewers of a source see |
//! | `viewed_file.rs` | a file that is looked at before it is equalized |
//! | `playing.rs` | media types, by which browsers are asked whether they can play a film |
//! | `metrics.rs` | the states of all sources for Prometheus |

pub(crate) mod hub;
pub(crate) mod metrics;
mod numbers;
pub(crate) mod picture;
pub(crate) mod playing;
pub(crate) mod viewed_file;

pub use hub::Viewed;
pub use viewed_file::ViewedFile;
