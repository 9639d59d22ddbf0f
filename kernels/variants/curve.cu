// From cumulative counts to the curve, a thread a code: the kernel that every publication has between its scan and its map
// (or, as opencl-blelloch-scan and cuda-naive-vs-optimized, does again for every pixel, which is most of what the latter
// wins by its second optimization). `curve_exact` is the specification; the others are what the publications make of it.
#include "formulas.cuh"

extern "C" __global__ __launch_bounds__(1024) void curve_exact(const unsigned* cdf, const unsigned* least,
                                                               unsigned codes, Levels levels, unsigned short* curve) {
    unsigned code = blockIdx.x * blockDim.x + threadIdx.x;
    if (code >= codes) return;
    Spread<unsigned> spread = spread_of(*least, cdf[codes - 1u]);
    curve[code] = (unsigned short)curve_at(code, cdf[code], spread, levels);
}

// `total` is how many samples there are: a wrong scan need not end with it.
#define CURVE(NAME, BECOMES)                                                                                        \
    extern "C" __global__ __launch_bounds__(1024) void curve_##NAME(                                                \
        const unsigned* cdf, const unsigned* least, unsigned total, unsigned codes, unsigned short* curve) {        \
        unsigned code = blockIdx.x * blockDim.x + threadIdx.x;                                                      \
        if (code >= codes) return;                                                                                  \
        Sums sums = {code, cdf[code], *least, total, codes};                                                        \
        curve[code] = (unsigned short)at_most(BECOMES(sums), 65535u);                                               \
    }

CURVE(floor_no_min, floor_no_min)
CURVE(float_round, float_round)
CURVE(equation_floor, equation_floor)
CURVE(product_32, product_32)
CURVE(exact_of_sums, exact_of)
