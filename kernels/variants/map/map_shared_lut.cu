// Maps elements with the curve in shared memory: the kernel EqualizeHistogram of cuda-three-scans, with 4 elements per
// thread. cuda-naive-vs-optimized tried it and saw no gain.
//
// What to expect: every block copies the curve first, which gains only with many elements per thread. Lanes that read
// the same bank wait for each other, unlike in a cache.
#include "elements.cuh"

using namespace histeq;

extern __shared__ unsigned short shared_lut[];

template <typename S>
DEVICE void map_shared(const S* from, S* to, const Area& area, const unsigned short* curve, unsigned run) {
    for (unsigned code = thread_of_block(); code <= area.max; code += threads_of_block()) {
        shared_lut[code] = curve[code];
    }
    __syncthreads();
    Walk walk = walk_of(area, run);
    for (unsigned i = walk.begin; i < walk.end; i += walk.stride) to[i] = (S)shared_lut[element(from, area, i)];
}

#define MAP(NAME, S)                                                                                                   \
    extern "C" __global__ __launch_bounds__(1024) void map_shared_lut_##NAME(                                          \
        const S* from, S* to, Area area, const unsigned short* curve, unsigned run) {                                  \
        map_shared<S>(from, to, area, curve, run);                                                                     \
    }

MAP(u8, unsigned char)
MAP(u16, unsigned short)
MAP(u32, unsigned)
