// Launches that overlap (programmatic dependent launches, compute capability 9.0): a kernel begins while the one before it in
// its stream ends, does what it can without what that one writes, and waits. Older devices launch one after the other.
//
// What the kernel before has written may come after this one began: nothing here may be read as constant (`__ldg`, or
// pointers that are const and `__restrict__`). What still earlier kernels have written is there already if one in between
// had waited for them when it let the next one begin; it is to be read by `fresh`.
#pragma once

#if __CUDA_ARCH__ >= 900
constexpr bool LAUNCHES_OVERLAP = true;
#else
constexpr bool LAUNCHES_OVERLAP = false;
#endif

// The next kernel may begin once all blocks have come here, instead of when they end. Where that gains was measured: beside a
// block that is nearly done, two of the next kernel may come to share a multiprocessor while others have none, which costs
// more (all kernels of 16 bits, of which the histogram took four windows then: 78 us a frame instead of 52).
__device__ __forceinline__ void let_next_begin() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// Reads past the first cache, which may have kept what was there when an earlier kernel ran.
template <typename T>
__device__ __forceinline__ T fresh(const T* at) {
    return __ldcg(at);
}

// Waits until the kernel before is over, and what it has written is seen.
__device__ __forceinline__ void wait_for_previous() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
