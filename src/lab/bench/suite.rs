//! The names and descriptions of the suites.

/// A suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Suite {
    /// One image through every stage.
    Stages,
    /// The search for the first value of the cumulative histogram, in two ways.
    CdfMin,
    /// Scans, compared with each other.
    Scans,
    /// Histograms of many bins.
    Bins,
    /// Luminance histograms of BGRA.
    Luminance,
    /// Frames that are on the device already.
    Kernels,
    /// Frames through pinned memory.
    Stream,
    /// The whole program on a file.
    Transcode,
    /// The CPU's paths.
    Cpu,
}

impl Suite {
    /// All of them, the publications' first.
    pub const ALL: [Suite; 9] = [
        Suite::Stages,
        Suite::CdfMin,
        Suite::Scans,
        Suite::Bins,
        Suite::Luminance,
        Suite::Kernels,
        Suite::Stream,
        Suite::Transcode,
        Suite::Cpu,
    ];

    /// The suite of this name.
    pub fn named(name: &str) -> Option<Self> {
        Suite::ALL.into_iter().find(|suite| suite.name() == name)
    }

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Suite::Stages => "stages",
            Suite::CdfMin => "cdf-min",
            Suite::Scans => "scans",
            Suite::Bins => "bins",
            Suite::Luminance => "luminance",
            Suite::Kernels => "kernels",
            Suite::Stream => "stream",
            Suite::Transcode => "transcode",
            Suite::Cpu => "cpu",
        }
    }

    /// Whether it takes a file: a video, or an image of the user's.
    pub fn takes_file(self) -> bool {
        matches!(self, Suite::Stages | Suite::CdfMin | Suite::Scans | Suite::Luminance | Suite::Transcode)
    }

    /// A description in a line.
    pub fn about(self) -> &'static str {
        match self {
            Suite::Stages => "an image up, equalized, down; plain kernels against coarsened ones; pixels a thread",
            Suite::CdfMin => "equalization from PNG to PNG, with the first occupied level found in two ways",
            Suite::Scans => "six scans for the cumulative histogram, in blocks of 256 and 512 threads",
            Suite::Bins => "saturated histograms of up to 65,536 bins, in shared memory and not",
            Suite::Luminance => "the luminance histogram of a BGRA image",
            Suite::Kernels => "frames that are on the GPU already, beside what its memory can do",
            Suite::Stream => "frames through pinned memory and the GPU, beside what the bus can do",
            Suite::Transcode => "the whole program on a file, beside ffmpeg without a filter and with its histeq",
            Suite::Cpu => "the CPU's paths, on one thread to all, beside a copy",
        }
    }
}
