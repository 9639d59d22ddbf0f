//! Packets of a video that a first pass has recorded: a later run, on any machine, decodes a part of the file from
//! them, and gets the same frames.
//!
//! ```text
//! all packets -> PacketSurvey: times of all frames, chunks of packets with their hashes
//! PlannedPart: chunks, times of the frames -> decoded from the first chunk on; each chunk and each time is checked
//! ```

use crate::sys::Hash;
use crate::sys::files::Name;
use crate::sys::io::at_most;
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;
use std::sync::{Arc, Mutex};

/// What is done with an input.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub enum Reading {
    /// The requested part is decoded.
    #[default]
    Decoded,
    /// Nothing is decoded. Packets of other streams are delivered as usual, up to this moment if it is given
    /// (microseconds of the input's clock), with a delivery for about each second of the video. The survey collects the
    /// facts of the packets in the process that reads them.
    Packets(Option<i64>, #[serde(skip)] Arc<Mutex<PacketSurvey>>),
    /// A part whose packets are known is decoded; other streams are left out.
    Planned(#[serde(serialize_with = "PlannedPart::serialize", deserialize_with = "shared")] Arc<PlannedPart>),
}

fn shared<'de, D: Deserializer<'de>>(source: D) -> Result<Arc<PlannedPart>, D::Error> {
    PlannedPart::deserialize(source).map(Arc::new)
}

/// Packets of the video that follow each other in the file.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Chunk {
    /// The number of packets.
    pub packets: u32,
    /// The time of the chunk's first packet, a key frame, in the time base of the video, if a decoder that begins there
    /// gives the same frames from that time on as one that has read everything before.
    pub start: Option<i64>,
    /// The hash of the packets' bytes and times.
    pub hash: Hash,
}

/// The most frames of an input whose packets are collected: six days at 60 frames a second.
const MAX_TIMES: usize = 1 << 25;

/// What is collected from all packets of an input.
#[derive(Debug, Default, Deserialize, Serialize)]
pub struct PacketSurvey {
    /// The times of all frames that are shown, in the time base of the video, in the order of the file.
    #[serde(deserialize_with = "at_most::<_, _, MAX_TIMES>")]
    pub times: Vec<i64>,
    /// All packets of the video.
    pub chunks: Vec<Chunk>,
    /// The hash of the packets of all other streams.
    pub others: Hash,
    /// Why the file cannot be divided into parts, if so.
    pub obstacle: Option<String>,
    /// Whether timestamps jump, so that times after a seek differ from those of a reading from the beginning.
    pub jumps: bool,
    /// How many frames before and after the part were requested.
    pub around: (u32, u32),
}

/// A part of a video whose packets are known.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct PlannedPart {
    /// The times of the frames: those of the lead-in, of the part, and of the look-ahead.
    pub times: Vec<i64>,
    /// How many of `times` come before the part.
    pub before: usize,
    /// How many of `times` are in the part.
    pub within: usize,
    /// How many packets of the video are before the first chunk.
    pub skipped: u64,
    /// The chunks, from the one where decoding begins to the end of the video.
    pub chunks: Vec<Chunk>,
    /// Whether the times after a seek are those of a reading from the beginning.
    pub can_seek: bool,
}

/// The input is not the one that was planned.
#[derive(Debug, thiserror::Error)]
#[error("{0}: the input is not the one that was planned ({1}; plan again)")]
pub struct InputChanged(pub Name, pub Cow<'static, str>);
