//! The states of all sources, in the text format of Prometheus.

use super::hub::{Hub, SourceState};
use std::fmt::Write as _;

/// The content type of Prometheus' text format.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4";

/// Reads the value of a metric from the state of a source; `None` if the source has none.
type Value = fn(&SourceState) -> Option<f64>;

/// Name, type, help text and value of each metric.
const METRICS: &[(&str, &str, &str, Value)] = &[
    ("histeq_frames_total", "counter", "Frames equalized.", |state| Some(state.frames as f64)),
    ("histeq_frames_dropped_total", "counter", "Frames that were not equalized in time.", |state| {
        Some(state.dropped as f64)
    }),
    ("histeq_frames_damaged_total", "counter", "Damaged frames and packets.", |state| Some(state.damaged as f64)),
    ("histeq_frame_rate", "gauge", "Frames a second.", |state| Some(state.fps)),
    ("histeq_latency_seconds", "gauge", "Age of the last frame when it was equalized.", |state| {
        Some(state.latency_ms? / 1e3)
    }),
    ("histeq_no_signal_seconds", "gauge", "Time since the last frame, while none comes.", |state| {
        Some(state.no_signal_s.unwrap_or(0.0))
    }),
    ("histeq_strength", "gauge", "Share of the equalization, 0 to 1.", |state| Some(state.strength)),
    ("histeq_recording", "gauge", "Whether it is recorded: 0 while that is paused.", |state| {
        Some(f64::from(u8::from(state.recording?)))
    }),
    ("histeq_viewers", "gauge", "Viewers of the video.", |state| Some(state.viewers as f64)),
];

/// The metrics of all sources in the text format.
pub fn text(hub: &Hub) -> String {
    let states: Vec<SourceState> = hub.sources().iter().map(|source| source.state()).collect();
    let mut text = String::new();
    for (name, kind, about, value) in METRICS {
        let _ = writeln!(text, "# HELP {name} {about}\n# TYPE {name} {kind}");
        for (state, value) in states.iter().filter_map(|state| Some((state, value(state)?))) {
            let label = state.name.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            let _ = writeln!(text, "{name}{{source=\"{}\",name=\"{label}\"}} {value}", state.source);
        }
    }
    let _ = writeln!(text, "# HELP histeq_viewers_all Viewers of all sources.\n# TYPE histeq_viewers_all gauge");
    let _ = writeln!(text, "histeq_viewers_all {}", hub.viewers());
    text
}
