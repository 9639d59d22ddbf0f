//! The microphones of this machine, and messages for one that does not open.

use crate::ffmpeg::demux::{Device, input_devices};
use crate::ffmpeg::{Error, last_message};

/// A microphone before it is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Microphone {
    /// Its name in messages.
    pub name: String,
    /// FFmpeg's input device: `alsa`, `pulse`.
    pub input: String,
    /// The URL for that input device.
    pub url: String,
}

impl Microphone {
    /// The microphone called `name`: a device of PulseAudio or PipeWire if there is one of this name (or `default`),
    /// else of ALSA. `pulse:NAME` and `alsa:NAME` select one of them.
    pub fn find(name: &str) -> Self {
        let value_of =
            |input: &str, url: &str| Microphone { name: name.to_owned(), input: input.to_owned(), url: url.to_owned() };
        match name.split_once(':') {
            Some((input @ ("pulse" | "alsa"), url)) => value_of(input, url),
            _ => {
                let pulse = input_devices("pulse");
                let is_pulse = pulse.iter().any(|device| device.url == name) || name == "default" && !pulse.is_empty();
                value_of(if is_pulse { "pulse" } else { "alsa" }, name)
            }
        }
    }

    /// A message of one line for an error on opening, with a remedy.
    pub fn explain(&self, error: Error) -> String {
        let name = &self.name;
        let message = last_message().map(|message| format!(" ({message})")).unwrap_or_default();
        match error {
            Error::Other { errno: libc::EBUSY } => {
                format!("{name}: another program uses the microphone (close that first)")
            }
            Error::Other { errno: libc::EACCES | libc::EPERM } => {
                format!("{name}: no permission (sudo usermod -aG audio $USER, then log in again)")
            }
            Error::DemuxerNotFound => format!("{name}: this FFmpeg cannot record from {}", self.input),
            error => {
                format!(
                    "{name}: no such microphone: {error}{message} (`histeq-video devices` lists those that are here)"
                )
            }
        }
    }
}

/// The microphones of this machine.
pub fn microphones() -> Vec<Device> {
    let mut found: Vec<Device> = Vec::new();
    for input in ["pulse", "alsa"].into_iter().filter(|input| *input != "alsa" || alsa_can_record()) {
        for device in input_devices(input) {
            // ALSA also lists files and converters.
            let is_microphone = input != "alsa" || device.url == "default" || device.url.starts_with("hw:");
            if is_microphone && found.iter().all(|known| known.url != device.url) {
                found.push(device);
            }
        }
    }
    found
}

/// Whether the kernel has a sound card that records. Without one, ALSA's library prints errors on stderr.
fn alsa_can_record() -> bool {
    std::fs::read_to_string("/proc/asound/pcm").is_ok_and(|list| list.contains("capture"))
}
