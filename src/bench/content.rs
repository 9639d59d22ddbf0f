//! What the pictures that are measured show: how fast samples are counted depends on which ones repeat.

use crate::frame::{Frame, HostPool, Matrix, PixelFormat, Range};

/// A kind of picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Smooth light and shade with edges and a sensor's grain.
    Photo,
    /// Every code as likely as any other, next to any other.
    Noise,
    /// One single code.
    Flat,
    /// Four dark codes at random: a night scene.
    NearBlack,
}

impl Content {
    /// All of them.
    pub const ALL: [Content; 4] = [Content::Photo, Content::Noise, Content::Flat, Content::NearBlack];

    /// As tables name it.
    pub fn name(self) -> &'static str {
        match self {
            Content::Photo => "photo-like",
            Content::Noise => "noise",
            Content::Flat => "flat",
            Content::NearBlack => "near-black",
        }
    }

    /// The share of full scale at (x, y), and how many of 256 codes of noise are added to it.
    fn at(self, x: usize, y: usize) -> (f64, u64) {
        match self {
            Content::Photo => {
                let (x, y) = (x as f64, y as f64);
                let shade = 0.45 + 0.2 * (x / 310.0).sin() * (y / 170.0).cos() + 0.12 * ((x + 2.0 * y) / 47.0).sin();
                let edge = if (x / 97.0).sin() + (y / 61.0).sin() > 0.4 { 0.15 } else { 0.0 };
                (shade + edge, 7)
            }
            Content::Noise => (0.0, 256),
            Content::Flat => (0.3, 1),
            Content::NearBlack => (0.06, 4),
        }
    }
}

/// A picture of full range, all components alike.
pub fn picture(format: PixelFormat, (width, height): (usize, usize), content: Content) -> Frame {
    let pool = HostPool::default();
    let sample = format.descriptor().sample;
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
                    let (share, noise) = content.at(x * width / samples, y);
                    let scale = 1u64 << (sample.depth - 8);
                    let code = (share * f64::from(sample.max())) as u64 + (random >> 20) % (noise * scale);
                    sample.write(plane.row_mut(y), x, code.min(u64::from(sample.max())) as u16);
                }
            }
            plane.freeze()
        })
        .collect();
    Frame::new(format, (width, height), Range::Full, Matrix::Bt601, planes).expect("planes of the format's shape")
}

/// The samples of a frame's first plane, rows one after the other without padding.
pub fn first_plane(frame: &Frame) -> Vec<u8> {
    let plane = &frame.planes()[0];
    (0..plane.rows()).flat_map(|y| plane.row(y).iter().copied()).collect()
}

/// The gray format whose samples have this depth.
///
/// # Panics
/// When there is none: a bug of a suite.
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
