//! The times at which the stages of a frame ran on the device. They show whether copies and kernels overlap.

use crate::cuda::error::{Doing, Error};
use cudarc::driver::sys::CUevent_flags::CU_EVENT_DEFAULT;
use cudarc::driver::{CudaContext, CudaEvent, CudaStream};
use std::ops::Range;
use std::sync::Arc;

/// The stages of one frame, in milliseconds since the ring was made.
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline {
    /// The upload of the samples.
    pub upload: Range<f32>,
    /// The kernels, from the first to the last.
    pub kernels: Range<f32>,
    /// The download of the samples.
    pub download: Range<f32>,
}

/// The events of a slot's timeline.
pub(crate) struct Marks {
    origin: Arc<CudaEvent>,
    pub upload: StageEvents,
    pub kernels: StageEvents,
    pub download: StageEvents,
}

/// The events at the start and the end of a stage.
pub(crate) struct StageEvents {
    begin: CudaEvent,
    end: CudaEvent,
}

/// An event that records its time.
fn timed(context: &Arc<CudaContext>) -> Result<CudaEvent, Error> {
    context.new_event(Some(CU_EVENT_DEFAULT)).doing("making an event")
}

/// Records on `stream` the event that timelines count from.
pub(crate) fn origin(stream: &CudaStream) -> Result<Arc<CudaEvent>, Error> {
    let event = timed(stream.context())?;
    event.record(stream).doing("recording an event")?;
    Ok(Arc::new(event))
}

impl Marks {
    pub fn new(context: &Arc<CudaContext>, origin: &Arc<CudaEvent>) -> Result<Self, Error> {
        let stage = || Ok(StageEvents { begin: timed(context)?, end: timed(context)? });
        Ok(Marks { origin: origin.clone(), upload: stage()?, kernels: stage()?, download: stage()? })
    }

    /// The timeline, after all stages have run.
    pub fn timeline(&self) -> Result<Timeline, Error> {
        let time = |event: &CudaEvent| self.origin.elapsed_ms(event).doing("reading an event's time");
        let span = |stage: &StageEvents| Ok(time(&stage.begin)?..time(&stage.end)?);
        Ok(Timeline { upload: span(&self.upload)?, kernels: span(&self.kernels)?, download: span(&self.download)? })
    }
}

impl StageEvents {
    pub fn begin(&self, stream: &CudaStream) -> Result<(), Error> {
        self.begin.record(stream).doing("recording an event")
    }

    pub fn end(&self, stream: &CudaStream) -> Result<(), Error> {
        self.end.record(stream).doing("recording an event")
    }
}
