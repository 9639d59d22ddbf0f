//! Facts in files that FFmpeg does not report: the part of the picture to show, encryption, boxes of cameras; and the
//! kinds of files that FFmpeg does not read.
//!
//! FFmpeg 7.1 and newer know the crop of mp4 and Matroska, but their decoders do not apply it either.

use crate::ffmpeg::demux::{Stream, Unshown};
use crate::ffmpeg::frame::Picture;
use crate::ffmpeg::{Error, FieldOrder, MediaType, Rational};
use crate::source::stack::Positioned;
use std::fs::File;

/// The most boxes or elements that are read at one level.
const MAX_PARTS: usize = 10_000;

/// The most bytes of a list of tracks.
const MAX_TRACKS: u64 = 16 << 20;

/// The most facts that are reported.
const MAX_NAMED: usize = 32;

/// How many bytes of a file are read to tell its kind.
const BEGIN: usize = 1024;

/// The part of a picture that is to be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crop {
    /// Columns and rows of the whole picture.
    pub whole: (usize, usize),
    /// Columns before it, and rows above it.
    pub start: (usize, usize),
    /// Its columns and rows.
    pub size: (usize, usize),
}

impl Crop {
    /// The crop without these borders, in columns and rows; `None` without borders, or if they leave no picture.
    fn within(whole: (usize, usize), before: (usize, usize), behind: (usize, usize)) -> Option<Self> {
        let left = |whole: usize, before: usize, behind: usize| whole.checked_sub(before)?.checked_sub(behind);
        let size = (left(whole.0, before.0, behind.0)?, left(whole.1, before.1, behind.1)?);
        (size != whole && size.0 > 0 && size.1 > 0).then_some(Crop { whole, start: before, size })
    }

    /// The smallest crop around this one that begins at a chroma sample, and at a row of the first field.
    pub fn on_samples(self, stream: &Stream) -> Self {
        let (across, down) = stream.picture().map_or((1, 1), |(format, _)| format.chroma_step());
        let fields = if matches!(stream.field_order, FieldOrder::Unknown | FieldOrder::Progressive) { 1 } else { 2 };
        let (column, row) = (self.start.0 % across, self.start.1 % (down * fields));
        Crop {
            whole: self.whole,
            start: (self.start.0 - column, self.start.1 - row),
            size: (self.size.0 + column, self.size.1 + row),
        }
    }

    /// Crops a picture, if it has the size `whole`.
    ///
    /// # Errors
    /// When FFmpeg cannot crop it.
    pub fn apply(self, picture: &mut Picture) -> Result<(), Error> {
        if picture.size() == self.whole { picture.crop(self.start, self.size) } else { Ok(()) }
    }
}

/// A track of video.
#[derive(Clone, Copy, Default)]
pub struct Track {
    codec: [u8; 4],
    pub crop: Option<Crop>,
    /// Width to height of a pixel of the cropped picture, if the container stores it.
    pub ratio: Option<Rational>,
}

impl Track {
    /// Whether it is encrypted.
    pub fn is_encrypted(self) -> bool {
        matches!(&self.codec, b"encv" | b"drmi")
    }
}

/// The facts in a file that FFmpeg does not report.
#[derive(Default)]
pub struct Said {
    /// Its tracks of video, in order.
    videos: Vec<Track>,
    /// The names of all tracks, in order.
    names: Vec<Option<String>>,
    pub unshown: Vec<Unshown>,
    /// The kind of the file, if FFmpeg does not read it, and a program that converts it.
    pub unread: Option<&'static str>,
}

impl Said {
    /// Reads the facts in this file.
    pub fn read(file: File) -> Self {
        let Ok(mut file) = Positioned::new(file) else { return Said::default() };
        let count = usize::try_from(file.length).unwrap_or(BEGIN).min(BEGIN);
        let Ok(begin) = file.bytes(0, count) else { return Said::default() };
        let mut said = match begin.get(4..8) {
            Some(b"ftyp" | b"moov" | b"mdat" | b"free" | b"skip" | b"wide" | b"pnot") => read_boxes(&mut file),
            _ if begin.starts_with(EBML) => {
                Said { videos: read_matroska(&mut file).unwrap_or_default(), ..Said::default() }
            }
            _ => Said::default(),
        };
        said.unread = unread(&mut file, &begin, &said.videos);
        said
    }

