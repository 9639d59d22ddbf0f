// Barriers that some warps of a block meet at, by number; __syncthreads has number 0.
#pragma once

// Waits until `threads` threads have come, whole warps.
__device__ __forceinline__ void wait_at(unsigned barrier, unsigned threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

// The same where the number is known beforehand.
template <unsigned BARRIER>
__device__ __forceinline__ void wait_at(unsigned threads) {
    asm volatile("bar.sync %0, %1;" ::"n"(BARRIER), "r"(threads) : "memory");
}

// Comes there too, and goes on.
__device__ __forceinline__ void arrive_at(unsigned barrier, unsigned threads) {
    asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}
