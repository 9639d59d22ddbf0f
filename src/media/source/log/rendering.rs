//! From scene light to the signal of an SDR display: the primaries of BT.709, 18 % gray at the signal of BT.709's
//! camera curve, and a shoulder for light that is brighter than white.

use super::curves::{BT709, Counts, LogCurve, Primaries};
use histeq::internal::frame::{Frame, FrameError, HostPool, Matrix, PixelFormat, Range};

/// The signal of 18 % gray, by the curve of BT.709 for cameras.
const GRAY: f64 = 0.409;

/// From this signal on, the shoulder compresses brighter light, so that the brightest light of the curve has the signal
/// 1.
const SHOULDER: f64 = 0.8;

/// From this saturation on (1 is the edge of BT.709's gamut), colours are compressed into the gamut.
const EDGE: f64 = 0.9;

/// The cube is a HALD image of this level: `SIDE` points in each direction, `WIDTH` pixels across.
const LEVEL: usize = 8;
pub const SIDE: usize = LEVEL * LEVEL;
const WIDTH: usize = SIDE * LEVEL;

type Matrix3 = [[f64; 3]; 3];

/// How the light of one curve is shown.
pub struct Rendering {
    to_bt709: Matrix3,
    /// The highest saturation of a colour of the camera's gamut.
    most_saturated: f64,
    gain: f64,
    brightest: f64,
}

impl Rendering {
    /// The rendering for this curve.
    pub fn new(curve: LogCurve) -> Self {
        let to_bt709 = between(curve.primaries(), BT709);
        let corners = (1..7).map(|corner| times(&to_bt709, [corner & 1, corner >> 1 & 1, corner >> 2].map(f64::from)));
        let most_saturated = corners.map(|corner| saturation(corner).0).fold(1.0, f64::max);
        let gain = light_of(GRAY) / 0.18;
        let brightest = signal_of(gain * curve.light(1.0));
        Rendering { to_bt709, most_saturated, gain, brightest }
    }

    /// The signal, 0 to 1, for light of the camera's primaries.
    pub fn signal(&self, light: [f64; 3]) -> [f64; 3] {
        let light = times(&self.to_bt709, light);
        let (saturation, most) = saturation(light);
        // All three components move towards the largest, so that the colour has the compressed saturation.
        let kept = bend(saturation, EDGE, self.most_saturated.max(saturation)) / saturation.max(1e-9);
        let shown = |light: f64| {
            let light = if saturation > EDGE { most - (most - light) * kept } else { light };
            bend(signal_of(self.gain * light.max(0.0)), SHOULDER, self.brightest).min(1.0)
        };
        light.map(shown)
    }
}

/// `x` up to `knee`; from there, a hyperbola that begins with the slope 1, and is 1 at `top`.
fn bend(x: f64, knee: f64, top: f64) -> f64 {
    if x <= knee || top <= 1.0 {
        return x;
    }
    let (x, slope) = ((x - knee) / (top - knee), (top - knee) / (1.0 - knee));
    knee + (1.0 - knee) * slope * x / (1.0 + (slope - 1.0) * x)
}

/// The saturation, (largest - lowest) / largest component, and the largest component.
fn saturation(light: [f64; 3]) -> (f64, f64) {
    let [most, least] =
        [light.iter().copied().fold(f64::MIN, f64::max), light.iter().copied().fold(f64::MAX, f64::min)];
    if most > 0.0 { ((most - least) / most, most) } else { (0.0, 0.0) }
}

/// The sRGB signal of light (IEC 61966-2-1).
fn signal_of(light: f64) -> f64 {
    if light <= 0.003_130_8 { 12.92 * light } else { 1.055 * light.powf(1.0 / 2.4) - 0.055 }
}

fn light_of(signal: f64) -> f64 {
    if signal <= 0.040_45 { signal / 12.92 } else { ((signal + 0.055) / 1.055).powf(2.4) }
}

