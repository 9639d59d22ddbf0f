//! Lines on stderr, which may be closed, a full pipe, or a terminal that interprets control characters.

use super::give_up::stderr_has_events;
use super::limit::no_thread;
use rustix::termios::tcgetwinsize;
use std::borrow::Cow;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{IsTerminal, Write, stderr};
use std::os::fd::AsRawFd;
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::Builder;
use std::time::Duration;

/// The program's own copy of stderr, once stderr itself leads to /dev/null.
static OWN: OnceLock<File> = OnceLock::new();

/// From now on, stderr has the program's own lines only: what libraries such as libjxl and SVT-AV1 write there is
/// discarded. Call it before the first thread is started.
///
/// # Errors
/// When the system has no room for another descriptor.
pub fn silence_libraries() -> std::io::Result<()> {
    let copy = rustix::io::fcntl_dupfd_cloexec(stderr(), 3)?;
    rustix::stdio::dup2_stderr(&File::options().write(true).open("/dev/null")?)?;
    let _ = OWN.set(copy.into());
    // The message of a panic is a line of the program, too.
    std::panic::set_hook(Box::new(|fault| print_text(&format!("{fault}\n"))));
    Ok(())
}

/// The number of the descriptor for the program's own lines on stderr.
pub fn own_stderr() -> i32 {
    OWN.get().map_or(2, AsRawFd::as_raw_fd)
}

/// Whether stderr is a terminal.
pub fn stderr_is_terminal() -> bool {
    OWN.get().map_or_else(|| stderr().is_terminal(), File::is_terminal)
}

/// The columns of the terminal on stderr, 0 if it reports none; `None` if stderr is no terminal.
pub fn terminal_columns() -> Option<usize> {
    let size = match OWN.get() {
        Some(terminal) => tcgetwinsize(terminal),
        None => tcgetwinsize(stderr()),
    };
    size.ok().map(|size| size.ws_col.into())
}

/// Prints `text` and a line end on stderr, without control characters. If stderr is closed, the text is lost.
pub fn print_line(text: &str) {
    print_text(&format!("{text}\n"));
}

/// Prints `text` on stderr, without control characters. If stderr is closed, the text is lost.
pub fn print_text(text: &str) {
    let text = without_codes(text);
    let text = printable(&text);
    if !QUEUE.take(&text) {
        write(&text);
    }
}

/// Writes `text` on stderr.
fn write(text: &str) {
    // In one write, so that lines of other threads do not mix with it.
    let _ = match OWN.get() {
        Some(mut terminal) => terminal.write_all(text.as_bytes()),
        None => stderr().write_all(text.as_bytes()),
    };
}

/// From now on, a thread of its own writes to stderr, so that a full pipe holds up no other thread: messages beyond
/// a thousand that wait are dropped and counted. On a terminal nothing changes, since the progress bar is drawn there.
///
/// # Errors
/// When no thread can be started.
pub fn print_without_waiting() -> anyhow::Result<()> {
    if stderr_is_terminal() {
        return Ok(());
    }
    let print = || QUEUE.pass_on(write);
    Builder::new().name("messages".to_owned()).spawn(print).map_err(|error| no_thread(&error))?;
    QUEUE.locked().is_open = true;
    Ok(())
}

/// Waits until all that was printed is written, for a second at most.
pub fn wait_until_printed() {
    QUEUE.wait_until_empty(LAST);
}

/// The most messages that wait to be written.
const MAX_WAITING: usize = 1000;

/// How long writing the last texts may take.
const LAST: Duration = Duration::from_secs(1);

/// Messages that wait to be written.
static QUEUE: Queue = Queue::new();

/// Texts that one thread adds, and another one writes, in this order.
struct Queue {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

struct Waiting {
    /// Whether the queue accepts texts.
    is_open: bool,
    texts: VecDeque<String>,
    /// How many texts after these were lost.
    lost: u64,
    /// Whether a text is being written.
    is_writing: bool,
}

impl Waiting {
    /// The next text; after the last one, a text that says how many were lost.
    fn next(&mut self) -> Option<String> {
        self.texts.pop_front().or_else(|| match std::mem::take(&mut self.lost) {
            0 => None,
            1 => Some(lost_line("1 message was not read, and is lost")),
            lost => Some(lost_line(&format!("{lost} messages were not read, and are lost"))),
        })
    }
}

/// A warning in the format of stderr.
fn lost_line(message: &str) -> String {
    match stderr_has_events() {
        true => format!("{{\"event\":\"warning\",\"message\":\"{message}\"}}\n"),
        false => format!("histeq-video: warning: {message}\n"),
    }
}

impl Queue {
    const fn new() -> Self {
        let waiting = Waiting { is_open: false, texts: VecDeque::new(), lost: 0, is_writing: false };
        Queue { waiting: Mutex::new(waiting), changed: Condvar::new() }
    }

