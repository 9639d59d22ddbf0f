//! The protocol of `--progress json`: what happens in a run, as lines of JSON. docs/progress.md describes it.

use super::failure::kind_of;
use histeq::internal::spec::natural::Found;
use histeq_media::pipeline::{Encoding, ErrorWithRemedy, FailureKind, said};
use histeq_media::sys::files::Name;
use histeq_media::sys::{give_up_with_an_event, print_line, printable_json, without_codes, without_middle};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fs::File;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// The version of the protocol. Fields and events may be added to a version, but none is changed or taken away.
pub const PROTOCOL: u32 = 2;

/// A line of the protocol.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// An input has been opened.
    Start {
        protocol: u32,
        version: String,
        command: String,
        #[serde(flatten)]
        run: StartRecord,
    },
    Progress(ProgressRecord),
    /// Sent with `-v` only.
    Detail {
        message: String,
    },
    Note {
        message: String,
    },
    Warning {
        message: String,
        /// `Damage` if part of the input is lost: the kind of failure that the warning is with `--strict`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kind: Option<FailureKind>,
    },
    /// Waiting for a live input.
    Waiting {
        message: String,
    },
    /// The live input is available again.
    Back {
        message: String,
    },
    /// Something about a live input has changed.
    Change {
        message: String,
    },
    Error(ErrorRecord),
    /// A segment of a recording has ended.
    Segment(SegmentRecord),
    /// One of many files is done, or has failed.
    File(Box<FileRecord>),
    /// The result, in the last line; or that of one of several sources.
    Result(Box<ResultRecord>),
}

/// Why a run has failed.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct ErrorRecord {
    /// What kind of failure it is.
    #[serde(default)]
    pub kind: FailureKind,
    /// The whole error, as it is printed for people.
    pub message: String,
    /// The error without its remedy, and the remedy, where the program keeps them apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

impl ErrorRecord {
    /// The record of `error`.
    pub(super) fn new(error: &anyhow::Error) -> Self {
        let parts = error.downcast_ref::<ErrorWithRemedy>();
        ErrorRecord {
            kind: kind_of(error),
            message: without_middle(&without_codes(&said(error))).into_owned(),
            cause: parts.map(|parts| parts.cause.clone()),
            remedy: parts.map(|parts| parts.remedy.clone()),
        }
    }
    /// The error of this record.
    pub fn into_error(self) -> anyhow::Error {
        match (self.cause, self.remedy) {
            (Some(cause), Some(remedy)) => ErrorWithRemedy { cause, remedy }.into(),
            _ => self.kind.error(self.message),
        }
    }
}

/// What a run reads and writes, and how.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct StartRecord {
    /// Number of the source, from 1, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<usize>,
    /// The input's name, and its bytes if they are not UTF-8.
    pub input: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_bytes: Option<String>,
    /// The outputs' names, and their bytes if those of any output are not UTF-8.
    pub outputs: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outputs_bytes: Option<Vec<Option<String>>>,
    /// Number of frames, if known.
    pub frames: Option<u64>,
    /// Frames a second of the video, if known.
    #[serde(default)]
    pub frame_rate: Option<f64>,
    /// How the output is encoded, if there is an encoded output.
    #[serde(default)]
    pub encoding: Option<Box<Encoding>>,
    /// The effective settings, by the names of their options; none for `compare`.
    pub settings: Map<String, Value>,
}

/// A segment of a recording.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct SegmentRecord {
    /// Number of the source, from 1, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<usize>,
    /// The name of its file.
    pub file: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_bytes: Option<String>,
    /// When it began, in wall-clock time.
    pub begin: Timestamp,
    /// Its duration.
    pub seconds: f64,
    /// Number of frames in it.
    pub frames: u64,
    /// Size of its file.
    pub bytes: u64,
}

