//! Lines on stderr. It may be closed, or a terminal, which interprets control characters.

use std::borrow::Cow;
use std::io::Write;

/// Prints `text` and a line end on stderr, without control characters. If stderr is closed, the text is lost.
pub fn print_line(text: &str) {
    print_text(&format!("{text}\n"));
}

/// Prints `text` on stderr, without control characters. If stderr is closed, the text is lost.
pub fn print_text(text: &str) {
    // In one write, so that lines of other threads do not mix with it.
    let _ = std::io::stderr().write_all(printable(text).as_bytes());
}

/// `text` with control characters escaped, as in `\u{1b}`; line ends and tabs stay.
pub fn printable(text: &str) -> Cow<'_, str> {
    let is_command = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    if !text.contains(is_command) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_command(c) { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    Cow::Owned(shown)
}

/// `text` with line ends escaped, which the names of files may have.
pub fn one_line(text: &str) -> Cow<'_, str> {
    if text.contains('\n') { Cow::Owned(text.replace('\n', "\\n")) } else { Cow::Borrowed(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_control_characters_only_line_ends_and_tabs_stay() {
        assert_eq!(printable("\x1b[2Ja\r\u{7f}\u{9b}b"), "\\u{1b}[2Ja\\r\\u{7f}\\u{9b}b");
        assert_eq!(printable("Füße, 映画\n\tnext"), "Füße, 映画\n\tnext");
    }
}
