// Asynchronous copies: into shared memory (compute capability 8.0; synchronous on older GPUs), and into the cache.
#pragma once

#include "device.cuh"
#include "shared_memory.cuh"

namespace histeq {

// Starts the copy of a vector from global to shared memory. Other threads see it after `wait_for_copies` and a
// barrier.
DEVICE void copy_async(const uint4* from, uint4* to) {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from) : "memory");
#else
    *to = *from;
#endif
}

// Prefetches a line into the L2 cache.
DEVICE void prefetch(const void* at) { asm volatile("prefetch.global.L2 [%0];" ::"l"(at)); }

// Commits a group: the copies that the thread has started since the last call.
DEVICE void commit_copies() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Waits until all groups of the thread but the last GROUPS are complete.
template <unsigned GROUPS>
DEVICE void wait_for_copies() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(GROUPS) : "memory");
#endif
}

}  // namespace histeq
