//! The code of a decoding process: it opens the input in the sandbox, and delivers what is requested.

use super::channel::{Channel, TooLong};
use super::memory::frames::described;
use super::memory::shared_memory::{SharedBlocks, SharedPool, ask};
use super::messages::{Event, Order, Start, Wants, What, WireDelivery, WireError, WireFrom, WireInput};
use super::source::PACKET_BYTES;
use super::transcoders;
use super::zygote::Confines;
use crate::ffmpeg::{self, FileRead};
use crate::pipeline::{Cancel, Delivery, FailureKind, Input, Notices, Progress, Source};
use crate::sandbox::close_around_decoder;
use crate::source::file::{FileInput, FileSource};
use crate::source::live::input::CameraOptions;
use crate::source::live::reader::{FoundInput, LiveSource};
use crate::source::open::with_hint;
use crate::source::options::InputOptions;
use crate::source::packets::{PacketSurvey, Reading};
use crate::sys::io::Reader;
use crate::sys::no_thread;
use anyhow::{Context, Result, bail};
use crossbeam_channel::{Receiver, TryRecvError, unbounded};
use histeq::Limits;
use histeq::internal::frame::Memory;
use rustix::process::{Resource, Rlimit, chdir, chroot, getrlimit, setrlimit};
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};
use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// A frame is decoded ahead only if this many of its size fit into the memory for frames between source and sink.
const AHEAD: usize = 16;

/// The most packets, and bytes of packets, in a message. A larger packet is sent alone.
const MAX_PACKETS: usize = 10_000;
const MAX_BYTES: usize = 16 << 20;

/// How often the process reports that it makes progress.
const PULSE: Duration = Duration::from_secs(1);

/// The most threads, beside four for each core: decoders of several streams start some each.
const THREADS: u64 = 256;

/// Bytes of memory that each thread needs.
const THREAD: u64 = 12 << 20;

/// Sends messages to the other process, from any thread.
#[derive(Clone)]
struct Events(Arc<Mutex<Channel>>);

impl Events {
    /// # Errors
    /// When the message is too long, or the other process is gone, which can be ignored.
    fn send(&self, event: &Event) -> Result<()> {
        let sent = self.0.lock().unwrap_or_else(PoisonError::into_inner).send(event, &[]);
        sent.map_err(|error| match error.get_ref().is_some_and(|error| error.is::<TooLong>()) {
            true => FailureKind::Limit.error("what comes with its pictures is too large"),
            false => error.into(),
        })
    }

    fn fail(&self, error: &anyhow::Error) {
        let _ = self.send(&Event::Failed(WireError::new(error)));
    }
}

/// Decodes what the other end of `channel` asks for, until that is gone.
///
/// # Errors
/// When the connection fails before anything was asked for.
pub fn run(
    channel: Channel,
    requests: Channel,
    confines: &Confines<'_>,
    leave: impl Fn() + Send + 'static,
) -> Result<()> {
    let (mut start, descriptors) = channel.receive::<Start>()?;
    if let Some(allowed) = confines.allowed {
        start.limits = start.limits.limited_by(&allowed.limits);
        start.needs_walls |= allowed.needs_walls;
    }
    let orders = channel.try_clone()?;
    let events = Events(Arc::new(Mutex::new(channel)));
    let ran = confine(&start, confines).and_then(|()| match start.what {
        What::Transcoders(wanted) => {
            transcoders::serve(wanted, &orders);
            leave();
            Ok(())
        }
        _ => opened(start, descriptors, &events, (orders, requests), leave).map(Child::serve),
    });
    if let Err(error) = ran {
        events.fail(&error);
    }
    // The other process ends this one when it has read the message.
    loop {
        std::thread::park();
    }
}

/// An open input, and the connection to the other process.
struct Child {
    source: Box<dyn Source>,
    limits: Limits,
    orders: Receiver<Order>,
    events: Events,
    pool: SharedPool,
    progress: Arc<Progress>,
    survey: Option<Arc<Mutex<PacketSurvey>>>,
    notices: Notices,
    /// What is left of a delivery that is too large for a message.
    rest: Option<Delivery>,
    /// Memory of deliveries that the program may not have copied yet, by delivery number.
    held: VecDeque<(u64, Vec<Arc<dyn Memory>>)>,
}

