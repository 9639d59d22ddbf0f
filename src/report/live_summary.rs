//! The lines at the end of a live run: how much, how late, and who missed what.

use crate::pipeline::Progress;
use crate::pipeline::live::LiveSummary;

/// The lines, joined.
pub fn live_summary(tally: &LiveSummary, progress: &Progress) -> String {
    let seconds = tally.elapsed.as_secs_f64().max(1e-6);
    let equalized = progress.written();
    let fps = equalized as f64 / seconds;
    let mut text = format!(
        "{equalized} frame{} in {seconds:.2} s ({fps:.1} fps) by {}, {} dropped",
        if equalized == 1 { "" } else { "s" },
        tally.equalizer,
        tally.dropped
    );
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
        let plural = if output.frames == 1 { "" } else { "s" };
        text += &format!("\n{} frame{plural} -> {}", output.frames, output.name);
        match (output.missed, output.dropped) {
            (0, 0) => {}
            (0, dropped) => text += &format!(", {dropped} dropped because it was too slow"),
            // While a connection is tried, frames are dropped like those that come too fast.
            (missed, dropped) => text += &format!(", {} dropped because it was away", missed + dropped),
        }
    }
    text
}
