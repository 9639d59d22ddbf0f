//! How arrays hold a picture: its format and size by their shapes, and where its planes lie in them.

use crate::array::{ArraySamples, Item};
use histeq::PixelFormat;
use histeq::{Endian, Luminance, Model};
use std::ops::Range;

/// How arrays hold a picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    pub format: PixelFormat,
    /// Columns and rows.
    pub size: (usize, usize),
    pub item: Item,
    /// The shape of each array.
    pub shapes: Vec<Vec<usize>>,
    parts: Parts,
}

/// Where planes lie.
#[derive(Clone, Debug, PartialEq)]
enum Parts {
    /// All planes in one array, one after the other.
    Whole,
    /// In one array, each at this index of the first dimension.
    First(Vec<usize>),
    /// In one array, each at this index of the last dimension: as packed pixels look.
    Last(Vec<usize>),
    /// Each in an array of its own.
    Each,
}

/// Samples that hold these planes, one after the other.
pub struct Block {
    pub samples: ArraySamples,
    pub planes: Range<usize>,
}

/// The index in an array of planes (red, green, blue, alpha) of each plane of FFmpeg's formats (green, blue, red,
/// alpha).
const RED_FIRST: [usize; 4] = [1, 2, 0, 3];

/// Planar YUV by how many pixels share chroma, across and down, as powers of two.
const YUV: [(&str, u8, u8); 6] =
    [("444", 0, 0), ("422", 1, 0), ("420", 1, 1), ("440", 0, 1), ("411", 2, 0), ("410", 2, 2)];

impl Layout {
    /// The layout of a picture in these arrays; `format` and `size` override what is deduced from shapes. `is_tuple`:
    /// each plane has an array.
    pub fn new(
        arrays: &[(&ArraySamples, &str)],
        is_tuple: bool,
        format: Option<PixelFormat>,
        size: Option<(usize, usize)>,
    ) -> Result<Self, String> {
        let [(first, about), ..] = arrays else {
            return Err("a picture has at least one plane, and this has none".to_owned());
        };
        for (samples, about) in arrays {
            if samples.item != first.item {
                return Err(format!("{about}: the first plane has other samples"));
            }
            if samples.shape.is_empty() || samples.bytes() == 0 {
                return Err(format!("{about}: there is no pixel in it"));
            }
        }
        if let Some(format) = format {
            let is_flat = !is_tuple && first.shape.len() == 1;
            check_item(format, first.item, is_flat).map_err(|text| format!("{about}: {text}"))?;
        }
        let shapes: Vec<&[usize]> = arrays.iter().map(|(samples, _)| &samples.shape[..]).collect();
        let layout = match is_tuple {
            true => Layout::for_planes(&shapes, first.item, format),
            false => Layout::for_array(shapes[0], first.item, format, size),
        };
        let layout = layout.map_err(|text| format!("{about}: {text}"))?;
        if let Some(size) = size.filter(|size| *size != layout.size) {
            let ((width, height), (columns, rows)) = (size, layout.size);
            return Err(format!("{about}: {columns}x{rows} pixels, not width={width}, height={height}"));
        }
        Ok(layout)
    }

    /// Planes in a tuple.
    fn for_planes(shapes: &[&[usize]], item: Item, format: Option<PixelFormat>) -> Result<Self, String> {
        let luma = shapes[0];
        let [height, width] = *luma else {
            return Err("the first plane of a tuple has rows and columns, (height, width)".to_owned());
        };
        let size = (width, height);
        let format = match format {
            Some(format) => format,
            None => planar(shapes, size, item).ok_or("name the format of these planes: format=\"yuv420p\"")?,
        };
        let count = format.descriptor().planes().len();
        if shapes.len() != count {
            return Err(format!("{format} has {count} planes, not {}", shapes.len()));
        }
        for (plane, shape) in shapes.iter().enumerate() {
            let (row_bytes, rows) = (format.row_bytes(plane, width), format.rows(plane, height));
            if shape[0] != rows || shape[1..].iter().product::<usize>() * item.bytes != row_bytes {
                let columns = row_bytes / usize::from(format.descriptor().sample.bytes);
                return Err(format!(
                    "plane {plane} of a {format} picture of {width}x{height} pixels has {rows} rows of {columns} \
                     samples, not the shape {shape:?}"
                ));
            }
        }
        let shapes = shapes.iter().map(|shape| shape.to_vec()).collect();
        Ok(Layout { format, size, item, shapes, parts: Parts::Each })
    }