    /// The track of this video stream; `None` if FFmpeg reports other tracks.
    pub fn track(&self, streams: &[Stream], video: usize) -> Option<Track> {
        let is_track = |stream: &&Stream| {
            stream.kind == MediaType::Video && (!stream.is_attached_picture() || stream.has_chapter_pictures())
        };
        let place = streams.iter().take(video).filter(is_track).count();
        let are_alike = streams.iter().filter(is_track).count() == self.videos.len();
        self.videos.get(place).filter(|_| are_alike).copied()
    }

    /// Gives streams the names of their tracks, unless FFmpeg reports other tracks.
    pub fn title(&mut self, streams: &mut [Stream]) {
        let is_track = |stream: &Stream| !stream.is_attached_picture() || stream.has_chapter_pictures();
        if streams.iter().filter(|stream| is_track(stream)).count() == self.names.len() {
            for (stream, name) in streams.iter_mut().filter(|stream| is_track(stream)).zip(self.names.drain(..)) {
                let name = name.filter(|_| stream.tag("title").is_none());
                stream.metadata.extend(name.map(|name| ("title".to_owned(), name)));
            }
        }
    }

    /// Adds this to the facts to report, if it is new.
    pub fn name(&mut self, unshown: Unshown) {
        if self.unshown.len() < MAX_NAMED && !self.unshown.contains(&unshown) {
            self.unshown.push(unshown);
        }
    }
}

/// Kinds of files that FFmpeg does not read, by their first bytes, and programs that convert them.
const KINDS: [(&[u8], &str); 15] = [
    (b"%PDF-", "a PDF document (`pdftoppm -png IN OUT` of Poppler makes images)"),
    (b"%!PS", "a PostScript document (`gs -sDEVICE=png16m -o OUT%d.png IN` makes images)"),
    (b"gimp xcf", "an image of GIMP, which exports it as TIFF"),
    (b"PK\x03\x04", ARCHIVE),
    (b"7z\xbc\xaf", ARCHIVE),
    (b"Rar!", ARCHIVE),
    (b"\x1f\x8b", ARCHIVE),
    (b"\xfd7zXZ", ARCHIVE),
    (b"\x28\xb5\x2f\xfd", ARCHIVE),
    (b"FUJIFILMCCD-RAW", RAW_PHOTO),
    (b"IIRO", RAW_PHOTO),
    (b"IIRS", RAW_PHOTO),
    (b"IIU\0", RAW_PHOTO),
    (b"FOVb", RAW_PHOTO),
    (b"ARRI", "ARRIRAW (ARRI's Reference Tool makes ProRes of it)"),
];

const ARCHIVE: &str = "an archive (what it holds has to be unpacked)";
const RAW_PHOTO: &str = "a raw photo (Adobe's DNG Converter makes a DNG of it)";

/// The offset of the identifier in a disc image (ISO 9660, UDF).
const DISC_PLACE: u64 = 0x8001;

