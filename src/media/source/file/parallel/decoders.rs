//! Several decoders for one video: they decode consecutive groups of pictures (gops) at the same time. Pictures are
//! delivered in the order and with the times that one decoder gives.
//!
//! Each gop is checked while it is decoded: its pictures have to be whole, alike, and of exactly the times that its
//! packets announce. One gop before the first that fails this check, a single decoder takes over, so that damage looks
//! and is reported as with one decoder.

use super::clean_start::KeyFrameCodec;
use super::gops::{CannotCut, Gop, Splitter};
use crate::ffmpeg::decode::{DecodeOn, Decoded, Decoder, Delay};
use crate::ffmpeg::demux::Stream;
use crate::ffmpeg::frame::{Colour, Picture, RawFormat};
use crate::ffmpeg::{Error, FieldOrder, Packet, Rational, microseconds, rescale};
use crate::pipeline::{Input, Notices};
use crate::source::file::packets::FilePackets;
use crate::source::options::InputOptions;
use crate::source::part::{Bounds, Part};
use crate::source::video_reader::{ReadPackets, ReaderEvent, VideoReader};
use crossbeam_channel::{Receiver, Sender, TryRecvError, unbounded};
use histeq::Limits;
use histeq::internal::frame::{HostPool, Pool};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle};

/// Videos with fewer frames have one decoder, which is done before several would be open.
const MIN_FRAMES: u64 = 300;

/// The bounds of the fewest packets of a gop; available memory decides between them. Short gops are slow, because a
/// decoder pauses between two gops.
const GOP_PACKETS: (usize, usize) = (32, 128);

/// The number of pictures that a decoder keeps internally.
const HELD: usize = 24;

/// How many packets are read after the last one that is needed: packets are not in the order of display.
const SPARE: u64 = 64;

/// Packets that are read for each picture that is delivered, while gops are wanted: more than one, to get ahead.
const READ_AT_ONCE: usize = 4;

/// Several decoders, and the gops that they decode.
pub struct Several {
    /// The most decoders.
    decoders: usize,
    on: DecodeOn,
    stream: Stream,
    picture_bytes: usize,
    name: String,
    notices: Notices,
    pool: Arc<dyn Pool>,
    /// Memory of all decoders, for planes that the pool does not serve.
    plane_buffers: HostPool,
    limits: Limits,
    /// The bytes that all gops may hold, once known.
    room: Option<usize>,
    splitter: Splitter,
    reading: PacketsRead,
    part: PartCounter,
    /// Gops that have not begun.
    waiting: VecDeque<Gop>,
    /// Gops that are being decoded or wait to be delivered, oldest first.
    begun: VecDeque<BegunGop>,
    /// The last gop that was delivered.
    previous: Option<Gop>,
    /// What all pictures have in common.
    look: Option<PictureFormat>,
    /// The time of the last picture that was delivered.
    delivered: Option<i64>,
    /// `Some` once a single decoder has taken over.
    handed_over: Option<HandedOver>,
    jobs: Option<(Sender<DecodeJob>, Receiver<DecodeJob>)>,
    threads: Vec<JoinHandle<()>>,
    stop: Arc<AtomicBool>,
}

/// Counts packets up to the end of the requested part.
struct PartCounter {
    part: Part,
    bounds: Bounds,
    /// The numbers of packets inside the part, and after it.
    counts: [u64; 2],
    /// The number of frames after the part that are needed.
    look_ahead: u64,
}

impl PartCounter {
    /// Counts a packet of this time (microseconds). Returns whether the next one is needed.
    fn count(&mut self, time: Option<i64>) -> bool {
        let [within, behind] = &mut self.counts;
        let is = |bound: Option<i64>| bound.zip(time).is_some_and(|(bound, time)| time >= bound);
        *within += u64::from(self.bounds.begin.is_none() || is(self.bounds.begin));
        *behind += u64::from(is(self.bounds.end) || self.part.frames.is_some_and(|most| *within > most));
        *behind <= self.look_ahead + SPARE
    }
}

/// How far the packets are read.
enum PacketsRead {
    /// More packets may follow.
    More,
    /// The next packets cannot be cut into gops, or are not needed. Holds the last result of reading, if it was no
    /// packet.
    Uncut(Option<Result<Option<Packet>, Error>>),
    /// All packets are read.
    Over,
}

/// A gop that is being decoded.
struct BegunGop {
    gop: Gop,
    pictures: Receiver<Option<Picture>>,
    /// Bytes of its packets, and of its pictures that are not delivered.
    bytes: usize,
}

/// Format, size, colour and shape of pixels.
type PictureFormat = (RawFormat, (usize, usize), Colour, Option<Rational>);

