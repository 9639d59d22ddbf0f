//! Rotates and mirrors pictures by libavfilter, as their metadata requests it, where the output cannot store the
//! rotation.
#![allow(unsafe_code, reason = "FFI")]

use super::Picture;
use super::display_matrix::Rotation;
use crate::ffmpeg::decode::Decoded;
use crate::ffmpeg::demux::Stream;
use crate::ffmpeg::filter::{Converter, FilterGraph, GraphVideo, VideoFormat};
use crate::ffmpeg::{Error, microseconds, text};
use anyhow::Context;
use ffmpeg_next::ffi;
use histeq::Limits;
use histeq::internal::frame::Frame;

/// Rotates the pictures of a video as its metadata requests.
pub struct AutoRotate {
    /// Whether the stream's metadata gives the rotation, which then holds for all pictures.
    is_of_stream: bool,
    rotation: Option<Rotation>,
    /// The last rotation, and its filters.
    graph: Option<(Rotation, FilterGraph)>,
    /// Converts to chroma that is subsampled equally in both directions.
    even_chroma: Converter,
    /// `Some` once a quarter turn has turned the rows of fields into columns; `true` once the warning was given.
    turned_fields: Option<bool>,
    limits: Limits,
}

impl AutoRotate {
    /// A rotator for pictures of `stream`. `is_stored`: the output stores the stream's rotation, so it is not applied.
    /// A rotation in the pictures' own metadata, as in photos, is always applied.
    pub fn new(stream: &Stream, is_stored: bool, limits: &Limits) -> Self {
        let is_of_stream = stream.side_data.has_rotation();
        let rotation = stream.side_data.rotation().filter(|_| !is_stored);
        let (even_chroma, limits) = (Converter::default(), limits.clone());
        AutoRotate { is_of_stream, rotation, graph: None, even_chroma, turned_fields: None, limits }
    }

    /// Whether the last picture was rotated.
    pub fn rotates(&self) -> bool {
        self.rotation.is_some()
    }

    /// The warning that rows of fields have become columns; it is returned only once.
    pub fn warning(&mut self) -> Option<&'static str> {
        let was_told = std::mem::replace(self.turned_fields.as_mut()?, true);
        (!was_told).then_some(
            "turned by 90 degrees, interlaced video becomes progressive: its fields are columns then (--filter yadif \
             makes frames of them first)",
        )
    }

    /// Rotates `picture`. Its other properties stay, but the request to rotate it is removed.
    ///
    /// # Errors
    /// When libavfilter fails.
    pub fn picture(&mut self, picture: Picture) -> Result<Picture, Error> {
        if !self.is_of_stream {
            self.rotation = rotation_of(&picture);
        }
        let Some(rotation) = self.rotation else { return Ok(picture) };
        let is_quarter_turn = rotation.0.starts_with("transpose");
        let picture = if is_quarter_turn { self.with_even_chroma(picture)? } else { picture };
        let mut graph = match self.graph.take().filter(|(known, graph)| *known == rotation && graph.takes(&picture)) {
            Some((_, graph)) => graph,
            None => {
                let video = GraphVideo::new(&picture, microseconds(), None);
                FilterGraph::open(&rotation.0.into(), video, Some(&picture), None, &[], &self.limits)?
            }
        };
        let (time, was_interlaced) = (picture.time(), picture.interlaced().is_some());
        graph.send(Some(picture))?;
        let Decoded::Picture(mut rotated) = graph.receive()? else { return Err(Error::Bug) };
        self.graph = Some((rotation, graph));
        rotated.set_time(time);
        if was_interlaced && rotated.interlaced().is_none() {
            self.turned_fields = self.turned_fields.or(Some(false));
        }
        // SAFETY: a valid picture and a NUL-terminated key.
        unsafe {
            ffi::av_frame_remove_side_data(rotated.as_mut_ptr(), ffi::AVFrameSideDataType::AV_FRAME_DATA_DISPLAYMATRIX);
            ffi::av_dict_set(&mut rotated.get_mut().metadata, c"Orientation".as_ptr(), std::ptr::null(), 0);
        }
        Ok(rotated)
    }

    /// Converts a picture, before a quarter turn, to chroma that is subsampled equally in both directions. libavfilter
    /// would do so itself, but would lose depth and range.
    fn with_even_chroma(&mut self, picture: Picture) -> Result<Picture, Error> {
        let Some(format) = picture.format().without_subsampling() else { return Ok(picture) };
        self.even_chroma.picture(&picture, VideoFormat { format, ..VideoFormat::from_picture(&picture) })
    }

    /// Rotates a frame.
    ///
    /// # Errors
    /// When libavfilter fails, or its output is not native.
    pub fn frame(&mut self, frame: Frame) -> anyhow::Result<Frame> {
        if self.is_of_stream && self.rotation.is_none() {
            return Ok(frame);
        }
        let picture = self.picture(Picture::from_frame(&frame)?).context("a frame cannot be turned")?;
        match self.rotates() {
            true => picture.to_frame()?.context("a turned frame is not native"),
            false => Ok(frame),
        }
    }
}

/// Whether the picture's own metadata requests a rotation.
pub fn is_to_be_turned(picture: &Picture) -> bool {
    rotation_of(picture).is_some()
}

/// The rotation in a picture's own metadata, which photos have.
fn rotation_of(picture: &Picture) -> Option<Rotation> {
    // SAFETY: the picture is valid; its side data and dictionary are read before it changes.
    unsafe {
        let frame = picture.get();
        let matrix = ffi::av_frame_get_side_data(frame, ffi::AVFrameSideDataType::AV_FRAME_DATA_DISPLAYMATRIX);
        if let Some(side) = matrix.as_ref() {
            return Rotation::from_matrix(std::slice::from_raw_parts(side.data, side.size));
        }
        let entry = ffi::av_dict_get(frame.metadata, c"Orientation".as_ptr(), std::ptr::null(), 0);
        entry.as_ref().and_then(|entry| Rotation::from_exif(&text(entry.value)))
    }
}
