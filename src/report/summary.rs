//! The lines at the end of a run: frames, time, backend, and the time of each stage.

use crate::io::one_line;
use crate::pipeline::live::LiveSummary;
use crate::pipeline::{Outcome, Progress, Stage, Summary};
use std::time::Duration;

/// The line at the end of equalizing a file.
pub fn summary(summary: &Summary, progress: &Progress) -> String {
    let busy = |stage| progress.busy(stage).as_secs_f64();
    let damaged = match progress.damaged() {
        0 => String::new(),
        1 => "; 1 damaged frame or packet".to_owned(),
        count => format!("; {count} damaged frames or packets"),
    };
    format!(
        "{} by {}; decode {:.2} s, equalize {:.2} s, encode {:.2} s{damaged}{}",
        frames_in_time(progress, "", summary.elapsed),
        summary.equalizer,
        busy(Stage::Source),
        busy(Stage::Equalize),
        busy(Stage::Sink),
        destination(summary)
    )
}

/// The line at the end of a comparison.
pub fn compare_summary(summary: &Summary, progress: &Progress) -> String {
    frames_in_time(progress, "compared ", summary.elapsed) + &destination(summary)
}

/// The lines at the end of a live run: with latency, and frames that outputs missed.
pub fn live_summary(summary: &LiveSummary, progress: &Progress) -> String {
    let mut text = format!(
        "{} by {}, {} dropped",
        frames_in_time(progress, "", summary.elapsed),
        summary.equalizer,
        summary.dropped
    );
    if progress.damaged() > 0 {
        text += &format!(", {} damaged", progress.damaged());
    }
    let milliseconds = |share| summary.latency.percentile(share).map(|time| time.as_secs_f64() * 1e3);
    if let (Some(half), Some(most)) = (milliseconds(0.5), milliseconds(0.95)) {
        let end = if summary.shown.is_some() { "shown" } else { "equalized" };
        text += &format!("; latency from capture to {end}: median {half:.1} ms, 95th percentile {most:.1} ms");
    }
    if let Some(shown) = summary.shown {
        text += &format!("; {shown} shown");
    }
    for output in &summary.outputs {
        text += &format!("\n{} -> {}", frames(output.frames), one_line(&output.name));
        match (output.missed, output.dropped) {
            (0, 0) => {}
            (0, dropped) => text += &format!(", {dropped} dropped because it was too slow"),
            // During an attempt to reconnect, frames count as dropped.
            (missed, dropped) => text += &format!(", {} dropped because it was away", missed + dropped),
        }
    }
    text
}

/// Frames, time and rate; `verb` is empty or ends with a space.
fn frames_in_time(progress: &Progress, verb: &str, elapsed: Duration) -> String {
    let (written, seconds) = (progress.written(), elapsed.as_secs_f64());
    format!("{} {verb}in {seconds:.2} s ({:.1} fps)", frames(written), written as f64 / seconds.max(1e-6))
}

fn frames(count: u64) -> String {
    format!("{count} frame{}", if count == 1 { "" } else { "s" })
}

/// The name of the output.
fn destination(summary: &Summary) -> String {
    match (summary.outcome, &summary.output) {
        (Outcome::Complete, Some(name)) => format!(" -> {}", one_line(name)),
        (Outcome::Interrupted, Some(name)) => format!("; interrupted, what there is -> {}", one_line(name)),
        (_, None) => "; interrupted before the first frame".to_owned(),
    }
}
