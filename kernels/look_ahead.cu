// The curve of a frame of the look-ahead: that of the last later frame that belongs to its scene
// (src/spec/look_ahead.rs). Each frame's curve, or those of its tiles, are in a place of `kept`.
#include "launch.cuh"

// `marks` has the mark of each slot's window; the frame is in `slot`, and `ahead` more frames follow it. `first` is its
// place, of `places`; a place has `entries` times four codes.
extern "C" __global__ __launch_bounds__(1024) void look_ahead(const unsigned* marks, unsigned slots,
                                                              unsigned slot, unsigned ahead,
                                                              const ushort4* kept, unsigned places,
                                                              unsigned first, unsigned entries,
                                                              ushort4* curve) {
    __shared__ unsigned chosen;
    wait_for_previous();
    if (threadIdx.x == 0u) chosen = 0u;
    __syncthreads();
    unsigned own = marks[slot];
    for (unsigned i = threadIdx.x + 1u; i <= ahead; i += blockDim.x) {
        if (marks[(slot + i) % slots] == own) atomicMax(&chosen, i);
    }
    __syncthreads();
    const ushort4* from = kept + (size_t)((first + chosen) % places) * entries;
    unsigned stride = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < entries; i += stride) curve[i] = from[i];
}
