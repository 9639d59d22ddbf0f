//! The lines at the end of a run: how much, how fast, by what, and where the time went.

use crate::pipeline::live::LiveSummary;
use crate::pipeline::{Outcome, Progress, Stage, Summary};
use std::time::Duration;

/// The line at the end of a video that was equalized.
pub fn summary(summary: &Summary, progress: &Progress) -> String {
    let busy = |stage| progress.busy(stage).as_secs_f64();
    let damaged = match progress.damaged() {
        0 => String::new(),
        1 => "; 1 damaged frame or packet".to_owned(),
        count => format!("; {count} damaged frames or packets"),
    };
    format!(
        "{} by {}; decode {:.2} s, equalize {:.2} s, encode {:.2} s{damaged}{}",
        pace(progress, "", summary.elapsed),
        summary.equalizer,
        busy(Stage::Source),
        busy(Stage::Equalize),
        busy(Stage::Sink),
        end(summary)
    )
}

/// The line at the end of a comparison.
pub fn compare_summary(summary: &Summary, progress: &Progress) -> String {
    pace(progress, "compared ", summary.elapsed) + &end(summary)
}

/// The lines at the end of a live run, joined: how late frames were, too, and which outputs missed some.
pub fn live_summary(tally: &LiveSummary, progress: &Progress) -> String {
    let mut text = format!("{} by {}, {} dropped", pace(progress, "", tally.elapsed), tally.equalizer, tally.dropped);
    if progress.damaged() > 0 {
        text += &format!(", {} damaged", progress.damaged());
    }
    let milliseconds = |share| tally.latency.percentile(share).map(|time| time.as_secs_f64() * 1e3);
    if let (Some(half), Some(most)) = (milliseconds(0.5), milliseconds(0.95)) {
        let end = if tally.shown.is_some() { "shown" } else { "equalized" };
        text += &format!("; latency from capture to {end}: median {half:.1} ms, 95th percentile {most:.1} ms");
    }
    if let Some(shown) = tally.shown {
        text += &format!("; {shown} shown");
    }
    for output in &tally.outputs {
        text += &format!("\n{} -> {}", frames(output.frames), output.name);
        match (output.missed, output.dropped) {
            (0, 0) => {}
            (0, dropped) => text += &format!(", {dropped} dropped because it was too slow"),
            // While a connection is tried, frames are dropped like those that come too fast.
            (missed, dropped) => text += &format!(", {} dropped because it was away", missed + dropped),
        }
    }
    text
}

/// How many frames there were, in how much time; `what` is what was done to them.
fn pace(progress: &Progress, what: &str, elapsed: Duration) -> String {
    let (written, seconds) = (progress.written(), elapsed.as_secs_f64());
    format!("{} {what}in {seconds:.2} s ({:.1} fps)", frames(written), written as f64 / seconds.max(1e-6))
}

fn frames(count: u64) -> String {
    format!("{count} frame{}", if count == 1 { "" } else { "s" })
}

/// Where the frames went.
fn end(summary: &Summary) -> String {
    match (summary.outcome, &summary.output) {
        (Outcome::Complete, Some(name)) => format!(" -> {name}"),
        (Outcome::Interrupted, Some(name)) => format!("; interrupted, what there is -> {name}"),
        (_, None) => "; interrupted before the first frame".to_owned(),
    }
}
