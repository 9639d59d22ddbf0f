// Private counters, and one atomic addition per run of equal elements of a thread. The kernel CalculateHistogram of
// cuda-three-scans, with 4 elements per thread.
//
// What to expect: interleaved, a thread's next element lies a whole grid further on, and is equal in flat pictures
// only. In consecutive runs the next element is a neighbour, and more often equal. In noise the comparison costs time
// and saves nothing.
#include "elements.cuh"

using namespace histeq;

extern __shared__ unsigned shared[];

template <typename S>
DEVICE void count_runs(const S* plane, const Area& area, const BlendedLevels& levels, unsigned* counts,
                       const Counting& counting) {
    Window window = window_of(counting);
    for (unsigned slot = thread_of_block(); slot < window.size; slot += threads_of_block()) shared[slot] = 0u;
    __syncthreads();

    Walk walk = walk_of(area, counting.run);
    unsigned current = 0u, length = 0u;
    for (unsigned i = walk.begin; i < walk.end; i += walk.stride) {
        unsigned slot = element(plane, area, i) - window.base;
        if (slot != current) {
            if (length != 0u && current < window.size) atomicAdd(&shared[current], length);
            current = slot;
            length = 0u;
        }
        ++length;
    }
    if (length != 0u && current < window.size) atomicAdd(&shared[current], length);
    __syncthreads();

    for (unsigned slot = thread_of_block(); slot < window.size; slot += threads_of_block()) {
        unsigned sum = shared[slot];
        if (sum != 0u) atomicAdd(&counts[level_code(window.base + slot, levels)], sum);
    }
}

#define HISTOGRAM(NAME, S)                                                                                             \
    extern "C" __global__ __launch_bounds__(1024) void histogram_aggregated_##NAME(                                    \
        const S* plane, Area area, BlendedLevels levels, unsigned* counts, Counting counting) {                        \
        count_runs<S>(plane, area, levels, counts, counting);                                                          \
    }

HISTOGRAM(u8, unsigned char)
HISTOGRAM(u16, unsigned short)
HISTOGRAM(u32, unsigned)
