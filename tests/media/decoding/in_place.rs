//! Frames are not copied: decoders write into memory from which frames are uploaded, encoders read the memory to which
//! frames are downloaded, and all other planes are passed by reference. The tests use real decoders, the real engine
//! and the frames that encoders get; a pool that records its buffers takes the place of pinned memory.

use crate::support::backends::{Sequence, by_reference, gpu};
use crate::support::pictures::difference;
use crate::support::programs::program::Dir;
use anyhow::Result;
use histeq::internal::equalize::backend::cuda::Cuda;
use histeq::internal::equalize::{Applied, EqualizeStage, Equalized, Executor, Work};
use histeq::internal::frame::{Buffer, Frame, HostBuffer, HostPool, Memory, PixelFormat, Plane, Pool};
use histeq::internal::spec::curves::{Curve, Mapping};
use histeq::internal::spec::parameters::{Chroma, Settings};
use histeq::internal::spec::time::Remembered;
use histeq_media::ffmpeg::frame::Picture;
use histeq_media::pipeline::{self, Cancel, Delivery, Notices, Outcome, Progress, Sink, Source};
use histeq_media::source::{self, InputOptions};
use histeq_media::sys::files::Name;
use std::collections::{HashSet, VecDeque};
use std::ops::{Deref, DerefMut, Range};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// A pool that records the buffers that it lends. It claims that its memory is pinned.
#[derive(Clone, Default)]
pub struct Ledger {
    memory: HostPool,
    with_chroma: bool,
    entries: Arc<Mutex<Entries>>,
}

#[derive(Default)]
struct Entries {
    /// The start addresses of all buffers so far, including returned ones.
    starts: HashSet<usize>,
    /// The number of buffers in use now; `most` is its maximum so far.
    lent: usize,
    most: usize,
}

struct Lent {
    memory: HostBuffer,
    entries: Arc<Mutex<Entries>>,
}

impl Pool for Ledger {
    fn buffer(&self, len: usize) -> Result<Box<dyn Buffer>, histeq::internal::frame::MemoryError> {
        let memory = self.memory.take(len);
        let mut entries = self.entries.lock().unwrap();
        entries.starts.insert(memory.as_ptr().addr());
        entries.lent += 1;
        entries.most = entries.most.max(entries.lent);
        Ok(Box::new(Lent { memory, entries: self.entries.clone() }))
    }

    fn planes(&self, format: PixelFormat) -> Range<usize> {
        format.rewritten_planes(self.with_chroma)
    }
}

impl Deref for Lent {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.memory
    }
}

impl DerefMut for Lent {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.memory
    }
}

impl Buffer for Lent {
    fn freeze(self: Box<Self>) -> Arc<dyn Memory> {
        Arc::new(*self)
    }

    fn is_pinned(&self) -> bool {
        true
    }
}

impl Memory for Lent {
    fn bytes(&self) -> &[u8] {
        self
    }

    fn is_pinned(&self) -> bool {
        true
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        self.entries.lock().unwrap().lent -= 1;
    }
}

impl Ledger {
    pub fn lent(&self) -> usize {
        self.entries.lock().unwrap().lent
    }

    fn most(&self) -> usize {
        self.entries.lock().unwrap().most
    }

    /// Does the plane begin where a buffer of this pool began?
    pub fn lent_from(&self, plane: &Plane) -> bool {
        self.entries.lock().unwrap().starts.contains(&address(plane))
    }
}

fn address(plane: &Plane) -> usize {
    plane.row(0).as_ptr().addr()
}

/// Opens a file as a source; with a pool, its frames are in memory of the pool.
fn open(file: &Path, pool: Option<Arc<dyn Pool>>) -> Box<dyn Source> {
    let options = InputOptions { url: file.into(), ..InputOptions::default() };
    let silent = Notices::new(false, |_, _| {});
    let (mut source, _) = source::open(&options, &Cancel::default(), silent, Arc::default()).unwrap();
    pool.into_iter().for_each(|pool| source.use_pool(pool));
    source
}

/// Calls `look` with every frame of a source.
pub fn each_frame(mut source: Box<dyn Source>, mut look: impl FnMut(Frame)) {
    while let Some(delivery) = source.next().unwrap() {
        delivery.frame.into_iter().for_each(&mut look);
    }
}

/// The file as a source without a pool.
pub fn plain_source(file: &Path) -> Box<dyn Source> {
    open(file, None)
}

