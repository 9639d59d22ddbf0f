// The map of opencl-blelloch-scan: no curve, and every block looks for the first occupied bin itself before its threads
// compute a pixel each. Neighbouring threads take pixels of neighbouring rows (the publication's first index is the
// row), so that the loads and stores of a warp are not coalesced.
//
// Reduction: the smallest cumulative count above 0, by a tree over all bins. First nonzero: the thread of the first
// occupied bin writes it. The publication leaves out bin 0 (`from` 1), and reads uninitialized memory if that bin is
// occupied; this kernel then uses 0.
//
// What to expect: two to eight barriers in every block, and 32 memory transactions a warp: several times map_computed.
// The difference between the searches shows here, as in the publication.
#include "elements.cuh"
#include "formulas.cuh"

using namespace histeq;

constexpr unsigned NO_SUM = ~0u;

// Blocks have a power of two threads, at most 1024.
DEVICE unsigned least_by_reduction(const unsigned* cdf, unsigned bins, unsigned) {
    __shared__ unsigned smallest[1024];
    unsigned thread = thread_of_block(), width = threads_of_block();
    while (width / 2u >= bins) width /= 2u;
    if (thread < width) {
        unsigned own = NO_SUM;
        for (unsigned bin = thread; bin < bins; bin += width) {
            unsigned sum = cdf[bin];
            if (sum != 0u && sum < own) own = sum;
        }
        smallest[thread] = own;
    }
    __syncthreads();
    for (unsigned half = width / 2u; half > 0u; half /= 2u) {
        if (thread < half && smallest[thread + half] < smallest[thread]) smallest[thread] = smallest[thread + half];
        __syncthreads();
    }
    return smallest[0] == NO_SUM ? 0u : smallest[0];
}

DEVICE unsigned least_by_first_nonzero(const unsigned* cdf, unsigned bins, unsigned from) {
    __shared__ unsigned least;
    if (from != 0u) {
        if (thread_of_block() == 0u) least = 0u;
        __syncthreads();
    }
    for (unsigned bin = thread_of_block(); bin < bins; bin += threads_of_block()) {
        if (bin >= from && cdf[bin] != 0u && (bin == 0u || cdf[bin - 1u] == 0u)) least = cdf[bin];
    }
    __syncthreads();
    return least;
}

template <typename S, unsigned (*LEAST)(const unsigned*, unsigned, unsigned), unsigned (*BECOMES)(const Sums&)>
DEVICE void map_group_min(const S* from, S* to, const Area& area, const unsigned* cdf, unsigned total,
                          unsigned first_bin) {
    unsigned bins = area.max + 1u, first = LEAST(cdf, bins, first_bin);
    unsigned row = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= area.height || column >= area.width) return;
    unsigned i = row * area.width + column, code = element(from, area, i);
    to[i] = (S)at_most(BECOMES(Sums{code, cdf[code], first, total, bins}), 65535u);
}

#define MAP_OF(NAME, S, LEAST, BECOMES)                                                                                \
    extern "C" __global__ __launch_bounds__(1024) void map_group_min_##NAME(                                           \
        const S* from, S* to, Area area, const unsigned* cdf, unsigned total, unsigned first_bin) {                    \
        map_group_min<S, LEAST, BECOMES>(from, to, area, cdf, total, first_bin);                                       \
    }

#define MAP(NAME, LEAST, BECOMES)                                                                                      \
    MAP_OF(NAME##_u8, unsigned char, LEAST, BECOMES)                                                                   \
    MAP_OF(NAME##_u16, unsigned short, LEAST, BECOMES)                                                                 \
    MAP_OF(NAME##_u32, unsigned, LEAST, BECOMES)

MAP(reduction_exact, least_by_reduction, exact_of)
MAP(reduction_float_round, least_by_reduction, float_round)
MAP(first_nonzero_exact, least_by_first_nonzero, exact_of)
MAP(first_nonzero_float_round, least_by_first_nonzero, float_round)
