//! EXIF: lists of tags as in a TIFF file (TIFF 6.0, section 2; Exif 2.3). All input is checked. Lists in a hostile file
//! may overlap, or refer to each other, so one list of each kind is read, and no more bytes of values than the file
//! has.
//!
//! Of the crates for it, kamadak-exif (0.6.2) reads 16 million tags from 200 KB of lists that overlap, and writes only
//! what it knows; little_exif (0.6.23) follows lists that lead to themselves, by recursion.

/// Bytes by TIFF type number: of a value, and of each number in a value (a rational has two).
pub const TYPE_BYTES: [usize; 14] = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4];
const NUMBER_BYTES: [usize; 14] = [0, 1, 1, 2, 4, 4, 1, 1, 2, 4, 4, 4, 8, 4];

/// TIFF's type numbers.
const SHORT: u16 = 3;
const LONG: u16 = 4;
const ASCII: u16 = 2;
const RATIONAL: u16 = 5;

/// Tags that hold the offset of another list, with the kind of that list.
const LISTS: [(ExifList, u16); 3] =
    [(ExifList::Exif, 34665), (ExifList::Place, 34853), (ExifList::Compatibility, 40965)];

/// Bytes of the header of a file, and of a tag.
const HEADER: usize = 8;
const TAG: usize = 12;

const MAX_TAGS: usize = 4096;

/// Tags that describe how samples are stored, which do not apply to another file, or refer to smaller versions and
/// masks, which are other lists. XMP and the ICC profile are not here: other formats store them elsewhere.
const SAMPLE_TAGS: [u16; 45] = [
    254, 255, 256, 257, 258, 259, 262, 263, 264, 265, 266, 273, 277, 278, 279, 280, 281, 284, 288, 289, 290, 291, 292,
    293, 301, 317, 318, 319, 320, 321, 322, 323, 324, 325, 330, 332, 338, 339, 340, 341, 347, 512, 513, 514, 530,
];

/// XMP and the ICC profile, whose bytes are kept outside of [`Exif`], and the tag for the program that made the image.
pub const XMP: u16 = 700;
const SOFTWARE: u16 = 305;
pub const ICC: u16 = 34675;

/// Tags that are interpreted or set here.
const ORIENTATION: u16 = 274;
const RESOLUTION: [u16; 2] = [282, 283];
const UNIT: u16 = 296;
const SIZE: [u16; 2] = [40962, 40963];

/// The order of the bytes of a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByteOrder {
    is_big_endian: bool,
}

impl ByteOrder {
    /// The byte order of the TIFF file or EXIF that begins with these bytes; `None` for other bytes, and for a BigTIFF.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        match bytes.get(..4)? {
            b"II*\0" => Some(ByteOrder { is_big_endian: false }),
            b"MM\0*" => Some(ByteOrder { is_big_endian: true }),
            _ => None,
        }
    }

    /// The number in these bytes, 4 at most.
    pub fn number(self, bytes: &[u8]) -> u32 {
        let join = |value: u32, byte: &u8| value << 8 | u32::from(*byte);
        if self.is_big_endian { bytes.iter().fold(0, join) } else { bytes.iter().rev().fold(0, join) }
    }

    /// `number` in `count` bytes.
    pub fn bytes(self, number: u32, count: usize) -> Vec<u8> {
        match self.is_big_endian {
            true => number.to_be_bytes()[4 - count..].to_vec(),
            false => number.to_le_bytes()[..count].to_vec(),
        }
    }
}

/// The kinds of lists of tags. `Place` is GPS, `Compatibility` the interoperability list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ExifList {
    Main,
    Exif,
    Place,
    Compatibility,
}

