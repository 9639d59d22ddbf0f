// The scan of G. E. Blelloch (1990) as opencl-blelloch-scan has it: up a tree as Brent and Kung, then down it with each
// left sum moved to the right. That gives an exclusive scan, so every result is taken from the next element. The
// publication moves the sums through a float, which loses the last bits of sums above 2^24; `scan_blelloch_float` does
// so too, for `--formula float-scan`. Two elements per thread.
//
// What to expect: the time of Brent and Kung. Bank conflicts grow with the strides; the publication does nothing
// against them, and neither does this.
#include "device.cuh"
#include "spec.cuh"

using namespace histeq;

extern __shared__ unsigned shared[];

// Adds as the publication's C code does: converts both numbers to floats, rounded to nearest.
DEVICE unsigned added_as_floats(unsigned sum, unsigned moved) { return (unsigned)((float)sum + (float)moved); }

template <bool FLOAT>
DEVICE void scan(const unsigned* from, unsigned* to, unsigned* sums, unsigned count) {
    unsigned thread = threadIdx.x, width = 2u * blockDim.x;
    unsigned first = blockIdx.x * width + thread, second = first + blockDim.x;
    shared[thread] = first < count ? from[first] : 0u;
    shared[thread + blockDim.x] = second < count ? from[second] : 0u;

    unsigned stride = 1u;
    for (unsigned active = blockDim.x; active > 0u; active /= 2u) {
        __syncthreads();
        if (thread < active) {
            unsigned left = stride * (2u * thread + 1u) - 1u, right = left + stride;
            shared[right] += shared[left];
        }
        stride *= 2u;
    }
    __syncthreads();
    if (thread == 0u) {
        shared[width] = shared[width - 1u];
        shared[width - 1u] = 0u;
    }
    for (unsigned active = 1u; active <= blockDim.x; active *= 2u) {
        stride /= 2u;
        __syncthreads();
        if (thread < active) {
            unsigned left = stride * (2u * thread + 1u) - 1u, right = left + stride;
            unsigned moved = shared[left];
            shared[left] = shared[right];
            shared[right] = FLOAT ? added_as_floats(shared[right], moved) : shared[right] + moved;
        }
    }
    __syncthreads();

    if (first < count) to[first] = shared[thread + 1u];
    if (second < count) to[second] = shared[thread + blockDim.x + 1u];
    if (sums != nullptr && thread == 0u) sums[blockIdx.x] = shared[width];
}

extern "C" __global__ __launch_bounds__(1024) void scan_blelloch(const unsigned* from, unsigned* to, unsigned* sums,
                                                                 unsigned count) {
    scan<false>(from, to, sums, count);
}

extern "C" __global__ __launch_bounds__(1024) void scan_blelloch_float(const unsigned* from, unsigned* to,
                                                                       unsigned* sums, unsigned count) {
    scan<true>(from, to, sums, count);
}
