//! The part of an input to read.

use serde::{Deserialize, Serialize};

/// The part of an input to read, as given by the user.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
pub struct Part {
    /// Where to begin, in microseconds.
    pub start: Option<i64>,
    /// How much to read, in microseconds.
    pub duration: Option<i64>,
    /// How many frames to read.
    pub frames: Option<u64>,
}

impl Part {
    /// Its bounds in an input whose times begin at `origin` microseconds.
    pub fn bounds(self, origin: i64) -> Bounds {
        let begin = self.start.map(|start| origin + start);
        Bounds { begin, end: self.duration.map(|duration| begin.unwrap_or(origin) + duration) }
    }
}

/// The bounds of a part, in microseconds of the input's clock; `None` where the part has no bound.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bounds {
    /// The first moment of the part.
    pub begin: Option<i64>,
    /// The first moment after the part.
    pub end: Option<i64>,
}

impl Bounds {
    /// Microseconds to add to every time, so that the part begins at zero.
    pub fn shift(self) -> i64 {
        self.begin.map_or(0, |begin| -begin)
    }
}
