//! The integration tests, one binary: a module a room, and helpers.

mod backends;
mod bad_input;
mod command_line;
mod cuda;
mod engine;
mod fallback;
mod formats;
mod frame;
mod grid;
mod images;
mod interrupt;
mod kept;
mod kernel_arithmetic;
mod layout;
mod live;
mod pictures;
mod pipes;
mod program;
mod reader;
mod rooms;
mod running;
mod skip;
mod spec;
mod textbook;
mod whole_files;
mod window;
