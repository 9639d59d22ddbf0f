//! A parser and a writer of y4m streams, independent of the program's code.

use crate::support::media::textbook::Raw;

/// A y4m stream.
pub struct Stream {
    /// The header without its newline.
    pub header: String,
    /// The text after `FRAME` in each frame header.
    pub parameters: Vec<String>,
    pub video: Vec<u8>,
}

impl Stream {
    /// Parses a stream with frames of format `raw`.
    #[track_caller]
    pub fn parse(bytes: &[u8], raw: Raw) -> Self {
        let (header, mut rest) = line(bytes);
        assert!(header.starts_with("YUV4MPEG2 "), "the header is {header:?}");
        let mut stream = Stream { header, parameters: Vec::new(), video: Vec::new() };
        while !rest.is_empty() {
            let (head, behind) = line(rest);
            let parameters = head.strip_prefix("FRAME").unwrap_or_else(|| panic!("a frame header is {head:?}"));
            stream.parameters.push(parameters.to_owned());
            assert!(behind.len() >= raw.frame_bytes(), "a frame of {} bytes ({raw:?})", behind.len());
            let (frame, behind) = behind.split_at(raw.frame_bytes());
            stream.video.extend_from_slice(frame);
            rest = behind;
        }
        stream
    }

    /// The value of the header's field that begins with this letter.
    pub fn tag(&self, letter: char) -> Option<&str> {
        self.header.split(' ').skip(1).find_map(|word| word.strip_prefix(letter))
    }
}

/// Writes a stream of these frames.
pub fn stream(header: &str, raw: Raw, video: &[u8]) -> Vec<u8> {
    let mut bytes = format!("{header}\n").into_bytes();
    for frame in video.chunks(raw.frame_bytes()) {
        bytes.extend_from_slice(b"FRAME\n");
        bytes.extend_from_slice(frame);
    }
    bytes
}

fn line(bytes: &[u8]) -> (String, &[u8]) {
    let end = bytes.iter().position(|&byte| byte == b'\n').expect("a line end");
    (String::from_utf8_lossy(&bytes[..end]).into_owned(), &bytes[end + 1..])
}
