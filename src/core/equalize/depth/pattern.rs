//! A pattern of blue noise: 64 x 64 ranks, from which noise or thresholds are made.
//!
//! The ranks are made by void and cluster (R. Ulichney, "The void-and-cluster method for dither array generation", SPIE
//! 1913, 1993): the positions of the n lowest ranks are evenly spaced for every n. Such noise has high frequencies
//! only, which the eye sees least, and the pattern repeats without a visible seam. It is the same in every frame, so
//! that an encoder predicts it where nothing moves.
//!
//! The test below makes the ranks, in integers, and compares them with the file.

/// Columns and rows.
pub const SIZE: usize = 64;

/// The ranks, row by row, two bytes each, the low one first.
const RANKS: &[u8; 2 * SIZE * SIZE] = include_bytes!("blue_noise.bin");

/// The ranks of row `y` of a plane that the pattern tiles, 0 to 4095; the rank of column `x` is at index `x % 64`.
pub fn ranks(y: usize) -> [u16; SIZE] {
    let row = &RANKS[y % SIZE * 2 * SIZE..][..2 * SIZE];
    std::array::from_fn(|x| u16::from_le_bytes([row[2 * x], row[2 * x + 1]]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CELLS: usize = SIZE * SIZE;

    /// 65536 e^(-d²/2s²) for s = 1.9: the weight of a point at distance d (the index), for rows and for columns.
    const WEIGHTS: [u64; 10] = [65_536, 57_060, 37_659, 18_842, 7_146, 2_054, 448, 74, 9, 1];

    /// Points on a torus, and the density of points around each position.
    #[derive(Clone)]
    struct Points {
        is_set: Vec<bool>,
        crowd: Vec<u64>,
    }

    impl Points {
        fn flip(&mut self, place: usize) {
            let set = !self.is_set[place];
            self.is_set[place] = set;
            let reach = WEIGHTS.len() as isize - 1;
            let value_at = |start: usize, step: isize| (start as isize + step).rem_euclid(SIZE as isize) as usize;
            for dy in -reach..=reach {
                for dx in -reach..=reach {
                    let weight = WEIGHTS[dx.unsigned_abs()] * WEIGHTS[dy.unsigned_abs()];
                    let crowd = &mut self.crowd[value_at(place / SIZE, dy) * SIZE + value_at(place % SIZE, dx)];
                    *crowd = if set { *crowd + weight } else { *crowd - weight };
                }
            }
        }

        /// The point with the highest density around it.
        fn cluster(&self) -> usize {
            let points = (0..CELLS).filter(|&place| self.is_set[place]);
            points.max_by_key(|&place| (self.crowd[place], CELLS - place)).expect("a point")
        }

        /// The free position with the lowest density around it.
        fn void(&self) -> usize {
            (0..CELLS)
                .filter(|&place| !self.is_set[place])
                .min_by_key(|&place| self.crowd[place])
                .expect("a free place")
        }
    }

    /// Generates the ranks by void and cluster.
    fn generated() -> Vec<u16> {
        let mut points = Points { is_set: vec![false; CELLS], crowd: vec![0; CELLS] };
        let first = CELLS / 10;
        let mut random = 1u64;
        while points.is_set.iter().filter(|&&set| set).count() < first {
            // Knuth's generator (MMIX): its high bits are random enough to begin with.
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let place = (random >> 52) as usize;
            if !points.is_set[place] {
                points.flip(place);
            }
        }
        loop {
            let source = points.cluster();
            points.flip(source);
            let target = points.void();
            points.flip(target);
            if source == target {
                break;
            }
        }
        let mut ranks = vec![0; CELLS];
        let mut fewer = points.clone();
        for rank in (0..first).rev() {
            let place = fewer.cluster();
            fewer.flip(place);
            ranks[place] = rank as u16;
        }
        for rank in first..CELLS {
            let place = points.void();
            points.flip(place);
            ranks[place] = rank as u16;
        }
        ranks
    }

    /// `HISTEQ_REGENERATE=1` writes the file of ranks again.
    #[test]
    fn the_ranks_are_those_of_void_and_cluster() {
        let ranks = generated();
        if std::env::var_os("HISTEQ_REGENERATE").is_some() {
            let bytes: Vec<u8> = ranks.iter().flat_map(|rank| rank.to_le_bytes()).collect();
            std::fs::write("equalize/depth/blue_noise.bin", bytes).expect("the file can be written");
        } else {
            let kept: Vec<u16> = (0..SIZE).flat_map(super::ranks).collect();
            assert!(kept == ranks);
        }
        let mut sorted = ranks;
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..CELLS as u16), "each rank once");
    }
}
