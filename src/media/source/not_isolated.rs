//! Systems without processes to decode in: all inputs are opened and decoded in this one.

use super::clock::StartTime;
use super::file::FileInput;
use super::live_input::{CameraOptions, LiveInput};
use super::options::InputOptions;
use crate::pipeline::{Cancel, Input, Notices, Progress, Source};
use anyhow::{Result, bail};
use std::sync::Arc;

/// Does nothing.
pub fn start() {}

/// Does nothing.
pub fn allow(_inputs: usize, _network: bool, _needs_walls: bool) -> std::io::Result<()> {
    Ok(())
}

/// There are none.
pub fn is_ready() -> bool {
    false
}

/// Does nothing.
pub fn end() {}

pub(super) fn open_file(
    _options: &InputOptions,
    _name: &str,
    _from: FileInput,
    _cancel: &Cancel,
    _notices: Notices,
    _progress: Arc<Progress>,
) -> Result<(Box<dyn Source>, Input)> {
    bail!("this system has no processes to decode in")
}

pub(super) fn open_live(
    _input: LiveInput,
    _options: CameraOptions,
    _start: StartTime,
    _cancel: &Cancel,
    _notices: Notices,
    _progress: Arc<Progress>,
) -> Result<(Box<dyn Source>, Input)> {
    bail!("this system has no processes to decode in")
}
