//! Patterns for names of numbered files (`in%05d.png`), in FFmpeg's syntax. Only the last part of a path is a pattern;
//! per cent signs in folders have no meaning.

use super::Name;
use std::ffi::OsStr;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;

/// The largest width of a number.
const MAX_DIGITS: usize = 99;

/// The range of the number in the bytes of a pattern (`%05d`), and its least number of digits.
pub fn number_pattern(name: impl AsRef<OsStr>) -> Option<(Range<usize>, usize)> {
    let name = name.as_ref().as_bytes();
    let file = split(name).0.len();
    (file..name.len()).filter(|&index| name[index] == b'%').find_map(|start| {
        let digits = name[start + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let end = start + 1 + digits;
        let width = number(&name[start + 1..end]).map_or(0, |width| usize::try_from(width).unwrap_or(usize::MAX));
        (name.get(end) == Some(&b'd') && width <= MAX_DIGITS).then_some((start..end + 1, width))
    })
}

/// The number that these digits are.
pub(crate) fn number(digits: &[u8]) -> Option<u64> {
    str::from_utf8(digits).ok()?.parse().ok()
}

/// A part of a pattern as file names have it: per cent signs that the user has doubled, as FFmpeg requires, become
/// single.
fn unescaped(part: &[u8]) -> Vec<u8> {
    let (mut bytes, mut rest) = (Vec::with_capacity(part.len()), part.iter().peekable());
    while let Some(&byte) = rest.next() {
        bytes.push(byte);
        if byte == b'%' {
            rest.next_if_eq(&&b'%');
        }
    }
    bytes
}

/// The file name with this number.
pub fn numbered(pattern: impl AsRef<OsStr>, number: u64) -> Name {
    let pattern = pattern.as_ref();
    let Some((place, width)) = number_pattern(pattern) else { return pattern.into() };
    let bytes = pattern.as_bytes();
    let (before, behind) = (unescaped(&bytes[..place.start]), unescaped(&bytes[place.end..]));
    Name::from_bytes([&before[..], format!("{number:0width$}").as_bytes(), &behind].concat())
}

/// The numbers of existing files, in order.
pub fn numbers_there(pattern: impl AsRef<OsStr>) -> Vec<u64> {
    let (folder, pattern) = split(pattern.as_ref().as_bytes());
    let folder = if folder.is_empty() { b".".to_vec() } else { unescaped(folder) };
    let Some((place, _)) = number_pattern(OsStr::from_bytes(pattern)) else { return Vec::new() };
    let (before, behind) = (unescaped(&pattern[..place.start]), unescaped(&pattern[place.end..]));
    let number = |name: &OsStr| -> Option<u64> {
        let number = number(name.as_bytes().strip_prefix(&before[..])?.strip_suffix(&behind[..])?)?;
        // The number has to give the same name: `7` does not match `%03d`.
        (numbered(OsStr::from_bytes(pattern), number) == *name).then_some(number)
    };
    let files = std::fs::read_dir(OsStr::from_bytes(&folder)).into_iter().flatten().flatten();
    let mut numbers: Vec<u64> = files.filter_map(|file| number(&file.file_name())).collect();
    numbers.sort_unstable();
    numbers
}

/// A name as the folders, with the last slash, and the file.
pub(crate) fn split(name: &[u8]) -> (&[u8], &[u8]) {
    name.split_at(name.iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pattern_gives_the_place_of_the_number() {
        assert_eq!(numbered("a%03d.png", 7), "a007.png");
        assert_eq!(numbered("a%d.png", 1234), "a1234.png");
        assert_eq!(numbered("plain.png", 7), "plain.png");
        assert_eq!(number_pattern("100%.png"), None);
        assert_eq!(number_pattern("20%d/a.png"), None);
        assert_eq!(number_pattern("a%999999d.png"), None);
    }

    #[test]
    fn only_names_of_the_pattern_count() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for name in ["a002.png", "a010.png", "a1000.png", "a7.png", "a008.jpg", "b009.png", "a+11.png"] {
            std::fs::write(folder.path().join(name), "").expect("a file");
        }
        let pattern = folder.path().join("a%03d.png").display().to_string();
        assert_eq!(numbers_there(&pattern), [2, 10, 1000]);
        std::fs::write(folder.path().join("50%_3.png"), "").expect("a file");
        let pattern = folder.path().join("50%%_%d.png").display().to_string();
        assert_eq!(numbers_there(&pattern), [3]);
        assert_eq!(numbered(&pattern, 3), *folder.path().join("50%_3.png").as_os_str());
    }
}
