//! The protocol of `--progress json`: what happens in a run, as lines of JSON. docs/progress.md describes it.

use histeq_media::sys::print_line;
use serde::Serialize;
use serde_json::{Map, Value};
use std::fs::File;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

/// The version of the protocol. Fields and events may be added to a version, but none is changed or taken away.
pub(super) const PROTOCOL: u32 = 1;

/// A line of the protocol.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(super) enum Event<'a> {
    /// An input has been opened.
    Start {
        protocol: u32,
        version: &'a str,
        #[serde(flatten)]
        run: &'a StartRecord,
    },
    Progress(&'a ProgressRecord),
    /// With `-v`.
    Detail {
        message: &'a str,
    },
    Note {
        message: &'a str,
    },
    Warning {
        message: &'a str,
    },
    /// A live input is waited for.
    Waiting {
        message: &'a str,
    },
    /// It has come.
    Back {
        message: &'a str,
    },
    Error {
        message: &'a str,
    },
    /// The last line, or that of one of several sources.
    Result(&'a ResultRecord),
}

/// What a run reads and writes, and how.
#[derive(Serialize)]
pub struct StartRecord {
    /// Number of the source, from 1, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<usize>,
    /// The input's name.
    pub input: String,
    /// The outputs' names.
    pub outputs: Vec<String>,
    /// Number of frames, if known.
    pub frames: Option<u64>,
    /// The settings that hold, by the names of their options; none for `compare`.
    pub settings: Map<String, Value>,
}

/// One state of a run.
#[derive(Serialize)]
pub(super) struct ProgressRecord {
    /// Which of two passes runs, 1 or 2, if there are two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) pass: Option<u32>,
    /// Number of the source, from 1, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) source: Option<usize>,
    /// Frames that are done: encoded, for an output that is encoded.
    pub(super) frame: u64,
    /// Frames in all, if known.
    pub(super) frames: Option<u64>,
    /// Percent done, 0 to 100, if the length is known.
    pub(super) percent: Option<f64>,
    /// Frames per second since the beginning.
    pub(super) fps: f64,
    /// Seconds of video per second.
    pub(super) speed: f64,
    /// Seconds left, if known.
    pub(super) eta: Option<f64>,
    /// Damaged frames and packets.
    pub(super) damaged: u64,
    /// Frames of a live input that were not equalized in time.
    pub(super) dropped: u64,
    /// How old the last frame of a live input was when it was equalized or shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) latency_ms: Option<f64>,
    /// Seconds since the last frame of a live input, while there is no signal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) no_signal: Option<f64>,
}

/// How a run, or one of several sources, ended.
#[derive(Serialize, Clone, Default)]
pub struct ResultRecord {
    /// The exit code; none for one of several sources.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) exit_code: Option<u8>,
    /// Number of the source, from 1, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<usize>,
    /// The files that are there now, by the names that they have.
    pub outputs: Vec<OutputRecord>,
    /// Frames that were equalized.
    pub frames: u64,
    /// Damaged frames and packets.
    pub damaged: u64,
    /// Frames of a live input that were not equalized in time.
    pub dropped: u64,
    /// Duration of the run, without what comes before the first frame.
    pub seconds: f64,
    /// The time that decoding took of it.
    pub decode_seconds: f64,
    /// The time that equalizing took of it.
    pub equalize_seconds: f64,
    /// The time that encoding took of it.
    pub encode_seconds: f64,
    /// The line that people get.
    pub summary: String,
}

/// An output that was written.
#[derive(Serialize, Clone)]
pub struct OutputRecord {
    /// Its name.
    pub name: String,
    /// Frames written.
    pub frames: u64,
}

/// Where the lines go; clones share it.
#[derive(Clone)]
pub struct Events {
    /// `None` is stderr.
    file: Option<Arc<Mutex<File>>>,
}

impl Events {
    /// Lines on stderr, where nothing else is printed then.
    pub fn on_stderr() -> Self {
        Events { file: None }
    }

    /// Lines in this file or pipe.
    pub fn in_file(file: File) -> Self {
        Events { file: Some(Arc::new(Mutex::new(file))) }
    }

    /// Whether they are on stderr.
    pub(super) fn are_on_stderr(&self) -> bool {
        self.file.is_none()
    }

    /// Writes a line. If its reader has gone away, the line is lost.
    pub(super) fn send(&self, event: &Event<'_>) {
        let line = serde_json::to_string(event).unwrap_or_default();
        match &self.file {
            None => print_line(&line),
            // In one write: the reader never sees half of a line.
            Some(file) => {
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                let _ = file.write_all(format!("{line}\n").as_bytes());
            }
        }
    }

    /// Writes a usage error, and the end.
    pub fn refuse(&self, message: &str, code: u8) {
        self.send(&Event::Error { message });
        self.send(&Event::Result(&ResultRecord { exit_code: Some(code), ..ResultRecord::default() }));
    }
}