impl ExifList {
    /// Whether a list of this kind may refer to one of the kind `other`.
    fn leads_to(self, other: ExifList) -> bool {
        matches!(
            (self, other),
            (ExifList::Main, ExifList::Exif | ExifList::Place) | (ExifList::Exif, ExifList::Compatibility)
        )
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Tag {
    part: ExifList,
    kind: u16,
    numeric_type: u16,
    count: u32,
    values: Vec<u8>,
}

/// The tags of an image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exif {
    order: ByteOrder,
    tags: Vec<Tag>,
}

impl Exif {
    /// The tags in these bytes, which begin as a TIFF file does; `None` if they do not, or are damaged.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let order = ByteOrder::parse(bytes)?;
        let mut exif = Exif { order, tags: Vec::new() };
        let first = order.number(bytes.get(4..HEADER)?) as usize;
        let (mut lists, mut room, mut next) = (vec![(ExifList::Main, first)], bytes.len(), 0);
        while let Some(&(part, list)) = lists.get(next) {
            next += 1;
            let count = order.number(bytes.get(list..list.checked_add(2)?)?) as usize;
            let tags = bytes.get(list + 2..(list + 2).checked_add(count.min(MAX_TAGS) * TAG)?)?;
            for tag in tags.chunks_exact(TAG) {
                let kind = order.number(&tag[..2]) as u16;
                if let Some(&(below, _)) = LISTS.iter().find(|(_, leads)| *leads == kind) {
                    if part.leads_to(below) && lists.iter().all(|(there, _)| *there != below) {
                        lists.push((below, order.number(&tag[8..]) as usize));
                    }
                } else if let Some(tag) = exif.tag(bytes, part, tag)
                    && tag.values.len() <= room
                {
                    room -= tag.values.len();
                    exif.tags.push(tag);
                }
            }
        }
        Some(exif)
    }

    /// The tag in these bytes of a list; `None` if its values are outside of the file.
    fn tag(&self, bytes: &[u8], part: ExifList, tag: &[u8]) -> Option<Tag> {
        let (kind, numeric_type) = (self.order.number(&tag[..2]) as u16, self.order.number(&tag[2..4]) as u16);
        let count = self.order.number(&tag[4..8]);
        let each = *TYPE_BYTES.get(usize::from(numeric_type)).filter(|each| **each > 0)?;
        let length = each.checked_mul(count as usize)?;
        let begin = if length <= 4 { None } else { Some(self.order.number(&tag[8..]) as usize) };
        let values = match begin {
            None => &tag[8..8 + length],
            Some(begin) => bytes.get(begin..begin.checked_add(length)?)?,
        };
        Some(Tag { part, kind, numeric_type, count, values: values.to_vec() })
    }

    /// Removes the tags that describe how the samples of the original file are stored, and those of XMP and the ICC
    /// profile, which are kept elsewhere.
    pub fn without_samples(mut self) -> Self {
        let is_kept = |tag: &Tag| {
            tag.part != ExifList::Main || !SAMPLE_TAGS.contains(&tag.kind) && !matches!(tag.kind, XMP | ICC)
        };
        self.tags.retain(is_kept);
        self
    }

    /// Whether there are tags other than those about storage and display of the picture.
    pub fn has_own_tags(&self) -> bool {
        // Tags that each file has: the version of EXIF, and sizes.
        let usual = [ORIENTATION, RESOLUTION[0], RESOLUTION[1], UNIT, 305, 531, 529, 532];
        let of_exif = [36864, 37121, 40960, 40961, SIZE[0], SIZE[1]];
        self.tags.iter().any(|tag| match tag.part {
            ExifList::Main => !usual.contains(&tag.kind),
            ExifList::Exif => !of_exif.contains(&tag.kind),
            ExifList::Place => true,
            ExifList::Compatibility => false,
        })
    }

    /// The bytes of a tag of the main list.
    pub fn bytes_of(&self, kind: u16) -> Option<&[u8]> {
        self.find(ExifList::Main, kind).map(|tag| tag.values.as_slice())
    }

