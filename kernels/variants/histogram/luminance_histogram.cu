// Counts the luminance of colour pixels in one kernel, without a plane of luminance in between: the kernel of
// cuda-rgb-luminance-histogram, in blocks of 128 threads with 64 consecutive pixels each. The luminance is that of the
// specification, in integers; `_truncated` is the publication's, in floats without rounding.
//
// What to expect: in consecutive runs of four-byte pixels, a warp's loads lie 256 bytes apart, so they read 32 cache
// lines for 128 bytes; an interleaved walk reads each line once.
#include "elements.cuh"
#include "formulas.cuh"

using namespace histeq;

struct Rgb {
    unsigned r, g, b;
};

// One word per pixel: blue in the lowest byte, then green, red, and one that is ignored.
struct Bgra {
    static DEVICE Rgb at(const unsigned char* pixels, unsigned index) {
        unsigned word = reinterpret_cast<const unsigned*>(pixels)[index];
        return Rgb{word >> 16 & 0xffu, word >> 8 & 0xffu, word & 0xffu};
    }
};

struct Packed {
    static DEVICE Rgb at(const unsigned char* pixels, unsigned index) {
        const unsigned char* pixel = pixels + (size_t)index * 3u;
        return Rgb{pixel[0], pixel[1], pixel[2]};
    }
};

struct Exact {
    static DEVICE unsigned of(Rgb rgb, const Weights& weights) {
        return luminance_of(weights.of[0] * rgb.r + weights.of[1] * rgb.g + weights.of[2] * rgb.b);
    }
};

struct Truncated {
    static DEVICE unsigned of(Rgb rgb, const Weights&) { return truncated_luminance(rgb.r, rgb.g, rgb.b); }
};

template <typename PIXELS, typename LUMINANCE>
DEVICE void count_luminance(const unsigned char* pixels, const Area& area, const Weights& weights, unsigned* counts,
                            unsigned run) {
    __shared__ unsigned private_counts[256];
    for (unsigned bin = thread_of_block(); bin < 256u; bin += threads_of_block()) private_counts[bin] = 0u;
    __syncthreads();

    Walk walk = walk_of(area, run);
    for (unsigned i = walk.begin; i < walk.end; i += walk.stride) {
        atomicAdd(&private_counts[LUMINANCE::of(PIXELS::at(pixels, i), weights)], 1u);
    }
    __syncthreads();

    for (unsigned bin = thread_of_block(); bin < 256u; bin += threads_of_block()) {
        atomicAdd(&counts[bin], private_counts[bin]);
    }
}

// `weights` are those of red, green and blue, in this order.
#define LUMINANCE_HISTOGRAM(NAME, PIXELS, LUMINANCE)                                                                   \
    extern "C" __global__ __launch_bounds__(1024) void luminance_histogram_##NAME(                                     \
        const unsigned char* pixels, Area area, Weights weights, unsigned* counts, unsigned run) {                     \
        count_luminance<PIXELS, LUMINANCE>(pixels, area, weights, counts, run);                                        \
    }

LUMINANCE_HISTOGRAM(bgra, Bgra, Exact)
LUMINANCE_HISTOGRAM(rgb, Packed, Exact)
LUMINANCE_HISTOGRAM(bgra_truncated, Bgra, Truncated)
LUMINANCE_HISTOGRAM(rgb_truncated, Packed, Truncated)
