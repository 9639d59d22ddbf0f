//! The one line at the end: how much, how fast, by what, and where the time went.

use crate::pipeline::{Outcome, Progress, Stage, Summary};
use std::time::Duration;

/// The line.
pub fn summary(summary: &Summary, progress: &Progress) -> String {
    let frames = progress.written();
    let plural = if frames == 1 { "" } else { "s" };
    let fps = frames as f64 / summary.elapsed.as_secs_f64().max(1e-6);
    let busy = |stage| seconds(progress.busy(stage));
    let damaged = match progress.damaged() {
        0 => String::new(),
        1 => "; 1 damaged frame or packet".to_owned(),
        count => format!("; {count} damaged frames or packets"),
    };
    let end = match (summary.outcome, &summary.output) {
        (Outcome::Complete, Some(name)) => format!(" -> {name}"),
        (Outcome::Interrupted, Some(name)) => format!("; interrupted, what there is -> {name}"),
        (_, None) => "; interrupted before the first frame".to_owned(),
    };
    format!(
        "{frames} frame{plural} in {} ({fps:.1} fps) by {}; decode {}, equalize {}, encode {}{damaged}{end}",
        seconds(summary.elapsed),
        summary.equalizer,
        busy(Stage::Source),
        busy(Stage::Equalize),
        busy(Stage::Sink),
    )
}

fn seconds(duration: Duration) -> String {
    format!("{:.2} s", duration.as_secs_f64())
}
