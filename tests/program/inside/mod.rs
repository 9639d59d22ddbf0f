//! Tests of the program's own modules, which no other crate sees: a part of its unit tests.

// Memory that returns to the system.
#[cfg(all(target_env = "gnu", not(sanitizer)))]
mod c_memory;
// Helper.
#[path = "../../support/documents.rs"]
mod documents;
// The list of options in the pages.
mod pages;
// Parsers on any bytes.
mod parsers;
// Helper.
#[path = "../../support/random.rs"]
mod random;
