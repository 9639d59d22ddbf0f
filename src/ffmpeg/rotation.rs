//! Pictures the right way up: turned and mirrored by libavfilter, where the output cannot say that players have to turn
//! them.
#![allow(unsafe_code, reason = "FFI")]

use super::{Converter, Error, Picture, RawFormat, Stream, VideoFormat, check, text};
use crate::frame::Frame;
use anyhow::Context;
use ffmpeg_next::filter::{self, Graph};
use ffmpeg_next::{Rational, ffi};

/// `vflip` only walks the rows backwards, which not every encoder follows: what comes behind it puts them in order.
const UPSIDE_DOWN: &str = "vflip,copy";
const HALF: &str = "vflip,hflip";

/// By quarters of a turn, mirrored or not: what libavfilter's filters of the same names do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rotation(&'static str);

impl Rotation {
    /// What a display matrix asks for: rows of fixed-point numbers, `(x, y)` goes to `(a x + c y, b x + d y)`. `None` where
    /// that is no quarter of a turn, or nothing at all.
    pub(super) fn of_matrix(matrix: &[u8]) -> Option<Self> {
        let filters = match signs(matrix)? {
            [-1, 0, 0, 1] => "hflip",
            [1, 0, 0, -1] => UPSIDE_DOWN,
            [-1, 0, 0, -1] => HALF,
            [0, 1, 1, 0] => "transpose=cclock_flip",
            [0, 1, -1, 0] => "transpose=clock",
            [0, -1, 1, 0] => "transpose=cclock",
            [0, -1, -1, 0] => "transpose=clock_flip",
            _ => return None,
        };
        Some(Rotation(filters))
    }

    /// Does a display matrix leave pictures as they are?
    pub(super) fn is_none(matrix: &[u8]) -> bool {
        signs(matrix) == Some([1, 0, 0, 1])
    }

    /// What the orientation of Exif asks for, a number from 1 to 8.
    fn of_exif(orientation: &str) -> Option<Self> {
        let filters = match orientation.trim() {
            "2" => "hflip",
            "3" => HALF,
            "4" => UPSIDE_DOWN,
            "5" => "transpose=cclock_flip",
            "6" => "transpose=clock",
            "7" => "transpose=clock_flip",
            "8" => "transpose=cclock",
            _ => return None,
        };
        Some(Rotation(filters))
    }

    /// What a picture asks for itself, whatever its container says: photos do.
    fn of_picture(picture: &Picture) -> Option<Self> {
        // SAFETY: the picture is valid; what is found in its dictionary and its side data is copied, or read at once.
        unsafe {
            let frame = picture.get();
            let matrix = ffi::av_frame_get_side_data(frame, ffi::AVFrameSideDataType::AV_FRAME_DATA_DISPLAYMATRIX);
            if let Some(side) = matrix.as_ref() {
                return Rotation::of_matrix(std::slice::from_raw_parts(side.data, side.size));
            }
            let entry = ffi::av_dict_get(frame.metadata, c"Orientation".as_ptr(), std::ptr::null(), 0);
            entry.as_ref().and_then(|entry| Rotation::of_exif(&text(entry.value)))
        }
    }
}

/// The signs of a display matrix' `a`, `b`, `c` and `d`.
fn signs(matrix: &[u8]) -> Option<[i32; 4]> {
    let matrix: Vec<i32> = matrix.chunks_exact(4).map(bytemuck::pod_read_unaligned).collect();
    let &[a, b, _, c, d, ..] = matrix.as_slice() else { return None };
    // What writes a matrix may have rounded: a hundredth of the largest entry is none.
    let least = [a, b, c, d].map(i32::unsigned_abs).into_iter().max().unwrap_or(0) / 100;
    Some([a, b, c, d].map(|entry| if entry.unsigned_abs() <= least { 0 } else { entry.signum() }))
}

/// Turns the pictures of a video, if they have to be.
pub struct AutoRotate {
    /// Does the stream say how pictures lie? Then it says so of all of them.
    is_said: bool,
    turn: Option<Rotation>,
    rotator: Option<Rotator>,
}