/// A single decoder decodes the delivered part again, and then continues.
struct HandedOver {
    /// Errors before the picture of this time are not reported: pictures that are shown before a key frame may refer to
    /// pictures that this decoder has not decoded.
    quiet_before: Option<i64>,
    is_over: bool,
}

impl Several {
    /// As many decoders as the options say, for the video of this input; `None` where several decoders gain nothing, or
    /// too little is known of the video.
    pub fn new(input: &Input, options: &InputOptions, is_file: bool, notices: &Notices) -> Option<Self> {
        let InputOptions { decoders, decode_on: on, part, .. } = *options;
        let bounds = part.bounds(input.media.start.unwrap_or(0));
        let part = PartCounter { part, bounds, counts: [0; 2], look_ahead: 0 };
        let stream = input.video_stream();
        let key_frames = KeyFrameCodec::for_stream(stream)?;
        let is_long = input.frames.is_none_or(|frames| frames >= MIN_FRAMES);
        // Only progressive video: whether a picture is interlaced may depend on pictures before it.
        let is_progressive = matches!(stream.field_order, FieldOrder::Unknown | FieldOrder::Progressive);
        let (format, (width, height)) = input.picture?;
        let native = format.native()?;
        let planes = 0..native.descriptor().planes().len();
        (decoders > 1 && is_file && is_long && is_progressive).then(|| Several {
            decoders,
            on,
            stream: stream.clone(),
            picture_bytes: planes.map(|plane| native.row_bytes(plane, width) * native.rows(plane, height)).sum(),
            name: input.name.to_string(),
            notices: notices.clone(),
            pool: Arc::new(HostPool::that_keeps_all(&input.limits)),
            plane_buffers: HostPool::that_keeps_all(&input.limits),
            limits: input.limits.clone(),
            room: None,
            splitter: Splitter::new(key_frames),
            reading: PacketsRead::More,
            part,
            waiting: VecDeque::new(),
            begun: VecDeque::new(),
            previous: None,
            look: None,
            delivered: None,
            handed_over: None,
            jobs: None,
            threads: Vec::new(),
            stop: Arc::default(),
        })
    }

    /// Decodes this number of frames after the requested part, too.
    pub fn look_ahead(&mut self, frames: u32) {
        self.part.look_ahead = frames.into();
    }

    /// Puts pictures into memory of `pool` from now on.
    pub fn use_pool(&mut self, pool: Arc<dyn Pool>) {
        (self.pool, self.room) = (pool, None);
    }

    /// The next event, from packets of `reader`; `None` when `reader` continues with a single decoder.
    ///
    /// # Errors
    /// When reading fails before the end of the input.
    pub fn next(&mut self, reader: &mut VideoReader<FilePackets>) -> Result<Option<ReaderEvent>, Error> {
        while self.handed_over.is_none() {
            let reads_on = self.read(reader);
            let Some(front) = self.begun.front_mut() else {
                match self.reading {
                    PacketsRead::More => {}
                    PacketsRead::Uncut(_) => self.hand_over(reader),
                    PacketsRead::Over => {
                        reader.put_back([Ok(None)]);
                        return Ok(None);
                    }
                }
                continue;
            };
            let received = match reads_on {
                true => front.pictures.try_recv(),
                false => front.pictures.recv().map_err(|_| TryRecvError::Disconnected),
            };
            match received {
                Ok(Some(picture)) if is_like(&mut self.look, &picture) => {
                    front.bytes = front.bytes.saturating_sub(self.picture_bytes);
                    self.delivered = picture.time();
                    return Ok(Some(ReaderEvent::Picture(picture)));
                }
                Ok(None) => self.previous = self.begun.pop_front().map(|begun| begun.gop),
                Err(TryRecvError::Empty) => {}
                Ok(Some(_)) | Err(TryRecvError::Disconnected) => self.hand_over(reader),
            }
        }
        self.catch_up(reader)
    }

