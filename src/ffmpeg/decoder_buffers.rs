//! The memory that decoders write to: a pool's, if they are given one. A picture then lies where its next reader wants
//! it from the start, and is not copied on the way.
#![allow(unsafe_code, reason = "FFI")]

use super::{Picture, RawFormat};
use crate::frame::{Buffer, HostPool, Memory, Pool};
use ffmpeg_next::ffi;
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::{Arc, PoisonError, RwLock};

/// What decoders may read or write behind a plane's last byte, as FFmpeg's own buffers have it.
const BEHIND: usize = 16;

/// Planes begin at multiples of this: the widest vector.
const ALIGNMENT: usize = 64;

/// Planes of a picture in FFmpeg.
const PLANES: usize = 4;

/// Where one decoder's memory comes from. All its threads ask, at the same time.
#[derive(Default)]
pub(super) struct DecoderBuffers {
    pool: RwLock<Option<Arc<dyn Pool>>>,
    /// For the planes that the pool is not for. They have buffers of their own, so that an encoder that holds them back
    /// leaves the pool's alone.
    others: HostPool,
    /// For whole pictures, if there is no pool.
    wholes: HostPool,
}

/// How the planes of a picture lie.
struct Shape {
    planes: usize,
    line_bytes: [c_int; PLANES],
    plane_bytes: [usize; PLANES],
}

impl DecoderBuffers {
    /// Takes memory from here from now on.
    pub fn use_pool(&self, pool: Arc<dyn Pool>) {
        *self.pool.write().unwrap_or_else(PoisonError::into_inner) = Some(pool);
    }

