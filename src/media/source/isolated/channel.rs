//! Messages between processes: a length and the bytes of a value, over a socket that also passes descriptors.

use crate::sys::io::with_elements;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, SocketFlags, SocketType, recvmsg, send, sendmsg, socketpair,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{self, Error, ErrorKind, IoSlice, IoSliceMut, Read};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// The most bytes of a message: the description of an input with all files that it may have attached, and some more.
pub const MAX_BYTES: usize = 320 << 20;

/// The most bytes of a message that is a number or two.
pub const SHORT: usize = 64;

/// The most elements that own memory, in all lists of a message together.
const MAX_ELEMENTS: usize = 1 << 20;

/// The most descriptors that come with a message.
pub const MAX_DESCRIPTORS: usize = 4;

/// Bytes that are read at once.
const PART: usize = 1 << 18;

/// Bytes of a length.
const LENGTH: usize = size_of::<u32>();

/// A message has more bytes than may be sent.
#[derive(Debug, thiserror::Error)]
#[error("a message is too long")]
pub struct TooLong;

/// One end of a connection between two processes.
pub struct Channel(UnixStream);

impl Channel {
    /// Both ends of a new connection.
    pub fn pair() -> io::Result<(Self, Self)> {
        let (a, b) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        Ok((Channel(a.into()), Channel(b.into())))
    }

    /// The end of a connection that this descriptor refers to.
    pub fn new(descriptor: OwnedFd) -> Self {
        Channel(descriptor.into())
    }

    /// A second handle of this end.
    pub fn try_clone(&self) -> io::Result<Self> {
        self.0.try_clone().map(Channel)
    }

    /// Sends a message with descriptors, of which the other side gets copies. Waits without a time limit, so it is only
    /// for processes that end with the other side.
    pub fn send(&self, message: &impl Serialize, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
        self.send_waiting(message, descriptors, || self.ready(PollFlags::OUT, None).map(drop))
    }

    /// As [`send`](Channel::send), but calls `wait` while the socket is full of messages that the other side has not
    /// read.
    pub fn send_waiting<E: From<Error>>(
        &self,
        message: &impl Serialize,
        descriptors: &[BorrowedFd<'_>],
        wait: impl FnMut() -> Result<(), E>,
    ) -> Result<(), E> {
        let bytes = postcard::to_extend(message, vec![0; LENGTH]).map_err(Error::other)?;
        self.send_bytes(bytes, descriptors, wait)
    }

    /// As [`send_waiting`](Channel::send_waiting), for bytes that begin with room for a length.
    pub(super) fn send_bytes<E: From<Error>>(
        &self,
        mut bytes: Vec<u8>,
        descriptors: &[BorrowedFd<'_>],
        mut wait: impl FnMut() -> Result<(), E>,
    ) -> Result<(), E> {
        let length = bytes.len() - LENGTH;
        if length > MAX_BYTES || descriptors.len() > MAX_DESCRIPTORS {
            return Err(Error::other(TooLong).into());
        }
        bytes[..LENGTH].copy_from_slice(&(length as u32).to_le_bytes());
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        if !descriptors.is_empty() {
            ancillary.push(SendAncillaryMessage::ScmRights(descriptors));
        }
        let (flags, mut sent) = (SendFlags::NOSIGNAL | SendFlags::DONTWAIT, 0);
        while sent < bytes.len() {
            let some = match sent {
                0 => retried(|| sendmsg(&self.0, &[IoSlice::new(&bytes)], &mut ancillary, flags)),
                _ => retried(|| send(&self.0, &bytes[sent..], flags)),
            };
            match some {
                Ok(some) => sent += some,
                Err(error) if error.kind() == ErrorKind::WouldBlock => wait()?,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Waits for the next message, for as long as that takes. Its bytes are untrusted.
    ///
    /// # Errors
    /// `UnexpectedEof` when the other side is gone, `InvalidData` when it sends something else.
    pub fn receive<T: DeserializeOwned>(&self) -> io::Result<(T, Vec<OwnedFd>)> {
        self.receive_waiting(MAX_BYTES, || Ok(()))
    }

    /// As [`receive`](Channel::receive), for a message of at most `most` bytes, with a call of `wait` before each read.
    pub fn receive_waiting<T: DeserializeOwned, E: From<Error>>(
        &self,
        most: usize,
        mut wait: impl FnMut() -> Result<(), E>,
    ) -> Result<(T, Vec<OwnedFd>), E> {
        let (mut length, mut filled, mut descriptors) = ([0; LENGTH], 0, Vec::new());
        while filled < LENGTH {
            wait()?;
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
            let mut ancillary = RecvAncillaryBuffer::new(&mut space);
            let mut part = [IoSliceMut::new(&mut length[filled..])];
            let received = retried(|| recvmsg(&self.0, &mut part, &mut ancillary, RecvFlags::CMSG_CLOEXEC))?;
            if received.bytes == 0 {
                return Err(Error::from(ErrorKind::UnexpectedEof).into());
            }
            filled += received.bytes;
            for message in ancillary.drain() {
                if let RecvAncillaryMessage::ScmRights(passed) = message {
                    descriptors.extend(passed);
                }
            }
        }
        let length = u32::from_le_bytes(length) as usize;
        if length > most || descriptors.len() > MAX_DESCRIPTORS {
            return Err(Error::from(ErrorKind::InvalidData).into());
        }
        // Memory is allocated for received bytes only, not for the claimed length.
        let (mut bytes, mut filled) = (Vec::new(), 0);
        while filled < length {
            wait()?;
            bytes.resize(length.min(filled + PART), 0);
            match (&self.0).read(&mut bytes[filled..]) {
                Ok(0) => return Err(Error::from(ErrorKind::UnexpectedEof).into()),
                Ok(count) => filled += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        match with_elements(MAX_ELEMENTS, || postcard::take_from_bytes(&bytes)) {
            Ok((message, [])) => Ok((message, descriptors)),
            _ => Err(Error::from(ErrorKind::InvalidData).into()),
        }
    }

    /// Waits up to `time` for the beginning of a message, or the end of the connection. Returns whether either
    /// occurred.
    pub fn wait(&self, time: Duration) -> io::Result<bool> {
        self.ready(PollFlags::IN, Some(time))
    }

    /// Waits until there is data to read, or room to write, or the other side is gone. Returns `false` if `time` ends
    /// before, or a signal comes.
    pub fn ready(&self, what: PollFlags, time: Option<Duration>) -> io::Result<bool> {
        let time = time.map(|time| Timespec { tv_sec: time.as_secs() as i64, tv_nsec: i64::from(time.subsec_nanos()) });
        let mut polled = [PollFd::new(&self.0, what)];
        match poll(&mut polled, time.as_ref()) {
            Ok(ready) => Ok(ready > 0),
            Err(rustix::io::Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl From<Channel> for OwnedFd {
    fn from(channel: Channel) -> Self {
        channel.0.into()
    }
}

/// Repeats a call that a signal interrupted.
fn retried<T>(mut call: impl FnMut() -> rustix::io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(rustix::io::Errno::INTR) => {}
            result => return result.map_err(Error::from),
        }
    }
}
