// Maps every luma sample through the curve, or shifts every RGB pixel by the change of its luminance. `from` and `to`
// may be the same plane: a thread reads a vector before it writes it, and no other thread accesses it.
#include "components.cuh"
#include "copy_async.cuh"
#include "launch.cuh"
#include "vectors.cuh"

using namespace histeq;

extern __shared__ __align__(16) unsigned char shared_curve[];

// The curve for lookups: a copy in shared memory (narrowed to bytes for one-byte samples), or the curve in global
// memory.
template <typename S, bool SHARED>
struct Curve {
    const unsigned short* curve;

    DEVICE unsigned operator[](unsigned code) const {
        return SHARED ? reinterpret_cast<const S*>(shared_curve)[code] : curve[code];
    }
};

template <typename S>
DEVICE void share(const unsigned short* curve, unsigned max) {
    if (sizeof(S) == 2) {
        // A copy of whole vectors: a curve of 9 bits or more has at least one.
        const uint4* from = reinterpret_cast<const uint4*>(curve);
        uint4* to = reinterpret_cast<uint4*>(shared_curve);
        for (unsigned i = threadIdx.x; i <= max / 8u; i += blockDim.x) copy_async(from + i, to + i);
        commit_copies();
        wait_for_copies<0u>();
    } else {
        for (unsigned code = threadIdx.x; code <= max; code += blockDim.x) shared_curve[code] = (S)curve[code];
    }
    __syncthreads();
}

// Maps all vectors of a plane of luma; STEP samples make a pixel.
template <typename S, int STEP, bool SHARED>
DEVICE void map_all(Vectors<2u>& vectors, uint4* to, Samples samples, Curve<S, SHARED> curve) {
    vectors.each([=](uint4 vector, unsigned index) {
        to[index] = mapped_vector<S, STEP>(vector, index, samples,
                                           [=](unsigned code) { return encoded<S>(curve[code], samples); });
    });
}

// Maps a plane of luma. Loads the first vectors while the curve is copied.
template <typename S, int STEP>
DEVICE void map_stored(const uint4* from, uint4* to, Samples samples, const unsigned short* curve, bool in_shared) {
    constexpr unsigned PIXELS = PER_VECTOR<S> / STEP;
    Vectors<2u> vectors(from, (samples.pixels + PIXELS - 1u) / PIXELS);
    if (in_shared) {
        share<S>(curve, samples.max);
        map_all<S, STEP>(vectors, to, samples, Curve<S, true>{curve});
    } else {
        map_all<S, STEP>(vectors, to, samples, Curve<S, false>{curve});
    }
}

// Shifts RGB pixels by the change of their luminance.
template <typename S, int COMPONENTS, bool PLANAR, bool SHARED>
DEVICE void map_rgb(const uint4* from, uint4* to, unsigned plane_vectors, const uint4* luma, const uint4* mapped,
                    Samples samples, Weights weights, Curve<S, SHARED> curve) {
    auto move = [&](Components<S, COMPONENTS, PLANAR>& components, unsigned, int pixel, unsigned before,
                    unsigned after) {
#pragma unroll
        for (int i = 0; i < COMPONENTS; ++i) {
            if (weights.of[i] == 0u) continue;
            unsigned code = decoded<S>(components.get(pixel, i), samples);
            components.set(pixel, i, encoded<S>(moved(code, before, after, samples.max), samples));
        }
    };
    each_pixel_of_rgb<S, COMPONENTS, PLANAR>(from, to, plane_vectors, luma, mapped, samples, curve, move);
}

// `map_{u8,u16}[_pairs]` maps the luma through the curve, which begins at a multiple of 16 bytes. All other samples
// keep their bits.
// Launch: any number of blocks of up to 1024 threads. Dynamic shared memory: `2^depth` samples if `in_shared` is 1,
// else none.
#define MAP(NAME, S, STEP)                                                                                             \
    extern "C" __global__ __launch_bounds__(1024) void NAME(const uint4* from, uint4* to, Samples samples,             \
                                                            const unsigned short* curve, unsigned in_shared) {         \
        grid_dependency_sync();                                                                                        \
        map_stored<S, STEP>(from, to, samples, curve, in_shared != 0u);                                                \
    }

// `map_{u8,u16}_{packed3,packed4,planar}` shifts RGB by the change of its luminance: from the plane `luma` to the plane
// `mapped`, or, if that is null, to the curve at `luma`. Alpha (weight 0) keeps its bits.
// Launch: as `map_{u8,u16}`, with up to 256 threads a block.
#define MAP_RGB(NAME, S, COMPONENTS, PLANAR)                                                                           \
    extern "C" __global__ __launch_bounds__(256) void map_##NAME(                                                      \
        const uint4* from, uint4* to, unsigned plane_vectors, const uint4* luma, const uint4* mapped, Samples samples, \
        Weights weights, const unsigned short* curve, unsigned in_shared) {                                            \
        grid_dependency_sync();                                                                                        \
        if (in_shared) {                                                                                               \
            share<S>(curve, samples.max);                                                                              \
            map_rgb<S, COMPONENTS, PLANAR>(from, to, plane_vectors, luma, mapped, samples, weights,                    \
                                           Curve<S, true>{curve});                                                     \
        } else {                                                                                                       \
            map_rgb<S, COMPONENTS, PLANAR>(from, to, plane_vectors, luma, mapped, samples, weights,                    \
                                           Curve<S, false>{curve});                                                    \
        }                                                                                                              \
    }

MAP(map_u8, unsigned char, 1)
MAP(map_u8_pairs, unsigned char, 2)
MAP(map_u16, unsigned short, 1)
MAP(map_u16_pairs, unsigned short, 2)
FOR_EACH_RGB_LAYOUT(MAP_RGB)
