//! The steps between opening an input and equalizing it: filters, settings, checks, the frames around the requested
//! part, and the stage with its observers.

use crate::options::picture::{EqualizeOptions, FilterOptions};
use crate::sidecar::records::Records;
use crate::stage_builder::StageBuilder;
use anyhow::Result;
use histeq::internal::equalize::{EqualizeStage, Verifier};
use histeq::internal::spec::parameters::{Look, Settings, Stretch};
use histeq_media::pipeline::{Input, Notices, Progress, Source};
use histeq_media::source::{self, Developed};
use std::sync::Arc;

/// Which frames around the requested part are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Around {
    /// The frames that the settings need.
    AsSettings,
    /// No frames around the part.
    Nothing,
    /// The frames that the source itself chooses: for live inputs, and if only packets are read.
    BySource,
}

/// An input that is ready to be equalized.
pub struct Prepared {
    pub source: Box<dyn Source>,
    pub input: Input,
    pub settings: Settings,
    /// Whether the natural look has become thermal for this input.
    pub is_thermal: bool,
    /// How log footage was converted, if the input was log.
    pub log: Option<Developed>,
}

/// Makes an input ready to be equalized. Without `builder`, which has the mask, no mask is checked. The first of
/// `notices` gets messages on the input and its filters, the second one those on the settings.
///
/// # Errors
/// When filters cannot be opened, or region or mask do not fit its frames.
pub fn prepare(
    opened: (Box<dyn Source>, Input),
    equalize: &EqualizeOptions,
    filters: &FilterOptions,
    builder: Option<&StageBuilder>,
    around: Around,
    [notices, on_settings]: [&Notices; 2],
) -> Result<Prepared> {
    let (source, input, log) = source::filter::developed(opened, filters.log(equalize), notices)?;
    let (source, input) = match &filters.lut {
        Some(name) => source::filter::looked_up((source, input), name, notices)?,
        None => (source, input),
    };
    let (mut source, input) = match filters.filter.as_deref() {
        Some(chain) => source::filter::filtered((source, input), "--filter", chain, notices)?,
        None => (source, input),
    };
    let settings = equalize.resolve(&input, on_settings)?;
    input.limits.note_look_ahead(settings.look_ahead() as usize);
    builder.map_or(Ok(()), |builder| builder.check(&input, &settings))?;
    match around {
        Around::AsSettings => source.look_around(settings.warm_up(), settings.look_ahead()),
        Around::Nothing => source.look_around(0, 0),
        Around::BySource => {}
    }
    let options = &equalize.options;
    let is_thermal = options.look == Look::Natural && options.levels.is_none();
    let is_thermal = is_thermal && matches!(settings.stretch, Stretch::Full { .. }) && equalize.load_curves.is_none();
    Ok(Prepared { source, input, settings, is_thermal, log })
}

impl Prepared {
    /// `stage` with the observers that write `records` and, with `verify`, compare its frames with the reference. From
    /// now on, the source reads into the memory of the stage.
    pub fn observe(
        &mut self,
        stage: EqualizeStage,
        records: &Records,
        progress: &Arc<Progress>,
        verify: bool,
    ) -> EqualizeStage {
        match self.log {
            Some(log) => progress.set_about(log.named.to_string()),
            None if self.is_thermal => progress.set_about("gray of more than 8 bits gets the look thermal".to_owned()),
            None => {}
        }
        // Denoising takes longer than all else, and gets as many threads as there are cores.
        let stage = stage.denoising_on(self.input.limits.threads());
        let mut stage = records.observe(stage, (&self.input, self.log.as_ref()), progress);
        if verify {
            stage = stage.observed_by(Box::new(Verifier::default()));
        }
        stage.input_pool().into_iter().for_each(|pool| self.source.use_pool(pool));
        stage
    }
}
