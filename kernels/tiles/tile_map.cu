// Maps every luma sample through the curves of the four tiles around it, blended by its position between their centres.
// The centres divide the picture into cells, in each of which the four tiles are the same; a block maps every
// `parts`-th row of one cell. `from` and `to` may be the same plane.
#include "launch.cuh"
#include "samples.cuh"
#include "shared_memory.cuh"
#include "tiles.cuh"

using namespace histeq;

// Copies of each entry in shared memory for samples of one byte, as a power of two, to avoid bank conflicts.
constexpr unsigned LOG2_BYTE_COPIES = 3u;

// The most threads of a block, of which two fit on a multiprocessor: with 56 registers per thread, or 64 on Turing,
// which holds half as many threads.
#if __CUDA_ARCH__ >= 800
constexpr unsigned MOST_THREADS = 576u;
#else
constexpr unsigned MOST_THREADS = 512u;
#endif

extern __shared__ __align__(128) uint4 shared_curves[];

// The first pixel of cell `index` in a direction with tiles of `size` pixels.
DEVICE unsigned cell_start(unsigned index, unsigned size) { return index == 0u ? 0u : index * size - size / 2u; }

// A block's part of a cell.
struct Cell {
    unsigned column;
    unsigned row;
    unsigned x_begin;
    unsigned x_end;
    unsigned y_begin;  // the block's first row
    unsigned parts;    // blocks that share the cell; this one's rows lie this many rows apart
    unsigned rows;     // of this block; 0 if there is nothing to do
};

DEVICE Cell cell_of(Tiles tiles) {
    Cell cell;
    cell.row = blockIdx.x / (tiles.columns + 1u);
    cell.column = blockIdx.x - cell.row * (tiles.columns + 1u);
    cell.x_begin = cell_start(cell.column, tiles.width);
    cell.x_end = cell_start(cell.column + 1u, tiles.width);
    cell.y_begin = cell_start(cell.row, tiles.height) + blockIdx.y;
    unsigned y_end = cell_start(cell.row + 1u, tiles.height);
    if (cell.x_end > tiles.picture_width || cell.column == tiles.columns) cell.x_end = tiles.picture_width;
    if (y_end > tiles.picture_height || cell.row == tiles.rows) y_end = tiles.picture_height;
    // A cell at the edge of the picture is half as large, one in a corner a quarter, and so is its number of blocks.
    cell.parts = gridDim.y >> ((cell.column % tiles.columns == 0u) + (cell.row % tiles.rows == 0u));
    if (cell.parts == 0u) cell.parts = 1u;
    bool empty = blockIdx.y >= cell.parts || cell.x_begin >= cell.x_end || cell.y_begin >= y_end;
    cell.rows = empty ? 0u : (y_end - cell.y_begin - 1u) / cell.parts + 1u;
    return cell;
}

// The tiles around a cell, the upper two first.
struct Corners {
    unsigned of[4];
};

DEVICE Corners corners_of(Cell cell, Tiles tiles) {
    unsigned left = cell.column == 0u ? 0u : cell.column - 1u, upper = cell.row == 0u ? 0u : cell.row - 1u;
    unsigned right = cell.column < tiles.columns ? cell.column : tiles.columns - 1u;
    unsigned lower = cell.row < tiles.rows ? cell.row : tiles.rows - 1u;
    return Corners{{upper * tiles.columns + left, upper * tiles.columns + right, lower * tiles.columns + left,
                    lower * tiles.columns + right}};
}

// The values of the four curves of a cell, the upper two first.
struct Four {
    unsigned of[4];
};

// With at most 2^12 codes tables are interleaved in shared memory, so that one load reads all four; else they are read
// from global memory.
template <typename S>
struct Curves {
    const unsigned short* of[4];
    bool in_shared;
    unsigned start;  // shared address of this thread's copy