/// The kind of a file that FFmpeg does not read, and a program that converts it.
fn unread(file: &mut Positioned, begin: &[u8], videos: &[Track]) -> Option<&'static str> {
    const HEIC: [&[u8]; 8] = [b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1"];
    let brands = if begin.get(4..8) == Some(&b"ftyp"[..]) { begin.get(8..12).unwrap_or_default() } else { &[] };
    let text = String::from_utf8_lossy(begin).trim_start().to_ascii_lowercase();
    let disc = file.bytes(DISC_PLACE, 5).unwrap_or_default();
    match KINDS.iter().find(|(first, _)| begin.starts_with(first)) {
        Some((_, what)) => Some(*what),
        _ if begin.get(4..8) == Some(&b"RED2"[..]) => Some("REDCODE RAW (REDCINE-X PRO makes ProRes of it)"),
        _ if begin.get(128..132) == Some(&b"DICM"[..]) => {
            Some("a DICOM file (`dcmj2pnm +on2 +Fa IN OUT` of DCMTK makes images of its frames)")
        }
        _ if text.starts_with("<!doctype html") || text.starts_with("<html") => {
            Some("a web page (the file that it leads to is another one)")
        }
        _ if matches!(&disc[..], b"CD001" | b"BEA01") => {
            Some("the image of a disc (mounted, it has files like VTS_01_1.VOB or 00001.m2ts)")
        }
        _ if brands == b"crx " => Some("a raw photo of Canon, CR3 (Adobe's DNG Converter makes a DNG of it)"),
        _ if HEIC.contains(&brands) => Some("a HEIC image (`heif-convert IN OUT.png` of libheif makes a PNG of it)"),
        _ => videos.iter().find_map(|track| match &track.codec {
            b"aprn" | b"aprh" => Some("ProRes RAW (Apple's Compressor and Final Cut Pro make ProRes of it)"),
            [b'b', b'r', b's' | b'v' | b'x' | b'h', _] => Some("Blackmagic RAW (DaVinci Resolve makes ProRes of it)"),
            _ => None,
        }),
    }
}

/// A box of mp4 and mov: its code, and where its content begins and ends.
#[derive(Clone, Copy)]
struct Mp4Box {
    code: [u8; 4],
    begin: u64,
    end: u64,
}

/// The boxes from `offset` to `end`, and where the last one ends.
fn parts(file: &mut Positioned, mut offset: u64, end: u64) -> (Vec<Mp4Box>, u64) {
    let mut found = Vec::new();
    while found.len() < MAX_PARTS
        && let Some(part) = part(file, offset, end)
    {
        offset = part.end;
        found.push(part);
    }
    (found, offset)
}

/// The box that begins at `offset`.
fn part(file: &mut Positioned, offset: u64, end: u64) -> Option<Mp4Box> {
    let head: [u8; 8] = file.bytes(offset, 8).ok()?.try_into().ok()?;
    let [a, b, c, d, code @ ..] = head;
    if !is_code(code) {
        return None;
    }
    let (length, header) = match u32::from_be_bytes([a, b, c, d]) {
        0 => (end.checked_sub(offset)?, 8),
        1 => (u64::from_be_bytes(file.bytes(offset + 8, 8).ok()?.try_into().ok()?), 16),
        length => (length.into(), 8),
    };
    let stop = offset.checked_add(length).filter(|stop| *stop <= end && length >= header)?;
    Some(Mp4Box { code, begin: offset + header, end: stop })
}

/// Whether these bytes can be the code of a box.
fn is_code(code: [u8; 4]) -> bool {
    code.iter().all(|byte| (b' '..=b'~').contains(byte) || *byte == 0xa9)
}

/// The first box of this path.
fn find(file: &mut Positioned, within: Mp4Box, path: &[&[u8; 4]]) -> Option<Mp4Box> {
    let Some((code, rest)) = path.split_first() else { return Some(within) };
    let (parts, _) = parts(file, within.begin, within.end);
    let next = parts.into_iter().find(|part| part.code == **code)?;
    find(file, next, rest)
}

/// The handler type in a `hdlr` box.
fn handler(file: &mut Positioned, part: Mp4Box) -> Option<[u8; 4]> {
    file.bytes(part.begin.checked_add(8)?, 4).ok()?.try_into().ok()
}

/// The boxes of a file, and of its `moov`, that FFmpeg knows or that hold no facts.
const FILE_BOXES: &[&[u8; 4]] = &[
    b"ftyp", b"styp", b"moov", b"moof", b"mfra", b"mdat", b"free", b"skip", b"wide", b"pnot", b"udta", b"uuid",
    b"meta", b"sidx", b"ssix", b"emsg", b"prft", b"pdin", b"imda", b"PICT",
];
const MOVIE_BOXES: &[&[u8; 4]] = &[
    b"mvhd", b"trak", b"udta", b"meta", b"uuid", b"mvex", b"iods", b"free", b"skip", b"wide", b"cmov", b"rmra",
    b"pssh", b"prfl", b"clip", b"ctab", b"ainf",
];

