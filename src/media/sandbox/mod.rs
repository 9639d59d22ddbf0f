//! Walls around what reads files of strangers: the kernel refuses what demuxing and decoding do not need. They cannot be taken
//! down again, and threads that are started inside are inside, too.
//!
//! | file | what it is |
//! |---|---|
//! | `files.rs` | which files can be opened (Landlock) |
//! | `places.rs` | what a process can open |
//! | `calls.rs` | which system calls are answered (seccomp) |

#[cfg(target_os = "linux")]
mod calls;
#[cfg(target_os = "linux")]
mod files;
mod places;

pub use places::Places;

use anyhow::Result;
use std::path::PathBuf;

/// The wall around the threads that demux and decode one input. Inside, nothing can be opened but the input, for reading, and
/// what is installed on the system; there is no network, no other program, and no other process.
///
/// The threads share the memory of the process: a decoder that is taken over can overwrite what other threads work with. What
/// these can do is up to the [`ProcessWall`].
#[derive(Clone, Copy, Debug)]
pub struct DecoderWall {
    /// Whether it is an error that the kernel has no such wall.
    pub is_required: bool,
}

/// The wall around the whole process. Put it up before the process starts threads.
#[derive(Clone, Debug)]
pub struct ProcessWall {
    /// The files that can be opened; all if `None`.
    pub places: Option<Places>,
    /// Whether the network can be used.
    pub network: bool,
    /// Whether it is an error that the kernel has no such wall.
    pub is_required: bool,
}

impl DecoderWall {
    /// Puts it up around the calling thread and those that it starts from now on, which can only read these files and folders.
    ///
    /// # Errors
    /// When the kernel has no such wall, and it is required.
    #[cfg(target_os = "linux")]
    pub(crate) fn close(self, read: Vec<PathBuf>) -> Result<()> {
        let places = Places { read, written: Vec::new() };
        self.unless_required(files::close(&places).map(drop))?;
        self.unless_required(calls::answer_decoders())
    }

    /// Other systems have none.
    ///
    /// # Errors
    /// When it is required.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn close(self, _read: Vec<PathBuf>) -> Result<()> {
        self.unless_required(Err(elsewhere()))
    }

    fn unless_required(self, closed: Result<()>) -> Result<()> {
        if self.is_required { closed } else { Ok(()) }
    }
}

impl ProcessWall {
    /// Puts it up, and answers what holds from now on.
    ///
    /// # Errors
    /// When the kernel has no such wall, and it is required.
    #[cfg(target_os = "linux")]
    pub fn close(&self) -> Result<String> {
        let mut holds = Vec::new();
        let mut closed = |result: Result<()>, what: &'static str| match result {
            Ok(()) => {
                holds.push(what);
                Ok(())
            }
            Err(error) if self.is_required => Err(error),
            Err(_) => Ok(()),
        };
        if let Some(places) = &self.places {
            closed(files::close(places), "opens only its own files and those of the system")?;
        }
        let calls = if self.network { "starts no programs" } else { "starts no programs, and uses no network" };
        closed(calls::answer_process(self.network), calls)?;
        Ok(if holds.is_empty() { "is held by nothing: the kernel has no walls".to_owned() } else { holds.join(", ") })
    }

    /// Other systems have none.
    ///
    /// # Errors
    /// When it is required.
    #[cfg(not(target_os = "linux"))]
    pub fn close(&self) -> Result<String> {
        if self.is_required { Err(elsewhere()) } else { Ok("is held by nothing: this system has no walls".to_owned()) }
    }
}

#[cfg(not(target_os = "linux"))]
fn elsewhere() -> anyhow::Error {
    anyhow::anyhow!("there is a sandbox on Linux only (leave --sandbox on out)")
}
