//! The kernels for NEON, which every aarch64 has. What the compiler makes of the plain kernels is NEON, too; only table
//! lookups gain by hand: one instruction looks 16 bytes up in the 64 bytes of four registers.

#![allow(unsafe_code, reason = "vector loads and stores, and functions compiled for NEON")]

use super::scalar;
use std::arch::aarch64::*;

pub fn map_bytes(source: &[u8], target: &mut [u8], table: &[u8; 256]) {
    // SAFETY: every aarch64 has NEON.
    unsafe { look_up(source, target, table, vdupq_n_u8(0xff)) };
    let done = source.len().min(target.len()) / 16 * 16;
    scalar::map_bytes(&source[done..], &mut target[done..], table);
}

pub fn map_every_other(source: &[u8], target: &mut [u8], table: &[u8; 256], offset: usize) {
    let chosen = if offset & 1 == 0 { 0x00ff } else { 0xff00 };
    // SAFETY: as in `map_bytes`.
    unsafe { look_up(source, target, table, vreinterpretq_u8_u16(vdupq_n_u16(chosen))) };
    let done = source.len().min(target.len()) / 16 * 16;
    scalar::map_every_other(&source[done..], &mut target[done..], table, offset);
}

/// Looks up the bytes that `mask` chooses and copies the others, in whole vectors of 16; the rest is left.
#[target_feature(enable = "neon")]
fn look_up(source: &[u8], target: &mut [u8], table: &[u8; 256], mask: uint8x16_t) {
    let quarters: [uint8x16x4_t; 4] = std::array::from_fn(|quarter| {
        // SAFETY: the 64 bytes from 64 * quarter on lie inside the 256 of `table`.
        unsafe { vld1q_u8_x4(table.as_ptr().add(64 * quarter)) }
    });
    for (source, target) in source.as_chunks::<16>().0.iter().zip(target.as_chunks_mut::<16>().0) {
        // SAFETY: `source` is 16 bytes; the load needs no alignment.
        let bytes = unsafe { vld1q_u8(source.as_ptr()) };
        // An index beyond the 64 bytes of a quarter leaves what the quarters before it have found.
        let mut found = vqtbl4q_u8(quarters[0], bytes);
        found = vqtbx4q_u8(found, quarters[1], veorq_u8(bytes, vdupq_n_u8(64)));
        found = vqtbx4q_u8(found, quarters[2], veorq_u8(bytes, vdupq_n_u8(128)));
        found = vqtbx4q_u8(found, quarters[3], veorq_u8(bytes, vdupq_n_u8(192)));
        // SAFETY: `target` is 16 bytes; the store needs no alignment.
        unsafe { vst1q_u8(target.as_mut_ptr(), vbslq_u8(mask, found, bytes)) };
    }
}
