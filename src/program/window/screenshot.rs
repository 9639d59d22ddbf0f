//! Writes a frame as a PNG of its full size, with the sink of images.

use anyhow::Result;
use crossbeam_channel::Sender;
use histeq::internal::frame::Frame;
use histeq_media::pipeline::Notices;
use histeq_media::sink::OutputOptions;
use histeq_media::sink::files::Target;
use histeq_media::sink::image::write_drawn;
use histeq_media::sys::files::Name;
use std::thread::Builder;
use std::time::{SystemTime, UNIX_EPOCH};

/// Writes `frame` into the current folder, on a thread of its own. The file's name goes to `notices` and to `window`.
pub fn save(frame: Frame, notices: &Notices, window: Sender<String>) {
    let (notices_there, sender) = (notices.clone(), window.clone());
    let thread = Builder::new().name("screenshot".to_owned()).spawn(move || {
        report(&write(frame).unwrap_or_else(|error| format!("no screenshot: {error:#}")), &notices_there, &sender);
    });
    if let Err(error) = thread {
        report(&format!("no screenshot: {error}"), notices, &window);
    }
}

fn report(text: &str, notices: &Notices, window: &Sender<String>) {
    notices.note(text);
    // The window may be closed by now.
    let _ = window.send(text.to_owned());
}

fn write(frame: Frame) -> Result<String> {
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let name = Name::from(format!("histeq-video-{}.png", time.as_millis()));
    let target = Target::numbered_whole(&name)?;
    let name = target.name().clone();
    write_drawn(frame, "screenshot", target, OutputOptions::default())?;
    Ok(format!("screenshot -> {name}"))
}