    fn for_array(
        shape: &[usize],
        item: Item,
        format: Option<PixelFormat>,
        size: Option<(usize, usize)>,
    ) -> Result<Self, String> {
        let layout = |format, size, parts| Layout { format, size, item, shapes: vec![shape.to_vec()], parts };
        let Some(format) = format else {
            let deep = depth_suffix(item);
            // Names of packed formats have the bits of a pixel, not of a sample: rgb48le.
            let bits = |per: usize| if item.bytes == 1 { String::new() } else { format!("{}{}", per * 16, &deep[2..]) };
            let (name, size, parts) = match *shape {
                [rows, columns] | [rows, columns, 1] => (format!("gray{deep}"), (columns, rows), Parts::Whole),
                [rows, columns, 2] if deep.is_empty() => ("ya8".to_owned(), (columns, rows), Parts::Whole),
                [rows, columns, 2] => (format!("ya{deep}"), (columns, rows), Parts::Whole),
                [rows, columns, 3] if deep.is_empty() => ("rgb24".to_owned(), (columns, rows), Parts::Whole),
                [rows, columns, 3] => (format!("rgb{}", bits(3)), (columns, rows), Parts::Whole),
                [rows, columns, 4] => (format!("rgba{}", bits(4)), (columns, rows), Parts::Whole),
                [1, rows, columns] => (format!("gray{deep}"), (columns, rows), Parts::Whole),
                [3, rows, columns] => (format!("gbrp{deep}"), (columns, rows), Parts::First(RED_FIRST[..3].to_vec())),
                [4, rows, columns] => (format!("gbrap{deep}"), (columns, rows), Parts::First(RED_FIRST.to_vec())),
                _ => {
                    let text = "a picture has the shape (height, width), (height, width, 1 to 4) or (1, 3 or 4, \
                                height, width); of others, name format, width and height";
                    return Err(text.to_owned());
                }
            };
            let format = PixelFormat::from_name(&name).ok_or_else(|| format!("there is no pixel format {name}"))?;
            return Ok(layout(format, size, parts));
        };
        let descriptor = format.descriptor();
        let planes = descriptor.planes();
        let items: usize = shape.iter().product();
        // The caller names a size that goes with the number of bytes.
        if let Some(size) = size.filter(|size| packed_bytes(format, *size) == items * item.bytes) {
            return Ok(layout(format, size, Parts::Whole));
        }
        let fits = |size: (usize, usize)| size.0 > 0 && size.1 > 0 && packed_bytes(format, size) == items * item.bytes;
        let by_shape = match (planes.len(), shape) {
            // Pixels, each with its samples.
            (1, &[1, rows, columns]) if planes[0].samples == 1 => Some(((columns, rows), Parts::Whole)),
            (1, &[rows, columns, _]) => Some(((columns, rows), Parts::Whole)),
            (1, &[rows, row]) => {
                let columns = (row << planes[0].log2_width) / usize::from(planes[0].samples);
                Some(((columns, rows), Parts::Whole))
            }
            // Planes of one size, in the order in which they are stored.
            (count, &[first, rows, columns]) if first == count && planes.iter().all(|plane| plane == &planes[0]) => {
                Some(((columns, rows), Parts::First((0..count).collect())))
            }
            // Rows of all planes below each other, as OpenCV has planar YUV.
            (_, &[all_rows, columns]) => {
                let (unit, samples) = (4 * columns, packed_bytes(format, (columns, 4)) / item.bytes);
                (samples > 0).then(|| ((columns, all_rows * unit / samples), Parts::Whole))
            }
            _ => None,
        };
        match by_shape.filter(|(size, _)| fits(*size)) {
            Some((size, parts)) => Ok(layout(format, size, parts)),
            None => match size {
                Some(size) => {
                    let (needed, found) = (packed_bytes(format, size), items * item.bytes);
                    Err(format!("a {format} picture of {}x{} pixels has {needed} bytes, not {found}", size.0, size.1))
                }
                None => Err(format!("this is no shape of {format}; name width and height of what is flat")),
            },
        }
    }

