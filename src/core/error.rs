//! The errors of this crate: [`Error`]. Each message names what failed and the remedy.

use crate::cuda;
use crate::frame::{ErrorKind, FrameError, MemoryError, NoRoom, PixelFormat};
use crate::options::OptionError;

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of code that the caller supplied.
pub type CallerError = Box<dyn std::error::Error + Send + Sync>;

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Planes that do not fit the format and size of their frame.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// No memory is left for another frame.
    #[error(transparent)]
    NoRoom(#[from] NoRoom),
    /// The memory of a plane cannot be allocated or read.
    #[error(transparent)]
    Memory(MemoryError),
    /// A GPU is missing, too old, or has failed.
    #[error(transparent)]
    Gpu(#[from] cuda::Error),
    /// Options that exclude each other, and unknown options or values.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// The bytes of a frame are too many or too few.
    #[error("a {format} picture of {}x{} pixels has {needed} bytes, not {found}", .size.0, .size.1)]
    FrameBytes {
        /// The format.
        format: PixelFormat,
        /// Columns and rows.
        size: (usize, usize),
        /// Bytes of all planes without padding.
        needed: usize,
        /// Bytes that were given.
        found: usize,
    },
    /// A frame of another format or size than the equalizer was built for.
    #[error(
        "a {found} picture of {}x{} pixels, but {expected} of {}x{} was announced",
        .size.0, .size.1, .wanted.0, .wanted.1
    )]
    OtherPicture {
        /// The format that was announced.
        expected: PixelFormat,
        /// The columns and rows that were announced.
        wanted: (usize, usize),
        /// The format of the given frame.
        found: PixelFormat,
        /// The columns and rows of the given frame.
        size: (usize, usize),
    },
    /// More pixels than [`Limits::pixels`](crate::Limits::pixels) allows.
    #[error("frames of {}x{} pixels are too large: the limit is {most} pixels (allow more of them)", .size.0, .size.1)]
    TooLarge {
        /// Columns and rows.
        size: (usize, usize),
        /// The limit.
        most: u64,
    },
    /// Too many or too few planes.
    #[error("{format} has {needed} planes, not {found}")]
    PlaneCount {
        /// The format.
        format: PixelFormat,
        /// Planes of the format.
        needed: usize,
        /// Planes that were given.
        found: usize,
    },
    /// The rows of a plane do not lie in the bytes that were given.
    #[error(
        "plane {plane} has {} rows of {} bytes, which do not lie in {} bytes with a stride of {}",
        .needed.1, .needed.0, .found.0, .found.1
    )]
    PlaneBytes {
        /// Index of the plane.
        plane: usize,
        /// Bytes a row, and rows, of the plane.
        needed: (usize, usize),
        /// Bytes and stride that were given.
        found: (usize, isize),
    },
    /// A mask of the wrong size, or without a weight above 0.
    #[error("a mask has a weight for each of {}x{} pixels, one of them more than 0", .size.0, .size.1)]
    NoMask {
        /// Columns and rows.
        size: (usize, usize),
    },
    /// The option `smooth` is `scene` but no scenes were given, or scenes were given without this option.
    #[error("option smooth: scene and the scenes of a survey go together: make a survey first")]
    NoScenes,
    /// Frames in GPU memory were given, but the CPU equalizes.
    #[error("pictures on a GPU need the GPU backend, and the CPU equalizes here: hand them over in host memory")]
    NotOnGpu,
    /// A frame was given after the end of the video.
    #[error("the video has ended: restart before another frame")]
    Finished,
    /// An option, limits or a mask, which cannot be changed after the backend was opened.
    #[error("{what}: too late, the backend is open")]
    TooLate {
        /// The name of the option, `limits`, or `a mask`.
        what: String,
    },
    /// A frame of another size than the mask.
    #[error(
        "frame {frame} has {}x{} pixels, the mask {columns}x{rows} (scale one to the size of the other)",
        .size.0, .size.1, columns = .mask.0, rows = .mask.1
    )]
    MaskSize {
        /// The number of the frame, from 0.
        frame: u64,
        /// Columns and rows of the frame.
        size: (usize, usize),
        /// Columns and rows of the mask.
        mask: (usize, usize),
    },
    /// A mask was given with a method that counts tiles.
    #[error("tiles are not counted with a mask")]
    MaskedTiles,
    /// There is no gray format of this many bits.
    #[error("no gray format of {depth} bits (leave gray out)")]
    NoGrayFormat {
        /// The depth in bits.
        depth: u8,
    },
    /// The format has no counterpart with more bits.
    #[error(
        "option output-depth: {format} has no pixel format of more bits (convert it to {} first)", with_more_bits(*.format)
    )]
    NoDeeperFormat {
        /// The format.
        format: PixelFormat,
    },
    /// A frame that was missing in the first pass.
    #[error("frame {frame} was not there in the first pass (a file must not change while it is read)")]
    NotSurveyed {
        /// The number of the frame, counted from 0.
        frame: u64,
    },
    /// A frame that the given [`Decided`](crate::Decided) was not made for.
    #[error("the frame is not the one that was there when it was decided what to do with it")]
    NotDecided,
    /// The wrong number of frames to denoise one.
    #[error("{needed} frames are needed, not {found}")]
    FrameCount {
        /// The frame itself, and those around it from which it is denoised.
        needed: usize,
        /// Frames that were given.
        found: usize,
    },
    /// A thread of the equalizer has failed or ended, which is a bug.
    #[error("{0}")]
    Worker(String),
    /// A backend's frame differs from the reference's, which is a bug.
    #[error("{frame}: {difference} (a bug: please report it)")]
    Differs {
        /// The backend, and the number of the frame.
        frame: String,
        /// The first difference.
        difference: String,
    },
    /// An error of the caller's code.
    #[error(transparent)]
    Caller(CallerError),
}

