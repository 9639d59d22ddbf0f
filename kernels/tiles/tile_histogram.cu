// Counts the luma of each tile of a grid over a picture and its mirrored padding, in bins. A tile is counted by
// gridDim.y blocks, each of which counts every gridDim.y-th row in shared memory and adds its sums to those of the
// tile.
#include "counters.cuh"
#include "launch.cuh"
#include "samples.cuh"
#include "shared_memory.cuh"
#include "tiles.cuh"

using namespace histeq;

// Copies of each counter for samples of one byte, as a power of two: one for each lane.
constexpr unsigned LOG2_BYTE_COPIES = 5u;

// Vectors that a thread loads at once.
constexpr unsigned AHEAD = 4u;

extern __shared__ __align__(128) unsigned shared_counts[];

// The counters of a block: one for each code if there are at most 2^12 codes, else one for each bin; each in
// 2^log2_copies interleaved copies.
template <typename S>
struct Counters {
    unsigned size;  // counters
    unsigned log2_copies;
    unsigned start;  // shared address of this thread's copy
    bool of_bins;

    DEVICE Counters(Samples samples, Tiles tiles, unsigned asked_copies) {
        of_bins = sizeof(S) > 1 && samples.max >= MOST_TILE_BINS;
        size = of_bins ? tiles.bins : samples.max + 1u;
        log2_copies = sizeof(S) == 1 ? LOG2_BYTE_COPIES : asked_copies;
        start = shared_address(shared_counts) + 4u * (threadIdx.x & ((1u << log2_copies) - 1u));
    }

    DEVICE void count(unsigned code, BlendedLevels levels, Tiles tiles) const {
        unsigned slot = code;
        if (sizeof(S) > 1 && of_bins) slot = tile_bin(code, levels, tiles);
        increment_shared(start + (slot << (log2_copies + 2u)));
    }

    DEVICE void begin() const {
        clear_counters(shared_counts, ((size << log2_copies) + 3u) / 4u);
        __syncthreads();
    }
};

template <typename S, int STEP>
DEVICE unsigned code_at(const S* plane, size_t pixel, Samples samples) {
    unsigned sample = plane[pixel * STEP + (STEP > 1 ? samples.offset : 0u)];
    if (sizeof(S) > 1) sample = in_order(sample, samples.swapped) & 0xffffu;
    return decoded<S>(sample, samples);
}

// Adds the block's counts to those of the tile.
template <typename S>
DEVICE void end(const Counters<S>& counters, BlendedLevels levels, Tiles tiles, unsigned* of_tile) {
    __syncthreads();
    auto add = [=](unsigned slot, unsigned sum) {
        if (sum == 0u) return;
        bool is_bin = sizeof(S) > 1 && counters.of_bins;
        atomicAdd(&of_tile[is_bin ? slot : tile_bin(slot, levels, tiles)], sum);
    };
    if (sizeof(S) == 1) {
        reduce_copies<LOG2_BYTE_COPIES>(shared_counts, counters.size, add);
    } else {
        reduce_copies(shared_counts, counters.size, counters.log2_copies, add);
    }
    __syncthreads();
}

// The number of pixels of a tile, `length` from `first` on, that are in the picture and not in the mirrored padding.
DEVICE unsigned seen_of(unsigned first, unsigned length, unsigned picture) {
    return first >= picture ? 0u : first + length > picture ? picture - first : length;
}

// How many of the tile's `rows` this block counts: every gridDim.y-th row, beginning with row blockIdx.y.
DEVICE unsigned own_rows(unsigned rows) { return blockIdx.y < rows ? (rows - blockIdx.y - 1u) / gridDim.y + 1u : 0u; }

// A vector with pixels of the tile.
struct TileVector {
    uint4 vector;
    unsigned index;  // of the vector
    unsigned first;  // pixel of the tile in its row
    unsigned last;   // below `first` if there is nothing to count
};

// Counts those pixels of a vector that are in the tile.
template <typename S, int STEP>
DEVICE void count_vector(const TileVector& piece, Samples samples, const Counters<S>& counters, BlendedLevels levels,
                         Tiles tiles) {
    constexpr unsigned PIXELS = PER_VECTOR<S> / STEP;
    unsigned begin = piece.index * PIXELS;
    bool whole = begin >= piece.first && begin + PIXELS - 1u <= piece.last;
    each_code<S, STEP>(piece.vector, piece.index, samples, [&](unsigned code, unsigned pixel) {
        if (whole || (pixel >= piece.first && pixel <= piece.last)) counters.count(code, levels, tiles);
    });
}

