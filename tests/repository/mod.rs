//! The repository itself: its pages, the figures in them, and rules for its sources.

// The public API of the library.
mod api;
// No file uses a file that uses it.
mod circles;
// Helper: the code as words.
mod code;
// Lists of files in CONTRIBUTING.md.
mod contributing;
// Figures in pages, compared with the results.
mod figures;
// Rules for names.
mod names;
// Pages: size, links, examples.
mod pages;
// How many files a folder has, how many lines a file and a function.
mod rooms;
// Rules for source files.
mod sources;
