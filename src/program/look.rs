//! The look of a run: `--look auto` is decided by the first frames of the input, before the filters and the stage are made.

use crate::mask::NamedMask;
use crate::options::EqualizeOptions;
use anyhow::Result;
use histeq::equalize::measure;
use histeq_media::pipeline::{Input, Notices, Source};
use histeq_media::source::PeekedSource;

/// Seconds that `--look auto` looks at.
const SECONDS: f64 = 2.0;

/// The input with its look decided. Frames that are read for that are delivered afterwards.
///
/// # Errors
/// When the input cannot be read.
pub fn choose(
    equalize: &mut EqualizeOptions,
    (source, input): (Box<dyn Source>, Input),
    mask: Option<&NamedMask>,
    notices: &Notices,
) -> Result<(Box<dyn Source>, Input)> {
    if !equalize.look_is_open() {
        return Ok((source, input));
    }
    let (source, reason) = decide(equalize, source, &input, mask)?;
    notices.note(&reason);
    Ok((Box::new(source), input))
}

/// Decides the look of `source`, whose frames are delivered afterwards, and says which look, and why.
///
/// # Errors
/// When the input cannot be read.
pub fn decide(
    equalize: &mut EqualizeOptions,
    mut source: Box<dyn Source>,
    input: &Input,
    mask: Option<&NamedMask>,
) -> Result<(PeekedSource, String)> {
    let (before, behind) = equalize.most_around(input);
    source.look_around(before, behind);
    let frames = (SECONDS * input.rate().unwrap_or(25.0)).clamp(1.0, 120.0) as usize;
    let mut measures = Vec::new();
    let source = PeekedSource::new(source, frames, |frame| {
        // Filters may bring frames to the size of the mask afterwards.
        let mask = mask.map(|named| &*named.mask).filter(|mask| mask.size() == (frame.width(), frame.height()));
        measures.push(measure(frame, frame.whole(), mask));
    })?;
    let reason = equalize.choose_look(&measures.into_iter().collect::<Result<Vec<_>, histeq::Error>>()?);
    Ok((source, reason))
}
