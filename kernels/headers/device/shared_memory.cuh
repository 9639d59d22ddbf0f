// Access to words in shared memory by address.
#pragma once

#include "device.cuh"

namespace histeq {

// The address in shared memory, for instructions in assembly.
DEVICE unsigned shared_address(const void* at) { return (unsigned)__cvta_generic_to_shared(at); }

// The word at an address.
DEVICE unsigned load_shared(unsigned address) {
    unsigned word;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(word) : "r"(address) : "memory");
    return word;
}

// Adds 1 to the counter at an address. In assembly, because the compiler's code for atomicAdd takes twice as long. The
// hardware merges lanes of a warp that add to one counter, because the result is not used; so flat pictures are no
// slower.
DEVICE void increment_shared(unsigned address) {
    asm volatile("red.shared.add.u32 [%0], 1;" ::"r"(address) : "memory");
}

}  // namespace histeq