/// How the identifiers of XMP, and of boxes about players, begin.
const XMP: [u8; 4] = [0xbe, 0x7a, 0xcf, 0xcb];
const PLAYER_UUIDS: [[u8; 4]; 2] = [*b"PROF", *b"USMT"];

/// Reads the facts in an mp4 or mov file.
fn read_boxes(file: &mut Positioned) -> Said {
    let mut said = Said::default();
    let (top, stop) = parts(file, 0, file.length);
    let mut has_movie = false;
    for part in &top {
        name_box(file, *part, FILE_BOXES, &mut said);
        if part.code == *b"moov" && !std::mem::replace(&mut has_movie, true) {
            read_movie(file, *part, &mut said);
        }
    }
    // Bytes after the last box: a truncated box begins with a box code, and padding is zero.
    let rest = usize::try_from(file.length - stop).unwrap_or(8).min(8);
    let rest = file.bytes(stop, rest).unwrap_or_default();
    let is_cut = rest.last_chunk::<4>().is_some_and(|code| rest.len() == 8 && is_code(*code));
    if has_movie && top.len() < MAX_PARTS && !is_cut && rest.iter().any(|byte| *byte != 0) {
        said.name(Unshown::BehindEnd);
    }
    said
}

fn read_movie(file: &mut Positioned, movie: Mp4Box, said: &mut Said) {
    let (parts_of_movie, _) = parts(file, movie.begin, movie.end);
    for part in parts_of_movie {
        name_box(file, part, MOVIE_BOXES, said);
        match &part.code {
            b"udta" => {
                let (texts, _) = parts(file, part.begin, part.end);
                let known = texts.iter().filter(|part| matches!(&part.code, b"GPMF" | b"XMP_" | b"gps "));
                known.for_each(|part| said.name(Unshown::Box(part.code)));
            }
            b"trak" => read_track(file, part, said),
            _ => {}
        }
    }
}

/// Adds a box that FFmpeg does not report to the facts.
fn name_box(file: &mut Positioned, part: Mp4Box, known: &[&[u8; 4]], said: &mut Said) {
    match &part.code {
        b"uuid" => {
            let begin: Option<[u8; 4]> = file.bytes(part.begin, 4).ok().and_then(|bytes| bytes.try_into().ok());
            match begin {
                Some(XMP) => said.name(Unshown::Box(*b"XMP_")),
                Some(begin) if !PLAYER_UUIDS.contains(&begin) => said.name(Unshown::Box(part.code)),
                _ => {}
            }
        }
        b"meta" => {
            // In mp4, but not in mov, `meta` has a 4-byte version before its boxes: try both.
            let within = [part.begin, part.begin.saturating_add(4)].map(|begin| Mp4Box { begin, ..part });
            let found = within.into_iter().find_map(|within| find(file, within, &[b"hdlr"]));
            let kind = found.and_then(|part| handler(file, part));
            if kind.is_some_and(|kind| !matches!(&kind, b"mdta" | b"mdir" | b"pict" | b"ID32")) {
                said.name(Unshown::Box(part.code));
            }
        }
        code if !known.contains(&code) => said.name(Unshown::Box(*code)),
        _ => {}
    }
}

/// The most bytes of the name of a track.
const MAX_NAME: u64 = 1024;

fn name_of(file: &mut Positioned, track: Mp4Box) -> Option<String> {
    let name = find(file, track, &[b"udta", b"name"])?;
    let length = usize::try_from((name.end - name.begin).min(MAX_NAME)).ok()?;
    let name = String::from_utf8(file.bytes(name.begin, length).ok()?).ok()?;
    let name = name.trim_matches('\0');
    (!name.is_empty()).then(|| name.to_owned())
}

