//! What many tests use: a way to run the program, readers of its files, pictures, backends, and the specification computed
//! independently. The binaries of `core` and `laboratory` take single files from here.

// The backends that tests of bytes go through.
pub mod backends;
// Clips that are made once.
pub mod clips;
// Pages.
pub mod documents;
// Backends that fail.
pub mod failing;
// A client of the web views.
pub mod http;
// Files that are kept from run to run.
pub mod kept_files;
// Where samples of a format lie.
pub mod layout;
// A library that is loaded before the program.
pub mod loaded;
// Pictures to equalize.
pub mod pictures;
// The program in a folder of its own.
pub mod program;
// Numbers by chance.
pub mod random;
// FFmpeg's own tools and libraries.
pub mod reader;
// Programs that run beside a test.
pub mod running;
// Skips.
pub mod skip;
// Equalization by the textbook.
pub mod textbook;
// A file system that is soon full.
pub mod tiny_disk;

/// The program under test, and the variable that names another one.
pub const PROGRAM: (&str, &str) = ("HISTEQ_BIN", env!("CARGO_BIN_EXE_histeq-video"));
