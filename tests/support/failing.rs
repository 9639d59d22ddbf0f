//! Backends that fail at a chosen call, or open late, and the reference as their fallback.
#![allow(dead_code, reason = "no test binary uses all of it")]

use super::backends::Sequence;
use histeq::internal::equalize::backend::reference::Reference;
use histeq::internal::equalize::backend::{Failover, OpeningBackend};
use histeq::internal::equalize::{Equalized, Executor, Role, Work};
use histeq::internal::frame::Pool;
use histeq::internal::spec::parameters::{Chroma, Settings};
use histeq::internal::spec::time::Remembered;
use histeq::{Error, Result};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// A call of the backend, with the number of earlier calls of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    Submit(usize),
    Collect(usize),
    WarmUp(usize),
    Remember(usize),
}

type Strike = Box<dyn FnMut(Call) -> Result<()> + Send>;

/// A real backend. Each call first asks `strike`, and returns its error if there is one.
pub struct Failing {
    inner: Box<dyn Executor>,
    strike: Strike,
    submitted: usize,
    collected: usize,
    warmed_up: usize,
    remembered: usize,
    /// The pool that `input_pool` returns.
    pub pool: Option<Arc<dyn Pool>>,
}

impl Failing {
    /// Each call fails if `strike` returns an error for it.
    pub fn new(inner: Box<dyn Executor>, strike: impl FnMut(Call) -> Result<()> + Send + 'static) -> Self {
        Failing { inner, strike: Box::new(strike), submitted: 0, collected: 0, warmed_up: 0, remembered: 0, pool: None }
    }

    /// Fails at the call `which`.
    pub fn at(inner: Box<dyn Executor>, which: Call) -> Self {
        Failing::new(inner, move |call| {
            if call == which {
                return Err(Error::Worker("out of order".to_owned()));
            }
            Ok(())
        })
    }
}

impl Executor for Failing {
    fn submit(&mut self, work: Work) -> histeq::Result<()> {
        let count = if let Role::WarmUp = work.role() { &mut self.warmed_up } else { &mut self.submitted };
        let call = if let Role::WarmUp = work.role() { Call::WarmUp(*count) } else { Call::Submit(*count) };
        (self.strike)(call)?;
        *count += 1;
        self.inner.submit(work)
    }

    fn remember(&mut self, seen: &Remembered) -> histeq::Result<()> {
        (self.strike)(Call::Remember(self.remembered))?;
        self.remembered += 1;
        self.inner.remember(seen)
    }

    fn collect(&mut self) -> histeq::Result<Option<Equalized>> {
        (self.strike)(Call::Collect(self.collected))?;
        self.collected += 1;
        self.inner.collect()
    }

    fn finish(&mut self) -> histeq::Result<()> {
        self.inner.finish()
    }

    fn in_flight(&self) -> usize {
        self.inner.in_flight()
    }

    fn capacity(&self) -> usize {
        self.inner.capacity()
    }

    fn input_pool(&self, _chroma: Chroma) -> Option<Arc<dyn Pool>> {
        self.pool.clone()
    }

    fn name(&self) -> String {
        "failing".to_owned()
    }
}

/// The `after` of a [`Due`] backend that never becomes ready.
pub const NEVER: usize = usize::MAX;

type Make = Box<dyn FnOnce() -> Result<Box<dyn Executor>> + Send>;

/// A backend that is ready once `is_ready` has been called `after` times.
pub struct Due {
    after: usize,
    looked: AtomicUsize,
    make: Make,
}

impl Due {
    pub fn new(after: usize, make: impl FnOnce() -> Result<Box<dyn Executor>> + Send + 'static) -> Box<Self> {
        Box::new(Due { after, looked: AtomicUsize::new(0), make: Box::new(make) })
    }
}

impl OpeningBackend for Due {
    fn is_ready(&self) -> bool {
        self.looked.fetch_add(1, Ordering::Relaxed) >= self.after
    }

    fn take(self: Box<Self>) -> histeq::Result<Box<dyn Executor>> {
        (self.make)()
    }
}

/// The messages so far.
pub type Said = Arc<Mutex<Vec<String>>>;

pub fn saying(said: &Said) -> Box<dyn Fn(&str) + Send> {
    let said = said.clone();
    Box::new(move |line| said.lock().unwrap().push(line.to_owned()))
}

pub fn the_reference() -> Box<dyn Executor> {
    Box::new(Reference::default())
}

/// A sequence on `backend` that fails over to the reference, and the messages of that failover.
pub fn guarded(backend: Box<dyn Executor>, settings: Settings) -> (Sequence, Said) {
    let said = Said::default();
    let failover = Failover::new(backend, Box::new(the_reference), saying(&said));
    (Sequence::new(Box::new(failover), settings), said)
}
