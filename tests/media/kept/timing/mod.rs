//! Time stamps, clocks that jump, clocks of broadcasts.

// Clocks that jump.
mod jumps;
// PCR and SCR.
mod system_clock;
// Time stamps.
mod times;
