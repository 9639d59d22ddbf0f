// Sends every luma sample through the curves of the four tiles around it, blended by where it lies between their centres.
// The centres cut the picture into cells, in each of which the four tiles are the same; a block works on every so many
// rows of one cell. `from` and `to` may be one and the same plane.
#include "samples.cuh"
#include "tiles.cuh"

extern __shared__ uint4 shared_curves[];

// The four curves of a cell, the upper two first.
struct Four {
    unsigned of[4];
};

// In shared memory side by side, while there are at most 2^12 codes, so that one load has all four; else where they are.
template <typename S>
struct Curves {
    const unsigned short* of[4];
    bool in_shared;

    __device__ __forceinline__ void share(unsigned max) const {
        for (unsigned code = threadIdx.x; code <= max; code += blockDim.x) {
            if (sizeof(S) == 1) {
                reinterpret_cast<unsigned*>(shared_curves)[code] =
                    of[0][code] | of[1][code] << 8 | of[2][code] << 16 | (unsigned)of[3][code] << 24;
            } else {
                reinterpret_cast<uint2*>(shared_curves)[code] =
                    make_uint2(of[0][code] | (unsigned)of[1][code] << 16, of[2][code] | (unsigned)of[3][code] << 16);
            }
        }
        __syncthreads();
    }

    __device__ __forceinline__ Four operator[](unsigned code) const {
        if (sizeof(S) == 1) {
            unsigned all = reinterpret_cast<const unsigned*>(shared_curves)[code];
            return Four{{all & 0xffu, all >> 8 & 0xffu, all >> 16 & 0xffu, all >> 24}};
        }
        if (in_shared) {
            uint2 all = reinterpret_cast<const uint2*>(shared_curves)[code];
            return Four{{all.x & 0xffffu, all.x >> 16, all.y & 0xffffu, all.y >> 16}};
        }
        return Four{{__ldg(&of[0][code]), __ldg(&of[1][code]), __ldg(&of[2][code]), __ldg(&of[3][code])}};
    }
};

// What the code of a pixel becomes whose weights towards the right and the lower tiles are these, in parts of `across`
// and `down`. SMALL promises that twice the largest code times `across * down` fits 32 bits.
template <bool SMALL>
__device__ __forceinline__ unsigned blended_tiles(unsigned code, Four four, unsigned right, unsigned across,
                                                  unsigned lower, unsigned down, float reciprocal, Levels levels) {
    unsigned left = across - right, upper = down - lower;
    unsigned value;
    if (SMALL) {
        unsigned sum = (four.of[0] * left + four.of[1] * right) * upper + (four.of[2] * left + four.of[3] * right) * lower;
        value = half_even_small(sum, across * down, reciprocal);
    } else {
        unsigned long long above = four.of[0] * (unsigned long long)left + four.of[1] * (unsigned long long)right;
        unsigned long long below = four.of[2] * (unsigned long long)left + four.of[3] * (unsigned long long)right;
        value = half_even(above * upper + below * lower, (unsigned long long)across * down, reciprocal);
    }
    return blended(code, value, levels.strength);
}

// The first pixel of cell `index` in a direction with tiles of `size` pixels.
__device__ __forceinline__ unsigned cell_start(unsigned index, unsigned size) {
    return index == 0u ? 0u : index * size - size / 2u;
}

