//! `histeq-video --version`: the versions of the program and of FFmpeg; with `--json`, also the GPUs and the sandbox of
//! this machine, as JSON.

use crate::stdout;
use anyhow::Result;
use histeq::internal::cuda::Gpu;
use histeq_media::ffmpeg;
use histeq_media::pipeline::said_of_gpu;
use histeq_media::sandbox::ProcessWall;
use serde_json::json;

/// Prints a line, which may be JSON.
pub fn run(as_json: bool) -> Result<()> {
    if !as_json {
        let (version, release, library) = (env!("CARGO_PKG_VERSION"), ffmpeg::release(), ffmpeg::version());
        return stdout::print(format!("histeq-video {version} (FFmpeg {release}, {library})\n").as_bytes());
    }
    let first = Gpu::open(0);
    let mut gpus = Vec::new();
    gpus.extend(first.as_ref().ok().map(|gpu| gpu.name.clone()));
    gpus.extend((1..).map_while(|index| Gpu::open(index).ok().map(|gpu| gpu.name.clone())));
    let wall = ProcessWall { places: None, network: true, replaces: true, is_required: true };
    // Tests the sandbox by closing it around this process, which only prints from here on.
    let sandbox = wall.close();
    let line = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "ffmpeg": ffmpeg::version(),
        "gpus": gpus,
        "no_gpu": first.err().map(|error| said_of_gpu(&error)),
        "sandbox": sandbox.is_ok(),
        "no_sandbox": sandbox.err().map(|error| format!("{error:#}")),
    });
    stdout::print(format!("{line}\n").as_bytes())
}