/// Sets the limits of the process and closes its sandbox.
fn confine(start: &Start, &Confines { has_own_users, uses_network, .. }: &Confines<'_>) -> Result<()> {
    let limits = &start.limits;
    ffmpeg::set_verbose(limits.is_verbose);
    limits.allocation.into_iter().for_each(ffmpeg::limit_allocations);
    // This limit counts writable memory, not address space that is only reserved.
    lower(Resource::Data, limits.own_memory.saturating_add(THREAD * limits.threads as u64))?;
    lower(Resource::Core, 0)?;
    if has_own_users {
        // The kernel counts threads per user name space, and this process is alone in its own.
        lower(Resource::Nproc, THREADS + 4 * limits.threads as u64)?;
    }
    if !uses_network {
        // From here on, all paths lead to the list of this process's descriptors.
        let _ = chroot("/proc/self/fdinfo").and_then(|()| chdir("/"));
    }
    // Drop all capabilities, which a process in a new user name space has there.
    let none = CapabilitySet::empty();
    let dropped = set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none });
    dropped.or_else(|error| if start.needs_walls { Err(error) } else { Ok(()) })?;
    close_around_decoder(uses_network, start.needs_walls)
}

/// Limits the process to `most` of a resource, or to less, if the program was started with less.
fn lower(resource: Resource, most: u64) -> io::Result<()> {
    let most = Some(getrlimit(resource).maximum.map_or(most, |allowed| allowed.min(most)));
    Ok(setrlimit(resource, Rlimit { current: most, maximum: most })?)
}

fn opened(
    start: Start,
    descriptors: Vec<OwnedFd>,
    events: &Events,
    (channel, requests): (Channel, Channel),
    leave: impl Fn() + Send + 'static,
) -> Result<Child> {
    let (ordered, orders) = unbounded();
    let cancel = Cancel::default();
    let heard = cancel.clone();
    let listen = move || {
        while let Ok((order, _)) = channel.receive() {
            match order {
                Order::Cancel { is_request: true } => heard.cancel(),
                Order::Cancel { is_request: false } => heard.abandon(),
                order => drop(ordered.send(order)),
            }
        }
        leave();
    };
    Builder::new().name("orders".to_owned()).spawn(listen).map_err(|error| no_thread(&error))?;
    let (pulse, mut before) = (events.clone(), 0);
    let send_pulse = move || {
        loop {
            std::thread::sleep(PULSE);
            let now = ffmpeg::activity();
            // A slow read from disk is progress, too: the decoder does not hang.
            if std::mem::replace(&mut before, now) != now || FileRead::goes_on() {
                let _ = pulse.send(&Event::Works);
            }
        }
    };
    Builder::new().name("pulse".to_owned()).spawn(send_pulse).map_err(|error| no_thread(&error))?;
    let messages = events.clone();
    let notices = Notices::new(start.is_strict, move |level, message| {
        let _ = messages.send(&Event::Message(level, message.to_owned()));
    });
    let (of_packets, requests) = (notices.clone(), Arc::new(Mutex::new(requests)));
    let of_images = requests.clone();
    let (progress, mut survey) = (Arc::<Progress>::default(), None);
    let limits = start.limits.frames();
    let mut descriptors = descriptors.into_iter();
    let mut next = || descriptors.next().context("a descriptor is missing");
    let (mut source, input): (Box<dyn Source>, Input) = match start.what {
        What::File { options, name, from: origin } => {
            if let Reading::Packets(_, found) = &options.reading {
                survey = Some(found.clone());
            }
            let is_named = options.format.is_some();
            let origin = match origin {
                WireFrom::Url => FileInput::Url,
                WireFrom::Pipe => FileInput::Pipe(Reader::new(File::from(next()?), cancel.flag())),
                WireFrom::File => FileInput::File(File::from(next()?)),
                WireFrom::Images(sequence) => FileInput::Images(
                    sequence,
                    Box::new(move |number| {
                        let _read = FileRead::begin();
                        ask(&of_images, Wants::Image(number)).map(File::from)
                    }),
                ),
            };
            let is_pipe = matches!(origin, FileInput::Pipe(_));
            let options = InputOptions { limits: limits.clone(), ..*options };
            let source = FileSource::open(options, &name, origin, &cancel, notices, progress.clone());
            let source = source.map_err(|error| if is_pipe { with_hint(error, is_named) } else { error })?;
            let input = source.input.clone();
            (Box::new(source), input)
        }
        What::Live { input, options, is_open } => {
            let origin = match (is_open, input.is_paced) {
                (true, true) => Some(FileInput::File(File::from(next()?))),
                (true, false) => Some(FileInput::Pipe(Reader::new(File::from(next()?), cancel.flag()))),
                (false, _) => None,
            };
            let found = FoundInput::Input(Box::new(input), origin);
            let options = CameraOptions { limits: limits.clone(), ..*options };
            let (source, input) = LiveSource::open(options, found, Arc::default(), &cancel, notices, progress.clone())?;
            (Box::new(source), input)
        }
        What::Transcoders(_) => bail!("there is no input"),
    };
    let pool = SharedPool::new(SharedBlocks::asked_of(requests), &limits);
    source.use_pool(Arc::new(pool.clone()));
    events.send(&Event::Opened(Box::new(WireInput::new(&input))))?;
    let (events, held) = (events.clone(), VecDeque::new());
    Ok(Child { source, limits, orders, events, pool, progress, survey, notices: of_packets, rest: None, held })
}

