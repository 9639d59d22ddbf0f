//! The program: its command line, its messages, its looks, videos in pieces, and malicious input. `inside` tests the
//! program's private modules, as unit tests.

// Damaged files, full disks, folders that cannot be written to.
mod bad_input;
// `bench`.
mod bench;
// Help, completions, man page, overwriting, `-q`.
mod command_line;
// `compare`.
mod compare;
// `--save-curves`, `--load-curves`.
mod curves;
// Decoded outputs against the specification.
mod decoded_files;
// Configuration files, presets, the environment.
mod defaults;
// `--dry-run`, `--version --json`.
mod dry_run;
// Exit codes.
mod errors;
// `--progress json`.
mod events;
// A GPU that is being opened, or missing.
mod gpu_opening;
// Malicious input and a hostile system.
pub mod harm;
// Mistakes of people who do not know the program.
mod hints;
// `plan`, `run`, `join`, `--jobs`.
mod in_pieces;
// Ctrl-C and SIGTERM.
pub mod interrupt;
// `--unchanged`.
mod left_as_it_is;
// Linear data of telescopes.
mod linear_light;
// `--log`.
mod log;
// The output of looks and methods.
mod looks;
// `--mask`.
mod mask;
// Files that an input names, which no output replaces.
mod named_inputs;
// Words whose meaning differs from what users expect.
mod mistaken;
// File names that are not UTF-8.
mod not_text;
// `--output-depth`.
mod output_depth;
// `--palette`, `--colour-bar`, `--range`.
mod palettes;
// `--start`, `--duration`, `--frames`.
mod parts;
// `preview`.
mod preview;
// Existing files, links, disks, several outputs.
mod safe_outputs;
// The scripts in `samples/users`.
mod sample_scripts;
// `--smooth scene`.
mod scene_lock;
// Completions in real shells.
mod shells;
// A slow GPU driver.
mod slow_driver;
// `--stats`.
mod stats;
// `.cube` files and `--lut`.
mod tables;
// The progress bar and messages, on terminals and in logs.
mod terminal;
