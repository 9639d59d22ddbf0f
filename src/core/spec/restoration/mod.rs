//! Light that flickers, films that have faded, faint video, noise.

pub mod deflicker;
pub mod faint;
pub mod film;
pub(crate) mod film_changes;
pub mod flicker;
pub mod noise;
