// Counts the codes of a luma plane. Each block counts into shared memory, in 2^log2_copies interleaved copies so that
// the lanes of a warp seldom meet on one counter, and then adds its sums to the global counts. What has more codes
// than shared memory has room for is counted in windows of 2^log2_window codes, one for each blockIdx.y.
#include "samples.cuh"

extern __shared__ unsigned shared_counts[];

struct Window {
    unsigned base;    // first code
    unsigned size;    // codes
    unsigned copies;  // log2 of the copies of each counter
    unsigned copy;    // which one this thread uses
};

template <typename S>
__device__ __forceinline__ void count(unsigned code, Window window) {
    unsigned slot = code - window.base;
    // One-byte codes always have one window over all of them.
    if (sizeof(S) == 1 || slot < window.size) atomicAdd(&shared_counts[(slot << window.copies) | window.copy], 1u);
}

// Counts the luma of one vector; STEP samples make a pixel.
template <typename S, int STEP>
__device__ __forceinline__ void count_vector(uint4 loaded, unsigned index, Samples samples, Window window) {
    constexpr int PIXELS = PER_VECTOR<S> / STEP;
    Words from = words(loaded);
    bool whole = samples.row == 0u && index < samples.pixels / PIXELS;
#pragma unroll
    for (int w = 0; w < 4; ++w) {
        unsigned word = ordered<S>(from.of[w], samples);
        if (STEP > 1) word >>= samples.offset * BITS<S>;
#pragma unroll
        for (int i = 0; i < PER_WORD<S> / STEP; ++i) {
            unsigned pixel = index * PIXELS + w * (PER_WORD<S> / STEP) + i;
            if (whole || visible(pixel, samples)) count<S>(decoded<S>(sample_at<S>(word, i * STEP), samples), window);
        }
    }
}

template <typename S, int STEP>
__device__ __forceinline__ void histogram(const uint4* __restrict__ plane, Samples samples, unsigned* counts,
                                          unsigned log2_window, unsigned log2_copies) {
    Window window = {blockIdx.y << log2_window, 1u << log2_window, log2_copies,
                     threadIdx.x & ((1u << log2_copies) - 1u)};
    for (unsigned i = threadIdx.x; i < window.size << log2_copies; i += blockDim.x) shared_counts[i] = 0u;
    __syncthreads();

    constexpr unsigned PIXELS = PER_VECTOR<S> / STEP;
    unsigned vectors = (samples.pixels + PIXELS - 1u) / PIXELS;
    unsigned stride = gridDim.x * blockDim.x;
    unsigned index = blockIdx.x * blockDim.x + threadIdx.x;
    // The next vector is on its way while this one is counted.
    uint4 next = index < vectors ? plane[index] : make_uint4(0u, 0u, 0u, 0u);
    while (index < vectors) {
        uint4 now = next;
        if (index + stride < vectors) next = plane[index + stride];
        count_vector<S, STEP>(now, index, samples, window);
        index += stride;
    }
    __syncthreads();

    // Lanes that would read the same bank start at different copies.
    unsigned skew = (threadIdx.x & 31u) >> (5u - log2_copies);
    for (unsigned slot = threadIdx.x; slot < window.size; slot += blockDim.x) {
        unsigned sum = 0u;
        for (unsigned copy = 0u; copy < 1u << log2_copies; ++copy) {
            sum += shared_counts[(slot << log2_copies) | ((copy + skew) & ((1u << log2_copies) - 1u))];
        }
        if (sum != 0u) atomicAdd(&counts[window.base + slot], sum);
    }
}

#define HISTOGRAM(NAME, S, STEP)                                                                               \
    extern "C" __global__ __launch_bounds__(1024) void NAME(const uint4* plane, Samples samples, unsigned* counts, \
                                                            unsigned log2_window, unsigned log2_copies) {      \
        histogram<S, STEP>(plane, samples, counts, log2_window, log2_copies);                                  \
    }

HISTOGRAM(histogram_u8, unsigned char, 1)
HISTOGRAM(histogram_u8_pairs, unsigned char, 2)
HISTOGRAM(histogram_u16, unsigned short, 1)
HISTOGRAM(histogram_u16_pairs, unsigned short, 2)
