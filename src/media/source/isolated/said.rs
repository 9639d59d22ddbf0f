//! What a decoding process says in words: it is about its input, it is short, and there is not much of it.

use crate::sys::without_middle;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// The most bytes of all texts of a run, and for each of its days; a text counts for some more than it has.
const MAX_TEXTS: usize = 1 << 20;
const BESIDE: usize = 64;
const DAY: u64 = 24 * 60 * 60;

/// Bytes of all texts so far, of all decoding processes: of messages, and of details.
static BYTES: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(0)];

/// A text about the input `name`, which is in it.
pub fn about(name: &str, text: &str) -> String {
    let text = without_middle(text);
    if text.contains(name) { text.into_owned() } else { format!("{name}: {text}") }
}

/// As [`about`]; `None` where processes have said as much as they may, and once that they have. Details do not take the
/// room of what is more important.
pub fn counted(name: &str, text: &str, is_detail: bool) -> Option<String> {
    static BEGIN: OnceLock<Instant> = OnceLock::new();
    let days = BEGIN.get_or_init(Instant::now).elapsed().as_secs() / DAY;
    let most = MAX_TEXTS.saturating_mul(usize::try_from(days).unwrap_or(usize::MAX).saturating_add(1));
    let text = about(name, text);
    let bytes = text.len() + BESIDE;
    // Behind the last text that fits, one more is counted: that nothing follows.
    let count = |before| (before <= most).then_some(before + bytes);
    match BYTES[usize::from(is_detail)].fetch_update(Ordering::Relaxed, Ordering::Relaxed, count) {
        Ok(before) if before + bytes <= most => Some(text),
        Ok(_) => Some(format!("{name}: its decoder says more than is shown in a day")),
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_short_and_about_its_input() {
        assert_eq!(about("in.mkv", "frame 3: damaged"), "in.mkv: frame 3: damaged");
        assert_eq!(about("in.mkv", "in.mkv: frame 3: damaged"), "in.mkv: frame 3: damaged");
        assert!(about("in.mkv", &"ü".repeat(9999)).len() < 2100);
    }
}
