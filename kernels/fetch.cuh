// Copies that go on by themselves while the thread does something else: into shared memory (compute capability 8.0; on older
// GPUs they are over at once), and into the cache.
#pragma once

#include "counters.cuh"

// Begins to copy a vector from global into shared memory. Other threads see it after a barrier behind `wait_for_fetched`.
__device__ __forceinline__ void fetch(const uint4* from, uint4* to) {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from) : "memory");
#else
    *to = *from;
#endif
}

// Has the cache fetch a line.
__device__ __forceinline__ void prefetch(const void* at) { asm volatile("prefetch.global.L2 [%0];" ::"l"(at)); }

// What the thread has begun to fetch since the last time becomes a round.
__device__ __forceinline__ void end_of_round() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Waits until all rounds of the thread but the last ROUNDS are there.
template <unsigned ROUNDS>
__device__ __forceinline__ void wait_for_fetched() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(ROUNDS) : "memory");
#endif
}
