// Counters in shared memory, each in 2^log2_copies interleaved copies, so that the lanes of a warp seldom access the
// same one. They are cleared before a block counts, and added up after it.
#pragma once

#include "device.cuh"
#include "warp.cuh"

namespace histeq {

// Sets the counters in `vectors` vectors of four words to zero.
DEVICE void clear_counters(unsigned* counters, unsigned vectors) {
    uint4* quads = reinterpret_cast<uint4*>(counters);
    for (unsigned i = threadIdx.x; i < vectors; i += blockDim.x) quads[i] = make_uint4(0u, 0u, 0u, 0u);
}

// Calls `add` with the index of each counter and the sum of its copies.
template <typename F>
DEVICE void reduce_copies(const unsigned* counters, unsigned count, unsigned log2_copies, F add) {
    unsigned copies = 1u << log2_copies;
    // Lanes start at different copies, to avoid bank conflicts.
    unsigned skew = threadIdx.x % WARP_THREADS >> (5u - log2_copies);
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x) {
        unsigned sum = 0u;
        for (unsigned copy = 0u; copy < copies; ++copy) {
            sum += counters[(i << log2_copies) | ((copy + skew) & (copies - 1u))];
        }
        add(i, sum);
    }
}

// As the other `reduce_copies`, for at least four copies, of which one load reads four. `count` is a multiple of 32,
// and all lanes of a warp call it.
template <unsigned LOG2_COPIES, typename F>
DEVICE void reduce_copies(const unsigned* counters, unsigned count, F add) {
    constexpr unsigned QUADS = 1u << (LOG2_COPIES - 2u);
    constexpr unsigned PARTS = QUADS > 2u ? QUADS / 2u : 1u;  // threads that share a counter
    constexpr unsigned EACH = QUADS / PARTS;
    const uint4* quads = reinterpret_cast<const uint4*>(counters);
#pragma unroll 1
    for (unsigned i = threadIdx.x; i < count * PARTS; i += blockDim.x) {
        unsigned counter = i / PARTS, part = i % PARTS, sum = 0u;
#pragma unroll
        for (unsigned j = 0u; j < EACH; ++j) {
            // Even and odd counters are read in different orders, to avoid bank conflicts.
            uint4 four = quads[counter * QUADS + part + PARTS * (EACH > 1u ? j ^ (counter & 1u) : j)];
            sum += four.x + four.y + four.z + four.w;
        }
#pragma unroll
        for (unsigned distance = 1u; distance < PARTS; distance *= 2u) sum += __shfl_xor_sync(FULL_MASK, sum, distance);
        if (part == 0u) add(counter, sum);
    }
}

}  // namespace histeq
