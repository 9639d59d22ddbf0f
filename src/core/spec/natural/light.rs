//! The light of each frame of a window relative to the others, and the blocks where an object has come into the frame.
//!
//! A frame is compared with the one before it, block by block. With a and b the means of a block in the two frames, the
//! change of light is the median of b / a, drawn towards 1 by a quarter of the distance of the quartiles: where objects
//! move, the ratios lie far apart without a change of light. The product of all steps since the first frame of a window
//! is the light of a frame relative to that one. Frames far apart are not compared directly: where a camera shakes or
//! pans, their blocks show different things.
//!
//! A scene has several lights: quantiles of the light of its frames, from the third quartile up to the second largest.
//! A result is computed with each of them, and the results are averaged. So the result changes step by step after a
//! lasting change of light, and not at all while less than three quarters of a window are darker. A frame counts as
//! darker or brighter than its scene only as far as its mean is so, too: errors of many steps add up, those of means do
//! not.
//!
//! For each block, the median over the frames before, divided by their light, is computed. A block of the frame is
//! *foreign* if it is brighter than all of these medians, or darker: a new object has come into the frame. Points of
//! foreign blocks and of their neighbours do not count for the correction, unless more than two fifths of all blocks
//! are foreign.

use crate::spec::measure::{BLOCK_COLUMNS, BLOCK_ROWS, BLOCKS};

/// The means of the blocks of a frame.
pub type Blocks = [Option<u32>];

/// A light of 1, in 65536ths.
pub const FULL: u32 = 1 << 16;

/// The largest light of a frame relative to its scene, in 65536ths: a brighter frame is a flash.
pub const BRIGHTEST: u32 = FULL / 4 * 5;

/// The largest ratio of the light of two frames, in 65536ths.
pub const MAX: u32 = 16 * FULL;

/// The fewest blocks by which light is judged.
const MIN_BLOCKS: usize = 16;

/// The least and the largest light of a frame relative to the first one of its window, in 2^32ths.
const CHANGES: [u64; 2] = [1 << 8, 1 << 48];

/// How many quantiles of the light of its frames a scene has as lights.
pub const SCENE_LIGHTS: usize = 24;

/// The lights of the frames of a window.
pub struct Lights {
    /// The light of each frame relative to the first one, in 2^32ths.
    lights: Vec<u64>,
    means: Vec<u64>,
}

impl Lights {
    /// `frames` has, in order, the light of each frame relative to the one before it, in 65536ths, and its mean;
    /// `white` is in the unit of the means.
    pub fn new(frames: impl Iterator<Item = (u32, u32)>, white: u32) -> Self {
        let mut light = 1 << 32;
        let [least, most] = CHANGES;
        let light_and_mean = |(step, mean): (u32, u32)| {
            light = ((u128::from(light) * u128::from(step)) >> 16).clamp(least.into(), most.into()) as u64;
            // Means near black are unreliable.
            (light, u64::from(mean + white / 512 + 1))
        };
        let (lights, means) = frames.map(light_and_mean).unzip();
        Lights { lights, means }
    }

    /// The light of each frame relative to that of its scene, in 65536ths, for each quantile that is a light of the
    /// scene.
    pub fn against_scenes(&self) -> impl Iterator<Item = Vec<u32>> + '_ {
        let sorted = |numbers: &[u64]| {
            let mut numbers = numbers.to_vec();
            numbers.sort_unstable();
            numbers
        };
        let (lights, means) = (sorted(&self.lights), sorted(&self.means));
        let share = |frame_light: u64, scene: u64| {
            ((u128::from(frame_light) << 16) / u128::from(scene)).min(BRIGHTEST.into()) as u32
        };
        (3 * SCENE_LIGHTS..4 * SCENE_LIGHTS).map(move |part| {
            let place = lights.len().saturating_sub(1) * part / (4 * SCENE_LIGHTS);
            let nearer_to_full = |(&light, &mean): (&u64, &u64)| {
                let (light, mean) = (share(light, lights[place]), share(mean, means[place]));
                if light < FULL { light.max(mean.min(FULL)) } else { light.min(mean.max(FULL)) }
            };
            self.lights.iter().zip(&self.means).map(nearer_to_full).collect()
        })
    }
}

/// The light of `frame` relative to that of `reference`, in 65536ths, by their blocks; `white` is in sixteenths of a
/// level.
pub fn between(reference: &Blocks, frame: &Blocks, white: u32) -> u32 {
    let pairs = reference.iter().zip(frame).filter_map(|(a, b)| Some(((*a)?, (*b)?)));
    // Blocks that are nearly black are unreliable.
    let lit = pairs.filter(|(a, b)| (*a).min(*b) > white / 64);
    let mut ratios: Vec<u32> = lit.map(|(a, b)| ((u64::from(b) << 16) / u64::from(a)).min(MAX.into()) as u32).collect();
    if ratios.len() < MIN_BLOCKS {
        return FULL;
    }
    let [first, middle, third] = [1, 2, 3].map(|quarter| (ratios.len() - 1) * quarter / 4);
    let (below, &mut at_middle, above) = ratios.select_nth_unstable(middle);
    let at_first = if first < middle { *below.select_nth_unstable(first).1 } else { at_middle };
    let at_third = if third > middle { *above.select_nth_unstable(third - middle - 1).1 } else { at_middle };
    let (first, middle, third) = (at_first, at_middle, at_third);
    let doubt = (third - first) / 4;
    if middle < FULL { (middle + doubt).min(FULL) } else { middle.saturating_sub(doubt).max(FULL) }
}

/// By how much a frame with this light counts for the correction of its scene, in 4096ths: fully at 0.98, not at all at
/// 0.9.
pub fn weight(light: u32) -> u32 {
    super::points::ramp((light >> 4) as i32, 3686, 4014) as u32
}