    DEVICE Curves(Cell cell, Tiles tiles, const unsigned short* curves, unsigned max, unsigned place)
        : in_shared(place == IN_SHARED), start(0u) {
        Corners corners = corners_of(cell, tiles);
#pragma unroll
        for (unsigned i = 0u; i < 4u; ++i) of[i] = curves + (size_t)corners.of[i] * (max + 1u);
        if (sizeof(S) == 1 || in_shared) share(max);
    }

    DEVICE void share(unsigned max) {
        constexpr unsigned COPIES = 1u << LOG2_BYTE_COPIES, QUADS = COPIES / 4u;
        if (sizeof(S) == 1) start = shared_address(shared_curves) + threadIdx.x % COPIES * 4u;
        for (unsigned code = threadIdx.x; code <= max; code += blockDim.x) {
            if (sizeof(S) == 1) {
                unsigned all = of[0][code] | of[1][code] << 8 | of[2][code] << 16 | (unsigned)of[3][code] << 24;
#pragma unroll
                for (unsigned quad = 0u; quad < QUADS; ++quad) {
                    // Lanes begin at different copies, to avoid bank conflicts.
                    shared_curves[code * QUADS + (quad + threadIdx.x) % QUADS] = make_uint4(all, all, all, all);
                }
            } else {
                reinterpret_cast<uint2*>(shared_curves)[code] =
                    make_uint2(of[0][code] | (unsigned)of[1][code] << 16, of[2][code] | (unsigned)of[3][code] << 16);
            }
        }
        __syncthreads();
    }

    // The values of all four curves, one byte each; only for samples of one byte.
    DEVICE unsigned bytes(unsigned code) const {
        unsigned found;
        asm volatile("ld.shared.u32 %0, [%1];" : "=r"(found) : "r"(start + (code << (LOG2_BYTE_COPIES + 2u))));
        return found;
    }

    DEVICE Four operator[](unsigned code) const {
        if (sizeof(S) == 1) {
            unsigned all = bytes(code);
            return Four{{all & 0xffu, all >> 8 & 0xffu, all >> 16 & 0xffu, all >> 24}};
        }
        if (in_shared) {
            uint2 all = reinterpret_cast<const uint2*>(shared_curves)[code];
            return Four{{all.x & 0xffffu, all.x >> 16, all.y & 0xffffu, all.y >> 16}};
        }
        return Four{{of[0][code], of[1][code], of[2][code], of[3][code]}};
    }
};

// Curves stored as steps. Shared memory interleaves the steps of the four tiles. Entry 0 is zero; entry `bin + 1` has
// the steps up to `bin`.
template <bool SIXTEENTHS>
struct StepCurves {
    Steps steps;

    DEVICE StepCurves(Cell cell, Tiles tiles, const unsigned* all, BlendedLevels levels) {
        Corners corners = corners_of(cell, tiles);
        if (threadIdx.x == 0u) shared_curves[0] = make_uint4(0u, 0u, 0u, 0u);
        // Each thread loads several entries before it stores the first, so that the loads overlap.
        constexpr unsigned AHEAD = 4u;
        for (unsigned start = threadIdx.x; start < tiles.bins; start += AHEAD * blockDim.x) {
            uint4 loaded[AHEAD];
#pragma unroll
            for (unsigned i = 0u; i < AHEAD; ++i) {
                unsigned bin = start + i * blockDim.x;
                auto of = [&](unsigned corner) { return all[(size_t)corners.of[corner] * tiles.bins + bin]; };
                if (bin < tiles.bins) loaded[i] = make_uint4(of(0u), of(1u), of(2u), of(3u));
            }
#pragma unroll
            for (unsigned i = 0u; i < AHEAD; ++i) {
                unsigned bin = start + i * blockDim.x;
                if (bin < tiles.bins) shared_curves[bin + 1u] = loaded[i];
            }
        }
        size_t all_bins = (size_t)tiles.columns * tiles.rows * tiles.bins;
        steps = steps_of(levels, tiles, *reinterpret_cast<const Scale*>(all + all_bins));
        __syncthreads();
    }

