// Chroma that follows luma: scales every pair of chroma samples by the gain of the luma that it covers, or maps every
// RGB pixel with its saturation. Stored luma has been mapped already; `before` is the plane before the mapping.
#include "components.cuh"
#include "launch.cuh"

// Sample `index` of a plane, as a code.
template <typename S>
__device__ __forceinline__ unsigned code_at(const S* plane, unsigned long long index, Samples samples) {
    unsigned stored = plane[index];
    if (sizeof(S) > 1) stored = in_order(stored, samples.swapped) & 0xffffu;
    return decoded<S>(stored, samples);
}

template <typename S>
__device__ __forceinline__ void set_code(S* plane, unsigned long long index, unsigned code, Samples samples) {
    unsigned stored = encoded<S>(code, samples);
    if (sizeof(S) > 1) stored = in_order(stored, samples.swapped) & 0xffffu;
    plane[index] = (S)stored;
}

// One thread per pair. No thread writes a sample that another one reads, because luma and pairs have separate places in
// `picture`.
template <typename S>
__device__ __forceinline__ void scale_pairs(const S* before, S* picture, Samples samples, ChromaPlaces places,
                                            Colours colours) {
    wait_for_previous();
    unsigned group_width = 1u << places.log2_width, group_height = 1u << places.log2_height;
    unsigned columns = (places.width + group_width - 1u) / group_width;
    unsigned rows = (places.height + group_height - 1u) / group_height;
    unsigned pairs = columns * rows;
    for (unsigned index = blockIdx.x * blockDim.x + threadIdx.x; index < pairs; index += gridDim.x * blockDim.x) {
        unsigned row = index / columns, column = index - row * columns;
        unsigned x_begin = column << places.log2_width, y_begin = row << places.log2_height;
        unsigned x_end = x_begin + group_width, y_end = y_begin + group_height;
        if (x_end > places.width) x_end = places.width;
        if (y_end > places.height) y_end = places.height;

        Covered covered = {0u, 0u, (x_end - x_begin) * (y_end - y_begin)};
        for (unsigned y = y_begin; y < y_end; ++y) {
            for (unsigned x = x_begin; x < x_end; ++x) {
                unsigned long long at =
                    (unsigned long long)y * places.luma_pitch + x * places.luma_step + places.luma;
                unsigned from = code_at<S>(before, at, samples), to = code_at<S>(picture, at, samples);
                covered.before += from > colours.black ? from - colours.black : 0u;
                covered.after += to > colours.black ? to - colours.black : 0u;
            }
        }
        unsigned long long at = (unsigned long long)row * places.pitch + column * places.step;
        Pair pair = {code_at<S>(picture, places.cb + at, samples), code_at<S>(picture, places.cr + at, samples)};
        Pair scaled = scaled_pair(pair, covered, colours);
        set_code<S>(picture, places.cb + at, scaled.cb, samples);
        set_code<S>(picture, places.cr + at, scaled.cr, samples);
    }
}

// RGB, whose saturation follows its luminance.
template <typename S, int COMPONENTS, bool PLANAR>
__device__ __forceinline__ void rescale(uint4* pixels, unsigned plane_vectors, const uint4* luma, const uint4* mapped,
                                        Samples samples, Weights weights, const unsigned short* curve) {
    wait_for_previous();
    auto scale = [&](Components<S, COMPONENTS, PLANAR>& components, int pixel, unsigned before, unsigned after) {
        unsigned lowest = samples.max, highest = 0u;
#pragma unroll
        for (int i = 0; i < COMPONENTS; ++i) {
            if (weights.of[i] == 0u) continue;
            unsigned code = decoded<S>(components.get(pixel, i), samples);
            lowest = code < lowest ? code : lowest;
            highest = code > highest ? code : highest;
        }
        unsigned gain = rgb_gain(lowest, highest, before, after, samples.max);
#pragma unroll
        for (int i = 0; i < COMPONENTS; ++i) {
            if (weights.of[i] == 0u) continue;
            unsigned code = decoded<S>(components.get(pixel, i), samples);
            components.set(pixel, i, encoded<S>(rescaled(code, before, after, gain, samples.max), samples));
        }
    };
    each_pixel_of_rgb<S, COMPONENTS, PLANAR>(pixels, pixels, plane_vectors, luma, mapped, samples, curve, scale);
}

#define CHROMA(NAME, S)                                                                                             \
    extern "C" __global__ __launch_bounds__(256) void NAME(const S* before, S* picture, Samples samples,            \
                                                           ChromaPlaces places, Colours colours) {                  \
        scale_pairs<S>(before, picture, samples, places, colours);                                                  \
    }

#define CHROMA_RGB(NAME, S, COMPONENTS, PLANAR)                                                                     \
    extern "C" __global__ __launch_bounds__(256) void NAME(uint4* pixels, unsigned plane_vectors, const uint4* luma, \
                                                           const uint4* mapped, Samples samples, Weights weights,   \
                                                           const unsigned short* curve) {                           \
        rescale<S, COMPONENTS, PLANAR>(pixels, plane_vectors, luma, mapped, samples, weights, curve);               \
    }

CHROMA(chroma_u8, unsigned char)
CHROMA(chroma_u16, unsigned short)
CHROMA_RGB(chroma_u8_packed3, unsigned char, 3, false)
CHROMA_RGB(chroma_u8_packed4, unsigned char, 4, false)
CHROMA_RGB(chroma_u8_planar, unsigned char, 3, true)
CHROMA_RGB(chroma_u16_packed3, unsigned short, 3, false)
CHROMA_RGB(chroma_u16_packed4, unsigned short, 4, false)
CHROMA_RGB(chroma_u16_planar, unsigned short, 3, true)
