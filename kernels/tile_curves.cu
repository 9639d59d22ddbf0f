// From the counts of the tiles to their curves: temporal window, clip, prefix sum, normalization (src/spec/clahe). A block
// makes the curve of one tile; all of them come by themselves to where in the video the frame belongs.
#include "scenes.cuh"
#include "tiles.cuh"

typedef unsigned long long Sum;

// The frame's samples in coarse bins, for the whole block, out of the counts of all its codes.
__device__ __forceinline__ void compare(const uint4* __restrict__ counts, unsigned codes, Levels levels, Divisor divisor,
                                        unsigned* coarse) {
    if (threadIdx.x < COARSE) coarse[threadIdx.x] = 0u;
    __syncthreads();
    for (unsigned code = 4u * threadIdx.x; code < codes; code += 4u * blockDim.x) {
        uint4 loaded = counts[code / 4u];
        unsigned four[4] = {loaded.x, loaded.y, loaded.z, loaded.w};
        add_coarse<4u>(four, code, levels, divisor, coarse);
    }
    __syncthreads();
}

extern "C" __global__ __launch_bounds__(1024) void tile_curves(
    const uint4* __restrict__ counts, uint4* __restrict__ emptied, unsigned codes, Levels levels, Modifiers m,
    Tiles tiles, unsigned* __restrict__ tile_counts, unsigned* __restrict__ slots, Sum* __restrict__ sums,
    Scenes* states, unsigned* marks, unsigned short* __restrict__ curves) {
    extern __shared__ Sum held[];  // one for each bin
    __shared__ __align__(8) unsigned coarse[COARSE];
    __shared__ Turn shared_turn;
    __shared__ Sum room[LANES];

    unsigned lane = threadIdx.x % LANES;
    unsigned warp = threadIdx.x / LANES;
    unsigned bins = tiles.bins;
    size_t all_bins = (size_t)gridDim.x * bins;
    size_t first = (size_t)blockIdx.x * bins;
    unsigned frames = 1u;

    if (m.slots != 0u) {
        Known known;
        if (warp == 0u) known = known_before(m, scenes_before(m, states), marks_before(m, marks));
        compare(counts, codes, levels, divisor_with(levels.hi - levels.lo + 1u, m.inverse), coarse);
        if (warp == 0u) {
            Turn turn = next_turn(coarse, m, known);
            if (lane == 0u) shared_turn = turn;
            if (blockIdx.x == 0u) remember(turn, known, m, states, marks);
        }
        __syncthreads();
        Turn turn = shared_turn;
        frames = turn.frames;
        for (unsigned bin = threadIdx.x; bin < bins; bin += blockDim.x) {
            size_t at = first + bin;
            unsigned count = tile_counts[at];
            unsigned old = slots[m.slot * all_bins + at];
            unsigned pushed = turn.pushed != NOWHERE ? slots[turn.pushed * all_bins + at] : 0u;
#pragma unroll
            for (unsigned window = 0u; window < 2u; ++window) {
                bool takes = turn.window == window;
                bool leaves = turn.forgotten == window;
                if (!takes && !leaves) continue;
                Sum sum = sums[window * all_bins + at];
                if (leaves) sum -= old;
                if (takes) {
                    sum = (turn.fresh ? 0u : sum - pushed) + count;
                    held[bin] = sum;
                }
                sums[window * all_bins + at] = sum;
            }
            slots[m.slot * all_bins + at] = count;
            tile_counts[at] = 0u;
        }
        // The counts themselves are still being read by other blocks; those of the frame before are not.
        for (unsigned code = blockIdx.x * blockDim.x + threadIdx.x; code < codes / 4u; code += gridDim.x * blockDim.x) {
            emptied[code] = make_uint4(0u, 0u, 0u, 0u);
        }
    } else {
        for (unsigned bin = threadIdx.x; bin < bins; bin += blockDim.x) {
            held[bin] = tile_counts[first + bin];
            tile_counts[first + bin] = 0u;
        }
    }
    __syncthreads();

    Sum total = (Sum)frames * tiles.width * tiles.height;
    if (m.gain != 0u) {
        Divisor divisor = divisor_of(bins);
        Sum most = m.gain * total / (256u * (Sum)bins);
        if (most == 0u) most = 1u;
        Sum excess = 0u;
        for (unsigned bin = threadIdx.x; bin < bins; bin += blockDim.x) {
            if (held[bin] > most) excess += held[bin] - most;
        }
        Divided spread = divided(sum_of_block(excess, room), divisor);
        unsigned step = spread.rest == 0u ? 1u : bins / spread.rest;
        for (unsigned bin = threadIdx.x; bin < bins; bin += blockDim.x) {
            bool one_more = bin % step == 0u && bin / step < spread.rest;
            held[bin] = (held[bin] < most ? held[bin] : most) + spread.quotient + one_more;
        }
        __syncthreads();
    }

    // Each thread has a run of bins; the sums through each bin replace what the bin holds.
    unsigned run = (bins + blockDim.x - 1u) / blockDim.x;
    unsigned begin = threadIdx.x * run < bins ? threadIdx.x * run : bins;
    unsigned end = begin + run < bins ? begin + run : bins;
    Sum sum = 0u;
    for (unsigned bin = begin; bin < end; ++bin) sum += held[bin];
    Sum through = prefix_of_warp(sum, lane);
    __syncthreads();
    if (lane == LANES - 1u) room[warp] = through;
    __syncthreads();
    Sum at = through - sum;
    for (unsigned other = 0u; other < warp; ++other) at += room[other];
    for (unsigned bin = begin; bin < end; ++bin) {
        at += held[bin];
        held[bin] = at;
    }
    __syncthreads();

    unsigned count = levels.hi - levels.lo + 1u;
    float reciprocal = 1.0f / (float)total;
    unsigned short* curve = curves + (size_t)blockIdx.x * codes;
    for (unsigned code = threadIdx.x; code < codes; code += blockDim.x) {
        unsigned level = code < levels.lo ? 0u : code > levels.hi ? count - 1u : code - levels.lo;
        unsigned bin = bin_of(level, bins, count);
        Sum cumulative = held[bin];
        if (bins != count) {
            Sum below = bin == 0u ? 0u : held[bin - 1u];
            unsigned first_level = first_of_bin(bin, bins, count);
            unsigned width = first_of_bin(bin + 1u, bins, count) - first_level;
            cumulative = below + (cumulative - below) * (level - first_level + 1u) / width;
        }
        curve[code] = levels.lo + half_even(cumulative * (count - 1u), total, reciprocal);
    }
}