/// The progress of a run at one moment.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct ProgressRecord {
    /// Which of two passes runs, 1 or 2, if there are two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pass: Option<u32>,
    /// Number of the source, from 1, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<usize>,
    /// Frames that are read: an encoder may still hold them.
    #[serde(default)]
    pub decoded: u64,
    /// Frames that are done: encoded, for an output that is encoded.
    pub frame: u64,
    /// Frames in all, if known.
    pub frames: Option<u64>,
    /// Percent done, 0 to 100, if the length is known.
    pub percent: Option<f64>,
    /// Frames done per second: since the beginning, or in the last seconds of a live run.
    pub fps: f64,
    /// How much of the video has been read, in seconds.
    pub position: f64,
    /// Seconds of video done per second: `fps` divided by the frame rate of the video.
    pub speed: f64,
    /// Seconds left, if known.
    pub eta: Option<f64>,
    /// Damaged frames and packets.
    pub damaged: u64,
    /// Frames of a live input that were not equalized in time.
    pub dropped: u64,
    /// The age of the last frame of a live input when it was equalized or shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<f64>,
    /// Seconds since the last frame of a live input, while there is no signal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_signal: Option<f64>,
}

/// How a run, or one of several sources, ended.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct ResultRecord {
    /// The exit code; none for one of several sources.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<u8>,
    /// Number of the source, from 1, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<usize>,
    /// The outputs that exist now, by their present names.
    pub outputs: Vec<OutputRecord>,
    /// Frames that were equalized.
    pub frames: u64,
    /// Damaged frames and packets.
    pub damaged: u64,
    /// Frames of a live input that were not equalized in time.
    pub dropped: u64,
    /// Duration of the run, without what comes before the first frame.
    pub seconds: f64,
    /// Seconds that the source took, such as decoding.
    pub decode_seconds: f64,
    /// Seconds that equalizing took.
    pub equalize_seconds: f64,
    /// Seconds that encoding took.
    pub encode_seconds: f64,
    /// What the video lacked and how much of it; none with other methods than natural.
    #[serde(default)]
    pub found: Option<FoundRecord>,
    /// `found` in words, and whether the video was log, or stayed as it was.
    #[serde(default)]
    pub found_text: Option<String>,
    /// The share of `found` that was corrected, 0 to 1.
    #[serde(default)]
    pub strength: Option<f64>,
    /// What was done with a video that needs no correction, if it was not encoded: `copied` or `skipped`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unchanged: Option<String>,
    /// The lines that are printed for people.
    pub summary: String,
}

/// How one of many files ended.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct FileRecord {
    pub input: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_bytes: Option<String>,
    pub output: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_bytes: Option<String>,
    /// The exit code that a run of this file alone would have: 0 for done, 3 if the output existed, 130 if interrupted.
    pub exit_code: u8,
    /// Frames written.
    pub frames: u64,
    /// Size of the output, if it is one file.
    #[serde(default)]
    pub bytes: Option<u64>,
    /// Damaged frames and packets.
    pub damaged: u64,
    /// Duration of the run of this file.
    pub seconds: f64,
    /// What the video lacked, and the share of it that was corrected, as in the result of a run.
    #[serde(default)]
    pub found: Option<FoundRecord>,
    #[serde(default)]
    pub found_text: Option<String>,
    #[serde(default)]
    pub strength: Option<f64>,
    /// As `ResultRecord::unchanged`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unchanged: Option<String>,
    /// The partial file that an interruption has left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partial: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial_bytes: Option<String>,
    /// Why it has failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorRecord>,
}

impl FileRecord {
    /// The record of these files, with the other fields of `record`.
    pub fn new(input: &Name, output: &Name, record: FileRecord) -> Self {
        let (input_bytes, output_bytes) = (input.encoded_bytes(), output.encoded_bytes());
        FileRecord { input: input.to_string(), input_bytes, output: output.to_string(), output_bytes, ..record }
    }
}

