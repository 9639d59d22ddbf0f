//! The backends with which `histeq-lab transcode` runs this program.

use histeq::named;

named! {
    /// A backend of this program in `histeq-lab transcode`.
    pub enum TranscodeBackend {
        Cpu = "cpu", "All of it on the CPU";
        Cuda = "cuda", "Equalizing on the GPU";
        Nvdec = "nvdec", "Decoding on the GPU as well";
    }
}
