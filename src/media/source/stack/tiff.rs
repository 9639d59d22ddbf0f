//! TIFF and BigTIFF, of strips or tiles, by the crate `tiff`.

use super::positioned::Positioned;
use super::{FoundPages, MAX_PICTURES, Page, PageSamples, Pages, check_room};
use crate::ffmpeg::demux::Metadata;
use anyhow::{Context, Result, anyhow, bail, ensure};
use histeq::Limits;
use std::fs::File;
use std::io::{BufReader, Seek};
use std::panic::{AssertUnwindSafe, catch_unwind};
use tiff::ColorType;
use tiff::decoder::{Decoder, DecodingResult};
use tiff::tags::Tag;

/// A tag of cameras' raw files, which FFmpeg reads.
const DNG: u16 = 50706;

/// The bits of the tag NewSubfileType for a reduced version and for a mask.
const NO_PAGE: u32 = 1 | 4;

/// The most bytes of values of a list of tags: a large picture has the offsets of many tiles.
const MAX_LIST: usize = 64 << 20;

struct Tiff {
    decoder: Decoder<BufReader<Positioned>>,
    /// The numbers of the images that are pages.
    pages: Vec<usize>,
    limits: Limits,
}

/// Tags of the first page that are kept as metadata, with FFmpeg's names.
const TEXTS: [(Tag, &str); 7] = [
    (Tag::ImageDescription, "ImageDescription"),
    (Tag::Artist, "Artist"),
    (Tag::Make, "Make"),
    (Tag::Model, "Model"),
    (Tag::DateTime, "DateTime"),
    (Tag::HostComputer, "HostComputer"),
    (Tag::Copyright, "Copyright"),
];

/// Tags of the first page that are no text: the metadata only says that they are there.
const OTHERS: [(Tag, &str); 4] = [
    (Tag::Unknown(34_665), "EXIF"),
    (Tag::Unknown(34_853), "GPS"),
    (Tag::Unknown(34_675), "ICC profile"),
    (Tag::Unknown(700), "XMP"),
];

fn metadata(decoder: &mut Decoder<BufReader<Positioned>>) -> Metadata {
    let texts = TEXTS.into_iter().filter_map(|(tag, name)| {
        let text = decoder.get_tag_ascii_string(tag).ok()?;
        (!text.is_empty()).then(|| (name.to_owned(), text))
    });
    let mut metadata: Metadata = texts.collect();
    let rest = OTHERS.into_iter().filter(|(tag, _)| matches!(decoder.find_tag(*tag), Ok(Some(_))));
    metadata.extend(rest.map(|(_, name)| (name.to_owned(), "in the original".to_owned())));
    metadata
}

/// The pages of the file, if FFmpeg does not read it; with `all`, in any case.
pub fn found(file: File, all: bool, limits: &Limits) -> Result<Option<FoundPages>> {
    let mut file = Positioned::new(file)?;
    let begin = file.bytes(0, 4)?;
    let is_big = begin.contains(&b'+');
    file.rewind()?;
    let opened = guarded(|| {
        let decoder = Decoder::new(BufReader::new(file))?;
        Ok(decoder.with_limits({
            let mut most = tiff::decoder::Limits::default();
            most.decoding_buffer_size = limits.memory();
            most.intermediate_buffer_size = limits.memory();
            most.ifd_value_size = MAX_LIST;
            most
        }))
    });
    let mut decoder = match opened {
        Ok(decoder) => decoder,
        // For files that FFmpeg can read, its own error has more details.
        Err(_) if !is_big && !all => return Ok(None),
        Err(error) => return Err(error),
    };
    let is_for_here = is_big || all || guarded(|| Ok(is_beyond_ffmpeg(&mut decoder)))?;
    if !is_for_here {
        return Ok(None);
    }
    let metadata = guarded(|| Ok(metadata(&mut decoder))).unwrap_or_default();
    let mut pages = Vec::new();
    for number in 0..MAX_PICTURES {
        let kind = guarded(|| Ok(decoder.find_tag_unsigned::<u32>(Tag::NewSubfileType)?))?;
        if kind.unwrap_or(0) & NO_PAGE == 0 {
            pages.push(number);
        }
        if !decoder.more_images() {
            break;
        }
        if guarded(|| Ok(decoder.next_image()?)).is_err() {
            // The list of this page is damaged: reading the page will report it.
            pages.push(number + 1);
            break;
        }
    }
    ensure!(!pages.is_empty(), "no page in it");
    let count = pages.len();
    let pages = Box::new(Tiff { decoder, pages, limits: limits.clone() });
    Ok(Some(FoundPages { pages, count, demuxer: "tiff_pipe", mosaic: None, rate: None, metadata }))
}
/// Runs code of the library on untrusted bytes, and turns a panic into an error.
fn guarded<T>(run: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| Err(anyhow!("damaged in a way that is not expected")))
}

