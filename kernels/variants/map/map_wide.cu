// Maps elements with loads and stores of 16 bytes. Not from a publication: the algorithm of kernels/map.cu.
//
// What to expect: for bytes a sixteenth of the loads and stores, which take most of the time of the other maps.
#include "elements.cuh"

using namespace histeq;

extern __shared__ unsigned short shared_lut[];

template <typename S>
DEVICE void map_vectors(const S* from, S* to, const Area& area, const unsigned short* curve) {
    for (unsigned code = threadIdx.x; code <= area.max; code += blockDim.x) shared_lut[code] = curve[code];
    __syncthreads();
    constexpr unsigned EACH = 16u / sizeof(S), BITS = 8u * sizeof(S);
    unsigned elements = area.width * area.height, vectors = elements / EACH;
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    for (unsigned i = thread; i < vectors; i += threads) {
        uint4 loaded = reinterpret_cast<const uint4*>(from)[i];
        unsigned words[4] = {loaded.x, loaded.y, loaded.z, loaded.w};
        unsigned mapped[4] = {0u, 0u, 0u, 0u};
#pragma unroll
        for (unsigned e = 0u; e < EACH; ++e) {
            unsigned stored = words[e * sizeof(S) / 4u] >> (e * BITS % 32u);
            if (sizeof(S) < 4) stored &= (1u << (BITS % 32u)) - 1u;
            mapped[e * sizeof(S) / 4u] |= (unsigned)shared_lut[code_of(stored, 0u, area.max)] << (e * BITS % 32u);
        }
        reinterpret_cast<uint4*>(to)[i] = make_uint4(mapped[0], mapped[1], mapped[2], mapped[3]);
    }
    for (unsigned i = vectors * EACH + thread; i < elements; i += threads) {
        to[i] = (S)shared_lut[element(from, area, i)];
    }
}

#define MAP(NAME, S)                                                                                                   \
    extern "C" __global__ __launch_bounds__(1024) void map_wide_##NAME(const S* from, S* to, Area area,                \
                                                                       const unsigned short* curve, unsigned run) {    \
        (void)run;                                                                                                     \
        map_vectors<S>(from, to, area, curve);                                                                         \
    }

MAP(u8, unsigned char)
MAP(u16, unsigned short)
MAP(u32, unsigned)