impl From<ResultRecord> for FileRecord {
    /// The record of a file, with the numbers of its run.
    fn from(
        ResultRecord { outputs, frames, damaged, seconds, found, found_text, strength, unchanged, .. }: ResultRecord,
    ) -> Self {
        let bytes = outputs.last().and_then(|output| output.bytes);
        FileRecord { frames, bytes, damaged, seconds, found, found_text, strength, unchanged, ..FileRecord::default() }
    }
}

/// What a video lacked: `exposure` and `contrast` are how many times more of them it needed, 1 for enough; the others
/// are shares, 0 to 1.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct FoundRecord {
    /// The confidence that the video is too dark.
    pub dark: f64,
    pub exposure: f64,
    pub contrast: f64,
    pub haze: f64,
    pub cast: f64,
    pub noise: f64,
    pub flicker: f64,
    /// The shares of frames with bars and with captions, which are left out.
    #[serde(default)]
    pub bars: f64,
    #[serde(default)]
    pub captions: f64,
}

impl From<Found> for FoundRecord {
    fn from(found: Found) -> Self {
        let Found { dark, cast, unused: _, veil, exposure, contrast, noise, flicker, log: _, bars, captions } = found;
        let [dark, exposure, contrast, haze, cast, noise, flicker, bars, captions] =
            [dark, exposure, contrast, veil, cast, noise, flicker, bars, captions]
                .map(|value| (f64::from(value) / 40.96).round() / 100.0);
        FoundRecord { dark, exposure, contrast, haze, cast, noise, flicker, bars, captions }
    }
}

/// An output that was written.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct OutputRecord {
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name_bytes: Option<String>,
    /// Frames written.
    pub frames: u64,
    /// Size of the output, if it is one file.
    #[serde(default)]
    pub bytes: Option<u64>,
}

/// The size of a file; `None` if it is no file.
pub(super) fn bytes_of(name: &Name) -> Option<u64> {
    std::fs::metadata(name).ok().filter(std::fs::Metadata::is_file).map(|file| file.len())
}

impl OutputRecord {
    /// The record of the output of this name.
    pub fn new(name: &Name, frames: u64) -> Self {
        OutputRecord { name: name.to_string(), name_bytes: name.encoded_bytes(), frames, bytes: bytes_of(name) }
    }
}

impl StartRecord {
    /// The record of what is read from `input` and written to `outputs`; no more is known.
    pub fn new(input: &Name, outputs: &[Name]) -> Self {
        let bytes: Vec<Option<String>> = outputs.iter().map(Name::encoded_bytes).collect();
        StartRecord {
            source: None,
            input: input.to_string(),
            input_bytes: input.encoded_bytes(),
            outputs: outputs.iter().map(Name::to_string).collect(),
            outputs_bytes: bytes.iter().any(Option::is_some).then_some(bytes),
            frames: None,
            frame_rate: None,
            encoding: None,
            settings: Map::new(),
        }
    }
}

/// The destination of events, shared by clones.
#[derive(Clone)]
pub struct Events {
    /// The file of events; `None` for stderr.
    file: Option<Arc<Mutex<EventFile>>>,
    /// Whether the result has been sent, after which no events are sent.
    is_over: Arc<Mutex<bool>>,
}

/// A file or pipe of events.
struct EventFile {
    file: File,
    name: Name,
    /// Whether lines that cannot be written are an error.
    is_strict: bool,
    /// The error after which no lines are written.
    failure: Option<io::Error>,
    is_reported: bool,
}

/// The message about lines that could not be written.
pub(super) struct LostEvents {
    pub message: String,
    pub is_error: bool,
}

impl Events {
    /// Sends events to stderr, where nothing else is printed then.
    pub fn on_stderr() -> Self {
        give_up_with_an_event();
        Events { file: None, is_over: Arc::default() }
    }

    /// Sends events to this file or pipe; `name` is its name in messages.
    pub fn in_file(file: File, name: &Name, is_strict: bool) -> Self {
        let file = EventFile { file, name: name.clone(), is_strict, failure: None, is_reported: false };
        Events { file: Some(Arc::new(Mutex::new(file))), is_over: Arc::default() }
    }

