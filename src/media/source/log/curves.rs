//! The log curves of cameras, from codes to scene light, and the primaries of that light, as their makers publish them.

/// A log curve, with the primaries in its document. The comment of each variant names the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogCurve {
    /// Sony, S-Log White Paper: at each code, S-Log2 has 219/155 of the light of S-Log.
    SLog2,
    /// Sony, Technical Summary for S-Gamut3.Cine/S-Log3 and S-Gamut3/S-Log3.
    SLog3,
    /// Panasonic, VARICAM V-Log/V-Gamut Reference Manual.
    VLog,
    /// ARRI, ALEXA Log C Curve: Usage in VFX; for EI 800.
    LogC3,
    /// ARRI LogC4 Logarithmic Color Space Specification.
    LogC4,
    /// Canon, Description of the Canon Log, Canon Log 2 and Canon Log 3 Gamma Curves.
    CLog,
    /// Canon, the document of [`CLog`](LogCurve::CLog).
    CLog2,
    /// Canon, the document of [`CLog`](LogCurve::CLog).
    CLog3,
    /// DJI, White Paper on D-Log and D-Gamut of DJI Cinema Color System.
    DLog,
    /// Fujifilm, F-Log Data Sheet.
    FLog,
    /// Fujifilm, F-Log2 Data Sheet.
    FLog2,
    /// Nikon, N-Log Specification Document.
    NLog,
    /// Leica, L-Log Reference Manual.
    LLog,
    /// Apple Log Profile White Paper.
    AppleLog,
    /// RED, White Paper on REDWideGamutRGB and Log3G10.
    Log3G10,
    /// Blackmagic Design, Generation 5 Color Science.
    BmdFilm5,
    /// Academy S-2016-001.
    AcesCct,
    /// ITU-T H.273, transfer characteristics 9.
    Log100,
    /// ITU-T H.273, transfer characteristics 10.
    Log316,
}

/// What the numbers from 0 to 1 in a curve's document are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counts {
    /// Recorded 10-bit codes, divided by 1023. In limited range, code 64 is the signal 0.
    Codes,
    /// The signal, which is between the codes 64 and 940 in a picture of limited range.
    Signal,
}

/// CIE x and y of red, green, blue and white.
pub type Primaries = [[f64; 2]; 4];

const D65: [f64; 2] = [0.3127, 0.3290];
pub const BT709: Primaries = [[0.64, 0.33], [0.30, 0.60], [0.15, 0.06], D65];
const BT2020: Primaries = [[0.708, 0.292], [0.170, 0.797], [0.131, 0.046], D65];
const S_GAMUT: Primaries = [[0.730, 0.280], [0.140, 0.855], [0.100, -0.050], D65];
const S_GAMUT3_CINE: Primaries = [[0.766, 0.275], [0.225, 0.800], [0.089, -0.087], D65];
const V_GAMUT: Primaries = [[0.730, 0.280], [0.165, 0.840], [0.100, -0.030], D65];
const ARRI_WIDE_GAMUT_3: Primaries = [[0.684, 0.313], [0.221, 0.848], [0.0861, -0.1020], D65];
const ARRI_WIDE_GAMUT_4: Primaries = [[0.7347, 0.2653], [0.1424, 0.8576], [0.0991, -0.0308], D65];
const CINEMA_GAMUT: Primaries = [[0.740, 0.270], [0.170, 1.140], [0.080, -0.100], D65];
const D_GAMUT: Primaries = [[0.71, 0.31], [0.21, 0.88], [0.09, -0.08], D65];
const RED_WIDE_GAMUT: Primaries = [[0.780308, 0.304253], [0.121595, 1.493994], [0.095612, -0.084589], D65];
const BLACKMAGIC_WIDE_GAMUT: Primaries =
    [[0.7177215, 0.3171181], [0.2280410, 0.8615690], [0.1005841, -0.0820452], [0.3127170, 0.3290312]];
const AP1: Primaries = [[0.713, 0.293], [0.165, 0.830], [0.128, 0.044], [0.32168, 0.33767]];

