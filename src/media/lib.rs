//! Media in and out for `histeq-video`: files, pipes, cameras and network streams, and the engine that streams their
//! frames through an equalizer. Not a library for others: its interface is what the program needs, and changes with it.
//!
//! ```text
//! thread "source"    Source::next           Demuxer -> Decoder -> Frame (planes, shared by reference),
//!                                           in a process of its own, and a copy of the frame
//!                                           with filters: Frame -> FilterGraph -> Frame
//! thread "equalize"  EqualizeStage          of the crate `histeq`
//! thread "filter"    with --filter-after: Frame -> FilterGraph -> Frame
//! thread "sink"      Sink::write            Encoder -> Muxer -> Target
//! ```
//! Bounded channels join the threads ([`pipeline`]). `live` runs the same stage between a camera and its outputs, and
//! drops frames where it would fall behind ([`pipeline::live`]).
//!
//! # Modules
//! Lowest layer first. Each may use what its row names; a test holds the code to it.
//!
//! | module | what it is | may use |
//! |---|---|---|
//! | [`sys`] | pipes with large buffers, interruptible reads, lines on stderr, the end of a program that cannot go on | |
//! | [`sandbox`] | restrictions of processes that read untrusted files | |
//! | [`image_file`] | metadata of image files: read, passed on beside the picture, written | |
//! | [`ffmpeg`] | what the safe bindings lack: contexts, pictures by reference, side data | sys |
//! | [`rawvideo`] | what raw frames are, and y4m headers | ffmpeg |
//! | [`pipeline`] | stages, bounded channels, cancel; the live engine | ffmpeg, sys |
//! | [`camera`] | which cameras there are, in which mode to open them | ffmpeg |
//! | [`source`] | files, URLs, images, cameras | pipeline, rawvideo, camera, image_file, ffmpeg, sandbox, sys |
//! | [`sink`] | encoders, containers, temporary files, raw frames | pipeline, rawvideo, image_file, ffmpeg, sys |

#[cfg(not(target_os = "linux"))]
compile_error!("histeq-media, and what is made of it, is for Linux; the library histeq is for all systems");

pub mod camera;
pub mod ffmpeg;
pub mod image_file;
pub mod pipeline;
pub mod rawvideo;
pub mod sandbox;
pub mod sink;
pub mod source;
pub mod sys;
