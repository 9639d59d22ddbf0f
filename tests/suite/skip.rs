//! Skips that nobody overlooks: each one is printed, past the test harness, which would keep it to itself.

use std::io::Write;

/// Says that `what` is not tested here, and why. What `HISTEQ_REQUIRE` names (with commas between) has to be here: `cuda`,
/// `nvdec`, `window`, `c++`, an encoder, a pixel format, another program, or `no-gpu` for a machine without one.
///
/// # Panics
/// When `what` is required.
pub fn skip(what: &str, reason: &str) {
    let required = std::env::var("HISTEQ_REQUIRE").unwrap_or_default();
    assert!(!required.split(',').any(|name| name == what), "{what} is required: {reason}");
    // Lost with stderr itself.
    let _ = writeln!(std::io::stderr(), "SKIPPED {what}: {reason}");
}
