// The publications' own arithmetic, from a cumulative count to the output of a bin, and from RGB to luminance: the same
// operations as in src/lab/publications/formula.rs. Compiles as host C++ too. Floats are multiplied and added one by
// one: otherwise the compiler may contract the two and round once, which the publications' programs may or may not have
// done.
#pragma once

#include "spec.cuh"

namespace histeq {

#ifdef __CUDACC__
SPEC float times(float a, float b) { return __fmul_rn(a, b); }
SPEC float plus(float a, float b) { return __fadd_rn(a, b); }
SPEC float over(float a, float b) { return __fdiv_rn(a, b); }
#else
SPEC float times(float a, float b) { return a * b; }
SPEC float plus(float a, float b) { return a + b; }
SPEC float over(float a, float b) { return a / b; }
#endif

// The inputs of a formula.
struct Sums {
    unsigned bin;
    unsigned cumulative;  // up to this bin
    unsigned first;       // up to the first occupied one
    unsigned total;       // up to the last one
    unsigned bins;
};

SPEC unsigned at_most(unsigned value, unsigned most) { return value < most ? value : most; }

SPEC unsigned above_first(const Sums& sums) { return sums.cumulative > sums.first ? sums.cumulative - sums.first : 0u; }

SPEC unsigned above_all_first(const Sums& sums) { return sums.total > sums.first ? sums.total - sums.first : 0u; }

// cuda-naive-vs-optimized before its second optimization: a division of integers for each element.
SPEC unsigned floor_integer(const Sums& sums) {
    return (unsigned)((unsigned long long)sums.cumulative * (sums.bins - 1u) / sums.total);
}

// The optimized form of that publication: `factor` is computed once for all elements of a thread.
SPEC float factor_no_min(const Sums& sums) { return over((float)(sums.bins - 1u), (float)sums.total); }
SPEC unsigned floor_no_min(const Sums& sums) { return (unsigned)times((float)sums.cumulative, factor_no_min(sums)); }

// opencl-blelloch-scan: to the nearest, halves away from zero.
SPEC unsigned float_round(const Sums& sums) {
    unsigned rest = above_all_first(sums);
    if (rest == 0u) return 0u;
    float value = times(over((float)above_first(sums), (float)rest), (float)(sums.bins - 1u));
    unsigned whole = (unsigned)value;
    return value - (float)whole >= 0.5f ? whole + 1u : whole;
}

// Equation 1 of cuda-three-scans.
SPEC unsigned equation_floor(const Sums& sums) {
    unsigned rest = above_all_first(sums);
    if (rest == 0u) return sums.bin;
    return (unsigned)((unsigned long long)above_first(sums) * (sums.bins - 1u) / rest);
}

// The program of cuda-three-scans, whose product has 32 bits; written to a byte, or to two.
SPEC unsigned product_32(const Sums& sums) {
    unsigned rest = above_all_first(sums);
    if (rest == 0u) return sums.bin;
    unsigned value = ((sums.cumulative - sums.first) * (sums.bins - 1u) + rest / 2u) / rest;
    return value & (sums.bins <= 256u ? 0xffu : 0xffffu);
}

// The specification for any number of bins, used after wrong scans.
SPEC unsigned exact_of(const Sums& sums) {
    unsigned rest = above_all_first(sums);
    if (rest == 0u) return sums.bin;
    unsigned long long product = (unsigned long long)above_first(sums) * (sums.bins - 1u);
    unsigned long long value = (product + rest / 2u) / rest;
    return value < sums.bins ? (unsigned)value : sums.bins - 1u;
}

// cuda-rgb-luminance-histogram.
SPEC unsigned truncated_luminance(unsigned r, unsigned g, unsigned b) {
    return (unsigned)plus(plus(times(0.299f, (float)r), times(0.587f, (float)g)), times(0.114f, (float)b));
}

}  // namespace histeq
