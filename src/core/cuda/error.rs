//! The errors of a GPU. Each message names a remedy.

use crate::frame::{ErrorKind, FrameError, MemoryError};
use cudarc::driver::DriverError;
use std::fmt;

/// A GPU is missing, too old, or has failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// `libcuda` cannot be loaded.
    NoDriver,
    /// The driver is older than the kernels' PTX.
    DriverTooOld {
        /// 1000 * major + 10 * minor.
        version: i32,
    },
    /// There is a driver, but no GPU.
    NoDevice,
    /// There are GPUs, but not this one.
    NoSuchDevice {
        /// The requested GPU.
        index: usize,
        /// The number of GPUs.
        count: usize,
    },
    /// A GPU older than the kernels' PTX.
    DeviceTooOld {
        /// The GPU.
        name: String,
        /// The major number of its compute capability.
        major: i32,
        /// The minor number of its compute capability.
        minor: i32,
    },
    /// A picture has more pixels than the kernels can count.
    TooLarge {
        /// Pixels in a row.
        width: usize,
        /// Rows.
        height: usize,
    },
    /// The GPU has no room for a frame.
    NoMemory {
        /// The size of the picture, in MiB.
        needed: usize,
        /// Free memory, in MiB.
        free: usize,
    },
    /// Pictures on the GPU already use all memory that is allowed for them.
    PicturesFull {
        /// The size of the picture, in MiB.
        needed: usize,
        /// The memory in use by pictures, in MiB.
        in_use: usize,
        /// The limit for pictures, in MiB.
        most: usize,
    },
    /// A picture in memory of another context.
    OtherContext,
    /// Planes on the GPU that do not fit the frame's format and size.
    Planes(FrameError),
    /// A setting that the kernels do not support.
    Unsupported {
        /// The name of the setting.
        setting: &'static str,
    },
    /// A request that the kernels do not support.
    Refused {
        /// Why the request is refused.
        reason: String,
    },
    /// A driver call failed.
    Call {
        /// The step that failed.
        doing: &'static str,
        /// Why, in the driver's words.
        reason: String,
    },
}

impl Error {
    /// The cause, without the remedy.
    pub fn cause(&self) -> String {
        self.cause_and_remedy().0
    }

    /// The cause; and the remedy, or nothing where the cause includes it.
    fn cause_and_remedy(&self) -> (String, String) {
        const CPU: &str = "use backend cpu";
        let (cause, remedy) = match self {
            Error::NoDriver => ("no CUDA driver found".to_owned(), CPU),
            Error::DriverTooOld { version } => {
                let (major, minor) = (version / 1000, version % 1000 / 10);
                let cause = format!("the NVIDIA driver is for CUDA {major}.{minor}; 12.0 is needed");
                (cause, "update it, or use backend cpu")
            }
            Error::NoDevice => ("no NVIDIA GPU found".to_owned(), CPU),
            Error::NoSuchDevice { index, count } => {
                let remedy = format!("gpu takes 0 to {}, or use backend cpu", count - 1);
                return (format!("no GPU {index}"), remedy);
            }
            Error::DeviceTooOld { name, major, minor } => {
                let cause = format!("{name} has compute capability {major}.{minor}; 7.5 is needed");
                (cause, "use another gpu, or backend cpu")
            }
            Error::TooLarge { width, height } => {
                (format!("a picture of {width}x{height} pixels is more than the GPU backend takes"), CPU)
            }
            Error::NoMemory { needed, free } => {
                let cause = format!("a frame takes {needed} MiB of the GPU's memory, {free} MiB are free");
                (cause, "use backend cpu, or another gpu")
            }
            Error::PicturesFull { needed, in_use, most } => {
                let cause = format!(
                    "a picture of {needed} MiB does not fit into the {most} MiB for pictures on the GPU, {in_use} of \
                     which are in use"
                );
                (cause, "release some of them, or allow more")
            }
            Error::OtherContext => (
                "the picture lies in a context of the GPU driver other than the equalizer's".to_owned(),
                "use the primary context of the GPU that the equalizer is on, as the CUDA runtime does, or hand the \
                 picture over in host memory",
            ),
            Error::Planes(error) => (format!("a picture on the GPU: {error}"), ""),
            Error::Unsupported { setting } => (format!("the GPU backend does not know the setting {setting}"), CPU),
            Error::Refused { reason } => (reason.clone(), ""),
            Error::Call { doing, reason } => (format!("GPU: {doing}: {reason}"), CPU),
        };
        (cause, remedy.to_owned())
    }

    /// Whose fault it is.
    pub(crate) fn kind(&self) -> ErrorKind {
        match self {
            Error::OtherContext | Error::Planes(_) => ErrorKind::Parameter,
            Error::PicturesFull { .. } => ErrorKind::Limit,
            Error::TooLarge { .. } | Error::Unsupported { .. } | Error::Refused { .. } => ErrorKind::Unsupported,
            _ => ErrorKind::Device,
        }
    }

    /// Whether there is no driver: most machines have none, and need none.
    pub fn is_no_driver(&self) -> bool {
        matches!(self, Error::NoDriver)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (cause, remedy) = self.cause_and_remedy();
        if remedy.is_empty() { f.write_str(&cause) } else { write!(f, "{cause} ({remedy})") }
    }
}

impl std::error::Error for Error {}

impl From<Error> for MemoryError {
    fn from(error: Error) -> Self {
        MemoryError::new(error)
    }
}

/// Adds to a driver's error the step that failed.
pub trait Doing<T> {
    /// The error with the name of this step.
    fn doing(self, doing: &'static str) -> Result<T, Error>;
}

impl<T> Doing<T> for Result<T, DriverError> {
    fn doing(self, doing: &'static str) -> Result<T, Error> {
        self.map_err(|error| Error::Call { doing, reason: described(error) })
    }
}

fn described(error: DriverError) -> String {
    error.error_string().map_or_else(|_| format!("CUDA error {}", error.0 as u32), |text| text.to_string_lossy().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_the_way_out() {
        let old = Error::DriverTooOld { version: 11080 };
        assert_eq!(
            old.to_string(),
            "the NVIDIA driver is for CUDA 11.8; 12.0 is needed (update it, or use backend cpu)"
        );
        let missing = Error::NoSuchDevice { index: 3, count: 2 };
        assert_eq!(missing.to_string(), "no GPU 3 (gpu takes 0 to 1, or use backend cpu)");
    }
}
