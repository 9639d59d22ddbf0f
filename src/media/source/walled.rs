//! A source behind a wall: it is opened and read on a thread of its own, which can do nothing else.

use crate::pipeline::{Delivery, Input, Source};
use crate::sandbox::DecoderWall;
use crate::sys::no_thread;
use anyhow::Result;
use crossbeam_channel::{Receiver, Sender, TryRecvError, bounded, unbounded};
use histeq::frame::Pool;
use histeq::frame::limits;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

/// How many frames have to fit into the memory for those that are under way, before one is read ahead.
const AHEAD: usize = 16;

/// An open source, and its description.
type Opened = (Box<dyn Source>, Input);

/// A source on a thread behind a wall. From the first delivery on, the thread is one ahead, if frames are small beside the
/// memory for them; else it waits while nothing is asked of it.
pub struct WalledSource {
    /// `None` once the thread is told to end.
    orders: Option<Sender<Order>>,
    deliveries: Receiver<Result<Option<Delivery>>>,
    /// `None` once it has been joined.
    thread: Option<JoinHandle<()>>,
}

/// What is asked of the thread, each as the method of [`Source`] of its name.
enum Order {
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
        readable: Vec<PathBuf>,
        open: impl FnOnce() -> Result<Opened> + Send + 'static,
    ) -> Result<Opened> {
        let (orders, queued) = unbounded();
        let (deliver, deliveries) = unbounded();
        let (describe, described) = bounded(1);
        let work = move || match wall.close(readable).and_then(|()| open()) {
            Ok((source, input)) => {
                let _ = describe.send(Ok(input));
                serve(source, &queued, &deliver);
            }
            Err(error) => drop(describe.send(Err(error))),
        };
        let thread = Builder::new().name("decode".to_owned()).spawn(work);
        let thread = thread.map_err(|error| no_thread(&error))?;
        let mut source = WalledSource { orders: Some(orders), deliveries, thread: Some(thread) };
        let input = described.recv().unwrap_or_else(|_| source.panicked())?;
        Ok((Box::new(source), input))
    }

    fn order(&self, order: Order) {
        // If the thread has panicked, the next delivery tells.
        let _ = self.orders.as_ref().map(|orders| orders.send(order));
    }

    /// Goes on with the panic of the thread.
    fn panicked(&mut self) -> ! {
        let panic = self.thread.take().and_then(|thread| thread.join().err());
        resume_unwind(panic.unwrap_or_else(|| Box::new("a thread has ended early")))
    }
}

/// Does what is ordered, until there are no orders to come. Behind a small frame, it delivers one more than was asked for.
fn serve(mut source: Box<dyn Source>, orders: &Receiver<Order>, deliver: &Sender<Result<Option<Delivery>>>) {
    let (mut asked, mut delivered, mut ahead) = (0, 0, 0);
    loop {
        let may_deliver = delivered < asked + ahead;
        let order = if may_deliver { orders.try_recv() } else { orders.recv().map_err(TryRecvError::from) };
        match order {
            Ok(Order::Next) => asked += 1,
            Ok(Order::LookAround(before, behind)) => source.look_around(before, behind),
            Ok(Order::UsePool(pool)) => source.use_pool(pool),
            Err(TryRecvError::Disconnected) => return,
            Err(TryRecvError::Empty) => {
                let delivery = source.next();
                ahead = u64::from(matches!(&delivery, Ok(Some(delivery)) if is_small(delivery)));
                delivered += 1;
                // Without a receiver, there are no orders to come.
                let _ = deliver.send(delivery);
            }
        }
    }
}

/// Whether there is room for another frame like this one ahead of those that the engine lets be under way.
fn is_small(delivery: &Delivery) -> bool {
    delivery.frame.as_ref().is_none_or(|frame| AHEAD * frame.bytes() <= limits::under_way())
}

impl Source for WalledSource {
    fn next(&mut self) -> Result<Option<Delivery>> {
        self.order(Order::Next);
        self.deliveries.recv().unwrap_or_else(|_| self.panicked())
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
        self.orders = None;
        // A panic has been passed on, or nothing is asked of the source any more.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}
