//! Local equalization: counts and curves of tiles, blended.

mod blend;
mod counters;
mod local;
