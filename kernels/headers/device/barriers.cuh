// Numbered barriers for some warps of a block; __syncthreads has number 0.
#pragma once

#include "device.cuh"

namespace histeq {

// Waits until `threads` threads (whole warps) have arrived.
DEVICE void barrier_sync(unsigned barrier, unsigned threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

// Waits at a barrier whose number is a constant.
template <unsigned BARRIER>
DEVICE void barrier_sync(unsigned threads) {
    asm volatile("bar.sync %0, %1;" ::"n"(BARRIER), "r"(threads) : "memory");
}

// Arrives without waiting.
DEVICE void barrier_arrive(unsigned barrier, unsigned threads) {
    asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

}  // namespace histeq
