//! The look `natural`: one rule for all footage. What a scene lacks is measured, and each part acts in proportion to
//! how sure it is that it is needed; nothing chooses between kinds of footage. Faults are corrected first; contrast and
//! light are then set as they are chosen, unless it is `faithful`.
//!
//! ```text
//! Lattice -> Points -> Correction of the frame: cast, line, veil, dark, middle, shade, contrast
//! Corrections of the frames around it, by their light -> Correction -> Mapping: balance, then a curve or regions
//! ```
//!
//! The parts follow each other, each decided on the points as the ones before have left them:
//! 1. `cast`: red, green and blue have gains and offsets of their own;
//! 2. `line`: the levels in use become the whole range, as far as it is unused;
//! 3. `veil`: what lies over the picture is taken off, region by region;
//! 4. `dark`: an exposure that fits;
//! 5. `middle`: what has become too bright in between is brought back;
//! 6. `shade`: what is dark beside something bright, or dull, is lifted;
//! 7. `contrast`: the range in use is stretched most of the way.
//!
//! The first four are applied only as far as other features of the picture confirm it (`belief.rs`); what is drawn, or
//! black on purpose, gets none of the last two (`meant.rs`).
//!
//! A frame's own light is taken out first ([`light`]): with `e` the light of the frame in that of its window, the
//! mapping is `e * F(x / e)`, so that a fade fades and an exposure that dips does so afterwards. F is the mean of the
//! corrections of the frames that are lit as the scene is.
//!
//! An F that moves no level by more than two of 255 is nothing, and the picture stays as it is, to the byte;
//! from there to four it sets in.
//!
//! Letters over the picture have no part in whether it is dark (`letters.rs`).
//!
//! HDR is decided and corrected in light ([`transfer`](super::transfer), `in_light.rs`): its codes become levels where
//! 255 is diffuse white, brighter ones count as white, and F keeps the peak of the scene. Nothing is moved towards
//! white then, and colours are balanced only if a cast is taken for granted: backends balance codes, in which no gain
//! is one of light, and what is known of casts was learned with the primaries of BT.709.
//!
//! All is in integers: levels in sixteenths of 255, shares and gains in 4096ths.

mod belief;
mod cast;
mod contrast;
mod correction;
mod dark;
mod found;
mod in_light;
mod letters;
pub mod light;
mod line;
mod log;
mod meant;
mod middle;
mod points;
mod shade;
mod tone_curve;
mod tuning;
mod veil;

pub use correction::{Correction, MeanCorrection};
pub use found::{Found, MeanFound};
pub use in_light::{InLight, MAX_PEAK};
pub use points::{Points, WHITE};
pub use tone_curve::{FrameCurve, PIECES, ToneCurve, Toned};

use super::named::named;

named! {
    /// The part that `natural` takes for granted instead of measuring it.
    #[derive(Default)]
    pub enum Assumed {
        #[default]
        Nothing = "nothing", "All is measured";
        Dark = "dark", "The scene is dark";
        Veil = "veil", "A veil lies over it";
        Cast = "cast", "It has a cast";
    }
}
