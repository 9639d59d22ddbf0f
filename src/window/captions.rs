//! What is said about the picture: which one it is, and how the run is doing.

use super::controls::View;
use super::overlay;
use crate::chart::Canvas;
use crate::pipeline::live::Status;
use crate::spec::Settings;

/// Says which picture is which where that could be in doubt, and draws the divider.
pub fn names(canvas: &mut Canvas, view: View, size: (usize, usize), at: (usize, usize), columns: usize) {
    let points = |pixels: usize| (pixels / canvas.scale()) as i32;
    let (left, top, bottom, border) = (points(at.0), points(at.1), points(at.1 + size.1), points(at.0 + columns));
    match view {
        View::Equalized => {}
        View::Original => overlay::name(canvas, "original", left, false),
        View::Split => {
            overlay::name(canvas, "original", border - 1, true);
            overlay::name(canvas, "equalized", border + 2, false);
            overlay::divider(canvas, border, top..bottom);
        }
    }
}

/// The text of the line at the bottom.
pub fn line(status: &Status, settings: &Settings, paused: bool, message: Option<&str>) -> String {
    let mut words = vec![format!("{:.1} fps", status.fps)];
    words.extend(status.latency.map(|latency| format!("latency {:.1} ms", latency.as_secs_f64() * 1e3)));
    words.push(format!("{} dropped", status.dropped));
    words.extend((status.unwritten > 0).then(|| format!("{} not written", status.unwritten)));
    words.push(format!("strength {:.0}%", f64::from(settings.strength.of_256()) / 2.56));
    words.push(match settings.smoothing.frames() {
        1 => "smoothing off".to_owned(),
        frames => format!("smoothing {frames} frames"),
    });
    words.extend(paused.then(|| "PAUSED".to_owned()));
    words.push(message.unwrap_or("F1: keys").to_owned());
    words.join("   ")
}
