// From the counts of all codes to the curve: prefix sum, normalization, strength.
//
// Each block makes its share of the curve and needs no other block for it: it sums up all counts by itself, which is
// cheap beside the quotients of a share. Within the share each warp owns a run of codes and goes over it twice, 128
// codes (four a lane) at a time: first for its sum, then, knowing what lies before, for the prefix sums.
//
// The other blocks may still be reading the counts when this one is done, so that they cannot be emptied here. It is
// the counts of the frame before that are.
#include "launch.cuh"
#include "spec.cuh"
#include "warp.cuh"

constexpr unsigned PER_LANE = 4u;
constexpr unsigned long long NONE = ~0ull;

extern "C" __global__ __launch_bounds__(1024) void scan(const uint4* counts, uint4* emptied, unsigned codes,
                                                        Levels levels, ushort4* curve) {
    __shared__ unsigned totals[LANES];             // samples that each warp has seen
    __shared__ unsigned blacks[LANES];             // those of them at or below black
    __shared__ unsigned lowers[LANES];             // those of them below this block's share
    __shared__ unsigned long long firsts[LANES];   // first occupied code between black and white << 32 | its count
    __shared__ unsigned runs[LANES];               // samples in each warp's run

    wait_for_previous();
    unsigned lane = threadIdx.x % LANES;
    unsigned warp = threadIdx.x / LANES;
    unsigned warps = blockDim.x / LANES;
    unsigned share = codes / gridDim.x;
    unsigned lowest = blockIdx.x * share;
    unsigned begin = lowest + warp * (share / warps) + lane * PER_LANE;
    unsigned end = lowest + (warp + 1u) * (share / warps);

    unsigned total = 0u;
    unsigned black = 0u;
    unsigned lower = 0u;
    unsigned long long first = NONE;
#pragma unroll 4
    for (unsigned code = threadIdx.x * PER_LANE; code < codes; code += blockDim.x * PER_LANE) {
        uint4 loaded = counts[code / PER_LANE];
        unsigned count[PER_LANE] = {loaded.x, loaded.y, loaded.z, loaded.w};
#pragma unroll
        for (unsigned i = 0u; i < PER_LANE; ++i) {
            unsigned at = code + i;
            total += count[i];
            if (at < lowest) lower += count[i];
            if (at <= levels.lo) {
                black += count[i];
            } else if (at < levels.hi && count[i] != 0u && first == NONE) {
                first = (unsigned long long)at << 32 | count[i];
            }
        }
    }
    unsigned run = 0u;
    for (unsigned code = begin; code < end; code += LANES * PER_LANE) {
        uint4 loaded = counts[code / PER_LANE];
        run += loaded.x + loaded.y + loaded.z + loaded.w;
    }
    total = sum_of_warp(total);
    black = sum_of_warp(black);
    lower = sum_of_warp(lower);
    first = lowest_of_warp(first);
    run = sum_of_warp(run);
    if (lane == 0u) {
        totals[warp] = total;
        blacks[warp] = black;
        lowers[warp] = lower;
        firsts[warp] = first;
        runs[warp] = run;
    }
    __syncthreads();

    bool owned = lane < warps;
    unsigned all = sum_of_warp(owned ? totals[lane] : 0u);
    unsigned all_black = sum_of_warp(owned ? blacks[lane] : 0u);
    unsigned long long earliest = lowest_of_warp(owned ? firsts[lane] : NONE);
    unsigned before = sum_of_warp((owned ? lowers[lane] : 0u) + (lane < warp ? runs[lane] : 0u));
    // Samples below black count as black and those above white as white; so the first occupied level is black if
    // anything lies there, else the first code between, else white, which then holds all samples.
    unsigned first_count = all_black != 0u ? all_black : earliest != NONE ? (unsigned)earliest : all;
    Spread spread = spread_of(first_count, all);

    for (unsigned code = begin; code < end; code += LANES * PER_LANE) {
        uint4 loaded = counts[code / PER_LANE];
        emptied[code / PER_LANE] = make_uint4(0u, 0u, 0u, 0u);
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
