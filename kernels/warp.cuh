// Sums over warps and blocks.
#pragma once

constexpr unsigned ALL = 0xffffffffu;
constexpr unsigned LANES = 32u;

template <typename T>
__device__ __forceinline__ T sum_of_warp(T value) {
    for (unsigned distance = LANES / 2u; distance > 0u; distance /= 2u) value += __shfl_xor_sync(ALL, value, distance);
    return value;
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

// The sum over a block of whole warps, for all of its threads. `room` is one value a warp, in shared memory.
template <typename T>
__device__ __forceinline__ T sum_of_block(T value, T* room) {
    value = sum_of_warp(value);
    __syncthreads();
    if (threadIdx.x % LANES == 0u) room[threadIdx.x / LANES] = value;
    __syncthreads();
    T sum = 0;
    for (unsigned warp = 0u; warp < blockDim.x / LANES; ++warp) sum += room[warp];
    return sum;
}
