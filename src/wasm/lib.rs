//! The library for browsers and for Node: WebAssembly with a module of JavaScript, which `samples/web/build.sh` makes.
//!
//! `wasm-bindgen` writes the JavaScript: texts, errors and arrays cross without `unsafe` code or offsets by hand, which
//! the functions for C would take.
//!
//! | file | what it is |
//! |---|---|
//! | `lib.rs` | frames in and out, on the thread of the caller |
//! | `options.rs` | the table of options as JavaScript reads it |

mod options;

pub use options::{OptionRow, options};

use histeq::{Error, LazyEqualizer, Output, PixelFormat};
use wasm_bindgen::prelude::*;

/// The most pixels of a picture: with 8 bytes each, the library's copies fit into the 4 GiB that a module can have.
const MAX_PIXELS: u64 = 1 << 26;

type Result<T> = std::result::Result<T, JsError>;

/// A video on its way through an equalizer. A frame is one array of bytes: its planes one after the other, row by row,
/// without padding, as `VideoFrame.copyTo` writes them by default, and as `ImageData.data` is for `rgba`.
#[wasm_bindgen]
pub struct Equalizer {
    lazy: LazyEqualizer,
}

#[wasm_bindgen]
impl Equalizer {
    /// An equalizer for pictures of `width` x `height` pixels, at most 2^26 together, in this format, by FFmpeg's name:
    /// `rgba`, `yuv420p`, `nv12`. Throws where there is no such format, or no such size.
    #[wasm_bindgen(constructor)]
    pub fn new(format: &str, width: u32, height: u32) -> Result<Equalizer> {
        let known = PixelFormat::from_name(format);
        let format = known.ok_or_else(|| JsError::new(&format!("there is no pixel format {format}")))?;
        if !(1..=MAX_PIXELS).contains(&(u64::from(width) * u64::from(height))) {
            return Err(JsError::new(&format!("a picture has 1 to {MAX_PIXELS} pixels, not {width}x{height}")));
        }
        let builder = histeq::Equalizer::builder(format, width as usize, height as usize);
        Ok(Equalizer { lazy: LazyEqualizer::new(builder) })
    }

    /// Sets what has this name: an option of `options()`, at any time, for the frames that follow; before the first
    /// frame also `rate` (frames a second), `range`, `matrix`, `transfer`, and `live`, with which no frame waits for
    /// later ones unless `look-ahead` or `denoise` says so. Throws where `value` is none of its values.
    pub fn set(&mut self, name: &str, value: &str) -> Result<()> {
        // There is one thread, and no GPU.
        if ["backend", "gpu", "threads"].contains(&name) {
            return Err(JsError::new(&format!("there is no option {name}")));
        }
        match self.lazy.set(name, value) {
            // Ignored after the first frame, since these options would change the format of frames that come out.
            Err(Error::TooLate { .. }) if ["gray", "output-depth"].contains(&name) => Ok(()),
            Err(Error::TooLate { .. }) => Err(JsError::new(&format!("{name} is set before the first frame"))),
            result => Ok(result?),
        }
    }

    /// Takes a frame in, and returns the oldest one that is done, if one is: `undefined` while frames wait for later
    /// ones. Throws where the array does not have the bytes of such a picture, or options do not go together.
    pub fn push(&mut self, frame: &[u8]) -> Result<Option<Vec<u8>>> {
        Ok(bytes(self.lazy.open()?.push(frame)?)?)
    }

    /// The oldest frame that needs no later one, or `undefined`: for cameras, where `push` has returned nothing; and
    /// after `finish`, until nothing is left. Throws where no frame can come out.
    pub fn collect(&mut self) -> Result<Option<Vec<u8>>> {
        Ok(bytes(self.lazy.open()?.collect()?)?)
    }

    /// Ends the video: frames that wait for later ones come out of `collect`. Throws as `push` does.
    pub fn finish(&mut self) -> Result<()> {
        drop(self.lazy.open()?.finish()?);
        Ok(())
    }

    /// Begins another video of such pictures: what was seen is forgotten, and what is under way is dropped. Throws as
    /// `push` does.
    pub fn restart(&mut self) -> Result<()> {
        Ok(self.lazy.open()?.restart(0)?)
    }

    /// The first pass for `smooth` `scene`: each frame of the video, before the first `push`. Throws as `push` does.
    pub fn survey(&mut self, frame: &[u8]) -> Result<()> {
        Ok(self.lazy.survey(frame)?)
    }

    /// The format of frames that come out: another one than that of the input with `gray` and `output-depth`. Throws
    /// where there is none for these options.
    #[wasm_bindgen(js_name = outputFormat)]
    pub fn output_format(&self) -> Result<String> {
        Ok(self.lazy.builder().output_format()?.name().to_owned())
    }
}

/// The bytes of a frame.
fn bytes(done: Option<Output>) -> histeq::Result<Option<Vec<u8>>> {
    let Some(done) = done else { return Ok(None) };
    let mut bytes = vec![0; done.packed_bytes()];
    done.copy_into(&mut bytes)?;
    Ok(Some(bytes))
}

/// A panic throws its message as an error. Without this hook, the error would only say that `unreachable` was executed.
#[wasm_bindgen(start)]
fn explain_bugs() {
    std::panic::set_hook(Box::new(|bug| wasm_bindgen::throw_str(&format!("a bug, please report it: {bug}"))));
}
