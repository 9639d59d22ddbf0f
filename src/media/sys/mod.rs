//! Input and output of bytes: pipes with large buffers, reads that can be interrupted, writes of whole planes; also
//! names of files, numbered ones included, URLs, lines on stderr, the wall clock, and the end of a program that cannot
//! go on. It is independent of formats.

mod bounded;
mod by_name;
mod descriptors;
mod fifo;
mod give_up;
mod hash;
mod image_folder;
mod input_files;
mod limit;
mod name;
mod numbered;
mod open_folder;
mod private_folder;
mod read_ahead;
mod reader;
mod resident;
mod terminal;
mod url;
mod virtual_camera;
mod wall_clock;
mod writer;

pub use bounded::{at_most, with_elements};
pub use by_name::{
    by_descriptor, create_regular, is_same, open_no_link, open_regular, open_without_links, read_regular, read_whole,
};
pub use descriptors::close_but;
pub use fifo::{is_fifo, is_pipe, open_for_reader, stdout_pipe};
pub use give_up::{
    Allocator, end_is_explained, give_up, give_up_with, give_up_with_an_event, out_of_memory, stderr_has_events,
};
pub use hash::{Hash, Hasher};
pub use image_folder::{ImageFolder, is_image_name};
pub use input_files::{FileId, files_of_input, id_of, is_input, is_list_name, note_chain, note_input, path_of_input};
pub use limit::{limit_of, no_thread};
pub use name::{Name, folder_of};
pub use numbered::{number_pattern, numbered, numbers_there};
pub use open_folder::OpenFolder;
pub use private_folder::PrivateFolder;
pub use read_ahead::{Filled, Filling};
pub use reader::Reader;
pub use resident::Resident;
pub use terminal::{
    one_line, print_line, print_text, print_without_waiting, printable, printable_json, silence_libraries,
    stderr_is_terminal, terminal_columns, wait_until_printed, without_codes, without_middle,
};
pub use url::{host, without_password, without_passwords};
pub use virtual_camera::HeldVirtualCamera;
pub use wall_clock::{local_time, wall_time, zone_fault};
pub use writer::{PlaneWriter, stdout};

/// Bytes of a pipe's buffer (`F_SETPIPE_SZ`): the most that Linux allows without privileges by default. With a larger
/// buffer, the programs at both ends switch less often.
const PIPE_SIZE: usize = 1 << 20;

/// Enlarges a pipe's buffer. No effect if the file is not a pipe, or the system refuses.
fn enlarge_pipe(file: &impl std::os::fd::AsFd) {
    let _ = rustix::pipe::fcntl_setpipe_size(file, PIPE_SIZE);
}
