//! What an independent reader finds in a file: FFmpeg's own command-line tools, which share no code with the program.

use crate::program::{Dir, Run};
use crate::skip::skip;
use serde_json::Value;
use std::sync::OnceLock;

/// An encoder that clips are made with, if this FFmpeg has it; a printed skip if not, with `what` it was for.
pub fn encoder_is_here(what: &str, encoder: &str) -> bool {
    static LIST: OnceLock<String> = OnceLock::new();
    let list = LIST.get_or_init(|| {
        let list = Dir::new().ffmpeg("-encoders");
        String::from_utf8_lossy(&list.stdout).into_owned()
    });
    let here = list.lines().any(|line| line.split_whitespace().nth(1) == Some(encoder));
    if !here {
        skip(encoder, &format!("this FFmpeg has no such encoder ({what})"));
    }
    here
}

impl Dir {
    /// What ffprobe says about a file: `what` is one of its `-show_...` options and whatever goes with it.
    pub fn probe(&self, what: &str, file: &str) -> Value {
        let line = format!("-v error -of json {what} {file}");
        let run = Run::of(&mut self.other_command("ffprobe", &line), &line).exits_with(0);
        serde_json::from_slice(&run.stdout).expect("ffprobe's JSON")
    }

    /// The streams of a file.
    pub fn streams(&self, file: &str) -> Vec<Value> {
        let streams = self.probe("-show_streams", file);
        streams["streams"].as_array().expect("ffprobe's list of streams").clone()
    }

    /// The frames of a file's first video stream, in the order in which they are shown.
    pub fn frames(&self, file: &str) -> Vec<Value> {
        list(&self.probe("-select_streams v:0 -show_frames", file)["frames"])
    }

    /// The packets of one stream (`a:0`), in the order of the file.
    pub fn packets(&self, stream: &str, file: &str) -> Vec<Value> {
        list(&self.probe(&format!("-select_streams {stream} -show_packets"), file)["packets"])
    }

    /// When each frame of the first video stream is shown, in seconds.
    pub fn frame_times(&self, file: &str) -> Vec<f64> {
        self.frames(file).iter().map(|frame| seconds(&frame["best_effort_timestamp_time"])).collect()
    }

    /// When each packet of a stream is due, in seconds.
    pub fn packet_times(&self, stream: &str, file: &str) -> Vec<f64> {
        self.packets(stream, file).iter().map(|packet| seconds(&packet["pts_time"])).collect()
    }

    /// MD5 of the payloads of one stream (`0:a:0`), joined.
    pub fn payload(&self, stream: &str, file: &str) -> String {
        let run = self.ffmpeg(&format!("-i {file} -map {stream} -c copy -f streamhash -hash md5 -"));
        let line = String::from_utf8_lossy(&run.stdout).into_owned();
        line.trim().rsplit_once('=').expect("a stream's hash").1.to_owned()
    }

    /// The samples of every frame of the first video stream, as they lie in `format`, frame after frame.
    pub fn raw(&self, file: &str, format: &str) -> Vec<u8> {
        self.ffmpeg(&format!("-i {file} -map 0:v:0 -fps_mode passthrough -f rawvideo -pix_fmt {format} -")).stdout
    }
}

/// The elements of a JSON array.
pub fn list(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_default()
}

/// A number that ffprobe writes as text.
pub fn seconds(value: &Value) -> f64 {
    value.as_str().and_then(|text| text.parse().ok()).unwrap_or(f64::NAN)
}

/// Requires the same times, to within half a unit of the coarser clock and the rounding of what ffprobe prints.
#[track_caller]
pub fn assert_same_times(found: &[f64], expected: &[f64], resolution: f64) {
    assert_eq!(found.len(), expected.len(), "count: {found:?} instead of {expected:?}");
    for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
        let apart = (found - expected).abs();
        assert!(apart <= resolution / 2.0 + 2e-6, "time {index} is {found}, should be {expected}");
    }
}
