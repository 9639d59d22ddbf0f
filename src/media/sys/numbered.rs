//! Patterns for names of numbered files (`in%05d.png`), in FFmpeg's syntax. Only the last part of a path is a pattern;
//! per cent signs in folders have no meaning.

use std::ops::Range;

/// The largest width of a number.
const MOST_DIGITS: usize = 99;

/// The place of the number in a pattern (`%05d`), and its least number of digits.
pub fn number_pattern(name: &str) -> Option<(Range<usize>, usize)> {
    let file = name.rfind('/').map_or(0, |slash| slash + 1);
    name[file..].match_indices('%').map(|(at, _)| file + at).find_map(|start| {
        let digits = name[start + 1..].bytes().take_while(u8::is_ascii_digit).count();
        let end = start + 1 + digits;
        let width = name[start + 1..end].parse().unwrap_or(0);
        (name[end..].starts_with('d') && width <= MOST_DIGITS).then_some((start..end + 1, width))
    })
}

/// A part of a pattern as in file names: the user may have doubled per cent signs, as FFmpeg requires it.
fn unescaped(part: &str) -> String {
    part.replace("%%", "%")
}

/// The file name with this number.
pub fn numbered(pattern: &str, number: u64) -> String {
    let Some((place, width)) = number_pattern(pattern) else { return pattern.to_owned() };
    format!("{}{number:0width$}{}", unescaped(&pattern[..place.start]), unescaped(&pattern[place.end..]))
}

/// The numbers of existing files, in order.
pub fn numbers_there(pattern: &str) -> Vec<u64> {
    let (folder, pattern) = pattern.rsplit_once('/').map_or((".", pattern), |(folder, file)| (folder, file));
    let folder = if folder.is_empty() { "/".to_owned() } else { unescaped(folder) };
    let Some((place, _)) = number_pattern(pattern) else { return Vec::new() };
    let (front, back) = (unescaped(&pattern[..place.start]), unescaped(&pattern[place.end..]));
    let number = |name: &str| -> Option<u64> {
        let number = name.strip_prefix(&front)?.strip_suffix(&back)?.parse().ok()?;
        // `7` does not match `%03d`.
        (numbered(pattern, number) == name).then_some(number)
    };
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut numbers: Vec<u64> = files.filter_map(|file| number(file.file_name().to_str()?)).collect();
    numbers.sort_unstable();
    numbers
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
        assert_eq!(numbered(&pattern, 3), folder.path().join("50%_3.png").display().to_string());
    }
}
