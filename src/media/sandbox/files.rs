//! Which files a thread can open, by Landlock.

use super::places::Places;
use anyhow::{Context, Result, ensure};
use landlock::{
    ABI, Access, AccessFs, BitFlags, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetStatus, make_bitflags,
    path_beneath_rules,
};
use std::path::PathBuf;

/// What libraries read while they run: other libraries, character sets, fonts, the time zone, and how much memory and how many
/// cores there are. Every user can read these files, and they hold nothing of one.
const SYSTEM: [&str; 18] = [
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/share",
    "/lib",
    "/lib64",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/fonts",
    "/var/cache/fontconfig",
    "/dev/null",
    "/dev/urandom",
    "/proc/meminfo",
    "/proc/sys/vm/overcommit_memory",
    "/proc/self/cgroup",
    "/proc/self/mountinfo",
    "/sys/devices/system",
    "/sys/fs/cgroup",
];

const READ: BitFlags<AccessFs> = make_bitflags!(AccessFs::{ReadFile | ReadDir});

const WRITE: BitFlags<AccessFs> = make_bitflags!(AccessFs::{
    ReadFile | ReadDir | WriteFile | Truncate | MakeReg | MakeDir | RemoveFile | RemoveDir | IoctlDev
});

/// From now on, the calling thread and those that it starts can open these places only. Open files stay open. Older kernels
/// have fewer rules: before Linux 6.2, open files could be truncated, and before 6.10, devices could be driven.
///
/// # Errors
/// When the kernel has no Landlock, or it is off.
pub fn close(places: &Places) -> Result<()> {
    // What leads to no file, as the end of a pipe does, is open to all.
    let resolved = |paths: &[PathBuf]| -> Vec<PathBuf> { paths.iter().flat_map(|path| path.canonicalize()).collect() };
    let restrict = || {
        let ruleset = Ruleset::default()
            .handle_access(AccessFs::from_all(ABI::V5))?
            .create()?
            .add_rules(path_beneath_rules(SYSTEM, READ))?
            .add_rules(path_beneath_rules(resolved(&places.read), READ))?
            .add_rules(path_beneath_rules(resolved(&places.written), WRITE))?;
        ruleset.restrict_self()
    };
    let status = restrict().context("--sandbox on: Landlock cannot be set up (--sandbox auto goes on without)")?;
    ensure!(
        status.ruleset != RulesetStatus::NotEnforced,
        "--sandbox on: this kernel has no Landlock, or it is off (Linux 5.13 or newer has it; --sandbox auto goes on without)"
    );
    Ok(())
}
