//! The result of a run: frames, time, backend, and the time of each stage.

use super::events::{OutputRecord, ResultRecord, bytes_of};
use crate::options::jobs::Unchanged;
use histeq_media::pipeline::live::{LiveSummary, Written};
use histeq_media::pipeline::{NOT_CORRECTED, Outcome, Progress, Stage, Summary, UNCHANGED};
use histeq_media::sys::files::Name;
use histeq_media::sys::one_line;
use std::time::Duration;

/// The result of equalizing a file.
pub fn summary(summary: &Summary, progress: &Progress) -> ResultRecord {
    let busy = |stage| progress.busy(stage).as_secs_f64();
    let damaged = match progress.damaged() {
        0 => String::new(),
        1 => "1 damaged frame or packet\n".to_owned(),
        count => format!("{count} damaged frames or packets\n"),
    };
    let stages = format!(
        "decode {:.2} s, equalize {:.2} s, encode {:.2} s",
        busy(Stage::Source),
        busy(Stage::Equalize),
        busy(Stage::Sink),
    );
    let last = with_destination(&frames_in_time(progress, "", summary.elapsed), summary);
    let line = format!("{}{damaged}{stages} by {}\n{last}", found(progress), summary.equalizer);
    ResultRecord { outputs: outputs(summary, progress), ..record(progress, summary.elapsed, line) }
}

/// The result of equalizing a file that needs no correction, if a copy of it was made, or nothing was written.
pub fn unchanged_summary(result: &Summary, progress: &Progress, unchanged: Unchanged) -> ResultRecord {
    let line = frames_in_time(progress, "", result.elapsed);
    let copied = matches!(unchanged, Unchanged::Copy);
    let (line, done) = match (&result.output, copied) {
        (Some(name), true) => (with_name(&format!("{line}; a copy of the input"), name), "copied"),
        _ => (format!("{line}; nothing was written (--unchanged skip)"), "skipped"),
    };
    let outputs = if copied { outputs(result, progress) } else { Vec::new() };
    let line = format!("{}{line}", found(progress));
    ResultRecord { outputs, unchanged: Some(done.to_owned()), ..record(progress, result.elapsed, line) }
}

/// What the natural method reports for video that needs no correction, and for video that needs nearly none.
const NOTHING: &str = "nothing to correct";
const NEXT_TO_NOTHING: &str = "next to nothing to correct";

/// A line on what the video lacked, and whether it was log; may be empty.
fn found(progress: &Progress) -> String {
    let words = progress.found_in_words();
    // Without a hint, people think that nothing was done. What is left out of a picture stands behind a comma.
    let hint = match words.as_deref().and_then(|words| words.split(", ").next()) {
        Some(NOTHING) => {
            ", so it looks as before (`histeq-video preview` shows other looks, --method global equalizes)"
        }
        Some(NEXT_TO_NOTHING) => {
            ", so it looks much as before (`histeq-video preview` shows other looks, --method global equalizes)"
        }
        Some(UNCHANGED) => ", so it looks as before (`histeq-video preview` shows other looks)",
        _ => "",
    };
    let words = words.map(|found| with_strength(found, progress.strength()));
    words.map_or_else(String::new, |found| format!("{found}{hint}\n"))
}

/// What was found, and how much of it was corrected, if that is not all of it.
pub(super) fn with_strength(found: String, strength: Option<f64>) -> String {
    match strength.filter(|&strength| strength < 1.0 && found != NOTHING && !found.ends_with(NOT_CORRECTED)) {
        Some(strength) => format!("{found}; corrected with strength {strength}"),
        None => found,
    }
}

/// The result of a comparison.
pub fn compare_summary(summary: &Summary, progress: &Progress) -> ResultRecord {
    let line = with_destination(&frames_in_time(progress, "compared ", summary.elapsed), summary);
    ResultRecord { outputs: outputs(summary, progress), ..record(progress, summary.elapsed, line) }
}

/// The result of equalizing `frames` frames, `damaged` of them damaged, by several processes. `name` is the output, if
/// there is one; `line` is the summary for people.
pub fn jobs_summary(frames: u64, damaged: u64, name: Option<&Name>, elapsed: Duration, line: String) -> ResultRecord {
    let outputs = name.map(|name| OutputRecord::new(name, frames)).into_iter().collect();
    ResultRecord { frames, damaged, outputs, seconds: rounded(elapsed), summary: line, ..ResultRecord::default() }
}

