// Counts the luma of each tile of a grid over a picture and its mirrored padding, in bins. A tile is counted by gridDim.y
// blocks, each of which takes every so many rows into shared memory and adds its sums to those of the tile.
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

template <typename S, int STEP>
__device__ __forceinline__ void tile_histogram(const uint4* __restrict__ plane, Samples samples, Levels levels,
                                               Tiles tiles, unsigned* counts, unsigned log2_copies) {
    Counters counters;
    counters.of_bins = sizeof(S) > 1 && samples.max >= MOST_TILE_BINS;
    counters.size = counters.of_bins ? tiles.bins : samples.max + 1u;
    counters.copies = log2_copies;
    counters.copy = threadIdx.x & ((1u << log2_copies) - 1u);
    for (unsigned i = threadIdx.x; i < counters.size << log2_copies; i += blockDim.x) shared_counts[i] = 0u;
    __syncthreads();

    constexpr unsigned PIXELS = PER_VECTOR<S> / STEP;
    unsigned left = blockIdx.x % tiles.columns * tiles.width, top = blockIdx.x / tiles.columns * tiles.height;
    unsigned right = left + tiles.width;
    // Columns of the picture, and those that only mirror it.
    unsigned seen = left >= tiles.picture_width ? 0u
                    : right > tiles.picture_width ? tiles.picture_width - left : tiles.width;
    unsigned vectors = seen == 0u ? 0u : (seen + PIXELS - 2u) / PIXELS + 1u;
    unsigned rows = blockIdx.y < tiles.height ? (tiles.height - blockIdx.y - 1u) / gridDim.y + 1u : 0u;
    for (unsigned i = threadIdx.x; i < rows * vectors; i += blockDim.x) {
        unsigned row = i / vectors;
        size_t start = (size_t)mirrored(top + blockIdx.y + row * gridDim.y, tiles.picture_height) * tiles.pitch;
        unsigned first = (unsigned)start + left, last = first + seen - 1u;
        unsigned index = first / PIXELS + (i - row * vectors);
        if (index > last / PIXELS) continue;
        Words from = words(plane[index]);
#pragma unroll
        for (int w = 0; w < 4; ++w) {
            unsigned word = ordered<S>(from.of[w], samples);
            if (STEP > 1) word >>= samples.offset * BITS<S>;
#pragma unroll
            for (int j = 0; j < PER_WORD<S> / STEP; ++j) {
                unsigned pixel = index * PIXELS + w * (PER_WORD<S> / STEP) + j;
                if (pixel >= first && pixel <= last) {
                    count<S>(decoded<S>(sample_at<S>(word, j * STEP), samples), counters, levels, tiles);
                }
            }
        }
    }
    unsigned mirroring = tiles.width - seen;
    for (unsigned i = threadIdx.x; i < rows * mirroring; i += blockDim.x) {
        unsigned row = i / mirroring;
        size_t start = (size_t)mirrored(top + blockIdx.y + row * gridDim.y, tiles.picture_height) * tiles.pitch;
        unsigned column = mirrored(left + seen + (i - row * mirroring), tiles.picture_width);
        const S* samples_of = reinterpret_cast<const S*>(plane);
        count<S>(code_at<S, STEP>(samples_of, start + column, samples), counters, levels, tiles);
    }
    __syncthreads();

    unsigned* of_tile = counts + (size_t)blockIdx.x * tiles.bins;
    for (unsigned slot = threadIdx.x; slot < counters.size; slot += blockDim.x) {
        unsigned sum = 0u;
        for (unsigned copy = 0u; copy < 1u << log2_copies; ++copy) {
            sum += shared_counts[(slot << log2_copies) | ((copy + slot) & ((1u << log2_copies) - 1u))];
        }
        if (sum != 0u) atomicAdd(&of_tile[counters.of_bins ? slot : tile_bin(slot, levels, tiles)], sum);
    }
}

#define TILE_HISTOGRAM(NAME, S, STEP)                                                                              \
    extern "C" __global__ __launch_bounds__(1024) void tile_histogram_##NAME(                                      \
        const uint4* plane, Samples samples, Levels levels, Tiles tiles, unsigned* counts, unsigned log2_copies) { \
        tile_histogram<S, STEP>(plane, samples, levels, tiles, counts, log2_copies);                               \
    }

TILE_HISTOGRAM(u8, unsigned char, 1)
TILE_HISTOGRAM(u8_pairs, unsigned char, 2)
TILE_HISTOGRAM(u16, unsigned short, 1)
TILE_HISTOGRAM(u16_pairs, unsigned short, 2)
