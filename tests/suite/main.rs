//! The integration tests, one binary. A module tests a module of the program, or helps the others to.

#[path = "../helpers/backends.rs"]
mod backends;
mod bad_input;
mod bench;
mod cameras;
mod chroma;
mod clahe;
mod clips;
mod command_line;
mod compare;
mod cuda;
mod curves;
mod cuts;
mod defaults;
mod depth;
mod device_surfaces;
mod engine;
mod events;
mod everywhere;
#[path = "../helpers/failing.rs"]
mod failing;
mod failover;
mod figures;
mod filters;
mod formats;
mod frame;
mod front;
mod fused_kernels;
mod grid;
mod guided;
mod harm;
#[path = "../helpers/host_program.rs"]
mod host_program;
mod images;
mod in_pieces;
mod in_place;
mod interrupt;
mod kept;
mod kept_files;
mod kernel_arguments;
mod kernel_arithmetic;
mod layering;
mod layout;
mod live;
mod looks;
mod masks;
mod modifiers;
mod nvdec;
mod pages;
#[path = "../helpers/pictures.rs"]
mod pictures;
mod pieces;
mod pipes;
mod preview;
mod program;
#[path = "../helpers/random.rs"]
mod random;
mod reader;
mod running;
mod safe_outputs;
mod scene_lock;
#[path = "../helpers/skip.rs"]
mod skip;
mod slow_driver;
mod spec;
mod stats;
mod terminal;
mod textbook;
mod tone;
mod users;
mod variant_kernels;
mod variants;
mod warm_up;
mod whole_files;
mod window;
