//! Launches `kernels/surface.cu`: copies the rows of a decoder, whose codes lie in the high bits of the samples, as
//! plain codes.
#![allow(unsafe_code, reason = "launches kernels")]

use super::VECTOR;
use crate::cuda::error::{Doing, Error};
use crate::cuda::launch::Kernel;
use crate::frame::DeviceRows;
use cudarc::driver::{CudaStream, LaunchConfig};
use std::sync::Arc;

/// Threads of a block.
const THREADS: usize = 256;

/// The most rows of a grid.
const MAX_ROWS: usize = 65_535;

launcher! {
    SurfaceLauncher from SURFACE {
        codes: Kernel = "surface_u16",
    }
}

impl SurfaceLauncher {
    /// Enqueues the copy of the codes of `source`, which are shifted up by `shift` bits, to `target`.
    ///
    /// # Errors
    /// When the rows do not begin at whole vectors or there are too many of them, and when the launch fails.
    ///
    /// # Safety
    /// Both have the same number of rows and bytes per row, in memory of this stream's context, and own the bytes
    /// between rows. Until the kernel has run, nothing writes `source`, and nothing else accesses `target`.
    pub unsafe fn launch(
        &self,
        stream: &Arc<CudaStream>,
        source: &DeviceRows,
        target: &DeviceRows,
        shift: u32,
    ) -> Result<(), Error> {
        let (Some(from_pitch), Some(to_pitch)) = (vectors_between_rows(source), vectors_between_rows(target)) else {
            return Err(Error::Refused {
                reason: "a picture of the decoder's lies in no order that is known".to_owned(),
            });
        };
        let vectors = target.row_bytes.div_ceil(VECTOR);
        let config = LaunchConfig {
            grid_dim: (vectors.div_ceil(THREADS) as u32, target.rows as u32, 1),
            block_dim: (THREADS as u32, 1, 1),
            shared_mem_bytes: 0,
        };
        let vectors = vectors as u32;
        let mut launch = self.codes.on(stream);
        launch.arg(&source.address).arg(&from_pitch).arg(&target.address).arg(&to_pitch).arg(&vectors).arg(&shift);
        // SAFETY: the arguments are those of the kernel. The rows begin at whole vectors, and as no row is longer than
        // its pitch, the last vector of each ends before the next one begins; the rest the caller promises.
        unsafe { launch.launch(config) }.doing("launching surface")
    }
}

/// The pitch in vectors; `None` if rows do not begin at whole vectors, or are too many for a grid.
fn vectors_between_rows(rows: &DeviceRows) -> Option<u32> {
    let begins = rows.address.is_multiple_of(VECTOR as u64) && rows.pitch.is_multiple_of(VECTOR);
    let fits = rows.row_bytes <= rows.pitch && rows.rows <= MAX_ROWS;
    (begins && fits).then_some(u32::try_from(rows.pitch / VECTOR).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_are_no_whole_vectors_are_refused() {
        let rows = DeviceRows { address: 0x7000, pitch: 64, row_bytes: 62, rows: 17 };
        assert_eq!(vectors_between_rows(&rows), Some(4));
        for other in [
            DeviceRows { address: 0x7008, ..rows },
            DeviceRows { pitch: 72, ..rows },
            DeviceRows { row_bytes: 66, ..rows },
            DeviceRows { rows: 65_536, ..rows },
        ] {
            assert_eq!(vectors_between_rows(&other), None, "{other:?}");
        }
    }
}
