//! Pictures: single images, animated ones, numbered ones, stacks.

// Single images, and animated ones.
mod images;
// Numbered images.
mod sequences;
// TIFF of many pages, FITS, SER.
mod stacks;
