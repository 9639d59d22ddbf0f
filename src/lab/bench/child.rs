//! Runs another program to its end, and measures its resources.
#![allow(unsafe_code, reason = "wait4 is the call that reports the resources of one child")]

use anyhow::{Context, Result, bail};
use std::io::Read;
use std::process::{Command, Stdio};
use std::time::Instant;

/// A run that succeeded.
pub struct ResourceUsage {
    /// Seconds from start to end.
    pub wall: f64,
    /// Seconds of all processors.
    pub cpu: f64,
    /// Most memory at any time, MiB.
    pub memory: f64,
    /// Its output on stderr.
    pub stderr: String,
}

/// Runs `command`.
///
/// # Errors
/// When it cannot be run, or fails; then the last line of its stderr.
pub fn run(command: &mut Command) -> Result<ResourceUsage> {
    let name = command.get_program().to_string_lossy().into_owned();
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let begin = Instant::now();
    let mut child = command.spawn().with_context(|| format!("{name} cannot be run"))?;
    let mut output = Vec::new();
    if let Some(stderr) = &mut child.stderr {
        stderr.read_to_end(&mut output).with_context(|| format!("reading what {name} says"))?;
    }
    let (status, usage) = wait(child.id() as libc::pid_t).with_context(|| format!("waiting for {name}"))?;
    let wall = begin.elapsed().as_secs_f64();
    let output = String::from_utf8_lossy(&output).into_owned();
    if !libc::WIFEXITED(status) || libc::WEXITSTATUS(status) != 0 {
        let last = output.trim_end().lines().last().unwrap_or("it said nothing");
        bail!("{}", last.strip_prefix("histeq-video: error: ").unwrap_or(last));
    }
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    let cpu = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    // Linux counts in KiB.
    Ok(ResourceUsage { wall, cpu, memory: usage.ru_maxrss as f64 / 1024.0, stderr: output })
}

/// Waits for a child; no other code waits for it.
fn wait(id: libc::pid_t) -> std::io::Result<(libc::c_int, libc::rusage)> {
    let mut status = 0;
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    loop {
        // SAFETY: both pointers are to memory that outlives the call, and `id` is a child of this process that has not
        // been waited for.
        if unsafe { libc::wait4(id, &mut status, 0, usage.as_mut_ptr()) } == id {
            // SAFETY: all of its fields are numbers, for which zero is a value; wait4 has filled them in.
            return Ok((status, unsafe { usage.assume_init() }));
        }
        let error = std::io::Error::last_os_error();
        if error.kind() != std::io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}