    fn find(&self, part: ExifList, kind: u16) -> Option<&Tag> {
        self.tags.iter().find(|tag| (tag.part, tag.kind) == (part, kind))
    }

    /// Resolution in dots per inch, horizontal and vertical, if known.
    pub fn resolution(&self) -> Option<[f64; 2]> {
        let unit = self.bytes_of(UNIT).map_or(2, |unit| self.order.number(unit));
        let per_inch = match unit {
            2 => 1.0,
            3 => 2.54,
            _ => return None,
        };
        let dots = |kind| {
            let values = self.find(ExifList::Main, kind).filter(|tag| tag.numeric_type == RATIONAL)?.values.as_slice();
            let (over, under) = (self.order.number(values.get(..4)?), self.order.number(values.get(4..8)?));
            (over > 0 && under > 0).then(|| f64::from(over) / f64::from(under) * per_inch)
        };
        Some([dots(RESOLUTION[0])?, dots(RESOLUTION[1])?])
    }

    /// Sets the resolution, in dots per inch: horizontal and vertical.
    pub fn set_resolution(&mut self, dots: [f64; 2]) {
        for (kind, dots) in RESOLUTION.into_iter().zip(dots) {
            // Rounds to a thousandth; whole numbers get the denominator 1.
            let thousandths = (dots * 1000.0).round().clamp(1.0, f64::from(u32::MAX)) as u32;
            let fraction = if thousandths.is_multiple_of(1000) { [thousandths / 1000, 1] } else { [thousandths, 1000] };
            self.set(ExifList::Main, kind, RATIONAL, 1, fraction.map(|number| self.order.bytes(number, 4)).concat());
        }
        self.set(ExifList::Main, UNIT, SHORT, 1, self.order.bytes(2, 2));
    }

    /// Marks the picture as upright, after it was rotated.
    pub fn set_upright(&mut self) {
        if self.find(ExifList::Main, ORIENTATION).is_some() {
            self.set(ExifList::Main, ORIENTATION, SHORT, 1, self.order.bytes(1, 2));
        }
    }

    /// Replaces the size in pixels, if the tags have one.
    pub fn set_size(&mut self, (width, height): (usize, usize)) {
        for (kind, pixels) in SIZE.into_iter().zip([width, height]) {
            if self.find(ExifList::Exif, kind).is_some() {
                self.set(ExifList::Exif, kind, LONG, 1, self.order.bytes(pixels as u32, 4));
            }
        }
    }

    /// Sets the tag for the program that made the image, unless it names another program.
    pub fn set_software(&mut self, name: &str) {
        if self.bytes_of(SOFTWARE).is_none_or(|made| made.starts_with(b"histeq-video ")) {
            let text = [name.as_bytes(), &[0]].concat();
            self.set(ExifList::Main, SOFTWARE, ASCII, text.len() as u32, text);
        }
    }

    /// Sets a tag of the main list to bytes of the type "undefined".
    pub fn set_bytes(&mut self, kind: u16, bytes: &[u8]) {
        self.set(ExifList::Main, kind, 7, bytes.len() as u32, bytes.to_vec());
    }

    fn set(&mut self, part: ExifList, kind: u16, numeric_type: u16, count: u32, values: Vec<u8>) {
        self.tags.retain(|tag| (tag.part, tag.kind) != (part, kind));
        self.tags.push(Tag { part, kind, numeric_type, count, values });
    }

