// Every element is one atomic addition in global memory: the first kernel of cuda-naive-vs-optimized (one thread per
// element) and the one without private counters of cuda-4096-bins-saturated (120 blocks with a grid-stride loop).
//
// What to expect: the L2 cache does the additions, those to one counter one after the other. A flat picture is the
// worst case, noise over many bins the best. With 65,536 bins this is not far from the others, because blocks have no
// counters to clear and to add up.
#include "elements.cuh"

using namespace histeq;

template <typename S>
DEVICE void count_globally(const S* plane, const Area& area, const BlendedLevels& levels, unsigned* counts,
                           const Counting& counting) {
    Walk walk = walk_of(area, counting.run);
    for (unsigned i = walk.begin; i < walk.end; i += walk.stride) {
        atomicAdd(&counts[level_code(element(plane, area, i), levels)], 1u);
    }
}

#define HISTOGRAM(NAME, S)                                                                                             \
    extern "C" __global__ __launch_bounds__(1024) void histogram_global_##NAME(                                        \
        const S* plane, Area area, BlendedLevels levels, unsigned* counts, Counting counting) {                        \
        count_globally<S>(plane, area, levels, counts, counting);                                                      \
    }

HISTOGRAM(u8, unsigned char)
HISTOGRAM(u16, unsigned short)
HISTOGRAM(u32, unsigned)
