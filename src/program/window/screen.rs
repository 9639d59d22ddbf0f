//! A window of the system: winit opens it and receives its events, softbuffer presents pixels. Both load the libraries
//! of X11 and Wayland at run time.

use super::listener::{Listener, UserInput};
use crate::draw::chart::Canvas;
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

/// The most attempts to get the window from the system; most systems have it ready at the first.
const ATTEMPTS: u32 = 20;
/// Time that each attempt but the first one waits.
const ATTEMPT_TIME: Duration = Duration::from_millis(100);

/// A window of the system.
pub struct Screen {
    system: EventLoop<()>,
    listener: Listener,
    window: Rc<Window>,
    surface: Surface<OwnedDisplayHandle, Rc<Window>>,
}

impl Screen {
    /// Opens a hidden window of this size in points.
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
            system.pump_app_events(Some(ATTEMPT_TIME.min(ATTEMPT_TIME * attempt)), &mut listener);
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

    /// Shows the window. `size_on` gives its size on a monitor of a given size, both in points.
    pub fn reveal(&mut self, size_on: impl FnOnce((usize, usize)) -> (usize, usize)) {
        let monitor = self.window.current_monitor().or_else(|| self.window.available_monitors().next());
        let monitor_size: LogicalSize<f64> =
            monitor.map(|monitor| monitor.size()).unwrap_or_default().to_logical(self.window.scale_factor());
        // Some systems report no size.
        let unknown = monitor_size.width < 1.0 || monitor_size.height < 1.0;
        let monitor_size = if unknown {
            (usize::MAX, usize::MAX)
        } else {
            (monitor_size.width as usize, monitor_size.height as usize)
        };
        let (width, height) = size_on(monitor_size);
        // Some systems resize at once, others send an event.
        if let Some(size) = self.window.request_inner_size(LogicalSize::new(width as f64, height as f64)) {
            self.listener.size = size;
        }
        self.window.set_visible(true);
    }

    /// Width and height in pixels.
    pub fn size(&self) -> (usize, usize) {
        (self.listener.size.width as usize, self.listener.size.height as usize)
    }

    /// The input since the last call.
    pub fn inputs(&mut self) -> Vec<UserInput> {
        self.pump();
        std::mem::take(&mut self.listener.inputs)
    }

    /// Enters or leaves full screen.
    pub fn set_full(&self, full: bool) {
        self.window.set_fullscreen(full.then_some(Fullscreen::Borderless(None)));
    }

    /// Whether the window fills the screen.
    pub fn is_full(&self) -> bool {
        self.window.fullscreen().is_some()
    }

    /// Shows the cursor for dragging, or the default one.
    pub fn set_draggable(&self, draggable: bool) {
        self.window.set_cursor(if draggable { CursorIcon::EwResize } else { CursorIcon::Default });
    }

    /// Presents what `paint` draws. Does not wait for the screen's refresh.
    ///
    /// # Errors
    /// Those of `paint`, and when the display went away.
    pub fn draw(&mut self, paint: impl FnOnce(&mut Canvas) -> Result<()>) -> Result<()> {
        let PhysicalSize { width, height } = self.listener.size;
        let (Some(columns), Some(rows)) = (NonZeroU32::new(width), NonZeroU32::new(height)) else { return Ok(()) };
        // Rounded down to a whole number: text stays sharp.
        let scale = self.window.scale_factor() as usize;
        let failed = |error| anyhow!("the window cannot be drawn ({error})");
        self.surface.resize(columns, rows).map_err(failed)?;
        let mut buffer = self.surface.buffer_mut().map_err(failed)?;
        paint(&mut Canvas::new(&mut buffer, (width as usize, height as usize), scale))?;
        self.window.pre_present_notify();
        buffer.present().map_err(failed)?;
        // On X11, presenting only queues a request: reading events sends the queue.
        self.pump();
        Ok(())
    }

    fn pump(&mut self) {
        if let PumpStatus::Exit(_) = self.system.pump_app_events(Some(Duration::ZERO), &mut self.listener) {
            self.listener.inputs.push(UserInput::Closed);
        }
    }
}

/// The connection to the display. winit panics if a library or an extension is missing: that becomes an error.
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

/// winit's message without the file and line at its beginning.
fn reason(message: &str) -> &str {
    let text = message.split_once(".rs:").map_or(message, |(_, after)| after.trim_start_matches(char::is_numeric));
    text.trim_start_matches(": ").trim_end_matches('.')
}
