//! Live: camera modes, the engine that drops late frames, recordings, lost cameras and servers, the window.

// `--config`: a file of cameras, its changes, schedules.
mod cameras;
// Times of frames.
mod clock;
// Frames that are dropped.
mod engine;
// The choice of a camera's mode.
mod modes;
// `--output`: servers that are lost or stall.
mod outputs;
// `--segment`, `--keep`: recordings in segments.
mod recorder;
// `--record`.
mod recording;
// Several sources in one process.
mod several;
// Sound in sync with video.
mod sound;
// Messages about cameras.
mod trouble;
// The preview window.
mod window;
// Pages in a browser.
mod browser;
// Servers that are read from and written to.
mod network;

use crate::support::programs::program::{Dir, told};
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The timeout for everything on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A program that runs during a test, and is killed on drop.
pub struct Beside {
    child: Child,
    heard: Arc<Mutex<Heard>>,
    listener: Option<JoinHandle<()>>,
}

/// What a program has printed to stderr.
#[derive(Default)]
struct Heard {
    text: String,
    /// The frame count of each source by its number (0 for a single source), from JSON progress events, which are not
    /// in `text`.
    frames: BTreeMap<u64, u64>,
}

impl Heard {
    /// The frame count of the source with the fewest frames.
    fn fewest_frames(&self) -> u64 {
        self.frames.values().copied().min().unwrap_or(0)
    }
}

impl Beside {
    /// Starts a program. If its stderr is a pipe, a thread reads it.
    pub fn start(command: &mut Command) -> std::io::Result<Self> {
        let mut child = command.spawn()?;
        let heard = Arc::<Mutex<Heard>>::default();
        let listener = child.stderr.take().map(|stderr| {
            let heard = heard.clone();
            std::thread::spawn(move || listen(stderr, &heard))
        });
        Ok(Beside { child, heard, listener })
    }

    /// Starts the program under test.
    fn live(dir: &Dir, line: &str) -> Self {
        let mut command = without_display(dir.command(&format!("live --backend cpu --progress json {line}")));
        Beside::start(command.stderr(Stdio::piped())).expect("the program runs")
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("it is still there");
    }

    /// Sends SIGINT.
    fn interrupt(&self) {
        self.signal(Signal::INT);
    }

    /// What the program has printed so far.
    fn said(&self) -> String {
        self.heard.lock().expect("a listener without a fault").text.clone()
    }

    /// Waits until the program has printed `text`.
    #[track_caller]
    fn until_it_says(&self, text: &str) {
        self.until(text, |heard| heard.text.contains(text));
    }

    /// Waits until each source has this many more frames equalized, or up to half a second longer.
    #[track_caller]
    fn until_more_frames(&self, count: u64) {
        let before = self.heard.lock().expect("a listener without a fault").fewest_frames();
        self.until("more frames", |heard| heard.fewest_frames() >= before + count);
    }

    #[track_caller]
    fn until(&self, what: &str, is_so: impl Fn(&Heard) -> bool) {
        let begin = Instant::now();
        while !is_so(&self.heard.lock().expect("a listener without a fault")) {
            let heard = self.heard.lock().expect("a listener without a fault");
            assert!(
                begin.elapsed() < PATIENCE,
                "not yet: {what}; {:?} frames, and it said: {}",
                heard.frames,
                heard.text
            );
            drop(heard);
            pause(0.02);
        }
    }

    /// Sends SIGTERM and waits for the end.
    fn terminate(mut self) {
        self.signal(Signal::TERM);
        let begin = Instant::now();
        while self.child.try_wait().expect("a child").is_none() && begin.elapsed() < PATIENCE {
            pause(0.02);
        }
    }

    /// Waits for the end, and returns the exit code and all that was printed.
    fn end(mut self) -> (Option<i32>, String) {
        if let Some(listener) = self.listener.take() {
            listener.join().expect("a listener without a fault");
        }
        let code = self.child.wait().expect("it ends").code();
        (code, std::mem::take(&mut self.heard.lock().expect("a listener without a fault").text))
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        // Killing fails if the program has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn listen(stderr: impl Read, heard: &Mutex<Heard>) {
    for line in BufReader::new(stderr).split(b'\n') {
        let line = String::from_utf8_lossy(&line.expect("stderr can be read")).into_owned();
        let mut heard = heard.lock().expect("a test without a fault");
        let record = serde_json::from_str::<serde_json::Value>(&line).unwrap_or_default();
        if let Some(frames) = record["frame"].as_u64() {
            heard.frames.insert(record["source"].as_u64().unwrap_or(0), frames);
        }
        heard.text.extend(told(&line).map(|line| line + "\n"));
    }
}

/// Waits until a program listens on this port of 127.0.0.1, by UDP or TCP.
#[track_caller]
fn wait_for_listener(port: u16) {
    // Local addresses are in the second column, in hexadecimal; a listening TCP socket has the state 0A, UDP has 07.
    let listens = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        words.len() > 3 && words[1].ends_with(&format!(":{port:04X}")) && ["0A", "07"].contains(&words[3])
    };
    let begin = Instant::now();
    while !["tcp", "tcp6", "udp", "udp6"].iter().any(|protocol| {
        std::fs::read_to_string(format!("/proc/net/{protocol}")).unwrap_or_default().lines().any(listens)
    }) {
        assert!(begin.elapsed() < PATIENCE, "no program listens on port {port}");
        pause(0.02);
    }
}

/// Removes the variables of the developer's display from the environment.
fn without_display(mut command: Command) -> Command {
    for name in ["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET"] {
        command.env_remove(name);
    }
    command
}

fn pause(seconds: f64) {
    std::thread::sleep(Duration::from_secs_f64(seconds));
}

/// The number of frames in `file`, from the summary.
#[track_caller]
pub fn frames_counted(said: &str, file: &str) -> usize {
    // With several sources, the line begins with the source's name.
    let frames = |line: &str| line.split_once(&format!(" -> {file}"))?.0.rsplit(": ").next().map(str::to_owned);
    let count = |line: &str| frames(line)?.split(' ').next()?.parse().ok();
    said.lines().find_map(count).unwrap_or_else(|| panic!("nothing said of {file}:\n{said}"))
}
