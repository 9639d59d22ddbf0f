//! The preview of `live`: the equalized picture, the original, or both with a divider; a chart of histogram and curve;
//! a status line; keys.

mod captions;
mod chart;
mod controls;
mod keys;
mod listener;
mod message;
mod overlay;
mod screen;
mod screenshot;

use crate::draw::shown;
use anyhow::{Context, Result};
use controls::{Controls, KEY_STEP, PreviewMode};
use histeq::internal::equalize::Applied;
use histeq::internal::equalize::cpu::{Engine, Isa};
use histeq::internal::frame::{Frame, HostPool};
use histeq::internal::spec::parameters::{Settings, Smoothing, Strength};
use histeq_media::ffmpeg::filter::Converter;
use histeq_media::pipeline::Notices;
use histeq_media::pipeline::live::{SharedSettings, Shown, Status, Viewer, ViewerReply};
use keys::Action;
use listener::UserInput;
use message::Messages;
use screen::Screen;

/// Largest size at which the window opens, in points; the user can resize it.
const LARGEST: (usize, usize) = (1280, 720);
/// Smallest size at which the window opens, in points.
const SMALLEST: (usize, usize) = (640, 360);

/// Equalizes the shown frame again, with other settings.
pub type Reequalize = Box<dyn FnMut(&Shown, Settings) -> Result<Frame>>;

/// The window of the preview.
pub struct PreviewWindow {
    screen: Screen,
    converter: Converter,
    engine: Engine,
    shared_settings: SharedSettings,
    notices: Notices,
    reequalize: Reequalize,
    controls: Controls,
    messages: Messages,
    last: Option<Shown>,
    /// The seconds without a signal that are shown over the picture.
    no_signal: Option<u64>,
}

impl PreviewWindow {
    /// Opens the window, hidden until there is a picture. Keys change the shared settings; `reequalize` applies a
    /// change to a paused frame; `notices` gets the names of screenshots.
    ///
    /// # Errors
    /// When there is no display.
    pub fn open(shared_settings: SharedSettings, notices: Notices, reequalize: Reequalize) -> Result<Self> {
        let engine = Engine::new(Isa::best(), HostPool::default()).context("the best instruction set is available")?;
        Ok(PreviewWindow {
            screen: Screen::open("histeq-video live", LARGEST)?,
            converter: Converter::quick(),
            engine,
            shared_settings,
            notices,
            reequalize,
            controls: Controls::default(),
            messages: Messages::default(),
            last: None,
            no_signal: None,
        })
    }

    /// Shows the window, with the aspect ratio of the first picture. A pixel of the picture is a point, whatever the
    /// scale factor.
    fn reveal(&mut self, frame: &Frame) {
        let picture = (frame.width(), frame.height());
        self.screen.reveal(|monitor| {
            let most = (LARGEST.0.min(monitor.0), LARGEST.1.min(monitor.1));
            let least = (SMALLEST.0.min(most.0), SMALLEST.1.min(most.1));
            fit(picture, (picture.0.clamp(least.0, most.0), picture.1.clamp(least.1, most.1))).0
        });
    }

    /// Handles all input; `None` if it ends the run, else whether there was any.
    fn handle_inputs(&mut self) -> Result<Option<bool>> {
        let inputs = self.screen.inputs();
        for input in &inputs {
            match *input {
                UserInput::Key(action) => {
                    if self.perform(action)? == ViewerReply::End {
                        return Ok(None);
                    }
                }
                UserInput::Drag(x) => self.drag(x),
                UserInput::Redraw => {}
                UserInput::Closed => return Ok(None),
            }
        }
        Ok(Some(!inputs.is_empty()))
    }

    fn perform(&mut self, action: Action) -> Result<ViewerReply> {
        let controls = &mut self.controls;
        match action {
            Action::Equalized => controls.mode = PreviewMode::Equalized,
            Action::Original => controls.mode = PreviewMode::Original,
            Action::Split => controls.mode = PreviewMode::Split,
            Action::MoveDivider(steps) => controls.set_divider(controls.divider + f64::from(steps) * KEY_STEP),
            Action::Histogram => controls.chart = !controls.chart,
            Action::Strength(steps) => self.change_strength(f64::from(steps) * KEY_STEP)?,
            Action::Smoothing(steps) => self.change_smoothing(steps),
            Action::Pause => controls.paused = !controls.paused,
            Action::Screenshot => self.save_screenshot(),
            Action::FullScreen => self.screen.set_full(!self.screen.is_full()),
            Action::Help => controls.help = !controls.help,
            Action::Back if self.screen.is_full() => self.screen.set_full(false),
            Action::Back | Action::Quit => return Ok(ViewerReply::End),
        }
        self.screen.set_draggable(self.controls.mode == PreviewMode::Split);
        Ok(ViewerReply::GoOn)
    }

