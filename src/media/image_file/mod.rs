//! The metadata of image files that FFmpeg's encoders do not write: read from the bytes of a file, carried beside its
//! picture, and written into the bytes of another file.
//!
//! The bytes read here may come from a compromised decoding process: they are checked, or copied without
//! interpretation.

mod exif;
pub mod fits;
mod packed;
mod tiff_stack;

pub use packed::{MAX_UNPACKED, unpacks_to_too_much};
pub use tiff_stack::TiffStack;

use base64::Engine;
use base64::prelude::BASE64_STANDARD_NO_PAD;
use exif::Exif;
pub use exif::{ByteOrder, TYPE_BYTES};
use fits::{CARD, FitsImage, key_of};
use img_parts::jpeg::{Jpeg, JpegSegment, markers};
use img_parts::png::{Png, PngChunk};
use img_parts::riff::{RiffChunk, RiffContent};
use img_parts::webp::WebP;
use img_parts::{Bytes, ImageEXIF, ImageICC};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// The key of [`About::to_text`] in the metadata of a picture.
pub const ABOUT: &str = "histeq.about";

/// The most bytes of metadata that are carried: more than cameras and programs write.
const MAX_BYTES: usize = 4 << 20;

/// The most bytes of EXIF in a JPEG file: those of a segment, less its length (2) and the word `Exif` with zeros (6).
const MAX_JPEG_EXIF: usize = 65_527;

/// The prefixes of XMP: in a segment of a JPEG file, and in a chunk of a PNG file.
const XMP_OF_JPEG: &[u8] = b"http://ns.adobe.com/xap/1.0/\0";
const XMP_OF_PNG: &[u8] = b"XML:com.adobe.xmp\0\0\0\0\0";

/// The prefixes of Photoshop's segment of a JPEG file and of each block in it; the number of the block with IPTC.
const PHOTOSHOP: &[u8] = b"Photoshop 3.0\0";
const BLOCK: &[u8] = b"8BIM";
const IPTC: [u8; 2] = [4, 4];

/// The prefixes of comments in JPEG files that name the encoder.
const ENCODER_COMMENTS: [&[u8]; 3] = [b"histeq-video ", b"Lavc", b"CREATOR: "];

/// Chunks of PNG files about colours, and those with texts. Chunks about colours have to precede the palette.
const COLOURS: [[u8; 4]; 3] = [*b"gAMA", *b"cHRM", *b"sBIT"];
const TEXTS: [[u8; 4]; 4] = [*b"tEXt", *b"zTXt", *b"iTXt", *b"tIME"];

/// The prefix of the text chunk that this program writes.
const OURS: &[u8] = b"Software\0histeq-video ";

/// The gamma of sRGB, in 1/100000, which is the default.
const USUAL_GAMMA: [u8; 4] = 45_455_u32.to_be_bytes();

/// The dots per inch in files whose resolution is unknown.
const NO_RESOLUTION: [f64; 2] = [72.0, 72.0];

const METRES_PER_INCH: f64 = 0.0254;

/// The metadata of an image.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct About {
    /// EXIF, as a TIFF file without samples.
    #[serde(with = "serde_bytes")]
    exif: Vec<u8>,
    #[serde(with = "serde_bytes")]
    xmp: Vec<u8>,
    /// Captions and keywords, of a JPEG file.
    #[serde(with = "serde_bytes")]
    iptc: Vec<u8>,
    /// The comments of a JPEG file.
    comments: Vec<Vec<u8>>,
    /// Resolution in dots per inch, horizontal and vertical.
    resolution: Option<[f64; 2]>,
    /// Chunks of a PNG file.
    chunks: Vec<([u8; 4], Vec<u8>)>,
    /// Cards of the header of a FITS file.
    #[serde(with = "serde_bytes")]
    cards: Vec<u8>,
    /// The metadata is larger than `MAX_BYTES`, so none of it is carried.
    is_too_large: bool,
    /// The program that made the new file, and its settings.
    provenance: Option<String>,
    behind: Behind,
}

/// The kinds of data after the end of a JPEG image.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
struct Behind {
    gain_map: bool,
    film: bool,
    more: bool,
}

