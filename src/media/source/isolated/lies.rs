//! A decoding process that lies: whatever it says, the program neither crashes, nor waits for ever, nor reads or writes outside
//! of what is its own.

use super::channel::Channel;
use super::frames::described;
use super::messages::{Event, Place, Planes, Slot, WireDelivery, WireInput};
use super::shared_memory::SharedPool;
use super::source::{IsolatedSource, Opens, opened};
use super::zygote::Process;
use crate::ffmpeg::{Picture, WirePacket};
use crate::pipeline::{Cancel, Notices, PartPosition, Source};
use crate::source::file::{FileInput, FileSource};
use crate::source::options::InputOptions;
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

/// How many lies there are.
const LIES: u64 = 10_000;

/// Deliveries of an input that are true.
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

    /// A number near one at which something changes.
    fn edge(&mut self) -> u64 {
        let edges = [0, 1, 4095, 4096, 64 * 48, 1 << 31, 1 << 32, 1 << 63, u64::MAX];
        let near = edges[self.below(edges.len())].wrapping_add(self.next() % 5).wrapping_sub(2);
        if self.below(4) == 0 { self.next() } else { near }
    }
}

/// What is true of a small video: its description, and some of its deliveries with their memory.
struct Truth {
    pool: SharedPool,
    source: FileSource,
}

impl Truth {
    fn new() -> Self {
        let name = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/lies.mkv");
        let options = InputOptions { url: name.to_owned(), ..InputOptions::default() };
        let (cancel, notices) = (Cancel::default(), Notices::silent());
        let source = FileSource::open(options, name, FileInput::Url, &cancel, notices, Arc::default());
        let mut source = source.expect("a video");
        let pool = SharedPool::default();
        source.use_pool(Arc::new(pool.clone()));
        Truth { pool, source }
    }

    /// What a process says of it that tells the truth.
    fn told(mut self) -> (SharedPool, Vec<(Event, Vec<OwnedFd>)>, Vec<Vec<Arc<dyn histeq::frame::Memory>>>) {
        let mut told = vec![(Event::Opened(Box::new(WireInput::of(self.source.input()))), Vec::new())];
        let mut held = Vec::new();
        while let (..=TRUE, Ok(Some(delivery))) = (told.len(), self.source.next()) {
            let frame = delivery.frame.map(|frame| {
                let (wire, kept) = described(&frame, &self.pool);
                held.push(kept);
                wire
            });
            let used = frame.as_ref().map(|frame| frame.planes.slots()).unwrap_or_default();
            let (new, gone) = self.pool.changes(&used);
            let (new, descriptors) = new.into_iter().unzip();
            let packets = delivery.packets.iter().map(WirePacket::of).collect();
            let (age, progress) = (None, (1, 0, 0));
            let position = PartPosition::Within;
            let wire = WireDelivery { packets, frame, position, age, progress, new, gone };
            told.push((Event::Delivery(Box::new(wire)), descriptors));
        }
        assert_eq!(told.len(), TRUE + 1);
        (self.pool, told, held)
    }
}

/// Listens to a process that says all this, as the program does; answers with the frames that it believes.
fn believed(said: &[(Vec<u8>, Vec<OwnedFd>)]) -> usize {
    let ((channel, its), (watch, its_watch)) = (Channel::pair().expect("sockets"), Channel::pair().expect("sockets"));
    for (bytes, descriptors) in said {
        let descriptors: Vec<_> = descriptors.iter().map(AsFd::as_fd).collect();
        its.send_bytes(bytes.clone(), &descriptors).expect("room in the socket");
    }
    drop((its, its_watch));
    let (cancel, notices) = (Cancel::default(), Notices::silent());
    let mut process = Process::of(channel, watch);
    let Ok(input) = opened(&mut process, "lies", &cancel, &notices) else { return 0 };
    let mut source = IsolatedSource::new(Opens::File, process, input, &cancel, notices, Arc::default());
    let mut frames = 0;
    // What comes after the first error is not asked for.
    while let (..10, Ok(Some(delivery))) = (frames, source.next()) {
        delivery.packets.iter().for_each(|packet| assert!(packet.stream() < 1000));
        let Some(frame) = delivery.frame else { continue };
        frames += 1;
        // What encoders read of it.
        let picture = Picture::from_frame(&frame).expect("memory");
        let rows = frame.planes().iter().flat_map(|plane| (0..plane.rows()).map(|y| plane.row(y)));
        let sum = rows.flatten().fold(0_u64, |sum, &sample| sum + u64::from(sample));
        assert!(sum < 1 << 50 && picture.size() == (frame.width(), frame.height()));
    }
    frames
}

/// The bytes of a message, after room for their length.
fn bytes(event: &Event) -> Vec<u8> {
    postcard::to_extend(event, vec![0; 4]).expect("a message")
}

/// Copies of descriptors.
fn copies(of: &[OwnedFd]) -> Vec<OwnedFd> {
    of.iter().map(|descriptor| descriptor.try_clone().expect("a descriptor")).collect()
}

