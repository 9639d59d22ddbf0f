//! What fits on a line of the terminal: messages on several lines, and names cut in the middle in the bar.

use histeq_media::sys::{printable, terminal_columns};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The columns of a terminal that reports none.
const USUAL: usize = 80;

/// The columns that a line on the terminal can fill.
pub fn columns() -> usize {
    usable(terminal_columns().unwrap_or(0))
}

/// One column stays empty: terminals differ in where the cursor is after a full line.
fn usable(columns: usize) -> usize {
    if columns == 0 { USUAL } else { columns }.saturating_sub(1).max(1)
}

/// `text` as it is printed: on a terminal, wrapped to its width; elsewhere unchanged, since readers of a log look for
/// whole lines.
pub fn shown(text: &str) -> String {
    let Some(columns) = terminal_columns().map(usable) else { return text.to_owned() };
    let lines: Vec<String> = printable(text).lines().map(|line| wrapped(line, columns)).collect();
    lines.join("\n")
}

/// The indentation of a line that continues the one above.
const INDENT: &str = "  ";

/// Wraps a line to `columns` columns: after semicolons and, where the text between two of them is longer than a line,
/// between words. A name after an arrow stays whole, on a line of its own if necessary.
fn wrapped(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let (text, name) = match text.rsplit_once(" -> ") {
        Some((text, name)) => (text, Some(format!("-> {name}"))),
        None => (text, None),
    };
    let room = columns.saturating_sub(INDENT.len());
    let parts = text.split_inclusive("; ").flat_map(|part| match part.trim_end().width() <= room {
        true => vec![part.trim_end()],
        false => part.trim_end().split(' ').collect(),
    });
    let mut lines = String::new();
    let mut width = 0;
    for part in parts.chain(name.as_deref()) {
        let more = width + usize::from(width > 0) + part.width();
        if width > 0 && more > columns {
            lines.push('\n');
            lines.push_str(INDENT);
            width = INDENT.len() + part.width();
        } else {
            lines.push_str(if width > 0 { " " } else { "" });
            width = more;
        }
        lines.push_str(part);
    }
    lines
}

/// The fewest columns that a name is shortened to.
const MIN_NAME: usize = 12;

/// `name` in this many columns: its beginning, an ellipsis, its end.
pub(super) fn cut(name: &str, room: usize) -> String {
    let room = room.max(MIN_NAME);
    if name.width() <= room {
        return name.to_owned();
    }
    // More room for the end, which has the extension.
    let before = begin(name.chars(), (room - 1) / 3);
    let behind = begin(name.chars().rev(), room - 1 - (room - 1) / 3);
    before.into_iter().chain(['…']).chain(behind.into_iter().rev()).collect()
}

/// The first letters that fit into `room` columns.
pub(super) fn begin(letters: impl Iterator<Item = char>, room: usize) -> Vec<char> {
    let mut width = 0;
    let fits = |letter: &char| {
        width += letter.width().unwrap_or(0);
        width <= room
    };
    letters.take_while(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_in_their_middle() {
        assert_eq!(cut("out.mp4", 12), "out.mp4");
        assert_eq!(cut("holiday/2026/dive-at-the-reef.mp4", 20), "holida…-the-reef.mp4");
        assert_eq!(cut("holiday/2026/dive-at-the-reef.mp4", 20).width(), 20);
        // Each letter takes two columns.
        let name = cut("日本の海と魚たちの動画ファイル.mp4", 20);
        assert!(name.width() <= 20 && name.ends_with(".mp4") && name.starts_with("日本の…"), "{name}");
        assert_eq!(cut("holiday/2026/dive-at-the-reef.mp4", 0).width(), MIN_NAME);
    }

    #[test]
    fn text_is_broken_behind_semicolons_and_between_words() {
        let text = "log (Canon Log 3, by its metadata); rather dark (brightened 12.1 times), flat (contrast raised \
                    1.4 times), a little haze, some colour cast, noise removed";
        let lines = wrapped(text, 79);
        assert!(lines.starts_with("log (Canon Log 3, by its metadata); rather dark"), "{lines}");
        assert!(lines.lines().count() == 2 && lines.lines().all(|line| line.width() <= 79), "{lines}");
        assert_eq!(lines.replace("\n  ", " "), text);
        assert_eq!(wrapped(text, 1000), text);
        let live = "60 frames in 9.01 s (6.7 fps) by cpu (avx512, 2 threads), 0 dropped; nothing to correct; latency \
                    from capture to equalized: median 2.5 ms, 95th percentile 8.6 ms";
        let lines: Vec<String> = wrapped(live, 79).lines().map(str::to_owned).collect();
        assert!(lines.len() == 3 && lines[2].starts_with("  latency from capture"), "{lines:?}");
        let long = "w".repeat(100);
        assert_eq!(wrapped(&format!("a {long} b"), 79), format!("a\n  {long}\n  b"));
    }

    #[test]
    fn the_name_of_what_was_made_is_whole_on_a_line() {
        let name = format!("Tauchgang in den Malediven {}.mp4", "am Riff ".repeat(9));
        let line = format!("60 frames in 1.25 s (48.0 fps), 752 kB -> {name}");
        assert_eq!(wrapped(&line, 79), format!("60 frames in 1.25 s (48.0 fps), 752 kB\n  -> {name}"));
        assert_eq!(wrapped("6 frames, 1 kB -> a.mkv", 79), "6 frames, 1 kB -> a.mkv");
        assert_eq!(wrapped("6 frames, 1 kB -> a.mkv", 15), "6 frames, 1 kB\n  -> a.mkv");
    }
}