/// The record of a run with its numbers, and this summary.
fn record(progress: &Progress, elapsed: Duration, summary: String) -> ResultRecord {
    let busy = |stage| rounded(progress.busy(stage));
    ResultRecord {
        frames: progress.written(),
        damaged: progress.damaged(),
        dropped: progress.dropped(),
        seconds: rounded(elapsed),
        decode_seconds: busy(Stage::Source),
        equalize_seconds: busy(Stage::Equalize),
        encode_seconds: busy(Stage::Sink),
        summary,
        found: progress.found().map(Into::into),
        found_text: progress.found_in_words(),
        strength: progress.strength(),
        ..ResultRecord::default()
    }
}

/// Seconds, truncated to milliseconds.
fn rounded(time: Duration) -> f64 {
    time.as_millis() as f64 / 1e3
}

fn outputs(summary: &Summary, progress: &Progress) -> Vec<OutputRecord> {
    let output = |name: &Name| OutputRecord::new(name, progress.written());
    summary.output.iter().map(output).collect()
}

/// The result of a live run, with latency, and frames that outputs missed. `source` is its number if there are several
/// sources.
pub fn live_summary(summary: &LiveSummary, progress: &Progress, source: Option<usize>) -> ResultRecord {
    let mut text = format!(
        "{} by {}, {} dropped",
        frames_in_time(progress, "", summary.elapsed),
        summary.equalizer,
        summary.dropped
    );
    if let Some(found) = progress.found_in_words() {
        text += &format!("; {}", with_strength(found, progress.strength()));
    }
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
        let line = with_size(&counted(output.frames, "frame"), &output.name);
        let lost = match (output.missed, output.dropped) {
            (0, 0) => String::new(),
            (0, dropped) => format!(", {dropped} dropped because it was too slow"),
            (missed, 0) => format!(", {missed} dropped because it was away"),
            // During an attempt to reconnect, frames count as dropped.
            (missed, dropped) => format!(", {} dropped because it was away or too slow", missed + dropped),
        };
        text += &format!("\n{}", with_name(&format!("{line}{lost}"), &output.name));
    }
    let output = |output: &Written| OutputRecord::new(&output.name, output.frames);
    ResultRecord {
        source,
        dropped: summary.dropped,
        outputs: summary.outputs.iter().map(output).collect(),
        ..record(progress, summary.elapsed, text)
    }
}

/// Frames, time and rate; `verb` is empty or ends with a space.
fn frames_in_time(progress: &Progress, verb: &str, elapsed: Duration) -> String {
    let (written, seconds) = (progress.written(), elapsed.as_secs_f64());
    format!("{} {verb}in {seconds:.2} s ({:.1} fps)", counted(written, "frame"), written as f64 / seconds.max(1e-6))
}

/// A number of things in words: `1 frame`, `2 frames`.
pub fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// `line` with the size of the file of this name, if there is one.
pub fn with_size(line: &str, name: &Name) -> String {
    bytes_of(name).map_or(line.to_owned(), |bytes| format!("{line}, {}", in_bytes(bytes)))
}

/// A number of bytes in words: `1.4 MB`, `230 kB`.
pub fn in_bytes(bytes: u64) -> String {
    match bytes {
        0..1000 => counted(bytes, "byte"),
        1000..1_000_000 => format!("{:.0} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

/// `line`, and after an arrow the name of the output.
pub fn with_name(line: &str, name: &Name) -> String {
    format!("{line} -> {}", one_line(&name.to_string()))
}

/// `line`, the size of the output, and its name.
fn with_destination(line: &str, summary: &Summary) -> String {
    match (summary.outcome, &summary.output) {
        (Outcome::Complete, Some(name)) => with_name(&with_size(line, name), name),
        (Outcome::Interrupted, Some(name)) => {
            with_name(&with_size(&format!("{line}; interrupted, what there is"), name), name)
        }
        (_, None) => format!("{line}; interrupted before the first frame"),
    }
}
