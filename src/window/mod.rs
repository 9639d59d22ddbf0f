//! The preview: the equalized picture, the original, or both with a divider between them; histogram and curve; a line
//! that says how the run is doing; keys.

mod canvas;
mod keys;
mod overlay;
mod projector;
mod screenshot;

use crate::equalize::cpu::{Engine, Isa};
use crate::equalize::whole;
use crate::frame::{Frame, HostPool};
use crate::pipeline::Notices;
use crate::pipeline::live::{Dial, Shown, Status, Viewer, Wish};
use crate::spec::{Curve, Settings, Strength};
use anyhow::{Context, Result};
use canvas::Canvas;
use keys::{Action, ONCE, REPEATED};
use minifb::{KeyRepeat, MouseButton, MouseMode, Scale, ScaleMode, WindowOptions};
use projector::{Projector, fit};

/// The largest window that is opened, and the smallest; it can be resized.
const LARGEST: (usize, usize) = (1280, 720);
const SMALLEST: (usize, usize) = (640, 360);

/// How far a key moves the strength, and the divider.
const STEP: f64 = 0.05;

/// What is seen.
#[derive(Clone, Copy, PartialEq, Eq)]
enum View {
    Equalized,
    Original,
    Split,
}

/// The window.
pub struct Window {
    window: minifb::Window,
    size: (usize, usize),
    full_screen: bool,
    canvas: Canvas,
    projector: Projector,
    engine: Engine,
    dial: Dial,
    notices: Notices,
    view: View,
    /// Where the divider stands, 0 to 1.
    divider: f64,
    chart: bool,
    help: bool,
    paused: bool,
    last: Option<Shown>,
}

impl Window {
    /// Opens it. Keys turn the `dial`; `notices` hears of screenshots.
    ///
    /// # Errors
    /// When there is no display.
    pub fn open(dial: Dial, notices: Notices) -> Result<Self> {
        let engine = Engine::new(Isa::best(), HostPool::default()).context("the best instruction set is available")?;
        Ok(Window {
            window: minifb_window(LARGEST, false)?,
            size: LARGEST,
            full_screen: false,
            canvas: Canvas::default(),
            projector: Projector::default(),
            engine,
            dial,
            notices,
            view: View::Equalized,
            divider: 0.5,
            chart: false,
            help: false,
            paused: false,
            last: None,
        })
    }

    /// Gives the window the shape of the first picture.
    fn shape_for(&mut self, frame: &Frame) -> Result<()> {
        let picture = (frame.width(), frame.height());
        let bounds = (picture.0.clamp(SMALLEST.0, LARGEST.0), picture.1.clamp(SMALLEST.1, LARGEST.1));
        let (size, _) = fit(picture, bounds);
        if size != self.size {
            self.size = size;
            self.window = minifb_window(size, false)?;
        }
        Ok(())
    }

    /// Does what a key says; false at the end.
    fn act(&mut self, action: Action) -> Result<bool> {
        match action {
            Action::Equalized => self.view = View::Equalized,
            Action::Original => self.view = View::Original,
            Action::Split => self.view = View::Split,
            Action::Divide(steps) => self.divider = (self.divider + f64::from(steps) * STEP).clamp(0.0, 1.0),
            Action::Histogram => self.chart = !self.chart,
            Action::Strength(steps) => {
                let share = f64::from(self.dial.get().strength.of_256()) / 256.0;
                let strength = Strength::from_share((share + f64::from(steps) * STEP).clamp(0.0, 1.0));
                self.dial.set(Settings { strength: strength.unwrap_or_default(), ..self.dial.get() });
            }
            Action::Pause => self.paused = !self.paused,
            Action::Screenshot => {
                if let Some(shown) = &self.last {
                    let frame = if self.view == View::Original { &shown.original } else { &shown.equalized };
                    screenshot::keep(frame.clone(), &self.notices);
                }
            }
            Action::FullScreen => {
                self.full_screen = !self.full_screen;
                self.window = minifb_window(self.size, self.full_screen)?;
            }
            Action::Help => self.help = !self.help,
            Action::Quit => return Ok(false),
        }
        Ok(true)
    }

