// The layout of elements, and their distribution over threads: the common code of the variants, so that each of the
// other files shows one algorithm. It is written to be read; kernels/*.cu are written to be fast.
#pragma once

#include "device.cuh"
#include "spec.cuh"

namespace histeq {

// The layout of elements in a plane, in samples: a whole picture, a rectangle of it, or the luma between chroma.
struct Area {
    unsigned first;    // position of the first one
    unsigned width;    // elements in a row
    unsigned height;   // rows; their product is at most 2^31
    unsigned pitch;    // from one row to the next
    unsigned step;     // from one element to the next
    unsigned shift;    // unused bits below the code
    unsigned swapped;  // 1 if two-byte samples are big endian
    unsigned max;      // the highest code; larger elements are limited to it
};
static_assert(sizeof(Area) == 32, "Area is not as in arguments.rs of the variants");

// The parameters of a histogram.
struct Counting {
    unsigned codes;        // counters in all
    unsigned window;       // counters that a block has in shared memory; blockIdx.z says which ones
    unsigned log2_copies;  // copies of each of them, as a power of two, where there are several
    unsigned run;          // consecutive elements of a thread; 0 if the threads of the launch take elements in turn
};
static_assert(sizeof(Counting) == 16, "Counting is not as in arguments.rs of the variants");

// Element `index`, counted row by row.
template <typename S>
DEVICE unsigned element(const S* plane, const Area& area, unsigned index) {
    unsigned row = area.height == 1u ? 0u : index / area.width;
    size_t at = area.first + (size_t)row * area.pitch + (size_t)(index - row * area.width) * area.step;
    unsigned stored = plane[at];
    if (sizeof(S) == 2) stored = in_order(stored, area.swapped);
    return code_of(stored, area.shift, area.max);
}

// The number of a thread in its block, and of the threads, for blocks of one and of two dimensions.
DEVICE unsigned thread_of_block() { return threadIdx.y * blockDim.x + threadIdx.x; }
DEVICE unsigned threads_of_block() { return blockDim.x * blockDim.y; }

// The elements of a thread: `begin`, and from there in steps of `stride` to before `end`.
struct Walk {
    unsigned begin;
    unsigned end;
    unsigned stride;
};

DEVICE Walk walk_of(const Area& area, unsigned run) {
    unsigned count = area.width * area.height;
    // Blocks of two dimensions cover the picture, one pixel per thread, and may extend beyond its edges.
    if (blockDim.y > 1u) {
        unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
        bool inside = x < area.width && y < area.height;
        return Walk{inside ? y * area.width + x : count, count, count};
    }
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    // Neighbouring threads read neighbouring elements, so the loads of a warp are coalesced.
    if (run == 0u) return Walk{thread, count, gridDim.x * blockDim.x};
    // Each thread reads consecutive elements, so the loads of a warp lie `run` elements apart.
    unsigned long long begin = (unsigned long long)thread * run;
    unsigned long long end = begin + run;
    return Walk{begin < count ? (unsigned)begin : count, end < count ? (unsigned)end : count, 1u};
}

// The codes whose counters a block has in shared memory.
struct Window {
    unsigned base;
    unsigned size;
};

DEVICE Window window_of(const Counting& counting) {
    unsigned base = blockIdx.z * counting.window;
    unsigned left = counting.codes - base;
    return Window{base, left < counting.window ? left : counting.window};
}

}  // namespace histeq
