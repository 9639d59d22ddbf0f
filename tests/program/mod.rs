//! The program: its command line, its messages, its looks, videos in pieces, and harmful input. `inside` has the tests of
//! its private modules, which are unit tests of the program.

mod bad_input;
mod command_line;
mod compare;
pub mod curves;
mod decoded_files;
mod defaults;
mod dry_run;
mod errors;
mod events;
mod gpu_opening;
pub mod harm;
mod hints;
mod in_pieces;
pub mod interrupt;
mod linear_light;
mod log;
mod looks;
mod mask;
mod output_depth;
mod palettes;
mod parts;
mod preview;
mod safe_outputs;
mod sample_scripts;
mod scene_lock;
mod shells;
mod slow_driver;
mod stats;
mod tables;
mod terminal;
