//! The preview: the equalized picture, the original, or both with a divider between them; histogram and curve; a line
//! that says how the run is doing; keys.

mod captions;
mod chart;
mod controls;
mod keys;
mod listener;
mod message;
mod overlay;
mod screen;
mod screenshot;

use crate::equalize::cpu::{Engine, Isa};
use crate::equalize::relation;
use crate::ffmpeg::Converter;
use crate::frame::{Frame, HostPool};
use crate::pipeline::Notices;
use crate::pipeline::live::{SharedSettings, Shown, Status, Viewer, ViewerReply};
use crate::spec::{Levels, Settings, Smoothing, Strength};
use anyhow::{Context, Result};
use controls::{Controls, STEP, View};
use keys::Action;
use listener::Input;
use message::Messages;
use screen::Screen;

/// The largest window that is opened, and the smallest, in points; it can be resized.
const LARGEST: (usize, usize) = (1280, 720);
const SMALLEST: (usize, usize) = (640, 360);

/// Rows that the curve is taken from, at least.
const CURVE_ROWS: usize = 240;

/// Equalizes once more, with other settings, what is shown.
pub type Again = Box<dyn FnMut(&Shown, Settings) -> Result<Frame>>;

/// The window.
pub struct Window {
    screen: Screen,
    converter: Converter,
    engine: Engine,
    shared_settings: SharedSettings,
    notices: Notices,
    again: Again,
    controls: Controls,
    messages: Messages,
    last: Option<Shown>,
}

impl Window {
    /// Opens it; it is seen as soon as there is a picture. Keys change the shared settings; `notices` hears of screenshots,
    /// and `again` equalizes once more what stands still when they change.
    ///
    /// # Errors
    /// When there is no display.
    pub fn open(shared_settings: SharedSettings, notices: Notices, again: Again) -> Result<Self> {
        let engine = Engine::new(Isa::best(), HostPool::default()).context("the best instruction set is available")?;
        Ok(Window {
            screen: Screen::open("histeq-video live", LARGEST)?,
            converter: Converter::quick(),
            engine,
            shared_settings,
            notices,
            again,
            controls: Controls::default(),
            messages: Messages::default(),
            last: None,
        })
    }

    /// Shows the window, in the shape of the first picture. A pixel of that is a point: as large here as elsewhere.
    fn unveil(&mut self, frame: &Frame) {
        let picture = (frame.width(), frame.height());
        self.screen.unveil(|monitor| {
            let most = (LARGEST.0.min(monitor.0), LARGEST.1.min(monitor.1));
            let least = (SMALLEST.0.min(most.0), SMALLEST.1.min(most.1));
            fit(picture, (picture.0.clamp(least.0, most.0), picture.1.clamp(least.1, most.1))).0
        });
    }

    /// Takes what keys, mouse and system have to say; `None` at the end, else whether there is something new to be
    /// seen.
    fn listen(&mut self) -> Result<Option<bool>> {
        let inputs = self.screen.inputs();
        for input in &inputs {
            match *input {
                Input::Key(action) => {
                    if self.act(action)? == ViewerReply::End {
                        return Ok(None);
                    }
                }
                Input::Drag(x) => self.drag(x),
                Input::Stale => {}
                Input::Closed => return Ok(None),
            }
        }
        Ok(Some(!inputs.is_empty()))
    }

    /// Does what a key says.
    fn act(&mut self, action: Action) -> Result<ViewerReply> {
        let controls = &mut self.controls;
        match action {
            Action::Equalized => controls.view = View::Equalized,
            Action::Original => controls.view = View::Original,
            Action::Split => controls.view = View::Split,
            Action::Divide(steps) => controls.divide_at(controls.divider + f64::from(steps) * STEP),
            Action::Histogram => controls.chart = !controls.chart,
            Action::Strength(steps) => self.strengthen(f64::from(steps) * STEP)?,
            Action::Smoothing(steps) => self.smoothen(steps),
            Action::Pause => controls.paused = !controls.paused,
            Action::Screenshot => self.keep(),
            Action::FullScreen => self.screen.set_full(!self.screen.is_full()),
            Action::Help => controls.help = !controls.help,
            Action::Back if self.screen.is_full() => self.screen.set_full(false),
            Action::Back | Action::Quit => return Ok(ViewerReply::End),
        }
        self.screen.set_draggable(self.controls.view == View::Split);
        Ok(ViewerReply::GoOn)
    }

    fn drag(&mut self, x: f64) {
        let Some(shown) = self.last.as_ref().filter(|_| self.controls.view == View::Split) else { return };
        let ((width, _), (left, _)) = fit((shown.original.width(), shown.original.height()), self.screen.size());
        self.controls.divide_at((x - left as f64) / width.max(1) as f64);
    }

