//! The line of the progress bar on the terminal: one line at any width, also right after the terminal was resized.

use indicatif::TermLike;
use rustix::termios::tcgetwinsize;
use std::io::{Result, Write, stderr};
use std::sync::{Mutex, PoisonError};

/// Draws one line on stderr, cut to the width that the terminal has now. The cursor waits at its beginning: when a terminal that
/// becomes narrower breaks the line, all of it is below the cursor, and is erased from there.
#[derive(Debug, Default)]
pub struct BarLine {
    text: Mutex<String>,
}

/// The width of a terminal that reports none.
const USUAL: u16 = 80;

impl BarLine {
    fn change(&self, change: impl FnOnce(&mut String)) -> Result<()> {
        change(&mut self.text.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(())
    }
}

impl TermLike for BarLine {
    /// One column stays empty: behind a full line, terminals differ in where the cursor is.
    fn width(&self) -> u16 {
        let columns = tcgetwinsize(stderr()).map_or(0, |size| size.ws_col);
        if columns == 0 { USUAL } else { columns }.saturating_sub(1).max(1)
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
        let width = self.width().into();
        self.change(|line| {
            let shown: String = line.chars().take(width).collect();
            result = stderr().write_all(format!("\r\x1b[J{}\r", shown.trim_end()).as_bytes());
        })?;
        result
    }
}
