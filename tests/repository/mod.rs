//! The repository itself: its pages, the figures in them, and rules of its sources.

// Lists of files in CONTRIBUTING.md.
mod contributing;
// Figures in pages beside the results.
mod figures;
// Pages: size, links, examples.
mod pages;
// Rules of the sources.
mod sources;
