//! A decoding process that sends false messages: whatever it sends, the program neither crashes, nor waits for ever,
//! nor accesses memory that is not its own.

use super::beginning::{IsolatedSource, OpensAgain, opened};
use super::channel::Channel;
use super::memory::frames::described;
use super::memory::shared_memory::{SharedBlocks, SharedPool};
use super::messages::{Event, MayFail, Order, Planes, RowPlace, WireDelivery, WireInput};
use super::transcoders::{InOwnProcess, Remote};
use super::waits::{Lost, Patience, next_event, send};
use super::zygote::Process;
use crate::ffmpeg::demux::{Stream, WirePacket, WireStream};
use crate::ffmpeg::encode::{TranscodeTo, Transcoder};
use crate::ffmpeg::frame::Picture;
use crate::ffmpeg::{MediaType, Packet};
use crate::pipeline::{Cancel, Notices, PartPosition, Source, Transcoders};
use crate::source::file::{FileInput, FileSource};
use crate::source::options::{InputOptions, Isolation};
use histeq::Limits;
use histeq::internal::frame::Memory;
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How many falsified message sequences are tested.
const LIES: u64 = 10_000;

/// How many deliveries of the test video an honest process sends.
const TRUE: usize = 3;

/// Numbers that follow from a seed (splitmix64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, most: usize) -> usize {
        (self.next() % most.max(1) as u64) as usize
    }

    /// A number near a limit of some type, page or plane.
    fn edge(&mut self) -> u64 {
        let edges = [0, 1, 4095, 4096, 64 * 48, 1 << 31, 1 << 32, 1 << 63, u64::MAX];
        let near = edges[self.below(edges.len())].wrapping_add(self.next() % 5).wrapping_sub(2);
        if self.below(4) == 0 { self.next() } else { near }
    }
}

/// The messages of an honest process about a small video, and the memory of its frames.
struct Truth {
    events: Vec<Event>,
    blocks: SharedBlocks,
    _held: Vec<Arc<dyn Memory>>,
}

impl Truth {
    fn new() -> Self {
        let name = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/lies.mkv");
        let options = InputOptions { url: name.into(), ..InputOptions::default() };
        let (cancel, notices) = (Cancel::default(), Notices::silent());
        let source = FileSource::open(options, name, FileInput::Url, &cancel, notices, Arc::default());
        let (mut source, blocks) = (source.expect("a video"), SharedBlocks::new(&Limits::default()));
        let given = blocks.clone();
        let pool = SharedPool::new(Box::new(move |len| given.make(len as u64)), &Limits::default());
        source.use_pool(Arc::new(pool.clone()));
        let mut events = vec![Event::Opened(Box::new(WireInput::new(&source.input)))];
        let mut held = Vec::new();
        while let (..=TRUE, Ok(Some(delivery))) = (events.len(), source.next()) {
            let frame = delivery.frame.map(|frame| {
                let (wire, kept) = described(&frame, &pool);
                held.extend(kept);
                wire
            });
            let packets = delivery.packets.iter().map(WirePacket::new).collect();
            let (age, progress, position) = (None, (1, 0, 0), PartPosition::Within);
            events.push(Event::Delivery(Box::new(WireDelivery { packets, frame, position, age, progress })));
        }
        assert_eq!(events.len(), TRUE + 1);
        Truth { events, blocks, _held: held }
    }
}

/// Receives these messages as the program does; returns how many frames it accepts.
fn believed(sent: &[Vec<u8>], blocks: &SharedBlocks) -> usize {
    let ((channel, its), (watch, its_watch)) = (Channel::pair().expect("sockets"), Channel::pair().expect("sockets"));
    sent.iter().for_each(|bytes| its.send_bytes(bytes.clone(), &[], full).expect("room in the socket"));
    drop((its, its_watch));
    let (cancel, notices) = (Cancel::default(), Notices::silent());
    let mut process = Process::new(channel, watch);
    let opened = opened(
        &mut process,
        "lies",
        (Patience::for_order(), &Limits::default()),
        MayFail::default(),
        (&cancel, &notices),
    );
    let Ok(input) = opened else { return 0 };
    let mut source =
        IsolatedSource::new(OpensAgain::File, (process, blocks.clone()), input, &cancel, notices, Arc::default());
    let mut frames = 0;
    // Reading stops at the first error, and after ten frames.
    while let (..10, Ok(Some(delivery))) = (frames, source.next()) {
        delivery.packets.iter().for_each(|packet| assert!(packet.stream() < 1000));
        let Some(frame) = delivery.frame else { continue };
        frames += 1;
        // Reads all that encoders read of a frame.
        let picture = Picture::from_frame(&frame).expect("memory");
        let rows = frame.planes().iter().flat_map(|plane| (0..plane.rows()).map(|y| plane.row(y)));
        let sum = rows.flatten().fold(0_u64, |sum, &sample| sum + u64::from(sample));
        assert!(sum < 1 << 50 && picture.size() == (frame.width(), frame.height()));
    }
    frames
}

