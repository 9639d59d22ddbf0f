//! The repository itself: its pages, the figures in them, and rules for its sources.

// The public API of the library.
mod api;
// Lists of files in CONTRIBUTING.md.
mod contributing;
// Figures in pages, compared with the results.
mod figures;
// Rules for names.
mod names;
// Pages: size, links, examples.
mod pages;
// Rules for source files.
mod sources;