impl Child {
    /// Executes orders. After a small frame, it sends one more delivery than was ordered.
    fn serve(mut self) {
        let (mut asked, mut delivered, mut ahead) = (0, 0, 0);
        loop {
            let may_deliver = delivered < asked + ahead;
            let order = if may_deliver { self.orders.try_recv() } else { self.orders.recv().map_err(Into::into) };
            match order {
                Ok(Order::Next { copied }) => {
                    asked += 1;
                    while self.held.front().is_some_and(|(number, _)| *number < copied) {
                        self.held.pop_front();
                    }
                }
                Ok(Order::LookAround(before, behind)) => {
                    self.limits.note_look_ahead(behind as usize);
                    self.source.look_around(before, behind);
                }
                Ok(Order::Room(bytes)) => self.pool.set_room(bytes),
                Ok(Order::Cancel { .. } | Order::Transcode(..)) => {}
                Err(TryRecvError::Disconnected) => return,
                Err(TryRecvError::Empty) => {
                    match self.next().and_then(|delivery| self.deliver(delivery, delivered)) {
                        Ok(Some(is_small)) => ahead = u64::from(is_small),
                        Ok(None) => return,
                        Err(error) => return self.events.fail(&error),
                    }
                    delivered += 1;
                }
            }
        }
    }

    /// The next delivery. Packets that are too many for a message come in several, the last of them with the frame.
    fn next(&mut self) -> Result<Option<Delivery>> {
        let next = self.rest.take().map_or_else(|| self.source.next(), |rest| Ok(Some(rest)))?;
        let Some(mut next) = next else { return Ok(None) };
        let mut bytes = 0;
        let mut begin = next.packets.iter().take(MAX_PACKETS);
        let fits = begin.position(|packet| {
            bytes += packet.len();
            bytes > MAX_BYTES
        });
        let fits = fits.unwrap_or(MAX_PACKETS).max(1);
        if fits < next.packets.len() {
            let later = next.packets.split_off(fits);
            let packets = std::mem::replace(&mut next.packets, later);
            self.rest = Some(next);
            next = Delivery { packets, ..Delivery::default() };
        }
        if let [packet] = &next.packets[..]
            && packet.len() >= PACKET_BYTES
        {
            let (stream, length) = (packet.stream(), packet.len() >> 20);
            self.notices.warn(&format!("stream #{stream}: a packet of {length} MiB is left out: it is too large"))?;
            next.packets.clear();
        }
        Ok(Some(next))
    }

    /// Sends the delivery of this number, and returns whether its frame is so small that another one can be sent ahead,
    /// beside those that the engine allows; `None` after the end.
    fn deliver(&mut self, delivery: Option<Delivery>, number: u64) -> Result<Option<bool>> {
        let Some(Delivery { packets, frame, position, read_at }) = delivery else {
            let survey = self
                .survey
                .take()
                .map(|survey| std::mem::take(&mut *survey.lock().unwrap_or_else(PoisonError::into_inner)));
            self.events.send(&Event::End(survey))?;
            return Ok(None);
        };
        let is_small = frame.as_ref().is_none_or(|frame| AHEAD * frame.bytes() <= self.limits.under_way());
        let frame = match frame {
            Some(frame) => {
                let (wire, kept) = described(&frame, &self.pool);
                self.held.push_back((number, kept));
                Some(wire)
            }
            None => None,
        };
        let progress = (self.progress.decoded(), self.progress.position(), self.progress.damaged());
        let packets = packets.iter().map(crate::ffmpeg::demux::WirePacket::new).collect();
        let age = read_at.map(|moment| Instant::now().saturating_duration_since(moment));
        let delivery = WireDelivery { packets, frame, position, age, progress };
        self.events.send(&Event::Delivery(Box::new(delivery)))?;
        Ok(Some(is_small))
    }
}
