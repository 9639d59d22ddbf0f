//! Palettes: the false colours of luminance, from black to white.
//!
//! | file | what it is |
//! |---|---|
//! | `mod.rs` | the palettes by name, and the colour of any luminance |
//! | `tables.rs` | their control points, with their sources |

mod tables;

histeq::named! {
    /// A palette.
    pub enum Palette {
        Ironbow = "ironbow" | "iron", "Black, violet, red, orange, yellow, white";
        Rainbow = "rainbow", "Blue, cyan, green, yellow, red: even steps of hue";
        Inferno = "inferno", "Black, violet, red, yellow, in even steps of lightness";
        Magma = "magma", "Black, violet, pink, white, in even steps of lightness";
        Plasma = "plasma", "Blue, violet, orange, yellow, in even steps of lightness";
        Viridis = "viridis", "Violet, blue, green, yellow, in even steps of lightness";
        Turbo = "turbo", "Blue, green, yellow, red, without the bands of a rainbow";
        Arctic = "arctic", "Blue for cold, gold for warm";
        Lava = "lava" | "hot-metal", "Black, red, yellow, white";
        WhiteHot = "white-hot" | "gray", "Gray: bright is hot";
        BlackHot = "black-hot", "Gray: dark is hot";
    }
}

/// The share of white; black has 0.
pub const WHITE: u32 = 65_535;

impl Palette {
    /// Red, green and blue, 0 to 65535 each, at `share` of the way from black (0) to white ([`WHITE`]): interpolated
    /// linearly between the two control points around it, and rounded.
    pub fn colour(self, share: u32) -> [u16; 3] {
        let points = self.points();
        let place = u64::from(share.min(WHITE)) * (points.len() - 1) as u64;
        let (index, part) = ((place / u64::from(WHITE)) as usize, place % u64::from(WHITE));
        let (low, high) = (points[index], points[(index + 1).min(points.len() - 1)]);
        std::array::from_fn(|component| {
            // Scales 8 bits to 16.
            let [low, high] = [low, high].map(|point| 257 * u64::from(point.to_be_bytes()[component + 1]));
            ((low * (u64::from(WHITE) - part) + high * part + u64::from(WHITE) / 2) / u64::from(WHITE)) as u16
        })
    }

    /// As [`colour`](Self::colour), with components of 0 to `highest`.
    pub fn colour_up_to(self, share: u32, highest: u16) -> [u16; 3] {
        let fit = |component: u16| (u32::from(component) * u32::from(highest) + WHITE / 2) / WHITE;
        self.colour(share).map(|component| fit(component) as u16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use histeq::internal::spec::parameters::Named;

    fn eight_bit_colour(palette: Palette, share: u32) -> [u16; 3] {
        palette.colour_up_to(share, 255)
    }

    /// CIE lightness of a colour of sRGB, 0 to 100 (IEC 61966-2-1, CIE 15).
    fn lightness(colour: [u16; 3]) -> f64 {
        let light = colour.map(|component| {
            let share = f64::from(component) / 65_535.0;
            if share <= 0.04045 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
        });
        let y = 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2];
        if y > 216.0 / 24389.0 { 116.0 * y.cbrt() - 16.0 } else { y * 24389.0 / 27.0 }
    }

    #[test]
    fn palettes_begin_and_end_with_their_colours() {
        for (palette, first, last) in [
            (Palette::Ironbow, [0, 0, 0], [255, 255, 255]),
            (Palette::Rainbow, [0, 0, 255], [255, 0, 0]),
            (Palette::Inferno, [0, 0, 4], [252, 255, 164]),
            (Palette::Viridis, [68, 1, 84], [253, 231, 37]),
            (Palette::Turbo, [48, 18, 59], [122, 4, 3]),
            (Palette::Lava, [0, 0, 0], [255, 255, 255]),
        ] {
            assert_eq!((eight_bit_colour(palette, 0), eight_bit_colour(palette, WHITE)), (first, last), "{palette}");
        }
        assert_eq!(eight_bit_colour(Palette::Lava, WHITE / 3), [255, 0, 0]);
        assert_eq!(eight_bit_colour(Palette::Rainbow, WHITE / 4), [0, 255, 255]);
    }

    #[test]
    fn black_hot_is_the_inverse_of_white_hot_which_is_luminance() {
        for share in 0..=WHITE {
            let gray = [share as u16; 3];
            assert_eq!(Palette::WhiteHot.colour(share), gray);
            assert_eq!(Palette::BlackHot.colour(share), gray.map(|code| 65_535 - code));
        }
    }

    #[test]
    fn hotter_is_lighter_where_a_palette_says_so() {
        let are_lighter =
            [Palette::Ironbow, Palette::Inferno, Palette::Magma, Palette::Plasma, Palette::Viridis, Palette::Lava];
        for palette in are_lighter {
            let steps: Vec<f64> = (0..=255).map(|level| lightness(palette.colour(level * 257))).collect();
            let darker = steps.windows(2).position(|pair| pair[1] < pair[0]);
            assert_eq!(darker, None, "{palette}: {steps:?}");
        }
    }

    #[test]
    fn no_step_of_16_bits_is_larger_than_one_of_8() {
        for palette in Palette::ALL {
            for share in 0..WHITE {
                let [a, b] = [share, share + 1].map(|share| eight_bit_colour(*palette, share));
                assert!(a.iter().zip(b).all(|(a, b)| a.abs_diff(b) <= 1), "{palette} at {share}: {a:?}, {b:?}");
            }
        }
    }
}
