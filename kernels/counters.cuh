// Words in shared memory, by their addresses there.
#pragma once

// Where something in shared memory lies, as the instructions for it take it.
__device__ __forceinline__ unsigned shared_address(const void* at) { return (unsigned)__cvta_generic_to_shared(at); }

// The word there.
__device__ __forceinline__ unsigned word_at(unsigned address) {
    unsigned word;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(word) : "r"(address) : "memory");
    return word;
}

// Adds 1 to the counter there. As an instruction of its own: what the compiler makes of atomicAdd takes twice as long. Lanes
// of a warp that meet on one counter are merged, as the result is not used; so flat pictures are no slower.
__device__ __forceinline__ void count_one(unsigned address) {
    asm volatile("red.shared.add.u32 [%0], 1;" ::"r"(address) : "memory");
}