/// Each curve, in the order of the variants: its names, what the numbers of its document are, and its primaries.
const TABLE: [(LogCurve, (&str, &str), Counts, Primaries); 19] = {
    use Counts::{Codes, Signal};
    use LogCurve::*;
    [
        (SLog2, ("s-log2", "S-Log2"), Codes, S_GAMUT),
        (SLog3, ("s-log3", "S-Log3"), Codes, S_GAMUT3_CINE),
        (VLog, ("v-log", "V-Log"), Codes, V_GAMUT),
        (LogC3, ("logc3", "LogC3"), Signal, ARRI_WIDE_GAMUT_3),
        (LogC4, ("logc4", "LogC4"), Signal, ARRI_WIDE_GAMUT_4),
        (CLog, ("c-log", "Canon Log"), Codes, CINEMA_GAMUT),
        (CLog2, ("c-log2", "Canon Log 2"), Codes, CINEMA_GAMUT),
        (CLog3, ("c-log3", "Canon Log 3"), Codes, CINEMA_GAMUT),
        (DLog, ("d-log", "D-Log"), Signal, D_GAMUT),
        (FLog, ("f-log", "F-Log"), Codes, BT2020),
        (FLog2, ("f-log2", "F-Log2"), Codes, BT2020),
        (NLog, ("n-log", "N-Log"), Codes, BT2020),
        (LLog, ("l-log", "L-Log"), Codes, BT2020),
        (AppleLog, ("apple-log", "Apple Log"), Signal, BT2020),
        (Log3G10, ("log3g10", "Log3G10"), Signal, RED_WIDE_GAMUT),
        (BmdFilm5, ("bmd-film5", "Blackmagic Film 5"), Signal, BLACKMAGIC_WIDE_GAMUT),
        (AcesCct, ("acescct", "ACEScct"), Signal, AP1),
        (Log100, ("log100", "log 100:1"), Signal, BT709),
        (Log316, ("log316", "log 316:1"), Signal, BT709),
    ]
};

impl LogCurve {
    /// All curves.
    pub fn all() -> [LogCurve; TABLE.len()] {
        TABLE.map(|(curve, ..)| curve)
    }

    /// Its name as the value of an option, and its usual name.
    pub fn names(self) -> (&'static str, &'static str) {
        TABLE[self as usize].1
    }

    /// What the numbers of its document are.
    pub fn counts(self) -> Counts {
        TABLE[self as usize].2
    }

    /// The primaries and the white of its light.
    pub fn primaries(self) -> Primaries {
        TABLE[self as usize].3
    }

