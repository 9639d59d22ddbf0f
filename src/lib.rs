//! Histogram equalization for video.
//!
//! # The way of a frame
//! ```text
//! main: arguments -> Job -> source, stage, sink -> pipeline::run -> summary
//!
//! thread "source"    Source::next               Demuxer -> Decoder -> Frame (planes, shared by reference)
//!                                               behind a wall (--sandbox): the same on the thread "decode"
//!                                               with filters: Frame -> FilterGraph -> Frame
//! thread "equalize"  EqualizeStage::submit      Gray, Depth, CountedRegion, Mask, MappingSource: Frame -> Work
//!                    Equalizer::submit          Failover -> Cuda: Ring -> Slot -> DevicePicture -> kernels
//!                                               Failover -> Cpu: worker -> Engine::counts -> Temporal -> Engine::map
//!                    Equalizer::collect         Work -> Equalized (frame, and what was applied to it)
//!                    Observer::equalized        Verifier, Recorder (--stats), CurveSaver (--save-curves)
//!                    EqualizeStage::collect     Depth: Equalized -> Equalized
//! thread "filter"    with --filter-after: Frame -> FilterGraph -> Frame
//! thread "sink"      Sink::write                Encoder -> Muxer -> Target
//! ```
//!
//! Bounded channels join the three threads ([`pipeline`]). [`spec::Temporal`] says, for every backend, which frames make
//! the curve of a frame. [`equalize::Failover`] begins on the CPU while a GPU opens, and goes back there if the GPU fails:
//! it keeps what was counted of the frames of the temporal window, so that the bytes stay the same. `live` runs the same
//! stage between a camera and its outputs, and drops frames where it would fall behind ([`pipeline::live`]); several cameras
//! have threads and a stage each, and share one GPU. With `--smooth scene` a pass comes first that only measures and counts
//! ([`equalize::Survey`]); with `--target-size`, one that only encodes.
//!
//! # In other programs
//! The core takes arrays and gives arrays, on the CPU or on an NVIDIA GPU, with the same bytes. It needs neither FFmpeg nor
//! pkg-config nor libclang: `histeq-video = { version = "0.2", default-features = false }`.
//!
//! ```
//! use histeq_video::equalize::{Equalizer, Work, cpu::Cpu};
//! use histeq_video::frame::{Frame, HostPool, Matrix, PixelFormat, Range};
//! use histeq_video::spec::Settings;
//!
//! // 4 columns, 2 rows, one byte a pixel.
//! let gray: [u8; 8] = [100, 100, 101, 101, 102, 102, 103, 103];
//! let plane = HostPool::default().plane_from(&gray, 4, 2);
//! let frame = Frame::new(PixelFormat::Gray, (4, 2), Range::Full, Matrix::Bt601, vec![plane])?;
//!
//! let mut cpu = Cpu::new(1);
//! cpu.submit(Work::new(frame, Settings::default()))?;
//! let equalized = cpu.collect()?.expect("one frame was submitted").frame;
//! let rows: Vec<u8> = (0..2).flat_map(|y| equalized.planes()[0].row(y).to_vec()).collect();
//! assert_eq!(rows, [0, 0, 85, 85, 170, 170, 255, 255]);
//! # Ok::<(), anyhow::Error>(())
//! ```
//!
//! * [`frame::PixelFormat`]: 8 to 16 bits, gray, YUV, RGB, packed or planar, with the names and layouts of FFmpeg.
//! * [`spec::Settings`]: the default is the textbook method. A temporal window keeps video from flickering, and a plateau or
//!   a contrast limit keeps noise down.
//! * [`equalize::Equalizer`]: submit a [`Work`](equalize::Work) for each frame and collect the results in the same order.
//!   Several may be under way, and with a look-ahead the newest wait until [`finish`](equalize::Equalizer::finish).
//! * [`equalize::cpu::Cpu`] and [`equalize::cuda::Cuda`] are the backends. Errors of the GPU name their cause; a program
//!   that can do without a GPU takes the CPU then.
//!
//! Two programs to start from: `samples/equalize_array.rs` (a gray array in, an array out) and
//! `samples/equalize_sequence.rs` (a sequence with the temporal window, on a GPU if there is one).
//!
//! # Modules
//! Lowest layer first. Each may use what its row names, and a test holds the code to it.
//!
//! The core, always there:
//!
//! | module | what it is | may use |
//! |---|---|---|
//! | [`spec`] | the rules in integers: histogram, temporal window, scenes, curve, tiles, chroma | |
//! | [`frame`] | a picture: format, planes, pool | spec |
//! | [`cuda`] | a GPU: memory, streams, kernels | frame, spec |
//! | [`equalize`] | the backends: reference, CPU, CUDA | spec, frame, cuda |
//!
//! The program, with the feature `program`, which needs FFmpeg:
//!
//! | module | what it is | may use |
//! |---|---|---|
//! | [`io`] | pipes with large buffers, reads that can be interrupted, lines on stderr, the end when nothing else is left | frame |
//! | [`sandbox`] | walls around what reads files of strangers | |
//! | [`ffmpeg`] | what the safe bindings lack: contexts, pictures by reference, side data | frame, io |
//! | [`rawvideo`] | what raw frames are, and y4m headers | ffmpeg, frame |
//! | [`svg`] | drawings and axes of plots | |
//! | [`chart`] | histograms, curves, labels, drawn over pictures | frame, spec |
//! | [`pipeline`] | stages, bounded channels, cancel; the live engine | equalize, ffmpeg, frame, spec |
//! | [`camera`] | which cameras there are, in which mode to open them | ffmpeg |
//! | [`source`] | files, URLs, images, raw frames, cameras | pipeline, rawvideo, camera, ffmpeg, sandbox, io, frame |
//! | [`sink`] | encoders, containers, temporary files, raw frames | pipeline, rawvideo, ffmpeg, io, frame |
//! | [`sheet`] | small pictures in rows and columns, with labels | pipeline, chart, ffmpeg, frame |
//! | [`curves`] | curves kept in files, and given to frames | pipeline, sink, equalize, frame, spec |
//! | [`stats`] | what was done to each frame, measured and plotted | curves, sheet, pipeline, sink, equalize, ffmpeg, frame, svg, io, spec |
//! | [`pieces`] | one video in pieces: the plan, and how pieces are joined | stats, curves, sink, source, pipeline, ffmpeg, io |
//! | [`comparison`] | two videos in one | pipeline, chart, equalize, ffmpeg, frame, spec |
//! | [`window`] | the preview: picture, overlays, keys | pipeline, sink, chart, equalize, ffmpeg, frame, spec |
//! | [`report`] | progress, notes, the line at the end; all of it as events | pipeline, io |
//!
//! The laboratory, with the feature `laboratory`:
//!
//! | module | what it is | may use |
//! |---|---|---|
//! | [`publications`] | the kernels of five published equalizers, on the product's loader and launcher | cuda, frame, spec |
//! | [`bench`] | measuring this machine: suites, tables, plots, the figures of others | publications, sink, source, pipeline, equalize, cuda, svg, ffmpeg, frame, spec |
//!
//! Above all of them, with the feature `program`; the options of the laboratory are there with the laboratory:
//!
//! | module | what it is | may use |
//! |---|---|---|
//! | [`cli`] | what was typed, what it means | everything |
//!
//! [`bench`]: mod@bench

#[cfg(feature = "laboratory")]
pub mod bench;
#[cfg(feature = "program")]
pub mod camera;
#[cfg(feature = "program")]
pub mod chart;
#[cfg(feature = "program")]
pub mod cli;
#[cfg(feature = "program")]
pub mod comparison;
pub mod cuda;
#[cfg(feature = "program")]
pub mod curves;
pub mod equalize;
#[cfg(feature = "program")]
pub mod ffmpeg;
pub mod frame;
#[cfg(feature = "program")]
pub mod io;
#[cfg(feature = "program")]
pub mod pieces;
#[cfg(feature = "program")]
pub mod pipeline;
#[cfg(feature = "laboratory")]
pub mod publications;
#[cfg(feature = "program")]
pub mod rawvideo;
#[cfg(feature = "program")]
pub mod report;
#[cfg(feature = "program")]
pub mod sandbox;
#[cfg(feature = "program")]
pub mod sheet;
#[cfg(feature = "program")]
pub mod sink;
#[cfg(feature = "program")]
pub mod source;
pub mod spec;
#[cfg(feature = "program")]
pub mod stats;
#[cfg(feature = "program")]
pub mod svg;
#[cfg(feature = "program")]
pub mod window;
