//! Patterns of lines: `#` is a number, `…` is text without digits, everything else is literal.

/// The numbers at the `#` of `pattern`; `None` if `text` does not match.
pub fn figures<'a>(pattern: &str, text: &'a str) -> Option<Vec<&'a str>> {
    let Some(first) = pattern.chars().next() else {
        return text.is_empty().then(Vec::new);
    };
    let rest = &pattern[first.len_utf8()..];
    match first {
        '#' => {
            let (0, number) = numbers(text).next()? else { return None };
            let mut found = figures(rest, &text[number.len()..])?;
            found.insert(0, number);
            Some(found)
        }
        '…' => {
            let end = text.find(|c: char| c.is_ascii_digit()).unwrap_or(text.len());
            let ends = text[..end].char_indices().map(|(index, _)| index).chain([end]);
            ends.into_iter().find_map(|end| figures(rest, &text[end..]))
        }
        _ => figures(rest, text.strip_prefix(first)?),
    }
}

/// The numbers in a text, with their positions: digits with commas between thousands, and a fraction.
pub fn numbers(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut begin = 0;
    std::iter::from_fn(move || {
        let start = begin + text[begin..].find(|c: char| c.is_ascii_digit())?;
        let tail = &text[start..];
        let is_part = |c: char| c.is_ascii_digit() || c == ',' || c == '.';
        let word = &tail[..tail.find(|c| !is_part(c)).unwrap_or(tail.len())];
        // A second point, or a comma without three digits after it, does not belong to the number.
        let mut length = 0;
        let mut has_point = false;
        for part in word.split_inclusive([',', '.']) {
            let digits = part.trim_end_matches([',', '.']);
            length += digits.len();
            let next = &word[word.len().min(length + 1)..];
            let next_digits = next.find(|c: char| !c.is_ascii_digit()).unwrap_or(next.len());
            let goes_on = match word.as_bytes().get(length) {
                Some(b'.') => !has_point && next_digits > 0,
                Some(b',') => !has_point && next_digits == 3,
                _ => false,
            };
            has_point |= word.as_bytes().get(length) == Some(&b'.');
            if !goes_on {
                break;
            }
            length += 1;
        }
        begin = start + length;
        Some((start, &text[start..begin]))
    })
}

#[test]
fn a_number_has_thousands_and_a_fraction() {
    let found = |text| numbers(text).map(|(_, number)| number).collect::<Vec<_>>();
    assert_eq!(found("4.5 to 4.9 µs, 1,729 MB/s, 1,2."), ["4.5", "4.9", "1,729", "1", "2"]);
    assert_eq!(found("0.2.0 on an H200, 5120x2880"), ["0.2", "0", "200", "5120", "2880"]);
}

#[test]
fn a_pattern_is_the_whole_line() {
    let text = "1080p, 2 cores | 1.03 times the wall time, 24.3 ms";
    assert_eq!(figures("1080p, 2 cores | # times…, # ms", text), Some(vec!["1.03", "24.3"]));
    assert_eq!(figures("1080p, 3 cores | # times…, # ms", text), None);
    assert_eq!(figures("1080p… | # times…, # ms", text), None, "the text left out has a number");
    assert_eq!(figures("1080p, 2 cores | # times…", text), None, "the line goes on");
}