    fn locked(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Accepts a text, or counts it as lost; `false` if the queue is not open.
    fn take(&self, text: &str) -> bool {
        let mut waiting = self.locked();
        if !waiting.is_open {
            return false;
        }
        // After a lost text, all are lost until their number is written, so that lines stay in order.
        if waiting.lost > 0 || waiting.texts.len() >= MAX_WAITING {
            waiting.lost += 1;
        } else {
            waiting.texts.push_back(text.to_owned());
            self.changed.notify_all();
        }
        true
    }

    /// Passes all texts on to `write`, which may wait. Never returns.
    fn pass_on(&self, write: impl Fn(&str)) {
        let mut waiting = self.locked();
        loop {
            let Some(text) = waiting.next() else {
                waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            waiting.is_writing = true;
            drop(waiting);
            write(&text);
            waiting = self.locked();
            waiting.is_writing = false;
            self.changed.notify_all();
        }
    }

    /// Waits until all is written, for `most` at most.
    fn wait_until_empty(&self, most: Duration) {
        let is_busy = |waiting: &mut Waiting| waiting.is_writing || waiting.lost > 0 || !waiting.texts.is_empty();
        // Texts that still wait after `most` are lost.
        drop(self.changed.wait_timeout_while(self.locked(), most, is_busy));
    }
}

/// `text` with control characters, invisible ones, and those that change the order of text escaped, as in `\u{1b}`;
/// line ends and tabs stay.
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, |c, shown| shown.extend(c.escape_default()))
}

/// `text`, which is JSON, with the same characters escaped, as in `\u001b`.
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

/// Whether a character is invisible, or changes the order or the lines of those around it.
fn is_unseen(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// `text` without the codes that Rust adds to the system's error messages: ` (os error 2)`.
pub fn without_codes(text: &str) -> Cow<'_, str> {
    const CODE: &str = " (os error ";
    let mut parts = text.split(CODE);
    let mut shown = Cow::Borrowed(parts.next().unwrap_or_default());
    for part in parts {
        let code = part.split_once(')').filter(|(code, _)| code.bytes().all(|byte| byte.is_ascii_digit()));
        let shown = shown.to_mut();
        match code {
            Some((_, rest)) => shown.push_str(rest),
            None => shown.extend([CODE, part]),
        }
    }
    shown
}

/// The most bytes of a message.
const MAX_MESSAGE: usize = 2048;

/// `text`, without its middle if it is long: texts may repeat megabytes of an input.
pub fn without_middle(text: &str) -> Cow<'_, str> {
    if text.len() <= MAX_MESSAGE {
        return Cow::Borrowed(text);
    }
    let is_boundary = |index: &usize| text.is_char_boundary(*index);
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
    use std::sync::mpsc::channel;

    #[test]
    fn what_nobody_reads_is_counted_and_nobody_waits_for_it() {
        static QUEUE: Queue = Queue::new();
        assert!(!QUEUE.take("before"), "it is not open");
        QUEUE.locked().is_open = true;
        let (written, read) = channel();
        let (go_on, may_write) = channel::<()>();
        std::thread::spawn(move || {
            QUEUE.pass_on(|text| {
                // This waits as a write to a full pipe does.
                let _ = may_write.recv();
                let _ = written.send(text.to_owned());
            });
        });
        let total = MAX_WAITING + 500;
        (0..total).for_each(|number| assert!(QUEUE.take(&format!("{number}\n"))));
        QUEUE.wait_until_empty(Duration::from_millis(10));
        assert!(read.try_recv().is_err(), "nothing is read yet");
        drop(go_on);
        let texts: Vec<String> =
            std::iter::from_fn(|| read.recv().ok().filter(|text| !text.contains("lost"))).collect();
        let in_order = texts.iter().enumerate().all(|(number, text)| *text == format!("{number}\n"));
        // One text more than can wait, if the thread had taken one to write.
        assert!(in_order && (MAX_WAITING..=MAX_WAITING + 1).contains(&texts.len()), "{} texts", texts.len());
        QUEUE.wait_until_empty(Duration::from_secs(60));
        assert!(QUEUE.take("after\n"));
        assert_eq!(read.recv().as_deref(), Ok("after\n"));
    }

    #[test]
    fn how_many_are_lost_is_told_behind_what_was_kept() {
        let mut waiting = Queue::new().waiting.into_inner().expect("a lock that nobody holds");
        waiting.texts.push_back("kept\n".to_owned());
        waiting.lost = 3;
        let said: Vec<String> = std::iter::from_fn(|| waiting.next()).collect();
        assert_eq!(said[0], "kept\n");
        assert!(said.len() == 2 && said[1].contains("3 messages were not read"), "{said:?}");
    }

    #[test]
    fn codes_of_errors_are_no_part_of_a_message() {
        let error = std::io::Error::from_raw_os_error(2).to_string();
        assert_eq!(error, "No such file or directory (os error 2)");
        let text = format!("a: {error}; b (os error in it): {error} (name another)");
        let shown = "a: No such file or directory; b (os error in it): No such file or directory (name another)";
        assert_eq!(without_codes(&text), shown);
        assert!(matches!(without_codes("as it is"), Cow::Borrowed("as it is")));
    }

    #[test]
    fn line_ends_and_tabs_are_the_control_characters_that_stay() {
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
