//! Contrast-limited adaptive histogram equalization (CLAHE): a curve for each tile of a grid, blended between the
//! centres of the tiles. What OpenCV's `createCLAHE` computes in float32, here in integers.
//!
//! ```text
//! TileHistograms -> temporal window, tile by tile -> clip -> cumulative sums -> TileCurves -> blend -> strength
//! ```
//!
//! **Tiles** ([`Tiles`]). `columns` x `rows` of them. If either dimension of the picture is not divisible by its number
//! of tiles, *both* are padded, right and bottom, by `tiles - dimension % tiles`: the one that is divisible then by a
//! whole `tiles`, because OpenCV does so and its tiles are ours. What is padded mirrors the picture without
//! repeating its edge: coordinate `p` of `n` becomes `2n - 2 - p`, and `-p` where that is negative, again and again
//! until it lies inside; a dimension of 1 has only 0. A tile is never less than a pixel wide, not even where there are
//! more tiles than pixels: such a picture is padded to the number of tiles.
//!
//! **Bins** ([`TileBins`]). `B = min(L, asked, 4096)` of them; level `l` of `L` is in bin `l * B / L`. Samples outside
//! of [lo, hi] count as lo or hi.
//!
//! **Window**. The counts of a tile are summed up over the frames of the temporal window, which is that of the whole
//! frame: a scene is cut for all tiles at once, on the histogram of the visible samples, each once. `N` is the
//! sum of the counts of a tile in the window. A frame of another size begins everything anew, even one of as many
//! samples, since its tiles are others.
//!
//! **Clip** ([`clip`]). With the contrast limit `g` in 256ths no bin keeps more than `max(1, g*N / (256*B))`; without a
//! limit all keep what they hold. Of the excess each bin gets `excess / B`; of the remainder `R` one each goes to every
//! `step = max(B / R, 1)`-th bin, from bin 0 on, to `R` bins at most: bin `b` gets one more if `b % step == 0` and
//! `b / step < R`. Since `step * (R - 1) < B`, all of it is handed out.
//!
//! **Curve of a tile** ([`TileCurves`]). With `h` what its bin holds after the clip, `below` the sum of the bins before,
//! level `j` of the `w` levels of a bin has the cumulative sum `c = below + h*(j+1)/w` and becomes
//! `lo + c*(L-1)/N`, rounded half to even. So the levels of a bin stay apart. There is no `cmin`: as in OpenCV the
//! darkest level is not black, and a flat picture is not kept as it is. Codes outside of [lo, hi] become what lo or hi
//! becomes.
//!
//! **Blend** ([`Neighbours`]). With the tile width `tw`, pixel column `x` has `a = 2x - tw`, lies right of the centre of
//! tile `floor(a / 2tw)`, and counts the next tile with the weight `(a mod 2tw) / 2tw` (both floor and mod towards minus
//! infinity); a tile beyond the grid is the one at its edge. The same in y. What the four tiles make of the code is
//! blended by the four products of weights as the exact fraction that it is, of denominator `4*tw*th`, and rounded
//! half to even once. OpenCV has `x / tw - 0.5`, which is the same place: a pixel counts from its left edge, not from
//! its middle.
//!
//! **Strength**. As for a curve, but on the blended value `b` of each pixel: `(v*(256-k) + b*k + 128) >> 8` for code
//! `v`, for codes outside of [lo, hi] too. A strength of 0 leaves every code as it is.
//!
//! Plateau and region do not take part: the clip is this method's plateau, and every tile needs its own part of the
//! picture.

mod bins;
mod clip;
mod curves;
mod histograms;
mod tiles;

pub use bins::TileBins;
pub use clip::clip;
pub use curves::TileCurves;
pub use histograms::TileHistograms;
pub use tiles::{Neighbours, Tiles, mirrored};
