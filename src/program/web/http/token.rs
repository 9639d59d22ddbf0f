//! The token of the view: a new one, or one that a file keeps from run to run.

use anyhow::{Result, ensure};
use histeq_media::pipeline::FailureKind;
use histeq_media::sys::files::{Name, open_no_link};
use rustix::process::geteuid;
use std::fs::{OpenOptions, remove_file};
use std::io::{Error, ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};

/// Bytes of a new token, of which each is two characters.
const BYTES: usize = 16;

/// The fewest and the most characters of a token.
pub const MIN_LENGTH: usize = 2 * BYTES;
const MAX_LENGTH: usize = 256;

/// A new token.
///
/// # Errors
/// When the system has no random bytes.
pub fn new_token() -> Result<String> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The token that `file` keeps. If there is no such file, it is made, with a new token, for its owner alone.
///
/// # Errors
/// When it cannot be read or made, others can use it, or it holds no token.
pub fn kept(file: &Name) -> Result<String> {
    if let Some(token) = read(file)? {
        return Ok(token);
    }
    let token = new_token()?;
    let mut new = OpenOptions::new();
    new.write(true).create_new(true).mode(0o600).custom_flags(libc::O_NOFOLLOW);
    let mut made = new.open(file.path()).map_err(|error| failed(file, &error))?;
    if let Err(error) = writeln!(made, "{token}").and_then(|()| made.sync_all()) {
        // Remove the file: an incomplete token would make each later run fail.
        let _ = remove_file(file.path());
        return Err(failed(file, &error));
    }
    Ok(token)
}

/// The token that `file` keeps; `None` if there is no such file.
///
/// # Errors
/// When it cannot be read, others can use it, or it holds no token.
pub fn read(file: &Name) -> Result<Option<String>> {
    let opened = match open_no_link(file.path()) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(|error| failed(file, &error))?,
    };
    let there = opened.metadata()?;
    ensure!(
        there.uid() == geteuid().as_raw(),
        "--web-token {file}: it belongs to another user (name a file that is yours, or that is not there yet)"
    );
    ensure!(
        there.mode() & 0o7177 == 0,
        "--web-token {file}: its mode is {:o}, which is not for its owner alone (chmod 600 {})",
        there.mode() & 0o7777,
        file.quoted()
    );
    let mut bytes = Vec::new();
    opened.take(MAX_LENGTH as u64 + 2).read_to_end(&mut bytes).map_err(|error| failed(file, &error))?;
    let token = bytes.trim_ascii_end();
    let is_plain = token.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(byte));
    ensure!(
        is_plain && (MIN_LENGTH..=MAX_LENGTH).contains(&token.len()),
        "--web-token {file}: a token has {MIN_LENGTH} to {MAX_LENGTH} letters, digits and - . _ ~ (remove the file, and \
         a new one is made)"
    );
    Ok(Some(String::from_utf8_lossy(token).into_owned()))
}

fn failed(file: &Name, error: &Error) -> anyhow::Error {
    FailureKind::file_error(format!("--web-token {file}"), error)
}
