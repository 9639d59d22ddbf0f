// The luminance of RGB as a separate plane: codes of one byte each, or two for more than 8 bits. A thread makes one
// vector of luminance from as many vectors as a pixel has components.
#include "components.cuh"
#include "launch.cuh"

using namespace histeq;

template <typename S, int COMPONENTS, bool PLANAR>
__device__ __forceinline__ void luminance(const uint4* pixels, unsigned plane_vectors, Samples samples, Weights weights,
                                          uint4* luma) {
    grid_dependency_sync();
    unsigned index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= (samples.pixels + PER_VECTOR<S> - 1u) / PER_VECTOR<S>) return;

    Components<S, COMPONENTS, PLANAR> components;
    components.load(pixels, plane_vectors, index, samples);
    Words out = {};
#pragma unroll
    for (int pixel = 0; pixel < PER_VECTOR<S>; ++pixel) {
        unsigned sum = 0u;
#pragma unroll
        for (int i = 0; i < COMPONENTS; ++i) {
            sum += weights.of[i] * decoded<S>(components.get(pixel, i), samples);
        }
        out.of[pixel / PER_WORD<S>] |= luminance_of(sum) << (pixel % PER_WORD<S> * BITS<S>);
    }
    luma[index] = vector(out);
}

#define LUMINANCE(NAME, S, COMPONENTS, PLANAR)                                                                         \
    extern "C" __global__ __launch_bounds__(256) void NAME(const uint4* pixels, unsigned plane_vectors,                \
                                                           Samples samples, Weights weights, uint4* luma) {            \
        luminance<S, COMPONENTS, PLANAR>(pixels, plane_vectors, samples, weights, luma);                               \
    }

LUMINANCE(luminance_u8_packed3, unsigned char, 3, false)
LUMINANCE(luminance_u8_packed4, unsigned char, 4, false)
LUMINANCE(luminance_u8_planar, unsigned char, 3, true)
LUMINANCE(luminance_u16_packed3, unsigned short, 3, false)
LUMINANCE(luminance_u16_packed4, unsigned short, 4, false)
LUMINANCE(luminance_u16_planar, unsigned short, 3, true)