/// The colours, 0 to 1, of a 3D LUT of [`SIDE`] points in each direction, with red changing fastest. `full` if the
/// pictures have full range.
pub fn colours(curve: LogCurve, full: bool) -> impl Iterator<Item = [f64; 3]> {
    let rendering = Rendering::new(curve);
    let light: Vec<f64> =
        (0..SIDE).map(|step| curve.light(code(curve, full, step as f64 / (SIDE - 1) as f64))).collect();
    (0..SIDE * SIDE * SIDE).map(move |colour| {
        rendering.signal([colour % SIDE, colour / SIDE % SIDE, colour / SIDE / SIDE].map(|step| light[step]))
    })
}

/// The image that FFmpeg's `haldclut` needs for `curve`: the colours of the 3D LUT. `full` if the pictures have full
/// range.
///
/// # Errors
/// None in practice.
pub fn cube(curve: LogCurve, full: bool) -> Result<Frame, FrameError> {
    // Packed RGB, because haldclut mixes up the planes of planar formats.
    let mut samples = Vec::with_capacity(3 * 2 * WIDTH * WIDTH);
    for colour in colours(curve, full) {
        samples.extend(colour.map(|signal| ((signal * 65535.0).round() as u16).to_le_bytes()).concat());
    }
    let plane = HostPool::default().plane_from(&samples, 3 * 2 * WIDTH, WIDTH);
    Frame::new(PixelFormat::Rgb48le, (WIDTH, WIDTH), Range::Full, Matrix::Bt709, vec![plane])
}

/// The number in the curve's document that means this signal.
fn code(curve: LogCurve, full: bool, signal: f64) -> f64 {
    match curve.counts() {
        Counts::Codes if !full => (64.0 + 876.0 * signal) / 1023.0,
        _ => signal,
    }
}

/// The matrix from light of these primaries to that of others; whites are adapted by Bradford's cones.
fn between(source: Primaries, target: Primaries) -> Matrix3 {
    const BRADFORD: Matrix3 = [[0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296]];
    let [[.., from_white], [.., to_white]] = [source, target];
    let [seen, wanted] = [from_white, to_white].map(|white| times(&BRADFORD, xyz(white)));
    let adapted = diagonal(std::array::from_fn(|cone| wanted[cone] / seen[cone]));
    let steps = [to_xyz(source), BRADFORD, adapted, inverse(&BRADFORD), inverse(&to_xyz(target))];
    steps.into_iter().reduce(|before, step| product(&step, &before)).unwrap_or(BRADFORD)
}

fn to_xyz([red, green, blue, white]: Primaries) -> Matrix3 {
    let columns = [red, green, blue].map(xyz);
    let unscaled: Matrix3 = std::array::from_fn(|row| columns.map(|column| column[row]));
    product(&unscaled, &diagonal(times(&inverse(&unscaled), xyz(white))))
}

fn xyz([x, y]: [f64; 2]) -> [f64; 3] {
    [x / y, 1.0, (1.0 - x - y) / y]
}

fn times(matrix: &Matrix3, vector: [f64; 3]) -> [f64; 3] {
    matrix.map(|row| row.iter().zip(vector).map(|(a, b)| a * b).sum())
}

fn product(a: &Matrix3, b: &Matrix3) -> Matrix3 {
    a.map(|row| std::array::from_fn(|column| (0..3).map(|index| row[index] * b[index][column]).sum()))
}

fn diagonal(values: [f64; 3]) -> Matrix3 {
    std::array::from_fn(|row| std::array::from_fn(|column| if row == column { values[row] } else { 0.0 }))
}

