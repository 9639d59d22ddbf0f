//! Equalizes a gray picture: an array in, an array out.
//!
//! `cargo run -p histeq --example equalize_array`

use histeq::{Equalizer, Look, PixelFormat, Range, Result};

/// `gray` has `width * height` pixels of one byte, rows from top to bottom without padding; so has the result.
///
/// # Errors
/// When the picture has no pixels or another number of them, or the backend fails.
pub fn equalized(gray: &[u8], width: usize, height: usize) -> Result<Vec<u8>> {
    let builder = Equalizer::builder(PixelFormat::Gray, width, height).range(Range::Full);
    let mut equalizer = builder.look(Look::Exact).build()?;
    let mut result = vec![0; gray.len()];
    equalizer.push(gray)?;
    for done in equalizer.finish()? {
        done?.copy_into(&mut result)?;
    }
    Ok(result)
}

#[allow(dead_code, reason = "a test calls the function above")]
fn main() -> Result<()> {
    // A flat picture: levels 96 to 127 of 256.
    let (width, height) = (64, 48);
    let flat: Vec<u8> = (0..width * height).map(|index| 96 + (index % width / 2) as u8).collect();
    let contrasty = equalized(&flat, width, height)?;
    for (name, picture) in [("before", &flat), ("after", &contrasty)] {
        println!("{name}: levels {:?} to {:?}", picture.iter().min(), picture.iter().max());
    }
    Ok(())
}