fn read_track(file: &mut Positioned, track: Mp4Box, said: &mut Said) {
    said.names.push(name_of(file, track));
    let Some(media) = find(file, track, &[b"mdia"]) else { return };
    let is_video = find(file, media, &[b"hdlr"]).and_then(|part| handler(file, part)) == Some(*b"vide");
    let entry = find(file, media, &[b"minf", b"stbl", b"stsd"]).and_then(|list| part(file, list.begin + 8, list.end));
    if is_video {
        let found = entry.and_then(|entry| read_entry(file, track, entry, said));
        said.videos
            .push(found.unwrap_or(Track { codec: entry.map_or([0; 4], |entry| entry.code), ..Track::default() }));
    } else if entry.is_some_and(|entry| entry.code.starts_with(b"enc") || entry.code == *b"drms") {
        said.name(Unshown::Encrypted);
    }
}

/// Bytes of a video's sample entry before its boxes; they hold columns and rows.
const ENTRY: u64 = 78;

/// Reads a video's sample entry.
fn read_entry(file: &mut Positioned, track: Mp4Box, entry: Mp4Box, said: &mut Said) -> Option<Track> {
    let fields = file.bytes(entry.begin, ENTRY as usize).ok()?;
    let number = |index: usize| Some(usize::from(u16::from_be_bytes(*fields.get(index..)?.first_chunk()?)));
    let whole = (number(24)?, number(26)?);
    let (boxes, _) = parts(file, entry.begin + ENTRY, entry.end);
    let mut numbers = |code: &[u8; 4]| {
        let found = boxes.iter().find(|part| part.code == *code)?;
        let bytes = file.bytes(found.begin, usize::try_from(found.end - found.begin).ok()?.min(32)).ok()?;
        Some(
            bytes.chunks_exact(4).filter_map(|four| Some(u32::from_be_bytes(*four.first_chunk()?))).collect::<Vec<_>>(),
        )
    };
    let (aperture, shape) = (numbers(b"clap"), numbers(b"pasp"));
    if boxes.iter().any(|part| part.code == *b"lhvC") {
        said.name(Unshown::SecondLayer);
    }
    let codec = entry.code;
    let crop = match aperture.as_deref() {
        Some(&[width, of_width, height, of_height, across, of_across, down, of_down]) => {
            let columns = aperture_of(whole.0, [width, of_width], [across, of_across]);
            let rows = aperture_of(whole.1, [height, of_height], [down, of_down]);
            match (columns, rows) {
                (Some((left, right)), Some((above, below))) => Crop::within(whole, (left, above), (right, below)),
                // A fraction of a pixel cannot be cropped.
                _ => {
                    said.name(Unshown::Crop);
                    None
                }
            }
        }
        _ => None,
    };
    // FFmpeg takes the ratio from the size of the track, which may be that of the whole picture or of the cropped one.
    let ratio = crop.and_then(|crop| match shape.as_deref() {
        Some(&[across, down, ..]) => ratio(across.into(), down.into()),
        _ => {
            let header = find(file, track, &[b"tkhd"])?;
            let bytes = file.bytes(header.end.checked_sub(8)?, 8).ok()?;
            let size = |index: usize| Some(u64::from(u32::from_be_bytes(*bytes.get(index..)?.first_chunk()?)) >> 16);
            let (width, height) = (size(0)?, size(4)?);
            match (width, height) == (whole.0 as u64, whole.1 as u64) {
                true => ratio(1, 1),
                false => ratio(width * crop.size.1 as u64, height * crop.size.0 as u64),
            }
        }
    });
    Some(Track { codec, crop, ratio })
}

