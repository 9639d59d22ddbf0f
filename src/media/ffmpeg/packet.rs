//! AVPacket: a packet of compressed data between demuxer and decoder, or encoder and muxer.
#![allow(unsafe_code, reason = "FFI")]

use super::decode::buffers::into_buffer_ref;
use super::{Error, check};
use crate::sys::out_of_memory;
use ffmpeg_next::{Rational, ffi};
use histeq::internal::frame::Buffer;
use std::fs::File;
use std::io::Read;

/// A packet of any stream. Its bytes are reference-counted, and may outlive the input.
pub struct Packet {
    ptr: *mut ffi::AVPacket,
    /// Whether its bytes are in pinned memory.
    pinned: bool,
}

owned!(Packet { pinned: false }, AVPacket, av_packet_alloc, av_packet_free);

impl Packet {
    /// A packet with these bytes, times and duration; `is_key` if it is a key frame.
    pub fn from_bytes(bytes: &[u8], times: [i64; 2], duration: i64, is_key: bool) -> Self {
        let size = i32::try_from(bytes.len()).unwrap_or(i32::MAX);
        let mut packet = Packet::with_size(size, times, duration).unwrap_or_else(|_| out_of_memory());
        // SAFETY: the new bytes are the packet's own, and no more than those that are copied.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), (*packet.ptr).data, size as usize) };
        packet.get_mut().flags = if is_key { ffi::AV_PKT_FLAG_KEY } else { 0 };
        packet
    }

    /// A copy of this packet with other bytes.
    #[must_use]
    pub fn with_bytes(&self, bytes: &[u8]) -> Self {
        let times = [self.pts(), self.dts()].map(|time| time.unwrap_or(0));
        Packet::from_bytes(bytes, times, self.duration(), self.is_key())
    }

    /// A key-frame packet of `size` uninitialized bytes.
    fn with_size(size: i32, times: [i64; 2], duration: i64) -> Result<Self, Error> {
        let mut packet = Packet::new();
        // SAFETY: the packet is valid and empty.
        check(unsafe { ffi::av_new_packet(packet.ptr, size) })?;
        let fields = packet.get_mut();
        [fields.pts, fields.dts] = times;
        fields.duration = duration;
        fields.flags = ffi::AV_PKT_FLAG_KEY;
        Ok(packet)
    }

    /// A key-frame packet with all bytes of `file`, these times and this duration.
    ///
    /// # Errors
    /// When it cannot be read, or is too large.
    pub(super) fn from_file(mut file: &File, times: [i64; 2], duration: i64) -> Result<Self, Error> {
        let failed = |error: std::io::Error| Error::Other { errno: error.raw_os_error().unwrap_or(libc::EIO) };
        let size = i32::try_from(file.metadata().map_err(failed)?.len()).map_err(|_| super::OUT_OF_MEMORY)?;
        let packet = Packet::with_size(size, times, duration)?;
        // SAFETY: the packet has `size` bytes at `data`, which nothing else uses. The allocator has not written to
        // them.
        let bytes = unsafe {
            std::ptr::write_bytes((*packet.ptr).data, 0, size as usize);
            std::slice::from_raw_parts_mut((*packet.ptr).data, size as usize)
        };
        file.read_exact(bytes).map_err(failed)?;
        Ok(packet)
    }

    /// A copy of the packet in `buffer`, which must have [`Packet::padded_len`] bytes.
    ///
    /// # Errors
    /// When memory runs out.
    pub(super) fn copied_into(&self, mut buffer: Box<dyn Buffer>) -> Result<Packet, Error> {
        let mut copy = Packet::new();
        // SAFETY: both packets are valid.
        check(unsafe { ffi::av_packet_copy_props(copy.ptr, self.ptr) })?;
        let (bytes, padding) = buffer.split_at_mut(self.len());
        bytes.copy_from_slice(self.data());
        padding[..ffi::AV_INPUT_BUFFER_PADDING_SIZE as usize].fill(0);
        copy.pinned = buffer.is_pinned();
        let reference = into_buffer_ref(buffer).ok_or(super::OUT_OF_MEMORY)?;
        let len = self.get().size;
        let packet = copy.get_mut();
        packet.buf = reference;
        // SAFETY: the reference is new and valid.
        packet.data = unsafe { (*reference).data };
        packet.size = len;
        Ok(copy)
    }

