//! The backends with which `bench transcode` runs this program.

/// A backend of this program in `bench transcode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TranscodeBackend {
    /// All of it on the CPU.
    Cpu,
    /// Equalization on the GPU.
    Cuda,
    /// Decoding and equalization on the GPU.
    Nvdec,
}

impl TranscodeBackend {
    /// All backends, with their names and descriptions.
    pub const ALL: [(TranscodeBackend, &'static str, &'static str); 3] = [
        (TranscodeBackend::Cpu, "cpu", "All of it on the CPU"),
        (TranscodeBackend::Cuda, "cuda", "Equalizing on the GPU"),
        (TranscodeBackend::Nvdec, "nvdec", "Decoding on the GPU as well"),
    ];

    /// The backend of this name.
    pub fn named(name: &str) -> Option<Self> {
        TranscodeBackend::ALL.iter().find(|row| row.1 == name).map(|row| row.0)
    }
}