    DEVICE Four operator[](unsigned code) const {
        unsigned level = level_code(code, steps.levels) - steps.levels.lo, own = steps.levels.lo + level;
        if (level > steps.scale.ceiling || (level == 0u && steps.scale.keeps_black)) return Four{{own, own, own, own}};
        Within within = within_of(level, steps);
        uint4 below = shared_curves[within.bin], through = shared_curves[within.bin + 1u];
        unsigned sums[4] = {steps_up_to(within, below.x, through.x), steps_up_to(within, below.y, through.y),
                            steps_up_to(within, below.z, through.z), steps_up_to(within, below.w, through.w)};
        Four four;
        if (SIXTEENTHS) {
#pragma unroll
            for (unsigned i = 0u; i < 4u; ++i) four.of[i] = value_of_sixteenths(sums[i], steps);
            return four;
        }
        bool unsure = false;
#pragma unroll
        for (unsigned i = 0u; i < 4u; ++i) four.of[i] = value_near(sums[i], steps, unsure);
        // This is rare, except where a tile has few gray levels.
        if (unsure) {
#pragma unroll
            for (unsigned i = 0u; i < 4u; ++i) four.of[i] = value_of(sums[i], steps);
        }
        return four;
    }
};

// The denominators of a pixel's weights (`across` for the right tiles, `down` for the lower tiles), and the inverse of
// their product. The operator of each blend takes the values of the four tiles, and the weights of the right and of the
// lower tiles.
struct Blend {
    unsigned across;
    unsigned down;
    Inverse inverse;
};

// For tiles so small that all sums fit 31 bits.
struct SmallBlend : Blend {
    DEVICE unsigned operator()(Four four, unsigned right, unsigned lower) const {
        unsigned left = across - right, upper = down - lower, whole = across * down;
        unsigned sum =
            (four.of[0] * left + four.of[1] * right) * upper + (four.of[2] * left + four.of[3] * right) * lower;
        return half_even_by(sum + whole / 2u, whole, inverse);
    }
};

// For tiles where the sum of two tiles fits 32 bits.
struct DeepBlend : Blend {
    DEVICE unsigned operator()(Four four, unsigned right, unsigned lower) const {
        unsigned left = across - right, upper = down - lower, whole = across * down;
        unsigned above = four.of[0] * left + four.of[1] * right, below = four.of[2] * left + four.of[3] * right;
        unsigned long long sum = (unsigned long long)above * upper + whole / 2u;
        return half_even_of_deep(sum + (unsigned long long)below * lower, whole, inverse);
    }
};

// For tiles of any size.
struct WideBlend : Blend {
    DEVICE unsigned operator()(Four four, unsigned right, unsigned lower) const {
        unsigned left = across - right, upper = down - lower;
        unsigned long long above = four.of[0] * (unsigned long long)left + four.of[1] * (unsigned long long)right;
        unsigned long long below = four.of[2] * (unsigned long long)left + four.of[3] * (unsigned long long)right;
        float reciprocal = 1.0f / ((float)across * (float)down);
        return half_even(above * upper + below * lower, (unsigned long long)across * down, reciprocal);
    }
};

// The products of the two halves of `weights` with the lower two of four bytes, added up, or with the upper two.
DEVICE unsigned weighed_low(unsigned weights, unsigned bytes) {
    unsigned sum;
    asm("dp2a.lo.u32.u32 %0, %1, %2, 0;" : "=r"(sum) : "r"(weights), "r"(bytes));
    return sum;
}
DEVICE unsigned weighed_high(unsigned weights, unsigned bytes) {
    unsigned sum;
    asm("dp2a.hi.u32.u32 %0, %1, %2, 0;" : "=r"(sum) : "r"(weights), "r"(bytes));
    return sum;
}

