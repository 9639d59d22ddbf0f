//! The ways in which `bench transcode` runs this program.

/// How this program does it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TranscodeBackend {
    /// All of it on the CPU.
    Cpu,
    /// Equalizing on the GPU.
    Cuda,
    /// Decoding as well.
    Nvdec,
}

impl TranscodeBackend {
    /// All of them, their names, and what they are.
    pub const ALL: [(TranscodeBackend, &'static str, &'static str); 3] = [
        (TranscodeBackend::Cpu, "cpu", "All of it on the CPU"),
        (TranscodeBackend::Cuda, "cuda", "Equalizing on the GPU"),
        (TranscodeBackend::Nvdec, "nvdec", "Decoding on the GPU as well"),
    ];

    /// The one of this name.
    pub fn named(name: &str) -> Option<Self> {
        TranscodeBackend::ALL.iter().find(|way| way.1 == name).map(|way| way.0)
    }
}
