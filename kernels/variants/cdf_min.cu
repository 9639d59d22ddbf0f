// The cumulative count of the first occupied bin, found once, in the two ways of opencl-blelloch-scan. (That
// publication repeats the search in every block of its map: map_group_min.cu.)
//
// Reduction: the smallest cumulative count above 0, in one block, by a tree. First nonzero: the thread of the bin whose
// count is above 0 and whose predecessor's is 0 writes it. The publication leaves out bin 0, which has no predecessor,
// and so finds no minimum for pictures with black in them. cuda-three-scans finds the same bin by an atomicMin over the
// indices of all occupied bins, in the kernel that makes the curve (curve.cu).
//
// What to expect: the time of a launch.
#include "spec.cuh"

using namespace histeq;

constexpr unsigned NONE = ~0u;

extern "C" __global__ __launch_bounds__(1024) void cdf_min_reduction(const unsigned* cdf, unsigned count,
                                                                     unsigned* least) {
    __shared__ unsigned smallest[1024];
    unsigned own = NONE;
    for (unsigned bin = threadIdx.x; bin < count; bin += blockDim.x) {
        unsigned sum = cdf[bin];
        if (sum != 0u && sum < own) own = sum;
    }
    smallest[threadIdx.x] = own;
    for (unsigned half = blockDim.x / 2u; half > 0u; half /= 2u) {
        __syncthreads();
        if (threadIdx.x < half) {
            unsigned other = smallest[threadIdx.x + half];
            if (other < smallest[threadIdx.x]) smallest[threadIdx.x] = other;
        }
    }
    if (threadIdx.x == 0u) *least = smallest[0] == NONE ? 0u : smallest[0];
}

// `from` is the first bin of the search: 1 in the publication. The caller sets `least` to 0.
extern "C" __global__ __launch_bounds__(1024) void cdf_min_first_nonzero(const unsigned* cdf, unsigned count,
                                                                         unsigned from, unsigned* least) {
    unsigned bin = blockIdx.x * blockDim.x + threadIdx.x;
    if (bin < from || bin >= count || cdf[bin] == 0u) return;
    if (bin == 0u || cdf[bin - 1u] == 0u) *least = cdf[bin];
}
