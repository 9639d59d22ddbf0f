//! Files written beside the video: measurements of each frame (`--stats`), and curves (`--save-curves`).

use crate::options::jobs::{FileJob, LiveJob, StatsFormat};
use crate::options::shown_command;
use crate::sidecar::curves::CurveWriter;
use crate::sidecar::statistics::{CurveSaver, Recorder, Recording};
use crate::stdout;
use anyhow::Result;
use histeq::internal::equalize::EqualizeStage;
use histeq_media::pipeline::{Cancel, Input, Notices, Outcome, Progress};
use histeq_media::sink::files::{Files, Leftover, Overwrite, Target, Together};
use histeq_media::source::Developed;
use histeq_media::sys::files::{Name, PrivateFolder};
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::sync::Arc;

/// Targets of the records, checked before the input is opened.
pub struct RecordTargets {
    stats: Vec<(Target, StatsFormat)>,
    curves: Option<Target>,
}

impl RecordTargets {
    /// These targets, which get their final names together with the others of `together`.
    pub fn named_with(self, together: &Together) -> Self {
        RecordTargets {
            stats: self.stats.into_iter().map(|(target, format)| (target.named_with(together), format)).collect(),
            curves: self.curves.map(|target| target.named_with(together)),
        }
    }

    /// The targets of equalizing a file. `cancel` ends the wait for the readers of FIFOs.
    pub fn for_file(job: &FileJob, cancel: &Cancel) -> Result<Self> {
        let overwrite = beside(job.output.overwrite);
        let target = |name: &Name| -> Result<Target> {
            stdout::check(name)?;
            Ok(Target::new(name, &job.input.url, Files::One, overwrite)?.interruptible(cancel))
        };
        let stats = job.stats.iter().map(|(name, format)| target(name).map(|target| (target, *format)));
        Ok(RecordTargets {
            stats: stats.collect::<Result<_>>()?,
            curves: job.equalize.save_curves.as_ref().map(target).transpose()?,
        })
    }

    /// The targets of a piece of a file, in the folder of pieces under these names.
    pub fn for_piece(job: &FileJob, folder: &PrivateFolder, [stats, curves]: &[String; 2]) -> Result<Self> {
        let stats = job.stats.iter().map(|(_, format)| Target::in_folder(folder, stats).map(|stats| (stats, *format)));
        let stats = stats.collect::<Result<_, _>>()?;
        let curves = job.equalize.save_curves.as_ref().map(|_| Target::in_folder(folder, curves));
        Ok(RecordTargets { stats, curves: curves.transpose()? })
    }

    /// No targets.
    pub fn none() -> Self {
        RecordTargets { stats: Vec::new(), curves: None }
    }

    /// The target of `live`, written directly like a recording.
    pub fn for_live(job: &LiveJob, cancel: &Cancel) -> Result<Self> {
        let curves = job.equalize.save_curves.as_ref();
        let curves = curves.map(|name| Target::direct(name, Files::One, beside(job.overwrite))).transpose()?;
        Ok(RecordTargets { stats: Vec::new(), curves: curves.map(|target| target.interruptible(cancel)) })
    }

    fn targets(&self) -> impl Iterator<Item = &Target> {
        self.stats.iter().map(|(target, _)| target).chain(&self.curves)
    }

    /// Temporary files to remove when the program ends at once.
    pub fn leftovers(&self) -> impl Iterator<Item = Leftover> {
        self.targets().filter_map(Target::leftover)
    }

    /// The paths that are opened for the targets.
    pub fn places(&self) -> impl Iterator<Item = PathBuf> {
        self.targets().filter_map(Target::place)
    }

    /// Whether a target replaces a file.
    pub fn replace_files(&self) -> bool {
        self.targets().any(Target::replaces_file)
    }

    /// Opens the records. `title` is the video's name in a page of statistics. With `notices`, a record whose disk is
    /// full ends there with a warning: the video goes on, and the error comes at its end.
    pub fn open(self, title: &Name, notices: Option<&Notices>) -> Result<Records> {
        let recording = match self.stats.is_empty() {
            true => None,
            false => Some(Recording::create(self.stats, &title.to_string(), notices)?),
        };
        Ok(Records { recording, curves: self.curves.map(|target| CurveWriter::new(target, notices)) })
    }
}

/// What to do if a record exists. `-n` skips existing outputs only: a run that cannot write a requested record fails.
fn beside(output: Overwrite) -> Overwrite {
    if output == Overwrite::Skip { Overwrite::No } else { output }
}

/// The records while they are written.
#[derive(Clone)]
pub struct Records {
    /// The measurements, if they are written.
    pub recording: Option<Recording>,
    /// The curves, if they are written.
    pub curves: Option<CurveWriter>,
}

impl Records {
    /// Describes in a page of statistics how the video is made: by this command line, with these settings.
    pub fn describe(&self, command_line: impl Iterator<Item = Name>, settings: Map<String, Value>) {
        if let Some(recording) = &self.recording {
            recording.describe(shown_command(command_line), settings);
        }
    }

    /// `stage` with observers that write the records. `log` is how the frames of `input` were converted, if they were
    /// log.
    pub fn observe(
        &self,
        mut stage: EqualizeStage,
        (input, log): (&Input, Option<&Developed>),
        progress: &Arc<Progress>,
    ) -> EqualizeStage {
        let Records { recording, curves } = self.clone();
        if let Some(curves) = curves {
            log.iter().for_each(|log| curves.follow(log));
            stage = stage.observed_by(Box::new(CurveSaver::new(curves, input)));
        }
        match recording {
            Some(recording) => stage.observed_by(Box::new(Recorder::new(recording, input, progress.clone()))),
            None => stage,
        }
    }

    /// Finishes the files, and gives them their final names, at once or later together with other files.
    pub fn finish(self, outcome: Outcome, notices: &Notices) -> Result<()> {
        self.recording.map_or(Ok(()), |recording| recording.finish(outcome))?;
        self.curves.map_or(Ok(()), |curves| curves.finish(outcome, notices))
    }
}
