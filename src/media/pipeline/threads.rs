//! The threads of a run.

use crate::sys::no_thread;
use anyhow::{Result, anyhow};
use std::thread::{Builder, Scope, ScopedJoinHandle};

/// Starts a thread named `name`.
///
/// # Errors
/// When the system cannot start a thread. Then `stop` is called first, so that threads started earlier end.
pub fn start<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: &str,
    stop: &dyn Fn(),
    work: impl FnOnce() -> T + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, T>> {
    Builder::new().name(name.to_owned()).spawn_scoped(scope, work).map_err(|error| {
        stop();
        no_thread(&error)
    })
}

/// The result of the thread of a stage; a panic becomes an error.
pub fn joined<T>(stage: ScopedJoinHandle<'_, Result<T>>) -> Result<T> {
    let name = stage.thread().name().unwrap_or("stage").to_owned();
    stage.join().unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        Err(anyhow!("bug in the {name} stage: {text} (please report it)"))
    })
}

/// Calls a function when it is dropped.
pub struct OnDrop<F: Fn()>(pub F);

impl<F: Fn()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}
