// Each block counts into private counters in shared memory, then adds them to those in global memory. With one element
// per thread (opencl-blelloch-scan, in blocks of 32x32 pixels) a block of 1024 adds 256 sums for its 1024 elements.
// With many (coarsening: cuda-naive-vs-optimized found 128 best, cuda-4096-bins-saturated has 120 blocks in all) there
// are fewer blocks, and so fewer sums.
//
// What to expect: coarsening gains until there are too few threads to keep the memory busy. Counters that do not fit in
// shared memory are counted in windows, and the elements are read once per window.
#include "elements.cuh"

using namespace histeq;

extern __shared__ unsigned shared[];

template <typename S>
DEVICE void count_privately(const S* plane, const Area& area, const BlendedLevels& levels, unsigned* counts,
                            const Counting& counting) {
    Window window = window_of(counting);
    for (unsigned slot = thread_of_block(); slot < window.size; slot += threads_of_block()) shared[slot] = 0u;
    __syncthreads();

    Walk walk = walk_of(area, counting.run);
    for (unsigned i = walk.begin; i < walk.end; i += walk.stride) {
        unsigned slot = element(plane, area, i) - window.base;
        // Codes below the window wrap around to values above it.
        if (slot < window.size) atomicAdd(&shared[slot], 1u);
    }
    __syncthreads();

    for (unsigned slot = thread_of_block(); slot < window.size; slot += threads_of_block()) {
        atomicAdd(&counts[level_code(window.base + slot, levels)], shared[slot]);
    }
}

#define HISTOGRAM(NAME, S)                                                                                             \
    extern "C" __global__ __launch_bounds__(1024) void histogram_privatized_##NAME(                                    \
        const S* plane, Area area, BlendedLevels levels, unsigned* counts, Counting counting) {                        \
        count_privately<S>(plane, area, levels, counts, counting);                                                     \
    }

HISTOGRAM(u8, unsigned char)
HISTOGRAM(u16, unsigned short)
HISTOGRAM(u32, unsigned)
