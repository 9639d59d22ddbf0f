// Computes the curve from cumulative counts, one thread per code: the kernel between scan and map.
// (opencl-blelloch-scan and cuda-naive-vs-optimized repeat this for every pixel; the second optimization of the latter
// gains most of its time here.) `curve_exact` is the specification; the others are the publications' formulas.
//
// `curve_normalized_*` first find the first occupied bin in the same launch, as cuda-three-scans does: the threads of
// one block take the lowest index by atomicMin.
#include "device.cuh"
#include "formulas.cuh"

using namespace histeq;

extern "C" __global__ __launch_bounds__(1024) void curve_exact(const unsigned* cdf, const unsigned* least,
                                                               unsigned codes, BlendedLevels levels,
                                                               unsigned short* curve) {
    unsigned code = blockIdx.x * blockDim.x + threadIdx.x;
    if (code >= codes) return;
    CdfRange<unsigned> range = cdf_range_of(*least, cdf[codes - 1u]);
    curve[code] = (unsigned short)curve_at(code, cdf[code], range, levels);
}

// `total` is the number of samples: a wrong scan may end with another sum.
#define CURVE(NAME, BECOMES)                                                                                           \
    extern "C" __global__ __launch_bounds__(1024) void curve_##NAME(                                                   \
        const unsigned* cdf, const unsigned* least, unsigned total, unsigned codes, unsigned short* curve) {           \
        unsigned code = blockIdx.x * blockDim.x + threadIdx.x;                                                         \
        if (code >= codes) return;                                                                                     \
        Sums sums = {code, cdf[code], *least, total, codes};                                                           \
        curve[code] = (unsigned short)at_most(BECOMES(sums), 65535u);                                                  \
    }

CURVE(floor_integer, floor_integer)
CURVE(floor_no_min, floor_no_min)
CURVE(float_round, float_round)
CURVE(equation_floor, equation_floor)
CURVE(product_32, product_32)
CURVE(exact_of_sums, exact_of)

// The cumulative count of the first occupied bin, in one block; 0 if there is none.
DEVICE unsigned first_by_atomic_min(const unsigned* cdf, unsigned codes) {
    __shared__ unsigned index;
    __shared__ unsigned first;
    if (threadIdx.x == 0u) index = codes;
    __syncthreads();
    for (unsigned code = threadIdx.x; code < codes; code += blockDim.x) {
        if (cdf[code] != 0u) atomicMin(&index, code);
    }
    __syncthreads();
    if (threadIdx.x == 0u) first = index < codes ? cdf[index] : 0u;
    __syncthreads();
    return first;
}

extern "C" __global__ __launch_bounds__(1024) void curve_normalized_exact(const unsigned* cdf, unsigned codes,
                                                                          BlendedLevels levels, unsigned short* curve) {
    CdfRange<unsigned> range = cdf_range_of(first_by_atomic_min(cdf, codes), cdf[codes - 1u]);
    for (unsigned code = threadIdx.x; code < codes; code += blockDim.x) {
        curve[code] = (unsigned short)curve_at(code, cdf[code], range, levels);
    }
}

#define NORMALIZED(NAME, BECOMES)                                                                                      \
    extern "C" __global__ __launch_bounds__(1024) void curve_normalized_##NAME(                                        \
        const unsigned* cdf, unsigned total, unsigned codes, unsigned short* curve) {                                  \
        unsigned first = first_by_atomic_min(cdf, codes);                                                              \
        for (unsigned code = threadIdx.x; code < codes; code += blockDim.x) {                                          \
            Sums sums = {code, cdf[code], first, total, codes};                                                        \
            curve[code] = (unsigned short)at_most(BECOMES(sums), 65535u);                                              \
        }                                                                                                              \
    }

NORMALIZED(floor_integer, floor_integer)
NORMALIZED(floor_no_min, floor_no_min)
NORMALIZED(float_round, float_round)
NORMALIZED(equation_floor, equation_floor)
NORMALIZED(product_32, product_32)
NORMALIZED(exact_of_sums, exact_of)
