//! The first pass of `--smooth scene`: reads the requested part, and makes a mapping for each of its scenes.

use crate::options::jobs::FileJob;
use crate::report::{Metered, counted};
use crate::session::{Around, Prepared, Session, prepare};
use crate::stage_builder::StageBuilder;
use anyhow::{Result, ensure};
use crossbeam_channel::{Receiver, Sender};
use histeq::internal::spec::time::MappedScenes;
use histeq_media::pipeline::{self, Delivery, Message, Outcome, PartPosition, Sink};
use histeq_media::sys::files::Name;
use std::sync::Arc;

/// Finds the scenes of the part that `job` requests, in a pass of its own; `None` if that was interrupted.
///
/// # Errors
/// When the input cannot be read, or read twice.
pub fn find_scenes(session: &Session<'_>, job: &FileJob, builder: &StageBuilder) -> Result<Option<Arc<MappedScenes>>> {
    let Session { cancel, notices, progress, .. } = session;
    let opened = session.open(&job.input, notices)?;
    let input = &opened.1;
    let is_stored = input.is_image() || input.duration.is_some() || job.input.url.path().is_file();
    ensure!(
        is_stored,
        "{}: --smooth scene reads the input twice, which a live stream does not allow (record it first)",
        input.name
    );
    let Prepared { source, input, settings, .. } =
        prepare(opened, &job.equalize, &job.filters, Some(builder), Around::Nothing, [notices; 2])?;
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
    let source = (source, session.limits());
    let measured = |tick: &mut dyn FnMut(&_)| pipeline::run_with(source, measure, sink, cancel, progress, tick);
    let summary = session.metered(Metered::for_input(&input), measured, |_| false)?;
    if summary.outcome == Outcome::Interrupted {
        return Ok(None);
    }
    cancel.begin_again();
    let scenes = survey.finish();
    let (frames, count) = (counted(scenes.frames(), "frame"), counted(scenes.scenes().len() as u64, "scene"));
    notices.note(&format!("first pass: {count} in {frames} ({:.2} s)", summary.elapsed.as_secs_f64()));
    Ok(Some(scenes.into()))
}

/// Discards all frames.
struct Nowhere;

impl Sink for Nowhere {
    fn write(&mut self, _delivery: Delivery) -> Result<()> {
        Ok(())
    }

    fn finish(self: Box<Self>, _outcome: Outcome) -> Result<Option<Name>> {
        Ok(None)
    }
}