/// The format to convert to where `format` has no counterpart with more bits.
#[doc(hidden)]
pub fn with_more_bits(format: PixelFormat) -> &'static str {
    if format.has_alpha() { "yuva444p" } else { "yuv444p" }
}

impl Error {
    /// Whose fault the error is: `Limit` for [`NoRoom`](Error::NoRoom) and [`TooLarge`](Error::TooLarge);
    /// `Unsupported` for [`NoGrayFormat`](Error::NoGrayFormat) and [`NoDeeperFormat`](Error::NoDeeperFormat); `Device`
    /// for [`Memory`](Error::Memory) and, in most cases, [`Gpu`](Error::Gpu); `Internal` for
    /// [`Worker`](Error::Worker) and [`Differs`](Error::Differs); `Parameter` for all others.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::NoRoom(_) | Error::TooLarge { .. } => ErrorKind::Limit,
            Error::NoGrayFormat { .. } | Error::NoDeeperFormat { .. } => ErrorKind::Unsupported,
            Error::Gpu(error) => error.kind(),
            Error::Memory(_) => ErrorKind::Device,
            Error::Worker(_) | Error::Differs { .. } => ErrorKind::Internal,
            _ => ErrorKind::Parameter,
        }
    }

    /// The GPU error that caused this error, if one did.
    pub fn gpu(&self) -> Option<&cuda::Error> {
        match self {
            Error::Gpu(error) => Some(error),
            _ => None,
        }
    }
}

impl From<MemoryError> for Error {
    /// An error of the limits, or of a GPU, that passed through the owner of the memory is unwrapped again.
    fn from(error: MemoryError) -> Self {
        let error = match error.downcast::<NoRoom>() {
            Ok(room) => return Error::NoRoom(room),
            Err(error) => error,
        };
        error.downcast::<cuda::Error>().map_or_else(Error::Memory, Error::Gpu)
    }
}

impl From<CallerError> for Error {
    /// An [`Error`] that passed through the caller's code is unwrapped again.
    fn from(error: CallerError) -> Self {
        error.downcast::<Error>().map_or_else(Error::Caller, |error| *error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Limits;

    #[test]
    fn each_error_is_in_the_group_of_those_whose_fault_it_is() {
        let room = || Limits::default().with_memory(10).check_room(9).expect_err("no room");
        let format = PixelFormat::Yuv411p;
        let errors = [
            (Error::Finished, ErrorKind::Parameter),
            (Error::NoScenes, ErrorKind::Parameter),
            (Error::Frame(FrameError::Empty { width: 0, height: 1 }), ErrorKind::Parameter),
            (Error::NoRoom(room()), ErrorKind::Limit),
            (MemoryError::from(room()).into(), ErrorKind::Limit),
            (Error::TooLarge { size: (2, 2), most: 3 }, ErrorKind::Limit),
            (Error::NoDeeperFormat { format }, ErrorKind::Unsupported),
            (MemoryError::new("lost").into(), ErrorKind::Device),
            (Error::Worker(String::new()), ErrorKind::Internal),
        ];
        for (error, kind) in errors {
            assert_eq!(error.kind(), kind, "{error:?}");
        }
    }

    #[test]
    fn messages_have_a_way_out_without_a_command_line() {
        let narrow = Limits::default().with_memory(1_000_000).with_threads(1);
        let refused = Error::from(narrow.check_room(600_000).expect_err("no room"));
        assert_eq!(
            refused.to_string(),
            "a frame of 0.6 MB and its result do not fit into the 1.0 MB for frames, 0.0 of which are in use (allow \
             about 10 MB)"
        );
        let mask = Error::MaskSize { frame: 7, size: (4, 4), mask: (2, 2) };
        assert_eq!(mask.to_string(), "frame 7 has 4x4 pixels, the mask 2x2 (scale one to the size of the other)");
    }
}
