// No curve: every thread computes the output of each of its elements from the cumulative counts. The map of
// cuda-naive-vs-optimized (integer divisions at first, later a multiplication by a float factor, which gains most) and
// of opencl-blelloch-scan (a float division).
//
// What to expect: the exact one divides 64 bits by 32 for every element and is by far the slowest map. The
// publications' own arithmetic shows the cost of that division.
#include "elements.cuh"
#include "formulas.cuh"

template <typename S, unsigned (*BECOMES)(const Sums&)>
__device__ __forceinline__ void map_computed(const S* from, S* to, const Area& area, const unsigned* cdf,
                                             const unsigned* least, unsigned total, unsigned run) {
    unsigned first = *least, bins = area.max + 1u;
    Walk walk = walk_of(area, run);
    for (unsigned i = walk.begin; i < walk.end; i += walk.stride) {
        unsigned code = element(from, area, i);
        to[i] = (S)at_most(BECOMES(Sums{code, cdf[code], first, total, bins}), 65535u);
    }
}

#define MAP_OF(NAME, S, BECOMES)                                                                                 \
    extern "C" __global__ __launch_bounds__(1024) void map_computed_##NAME(                                      \
        const S* from, S* to, Area area, const unsigned* cdf, const unsigned* least, unsigned total,             \
        unsigned run) {                                                                                          \
        map_computed<S, BECOMES>(from, to, area, cdf, least, total, run);                                        \
    }

#define MAP(NAME, BECOMES)                   \
    MAP_OF(NAME##_u8, unsigned char, BECOMES)  \
    MAP_OF(NAME##_u16, unsigned short, BECOMES) \
    MAP_OF(NAME##_u32, unsigned, BECOMES)

MAP(exact, exact_of)
MAP(floor_no_min, floor_no_min)
MAP(float_round, float_round)
MAP(equation_floor, equation_floor)
MAP(product_32, product_32)
