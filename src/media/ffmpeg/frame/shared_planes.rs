//! Conversion between [`Picture`] and [`Frame`]. Planes are shared by reference; no sample is copied.
#![allow(unsafe_code, reason = "FFI")]

use super::colour::range_tag;
use super::picture::Picture;
use super::raw_format::RawFormat;
use crate::ffmpeg::Error;
use crate::ffmpeg::decode::buffers::is_pinned;
use anyhow::Context;
use ffmpeg_next::ffi;
use histeq::internal::frame::{Frame, Matrix, Memory, Model, Plane, Range};
use std::sync::Arc;

impl Picture {
    /// A frame that shares these planes; `None` when the format is not native. Its attachment holds the other
    /// properties of the picture, which [`Picture::from_frame`] restores.
    ///
    /// # Errors
    /// When the decoder's buffers are too small for its format and size.
    pub fn to_frame(&self) -> anyhow::Result<Option<Frame>> {
        let Some(format) = self.format().native() else { return Ok(None) };
        let (width, height) = self.size();
        let planes = (0..format.descriptor().planes().len())
            .map(|index| self.plane(index, format.row_bytes(index, width), format.rows(index, height)))
            .collect::<anyhow::Result<Vec<Plane>>>()?;
        let colour = match format.descriptor().model {
            // Filters may leave the matrix unspecified.
            Model::Yuv => self.colour().with_any_matrix(Matrix::usual(Model::Yuv, (width, height))),
            Model::Gray | Model::Rgb => self.colour(),
        };
        let range = colour.range_of(self.format());
        let mut frame = Frame::new(format, (width, height), range, colour.matrix(), planes)?;
        frame.transfer = colour.transfer();
        frame.is_interlaced = self.interlaced().is_some();
        let mut properties = Picture::new();
        properties.copy_properties(self)?;
        properties.forget_light_levels();
        // `opaque` marks pinned buffers, which the properties do not have.
        properties.get_mut().opaque = std::ptr::null_mut();
        // A `yuvj` format may be the only sign of full range.
        if format.descriptor().model == Model::Yuv && range == Range::Full {
            properties.get_mut().color_range = range_tag(range);
        }
        frame.pts = self.time();
        frame.attachment = Some(Arc::new(properties));
        Ok(Some(frame))
    }

    /// A picture that shares this frame's planes, with the properties of the picture that the frame came from.
    ///
    /// # Errors
    /// When memory runs out, or a plane lies on a GPU that fails.
    pub fn from_frame(frame: &Frame) -> anyhow::Result<Self> {
        frame.bring_down().map_err(histeq::Error::from)?;
        Ok(Picture::from_host_frame(frame)?)
    }

    /// As [`Picture::from_frame`], for a frame in host memory.
    ///
    /// # Errors
    /// When memory runs out.
    pub fn from_host_frame(frame: &Frame) -> Result<Self, Error> {
        let mut picture = Picture::new();
        if let Some(properties) = frame.attachment.as_ref().and_then(|a| a.downcast_ref::<Picture>()) {
            picture.copy_properties(properties)?;
        }
        let out = picture.get_mut();
        out.format = RawFormat::from(frame.format()).0 as i32;
        out.width = frame.width() as i32;
        out.height = frame.height() as i32;
        for (index, plane) in frame.planes().iter().enumerate() {
            let bytes = plane.memory().bytes();
            let owner: *mut Plane = Box::into_raw(Box::new(plane.clone()));
            // SAFETY: the plane keeps the bytes alive until `release` drops it. The buffer is marked read-only, so
            // nothing writes through the pointer.
            unsafe {
                let start = bytes.as_ptr().cast_mut();
                let read_only = ffi::AV_BUFFER_FLAG_READONLY;
                out.buf[index] = ffi::av_buffer_create(start, bytes.len(), Some(release), owner.cast(), read_only);
                if out.buf[index].is_null() {
                    drop(Box::from_raw(owner));
                    return Err(crate::ffmpeg::OUT_OF_MEMORY);
                }
            }
            out.data[index] = plane.row(0).as_ptr().cast_mut();
            out.linesize[index] = plane.stride() as i32;
        }
        match frame.format().descriptor().model {
            Model::Gray => {
                // The properties may be those of an RGB picture, or lack the range.
                if picture.get().colorspace == ffi::AVColorSpace::AVCOL_SPC_RGB {
                    picture.get_mut().colorspace = ffi::AVColorSpace::AVCOL_SPC_UNSPECIFIED;
                }
                if picture.colour().range_of(picture.format()) != frame.range() {
                    picture.get_mut().color_range = range_tag(frame.range());
                }
            }
            // The frame knows its matrix: it may follow from the size of the decoded frame, not from this size.
            Model::Yuv => {
                let colour = picture.colour().with_any_matrix(frame.matrix());
                picture.set_colour(colour);
            }
            Model::Rgb => {}
        }
        picture.set_time(frame.pts);
        // The encoder chooses the picture type (I, P, B) itself.
        picture.get_mut().pict_type = ffi::AVPictureType::AV_PICTURE_TYPE_NONE;
        Ok(picture)
    }

