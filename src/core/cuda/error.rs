//! The errors of a GPU. Each names the way out.

use crate::frame::FrameError;
use cudarc::driver::DriverError;

/// A GPU is missing, too old, or has failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// `libcuda` cannot be loaded.
    #[error("no CUDA driver found (use --backend cpu)")]
    NoDriver,
    /// The driver is older than the kernels' PTX.
    #[error("the NVIDIA driver is for CUDA {}.{}; 12.0 is needed (update it, or use --backend cpu)", .version / 1000, .version % 1000 / 10)]
    DriverTooOld {
        /// 1000 * major + 10 * minor.
        version: i32,
    },
    /// There is a driver, but no GPU.
    #[error("no NVIDIA GPU found (use --backend cpu)")]
    NoDevice,
    /// There are GPUs, but not this one.
    #[error("no GPU {index} (--gpu takes 0 to {}, or use --backend cpu)", .count - 1)]
    NoSuchDevice {
        /// The requested GPU.
        index: usize,
        /// The number of GPUs.
        count: usize,
    },
    /// A GPU older than the kernels' PTX.
    #[error("{name} has compute capability {major}.{minor}; 7.5 is needed (use another --gpu, or --backend cpu)")]
    DeviceTooOld {
        /// The GPU.
        name: String,
        /// Of its compute capability.
        major: i32,
        /// Of its compute capability.
        minor: i32,
    },
    /// A picture has more pixels than the kernels can count.
    #[error("a picture of {width}x{height} pixels is more than the GPU backend takes (use --backend cpu)")]
    TooLarge {
        /// Pixels in a row.
        width: usize,
        /// Rows.
        height: usize,
    },
    /// The GPU has no room for a frame.
    #[error(
        "a frame takes {needed} MiB of the GPU's memory, {free} MiB are free (use --backend cpu, or another --gpu)"
    )]
    NoMemory {
        /// What it takes, in MiB.
        needed: usize,
        /// What is free, in MiB.
        free: usize,
    },
    /// Pictures on the GPU take all the memory that they may.
    #[error(
        "a picture of {needed} MiB does not fit into the {most} MiB for pictures on the GPU, {in_use} of which are in use \
         (release some of them, or allow more)"
    )]
    PicturesFull {
        /// What it takes, in MiB.
        needed: usize,
        /// What pictures take, in MiB.
        in_use: usize,
        /// The most that they may take, in MiB.
        most: usize,
    },
    /// A picture in memory of another context.
    #[error(
        "the picture lies in a context of the GPU driver other than the equalizer's (use the primary context of the GPU that \
         the equalizer is on, as the CUDA runtime does, or hand the picture over in host memory)"
    )]
    OtherContext,
    /// Planes on the GPU that are not those of a picture of the format and size.
    #[error("a picture on the GPU: {0}")]
    Planes(FrameError),
    /// A setting that the kernels do not know.
    #[error("the GPU backend does not know the setting {setting} (use --backend cpu)")]
    Unsupported {
        /// Its name.
        setting: &'static str,
    },
    /// A request that the kernels do not support.
    #[error("{reason}")]
    Refused {
        /// Why.
        reason: String,
    },
    /// A driver call failed.
    #[error("GPU: {doing}: {} (use --backend cpu)", described(*.error))]
    Call {
        /// The step that failed.
        doing: &'static str,
        /// The driver's error.
        error: DriverError,
    },
}

/// Adds to a driver's error the step that failed.
pub trait Doing<T> {
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
