//! What the rules depend on: settings, looks, and their names.

pub(crate) mod look;
pub(crate) mod named;
pub(crate) mod setters;
pub(crate) mod settings;
pub(crate) mod strength;

pub use look::{Look, LookParameters, MethodName};
pub use named::Named;
pub(crate) use named::named;
pub(crate) use setters::setters;
pub use settings::{
    Chroma, Cleaner, Denoise, Effort, Gain, Method, OutputDepth, Plateau, Rect, Region, Settings, Smoothing, Stretch,
    Threshold, WindowKind, bins,
};
pub use strength::Strength;
