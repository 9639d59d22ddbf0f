// Counts the luma of each tile of a grid over a picture and its mirrored padding, in bins. A tile is counted by gridDim.y
// blocks, each of which takes every so many rows into shared memory and adds its sums to those of the tile, and to those
// of the whole frame on the way.
#include "samples.cuh"
#include "tiles.cuh"

extern __shared__ unsigned shared_counts[];

// How a block counts: a counter for each code where there are at most 2^12 of them, else one for each bin.
struct Counters {
    unsigned size;    // counters
    unsigned copies;  // log2 of the copies of each
    unsigned copy;    // which one this thread uses
    bool of_bins;
};

template <typename S>
__device__ __forceinline__ void count(unsigned code, Counters counters, Levels levels, Tiles tiles) {
    unsigned slot = code;
    if (sizeof(S) > 1 && counters.of_bins) slot = tile_bin(code, levels, tiles);
    atomicAdd(&shared_counts[(slot << counters.copies) | counters.copy], 1u);
}

template <typename S, int STEP>
__device__ __forceinline__ unsigned code_at(const S* plane, size_t pixel, Samples samples) {
    unsigned sample = plane[pixel * STEP + (STEP > 1 ? samples.offset : 0u)];
    if (sizeof(S) > 1) sample = in_order(sample, samples.swapped) & 0xffffu;
    return decoded<S>(sample, samples);
}

__device__ __forceinline__ void begin(Counters counters) {
    for (unsigned i = threadIdx.x; i < counters.size << counters.copies; i += blockDim.x) shared_counts[i] = 0u;
    __syncthreads();
}

// Adds what the block has counted to the counts of its tile, and to those of the whole frame if that is asked for.
__device__ __forceinline__ void end(Counters counters, Levels levels, Tiles tiles, unsigned* counts, unsigned* all) {
    __syncthreads();
    unsigned* of_tile = counts + (size_t)blockIdx.x * tiles.bins;
    for (unsigned slot = threadIdx.x; slot < counters.size; slot += blockDim.x) {
        unsigned sum = 0u;
        for (unsigned copy = 0u; copy < 1u << counters.copies; ++copy) {
            sum += shared_counts[(slot << counters.copies) | ((copy + slot) & ((1u << counters.copies) - 1u))];
        }
        if (sum == 0u) continue;
        atomicAdd(&of_tile[counters.of_bins ? slot : tile_bin(slot, levels, tiles)], sum);
        if (all != nullptr) {
            atomicAdd(&all[slot < levels.lo ? levels.lo : slot > levels.hi ? levels.hi : slot], sum);
        }
    }
    __syncthreads();
}

// How many of `length` pixels of a tile that begin at `first` are in the picture, and do not only mirror it.
__device__ __forceinline__ unsigned seen_of(unsigned first, unsigned length, unsigned picture) {
    return first >= picture ? 0u : first + length > picture ? picture - first : length;
}

// How many of `rows` rows are this block's: every so many, from its own number on.
__device__ __forceinline__ unsigned own_rows(unsigned rows) {
    return blockIdx.y < rows ? (rows - blockIdx.y - 1u) / gridDim.y + 1u : 0u;
}

template <typename S, int STEP>
__device__ __forceinline__ void tile_histogram(const uint4* __restrict__ plane, Samples samples, Levels levels,
                                               Tiles tiles, unsigned* counts, unsigned* all, unsigned log2_copies) {
    Counters counters;
    counters.of_bins = sizeof(S) > 1 && samples.max >= MOST_TILE_BINS;
    counters.size = counters.of_bins ? tiles.bins : samples.max + 1u;
    counters.copies = log2_copies;
    counters.copy = threadIdx.x & ((1u << log2_copies) - 1u);
    begin(counters);

    constexpr unsigned PIXELS = PER_VECTOR<S> / STEP;
    unsigned left = blockIdx.x % tiles.columns * tiles.width, top = blockIdx.x / tiles.columns * tiles.height;
    unsigned columns = seen_of(left, tiles.width, tiles.picture_width);
    unsigned rows = seen_of(top, tiles.height, tiles.picture_height);
    unsigned vectors = columns == 0u ? 0u : (columns + PIXELS - 2u) / PIXELS + 1u;
    for (unsigned i = threadIdx.x; i < own_rows(rows) * vectors; i += blockDim.x) {
        unsigned row = i / vectors;
        unsigned first = (top + blockIdx.y + row * gridDim.y) * tiles.pitch + left, last = first + columns - 1u;
        unsigned index = first / PIXELS + (i - row * vectors);
        if (index > last / PIXELS) continue;
        bool whole = index * PIXELS >= first && (index + 1u) * PIXELS - 1u <= last;
        Words from = words(plane[index]);
#pragma unroll
        for (int w = 0; w < 4; ++w) {
            unsigned word = ordered<S>(from.of[w], samples);
            if (STEP > 1) word >>= samples.offset * BITS<S>;
#pragma unroll
            for (int j = 0; j < PER_WORD<S> / STEP; ++j) {
                unsigned pixel = index * PIXELS + w * (PER_WORD<S> / STEP) + j;
                if (whole || (pixel >= first && pixel <= last)) {
                    count<S>(decoded<S>(sample_at<S>(word, j * STEP), samples), counters, levels, tiles);
                }
            }
        }
    }
    end(counters, levels, tiles, counts, all);
    if (columns == tiles.width && rows == tiles.height) return;

    // What only mirrors the picture counts in the tile, but not in the frame.
    begin(counters);
    const S* stored = reinterpret_cast<const S*>(plane);
    unsigned own = own_rows(tiles.height);
    for (unsigned i = threadIdx.x; i < own * tiles.width; i += blockDim.x) {
        unsigned row = i / tiles.width;
        unsigned x = i - row * tiles.width, y = blockIdx.y + row * gridDim.y;
        if (x < columns && y < rows) continue;
        size_t start = (size_t)mirrored(top + y, tiles.picture_height) * tiles.pitch;
        unsigned column = mirrored(left + x, tiles.picture_width);
        count<S>(code_at<S, STEP>(stored, start + column, samples), counters, levels, tiles);
    }
    end(counters, levels, tiles, counts, nullptr);
}

#define TILE_HISTOGRAM(NAME, S, STEP)                                                                       \
    extern "C" __global__ __launch_bounds__(1024) void tile_histogram_##NAME(                               \
        const uint4* plane, Samples samples, Levels levels, Tiles tiles, unsigned* counts, unsigned* all,   \
        unsigned log2_copies) {                                                                             \
        tile_histogram<S, STEP>(plane, samples, levels, tiles, counts, all, log2_copies);                   \
    }

TILE_HISTOGRAM(u8, unsigned char, 1)
TILE_HISTOGRAM(u8_pairs, unsigned char, 2)
TILE_HISTOGRAM(u16, unsigned short, 1)
TILE_HISTOGRAM(u16_pairs, unsigned short, 2)
