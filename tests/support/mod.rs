//! Helpers of many tests: running the program, reading its files, pictures, backends, and an independent implementation
//! of the specification. The binaries of `core` and `laboratory` use single files of this folder.

// The backends under test.
pub mod backends;
// The README and the pages in `docs`.
pub mod documents;
// Backends that fail.
pub mod failing;
// Files that are kept from run to run.
pub mod kept_files;
// Pictures to equalize.
pub mod pictures;
// Random numbers.
pub mod random;
// Skipped tests.
pub mod skip;
// Clips, readers of files, layouts of pixels, and a second implementation of the specification.
pub(crate) mod media;
// Running programs: the one under test, others, servers.
pub(crate) mod programs;

/// The environment variable that names the program under test, and the default program.
pub const PROGRAM: (&str, &str) = ("HISTEQ_BIN", env!("CARGO_BIN_EXE_histeq-video"));
