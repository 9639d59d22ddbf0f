//! The CPU backend: any number of threads, each of which runs both passes over a whole frame while the frame is in its
//! cache. Without threads, as in a browser, the caller's thread does this when a frame is submitted.
//!
//! ```text
//! submit -> jobs -> worker: histogram -> in_order: curve, in order -> map -> results -> collect, in order
//! ```
//!
//! | file | what it is |
//! |---|---|
//! | `worker.rs` | the loop of a thread |
//! | `in_order.rs` | the section that makes curves, in the order of frames |
//! | `engine.rs` | the two passes over a frame, row by row |
//! | `tiles/` | the two passes of local equalization: counters of tiles, and the blending of their curves |
//! | `colour.rs`, `chroma.rs` | the treatment of colour, and of rows of chroma |
//! | `balance.rs` | red, green and blue, stretched separately |
//! | `layout.rs` | which kernels a format needs |
//! | `word_histogram.rs`, `lookup.rs` | the counters, and the curve as a table of stored words |
//! | `simd/` | the kernels: scalar, AVX2, AVX-512, NEON |
//! | `isa.rs` | the instruction sets of this machine |

mod balance;
mod chroma;
mod colour;
mod engine;
mod in_order;
mod isa;
mod layout;
mod lookup;
mod simd;
pub mod tiles;
mod word_histogram;
mod worker;

pub use colour::Colour;
pub use engine::Engine;
pub use isa::Isa;

use super::{Equalized, Executor, Role, Work};
use crate::denoise::Steps;
use crate::frame::HostPool;
use crate::spec::time::{Remembered, Temporal};
use crate::{Error, Result};
use crossbeam_channel::{Receiver, Sender};
use in_order::InOrder;
use std::collections::VecDeque;
use std::sync::Arc;
use std::thread::JoinHandle;
use worker::{Done, NumberedTask, Shared, Worker, WorkerTask};

/// The backend that runs on the CPU.
pub struct Cpu {
    isa: Isa,
    in_order: Arc<Shared>,
    /// `None` after shutdown has begun, which ends the threads.
    jobs: Option<Sender<NumberedTask>>,
    done: Receiver<Done>,
    threads: Vec<JoinHandle<()>>,
    /// The worker that equalizes on the caller's thread, if the backend has no threads.
    own: Option<(Worker, Sender<Done>)>,
    next_ticket: u64,
    /// How many frames were submitted so far.
    frames: u64,
    /// How many frames wait for later ones.
    waiting: usize,
    /// The frames under way, oldest first; results wait here for those of the frames before them.
    under_way: VecDeque<Option<Equalized>>,
    failure: Option<String>,
}

impl Cpu {
    /// The backend with the best instruction set of this machine. With 0 threads, or if the system refuses threads,
    /// frames are equalized on the thread of the caller when they are submitted.
    pub fn new(threads: usize) -> Self {
        Cpu::in_pool(threads, HostPool::default())
    }

    /// As [`new`](Cpu::new), with results in memory of `pool`.
    pub fn in_pool(threads: usize, pool: HostPool) -> Self {
        let Some(cpu) = Cpu::open(threads, Isa::best(), pool) else {
            unreachable!("the best of the available instruction sets is available")
        };
        cpu
    }

    /// The backend with this instruction set; `None` on a machine that lacks it.
    pub fn with_isa(threads: usize, isa: Isa) -> Option<Self> {
        Cpu::open(threads, isa, HostPool::default())
    }

    fn open(threads: usize, isa: Isa, pool: HostPool) -> Option<Self> {
        let in_order = Arc::new(InOrder::new(Temporal::default()));
        let (jobs, waiting) = crossbeam_channel::unbounded();
        let (results, done) = crossbeam_channel::unbounded();
        let worker = || Some(Worker { engine: Engine::new(isa, pool.clone())?, in_order: in_order.clone() });
        let mut started = Vec::new();
        for _ in 0..threads {
            // If the system refuses further threads, those that run do the work.
            let Ok(thread) = worker()?.spawn(waiting.clone(), results.clone()) else { break };
            started.push(thread);
        }
        let alone = if started.is_empty() { Some((worker()?, results)) } else { None };
        Some(Cpu {
            isa,
            in_order,
            jobs: Some(jobs),
            done,
            threads: started,
            own: alone,
            next_ticket: 0,
            frames: 0,
            waiting: 0,
            under_way: VecDeque::new(),
            failure: None,
        })
    }

