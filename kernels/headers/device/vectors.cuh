// The distribution of the vectors of a plane over the threads of a launch.
#pragma once

#include "device.cuh"

namespace histeq {

// The vectors of the plane at the thread's own index and every `stride` further. AHEAD of them are loaded in advance,
// the first ones by the constructor.
template <unsigned AHEAD>
struct Vectors {
    const uint4* plane;
    unsigned count;  // vectors of the plane
    unsigned index;  // of the thread's next one
    unsigned stride;
    uint4 next[AHEAD];

    DEVICE Vectors(const uint4* plane, unsigned count) : plane(plane), count(count) {
        index = blockIdx.x * blockDim.x + threadIdx.x;
        stride = gridDim.x * blockDim.x;
#pragma unroll
        for (unsigned i = 0u; i < AHEAD; ++i) {
            next[i] = index + i * stride < count ? plane[index + i * stride] : make_uint4(0u, 0u, 0u, 0u);
        }
    }

    // Calls `use` with each vector and its index. `use` may overwrite that vector of the plane, but no other.
    template <typename F>
    DEVICE void each(F use) {
        while (index < count) {
#pragma unroll
            for (unsigned i = 0u; i < AHEAD; ++i, index += stride) {
                if (index >= count) break;
                uint4 now = next[i];
                if (index + AHEAD * stride < count) next[i] = plane[index + AHEAD * stride];
                use(now, index);
            }
        }
    }
};

}  // namespace histeq
