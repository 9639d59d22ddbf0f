//! A live stream to a network server. While the server is not reachable, frames are dropped. Each new connection starts
//! with a new encoder, and so with a key frame. FFmpeg's `fifo` muxer also reconnects, but it resumes between two key
//! frames, and does not notice a server that stalls: see `benches/results/live.md`.

use crate::ffmpeg::demux::Interrupt;
use crate::ffmpeg::mux::Container;
use crate::ffmpeg::{Error, knows_protocol};
use crate::pipeline::{Cancel, Delivery, Input, Notices, Outcome, Pauses, Sink};
use crate::sink::file::FileSink;
use crate::sink::files::target::Target;
use crate::sink::options::OutputOptions;
use crate::sys::files::Name;
use crate::sys::host;
use anyhow::{Context, Result, bail};
use crossbeam_channel::{RecvTimeoutError, bounded};
use histeq::internal::frame::Frame;
use std::net::ToSocketAddrs;
use std::time::{Duration, Instant};

/// The network protocols of live streams, and the container that receivers expect for each.
const PROTOCOLS: &[(&str, &str)] = &[
    ("rtsp", "rtsp"),
    ("rtmp", "flv"),
    ("rtmps", "flv"),
    ("srt", "mpegts"),
    ("udp", "mpegts"),
    ("tcp", "mpegts"),
    ("rtp", "rtp_mpegts"),
];

/// The longest time for connecting to the server.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a server may accept no data before it counts as lost.
const WRITE_TIMEOUT: Duration = Duration::from_secs(4);

/// How long finishing the stream may take after cancellation.
const FINISH_TIMEOUT: Duration = Duration::from_secs(1);

/// A frame that has waited longer than this for the connection is dropped: it would delay the stream for viewers.
const MAX_DELAY: Duration = Duration::from_millis(100);

/// The longest pause between two attempts to connect, kept short because viewers wait.
const MAX_PAUSE: Duration = Duration::from_secs(1);

/// How often the wait for name resolution checks for cancellation.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The container for a live stream to `url`; `None` if that is not a known network protocol.
pub fn network_format(url: &str) -> Option<&'static str> {
    let scheme = url.split_once("://")?.0;
    PROTOCOLS.iter().find(|(protocol, _)| *protocol == scheme).map(|(_, format)| *format)
}

/// A sink that writes to a server while it is reachable.
pub struct Reconnecting {
    input: Input,
    name: Name,
    url: String,
    options: OutputOptions,
    on_gpu: bool,
    cancel: Cancel,
    notices: Notices,
    connection: Option<Connection>,
    was_connected: bool,
    lost_at: Option<Instant>,
    /// The pauses between attempts; only a connection that lasts at least [`Pauses::MAX_PAUSE`] resets them.
    pauses: Pauses,
    /// When the next attempt to connect is due.
    next: Instant,
    missed: u64,
}

struct Connection {
    sink: FileSink,
    interrupt: Interrupt,
    since: Instant,
}

/// The error when a host name cannot be resolved at present.
#[derive(Debug, thiserror::Error)]
#[error("{0} cannot be resolved (is the name right?)")]
struct Unresolved(String);

impl Reconnecting {
    /// Prepares to connect at the first frame, and reports errors that are permanent.
    ///
    /// # Errors
    /// When this FFmpeg lacks protocol, container or encoder, the container cannot hold the codec, or the host name is
    /// unknown.
    pub fn create(
        input: Input,
        target: Target,
        options: OutputOptions,
        on_gpu: bool,
        notices: Notices,
    ) -> Result<Self> {
        let (name, url, cancel) = (target.name().clone(), target.url().to_string(), target.cancel().clone());
        let needs_protocol = Container::guess(options.format.as_deref(), &url).is_some_and(Container::needs_file);
        if needs_protocol && !knows_protocol(&url) {
            bail!("{name}: this FFmpeg does not know such URLs (`ffmpeg -protocols` lists those it does)");
        }
        if host(&url).is_none() && !listens(&url) {
            bail!("{name}: no host in this URL (as in udp://10.0.0.2:5000)");
        }
        resolve(&url, &cancel).with_context(|| name.clone())?;
        let now = Instant::now();
        let sink = Reconnecting {
            input,
            name,
            url,
            options,
            on_gpu,
            cancel,
            notices,
            connection: None,
            was_connected: false,
            lost_at: None,
            pauses: Pauses::default(),
            next: now,
            missed: 0,
        };
        sink.new_sink(&Interrupt::from(sink.cancel.flag()), sink.notices.clone())?;
        Ok(sink)
    }

    fn new_sink(&self, interrupt: &Interrupt, notices: Notices) -> Result<FileSink> {
        let target = Target::network(&Name::from(&self.url));
        let (input, options) = (self.input.clone(), self.options.clone());
        FileSink::prepare(input, target, options, Some(interrupt.clone()), &mut || self.on_gpu, notices)
    }

