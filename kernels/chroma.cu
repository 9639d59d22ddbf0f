// Multiplies every pair of chroma samples by a gain, or maps every RGB pixel and multiplies its colour by a gain.
#include "components.cuh"
#include "launch.cuh"
#include "pairs.cuh"

using namespace histeq;

// Scales each pair by the gain at the first pixel that it covers.
template <typename S>
DEVICE void follow_pairs(S* picture, Samples samples, const ChromaPlaces& places, const Colours& colours,
                         const Gains& gains) {
    grid_dependency_sync();
    each_pair(places, [&](const PlacedPair& placed) {
        unsigned gain = gain_at(placed.x_begin, placed.y_begin, gains);
        for (int i = 0; i < 2; ++i) {
            unsigned long long at = (i == 0 ? places.cb : places.cr) + placed.at;
            set_code<S>(picture, at, followed(code_at<S>(picture, at, samples), gain, colours), samples);
        }
    });
}

// Maps RGB, and multiplies the colour of each pixel by the gain at that pixel.
template <typename S, int COMPONENTS, bool PLANAR>
DEVICE void follow_pixels(uint4* pixels, unsigned plane_vectors, const uint4* luma, const uint4* mapped,
                          Samples samples, Weights weights, const unsigned short* curve, const Gains& gains) {
    grid_dependency_sync();
    auto follow = [&](Components<S, COMPONENTS, PLANAR>& components, unsigned index, int pixel, unsigned before,
                      unsigned after) {
        unsigned gain;
        if (gains.regions == 1u) {
            gain = gains.of[0];
        } else {
            unsigned place = index * PER_VECTOR<S> + pixel, y = place / gains.pitch;
            gain = gain_at(place - y * gains.pitch, y, gains);
        }
#pragma unroll
        for (int i = 0; i < COMPONENTS; ++i) {
            if (weights.of[i] == 0u) continue;
            unsigned code = decoded<S>(components.get(pixel, i), samples);
            unsigned becomes = moved_with_gain(code, before, after, gain, samples.max);
            components.set(pixel, i, encoded<S>(becomes, samples));
        }
    };
    each_pixel_of_rgb<S, COMPONENTS, PLANAR>(pixels, pixels, plane_vectors, luma, mapped, samples, curve, follow);
}

// `chroma_follow_{u8,u16}` multiplies each pair of chroma samples in `picture` by the gain at the first pixel that it
// covers. `places` has their layout, which `Samples.row` cannot express.
// Launch: any number of blocks of up to 256 threads; no shared memory. A thread reads and writes its own pair, so
// threads never conflict.
#define CHROMA(NAME, S)                                                                                                \
    extern "C" __global__ __launch_bounds__(256) void chroma_follow_##NAME(                                            \
        S* picture, Samples samples, ChromaPlaces places, Colours colours, Gains gains) {                              \
        follow_pairs<S>(picture, samples, places, colours, gains);                                                     \
    }

// `chroma_{u8,u16}_{packed3,packed4,planar}` replaces `map_*` where chroma has a gain. The mapped luminance is in
// `mapped`; where that is null, `curve` gives it. Alpha (weight 0) keeps its bits.
// Launch: any number of blocks of up to 256 threads; no shared memory.
#define CHROMA_RGB(NAME, S, COMPONENTS, PLANAR)                                                                        \
    extern "C" __global__ __launch_bounds__(256) void chroma_##NAME(                                                   \
        uint4* pixels, unsigned plane_vectors, const uint4* luma, const uint4* mapped, Samples samples,                \
        Weights weights, const unsigned short* curve, Gains gains) {                                                   \
        follow_pixels<S, COMPONENTS, PLANAR>(pixels, plane_vectors, luma, mapped, samples, weights, curve, gains);     \
    }

CHROMA(u8, unsigned char)
CHROMA(u16, unsigned short)
FOR_EACH_RGB_LAYOUT(CHROMA_RGB)
