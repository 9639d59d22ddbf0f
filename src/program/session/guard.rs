//! The start of a run, before its first thread: its outputs, its sandbox, and the signals that end it.

use super::Session;
use crate::options::jobs::FileJob;
use crate::options::reading::Sandbox;
use crate::options::writing::OutputFile;
use crate::sidecar::records::RecordTargets;
use crate::{signals, stdout};
use anyhow::Result;
use histeq_media::ffmpeg::is_url;
use histeq_media::sink;
use histeq_media::sink::files::{Leftover, Target, Together};
use histeq_media::source::{InputOptions, Isolation, isolated};
use histeq_media::sys::files::Name;
use std::path::PathBuf;

/// What a run writes.
pub struct Outputs {
    /// The video.
    pub target: Target,
    /// The records that are written beside the video.
    pub records: RecordTargets,
    /// A folder of pieces, which is written into, too.
    pub folder: Option<PathBuf>,
    /// Renames video and records to their final names at the same time, if they belong together.
    pub together: Together,
}

impl From<Target> for Outputs {
    fn from(target: Target) -> Self {
        Outputs { target, records: RecordTargets::none(), folder: None, together: Together::default() }
    }
}

impl Session<'_> {
    /// The target of `output`, which must not be the file `input`.
    pub fn target(&self, output: &OutputFile, input: &Name) -> Result<Target> {
        stdout::check(&output.name)?;
        let format = output.options.format.as_deref();
        let target = sink::target(&output.name, format, input, output.overwrite)?;
        if output.is_made_up {
            target.check_made_up()?;
        }
        Ok(target.interruptible(&self.cancel))
    }

    /// The targets of the output of `job` and of the records beside it, which get their final names together.
    pub fn outputs(&self, job: &FileJob) -> Result<Outputs> {
        let together = Together::default();
        let mut target = self.target(&job.output, &job.input.url)?.named_with(&together);
        if job.input.without_links {
            target = target.without_links()?;
        }
        let records = RecordTargets::for_file(job, &self.cancel)?.named_with(&together);
        Ok(Outputs { target, records, folder: None, together })
    }

    /// Closes the sandbox around this process, if there is one: it can then only read `inputs`, and write `outputs`.
    /// Then listens for signals, and prints `answer` at the first one.
    pub fn guard(
        &self,
        sandbox: Sandbox,
        inputs: &[&InputOptions],
        outputs: &Outputs,
        answer: &'static str,
    ) -> Result<()> {
        let Outputs { target, records, folder, .. } = outputs;
        signals::stop_alarm();
        let written = target.place().into_iter().chain(records.places()).chain(folder.clone());
        let replaces = target.replaces_file() || records.replace_files();
        if let Some(wall) = sandbox.around_process(inputs, target.name(), written, replaces) {
            let network = inputs.iter().any(|input| is_url(&input.url));
            let needs_walls = inputs.iter().any(|input| input.isolation == Isolation::Required);
            // At most two inputs are open at once: sheets are drawn one after the other.
            isolated::allow(inputs.len().min(2), network, needs_walls, self.limits())?;
            let holds = wall.close()?;
            self.notices.detail(&format!("sandbox: the program {holds}"));
        }
        let temporary = target.leftover().into_iter().chain(records.leftovers()).collect();
        self.listen_for_signals(temporary, answer)
    }

    /// Cancels the run at the first signal, and prints `answer`; the second signal removes `temporary` and ends the
    /// program. Also cancels the run at its time limit, and ends the program when it takes too much memory. A child
    /// process leaves the answer to its parent, and ends with its parent.
    pub fn listen_for_signals(&self, temporary: Vec<Leftover>, answer: &'static str) -> Result<()> {
        self.memory.watch(self.console, temporary.clone())?.go_on();
        let answer = if self.stderr.is_child { signals::NOTHING } else { answer };
        signals::listen(self.cancel.clone(), self.console.clone(), temporary, answer)?;
        if self.stderr.is_child { signals::end_with_parent() } else { Ok(()) }
    }
}