    /// Changes the strength. No frame comes to show it while the picture stands still, so that one is done again.
    fn strengthen(&mut self, by: f64) -> Result<()> {
        let settings = self.shared_settings.get();
        let share = f64::from(settings.strength.of_256()) / 256.0;
        let strength = Strength::from_share((share + by).clamp(0.0, 1.0)).unwrap_or_default();
        let settings = Settings { strength, ..settings };
        self.shared_settings.set(settings);
        if let Some(shown) = self.last.as_mut().filter(|_| self.controls.paused) {
            shown.equalized = (self.again)(shown, settings)?;
        }
        Ok(())
    }

    /// Doubles the temporal window, or halves it.
    fn smoothen(&mut self, steps: i32) {
        let settings = self.shared_settings.get();
        let frames = settings.smoothing.frames();
        let frames = if steps > 0 { frames * 2 } else { frames / 2 };
        let flash = settings.smoothing.flash().max(1);
        let smoothing = if frames > 1 { Smoothing::new(frames, flash) } else { Smoothing::OFF };
        self.shared_settings.set(Settings { smoothing, ..settings });
    }

    fn keep(&self) {
        if let Some(shown) = &self.last {
            let frame = if self.controls.view == View::Original { &shown.original } else { &shown.equalized };
            screenshot::keep(frame.clone(), &self.notices, self.messages.sender());
        }
    }

    fn draw(&mut self, status: &Status) -> Result<()> {
        let Some(shown) = &self.last else { return Ok(()) };
        let (size, at) = fit((shown.original.width(), shown.original.height()), self.screen.size());
        let (controls, settings) = (&self.controls, self.shared_settings.get());
        let text = captions::line(status, &settings, controls.paused, self.messages.text());
        let (converter, engine) = (&mut self.converter, &mut self.engine);
        self.screen.draw(|canvas| {
            let columns = controls.original_columns(size.0);
            if columns > 0 {
                canvas.copy(&converter.rgb(&shown.original, size)?, at, 0..columns);
            }
            if columns < size.0 {
                canvas.copy(&converter.rgb(&shown.equalized, size)?, at, columns..size.0);
            }
            captions::names(canvas, controls.view, size, at, columns);
            if controls.chart && !controls.help {
                let histogram = engine.histogram(&shown.original, shown.original.whole());
                chart::chart(canvas, &histogram, &curve(shown));
            }
            if controls.help {
                overlay::help(canvas);
            }
            overlay::status(canvas, &text);
            Ok(())
        })
    }
}

impl Viewer for Window {
    fn show(&mut self, frame: Option<Shown>, status: &Status) -> Result<ViewerReply> {
        if let Some(first) = frame.as_ref().filter(|_| self.last.is_none()) {
            self.unveil(&first.original);
        }
        let Some(mut news) = self.listen()? else { return Ok(ViewerReply::End) };
        if let Some(frame) = frame.filter(|_| !self.controls.paused || self.last.is_none()) {
            self.last = Some(frame);
            news = true;
        }
        if self.messages.update() || news {
            self.draw(status)?;
        }
        Ok(ViewerReply::GoOn)
    }
}

/// The curve that has equalized a frame, at the codes that occur in it; both from 0 for the lowest code to 1 for the
/// highest. The mean of them all, where tiles have curves of their own.
fn curve(shown: &Shown) -> Vec<(f64, f64)> {
    let (from, to) = (shown.original.levels(), shown.equalized.levels());
    let share = |levels: Levels, level: f64| {
        (f64::from(levels.lo()) + level * (levels.count() - 1) as f64) / (levels.codes() - 1) as f64
    };
    // Some rows tell as much as all of them, and the picture does not wait.
    let step = (shown.original.height() / CURVE_ROWS).max(1);
    let points = relation(&shown.original, &shown.equalized, step).unwrap_or_default();
    points.into_iter().map(|(before, after)| (share(from, before), share(to, after))).collect()
}

/// The size at which a picture fits into a window, and where its upper left corner is then.
fn fit(picture: (usize, usize), window: (usize, usize)) -> ((usize, usize), (usize, usize)) {
    let ((width, height), (most_wide, most_high)) = (picture, window);
    let size = if width * most_high > height * most_wide {
        (most_wide, (height * most_wide / width).max(1))
    } else {
        ((width * most_high / height).max(1), most_high)
    };
    (size, ((most_wide - size.0) / 2, (most_high - size.1) / 2))
}
