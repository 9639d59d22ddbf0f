// The scan of R. P. Brent and H. T. Kung (1982) as cuda-three-scans has it: sums go up a tree and then down to the
// elements that lack them. Two elements per thread.
//
// What to expect: 2 log2(width) steps with fewer than 2 n additions, most of them by few threads. For the few elements
// of a histogram, the number of steps decides, not that of additions.
#include "spec.cuh"

using namespace histeq;

extern __shared__ unsigned shared[];

extern "C" __global__ __launch_bounds__(1024) void scan_brent_kung(const unsigned* from, unsigned* to, unsigned* sums,
                                                                   unsigned count) {
    unsigned thread = threadIdx.x, width = 2u * blockDim.x;
    unsigned first = blockIdx.x * width + thread, second = first + blockDim.x;
    shared[thread] = first < count ? from[first] : 0u;
    shared[thread + blockDim.x] = second < count ? from[second] : 0u;
    for (unsigned stride = 1u; stride <= blockDim.x; stride *= 2u) {
        __syncthreads();
        unsigned at = (thread + 1u) * 2u * stride - 1u;
        if (at < width) shared[at] += shared[at - stride];
    }
    for (unsigned stride = blockDim.x / 2u; stride > 0u; stride /= 2u) {
        __syncthreads();
        unsigned at = (thread + 1u) * 2u * stride - 1u;
        if (at + stride < width) shared[at + stride] += shared[at];
    }
    __syncthreads();
    if (first < count) to[first] = shared[thread];
    if (second < count) to[second] = shared[thread + blockDim.x];
    if (sums != nullptr && thread == 0u) sums[blockIdx.x] = shared[width - 1u];
}
