//! Histogram equalization for video.
//!
//! How a frame flows: a [`source`] decodes it, an [`equalize`] backend equalizes it, a [`sink`] encodes it; the
//! [`pipeline`] runs the three side by side, each on a thread of its own.
//!
//! Modules, lowest layer first. Each may use what its row names, and a test holds the code to it:
//!
//! | module | what it is | may use |
//! |---|---|---|
//! | [`spec`] | histogram, curve, strength: pure integers | |
//! | [`frame`] | a picture: format, planes, pool | |
//! | [`io`] | pipes with large buffers, reads that can be interrupted, lines on stderr | frame |
//! | [`ffmpeg`] | what the safe bindings lack: contexts, pictures by reference, side data | frame, io |
//! | [`rawvideo`] | what raw frames are, and y4m headers | ffmpeg, frame |
//! | [`svg`] | drawings and axes of plots | |
//! | [`cuda`] | a GPU: memory, streams, kernels | frame, spec |
//! | [`chart`] | histograms, curves, labels, drawn over pictures | frame, spec |
//! | [`equalize`] | the backends: reference, CPU, CUDA | spec, frame, cuda |
//! | [`pipeline`] | stages, bounded channels, cancel; the live engine | equalize, ffmpeg, frame, spec |
//! | [`camera`] | which cameras there are, in which mode to open them | ffmpeg |
//! | [`source`] | files, URLs, images, raw frames, cameras | pipeline, rawvideo, camera, ffmpeg, io, frame |
//! | [`sink`] | encoders, containers, temporary files, raw frames | pipeline, rawvideo, ffmpeg, io, frame |
//! | [`curves`] | curves kept in files, and given to frames | pipeline, sink, equalize, frame, spec |
//! | [`stats`] | what was done to each frame, measured and plotted | curves, pipeline, sink, equalize, frame, svg, spec |
//! | [`comparison`] | two videos in one | pipeline, chart, equalize, ffmpeg, frame, spec |
//! | [`window`] | the preview: picture, overlays, keys | pipeline, sink, chart, equalize, ffmpeg, frame, spec |
//! | [`report`] | progress, notes, the line at the end | pipeline, io |
//! | [`bench`] | measuring this machine: suites, tables, plots, the figures of others | pipeline, equalize, cuda, svg, ffmpeg, frame, spec |
//! | [`cli`] | what was typed, what it means | everything |
//!
//! [`bench`]: mod@bench

pub mod bench;
pub mod camera;
pub mod chart;
pub mod cli;
pub mod comparison;
pub mod cuda;
pub mod curves;
pub mod equalize;
pub mod ffmpeg;
pub mod frame;
pub mod io;
pub mod pipeline;
pub mod rawvideo;
pub mod report;
pub mod sink;
pub mod source;
pub mod spec;
pub mod stats;
pub mod svg;
pub mod window;
