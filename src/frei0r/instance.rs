//! An instance of the plug-in: an equalizer, and its parameters.

use crate::parameters::PARAMETERS;
use histeq::{Equalizer, Error, Options, Output, PixelFormat, Result};
use std::ffi::{CStr, CString};

/// An instance of the plug-in in a host.
pub struct Instance {
    /// Columns and rows of frames.
    pub size: (usize, usize),
    /// A value for each of [`PARAMETERS`].
    values: Vec<CString>,
    options: Options,
    /// Whether the options differ from those of the equalizer.
    has_changed: bool,
    equalizer: Option<Equalizer>,
    /// The time that the host passed with the last frame.
    last: f64,
    /// The last message in the log, so that it is not repeated for each frame.
    reported: String,
}

impl Instance {
    pub fn new(size: (usize, usize)) -> Self {
        let mut instance = Instance {
            size,
            values: PARAMETERS.iter().map(|parameter| parameter.default.clone()).collect(),
            options: Options::default(),
            has_changed: false,
            equalizer: None,
            last: 0.0,
            reported: String::new(),
        };
        if !size.0.is_multiple_of(16) && has_padded_rows() {
            instance.report(&format!(
                "this FFmpeg passes rows of {} columns wrong: the lowest come out empty. Pad to a multiple of 16 \
                 before, and crop behind",
                size.0
            ));
        }
        instance
    }

    pub fn value(&self, index: usize) -> Option<&CStr> {
        self.values.get(index).map(CString::as_c_str)
    }

    /// Sets a parameter. An invalid value is reported and ignored; the default and an empty text let the look decide.
    pub fn set(&mut self, index: usize, text: &str) {
        let Ok(value) = CString::new(text) else { return };
        let before = std::mem::replace(&mut self.values[index], value);
        let mut options = Options::default();
        for (parameter, value) in PARAMETERS.iter().zip(&self.values) {
            if value.is_empty() || *value == parameter.default {
                continue;
            }
            if let Err(error) = options.set(parameter.option.name, &value.to_string_lossy()) {
                self.values[index] = before;
                return self.report(&error.to_string());
            }
        }
        if options.has_whole_scenes() {
            self.values[index] = before;
            return self.report("smooth is a number of seconds here: a scene takes the whole file");
        }
        self.has_changed |= options != self.options;
        self.options = options;
    }

    /// Equalizes a frame. Returns whether that succeeded.
    pub fn update(&mut self, time: f64, input: &[u8], output: &mut [u8]) -> bool {
        let done = self.next(time, input).and_then(|done| done.copy_into(output));
        if let Err(error) = &done {
            self.report(&error.to_string());
        }
        done.is_ok()
    }

    fn next(&mut self, time: f64, input: &[u8]) -> Result<Output> {
        // A time before the last one means that the host has jumped back. A jump forward is not recognized, since hosts
        // use different units of time; it is treated as a scene cut.
        let is_back = time < std::mem::replace(&mut self.last, time);
        let mut equalizer = match self.equalizer.take() {
            None => self.open()?,
            Some(mut equalizer) => {
                if self.has_changed {
                    equalizer.change(&self.options)?;
                }
                if is_back {
                    equalizer.restart(0)?;
                }
                equalizer
            }
        };
        self.has_changed = false;
        let done = match equalizer.push(input)? {
            Some(done) => Some(done),
            None => equalizer.collect()?,
        };
        self.equalizer = Some(equalizer);
        done.ok_or(Error::Finished)
    }

    /// Opens the equalizer, with the default frame rate: FFmpeg passes no times of frames, and MLT passes other units.
    fn open(&self) -> Result<Equalizer> {
        let (width, height) = self.size;
        Equalizer::builder(PixelFormat::Rgba, width, height).live().options(self.options.clone()).build()
    }

    fn report(&mut self, text: &str) {
        if self.reported != text {
            eprintln!("histeq: {text}");
            text.clone_into(&mut self.reported);
        }
    }
}

/// Whether the host is FFmpeg's filter in a version that pads rows to 16 columns, which frei0r cannot express.
fn has_padded_rows() -> bool {
    let libraries = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let is_loaded = |library: &str| libraries.contains(library);
    // FFmpeg 4 and 5 have these libraries. MLT loads them, too, but calls plug-ins without FFmpeg's filter.
    (is_loaded("/libavfilter.so.7.") || is_loaded("/libavfilter.so.8.")) && !is_loaded("/libmlt-")
}
