//! What the keys do, and the help that says so.

use minifb::Key;

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
    /// Hold the picture still; recording goes on.
    Pause,
    /// Keep the picture as a file.
    Screenshot,
    /// No border and the largest whole multiple that fits the screen, or not.
    FullScreen,
    /// The list of keys, or not.
    Help,
    /// The end.
    Quit,
}

/// Keys that act again while they are held down.
pub const REPEATED: &[(Key, Action)] = &[
    (Key::Up, Action::Strength(1)),
    (Key::Down, Action::Strength(-1)),
    (Key::Left, Action::Divide(-1)),
    (Key::Right, Action::Divide(1)),
];

/// Keys that act once.
pub const ONCE: &[(Key, Action)] = &[
    (Key::E, Action::Equalized),
    (Key::O, Action::Original),
    (Key::V, Action::Split),
    (Key::H, Action::Histogram),
    (Key::Space, Action::Pause),
    (Key::S, Action::Screenshot),
    (Key::F, Action::FullScreen),
    (Key::F1, Action::Help),
    (Key::Slash, Action::Help),
    (Key::Q, Action::Quit),
    (Key::Escape, Action::Quit),
];

/// The list of keys.
pub const HELP: &[&str] = &[
    "E           equalized",
    "O           original",
    "V           split view",
    "Left Right  move the divider (or drag it)",
    "Up Down     strength",
    "H           histogram and curve",
    "Space       pause (recording goes on)",
    "S           screenshot",
    "F           no border, twice the size or more if it fits",
    "F1          these keys",
    "Q           end",
];
