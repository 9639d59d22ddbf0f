//! The program: its command line, its messages, its looks, videos in pieces, and harmful input. `inside` has the tests of
//! its private modules, which are unit tests of the program.

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
// Decoded outputs beside the specification.
mod decoded_files;
// Configuration files, presets, the environment.
mod defaults;
// `--dry-run`, `--version --json`.
mod dry_run;
// Exit codes.
mod errors;
// `--progress json`.
mod events;
// A GPU that is opening, or missing.
mod gpu_opening;
// Input and surroundings that mean harm.
pub mod harm;
// Answers to what people type who do not know the program.
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
// What looks and methods do to pictures.
mod looks;
// `--mask`.
mod mask;
// Inputs that name other files, which are kept.
mod named_inputs;
// Words that mean something else here than users expect.
mod mistaken;
// Names whose bytes are no text.
mod not_text;
// `--output-depth`.
mod output_depth;
// `--palette`, `--colour-bar`, `--range`.
mod palettes;
// `--start`, `--duration`, `--frames`.
mod parts;
// `preview`.
mod preview;
// Files that are there, links, disks, several outputs.
mod safe_outputs;
// The scripts in `samples/users`.
mod sample_scripts;
// `--smooth scene`.
mod scene_lock;
// Completions in the shells themselves.
mod shells;
// A GPU driver that takes its time.
mod slow_driver;
// `--stats`.
mod stats;
// `.cube` files and `--lut`.
mod tables;
// The progress bar and messages, on terminals and in logs.
mod terminal;
