// Reductions and prefix sums over the lanes of a warp.
#pragma once

#include "device.cuh"

namespace histeq {

constexpr unsigned FULL_MASK = 0xffffffffu;
constexpr unsigned WARP_THREADS = 32u;

template <typename T>
DEVICE T warp_sum(T value) {
    for (unsigned distance = WARP_THREADS / 2u; distance > 0u; distance /= 2u)
        value += __shfl_xor_sync(FULL_MASK, value, distance);
    return value;
}

// The sum of 32 bits takes one instruction where the GPU has it.
DEVICE unsigned warp_sum(unsigned value) {
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(FULL_MASK, value);
#else
    return warp_sum<unsigned>(value);
#endif
}

// The sum of 64 bits is made of parts of 24 bits, whose sums fit 32.
DEVICE unsigned long long warp_sum(unsigned long long value) {
#if __CUDA_ARCH__ >= 800
    constexpr unsigned PART = (1u << 24) - 1u;
    unsigned low = __reduce_add_sync(FULL_MASK, (unsigned)value & PART);
    unsigned middle = __reduce_add_sync(FULL_MASK, (unsigned)(value >> 24) & PART);
    unsigned high = __reduce_add_sync(FULL_MASK, (unsigned)(value >> 48));
    return low + ((unsigned long long)middle << 24) + ((unsigned long long)high << 48);
#else
    return warp_sum<unsigned long long>(value);
#endif
}

// The sum over this lane and those before it.
template <typename T>
DEVICE T warp_inclusive_sum(T value, unsigned lane) {
    for (unsigned distance = 1u; distance < WARP_THREADS; distance *= 2u) {
        T before = __shfl_up_sync(FULL_MASK, value, distance);
        if (lane >= distance) value += before;
    }
    return value;
}

// The largest value of all lanes.
DEVICE unsigned warp_max(unsigned value) {
#if __CUDA_ARCH__ >= 800
    return __reduce_max_sync(FULL_MASK, value);
#else
    for (unsigned distance = WARP_THREADS / 2u; distance > 0u; distance /= 2u) {
        unsigned other = __shfl_xor_sync(FULL_MASK, value, distance);
        if (other > value) value = other;
    }
    return value;
#endif
}

// The lowest value of all lanes.
DEVICE unsigned long long warp_min(unsigned long long value) {
    for (unsigned distance = WARP_THREADS / 2u; distance > 0u; distance /= 2u) {
        unsigned long long other = __shfl_xor_sync(FULL_MASK, value, distance);
        if (other < value) value = other;
    }
    return value;
}

// The first value of the lanes that is not zero; 0 if all are.
template <typename T>
DEVICE T warp_first_nonzero(T value) {
    unsigned found = __ballot_sync(FULL_MASK, value != 0);
    return __shfl_sync(FULL_MASK, value, found != 0u ? __ffs(found) - 1 : 0);
}

}  // namespace histeq
