//! Which files a thread can open, and which processes it reaches, by Landlock.

use super::places::Places;
use anyhow::{Context, Error, Result, ensure};
use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, LandlockStatus, PathBeneath, Ruleset, RulesetAttr, RulesetCreatedAttr,
    RulesetStatus, Scope, make_bitflags,
};
use libc::{EMFILE, ENFILE, O_PATH};
use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The newest Landlock version supported here. An older kernel applies the rules that it has.
const RULES: ABI = ABI::V10;

/// Files that libraries read while they run: other libraries, character sets, fonts, the time zone, and the amount of
/// memory and cores. All users can read these files, and they contain no private data.
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

/// Files that are needed to resolve host names and to check certificates; none has private keys.
const NETWORK_FILES: [&str; 18] = [
    "/etc/resolv.conf",
    "/run/systemd/resolve",
    "/etc/hosts",
    "/etc/host.conf",
    "/etc/nsswitch.conf",
    "/etc/gai.conf",
    "/etc/services",
    "/etc/protocols",
    "/etc/ssl/certs",
    "/etc/ssl/cert.pem",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/openssl.cnf",
    "/etc/pki/tls/certs",
    "/etc/pki/tls/cert.pem",
    "/etc/pki/tls/openssl.cnf",
    "/etc/pki/ca-trust/extracted",
    "/etc/ca-certificates",
    "/etc/crypto-policies",
];

const READ: BitFlags<AccessFs> = make_bitflags!(AccessFs::{ReadFile | ReadDir});

const WRITE: BitFlags<AccessFs> = make_bitflags!(AccessFs::{
    ReadFile | ReadDir | WriteFile | Truncate | MakeReg | MakeDir | RemoveFile | RemoveDir
});

/// From now on, the calling thread and those that it starts can open only `places`, if they are given; they reach no
/// process outside by signals or abstract sockets, nor, without `network`, by ports and sockets that have names. Open
/// files stay open. Returns the version of the kernel's Landlock: before 3 (Linux 6.2), open files could be truncated,
/// before 4 (6.7), Landlock did not know of ports, before 5 (6.10) of devices, and before 6 (6.12) of signals.
///
/// # Errors
/// When the kernel has no Landlock, or it is off, or when a place cannot be opened though it is there.
pub fn close(places: Option<&Places>, network: bool) -> Result<i32> {
    restrict(places, &SYSTEM.map(PathBuf::from), network)
}

/// The wall for decoders, which can open nothing; with `network`, they can read what is needed to reach a server.
///
/// # Errors
/// Those of [`close`].
pub fn close_to_decoders(network: bool) -> Result<i32> {
    let system: Vec<PathBuf> = SYSTEM.iter().chain(&NETWORK_FILES).map(PathBuf::from).collect();
    restrict(Some(&Places::default()), if network { &system } else { &[] }, network)
}

fn restrict(places: Option<&Places>, system: &[PathBuf], network: bool) -> Result<i32> {
    let restrict = || -> Result<_> {
        let mut ruleset = Ruleset::default().scope(Scope::from_all(RULES))?;
        if !network {
            ruleset = ruleset.handle_access(AccessNet::from_all(RULES))?;
        }
        let Some(places) = places else { return Ok(ruleset.create()?.restrict_self()?) };
        // Paths that lead to no file, such as the end of a pipe, need no rule.
        let resolved =
            |paths: &[PathBuf]| -> Vec<PathBuf> { paths.iter().flat_map(|path| path.canonicalize()).collect() };
        let mut ruleset = ruleset.handle_access(AccessFs::from_all(RULES))?.create()?;
        for (paths, access) in
            [(system.to_vec(), READ), (resolved(&places.read), READ), (resolved(&places.written), WRITE)]
        {
            for path in paths {
                if let Some(place) = open(&path)? {
                    let is_folder = place.metadata().is_ok_and(|metadata| metadata.is_dir());
                    let access = if is_folder { access } else { access & AccessFs::from_file(RULES) };
                    ruleset = ruleset.add_rule(PathBeneath::new(place, access))?;
                }
            }
        }
        Ok(ruleset.restrict_self()?)
    };
    let status = restrict().map_err(|error| {
        let what = match lacks_descriptors(&error) {
            true => "--sandbox: each place that stays open takes a descriptor for a moment (`ulimit -n` limits them)",
            false => "--sandbox on: Landlock cannot be set up (--sandbox auto goes on without)",
        };
        error.context(what)
    })?;
    ensure!(
        status.ruleset != RulesetStatus::NotEnforced,
        "--sandbox on: this kernel has no Landlock, or it is off (Linux 5.13 or newer has it; --sandbox auto goes on \
         without)"
    );
    Ok(match status.landlock {
        LandlockStatus::Available { effective_abi, kernel_abi } => kernel_abi.unwrap_or(effective_abi as i32),
        _ => 0,
    })
}

/// Whether a wall that the kernel offers failed for lack of descriptors.
pub fn lacks_descriptors(error: &Error) -> bool {
    let codes = error.chain().filter_map(|cause| cause.downcast_ref::<std::io::Error>()?.raw_os_error());
    codes.into_iter().any(|code| [EMFILE, ENFILE].contains(&code))
}

/// Opens a path for a rule; `None` if it does not exist, or this user cannot open it.
fn open(path: &Path) -> Result<Option<File>> {
    match OpenOptions::new().read(true).custom_flags(O_PATH).open(path) {
        Ok(place) => Ok(Some(place)),
        Err(error) if is_not_there(error.kind()) => Ok(None),
        Err(error) => Err(error).with_context(|| path.display().to_string()),
    }
}

fn is_not_there(error: ErrorKind) -> bool {
    matches!(error, ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::PermissionDenied)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    /// The files and folders at `place`, or below it, that not everyone can read.
    fn kept_from_others(place: &Path) -> Vec<PathBuf> {
        let Ok(found) = place.symlink_metadata() else { return Vec::new() };
        let needed = if found.is_dir() { 0o005 } else { 0o004 };
        if (found.is_dir() || found.is_file()) && found.permissions().mode() & needed != needed {
            return vec![place.to_owned()];
        }
        let below = found.is_dir().then(|| place.read_dir().into_iter().flatten().flatten());
        below.into_iter().flatten().flat_map(|entry| kept_from_others(&entry.path())).collect()
    }

    /// Every user can read these files, so decoders of a run by root read no private keys.
    #[test]
    fn with_the_network_decoders_read_what_everyone_reads() {
        for place in NETWORK_FILES {
            let kept = kept_from_others(Path::new(place));
            assert!(kept.is_empty(), "{kept:?}");
        }
    }
}
