//! Real drivers: cameras that send frames, fail, disappear and come back, and virtual cameras. `tests/media/cameras.sh`
//! starts a machine with all of them; elsewhere, tests of missing drivers are skipped.

// The list of cameras.
mod devices;
// Faults that a driver injects.
mod faults;
// Helper: what is in a recording.
mod film;
// Pixel formats, sizes, rates.
mod formats;
// Virtual cameras.
mod loopback;
// How recordings end.
mod recording;
// Microphones.
mod sound;
// A webcam that is pulled out.
mod usb;
// Helper: an emulated USB webcam.
mod usb_webcam;

pub use crate::media::live::frames_counted;
use crate::support::programs::program::{Dir, Run, told};
use crate::support::programs::running::Running;
use crate::support::skip::skip;
use rustix::process::Signal;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{ChildStderr, Stdio};
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

/// The timeout of everything that a test waits for. In an emulated machine, starting a program takes seconds.
const PATIENCE: Duration = Duration::from_secs(180);

/// Options of all runs: no window, small frames, few frames per second, a fast encoder.
const SMALL: &str = "--backend cpu --no-preview --size 320x180 --rate 10 --encoder ffv1";

/// The device nodes in /dev whose driver name satisfies `is_it`, sorted.
fn nodes(is_it: impl Fn(&str) -> bool) -> Vec<String> {
    let entries = std::fs::read_dir("/sys/class/video4linux").into_iter().flatten().flatten();
    let name = |path: &Path| std::fs::read_to_string(path.join("name")).unwrap_or_default();
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| is_it(name(path).trim())).collect();
    found.sort_by_key(|path| (path.as_os_str().len(), path.clone()));
    let node = |path: &PathBuf| format!("/dev/{}", path.file_name().unwrap_or_default().to_string_lossy());
    found.iter().map(node).collect()
}

/// A camera of the kernel's test driver, reserved for one test at a time.
struct Vivid(String);

static TAKEN: (Mutex<Vec<String>>, Condvar) = (Mutex::new(Vec::new()), Condvar::new());

impl Vivid {
    /// Waits for a free camera and reserves it. On a machine without one: `None`, and a note.
    fn take() -> Option<Self> {
        Vivid::take_one_of(Vivid::all())
    }

    fn all() -> Vec<String> {
        nodes(|name| name.starts_with("vivid-") && name.ends_with("-vid-cap"))
    }

    fn take_one_of(all: Vec<String>) -> Option<Self> {
        if all.is_empty() {
            skip("vivid", "the kernel's test camera is not loaded (sudo modprobe vivid)");
            return None;
        }
        let mut taken = TAKEN.0.lock().expect("no test panics in here");
        loop {
            if let Some(free) = all.iter().find(|node| !taken.contains(node)) {
                taken.push(free.clone());
                return Some(Vivid(free.clone()));
            }
            taken = TAKEN.1.wait(taken).expect("no test panics in here");
        }
    }

    /// Sets controls of the camera, or presses its buttons.
    #[track_caller]
    fn set(&self, controls: &str) {
        self.try_to_set(controls).exits_with(0);
    }

    fn try_to_set(&self, controls: &str) -> Run {
        let line = format!("-d {} -c {controls}", self.0);
        Run::from_command(&mut Dir::new().other_command("v4l2-ctl", &line), &line)
    }
}

impl Drop for Vivid {
    fn drop(&mut self) {
        // The next test expects these values. The call fails after a test that has left the camera without a driver.
        self.try_to_set("osd_text_mode=0,percentage_of_dropped_buffers=0");
        TAKEN.0.lock().expect("no test panics in here").retain(|node| *node != self.0);
        TAKEN.1.notify_all();
    }
}

/// A running `live`, with all that it has printed except its progress reports.
struct Live {
    running: Running,
    stderr: BufReader<ChildStderr>,
    said: String,
    /// The number of frames in the last progress report.
    frames: u64,
}

impl Live {
    fn start(dir: &Dir, line: &str) -> Self {
        let mut command = dir.command(&format!("live --progress json -v {line}"));
        let mut running = Running::start(command.stderr(Stdio::piped()));
        let stderr = BufReader::new(running.child().stderr.take().expect("a pipe"));
        Live { running, stderr, said: String::new(), frames: 0 }
    }

    /// Reads the program's stderr until `text` has been printed.
    #[track_caller]
    fn wait_for(&mut self, text: &str) {
        self.wait_until(text, |live| live.said.contains(text));
    }

    /// Waits until `more` further frames have been recorded.
    #[track_caller]
    fn wait_for_frames(&mut self, more: u64) {
        let aim = self.frames + more;
        self.wait_until(&format!("{aim} frames"), |live| live.frames >= aim);
    }

    #[track_caller]
    fn wait_until(&mut self, what: &str, is_it: impl Fn(&Self) -> bool) {
        let begin = Instant::now();
        while !is_it(self) {
            // The program reports progress each second, so reading a line takes a second at most.
            let goes_on = self.read_line() && begin.elapsed() < PATIENCE;
            assert!(goes_on, "no sign of {what} after {} frames:\n{}", self.frames, self.said);
        }
    }

    fn read_line(&mut self) -> bool {
        let mut line = String::new();
        let count = self.stderr.read_line(&mut line).expect("stderr can be read");
        let report: serde_json::Value = serde_json::from_str(&line).unwrap_or_default();
        self.frames = report["frame"].as_u64().unwrap_or(self.frames);
        self.said.extend(told(line.trim_end()).map(|line| line + "\n"));
        count > 0
    }

    /// Sends a signal and waits for the end. Returns what `end` returns.
    fn end_by(self, signal: Signal) -> (Option<i32>, String) {
        self.running.signal(signal);
        self.end()
    }

    /// Waits for the end, and returns the exit code and all that was printed.
    fn end(mut self) -> (Option<i32>, String) {
        while self.read_line() {}
        (self.running.ends_within(PATIENCE), self.said)
    }
}
