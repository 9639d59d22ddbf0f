//! Hashes of what was read and written.

use serde::{Deserialize, Serialize};
use std::io::{Result, Write};
use xxhash_rust::xxh3::Xxh3;

/// A hash (XXH3, 64 bits), in hexadecimal digits where it is stored.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct Hash(pub u64);

impl From<Hash> for String {
    fn from(hash: Hash) -> Self {
        format!("{:016x}", hash.0)
    }
}

impl TryFrom<String> for Hash {
    type Error = std::num::ParseIntError;

    fn try_from(text: String) -> std::result::Result<Self, Self::Error> {
        u64::from_str_radix(&text, 16).map(Hash)
    }
}

/// Computes a hash of bytes that are added in parts.
#[derive(Clone, Default)]
pub struct Hasher(Box<Xxh3>);

impl Hasher {
    /// Adds bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The hash of all bytes that were added.
    pub fn hash(&self) -> Hash {
        Hash(self.0.digest())
    }
}

impl Write for Hasher {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.add(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}
