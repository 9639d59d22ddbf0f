//! The window's size: resized, full screen, on a high-density display.

use super::desktop::Desktop;
use super::ramp;
use super::shot::Shot;
use crate::support::programs::program::Dir;

/// Do these columns of a row show the equalized ramp, without an overlay?
fn ramp_in(shot: &Shot, begin: usize, end: usize, y: usize) -> bool {
    let (left, right) = (shot.level(begin + 1, y), shot.level(end - 2, y));
    let middle = shot.level((begin + end) / 2, y);
    left < 10 && right > 245 && (100..156).contains(&middle)
}

#[test]
fn the_picture_fits_into_a_window_of_any_size() {
    let Some(desktop) = Desktop::new("640x480") else { return };
    let dir = Dir::new();
    let live = desktop.live(&dir, ramp(&dir), "1");
    desktop.until("a window as large as the picture", |shot| ramp_in(shot, 0, 640, 180));
    // In a window that is too high or too wide, the video keeps its aspect ratio.
    for (width, height, index, size) in [(400, 400, (0, 87), (400, 225)), (600, 180, (140, 0), (320, 180))] {
        desktop.to_window(&format!("windowsize {width} {height}"));
        let inside = (index.1 + 5, index.1 + size.1 - 30);
        let shot = desktop.until("the picture at another size", |shot| {
            ramp_in(shot, index.0, index.0 + size.0, inside.0) && ramp_in(shot, index.0, index.0 + size.0, inside.1)
        });
        assert!(index.1 == 0 || shot.level(width / 2, index.1 - 2) == 0, "no black above the picture");
        assert!(index.0 == 0 || shot.level(index.0 - 2, inside.0) == 0, "no black beside the picture");
        assert!(shot.count([255; 3], 0..width, height - 24..height) > 200, "no status line");
    }
    desktop.to_window("windowclose");
    let (code, said) = live.end();
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn full_screen_is_the_whole_screen() {
    let Some(desktop) = Desktop::managed("1000x450") else { return };
    let dir = Dir::new();
    let live = desktop.live(&dir, ramp(&dir), "1");
    let windowed = desktop.until("a window", |shot| shot.count([255; 3], 0..1000, 0..450) > 200);
    assert!(!ramp_in(&windowed, 100, 900, 5), "a window should be smaller than the screen");
    desktop.press("f");
    // The video fills the height in the middle, with black on both sides and the text line at the bottom.
    let shot = desktop.until("the picture from top to bottom", |shot| ramp_in(shot, 100, 900, 1));
    assert!(ramp_in(&shot, 100, 900, 420));
    assert!(shot.count([0; 3], 0..100, 0..420) + shot.count([0; 3], 900..1000, 0..420) > 199 * 420, "a border");
    assert!(shot.count([255; 3], 0..1000, 426..450) > 200, "no status line at the bottom");
    desktop.press("Escape");
    desktop.until("a window again", |shot| !ramp_in(shot, 100, 900, 1));
    desktop.press("F11");
    desktop.until("full screen again", |shot| ramp_in(shot, 100, 900, 1));
    desktop.press("q");
    let (code, said) = live.end();
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn on_a_high_density_display_window_and_text_are_twice_as_large() {
    let Some(desktop) = Desktop::new("1280x720") else { return };
    let dir = Dir::new();
    let live = desktop.live(&dir, ramp(&dir), "2");
    let shot = desktop.until("a window twice as large as the picture", |shot| ramp_in(shot, 0, 1280, 600));
    let doubled = |y: usize, x: usize| {
        let colour = shot.colour(x, y);
        [(x + 1, y), (x, y + 1), (x + 1, y + 1)]
            .iter()
            .all(|index| (shot.colour(index.0, index.1) == [255; 3]) == (colour == [255; 3]))
    };
    let line = 720 - 48..720;
    assert!(shot.count([255; 3], 0..1280, line.clone()) > 800, "no status line");
    assert!(line.step_by(2).all(|y| (0..1280).step_by(2).all(|x| doubled(y, x))), "text should be drawn in points");
    // Mouse positions are in physical pixels.
    desktop.press("v");
    desktop.until("a divider", |shot| shot.count([255; 3], 640..642, 300..500) == 400);
    assert!(desktop.xdotool("mousemove 320 400 click 1"));
    desktop.until("a divider where the mouse is", |shot| shot.count([255; 3], 320..322, 300..380) == 160);
    desktop.press("q");
    let (code, said) = live.end();
    assert_eq!(code, Some(0), "{said}");
}
