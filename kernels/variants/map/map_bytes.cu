// Maps elements through the curve one by one, with the curve in global memory: the first and the second map of
// cuda-naive-vs-optimized, which differ in the elements per thread.
//
// What to expect: the curve of 256 bins stays in the L1 cache, so the limit is that a warp stores 32 bytes at a time.
// More elements per thread save only the start of threads.
#include "elements.cuh"

using namespace histeq;

template <typename S>
DEVICE void map_each(const S* from, S* to, const Area& area, const unsigned short* curve, unsigned run) {
    Walk walk = walk_of(area, run);
    for (unsigned i = walk.begin; i < walk.end; i += walk.stride) to[i] = (S)curve[element(from, area, i)];
}

#define MAP(NAME, S)                                                                                                   \
    extern "C" __global__ __launch_bounds__(1024) void map_bytes_##NAME(const S* from, S* to, Area area,               \
                                                                        const unsigned short* curve, unsigned run) {   \
        map_each<S>(from, to, area, curve, run);                                                                       \
    }

MAP(u8, unsigned char)
MAP(u16, unsigned short)
MAP(u32, unsigned)