    /// Its size in bytes with padding: FFmpeg reads a little past the end.
    pub(super) fn padded_len(&self) -> usize {
        self.len() + ffi::AV_INPUT_BUFFER_PADDING_SIZE as usize
    }

    /// The address of its bytes, if they are in pinned memory.
    pub(super) fn pinned(&self) -> Option<*const u8> {
        self.pinned.then(|| self.get().data.cast_const())
    }

    /// The index of its stream.
    pub fn stream(&self) -> usize {
        self.get().stream_index as usize
    }

    /// Assigns it to another stream.
    pub fn set_stream(&mut self, index: usize) {
        self.get_mut().stream_index = index as i32;
    }

    /// Its presentation time, or its decoding time if it has none, in its stream's time base.
    pub fn time(&self) -> Option<i64> {
        let known = |time: i64| (time != ffi::AV_NOPTS_VALUE).then_some(time);
        known(self.get().pts).or(known(self.get().dts))
    }

    /// Presentation time in its stream's time base.
    pub fn pts(&self) -> Option<i64> {
        (self.get().pts != ffi::AV_NOPTS_VALUE).then_some(self.get().pts)
    }

    /// Decoding time in its stream's time base.
    pub fn dts(&self) -> Option<i64> {
        (self.get().dts != ffi::AV_NOPTS_VALUE).then_some(self.get().dts)
    }

    /// Its duration in its stream's time base, 0 when unknown.
    pub fn duration(&self) -> i64 {
        self.get().duration
    }

    /// Sets its duration.
    pub fn set_duration(&mut self, duration: i64) {
        self.get_mut().duration = duration;
    }

    /// Whether it is a key frame.
    pub fn is_key(&self) -> bool {
        self.get().flags & ffi::AV_PKT_FLAG_KEY != 0
    }

    /// Whether the demuxer marked it as corrupt.
    pub fn is_corrupt(&self) -> bool {
        self.get().flags & ffi::AV_PKT_FLAG_CORRUPT != 0
    }

    /// Its bytes.
    pub fn data(&self) -> &[u8] {
        let packet = self.get();
        if packet.data.is_null() {
            return &[];
        }
        // SAFETY: a packet has `size` bytes at `data` for as long as it lives, and nothing writes to them.
        unsafe { std::slice::from_raw_parts(packet.data, self.len()) }
    }

    /// Its size in bytes.
    pub fn len(&self) -> usize {
        self.get().size as usize
    }

    /// Whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the input's edit list hides it. Decoders need it for later packets, but its own output is not presented.
    pub fn is_hidden(&self) -> bool {
        self.get().flags & ffi::AV_PKT_FLAG_DISCARD != 0
    }

    /// Whether it has a new codec header, or other parameters, for the decoder.
    pub fn changes_decoder(&self) -> bool {
        use ffi::AVPacketSideDataType::{AV_PKT_DATA_NEW_EXTRADATA, AV_PKT_DATA_PARAM_CHANGE};
        [AV_PKT_DATA_NEW_EXTRADATA, AV_PKT_DATA_PARAM_CHANGE].into_iter().any(|kind| {
            // SAFETY: the packet is valid; the size is optional.
            !unsafe { ffi::av_packet_get_side_data(self.ptr, kind, std::ptr::null_mut()) }.is_null()
        })
    }

    /// Clamps the times to between `-most` and `most`, and the duration to at most `most`.
    pub fn clamp(&mut self, most: i64) {
        let packet = self.get_mut();
        for time in [&mut packet.pts, &mut packet.dts] {
            if *time != ffi::AV_NOPTS_VALUE {
                *time = (*time).clamp(-most, most);
            }
        }
        packet.duration = packet.duration.clamp(0, most);
    }

    /// Adds `by` to its times.
    pub fn shift(&mut self, by: i64) {
        let packet = self.get_mut();
        for time in [&mut packet.pts, &mut packet.dts] {
            if *time != ffi::AV_NOPTS_VALUE {
                *time = time.saturating_add(by);
            }
        }
    }