    /// Checks that arrays have the shapes and samples of this layout.
    pub fn check(&self, arrays: &[(&ArraySamples, &str)]) -> Result<(), String> {
        let is_same = arrays.len() == self.shapes.len()
            && arrays
                .iter()
                .zip(&self.shapes)
                .all(|((samples, _), shape)| (&samples.shape, samples.item) == (shape, self.item));
        if is_same {
            return Ok(());
        }
        let about: Vec<&str> = arrays.iter().map(|(_, about)| *about).collect();
        let type_name = if self.item.bytes == 1 { "uint8" } else { "uint16" };
        let shapes: Vec<String> = self.shapes.iter().map(|shape| in_python(shape)).collect();
        Err(format!("{}: {type_name} of shape {} is needed", about.join(", "), shapes.join(" and ")))
    }

    /// The layout of a result of this format.
    pub fn result_layout(&self, format: PixelFormat) -> Layout {
        if format == self.format {
            return self.clone();
        }
        let descriptor = format.descriptor();
        let (width, height) = self.size;
        let is_flat = self.shapes[0].len() == 1 && self.parts == Parts::Whole;
        let keeps_bytes = is_flat && self.item.bytes == 1;
        let sample_bytes = usize::from(descriptor.sample.bytes);
        let bytes = if keeps_bytes { 1 } else { sample_bytes };
        let item = Item { bytes, is_big_endian: bytes == 2 && descriptor.sample.endian == Endian::Big };
        let count = descriptor.planes().len();
        let layout = |shapes, parts| Layout { format, size: self.size, item, shapes, parts };
        if is_flat {
            return layout(vec![vec![packed_bytes(format, self.size) / bytes]], Parts::Whole);
        }
        if count == 1 && descriptor.model == Model::Gray && descriptor.planes()[0].samples == 1 {
            return layout(vec![vec![height, width]], Parts::Whole);
        }
        if let Some(places) = self.channels(format) {
            return layout(vec![vec![height, width, count]], Parts::Last(places));
        }
        // Deeper samples in the same planes.
        if count == self.format.descriptor().planes().len() {
            return layout(self.shapes.clone(), self.parts.clone());
        }
        layout(vec![vec![packed_bytes(format, self.size) / bytes]], Parts::Whole)
    }

    /// For each plane of `format`, its index among the channels of packed pixels in the order of the input; `None` if
    /// the input is not packed RGB.
    fn channels(&self, format: PixelFormat) -> Option<Vec<usize>> {
        let rgb = |format: PixelFormat| match format.descriptor().luminance {
            Luminance::FromRgb { r, g, b } => Some([r, g, b]),
            Luminance::Stored(_) => None,
        };
        let (original, result) = (rgb(self.format)?, rgb(format)?);
        let is_packed = self.format.descriptor().planes().len() == 1 && self.shapes[0].len() == 3;
        let count = format.descriptor().planes().len();
        if !is_packed || self.parts != Parts::Whole || count < original.len() {
            return None;
        }
        // The offset that no colour has is that of alpha, or of padding, which is no channel of the result.
        let alpha = (0..original[0].step).find(|offset| original.iter().all(|colour| colour.offset != *offset));
        let alpha = alpha.filter(|_| format.has_alpha());
        let place = |offset: usize| {
            original.iter().map(|colour| colour.offset).chain(alpha).filter(|other| *other < offset).count()
        };
        let mut places = vec![0; count];
        original.iter().zip(&result).for_each(|(source, target)| places[target.plane] = place(source.offset));
        if let Some(offset) = alpha {
            *places.last_mut()? = place(offset);
        }
        Some(places)
    }