impl AutoRotate {
    /// Pictures of `stream`; `is_told` says whether the output repeats what the stream says of them. What pictures say
    /// themselves, as photos do, it never repeats.
    pub fn new(stream: &Stream, is_told: bool) -> Self {
        let is_said = stream.side_data.turns_pictures();
        AutoRotate { is_said, turn: stream.side_data.turn().filter(|_| !is_told), rotator: None }
    }

    /// Are pictures like the last one turned?
    pub fn turns(&self) -> bool {
        self.turn.is_some()
    }

    /// `picture` the right way up; all else that is known of it stays, but that it is to be turned.
    ///
    /// # Errors
    /// When libavfilter cannot turn it.
    pub fn picture(&mut self, picture: Picture) -> Result<Picture, Error> {
        if !self.is_said {
            self.turn = Rotation::of_picture(&picture);
        }
        let Some(turn) = self.turn else { return Ok(picture) };
        match &mut self.rotator {
            Some(rotator) if rotator.turn == turn => rotator.turn(picture),
            rotator => rotator.insert(Rotator { turn, graph: None, even_chroma: Converter::default() }).turn(picture),
        }
    }

    /// The same for a frame.
    ///
    /// # Errors
    /// When libavfilter cannot turn it, or what it gives is not native.
    pub fn frame(&mut self, frame: Frame) -> anyhow::Result<Frame> {
        if self.is_said && self.turn.is_none() {
            return Ok(frame);
        }
        let picture = self.picture(Picture::from_frame(&frame)?).context("a frame cannot be turned")?;
        match self.turns() {
            true => picture.to_frame()?.context("a turned frame is not native"),
            false => Ok(frame),
        }
    }
}

struct Rotator {
    turn: Rotation,
    graph: Option<(RawFormat, (usize, usize), Graph)>,
    /// Gives chroma as many rows as columns, where they are not.
    even_chroma: Converter,
}

impl Rotator {
    fn turn(&mut self, picture: Picture) -> Result<Picture, Error> {
        let mut picture = self.evened(picture)?;
        picture.samples()?;
        let (format, size) = (picture.format(), picture.size());
        if !matches!(&self.graph, Some((for_format, for_size, _)) if (*for_format, *for_size) == (format, size)) {
            self.graph = Some((format, size, self.build(&picture)?));
        }
        let Some((_, _, graph)) = &mut self.graph else { unreachable!("set above") };
        let gone = Error::FilterNotFound;
        let (mut inlet, mut outlet) = (graph.get("in").ok_or(gone)?, graph.get("out").ok_or(gone)?);
        let mut turned = Picture::new();
        // SAFETY: the graph is configured; the source takes the picture's references, the sink fills an empty picture.
        unsafe {
            check(ffi::av_buffersrc_add_frame(inlet.as_mut_ptr(), picture.as_mut_ptr()))?;
            check(ffi::av_buffersink_get_frame(outlet.as_mut_ptr(), turned.as_mut_ptr()))?;
            let orientation = c"Orientation".as_ptr();
            if self.turn.0.starts_with("transpose") {
                // What were rows of two fields are columns now.
                turned.set_progressive();
            }
            ffi::av_frame_remove_side_data(turned.as_mut_ptr(), ffi::AVFrameSideDataType::AV_FRAME_DATA_DISPLAYMATRIX);
            ffi::av_dict_set(&mut turned.get_mut().metadata, orientation, std::ptr::null(), 0);
        }
        Ok(turned)
    }

    /// A picture whose chroma is as coarse across as down, which stays so when it is turned by a quarter. libavfilter would
    /// see to that itself, but not to depth and range.
    fn evened(&mut self, picture: Picture) -> Result<Picture, Error> {
        let even = picture.format().without_subsampling().filter(|_| self.turn.0.starts_with("transpose"));
        let Some(format) = even else { return Ok(picture) };
        self.even_chroma.picture(&picture, VideoFormat { format, ..VideoFormat::of(&picture) })
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