/// A kind of metadata of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageMetadata {
    /// EXIF: camera, date, position.
    Exif,
    /// XMP: EXIF and more, as XML.
    Xmp,
    /// IPTC: captions, keywords and authors, as press agencies use them.
    Iptc,
    /// A comment of a JPEG file.
    Comment,
    /// A colour profile.
    Icc,
    /// Resolution in dots per inch.
    Resolution,
    /// Gamma and primaries, as numbers.
    Gamma,
    /// Texts of PNG files.
    Texts,
    /// A gain map after the image, which makes it HDR.
    GainMap,
    /// A video after the image, as in a motion photo.
    Film,
    /// Other data after the image.
    More,
}

impl About {
    /// The metadata of the image file with these bytes; `None` if it has none.
    pub fn read(file: &[u8]) -> Option<Self> {
        let bytes = || Bytes::copy_from_slice(file);
        let about = match file {
            [0xff, 0xd8, ..] => About::from_jpeg(&Jpeg::from_bytes(bytes()).ok()?, file),
            [0x89, b'P', b'N', b'G', ..] => About::from_png(&Png::from_bytes(bytes()).ok()?),
            [b'R', b'I', b'F', b'F', ..] => About::from_webp(&WebP::from_bytes(bytes()).ok()?),
            [b'I', b'I', b'*', 0, ..] | [b'M', b'M', 0, b'*', ..] => About::from_tiff(file)?,
            _ => return None,
        };
        let about = if about.bytes() > MAX_BYTES { About { is_too_large: true, ..About::default() } } else { about };
        (about != About::default()).then_some(about)
    }

    /// The metadata of an image of a FITS file: whole cards of its header, without those that describe its layout.
    pub fn from_cards(cards: Vec<u8>) -> Self {
        About { cards, ..About::default() }
    }

    fn from_jpeg(jpeg: &Jpeg, file: &[u8]) -> Self {
        let mut about = About::default();
        about.set_exif(jpeg.exif());
        let xmp =
            jpeg.segments_by_marker(markers::APP1).find_map(|segment| segment.contents().strip_prefix(XMP_OF_JPEG));
        about.xmp = xmp.unwrap_or_default().to_vec();
        let iptc = jpeg.segments_by_marker(markers::APP13).find_map(|segment| iptc_in(segment.contents()));
        about.iptc = iptc.unwrap_or_default().to_vec();
        let comments = jpeg.segments_by_marker(markers::COM).map(|segment| segment.contents().to_vec());
        about.comments = comments.filter(|text| !text.is_empty() && !is_of_encoder(text)).collect();
        about.note_behind(end_of_jpeg(file).and_then(|end| file.get(end..)).unwrap_or_default());
        let jfif = jpeg.segments_by_marker(markers::APP0).find_map(|part| part.contents().strip_prefix(b"JFIF\0"));
        if let Some(&[_, _, unit @ (1 | 2), a, b, c, d, ..]) = jfif {
            let scale = if unit == 2 { 2.54 } else { 1.0 };
            about.set_resolution([[a, b], [c, d]].map(|dots| f64::from(u16::from_be_bytes(dots)) * scale));
        }
        about
    }

    /// Notes the kinds of data in `behind`, the bytes after the image. XMP that refers to such data is dropped, like
    /// the data itself.
    fn note_behind(&mut self, behind: &[u8]) {
        let has = |bytes: &[u8], words: &[&str]| {
            words.iter().any(|word| bytes.windows(word.len()).any(|window| window == word.as_bytes()))
        };
        let gain_map = has(&self.xmp, &["hdrgm:", "GainMap"]) || has(behind, &["hdrgm:", "HDRGainMap"]);
        let film = has(&self.xmp, &["MotionPhoto", "MicroVideo"]) || has(behind, &["ftyp"]);
        let is_listed = has(&self.xmp, &["Container:Directory"]);
        let more = !gain_map && !film && (is_listed || behind.iter().any(|byte| *byte != 0));
        self.behind = Behind { gain_map, film, more };
        if is_listed || has(&self.xmp, &["hdrgm:", "GainMap", "MotionPhoto", "MicroVideo"]) {
            self.xmp.clear();
        }
    }

