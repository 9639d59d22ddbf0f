//! What the system tells of its window, in our own words.

use super::keys::Action;
use anyhow::{Context, Result};
use std::rc::Rc;
use winit::application::ApplicationHandler;
use winit::dpi::PhysicalSize;
use winit::event::{ElementState, MouseButton, WindowEvent};
use winit::event_loop::ActiveEventLoop;
use winit::window::{Window, WindowAttributes, WindowId};

/// What happened in the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Input {
    /// A key was pressed.
    Key(Action),
    /// The mouse is here, in pixels from the left, with its button down.
    Drag(f64),
    /// What is seen is out of date: the size is another one, or something that covered the window went away.
    Stale,
    /// The user closed the window.
    Closed,
}

/// What winit calls when something happens.
#[derive(Default)]
pub struct Listener {
    /// The window that is to be opened as soon as that can be done.
    wanted: Option<WindowAttributes>,
    /// What became of it, once.
    pub window: Option<Result<Rc<Window>>>,
    /// Pixels in a row and rows.
    pub size: PhysicalSize<u32>,
    /// Where the mouse is, from the left, and whether its button is down.
    mouse: f64,
    pressed: bool,
    /// What has happened.
    pub inputs: Vec<Input>,
}

impl Listener {
    /// Opens such a window as soon as that can be done.
    pub fn new(wanted: WindowAttributes) -> Self {
        Listener { wanted: Some(wanted), ..Listener::default() }
    }
}

impl ApplicationHandler for Listener {
    fn resumed(&mut self, system: &ActiveEventLoop) {
        if let Some(attributes) = self.wanted.take() {
            let window = system.create_window(attributes).map(Rc::new);
            self.window = Some(window.context("no display"));
        }
    }

    fn window_event(&mut self, _system: &ActiveEventLoop, _window: WindowId, event: WindowEvent) {
        let drag = |listener: &Listener| listener.pressed.then_some(Input::Drag(listener.mouse));
        let input = match event {
            // Keys that were down before the window had the keyboard are meant for another window.
            WindowEvent::KeyboardInput { event, is_synthetic: false, .. } => Action::of(&event).map(Input::Key),
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
                Some(Input::Stale)
            }
            WindowEvent::RedrawRequested | WindowEvent::ScaleFactorChanged { .. } => Some(Input::Stale),
            WindowEvent::CloseRequested | WindowEvent::Destroyed => Some(Input::Closed),
            _ => None,
        };
        self.inputs.extend(input);
    }
}