    /// The pool, if there is one.
    pub fn pool(&self) -> Option<Arc<dyn Pool>> {
        self.pool.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Gives an empty picture its memory; `None` when it has to come from elsewhere: there is no pool, it has nothing
    /// left, or the format is none of ours, as those in a GPU's memory are.
    ///
    /// # Safety
    /// As for [`get_buffer`].
    unsafe fn lend(&self, context: *mut ffi::AVCodecContext, frame: *mut ffi::AVFrame) -> Option<()> {
        let pool = self.pool()?;
        // SAFETY: FFmpeg has set the number.
        let format = unsafe { RawFormat::from_number((*frame).format) };
        let native = format.native()?;
        // SAFETY: by the caller's promise.
        let shape = unsafe { Shape::of_decoder(context, frame, format) }?;
        let wanted = pool.planes(native);
        let split = wanted.end.min(shape.planes);
        if wanted.start > 0 || split == 0 || shape.planes != native.descriptor().planes().len() {
            return None;
        }
        let first = pool.buffer(shape.bytes(0..split)).ok()?;
        // SAFETY: the picture is empty.
        unsafe {
            (*frame).opaque = ptr::null_mut();
            shape.place(frame, 0, 0..split, first)?;
            if split < shape.planes {
                let rest = Box::new(self.others.take(shape.bytes(split..shape.planes)));
                if shape.place(frame, 1, split..shape.planes, rest).is_none() {
                    ffi::av_buffer_unref(&mut (*frame).buf[0]);
                    (*frame).data = [ptr::null_mut(); 8];
                    (*frame).opaque = ptr::null_mut();
                    return None;
                }
            }
            (*frame).extended_data = (&raw mut (*frame).data).cast();
        }
        Some(())
    }

    /// A picture to be filled, all of whose planes lie in one buffer, the pool's if there is one.
    pub fn picture(&self, format: RawFormat, size: (usize, usize)) -> Option<Picture> {
        let shape = Shape::aligned(format, (size.0 as c_int, size.1 as c_int), [ALIGNMENT as c_int; 8])?;
        let bytes = shape.bytes(0..shape.planes);
        let lent = self.pool().and_then(|pool| pool.buffer(bytes).ok());
        let buffer = lent.unwrap_or_else(|| Box::new(self.wholes.take(bytes)));
        let mut picture = Picture::empty(format, size);
        // SAFETY: the picture is empty.
        unsafe { shape.place(picture.as_mut_ptr(), 0, 0..shape.planes, buffer) }?;
        Some(picture)
    }

    /// A picture to be filled whose first plane lies in this memory of a GPU, with rows [`luma_stride`] bytes apart, and
    /// whose others lie in a buffer of their own.
    pub fn picture_beside(&self, luma: Arc<dyn Memory>, format: RawFormat, size: (usize, usize)) -> Option<Picture> {
        let place = luma.on_device()?;
        let shape = Shape::aligned(format, (size.0 as c_int, size.1 as c_int), [ALIGNMENT as c_int; 8])?;
        let others = Box::new(self.others.take(shape.bytes(1..shape.planes)));
        let mut picture = Picture::empty(format, size);
        // SAFETY: the picture is empty.
        unsafe { shape.place(picture.as_mut_ptr(), 0, 1..shape.planes, others) }?;
        picture.put_luma(luma, place, shape.line_bytes[0]);
        Some(picture)
    }

    /// A picture to be filled whose first plane is that of `luma`, and whose others lie in a buffer of their own.
    pub fn picture_around(&self, luma: &Picture, format: RawFormat) -> Option<Picture> {
        let size = luma.size();
        let shape = Shape::aligned(format, (size.0 as c_int, size.1 as c_int), [ALIGNMENT as c_int; 8])?;
        let others = Box::new(self.others.take(shape.bytes(1..shape.planes)));
        let mut picture = Picture::empty(format, size);
        // SAFETY: both pictures are valid, and this one is empty.
        unsafe {
            let (from, to) = (luma.as_ptr(), picture.as_mut_ptr());
            (*to).buf[0] = ffi::av_buffer_ref((*from).buf[0]);
            if (*to).buf[0].is_null() {
                return None;
            }
            (*to).data[0] = (*from).data[0];
            (*to).linesize[0] = (*from).linesize[0];
            (*to).opaque = (*from).opaque;
            shape.place(to, 1, 1..shape.planes, others)?;
        }
        Some(picture)
    }
}

/// Bytes from one row of luma to the next in pictures of this format and size; `None` when there can be none.
pub(super) fn luma_stride(format: RawFormat, (width, height): (usize, usize)) -> Option<usize> {
    let shape = Shape::aligned(format, (width as c_int, height as c_int), [ALIGNMENT as c_int; 8])?;
    usize::try_from(shape.line_bytes[0]).ok()
}

impl Shape {
    /// The shape that the decoder needs for this picture, by the rules of FFmpeg's own buffers; `None` when those rules
    /// do not apply.
    ///
    /// # Safety
    /// As for [`get_buffer`].
    unsafe fn of_decoder(
        context: *mut ffi::AVCodecContext,
        frame: *const ffi::AVFrame,
        format: RawFormat,
    ) -> Option<Shape> {
        let mut align = [0; 8];
        // SAFETY: the context is that of a decoder at work, and the array is as long as FFmpeg has it.
        let size = unsafe {
            if (*context).pix_fmt != format.0 {
                return None;
            }
            let (mut width, mut height) = ((*frame).width, (*frame).height);
            ffi::avcodec_align_dimensions2(context, &mut width, &mut height, align.as_mut_ptr());
            (width, height)
        };
        Shape::aligned(format, size, align)
    }

    /// The shape of pictures with lines at multiples of `align`; `None` when there can be none.
    fn aligned(format: RawFormat, (mut width, height): (c_int, c_int), align: [c_int; 8]) -> Option<Shape> {
        let mut line_bytes = [0; PLANES];
        let mut plane_bytes = [0; PLANES];
        loop {
            // Lines are not aligned one by one: decoders rely on their proportions.
            // SAFETY: the array is as long as FFmpeg has it.
            if unsafe { ffi::av_image_fill_linesizes(line_bytes.as_mut_ptr(), format.0, width) } < 0 {
                return None;
            }
            if line_bytes.iter().zip(align).all(|(&bytes, align)| bytes % align.max(1) == 0) {
                break;
            }
            // By the lowest bit that is set.
            width += width & width.wrapping_neg();
        }
        let lines = line_bytes.map(|bytes| bytes as isize);
        // SAFETY: the arrays are as long as FFmpeg has them.
        if unsafe { ffi::av_image_fill_plane_sizes(plane_bytes.as_mut_ptr(), format.0, height, lines.as_ptr()) } < 0 {
            return None;
        }
        let planes = plane_bytes.iter().take_while(|&&bytes| bytes > 0).count();
        Some(Shape { planes, line_bytes, plane_bytes })
    }

    /// Bytes of a buffer for these planes.
    fn bytes(&self, planes: std::ops::Range<usize>) -> usize {
        self.plane_bytes[planes].iter().map(|&bytes| room(bytes)).sum()
    }

