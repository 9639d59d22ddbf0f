// Counts the codes of a luma plane. Each block counts into shared memory, in 2^log2_copies interleaved copies so that
// the lanes of a warp seldom access the same counter, and then adds its sums to the global counts. More codes than
// shared memory has room for are counted in windows of 2^log2_window codes, one for each blockIdx.y.
#include "counters.cuh"
#include "launch.cuh"
#include "samples.cuh"
#include "vectors.cuh"

using namespace histeq;

extern __shared__ __align__(16) unsigned shared_counts[];

struct Window {
    unsigned base;         // first code
    unsigned size;         // codes
    unsigned log2_copies;  // of each counter
    unsigned copy;         // which one this thread uses
};

template <typename S>
DEVICE void count(unsigned code, Window window) {
    unsigned slot = code - window.base;
    // For one-byte samples, one window covers all codes, which saves the comparison.
    if (sizeof(S) == 1 || slot < window.size) atomicAdd(&shared_counts[(slot << window.log2_copies) | window.copy], 1u);
}

// Counts the luma of vector `index` of the plane; STEP samples make a pixel. Unless `whole`, only pixels for which
// `counts_pixel` is true are counted.
template <typename S, int STEP, typename F>
DEVICE void count_vector(uint4 loaded, unsigned index, Samples samples, Window window, bool whole, F counts_pixel) {
    each_code<S, STEP>(loaded, index, samples, [=](unsigned code, unsigned pixel) {
        if (whole || counts_pixel(pixel)) count<S>(code, window);
    });
}

// With `begins_next`, lets the next kernel begin at once: this is `equalization`, whose few blocks wait for the counts.
DEVICE Window begin_window(unsigned log2_window, unsigned log2_copies, unsigned begins_next) {
    Window window = {blockIdx.y << log2_window, 1u << log2_window, log2_copies,
                     threadIdx.x & ((1u << log2_copies) - 1u)};
    clear_counters(shared_counts, (window.size << log2_copies) / 4u);
    __syncthreads();
    grid_dependency_sync();
    if (begins_next != 0u) trigger_next_launch();
    return window;
}

// Adds the block's counts to the counts of the plane.
DEVICE void end_window(Window window, BlendedLevels levels, unsigned* counts) {
    __syncthreads();
    auto add = [=](unsigned slot, unsigned sum) {
        // Codes outside of the levels count as the nearest level.
        if (sum != 0u) atomicAdd(&counts[level_code(window.base + slot, levels)], sum);
    };
    if (window.log2_copies != 0u) {
        reduce_copies(shared_counts, window.size, window.log2_copies, add);
        return;
    }
#pragma unroll 8
    for (unsigned slot = threadIdx.x; slot < window.size; slot += blockDim.x) add(slot, shared_counts[slot]);
}

template <typename S, int STEP>
DEVICE void histogram(const uint4* plane, Samples samples, BlendedLevels levels, unsigned* counts, unsigned log2_window,
                      unsigned log2_copies, unsigned begins_next) {
    Window window = begin_window(log2_window, log2_copies, begins_next);
    constexpr unsigned PIXELS = PER_VECTOR<S> / STEP;
    Vectors<1u> vectors(plane, (samples.pixels + PIXELS - 1u) / PIXELS);
    vectors.each([=](uint4 vector, unsigned index) {
        bool whole = samples.row == 0u && index < samples.pixels / PIXELS;
        count_vector<S, STEP>(vector, index, samples, window, whole,
                              [=](unsigned pixel) { return visible(pixel, samples); });
    });
    end_window(window, levels, counts);
}

// Counts a rectangle, whose rows may begin and end inside a vector.
template <typename S, int STEP>
DEVICE void histogram_region(const uint4* plane, Samples samples, BlendedLevels levels, Region region, unsigned* counts,
                             unsigned log2_window, unsigned log2_copies, unsigned begins_next) {
    Window window = begin_window(log2_window, log2_copies, begins_next);
    constexpr unsigned PIXELS = PER_VECTOR<S> / STEP;
    // The most vectors that a row reaches into.
    unsigned vectors = (region.width + PIXELS - 2u) / PIXELS + 1u;
    unsigned long long all = (unsigned long long)vectors * region.height;
    for (unsigned long long i = blockIdx.x * blockDim.x + threadIdx.x; i < all; i += gridDim.x * blockDim.x) {
        unsigned row = (unsigned)(i / vectors);
        unsigned first = (region.y + row) * region.pitch + region.x;
        unsigned last = first + region.width - 1u;
        unsigned index = first / PIXELS + (unsigned)(i - (unsigned long long)row * vectors);
        if (index > last / PIXELS) continue;
        bool whole = index * PIXELS >= first && (index + 1u) * PIXELS - 1u <= last;
        count_vector<S, STEP>(plane[index], index, samples, window, whole,
                              [=](unsigned pixel) { return pixel >= first && pixel <= last; });
    }
    end_window(window, levels, counts);
}

// `histogram_{u8,u16}[_pairs]` adds the codes of a plane to `counts`, `histogram_region_{u8,u16}[_pairs]` those of a
// rectangle that lies in it. `_pairs` counts the luma in interleaved pairs of samples (yuyv422, ya8), at
// `samples.offset` in each pair.
// Arguments: `begins_next` is 1 if `equalization` comes next, whose few blocks begin at once and load their history.
// `log2_copies` is at most 5.
// Launch: in x any number of blocks of up to 1024 threads; in y one for each window of `2^log2_window` codes, all
// windows together covering the codes exactly (`u8`: one). Dynamic shared memory: `4 << (log2_window + log2_copies)`
// bytes. 16 bits need two windows of 128 KB where a block may have that much shared memory, else four.
// An addition of 1 whose result is not used compiles to an instruction that merges the lanes of a warp that add to one
// counter, so flat pictures are no slower; the interleaved copies keep the other lanes on different banks.
#define HISTOGRAM(NAME, S, STEP)                                                                                       \
    extern "C" __global__ __launch_bounds__(1024) void histogram_##NAME(                                               \
        const uint4* plane, Samples samples, BlendedLevels levels, unsigned* counts, unsigned log2_window,             \
        unsigned log2_copies, unsigned begins_next) {                                                                  \
        histogram<S, STEP>(plane, samples, levels, counts, log2_window, log2_copies, begins_next);                     \
    }                                                                                                                  \
    extern "C" __global__ __launch_bounds__(1024) void histogram_region_##NAME(                                        \
        const uint4* plane, Samples samples, BlendedLevels levels, Region region, unsigned* counts,                    \
        unsigned log2_window, unsigned log2_copies, unsigned begins_next) {                                            \
        histogram_region<S, STEP>(plane, samples, levels, region, counts, log2_window, log2_copies, begins_next);      \
    }

HISTOGRAM(u8, unsigned char, 1)
HISTOGRAM(u8_pairs, unsigned char, 2)
HISTOGRAM(u16, unsigned short, 1)
HISTOGRAM(u16_pairs, unsigned short, 2)
