// One step of the scan of W. D. Hillis and G. L. Steele (1986), which cuda-naive-vs-optimized names: every element adds
// the one `distance` before it. A launch for each power of two: nothing but the end of a launch makes all threads wait
// for each other, so it works for any number of bins, from one buffer to another and back.
//
// What to expect: log2(bins) launches, 8 for 256 bins and 16 for 65,536, of next to no work each.
#include "spec.cuh"

extern "C" __global__ __launch_bounds__(1024) void scan_hillis_steele(const unsigned* from, unsigned* to,
                                                                      unsigned distance, unsigned count) {
    unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < count) to[at] = from[at] + (at >= distance ? from[at - distance] : 0u);
}
