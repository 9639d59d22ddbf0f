//! The grid of tiles over a picture, and the position of pixels in it.

/// A grid of equal tiles over a picture and its padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tiles {
    /// Tiles in a row, at least 1.
    pub columns: usize,
    /// Rows of tiles, at least 1.
    pub rows: usize,
    /// Width of a tile in pixels, at least 1.
    pub width: usize,
    /// Height of a tile in pixels, at least 1.
    pub height: usize,
    /// Columns and rows of the picture, in pixels.
    pub picture: (usize, usize),
}

impl Tiles {
    /// `columns` x `rows` tiles over a picture of this size (columns, rows); 0 tiles count as 1.
    pub fn new(columns: u32, rows: u32, picture: (usize, usize)) -> Self {
        let (columns, rows) = (columns.max(1) as usize, rows.max(1) as usize);
        let (width, height) = picture;
        let (padded_width, padded_height) = if width.is_multiple_of(columns) && height.is_multiple_of(rows) {
            (width, height)
        } else {
            (width + columns - width % columns, height + rows - height % rows)
        };
        Tiles { columns, rows, width: padded_width / columns, height: padded_height / rows, picture }
    }

    /// Number of tiles.
    pub fn count(&self) -> usize {
        self.columns * self.rows
    }

    /// Columns and rows of the padded picture, in pixels.
    pub fn padded(&self) -> (usize, usize) {
        (self.columns * self.width, self.rows * self.height)
    }

    /// The index of the tile, row by row, in which a pixel of the padded picture is counted.
    pub fn at(&self, x: usize, y: usize) -> usize {
        y / self.height * self.columns + x / self.width
    }

    /// The pixel of the picture that the padded picture has at (x, y).
    pub fn seen_at(&self, x: usize, y: usize) -> (usize, usize) {
        (mirrored(x, self.picture.0), mirrored(y, self.picture.1))
    }

    /// The columns of tiles to the left and to the right of pixel column `x`.
    pub fn across(&self, x: usize) -> Neighbours {
        Neighbours::new(x, self.width, self.columns)
    }

    /// The rows of tiles above and below pixel row `y`.
    pub fn down(&self, y: usize) -> Neighbours {
        Neighbours::new(y, self.height, self.rows)
    }
}

/// Coordinate `p` of a padded dimension, mapped into `length` pixels by mirroring without repeating the edge.
pub fn mirrored(p: usize, length: usize) -> usize {
    if length == 1 {
        return 0;
    }
    // Mirrored at both ends, the picture has the period 2 * length - 2.
    let p = p % (2 * length - 2);
    if p < length { p } else { 2 * length - 2 - p }
}

/// The two tiles that are blended at a pixel, in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Neighbours {
    /// The indices of the two tiles; equal beyond the centre of an outermost tile.
    pub tiles: [usize; 2],
    /// The weight of the second tile, 0 to `2 * size - 1` of `2 * size`, where `size` is the size of a tile.
    pub weight: usize,
}

impl Neighbours {
    /// The neighbours of coordinate `index` in a row of `count` tiles of `size` pixels.
    pub fn new(index: usize, size: usize, count: usize) -> Self {
        // a = 2 * index - size, plus 2 * size to keep it positive.
        let a = 2 * index + size;
        let (after, weight) = (a / (2 * size), a % (2 * size));
        Neighbours { tiles: [after.saturating_sub(1).min(count - 1), after.min(count - 1)], weight }
    }
}