// A vector with pixels of the cell.
struct TileVector {
    unsigned y;
    unsigned start;  // first pixel of the row
    unsigned first;  // pixel of the cell in it
    unsigned last;
    unsigned index;  // of the vector
};

// Moves on to the thread's next vector; false if there is none.
template <unsigned PIXELS>
DEVICE bool next_vector(Walk& walk, Cell cell, unsigned pitch, TileVector& piece) {
    while (walk.row < cell.rows) {
        piece.y = cell.y_begin + walk.row * cell.parts;
        piece.start = piece.y * pitch;
        piece.first = piece.start + cell.x_begin;
        piece.last = piece.start + cell.x_end - 1u;
        piece.index = piece.first / PIXELS + walk.column;
        step(walk);
        if (piece.index <= piece.last / PIXELS) return true;
    }
    return false;
}

template <unsigned PIXELS>
DEVICE Walk walk_of(Cell cell, unsigned pitch) {
    return histeq::walk_of(threadIdx.x, blockDim.x,
                           vectors_over(cell.x_begin, cell.x_end - cell.x_begin, pitch, PIXELS));
}

// Maps a cell. Calls `curves_of` for the curves of the cell once the previous launch has made them.
template <typename S, int STEP, typename F, typename B>
DEVICE void tile_map(const uint4* from, uint4* to, Samples samples, BlendedLevels levels, Tiles tiles, B blend,
                     F curves_of) {
    constexpr unsigned PIXELS = PER_VECTOR<S> / STEP;
    Cell cell = cell_of(tiles);
    // A block without rows ends at once and makes room for another.
    if (cell.rows == 0u) return;
    Walk walk = walk_of<PIXELS>(cell, tiles.pitch);
    TileVector next;
    bool more = next_vector<PIXELS>(walk, cell, tiles.pitch, next);
    // Loaded while the previous launch still makes the curves.
    uint4 loaded = more ? load_cg(&from[next.index]) : make_uint4(0u, 0u, 0u, 0u);
    grid_dependency_sync();
    auto four = curves_of(cell);
    while (more) {
        TileVector piece = next;
        Words mapped = words(loaded);
        more = next_vector<PIXELS>(walk, cell, tiles.pitch, next);
        if (more) loaded = from[next.index];
        bool whole = piece.index * PIXELS >= piece.first && (piece.index + 1u) * PIXELS - 1u <= piece.last;
        unsigned towards_lower = 2u * piece.y + tiles.height - cell.row * blend.down;
        // The weight at pixel 0 of the row; the weights of pixels before the cell are never used.
        unsigned towards_right = tiles.width - cell.column * blend.across;
#pragma unroll
        for (int w = 0; w < 4; ++w) {
            unsigned word = ordered<S>(mapped.of[w], samples);
            unsigned out = STEP > 1 ? word : 0u;
#pragma unroll
            for (int j = 0; j < PER_WORD<S> / STEP; ++j) {
                unsigned pixel = piece.index * PIXELS + w * (PER_WORD<S> / STEP) + j;
                bool own = whole || (pixel >= piece.first && pixel <= piece.last);
                unsigned at = j * STEP * BITS<S> + (STEP > 1 ? samples.offset * BITS<S> : 0u);
                unsigned code = decoded<S>((word >> at) & SAMPLE_MASK<S>, samples);
                unsigned weight = own ? 2u * (pixel - piece.start) + towards_right : 0u;
                unsigned value = blended(code, blend(four[code], weight, towards_lower), levels.strength);
                value = encoded<S>(value, samples);
                if (whole) {
                    if (STEP > 1) out &= ~(SAMPLE_MASK<S> << at);
                    out |= value << at;
                } else if (own) {
                    // The other pixels of the vector belong to another block.
                    S* plane = reinterpret_cast<S*>(to);
                    if (sizeof(S) > 1) value = in_order(value, samples.swapped) & 0xffffu;
                    plane[(size_t)pixel * STEP + (STEP > 1 ? samples.offset : 0u)] = (S)value;
                }
            }
            mapped.of[w] = ordered<S>(out, samples);
        }
        if (whole) to[piece.index] = vector(mapped);
    }
}

