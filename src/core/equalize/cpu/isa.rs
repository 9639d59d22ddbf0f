//! Which instruction sets the kernels are compiled for, and which of them this machine has. No other module queries
//! the CPU.

/// An instruction set that the kernels are compiled for, slowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Isa {
    /// The compiler's default target, which every machine supports.
    Scalar,
    /// AVX2: Intel since 2013, AMD since 2015.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// AVX-512 with BW, VL and VBMI: Intel since Ice Lake, AMD since Zen 4.
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// Hand-written NEON where the compiler's code is slower; every aarch64 has NEON.
    #[cfg(target_arch = "aarch64")]
    Neon,
}

impl Isa {
    /// Every instruction set of this architecture, whether or not this machine has it.
    pub const ALL: &[Isa] = &[
        Isa::Scalar,
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2,
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512,
        #[cfg(target_arch = "aarch64")]
        Isa::Neon,
    ];

    /// The instruction sets of this machine, slowest first.
    pub fn available() -> impl DoubleEndedIterator<Item = Isa> {
        Isa::ALL.iter().copied().filter(|isa| isa.is_available())
    }

    /// The fastest instruction set of this machine.
    pub fn best() -> Isa {
        Isa::available().next_back().unwrap_or(Isa::Scalar)
    }

    /// Whether this machine has this instruction set.
    pub fn is_available(self) -> bool {
        match self {
            Isa::Scalar => true,
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => is_x86_feature_detected!("avx2"),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => {
                is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512vbmi")
            }
            #[cfg(target_arch = "aarch64")]
            Isa::Neon => true,
        }
    }
}

impl std::fmt::Display for Isa {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Isa::Scalar => "scalar",
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => "avx512",
            #[cfg(target_arch = "aarch64")]
            Isa::Neon => "neon",
        })
    }
}
