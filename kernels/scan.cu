// Computes the curve from the counts of all codes: prefix sum, normalization, strength. Reduce, then scan: with several
// blocks, `scan_sums` sums up the segment of each block, and `scan` adds the sums of the segments before its own. So no
// block waits for another, or reads the counts of others.
//
// Codes outside of the levels were counted as the nearest level, so the first occupied code is the first occupied
// level.
#include "launch.cuh"
#include "spec.cuh"
#include "warp.cuh"

using namespace histeq;

constexpr unsigned PER_THREAD = 4u;

// The sums of a segment.
struct Segment {
    unsigned samples;
    unsigned first;  // how many samples its first occupied code has; 0 if none is
};

// Returns the sums of the block's segment to all of its threads; `through` becomes the number of samples up to the
// thread's last code.
DEVICE Segment segment_of_block(uint4 count, unsigned& through) {
    __shared__ unsigned sums[WARP_THREADS];    // of each warp
    __shared__ unsigned firsts[WARP_THREADS];  // of each warp: its first count that is not 0
    unsigned lane = threadIdx.x % WARP_THREADS, warp = threadIdx.x / WARP_THREADS;
    through = warp_inclusive_sum(count.x + count.y + count.z + count.w, lane);
    unsigned first = warp_first_nonzero(count.x != 0u   ? count.x
                                        : count.y != 0u ? count.y
                                        : count.z != 0u ? count.z
                                                        : count.w);
    if (lane == WARP_THREADS - 1u) {
        sums[warp] = through;
        firsts[warp] = first;
    }
    __syncthreads();
    bool is_warp = lane < blockDim.x / WARP_THREADS;
    unsigned sum = is_warp ? sums[lane] : 0u;
    through += warp_sum(lane < warp ? sum : 0u);
    return {warp_sum(sum), warp_first_nonzero(is_warp ? firsts[lane] : 0u)};
}

// The sums of each block's segment, for `scan`, which follows directly with the same launch shape.
// Arguments: `counts` as for `scan`; `segments` has an entry for each block.
// Launch: as `scan`. A single block needs no sums.
extern "C" __global__ __launch_bounds__(1024) void scan_sums(const uint4* counts, Segment* segments) {
    grid_dependency_sync();
    trigger_next_launch();
    unsigned through;
    Segment segment = segment_of_block(counts[blockIdx.x * blockDim.x + threadIdx.x], through);
    if (threadIdx.x == 0u) segments[blockIdx.x] = segment;
}

// The sums of all segments, of which there are at most 64; `before` becomes the number of samples before this block's
// segment.
DEVICE Segment all_segments(const Segment* segments, unsigned& before) {
    constexpr unsigned ROUNDS = 2u;
    unsigned lane = threadIdx.x % WARP_THREADS;
    Segment all = {0u, 0u};
    before = 0u;
#pragma unroll
    for (unsigned round = 0u; round < ROUNDS; ++round) {
        unsigned index = round * WARP_THREADS + lane;
        Segment segment = index < gridDim.x ? segments[index] : Segment{0u, 0u};
        before += index < blockIdx.x ? segment.samples : 0u;
        all.samples += segment.samples;
        unsigned first = warp_first_nonzero(segment.first);
        if (all.first == 0u) all.first = first;
    }
    before = warp_sum(before);
    all.samples = warp_sum(all.samples);
    return all;
}

// The curve of plain equalization, blended by `levels.strength`.
// Arguments: `counts` has one entry for each code; `cleared`, the counts of the frame before, becomes zero; `curve`
// takes an entry for each code.
// Launch: at most 64 blocks of a multiple of 32 threads, at most 1024; blocks times threads times four is the number of
// codes. No dynamic shared memory.
extern "C" __global__ __launch_bounds__(1024) void scan(const uint4* counts, uint4* cleared, BlendedLevels levels,
                                                        const Segment* segments, ushort4* curve) {
    unsigned quad = blockIdx.x * blockDim.x + threadIdx.x;  // four codes
    // With several blocks the counts are complete: `scan_sums` has waited for them.
    bool is_alone = gridDim.x == 1u;
    if (is_alone) grid_dependency_sync();
    uint4 count = load_cg(&counts[quad]);
    unsigned through;
    Segment all = segment_of_block(count, through);
    if (!is_alone) {
        grid_dependency_sync();
        unsigned before;
        all = all_segments(segments, before);
        through += before;
    }
    // Other blocks may still read the counts, so this clears the counts of the frame before instead.
    cleared[quad] = make_uint4(0u, 0u, 0u, 0u);
    CdfRange<unsigned> range = cdf_range_of(all.first, all.samples);
    unsigned code = quad * PER_THREAD;
    unsigned at_w = through;
    unsigned at_z = at_w - count.w;
    unsigned at_y = at_z - count.z;
    unsigned at_x = at_y - count.y;
    curve[quad] = make_ushort4(curve_at(code, at_x, range, levels), curve_at(code + 1u, at_y, range, levels),
                               curve_at(code + 2u, at_z, range, levels), curve_at(code + 3u, at_w, range, levels));
}