// Stores the pixels of a vector of bytes that are in the cell; the others belong to another block.
DEVICE void store_part(uint4* to, Words mapped, const TileVector& piece) {
#pragma unroll
    for (unsigned w = 0u; w < 4u; ++w) {
        unsigned begin = 16u * piece.index + 4u * w;
        if (begin >= piece.first && begin + 3u <= piece.last) {
            reinterpret_cast<unsigned*>(to)[begin / 4u] = mapped.of[w];
            continue;
        }
#pragma unroll
        for (unsigned j = 0u; j < 4u; ++j) {
            if (begin + j >= piece.first && begin + j <= piece.last) {
                reinterpret_cast<unsigned char*>(to)[begin + j] = (unsigned char)(mapped.of[w] >> (8u * j));
            }
        }
    }
}

// Maps a plane of one-byte luma alone in fewer instructions: the left and right weights share a word, which
// weighs two of the four curves at once. FULL is for full strength.
template <bool FULL>
DEVICE void tile_map_bytes(const uint4* from, uint4* to, Samples samples, BlendedLevels levels, Tiles tiles,
                           const unsigned short* curves, Inverse inverse) {
    Cell cell = cell_of(tiles);
    if (cell.rows == 0u) return;
    Walk walk = walk_of<16u>(cell, tiles.pitch);
    TileVector next;
    bool more = next_vector<16u>(walk, cell, tiles.pitch, next);
    // Loaded while the previous launch still makes the curves.
    uint4 loaded = more ? load_cg(&from[next.index]) : make_uint4(0u, 0u, 0u, 0u);
    grid_dependency_sync();
    Curves<unsigned char> four(cell, tiles, curves, samples.max, IN_SHARED);

    unsigned across = 2u * tiles.width, down = 2u * tiles.height, whole = across * down;
    while (more) {
        TileVector piece = next;
        Words mapped = words(loaded);
        more = next_vector<16u>(walk, cell, tiles.pitch, next);
        if (more) loaded = from[next.index];
        unsigned lower = 2u * piece.y + tiles.height - cell.row * down, upper = down - lower;
        // The weight at the first pixel of the vector. Pixels before the cell are never stored.
        unsigned right = 2u * (16u * piece.index - piece.start) + tiles.width - cell.column * across;
        unsigned weights = (across - right) + (right << 16);
#pragma unroll
        for (int w = 0; w < 4; ++w) {
            unsigned out[4];
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                unsigned code = sample_at<unsigned char>(mapped.of[w], j);
                unsigned found = four.bytes(code);
                unsigned sum =
                    weighed_low(weights, found) * upper + (weighed_high(weights, found) * lower + whole / 2u);
                out[j] = half_even_by(sum, whole, inverse);
                if (!FULL) out[j] = blended(code, out[j], levels.strength);
                weights += (2u << 16) - 2u;
            }
            mapped.of[w] =
                __byte_perm(__byte_perm(out[0], out[1], 0x0040u), __byte_perm(out[2], out[3], 0x0040u), 0x5410u);
        }
        if (16u * piece.index >= piece.first && 16u * piece.index + 15u <= piece.last) {
            to[piece.index] = vector(mapped);
        } else {
            store_part(to, mapped, piece);
        }
    }
}