    /// Makes its decoding and its presentation time no earlier than `time`, in its stream's time base. Returns by how
    /// much the decoding time has changed.
    pub fn delay_to(&mut self, time: i64) -> i64 {
        let packet = self.get_mut();
        if packet.dts == ffi::AV_NOPTS_VALUE || packet.dts >= time {
            return 0;
        }
        let delay = time - packet.dts;
        packet.dts = time;
        if packet.pts != ffi::AV_NOPTS_VALUE {
            packet.pts = packet.pts.max(time);
        }
        delay
    }

    /// Converts its times to another time base.
    pub fn rescale(&mut self, source: Rational, target: Rational) {
        // SAFETY: the packet is valid.
        unsafe { ffi::av_packet_rescale_ts(self.ptr, source.into(), target.into()) };
    }
}

impl Clone for Packet {
    /// A packet that shares the bytes.
    fn clone(&self) -> Self {
        let mut packet = Packet::new();
        packet.pinned = self.pinned;
        // SAFETY: both packets are valid.
        if unsafe { ffi::av_packet_ref(packet.ptr, self.ptr) } < 0 {
            out_of_memory();
        }
        packet
    }
}

impl ffmpeg_next::packet::Ref for Packet {
    fn as_ptr(&self) -> *const ffi::AVPacket {
        self.ptr
    }
}

impl ffmpeg_next::packet::Mut for Packet {
    fn as_mut_ptr(&mut self) -> *mut ffi::AVPacket {
        self.ptr
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ffmpeg::decode::{DecodeOn, Decoded, Decoder, Delay};
    use crate::ffmpeg::demux::Media;
    use histeq::internal::frame::{HostBuffer, HostPool, Memory};
    use std::ops::{Deref, DerefMut};
    use std::sync::Arc;

    /// Memory that reports itself as pinned.
    struct Pinned(HostBuffer);

    impl Deref for Pinned {
        type Target = [u8];
        fn deref(&self) -> &[u8] {
            &self.0
        }
    }

    impl DerefMut for Pinned {
        fn deref_mut(&mut self) -> &mut [u8] {
            &mut self.0
        }
    }

    impl Buffer for Pinned {
        fn freeze(self: Box<Self>) -> Arc<dyn Memory> {
            Arc::new(self.0)
        }
        fn is_pinned(&self) -> bool {
            true
        }
    }

    /// A decoder of raw gray pictures of 64x48.
    fn raw_decoder() -> Decoder {
        let mut stream = Media::for_raw_video("rawvideo", Rational::new(25, 1), None).streams.remove(0);
        // SAFETY: the parameters are valid, and this function is their only user.
        unsafe {
            let parameters = stream.parameters.as_mut_ptr();
            (*parameters).format = ffi::AVPixelFormat::AV_PIX_FMT_GRAY8 as i32;
            ((*parameters).width, (*parameters).height) = (64, 48);
        }
        Decoder::open(&stream, Delay::Lowest, DecodeOn::Cpu, &histeq::Limits::default()).unwrap()
    }

    #[test]
    fn a_raw_picture_lies_where_its_packet_was_copied_to_and_outlives_what_was_lent() {
        let mut driver = vec![7u8; 64 * 48];
        let mut lent = Packet::new();
        // SAFETY: the bytes live as long as the packet points to them; it does not own them.
        unsafe {
            (*lent.as_mut_ptr()).data = driver.as_mut_ptr();
            (*lent.as_mut_ptr()).size = driver.len() as i32;
            (*lent.as_mut_ptr()).pts = 5;
        }
        let copy = lent.copied_into(Box::new(Pinned(HostPool::default().take(lent.padded_len())))).unwrap();
        drop(lent);
        driver.fill(0);
        drop(driver);
        let address = copy.data().as_ptr();
        let mut decoder = raw_decoder();
        decoder.send(Some(&copy)).unwrap();
        drop(copy);
        let Decoded::Picture(picture) = decoder.receive().unwrap() else { panic!("no picture") };
        drop(decoder);
        let frame = picture.to_frame().unwrap().expect("gray is native");
        drop(picture);
        let plane = &frame.planes()[0];
        assert!(plane.row(47).iter().all(|&sample| sample == 7));
        assert_eq!((plane.row(0).as_ptr(), frame.pts), (address, Some(5)));
        assert!(plane.memory().is_pinned(), "a GPU reads it where it lies");
    }
}
