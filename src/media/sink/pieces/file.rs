//! The file of a piece: the packets of encoded video in order, followed by their description.
//!
//! ```text
//! packets | description (JSON) | its hash | its length | HEQPIECE
//! ```
//!
//! Hash and length have 8 bytes each, little-endian. The file is renamed to its final name only when it is complete. So
//! a file of this name is complete, even if the program was killed.

use crate::ffmpeg::Packet;
use crate::ffmpeg::encode::EncodedVideo;
use crate::pipeline::Outcome;
use crate::sink::files::target::Target;
use crate::sys::files::Name;
use crate::sys::{Hash, Hasher};
use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};

const MAGIC: &[u8; 8] = b"HEQPIECE";

/// The version of the format.
const VERSION: u32 = 1;

/// The largest description, in bytes.
const MAX_DESCRIPTION: u64 = 256 << 20;

/// The description of a piece.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PieceDescription {
    /// The version of the format.
    pub histeq_piece: u32,
    /// The hash of the work plan for the file that the piece belongs to.
    pub plan: Hash,
    /// The number of the piece in that file, from 0.
    pub piece: usize,
    /// How the video was encoded.
    pub video: EncodedVideo,
    /// Its packets.
    pub packets: Vec<KeptPacket>,
    /// The reordering delay of the encoder: the number of packets by which decoding times precede presentation times.
    pub delay: usize,
    /// The hash of all frames before encoding.
    pub frames: Hash,
    /// The hash of the bytes of all packets.
    pub bytes: Hash,
    /// The hashes of the accompanying files with measurements and with curves; `None` if there is no such file.
    pub records: [Option<Hash>; 2],
}

/// A packet: length in bytes, presentation time, duration, and whether it is a key frame.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub struct KeptPacket(pub u32, pub i64, pub i64, pub bool);

/// Writes the file of a piece.
pub(crate) struct PieceWriter {
    target: Target,
    file: BufWriter<File>,
    packets: Vec<KeptPacket>,
    /// The decoding times of the first packets, at most [`MAX_DELAY`].
    decoded: Vec<i64>,
    bytes: Hasher,
}

/// The longest reordering delay of an encoder, in packets.
const MAX_DELAY: usize = 64;

impl PieceWriter {
    pub fn create(mut target: Target) -> Result<Self> {
        let file = BufWriter::with_capacity(1 << 20, target.writer()?);
        Ok(PieceWriter { target, file, packets: Vec::new(), decoded: Vec::new(), bytes: Hasher::default() })
    }

    pub fn write(&mut self, packet: &Packet) -> Result<()> {
        let time = packet.pts().context("the encoder gives no times")?;
        let length = u32::try_from(packet.len())?;
        self.packets.push(KeptPacket(length, time, packet.duration(), packet.is_key()));
        self.decoded.extend(packet.dts().filter(|_| self.decoded.len() < MAX_DELAY));
        self.bytes.add(packet.data());
        self.file.write_all(packet.data()).with_context(|| format!("{}: cannot be written", self.target.name()))
    }

    /// The number of packets written so far.
    pub fn packets(&self) -> usize {
        self.packets.len()
    }

    /// Writes the description, and renames the file to its final name, which is returned.
    pub fn finish(
        mut self,
        (plan, piece): (Hash, usize),
        video: EncodedVideo,
        frames: Hash,
        records: [Option<Hash>; 2],
    ) -> Result<Name> {
        let (packets, bytes) = (std::mem::take(&mut self.packets), self.bytes.hash());
        let delay = delay(&packets, &self.decoded);
        let histeq_piece = VERSION;
        let description = PieceDescription { histeq_piece, plan, piece, video, packets, delay, frames, bytes, records };
        let text = serde_json::to_vec(&description)?;
        let end = [&text[..], &hash_of(&text), &(text.len() as u64).to_le_bytes(), MAGIC].concat();
        let written = self.file.write_all(&end).and_then(|()| self.file.flush());
        written.with_context(|| format!("{}: cannot be written", self.target.name()))?;
        drop(self.file);
        self.target.end(Outcome::Complete)
    }
}

fn hash_of(text: &[u8]) -> [u8; 8] {
    let mut hasher = Hasher::default();
    hasher.add(text);
    hasher.hash().0.to_le_bytes()
}

/// The reordering delay of the encoder that made `packets`; `decoded` are the decoding times of the first ones.
fn delay(packets: &[KeptPacket], decoded: &[i64]) -> usize {
    let mut shown: Vec<i64> = packets.iter().map(|packet| packet.1).collect();
    shown.sort_unstable();
    // With this delay, every frame is decoded before it is shown.
    let place = |time: i64| shown.partition_point(|other| *other < time);
    let least = packets.iter().enumerate().map(|(number, packet)| number.saturating_sub(place(packet.1))).max();
    let signalled = decoded.iter().position(|time| shown.first().is_some_and(|first| time >= first));
    least.unwrap_or(0).max(signalled.unwrap_or(0))
}

/// The file of a piece, open for reading.
pub struct PieceFile {
    /// The description of the piece.
    pub description: PieceDescription,
    name: String,
    file: BufReader<File>,
    /// The number of packets read so far.
    read: usize,
    bytes: Hasher,
}

impl PieceFile {
    /// Reads the description of a piece. `name` is the file's name in messages.
    ///
    /// # Errors
    /// When the file cannot be read, or is incomplete.
    pub fn from_file(mut file: File, name: String) -> Result<Self> {
        let description = describe(&mut file).with_context(|| format!("{name}: not a whole piece"))?;
        let file = BufReader::with_capacity(1 << 20, file);
        Ok(PieceFile { description, name, file, read: 0, bytes: Hasher::default() })
    }

    /// The next packet: its bytes, and its entry in the description.
    ///
    /// # Errors
    /// When it cannot be read; after the last packet, when the hash of all bytes is wrong.
    pub fn next_packet(&mut self) -> Result<Option<(Vec<u8>, KeptPacket)>> {
        let Some(&packet) = self.description.packets.get(self.read) else { return Ok(None) };
        self.read += 1;
        let mut bytes = vec![0; packet.0 as usize];
        self.file.read_exact(&mut bytes).with_context(|| format!("{}: cannot be read", self.name))?;
        self.bytes.add(&bytes);
        let is_last = self.read == self.description.packets.len();
        let is_right = !is_last || self.bytes.hash() == self.description.bytes;
        ensure!(is_right, "{}: damaged (remove it and run this piece again)", self.name);
        Ok(Some((bytes, packet)))
    }
}

/// Reads the description at the end of the file, and seeks to the first packet.
fn describe(file: &mut File) -> Result<PieceDescription> {
    let end = file.seek(SeekFrom::End(-24))?;
    let mut tail = [0; 24];
    file.read_exact(&mut tail)?;
    let (hash, rest) = tail.split_at(8);
    let (length, magic) = rest.split_at(8);
    let length = u64::from_le_bytes(length.try_into()?);
    ensure!(magic == MAGIC && length <= MAX_DESCRIPTION.min(end), "its end is missing");
    let start = file.seek(SeekFrom::Start(end - length))?;
    let mut text = vec![0; usize::try_from(length)?];
    file.read_exact(&mut text)?;
    ensure!(hash_of(&text) == hash, "its description is damaged");
    let description: PieceDescription = serde_json::from_slice(&text)?;
    ensure!(description.histeq_piece == VERSION, "it is of another version");
    let bytes: u64 = description.packets.iter().map(|packet| u64::from(packet.0)).sum();
    ensure!(bytes == start, "its packets are missing");
    file.seek(SeekFrom::Start(0))?;
    Ok(description)
}