/// The frames of a file, decoded without a pool.
pub fn plainly(file: &Path) -> Vec<Frame> {
    let mut frames = Vec::new();
    each_frame(plain_source(file), |frame| frames.push(frame));
    frames
}

/// A second of video. H.265 comes from `tests/data`, because a machine with a GPU may lack its encoder.
fn film(dir: &Dir, file: &str, size: &str, video: &str) {
    if video == READY_MADE {
        return dir.write(file, include_bytes!("../../data/nvdec/h265.mkv"));
    }
    dir.ffmpeg(&format!("-f lavfi -i testsrc2=size={size}:rate=25:duration=1 {video} {file}"));
}

/// Instead of encoder options: the file comes from `tests/data`.
const READY_MADE: &str = "";

/// Various files: codecs with and without threads of their own, sizes with and without row padding.
const KINDS: [(&str, &str, &str); 9] = [
    ("h264.mp4", "854x480", "-c:v libx264 -preset veryfast"),
    ("h264-10.mkv", "320x240", "-c:v libx264 -preset veryfast -pix_fmt yuv420p10le"),
    ("h265.mkv", "322x182", READY_MADE),
    ("mpeg4.mkv", "320x200", "-c:v mpeg4 -bf 2"),
    ("mpeg2-fields.mkv", "720x576", "-c:v mpeg2video -flags +ilme+ildct"),
    ("mjpeg.mkv", "100x100", "-c:v mjpeg -pix_fmt yuvj422p"),
    ("gray16.mkv", "99x33", "-c:v ffv1 -pix_fmt gray16le"),
    ("rgb.mkv", "130x70", "-c:v ffv1 -pix_fmt gbrp"),
    ("packed.mkv", "97x55", "-c:v png -pix_fmt rgb24"),
];

#[test]
fn the_decoder_writes_where_the_upload_starts() {
    let dir = Dir::new();
    for (file, size, video) in KINDS {
        film(&dir, file, size, video);
        let expected = plainly(&dir.path(file));
        for with_chroma in [false, true] {
            let ledger = Ledger { with_chroma, ..Ledger::default() };
            let mut number = 0;
            each_frame(open(&dir.path(file), Some(Arc::new(ledger.clone()))), |frame| {
                let (first, rest) = frame.planes().split_at(frame.rewritten_planes(with_chroma).end);
                assert!(ledger.lent_from(&first[0]), "{file}: frame {number} has been copied");
                for plane in first {
                    assert!(plane.memory().is_pinned(), "{file}");
                    assert_eq!(plane.memory().bytes().as_ptr().addr(), address(&first[0]), "{file}: one buffer");
                }
                assert!(rest.iter().all(|plane| !plane.memory().is_pinned()), "{file}: pinned without need");
                assert_eq!(difference(&expected[number], &frame), None, "{file}: frame {number}");
                number += 1;
            });
            assert_eq!((number, ledger.lent()), (expected.len(), 0), "{file}: frames, and buffers that are missing");
        }
    }
}

#[test]
fn a_cropped_picture_begins_inside_its_buffer() {
    let dir = Dir::new();
    film(&dir, "whole.mp4", "640x360", "-c:v libx264");
    dir.ffmpeg("-i whole.mp4 -c copy -bsf:v h264_metadata=crop_left=64:crop_right=32:crop_top=16 cropped.mp4");
    let expected = plainly(&dir.path("cropped.mp4"));
    let ledger = Ledger::default();
    let mut expected = expected.iter();
    each_frame(open(&dir.path("cropped.mp4"), Some(Arc::new(ledger.clone()))), |frame| {
        let luma = &frame.planes()[0];
        let start = luma.memory().bytes().as_ptr().addr();
        assert!(luma.memory().is_pinned() && ledger.entries.lock().unwrap().starts.contains(&start));
        assert_eq!(address(luma), start + 16 * luma.stride() as usize + 64);
        assert_eq!((frame.width(), frame.height()), (544, 344));
        assert_eq!(difference(expected.next().unwrap(), &frame), None);
    });
    assert!(expected.next().is_none());
}

