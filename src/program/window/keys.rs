//! Keys of the preview, and the list of them that F1 shows.

use winit::event::{ElementState, KeyEvent};
use winit::keyboard::{Key, KeyCode, NamedKey, PhysicalKey};

/// An action that a key triggers. Signed steps: 1 or -1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Show the equalized picture.
    Equalized,
    /// Show the original picture.
    Original,
    /// Show both, with a divider.
    Split,
    /// Move the divider to the right, or to the left.
    MoveDivider(i32),
    /// Show or hide histogram and curve.
    Histogram,
    /// Raise or lower the strength.
    Strength(i32),
    /// Lengthen or shorten the temporal window.
    Smoothing(i32),
    /// Pause or resume the picture; recording goes on.
    Pause,
    /// Save the picture as a file.
    Screenshot,
    /// Enter or leave full screen.
    FullScreen,
    /// Show or hide the list of keys.
    Help,
    /// Leave full screen, else end the run.
    Back,
    /// End the run.
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
    /// The action of a key press, if any. Only strength and divider repeat while a key is held down.
    pub fn for_event(event: &KeyEvent) -> Option<Self> {
        let action = Self::for_key(&event.logical_key).or_else(|| Self::for_code(event))?;
        let repeats = matches!(action, Action::Strength(_) | Action::MoveDivider(_));
        (event.state == ElementState::Pressed && (repeats || !event.repeat)).then_some(action)
    }

    fn for_key(key: &Key) -> Option<Self> {
        Some(match key {
            Key::Named(NamedKey::ArrowUp) => Action::Strength(1),
            Key::Named(NamedKey::ArrowDown) => Action::Strength(-1),
            Key::Named(NamedKey::ArrowLeft) => Action::MoveDivider(-1),
            Key::Named(NamedKey::ArrowRight) => Action::MoveDivider(1),
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

    /// The action by position of the key, for keyboards without Latin letters.
    fn for_code(event: &KeyEvent) -> Option<Self> {
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