/// Pixels before and after the clean aperture. Its size, and the offset of its centre from the picture's, are
/// fractions; `None` if the result is not whole, or outside the picture.
fn aperture_of(whole: usize, [size, of_size]: [u32; 2], [off, of_off]: [u32; 2]) -> Option<(usize, usize)> {
    let (whole, size, of_size) = (whole as i128, i128::from(size), i128::from(of_size));
    let (off, of_off) = (i128::from(off.cast_signed()), i128::from(of_off));
    if of_size <= 0 || of_off <= 0 || size % of_size != 0 {
        return None;
    }
    let size = size / of_size;
    let twice = (whole - size) * of_off + 2 * off;
    let before = (twice % (2 * of_off) == 0).then_some(twice / (2 * of_off))?;
    Some((usize::try_from(before).ok()?, usize::try_from(whole - size - before).ok()?))
}

/// A fraction in its lowest terms, if it is one.
fn ratio(numerator: u64, denominator: u64) -> Option<Rational> {
    let (mut a, mut b) = (numerator, denominator);
    while b > 0 {
        (a, b) = (b, a % b);
    }
    let part = |number: u64| i32::try_from(number.checked_div(a)?).ok().filter(|part| *part > 0);
    Some(Rational::new(part(numerator)?, part(denominator)?))
}

/// The ID of the EBML header, which begins a Matroska file.
const EBML: &[u8] = &[0x1a, 0x45, 0xdf, 0xa3];

/// IDs of Matroska elements: Segment, Tracks, Cluster; TrackEntry, TrackType, Video.
const SEGMENT: u32 = 0x1853_8067;
const TRACKS: u32 = 0x1654_ae6b;
const CLUSTER: u32 = 0x1f43_b675;
const TRACK: u32 = 0xae;
const KIND: u32 = 0x83;
const VIDEO: u32 = 0xe0;

/// IDs of Matroska elements: width and height; crop on the left, right, top and bottom; display width, height and unit.
const SIZE: [u32; 2] = [0xb0, 0xba];
const BORDERS: [u32; 4] = [0x54cc, 0x54dd, 0x54bb, 0x54aa];
const SHOWN: [u32; 3] = [0x54b0, 0x54ba, 0x54b2];

/// The ID of the element at the start of `bytes`, the length of its head, and that of its content, if it is known.
fn element(bytes: &[u8]) -> Option<(u32, usize, Option<u64>)> {
    let length = |first: &u8, most: usize| Some(first.leading_zeros() as usize + 1).filter(|length| *length <= most);
    let number = |bytes: &[u8]| bytes.iter().fold(0_u64, |number, byte| (number << 8) | u64::from(*byte));
    let name = length(bytes.first()?, 4)?;
    let size = length(bytes.get(name)?, 8)?;
    let head = name + size;
    let unknown = (1 << (7 * size)) - 1;
    let content = number(bytes.get(name..head)?) & unknown;
    Some((u32::try_from(number(&bytes[..name])).ok()?, head, (content != unknown).then_some(content)))
}

/// The elements in these bytes, and their contents.
fn elements(mut bytes: &[u8]) -> Vec<(u32, &[u8])> {
    let mut found = Vec::new();
    while let Some((id, head, Some(size))) = element(bytes)
        && let Some(end) = usize::try_from(size).ok().and_then(|size| head.checked_add(size))
        && let Some(content) = bytes.get(head..end)
    {
        found.push((id, content));
        bytes = &bytes[end..];
    }
    found
}

/// The content of the first element with this ID.
fn content<'a>(elements: &[(u32, &'a [u8])], id: u32) -> Option<&'a [u8]> {
    elements.iter().find(|(found, _)| *found == id).map(|(_, content)| *content)
}

