//! Translates events of the window into input of the preview.

use super::keys::Action;
use anyhow::{Context, Result};
use std::rc::Rc;
use winit::application::ApplicationHandler;
use winit::dpi::PhysicalSize;
use winit::event::{ElementState, MouseButton, WindowEvent};
use winit::event_loop::ActiveEventLoop;
use winit::window::{Window, WindowAttributes, WindowId};

/// Input from keyboard, mouse and window system.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum UserInput {
    /// A key was pressed.
    Key(Action),
    /// The mouse is at this distance from the left, in pixels, with its button down.
    Drag(f64),
    /// The window must be drawn again: it was resized or uncovered.
    Redraw,
    /// The user closed the window.
    Closed,
}

/// Receives winit's events.
#[derive(Default)]
pub struct Listener {
    /// Attributes of the window to open when winit allows it.
    attributes: Option<WindowAttributes>,
    /// The window or the error, after the attempt to open it.
    pub window: Option<Result<Rc<Window>>>,
    /// Size of the window in pixels.
    pub size: PhysicalSize<u32>,
    /// Distance of the mouse from the left, in pixels.
    mouse: f64,
    /// Whether the left mouse button is down.
    pressed: bool,
    /// Input since it was last taken.
    pub inputs: Vec<UserInput>,
}

impl Listener {
    /// Opens a window with these attributes when winit allows it.
    pub fn new(attributes: WindowAttributes) -> Self {
        Listener { attributes: Some(attributes), ..Listener::default() }
    }
}

impl ApplicationHandler for Listener {
    fn resumed(&mut self, system: &ActiveEventLoop) {
        if let Some(attributes) = self.attributes.take() {
            let window = system.create_window(attributes).map(Rc::new);
            self.window = Some(window.context("no display"));
        }
    }

    fn window_event(&mut self, _system: &ActiveEventLoop, _window: WindowId, event: WindowEvent) {
        let drag = |listener: &Listener| listener.pressed.then_some(UserInput::Drag(listener.mouse));
        let input = match event {
            // Synthetic events, of keys that were down before the window had the focus, are ignored.
            WindowEvent::KeyboardInput { event, is_synthetic: false, .. } => {
                Action::for_event(&event).map(UserInput::Key)
            }
            WindowEvent::CursorMoved { position, .. } => {
                self.mouse = position.x;
                drag(self)
            }
            WindowEvent::MouseInput { state, button: MouseButton::Left, .. } => {
                self.pressed = state == ElementState::Pressed;
                drag(self)
            }
            WindowEvent::Resized(size) => {
                self.size = size;
                Some(UserInput::Redraw)
            }
            WindowEvent::RedrawRequested | WindowEvent::ScaleFactorChanged { .. } => Some(UserInput::Redraw),
            WindowEvent::CloseRequested | WindowEvent::Destroyed => Some(UserInput::Closed),
            _ => None,
        };
        self.inputs.extend(input);
    }
}
