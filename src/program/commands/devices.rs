//! `histeq-video devices`: lists the GPUs, cameras, microphones and video encoders of this machine.

use crate::stdout::print;
use anyhow::Result;
use histeq::internal::cuda::{Error, Gpu};
use histeq_media::camera;
use histeq_media::ffmpeg;
use histeq_media::pipeline::said_of_gpu;
use histeq_media::sys::printable;
use std::collections::BTreeMap;

/// The encoders that are listed without `--all`.
const USED: [&str; 18] = [
    "av1_nvenc",
    "dnxhd",
    "ffv1",
    "gif",
    "h264_nvenc",
    "hevc_nvenc",
    "libaom-av1",
    "libsvtav1",
    "libvpx",
    "libvpx-vp9",
    "libwebp_anim",
    "libx264",
    "libx265",
    "mjpeg",
    "mpeg2video",
    "mpeg4",
    "png",
    "prores_ks",
];

/// Prints the lists on stdout, with all encoders or the common ones.
pub fn run(all: bool) -> Result<()> {
    ffmpeg::init();
    let lists =
        [("GPUs", gpus()), ("Cameras", cameras()), ("Microphones", microphones()), ("Video encoders", encoders(all))];
    let mut text = String::new();
    for (title, mut lines) in lists {
        if lines.is_empty() {
            lines.push("none".to_owned());
        }
        text += &format!("{title}:\n  {}\n", lines.join("\n  "));
    }
    // Names of cameras may hold control characters.
    print(printable(&text).as_bytes())
}

fn gpus() -> Vec<String> {
    let mut lines = Vec::new();
    for index in 0.. {
        match Gpu::open(index) {
            Ok(gpu) => lines.push(format!("{index}  {}", gpu.name)),
            Err(Error::NoSuchDevice { .. }) if index > 0 => break,
            Err(error) => {
                lines.push(format!("none that can be used: {}", said_of_gpu(&error)));
                break;
            }
        }
    }
    lines
}

/// Cameras, with the highest rate of each format and size.
fn cameras() -> Vec<String> {
    let mut lines = Vec::new();
    for device in camera::cameras() {
        lines.push(format!("{}  {}", device.url, device.name));
        let mut by_format = BTreeMap::<String, Vec<String>>::new();
        for mode in camera::modes(&device.url, &camera::Wanted::default()) {
            let fastest = mode.rates.iter().map(|&rate| f64::from(rate)).max_by(f64::total_cmp);
            let rate = fastest.map(|rate| format!("@{}", (rate * 100.0).round() / 100.0)).unwrap_or_default();
            by_format.entry(mode.format).or_default().push(format!("{}x{}{rate}", mode.size.0, mode.size.1));
        }
        lines.extend(by_format.iter().map(|(format, sizes)| format!("    {format}: {}", sizes.join(" "))));
    }
    lines
}

fn microphones() -> Vec<String> {
    let microphones = camera::microphones().into_iter();
    // ALSA's descriptions have several lines.
    microphones.map(|device| format!("{}  {}", device.url, device.name.replace('\n', ", "))).collect()
}

fn encoders(all: bool) -> Vec<String> {
    let (shown, remaining): (Vec<_>, Vec<_>) =
        ffmpeg::encode::encoders().into_iter().partition(|encoder| all || USED.contains(&encoder.name().as_str()));
    let lines = shown.iter().map(|encoder| format!("{:<18} {}", encoder.name(), encoder.description()));
    let rest = (!remaining.is_empty()).then(|| format!("and {} others (--all lists them)", remaining.len()));
    lines.chain(rest).collect()
}