#[test]
fn what_cannot_lie_in_the_pool_is_decoded_all_the_same() {
    let dir = Dir::new();
    // Frames with a palette have no planes for the pool; raw video stays in the packet's memory.
    film(&dir, "palette.mkv", "64x48", "-c:v png -pix_fmt pal8");
    film(&dir, "raw.nut", "64x48", "-c:v rawvideo -pix_fmt yuv420p");
    for file in ["palette.mkv", "raw.nut"] {
        let mut expected = plainly(&dir.path(file)).into_iter();
        let ledger = Ledger::default();
        each_frame(open(&dir.path(file), Some(Arc::new(ledger.clone()))), |frame| {
            assert!(!frame.planes()[0].memory().is_pinned());
            assert_eq!(difference(&expected.next().unwrap(), &frame), None, "{file}");
        });
        assert_eq!((expected.next().is_none(), ledger.most()), (true, 0), "{file}");
    }
}

/// A pool without memory.
struct Empty;

impl Pool for Empty {
    fn buffer(&self, _len: usize) -> Result<Box<dyn Buffer>, histeq::internal::frame::MemoryError> {
        Err(histeq::internal::frame::MemoryError::new("nothing left"))
    }
}

#[test]
fn a_pool_that_has_nothing_left_does_not_stop_the_decoder() {
    let dir = Dir::new();
    film(&dir, "in.mp4", "320x240", "-c:v libx264");
    let mut expected = plainly(&dir.path("in.mp4")).into_iter();
    each_frame(open(&dir.path("in.mp4"), Some(Arc::new(Empty))), |frame| {
        assert_eq!(difference(&expected.next().unwrap(), &frame), None);
    });
    assert!(expected.next().is_none());
}

#[test]
fn a_long_video_takes_no_more_buffers_than_a_short_one() {
    let dir = Dir::new();
    let most = |seconds: u32| {
        let file = format!("{seconds}.mp4");
        let rest = "-c:v libx264 -preset veryfast -bf 3 -refs 4";
        dir.ffmpeg(&format!("-f lavfi -i testsrc2=size=160x120:rate=25:duration={seconds} {rest} {file}"));
        let ledger = Ledger::default();
        // A busy pipeline holds about 12 frames at once.
        let mut held = VecDeque::new();
        each_frame(open(&dir.path(&file), Some(Arc::new(ledger.clone()))), |frame| {
            held.push_back(frame);
            if held.len() > 12 {
                held.pop_front();
            }
        });
        drop(held);
        assert_eq!(ledger.lent(), 0);
        ledger.most()
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(16);
    let (short, long) = (most(4), most(40));
    // The bound is the held frames, and for each decoding thread a frame and its reference frames.
    let bound = 12 + 2 * (threads + 1) + 17;
    assert!(short <= bound && long <= bound, "{short} and {long} buffers, at most {bound}");
}

/// The addresses of the planes of all frames, at each step of the pipeline.
#[derive(Default)]
struct Trace {
    uploaded: Vec<usize>,
    downloaded: Vec<usize>,
    chroma: Vec<[usize; 2]>,
    encoded: Vec<[usize; 3]>,
}

/// A backend like a GPU: it downloads luma into its own buffers and touches nothing else.
struct Elsewhere {
    pool: Ledger,
    trace: Arc<Mutex<Trace>>,
    under_way: VecDeque<Frame>,
}

impl Executor for Elsewhere {
    fn submit(&mut self, work: Work) -> histeq::Result<()> {
        let [luma, cb, cr] = work.frame().planes() else { panic!("three planes") };
        let mut trace = self.trace.lock().unwrap();
        trace.uploaded.push(address(luma));
        trace.chroma.push([address(cb), address(cr)]);
        drop(trace);
        self.under_way.push_back(work.into_frame());
        Ok(())
    }

    fn remember(&mut self, _seen: &Remembered) -> histeq::Result<()> {
        unreachable!("nothing is taken over here")
    }

    fn collect(&mut self) -> histeq::Result<Option<Equalized>> {
        let Some(frame) = self.under_way.pop_front() else { return Ok(None) };
        let luma = &frame.planes()[0];
        let memory = self.pool.buffer(luma.row_bytes() * luma.rows())?.freeze();
        self.trace.lock().unwrap().downloaded.push(memory.bytes().as_ptr().addr());
        let plane = Plane::new(memory, 0, luma.row_bytes() as isize, luma.row_bytes(), luma.rows());
        let frame = frame.with_planes(|index| if index == 0 { plane.clone() } else { None });
        Ok(Some(Equalized { frame, applied: Applied::default() }))
    }

    fn in_flight(&self) -> usize {
        self.under_way.len()
    }

    fn capacity(&self) -> usize {
        4
    }

    fn name(&self) -> String {
        "elsewhere".to_owned()
    }
}

/// A sink that converts each frame to the encoder's picture and keeps it, as an encoder with look-ahead does.
struct HoldingBack {
    trace: Arc<Mutex<Trace>>,
    pictures: Vec<Picture>,
}

impl Sink for HoldingBack {
    fn write(&mut self, delivery: Delivery) -> Result<()> {
        let Some(frame) = delivery.frame else { return Ok(()) };
        let picture = Picture::from_frame(&frame)?;
        self.trace.lock().unwrap().encoded.push([0, 1, 2].map(|plane| picture.address(plane).addr()));
        self.pictures.push(picture);
        Ok(())
    }

    fn finish(self: Box<Self>, _outcome: Outcome) -> Result<Option<Name>> {
        Ok(None)
    }
}

#[test]
fn what_comes_down_is_what_the_encoder_reads_and_chroma_is_passed_on() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=320x180:rate=25:duration=6 -c:v libx264 -preset veryfast in.mp4");
    let (up, down) = (Ledger::default(), Ledger::default());
    let trace = Arc::new(Mutex::new(Trace::default()));
    let source = open(&dir.path("in.mp4"), Some(Arc::new(up.clone())));
    let backend = Elsewhere { pool: down.clone(), trace: trace.clone(), under_way: VecDeque::new() };
    let sink = HoldingBack { trace: trace.clone(), pictures: Vec::new() };
    let progress = Progress::default();
    let stage = EqualizeStage::new(Box::new(backend), Settings::default());
    pipeline::run(source, stage, None, Box::new(sink), &Cancel::default(), &progress, |_| {}).unwrap();

    let trace = trace.lock().unwrap();
    assert_eq!(trace.encoded.len(), 150);
    assert!(trace.uploaded.iter().all(|start| up.entries.lock().unwrap().starts.contains(start)));
    for (number, [luma, cb, cr]) in trace.encoded.iter().copied().enumerate() {
        assert_eq!(luma, trace.downloaded[number], "frame {number}: luma");
        assert_eq!([cb, cr], trace.chroma[number], "frame {number}: chroma");
    }
    // The sink kept all buffers of downloaded luma, but none into which frames were decoded.
    assert_eq!(down.most(), 150);
    assert!(up.most() < 100, "{} buffers", up.most());
    assert_eq!((up.lent(), down.lent()), (0, 0), "all buffers came back");
}