    /// Whether events go to stderr.
    pub(super) fn are_on_stderr(&self) -> bool {
        self.file.is_none()
    }

    /// Writes a line. If its reader has gone away, the line is lost; after any other failure, so are all that follow.
    pub(super) fn send(&self, event: &Event) {
        let mut is_over = self.is_over.lock().unwrap_or_else(PoisonError::into_inner);
        if std::mem::replace(&mut *is_over, matches!(event, Event::Result(result) if result.source.is_none())) {
            *is_over = true;
            return;
        }
        let line = serde_json::to_string(event).unwrap_or_default();
        match &self.file {
            None => print_line(&printable_json(&line)),
            // In one write: the reader never sees half of a line.
            Some(file) => {
                let mut target = file.lock().unwrap_or_else(PoisonError::into_inner);
                if target.failure.is_none()
                    && let Err(error) = target.file.write_all(format!("{line}\n").as_bytes())
                    && error.kind() != io::ErrorKind::BrokenPipe
                {
                    target.failure = Some(error);
                }
            }
        }
    }

    /// The message about lost lines; returned once.
    pub(super) fn unreported_loss(&self) -> Option<LostEvents> {
        let mut target = self.file.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner);
        let why = target.failure.as_ref().filter(|_| !target.is_reported)?;
        let why = if target.is_strict { format!("{why}; an error because of --strict") } else { why.to_string() };
        let message = format!("{}: events are lost from here on ({why})", target.name);
        target.is_reported = true;
        Some(LostEvents { message, is_error: target.is_strict })
    }

    /// Whether lines are lost, and that is an error.
    pub(super) fn have_failed(&self) -> bool {
        let target = self.file.as_ref().map(|file| file.lock().unwrap_or_else(PoisonError::into_inner));
        target.is_some_and(|target| target.is_strict && target.failure.is_some())
    }

    /// Sends a usage error, and the result with this exit code.
    pub fn refuse(&self, message: &str, code: u8) {
        let (kind, message) = (FailureKind::Usage, message.to_owned());
        self.send(&Event::Error(ErrorRecord { kind, message, ..ErrorRecord::default() }));
        self.send(&Event::Result(ResultRecord { exit_code: Some(code), ..ResultRecord::default() }.into()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_read_as_they_were_written() {
        let run = StartRecord {
            frame_rate: Some(12.5),
            encoding: Some(Encoding { container: "mp4".to_owned(), ..Encoding::default() }.into()),
            settings: Map::from_iter([("smooth".to_owned(), Value::from("scene"))]),
            ..StartRecord::new(&"in\n.mkv".into(), &["out \u{1b}.mkv".into(), Name::from_bytes(vec![0xfc])])
        };
        let error = ErrorWithRemedy::not_in_pieces("in.mkv: cannot be cut".to_owned()).into();
        let outputs = vec![OutputRecord { bytes: Some(812), ..OutputRecord::new(&"out.mkv".into(), 5) }];
        for event in [
            Event::Start { protocol: PROTOCOL, version: "1".to_owned(), command: "histeq-video".to_owned(), run },
            Event::Progress(ProgressRecord { frame: 7, position: 0.28, ..ProgressRecord::default() }),
            Event::Warning { message: "\"quoted\"".to_owned(), kind: Some(FailureKind::Damage) },
            Event::Error(ErrorRecord::new(&error)),
            Event::Result(ResultRecord { exit_code: Some(130), outputs, ..ResultRecord::default() }.into()),
        ] {
            let line = serde_json::to_string(&event).expect("a line");
            assert!(!line.contains('\n'), "{line}");
            assert_eq!(serde_json::from_str::<Event>(&line).expect("an event"), event);
        }
        let record = ErrorRecord::new(&error);
        assert_eq!(record.message, "in.mkv: cannot be cut (leave --jobs out)");
        assert_eq!(ErrorRecord::new(&record.clone().into_error()), record);
    }
}
