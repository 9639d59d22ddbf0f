//! Equalizes a video with a cut, on the first GPU if there is one, else on the CPU: the bytes are the same.
//!
//! `cargo run -p histeq --example equalize_sequence`

use histeq::{Equalizer, Look, PixelFormat, Result};

/// Columns and rows.
pub const SIZE: (usize, usize) = (320, 180);
/// Frames a second.
pub const RATE: f64 = 25.0;

/// A frame of gray pixels: two dark seconds that grow a little brighter, and a bright one.
pub fn frame(number: usize) -> Vec<u8> {
    let (width, height) = SIZE;
    let level = if number < 50 { 20 + number / 4 } else { 150 };
    (0..width * height).map(|index| (level + index % width / 8) as u8).collect()
}

/// Passes `count` frames through the equalizer; `consume` gets each, with its number.
///
/// # Errors
/// When the backend fails.
pub fn equalize(count: usize, mut consume: impl FnMut(u64, &[u8])) -> Result<()> {
    let (width, height) = SIZE;
    let builder = Equalizer::builder(PixelFormat::Gray, width, height).look(Look::Natural).rate(RATE);
    let mut equalizer = builder.on_note(|note| eprintln!("{note:?}")).build()?;
    let mut pixels = vec![0; width * height];
    for number in 0..count {
        // Frames come out in order, some calls after they went in.
        if let Some(done) = equalizer.push(&frame(number))? {
            done.copy_into(&mut pixels)?;
            consume(done.number(), &pixels);
        }
    }
    for done in equalizer.finish()? {
        let done = done?;
        done.copy_into(&mut pixels)?;
        consume(done.number(), &pixels);
    }
    Ok(())
}

#[allow(dead_code, reason = "a test calls the functions above")]
fn main() -> Result<()> {
    equalize(75, |number, pixels| {
        let sum: u64 = pixels.iter().map(|&pixel| u64::from(pixel)).sum();
        println!("frame {number}: mean {:.1}", sum as f64 / pixels.len() as f64);
    })
}
