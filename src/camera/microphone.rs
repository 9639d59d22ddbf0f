//! The microphones of this machine, and what it means when one does not open.

use crate::ffmpeg::{Device, Error, input_devices, last_message};

/// A microphone, ready to be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Microphone {
    /// How messages name it.
    pub name: String,
    /// FFmpeg's input device: `alsa`, `pulse`, `avfoundation`, `dshow`.
    pub input: String,
    /// What that opens.
    pub url: String,
}

impl Microphone {
    /// The microphone that `name` means: a device of PulseAudio's or PipeWire's if there is one of this name (`default`, too),
    /// else one of ALSA's. `pulse:NAME` and `alsa:NAME` say which.
    pub fn find(name: &str) -> Self {
        let of =
            |input: &str, url: &str| Microphone { name: name.to_owned(), input: input.to_owned(), url: url.to_owned() };
        if cfg!(target_os = "macos") {
            return of("avfoundation", &format!(":{name}"));
        }
        if cfg!(windows) {
            return of("dshow", &format!("audio={name}"));
        }
        match name.split_once(':') {
            Some((input @ ("pulse" | "alsa"), url)) => of(input, url),
            _ => {
                let pulse = input_devices("pulse");
                let is_pulse = pulse.iter().any(|device| device.url == name) || name == "default" && !pulse.is_empty();
                of(if is_pulse { "pulse" } else { "alsa" }, name)
            }
        }
    }

    /// Why it does not open, in a line, with the way out.
    pub fn explain(&self, error: Error) -> String {
        let name = &self.name;
        let said = last_message().map(|message| format!(" ({message})")).unwrap_or_default();
        match error {
            Error::Other { errno: libc::EBUSY } => {
                format!("{name}: another program uses the microphone (close that first)")
            }
            Error::Other { errno: libc::EACCES | libc::EPERM } => {
                format!("{name}: no permission (sudo usermod -aG audio $USER, then log in again)")
            }
            Error::DemuxerNotFound => format!("{name}: this FFmpeg cannot record from {}", self.input),
            error => {
                format!("{name}: no such microphone: {error}{said} (`histeq-video devices` lists those that are here)")
            }
        }
    }
}

/// The microphones that are here.
pub fn microphones() -> Vec<Device> {
    let inputs: &[&str] = if cfg!(target_os = "macos") {
        &["avfoundation"]
    } else if cfg!(windows) {
        &["dshow"]
    } else {
        &["pulse", "alsa"]
    };
    let mut found: Vec<Device> = Vec::new();
    for input in inputs.iter().filter(|input| **input != "alsa" || alsa_can_record()) {
        for device in input_devices(input) {
            // ALSA's list has files and converters, too.
            let is_microphone = *input != "alsa" || device.url == "default" || device.url.starts_with("hw:");
            if is_microphone && found.iter().all(|known| known.url != device.url) {
                found.push(device);
            }
        }
    }
    found
}

/// Has the kernel a sound card that records? ALSA's library complains on stderr where there is none.
fn alsa_can_record() -> bool {
    std::fs::read_to_string("/proc/asound/pcm").is_ok_and(|list| list.contains("capture"))
}