    /// Connects to the server, and opens the encoder for frames like `first`.
    fn connect(&mut self, first: &Frame) -> Result<()> {
        resolve(&self.url, &self.cancel)?;
        let interrupt = Interrupt::from(self.cancel.flag());
        interrupt.set_timeout(CONNECT_TIMEOUT);
        // [`create`](Self::create) has printed these notices already.
        let notices = self.notices.clone();
        let quiet = Notices::new(false, move |_, message| notices.detail(message));
        let mut sink = self.new_sink(&interrupt, quiet)?;
        sink.begin(first)?;
        interrupt.set_grace(FINISH_TIMEOUT);
        if let Some(lost_at) = self.lost_at.take() {
            let what = if self.was_connected { "back" } else { "connected" };
            self.notices.note(&format!("{}: {what} after {:.1} s", self.name, lost_at.elapsed().as_secs_f64()));
        }
        self.was_connected = true;
        self.connection = Some(Connection { sink, interrupt, since: Instant::now() });
        Ok(())
    }

    fn lose(&mut self, error: &anyhow::Error) {
        let lost = self.connection.take();
        let reason = match error.downcast_ref() {
            Some(Error::Exit) if lost.is_some() => format!("it took nothing for {} s", WRITE_TIMEOUT.as_secs()),
            Some(Error::Exit) => format!("no answer for {} s", CONNECT_TIMEOUT.as_secs()),
            Some(Error::Unknown | Error::InvalidData) => "no connection".to_owned(),
            Some(Error::Eof) => "closed by the server".to_owned(),
            Some(error) => error.to_string(),
            None => format!("{error:#}"),
        };
        let reason = if lost.is_some() { format!("lost ({reason})") } else { reason };
        let message = format!("{}: {reason}; trying again", self.name);
        if self.lost_at.is_none() && !self.cancel.is_cancelled() {
            self.notices.note(&message);
        } else {
            self.notices.detail(&message);
        }
        if lost.is_some_and(|lost| lost.since.elapsed() > Pauses::MAX_PAUSE) || listens(&self.url) {
            self.pauses = Pauses::default();
        }
        let now = Instant::now();
        self.lost_at = self.lost_at.or(Some(now));
        self.next = now + self.pauses.longer().min(MAX_PAUSE);
    }
}

impl Sink for Reconnecting {
    fn write(&mut self, delivery: Delivery) -> Result<()> {
        let (frames, came) = (u64::from(delivery.frame.is_some()), Instant::now());
        let first = delivery.frame.as_ref().filter(|_| came >= self.next && !self.cancel.is_cancelled());
        let ready = match first {
            Some(first) if self.connection.is_none() => self.connect(first),
            _ => Ok(()),
        };
        let written = ready.and_then(|()| match &mut self.connection {
            Some(connection) if came.elapsed() < MAX_DELAY => {
                connection.interrupt.set_timeout(WRITE_TIMEOUT);
                connection.sink.write(delivery)
            }
            _ => {
                self.missed += frames;
                Ok(())
            }
        });
        match written {
            Err(error) if may_pass(&error) => {
                self.lose(&error);
                self.missed += frames;
                Ok(())
            }
            written => written,
        }
    }

    fn missed(&self) -> u64 {
        self.missed
    }

    fn finish(mut self: Box<Self>, outcome: Outcome) -> Result<Option<Name>> {
        let Some(Connection { sink, interrupt, .. }) = self.connection.take() else { return Ok(None) };
        interrupt.set_timeout(WRITE_TIMEOUT);
        match Box::new(sink).finish(outcome) {
            Err(error) if may_pass(&error) => {
                self.notices.note(&format!("{}: the end of the stream did not get there", self.name));
                Ok(None)
            }
            finished => finished,
        }
    }
}

/// Whether FFmpeg waits for clients at this URL (`?mode=listener`, `?listen=1`) instead of connecting to a server.
fn listens(url: &str) -> bool {
    url.split_once('?').is_some_and(|(_, options)| options.contains("listen"))
}

/// Whether the error can be temporary.
fn may_pass(error: &anyhow::Error) -> bool {
    if error.is::<Unresolved>() {
        return true;
    }
    match error.downcast_ref() {
        Some(Error::Other { errno }) => {
            !matches!(*errno, libc::EINVAL | libc::ENOMEM | libc::ENOSYS | libc::EACCES | libc::EPERM)
        }
        // Errors of the connection: encoders do not return these.
        Some(
            Error::Exit
            | Error::Eof
            | Error::Unknown
            | Error::InvalidData
            | Error::HttpNotFound
            | Error::HttpOther4xx
            | Error::HttpServerError,
        ) => true,
        _ => false,
    }
}

/// Checks that the host name can be resolved, because FFmpeg's own name resolution cannot be interrupted.
fn resolve(url: &str, cancel: &Cancel) -> Result<(), Unresolved> {
    let Some(host) = host(url).map(str::to_owned) else { return Ok(()) };
    let (answer, asked) = bounded(1);
    let name = host.clone();
    // If the run is cancelled, nothing waits for this thread: the system's resolver cannot be interrupted.
    let ask = move || answer.send((name.as_str(), 0).to_socket_addrs().is_ok());
    if std::thread::Builder::new().name("resolve".to_owned()).spawn(ask).is_err() {
        return Err(Unresolved(host));
    }
    loop {
        match asked.recv_timeout(POLL_INTERVAL) {
            Ok(true) => return Ok(()),
            Err(RecvTimeoutError::Timeout) if !cancel.is_cancelled() => {}
            _ => return Err(Unresolved(host)),
        }
    }
}
