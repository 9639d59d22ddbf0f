//! Divides the packets of a video into chunks, and compares chunks that are read again.

use crate::ffmpeg::Packet;
use crate::ffmpeg::demux::Stream;
use crate::source::file::parallel::clean_start::{KeyFrameCodec, PacketStart};
use crate::source::packets::{Chunk, PacketSurvey, PlannedPart};
use crate::sys::{Hash, Hasher};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// The fewest packets of a chunk, if it does not end the video.
const MIN_PACKETS: u32 = 12;

/// A chunk ends when it has this many packets, or this many bytes.
const MAX_PACKETS: u32 = 600;
const MAX_BYTES: usize = 64 << 20;

/// Codecs with dependent frames, whose decoders can begin at any packet that is marked as a key frame.
const CLEAN_KEYS: [&str; 7] = ["ffv1", "mpeg1video", "mpeg2video", "mpeg4", "ffvhuff", "huffyuv", "theora"];

/// Surveys the packets of an input, in their order.
pub struct Surveyor {
    /// `None` where the container marks the key frames.
    key_frames: Option<KeyFrameCodec>,
    parameter_sets: Option<Vec<u8>>,
    current: Current,
    /// The latest time of a packet so far.
    latest: i64,
    others: Hasher,
    has_others: bool,
}

/// The chunk that is being read.
#[derive(Default)]
struct Current {
    packets: u32,
    bytes: usize,
    start: Option<i64>,
    hash: Hasher,
}

impl Current {
    fn add(&mut self, packet: &Packet) {
        self.packets += 1;
        self.bytes += packet.len();
        digest(&mut self.hash, packet);
    }

    fn end(&mut self) -> Chunk {
        let Current { packets, start, hash, .. } = std::mem::take(self);
        Chunk { packets, start, hash: hash.hash() }
    }
}

impl Surveyor {
    /// A surveyor for an input with this video; the reason if its decoders cannot begin in the middle.
    pub fn new(video: &Stream) -> Result<Self, String> {
        let key_frames = KeyFrameCodec::for_stream(video);
        if key_frames.is_none() && !video.is_intra_only() && !CLEAN_KEYS.contains(&video.codec.as_str()) {
            return Err(format!("decoders cannot begin in the middle of {}", video.codec));
        }
        Ok(Surveyor {
            key_frames,
            parameter_sets: None,
            current: Current::default(),
            latest: i64::MIN,
            others: Hasher::default(),
            has_others: false,
        })
    }

    /// Adds a packet of another stream.
    pub fn add_other(&mut self, packet: &Packet) {
        self.has_others = true;
        digest(&mut self.others, packet);
    }

    /// Adds the next packet of the video.
    pub fn add(&mut self, packet: &Packet, survey: &mut PacketSurvey) {
        let Some(time) = packet.pts() else {
            survey.obstacle.get_or_insert_with(|| "not all of its packets have times".to_owned());
            return;
        };
        if packet.is_corrupt() || packet.changes_decoder() {
            survey.obstacle.get_or_insert_with(|| "it is damaged, or changes its kind midway".to_owned());
        }
        let PacketStart { is_clean, parameter_sets } = match self.key_frames {
            Some(codec) => codec.start(packet.data()),
            None => PacketStart { is_clean: packet.is_key(), parameter_sets: Vec::new() },
        };
        let known = self.parameter_sets.get_or_insert_with(|| parameter_sets.clone());
        let is_same = *known == parameter_sets || parameter_sets.is_empty() && known.is_empty();
        let is_first = survey.chunks.is_empty() && self.current.packets == 0;
        let is_start = is_clean && packet.is_key() && !packet.is_hidden() && is_same && time > self.latest;
        let Current { packets, bytes, .. } = self.current;
        if is_start && packets >= MIN_PACKETS || packets >= MAX_PACKETS || bytes >= MAX_BYTES {
            survey.chunks.push(self.current.end());
        }
        if self.current.packets == 0 && (is_start || is_first) {
            self.current.start = Some(time);
        }
        self.latest = self.latest.max(time);
        self.current.add(packet);
        if !packet.is_hidden() {
            survey.times.push(time);
        }
    }

    /// Ends the survey.
    pub fn end(&mut self, survey: &mut PacketSurvey) {
        if self.current.packets > 0 {
            survey.chunks.push(self.current.end());
        }
        survey.others = if self.has_others { self.others.hash() } else { Hash::default() };
    }
}

/// Compares the packets of a video, from a chunk on, with those that were surveyed.
pub struct ChunkCheck {
    due: VecDeque<Chunk>,
    read: u32,
    hash: Hasher,
    /// Whether a packet differs from the surveyed one.
    pub differs: bool,
}

impl ChunkCheck {
    /// Expects the packets of these chunks.
    pub fn new(due: &[Chunk]) -> Self {
        ChunkCheck { due: due.iter().copied().collect(), read: 0, hash: Hasher::default(), differs: false }
    }

    /// Compares the next packet.
    pub fn add(&mut self, packet: &Packet) {
        let Some(chunk) = self.due.front() else {
            self.differs = true;
            return;
        };
        digest(&mut self.hash, packet);
        self.read += 1;
        if self.read == chunk.packets {
            self.differs |= self.hash.hash() != chunk.hash;
            self.due.pop_front();
            (self.read, self.hash) = (0, Hasher::default());
        }
    }

    /// Whether a chunk has been read in part.
    pub fn is_inside(&self) -> bool {
        self.read > 0
    }

    /// Whether all expected chunks have been read.
    pub fn is_over(&self) -> bool {
        self.due.is_empty()
    }
}

/// A reading of all packets of a file, without decoding.
pub struct Survey {
    pub surveyor: Surveyor,
    pub found: Arc<Mutex<PacketSurvey>>,
}

impl Survey {
    /// Stores how many frames before and after the part are requested.
    pub fn look_around(&self, before: u32, behind: u32) {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).around = (before, behind);
    }
}

/// A part whose packets are known, while it is read.
pub struct Planned {
    pub part: Arc<PlannedPart>,
    /// How many of its frames are decoded.
    pub arrived: usize,
}

/// Hashes what decoders receive of a packet. Decoding times are left out: after a seek, demuxers may not know them.
fn digest(hash: &mut Hasher, packet: &Packet) {
    let flags = u8::from(packet.is_key()) | u8::from(packet.is_hidden()) << 1;
    hash.add(&packet.pts().unwrap_or(i64::MIN).to_le_bytes());
    hash.add(&(packet.len() as u64).to_le_bytes());
    hash.add(&[flags, packet.stream() as u8]);
    hash.add(packet.data());
}
