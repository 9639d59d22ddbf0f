//! The laboratory of `histeq-video`, a separate program: the kernels of five published equalizers on the product's
//! loader and launcher, and the suites that measure them and the product.
//!
//! | module | what it is | may use |
//! |---|---|---|
//! | [`publications`] | the kernels of five published equalizers | |
//! | [`mod@bench`] | measuring this machine: suites, tables, published figures | publications |
//! | [`command_line`] | the program `histeq-lab`: options, files, signals, exit codes | publications, bench |

pub mod bench;
pub mod command_line;
pub mod publications;