    fn from_png(png: &Png) -> Self {
        let mut about = About::default();
        about.set_exif(png.exif());
        for chunk in png.chunks() {
            let (kind, bytes) = (chunk.kind(), chunk.contents());
            if kind == *b"pHYs"
                && let Some(&[a, b, c, d, e, f, g, h, 1]) = bytes.first_chunk()
            {
                let dots = [[a, b, c, d], [e, f, g, h]].map(u32::from_be_bytes);
                // Files store whole dots per metre: rounding to 1/100 restores whole dots per inch.
                about.set_resolution(dots.map(|dots| (f64::from(dots) * METRES_PER_INCH * 100.0).round() / 100.0));
            } else if let Some(xmp) = bytes.strip_prefix(XMP_OF_PNG).filter(|_| kind == *b"iTXt") {
                about.xmp = xmp.to_vec();
            } else if kind == *b"tEXt" && bytes.starts_with(OURS) {
                // The text describes an earlier run of this program, not the new file.
            } else if COLOURS.contains(&kind) || TEXTS.contains(&kind) {
                about.chunks.push((kind, bytes.to_vec()));
            }
        }
        if about.chunks.iter().any(|(kind, bytes)| *kind == *b"gAMA" && bytes[..] == USUAL_GAMMA) {
            about.chunks.retain(|(kind, _)| !matches!(kind, b"gAMA" | b"cHRM"));
        }
        about
    }

    fn from_webp(webp: &WebP) -> Self {
        let mut about = About::default();
        about.set_exif(webp.exif());
        let xmp = webp.chunk_by_id(*b"XMP ").and_then(|chunk| chunk.content().data());
        about.xmp = xmp.map(|xmp| xmp.to_vec()).unwrap_or_default();
        about
    }

    fn from_tiff(file: &[u8]) -> Option<Self> {
        let tags = Exif::parse(file)?;
        let mut about = About { xmp: tags.bytes_of(exif::XMP).unwrap_or_default().to_vec(), ..About::default() };
        about.set_tags(tags.without_samples());
        Some(about)
    }

    fn set_exif(&mut self, bytes: Option<Bytes>) {
        if let Some(tags) = bytes.and_then(|bytes| Exif::parse(&bytes)) {
            self.set_tags(tags.without_samples());
        }
    }

    fn set_tags(&mut self, tags: Exif) {
        tags.resolution().into_iter().for_each(|dots| self.set_resolution(dots));
        if tags.has_own_tags() {
            self.exif = tags.to_bytes();
        }
    }

    fn set_resolution(&mut self, dots: [f64; 2]) {
        let is_valid = dots != NO_RESOLUTION && dots.iter().all(|dots| (1.0..1e6).contains(dots));
        self.resolution = is_valid.then_some(dots).or(self.resolution);
    }

    fn bytes(&self) -> usize {
        let of_jpeg = self.iptc.len() + self.comments.iter().map(Vec::len).sum::<usize>();
        of_jpeg + self.exif.len() + self.xmp.len() + self.chunks.iter().map(|(_, bytes)| bytes.len()).sum::<usize>()
    }

    /// Marks the picture as upright in its EXIF, after it was rotated.
    pub fn set_upright(&mut self) {
        if let Some(mut tags) = Exif::parse(&self.exif) {
            tags.set_upright();
            self.exif = tags.to_bytes();
        }
    }

    /// Whether the image has metadata of this kind; `false` for ICC profiles, which are side data of the picture.
    pub fn has(&self, what: ImageMetadata) -> bool {
        let has = |kinds: &[[u8; 4]]| self.chunks.iter().any(|(kind, _)| kinds.contains(kind));
        match what {
            ImageMetadata::Exif => !self.exif.is_empty() || self.is_too_large,
            ImageMetadata::Xmp => !self.xmp.is_empty(),
            ImageMetadata::Iptc => !self.iptc.is_empty(),
            ImageMetadata::Comment => !self.comments.is_empty(),
            ImageMetadata::Icc => false,
            ImageMetadata::Resolution => self.resolution.is_some(),
            ImageMetadata::Gamma => has(&[*b"gAMA", *b"cHRM"]),
            ImageMetadata::Texts => has(&TEXTS),
            ImageMetadata::GainMap => self.behind.gain_map,
            ImageMetadata::Film => self.behind.film,
            ImageMetadata::More => self.behind.more,
        }
    }

    /// The distinct keys of the FITS cards.
    pub fn card_keys(&self) -> Vec<&str> {
        let mut seen = HashSet::new();
        let keys = self.cards.chunks_exact(CARD).map(key_of);
        keys.filter(|key| !key.is_empty() && seen.insert(*key)).collect()
    }

