// Cuts counts off at a value: the second kernel of cuda-4096-bins-saturated, which does it once everything is counted,
// for an atomic addition that stops at a value is no single instruction. (There each of 8 blocks goes over all bins;
// here they share them.) Thermal imaging knows the result as plateau equalization; `--plateau` does it within
// kernels/equalization.cu.
#include "spec.cuh"

extern "C" __global__ __launch_bounds__(1024) void saturation(unsigned* counts, unsigned bins, unsigned most) {
    for (unsigned bin = blockIdx.x * blockDim.x + threadIdx.x; bin < bins; bin += gridDim.x * blockDim.x) {
        if (counts[bin] > most) counts[bin] = most;
    }
}