    fn check(&self) -> Result<()> {
        match &self.failure {
            Some(failure) => Err(Error::Worker(failure.clone())),
            None => Ok(()),
        }
    }

    fn send(&mut self, task: WorkerTask) -> Result<()> {
        let job = NumberedTask { ticket: self.next_ticket, task };
        if let Some((worker, results)) = &mut self.own {
            worker.work_on(job, results);
        } else if self.jobs.as_ref().is_none_or(|jobs| jobs.send(job).is_err()) {
            return Err(gone());
        }
        self.next_ticket += 1;
        Ok(())
    }

    /// Waits for the next result, of any frame, and stores it at the frame's position in `under_way`.
    fn receive(&mut self) -> Result<()> {
        let Done { number, result } = self.done.recv().map_err(|_| gone())?;
        match result {
            Ok(equalized) => {
                let oldest = self.frames - self.under_way.len() as u64;
                self.under_way[(number - oldest) as usize] = Some(equalized);
                Ok(())
            }
            Err(failure) => {
                self.failure = Some(failure);
                self.under_way.clear();
                self.check()
            }
        }
    }
}

fn gone() -> Error {
    Error::Worker("the equalizer's threads are gone".to_owned())
}

impl Executor for Cpu {
    fn submit(&mut self, work: Work) -> Result<()> {
        self.check()?;
        work.frame().bring_down()?;
        let most_waiting =
            if let Role::Equalize = work.role() { work.settings().backend_look_ahead() as usize } else { 0 };
        // If the look-ahead is shorter than before, frames beyond it stop waiting.
        while self.waiting > most_waiting {
            self.send(WorkerTask::Rest)?;
            self.waiting -= 1;
        }
        self.send(WorkerTask::Next(self.frames, Box::new(work)))?;
        self.frames += 1;
        self.under_way.push_back(None);
        self.waiting = (self.waiting + 1).min(most_waiting);
        Ok(())
    }

    fn remember(&mut self, seen: &Remembered) -> Result<()> {
        self.check()?;
        self.send(WorkerTask::Remember(Box::new(seen.clone())))
    }

    fn finish(&mut self) -> Result<()> {
        for _ in 0..std::mem::take(&mut self.waiting) {
            self.send(WorkerTask::Rest)?;
        }
        Ok(())
    }

    fn collect(&mut self) -> Result<Option<Equalized>> {
        self.check()?;
        if self.in_flight() == 0 {
            return Ok(None);
        }
        while let Some(None) = self.under_way.front() {
            self.receive()?;
        }
        Ok(self.under_way.pop_front().flatten())
    }

    fn in_flight(&self) -> usize {
        self.under_way.len().saturating_sub(self.waiting)
    }

    fn capacity(&self) -> usize {
        // One frame more than threads, so that no thread waits while a finished frame is collected.
        self.threads.len() + 1
    }

    fn name(&self) -> String {
        let threads = self.threads.len().max(1);
        format!("cpu ({}, {threads} thread{})", self.isa, if threads == 1 { "" } else { "s" })
    }
}

impl Drop for Cpu {
    fn drop(&mut self) {
        // Results that will not be collected are not worth finishing.
        self.in_order.close();
        self.jobs = None;
        for thread in self.threads.drain(..) {
            // A worker catches its own panics, so there is no error to report.
            let _ = thread.join();
        }
    }
}

/// The steps of denoising, compiled for `isa`; `None` on a machine that lacks it.
pub fn denoise_steps(isa: Isa) -> Option<Steps> {
    simd::Kernels::for_isa(isa).map(simd::Kernels::denoise_steps)
}
