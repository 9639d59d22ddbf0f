// The additions of Hillis and Steele in registers: the lanes of a warp exchange sums without shared memory and without
// barriers; the first warp scans the sums of the warps. Not from a publication; kernels/scan.cu does this within a
// block, with four elements per lane.
//
// What to expect: two barriers in all, whatever the width.
#include "spec.cuh"
#include "warp.cuh"

using namespace histeq;

extern __shared__ unsigned shared[];

extern "C" __global__ __launch_bounds__(1024) void scan_warp_shuffle(const unsigned* from, unsigned* to, unsigned* sums,
                                                                     unsigned count) {
    unsigned thread = threadIdx.x, lane = thread % WARP_THREADS, warp = thread / WARP_THREADS,
             warps = blockDim.x / WARP_THREADS;
    unsigned at = blockIdx.x * blockDim.x + thread;
    unsigned sum = warp_inclusive_sum(at < count ? from[at] : 0u, lane);
    if (lane == WARP_THREADS - 1u) shared[warp] = sum;
    __syncthreads();
    if (warp == 0u) {
        unsigned through = warp_inclusive_sum(lane < warps ? shared[lane] : 0u, lane);
        if (lane < warps) shared[lane] = through;
    }
    __syncthreads();
    if (warp > 0u) sum += shared[warp - 1u];
    if (at < count) to[at] = sum;
    if (sums != nullptr && thread == blockDim.x - 1u) sums[blockIdx.x] = sum;
}
