//! Running programs: the one under test, others, a client of web views.

// A client of the web views.
pub mod http;
// Programs that are loaded once and forked for each run.
pub mod loaded;
// Running the program in a separate folder.
pub mod program;
// Programs that run during a test.
pub mod running;
// A tiny file system.
pub mod tiny_disk;