    /// Adds the program that made the new file, and its settings, to the input's metadata.
    pub fn made_by(self, provenance: Option<&str>) -> Self {
        About { provenance: provenance.map(str::to_owned), ..self }
    }

    /// Encodes the metadata as text, for the entry [`ABOUT`] in the metadata of a picture.
    pub fn to_text(&self) -> String {
        BASE64_STANDARD_NO_PAD.encode(postcard::to_stdvec(self).unwrap_or_default())
    }

    /// The inverse of [`About::to_text`]; `None` for any other text.
    pub fn from_text(text: &str) -> Option<Self> {
        // Base64 has four letters for three bytes, so twice the limit is enough.
        let is_short = text.len() <= 2 * MAX_BYTES;
        let bytes = is_short.then(|| BASE64_STANDARD_NO_PAD.decode(text).ok()).flatten()?;
        postcard::from_bytes(&bytes).ok()
    }

    /// Adds the metadata that the format of `file` holds, and the ICC profile, to this image file, which an encoder
    /// made of a picture of this size; `None` if the format holds none of it, or `file` is damaged. `has_alpha` if the
    /// picture has alpha.
    pub fn write(&self, file: &[u8], icc: Option<&[u8]>, size: (usize, usize), has_alpha: bool) -> Option<Vec<u8>> {
        let mut tags = Exif::parse(&self.exif);
        let is_webp = file.starts_with(b"RIFF");
        if let Some(dots) = self.resolution.filter(|_| is_webp) {
            // WebP stores a resolution only in EXIF.
            tags.get_or_insert_default().set_resolution(dots);
        }
        if let Some(provenance) =
            self.provenance.as_deref().filter(|_| is_webp || file.starts_with(b"II") || file.starts_with(b"MM"))
        {
            tags.get_or_insert_default().set_software(provenance);
        }
        if let Some(tags) = &mut tags {
            tags.set_size(size);
        }
        let bytes = || Bytes::copy_from_slice(file);
        let icc = icc.map(Bytes::copy_from_slice);
        let of_exif = || tags.as_ref().map(|tags| Bytes::from(tags.to_bytes()));
        match file {
            [0xff, 0xd8, ..] => self.in_jpeg(Jpeg::from_bytes(bytes()).ok()?, icc, of_exif()),
            [0x89, b'P', b'N', b'G', ..] => self.in_png(Png::from_bytes(bytes()).ok()?, icc, of_exif()),
            [b'R', b'I', b'F', b'F', ..] => self.in_webp(WebP::from_bytes(bytes()).ok()?, icc, of_exif(), has_alpha),
            [b'I', b'I', b'*', 0, ..] | [b'M', b'M', 0, b'*', ..] => {
                let mut tags = tags.unwrap_or_default();
                self.resolution.into_iter().for_each(|dots| tags.set_resolution(dots));
                icc.iter().for_each(|icc| tags.set_bytes(exif::ICC, icc));
                if !self.xmp.is_empty() {
                    tags.set_bytes(exif::XMP, &self.xmp);
                }
                tags.put_into(file)
            }
            _ => None,
        }
    }

    /// The bytes of `image` in a FITS file. Without `first`, they begin the file, and have this metadata. Else they
    /// follow an image with the metadata `first`, and have this metadata only if it differs.
    pub fn write_fits(&self, image: &FitsImage<'_>, first: Option<&About>) -> Vec<u8> {
        let cards = match self.provenance {
            Some(_) => self.cards.clone(),
            None => fits::without_ours(&self.cards),
        };
        match first {
            None => image.as_file(&cards, self.provenance.as_deref()),
            Some(first) if first.cards == self.cards => image.as_extension(&[]),
            Some(_) => image.as_extension(&cards),
        }
    }

