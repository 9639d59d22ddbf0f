//! Text over the picture: labels of the original and the equalized picture, and the status line.

use super::controls::PreviewMode;
use super::overlay;
use crate::draw::chart::Canvas;
use histeq::internal::spec::natural::Found;
use histeq::internal::spec::parameters::Settings;
use histeq_media::pipeline::live::Status;

/// Draws the labels of the original and of the split view, and the divider.
pub fn draw_labels(
    canvas: &mut Canvas,
    mode: PreviewMode,
    size: (usize, usize),
    place: (usize, usize),
    columns: usize,
) {
    let points = |pixels: usize| (pixels / canvas.scale) as i32;
    let (left, top, bottom, border) =
        (points(place.0), points(place.1), points(place.1 + size.1), points(place.0 + columns));
    match mode {
        PreviewMode::Equalized => {}
        PreviewMode::Original => overlay::label(canvas, "original", left, false),
        PreviewMode::Split => {
            overlay::label(canvas, "original", border - 1, true);
            overlay::label(canvas, "equalized", border + 2, false);
            overlay::divider(canvas, border, top..bottom);
        }
    }
}

/// The text of the status line; `found` is what the natural method has measured, if that is the method.
pub fn status_text(
    status: &Status,
    (settings, found): (&Settings, Option<Found>),
    paused: bool,
    message: Option<&str>,
) -> String {
    let mut words = vec![format!("{:.1} fps", status.fps)];
    words.extend(status.latency.map(|latency| format!("latency {:.1} ms", latency.as_secs_f64() * 1e3)));
    words.push(format!("{} dropped", status.dropped));
    words.extend((status.unwritten > 0).then(|| format!("{} not written", status.unwritten)));
    words.push(match found {
        Some(found) if found.is_nothing() => "nothing to correct".to_owned(),
        _ => format!("strength {:.0}%", f64::from(settings.strength.to_256ths()) / 2.56),
    });
    words.push(match settings.smoothing.frames() {
        1 => "smoothing off".to_owned(),
        frames => format!("smoothing {frames} frames"),
    });
    words.extend(paused.then(|| "PAUSED".to_owned()));
    words.push(message.unwrap_or("F1: keys").to_owned());
    words.join("   ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_shows_the_strength_that_is_applied() {
        let (status, settings) = (Status::default(), Settings::default());
        let text = |found| status_text(&status, (&settings, found), false, None);
        let strength = format!("strength {:.0}%", f64::from(settings.strength.to_256ths()) / 2.56);
        let clean = Found { exposure: 4096, contrast: 4096, ..Found::default() };
        assert!(text(None).contains(&strength), "{}", text(None));
        assert!(text(Some(Found { dark: 4096, ..clean })).contains(&strength));
        let nothing = text(Some(clean));
        assert!(nothing.contains("nothing to correct") && !nothing.contains("strength"), "{nothing}");
    }
}
