//! Skips. The test harness knows none and counts a skipped test as passed, so each skip is printed past it, and
//! `tests/run.sh` prints a table of them at its end.
#![allow(dead_code, reason = "no test binary uses all of it")]

use std::fs::File;
use std::io::Write;
use std::process::{Command, Stdio};

/// Says that `what` is not tested here, and why. What `HISTEQ_REQUIRE` names (with commas between) has to be here: `cuda`,
/// `nvdec`, `window`, `c++`, an encoder, a pixel format, another program, or `no-gpu` for a machine without one. The file
/// that `HISTEQ_SKIPS` names gets a line for each skip: what, why and the test's name, separated by tabs.
///
/// # Panics
/// When `what` is required, or when the file cannot be written to.
pub fn skip(what: &str, reason: &str) {
    let required = std::env::var("HISTEQ_REQUIRE").unwrap_or_default();
    assert!(!required.split(',').any(|name| name == what), "{what} is required: {reason}");
    // Lost with stderr itself.
    let _ = writeln!(std::io::stderr(), "SKIPPED {what}: {reason}");
    if let Some(list) = std::env::var_os("HISTEQ_SKIPS") {
        // The harness names threads after their tests.
        let test = std::thread::current().name().unwrap_or("unknown").to_owned();
        let line = format!("{what}\t{}\t{test}\n", reason.replace(['\n', '\t'], " "));
        // Tests run at the same time: each line is one write to the end of the file.
        let file = File::options().create(true).append(true).open(&list);
        let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
        written.unwrap_or_else(|error| panic!("{}: {error}", list.display()));
    }
}

/// Is this program here? A printed skip if not.
pub fn is_here(program: &str) -> bool {
    let asked = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if asked.is_err() {
        skip(program, "it is not installed");
    }
    asked.is_ok()
}
