//! Commands beside the one for a file: `bench`, `compare`, `preview`, and videos in parts and pieces.

// `bench`.
mod bench;
// `compare`.
mod compare;
// `plan`, `run`, `join`, `--jobs`.
mod in_pieces;
// `--start`, `--duration`, `--frames`.
mod parts;
// `preview`.
mod preview;
