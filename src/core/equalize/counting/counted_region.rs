//! The region of a frame that is counted; with `--roi auto`, the frame without black bars (letterbox, pillarbox).
//!
//! A sample is black up to 1/32 of the levels above black. A row or column at the edge of a frame belongs to a bar if
//! all of its samples are black; the rest is the active area. The region is the smallest rectangle around the active
//! areas of the last W + F frames (those that the temporal window remembers), or the whole frame if none of them has
//! one. So the region stays the same over a scene, dark moments included, follows changes of the aspect ratio, and
//! depends only on the last W + F frames.

use super::luminance::LuminanceRow;
use crate::Result;
use crate::frame::Frame;
use crate::spec::curves::Levels;
use crate::spec::parameters::{Rect, Region, Settings};
use std::collections::VecDeque;

/// Finds the counted part of each frame of a video, in order.
#[derive(Default)]
pub struct CountedRegion {
    /// The active areas (without black bars) of the last frames, newest first; `None` for black frames.
    pictures: VecDeque<Option<Rect>>,
    /// Size and levels of the last frames. A frame of another size or with other levels clears `pictures`.
    kind: Option<((usize, usize), Levels)>,
    rows: LuminanceRow,
}

impl CountedRegion {
    /// The counted region of the next frame. To look for bars, the luminance of a frame on a GPU is copied to the host.
    ///
    /// # Errors
    /// When that GPU fails.
    pub fn next(&mut self, frame: &Frame, settings: &Settings) -> Result<Rect> {
        Ok(match (settings.method, settings.region) {
            (method, _) if method.grid().is_some() => frame.whole(),
            (_, Region::Whole) => frame.whole(),
            (_, Region::Fixed(rect)) => rect.within((frame.width(), frame.height())).unwrap_or(frame.whole()),
            (_, Region::Auto) => {
                frame.bring_luminance_down()?;
                self.without_bars(frame, settings.smoothing.memory() as usize)
            }
        })
    }

    fn without_bars(&mut self, frame: &Frame, memory: usize) -> Rect {
        let kind = Some(((frame.width(), frame.height()), frame.levels()));
        if self.kind != kind {
            self.pictures.clear();
            self.kind = kind;
        }
        self.pictures.truncate(memory - 1);
        let picture = self.picture(frame);
        self.pictures.push_front(picture);
        self.pictures.iter().flatten().copied().reduce(around).unwrap_or(frame.whole())
    }

    /// The part of a frame without bars; `None` for a black frame. Reads little more than the bars, so that a frame
    /// without bars takes almost no time.
    fn picture(&mut self, frame: &Frame) -> Option<Rect> {
        let levels = frame.levels();
        let black = levels.lo() + (levels.count() / 32) as u16;
        let rows = &mut self.rows;
        let is_bar = |rows: &mut LuminanceRow, y: usize| rows.read(frame, y).iter().all(|&code| code <= black);
        let top = (0..frame.height()).find(|&y| !is_bar(rows, y))?;
        let bottom = (top..frame.height()).rev().find(|&y| !is_bar(rows, y))?;
        let (mut left, mut right) = (frame.width(), 0);
        for y in top..=bottom {
            if left == 0 && right + 1 == frame.width() {
                break;
            }
            let row = rows.read(frame, y);
            let found = row[..left].iter().position(|&code| code > black);
            left = found.unwrap_or(left);
            let found = row[right..].iter().rposition(|&code| code > black);
            right = found.map_or(right, |column| right + column);
        }
        Some(Rect { x: left, y: top, width: right + 1 - left, height: bottom + 1 - top })
    }
}

/// The smallest rectangle that contains both.
fn around(a: Rect, b: Rect) -> Rect {
    let (x, y) = (a.x.min(b.x), a.y.min(b.y));
    let right = (a.x + a.width).max(b.x + b.width);
    let bottom = (a.y + a.height).max(b.y + b.height);
    Rect { x, y, width: right - x, height: bottom - y }
}
