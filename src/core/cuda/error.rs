//! The errors of a GPU. Each names the way out.

use crate::frame::{FrameError, MemoryError};
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
        /// Of its compute capability.
        major: i32,
        /// Of its compute capability.
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
        /// What it takes, in MiB.
        needed: usize,
        /// What is free, in MiB.
        free: usize,
    },
    /// Pictures on the GPU take all the memory that they may.
    PicturesFull {
        /// What it takes, in MiB.
        needed: usize,
        /// What pictures take, in MiB.
        in_use: usize,
        /// The most that they may take, in MiB.
        most: usize,
    },
    /// A picture in memory of another context.
    OtherContext,
    /// Planes on the GPU that are not those of a picture of the format and size.
    Planes(FrameError),
    /// A setting that the kernels do not know.
    Unsupported {
        /// Its name.
        setting: &'static str,
    },
    /// A request that the kernels do not support.
    Refused {
        /// Why.
        reason: String,
    },
    /// A driver call failed.
    Call {
        /// The step that failed.
        doing: &'static str,
        /// The driver's error.
        error: DriverError,
    },
}

impl Error {
    /// What failed, without the way out.
    pub fn cause(&self) -> String {
        match self {
            Error::NoDriver => "no CUDA driver found".to_owned(),
            Error::DriverTooOld { version } => {
                format!("the NVIDIA driver is for CUDA {}.{}; 12.0 is needed", version / 1000, version % 1000 / 10)
            }
            Error::NoDevice => "no NVIDIA GPU found".to_owned(),
            Error::NoSuchDevice { index, .. } => format!("no GPU {index}"),
            Error::DeviceTooOld { name, major, minor } => {
                format!("{name} has compute capability {major}.{minor}; 7.5 is needed")
            }
            Error::TooLarge { width, height } => {
                format!("a picture of {width}x{height} pixels is more than the GPU backend takes")
            }
            Error::NoMemory { needed, free } => {
                format!("a frame takes {needed} MiB of the GPU's memory, {free} MiB are free")
            }
            Error::PicturesFull { needed, in_use, most } => format!(
                "a picture of {needed} MiB does not fit into the {most} MiB for pictures on the GPU, {in_use} of which are \
                 in use"
            ),
            Error::OtherContext => {
                "the picture lies in a context of the GPU driver other than the equalizer's".to_owned()
            }
            Error::Planes(error) => format!("a picture on the GPU: {error}"),
            Error::Unsupported { setting } => format!("the GPU backend does not know the setting {setting}"),
            Error::Refused { reason } => reason.clone(),
            Error::Call { doing, error } => format!("GPU: {doing}: {}", described(*error)),
        }
    }

    /// The way out, if it is not in [`cause`](Error::cause).
    fn remedy(&self) -> Option<String> {
        Some(match self {
            Error::NoDriver
            | Error::NoDevice
            | Error::TooLarge { .. }
            | Error::Unsupported { .. }
            | Error::Call { .. } => "use --backend cpu".to_owned(),
            Error::PicturesFull { .. } => "release some of them, or allow more".to_owned(),
            Error::OtherContext => {
                "use the primary context of the GPU that the equalizer is on, as the CUDA runtime does, or hand the picture \
                 over in host memory"
                    .to_owned()
            }
            Error::DriverTooOld { .. } => "update it, or use --backend cpu".to_owned(),
            Error::NoSuchDevice { count, .. } => format!("--gpu takes 0 to {}, or use --backend cpu", count - 1),
            Error::DeviceTooOld { .. } => "use another --gpu, or --backend cpu".to_owned(),
            Error::NoMemory { .. } => "use --backend cpu, or another --gpu".to_owned(),
            Error::Planes(_) | Error::Refused { .. } => return None,
        })
    }

    /// Whether there is no driver: most machines have none, and need none.
    pub fn is_no_driver(&self) -> bool {
        matches!(self, Error::NoDriver)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.remedy() {
            Some(remedy) => write!(f, "{} ({remedy})", self.cause()),
            None => f.write_str(&self.cause()),
        }
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
    /// The error of this step.
    fn doing(self, doing: &'static str) -> Result<T, Error>;
}

impl<T> Doing<T> for Result<T, DriverError> {
    fn doing(self, doing: &'static str) -> Result<T, Error> {
        self.map_err(|error| Error::Call { doing, error })
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
            "the NVIDIA driver is for CUDA 11.8; 12.0 is needed (update it, or use --backend cpu)"
        );
        let missing = Error::NoSuchDevice { index: 3, count: 2 };
        assert_eq!(missing.to_string(), "no GPU 3 (--gpu takes 0 to 1, or use --backend cpu)");
    }
}
