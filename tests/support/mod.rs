//! What many tests use: a way to run the program, readers of its files, pictures, backends, and the specification
//! computed independently. The binaries of `core` and `laboratory` take single files from here.

// The backends under test.
pub mod backends;
// Clips that several test modules use.
pub mod clips;
// The README and the pages in `docs`.
pub mod documents;
// Backends that fail.
pub mod failing;
// A client of the web views.
pub mod http;
// Files that are kept from run to run.
pub mod kept_files;
// The order of samples in each pixel format.
pub mod layout;
// Programs that are loaded once and forked for each run.
pub mod loaded;
// Pictures to equalize.
pub mod pictures;
// The program in a folder of its own.
pub mod program;
// Random numbers.
pub mod random;
// FFmpeg's own tools and libraries.
pub mod reader;
// Programs that run beside a test.
pub mod running;
// Skipped tests.
pub mod skip;
// Equalization by the textbook.
pub mod textbook;
// A file system that is soon full.
pub mod tiny_disk;

/// The environment variable that names the program under test, and the program if it is not set.
pub const PROGRAM: (&str, &str) = ("HISTEQ_BIN", env!("CARGO_BIN_EXE_histeq-video"));
