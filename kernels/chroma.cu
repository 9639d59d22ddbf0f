// Chroma that follows luma: scales every pair of chroma samples by the gain of the luma that it covers, or by a given
// gain, or maps every RGB pixel with its saturation. Where the gain is that of the luma, stored luma has been mapped
// already; `before` is the plane before the mapping.
#include "components.cuh"
#include "launch.cuh"
#include "pairs.cuh"

using namespace histeq;

// One thread per pair. Luma and pairs have separate places in `picture`.
template <typename S>
DEVICE void scale_pairs(const S* before, S* picture, Samples samples, const ChromaPlaces& places,
                        const Colours& colours) {
    grid_dependency_sync();
    each_pair(places, [&](const PlacedPair& placed) {
        Covered covered = {0u, 0u, placed.pixels()};
        placed.each_luma(places, [&](unsigned long long at) {
            unsigned from = code_at<S>(before, at, samples), to = code_at<S>(picture, at, samples);
            covered.before += from > colours.black ? from - colours.black : 0u;
            covered.after += to > colours.black ? to - colours.black : 0u;
        });
        unsigned long long cb = places.cb + placed.at, cr = places.cr + placed.at;
        Pair scaled =
            scaled_pair({code_at<S>(picture, cb, samples), code_at<S>(picture, cr, samples)}, covered, colours);
        set_code<S>(picture, cb, scaled.cb, samples);
        set_code<S>(picture, cr, scaled.cr, samples);
    });
}

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

// RGB, whose saturation follows its luminance, or has a gain.
template <typename S, int COMPONENTS, bool PLANAR>
DEVICE void rescale(uint4* pixels, unsigned plane_vectors, const uint4* luma, const uint4* mapped, Samples samples,
                    Weights weights, const unsigned short* curve, const Gains& gains) {
    grid_dependency_sync();
    auto scale = [&](Components<S, COMPONENTS, PLANAR>& components, unsigned index, int pixel, unsigned before,
                     unsigned after) {
        unsigned gain;
        if (gains.regions == 0u) {
            unsigned lowest = samples.max, highest = 0u;
#pragma unroll
            for (int i = 0; i < COMPONENTS; ++i) {
                if (weights.of[i] == 0u) continue;
                unsigned code = decoded<S>(components.get(pixel, i), samples);
                lowest = code < lowest ? code : lowest;
                highest = code > highest ? code : highest;
            }
            gain = rgb_gain(lowest, highest, before, after, samples.max);
        } else if (gains.regions == 1u) {
            gain = gains.of[0];
        } else {
            unsigned place = index * PER_VECTOR<S> + pixel, y = place / gains.pitch;
            gain = gain_at(place - y * gains.pitch, y, gains);
        }
#pragma unroll
        for (int i = 0; i < COMPONENTS; ++i) {
            if (weights.of[i] == 0u) continue;
            unsigned code = decoded<S>(components.get(pixel, i), samples);
            unsigned becomes = gains.regions == 0u ? rescaled(code, before, after, gain, samples.max)
                                                   : moved_with_gain(code, before, after, gain, samples.max);
            components.set(pixel, i, encoded<S>(becomes, samples));
        }
    };
    each_pixel_of_rgb<S, COMPONENTS, PLANAR>(pixels, pixels, plane_vectors, luma, mapped, samples, curve, scale);
}

// `chroma_{u8,u16}` scales each pair of chroma samples in `picture`, whose luma has been mapped already, by the gain of
// the luma that it covers. `before` is the plane of the luma (with chroma in between, if packed) before the mapping.
// `places` has the layout of both, which `Samples.row` cannot express. `chroma_follow_{u8,u16}` gives each pair the
// gain at the first pixel that it covers.
// Launch: any number of blocks of up to 256 threads; no shared memory. A thread reads luma and its own pair and writes
// its own pair, so threads never conflict.
#define CHROMA(NAME, S)                                                                                                \
    extern "C" __global__ __launch_bounds__(256) void chroma_##NAME(const S* before, S* picture, Samples samples,      \
                                                                    ChromaPlaces places, Colours colours) {            \
        scale_pairs<S>(before, picture, samples, places, colours);                                                     \
    }                                                                                                                  \
    extern "C" __global__ __launch_bounds__(256) void chroma_follow_##NAME(                                            \
        S* picture, Samples samples, ChromaPlaces places, Colours colours, Gains gains) {                              \
        follow_pairs<S>(picture, samples, places, colours, gains);                                                     \
    }

// `chroma_{u8,u16}_{packed3,packed4,planar}` takes the place of `map_*` if saturation follows luminance, or has a gain
// (`gains.regions` above 0): the mapped luminance is in `mapped`, or comes from `curve` if that is null. Alpha (weight
// 0) keeps its bits.
// Launch: any number of blocks of up to 256 threads; no shared memory.
#define CHROMA_RGB(NAME, S, COMPONENTS, PLANAR)                                                                        \
    extern "C" __global__ __launch_bounds__(256) void chroma_##NAME(                                                   \
        uint4* pixels, unsigned plane_vectors, const uint4* luma, const uint4* mapped, Samples samples,                \
        Weights weights, const unsigned short* curve, Gains gains) {                                                   \
        rescale<S, COMPONENTS, PLANAR>(pixels, plane_vectors, luma, mapped, samples, weights, curve, gains);           \
    }

CHROMA(u8, unsigned char)
CHROMA(u16, unsigned short)
FOR_EACH_RGB_LAYOUT(CHROMA_RGB)
