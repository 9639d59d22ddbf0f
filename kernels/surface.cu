// Copies rows of a decoder's two-byte samples, whose codes lie in the high bits, as rows of codes. A thread copies one
// vector.
#include "launch.cuh"
#include "samples.cuh"

using namespace histeq;

// Arguments: `from` has 16-bit samples, whose codes are shifted up by `shift` bits; `to` receives codes. Both have
// whole vectors in each row; pitches and the `vectors` of a row are counted in vectors.
// Launch: in x one thread for each vector of a row, at most 256 a block; in y one block a row; no shared memory.
extern "C" __global__ __launch_bounds__(256) void surface_u16(const uint4* from, unsigned from_pitch, uint4* to,
                                                              unsigned to_pitch, unsigned vectors, unsigned shift) {
    grid_dependency_sync();
    unsigned index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= vectors) return;

    unsigned long long row = blockIdx.y;
    Words moved = words(from[row * from_pitch + index]);
    // A word has two samples: the mask removes the bits that are shifted from the upper one into the lower one.
    unsigned codes = (0xffffu >> shift) * 0x10001u;
#pragma unroll
    for (int i = 0; i < 4; ++i) moved.of[i] = moved.of[i] >> shift & codes;
    to[row * to_pitch + index] = vector(moved);
}
