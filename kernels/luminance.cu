// The luminance of RGB as a separate plane: codes of one byte each, or two for more than 8 bits. A thread makes one
// vector of luminance from as many vectors as a pixel has components.
#include "components.cuh"
#include "launch.cuh"

using namespace histeq;

template <typename S, int COMPONENTS, bool PLANAR>
DEVICE void luminance(const uint4* pixels, unsigned plane_vectors, Samples samples, Weights weights, uint4* luma) {
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

// `luminance_{u8,u16}_{packed3,packed4,planar}`
// Arguments: `luma` takes codes, one byte each for 8 bits, else two in the GPU's byte order. `weights` follow the order
// in memory, 0 for alpha; `plane_vectors` is the distance of planes in vectors (planar only).
// Launch: one thread for each vector of `luma`, at most 256 a block; no shared memory.
#define LUMINANCE(NAME, S, COMPONENTS, PLANAR)                                                                         \
    extern "C" __global__ __launch_bounds__(256) void luminance_##NAME(                                                \
        const uint4* pixels, unsigned plane_vectors, Samples samples, Weights weights, uint4* luma) {                  \
        luminance<S, COMPONENTS, PLANAR>(pixels, plane_vectors, samples, weights, luma);                               \
    }

FOR_EACH_RGB_LAYOUT(LUMINANCE)
