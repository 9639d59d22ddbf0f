// The structures that kernels take by value, one field per line. `src/core/build.rs` generates the Rust structures from
// this file, and `tests/core/kernels/arguments.rs` compiles it for the host to compare sizes and offsets. No structure
// has padding.
#pragma once

#ifndef __CUDACC__
struct uint4;
#endif

namespace histeq {

// How the luma samples (or the components of RGB) lie in a plane on the device.
struct Samples {
    unsigned pixels;   // pixels in the plane, those that only pad a row included; at most 2^31
    unsigned row;      // pixels in a row if the last one of each row is padding; 0 if none is
    unsigned offset;   // where sample pairs keep the luma: 0 or 1
    unsigned shift;    // unused bits below the code in a two-byte sample
    unsigned swapped;  // 1 if two-byte samples are big endian
    unsigned max;      // the highest code
};

// The range of codes that are levels, and the strength of the equalization.
struct BlendedLevels {
    unsigned lo;        // black
    unsigned hi;        // white
    unsigned strength;  // in 256ths
};

// A rectangle of pixels in a plane.
struct Region {
    unsigned x;       // first column
    unsigned y;       // first row
    unsigned width;   // columns
    unsigned height;  // rows
    unsigned pitch;   // pixels from one row to the next
};

// A grid of equal tiles over a picture and its padding.
struct Tiles {
    unsigned columns;        // tiles in a row
    unsigned rows;           // rows of tiles
    unsigned width;          // pixels of a tile in a row
    unsigned height;         // rows of pixels of a tile
    unsigned picture_width;  // of the picture, without padding
    unsigned picture_height;
    unsigned pitch;           // pixels from one row of the plane to the next
    unsigned bins;            // of each tile
    unsigned bin_multiplier;  // ceil(2^32 * bins / levels), which gives the bin of a level; 0 if each level has its own
};

// A multiplier that replaces the division by an even number W: ceil(2^(32 + shift) / W), which lies between 2^31 and
// 2^32. For dividends below 2^31 the error of the multiplier adds less than 1 / W to the quotient, so rounding down
// gives the correct quotient.
struct Inverse {
    unsigned multiplier;  // 0 where there is none: dividends may be larger
    unsigned shift;
};

// How a frame changes the sums of the two windows, as `WindowUpdate` in src/core/spec/time/scenes.rs.
constexpr unsigned NOWHERE = ~0u;
struct WindowUpdate {
    unsigned remembers;           // 1 if there is a history; without one, the frame is a window of its own
    unsigned half;                // which of two alternating buffers this frame reads: 0 or 1
    unsigned window;              // the frame's window: 0 or 1
    unsigned joins;               // 1 if the frame joins its window; 0 in a flash
    unsigned fresh;               // 1 if the window begins with this frame
    unsigned row;                 // row for this frame's histogram
    unsigned evicted_rows[2];     // rows of the histograms that are subtracted first, or NOWHERE
    unsigned evicted_windows[2];  // the window from whose sum each is subtracted, or NOWHERE
    unsigned evicted_caps[2];     // `Modifiers::cap` of the frame of each
};

// The settings that turn the histograms of a window into a curve: plateau, bins, contrast limit.
constexpr unsigned UNCAPPED = ~0u;
struct Modifiers {
    unsigned frames;             // in the window
    unsigned samples;            // counted in this frame
    unsigned varies;             // 1 if other frames may have counted more or fewer
    unsigned cap;                // most samples of this frame that a level keeps; UNCAPPED for no limit
    unsigned bins;               // of the histogram; 0 for one per level
    unsigned gain;               // contrast limit in 256ths; 0 is none
    unsigned first;              // first of the levels (in tiles: bins) that share the samples above the limit
    unsigned width;              // number of these levels (in tiles: bins)
    unsigned ceiling;            // levels above it are not changed; no other level is mapped above it
    unsigned keeps_black;        // of tiles: 1 if black stays black
    unsigned long long inverse;  // of `width`, as in `Divisor`
};

// A piecewise linear curve with which the equalized level is blended (src/core/spec/curves/tone.rs), in sixteenths of a
// level.
constexpr unsigned KNOTS = 8u;
struct PiecewiseLine {
    unsigned used;          // number of knots; 0 for the identity
    unsigned from[KNOTS];   // levels of the knots, ascending
    unsigned to[KNOTS];     // the levels to which the knots are mapped
    unsigned slope[KNOTS];  // slope after each knot, in 65536ths
};

// How detail is brought out in tiles (src/core/spec/curves/detail.rs); in sixteenths of a level, slopes in 65536ths.
struct Detail {
    unsigned long long width;  // levels of a bin times 2^36, rounded up: at most 2^20 256ths of a bin, times this and
                               // shifted right by 40, are sixteenths of a level, rounded down
    unsigned radius;           // in bins: bins this far apart or farther do not enter each other's base
    unsigned noise;            // detail up to this size counts as noise
    unsigned slope;            // of detail up to `noise`
    unsigned steep;            // of detail beyond `noise`; at least `slope`
    unsigned most;             // bound of the detail in the output
    unsigned reserved;         // 0
};

// The layout of chroma in a frame on the device, in samples; width and height in pixels.
struct ChromaPlaces {
    unsigned long long cb;  // the first Cb sample
    unsigned long long cr;  // the first Cr sample
    unsigned step;          // from one Cb (or Cr) sample to the next
    unsigned pitch;         // from one row of chroma to the next
    unsigned luma;          // the first luma sample
    unsigned luma_step;     // from one luma sample to the next
    unsigned luma_pitch;    // from one row of luma to the next
    unsigned width;         // of the picture
    unsigned height;
    unsigned log2_width;   // pixels in a row that share a pair of chroma samples
    unsigned log2_height;  // rows that share it
    unsigned reserved;     // 0
};

// The neutral code and the range of chroma; src/core/spec/chroma.rs has the rules.
struct Colours {
    int centre;  // the neutral code
    int reach;   // the largest legal distance from it
};

// The gain of chroma: one for the picture, or one at the centre of each of 8x8 regions (src/core/spec/curves/tone.rs).
constexpr unsigned REGIONS = 8u;
struct Gains {
    unsigned regions;                // in a row and in a column: 1 or REGIONS
    unsigned width;                  // pixels of a region in a row
    unsigned height;                 // rows of pixels of a region
    unsigned pitch;                  // pixels from one row of a plane to the next
    unsigned of[REGIONS * REGIONS];  // in 4096ths, row by row
};

// The offset that is subtracted in each of 8x8 regions, and the gain that multiplies the result
// (src/core/spec/curves/tone.rs).
struct Veil {
    unsigned taken[REGIONS * REGIONS];  // in sixteenths of a level, row by row
    unsigned gains[REGIONS * REGIONS];  // in 4096ths
    unsigned ceiling;                   // as in `Modifiers`
    unsigned bends;                     // 1 if a `ToneCurve` follows
};

// A piecewise linear curve (src/core/spec/natural/tone_curve.rs), in 4096ths of a sixteenth of a level.
struct ToneCurve {
    enum : unsigned { PIECES = 16u };
    long long from[PIECES];     // where the pieces begin, from 0 on
    long long becomes[PIECES];  // value at the beginning of each piece
    long long slopes[PIECES];   // slope of each piece, in 2^20ths
};

// A gain and an offset for each component of an RGB pixel, in memory order (src/core/spec/curves/tone.rs).
struct Balance {
    unsigned gains[4];  // in 4096ths
    int offsets[4];     // in sixteenths of a level
};

// A balance as a matrix: luma, Cb and Cr each become a weighted sum of all three plus an offset.
struct BalanceOfYuv {
    long long rows[3][4];  // factors of luma, Cb and Cr, and the offset, in 65536ths
};

// The weights of a pixel's components in its luminance, in memory order, in 65536ths; 0 for alpha.
struct Weights {
    unsigned of[4];
};

// A plane, and how the blocks of the fused kernel divide it.
struct Plane {
    const uint4* from;
    uint4* to;       // may be the same
    unsigned share;  // vectors of a block
    unsigned kept;   // rounds of vectors that fit shared memory
};

// The addresses of the planes of a batch.
constexpr unsigned MOST_PLANES = 64u;
struct Planes {
    unsigned long long of[MOST_PLANES];
};

// A plane whose noise is removed, and luma of its frame at a quarter of the width and height; both with margins
// (`sheet.cuh`).
struct NoisyPlane {
    const short* samples;
    const short* quarter;
    unsigned width;
    unsigned height;
    unsigned quarter_width;
    unsigned quarter_height;
    unsigned log2_width;  // columns and rows of luma that its samples cover, as powers of two
    unsigned log2_height;
    unsigned is_chroma;
    unsigned none;
};

// A plane of another frame (a reference frame), and the motion from the frame to it.
struct ReferencePlane {
    const short* samples;
    const unsigned* field;
    unsigned field_columns;
    unsigned field_rows;
};

// The planes of other frames that a plane is merged with.
constexpr unsigned MOST_REFERENCES = 8u;
struct ReferencePlanes {
    ReferencePlane of[MOST_REFERENCES];
    unsigned count;
    unsigned near;  // how many of them, from the first on, serve every tile; the rest serve smooth tiles
};

// The noise of a plane: for each coefficient, and for each class of brightness.
struct NoiseFactors {
    unsigned short factors[64];
    unsigned short of_class[12];
    unsigned most;
};

}  // namespace histeq
