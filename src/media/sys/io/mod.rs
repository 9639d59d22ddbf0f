//! Bytes in and out: pipes with large buffers, reads that can be interrupted, writes of whole planes.

pub(crate) mod bounded;
pub(crate) mod descriptors;
pub(crate) mod fifo;
pub(crate) mod read_ahead;
pub(crate) mod reader;
pub(crate) mod writer;

pub use bounded::{at_most, with_elements};
pub use descriptors::close_but;
pub use fifo::{is_fifo, is_pipe, open_for_reader, stdout_pipe};
pub use read_ahead::{Filled, Filling};
pub use reader::Reader;
pub use writer::{PlaneWriter, stdout};
