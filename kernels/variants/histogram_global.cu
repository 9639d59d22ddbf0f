// Every element is one atomic addition in global memory: the first kernel of cuda-naive-vs-optimized (a thread an
// element) and the one without private counters of cuda-4096-bins-saturated (120 blocks that go round).
//
// What to expect: the additions are done in the L2 cache, one after the other where they meet on a counter. The picture
// that has one grey everywhere is the worst case, noise over many bins the best; with 65,536 bins this is not far from
// the others, for nothing has to be zeroed and added up by blocks.
#include "elements.cuh"

template <typename S>
__device__ __forceinline__ void count_globally(const S* plane, const Area& area, const Levels& levels,
                                               unsigned* counts, const Counting& counting) {
    Walk walk = walk_of(area, counting.run);
    for (unsigned i = walk.begin; i < walk.end; i += walk.stride) {
        atomicAdd(&counts[level_code(element(plane, area, i), levels)], 1u);
    }
}

#define HISTOGRAM(NAME, S)                                                                                  \
    extern "C" __global__ __launch_bounds__(1024) void histogram_global_##NAME(                             \
        const S* plane, Area area, Levels levels, unsigned* counts, Counting counting) {                    \
        count_globally<S>(plane, area, levels, counts, counting);                                           \
    }

HISTOGRAM(u8, unsigned char)
HISTOGRAM(u16, unsigned short)
HISTOGRAM(u32, unsigned)