    fn in_jpeg(&self, mut jpeg: Jpeg, icc: Option<Bytes>, exif: Option<Bytes>) -> Option<Vec<u8>> {
        if icc.is_some() {
            jpeg.set_icc_profile(icc);
        }
        if let Some(dots) = self.resolution {
            let is_jfif =
                |segment: &JpegSegment| segment.marker() == markers::APP0 && segment.contents().starts_with(b"JFIF\0");
            let there = jpeg.segments().iter().position(is_jfif);
            let old = there.map(|index| jpeg.segments_mut().remove(index).contents().to_vec());
            // A new JFIF segment has version 1.2, and no thumbnail.
            let mut contents =
                old.filter(|old| old.len() >= 14).unwrap_or_else(|| b"JFIF\0\x01\x02\0\0\0\0\0\0\0".to_vec());
            contents[7] = 1;
            let dots = dots.map(|dots| (dots.round().clamp(1.0, 65535.0) as u16).to_be_bytes());
            contents[8..12].copy_from_slice(&dots.concat());
            jpeg.segments_mut().insert(0, JpegSegment::new_with_contents(markers::APP0, contents.into()));
        }
        if !self.xmp.is_empty() {
            let segment = JpegSegment::new_with_contents(markers::APP1, [XMP_OF_JPEG, &self.xmp].concat().into());
            let behind_jfif = jpeg.segments().len().min(1);
            jpeg.segments_mut().insert(behind_jfif, segment);
        }
        if exif.is_some() {
            jpeg.set_exif(exif);
        }
        jpeg.segments_mut().retain(|segment| segment.marker() != markers::COM || !is_of_encoder(segment.contents()));
        // Many programs show only the last comment, which has to stay last. Each comment is inserted before the earlier
        // ones, hence the reverse order.
        let provenance = self.provenance.as_deref().unwrap_or_default().as_bytes();
        let comments = self.comments.iter().rev().map(Vec::as_slice).chain([provenance]);
        let comments = comments.map(|text| (markers::COM, text.to_vec()));
        let iptc = if self.iptc.is_empty() { Vec::new() } else { with_iptc(&self.iptc) };
        for (marker, bytes) in comments.chain([(markers::APP13, iptc)]) {
            if !bytes.is_empty() {
                let behind_others = jpeg.segments().len().min(1);
                jpeg.segments_mut().insert(behind_others, JpegSegment::new_with_contents(marker, bytes.into()));
            }
        }
        Some(jpeg.encoder().bytes().to_vec())
    }

    fn in_png(&self, mut png: Png, icc: Option<Bytes>, exif: Option<Bytes>) -> Option<Vec<u8>> {
        if icc.is_some() {
            png.set_icc_profile(icc);
        }
        if exif.is_some() {
            png.set_exif(exif);
        }
        if let Some(dots) = self.resolution {
            let per_metre = |dots: f64| ((dots / METRES_PER_INCH).round() as u32).to_be_bytes();
            let contents = [&per_metre(dots[0])[..], &per_metre(dots[1]), &[1]].concat();
            png.remove_chunks_by_type(*b"pHYs");
            put_ahead(&mut png, PngChunk::new(*b"pHYs", contents.into()));
        }
        let has_gamma = self.has(ImageMetadata::Gamma);
        if has_gamma {
            // The encoder's chunks would contradict the input's gamma.
            for kind in [*b"sRGB", *b"gAMA", *b"cHRM", *b"cICP"] {
                png.remove_chunks_by_type(kind);
            }
        }
        for (kind, bytes) in &self.chunks {
            // Not `sBIT`: the new samples may have another number of significant bits.
            if *kind != *b"sBIT" {
                put_ahead(&mut png, PngChunk::new(*kind, Bytes::copy_from_slice(bytes)));
            }
        }
        if let Some(provenance) = &self.provenance {
            put_ahead(&mut png, PngChunk::new(*b"tEXt", [b"Software\0", provenance.as_bytes()].concat().into()));
        }
        if !self.xmp.is_empty() {
            put_ahead(&mut png, PngChunk::new(*b"iTXt", [XMP_OF_PNG, &self.xmp].concat().into()));
        }
        Some(png.encoder().bytes().to_vec())
    }

    fn in_webp(&self, mut webp: WebP, icc: Option<Bytes>, exif: Option<Bytes>, has_alpha: bool) -> Option<Vec<u8>> {
        if !self.xmp.is_empty() {
            let content = RiffContent::Data(Bytes::copy_from_slice(&self.xmp));
            webp.chunks_mut().push(RiffChunk::new(*b"XMP ", content));
        }
        // This also makes the chunk VP8X, whose flags list the other chunks.
        webp.set_icc_profile(icc);
        webp.set_exif(exif);
        for chunk in webp.chunks_mut().iter_mut().filter(|chunk| chunk.id() == *b"VP8X") {
            if let RiffContent::Data(data) = chunk.content_mut() {
                let mut flags = data.to_vec();
                if let Some(flags) = flags.first_mut() {
                    *flags |= if has_alpha { 0x10 } else { 0 } | if self.xmp.is_empty() { 0 } else { 4 };
                }
                *data = flags.into();
            }
        }
        Some(webp.encoder().bytes().to_vec())
    }

