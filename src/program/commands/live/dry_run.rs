//! `live --dry-run`: checks what can be checked without a camera, and tries each encoder.

use super::PlannedCamera;
use crate::options::jobs::{Camera, CameraFile, LiveJob};
use crate::report::counted;
use crate::session::Session;
use crate::stdout;
use crate::web::Web;
use anyhow::{Context, Result};
use histeq_media::ffmpeg::Rational;
use histeq_media::pipeline::Outcome;
use histeq_media::sink::files::Overwrite;
use histeq_media::sink::try_out;
use histeq_media::sys::files::Name;
use histeq_media::sys::{one_line, printable, without_password};
use std::sync::Arc;

/// The size and the rate that cameras are asked for by default.
const SIZE: (usize, usize) = (1280, 720);
const RATE: i32 = 30;

const NOTHING_OPENED: &str = "No camera was opened, and nothing was written.\n";

/// Checks these cameras, and prints what they would be written to.
pub fn run(jobs: &[LiveJob], session: &Session<'_>) -> Result<Outcome> {
    Web::check(jobs[0].web.as_ref())?;
    let text: String = jobs.iter().map(|job| check(job, session)).collect::<Result<_>>()?;
    stdout::print(printable(&(text + NOTHING_OPENED)).as_bytes())?;
    Ok(Outcome::Complete)
}

/// Checks the cameras of a file. An error names the camera and its position in the file.
pub fn run_cameras(file: &CameraFile, cameras: &[Camera], session: &Session<'_>) -> Result<Outcome> {
    Web::check(cameras[0].job.web.as_ref())?;
    let checked = |camera: &Camera| {
        let text = check(&camera.job, session).with_context(|| format!("{}: camera {}", camera.place, camera.name))?;
        Ok::<_, anyhow::Error>(format!("{}: {text}", camera.name))
    };
    let text: String = cameras.iter().map(checked).collect::<Result<_>>()?;
    let path = Name::from(&file.path).to_string();
    let (path, count) = (one_line(&path), counted(cameras.len() as u64, "camera"));
    stdout::print(printable(&format!("{text}{path}: {count}, no fault. {NOTHING_OPENED}")).as_bytes())?;
    Ok(Outcome::Complete)
}

/// Checks a camera. Returns a text about what its outputs would be.
fn check(job: &LiveJob, session: &Session<'_>) -> Result<String> {
    let mut job = job.clone();
    if job.overwrite.asks() {
        // Only the real run asks whether to overwrite.
        job.overwrite = Overwrite::Yes;
    }
    let source = job.camera.camera.as_ref().map_or("the first camera".into(), without_password);
    let picture = (job.camera.size.unwrap_or(SIZE), job.camera.rate.unwrap_or(Rational::new(RATE, 1)));
    let loopback = job.loopback.clone();
    let planned = session.watching(|| PlannedCamera::check(Arc::new(job), session))?;
    let mut text = format!("{}\n", one_line(&source.to_string()));
    for output in planned.outputs {
        let name = output.target.name().to_owned();
        // A virtual camera gets raw frames, so there is no encoder to try.
        let encoding = if loopback.as_ref() == Some(&name) { None } else { try_out(&name, output.options, picture)? };
        let how =
            encoding.map(|chosen| [chosen.encoder, Some(chosen.container)].into_iter().flatten().collect::<Vec<_>>());
        let how = how.map_or_else(String::new, |how| format!(": {}", how.join(" in ")));
        text += &format!("  -> {}{how}\n", one_line(&name.to_string()));
    }
    Ok(text)
}
