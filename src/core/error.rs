//! What can go wrong: [`Error`]. Each message says what failed and the way out.

use crate::cuda;
use crate::frame::{FrameError, MemoryError, NoRoom, PixelFormat};
use crate::options::OptionError;

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of code that the caller supplied: an [`Observer`](crate::equalize::Observer) or a
/// [`MappingSource`](crate::equalize::MappingSource).
pub type CallerError = Box<dyn std::error::Error + Send + Sync>;

/// Why frames are not equalized.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Planes that do not fit the format and size of their picture.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// No memory is left for another frame.
    #[error(transparent)]
    NoRoom(#[from] NoRoom),
    /// The memory of a plane cannot be had or read.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// A GPU is missing, too old, or has failed.
    #[error(transparent)]
    Gpu(#[from] cuda::Error),
    /// Options that do not go together, or are none.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// A frame of another size than the mask.
    #[error(
        "frame {frame} has {}x{} pixels, the mask {columns}x{rows} (with --filter scale={columns}:{rows}, all frames have its size)",
        .size.0, .size.1, columns = .mask.0, rows = .mask.1
    )]
    MaskSize {
        /// The number of the frame, from 0.
        frame: u64,
        /// Its columns and rows.
        size: (usize, usize),
        /// Columns and rows of the mask.
        mask: (usize, usize),
    },
    /// Tiles are not counted with a mask.
    #[error("tiles are not counted with a mask")]
    MaskedTiles,
    /// There is no gray format of this many bits.
    #[error("no gray format of {depth} bits (leave --gray out)")]
    NoGrayFormat {
        /// Bits of a sample.
        depth: u8,
    },
    /// The format has no deeper one beside it.
    #[error(
        "--output-depth: {format} has no pixel format of more bits (convert it: --filter format={})",
        if .format.has_alpha() { "yuva444p" } else { "yuv444p" }
    )]
    NoDeeperFormat {
        /// The format.
        format: PixelFormat,
    },
    /// Frames were to come down to 8 bits that have 8.
    #[error("the video has 8 bits and was not made deeper (leave --output-depth out)")]
    NotDeeper,
    /// A frame that was not there when the scenes were found.
    #[error("frame {frame} was not there in the first pass (a file must not change while it is read)")]
    NotSurveyed {
        /// Its number, from 0.
        frame: u64,
    },
    /// The system starts no thread for the equalizer.
    #[error("no thread for the equalizer: {0} (`ulimit -u` limits them)")]
    NoThread(std::io::Error),
    /// A thread of the equalizer has failed or ended, which is a bug.
    #[error("{0}")]
    Worker(String),
    /// A frame differs from the definition: a bug.
    #[error("{frame}: {difference} (a bug: please report it)")]
    Differs {
        /// Backend and number of the frame.
        frame: String,
        /// The first difference.
        difference: String,
    },
    /// Code of the caller has failed.
    #[error(transparent)]
    Caller(CallerError),
}

impl Error {
    /// The error of a GPU behind this one, if there is one.
    pub fn gpu(&self) -> Option<&cuda::Error> {
        match self {
            Error::Gpu(error) => Some(error),
            Error::Memory(error) => error.inner().downcast_ref(),
            _ => None,
        }
    }
}

impl From<CallerError> for Error {
    /// An error of this crate that passed through the caller's code stays what it is.
    fn from(error: CallerError) -> Self {
        error.downcast::<Error>().map_or_else(Error::Caller, |error| *error)
    }
}
