//! The program: its command line, its messages, its looks, videos in pieces, and harmful input. `inside` has the tests of
//! its private modules, which are unit tests of the program.

mod bad_input;
mod command_line;
mod compare;
pub mod curves;
mod defaults;
mod depth;
mod dry_run;
mod errors;
mod events;
mod failover;
mod faint;
pub mod harm;
mod in_pieces;
pub mod interrupt;
mod log;
mod looks;
mod masks;
mod palettes;
mod preview;
mod safe_outputs;
mod scene_lock;
mod shells;
mod slow_driver;
mod stats;
mod tables;
mod terminal;
mod typed;
mod users;
mod warm_up;
mod whole_files;
