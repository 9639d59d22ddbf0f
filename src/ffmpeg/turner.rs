//! Pictures the right way up: turned and mirrored, by libavfilter, where nobody would be told that they are to be turned
//! when they are shown.
#![allow(unsafe_code, reason = "FFI")]

use super::{Error, Picture, RawFormat, Stream, StreamSideData, check, text};
use crate::frame::Frame;
use anyhow::Context;
use ffmpeg_next::filter::{self, Graph};
use ffmpeg_next::{Rational, ffi};

/// By quarters of a turn, mirrored or not: what libavfilter's filters of the same names do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn(&'static str);

impl Turn {
    /// What a display matrix asks for: rows of fixed-point numbers, `(x, y)` goes to `(a x + c y, b x + d y)`. `None` where
    /// that is no quarter of a turn, or nothing at all.
    pub(super) fn of_matrix(matrix: &[u8]) -> Option<Self> {
        let matrix: Vec<i32> = matrix.chunks_exact(4).map(bytemuck::pod_read_unaligned).collect();
        let &[a, b, _, c, d, ..] = matrix.as_slice() else { return None };
        let filters = match [a, b, c, d].map(i32::signum) {
            [-1, 0, 0, 1] => "hflip",
            [1, 0, 0, -1] => "vflip",
            [-1, 0, 0, -1] => "hflip,vflip",
            [0, 1, 1, 0] => "transpose=cclock_flip",
            [0, 1, -1, 0] => "transpose=clock",
            [0, -1, 1, 0] => "transpose=cclock",
            [0, -1, -1, 0] => "transpose=clock_flip",
            _ => return None,
        };
        Some(Turn(filters))
    }

    /// What the orientation of Exif asks for, a number from 1 to 8.
    fn of_exif(orientation: &str) -> Option<Self> {
        let filters = match orientation.trim() {
            "2" => "hflip",
            "3" => "hflip,vflip",
            "4" => "vflip",
            "5" => "transpose=cclock_flip",
            "6" => "transpose=clock",
            "7" => "transpose=clock_flip",
            "8" => "transpose=cclock",
            _ => return None,
        };
        Some(Turn(filters))
    }

    /// What a picture asks for itself, whatever its container says: photos do.
    fn of_picture(picture: &Picture) -> Option<Self> {
        // SAFETY: the picture is valid; what is found in its dictionary and its side data is copied, or read at once.
        unsafe {
            let frame = picture.get();
            let matrix = ffi::av_frame_get_side_data(frame, ffi::AVFrameSideDataType::AV_FRAME_DATA_DISPLAYMATRIX);
            if let Some(side) = matrix.as_ref() {
                return Turn::of_matrix(std::slice::from_raw_parts(side.data, side.size));
            }
            let entry = ffi::av_dict_get(frame.metadata, c"Orientation".as_ptr(), std::ptr::null(), 0);
            entry.as_ref().and_then(|entry| Turn::of_exif(&text(entry.value)))
        }
    }
}

/// Turns the pictures of a video, if they have to be. The first one decides.
pub struct Upright {
    said: StreamSideData,
    is_told: bool,
    turner: Option<Turner>,
    begun: bool,
}

impl Upright {
    /// Pictures of `stream`; `is_told` says whether somebody else is told what the stream says of them. What pictures say
    /// themselves, as photos do, nobody is told.
    pub fn new(stream: &Stream, is_told: bool) -> Self {
        Upright { said: stream.side_data.clone(), is_told, turner: None, begun: false }
    }

    /// Are pictures turned, as far as is known?
    pub fn turns(&self) -> bool {
        self.turner.is_some()
    }

    /// `picture` the right way up; all else that is known of it stays, but that it is to be turned.
    ///
    /// # Errors
    /// When libavfilter cannot turn it.
    pub fn picture(&mut self, picture: Picture) -> Result<Picture, Error> {
        if !std::mem::replace(&mut self.begun, true) {
            let turn = match self.said.turns_pictures() {
                true => self.said.turn().filter(|_| !self.is_told),
                false => Turn::of_picture(&picture),
            };
            self.turner = turn.map(|turn| Turner { turn, graph: None });
        }
        match &mut self.turner {
            Some(turner) => turner.turn(picture),
            None => Ok(picture),
        }
    }

    /// The same for a frame.
    ///
    /// # Errors
    /// When libavfilter cannot turn it, or what it gives is not native.
    pub fn frame(&mut self, frame: Frame) -> anyhow::Result<Frame> {
        if self.begun && self.turner.is_none() {
            return Ok(frame);
        }
        let picture = self.picture(Picture::from_frame(&frame)?).context("a frame cannot be turned")?;
        match self.turns() {
            true => picture.to_frame()?.context("a turned frame is not native"),
            false => Ok(frame),
        }
    }
}

struct Turner {
    turn: Turn,
    graph: Option<(RawFormat, (usize, usize), Graph)>,
}

impl Turner {
    fn turn(&mut self, picture: Picture) -> Result<Picture, Error> {
        let (format, size) = (picture.format(), picture.size());
        if !matches!(&self.graph, Some((for_format, for_size, _)) if (*for_format, *for_size) == (format, size)) {
            self.graph = Some((format, size, self.build(&picture)?));
        }
        let Some((_, _, graph)) = &mut self.graph else { unreachable!("set above") };
        let gone = Error::FilterNotFound;
        let (mut inlet, mut outlet) = (graph.get("in").ok_or(gone)?, graph.get("out").ok_or(gone)?);
        let turned = Picture::new();
        // SAFETY: the graph is configured; the source takes the picture's references, the sink fills an empty picture.
        unsafe {
            check(ffi::av_buffersrc_add_frame(inlet.as_mut_ptr(), picture.as_ptr()))?;
            check(ffi::av_buffersink_get_frame(outlet.as_mut_ptr(), turned.as_ptr()))?;
            let orientation = c"Orientation".as_ptr();
            ffi::av_frame_remove_side_data(turned.as_ptr(), ffi::AVFrameSideDataType::AV_FRAME_DATA_DISPLAYMATRIX);
            ffi::av_dict_set(&mut (*turned.as_ptr()).metadata, orientation, std::ptr::null(), 0);
        }
        Ok(turned)
    }

    fn build(&self, picture: &Picture) -> Result<Graph, Error> {
        let find = |name| filter::find(name).ok_or(Error::FilterNotFound);
        let (width, height) = picture.size();
        let aspect = picture.sample_aspect_ratio().unwrap_or(Rational::new(0, 1));
        let mut described = format!(
            "video_size={width}x{height}:pix_fmt={}:time_base=1/1000000:pixel_aspect={}/{}",
            picture.format().name(),
            aspect.numerator(),
            aspect.denominator()
        );
        if cfg!(ffmpeg_7_0) {
            let frame = picture.get();
            described += &format!(":colorspace={}:range={}", frame.colorspace as i32, frame.color_range as i32);
        }
        let mut graph = Graph::new();
        graph.add(&find("buffer")?, "in", &described)?;
        graph.add(&find("buffersink")?, "out", "")?;
        graph.output("in", 0)?.input("out", 0)?.parse(self.turn.0)?;
        graph.validate()?;
        Ok(graph)
    }
}