    /// Reads some packets if gops are wanted, and begins those for which there is room. Returns whether to read on.
    fn read(&mut self, reader: &mut VideoReader<FilePackets>) -> bool {
        let room = *self.room.get_or_insert_with(|| self.pool.make_room());
        let pictures = room / self.picture_bytes.max(1);
        self.decoders = self.decoders.min(pictures / HELD).max(1);
        // Gops are short enough for memory to hold two for each decoder, within `GOP_PACKETS`, and two in any case.
        let lengths = (pictures / (2 * self.decoders)).clamp(GOP_PACKETS.0, GOP_PACKETS.1)..=pictures / 2;
        for _ in 0..READ_AT_ONCE {
            self.begin_gops(room);
            let is_wanted = self.waiting.is_empty() && self.begun.len() < self.decoders * 3 / 2;
            if !is_wanted || !matches!(self.reading, PacketsRead::More) {
                return false;
            }
            match reader.packets.read() {
                Ok(Some(packet)) if packet.stream() != self.stream.index => {}
                Ok(Some(packet)) => {
                    let time = packet.time().map(|time| rescale(time, self.stream.time_base, microseconds()));
                    let is_damaged = reader.packets.damage(&packet).is_some();
                    let added = self.splitter.add(packet, lengths.clone());
                    if is_damaged || matches!(added, Err(CannotCut)) {
                        self.reading = PacketsRead::Uncut(None);
                    }
                    self.waiting.extend(added.ok().flatten());
                    if !self.part.count(time) && matches!(self.reading, PacketsRead::More) {
                        self.waiting.extend(std::iter::from_fn(|| self.splitter.end()));
                        self.reading = PacketsRead::Uncut(None);
                    }
                }
                Ok(None) => {
                    self.waiting.extend(std::iter::from_fn(|| self.splitter.end()));
                    self.reading = PacketsRead::Over;
                }
                Err(error) => self.reading = PacketsRead::Uncut(Some(Err(error))),
            }
        }
        self.begin_gops(room);
        true
    }

    fn begin_gops(&mut self, room: usize) {
        while let Some(gop) = self.waiting.pop_front() {
            let held: usize = self.begun.iter().map(|begun| begun.bytes).sum();
            if !self.begun.is_empty() && held + self.bytes(&gop) > room {
                self.waiting.push_front(gop);
                return;
            }
            self.begin(gop);
        }
    }

    /// The bytes of a gop and of its pictures.
    fn bytes(&self, gop: &Gop) -> usize {
        gop.bytes + gop.times.len() * self.picture_bytes
    }

    /// Gives `gop` to the decoders, and opens one more if there are too few.
    fn begin(&mut self, gop: Gop) {
        let (sender, pictures) = unbounded();
        let job = DecodeJob { gop: gop.clone(), pool: self.pool.clone(), pictures: sender };
        self.begun.push_back(BegunGop { bytes: self.bytes(&gop), gop, pictures });
        let (jobs, queued) = self.jobs.get_or_insert_with(|| {
            let (name, most) = (&self.name, self.decoders);
            self.notices.detail(&format!("{name}: decoded in pieces, by up to {most} decoders at once"));
            unbounded()
        });
        if self.threads.len() < self.decoders {
            let (stream, plane_buffers, stop) = (self.stream.clone(), self.plane_buffers.clone(), self.stop.clone());
            let worker = Worker { stream, on: self.on, plane_buffers, limits: self.limits.clone(), stop };
            let queued = queued.clone();
            self.threads.extend(Builder::new().name("decode".to_owned()).spawn(move || worker.run(&queued)));
        }
        // Without a thread the job is dropped, as when a thread fails: a single decoder takes over then.
        if !self.threads.is_empty() {
            let _ = jobs.send(job);
        }
    }

    /// Hands over to `reader`, which decodes again from the last delivered gop on.
    fn hand_over(&mut self, reader: &mut VideoReader<FilePackets>) {
        if self.jobs.is_some() {
            self.notices.detail(&format!("{}: not in pieces any more: one decoder goes on", self.name));
        }
        self.stop();
        let begun = self.begun.drain(..).map(|begun| begun.gop);
        let mut gops = self.previous.take().into_iter().chain(begun).chain(self.waiting.drain(..)).peekable();
        let quiet_before = gops.peek().filter(|gop| !gop.is_first).map(|gop| gop.first);
        let packets = gops.flat_map(|gop| gop.packets).chain(self.splitter.rest());
        reader.put_back(packets.map(|packet| Ok(Some(packet))));
        match std::mem::replace(&mut self.reading, PacketsRead::Over) {
            PacketsRead::More | PacketsRead::Uncut(None) => {}
            PacketsRead::Uncut(Some(last)) => reader.put_back([last]),
            PacketsRead::Over => reader.put_back([Ok(None)]),
        }
        self.handed_over = Some(HandedOver { quiet_before, is_over: false });
    }

