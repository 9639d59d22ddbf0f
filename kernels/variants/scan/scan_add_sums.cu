// The last step of a scan in segments: adds to each element the sum of all segments before its own.
#include "spec.cuh"

using namespace histeq;

extern "C" __global__ __launch_bounds__(1024) void scan_add_sums(unsigned* scanned, const unsigned* sums,
                                                                 unsigned segment, unsigned count) {
    unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < count && at >= segment) scanned[at] += sums[at / segment - 1u];
}
