//! The library's errors in the words of the command line: it knows no flags, and the user no calls.

use histeq::internal::frame::NoRoom;
use histeq::internal::with_more_bits;
use histeq::{Error, GpuError, MemoryError, OptionError};

const CPU: &str = "use --backend cpu";

/// `error` with its causes, as a user of the program reads it.
pub fn said(error: &anyhow::Error) -> String {
    error.chain().map(said_of).collect::<Vec<_>>().join(": ")
}

/// One error in a chain of causes.
fn said_of(cause: &(dyn std::error::Error + 'static)) -> String {
    if let Some(error) = cause.downcast_ref::<Error>() {
        match error {
            Error::Gpu(error) => said_of(error),
            Error::NoRoom(error) => said_of(error),
            Error::Memory(error) => said_of(error),
            Error::Option(error) => said_of(error),
            Error::MaskSize { frame, size, mask: (columns, rows) } => format!(
                "frame {frame} has {}x{} pixels, the mask {columns}x{rows} (with --filter scale={columns}:{rows}, all \
                 frames have its size)",
                size.0, size.1
            ),
            Error::NoDeeperFormat { format } => format!(
                "--output-depth: {format} has no pixel format of more bits (convert it: --filter format={})",
                with_more_bits(*format)
            ),
            error => error.to_string(),
        }
    } else if let Some(error) = cause.downcast_ref::<GpuError>() {
        said_of_gpu(error)
    } else if let Some(error) = cause.downcast_ref::<NoRoom>() {
        let less = if error.looks_ahead() { ", or a look-ahead of 0, which takes less" } else { "" };
        let remedy = match error.megabytes_needed() {
            None => "give more with --max-memory".to_owned(),
            Some(needed) => format!("the run needs about {needed} MB: --max-memory {needed}M{less}"),
        };
        format!("{} ({remedy})", error.cause())
    } else if let Some(error) = cause.downcast_ref::<MemoryError>() {
        said_of(error.inner())
    } else if let Some(error) = cause.downcast_ref::<OptionError>() {
        error.with_prefix("--")
    } else {
        cause.to_string()
    }
}

/// An error of a GPU.
pub fn said_of_gpu(error: &GpuError) -> String {
    let remedy = match error {
        GpuError::DriverTooOld { .. } => "update it, or use --backend cpu".to_owned(),
        GpuError::NoSuchDevice { count, .. } => format!("--gpu takes 0 to {}, or use --backend cpu", count - 1),
        GpuError::DeviceTooOld { .. } => "use another --gpu, or --backend cpu".to_owned(),
        GpuError::NoMemory { .. } => "use --backend cpu, or another --gpu".to_owned(),
        GpuError::NoDriver
        | GpuError::NoDevice
        | GpuError::TooLarge { .. }
        | GpuError::Unsupported { .. }
        | GpuError::Call { .. } => CPU.to_owned(),
        error => return error.to_string(),
    };
    format!("{} ({remedy})", error.cause())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_out_is_a_flag() {
        let missing = GpuError::NoSuchDevice { index: 3, count: 2 };
        let error = anyhow::Error::from(Error::from(missing)).context("in.mkv");
        assert_eq!(said(&error), "in.mkv: no GPU 3 (--gpu takes 0 to 1, or use --backend cpu)");
        assert_eq!(format!("{error:#}"), "in.mkv: no GPU 3 (gpu takes 0 to 1, or use backend cpu)");
        let limits = histeq::Limits::default().with_memory(1_000_000).with_threads(1);
        let refused = limits.check_room(900_000).expect_err("no room");
        let error = anyhow::Error::from(MemoryError::from(refused));
        assert!(said(&error).ends_with("(the run needs about 10 MB: --max-memory 10M)"), "{}", said(&error));
        let mask = Error::MaskSize { frame: 0, size: (4, 4), mask: (2, 2) };
        assert!(said(&mask.into()).contains("--filter scale=2:2"));
    }
}