// `tile_map_{u8,u16}[_pairs]` maps each luma sample through the curves of the four tiles around it.
// Arguments: `from` and `to` may be the same. `from` is read before the previous launch has ended, so the kernel that
// writes it must have ended when that launch begins. This holds because `tile_histogram` reads it in between, because
// `veil_curves` waits for it before it lets the next kernel begin, or, with curves from the host, because they are
// copied in between. `inverse` is that of `4 * width * height` of a tile (`tiles.cuh`): for steps always; for tables it
// may be given if that times the number of codes is at most 2^31, and `2 * width` below 2^16; its `multiplier` is 0 if
// it is not given. `CurvePlace` in `src/core/cuda/arguments.rs` says which tiles steps suit.
// Launch: in x one block a cell between the centres, `(columns + 1) * (rows + 1)` of them; in y any number of blocks,
// which share the rows of the cell (half of them those of a cell at the edge of the picture, a quarter those of a
// corner; the others have nothing to do); up to 576 threads, 512 in PTX and on Turing. Dynamic shared memory: for `u8`
// 32 bytes a code; for `u16` 8 bytes a code if `place` is `IN_SHARED`, 16 a bin and 16 more if `has_steps(place)`, else
// none.
//
// For `u8` one load reads the values of all four curves, a byte each, `dp2a` weighs two of them at once, and a
// multiplication replaces the division. The rest is bound by integer instructions. A table of 14 or 16 bits does not
// fit shared memory, and in noise each sample would read four sectors of 32 bytes from the L2 cache. Steps do fit,
// because a tile has at most 4,096 bins: the values of the four curves are computed at each sample, by two loads of 16
// bytes, and for each curve the interpolation and a multiplication that is exact to a 32768th of a level. Only where
// that leaves the direction of rounding open, which is rare except in flat pictures, 64-bit arithmetic decides. Where
// steps are sixteenths of a level, which often lie half-way, a shift decides.
#define TILE_MAP(NAME, S, STEP)                                                                                        \
    extern "C" __global__ __launch_bounds__(MOST_THREADS, 2) void tile_map_##NAME(                                     \
        const uint4* from, uint4* to, Samples samples, BlendedLevels levels, Tiles tiles,                              \
        const unsigned short* curves, unsigned place, Inverse inverse) {                                               \
        trigger_next_launch();                                                                                         \
        Blend blend = {2u * tiles.width, 2u * tiles.height, inverse};                                                  \
        auto tables = [&](Cell cell) { return Curves<S>(cell, tiles, curves, samples.max, place); };                   \
        auto all_steps = reinterpret_cast<const unsigned*>(curves);                                                    \
        auto steps = [&](Cell cell) { return StepCurves<false>(cell, tiles, all_steps, levels); };                     \
        auto sixteenths = [&](Cell cell) { return StepCurves<true>(cell, tiles, all_steps, levels); };                 \
        if (sizeof(S) > 1 && place == AS_STEPS) {                                                                      \
            tile_map<S, STEP>(from, to, samples, levels, tiles, DeepBlend{blend}, steps);                              \
        } else if (sizeof(S) > 1 && place == AS_SIXTEENTHS) {                                                          \
            tile_map<S, STEP>(from, to, samples, levels, tiles, DeepBlend{blend}, sixteenths);                         \
        } else if (inverse.multiplier == 0u) {                                                                         \
            tile_map<S, STEP>(from, to, samples, levels, tiles, WideBlend{blend}, tables);                             \
        } else if (sizeof(S) > 1 || STEP > 1) {                                                                        \
            tile_map<S, STEP>(from, to, samples, levels, tiles, SmallBlend{blend}, tables);                            \
        } else if (levels.strength == 256u) {                                                                          \
            tile_map_bytes<true>(from, to, samples, levels, tiles, curves, inverse);                                   \
        } else {                                                                                                       \
            tile_map_bytes<false>(from, to, samples, levels, tiles, curves, inverse);                                  \
        }                                                                                                              \
    }

TILE_MAP(u8, unsigned char, 1)
TILE_MAP(u8_pairs, unsigned char, 2)
TILE_MAP(u16, unsigned short, 1)
TILE_MAP(u16_pairs, unsigned short, 2)