fn inverse(m: &Matrix3) -> Matrix3 {
    // The cofactor of (row, column). Its cyclic indices give the sign.
    let cofactor = |row: usize, column: usize| {
        let [r1, r2, c1, c2] = [(row + 1) % 3, (row + 2) % 3, (column + 1) % 3, (column + 2) % 3];
        m[r1][c1] * m[r2][c2] - m[r1][c2] * m[r2][c1]
    };
    let determinant: f64 = (0..3).map(|column| m[0][column] * cofactor(0, column)).sum();
    std::array::from_fn(|row| std::array::from_fn(|column| cofactor(column, row) / determinant))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gray_is_where_cameras_put_it_and_the_brightest_light_is_white() {
        for curve in LogCurve::all() {
            let rendering = Rendering::new(curve);
            for (light, signal) in [(0.0, 0.0), (0.18, GRAY), (curve.light(1.0), f64::min(1.0, rendering.brightest))] {
                for shown in rendering.signal([light; 3]) {
                    assert!((shown - signal).abs() < 2e-4, "{curve:?}: {light} is shown as {shown}, not as {signal}");
                }
            }
        }
    }

    #[test]
    fn more_light_is_never_shown_darker_and_no_light_is_shown_outside() {
        for curve in LogCurve::all() {
            let rendering = Rendering::new(curve);
            let mut before = 0.0;
            for step in 0..=1000 {
                let light = curve.light(f64::from(step) / 1000.0);
                let [gray, ..] = rendering.signal([light; 3]);
                assert!(gray >= before, "{curve:?} at {step}");
                before = gray;
            }
            for corner in 0..8 {
                let light = [corner & 1, corner >> 1 & 1, corner >> 2].map(|on| f64::from(on) * 0.5 - 0.01);
                assert!(rendering.signal(light).iter().all(|shown| (0.0..=1.0).contains(shown)), "{curve:?} {light:?}");
            }
        }
    }

    /// Expected values: colour-science 0.4.7, with the same primaries from the same documents.
    #[test]
    fn matrices_are_those_of_the_primaries() {
        let expected = [
            (
                LogCurve::SLog3,
                [[1.62695, -0.54014, -0.08681], [-0.17852, 1.41794, -0.23943], [-0.04444, -0.19592, 1.24036]],
            ),
            (
                LogCurve::VLog,
                [[1.80657, -0.69570, -0.11088], [-0.17009, 1.30595, -0.13586], [-0.02521, -0.15447, 1.17967]],
            ),
            (
                LogCurve::AcesCct,
                [[1.70505, -0.62179, -0.08326], [-0.13026, 1.14080, -0.01055], [-0.02400, -0.12897, 1.15297]],
            ),
        ];
        for (curve, expected) in expected {
            let found = between(curve.primaries(), BT709);
            let apart = found.as_flattened().iter().zip(expected.as_flattened()).map(|(a, b)| (a - b).abs());
            assert!(apart.fold(0.0, f64::max) < 2e-4, "{curve:?}: {found:?}");
        }
    }

    #[test]
    fn a_surface_of_bt709_comes_back_as_it_was_where_it_is_not_at_the_edge() {
        let rendering = Rendering::new(LogCurve::SLog3);
        let to_camera = inverse(&rendering.to_bt709);
        let shown = rendering.signal(times(&to_camera, [0.3, 0.1, 0.05]));
        for (shown, light) in shown.into_iter().zip([0.3, 0.1, 0.05]) {
            assert!((light_of(shown) - rendering.gain * light).abs() < 1e-6, "{shown}");
        }
    }

    /// Interpolates linearly between the points of the cube, as `haldclut` does for grays. Checks the largest errors
    /// near black, where the curve begins inside a cell, and above.
    #[test]
    fn the_cube_has_enough_points() {
        for (curve, full) in LogCurve::all().into_iter().flat_map(|curve| [(curve, false), (curve, true)]) {
            let rendering = Rendering::new(curve);
            let exact = |signal: f64| rendering.signal([curve.light(code(curve, full, signal)); 3])[0];
            let steps = (SIDE - 1) as f64;
            let mut most = [0.0_f64; 2];
            // H.273's curves jump from zero to their darkest light within the first cell: leave it out.
            for sample in if matches!(curve, LogCurve::Log100 | LogCurve::Log316) { 40..2000 } else { 0..2000 } {
                let index = f64::from(sample) / 2000.0 * steps;
                let [low, high] = [index.floor(), index.floor() + 1.0].map(|point| exact(point / steps));
                let wanted = exact(index / steps);
                let above = usize::from(wanted > 0.06);
                most[above] = most[above].max((low + (high - low) * index.fract() - wanted).abs());
            }
            assert!(most[0] < 0.015 && most[1] < 0.004, "{curve:?}, {full}: {most:?}");
        }
    }
}