    /// The next event of `reader` after the hand-over, without pictures that are delivered already.
    fn catch_up(&mut self, reader: &mut VideoReader<FilePackets>) -> Result<Option<ReaderEvent>, Error> {
        let Some(state) = self.handed_over.as_mut().filter(|state| !state.is_over) else { return Ok(None) };
        loop {
            let event = reader.next()?;
            match &event {
                ReaderEvent::Picture(picture) => {
                    let time = picture.time();
                    if time >= state.quiet_before {
                        state.quiet_before = None;
                    }
                    if time.is_some() && time <= self.delivered {
                        continue;
                    }
                    state.is_over = true;
                }
                ReaderEvent::Packet(_) => continue,
                ReaderEvent::Damaged(_) if state.quiet_before.is_some() => continue,
                ReaderEvent::Damaged(_) | ReaderEvent::LastPacket | ReaderEvent::End => {}
            }
            return Ok(Some(event));
        }
    }

    /// Ends the threads.
    fn stop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.jobs = None;
        for thread in self.threads.drain(..) {
            // A thread that has panicked has not finished its gop, which is decoded again.
            let _ = thread.join();
        }
    }
}

impl Drop for Several {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Whether this picture is progressive, and like the first one.
fn is_like(look: &mut Option<PictureFormat>, picture: &Picture) -> bool {
    let this = (picture.format(), picture.size(), picture.colour(), picture.sample_aspect_ratio());
    picture.interlaced().is_none() && *look.get_or_insert(this) == this
}

/// A thread with a decoder.
struct Worker {
    stream: Stream,
    on: DecodeOn,
    plane_buffers: HostPool,
    limits: Limits,
    stop: Arc<AtomicBool>,
}

/// A gop to decode. Its pictures are sent, then `None` if all of them are right; otherwise the channel closes without
/// `None`.
struct DecodeJob {
    gop: Gop,
    pool: Arc<dyn Pool>,
    pictures: Sender<Option<Picture>>,
}

/// The error of a gop that differs from what its packets announce, or whose receiver is gone.
struct Unfit;

impl Worker {
    fn run(&self, jobs: &Receiver<DecodeJob>) {
        // One thread for each decoder, because the decoders run in parallel.
        let on = if self.on == DecodeOn::Cpu { DecodeOn::Threads(1) } else { self.on };
        let opened = Decoder::open(&self.stream, Delay::Any, on, &self.limits);
        let Ok(mut decoder) = opened else {
            jobs.iter().for_each(drop);
            return;
        };
        decoder.share_plane_buffers(self.plane_buffers.clone());
        for job in jobs {
            decoder.use_pool(job.pool.clone());
            if let Ok(()) = self.decode(&mut decoder, &job) {
                let _ = job.pictures.send(None);
            }
            decoder.flush();
        }
    }

    fn decode(&self, decoder: &mut Decoder, job: &DecodeJob) -> Result<(), Unfit> {
        let Gop { packets, overlap, leading, times, is_first, .. } = &job.gop;
        let mut due = times.as_slice();
        // That many errors are ignored: pictures shown before the key frame may lack their references.
        let mut tolerated = if *is_first { 0 } else { *leading };
        let mut check = |result: Result<(), Error>, has_begun: bool| match result {
            Ok(()) => Ok(()),
            Err(_) if tolerated > 0 && !has_begun => {
                tolerated -= 1;
                Ok(())
            }
            Err(_) => Err(Unfit),
        };
        let is_ordered = times.is_sorted_by(|a, b| a < b);
        for packet in packets.iter().chain(overlap).map(Some).chain([None]) {
            if self.stop.load(Ordering::Relaxed) || !is_ordered {
                return Err(Unfit);
            }
            check(decoder.send(packet), due.len() < times.len())?;
            loop {
                match decoder.receive() {
                    Ok(Decoded::Picture(picture)) if decoder.unsupported.is_none() => job.give(picture, &mut due)?,
                    Ok(Decoded::Picture(_)) => return Err(Unfit),
                    Ok(Decoded::NeedsInput | Decoded::End) => break,
                    Err(error) => check(Err(error), due.len() < times.len())?,
                }
            }
        }
        if due.is_empty() { Ok(()) } else { Err(Unfit) }
    }
}

impl DecodeJob {
    /// Sends a picture, if it is one of this gop. `due` are the times of the pictures that are not sent yet.
    fn give(&self, picture: Picture, due: &mut &[i64]) -> Result<(), Unfit> {
        let Gop { first, is_first, overlap, .. } = &self.gop;
        let time = picture.time().ok_or(Unfit)?;
        let is_early = time < *first;
        match due.split_first() {
            // The previous gop delivers this picture.
            _ if is_early && !is_first => return Ok(()),
            _ if picture.is_damaged() => return Err(Unfit),
            _ if is_early => {}
            Some((next, rest)) if *next == time => *due = rest,
            // The next gop delivers this picture.
            None if !overlap.is_empty() => return Ok(()),
            _ => return Err(Unfit),
        }
        self.pictures.send(Some(picture)).map_err(|_| Unfit)
    }
}
