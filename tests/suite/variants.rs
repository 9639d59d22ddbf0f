//! Kernel variants.
