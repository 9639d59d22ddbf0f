//! Restrictions of code that reads untrusted files: the kernel refuses what demuxing and decoding do not need. They
//! cannot be lifted again, and hold for threads that are started later, too.
//!
//! | file | what it is |
//! |---|---|
//! | `files.rs` | which files can be opened, and which processes reached (Landlock) |
//! | `places.rs` | what a process can open |
//! | `calls.rs` | which system calls are answered (seccomp) |

mod calls;
mod files;
mod filters;
mod places;

pub use places::Places;

use anyhow::Result;

/// The wall around the whole process. Put it up before the process starts threads.
#[derive(Clone, Debug)]
pub struct ProcessWall {
    /// The files that can be opened; all if `None`.
    pub places: Option<Places>,
    /// Whether the network can be used.
    pub network: bool,
    /// Whether owner and mode of open files can be changed, which an output needs that replaces a file.
    pub replaces: bool,
    /// Whether it is an error that the kernel has no such wall.
    pub is_required: bool,
}

/// Closes the sandbox of a process that demuxes and decodes one input, for the calling thread and those that it starts
/// from now on. It can open no files, reach no other process, and use no network without `network`. With `network`, it
/// can read the names and certificates of servers.
///
/// # Errors
/// When the kernel has no such wall, and it is required.
pub(crate) fn close_around_decoder(network: bool, is_required: bool) -> Result<()> {
    let unless_lacking = |error| unless_lacking(is_required, error);
    files::close_to_decoders(network).map(drop).or_else(unless_lacking)?;
    filters::answer_decoders(network).or_else(unless_lacking)
}

/// Closes the sandbox of the template process, and so of decoding processes, which it forks: it may do what they may,
/// and fork.
///
/// # Errors
/// When the kernel has no such wall, and it is required.
pub(crate) fn close_around_template(network: bool, is_required: bool) -> Result<()> {
    let unless_lacking = |error| unless_lacking(is_required, error);
    files::close_to_decoders(network).map(drop).or_else(unless_lacking)?;
    filters::answer_template(network).or_else(unless_lacking)
}

impl ProcessWall {
    /// Closes the sandbox, and returns which walls hold from now on.
    ///
    /// # Errors
    /// When the kernel has no such wall, and it is required.
    pub fn close(&self) -> Result<String> {
        let mut holds = Vec::new();
        match files::close(self.places.as_ref(), self.network) {
            Ok(rules) => {
                let files = if self.places.is_some() {
                    "opens only its own files and those of the system"
                } else {
                    "signals no other process"
                };
                holds.push(format!("{files} (Landlock {rules})"));
            }
            Err(error) => unless_lacking(self.is_required, error)?,
        }
        match filters::answer_process(self.network, self.replaces) {
            Ok(()) if self.network => holds.push("starts no programs".to_owned()),
            Ok(()) => holds.push("starts no programs, and uses no network".to_owned()),
            Err(error) => unless_lacking(self.is_required, error)?,
        }
        Ok(if holds.is_empty() { "is held by nothing: the kernel has no walls".to_owned() } else { holds.join(", ") })
    }
}

/// Ignores that the kernel has no such wall, if none is required; but not a lack of descriptors, which would leave out
/// a wall that the kernel offers.
fn unless_lacking(is_required: bool, error: anyhow::Error) -> Result<()> {
    if is_required || files::lacks_descriptors(&error) { Err(error) } else { Ok(()) }
}
