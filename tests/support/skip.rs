//! Skipped tests. The test harness has no skips and counts a skipped test as passed, so each skip is printed directly
//! to stderr, and `tests/run.sh` prints a table of them at its end.
#![allow(dead_code, reason = "no test binary uses all of it")]

use std::fs::File;
use std::io::Write;
use std::process::{Command, Stdio};

/// What no Debian package provides, and the script that tests it. `HISTEQ_REQUIRE=debian` requires everything else.
const ELSEWHERE: [(&str, &str); 12] = [
    ("aloop", "tests/media/cameras.sh"),
    ("avx2", "a CPU that has the instructions"),
    ("avx512", "a CPU that has the instructions"),
    ("cuda", "tests/gpu-bundle.sh"),
    ("kernel", "a kernel that has the call"),
    ("loopback", "tests/media/cameras.sh"),
    ("no-gpu", "tests/run.sh without a GPU"),
    ("nvdec", "tests/gpu-bundle.sh"),
    ("rig", "tests/media/cameras.sh"),
    ("usbip", "tests/media/cameras.sh"),
    ("v4l2", "tests/media/cameras.sh"),
    ("vivid", "tests/media/cameras.sh"),
];

/// Prints that `what` is not tested here, and the reason. `HISTEQ_REQUIRE` lists what must not be skipped, separated by
/// commas: `cuda`, `nvdec`, `window`, `c++`, an encoder, a pixel format, another program, `no-gpu` on a machine without
/// a GPU, or `debian` for everything in Debian. Each skip adds a line to the file in `HISTEQ_SKIPS`, separated by tabs:
/// `what`, the reason, the script that tests it, and the test's name.
///
/// # Panics
/// When `what` is required, or when the file cannot be written.
pub fn skip(what: &str, reason: &str) {
    let elsewhere = ELSEWHERE.iter().find(|(name, _)| *name == what).map(|(_, script)| *script);
    let required = std::env::var("HISTEQ_REQUIRE").unwrap_or_default();
    let is_required = |name: &str| name == what || name == "debian" && elsewhere.is_none();
    assert!(!required.split(',').any(is_required), "{what} is required: {reason}");
    // If stderr is closed, the note is lost.
    let _ = writeln!(std::io::stderr(), "SKIPPED {what}: {reason}");
    if let Some(list) = std::env::var_os("HISTEQ_SKIPS") {
        // The harness names threads after their tests.
        let test = std::thread::current().name().unwrap_or("unknown").to_owned();
        let reason = reason.replace(['\n', '\t'], " ");
        let line = format!("{what}\t{reason}\t{}\t{test}\n", elsewhere.unwrap_or("a machine that has it"));
        // Tests run in parallel, so each line is a single write that appends to the file.
        let file = File::options().create(true).append(true).open(&list);
        let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
        written.unwrap_or_else(|error| panic!("{}: {error}", list.display()));
    }
}

/// Is this program installed? Prints a note if not.
pub fn is_here(program: &str) -> bool {
    let asked = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if asked.is_err() {
        skip(program, "it is not installed");
    }
    asked.is_ok()
}
