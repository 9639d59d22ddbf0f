// From the counts of all codes to the curve: prefix sum, normalization, strength. Reduce, then scan: if there are
// several blocks, `scan_sums` sums up the segment of each block, and `scan` adds the sums of the segments before its
// own. So no block waits for another, or reads the counts of others.
//
// Codes outside of the levels were counted as the nearest level, so the first occupied code is the first occupied
// level.
#include "launch.cuh"
#include "spec.cuh"
#include "warp.cuh"

constexpr unsigned PER_THREAD = 4u;

// The sums of a segment.
struct Segment {
    unsigned samples;
    unsigned first;  // how many samples its first occupied code has; 0 if none is
};

// The segment of a block, for all of its threads; `through` becomes the number of samples up to the thread's last code.
__device__ __forceinline__ Segment segment_of_block(uint4 count, unsigned& through) {
    __shared__ unsigned sums[LANES];    // of each warp
    __shared__ unsigned firsts[LANES];  // and its first count that is not 0
    unsigned lane = threadIdx.x % LANES, warp = threadIdx.x / LANES;
    through = prefix_of_warp(count.x + count.y + count.z + count.w, lane);
    unsigned first = first_of_warp(count.x != 0u ? count.x : count.y != 0u ? count.y : count.z != 0u ? count.z : count.w);
    if (lane == LANES - 1u) {
        sums[warp] = through;
        firsts[warp] = first;
    }
    __syncthreads();
    bool is_warp = lane < blockDim.x / LANES;
    unsigned sum = is_warp ? sums[lane] : 0u;
    through += sum_of_warp(lane < warp ? sum : 0u);
    return {sum_of_warp(sum), first_of_warp(is_warp ? firsts[lane] : 0u)};
}

extern "C" __global__ __launch_bounds__(1024) void scan_sums(const uint4* counts, Segment* segments) {
    wait_for_previous();
    let_next_begin();
    unsigned through;
    Segment segment = segment_of_block(counts[blockIdx.x * blockDim.x + threadIdx.x], through);
    if (threadIdx.x == 0u) segments[blockIdx.x] = segment;
}

// The sums of all segments, of which there are at most 64; `before` becomes the number of samples before this block's
// segment.
__device__ __forceinline__ Segment all_segments(const Segment* segments, unsigned& before) {
    constexpr unsigned ROUNDS = 2u;
    unsigned lane = threadIdx.x % LANES;
    Segment all = {0u, 0u};
    before = 0u;
#pragma unroll
    for (unsigned round = 0u; round < ROUNDS; ++round) {
        unsigned index = round * LANES + lane;
        Segment segment = index < gridDim.x ? segments[index] : Segment{0u, 0u};
        before += index < blockIdx.x ? segment.samples : 0u;
        all.samples += segment.samples;
        unsigned first = first_of_warp(segment.first);
        if (all.first == 0u) all.first = first;
    }
    before = sum_of_warp(before);
    all.samples = sum_of_warp(all.samples);
    return all;
}

extern "C" __global__ __launch_bounds__(1024) void scan(const uint4* counts, uint4* emptied, Levels levels,
                                                        const Segment* segments, ushort4* curve) {
    unsigned quad = blockIdx.x * blockDim.x + threadIdx.x;  // four codes
    // With several blocks the counts are complete: `scan_sums` has waited for them.
    bool is_alone = gridDim.x == 1u;
    if (is_alone) wait_for_previous();
    uint4 count = fresh(&counts[quad]);
    unsigned through;
    Segment all = segment_of_block(count, through);
    if (!is_alone) {
        wait_for_previous();
        unsigned before;
        all = all_segments(segments, before);
        through += before;
    }
    // Other blocks may still read the counts, so this clears the counts of the frame before instead.
    emptied[quad] = make_uint4(0u, 0u, 0u, 0u);
    Spread<unsigned> spread = spread_of(all.first, all.samples);
    unsigned code = quad * PER_THREAD;
    unsigned at_w = through;
    unsigned at_z = at_w - count.w;
    unsigned at_y = at_z - count.z;
    unsigned at_x = at_y - count.y;
    curve[quad] = make_ushort4(curve_at(code, at_x, spread, levels), curve_at(code + 1u, at_y, spread, levels),
                               curve_at(code + 2u, at_z, spread, levels), curve_at(code + 3u, at_w, spread, levels));
}