/// Whether FFmpeg decodes the first page of a file, which is no BigTIFF, wrongly.
fn is_beyond_ffmpeg(decoder: &mut Decoder<BufReader<Positioned>>) -> bool {
    let mut has = |tag: Tag| matches!(decoder.find_tag(tag), Ok(Some(_)));
    if has(Tag::Unknown(DNG)) {
        return false;
    }
    let has_tiles = has(Tag::TileOffsets);
    let formats = decoder.find_tag_unsigned_vec::<u16>(Tag::SampleFormat).ok().flatten().unwrap_or_default();
    let bits = decoder.find_tag_unsigned_vec::<u16>(Tag::BitsPerSample).ok().flatten().unwrap_or_default();
    has_tiles || formats.iter().any(|format| !matches!(format, 1 | 4)) || bits.iter().any(|bits| *bits > 16)
}

impl Pages for Tiff {
    fn page(&mut self, number: usize) -> Result<Page> {
        let number = *self.pages.get(number).context("no such page")?;
        let (decoder, limits) = (&mut self.decoder, &self.limits);
        guarded(|| {
            decoder.seek_to_image(number)?;
            let (width, height) = decoder.dimensions()?;
            let kind = decoder.colortype()?;
            let channels = match kind {
                ColorType::Gray(_) => 1,
                ColorType::GrayA(_) => 2,
                ColorType::RGB(_) | ColorType::YCbCr(_) => 3,
                ColorType::RGBA(_) => 4,
                // A picture of one band is gray.
                ColorType::Multiband { num_samples: 1, .. } => 1,
                other => bail!("TIFF of {other:?} is not read (save it as gray or RGB)"),
            };
            ensure!(matches!(kind.bit_depth(), 8 | 16 | 32 | 64), "samples of {} bits are not read", kind.bit_depth());
            let size = (width as usize, height as usize);
            let samples = check_room(size, channels, limits)?;
            let mut read = DecodingResult::U8(Vec::new());
            let layout = decoder.read_image_to_buffer(&mut read)?;
            let planes = layout.planes;
            let read = match read {
                DecodingResult::U8(bytes) => PageSamples::Bytes(bytes),
                DecodingResult::U16(bytes) => PageSamples::Words(bytes),
                DecodingResult::I8(bytes) => PageSamples::Numbers(bytes.into_iter().map(f64::from).collect()),
                DecodingResult::I16(bytes) => PageSamples::Numbers(bytes.into_iter().map(f64::from).collect()),
                DecodingResult::U32(bytes) => PageSamples::Numbers(bytes.into_iter().map(f64::from).collect()),
                DecodingResult::I32(bytes) => PageSamples::Numbers(bytes.into_iter().map(f64::from).collect()),
                DecodingResult::U64(bytes) => {
                    PageSamples::Numbers(bytes.into_iter().map(|sample| sample as f64).collect())
                }
                DecodingResult::I64(bytes) => {
                    PageSamples::Numbers(bytes.into_iter().map(|sample| sample as f64).collect())
                }
                DecodingResult::F16(bytes) => PageSamples::Numbers(bytes.into_iter().map(f64::from).collect()),
                DecodingResult::F32(bytes) => PageSamples::Numbers(bytes.into_iter().map(f64::from).collect()),
                DecodingResult::F64(bytes) => PageSamples::Numbers(bytes),
            };
            let read = if planes > 1 { interleaved(read, channels) } else { read };
            let count = match &read {
                PageSamples::Bytes(bytes) => bytes.len(),
                PageSamples::Words(bytes) => bytes.len(),
                PageSamples::Numbers(bytes) => bytes.len(),
            };
            ensure!(count == samples, "{count} samples where {samples} are expected");
            Ok(Page { size, channels, samples: read })
        })
    }
}

/// Interleaves the samples of planes that follow each other.
pub fn interleaved(samples: PageSamples, channels: usize) -> PageSamples {
    fn woven<T: Copy>(planes: &[T], channels: usize) -> Vec<T> {
        let pixels = planes.len() / channels;
        (0..pixels).flat_map(|pixel| (0..channels).map(move |channel| planes[channel * pixels + pixel])).collect()
    }
    match samples {
        PageSamples::Bytes(planes) => PageSamples::Bytes(woven(&planes, channels)),
        PageSamples::Words(planes) => PageSamples::Words(woven(&planes, channels)),
        PageSamples::Numbers(planes) => PageSamples::Numbers(woven(&planes, channels)),
    }
}
