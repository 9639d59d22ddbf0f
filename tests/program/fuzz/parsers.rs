//! A libFuzzer binary for the target that HISTEQ_TARGET names. It is part of the program under `--cfg fuzzing`;
//! `run.sh` builds and runs it.

mod targets;

use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static TARGET: LazyLock<fn(&[u8])> = LazyLock::new(|| {
    let name = std::env::var("HISTEQ_TARGET").unwrap_or_default();
    let target = targets::TARGETS.into_iter().find(|(target, _)| *target == name);
    target.unwrap_or_else(|| panic!("HISTEQ_TARGET={name} is none of targets.rs")).1
});

fuzz_target!(|data: &[u8]| TARGET(data));
