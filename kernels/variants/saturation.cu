// Limits counts to a value: the second kernel of cuda-4096-bins-saturated, which runs after counting, because there is
// no atomic addition with saturation. Each of its blocks processes all bins, as there, and all of them write the same.
// In thermal imaging the result is called plateau equalization; `--plateau` does it in kernels/equalization.cu.
#include "spec.cuh"

using namespace histeq;

extern "C" __global__ __launch_bounds__(1024) void saturation(unsigned* counts, unsigned bins, unsigned most) {
    for (unsigned bin = threadIdx.x; bin < bins; bin += blockDim.x) {
        if (counts[bin] > most) counts[bin] = most;
    }
}
