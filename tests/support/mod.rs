//! What many tests use: a way to run the program, readers of its files, pictures, backends, and the specification computed
//! independently. The binaries of `core` and `laboratory` take single files from here.

pub mod backends;
pub mod clips;
pub mod documents;
pub mod failing;
pub mod http;
pub mod kept_files;
pub mod layout;
pub mod loaded;
pub mod pictures;
pub mod program;
pub mod random;
pub mod reader;
pub mod running;
pub mod skip;
pub mod textbook;
