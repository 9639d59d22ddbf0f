//! A screenshot, read from Xvfb's frame buffer file in `xwd` format.

use std::path::Path;

/// A screenshot of the whole display.
#[derive(Clone, PartialEq)]
pub struct Shot {
    pub width: usize,
    pub height: usize,
    pixels: Vec<[u8; 3]>,
}

impl Shot {
    /// Reads the file; `None` while it is not complete yet.
    pub fn read(file: &Path) -> Option<Self> {
        let bytes = std::fs::read(file).ok()?;
        // The file has a header of big-endian words, colour map entries of twelve bytes, and the pixels.
        let word = |index: usize| -> Option<usize> {
            let bytes = bytes.get(4 * index..4 * index + 4)?;
            Some(u32::from_be_bytes(bytes.try_into().ok()?) as usize)
        };
        let (width, height, stride) = (word(4)?, word(5)?, word(12)?);
        let begin = word(0)? + 12 * word(19)?;
        assert_eq!(word(11)?, 32, "bits a pixel");
        let little_endian = word(7)? == 0;
        let rows = bytes.get(begin..begin + stride * height)?.chunks_exact(stride);
        let pixels = rows.flat_map(|row| row[..4 * width].chunks_exact(4)).map(|pixel| match little_endian {
            true => [pixel[2], pixel[1], pixel[0]],
            false => [pixel[1], pixel[2], pixel[3]],
        });
        Some(Shot { width, height, pixels: pixels.collect() })
    }

    /// The red, green and blue of a pixel.
    pub fn colour(&self, x: usize, y: usize) -> [u8; 3] {
        self.pixels[y * self.width + x]
    }

    /// The level of a pixel that is grey.
    pub fn level(&self, x: usize, y: usize) -> u8 {
        self.colour(x, y)[1]
    }

    /// The column of a white pixel between two black ones in this row.
    pub fn divider(&self, y: usize) -> Option<usize> {
        let is = |x, level| self.colour(x, y) == [level; 3];
        (1..self.width - 1).find(|x| is(x - 1, 0) && is(*x, 255) && is(x + 1, 0))
    }

    /// The number of pixels of this colour in these columns and rows.
    pub fn count(&self, colour: [u8; 3], columns: std::ops::Range<usize>, rows: std::ops::Range<usize>) -> usize {
        rows.map(|y| columns.clone().filter(|x| self.colour(*x, y) == colour).count()).sum()
    }
}
