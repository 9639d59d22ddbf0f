//! Which part of an input is asked for.

/// Which frames of a stream to read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Part {
    /// Where to begin, in microseconds.
    pub start: Option<i64>,
    /// How much to read, in microseconds.
    pub duration: Option<i64>,
    /// How many frames to read.
    pub frames: Option<u64>,
}

impl Part {
    /// Where it begins and ends in an input whose times begin at `origin` microseconds.
    pub fn bounds(self, origin: i64) -> Bounds {
        let begin = self.start.map(|start| origin + start);
        Bounds { begin, end: self.duration.map(|duration| begin.unwrap_or(origin) + duration) }
    }
}

/// The first moment of a part and the first one behind it, in microseconds of the input's clock; `None` where nothing
/// is cut off.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bounds {
    /// No frame before this moment belongs to the part.
    pub begin: Option<i64>,
    /// No frame from this moment on belongs to the part.
    pub end: Option<i64>,
}

impl Bounds {
    /// Microseconds to add to every time, so that the part begins at zero.
    pub fn shift(self) -> i64 {
        self.begin.map_or(0, |begin| -begin)
    }
}