template <typename S, int STEP, bool SMALL>
__device__ __forceinline__ void tile_map(const uint4* from, uint4* to, Samples samples, Levels levels, Tiles tiles,
                                         const unsigned short* curves, unsigned in_shared) {
    constexpr unsigned PIXELS = PER_VECTOR<S> / STEP;
    constexpr unsigned MASK = (1u << BITS<S>) - 1u;
    unsigned column = blockIdx.x % (tiles.columns + 1u), row = blockIdx.x / (tiles.columns + 1u);
    unsigned x_begin = cell_start(column, tiles.width), x_end = cell_start(column + 1u, tiles.width);
    unsigned y_begin = cell_start(row, tiles.height) + blockIdx.y, y_end = cell_start(row + 1u, tiles.height);
    if (x_end > tiles.picture_width || column == tiles.columns) x_end = tiles.picture_width;
    if (y_end > tiles.picture_height || row == tiles.rows) y_end = tiles.picture_height;
    if (x_begin >= x_end || y_begin >= y_end) return;

    unsigned left = column == 0u ? 0u : column - 1u, right = column < tiles.columns ? column : tiles.columns - 1u;
    unsigned upper = row == 0u ? 0u : row - 1u, lower = row < tiles.rows ? row : tiles.rows - 1u;
    size_t codes = samples.max + 1u;
    Curves<S> four = {{curves + (upper * tiles.columns + left) * codes, curves + (upper * tiles.columns + right) * codes,
                       curves + (lower * tiles.columns + left) * codes, curves + (lower * tiles.columns + right) * codes},
                      in_shared != 0u};
    if (sizeof(S) == 1 || in_shared) four.share(samples.max);

    unsigned across = 2u * tiles.width, down = 2u * tiles.height;
    float reciprocal = 1.0f / ((float)across * (float)down);
    unsigned vectors = (x_end - x_begin + PIXELS - 2u) / PIXELS + 1u;
    unsigned rows = (y_end - y_begin - 1u) / gridDim.y + 1u;
    for (unsigned i = threadIdx.x; i < rows * vectors; i += blockDim.x) {
        unsigned of_row = i / vectors;
        unsigned y = y_begin + of_row * gridDim.y;
        unsigned start = y * tiles.pitch;
        unsigned first = start + x_begin, last = start + x_end - 1u;
        unsigned index = first / PIXELS + (i - of_row * vectors);
        if (index > last / PIXELS) continue;
        bool whole = index * PIXELS >= first && (index + 1u) * PIXELS - 1u <= last;
        unsigned towards_lower = 2u * y + tiles.height - row * down;
        // Of pixel 0 of the row; what pixels before the cell would have is never used.
        unsigned towards_right = tiles.width - column * across;
        Words mapped = words(from[index]);
#pragma unroll
        for (int w = 0; w < 4; ++w) {
            unsigned word = ordered<S>(mapped.of[w], samples);
            unsigned out = STEP > 1 ? word : 0u;
#pragma unroll
            for (int j = 0; j < PER_WORD<S> / STEP; ++j) {
                unsigned pixel = index * PIXELS + w * (PER_WORD<S> / STEP) + j;
                bool own = whole || (pixel >= first && pixel <= last);
                unsigned at = j * STEP * BITS<S> + (STEP > 1 ? samples.offset * BITS<S> : 0u);
                unsigned code = decoded<S>((word >> at) & MASK, samples);
                unsigned weight = own ? 2u * (pixel - start) + towards_right : 0u;
                unsigned value = encoded<S>(
                    blended_tiles<SMALL>(code, four[code], weight, across, towards_lower, down, reciprocal, levels),
                    samples);
                if (whole) {
                    if (STEP > 1) out &= ~(MASK << at);
                    out |= value << at;
                } else if (own) {
                    // Its neighbours in the vector are another block's.
                    S* plane = reinterpret_cast<S*>(to);
                    if (sizeof(S) > 1) value = in_order(value, samples.swapped) & 0xffffu;
                    plane[(size_t)pixel * STEP + (STEP > 1 ? samples.offset : 0u)] = (S)value;
                }
            }
            mapped.of[w] = ordered<S>(out, samples);
        }
        if (whole) to[index] = vector(mapped);
    }
}

#define TILE_MAP(NAME, S, STEP)                                                                                  \
    extern "C" __global__ __launch_bounds__(512) void tile_map_##NAME(                                           \
        const uint4* from, uint4* to, Samples samples, Levels levels, Tiles tiles, const unsigned short* curves, \
        unsigned in_shared, unsigned small) {                                                                    \
        if (small) {                                                                                             \
            tile_map<S, STEP, true>(from, to, samples, levels, tiles, curves, in_shared);                        \
        } else {                                                                                                 \
            tile_map<S, STEP, false>(from, to, samples, levels, tiles, curves, in_shared);                       \
        }                                                                                                        \
    }

TILE_MAP(u8, unsigned char, 1)
TILE_MAP(u8_pairs, unsigned char, 2)
TILE_MAP(u16, unsigned short, 1)
TILE_MAP(u16_pairs, unsigned short, 2)
