//! The note about an output that is much larger than its input.

use crate::options::{FileJob, Purpose};
use histeq_media::pipeline::Notices;
use histeq_media::sink::OutputKind;

/// How much larger an output is, in bytes, before that is noted.
const NOTICED: u64 = 1_000_000;

/// Whether the output is to be small: its encoder is not the user's choice, and is not lossless.
pub fn may_be_smaller(job: &FileJob) -> bool {
    let (name, format) = (&job.output.name, job.output.options.format.as_deref());
    let is_encoded = OutputKind::of(name, format).is_encoded_video();
    let is_large = job.purpose.is_some_and(Purpose::is_large);
    is_encoded && !is_large && (job.purpose.is_some() || job.output.options.encoder.encoder.is_none())
}

/// Notes that the output is more than twice as large as the input, and what helps.
pub fn compare(input: &str, output: &str, notices: &Notices) {
    let bytes = |name: &str| std::fs::metadata(name).ok().filter(|file| file.is_file()).map(|file| file.len());
    let (Some(before), Some(after)) = (bytes(input), bytes(output)) else { return };
    if after > 2 * before && after - before > NOTICED {
        let (times, megabytes) = (after as f64 / before as f64, |bytes: u64| bytes as f64 / 1e6);
        notices.note(&format!(
            "{output} is {times:.1} times as large as {input} ({:.1} MB, {:.1} MB): a higher --crf, --for web or \
             --target-size {:.0}M makes it smaller",
            megabytes(after),
            megabytes(before),
            megabytes(before).max(1.0)
        ));
    }
}
