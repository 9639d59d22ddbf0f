//! A source behind a wall: it is opened and read on a thread of its own, which can do nothing else.

use crate::frame::Pool;
use crate::pipeline::{Delivery, Input, Source};
use crate::sandbox::DecoderWall;
use anyhow::{Result, anyhow};
use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

/// An open source, and its description.
type Opened = (Box<dyn Source>, Input);

/// A source on a thread behind a wall. From the first delivery on, the thread is one delivery ahead.
pub struct WalledSource {
    orders: Sender<Order>,
    /// Whether a delivery has been asked for.
    has_begun: bool,
    /// `None` once the last delivery is there, or the thread is told to end.
    deliveries: Option<Receiver<Result<Option<Delivery>>>>,
    /// `None` once it has been joined.
    thread: Option<JoinHandle<()>>,
}

/// What is asked of the thread, each as the method of [`Source`] of its name.
enum Order {
    /// All deliveries, as there is room for them.
    Next,
    LookAround(u32, u32),
    UsePool(Arc<dyn Pool>),
}

impl WalledSource {
    /// Has `open` called behind `wall`, where `readable` can be read, and keeps what it opens there.
    ///
    /// # Errors
    /// That of `open`; or when the wall is required and cannot be put up, or the system starts no thread.
    pub fn open(
        wall: DecoderWall,
        readable: PathBuf,
        open: impl FnOnce() -> Result<Opened> + Send + 'static,
    ) -> Result<Opened> {
        let (orders, queued) = unbounded();
        let (deliver, deliveries) = bounded(0);
        let (describe, described) = bounded(1);
        let work = move || match wall.close(readable).and_then(|()| open()) {
            Ok((source, input)) => {
                let _ = describe.send(Ok(input));
                serve(source, &queued, &deliver);
            }
            Err(error) => drop(describe.send(Err(error))),
        };
        let thread = Builder::new().name("decode".to_owned()).spawn(work);
        let thread = thread.map_err(|error| anyhow!("no thread can be started: {error} (`ulimit -u` limits them)"))?;
        let mut source = WalledSource { orders, has_begun: false, deliveries: Some(deliveries), thread: Some(thread) };
        let input = described.recv().unwrap_or_else(|_| source.panicked())?;
        Ok((Box::new(source), input))
    }

    fn order(&self, order: Order) {
        // If the thread has panicked, the next delivery tells.
        let _ = self.orders.send(order);
    }

    /// Goes on with the panic of the thread.
    fn panicked(&mut self) -> ! {
        let panic = self.thread.take().and_then(|thread| thread.join().err());
        resume_unwind(panic.unwrap_or_else(|| Box::new("a thread has ended early")))
    }
}

/// Does what is ordered; delivers from the first `Next` on, until the end, an error, or until there is no receiver.
fn serve(mut source: Box<dyn Source>, orders: &Receiver<Order>, deliver: &Sender<Result<Option<Delivery>>>) {
    let mut delivers = false;
    loop {
        let order = if delivers { orders.try_recv().ok() } else { orders.recv().ok() };
        if order.is_none() && !delivers {
            return;
        }
        match order {
            Some(Order::Next) => delivers = true,
            Some(Order::LookAround(before, behind)) => source.look_around(before, behind),
            Some(Order::UsePool(pool)) => source.use_pool(pool),
            None => {
                let delivery = source.next();
                let is_last = !matches!(delivery, Ok(Some(_)));
                if deliver.send(delivery).is_err() || is_last {
                    return;
                }
            }
        }
    }
}

impl Source for WalledSource {
    fn next(&mut self) -> Result<Option<Delivery>> {
        let Some(deliveries) = &self.deliveries else { return Ok(None) };
        if !self.has_begun {
            self.order(Order::Next);
            self.has_begun = true;
        }
        let delivery = deliveries.recv().unwrap_or_else(|_| self.panicked());
        if !matches!(delivery, Ok(Some(_))) {
            self.deliveries = None;
        }
        delivery
    }

    fn look_around(&mut self, before: u32, behind: u32) {
        self.order(Order::LookAround(before, behind));
    }

    fn use_pool(&mut self, pool: Arc<dyn Pool>) {
        self.order(Order::UsePool(pool));
    }
}

impl Drop for WalledSource {
    fn drop(&mut self) {
        // Without a receiver, the thread ends at its next delivery; without orders to come, if it has not begun.
        self.deliveries = None;
        self.orders = unbounded().0;
        // A panic has been passed on, or nothing is asked of the source any more.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}
