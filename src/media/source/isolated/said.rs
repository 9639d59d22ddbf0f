//! The texts of a decoding process: each is about its input and short, and their number is limited.

use crate::sys::{without_middle, without_passwords};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// The most bytes of all texts, for each day of the run that has begun. Each text counts `BESIDE` bytes more than its
/// length.
const MAX_TEXTS: usize = 1 << 20;
const BESIDE: usize = 64;
const DAY: u64 = 24 * 60 * 60;

/// Bytes of all texts so far, of all decoding processes: of messages, and of details.
static BYTES: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(0)];

/// How many processes have a stderr that has not been read to its end.
static UNREAD: (Mutex<usize>, Condvar) = (Mutex::new(0), Condvar::new());

/// How long printing the rest of these stderrs may take at the end of the program.
const LAST: Duration = Duration::from_secs(1);

/// A stderr that has not been read to its end.
pub struct Unread(());

impl Unread {
    pub fn new() -> Self {
        *UNREAD.0.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        Unread(())
    }
}

impl Drop for Unread {
    fn drop(&mut self) {
        *UNREAD.0.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        UNREAD.1.notify_all();
    }
}

/// Waits until the stderr of all ended processes is printed.
pub fn wait_until_relayed() {
    let unread = UNREAD.0.lock().unwrap_or_else(PoisonError::into_inner);
    let _ = UNREAD.1.wait_timeout_while(unread, LAST, |unread| *unread > 0);
}

/// `text`, shortened, with the input's `name` if it lacks that, and without passwords, which FFmpeg repeats in URLs.
pub fn about(name: &str, text: &str) -> String {
    let text = without_passwords(&without_middle(text));
    if text.contains(name) { text } else { format!("{name}: {text}") }
}

/// As [`about`]; the first text beyond the limit becomes one that says so, and later ones `None`. Details have a
/// separate limit, so that they do not displace messages.
pub fn counted(name: &str, text: &str, is_detail: bool) -> Option<String> {
    static BEGIN: OnceLock<Instant> = OnceLock::new();
    let days = BEGIN.get_or_init(Instant::now).elapsed().as_secs() / DAY;
    let most = MAX_TEXTS.saturating_mul(usize::try_from(days).unwrap_or(usize::MAX).saturating_add(1));
    let text = about(name, text);
    let bytes = text.len() + BESIDE;
    // After the last text that fits, one more is counted, which says that nothing follows.
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
