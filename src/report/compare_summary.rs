//! The one line at the end of a comparison.

use crate::pipeline::{Outcome, Progress, Summary};

/// The line.
pub fn compare_summary(summary: &Summary, progress: &Progress) -> String {
    let frames = progress.written();
    let plural = if frames == 1 { "" } else { "s" };
    let seconds = summary.elapsed.as_secs_f64();
    let fps = frames as f64 / seconds.max(1e-6);
    let end = match (summary.outcome, &summary.output) {
        (Outcome::Complete, Some(name)) => format!(" -> {name}"),
        (Outcome::Interrupted, Some(name)) => format!("; interrupted, what there is -> {name}"),
        (_, None) => "; interrupted before the first frame".to_owned(),
    };
    format!("{frames} frame{plural} compared in {seconds:.2} s ({fps:.1} fps){end}")
}
