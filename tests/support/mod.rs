//! Helpers of many tests: running the program, reading its files, pictures, backends, and an independent implementation
//! of the specification. The binaries of `core` and `laboratory` use single files of this folder.

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
// Running the program in a separate folder.
pub mod program;
// Random numbers.
pub mod random;
// Readers of files: FFmpeg's tools and libraries.
pub mod reader;
// Programs that run during a test.
pub mod running;
// Skipped tests.
pub mod skip;
// A slow implementation of the specification.
pub mod textbook;
// A tiny file system.
pub mod tiny_disk;

/// The environment variable that names the program under test, and the default program.
pub const PROGRAM: (&str, &str) = ("HISTEQ_BIN", env!("CARGO_BIN_EXE_histeq-video"));
