// Kogge and Stone with a second buffer, as cuda-three-scans has it: a step reads one buffer and writes the other, so
// one barrier per step is enough. The publication swaps the buffers at the end of each step and then takes the result
// from the output buffer, which has the result of the step before. `scan_kogge_stone_stale` does so too, for
// `--formula stale-buffer`.
//
// What to expect: half of the barriers of Kogge-Stone, twice its shared memory, and a difference too small to measure.
#include "device.cuh"
#include "spec.cuh"

using namespace histeq;

extern __shared__ unsigned shared[];

// With `STALE` the result is that of the publication's program.
template <bool STALE>
DEVICE void scan(const unsigned* from, unsigned* to, unsigned* sums, unsigned count) {
    unsigned thread = threadIdx.x;
    unsigned at = blockIdx.x * blockDim.x + thread;
    unsigned* input = shared;
    unsigned* output = shared + blockDim.x;
    input[thread] = at < count ? from[at] : 0u;
    for (unsigned stride = 1u; stride < blockDim.x; stride *= 2u) {
        __syncthreads();
        output[thread] = input[thread] + (thread >= stride ? input[thread - stride] : 0u);
        unsigned* written = output;
        output = input;
        input = written;
    }
    unsigned result = STALE ? output[thread] : input[thread];
    if (at < count) to[at] = result;
    if (sums != nullptr && thread == blockDim.x - 1u) sums[blockIdx.x] = result;
}

extern "C" __global__ __launch_bounds__(1024) void scan_kogge_stone_double(const unsigned* from, unsigned* to,
                                                                           unsigned* sums, unsigned count) {
    scan<false>(from, to, sums, count);
}

extern "C" __global__ __launch_bounds__(1024) void scan_kogge_stone_stale(const unsigned* from, unsigned* to,
                                                                          unsigned* sums, unsigned count) {
    scan<true>(from, to, sums, count);
}
