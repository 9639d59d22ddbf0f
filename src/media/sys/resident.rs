//! The memory that the process has.

use std::fs::File;

/// What tells how much memory of the process is resident: its pages in the memory of the machine, those of libraries too.
pub struct Resident(File);

impl Resident {
    /// Opens it, which a wall around the process may forbid later. `None` where the system does not tell.
    pub fn open() -> Option<Self> {
        File::open("/proc/self/statm").ok().map(Resident).filter(|resident| resident.bytes().is_some())
    }

    /// The bytes that are resident now. This allocates nothing.
    #[cfg(unix)]
    pub fn bytes(&self) -> Option<usize> {
        use std::os::unix::fs::FileExt;
        let mut text = [0; 256];
        let len = self.0.read_at(&mut text, 0).ok()?;
        // All pages of the address space, and those that are resident.
        let pages = str::from_utf8(&text[..len]).ok()?.split(' ').nth(1)?;
        pages.parse::<usize>().ok()?.checked_mul(rustix::param::page_size())
    }

    /// Other systems do not tell.
    #[cfg(not(unix))]
    pub fn bytes(&self) -> Option<usize> {
        None
    }
}
