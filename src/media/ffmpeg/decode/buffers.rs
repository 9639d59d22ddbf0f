//! Custom picture buffers for decoders (`AVCodecContext::get_buffer2`), from a [`Pool`]. With pinned memory from the
//! pool, a decoded picture is uploaded to the GPU without a copy on the host.
#![allow(unsafe_code, reason = "FFI")]

use crate::ffmpeg::frame::{Picture, RawFormat};
use crate::ffmpeg::log::Logged;
use ffmpeg_next::ffi;
use histeq::Limits;
use histeq::internal::frame::{Buffer, HostPool, Memory, NoRoom, Pool};
use std::ffi::{CStr, c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

/// Bytes that decoders may read or write past a plane's last byte, as in FFmpeg's own buffers.
const PADDING: usize = 16;

/// Alignment of planes, in bytes: that of the widest SIMD vector.
const ALIGNMENT: usize = 64;

/// Codecs whose decoders write all samples of a picture: they conceal damage, or are of raw video, whose frames are
/// always complete.
const LEAVES_NOTHING_OUT: [ffi::AVCodecID; 5] = [
    ffi::AVCodecID::AV_CODEC_ID_H264,
    ffi::AVCodecID::AV_CODEC_ID_MPEG1VIDEO,
    ffi::AVCodecID::AV_CODEC_ID_MPEG2VIDEO,
    ffi::AVCodecID::AV_CODEC_ID_MPEG4,
    ffi::AVCodecID::AV_CODEC_ID_RAWVIDEO,
];

/// The most planes of a picture in FFmpeg.
const PLANES: usize = 4;

/// Buffers for the pictures of one decoder. Its threads use them concurrently.
pub(crate) struct DecoderBuffers {
    limits: Limits,
    pool: RwLock<Option<Arc<dyn Pool>>>,
    /// Why a picture got no buffer, if memory for it was refused.
    refused: OnceLock<NoRoom>,
    /// Buffers for the planes that the pool does not serve. They are separate, so that an encoder that keeps such
    /// planes does not keep a buffer of the pool.
    plane_buffers: OnceLock<HostPool>,
    /// Buffers for whole pictures, if there is no pool.
    picture_buffers: HostPool,
    /// The errors that the decoder's threads have logged.
    damage: Mutex<LoggedDamage>,
    /// Whether the decoder has logged any damage.
    has_damage: AtomicBool,
}

/// Errors that a decoder's threads have logged. Each thread has an `AVCodecContext` of its own, identified by address.
#[derive(Default)]
struct LoggedDamage {
    /// The picture that each context decodes, or has decoded last.
    under_way: Vec<(usize, Arc<PictureState>)>,
    /// The contexts that have logged an error since their last picture was returned.
    early: Vec<usize>,
}

/// One of [`INTACT`], [`DAMAGED`], [`OUT`], which all references to a picture share through `opaque_ref`.
type PictureState = AtomicU8;

/// The opaque pointer of buffers that hold a [`PictureState`], by which they are recognized. It is never dereferenced.
const STATE_OWNER: *mut c_void = ptr::without_provenance_mut(0x7374_6174);

/// No error has been logged so far while the picture was decoded.
const INTACT: u8 = 0;
/// An error was logged while the picture was decoded.
const DAMAGED: u8 = 1;
/// The decoder has returned the picture.
const OUT: u8 = 2;

/// Strides and sizes of the planes of a picture.
struct BufferLayout {
    planes: usize,
    line_bytes: [c_int; PLANES],
    plane_bytes: [usize; PLANES],
}

/// Notes that a decoder has logged damage. From decoders that conceal damage, only messages about concealment count:
/// they also log an error for a packet that they reject as a whole, which would mark the previous picture.
///
/// # Safety
/// `context` is what FFmpeg logs a message for: null, or a structure that begins with its `AVClass`.
pub(crate) unsafe fn note_damage(context: *mut c_void, logged: Logged) {
    // SAFETY: by the caller's promise; a class that is there has a name, and is that of the structure. Only `Decoder`
    // sets `opaque`, to buffers that live longer than the context; the contexts of a decoder's threads are copies of
    // its own.
    unsafe {
        let Some(class) = context.cast::<*const ffi::AVClass>().as_ref().and_then(|class| class.as_ref()) else {
            return;
        };
        if CStr::from_ptr(class.class_name) == c"AVCodecContext" {
            let decoder = context.cast::<ffi::AVCodecContext>();
            if logged == Logged::Error && LEAVES_NOTHING_OUT.contains(&(*decoder).codec_id) {
                return;
            }
            let buffers = (*decoder).opaque.cast::<DecoderBuffers>().as_ref();
            buffers.into_iter().for_each(|buffers| buffers.note(context.addr()));
        }
    }
}

impl DecoderBuffers {
    /// Buffers within these limits.
    pub fn new(limits: &Limits) -> Self {
        DecoderBuffers {
            limits: limits.clone(),
            pool: RwLock::default(),
            refused: OnceLock::new(),
            plane_buffers: OnceLock::new(),
            picture_buffers: HostPool::new(limits),
            damage: Mutex::default(),
            has_damage: AtomicBool::new(false),
        }
    }

    /// Allocates pictures from `pool` from now on.
    pub fn use_pool(&self, pool: Arc<dyn Pool>) {
        *self.pool.write().unwrap_or_else(PoisonError::into_inner) = Some(pool);
    }

    /// Allocates the planes that the pool does not serve from `buffers`. It has no effect after the first picture.
    pub fn share_plane_buffers(&self, buffers: HostPool) {
        let _ = self.plane_buffers.set(buffers);
    }

    fn plane_buffers(&self) -> &HostPool {
        self.plane_buffers.get_or_init(|| HostPool::new(&self.limits))
    }

    /// The pool, if there is one.
    pub fn pool(&self) -> Option<Arc<dyn Pool>> {
        self.pool.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Why a picture got no buffer, if memory for it was refused.
    pub fn refused(&self) -> Option<NoRoom> {
        self.refused.get().copied()
    }

    fn damage(&self) -> MutexGuard<'_, LoggedDamage> {
        self.damage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes an error of this context. It counts for the picture that the context decodes, or, if the decoder has
    /// returned that, for the next one.
    fn note(&self, context: usize) {
        self.has_damage.store(true, Ordering::Relaxed);
        let mut damage = self.damage();
        let under_way = damage.under_way.iter().find(|(known, _)| *known == context);
        let noted = under_way.is_some_and(|(_, state)| {
            let noted = state.compare_exchange(INTACT, DAMAGED, Ordering::Relaxed, Ordering::Relaxed);
            noted != Err(OUT)
        });
        if !noted && !damage.early.contains(&context) {
            damage.early.push(context);
        }
    }

    /// Attaches a state to a new picture of this context. If its allocation fails, no damage is noted for the picture.
    ///
    /// # Safety
    /// The picture is valid.
    unsafe fn begin(&self, context: usize, frame: *mut ffi::AVFrame) {
        let mut damage = self.damage();
        let early =
            damage.early.iter().position(|&known| known == context).map(|index| damage.early.swap_remove(index));
        let state = Arc::new(PictureState::new(if early.is_some() { DAMAGED } else { INTACT }));
        // SAFETY: the reference owns a count of the state, which `free_state` gives back; the frame is valid.
        unsafe {
            let data = Arc::into_raw(state.clone()).cast_mut().cast::<u8>();
            let reference = ffi::av_buffer_create(data, size_of::<PictureState>(), Some(free_state), STATE_OWNER, 0);
            if reference.is_null() {
                free_state(STATE_OWNER, data);
                return;
            }
            ffi::av_buffer_unref(&mut (*frame).opaque_ref);
            (*frame).opaque_ref = reference;
        }
        match damage.under_way.iter_mut().find(|(known, _)| *known == context) {
            Some((_, of_context)) => *of_context = state,
            None => damage.under_way.push((context, state)),
        }
    }

    /// Whether an error was logged while this picture was decoded. From now on, the picture counts as returned.
    pub fn is_damaged(&self, picture: &Picture) -> bool {
        // SAFETY: the picture and its buffers are valid; a buffer with our owner pointer holds a state.
        let state = unsafe {
            let held = (*picture.as_ptr()).opaque_ref;
            let is_ours = !held.is_null() && ffi::av_buffer_get_opaque(held) == STATE_OWNER;
            is_ours.then(|| &*(*held).data.cast::<PictureState>())
        };
        match state.map(|state| state.swap(OUT, Ordering::Relaxed)) {
            Some(DAMAGED) => true,
            Some(INTACT) => false,
            // The picture has no state, because its decoder has buffers of its own, or the picture was returned before.
            _ => !std::mem::take(&mut self.damage().early).is_empty(),
        }
    }

    /// Whether any damage has been logged.
    pub fn has_damage(&self) -> bool {
        self.has_damage.load(Ordering::Relaxed)
    }

    /// Forgets what has been logged while the decoder was opened.
    pub fn forget_opening(&self) {
        self.has_damage.store(false, Ordering::Relaxed);
        self.forget_early_errors();
    }

    /// Forgets the errors that the next pictures would be marked for.
    pub fn forget_early_errors(&self) {
        self.damage().early.clear();
    }

    /// Allocates memory for an empty picture. `None` when FFmpeg has to allocate it: with an exhausted pool, or for a
    /// format that is not native, such as GPU surfaces.
    ///
    /// # Safety
    /// As for [`get_buffer`].
    unsafe fn allocate(&self, context: *mut ffi::AVCodecContext, frame: *mut ffi::AVFrame) -> Option<()> {
        let (buffers, pool) = (&self.picture_buffers, self.pool());
        let pool: &dyn Pool = pool.as_deref().unwrap_or(buffers);
        // SAFETY: FFmpeg has set the number.
        let format = unsafe { RawFormat::from_number((*frame).format) };
        let native = format.native()?;
        // SAFETY: by the caller's promise.
        let layout = unsafe { BufferLayout::for_decoder(context, frame, format) }?;
        let served = pool.planes(native);
        let split = served.end.min(layout.planes);
        if served.start > 0 || split == 0 || layout.planes != native.descriptor().planes().len() {
            return None;
        }
        let first = pool.buffer(layout.bytes(0..split)).ok()?;
        // SAFETY: the picture is empty.
        unsafe {
            (*frame).opaque = ptr::null_mut();
            layout.attach(frame, 0, 0..split, first)?;
            if split < layout.planes {
                let rest = Box::new(self.plane_buffers().take(layout.bytes(split..layout.planes)));
                if layout.attach(frame, 1, split..layout.planes, rest).is_none() {
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

    /// An uninitialized picture with all planes in one buffer, from the pool if there is one.
    pub fn picture(&self, format: RawFormat, size: (usize, usize)) -> Option<Picture> {
        let layout = BufferLayout::for_size(format, size)?;
        let bytes = layout.bytes(0..layout.planes);
        let pooled = self.pool().and_then(|pool| pool.buffer(bytes).ok());
        let buffer = pooled.unwrap_or_else(|| Box::new(self.picture_buffers.take(bytes)));
        let mut picture = Picture::empty(format, size);
        // SAFETY: the picture is empty.
        unsafe { layout.attach(picture.as_mut_ptr(), 0, 0..layout.planes, buffer) }?;
        Some(picture)
    }

    /// A picture whose first plane is `luma`, in GPU memory with rows [`luma_stride`] bytes apart. The other planes are
    /// uninitialized, in one buffer of the host.
    pub fn picture_with_device_luma(
        &self,
        luma: Arc<dyn Memory>,
        format: RawFormat,
        size: (usize, usize),
    ) -> Option<Picture> {
        let address = luma.on_device()?;
        let layout = BufferLayout::for_size(format, size)?;
        let chroma = Box::new(self.plane_buffers().take(layout.bytes(1..layout.planes)));
        let mut picture = Picture::empty(format, size);
        // SAFETY: the picture is empty.
        unsafe { layout.attach(picture.as_mut_ptr(), 0, 1..layout.planes, chroma) }?;
        picture.set_device_luma(luma, address, layout.line_bytes[0]);
        Some(picture)
    }

    /// A picture that shares the first plane of `luma`. The other planes are uninitialized, in one buffer.
    pub fn picture_sharing_luma(&self, luma: &Picture, format: RawFormat) -> Option<Picture> {
        let size = luma.size();
        let layout = BufferLayout::for_size(format, size)?;
        let chroma = Box::new(self.plane_buffers().take(layout.bytes(1..layout.planes)));
        let mut picture = Picture::empty(format, size);
        // SAFETY: both pictures are valid, and this one is empty.
        unsafe {
            let (source, target) = (luma.as_ptr(), picture.as_mut_ptr());
            (*target).buf[0] = ffi::av_buffer_ref((*source).buf[0]);
            if (*target).buf[0].is_null() {
                return None;
            }
            (*target).data[0] = (*source).data[0];
            (*target).linesize[0] = (*source).linesize[0];
            (*target).opaque = (*source).opaque;
            layout.attach(target, 1, 1..layout.planes, chroma)?;
        }
        Some(picture)
    }
}

/// Bytes of a picture of this format and size, with padding; `None` for a size that FFmpeg refuses.
pub(crate) fn picture_bytes(format: RawFormat, size: (usize, usize)) -> Option<usize> {
    let layout = BufferLayout::for_size(format, size)?;
    Some(layout.bytes(0..layout.planes))
}

/// Bytes from one row of luma to the next in pictures of this format and size; `None` for a size that FFmpeg refuses.
pub(crate) fn luma_stride(format: RawFormat, size: (usize, usize)) -> Option<usize> {
    usize::try_from(BufferLayout::for_size(format, size)?.line_bytes[0]).ok()
}

impl BufferLayout {
    /// The layout that the decoder needs for this picture, by the rules of FFmpeg's own buffers; `None` when those
    /// rules do not apply.
    ///
    /// # Safety
    /// As for [`get_buffer`].
    unsafe fn for_decoder(
        context: *mut ffi::AVCodecContext,
        frame: *const ffi::AVFrame,
        format: RawFormat,
    ) -> Option<Self> {
        let mut align = [0; 8];
        // SAFETY: the context is an open decoder's, and the array has the length that FFmpeg expects.
        let size = unsafe {
            if (*context).pix_fmt != format.0 {
                return None;
            }
            let (mut width, mut height) = ((*frame).width, (*frame).height);
            ffi::avcodec_align_dimensions2(context, &mut width, &mut height, align.as_mut_ptr());
            (width, height)
        };
        BufferLayout::aligned(format, size, align)
    }

    /// The layout of pictures of this size; `None` for a size that FFmpeg refuses.
    fn for_size(format: RawFormat, (width, height): (usize, usize)) -> Option<Self> {
        BufferLayout::aligned(format, (width as c_int, height as c_int), [ALIGNMENT as c_int; 8])
    }

    /// The layout of pictures whose strides are multiples of `align`; `None` for a size that FFmpeg refuses.
    fn aligned(format: RawFormat, (mut width, height): (c_int, c_int), align: [c_int; 8]) -> Option<Self> {
        let mut line_bytes = [0; PLANES];
        let mut plane_bytes = [0; PLANES];
        loop {
            // Widen the picture until all strides are aligned: decoders rely on the ratio between the strides.
            // SAFETY: the array has the length that FFmpeg expects.
            if unsafe { ffi::av_image_fill_linesizes(line_bytes.as_mut_ptr(), format.0, width) } < 0 {
                return None;
            }
            if line_bytes.iter().zip(align).all(|(&bytes, align)| bytes % align.max(1) == 0) {
                break;
            }
            // Adding the lowest set bit makes the width a multiple of the next power of two.
            width += width & width.wrapping_neg();
        }
        let lines = line_bytes.map(|bytes| bytes as isize);
        // SAFETY: the arrays have the length that FFmpeg expects.
        if unsafe { ffi::av_image_fill_plane_sizes(plane_bytes.as_mut_ptr(), format.0, height, lines.as_ptr()) } < 0 {
            return None;
        }
        let planes = plane_bytes.iter().take_while(|&&bytes| bytes > 0).count();
        Some(BufferLayout { planes, line_bytes, plane_bytes })
    }

    /// Bytes of a buffer for these planes.
    fn bytes(&self, planes: std::ops::Range<usize>) -> usize {
        self.plane_bytes[planes].iter().map(|&bytes| padded(bytes)).sum()
    }

    /// Makes `buffer` the picture's buffer number `index`, with these planes in it; the picture then owns it. `None`
    /// when it is shorter than [`bytes`](BufferLayout::bytes), or [`into_buffer_ref`] fails.
    ///
    /// # Safety
    /// The picture is valid and has no such buffer yet.
    unsafe fn attach(
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
        let reference = into_buffer_ref(buffer)?;
        // SAFETY: the frame is valid by the caller's promise; the reference is new, and long enough for the planes.
        unsafe {
            let mut start = (*reference).data;
            (*frame).buf[index] = reference;
            if pinned {
                // `is_pinned` compares `opaque` with the buffer's address.
                (*frame).opaque = start.cast();
            }
            for plane in planes {
                (*frame).data[plane] = start;
                (*frame).linesize[plane] = self.line_bytes[plane];
                start = start.add(padded(self.plane_bytes[plane]));
            }
        }
        Some(())
    }
}

/// Wraps `buffer` in an AVBufferRef, which then owns it; `None` when memory runs out, or the buffer is not aligned.
pub(crate) fn into_buffer_ref(buffer: Box<dyn Buffer>) -> Option<*mut ffi::AVBufferRef> {
    let len = buffer.len();
    let owner: *mut Box<dyn Buffer> = Box::into_raw(Box::new(buffer));
    // SAFETY: `owner` lives until `free_buffer` drops it. Until then only FFmpeg uses the bytes.
    unsafe {
        let start = (*owner).as_mut_ptr();
        let aligned = start.addr().is_multiple_of(ALIGNMENT);
        let reference = match aligned {
            true => ffi::av_buffer_create(start, len, Some(free_buffer), owner.cast(), 0),
            false => ptr::null_mut(),
        };
        if reference.is_null() {
            drop(Box::from_raw(owner));
            return None;
        }
        Some(reference)
    }
}

/// Bytes of a plane in a buffer, with padding.
fn padded(bytes: usize) -> usize {
    (bytes + PADDING + ALIGNMENT - 1).next_multiple_of(ALIGNMENT)
}

/// Whether this buffer of the picture is in pinned memory.
pub(crate) fn is_pinned(frame: &ffi::AVFrame, buffer: &ffi::AVBufferRef) -> bool {
    !frame.opaque.is_null() && frame.opaque.cast() == buffer.data
}

/// The callback `AVCodecContext::get_buffer2`, which allocates a picture. FFmpeg calls it on any thread of the decoder.
///
/// # Safety
/// `context` is that of a decoder whose `opaque` points to a [`DecoderBuffers`] that outlives it, and `frame` is empty
/// but for its format and size.
pub(crate) unsafe extern "C" fn get_buffer(
    context: *mut ffi::AVCodecContext,
    frame: *mut ffi::AVFrame,
    flags: c_int,
) -> c_int {
    // SAFETY: by the caller's promise, in all three.
    unsafe {
        let buffers = (*context).opaque.cast::<DecoderBuffers>().as_ref();
        // The size of GPU surfaces is an error, and counts as 0 bytes.
        let bytes = ffi::av_image_get_buffer_size((*context).pix_fmt, (*frame).width, (*frame).height, 1);
        if let Some(buffers) = buffers
            && let Err(no_room) = buffers.limits.check_room(usize::try_from(bytes).unwrap_or(0))
        {
            let _ = buffers.refused.set(no_room);
            return ffi::AVERROR(libc::ENOMEM);
        }
        let allocated = match buffers.and_then(|buffers| buffers.allocate(context, frame)) {
            Some(()) => 0,
            None => ffi::avcodec_default_get_buffer2(context, frame, flags),
        };
        if let (Some(buffers), 0..) = (buffers, allocated) {
            clear(context, frame);
            buffers.begin(context.addr(), frame);
        }
        allocated
    }
}

/// Clears the memory of a new picture, which may hold an older one: otherwise the samples that a decoder does not write
/// in a damaged picture would depend on the order in which its threads got their memory. Clearing takes up to 1 % of
/// the processor time (benches/results/walls.md), so pictures that are always complete are not cleared. Memory of a GPU
/// stays as it is.
///
/// # Safety
/// `context` is valid. `frame` was just allocated: no other thread reads or writes its memory.
unsafe fn clear(context: *const ffi::AVCodecContext, frame: *mut ffi::AVFrame) {
    // SAFETY: by the caller's promise; buffers are null or valid.
    unsafe {
        // With slice threads, damage in H.264 is not concealed.
        let has_slice_threads = (*context).active_thread_type & ffi::FF_THREAD_SLICE != 0;
        let is_spared = !has_slice_threads && LEAVES_NOTHING_OUT.contains(&(*context).codec_id);
        if is_spared || !(*frame).hw_frames_ctx.is_null() {
            return;
        }
        for buffer in (*frame).buf.iter().filter_map(|buffer| buffer.as_ref()) {
            ptr::write_bytes(buffer.data, 0, buffer.size);
        }
    }
}

unsafe extern "C" fn free_state(_owner: *mut c_void, data: *mut u8) {
    // SAFETY: `begin` made it with `Arc::into_raw`; FFmpeg calls this once, after the last reference is gone.
    drop(unsafe { Arc::from_raw(data.cast::<PictureState>()) });
}

unsafe extern "C" fn free_buffer(owner: *mut c_void, _data: *mut u8) {
    // SAFETY: `into_buffer_ref` made it with `Box::into_raw`; FFmpeg calls this once, after the last reference is gone.
    drop(unsafe { Box::from_raw(owner.cast::<Box<dyn Buffer>>()) });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pool that returns buffers of half the requested length.
    struct ShortPool(HostPool);

    impl Pool for ShortPool {
        fn buffer(&self, len: usize) -> Result<Box<dyn Buffer>, histeq::internal::frame::MemoryError> {
            self.0.buffer(len / 2)
        }
    }

    #[test]
    fn a_buffer_that_is_too_short_is_not_written_past() {
        let buffers = DecoderBuffers::new(&Limits::default());
        buffers.use_pool(Arc::new(ShortPool(HostPool::default())));
        let format = RawFormat::from_name("yuv420p").unwrap();
        assert!(buffers.picture(format, (640, 480)).is_none());
    }
}
