//! The threads of a run.

use anyhow::{Result, anyhow};
use std::thread::{Builder, Scope, ScopedJoinHandle};

/// Starts a thread with this name.
///
/// # Errors
/// When the system starts no thread. `stop` is called first, so that the threads started before end.
pub fn start<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: &str,
    stop: &dyn Fn(),
    work: impl FnOnce() -> T + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, T>> {
    Builder::new().name(name.to_owned()).spawn_scoped(scope, work).map_err(|error| {
        stop();
        anyhow!("no thread can be started: {error} (`ulimit -u` limits them)")
    })
}
