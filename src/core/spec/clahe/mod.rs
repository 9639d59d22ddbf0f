//! Contrast-limited adaptive histogram equalization (CLAHE): one curve for each tile of a grid, blended between the
//! centres of the tiles. The method is that of OpenCV's `createCLAHE`, in integers instead of float32.
//!
//! ```text
//! TileHistograms -> temporal window, tile by tile -> clip -> cumulative sums -> TileCurves -> blend -> strength
//! ```
//!
//! **Tiles** ([`Tiles`]). The grid has `columns` x `rows` tiles. If either dimension of the picture is not divisible by
//! its number of tiles, *both* are padded, right and bottom, by `tiles - dimension % tiles`. A divisible dimension is
//! then padded by `tiles`; OpenCV does this too, and the tiles here equal its tiles. The padding mirrors the picture
//! without repeating its edge: coordinate `p` of `n` becomes `2n - 2 - p`, and `-p` where that is negative, until it
//! lies inside; in a dimension of 1 pixel, every coordinate becomes 0. A tile is at least one pixel wide and high: a
//! picture with fewer pixels than tiles is padded.
//!
//! **Bins** ([`TileBins`]). There are `B = min(L, requested, 4096)`; level `l` of `L` is in bin `l * B / L`. Samples
//! outside of [lo, hi] count as lo or hi.
//!
//! **Window**. The counts of each tile are summed up over the frames of the temporal window. All tiles have the same
//! window: scenes are detected by the histogram of the visible samples, each counted once. `N` is the sum of the counts
//! of a tile in the window. A frame of another size resets the window, since its tiles differ, even if it has as many
//! samples.
//!
//! **Clip** (`clip`). With the contrast limit `g` in 256ths, each bin is capped at `max(1, g*N / (256*n))`; without a
//! limit there is no cap. `n` is the number of bins of the tone's range: of all bins, or where levels are stretched, of
//! those that the stretch maps between black and white. So the excess becomes the straight line of the stretch, and in
//! 16-bit footage that uses a small part of the range, the limit is relative to that part. Of the excess each of the
//! `n` bins gets `excess / n`. The remainder `R` is spread by ones over every `step = max(n / R, 1)`-th of them, from
//! the first on, over `R` bins at most: bin number `b` gets one more if `b % step == 0` and `b / step < R`. All of it
//! is used up, since `step * (R - 1) < n`.
//!
//! **Curve of a tile** ([`TileCurves`]). Let `h` be the count of a bin after the clip, and `below` the sum of the bins
//! before it. Level `j` of the `w` levels of the bin has the cumulative sum `c = below + h*(j+1)/w` and becomes `lo +
//! c*(L-1)/N`, rounded half to even. So the levels of a bin stay distinct. As in OpenCV, no `cmin` is subtracted: the
//! darkest level does not become black, and a flat picture changes. Codes outside of [lo, hi] become the same as lo or
//! hi. Where levels are stretched, black stays black, and so do black bars. Where the peak of the scene is kept, the
//! ceiling of the tone replaces `L-1`, and levels above it stay as they are.
//!
//! **Blend** ([`Neighbours`]). With the tile width `tw`, pixel column `x` has `a = 2x - tw`. The column lies right of
//! the centre of tile `floor(a / 2tw)`, and the weight of the next tile is `(a mod 2tw) / 2tw` (floor and mod towards
//! minus infinity). A tile outside of the grid is replaced by the one at its edge. Rows work the same way. The outputs
//! of the four tiles are blended with the four products of weights, as an exact fraction of denominator `4*tw*th`,
//! which is rounded half to even once. As in OpenCV, `x / tw - 0.5` is the position of the left edge of the pixel, not
//! of its centre.
//!
//! **Strength**. As for a single curve, but applied to the blended value `b` of each pixel: `(v*(256-k) + b*k + 128) >>
//! 8` for code `v`, codes outside of [lo, hi] too. A strength of 0 is the identity.
//!
//! The plateau has no effect, because the clip replaces it. Each tile counts its own part of the picture, whatever the
//! counted region is; the levels of the scene are measured in the region.

mod bins;
mod clip;
mod curves;
mod histograms;
mod tiles;

pub use bins::TileBins;
pub use clip::clip;
pub use curves::{TileCurves, TileLevels};
pub use histograms::TileHistograms;
pub use tiles::{Neighbours, Tiles, mirrored};
