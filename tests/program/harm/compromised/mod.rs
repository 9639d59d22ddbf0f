//! Decoders that were taken over, crash, hang or lie, and the walls around them.

// A decoder that crashes or hangs.
pub mod isolation;
// A decoder or encoder that sends wrong messages, or none.
mod liars;
// A compromised decoder.
mod sandbox;
// Actions that the sandboxes prevent.
mod walls;
