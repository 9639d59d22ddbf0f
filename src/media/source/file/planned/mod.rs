//! Packets that are surveyed first, and decoded as planned.

pub(crate) mod chunks;
mod packets;
