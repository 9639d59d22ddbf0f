//! What fits on a line of the terminal: text in lines, and names cut in the middle.

use histeq_media::sys::{Name, one_line};
use rustix::termios::tcgetwinsize;
use std::io::{IsTerminal, stderr};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The columns of a terminal that reports none, and of lines of text that go elsewhere.
const USUAL: usize = 80;

/// The columns that a line on stderr can fill. One stays empty: behind a full line, terminals differ in where the
/// cursor is.
pub fn columns() -> usize {
    let columns = tcgetwinsize(stderr()).map_or(0, |size| size.ws_col.into());
    if columns == 0 { USUAL } else { columns }.saturating_sub(1).max(1)
}

/// `text` on as many lines as it takes with the usual columns: broken behind semicolons, and between words where what
/// stands between two of them is longer than a line.
pub fn wrapped(text: &str) -> String {
    let parts = text.split_inclusive("; ").flat_map(|part| match part.trim_end().width() < USUAL {
        true => vec![part.trim_end()],
        false => part.trim_end().split(' ').collect(),
    });
    let mut lines = String::new();
    let mut width = 0;
    for part in parts {
        let more = width + usize::from(width > 0) + part.width();
        if width > 0 && more >= USUAL {
            lines.push('\n');
            width = part.width();
        } else {
            lines.push_str(if width > 0 { " " } else { "" });
            width = more;
        }
        lines.push_str(part);
    }
    lines
}

/// Two texts on a line, or on one each where they do not fit.
pub fn in_a_line_or_two(first: &str, second: &str) -> String {
    let between = if first.width() + 1 + second.width() < USUAL { " " } else { "\n" };
    format!("{first}{between}{}", wrapped(second))
}

/// `before` and a name behind it; on a terminal, of which it would take a second line, the name is cut in its middle.
pub fn with_name(before: &str, name: &Name) -> String {
    let room = if stderr().is_terminal() { columns().saturating_sub(before.width()) } else { usize::MAX };
    format!("{before}{}", cut(&one_line(&name.to_string()), room))
}

/// The shortest that a name is cut to.
const SHORTEST: usize = 12;

/// `name` in this many columns: its beginning and its end.
fn cut(name: &str, room: usize) -> String {
    let room = room.max(SHORTEST);
    if name.width() <= room {
        return name.to_owned();
    }
    let fitting = |letters: &mut dyn Iterator<Item = char>, room: usize| -> Vec<char> {
        let mut width = 0;
        let fits = |letter: &char| {
            width += letter.width().unwrap_or(0);
            width <= room
        };
        letters.take_while(fits).collect()
    };
    // The end has the extension.
    let before = fitting(&mut name.chars(), (room - 1) / 3);
    let behind = fitting(&mut name.chars().rev(), room - 1 - (room - 1) / 3);
    before.into_iter().chain(['…']).chain(behind.into_iter().rev()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_in_their_middle() {
        assert_eq!(cut("out.mp4", 12), "out.mp4");
        assert_eq!(cut("holiday/2026/dive-at-the-reef.mp4", 20), "holida…-the-reef.mp4");
        assert_eq!(cut("holiday/2026/dive-at-the-reef.mp4", 20).width(), 20);
        // Letters of two columns.
        let name = cut("日本の海と魚たちの動画ファイル.mp4", 20);
        assert!(name.width() <= 20 && name.ends_with(".mp4") && name.starts_with("日本の…"), "{name}");
        assert_eq!(cut("holiday/2026/dive-at-the-reef.mp4", 0).width(), SHORTEST);
    }

    #[test]
    fn text_is_broken_behind_semicolons_and_between_words() {
        let text = "log (Canon Log 3, by its metadata); rather dark (exposed 12.1 times), flat (contrast 1.4 times), \
                    a little haze (0.2), some colour cast (0.4), noise (1.0)";
        let lines = wrapped(text);
        assert!(lines.starts_with("log (Canon Log 3, by its metadata); rather dark"), "{lines}");
        assert!(lines.lines().count() == 2 && lines.lines().all(|line| line.width() < USUAL), "{lines}");
        assert_eq!(lines.replace('\n', " "), text);
        let live = "60 frames in 9.01 s (6.7 fps) by cpu (avx512, 2 threads), 0 dropped; nothing to correct; latency \
                    from capture to equalized: median 2.5 ms, 95th percentile 8.6 ms";
        let lines: Vec<String> = wrapped(live).lines().map(str::to_owned).collect();
        assert!(lines.len() == 3 && lines[2].starts_with("latency from capture"), "{lines:?}");
        let long = "w".repeat(100);
        assert_eq!(wrapped(&format!("a {long} b")), format!("a\n{long}\nb"));
    }
}
