// Stretches red, green and blue independently. In YUV, luma and chroma are both rewritten at once, because each depends
// on the other.
#include "components.cuh"
#include "launch.cuh"
#include "pairs.cuh"

using namespace histeq;

// One thread per pair of chroma samples and the luma that it covers.
template <typename S>
DEVICE void balance_yuv(S* picture, Samples samples, BlendedLevels levels, const ChromaPlaces& places,
                        const Colours& colours, const BalanceOfYuv& balance) {
    grid_dependency_sync();
    each_pair(places, [&](const PlacedPair& placed) {
        unsigned long long places_of[2] = {places.cb + placed.at, places.cr + placed.at};
        int cb = (int)code_at<S>(picture, places_of[0], samples) - colours.centre;
        int cr = (int)code_at<S>(picture, places_of[1], samples) - colours.centre;
        int all = 0, highest = (int)(levels.hi - levels.lo);
        placed.each_luma(places, [&](unsigned long long at) {
            int level = (int)(level_code(code_at<S>(picture, at, samples), levels) - levels.lo);
            all += level;
            int sum = balanced_sum(balance, 0u, level, cb, cr);
            set_code<S>(picture, at, levels.lo + (unsigned)(sum < 0 ? 0 : sum > highest ? highest : sum), samples);
        });
        int mean = all / (int)placed.pixels();
        for (unsigned row = 1u; row <= 2u; ++row) {
            int sum = balanced_sum(balance, row, mean, cb, cr), most = colours.reach;
            sum = sum < -most ? -most : sum > most ? most : sum;
            set_code<S>(picture, places_of[row - 1u], (unsigned)(colours.centre + sum), samples);
        }
    });
}

template <typename S, int COMPONENTS, bool PLANAR>
DEVICE void balance_rgb(uint4* pixels, unsigned plane_vectors, Samples samples, const Weights& weights,
                        const Balance& balance) {
    grid_dependency_sync();
    unsigned vectors = (samples.pixels + PER_VECTOR<S> - 1u) / PER_VECTOR<S>;
    for (unsigned index = blockIdx.x * blockDim.x + threadIdx.x; index < vectors; index += gridDim.x * blockDim.x) {
        Components<S, COMPONENTS, PLANAR> components;
        components.load(pixels, plane_vectors, index, samples);
#pragma unroll
        for (int pixel = 0; pixel < PER_VECTOR<S>; ++pixel) {
#pragma unroll
            for (int i = 0; i < COMPONENTS; ++i) {
                if (weights.of[i] == 0u) continue;
                unsigned code = decoded<S>(components.get(pixel, i), samples);
                unsigned becomes = balanced(code, balance.gains[i], balance.offsets[i], samples.max);
                components.set(pixel, i, encoded<S>(becomes, samples));
            }
        }
        components.store(pixels, plane_vectors, index, samples);
    }
}

// `balance_{u8,u16}` stretches red, green and blue of YUV independently, in place: luma and chroma become weighted sums
// of each other.
// Launch: any number of blocks of up to 256 threads; no shared memory. A thread has a pair of chroma samples and all
// luma that it covers, so threads never conflict.
#define BALANCE(NAME, S)                                                                                               \
    extern "C" __global__ __launch_bounds__(256) void balance_##NAME(S* picture, Samples samples,                      \
                                                                     BlendedLevels levels, ChromaPlaces places,        \
                                                                     Colours colours, BalanceOfYuv balance) {          \
        balance_yuv<S>(picture, samples, levels, places, colours, balance);                                            \
    }

// `balance_{u8,u16}_{packed3,packed4,planar}` stretches the components of RGB in place. Alpha (weight 0) keeps its
// bits.
// Launch: as `balance_{u8,u16}`.
#define BALANCE_RGB(NAME, S, COMPONENTS, PLANAR)                                                                       \
    extern "C" __global__ __launch_bounds__(256) void balance_##NAME(                                                  \
        uint4* pixels, unsigned plane_vectors, Samples samples, Weights weights, Balance balance) {                    \
        balance_rgb<S, COMPONENTS, PLANAR>(pixels, plane_vectors, samples, weights, balance);                          \
    }

BALANCE(u8, unsigned char)
BALANCE(u16, unsigned short)
FOR_EACH_RGB_LAYOUT(BALANCE_RGB)