/// The sockets have room for all that these tests send, so a wait for room is an error.
fn full() -> io::Result<()> {
    Err(ErrorKind::WouldBlock.into())
}

/// The bytes of a message, after room for their length.
fn bytes(event: &Event) -> Vec<u8> {
    postcard::to_extend(event, vec![0; 4]).expect("a message")
}

/// Falsifies the description of a frame.
fn lie(numbers: &mut Numbers, event: &mut Event) {
    let Event::Delivery(delivery) = event else { return };
    let Some(frame) = &mut delivery.frame else { return };
    match (numbers.below(8), &mut frame.planes) {
        (kind @ 0..=3, Planes::Shared(places)) => {
            let index = numbers.below(places.len());
            let RowPlace { slot, start, stride } = &mut places[index];
            match kind {
                0 => *slot = numbers.edge() as u32,
                1 => *start = numbers.edge(),
                2 => *stride = numbers.edge() as i64,
                _ => (*start, *stride) = (numbers.next() % 20_000, numbers.edge() as i64),
            }
        }
        (4, _) => frame.size = (numbers.edge() as usize, numbers.edge() as usize),
        (5, _) => {
            let formats = ["yuv444p16le", "gbrp", "gray", "rgb24", "nv12", "none", ""];
            formats[numbers.below(formats.len())].clone_into(&mut frame.format);
        }
        (6, _) => frame.time = Some(numbers.edge() as i64),
        _ => frame.planes = Planes::Sent(vec![7; numbers.below(2) * 64 * 72]),
    }
}

/// Changes bytes of a message, or the order of messages.
fn spoil(numbers: &mut Numbers, sent: &mut Vec<Vec<u8>>) {
    let index = numbers.below(sent.len());
    match numbers.below(3) {
        // Changes one to four bytes, and sometimes cuts the end off.
        0 | 1 => {
            for _ in 0..=numbers.below(4) {
                let bytes = &mut sent[index];
                let place = 4 + numbers.below(bytes.len() - 4);
                bytes[place] = match numbers.below(3) {
                    0 => bytes[place] ^ (1 << numbers.below(8)),
                    1 => [0, 1, 0x7f, 0x80, 0xff][numbers.below(5)],
                    _ => numbers.next() as u8,
                };
            }
            if numbers.below(8) == 0 {
                let length = sent[index].len();
                sent[index].truncate(4 + numbers.below(length - 4));
            }
        }
        // Swaps two messages, and repeats one.
        _ => {
            let (other, repeated) = (numbers.below(sent.len()), numbers.below(sent.len()));
            sent.swap(index, other);
            let repeated = sent[repeated].clone();
            sent.insert(numbers.below(sent.len()), repeated);
        }
    }
}

#[test]
fn the_program_goes_on_whatever_a_decoding_process_sends() {
    let Truth { events, blocks, _held } = Truth::new();
    let whole: Vec<Vec<u8>> = events.iter().map(bytes).collect();
    assert_eq!(believed(&whole, &blocks), TRUE, "the truth is believed");
    let (mut numbers, mut refused) = (Numbers(2026), 0);
    for _ in 0..LIES {
        let mut sent = whole.clone();
        if numbers.below(4) == 0 {
            let index = numbers.below(whole.len());
            let (mut event, _) = postcard::take_from_bytes::<Event>(&whole[index][4..]).expect("a message");
            lie(&mut numbers, &mut event);
            sent[index] = bytes(&event);
        } else {
            spoil(&mut numbers, &mut sent);
        }
        refused += usize::from(believed(&sent, &blocks) < TRUE);
    }
    // Many changes do not matter, such as another text of a tag.
    assert!(refused as u64 > LIES / 4, "{refused} lies were refused");
}

