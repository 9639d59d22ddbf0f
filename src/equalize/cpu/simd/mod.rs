//! The kernels, a table of them for each instruction set. A table is handed out only on a machine that can run it,
//! which is what makes its functions safe to call.
#![allow(unsafe_code, reason = "calls of functions that are compiled for one instruction set")]

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod blend;
mod chroma;
mod scalar;

use super::Isa;
use super::blend::{ByteCell, Shares};
use super::layout::PackedPixel;
use super::lookup::Lookup;
use super::word_histogram::WordHistogram;
use crate::frame::{Endian, Sample};
use crate::spec::Weights;
use crate::spec::chroma::Colours;

/// The kernels of one instruction set; `scalar.rs` says what each computes.
#[allow(missing_docs, clippy::type_complexity, reason = "each is the type of the function of its name")]
pub struct Kernels {
    pub take_bytes: fn(&mut WordHistogram) -> [u32; 256],
    pub every_other: fn(&[u8], usize, &mut [u8]),
    pub map_bytes: fn(&[u8], &mut [u8], &[u8; 256]),
    pub map_every_other: fn(&[u8], &mut [u8], &[u8; 256], usize),
    pub map_words: fn(&[u8], &mut [u8], &Lookup),
    pub luminance_packed: fn(&[u8], &PackedPixel, &mut [u8]),
    pub move_packed: fn(&[u8], &[u8], &[u8], &PackedPixel, &mut [u8]),
    pub luminance_bytes: fn([&[u8]; 3], Weights, &mut [u8]),
    pub move_bytes: fn(&[u8], &[u8], &[u8], &mut [u8]),
    pub luminance_words: fn([&[u8]; 3], Endian, u16, Weights, &mut [u16]),
    pub move_words: fn(&[u8], &[u16], &[u16], Endian, u16, &mut [u8]),
    pub set_every_other: fn(&[u8], usize, &mut [u8]),
    pub read_words: fn(&[u8], Sample, &mut [u16]),
    pub write_words: fn(&[u16], Sample, &mut [u8]),
    pub interleave: fn([&[u8; 256]; 4], &mut [u32; 256]),
    pub blend_bytes: fn(&[u8], &mut [u8], &ByteCell, &Shares),
    pub blend_words: fn(&[u16], &mut [u16], [&[u16]; 4], &Shares),
    pub mix_bytes: fn(&[u8], &mut [u8], u32),
    pub mix_words: fn(&[u16], &mut [u16], u32),
    pub sum_bytes: fn(&[u8], u16, u8, &mut [i32]),
    pub sum_words: fn(&[u16], u16, u8, &mut [i32]),
    pub scale_pairs: fn(&Colours, i32, [&[i32]; 2], [&mut [u16]; 2]),
    pub gather: fn(&[u8], Sample, [usize; 2], &mut [u16]),
    pub scatter: fn(&[u16], Sample, [usize; 2], &mut [u8]),
    pub rescale_packed: fn(&[u8], &[u8], &[u8], &PackedPixel, &mut [u8]),
    pub rescale_bytes: fn([&[u8]; 3], &[u8], &[u8], [&mut [u8]; 3]),
    pub rescale_words: fn([&[u8]; 3], &[u16], &[u16], Sample, [&mut [u8]; 3]),
}

impl Kernels {
    /// The kernels of `isa`; `None` on a machine that lacks it.
    pub fn of(isa: Isa) -> Option<&'static Kernels> {
        let kernels = match isa {
            Isa::Scalar => &scalar::KERNELS,
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => &avx2::KERNELS,
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => &avx512::KERNELS,
            #[cfg(not(target_arch = "x86_64"))]
            Isa::Avx2 | Isa::Avx512 => return None,
        };
        isa.is_available().then_some(kernels)
    }
}

/// Compiles the scalar kernels of these names once more, for a CPU with these features.
#[cfg(target_arch = "x86_64")]
macro_rules! compile_for {
    ($features:literal: $(fn $name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?;)*) => { $(
        fn $name($($argument: $type),*) $(-> $result)? {
            #[target_feature(enable = $features)]
            fn compiled($($argument: $type),*) $(-> $result)? {
                scalar::$name($($argument),*)
            }
            // SAFETY: reachable only through KERNELS, which `Kernels::of` hands out where the CPU has these features.
            unsafe { compiled($($argument),*) }
        }
    )* };
}
#[cfg(target_arch = "x86_64")]
use compile_for;
