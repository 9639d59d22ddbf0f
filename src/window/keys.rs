//! What the keys do, and the help that says so.

use winit::event::{ElementState, KeyEvent};
use winit::keyboard::{Key, KeyCode, NamedKey, PhysicalKey};

/// What the user wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The equalized picture.
    Equalized,
    /// The picture as the camera filmed it.
    Original,
    /// Both, with a divider.
    Split,
    /// The divider to the left, or to the right.
    Divide(i32),
    /// Histogram and curve, or not.
    Histogram,
    /// More strength, or less.
    Strength(i32),
    /// A longer temporal window, or a shorter one.
    Smoothing(i32),
    /// Hold the picture still; recording goes on.
    Pause,
    /// Keep the picture as a file.
    Screenshot,
    /// The whole screen, or a window again.
    FullScreen,
    /// The list of keys, or not.
    Help,
    /// Out of full screen, or else the end.
    Back,
    /// The end.
    Quit,
}

/// The list of keys.
pub const HELP: &[&str] = &[
    "E           equalized",
    "O           original",
    "V           split view",
    "Left Right  move the divider (or drag it)",
    "Up Down     strength",
    "] [         smoothing, longer and shorter",
    "H           histogram and curve",
    "Space       pause (recording goes on)",
    "S           screenshot",
    "F           full screen",
    "F1          these keys",
    "Q           end",
];

impl Action {
    /// What a key asks for, if anything. Held down, a key acts again only where that makes sense.
    pub fn of(event: &KeyEvent) -> Option<Self> {
        let action = Self::of_key(&event.logical_key).or_else(|| Self::of_code(event))?;
        let repeats = matches!(action, Action::Strength(_) | Action::Divide(_));
        (event.state == ElementState::Pressed && (repeats || !event.repeat)).then_some(action)
    }

    fn of_key(key: &Key) -> Option<Self> {
        Some(match key {
            Key::Named(NamedKey::ArrowUp) => Action::Strength(1),
            Key::Named(NamedKey::ArrowDown) => Action::Strength(-1),
            Key::Named(NamedKey::ArrowLeft) => Action::Divide(-1),
            Key::Named(NamedKey::ArrowRight) => Action::Divide(1),
            Key::Named(NamedKey::Space) => Action::Pause,
            Key::Named(NamedKey::F1) => Action::Help,
            Key::Named(NamedKey::F11) => Action::FullScreen,
            Key::Named(NamedKey::Escape) => Action::Back,
            Key::Character(text) => match text.to_lowercase().as_str() {
                "e" => Action::Equalized,
                "o" => Action::Original,
                "v" => Action::Split,
                "h" => Action::Histogram,
                " " => Action::Pause,
                "s" => Action::Screenshot,
                "f" => Action::FullScreen,
                "]" => Action::Smoothing(1),
                "[" => Action::Smoothing(-1),
                "?" => Action::Help,
                "q" => Action::Quit,
                _ => return None,
            },
            _ => return None,
        })
    }

    /// By the place of the key, on keyboards that have no Latin letters on them.
    fn of_code(event: &KeyEvent) -> Option<Self> {
        let latin = matches!(&event.logical_key, Key::Character(text) if text.is_ascii());
        let PhysicalKey::Code(code) = event.physical_key else { return None };
        Some(match code {
            _ if latin => return None,
            KeyCode::KeyE => Action::Equalized,
            KeyCode::KeyO => Action::Original,
            KeyCode::KeyV => Action::Split,
            KeyCode::KeyH => Action::Histogram,
            KeyCode::KeyS => Action::Screenshot,
            KeyCode::KeyF => Action::FullScreen,
            KeyCode::BracketRight => Action::Smoothing(1),
            KeyCode::BracketLeft => Action::Smoothing(-1),
            KeyCode::KeyQ => Action::Quit,
            _ => return None,
        })
    }
}
