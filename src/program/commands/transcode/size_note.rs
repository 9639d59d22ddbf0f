//! Notes at the end of a run: that the output is much larger than its input, and that a GPU could encode it.

use crate::options::jobs::FileJob;
use crate::options::writing::Purpose;
use histeq_media::ffmpeg::encode::Encoder;
use histeq_media::pipeline::{Notices, Progress, Stage};
use histeq_media::sink::OutputKind;
use histeq_media::sys::files::Name;
use std::time::Duration;

/// The bytes by which an output has to exceed its input before that is noted.
const NOTICED: u64 = 1_000_000;

/// Whether the output is expected to be small: its encoder is not the user's choice, and is not lossless.
pub fn may_be_smaller(job: &FileJob) -> bool {
    let (name, format) = (&job.output.name, job.output.options.format.as_deref());
    let is_encoded = OutputKind::for_name(name, format).is_encoded_video();
    let is_large = job.purpose.is_some_and(Purpose::is_large);
    is_encoded && !is_large && (job.purpose.is_some() || job.output.options.encoder.encoder.is_none())
}

/// Notes that the output is more than twice as large as the input, and what helps.
pub fn compare(input: &Name, output: &Name, notices: &Notices) {
    let bytes = |name: &Name| std::fs::metadata(name).ok().filter(|file| file.is_file()).map(|file| file.len());
    let (Some(before), Some(after)) = (bytes(input), bytes(output)) else { return };
    if after > 2 * before && after - before > NOTICED {
        let (times, megabytes) = (after as f64 / before as f64, |bytes: u64| bytes as f64 / 1e6);
        // GIF and APNG have no quality option.
        let is_of_images = output.path().extension().is_some_and(|end| end == "gif" || end == "apng");
        let remedy = match is_of_images {
            true => "a smaller --fit, or a name that ends in .mp4 makes".to_owned(),
            false => {
                let most = megabytes(before).max(1.0);
                format!("a higher --crf, --for web or --target-size {most:.0}M makes")
            }
        };
        notices.note(&format!(
            "{output} is {times:.1} times as large as {input} ({:.1} MB, {:.1} MB): {remedy} it smaller",
            megabytes(after),
            megabytes(before),
        ));
    }
}

/// The least time of encoding, and its least share of a run, for which an encoder of the GPU is proposed.
const LONG: Duration = Duration::from_secs(30);
const MIN_SHARE: f64 = 0.6;

/// Notes that a CPU encoder took most of the time of a run on a GPU, and that the GPU may have an encoder.
pub fn propose_gpu(equalizer: &str, progress: &Progress, elapsed: Duration, notices: &Notices) {
    if is_slow_beside_gpu(equalizer, progress.busy(Stage::Sink), elapsed) && Encoder::find("hevc_nvenc").is_some() {
        notices
            .note("encoding took most of the time: --encoder hevc_nvenc or h264_nvenc is faster, where the GPU has it");
    }
}

fn is_slow_beside_gpu(equalizer: &str, encoding: Duration, elapsed: Duration) -> bool {
    equalizer.starts_with("cuda") && encoding >= LONG && encoding.as_secs_f64() > MIN_SHARE * elapsed.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_encoder_of_the_gpu_is_proposed_where_that_would_help() {
        let seconds = Duration::from_secs;
        assert!(is_slow_beside_gpu("cuda (GPU 0)", seconds(80), seconds(100)));
        assert!(!is_slow_beside_gpu("cpu (avx2)", seconds(80), seconds(100)));
        assert!(!is_slow_beside_gpu("cuda (GPU 0)", seconds(20), seconds(100)));
        assert!(!is_slow_beside_gpu("cuda (GPU 0)", seconds(8), seconds(10)));
    }
}
