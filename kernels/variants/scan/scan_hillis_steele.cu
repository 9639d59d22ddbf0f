// One step of the scan of W. D. Hillis and G. L. Steele (1986), which cuda-naive-vs-optimized names: every element adds
// the one `distance` before it. One launch per power of two: the end of a launch is a barrier of all threads, so this
// works for any number of bins, between two buffers.
//
// What to expect: log2(bins) launches, 8 for 256 bins and 16 for 65,536, each with hardly any work.
#include "spec.cuh"

using namespace histeq;

extern "C" __global__ __launch_bounds__(1024) void scan_hillis_steele(const unsigned* from, unsigned* to,
                                                                      unsigned distance, unsigned count) {
    unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < count) to[at] = from[at] + (at >= distance ? from[at - distance] : 0u);
}
