//! The control points of palettes, at equal distances from black to white: red, green and blue, of 8 bits each.

use super::Palette;

/// This program's own points for the iron palette of thermal cameras, each lighter than the one before.
const IRONBOW: [u32; 9] = [0x000000, 0x1e006e, 0x690096, 0xaa0a8c, 0xd72d50, 0xf05f14, 0xfaa00a, 0xffdc50, 0xffffff];

/// Full saturation and value of HSV, whose hue goes from 240 to 0 degrees: straight lines between these corners of the
/// cube of colours (A. R. Smith, *Color Gamut Transform Pairs*, 1978).
const RAINBOW: [u32; 5] = [0x0000ff, 0x00ffff, 0x00ff00, 0xffff00, 0xff0000];

/// Every 15th colour of the inferno map of matplotlib, by S. van der Walt and N. Smith (2015), in the public domain (CC0);
/// interpolated colours differ from it by at most 6 of 255.
#[rustfmt::skip]
const INFERNO: [u32; 18] = [
    0x000004, 0x0a0722, 0x1e0c45, 0x380962, 0x510e6c, 0x69166e, 0x801f6c, 0x982766, 0xb0315b,
    0xc63d4d, 0xd94d3d, 0xe9612b, 0xf47918, 0xfa9407, 0xfcb014, 0xf8cd37, 0xf2ea69, 0xfcffa4,
];

/// Every 15th colour of the magma map of matplotlib, by S. van der Walt and N. Smith (2015), in the public domain (CC0);
/// interpolated colours differ from it by at most 3 of 255.
#[rustfmt::skip]
const MAGMA: [u32; 18] = [
    0x000004, 0x090720, 0x1a1042, 0x311165, 0x4a1079, 0x621980, 0x792282, 0x912b81, 0xaa337d,
    0xc23b75, 0xd9466b, 0xec5860, 0xf7725c, 0xfc8e64, 0xfeaa74, 0xfec68a, 0xfde2a3, 0xfcfdbf,
];

/// Every 15th colour of the plasma map of matplotlib, by S. van der Walt and N. Smith (2015), in the public domain (CC0);
/// interpolated colours differ from it by at most 5 of 255.
#[rustfmt::skip]
const PLASMA: [u32; 18] = [
    0x0d0887, 0x2f0596, 0x4903a0, 0x6100a7, 0x7801a8, 0x8e0ca4, 0xa21d9a, 0xb42e8d, 0xc43e7f,
    0xd24f71, 0xde6164, 0xe97257, 0xf3854b, 0xf99a3e, 0xfdaf31, 0xfdc627, 0xf8df25, 0xf0f921,
];

/// Every 15th colour of the viridis map of matplotlib, by S. van der Walt and N. Smith (2015), in the public domain (CC0);
/// interpolated colours differ from it by at most 5 of 255.
#[rustfmt::skip]
const VIRIDIS: [u32; 18] = [
    0x440154, 0x481769, 0x472a7a, 0x433d84, 0x3d4e8a, 0x355e8d, 0x2e6d8e, 0x297b8e, 0x23898e,
    0x1f978b, 0x21a585, 0x2eb37c, 0x46c06f, 0x65cb5e, 0x89d548, 0xb0dd2f, 0xd8e219, 0xfde725,
];

/// Every 15th colour of Turbo, by A. Mikhailov (Google, *Turbo, An Improved Rainbow Colormap for Visualization*, 2019),
/// under the Apache License 2.0; interpolated colours differ from it by at most 6 of 255.
#[rustfmt::skip]
const TURBO: [u32; 18] = [
    0x30123b, 0x3f3e9c, 0x4666dd, 0x458cfd, 0x2fb2f4, 0x1ad4d0, 0x22ebaa, 0x52fa7a, 0x8bff4b,
    0xb7f735, 0xdbe236, 0xf5c53a, 0xfea130, 0xf9751d, 0xe84b0c, 0xce2d04, 0xa91601, 0x7a0403,
];

/// This program's own points: blue below the middle, gold above.
const ARCTIC: [u32; 7] = [0x081038, 0x1848a8, 0x58a8d8, 0x909890, 0xd89030, 0xffc850, 0xfff4d0];

/// Red is `3x`, green `3x - 1`, blue `3x - 2`, from 0 to 1 each: the formulae 21, 22 and 23 of gnuplot's `rgbformulae`.
const LAVA: [u32; 4] = [0x000000, 0xff0000, 0xffff00, 0xffffff];

/// Black to white: luminance as gray.
const WHITE_HOT: [u32; 2] = [0x000000, 0xffffff];

/// White to black: inverted luminance.
const BLACK_HOT: [u32; 2] = [0xffffff, 0x000000];

impl Palette {
    /// The control points, `0xRRGGBB`.
    pub(super) fn points(self) -> &'static [u32] {
        match self {
            Palette::Ironbow => &IRONBOW,
            Palette::Rainbow => &RAINBOW,
            Palette::Inferno => &INFERNO,
            Palette::Magma => &MAGMA,
            Palette::Plasma => &PLASMA,
            Palette::Viridis => &VIRIDIS,
            Palette::Turbo => &TURBO,
            Palette::Arctic => &ARCTIC,
            Palette::Lava => &LAVA,
            Palette::WhiteHot => &WHITE_HOT,
            Palette::BlackHot => &BLACK_HOT,
        }
    }
}