    /// Looks at keys and mouse; `None` at the end, else whether there is something new to be seen.
    fn listen(&mut self) -> Result<Option<bool>> {
        if !self.window.is_open() {
            return Ok(None);
        }
        let pressed = |window: &minifb::Window, keys: &[(minifb::Key, Action)], repeat| -> Vec<Action> {
            let is_pressed = |(key, _): &&(minifb::Key, Action)| window.is_key_pressed(*key, repeat);
            keys.iter().filter(is_pressed).map(|(_, action)| *action).collect()
        };
        let mut actions = pressed(&self.window, ONCE, KeyRepeat::No);
        actions.extend(pressed(&self.window, REPEATED, KeyRepeat::Yes));
        let mut news = !actions.is_empty();
        for action in actions {
            if !self.act(action)? {
                return Ok(None);
            }
        }
        let (width, _) = self.window.get_size();
        let dragging = self.view == View::Split && self.window.get_mouse_down(MouseButton::Left);
        let mouse = self.window.get_unscaled_mouse_pos(MouseMode::Clamp).filter(|_| dragging);
        if let Some((x, _)) = mouse {
            self.divider = (f64::from(x) / width.max(1) as f64).clamp(0.0, 1.0);
            news = true;
        }
        Ok(Some(news))
    }

    fn draw(&mut self, status: &Status) -> Result<()> {
        let window = self.window.get_size();
        let Some(shown) = &self.last else { return Ok(()) };
        if window.0 == 0 || window.1 == 0 {
            return Ok(());
        }
        self.canvas.clear_to(window);
        let (size, at) = fit((shown.original.width(), shown.original.height()), window);
        let divider = ((window.0 as f64 * self.divider) as usize).clamp(at.0, at.0 + size.0);
        let first = match self.view {
            View::Equalized => at.0,
            View::Original => at.0 + size.0,
            View::Split => divider,
        };
        if first > at.0 {
            let original = self.projector.project(&shown.original, size)?;
            self.canvas.copy(&original, at, 0..first - at.0);
        }
        if first < at.0 + size.0 {
            let equalized = self.projector.project(&shown.equalized, size)?;
            self.canvas.copy(&equalized, at, first - at.0..size.0);
        }
        if self.view == View::Split {
            overlay::divider(&mut self.canvas, divider.min(window.0 - 1), at.1..at.1 + size.1);
        }
        let strength = self.dial.get().strength;
        if self.chart {
            let histogram = self.engine.histogram(&shown.original, whole(&shown.original));
            let curve = Curve::equalizing(&histogram).blended(strength);
            overlay::chart(&mut self.canvas, &histogram, &curve);
        }
        if self.help {
            overlay::help(&mut self.canvas);
        }
        overlay::status(&mut self.canvas, &line(status, strength, self.paused));
        let (width, height) = self.canvas.dimensions();
        self.window.update_with_buffer(self.canvas.pixels(), width, height).context("the window cannot be drawn")?;
        Ok(())
    }
}

impl Viewer for Window {
    fn show(&mut self, frame: Option<Shown>, status: &Status) -> Result<Wish> {
        if let Some(first) = frame.as_ref().filter(|_| self.last.is_none()) {
            self.shape_for(&first.original)?;
        }
        let Some(mut news) = self.listen()? else { return Ok(Wish::End) };
        if let Some(frame) = frame.filter(|_| !self.paused) {
            self.last = Some(frame);
            news = true;
        }
        if news {
            self.draw(status)?;
        } else {
            self.window.update();
        }
        Ok(Wish::GoOn)
    }
}

/// The text of the line at the bottom.
fn line(status: &Status, strength: Strength, paused: bool) -> String {
    let mut text = format!("{:.1} fps", status.fps);
    if let Some(latency) = status.latency {
        text += &format!("  {:.1} ms", latency.as_secs_f64() * 1e3);
    }
    text += &format!("  {} dropped", status.dropped);
    if status.unwritten > 0 {
        text += &format!("  {} not written", status.unwritten);
    }
    text += &format!("  strength {:.0}%", f64::from(strength.of_256()) / 2.56);
    text + if paused { "  PAUSED" } else { "  F1: keys" }
}

fn minifb_window((width, height): (usize, usize), full_screen: bool) -> Result<minifb::Window> {
    let options = WindowOptions {
        resize: true,
        // The canvas follows the size of the window, so that text stays sharp.
        scale_mode: ScaleMode::AspectRatioStretch,
        borderless: full_screen,
        title: !full_screen,
        scale: if full_screen { Scale::FitScreen } else { Scale::X1 },
        ..WindowOptions::default()
    };
    let mut window = minifb::Window::new("histeq-video live", width, height, options)
        .map_err(|error| anyhow::anyhow!("no display ({error})"))?;
    // The engine waits for frames; the window does not have to.
    window.set_target_fps(0);
    Ok(window)
}
