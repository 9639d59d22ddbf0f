//! Levels and colours by options beside the look: curves, tables, palettes, masks, depth; and their statistics.

// `--save-curves`, `--load-curves`.
mod curves;
// Decoded outputs against the specification.
mod decoded_files;
// Linear data of telescopes.
mod linear_light;
// `--log`.
mod log;
// `--mask`.
mod mask;
// `--output-depth`.
mod output_depth;
// `--palette`, `--colour-bar`, `--range`.
mod palettes;
// `--smooth scene`.
mod scene_lock;
// `--stats`.
mod stats;
// `.cube` files and `--lut`.
mod tables;