    fn plane(&self, index: usize, row_bytes: usize, rows: usize) -> anyhow::Result<Plane> {
        let (memory, start) = match self.device_luma() {
            Some(luma) if index == 0 => {
                let begin = luma.on_device().context("a picture has left the GPU")?.address;
                (luma.clone(), self.get().data[0].addr() as u64 - begin)
            }
            _ => self.buffer_of(index)?,
        };
        Plane::new(memory, usize::try_from(start)?, self.get().linesize[index] as isize, row_bytes, rows)
            .ok_or_else(|| anyhow::anyhow!("the decoder's picture is smaller than its size says"))
    }

    /// The buffer of a plane, and the plane's offset in it.
    fn buffer_of(&self, index: usize) -> anyhow::Result<(Arc<dyn Memory>, u64)> {
        // SAFETY: the frame is valid; `data[index]` points into the buffer, and the new reference keeps the buffer for
        // as long as the plane lives.
        unsafe {
            let buffer = ffi::av_frame_get_plane_buffer(self.as_ptr().cast_mut(), index as i32);
            anyhow::ensure!(!buffer.is_null(), "the decoder's picture has no plane {index}");
            let reference = ffi::av_buffer_ref(buffer);
            anyhow::ensure!(!reference.is_null(), "out of memory");
            let start = self.get().data[index].offset_from((*reference).data);
            let pinned = is_pinned(self.get(), &*reference);
            let memory = Arc::new(BufferReference { reference, pinned });
            Ok((memory, u64::try_from(start)?))
        }
    }
}

unsafe extern "C" fn release(owner: *mut std::ffi::c_void, _data: *mut u8) {
    // SAFETY: `from_frame` made it with `Box::into_raw`, and FFmpeg calls this once.
    drop(unsafe { Box::from_raw(owner.cast::<Plane>()) });
}

/// A reference to an AVBuffer, which keeps its memory. Nothing writes to a decoded picture, which the decoder still
/// needs for prediction.
struct BufferReference {
    reference: *mut ffi::AVBufferRef,
    pinned: bool,
}

// SAFETY: the count is atomic and the bytes are only read.
unsafe impl Send for BufferReference {}
// SAFETY: as above.
unsafe impl Sync for BufferReference {}

impl Memory for BufferReference {
    fn bytes(&self) -> &[u8] {
        // SAFETY: the reference keeps `size` bytes at `data` alive, and nothing writes to them after decoding.
        unsafe { std::slice::from_raw_parts((*self.reference).data, (*self.reference).size) }
    }

    fn is_pinned(&self) -> bool {
        self.pinned
    }
}

impl Drop for BufferReference {
    fn drop(&mut self) {
        // SAFETY: made in `Picture::buffer_of`, released nowhere else.
        unsafe { ffi::av_buffer_unref(&mut self.reference) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use histeq::internal::frame::{MemoryError, PixelFormat};

    /// Memory of a GPU that has failed.
    struct Lost;

    impl Memory for Lost {
        fn bytes(&self) -> &[u8] {
            panic!("it cannot be copied")
        }

        fn size(&self) -> usize {
            64
        }

        fn bring_down(&self) -> Result<(), MemoryError> {
            Err(MemoryError::new("the GPU is lost"))
        }
    }

    #[test]
    fn a_plane_on_a_gpu_that_has_failed_is_an_error() {
        let plane = Plane::new(Arc::new(Lost), 0, 8, 8, 8).expect("rows that lie inside");
        let frame = Frame::new(PixelFormat::Gray, (8, 8), Range::Full, Matrix::Bt709, vec![plane]).expect("a frame");
        let error = Picture::from_frame(&frame).err().expect("an error");
        assert_eq!(error.to_string(), "the GPU is lost");
    }
}