    /// Makes `buffer` the picture's buffer number `index`, with these planes in it; the picture then owns it. `None` when it
    /// is shorter than [`bytes`](Shape::bytes) says, or cannot be lent.
    ///
    /// # Safety
    /// The picture is valid and has no such buffer yet.
    unsafe fn place(
        &self,
        frame: *mut ffi::AVFrame,
        index: usize,
        planes: std::ops::Range<usize>,
        buffer: Box<dyn Buffer>,
    ) -> Option<()> {
        let pinned = buffer.is_pinned();
        if buffer.len() < self.bytes(planes.clone()) {
            return None;
        }
        let reference = lend(buffer)?;
        // SAFETY: the frame is valid by the caller's promise, the reference was just made, and has room for the planes.
        unsafe {
            let mut start = (*reference).data;
            (*frame).buf[index] = reference;
            if pinned {
                // By this sign `is_pinned` knows the buffer again.
                (*frame).opaque = start.cast();
            }
            for plane in planes {
                (*frame).data[plane] = start;
                (*frame).linesize[plane] = self.line_bytes[plane];
                start = start.add(room(self.plane_bytes[plane]));
            }
        }
        Some(())
    }
}

/// Makes an AVBufferRef of `buffer`, which FFmpeg then owns; `None` when there is no memory for it, or it is not aligned.
pub(super) fn lend(buffer: Box<dyn Buffer>) -> Option<*mut ffi::AVBufferRef> {
    let len = buffer.len();
    let owner: *mut Box<dyn Buffer> = Box::into_raw(Box::new(buffer));
    // SAFETY: `owner` lives until `give_back` drops it. Until then only FFmpeg uses the bytes.
    unsafe {
        let start = (*owner).as_mut_ptr();
        let aligned = start.addr().is_multiple_of(ALIGNMENT);
        let reference = match aligned {
            true => ffi::av_buffer_create(start, len, Some(give_back), owner.cast(), 0),
            false => ptr::null_mut(),
        };
        if reference.is_null() {
            drop(Box::from_raw(owner));
            return None;
        }
        Some(reference)
    }
}

/// What a plane takes of a buffer.
fn room(bytes: usize) -> usize {
    (bytes + BEHIND + ALIGNMENT - 1).next_multiple_of(ALIGNMENT)
}

/// Whether a buffer of this picture is one that a pool has pinned.
pub(super) fn is_pinned(frame: &ffi::AVFrame, buffer: &ffi::AVBufferRef) -> bool {
    !frame.opaque.is_null() && frame.opaque.cast() == buffer.data
}

/// FFmpeg's question for a decoder's memory, as `AVCodecContext::get_buffer2` asks it, on any of its threads.
///
/// # Safety
/// `context` is that of a decoder whose `opaque` points to a [`DecoderBuffers`] that outlives it, and `frame` is empty but for
/// its format and size.
pub(super) unsafe extern "C" fn get_buffer(
    context: *mut ffi::AVCodecContext,
    frame: *mut ffi::AVFrame,
    flags: c_int,
) -> c_int {
    // SAFETY: by the caller's promise, in all three.
    unsafe {
        let buffers = (*context).opaque.cast::<DecoderBuffers>().as_ref();
        match buffers.and_then(|buffers| buffers.lend(context, frame)) {
            Some(()) => 0,
            None => ffi::avcodec_default_get_buffer2(context, frame, flags),
        }
    }
}

unsafe extern "C" fn give_back(owner: *mut c_void, _data: *mut u8) {
    // SAFETY: `lend` made it with `Box::into_raw`, and FFmpeg calls this once, after the last reference to the buffer is gone.
    drop(unsafe { Box::from_raw(owner.cast::<Box<dyn Buffer>>()) });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lends half of what it is asked for.
    struct Stingy(HostPool);

    impl Pool for Stingy {
        fn buffer(&self, len: usize) -> anyhow::Result<Box<dyn Buffer>> {
            self.0.buffer(len / 2)
        }
    }

    #[test]
    fn a_buffer_that_is_too_short_is_not_written_past() {
        let buffers = DecoderBuffers::default();
        buffers.use_pool(Arc::new(Stingy(HostPool::default())));
        let format = RawFormat::from_name("yuv420p").unwrap();
        assert!(buffers.picture(format, (640, 480)).is_none());
    }
}
