// Launches that overlap (programmatic dependent launches, compute capability 9.0): a kernel begins while the previous
// kernel of its stream ends, does the work that does not depend on it, and waits. Older devices launch one after the
// other.
//
// The previous kernel may write after this one began, so nothing may be read as constant (`__ldg`, or pointers that are
// const and `__restrict__`). The output of still earlier kernels is complete if a kernel in between waited for them
// before it called `trigger_next_launch`; it has to be read with `load_cg`.
#pragma once

#include "device.cuh"

namespace histeq {

#if __CUDA_ARCH__ >= 900
constexpr bool LAUNCHES_OVERLAP = true;
#else
constexpr bool LAUNCHES_OVERLAP = false;
#endif

// The next kernel may begin once all blocks have called this, instead of when they end. It is called only where
// measurements show a gain: two blocks of the next kernel may share a multiprocessor with a block that is nearly done
// while other multiprocessors are idle (in all kernels of 16 bits, whose histogram took four windows then: 78 us a
// frame instead of 52).
DEVICE void trigger_next_launch() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// Reads past the L1 cache, which may have old data from an earlier kernel.
template <typename T>
DEVICE T load_cg(const T* at) {
    return __ldcg(at);
}

// Writes and reads a word that other blocks of this launch read and write while they run: whole, and past the L1 cache.
DEVICE void store_relaxed(unsigned long long* at, unsigned long long word) {
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(at), "l"(word) : "memory");
}
DEVICE unsigned long long load_relaxed(const unsigned long long* at) {
    unsigned long long word;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(at) : "memory");
    return word;
}

// Waits until the previous kernel has ended and its writes are visible.
DEVICE void grid_dependency_sync() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

}  // namespace histeq
