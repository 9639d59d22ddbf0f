//! The content of the measured frames: the speed of counting depends on how often samples repeat.

use histeq::internal::frame::{Frame, HostPool, Matrix, PixelFormat, Plane, Range};
use histeq::named;

named! {
    /// The content of a frame.
    pub enum Content {
        Photo = "photo-like", "Smooth shading with edges and sensor noise";
        Noise = "noise", "Uniform noise over all codes";
        Flat = "flat", "A single code";
        NearBlack = "near-black", "Four dark codes at random: a night scene";
    }
}

impl Content {
    /// The range of the added noise, in 256ths of all codes.
    fn noise(self) -> u64 {
        match self {
            Content::Photo => 7,
            Content::Noise => 256,
            Content::Flat => 1,
            Content::NearBlack => 4,
        }
    }
}

/// The image to which noise is added: crossing waves, and edges. Its values are products of functions of one
/// coordinate, which are computed once.
struct Light {
    content: Content,
    across: Vec<[f64; 2]>,
    down: Vec<[f64; 2]>,
    aslant: Vec<f64>,
}

impl Light {
    fn new(content: Content, (width, height): (usize, usize)) -> Self {
        let waves = |count: usize, wave: fn(f64) -> [f64; 2]| (0..count).map(|index| wave(index as f64)).collect();
        Light {
            content,
            across: waves(width, |x| [(x / 310.0).sin(), (x / 97.0).sin()]),
            down: waves(height, |y| [(y / 170.0).cos(), (y / 61.0).sin()]),
            aslant: (0..width + 2 * height).map(|index| (index as f64 / 47.0).sin()).collect(),
        }
    }

    /// The value at (x, y), as a share of full scale.
    fn at(&self, x: usize, y: usize) -> f64 {
        match self.content {
            Content::Photo => {
                let ([wave, edge], [across, other]) = (self.across[x], self.down[y]);
                let shade = 0.45 + 0.2 * wave * across + 0.12 * self.aslant[x + 2 * y];
                shade + if edge + other > 0.4 { 0.15 } else { 0.0 }
            }
            Content::Noise => 0.0,
            Content::Flat => 0.3,
            Content::NearBlack => 0.06,
        }
    }
}

/// A frame of full range, with the same content in all components.
pub fn picture(format: PixelFormat, (width, height): (usize, usize), content: Content) -> Frame {
    let pool = HostPool::default();
    let sample = format.descriptor().sample;
    let light = Light::new(content, (width, height));
    let noise = content.noise() * (1u64 << (sample.depth - 8));
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let planes = (0..format.descriptor().planes().len())
        .map(|index| {
            let mut plane = pool.plane(format.row_bytes(index, width), format.rows(index, height));
            let samples = format.row_bytes(index, width) / usize::from(sample.bytes);
            for y in 0..format.rows(index, height) {
                for x in 0..samples {
                    random ^= random << 13;
                    random ^= random >> 7;
                    random ^= random << 17;
                    let share = light.at(x * width / samples, y);
                    let code = (share * f64::from(sample.max())) as u64 + (random >> 20) % noise;
                    sample.write(plane.row_mut(y), x, code.min(u64::from(sample.max())) as u16);
                }
            }
            plane.freeze()
        })
        .collect();
    Frame::new(format, (width, height), Range::Full, Matrix::Bt601, planes).expect("planes of the format's shape")
}

/// `count` copies of this frame, each in separate memory.
pub fn several(frame: &Frame, count: usize) -> Vec<Frame> {
    let pool = HostPool::default();
    let copy = |plane: &Plane| {
        let mut copy = pool.plane(plane.row_bytes(), plane.rows());
        (0..plane.rows()).for_each(|y| copy.row_mut(y).copy_from_slice(plane.row(y)));
        copy.freeze()
    };
    (0..count).map(|_| frame.with_planes(|index| Some(copy(&frame.planes()[index])))).collect()
}

/// The samples of a frame's first plane, rows one after the other without padding.
pub fn first_plane(frame: &Frame) -> Vec<u8> {
    let plane = &frame.planes()[0];
    (0..plane.rows()).flat_map(|y| plane.row(y).iter().copied()).collect()
}

/// The gray format whose samples have this depth.
///
/// # Panics
/// When there is no such format: a bug of a suite.
pub fn gray(depth: u8) -> PixelFormat {
    match depth {
        8 => PixelFormat::Gray,
        10 => PixelFormat::Gray10le,
        12 => PixelFormat::Gray12le,
        14 => PixelFormat::Gray14le,
        16 => PixelFormat::Gray16le,
        _ => panic!("no gray of {depth} bits"),
    }
}