    /// Whether [`About::write`] can add metadata of this kind to a file from FFmpeg's encoder of that name. EXIF and
    /// XMP may be too large.
    pub fn fits(&self, what: ImageMetadata, encoder: &str) -> bool {
        match (what, encoder) {
            (_, "mjpeg") if matches!(what, ImageMetadata::Exif) => self.exif.len() <= MAX_JPEG_EXIF,
            (_, "mjpeg") if matches!(what, ImageMetadata::Xmp) => self.xmp.len() + XMP_OF_JPEG.len() <= MAX_JPEG_EXIF,
            _ => !self.is_too_large,
        }
    }
}

/// Whether a comment of a JPEG file names its encoder.
fn is_of_encoder(comment: &[u8]) -> bool {
    ENCODER_COMMENTS.iter().any(|begin| comment.starts_with(begin))
}

/// The IPTC in a Photoshop segment. Its blocks have a number, a name, a length and bytes; the name with its length
/// byte, and the bytes, are padded to an even length.
fn iptc_in(segment: &[u8]) -> Option<&[u8]> {
    let mut rest = segment.strip_prefix(PHOTOSHOP)?;
    while let Some(block) = rest.strip_prefix(BLOCK) {
        let name = (usize::from(*block.get(2)?) + 2) / 2 * 2;
        let block_of = block.get(2 + name..)?;
        let length = u32::from_be_bytes(*block_of.first_chunk()?) as usize;
        let bytes = block_of.get(4..)?.get(..length)?;
        if block.starts_with(&IPTC) {
            return Some(bytes);
        }
        rest = block_of.get(4 + length.next_multiple_of(2)..)?;
    }
    None
}

/// A Photoshop segment with this IPTC alone: other blocks, such as thumbnails, describe the old image.
fn with_iptc(iptc: &[u8]) -> Vec<u8> {
    let filled = if iptc.len() % 2 == 1 { &[0][..] } else { &[] };
    [PHOTOSHOP, BLOCK, &IPTC, &[0, 0], &(iptc.len() as u32).to_be_bytes(), iptc, filled].concat()
}

/// The offset after the end marker of a JPEG image (ITU T.81, B.1.1); `None` if it has none.
pub fn end_of_jpeg(image: &[u8]) -> Option<usize> {
    let mut offset = 2;
    loop {
        // In entropy-coded data, 0xff is followed by 0 or is a restart marker; neither ends the image.
        let start = image.get(offset..)?.iter().position(|&byte| byte == 0xff)?;
        let marker = *image.get(offset + start + 1)?;
        offset += start + 2;
        match marker {
            0xd9 => return Some(offset),
            // Padding: the second byte may begin a marker.
            0xff => offset -= 1,
            0x00 | 0x01 | 0xd0..=0xd8 => {}
            // Skip a segment by its length; thumbnails with end markers of their own are inside of one.
            _ => offset += usize::from(u16::from_be_bytes(*image.get(offset..)?.first_chunk()?)),
        }
    }
}

/// Inserts a chunk before the palette and the samples.
fn put_ahead(png: &mut Png, chunk: PngChunk) {
    let first = png.chunks().iter().position(|part| matches!(&part.kind(), b"PLTE" | b"IDAT"));
    png.chunks_mut().insert(first.unwrap_or(1), chunk);
}

#[cfg(test)]
mod tests {
    use super::end_of_jpeg;

    #[test]
    fn an_image_ends_with_its_own_end_marker() {
        let thumbnail = [0xff, 0xe1, 0, 8, 0xff, 0xd8, 0xff, 0xd9, 1, 2];
        let scan = [0xff, 0xda, 0, 3, 7, 1, 0xff, 0x00, 0xff, 0xd3, 9];
        let image = [&[0xff, 0xd8][..], &thumbnail, &scan].concat();
        let is_whole = |image: &[u8]| end_of_jpeg(image).is_some();
        assert!(!is_whole(&image));
        assert!(is_whole(&[&image[..], &[0xff, 0xff, 0xd9]].concat()));
        assert!(is_whole(&[&image[..], &[0xff, 0xd9], b"and a video"].concat()));
        for length in 0..image.len() {
            assert!(!is_whole(&image[..length]), "{length}");
        }
    }
}
