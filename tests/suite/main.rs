//! The tests that run the program, and those of `histeq-media`, one binary.

#[path = "../helpers/backends.rs"]
mod backends;
mod bad_input;
mod bench;
mod cameras;
mod clips;
mod command_line;
mod compare;
mod contributing;
mod curves;
mod defaults;
mod depth;
#[path = "../helpers/documents.rs"]
mod documents;
mod dry_run;
mod engine;
mod errors;
mod events;
mod everywhere;
#[path = "../helpers/failing.rs"]
mod failing;
mod failover;
mod figures;
mod filters;
mod formats;
mod from_c;
mod front;
mod harm;
mod images;
mod in_pieces;
mod in_place;
mod interrupt;
mod kept;
#[path = "../helpers/kept_files.rs"]
mod kept_files;
mod layout;
mod live;
mod log;
mod looks;
mod masks;
mod nvdec;
mod pages;
#[path = "../helpers/pictures.rs"]
mod pictures;
mod pieces;
mod pipes;
mod preview;
mod program;
mod python;
#[path = "../helpers/random.rs"]
mod random;
mod reader;
mod running;
mod safe_outputs;
mod scene_lock;
mod sequences;
mod shells;
#[path = "../helpers/skip.rs"]
mod skip;
mod slow_driver;
mod sources;
mod stacks;
mod stats;
mod terminal;
mod textbook;
mod typed;
mod users;
mod variants;
mod warm_up;
mod whole_files;