/// The tracks of video of a Matroska file.
fn read_matroska(file: &mut Positioned) -> Option<Vec<Track>> {
    let mut head = |offset: u64| {
        let count = usize::try_from(file.length.checked_sub(offset)?).ok()?.min(12);
        let (id, head, size) = element(&file.bytes(offset, count).ok()?)?;
        Some((id, offset + head as u64, size))
    };
    let (_, begin, size) = head(0)?;
    let (id, mut offset, _) = head(begin.checked_add(size?)?)?;
    let tracks = (0..MAX_PARTS).filter(|_| id == SEGMENT).find_map(|_| match head(offset) {
        Some((TRACKS, begin, Some(size))) => Some(Some((begin, size))),
        None | Some((CLUSTER, ..) | (_, _, None)) => Some(None),
        Some((_, begin, Some(size))) => match begin.checked_add(size) {
            Some(next) => {
                offset = next;
                None
            }
            None => Some(None),
        },
    });
    let (begin, size) = tracks.flatten().filter(|(_, size)| *size <= MAX_TRACKS)?;
    let tracks = file.bytes(begin, usize::try_from(size).ok()?).ok()?;
    let tracks = elements(&tracks).into_iter().filter(|(id, _)| *id == TRACK).map(|(_, track)| elements(track));
    let videos = tracks.filter(|track| content(track, KIND).is_some_and(|kind| kind.last() == Some(&1)));
    Some(videos.map(|track| read_video(&elements(content(&track, VIDEO).unwrap_or_default()))).collect())
}

fn read_video(video: &[(u32, &[u8])]) -> Track {
    let number = |id: u32| {
        let bytes = content(video, id).filter(|bytes| bytes.len() <= 8)?;
        Some(bytes.iter().fold(0_u64, |number, byte| (number << 8) | u64::from(*byte)))
    };
    let pixels = |id: u32| usize::try_from(number(id).unwrap_or(0)).unwrap_or(usize::MAX);
    let ([width, height], [left, right, above, below]) = (SIZE.map(pixels), BORDERS.map(pixels));
    let crop = Crop::within((width, height), (left, above), (right, below));
    // The display size is that of the cropped part. An unknown unit gives no ratio.
    let ratio = crop.and_then(|crop| {
        let [across, down, unit] = SHOWN.map(number);
        let shown = |shown: u64, pixels: usize| shown.checked_mul(pixels as u64);
        match unit.unwrap_or(0) {
            0..=3 => ratio(shown(across?, crop.size.1)?, shown(down?, crop.size.0)?),
            _ => None,
        }
    });
    Track { crop, ratio, ..Track::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clean_aperture_is_taken_in_whole_pixels_alone() {
        assert_eq!(aperture_of(180, [132, 1], [0, 1]), Some((24, 24)));
        assert_eq!(aperture_of(180, [264, 2], [u32::MAX - 3, 2]), Some((22, 26)), "two rows up");
        assert_eq!(aperture_of(180, [131, 1], [0, 1]), None, "half a row");
        assert_eq!(aperture_of(180, [131, 1], [1, 2]), Some((25, 24)));
        for (size, off) in [([132, 0], [0, 1]), ([132, 1], [0, 0]), ([200, 1], [0, 1]), ([132, 1], [90, 1])] {
            assert_eq!(aperture_of(180, size, off), None);
        }
        assert_eq!(aperture_of(usize::from(u16::MAX), [u32::MAX, 1], [1 << 31, u32::MAX]), None);
    }

    #[test]
    fn elements_end_where_the_bytes_do() {
        assert_eq!(element(&[0xb0, 0x81]), Some((0xb0, 2, Some(1))));
        assert_eq!(
            element(&[0x18, 0x53, 0x80, 0x67, 0x01, 255, 255, 255, 255, 255, 255, 255]),
            Some((SEGMENT, 12, None))
        );
        for bytes in [&[][..], &[0], &[0xb0], &[0xb0, 0], &[0x54, 0xaa], &[0x54, 0xaa, 0x40]] {
            assert_eq!(element(bytes), None);
        }
        assert_eq!(elements(&[0xb0, 0x81, 7, 0xba, 0x82, 1]), [(0xb0, &[7][..])]);
        assert_eq!(Crop::within((10, 10), (6, 0), (4, 0)), None);
        assert_eq!(Crop::within((10, 10), (0, 0), (0, 0)), None);
        assert_eq!(Crop::within((10, 10), (usize::MAX, 0), (4, 0)), None);
    }
}
