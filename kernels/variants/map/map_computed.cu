// No curve: every thread computes the output of each of its elements from the cumulative counts. The maps of
// cuda-naive-vs-optimized: integer divisions, one element a thread, at first (`floor_integer`); later many elements a
// thread, multiplied by a float factor that each thread makes once (`factor`), which is its main gain.
// map_group_min.cu is the one of opencl-blelloch-scan.
//
// What to expect: the exact one divides 64 bits by 32 for every element and is by far the slowest map. The
// publications' own arithmetic shows the cost of that division.
#include "elements.cuh"
#include "formulas.cuh"

using namespace histeq;

template <typename S, unsigned (*BECOMES)(const Sums&)>
DEVICE void map_computed(const S* from, S* to, const Area& area, const unsigned* cdf, const unsigned* least,
                         unsigned total, unsigned run) {
    unsigned first = *least, bins = area.max + 1u;
    Walk walk = walk_of(area, run);
    for (unsigned i = walk.begin; i < walk.end; i += walk.stride) {
        unsigned code = element(from, area, i);
        to[i] = (S)at_most(BECOMES(Sums{code, cdf[code], first, total, bins}), 65535u);
    }
}

#define MAP_OF(NAME, S, BECOMES)                                                                                       \
    extern "C" __global__ __launch_bounds__(1024) void map_computed_##NAME(                                            \
        const S* from, S* to, Area area, const unsigned* cdf, const unsigned* least, unsigned total, unsigned run) {   \
        map_computed<S, BECOMES>(from, to, area, cdf, least, total, run);                                              \
    }

#define MAP(NAME, BECOMES)                                                                                             \
    MAP_OF(NAME##_u8, unsigned char, BECOMES)                                                                          \
    MAP_OF(NAME##_u16, unsigned short, BECOMES)                                                                        \
    MAP_OF(NAME##_u32, unsigned, BECOMES)

// The second optimization: each thread computes the factor once, before the loop.
template <typename S>
DEVICE void map_by_factor(const S* from, S* to, const Area& area, const unsigned* cdf, unsigned total, unsigned run) {
    float factor = factor_no_min(Sums{0u, 0u, 0u, total, area.max + 1u});
    Walk walk = walk_of(area, run);
    for (unsigned i = walk.begin; i < walk.end; i += walk.stride) {
        to[i] = (S)at_most((unsigned)times((float)cdf[element(from, area, i)], factor), 65535u);
    }
}

// Has the same parameters as the other computed maps, but does not read `least`.
#define MAP_BY_FACTOR(NAME, S)                                                                                         \
    extern "C" __global__ __launch_bounds__(1024) void map_computed_factor_##NAME(                                     \
        const S* from, S* to, Area area, const unsigned* cdf, const unsigned*, unsigned total, unsigned run) {         \
        map_by_factor<S>(from, to, area, cdf, total, run);                                                             \
    }

MAP_BY_FACTOR(u8, unsigned char)
MAP_BY_FACTOR(u16, unsigned short)
MAP_BY_FACTOR(u32, unsigned)

MAP(exact, exact_of)
MAP(floor_integer, floor_integer)
MAP(floor_no_min, floor_no_min)
MAP(float_round, float_round)
MAP(equation_floor, equation_floor)
MAP(product_32, product_32)