    /// Whether the array shows planes as the channels of packed pixels.
    pub fn has_channels(&self) -> bool {
        matches!(self.parts, Parts::Last(_))
    }

    /// The samples of arrays of these shapes, by the planes that they hold.
    pub fn blocks(&self, arrays: &[&ArraySamples]) -> Vec<Block> {
        let samples: Vec<ArraySamples> = match &self.parts {
            Parts::Whole => {
                let planes = 0..self.format.descriptor().planes().len();
                return vec![Block { samples: arrays[0].clone(), planes }];
            }
            Parts::First(places) => places.iter().map(|index| arrays[0].at(*index)).collect(),
            Parts::Last(places) => places.iter().map(|index| arrays[0].at_last(*index)).collect(),
            Parts::Each => arrays.iter().map(|samples| (*samples).clone()).collect(),
        };
        let block = |(plane, samples)| Block { samples, planes: plane..plane + 1 };
        samples.into_iter().enumerate().map(block).collect()
    }

    /// Bytes a row and rows of a plane.
    pub fn shape(&self, plane: usize) -> (usize, usize) {
        (self.format.row_bytes(plane, self.size.0), self.format.rows(plane, self.size.1))
    }

    /// The bytes of a picture without padding.
    pub fn bytes(&self) -> usize {
        packed_bytes(self.format, self.size)
    }

    /// Whether there is an array for each plane.
    pub fn is_tuple(&self) -> bool {
        self.parts == Parts::Each
    }
}

/// Checks that samples have the size and byte order of the format, or are bytes in a flat array.
fn check_item(format: PixelFormat, item: Item, is_flat: bool) -> Result<(), String> {
    let sample = format.descriptor().sample;
    let is_big_endian = sample.endian == Endian::Big;
    let fits = match (item.bytes, sample.bytes) {
        (1, bytes) => bytes == 1 || is_flat,
        (_, bytes) => bytes == 2 && item.is_big_endian == is_big_endian,
    };
    let needed = match (sample.bytes, is_big_endian) {
        (1, _) => "uint8",
        (_, false) => "uint16",
        (_, true) => "uint16 of big-endian order ('>u2')",
    };
    if fits { Ok(()) } else { Err(format!("{format} has samples of {needed}")) }
}

/// The bytes of a picture without padding.
pub fn packed_bytes(format: PixelFormat, (width, height): (usize, usize)) -> usize {
    let planes = 0..format.descriptor().planes().len();
    planes
        .map(|plane| format.row_bytes(plane, width).saturating_mul(format.rows(plane, height)))
        .fold(0, usize::saturating_add)
}

/// A shape as Python writes it.
pub fn in_python(shape: &[usize]) -> String {
    match shape {
        [only] => format!("({only},)"),
        _ => format!("({})", shape.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
    }
}

/// The end of the names of planar formats of these samples.
fn depth_suffix(item: Item) -> &'static str {
    match (item.bytes, item.is_big_endian) {
        (1, _) => "",
        (_, false) => "16le",
        (_, true) => "16be",
    }
}

/// The format of YUV in planes of these shapes.
fn planar(shapes: &[&[usize]], (width, height): (usize, usize), item: Item) -> Option<PixelFormat> {
    let deep = depth_suffix(item);
    let alpha = match shapes.len() {
        3 => "",
        4 => "a",
        _ => return None,
    };
    let across = |log2: u8, pixels: usize| pixels.div_ceil(1 << log2);
    let (name, ..) = YUV.iter().find(|(_, log2_width, log2_height)| {
        shapes[1..3].iter().all(|shape| **shape == [across(*log2_height, height), across(*log2_width, width)])
    })?;
    PixelFormat::from_name(&format!("yuv{alpha}{name}p{deep}"))
}
