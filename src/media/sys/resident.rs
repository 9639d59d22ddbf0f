//! The resident memory of the process.

use std::fs::File;
use std::os::unix::fs::FileExt;

/// Reads how much memory of the process is resident: its pages in main memory, those of libraries too.
pub struct Resident(File);

impl Resident {
    /// Opens it early, because the sandbox may forbid it later. `None` where the system does not provide it.
    pub fn open() -> Option<Self> {
        File::open("/proc/self/status").ok().map(Resident).filter(|resident| resident.bytes().is_some())
    }

    /// The bytes that are resident now. This allocates nothing.
    pub fn bytes(&self) -> Option<usize> {
        let mut text = [0; 4096];
        let len = self.0.read_at(&mut text, 0).ok()?;
        // Decode this line only: the name of the program, in another one, may not be UTF-8.
        let resident = text[..len].split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(b"VmRSS:"))?;
        let number = str::from_utf8(resident).ok()?.split_whitespace().next()?;
        // The number is in KiB.
        number.parse::<usize>().ok()?.checked_mul(1024)
    }
}
