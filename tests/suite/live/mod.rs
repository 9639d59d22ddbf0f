//! Live: modes of cameras, the engine that drops what is late, recordings, a camera or a server that goes away, the window.

mod clock;
mod engine;
mod modes;
mod network;
mod outputs;
mod recording;
mod rtsp;
mod rtsp_server;
mod servers;
mod sound;
mod trouble;
mod window;

use crate::program::Dir;
use rustix::process::{Pid, Signal, kill_process};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A program that runs beside the test, and ends with it at the latest.
pub struct Beside(Child);

impl Beside {
    /// Starts the program under test; what it says can be read at the end.
    fn live(dir: &Dir, line: &str) -> Self {
        let mut command = without_display(dir.command(&format!("live --backend cpu --progress none {line}")));
        Beside(command.stderr(Stdio::piped()).spawn().expect("the program runs"))
    }

    /// Sends Ctrl-C's signal.
    fn interrupt(&self) {
        let process = Pid::from_child(&self.0);
        kill_process(process, Signal::INT).expect("it is still there");
    }

    /// The exit code and what was said.
    fn end(mut self) -> (Option<i32>, String) {
        let mut said = String::new();
        if let Some(mut stderr) = self.0.stderr.take() {
            std::io::Read::read_to_string(&mut stderr, &mut said).expect("stderr can be read");
        }
        (self.0.wait().expect("it ends").code(), said)
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        // It may have ended long ago.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Not even the one of whoever runs the tests.
fn without_display(mut command: Command) -> Command {
    for name in ["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET"] {
        command.env_remove(name);
    }
    command
}

fn pause(seconds: f64) {
    std::thread::sleep(Duration::from_secs_f64(seconds));
}
