//! The line of the progress bar on the terminal: one line at any width, also right after the terminal was resized.

use super::width::{begin, columns};
use indicatif::TermLike;
use std::io::{Result, Write, stderr};
use std::sync::{Mutex, PoisonError};
use unicode_width::UnicodeWidthStr;

/// Draws one line on stderr, cut to the width that the terminal has now. The cursor stays at its beginning: if the
/// terminal becomes narrower and wraps the line, all of it follows the cursor, and can be erased from there.
#[derive(Debug, Default)]
pub struct BarLine {
    text: Mutex<String>,
}

impl BarLine {
    fn change(&self, change: impl FnOnce(&mut String)) -> Result<()> {
        change(&mut self.text.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(())
    }
}

impl TermLike for BarLine {
    fn width(&self) -> u16 {
        columns().try_into().unwrap_or(u16::MAX)
    }

    fn move_cursor_up(&self, _: usize) -> Result<()> {
        Ok(())
    }

    fn move_cursor_down(&self, _: usize) -> Result<()> {
        Ok(())
    }

    fn move_cursor_right(&self, _: usize) -> Result<()> {
        Ok(())
    }

    fn move_cursor_left(&self, _: usize) -> Result<()> {
        Ok(())
    }

    fn write_line(&self, text: &str) -> Result<()> {
        self.write_str(text)
    }

    fn write_str(&self, text: &str) -> Result<()> {
        self.change(|line| line.push_str(text.trim_matches('\r')))
    }

    fn clear_line(&self) -> Result<()> {
        self.change(String::clear)
    }

    fn flush(&self) -> Result<()> {
        let mut result = Ok(());
        let width = columns();
        self.change(|line| {
            // An ellipsis shows that the line is truncated.
            let is_cut = line.trim_end().width() > width;
            let room = width - usize::from(is_cut);
            let shown: String = begin(line.chars(), room).into_iter().chain(is_cut.then_some('…')).collect();
            result = stderr().write_all(format!("\r\x1b[J{}\r", shown.trim_end()).as_bytes());
        })?;
        result
    }
}
