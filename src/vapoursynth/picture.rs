//! Converts between VapourSynth's formats and properties and those of this library.

use crate::host::{Format, HostFrame};
use histeq::{Frame, Model, Plane, Transfer};
use histeq::{Matrix, PixelFormat, Range};
use std::sync::Arc;

/// Families of formats, as VapourSynth numbers them.
pub const GRAY: i32 = 1;
const RGB: i32 = 2;
const YUV: i32 = 3;

/// The library's format for one of VapourSynth; `None` if it has none.
pub fn format(host: &Format) -> Option<PixelFormat> {
    let subsampling = match (host.family, host.log2_width, host.log2_height) {
        (YUV, 1, 1) => "yuv420p",
        (YUV, 1, 0) => "yuv422p",
        (YUV, 0, 0) => "yuv444p",
        (YUV, 0, 1) => "yuv440p",
        (YUV, 2, 2) => "yuv410p",
        (YUV, 2, 0) => "yuv411p",
        (GRAY, ..) => "gray",
        (RGB, ..) => "gbrp",
        _ => return None,
    };
    if host.is_float {
        return None;
    }
    let depth = if host.depth == 8 { String::new() } else { format!("{}le", host.depth) };
    PixelFormat::from_name(&format!("{subsampling}{depth}"))
}

/// The name of a format, as VapourSynth names its presets where it has one.
pub fn name(host: &Format) -> String {
    let family = match host.family {
        GRAY => "gray",
        RGB => "RGB",
        _ => "YUV",
    };
    let subsampling = match (host.family, host.log2_width, host.log2_height) {
        (YUV, 0, 0) => ", 4:4:4".to_owned(),
        (YUV, 1, 0) => ", 4:2:2".to_owned(),
        (YUV, 1, 1) => ", 4:2:0".to_owned(),
        (YUV, 2, 0) => ", 4:1:1".to_owned(),
        (YUV, width, height) => format!(", subsampled {width} and {height} times"),
        _ => String::new(),
    };
    let kind = if host.is_float { "floats" } else { "integers" };
    format!("{family}{subsampling}, {kind} of {} bits,", host.depth)
}

/// VapourSynth's format of a result that has `format` and was made of a frame of `input`.
pub fn host_format(format: PixelFormat, input: &Format) -> Format {
    let is_gray = format.descriptor().model == Model::Gray;
    let (family, log2_width, log2_height) =
        if is_gray { (GRAY, 0, 0) } else { (input.family, input.log2_width, input.log2_height) };
    Format { family, is_float: false, depth: format.depth().into(), log2_width, log2_height }
}

/// For each plane of the library's format, its index in VapourSynth.
pub fn planes(format: PixelFormat) -> &'static [usize] {
    match format.descriptor().model {
        Model::Gray => &[0],
        Model::Yuv => &[0, 1, 2],
        // The library's order is green, blue, red.
        Model::Rgb => &[1, 2, 0],
    }
}

/// A library frame that shares the memory of the host's frame. Untagged range is limited, or full for RGB.
pub fn frame(source: &Arc<HostFrame>, format: PixelFormat, size: (usize, usize)) -> Result<Frame, String> {
    let is_rgb = format.descriptor().model == Model::Rgb;
    let range = match (source.integer("_Range"), source.integer("_ColorRange")) {
        (Some(1), _) | (None, Some(0)) => Range::Full,
        (None, None) if is_rgb => Range::Full,
        _ => Range::Limited,
    };
    if is_rgb && range == Range::Limited {
        return Err("RGB of limited range is not supported: make it full with resize (range=1)".to_owned());
    }
    let matrix = match source.integer("_Matrix") {
        Some(1) => Matrix::Bt709,
        Some(9 | 10) => Matrix::Bt2020,
        // Unspecified, or not tagged.
        None | Some(2) => Matrix::usual(format.descriptor().model, size),
        Some(_) => Matrix::Bt601,
    };
    let plane = |(index, host): (usize, &usize)| {
        let (row_bytes, rows) = (format.row_bytes(index, size.0), format.rows(index, size.1));
        let memory = HostFrame::plane(source, *host);
        let stride = isize::try_from(memory.stride()).ok()?;
        Plane::new(Arc::new(memory), 0, stride, row_bytes, rows)
    };
    let planes: Option<Vec<Plane>> = planes(format).iter().enumerate().map(plane).collect();
    let planes = planes.ok_or_else(|| "a frame has another size than its clip".to_owned())?;
    let mut frame = Frame::new(format, size, range, matrix, planes).map_err(|error| error.to_string())?;
    frame.transfer = match source.integer("_Transfer") {
        Some(16) => Transfer::Pq,
        Some(18) => Transfer::Hlg,
        _ => Transfer::Sdr,
    };
    frame.is_interlaced = source.integer("_FieldBased").is_some_and(|fields| fields > 0);
    Ok(frame)
}

/// The properties of an equalized frame that replace those of its input, whose format is `input`.
pub fn properties(frame: &Frame, input: PixelFormat) -> impl Iterator<Item = (&'static str, i64)> {
    let matrix = match frame.matrix() {
        Matrix::Bt709 => 1,
        Matrix::Bt601 => 6,
        Matrix::Bt2020 => 9,
    };
    // A frame that is RGB no more gets a matrix property. Any other frame keeps its property, set or not.
    let is_new = input.descriptor().model == Model::Rgb && frame.format().descriptor().model != Model::Rgb;
    let range = i64::from(frame.range() == Range::Full);
    [("_Range", range)].into_iter().chain(is_new.then_some(("_Matrix", matrix)))
}
