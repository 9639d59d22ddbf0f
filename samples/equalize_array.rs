//! Equalizes a gray picture: an array in, an array out.
//!
//! `cargo run -p histeq --example equalize_array`

use anyhow::{Context, Result};
use histeq::equalize::{Equalizer, Work, cpu::Cpu};
use histeq::frame::{Frame, HostPool, Matrix, PixelFormat, Range};
use histeq::spec::Settings;

/// `gray` has `width * height` pixels of one byte, rows from top to bottom without padding; so has the result.
///
/// # Errors
/// When the picture has no pixels, or the backend fails.
fn equalized(gray: &[u8], width: usize, height: usize) -> Result<Vec<u8>> {
    let plane = HostPool::default().plane_from(gray, width, height);
    let frame = Frame::new(PixelFormat::Gray, (width, height), Range::Full, Matrix::Bt601, vec![plane])?;
    let mut cpu = Cpu::new(1);
    cpu.submit(Work::new(frame, Settings::default()))?;
    let equalized = cpu.collect()?.context("no frame came back")?.frame;
    let plane = &equalized.planes()[0];
    Ok((0..height).flat_map(|y| plane.row(y)).copied().collect())
}

fn main() -> Result<()> {
    // A flat picture: levels 96 to 127 of 256.
    let (width, height) = (64, 48);
    let flat: Vec<u8> = (0..width * height).map(|at| 96 + (at % width / 2) as u8).collect();
    let contrasty = equalized(&flat, width, height)?;
    for (name, picture) in [("before", &flat), ("after", &contrasty)] {
        let (lowest, highest) =
            (picture.iter().min().context("no pixels")?, picture.iter().max().context("no pixels")?);
        println!("{name}: levels {lowest} to {highest}");
    }
    Ok(())
}