/// Which blocks of a frame are foreign to the frames before it; `white` is in sixteenths of a level. If more than two
/// fifths would be, the camera moves, and none is.
pub fn foreign(before: &[&Blocks], frame: &Blocks, white: u32) -> [bool; BLOCKS] {
    let mut foreign = [false; BLOCKS];
    if before.len() < 3 {
        return foreign;
    }
    let lights: Vec<u32> = before.iter().map(|blocks| between(frame, blocks, white).max(FULL / 16)).collect();
    let mut values = Vec::with_capacity(before.len());
    let (mut least, mut most) = (u32::MAX, 0);
    for block in 0..BLOCKS {
        let lit = before.iter().zip(&lights).filter_map(|(blocks, light)| Some((blocks[block]?, *light)));
        values.clear();
        values.extend(lit.map(|(mean, light)| ((u64::from(mean) << 16) / u64::from(light)) as u32));
        if !values.is_empty() {
            let middle = values.len() / 2;
            let median = *values.select_nth_unstable(middle).1;
            (least, most) = (least.min(median), most.max(median));
        }
    }
    for (frame_light, foreign) in frame.iter().zip(&mut foreign) {
        *foreign =
            frame_light.is_some_and(|frame_light| frame_light > most + white / 42 || frame_light + white / 42 < least);
    }
    if 5 * foreign.iter().filter(|is| **is).count() > 2 * BLOCKS { [false; BLOCKS] } else { with_neighbours(&foreign) }
}

/// These blocks and their neighbours, which an object may touch.
pub fn with_neighbours(blocks: &[bool; BLOCKS]) -> [bool; BLOCKS] {
    std::array::from_fn(|block| {
        let (x, y) = (block % BLOCK_COLUMNS, block / BLOCK_COLUMNS);
        let rows = y.saturating_sub(1)..=(y + 1).min(BLOCK_ROWS - 1);
        let near =
            |y: usize| (x.saturating_sub(1)..=(x + 1).min(BLOCK_COLUMNS - 1)).map(move |x| y * BLOCK_COLUMNS + x);
        rows.flat_map(near).any(|block| blocks[block])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHITE: u32 = 16 * 255;

    fn scene(block: usize) -> u32 {
        (400 + 13 * block % 2000) as u32
    }

    fn blocks(level: impl Fn(usize) -> u32) -> Vec<Option<u32>> {
        (0..BLOCKS).map(|block| Some(level(block))).collect()
    }

    #[test]
    fn light_is_a_factor_of_all_blocks_and_no_thing_that_comes() {
        let calm = blocks(scene);
        let half = between(&calm, &blocks(|block| scene(block) / 2), WHITE);
        assert!(half.abs_diff(FULL / 2) < 100, "{half}");
        assert_eq!(between(&calm, &blocks(|block| if block < 60 { 3700 } else { scene(block) }), WHITE), FULL);
        let other = between(&calm, &blocks(|block| scene((block * 7) % BLOCKS)), WHITE);
        assert!(other.abs_diff(FULL) < FULL / 8, "another picture: {other}");
    }

    /// The lights of frames with these blocks, in order.
    fn lights(frames: &[Vec<Option<u32>>]) -> Vec<u32> {
        let mean = |blocks: &Blocks| blocks.iter().flatten().sum::<u32>() / BLOCKS as u32;
        let each = frames.iter().enumerate().map(|(index, blocks)| {
            let step = index.checked_sub(1).map_or(FULL, |before| between(&frames[before], blocks, WHITE));
            (step, mean(blocks))
        });
        let against: Vec<_> = Lights::new(each, WHITE).against_scenes().collect();
        (0..frames.len())
            .map(|index| against.iter().map(|lights| lights[index]).sum::<u32>() / SCENE_LIGHTS as u32)
            .collect()
    }

    #[test]
    fn a_fade_is_followed_through_black_and_back() {
        // The light falls to a fiftieth and rises again within 49 frames, with a second of full light before and after.
        let share = |index: usize| 51 - (50 - 2 * index.abs_diff(50).min(25) as u32).max(1);
        let frames: Vec<_> = (0..101).map(|index| blocks(|block| scene(block) * share(index) / 50)).collect();
        let found = lights(&frames);
        assert!(found[0].abs_diff(FULL) < FULL / 50 && found[100].abs_diff(FULL) < FULL / 20, "{found:?}");
        assert!(found[50] < FULL / 15, "{found:?}");
        assert!(found.windows(2).all(|pair| pair[0].abs_diff(pair[1]) < FULL / 10), "{found:?}");
    }

    #[test]
    fn a_camera_that_shakes_changes_no_light() {
        // The same blocks, shifted as by a camera in a hand.
        let frames: Vec<_> = (0..75).map(|index| blocks(|block| scene(block + 5 * (index * index % 7)))).collect();
        let found = lights(&frames);
        assert!(found.iter().all(|light| light.abs_diff(FULL) < FULL / 20), "{found:?}");
    }

    #[test]
    fn what_crosses_is_foreign_whatever_the_light() {
        let before: Vec<_> = (0..20).map(|_| blocks(scene)).collect();
        let before: Vec<&Blocks> = before.iter().map(|blocks| &**blocks).collect();
        let crossed = |light: u32| blocks(move |block| if block < 30 { 3900 } else { scene(block) * light / 4 });
        for light in [2, 4] {
            let found = foreign(&before, &crossed(light), WHITE);
            // Blocks 30 to 46 are the neighbours of the foreign ones.
            assert!((0..BLOCKS).all(|block| found[block] == (block < 47)), "{light}");
        }
        assert_eq!(foreign(&before, &blocks(|block| 2 * scene(block)), WHITE), [false; BLOCKS], "another scene");
    }
}
