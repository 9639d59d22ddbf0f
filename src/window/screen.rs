//! A window of the system's own: opened, listened to, drawn on. What it is like is winit's business, how pixels get
//! there softbuffer's; both look for the libraries of X11 and Wayland at run time only.

use super::listener::{Input, Listener};
use crate::chart::Canvas;
use anyhow::{Context as _, Result, anyhow, bail};
use softbuffer::{Context, Surface};
use std::num::NonZeroU32;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::rc::Rc;
use std::time::Duration;
use winit::dpi::{LogicalSize, PhysicalSize};
use winit::event_loop::{EventLoop, OwnedDisplayHandle};
use winit::platform::pump_events::{EventLoopExtPumpEvents, PumpStatus};
use winit::window::{CursorIcon, Fullscreen, Window};

/// How often the system is asked for the window, and how long it is waited for each time but the first. Most systems
/// have it ready at once.
const ATTEMPTS: u32 = 20;
const PATIENCE: Duration = Duration::from_millis(100);

/// The window.
pub struct Screen {
    system: EventLoop<()>,
    listener: Listener,
    window: Rc<Window>,
    surface: Surface<OwnedDisplayHandle, Rc<Window>>,
}

impl Screen {
    /// Opens a window that is not seen yet, of this size in points.
    ///
    /// # Errors
    /// When there is no display.
    pub fn open(title: &str, size: (usize, usize)) -> Result<Self> {
        let mut system = event_loop()?;
        let attributes = Window::default_attributes()
            .with_title(title)
            .with_inner_size(LogicalSize::new(size.0 as f64, size.1 as f64))
            .with_visible(false);
        let mut listener = Listener::new(attributes);
        for attempt in 0..ATTEMPTS {
            system.pump_app_events(Some(PATIENCE.min(PATIENCE * attempt)), &mut listener);
            if listener.window.is_some() {
                break;
            }
        }
        let window = listener.window.take().context("cannot create a window")??;
        let refused = |error| anyhow!("no display ({error})");
        let context = Context::new(system.owned_display_handle()).map_err(refused)?;
        let surface = Surface::new(&context, window.clone()).map_err(refused)?;
        listener.size = window.inner_size();
        Ok(Screen { system, listener, window, surface })
    }

    /// Shows the window, in the size that `shape` makes of the size of the monitor, both in points.
    pub fn unveil(&mut self, shape: impl FnOnce((usize, usize)) -> (usize, usize)) {
        let monitor = self.window.current_monitor().or_else(|| self.window.available_monitors().next());
        let there: LogicalSize<f64> =
            monitor.map(|monitor| monitor.size()).unwrap_or_default().to_logical(self.window.scale_factor());
        // Some systems do not tell.
        let unknown = there.width < 1.0 || there.height < 1.0;
        let there = if unknown { (usize::MAX, usize::MAX) } else { (there.width as usize, there.height as usize) };
        let (width, height) = shape(there);
        // Some systems answer at once, the others with an event.
        if let Some(size) = self.window.request_inner_size(LogicalSize::new(width as f64, height as f64)) {
            self.listener.size = size;
        }
        self.window.set_visible(true);
    }

    /// Pixels in a row and rows.
    pub fn size(&self) -> (usize, usize) {
        (self.listener.size.width as usize, self.listener.size.height as usize)
    }

    /// What has happened since the last call.
    pub fn inputs(&mut self) -> Vec<Input> {
        self.pump();
        std::mem::take(&mut self.listener.inputs)
    }

    /// The whole screen, or a window again.
    pub fn set_full(&self, full: bool) {
        self.window.set_fullscreen(full.then_some(Fullscreen::Borderless(None)));
    }

    /// Whether it is the whole screen.
    pub fn is_full(&self) -> bool {
        self.window.fullscreen().is_some()
    }

    /// Shows whether there is something to be dragged.
    pub fn set_draggable(&self, draggable: bool) {
        self.window.set_cursor(if draggable { CursorIcon::EwResize } else { CursorIcon::Default });
    }

    /// Shows what `paint` draws. Waits for no screen refresh.
    ///
    /// # Errors
    /// Those of `paint`, and when the display went away.
    pub fn draw(&mut self, paint: impl FnOnce(&mut Canvas) -> Result<()>) -> Result<()> {
        let PhysicalSize { width, height } = self.listener.size;
        let (Some(columns), Some(rows)) = (NonZeroU32::new(width), NonZeroU32::new(height)) else { return Ok(()) };
        // Text is as sharp as can be in whole steps only.
        let scale = self.window.scale_factor() as usize;
        let failed = |error| anyhow!("the window cannot be drawn ({error})");
        self.surface.resize(columns, rows).map_err(failed)?;
        let mut buffer = self.surface.buffer_mut().map_err(failed)?;
        paint(&mut Canvas::new(&mut buffer, (width as usize, height as usize), scale))?;
        self.window.pre_present_notify();
        buffer.present().map_err(failed)?;
        // On X11, what was presented lies in a queue that is only sent when events are asked for.
        self.pump();
        Ok(())
    }

    fn pump(&mut self) {
        if let PumpStatus::Exit(_) = self.system.pump_app_events(Some(Duration::ZERO), &mut self.listener) {
            self.listener.inputs.push(Input::Closed);
        }
    }
}

/// The connection to the display. winit panics where a library or an extension is missing; here that is an error.
fn event_loop() -> Result<EventLoop<()>> {
    let hook = take_hook();
    set_hook(Box::new(|_| {}));
    let built = catch_unwind(AssertUnwindSafe(EventLoop::new));
    set_hook(hook);
    match built {
        Ok(built) => built.map_err(|error| anyhow!("no display ({})", reason(&error.to_string()))),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
            bail!("no display ({})", reason(text.unwrap_or("it cannot be used")))
        }
    }
}

/// winit's message without the file and the line that it begins with.
fn reason(message: &str) -> &str {
    let text = message.split_once(".rs:").map_or(message, |(_, after)| after.trim_start_matches(char::is_numeric));
    text.trim_start_matches(": ").trim_end_matches('.')
}
