// From cumulative counts to the curve, one thread per code: the kernel between scan and map. (opencl-blelloch-scan and
// cuda-naive-vs-optimized repeat this for every pixel; the second optimization of the latter gains most of its time
// here.) `curve_exact` is the specification; the others are the publications' formulas.
#include "formulas.cuh"

extern "C" __global__ __launch_bounds__(1024) void curve_exact(const unsigned* cdf, const unsigned* least,
                                                               unsigned codes, Levels levels, unsigned short* curve) {
    unsigned code = blockIdx.x * blockDim.x + threadIdx.x;
    if (code >= codes) return;
    Spread<unsigned> spread = spread_of(*least, cdf[codes - 1u]);
    curve[code] = (unsigned short)curve_at(code, cdf[code], spread, levels);
}

// `total` is the number of samples: a wrong scan may end with another sum.
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
