//! Tests of the program's own modules, which no other crate sees: a part of its unit tests.

#[path = "../helpers/documents.rs"]
mod documents;
mod pages;
mod parsers;
#[path = "../helpers/random.rs"]
mod random;
