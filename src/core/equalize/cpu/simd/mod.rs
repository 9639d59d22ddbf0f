//! The kernels, a table of them for each instruction set. A table is handed out only on a machine that can run it,
//! which is what makes its functions safe to call.
//!
//! A new kernel is a function in plain Rust (`scalar.rs`, `balance.rs`, `blend.rs` or `chroma.rs`, or of
//! [`denoise`](crate::denoise)) and a row of `every_kernel`.
#![allow(unsafe_code, reason = "calls of functions that are compiled for one instruction set")]

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod balance;
mod blend;
mod chroma;
#[cfg(target_arch = "aarch64")]
mod neon;
mod scalar;

pub use blend::{ByteCell, Shares};

use super::Isa;
use super::layout::PackedPixel;
use super::lookup::Lookup;
use super::word_histogram::WordHistogram;
use crate::denoise::merge::{self, MergedPlane};
use crate::denoise::noise::{Differences, Noise};
use crate::denoise::search::{self, MotionField};
use crate::denoise::sheet::Sheet;
use crate::denoise::{Steps, pyramid};
use crate::frame::{Endian, Sample};
use crate::spec::Weights;
use crate::spec::chroma::Colours;
use crate::spec::curves::Levels;

/// Calls the macro `$with` with the tokens that follow its name, and then all kernels with their types.
macro_rules! every_kernel {
    ($with:ident $($tokens:tt)*) => {
        $with! { $($tokens)*
            scalar::take_bytes(words: &mut WordHistogram) -> [u32; 256];
            scalar::every_other(source: &[u8], offset: usize, target: &mut [u8]);
            scalar::map_bytes(source: &[u8], target: &mut [u8], table: &[u8; 256]);
            scalar::map_every_other(source: &[u8], target: &mut [u8], table: &[u8; 256], offset: usize);
            scalar::map_words(source: &[u8], target: &mut [u8], lookup: &Lookup);
            scalar::luminance_packed(source: &[u8], pixel: &PackedPixel, target: &mut [u8]);
            scalar::move_packed(source: &[u8], before: &[u8], after: &[u8], pixel: &PackedPixel, target: &mut [u8]);
            scalar::luminance_bytes(rgb: [&[u8]; 3], weights: Weights, target: &mut [u8]);
            scalar::move_bytes(source: &[u8], before: &[u8], after: &[u8], target: &mut [u8]);
            scalar::luminance_words(rgb: [&[u8]; 3], endian: Endian, max: u16, weights: Weights, target: &mut [u16]);
            scalar::move_words(source: &[u8], before: &[u16], after: &[u16], endian: Endian, max: u16, target: &mut [u8]);
            scalar::set_every_other(source: &[u8], offset: usize, target: &mut [u8]);
            scalar::read_words(source: &[u8], sample: Sample, target: &mut [u16]);
            scalar::write_words(source: &[u16], sample: Sample, target: &mut [u8]);
            blend::interleave(tables: [&[u8; 256]; 4], quads: &mut [u32; 256]);
            blend::blend_bytes(source: &[u8], target: &mut [u8], cell: &ByteCell, shares: &Shares);
            blend::blend_words(source: &[u16], target: &mut [u16], luts: [&[u16]; 4], shares: &Shares);
            blend::mix_bytes(before: &[u8], after: &mut [u8], k: u32);
            blend::mix_words(before: &[u16], after: &mut [u16], k: u32);
            blend::ramp(source: u64, step: i64, area: u64, target: &mut [u32]);
            chroma::follow(gains: &[u32], colours: &Colours, codes: &mut [u16]);
            chroma::move_with_gains(gains: &[u32], before: &[u16], after: &[u16], max: u16, codes: &mut [u16]);
            chroma::gather(row: &[u8], sample: Sample, place: [usize; 2], codes: &mut [u16]);
            chroma::scatter(codes: &[u16], sample: Sample, place: [usize; 2], row: &mut [u8]);
            balance::terms_narrow(factors: [i32; 3], pairs: [&[i32]; 2], terms: &mut [i32]);
            balance::luma_narrow(
                of_luma: i32, terms: &[i32], log2_width: u8, levels: Levels, codes: &mut [u16], sums: &mut [i32]
            );
            balance::chroma_narrow(of_luma: i32, inputs: (&[i32], &[i32]), place: [i32; 2], codes: &mut [u16]);
            balance::terms_wide(factors: [i64; 3], pairs: [&[i32]; 2], terms: &mut [i64]);
            balance::luma_wide(
                of_luma: i64, terms: &[i64], log2_width: u8, levels: Levels, codes: &mut [u16], sums: &mut [i32]
            );
            balance::chroma_wide(of_luma: i64, inputs: (&[i32], &[i64]), place: [i32; 2], codes: &mut [u16]);
            pyramid::smooth(luma: &Sheet, target: &mut Sheet);
            pyramid::halve(source: &Sheet, target: &mut Sheet);
            search::search(one: &[Sheet], other: &[Sheet], calm: u32, half: Option<&MotionField>) -> MotionField;
            merge::count(plane: &MergedPlane<'_>) -> Differences;
            merge::merge(plane: &MergedPlane<'_>, noise: &Noise) -> Sheet;
        }
    };
}

/// Defines the type of the tables, and the table of the kernels in plain Rust.
macro_rules! define_table {
    ($($file:ident::$name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?;)*) => {
        /// The kernels of one instruction set; the function of each name in plain Rust defines what it computes.
        #[allow(missing_docs, clippy::type_complexity, reason = "each is the type of the function of its name")]
        pub struct Kernels {
            $(pub $name: fn($($type),*) $(-> $result)?,)*
        }

        static SCALAR: Kernels = Kernels { $($name: $file::$name,)* };
    };
}
every_kernel!(define_table);

/// A table of the kernels, compiled once more for a CPU with these features.
#[cfg(target_arch = "x86_64")]
macro_rules! compile_for {
    ($features:literal $($file:ident::$name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?;)*) => {
        Kernels { $($name: {
            fn checked($($argument: $type),*) $(-> $result)? {
                #[target_feature(enable = $features)]
                fn compiled($($argument: $type),*) $(-> $result)? {
                    $file::$name($($argument),*)
                }
                // SAFETY: reachable only through the table, which `Kernels::for_isa` hands out where the CPU has these
                // features.
                unsafe { compiled($($argument),*) }
            }
            checked
        },)* }
    };
}

#[cfg(target_arch = "x86_64")]
static AVX2: Kernels =
    Kernels { map_bytes: avx2::map_bytes, map_every_other: avx2::map_every_other, ..every_kernel!(compile_for "avx2") };

#[cfg(target_arch = "x86_64")]
static AVX512: Kernels = Kernels {
    map_bytes: avx512::map_bytes,
    map_every_other: avx512::map_every_other,
    map_words: avx512::map_words,
    blend_bytes: avx512::blend_bytes,
    ..every_kernel!(compile_for "avx512f,avx512bw,avx512vl,avx512vbmi")
};

#[cfg(target_arch = "aarch64")]
static NEON: Kernels = Kernels {
    map_bytes: neon::map_bytes,
    map_every_other: neon::map_every_other,
    follow: neon::follow,
    move_with_gains: neon::move_with_gains,
    search: neon::search,
    merge: neon::merge,
    ..SCALAR
};

impl Kernels {
    /// The kernels that remove noise.
    pub fn denoise_steps(&self) -> Steps {
        let Kernels { smooth, halve, search, count, merge, .. } = *self;
        Steps { smooth, halve, search, count, merge }
    }

    /// The kernels of `isa`; `None` on a machine that lacks it.
    pub fn for_isa(isa: Isa) -> Option<&'static Kernels> {
        let kernels = match isa {
            Isa::Scalar => &SCALAR,
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => &AVX2,
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => &AVX512,
            #[cfg(target_arch = "aarch64")]
            Isa::Neon => &NEON,
        };
        isa.is_available().then_some(kernels)
    }
}
