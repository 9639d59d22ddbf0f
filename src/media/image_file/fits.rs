//! Headers of FITS files (standard 4.0): the cards that describe an image are made here, those of another file are kept.

/// Bytes of a block.
pub const BLOCK: usize = 2880;

/// Bytes of a card, which is a line of a header.
pub const CARD: usize = 80;

/// Bytes of the key of a card.
const KEY: usize = 8;

/// The prefix of the history that this program writes.
const OURS: &[u8] = b"HISTORY histeq-video ";

/// Keys about how samples are stored, or about later data in the file; NAXIS includes NAXIS1 and so on.
const STORAGE_KEYS: [&str; 16] = [
    "SIMPLE", "XTENSION", "BITPIX", "NAXIS", "EXTEND", "NEXTEND", "PCOUNT", "GCOUNT", "BSCALE", "BZERO", "BLANK",
    "DATAMIN", "DATAMAX", "CHECKSUM", "DATASUM", "END",
];

/// Whether a card of this key is about how samples are stored, or about later data in the file.
pub fn is_of_storage(key: &str) -> bool {
    STORAGE_KEYS.contains(&key.trim_end_matches(|c: char| c.is_ascii_digit()))
}

/// The key of a card; empty where it has none.
pub fn key_of(card: &[u8]) -> &str {
    let key = card.get(..KEY).and_then(|key| std::str::from_utf8(key).ok());
    key.unwrap_or_default().trim_end()
}

/// The bytes that identify a card, so that another header can replace its value: those before the value, or the whole
/// card if it has no value.
pub fn name_of(card: &[u8]) -> &[u8] {
    let length = match card {
        [b'H', b'I', b'E', b'R', b'A', b'R', b'C', b'H', b' ', ..] => card.iter().position(|byte| *byte == b'='),
        _ => card.get(KEY..).is_some_and(|rest| rest.starts_with(b"= ")).then_some(KEY),
    };
    &card[..length.unwrap_or(card.len())]
}

/// These cards without the history that this program wrote into them.
pub fn without_ours(cards: &[u8]) -> Vec<u8> {
    // Whether the previous card is this program's and full, so that its text may continue. A full card may end with one
    // space of the text, not with two.
    let mut goes_on = false;
    let kept = cards.chunks_exact(CARD).filter(|card| {
        let is_ours = card.starts_with(OURS) || goes_on && key_of(card) == "HISTORY";
        goes_on = is_ours && card[CARD - 2..] != *b"  ";
        !is_ours
    });
    kept.flatten().copied().collect()
}

/// An image as FFmpeg's encoder of FITS makes it, which leaves the header to a muxer.
pub struct FitsImage<'a> {
    /// Its samples, in whole blocks.
    pub samples: &'a [u8],
    /// Their pixel format, by FFmpeg's name.
    pub format: &'a str,
    /// Its width and height, in pixels.
    pub size: (usize, usize),
}

impl FitsImage<'_> {
    /// A file that begins with the image, with these cards of another file, and `made_by` as its history.
    pub fn as_file(&self, cards: &[u8], made_by: Option<&str>) -> Vec<u8> {
        let mut header = self.header(("SIMPLE", "T"), &[("EXTEND", "T")], cards);
        let is_text = |c: char| c.is_ascii_graphic() || c == ' ';
        let made_by = made_by.unwrap_or_default().replace(|c: char| !is_text(c), "?");
        for text in made_by.as_bytes().chunks(CARD - KEY) {
            header.extend(b"HISTORY ");
            header.extend(text);
            header.resize(header.len().next_multiple_of(CARD), b' ');
        }
        self.behind(header)
    }

    /// The image as an extension, which follows another image in a file, with these cards.
    pub fn as_extension(&self, cards: &[u8]) -> Vec<u8> {
        self.behind(self.header(("XTENSION", "'IMAGE   '"), &[("PCOUNT", "0"), ("GCOUNT", "1")], cards))
    }

    /// The number of colour planes, if there are several.
    fn planes(&self) -> Option<usize> {
        match self.format {
            "gbrp" | "gbrp16be" => Some(3),
            "gbrap" | "gbrap16be" => Some(4),
            _ => None,
        }
    }

    /// A header: the card `first`, the layout, the cards `more`, those about how samples are stored, and those of
    /// `kept` that are not about storage.
    fn header(&self, first: (&str, &str), more: &[(&str, &str)], kept: &[u8]) -> Vec<u8> {
        let is_deep = self.format.contains("16");
        let (bits, most) = if is_deep { ("16", "65535") } else { ("8", "255") };
        let axes: Vec<usize> = [self.size.0, self.size.1].into_iter().chain(self.planes()).collect();
        let count = axes.len().to_string();
        let mut header: String =
            [first, ("BITPIX", bits), ("NAXIS", count.as_str())].iter().map(|(key, value)| card(key, value)).collect();
        for (number, length) in (1..).zip(axes) {
            header += &card(&format!("NAXIS{number}"), &length.to_string());
        }
        // FITS stores signed words: an offset of 32768 makes unsigned samples of them.
        let unsigned = [("BZERO", "32768"), ("BSCALE", "1")].into_iter().filter(|_| is_deep);
        let colours = self.planes().map(|_| ("CTYPE3", "'RGB     '"));
        let cards = more.iter().copied().chain([("DATAMIN", "0"), ("DATAMAX", most)]).chain(unsigned).chain(colours);
        cards.for_each(|(key, value)| header += &card(key, value));
        // The kept cards may come from a compromised decoding process, so they are filtered again.
        let is_own = |key: &str| is_of_storage(key) || self.planes().is_some() && key == "CTYPE3";
        let kept = kept.chunks_exact(CARD).filter(|card| !is_own(key_of(card)));
        header.into_bytes().into_iter().chain(kept.flatten().copied()).collect()
    }

    /// Ends the header, and appends the samples.
    fn behind(&self, mut header: Vec<u8>) -> Vec<u8> {
        header.extend(b"END");
        header.resize(header.len().next_multiple_of(BLOCK), b' ');
        header.extend(self.samples);
        header
    }
}

/// A card. Numbers are right-aligned in their field, texts left-aligned.
fn card(key: &str, value: &str) -> String {
    let value = if value.starts_with('\'') { format!("{value:<20}") } else { format!("{value:>20}") };
    let card = format!("{key:<KEY$}= {value}");
    format!("{card:<CARD$}")
}
