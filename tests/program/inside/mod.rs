//! Tests of the program's own modules, which no other crate sees: a part of its unit tests.

#[cfg(all(target_env = "gnu", not(sanitizer)))]
mod c_memory;
#[path = "../../support/documents.rs"]
mod documents;
mod pages;
mod parsers;
#[path = "../../support/random.rs"]
mod random;