#[test]
fn a_gpu_reads_decoded_frames_where_they_lie() {
    let Some(gpu) = gpu() else { return };
    let dir = Dir::new();
    for (file, size, video) in KINDS {
        film(&dir, file, size, video);
        for chroma in [Chroma::Keep, Chroma::Follow] {
            let settings = Settings { chroma, ..Settings::default() };
            let given = |frame: &Frame| chroma.changes().then(|| with_gain(frame));
            let mut cuda = Sequence::new(Box::new(Cuda::on(gpu, 3).unwrap()), settings);
            let mut reference = by_reference(settings);
            let mut expected = plainly(&dir.path(file)).into_iter().map(|frame| {
                reference.give(given(&frame));
                reference.equalize(&frame)
            });
            let mut check = |cuda: &mut Sequence| {
                let found = cuda.collect().unwrap().unwrap();
                assert_eq!(difference(&expected.next().unwrap(), &found), None, "{file}");
            };
            each_frame(open(&dir.path(file), cuda.input_pool()), |frame| {
                let travelling = frame.rewritten_planes(chroma.changes());
                assert!(frame.planes()[travelling].iter().all(|plane| plane.memory().is_pinned()), "{file}");
                if cuda.in_flight() == cuda.capacity() {
                    check(&mut cuda);
                }
                cuda.give(given(&frame));
                cuda.submit(frame).unwrap();
            });
            while cuda.in_flight() > 0 {
                check(&mut cuda);
            }
            assert!(expected.next().is_none(), "{file}: frames are missing");
        }
    }
}

/// A curve for `frame`, and a gain for its chroma.
pub fn with_gain(frame: &Frame) -> Mapping {
    let codes = (0..frame.levels().codes()).map(|code| (code / 2) as u16).collect();
    let curve = Curve::from_codes(frame.levels(), codes).expect("a code for each").into();
    Mapping::Curve { curve, chroma_gain: 6000 }
}
