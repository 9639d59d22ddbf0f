//! A virtual display with the program's window, and key presses.

use super::shot::Shot;
use crate::media::live::{Beside, PATIENCE, pause};
use crate::support::programs::program::Dir;
use crate::support::skip::skip;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Instant;

/// A display and its programs. Fields are dropped in this order, the display last.
pub struct Desktop {
    manager: Option<Beside>,
    _xvfb: Beside,
    name: String,
    memory: tempfile::TempDir,
}

impl Desktop {
    /// A display of this size (`640x360`) without a window manager, so windows are at its upper left corner, without
    /// borders. If a program is missing: `None`, and a note.
    pub fn new(size: &str) -> Option<Self> {
        if Command::new("xdotool").arg("version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_err() {
            skip("window", "no xdotool");
            return None;
        }
        let memory = tempfile::tempdir().expect("a temporary folder");
        // Servers that start at the same time may consider each other's lock files stale, and use the same display
        // number.
        let starting = File::create(std::env::temp_dir().join("histeq-video-xvfb")).expect("a file to lock");
        starting.lock().expect("a lock on starting");
        let mut command = Command::new("Xvfb");
        // Without `-noreset`, the server restarts when its last client leaves, and refuses connections meanwhile.
        command
            .args(["-noreset", "-displayfd", "1", "-screen", "0", &format!("{size}x24"), "-fbdir"])
            .arg(memory.path());
        let Ok(mut xvfb) = Beside::start(command.stdout(Stdio::piped()).stderr(Stdio::null())) else {
            skip("window", "no Xvfb");
            return None;
        };
        let stdout = xvfb.child.stdout.take().expect("a pipe");
        let mut number = String::new();
        BufReader::new(stdout).read_line(&mut number).expect("Xvfb says its number");
        Some(Desktop { manager: None, _xvfb: xvfb, name: format!(":{}", number.trim()), memory })
    }

    /// A display with a window manager, which full screen needs.
    pub fn managed(size: &str) -> Option<Self> {
        let mut desktop = Desktop::new(size)?;
        let mut evilwm = Command::new("evilwm");
        // This font is built into Xvfb. evilwm's default font is missing in newer distributions.
        evilwm.args(["-fn", "fixed"]).stderr(Stdio::null());
        match Beside::start(&mut desktop.on_it(evilwm)) {
            Ok(manager) => desktop.manager = Some(manager),
            Err(_) => {
                skip("window", "no evilwm");
                return None;
            }
        }
        Some(desktop)
    }

    fn on_it(&self, mut command: Command) -> Command {
        command.env("DISPLAY", &self.name).env_remove("WAYLAND_DISPLAY").env_remove("WAYLAND_SOCKET");
        command
    }

    /// Starts the program on this display, and focuses its window once it is visible.
    pub fn live(&self, dir: &Dir, line: &str, scale: &str) -> Beside {
        let command = dir.command(&format!("live --exact --backend cpu --progress none {line}"));
        let mut command = self.on_it(command);
        command.env("WINIT_X11_SCALE_FACTOR", scale).stderr(Stdio::piped());
        let mut live = Beside::start(&mut command).expect("the program runs");
        let begin = Instant::now();
        while !self.xdotool("search --onlyvisible --name histeq-video windowfocus --sync") {
            if live.child.try_wait().expect("a child").is_some() || begin.elapsed() > PATIENCE {
                let _ = live.child.kill();
                panic!("no window: {}", live.end().1);
            }
            pause(0.05);
        }
        // The manager may have moved the window, so the mouse is moved into it.
        assert!(self.xdotool("search --name histeq-video mousemove --window %1 5 150"));
        live
    }

    /// Runs xdotool, and returns whether it succeeded.
    pub fn xdotool(&self, line: &str) -> bool {
        let mut command = self.on_it(Command::new("xdotool"));
        let status = command.args(line.split(' ')).stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.expect("xdotool runs").success()
    }

    /// Runs a command of xdotool on the program's window.
    pub fn to_window(&self, line: &str) {
        assert!(self.xdotool(&format!("search --name histeq-video {line}")), "xdotool: {line}");
    }

    /// Presses keys, one after the other.
    pub fn press(&self, keys: &str) {
        assert!(self.xdotool(&format!("key {keys}")), "xdotool: {keys}");
    }

    /// A screenshot of the display.
    pub fn shot(&self) -> Shot {
        Shot::read(&self.memory.path().join("Xvfb_screen0")).expect("the display's memory")
    }

    /// Waits until a screenshot satisfies `is_so`, and returns it.
    #[track_caller]
    pub fn until(&self, what: &str, is_so: impl Fn(&Shot) -> bool) -> Shot {
        let begin = Instant::now();
        loop {
            let shot = self.shot();
            if is_so(&shot) {
                return shot;
            }
            assert!(begin.elapsed() < PATIENCE, "not seen: {what}");
            pause(0.02);
        }
    }

    /// Does the display stay unchanged for this many seconds?
    pub fn stands_still(&self, seconds: f64) -> bool {
        let (begin, first) = (Instant::now(), self.shot());
        while begin.elapsed().as_secs_f64() < seconds {
            if self.shot() != first {
                return false;
            }
            pause(0.02);
        }
        true
    }
}

/// Calls `look` until it returns something.
#[track_caller]
pub fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begin.elapsed() < PATIENCE, "did not happen: {what}");
        pause(0.02);
    }
}
