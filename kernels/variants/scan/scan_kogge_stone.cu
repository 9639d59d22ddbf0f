// The scan of P. M. Kogge and H. S. Stone (1973) as cuda-three-scans has it: the additions of Hillis and Steele by the
// threads of one block, in place in shared memory. All threads read before any thread writes: two barriers per step.
//
// What to expect: log2(width) steps, n log n additions, all lanes busy. For 256 bins the launch costs more than the
// work.
//
// Each block scans as many elements as it has threads; where there are several blocks, each leaves its sum in `sums`.
#include "spec.cuh"

using namespace histeq;

extern __shared__ unsigned shared[];

extern "C" __global__ __launch_bounds__(1024) void scan_kogge_stone(const unsigned* from, unsigned* to, unsigned* sums,
                                                                    unsigned count) {
    unsigned thread = threadIdx.x;
    unsigned at = blockIdx.x * blockDim.x + thread;
    shared[thread] = at < count ? from[at] : 0u;
    for (unsigned stride = 1u; stride < blockDim.x; stride *= 2u) {
        __syncthreads();
        unsigned before = thread >= stride ? shared[thread - stride] : 0u;
        __syncthreads();
        shared[thread] += before;
    }
    if (at < count) to[at] = shared[thread];
    if (sums != nullptr && thread == blockDim.x - 1u) sums[blockIdx.x] = shared[thread];
}
