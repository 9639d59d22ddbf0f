//! A tiny file system, which is soon full.

use std::path::PathBuf;
use std::process::Command;

/// A file system in memory, which is unmounted on drop.
pub struct TinyDisk(PathBuf);

impl TinyDisk {
    /// Mounts a file system of this size (`64k`) on a new folder; `None` if that is not possible.
    pub fn mount(folder: PathBuf, size: &str) -> Option<Self> {
        std::fs::create_dir(&folder).expect("Is a directory");
        let mount =
            Command::new("mount").args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"]).arg(&folder).output();
        mount.is_ok_and(|output| output.status.success()).then_some(TinyDisk(folder))
    }
}

impl Drop for TinyDisk {
    fn drop(&mut self) {
        // Errors are ignored: a remaining mount does not change the test's result.
        let _ = Command::new("umount").arg(&self.0).status();
    }
}
