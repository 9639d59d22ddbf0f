//! Input and output of bytes: pipes with large buffers, reads that can be interrupted, writes of whole planes; also
//! names of files, numbered ones included, URLs, lines on stderr, the wall clock, and the end of a program that cannot
//! go on. It is independent of formats.

pub mod files;
pub(crate) mod give_up;
mod hash;
pub mod io;
mod limit;
mod resident;
mod terminal;
mod url;
mod virtual_camera;
mod wall_clock;

pub use give_up::{
    Allocator, end_is_explained, give_up, give_up_with, give_up_with_an_event, out_of_memory, stderr_has_events,
};
pub use hash::{Hash, Hasher};
pub use limit::{limit_of, no_thread};
pub use resident::Resident;
pub use terminal::{
    one_line, print_line, print_text, print_without_waiting, printable, printable_json, silence_libraries,
    stderr_is_terminal, terminal_columns, wait_until_printed, without_codes, without_middle,
};
pub use url::{host, without_password, without_passwords};
pub use virtual_camera::HeldVirtualCamera;
pub use wall_clock::{local_time, wall_time, zone_fault};

/// Bytes of a pipe's buffer (`F_SETPIPE_SZ`): the most that Linux allows without privileges by default. With a larger
/// buffer, the programs at both ends switch less often.
const PIPE_SIZE: usize = 1 << 20;

/// Enlarges a pipe's buffer. No effect if the file is not a pipe, or the system refuses.
fn enlarge_pipe(file: &impl std::os::fd::AsFd) {
    let _ = rustix::pipe::fcntl_setpipe_size(file, PIPE_SIZE);
}
