//! The names and descriptions of the suites.

use histeq::named;
use serde::Deserialize;

named! {
    /// A suite. Those that follow a publication come first.
    #[derive(Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Suite {
        /// One image through every stage.
        Stages = "stages", "an image up, equalized, down; plain kernels against coarsened ones; pixels a thread";
        /// The search for the first value of the cumulative histogram, in two ways.
        CdfMin = "cdf-min", "equalization from PNG to PNG, with the first occupied level found in two ways";
        /// Prefix sum algorithms, compared with each other.
        Scans = "scans", "six scans for the cumulative histogram, in blocks of 256 and 512 threads";
        /// Histograms of many bins.
        Bins = "bins", "saturated histograms of up to 65,536 bins, in shared memory and not";
        /// Luminance histograms of BGRA.
        Luminance = "luminance", "the luminance histogram of a BGRA image";
        /// Frames that are in GPU memory already.
        Kernels = "kernels", "frames that are on the GPU already, beside what its memory can do";
        /// Frames that are copied to the GPU and back through pinned memory.
        Stream = "stream", "frames through pinned memory and the GPU, beside what the bus can do";
        /// The CPU backend, with each instruction set and number of threads.
        Cpu = "cpu", "the CPU's paths, on one thread to all, beside a copy";
    }
}

impl Suite {
    /// Whether the suite accepts an image of the user.
    pub fn takes_file(self) -> bool {
        matches!(self, Suite::Stages | Suite::CdfMin | Suite::Scans | Suite::Luminance)
    }
}
