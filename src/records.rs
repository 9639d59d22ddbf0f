//! What is written beside the video: what was done to each frame (`--stats`), and the curves (`--save-curves`).

use anyhow::Result;
use histeq_video::cli::Job;
use histeq_video::curves::CurveWriter;
use histeq_video::equalize::EqualizeStage;
use histeq_video::pipeline::{Input, Outcome, Progress};
use histeq_video::sink::{Files, Leftover, Target};
use histeq_video::stats::{CurveSaver, Recorder, Recording, StatsFormat};
use std::sync::Arc;

/// Where they go. Files are looked at before anything is read.
pub struct RecordTargets {
    stats: Option<(Target, StatsFormat)>,
    curves: Option<Target>,
}

impl RecordTargets {
    /// The places that `job` names.
    pub fn of(job: &Job) -> Result<Self> {
        let target = |name: &String| Target::new(name, &job.input.url, Files::One, job.overwrite);
        let stats = job.stats.as_ref().map(|(name, format)| target(name).map(|target| (target, *format)));
        Ok(RecordTargets { stats: stats.transpose()?, curves: job.save_curves.as_ref().map(target).transpose()? })
    }

    /// Temporary files, for whoever has to give up in a hurry.
    pub fn leftovers(&self) -> impl Iterator<Item = Leftover> {
        let targets = self.stats.iter().map(|(target, _)| target).chain(&self.curves);
        targets.filter_map(Target::leftover)
    }

    /// Begins to write. `title` is what a page calls the video.
    pub fn open(self, title: &str) -> Result<Records> {
        let recording = self.stats.map(|(target, format)| Recording::create(target, format, title)).transpose()?;
        Ok(Records { recording, saving: self.curves.map(CurveWriter::new) })
    }
}

/// The files, while they are written.
#[derive(Clone)]
pub struct Records {
    recording: Option<Recording>,
    saving: Option<CurveWriter>,
}

impl Records {
    /// `stage`, observed by what writes these files.
    pub fn observe(&self, mut stage: EqualizeStage, input: &Input, progress: &Arc<Progress>) -> EqualizeStage {
        let Records { recording, saving } = self.clone();
        if let Some(saving) = saving {
            stage = stage.observed_by(Box::new(CurveSaver(saving)));
        }
        match recording {
            Some(recording) => stage.observed_by(Box::new(Recorder::new(recording, input, progress.clone()))),
            None => stage,
        }
    }

    /// Finishes the files.
    pub fn finish(self, outcome: Outcome) -> Result<()> {
        self.recording.map_or(Ok(()), |recording| recording.finish(outcome))?;
        self.saving.map_or(Ok(()), |saving| saving.finish(outcome))
    }
}
