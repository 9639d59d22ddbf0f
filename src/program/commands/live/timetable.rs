//! The settings of a camera that apply only at some times of the day.

use crate::options::jobs::{LiveJob, Scheduled};
use crate::options::picture::EqualizeOptions;
use crate::stage_builder::StageBuilder;
use anyhow::Result;
use histeq::internal::spec::parameters::Settings;
use histeq_media::pipeline::live::SharedSettings;
use histeq_media::pipeline::{Input, Notices};
use histeq_media::sys::{local_time, zone_fault};

/// The settings of a camera by the time of the day.
pub(super) struct Timetable<'a> {
    entries: Vec<(&'a Scheduled, Settings)>,
    otherwise: (&'a EqualizeOptions, Settings),
    /// The index of the entry that applies, if any.
    holds: Option<usize>,
}

impl<'a> Timetable<'a> {
    /// The timetable of `job`. `otherwise` are the settings for times that no entry covers.
    ///
    /// # Errors
    /// When the options of an entry conflict with this input, or with the mask of `builder`.
    pub fn new(
        job: &'a LiveJob,
        (input, builder): (&Input, &StageBuilder),
        otherwise: Settings,
        notices: &Notices,
    ) -> Result<Self> {
        let entry = |scheduled: &'a Scheduled| {
            let settings = scheduled.equalize.resolve(input, notices)?;
            builder.check(input, &settings)?;
            Ok((scheduled, settings))
        };
        if !job.schedule.is_empty() {
            zone_fault().map_or(Ok(()), |fault| notices.warn(fault))?;
        }
        let entries = job.schedule.iter().map(entry).collect::<Result<_>>()?;
        Ok(Timetable { entries, otherwise: (&job.equalize, otherwise), holds: None })
    }

    /// The options that [`apply`](Self::apply) has set last, and their settings.
    pub fn holding(&self) -> (&'a EqualizeOptions, Settings) {
        let entry = |index: usize| (&self.entries[index].0.equalize, self.entries[index].1);
        self.holds.map_or(self.otherwise, entry)
    }

    /// Sets the settings of the current time if they differ from those before, and returns their options; `None` if
    /// nothing changes.
    pub fn apply(&mut self, settings: &SharedSettings, notices: &Notices) -> Option<&'a EqualizeOptions> {
        if self.entries.is_empty() {
            return None;
        }
        let now = local_time().time();
        let holds = self.entries.iter().position(|(scheduled, _)| scheduled.holds_at(now));
        if holds == self.holds {
            return None;
        }
        self.holds = holds;
        let (equalize, new) = self.holding();
        settings.set(new);
        notices.changed(&match holds.map(|index| self.entries[index].0) {
            Some(scheduled) => format!("the schedule says {} until {}", scheduled.text, scheduled.until),
            None => "the schedule says nothing else from now on".to_owned(),
        });
        Some(equalize)
    }
}
