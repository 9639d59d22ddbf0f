//! The first pass of `--smooth scene`: reads the requested part, and makes a mapping for each of its scenes.

use crate::look;
use crate::options::FileJob;
use crate::session::Run;
use crate::stage_builder::StageBuilder;
use anyhow::{Result, ensure};
use crossbeam_channel::{Receiver, Sender};
use histeq::spec::MappedScenes;
use histeq_media::pipeline::{self, Delivery, Message, Outcome, PartPosition, Sink};
use histeq_media::source;
use std::path::Path;
use std::sync::Arc;

/// The scenes of the part that `job` requests, in a run of its own; `None` if that was interrupted. Decides the look, if that is
/// still open.
///
/// # Errors
/// When the input cannot be read, or read twice.
pub fn first_pass(run: &Run<'_>, job: &mut FileJob, builder: &StageBuilder) -> Result<Option<Arc<MappedScenes>>> {
    let Run { cancel, notices, progress, .. } = run;
    let open = || {
        let (source, input) = source::open(&job.input, cancel, notices.clone(), progress.clone())?;
        let is_stored = input.is_image() || input.duration.is_some() || Path::new(&job.input.url).is_file();
        ensure!(
            is_stored,
            "{}: --smooth scene reads the input twice, which a live stream does not allow (record it first)",
            input.name
        );
        Ok((source, input))
    };
    let mut opened = open()?;
    if job.equalize.options.look_is_open() {
        // Frames around the part are read for that, which have no place in a scene of it.
        look::choose(&mut job.equalize, opened, builder.mask.as_ref(), notices)?;
        opened = open()?;
    }
    let (mut source, input) = source::filtered(opened, &job.filters.of_look(job.equalize.denoiser()), notices)?;
    source.look_around(0, 0);
    let settings = job.equalize.resolve(&input, notices)?;
    builder.check(&input, &settings)?;
    let mut survey = builder.survey(settings);
    let measure = |before: &Receiver<Message>, next: &Sender<Message>| {
        for message in before {
            let delivery = match message {
                Message::Delivery(Delivery { frame: Some(frame), position: PartPosition::Within, .. }) => {
                    survey.add(&frame)?;
                    Message::Delivery(Delivery { frame: Some(frame), ..Delivery::default() })
                }
                Message::Delivery(_) => continue,
                Message::End(outcome) => Message::End(outcome),
            };
            if next.send(delivery).is_err() {
                break;
            }
        }
        Ok(String::new())
    };
    let sink = Box::new(Nowhere);
    let measured = |tick: &mut dyn FnMut(&_)| pipeline::run_with(source, measure, sink, cancel, progress, tick);
    let summary = run.metered(input.frames, measured, |_| false)?;
    if summary.outcome == Outcome::Interrupted {
        return Ok(None);
    }
    cancel.begin_again();
    let scenes = survey.finish();
    let (frames, count, seconds) = (scenes.frames(), scenes.scenes().len(), summary.elapsed.as_secs_f64());
    let s = |count: usize| if count == 1 { "" } else { "s" };
    let counted = format!("{count} scene{} in {frames} frame{}", s(count), s(frames as usize));
    notices.note(&format!("first pass: {counted} ({seconds:.2} s)"));
    Ok(Some(scenes.into()))
}

/// Takes frames and writes nothing.
struct Nowhere;

impl Sink for Nowhere {
    fn write(&mut self, _delivery: Delivery) -> Result<()> {
        Ok(())
    }

    fn finish(self: Box<Self>, _outcome: Outcome) -> Result<Option<String>> {
        Ok(None)
    }
}
