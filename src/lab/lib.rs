//! The laboratory of `histeq-video`: the kernels of five published equalizers on the product's loader and launcher, and
//! the suites of `histeq-video bench`. The program has it by its feature `lab`, which is on by default.
//!
//! | module | what it is | may use |
//! |---|---|---|
//! | [`publications`] | the kernels of five published equalizers | |
//! | [`mod@bench`] | measuring this machine: suites, tables, plots, the figures of others | publications |

pub mod bench;
pub mod publications;
