//! Bytes in and out at speed: pipes with large buffers, reads that can be interrupted, writes of whole planes; and the
//! names of files in a row, URLs, lines on stderr. Nothing here knows what the bytes mean.

mod fifo;
mod numbered;
mod reader;
mod terminal;
mod url;
#[cfg(target_os = "linux")]
mod virtual_camera;
mod writer;

pub use fifo::{is_fifo, is_pipe, open_for_reader};
pub use numbered::{escaped_pattern, number_pattern, numbered, numbers_there};
pub use reader::Reader;
pub use terminal::{print_line, print_text, printable};
pub use url::{host, without_password};
#[cfg(target_os = "linux")]
pub use virtual_camera::HeldVirtualCamera;
pub use writer::Writer;

/// What `F_SETPIPE_SZ` is asked for: the most that Linux gives anybody by default. The fewer times two programs at
/// either end of a pipe wake each other, the faster it is.
#[cfg(target_os = "linux")]
const PIPE_SIZE: usize = 1 << 20;

/// Makes a pipe's buffer as large as it gets; whatever is no pipe, or refuses, stays as it is.
#[cfg(target_os = "linux")]
fn enlarge_pipe(file: &impl std::os::fd::AsFd) {
    let _ = rustix::pipe::fcntl_setpipe_size(file, PIPE_SIZE);
}

#[cfg(not(target_os = "linux"))]
fn enlarge_pipe<F>(_file: &F) {}