    /// The scene light for the number `x`, 0 to 1, of the curve's document. A surface that reflects all light has 1.
    pub fn light(self, x: f64) -> f64 {
        let ten = |power: f64| 10_f64.powf(power);
        match self {
            LogCurve::SLog2 => {
                // The light of S-Log at this signal; S-Log2 has 219/155 of it.
                let signal = (x * 1023.0 - 64.0) / 876.0;
                let s_log = match signal >= 0.030_001_222_851_889_303 {
                    true => ten((signal - 0.616_596 - 0.03) / 0.432_699) - 0.037_584,
                    false => (signal - 0.030_001_222_851_889_303) / 5.0,
                };
                s_log * 219.0 / 155.0 * 0.9
            }
            LogCurve::SLog3 => match x >= 171.210_294_692_9 / 1023.0 {
                true => ten((x * 1023.0 - 420.0) / 261.5) * 0.19 - 0.01,
                false => (x * 1023.0 - 95.0) * 0.01125 / (171.210_294_692_9 - 95.0),
            },
            LogCurve::VLog => match x < 0.181 {
                true => (x - 0.125) / 5.6,
                false => ten((x - 0.598_206) / 0.241_514) - 0.008_73,
            },
            LogCurve::LogC3 => match x > 5.367_655 * 0.010_591 + 0.092_809 {
                true => (ten((x - 0.385_537) / 0.247_190) - 0.052_272) / 5.555_556,
                false => (x - 0.092_809) / 5.367_655,
            },
            LogCurve::LogC4 => {
                let a = (2_f64.powi(18) - 16.0) / 117.45;
                let (b, c) = ((1023.0 - 95.0) / 1023.0, 95.0 / 1023.0);
                let s = 7.0 * 2_f64.ln() * 2_f64.powf(7.0 - 14.0 * c / b) / (a * b);
                let t = (2_f64.powf(14.0 * (-c / b) + 6.0) - 64.0) / a;
                if x < 0.0 { x * s + t } else { (2_f64.powf(14.0 * (x - c) / b + 6.0) - 64.0) / a }
            }
            LogCurve::CLog => {
                let light = |x: f64| (ten((x - 0.125_122_48) / 0.453_101_79) - 1.0) / 10.1596;
                0.9 * if x < 0.125_122_48 { -light(2.0 * 0.125_122_48 - x) } else { light(x) }
            }
            LogCurve::CLog2 => {
                let light = |x: f64| (ten((x - 0.092_864_125) / 0.241_360_77) - 1.0) / 87.099_375_46;
                0.9 * if x < 0.092_864_125 { -light(2.0 * 0.092_864_125 - x) } else { light(x) }
            }
            LogCurve::CLog3 => {
                0.9 * match x {
                    ..0.097_465_47 => -(ten((0.127_839_01 - x) / 0.367_268_45) - 1.0) / 14.983_25,
                    ..=0.152_778_91 => (x - 0.125_122_19) / 1.975_479_8,
                    _ => (ten((x - 0.122_405_37) / 0.367_268_45) - 1.0) / 14.983_25,
                }
            }
            LogCurve::DLog => match x <= 0.14 {
                true => (x - 0.0929) / 6.025,
                false => (ten(3.896_16 * x - 2.277_52) - 0.0108) / 0.9892,
            },
            LogCurve::FLog => match x < 0.100_537_775_223_865 {
                true => (x - 0.092_864) / 8.735_631,
                false => ten((x - 0.790_453) / 0.344_676) / 0.555_556 - 0.009_468 / 0.555_556,
            },
            LogCurve::FLog2 => match x < 0.100_686_685_370_811 {
                true => (x - 0.092_864) / 8.799_461,
                false => ten((x - 0.384_316) / 0.245_281) / 5.555_556 - 0.064_829 / 5.555_556,
            },
            LogCurve::NLog => match x < 452.0 / 1023.0 {
                true => (x * 1023.0 / 650.0).powi(3) - 0.0075,
                false => ((x * 1023.0 - 619.0) / 150.0).exp(),
            },
            LogCurve::LLog => match x <= 0.138 {
                true => (x - 0.09) / 8.0,
                false => (ten((x - 0.6) / 0.27) - 0.0115) / 1.3,
            },
            LogCurve::AppleLog => {
                let (r0, rt, c): (f64, f64, f64) = (-0.056_410_88, 0.01, 47.287_112_36);
                match x {
                    ..0.0 => r0,
                    _ if x < c * (rt - r0).powi(2) => (x / c).sqrt() + r0,
                    _ => 2_f64.powf((x - 0.693_369_45) / 0.085_504_79) - 0.009_640_52,
                }
            }
            LogCurve::Log3G10 => match x < 0.0 {
                true => x / 15.1927 - 0.01,
                false => (ten(x / 0.224_282) - 1.0) / 155.975_327 - 0.01,
            },
            LogCurve::BmdFilm5 => match x < 8.283_605_932_402_494 * 0.005 + 0.092_465_753_424_657_53 {
                true => (x - 0.092_465_753_424_657_53) / 8.283_605_932_402_494,
                false => ((x - 0.530_013_339_229_194) / 0.086_928_760_654_912_24).exp() - 0.005_494_072_432_257_808,
            },
            LogCurve::AcesCct => match x <= 0.155_251_141_552_511 {
                true => (x - 0.072_905_534_195_835_5) / 10.540_237_741_654_5,
                false => 2_f64.powf(x * 17.52 - 9.72),
            },
            LogCurve::Log100 | LogCurve::Log316 if x <= 0.0 => 0.0,
            LogCurve::Log100 => ten(2.0 * (x - 1.0)),
            LogCurve::Log316 => ten(2.5 * (x - 1.0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values that documents print of their curves: scene light, and the 10-bit code or the signal in percent.
    #[test]
    fn curves_meet_the_values_that_their_documents_print() {
        let codes: [(LogCurve, &[(f64, f64)]); 11] = [
            (LogCurve::SLog2, &[(0.0, 90.0), (0.18, 347.0), (0.9, 582.0)]),
            (LogCurve::SLog3, &[(0.0, 95.0), (0.18, 420.0), (0.9, 598.0)]),
            (LogCurve::VLog, &[(0.0, 128.0), (0.18, 433.0), (0.9, 602.0)]),
            (LogCurve::LogC3, &[(0.0, 95.0), (0.18, 400.0)]),
            (LogCurve::LogC4, &[(0.0, 95.0), (0.18, 284.8)]),
            (LogCurve::CLog, &[(0.0, 128.0), (0.18, 351.3), (0.9, 613.6)]),
            (LogCurve::CLog2, &[(0.0, 95.0), (0.18, 407.4), (0.9, 575.2)]),
            (LogCurve::CLog3, &[(0.0, 128.0), (0.18, 351.3), (0.9, 577.5)]),
            (LogCurve::FLog, &[(0.0, 95.0), (0.18, 470.0), (0.9, 705.0)]),
            (LogCurve::FLog2, &[(0.0, 95.0), (0.18, 400.0), (0.9, 570.0)]),
            (LogCurve::NLog, &[(0.18, 372.0), (0.9, 603.0)]),
        ];
        let signals: [(LogCurve, &[(f64, f64)]); 8] = [
            (LogCurve::DLog, &[(0.0, 9.29), (0.18, 39.88)]),
            (LogCurve::LLog, &[(0.0, 9.0), (0.18, 43.53), (0.9, 61.96)]),
            (LogCurve::AppleLog, &[(0.0, 15.05), (0.18, 48.83), (0.9, 68.17), (12.0, 100.0)]),
            (LogCurve::Log3G10, &[(0.0, 9.155), (0.18, 33.333), (184.322, 100.0)]),
            (LogCurve::BmdFilm5, &[(0.0, 9.2466), (0.18, 38.356)]),
            (LogCurve::AcesCct, &[(0.0, 7.2906), (0.18, 41.359), (222.861, 100.0)]),
            (LogCurve::Log100, &[(0.01, 0.001), (0.1, 50.0), (1.0, 100.0)]),
            (LogCurve::Log316, &[(0.1, 60.0), (1.0, 100.0)]),
        ];
        let all = codes.iter().map(|(curve, values)| (*curve, *values, 1023.0, 0.75));
        let all = all.chain(signals.iter().map(|(curve, values)| (*curve, *values, 100.0, 0.02)));
        for (curve, values, scale, near) in all {
            for &(light, printed) in values {
                // Documents round the code: the light lies between that of a lower and of a higher code.
                let [low, high] = [printed - near, printed + near].map(|code| curve.light(code / scale));
                assert!(low <= light && light <= high, "{curve:?}: {light} is not within {low} to {high}");
            }
        }
    }

    #[test]
    fn the_table_is_in_the_order_of_the_curves() {
        assert!(LogCurve::all().into_iter().enumerate().all(|(row, curve)| row == curve as usize));
    }

    #[test]
    fn more_code_is_more_light_and_no_curve_has_a_step() {
        for curve in LogCurve::all() {
            let lights: Vec<f64> = (0..=10_000).map(|step| curve.light(f64::from(step) / 1e4)).collect();
            // Documents round what they print, so that the two parts of a curve need not meet to the last digit.
            assert!(lights.windows(2).all(|pair| pair[1] - pair[0] > -1e-4), "{curve:?}");
            // Skip the step from zero: H.273 defines no values below its darkest light.
            let highest = lights.windows(2).skip(1).map(|pair| (pair[1] - pair[0]) / (pair[1].abs() + 0.05));
            assert!(highest.fold(0.0, f64::max) < 0.01, "{curve:?}");
        }
    }
}
