//! The look `natural`: one rule for all footage, without a choice between kinds of footage. The deficiencies of a scene
//! are measured, and each part of the correction acts in proportion to how sure it is that it is needed. Faults are
//! corrected first; contrast and light are then set as viewers chose them in tests, unless the look is `faithful`.
//!
//! ```text
//! Lattice -> Points -> Correction of the frame: cast, line, veil, dark, middle, shade, contrast
//! Corrections of the frames around it, by their light -> Correction -> Mapping: balance, then a curve or regions
//! ```
//!
//! Bars and captions (`overlay`) are no part of a scene. The parts follow each other; each is decided on the points as
//! corrected by the parts before:
//! 1. `cast`: red, green and blue have a gain and an offset each;
//! 2. `line`: the levels in use become the whole range, as far as it is unused;
//! 3. `veil`: haze and the like are removed, region by region;
//! 4. `dark`: a dark scene is brightened as by a longer exposure;
//! 5. `middle`: midtones that the line or the veil made too bright become darker again;
//! 6. `shade`: dark areas beside bright ones, and dull frames, become brighter;
//! 7. `contrast`: the levels in use are stretched most of the way to the whole range.
//!
//! The first four are applied only as far as other features of the frame confirm them (`belief.rs`). By default,
//! drawings are left alone, and frames that are dark on purpose are not brightened (`meant.rs`).
//!
//! A frame's own light is divided out first ([`light`]): with `e` the light of the frame relative to that of its scene,
//! the mapping is `e * F(x / e)`, so that fades and dips of the exposure remain. F is the mean of the corrections of
//! the frames whose light is that of the scene.
//!
//! Light that flickers is evened out first, as far as it is sure that it flickers ([`flicker`](super::restoration::flicker)): the
//! frame gets the light that the frames within half a second have on average, and `e` is that of these frames, too.
//!
//! If F moves no level by more than 2 of 255, the frame stays as it is, to the byte; between 2 and 4 a part of the
//! correction is applied.
//!
//! Where letters are not surely drawn over a picture, they still do not count when it is decided whether a scene is dark
//! (`letters.rs`).
//!
//! HDR is measured and corrected in light ([`transfer`](super::transfer), `in_light.rs`): its codes become levels where
//! 255 is diffuse white, brighter ones are measured as white, and F keeps the peak of the scene. Nothing is moved
//! towards white then, and colours are balanced only if the user states that there is a cast: backends balance codes,
//! in which a gain is not a gain of light, and casts were learned with the primaries of BT.709.
//!
//! All is in integers: levels in sixteenths of 255, shares and gains in 4096ths.

mod correction;
mod found;
mod frame_light;
mod in_light;
mod letters;
pub mod light;
mod log;
mod overlay;
pub mod parts;
mod points;
mod tone_curve;
mod tuning;

pub use correction::{Correction, MeanCorrection};
pub use found::{Found, MeanFound};
pub use frame_light::{FrameLight, Steadied};
pub use in_light::{InLight, MAX_PEAK};
pub use points::{Points, WHITE, between, from_255, ramp};
pub use tone_curve::{FrameCurve, PIECES, ToneCurve, Toned};

use super::parameters::named::named;

named! {
    /// The deficiency that `natural` assumes instead of measuring it.
    #[derive(Default)]
    pub enum Assumed {
        #[default]
        Nothing = "nothing", "All is measured";
        Dark = "dark", "The scene is dark";
        Veil = "veil", "A veil lies over it";
        Cast = "cast", "It has a cast";
    }
}