    /// The tags as bytes, which begin like a TIFF file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = if self.order.is_big_endian { b"MM\0*".to_vec() } else { b"II*\0".to_vec() };
        bytes.extend(self.order.bytes(HEADER as u32, 4));
        let main = self.lists(HEADER);
        bytes.extend(main);
        bytes
    }

    /// Puts these tags into the TIFF file `tiff`, in place of its tags of the same kinds; `None` if the file is
    /// damaged, or gets too large.
    pub fn put_into(&self, tiff: &[u8]) -> Option<Vec<u8>> {
        let parsed = Exif::parse(tiff)?;
        let mut all = Exif { order: parsed.order, tags: parsed.tags.clone() };
        for tag in &self.tags {
            let mut values = tag.values.clone();
            let each = NUMBER_BYTES[usize::from(tag.numeric_type)];
            if self.order != parsed.order && each > 1 {
                values.chunks_exact_mut(each).for_each(<[u8]>::reverse);
            }
            all.set(tag.part, tag.kind, tag.numeric_type, tag.count, values);
        }
        // Lists begin at even offsets.
        let mut bytes = tiff.to_vec();
        bytes.resize(bytes.len().next_multiple_of(2), 0);
        let begin = bytes.len();
        bytes[4..HEADER].copy_from_slice(&parsed.order.bytes(u32::try_from(begin).ok()?, 4));
        bytes.extend(all.lists(begin));
        u32::try_from(bytes.len()).ok().map(|_| bytes)
    }

    /// The main list and the lists that it refers to, as they are stored in a file at the offset `begin`.
    fn lists(&self, begin: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.append(ExifList::Main, begin, &mut bytes);
        bytes
    }

    /// Appends the list of this part, then its values and the lists that it refers to.
    fn append(&self, part: ExifList, begin: usize, bytes: &mut Vec<u8>) {
        let below: Vec<(ExifList, u16)> = LISTS
            .into_iter()
            .filter(|&(under, _)| part.leads_to(under))
            .filter(|&(under, _)| self.tags.iter().any(|tag| tag.part == under))
            .collect();
        let mut tags: Vec<&Tag> = self.tags.iter().filter(|tag| tag.part == part).collect();
        let leading: Vec<Tag> = below
            .iter()
            .map(|&(_, kind)| Tag { part, kind, numeric_type: LONG, count: 1, values: vec![0; 4] })
            .collect();
        tags.extend(&leading);
        tags.sort_by_key(|tag| tag.kind);
        tags.dedup_by_key(|tag| tag.kind);
        let list = bytes.len();
        bytes.extend(self.order.bytes(tags.len() as u32, 2));
        bytes.resize(list + 2 + tags.len() * TAG + 4, 0);
        for (index, tag) in tags.iter().enumerate() {
            let mut entry =
                [self.order.bytes(tag.kind.into(), 2), self.order.bytes(tag.numeric_type.into(), 2)].concat();
            entry.extend(self.order.bytes(tag.count, 4));
            if let Some((under, _)) = below.iter().find(|(_, kind)| *kind == tag.kind) {
                entry.extend(self.order.bytes((begin + bytes.len()) as u32, 4));
                self.append(*under, begin, bytes);
            } else if tag.values.len() <= 4 {
                entry.extend(tag.values.iter().copied().chain([0; 4]).take(4));
            } else {
                entry.extend(self.order.bytes((begin + bytes.len()) as u32, 4));
                bytes.extend(&tag.values);
                bytes.resize(bytes.len().next_multiple_of(2), 0);
            }
            bytes[list + 2 + index * TAG..list + 2 + (index + 1) * TAG].copy_from_slice(&entry);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tag(part: ExifList, kind: u16, numeric_type: u16, count: u32, values: &[u8]) -> Tag {
        Tag { part, kind, numeric_type, count, values: values.to_vec() }
    }

    fn some(is_big_endian: bool) -> Exif {
        let tags = vec![
            tag(ExifList::Main, 271, 2, 5, b"Acme\0"),
            tag(ExifList::Main, ORIENTATION, SHORT, 1, if is_big_endian { &[0, 6] } else { &[6, 0] }),
            tag(ExifList::Exif, 36867, 2, 20, b"2024:01:02 03:04:05\0"),
            tag(ExifList::Compatibility, 1, 2, 4, b"R98\0"),
            tag(ExifList::Place, 1, 2, 2, b"N\0"),
        ];
        Exif { order: ByteOrder { is_big_endian }, tags }
    }

    /// The tags in a fixed order, for comparisons.
    fn sorted(exif: &Exif) -> Vec<Tag> {
        let mut tags = exif.tags.clone();
        tags.sort_by_key(|tag| (tag.part as u8, tag.kind));
        tags
    }

    #[test]
    fn tags_are_read_as_they_were_written() {
        for is_big_endian in [false, true] {
            let before = some(is_big_endian);
            let after = Exif::parse(&before.to_bytes()).expect("EXIF");
            assert_eq!(sorted(&after), sorted(&before));
        }
        let mut upright = some(true);
        upright.set_upright();
        upright.set_resolution([300.0, 299.9994]);
        let upright = Exif::parse(&upright.to_bytes()).expect("EXIF");
        assert_eq!(upright.bytes_of(ORIENTATION), Some(&[0, 1][..]));
        assert_eq!(upright.resolution(), Some([300.0, 299.999]));
    }

    #[test]
    fn tags_come_into_a_file_of_the_other_order_of_bytes() {
        let mut file = Exif { order: ByteOrder::default(), tags: vec![tag(ExifList::Main, 256, SHORT, 1, &[7, 0])] };
        file.set_resolution([72.0, 72.0]);
        let mut other = some(true);
        other.set_resolution([300.0, 300.0]);
        let merged = Exif::parse(&other.put_into(&file.to_bytes()).expect("a file")).expect("a file");
        assert_eq!(merged.bytes_of(256), Some(&[7, 0][..]), "its own");
        assert_eq!(merged.bytes_of(ORIENTATION), Some(&[6, 0][..]), "in its order of bytes");
        assert_eq!(merged.resolution(), Some([300.0, 300.0]));
        assert_eq!(merged.find(ExifList::Place, 1).map(|tag| tag.values.clone()), Some(b"N\0".to_vec()));
    }

    /// `count` pointers refer to lists that overlap, each with as many tags as a list may have.
    #[test]
    fn lists_that_overlap_are_read_once() {
        let count: u16 = 4000;
        let mut bytes = b"MM\0*\0\0\0\x08".to_vec();
        bytes.extend(count.to_be_bytes());
        let behind = HEADER + 2 + usize::from(count) * TAG;
        for (index, (_, leads)) in LISTS.iter().cycle().take(count.into()).enumerate() {
            bytes.extend(
                [&leads.to_be_bytes()[..], &[0, 4, 0, 0, 0, 1], &((behind + 12 * index + 10) as u32).to_be_bytes()]
                    .concat(),
            );
        }
        for _ in 0..2 * MAX_TAGS {
            // The last two bytes of each tag are the number of tags of a list that begins there.
            bytes.extend([&[0, 1, 0, 1, 0, 0, 0, 1, 0, 0][..], &(MAX_TAGS as u16).to_be_bytes()].concat());
        }
        let exif = Exif::parse(&bytes).expect("EXIF");
        assert!((MAX_TAGS..=3 * MAX_TAGS).contains(&exif.tags.len()), "{}", exif.tags.len());
        assert!(exif.to_bytes().len() < bytes.len());
    }

    #[test]
    fn damaged_bytes_are_no_panic() {
        let whole = some(false).to_bytes();
        for end in 0..whole.len() {
            let _ = Exif::parse(&whole[..end]).map(|exif| exif.to_bytes());
        }
        for index in 0..whole.len() {
            for value in [0, 1, 0x7f, 0xff] {
                let mut changed = whole.clone();
                changed[index] = value;
                if let Some(exif) = Exif::parse(&changed) {
                    // Overlapping lists do not multiply the output.
                    assert!(exif.to_bytes().len() <= 3 * whole.len() + 12 * exif.tags.len(), "byte {index}");
                    let _ = exif.put_into(&changed);
                }
            }
        }
    }
}