/// Lets transcoders convert three packets, with these answers of the other process, and reads the results; returns
/// whether all was accepted.
fn converted(sent: &[Vec<u8>], sound: &Stream, target: &TranscodeTo) -> bool {
    let ((channel, its), (watch, its_watch)) = (Channel::pair().expect("sockets"), Channel::pair().expect("sockets"));
    sent.iter().for_each(|bytes| its.send_bytes(bytes.clone(), &[], full).expect("room in the socket"));
    drop((its, its_watch));
    let parent = InOwnProcess {
        name: "lies".to_owned(),
        isolation: Isolation::Auto,
        limits: Limits::default(),
        cancel: Cancel::default(),
    };
    let process = Process::new(channel, watch);
    let wanted = vec![(sound.clone(), target.clone())];
    let Ok(mut open) = Remote::new(parent, Some(process), wanted, Notices::silent()) else { return false };
    let mut count = 0;
    for turn in 0..TRUE {
        let packet = Packet::from_bytes(&[7; 40], [turn as i64 * 1000; 2], 1000, true);
        for packet in open.send(0, Some(&packet)).expect("no --strict").packets {
            assert!(
                packet.stream() == 0 && packet.data().iter().fold(0_u64, |sum, &byte| sum + u64::from(byte)) < 1 << 40
            );
            count += 1;
        }
    }
    count == TRUE
}

#[test]
fn the_program_goes_on_whatever_a_process_with_transcoders_sends() {
    let name = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/lies.mkv");
    let options = InputOptions { url: name.into(), ..InputOptions::default() };
    let source = FileSource::open(options, name, FileInput::Url, &Cancel::default(), Notices::silent(), Arc::default());
    let source = source.expect("a video");
    let streams = &source.input.media.streams;
    let sound = streams.iter().find(|stream| stream.kind == MediaType::Audio).expect("a clip with sound").clone();
    let target = TranscodeTo { encoder: "aac".to_owned(), has_global_header: true, ..TranscodeTo::default() };
    let output = Transcoder::open(&sound, &target).expect("FFmpeg's own encoder").output(&sound).expect("memory");
    let mut whole = vec![bytes(&Event::Transcoders(vec![Ok(WireStream::new(&output))]))];
    for turn in 0..TRUE as i64 {
        let packet = Packet::from_bytes(&[9; 100], [turn * 1024; 2], 1024, true);
        whole.push(bytes(&Event::Transcoded(vec![WirePacket::new(&packet)], None)));
    }
    assert!(converted(&whole, &sound, &target), "the truth is believed");
    let (mut numbers, mut refused) = (Numbers(11), 0);
    for _ in 0..LIES {
        let mut sent = whole.clone();
        spoil(&mut numbers, &mut sent);
        refused += u64::from(!converted(&sent, &sound, &target));
    }
    assert!(refused > LIES / 4, "{refused} lies were refused");
}

/// A process that lives, and neither sends nor reads anything; and the other ends of its connections, to keep them
/// open.
fn silent() -> (Process, [Channel; 2]) {
    let ((channel, its), (watch, its_watch)) = (Channel::pair().expect("sockets"), Channel::pair().expect("sockets"));
    (Process::new(channel, watch), [its, its_watch])
}

#[test]
fn each_wait_for_a_process_that_neither_says_nor_reads_anything_ends() {
    let patience = Patience::short(Duration::from_millis(200), Duration::from_millis(100));
    let most = Duration::from_secs(30);
    let begin = Instant::now();
    let (mut process, _its) = silent();
    assert!(matches!(next_event(&mut process, &Cancel::default(), patience, 64), Err(Lost::Silent)));
    // The small orders fill the socket; the large one does not fit into it.
    let packet = || Packet::from_bytes(&[7; 1 << 20], [0; 2], 1, true);
    let large = || Order::Transcode(0, Some(WirePacket::new(&packet())));
    let orders: [&dyn Fn() -> Order; 2] = [&|| Order::Next { copied: 0 }, &large];
    for order in orders {
        let (mut process, _its) = silent();
        let sent = |process: &mut Process, cancel: &Cancel| send(process, &order(), &[], cancel, patience);
        let lost = loop {
            if let Err(lost) = sent(&mut process, &Cancel::default()) {
                break lost;
            }
        };
        assert!(matches!(lost, Lost::Silent), "{lost:?}");
        let (mut process, _its) = silent();
        let cancel = Cancel::default();
        cancel.cancel();
        let lost = loop {
            if let Err(lost) = sent(&mut process, &cancel) {
                break lost;
            }
        };
        assert!(matches!(lost, Lost::Cancelled), "{lost:?}");
        assert!(matches!(next_event(&mut process, &cancel, patience, 64), Err(Lost::Cancelled)));
    }
    assert!(begin.elapsed() < most, "{:?}", begin.elapsed());
}
