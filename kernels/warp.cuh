// Sums, prefix sums and minima over warps.
#pragma once

constexpr unsigned ALL = 0xffffffffu;
constexpr unsigned LANES = 32u;

template <typename T>
__device__ __forceinline__ T sum_of_warp(T value) {
    for (unsigned distance = LANES / 2u; distance > 0u; distance /= 2u) value += __shfl_xor_sync(ALL, value, distance);
    return value;
}

// The same for 32 bits, in one instruction where the GPU has it.
__device__ __forceinline__ unsigned sum_of_warp(unsigned value) {
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(ALL, value);
#else
    return sum_of_warp<unsigned>(value);
#endif
}

// And for 64 bits, in parts of 24 bits whose sums fit.
__device__ __forceinline__ unsigned long long sum_of_warp(unsigned long long value) {
#if __CUDA_ARCH__ >= 800
    constexpr unsigned PART = (1u << 24) - 1u;
    unsigned low = __reduce_add_sync(ALL, (unsigned)value & PART);
    unsigned middle = __reduce_add_sync(ALL, (unsigned)(value >> 24) & PART);
    unsigned high = __reduce_add_sync(ALL, (unsigned)(value >> 48));
    return low + ((unsigned long long)middle << 24) + ((unsigned long long)high << 48);
#else
    return sum_of_warp<unsigned long long>(value);
#endif
}

// The sum over this lane and those before it.
template <typename T>
__device__ __forceinline__ T prefix_of_warp(T value, unsigned lane) {
    for (unsigned distance = 1u; distance < LANES; distance *= 2u) {
        T before = __shfl_up_sync(ALL, value, distance);
        if (lane >= distance) value += before;
    }
    return value;
}

// The lowest value of all lanes.
__device__ __forceinline__ unsigned long long lowest_of_warp(unsigned long long value) {
    for (unsigned distance = LANES / 2u; distance > 0u; distance /= 2u) {
        unsigned long long other = __shfl_xor_sync(ALL, value, distance);
        if (other < value) value = other;
    }
    return value;
}

// The first value of the lanes that is not zero; 0 if all are.
__device__ __forceinline__ unsigned first_of_warp(unsigned value) {
    unsigned found = __ballot_sync(ALL, value != 0u);
    return __shfl_sync(ALL, value, found != 0u ? __ffs(found) - 1 : 0);
}