template <typename S, int STEP>
DEVICE void tile_histogram(const uint4* plane, Samples samples, BlendedLevels levels, Tiles tiles, unsigned* counts,
                           unsigned log2_copies) {
    constexpr unsigned PIXELS = PER_VECTOR<S> / STEP;
    Counters<S> counters(samples, tiles, log2_copies);
    unsigned* of_tile = counts + (size_t)blockIdx.x * tiles.bins;
    unsigned tile_row = blockIdx.x / tiles.columns;
    unsigned left = (blockIdx.x - tile_row * tiles.columns) * tiles.width, top = tile_row * tiles.height;
    unsigned columns = seen_of(left, tiles.width, tiles.picture_width);
    unsigned rows = seen_of(top, tiles.height, tiles.picture_height);
    unsigned own = columns == 0u ? 0u : own_rows(rows);
    Walk walk = walk_of(threadIdx.x, blockDim.x, vectors_over(left, columns, tiles.pitch, PIXELS));
    TileVector pieces[AHEAD];
    auto load = [&] {
#pragma unroll
        for (unsigned i = 0u; i < AHEAD; ++i) {
            TileVector& piece = pieces[i];
            piece.first = 1u;
            piece.last = 0u;
            if (walk.row < own) {
                unsigned first = (top + blockIdx.y + walk.row * gridDim.y) * tiles.pitch + left;
                unsigned last = first + columns - 1u;
                piece.index = first / PIXELS + walk.column;
                if (piece.index <= last / PIXELS) {
                    piece.vector = plane[piece.index];
                    piece.first = first;
                    piece.last = last;
                }
            }
            step(walk);
        }
    };
    // The loads take longest, so they start first, unless the previous launch may still write the samples.
    if (!LAUNCHES_OVERLAP) load();
    counters.begin();
    // This wait must come before the next kernels may begin: `tile_curves` lets `tile_map` begin at once, and
    // `tile_map` reads the plane from the start.
    grid_dependency_sync();
    if (LAUNCHES_OVERLAP) load();
    for (;;) {
        bool more = walk.row < own;
#pragma unroll
        for (unsigned i = 0u; i < AHEAD; ++i) {
            if (pieces[i].first <= pieces[i].last) {
                count_vector<S, STEP>(pieces[i], samples, counters, levels, tiles);
            }
        }
        if (!more) break;
        load();
    }
    end(counters, levels, tiles, of_tile);
    if (columns == tiles.width && rows == tiles.height) return;

    // The mirrored padding is counted too.
    counters.begin();
    const S* stored = reinterpret_cast<const S*>(plane);
    own = own_rows(tiles.height);
    for (unsigned i = threadIdx.x; i < own * tiles.width; i += blockDim.x) {
        unsigned row = i / tiles.width;
        unsigned x = i - row * tiles.width, y = blockIdx.y + row * gridDim.y;
        if (x < columns && y < rows) continue;
        size_t start = (size_t)mirrored(top + y, tiles.picture_height) * tiles.pitch;
        unsigned column = mirrored(left + x, tiles.picture_width);
        counters.count(code_at<S, STEP>(stored, start + column, samples), levels, tiles);
    }
    end(counters, levels, tiles, of_tile);
}

// `tile_histogram_{u8,u16}[_pairs]` adds the samples of each tile, with the mirrored padding that belongs to it, to the
// tile's bins in `counts`.
// Launch: in x one block a tile; in y any number of blocks, which share the rows of the tile; a multiple of 32 threads
// up to 1024. One block per multiprocessor is best, since each further block has to add up all of its counters; with
// more tiles than multiprocessors, several small blocks each are best. Dynamic shared memory: `4 << log2_copies` bytes
// for each counter, rounded up to 16, of which there is one a code up to 12 bits, else one a bin. `log2_copies` is 5
// for `u8`.
#define TILE_HISTOGRAM(NAME, S, STEP)                                                                                  \
    extern "C" __global__ __launch_bounds__(1024) void tile_histogram_##NAME(const uint4* plane, Samples samples,      \
                                                                             BlendedLevels levels, Tiles tiles,        \
                                                                             unsigned* counts, unsigned log2_copies) { \
        tile_histogram<S, STEP>(plane, samples, levels, tiles, counts, log2_copies);                                   \
    }

TILE_HISTOGRAM(u8, unsigned char, 1)
TILE_HISTOGRAM(u8_pairs, unsigned char, 2)
TILE_HISTOGRAM(u16, unsigned short, 1)
TILE_HISTOGRAM(u16_pairs, unsigned short, 2)
