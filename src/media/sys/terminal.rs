//! Lines on stderr. It may be closed, or a terminal, which interprets control characters.

use std::borrow::Cow;
use std::fs::File;
use std::io::{IsTerminal, Write, stderr};
use std::os::fd::AsRawFd;
use std::sync::OnceLock;

/// Stderr, once libraries have another one.
static OWN: OnceLock<File> = OnceLock::new();

/// From now on, stderr has the program's own lines only: what libraries write there is lost, as libjxl and SVT-AV1 do.
/// Call it before the first thread is started.
///
/// # Errors
/// When the system has no room for another descriptor.
pub fn silence_libraries() -> std::io::Result<()> {
    let own = rustix::io::fcntl_dupfd_cloexec(stderr(), 3)?;
    rustix::stdio::dup2_stderr(&File::options().write(true).open("/dev/null")?)?;
    let _ = OWN.set(own.into());
    // A fault of the program is its own line, too.
    std::panic::set_hook(Box::new(|fault| print_text(&format!("{fault}\n"))));
    Ok(())
}

/// The number of stderr's descriptor, as far as it is the program's own.
pub fn own_stderr() -> i32 {
    OWN.get().map_or(2, AsRawFd::as_raw_fd)
}

/// Whether stderr is a terminal.
pub fn stderr_is_terminal() -> bool {
    OWN.get().map_or_else(|| stderr().is_terminal(), File::is_terminal)
}

/// Prints `text` and a line end on stderr, without control characters. If stderr is closed, the text is lost.
pub fn print_line(text: &str) {
    print_text(&format!("{text}\n"));
}

/// Prints `text` on stderr, without control characters. If stderr is closed, the text is lost.
pub fn print_text(text: &str) {
    // In one write, so that lines of other threads do not mix with it.
    let text = printable(text);
    let _ = match OWN.get() {
        Some(mut own) => own.write_all(text.as_bytes()),
        None => stderr().write_all(text.as_bytes()),
    };
}

/// `text` with control characters, and those that cannot be seen or turn others around, escaped, as in `\u{1b}`; line
/// ends and tabs stay.
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, |c, shown| shown.extend(c.escape_default()))
}

/// JSON with the same characters escaped, as in `\u001b`.
pub fn printable_json(text: &str) -> Cow<'_, str> {
    escaped(text, |c, shown| {
        c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| shown.push_str(&format!("\\u{unit:04x}")));
    })
}

fn escaped(text: &str, escape: impl Fn(char, &mut String)) -> Cow<'_, str> {
    let is_command = |c: char| c.is_control() && !matches!(c, '\n' | '\t') || is_unseen(c);
    if !text.contains(is_command) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_command(c) { escape(c, &mut shown) } else { shown.push(c) }
    }
    Cow::Owned(shown)
}

/// Whether a character takes no room, or changes the order or the lines of those around it.
fn is_unseen(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// The most bytes of a message.
const MAX_MESSAGE: usize = 2048;

/// `text`, without its middle if it is long: what it repeats may have megabytes.
pub fn without_middle(text: &str) -> Cow<'_, str> {
    if text.len() <= MAX_MESSAGE {
        return Cow::Borrowed(text);
    }
    let is_boundary = |at: &usize| text.is_char_boundary(*at);
    let begin = (0..=MAX_MESSAGE / 2).rev().find(is_boundary).unwrap_or(0);
    let end = (text.len() - MAX_MESSAGE / 4..).find(is_boundary).unwrap_or(text.len());
    let (begin, end) = (&text[..begin], &text[end..]);
    Cow::Owned(format!("{begin} [... {} bytes ...] {end}", text.len() - begin.len() - end.len()))
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
        let (short, long) = ("ü".repeat(1024), "ü".repeat(9999));
        assert_eq!(without_middle(&short), short);
        assert!(without_middle(&long).len() < 2000 && without_middle(&long).contains(" bytes "));
        assert_eq!(printable("Füße, 映画\n\tnext"), "Füße, 映画\n\tnext");
        assert_eq!(printable("a\u{202e}b\u{2066}\u{200b}\u{e0041}"), r"a\u{202e}b\u{2066}\u{200b}\u{e0041}");
        let (name, json) = ("a\u{202e}b\u{9b}\u{e0041}", r#""a\u202eb\u009b\udb40\udc41""#);
        assert_eq!(printable_json(&serde_json::to_string(name).expect("JSON")), json);
        assert_eq!(serde_json::from_str::<String>(json).expect("JSON"), name);
    }
}