/// A descriptor that is not what it should be.
fn false_memory(numbers: &mut Numbers, len: u64) -> OwnedFd {
    let memory = |flags| memfd_create(c"lie", flags).expect("memory");
    match numbers.below(6) {
        // It can shrink.
        0 => {
            let memory = memory(MemfdFlags::ALLOW_SEALING);
            ftruncate(&memory, len).expect("memory");
            memory
        }
        // It is shorter.
        1 => {
            let memory = memory(MemfdFlags::ALLOW_SEALING);
            ftruncate(&memory, len / 2).expect("memory");
            fcntl_add_seals(&memory, SealFlags::SHRINK).expect("seals");
            memory
        }
        2 => memory(MemfdFlags::empty()),
        3 => File::open("/dev/zero").expect("a device").into(),
        4 => Channel::pair().expect("sockets").0.into(),
        _ => {
            let mut file = tempfile::tempfile().expect("a file");
            file.write_all(&vec![7; len as usize]).expect("a file");
            file.into()
        }
    }
}

/// Changes one thing that is said.
fn lie(numbers: &mut Numbers, event: &mut Event, descriptors: &mut Vec<OwnedFd>) {
    let Event::Delivery(delivery) = event else { return };
    let kind = numbers.below(10);
    match (&mut delivery.frame, kind) {
        (Some(frame), 8) => frame.planes = Planes::Sent(vec![7; numbers.below(2) * 64 * 72]),
        (Some(frame), 0..=3) => {
            let Planes::Shared(places) = &mut frame.planes else { return };
            let index = numbers.below(places.len());
            let Place { slot, start, stride } = &mut places[index];
            match kind {
                0 => *slot = numbers.edge() as u32,
                1 => *start = numbers.edge(),
                2 => *stride = numbers.edge() as i64,
                _ => (*start, *stride) = (numbers.next() % 20_000, numbers.edge() as i64),
            }
        }
        (Some(frame), 4) => frame.size = (numbers.edge() as usize, numbers.edge() as usize),
        (Some(frame), 5) => {
            let formats = ["yuv444p16le", "gbrp", "gray", "rgb24", "nv12", "none", ""];
            formats[numbers.below(formats.len())].clone_into(&mut frame.format);
        }
        (_, 6) if !descriptors.is_empty() => {
            let index = numbers.below(descriptors.len());
            descriptors[index] = false_memory(numbers, delivery.new[index].len);
        }
        (_, 7) => {
            delivery.new.push(Slot { number: numbers.below(8) as u32, len: numbers.edge() });
            if numbers.below(2) == 0 {
                descriptors.push(false_memory(numbers, 1 << 16));
            }
        }
        _ => delivery.gone.push(numbers.below(8) as u32),
    }
}

#[test]
fn whatever_a_decoding_process_says_the_program_goes_on() {
    let (_pool, told, _held) = Truth::new().told();
    let whole: Vec<(Vec<u8>, Vec<OwnedFd>)> =
        told.iter().map(|(event, descriptors)| (bytes(event), copies(descriptors))).collect();
    assert_eq!(believed(&whole), TRUE, "the truth is believed");
    let (mut numbers, mut refused) = (Numbers(2026), 0);
    for _ in 0..LIES {
        let at = numbers.below(whole.len());
        let mut said: Vec<_> = whole.iter().map(|(bytes, of)| (bytes.clone(), copies(of))).collect();
        match numbers.below(4) {
            0 => {
                let (mut event, _) = postcard::take_from_bytes::<Event>(&whole[at].0[4..]).expect("a message");
                lie(&mut numbers, &mut event, &mut said[at].1);
                said[at].0 = bytes(&event);
            }
            // Any byte may be any other one, or be missing.
            1 | 2 => {
                for _ in 0..=numbers.below(4) {
                    let bytes = &mut said[at].0;
                    let place = 4 + numbers.below(bytes.len() - 4);
                    // Of the description, most is text: numbers are near its beginning and among the streams.
                    bytes[place] = match numbers.below(3) {
                        0 => bytes[place] ^ (1 << numbers.below(8)),
                        1 => [0, 1, 0x7f, 0x80, 0xff][numbers.below(5)],
                        _ => numbers.next() as u8,
                    };
                }
                if numbers.below(8) == 0 {
                    let length = said[at].0.len();
                    said[at].0.truncate(4 + numbers.below(length - 4));
                }
            }
            // In another order, or twice.
            _ => {
                let other = numbers.below(whole.len());
                said.swap(at, other);
                let (bytes, of) = &whole[numbers.below(whole.len())];
                said.insert(numbers.below(said.len()), (bytes.clone(), copies(of)));
            }
        }
        refused += usize::from(believed(&said) < TRUE);
    }
    // Many lies do not matter: the text of a tag, say.
    assert!(refused as u64 > LIES / 4, "{refused} lies were refused");
}
