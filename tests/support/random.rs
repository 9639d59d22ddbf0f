//! Random numbers from a seed, which tests print.
#![allow(dead_code, reason = "no test binary uses all of it")]

/// A new seed each run, or the one in `HISTEQ_SEED`.
pub fn seed() -> u64 {
    match std::env::var("HISTEQ_SEED") {
        Ok(seed) => seed.parse().expect("HISTEQ_SEED is a number"),
        Err(_) => std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos() as u64,
    }
}

/// A xorshift64 generator.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 16
    }

    /// A number from 0 to `end - 1`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}
