//! The look of a run: `--look auto` is decided by the first frames of the input, before the filters and the stage are made.

use crate::mask::NamedMask;
use crate::options::EqualizeOptions;
use anyhow::Result;
use histeq::equalize::measure;
use histeq::options::Options;
use histeq_media::pipeline::{Input, Notices, Source};
use histeq_media::source::PeekedSource;

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
    if !equalize.options.look_is_open() {
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
    let video = equalize.video(input);
    let (before, behind) = equalize.options.most_around(&video);
    source.look_around(before, behind);
    let (mut measures, mut bytes) = (Vec::new(), 0);
    let source = PeekedSource::new(source, |frame| {
        // Filters may bring frames to the size of the mask afterwards.
        let mask = mask.map(|named| &*named.mask).filter(|mask| mask.size() == (frame.width(), frame.height()));
        measures.push(measure(frame, frame.whole(), mask));
        bytes += frame.bytes();
        Options::are_enough_to_choose_by(&video, measures.len(), bytes)
    })?;
    let reason = equalize.options.choose_look(&measures.into_iter().collect::<Result<Vec<_>, histeq::Error>>()?);
    Ok((source, format!("--look auto: {reason}")))
}