    fn drag(&mut self, x: f64) {
        let Some(shown) = self.last.as_ref().filter(|_| self.controls.mode == PreviewMode::Split) else { return };
        let ((width, _), (left, _)) = fit((shown.original.width(), shown.original.height()), self.screen.size());
        self.controls.set_divider((x - left as f64) / width.max(1) as f64);
    }

    /// Changes the strength, also of a paused frame.
    fn change_strength(&mut self, by: f64) -> Result<()> {
        let settings = self.shared_settings.get();
        let share = f64::from(settings.strength.to_256ths()) / 256.0;
        let strength = Strength::from_share((share + by).clamp(0.0, 1.0)).unwrap_or_default();
        let settings = Settings { strength, ..settings };
        self.shared_settings.set(settings);
        if let Some(shown) = self.last.as_mut().filter(|_| self.controls.paused) {
            shown.equalized = (self.reequalize)(shown, settings)?;
        }
        Ok(())
    }

    /// Doubles or halves the temporal window.
    fn change_smoothing(&mut self, steps: i32) {
        let settings = self.shared_settings.get();
        let frames = settings.smoothing.frames();
        let frames = if steps > 0 { frames * 2 } else { frames / 2 };
        let flash = settings.smoothing.flash().max(1);
        let smoothing = if frames > 1 { Smoothing::new(frames, flash) } else { Smoothing::OFF };
        self.shared_settings.set(Settings { smoothing, ..settings });
    }

    fn save_screenshot(&self) {
        if let Some(shown) = &self.last {
            let frame = if self.controls.mode == PreviewMode::Original { &shown.original } else { &shown.equalized };
            screenshot::save(frame.clone(), &self.notices, self.messages.sender.clone());
        }
    }

    fn draw(&mut self, status: &Status) -> Result<()> {
        let Some(shown) = &self.last else { return Ok(()) };
        let (size, index) = fit((shown.original.width(), shown.original.height()), self.screen.size());
        let (controls, settings) = (&self.controls, self.shared_settings.get());
        let text =
            captions::status_text(status, (&settings, shown.applied.found), controls.paused, self.messages.text());
        let no_signal = self.no_signal.filter(|_| !controls.help);
        let (converter, engine) = (&mut self.converter, &mut self.engine);
        self.screen.draw(|canvas| {
            let columns = controls.original_columns(size.0);
            if columns > 0 {
                canvas.copy(&converter.rgb(&shown.original, size)?, index, 0..columns);
            }
            if columns < size.0 {
                canvas.copy(&converter.rgb(&shown.equalized, size)?, index, columns..size.0);
            }
            captions::draw_labels(canvas, controls.mode, size, index, columns);
            if controls.chart && !controls.help {
                let histogram = engine.histogram(&shown.original, shown.original.whole());
                let Applied { scene, chroma_gain, .. } = shown.applied;
                chart::chart(
                    canvas,
                    &histogram,
                    &shown::curve(&shown.original, &shown.equalized),
                    &chart::caption(scene, chroma_gain),
                );
            }
            if let Some(seconds) = no_signal {
                overlay::centred(canvas, &[&format!("no signal for {seconds} s")]);
            }
            if controls.help {
                overlay::centred(canvas, keys::HELP);
            }
            overlay::status_line(canvas, &text);
            Ok(())
        })
    }
}

impl Viewer for PreviewWindow {
    fn show(&mut self, frame: Option<Shown>, status: &Status) -> Result<ViewerReply> {
        if let Some(first) = frame.as_ref().filter(|_| self.last.is_none()) {
            self.reveal(&first.original);
        }
        let Some(mut needs_redraw) = self.handle_inputs()? else { return Ok(ViewerReply::End) };
        if let Some(frame) = frame.filter(|_| !self.controls.paused || self.last.is_none()) {
            self.last = Some(frame);
            needs_redraw = true;
        }
        let no_signal = status.no_signal.map(|silence| silence.as_secs());
        needs_redraw |= std::mem::replace(&mut self.no_signal, no_signal) != no_signal;
        if self.messages.update() || needs_redraw {
            self.draw(status)?;
        }
        Ok(ViewerReply::GoOn)
    }
}

/// The size at which a picture fits into a window, and the position of its upper left corner.
fn fit(picture: (usize, usize), window: (usize, usize)) -> ((usize, usize), (usize, usize)) {
    let ((width, height), (most_wide, most_high)) = (picture, window);
    let size = if width * most_high > height * most_wide {
        (most_wide, (height * most_wide / width).max(1))
    } else {
        ((width * most_high / height).max(1), most_high)
    };
    (size, ((most_wide - size.0) / 2, (most_high - size.1) / 2))
}
