//! The repository itself: its pages, the figures in them, and rules of its sources.

mod contributing;
mod figures;
mod pages;
mod sources;
