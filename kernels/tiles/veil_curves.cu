// Computes the curves that remove a veil, a table for each region, for `tile_map` (src/core/spec/curves/tone.rs).
#include "launch.cuh"
#include "spec.cuh"

using namespace histeq;

// A table for each of the 8 x 8 regions under a veil: from the offset that is subtracted, the gain of the rest, and
// where `veil.bends` is 1, a piecewise linear curve. Products of the curve have 128 bits, as in
// `src/core/spec/natural/tone_curve.rs`, so extreme parameters give the same codes as there.
// Launch: any number of blocks of up to 256 threads; no shared memory.
extern "C" __global__ __launch_bounds__(256) void veil_curves(unsigned log2_codes, BlendedLevels levels, Veil veil,
                                                              ToneCurve curve, unsigned short* curves) {
    // The order matters: `tile_map` reads the picture as soon as it begins, and the kernel before this one may still
    // write it until the wait ends.
    grid_dependency_sync();
    trigger_next_launch();
    unsigned entries = REGIONS * REGIONS << log2_codes;
    for (unsigned entry = blockIdx.x * blockDim.x + threadIdx.x; entry < entries; entry += gridDim.x * blockDim.x) {
        unsigned region = entry >> log2_codes, code = entry - (region << log2_codes);
        curves[entry] = (unsigned short)unveiled(code, levels, veil.taken[region], veil.gains[region], veil, curve);
    }
}
