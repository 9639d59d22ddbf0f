// Elements through the curve, one by one, the curve in global memory: the first and the second map of
// cuda-naive-vs-optimized, which differ in how many elements a thread gets.
//
// What to expect: the curve of 256 bins stays in the L1 cache, so that what counts is that a warp stores 32 bytes at a
// time; more elements a thread save the starting of threads and nothing else.
#include "elements.cuh"

template <typename S>
__device__ __forceinline__ void map_each(const S* from, S* to, const Area& area, const unsigned short* curve,
                                         unsigned run) {
    Walk walk = walk_of(area, run);
    for (unsigned i = walk.begin; i < walk.end; i += walk.stride) to[i] = (S)curve[element(from, area, i)];
}

#define MAP(NAME, S)                                                                                              \
    extern "C" __global__ __launch_bounds__(1024) void map_bytes_##NAME(const S* from, S* to, Area area,          \
                                                                        const unsigned short* curve, unsigned run) { \
        map_each<S>(from, to, area, curve, run);                                                                  \
    }

MAP(u8, unsigned char)
MAP(u16, unsigned short)
MAP(u32, unsigned)
