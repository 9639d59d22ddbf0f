//! The repository itself: its pages, the figures in them, and rules of its sources.

// Lists of files in CONTRIBUTING.md.
mod contributing;
// Figures in pages beside the results.
mod figures;
// Names: none is a preposition; MAX and MIN.
mod names;
// Pages: size, links, examples.
mod pages;
// Rules of the sources.
mod sources;
