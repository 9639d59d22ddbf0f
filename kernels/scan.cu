// From the counts of all codes to the curve: prefix sum, normalization, strength, in one block. The counts are left at
// zero, so that the next frame finds them empty without a memset of its own.
//
// Each warp owns a run of codes and goes over it twice, 128 codes (four a lane) at a time: first for its sum, then,
// knowing what all warps before it hold, for the prefix sums. The block meets only once in between.
#include "spec.cuh"

constexpr unsigned ALL = 0xffffffffu;
constexpr unsigned LANES = 32u;
constexpr unsigned PER_LANE = 4u;
constexpr unsigned long long NONE = ~0ull;

__device__ __forceinline__ unsigned sum_of_warp(unsigned value) {
    for (unsigned distance = LANES / 2u; distance > 0u; distance /= 2u) value += __shfl_xor_sync(ALL, value, distance);
    return value;
}

__device__ __forceinline__ unsigned long long min_of_warp(unsigned long long value) {
    for (unsigned distance = LANES / 2u; distance > 0u; distance /= 2u) {
        unsigned long long other = __shfl_xor_sync(ALL, value, distance);
        value = other < value ? other : value;
    }
    return value;
}

// The sum over this lane and those before it.
__device__ __forceinline__ unsigned prefix_of_warp(unsigned value, unsigned lane) {
    for (unsigned distance = 1u; distance < LANES; distance *= 2u) {
        unsigned before = __shfl_up_sync(ALL, value, distance);
        if (lane >= distance) value += before;
    }
    return value;
}

extern "C" __global__ __launch_bounds__(1024) void scan(uint4* counts, unsigned codes, Levels levels, ushort4* curve) {
    __shared__ unsigned totals[LANES];             // samples in each warp's run
    __shared__ unsigned blacks[LANES];             // those of them at or below black
    __shared__ unsigned long long firsts[LANES];  // first occupied code between black and white << 32 | its count

    unsigned lane = threadIdx.x % LANES;
    unsigned warp = threadIdx.x / LANES;
    unsigned warps = blockDim.x / LANES;
    unsigned begin = warp * (codes / warps);
    unsigned end = begin + codes / warps;

    unsigned total = 0u;
    unsigned black = 0u;
    unsigned long long first = NONE;
    for (unsigned code = begin + lane * PER_LANE; code < end; code += LANES * PER_LANE) {
        uint4 loaded = counts[code / PER_LANE];
        unsigned count[PER_LANE] = {loaded.x, loaded.y, loaded.z, loaded.w};
#pragma unroll
        for (unsigned i = 0u; i < PER_LANE; ++i) {
            unsigned at = code + i;
            total += count[i];
            if (at <= levels.lo) {
                black += count[i];
            } else if (at < levels.hi && count[i] != 0u && first == NONE) {
                first = (unsigned long long)at << 32 | count[i];
            }
        }
    }
    total = sum_of_warp(total);
    black = sum_of_warp(black);
    first = min_of_warp(first);
    if (lane == 0u) {
        totals[warp] = total;
        blacks[warp] = black;
        firsts[warp] = first;
    }
    __syncthreads();

    bool owned = lane < warps;
    unsigned in_run = owned ? totals[lane] : 0u;
    unsigned before = sum_of_warp(lane < warp ? in_run : 0u);
    unsigned all = sum_of_warp(in_run);
    unsigned all_black = sum_of_warp(owned ? blacks[lane] : 0u);
    unsigned long long earliest = min_of_warp(owned ? firsts[lane] : NONE);
    // Samples below black count as black and those above white as white; so the first occupied level is black if
    // anything lies there, else the first code between, else white, which then holds all samples.
    unsigned first_count = all_black != 0u ? all_black : earliest != NONE ? (unsigned)earliest : all;
    Spread spread = spread_of(first_count, all);

    for (unsigned code = begin + lane * PER_LANE; code < end; code += LANES * PER_LANE) {
        uint4 loaded = counts[code / PER_LANE];
        counts[code / PER_LANE] = make_uint4(0u, 0u, 0u, 0u);
        unsigned sum = loaded.x + loaded.y + loaded.z + loaded.w;
        unsigned through = before + prefix_of_warp(sum, lane);
        unsigned at_w = through;
        unsigned at_z = at_w - loaded.w;
        unsigned at_y = at_z - loaded.z;
        unsigned at_x = at_y - loaded.y;
        curve[code / PER_LANE] = make_ushort4(
            curve_at(code, at_x, spread, levels), curve_at(code + 1u, at_y, spread, levels),
            curve_at(code + 2u, at_z, spread, levels), curve_at(code + 3u, at_w, spread, levels));
        before = __shfl_sync(ALL, through, LANES - 1u);
    }
}
