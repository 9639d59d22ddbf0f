//! Launchers of the kernels that remove noise.

pub(crate) mod merge;
pub(crate) mod motion;
pub(crate) mod pyramid;

pub(in crate::cuda) use merge::MergeLauncher;
pub(in crate::cuda) use motion::{MotionLauncher, MotionSearch, Parents};
pub(in crate::cuda) use pyramid::PyramidLauncher;
