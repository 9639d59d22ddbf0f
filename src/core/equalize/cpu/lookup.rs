//! A curve as a lookup table for rows of 16-bit words in their stored form (byte order, unused low bits).

use super::word_histogram::WORDS;
use crate::frame::{Endian, Sample, in_byte_order};
use crate::spec::curves::Curve;

/// The output word for each stored word.
pub struct Lookup {
    /// The word to store for each code, in the sample's own shift and byte order. Codes above the depth have the same
    /// entry as the highest code.
    pub table: Box<[u16; WORDS]>,
    /// Byte order of the input words.
    pub endian: Endian,
    /// Unused low bits of the input words.
    pub shift: u8,
    /// Significant bits of a code.
    pub depth: u8,
}

impl Lookup {
    /// An empty table; call [`set`](Lookup::set) before use.
    pub fn new() -> Self {
        let Ok(table) = vec![0; WORDS].into_boxed_slice().try_into() else { unreachable!("WORDS entries were made") };
        Lookup { table, endian: Endian::Little, shift: 0, depth: 16 }
    }

    /// Fills the table with `curve`, for samples that are stored like `sample`.
    pub fn set(&mut self, curve: &Curve, sample: Sample) {
        let stored =
            |code: u16| in_byte_order!(sample.endian, |_, write| u16::from_ne_bytes(write(code << sample.shift)));
        let codes = curve.codes();
        for (entry, &code) in self.table.iter_mut().zip(codes) {
            *entry = stored(code);
        }
        // Words shifted right by `shift` are below this.
        let reachable = WORDS >> sample.shift;
        if let Some(&highest) = codes.last() {
            self.table[codes.len()..reachable].fill(stored(highest));
        }
        (self.endian, self.shift, self.depth) = (sample.endian, sample.shift, sample.depth);
    }
}
