//! A running program: tests can send it signals, and it is killed when its test ends.
#![allow(dead_code, reason = "no test binary uses all of it")]

use rustix::process::{Pid, Signal, kill_process};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// The timeout for everything on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runnable processes per core of this machine, at least one.
pub fn load() -> f64 {
    let averages = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let runnable: f64 = averages.split(' ').next().and_then(|average| average.parse().ok()).unwrap_or(1.0);
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    (runnable / cores as f64).max(1.0)
}

/// Scales `limit`, the maximum duration on an idle machine, by the load of this machine.
pub fn under_load(limit: Duration) -> Duration {
    limit.mul_f64(load())
}

/// A process that another process has started.
pub struct Other(u32);

impl Other {
    pub fn signal(&self, signal: Signal) {
        let id = i32::try_from(self.0).ok().and_then(Pid::from_raw).expect("a process number");
        kill_process(id, signal).expect("a process that takes signals");
    }

    pub fn id(&self) -> u32 {
        self.0
    }

    /// The command line of the process, with a space after each word.
    pub fn line(&self) -> String {
        std::fs::read_to_string(format!("/proc/{}/cmdline", self.0)).unwrap_or_default().replace('\0', " ")
    }
}

/// A running program, which is killed when it is dropped.
pub struct Running(Child);

impl Running {
    pub fn start(command: &mut Command) -> Self {
        Running(command.spawn().unwrap_or_else(|error| panic!("{command:?} cannot be run: {error}")))
    }

    /// The child process, with the test's ends of its pipes.
    pub fn child(&mut self) -> &mut Child {
        &mut self.0
    }

    /// The process ID.
    pub fn id(&self) -> u32 {
        self.0.id()
    }

    pub fn signal(&self, signal: Signal) {
        Other(self.0.id()).signal(signal);
    }

    /// The processes that the program has started, except the template that decoding processes are forked from.
    pub fn children(&self) -> Vec<Other> {
        let id = self.0.id();
        let list = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
        let name = |id: &u32| std::fs::read_to_string(format!("/proc/{id}/comm")).unwrap_or_default();
        let children = list.split_whitespace().filter_map(|id| id.parse().ok());
        children.filter(|id| name(id).trim_end() != "template").map(Other).collect()
    }

    /// Waits until the program has a handler for SIGINT.
    #[track_caller]
    pub fn wait_until_it_listens(&self) {
        let begin = Instant::now();
        while !self.has(Signal::INT, "SigCgt:") {
            assert!(begin.elapsed() < PATIENCE, "it never listens");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits until the program handles SIGINT and ignores `signal`.
    #[track_caller]
    pub fn wait_until_it_ignores(&self, signal: Signal) {
        self.wait_until_it_listens();
        let begin = Instant::now();
        while !self.has(signal, "SigIgn:") {
            assert!(begin.elapsed() < PATIENCE, "it never ignores {signal:?}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Is `signal` in the mask called `list` in `/proc/PID/status`?
    fn has(&self, signal: Signal, list: &str) -> bool {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.0.id())).unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix(list));
        let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        // The lowest bit is signal 1.
        mask.is_some_and(|mask| mask & 1 << (signal.as_raw() - 1) != 0)
    }

    /// Waits for the end of the program, and panics after `limit`. Returns the exit code; `None` if a signal killed it.
    #[track_caller]
    pub fn ends_within(&mut self, limit: Duration) -> Option<i32> {
        let begin = Instant::now();
        loop {
            if let Some(status) = self.0.try_wait().expect("a process that can be waited for") {
                return status.code();
            }
            assert!(begin.elapsed() < limit, "still running after {limit:?}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Killing fails if the program has already ended, as it should have.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
