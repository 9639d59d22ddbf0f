// Private counters in several interleaved copies, so that lanes that count the same code seldom access one counter, and
// loads of 16 bytes. Not from a publication: the algorithm of kernels/histogram.cu without its further optimizations
// (prefetched vectors, skewed sums), and for elements of four bytes too.
//
// What to expect: the fewest instructions per element, and no worst case. With too many bins for copies, only the wide
// loads remain.
#include "elements.cuh"

using namespace histeq;

extern __shared__ unsigned shared[];

template <typename S>
DEVICE void count_in_copies(const S* plane, const Area& area, const BlendedLevels& levels, unsigned* counts,
                            const Counting& counting) {
    Window window = window_of(counting);
    unsigned copies = counting.log2_copies, copy = threadIdx.x & ((1u << copies) - 1u);
    for (unsigned i = threadIdx.x; i < window.size << copies; i += blockDim.x) shared[i] = 0u;
    __syncthreads();

    auto count = [&](unsigned code) {
        unsigned slot = code - window.base;
        if (slot < window.size) atomicAdd(&shared[slot << copies | copy], 1u);
    };
    constexpr unsigned EACH = 16u / sizeof(S);
    unsigned elements = area.width * area.height;
    // Vectors begin at multiples of 16 bytes, and may contain only elements.
    bool is_plain = area.first == 0u && area.height == 1u && area.step == 1u;
    unsigned vectors = is_plain ? elements / EACH : 0u;
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    for (unsigned i = thread; i < vectors; i += threads) {
        uint4 loaded = reinterpret_cast<const uint4*>(plane)[i];
        unsigned words[4] = {loaded.x, loaded.y, loaded.z, loaded.w};
#pragma unroll
        for (unsigned e = 0u; e < EACH; ++e) {
            constexpr unsigned BITS = 8u * sizeof(S);
            unsigned stored = words[e * sizeof(S) / 4u] >> (e * BITS % 32u);
            if (sizeof(S) < 4) stored &= (1u << (BITS % 32u)) - 1u;
            if (sizeof(S) == 2) stored = in_order(stored, area.swapped);
            count(code_of(stored, area.shift, area.max));
        }
    }
    // The elements after the last whole vector, or all elements if there is none.
    for (unsigned i = vectors * EACH + thread; i < elements; i += threads) count(element(plane, area, i));
    __syncthreads();

    for (unsigned slot = threadIdx.x; slot < window.size; slot += blockDim.x) {
        unsigned sum = 0u;
        for (unsigned other = 0u; other < 1u << copies; ++other) sum += shared[slot << copies | other];
        if (sum != 0u) atomicAdd(&counts[level_code(window.base + slot, levels)], sum);
    }
}

#define HISTOGRAM(NAME, S)                                                                                             \
    extern "C" __global__ __launch_bounds__(1024) void histogram_replicated_##NAME(                                    \
        const S* plane, Area area, BlendedLevels levels, unsigned* counts, Counting counting) {                        \
        count_in_copies<S>(plane, area, levels, counts, counting);                                                     \
    }

HISTOGRAM(u8, unsigned char)
HISTOGRAM(u16, unsigned short)
HISTOGRAM(u32, unsigned)
