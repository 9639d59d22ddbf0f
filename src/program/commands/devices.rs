//! `histeq-video devices`: lists the GPUs, cameras, microphones and video encoders of this machine.

use crate::stdout::print;
use anyhow::Result;
use histeq::cuda::{Error, Gpu};
use histeq_media::camera::{Wanted, cameras, microphones, modes};
use histeq_media::ffmpeg::{self, encoders};
use histeq_media::sys::printable;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The encoders that people use.
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

/// Prints the lists on stdout, with all encoders or those that people use.
pub fn run(all: bool) -> Result<()> {
    ffmpeg::init();
    let list = [gpu_list(), camera_list(), microphone_list(), encoder_list(all)].concat();
    // Names of cameras may hold control characters.
    print(printable(&list).as_bytes())
}

fn gpu_list() -> String {
    let mut list = "GPUs:\n".to_owned();
    for index in 0.. {
        match Gpu::open(index) {
            Ok(gpu) => line(&mut list, &format!("{index}  {}", gpu.name)),
            Err(Error::NoSuchDevice { .. }) if index > 0 => break,
            Err(error) => {
                line(&mut list, &format!("none that can be used: {error}"));
                break;
            }
        }
    }
    list
}

/// Cameras, with the highest rate of each format and size.
fn camera_list() -> String {
    let mut list = "Cameras:\n".to_owned();
    let cameras = cameras();
    if cameras.is_empty() {
        line(&mut list, "none");
    }
    for camera in cameras {
        line(&mut list, &format!("{}  {}", camera.url, camera.name));
        let mut by_format = BTreeMap::<String, Vec<String>>::new();
        for mode in modes(&camera.url, &Wanted::default()) {
            let fastest = mode.rates.iter().map(|&rate| f64::from(rate)).max_by(f64::total_cmp);
            let rate = fastest.map(|rate| format!("@{}", (rate * 100.0).round() / 100.0)).unwrap_or_default();
            by_format.entry(mode.format).or_default().push(format!("{}x{}{rate}", mode.size.0, mode.size.1));
        }
        for (format, sizes) in by_format {
            line(&mut list, &format!("    {format}: {}", sizes.join(" ")));
        }
    }
    list
}

fn microphone_list() -> String {
    let mut list = "Microphones:\n".to_owned();
    let microphones = microphones();
    if microphones.is_empty() {
        line(&mut list, "none");
    }
    for microphone in microphones {
        // ALSA's descriptions have several lines.
        line(&mut list, &format!("{}  {}", microphone.url, microphone.name.replace('\n', ", ")));
    }
    list
}

fn encoder_list(all: bool) -> String {
    let mut list = "Video encoders:\n".to_owned();
    let (shown, others): (Vec<_>, Vec<_>) =
        encoders().into_iter().partition(|encoder| all || USED.contains(&encoder.name().as_str()));
    for encoder in shown {
        line(&mut list, &format!("{:<18} {}", encoder.name(), encoder.description()));
    }
    if !others.is_empty() {
        line(&mut list, &format!("and {} others (--all lists them)", others.len()));
    }
    list
}

fn line(list: &mut String, text: &str) {
    // Writing to a String cannot fail.
    let _ = writeln!(list, "  {text}");
}
