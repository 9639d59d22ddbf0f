// From the counts of the tiles to their curves: temporal window, clip, prefix sum, normalization (src/core/spec/clahe). A
// block makes the curve of one tile.
//
// A block has little work: most of its time is waiting for memory and at barriers. So all loads are issued at the
// beginning, every warp computes shared values by itself, and bins stay in registers.
#include "launch.cuh"
#include "tiles.cuh"
#include "warp.cuh"

typedef unsigned long long Sum;

// The data that the warps of a block exchange: each sum has its own place.
struct Room {
    Sum excess[LANES];
    Sum sums[LANES];
};

// The state from the frames before.
struct History {
    unsigned* slots;
    Sum* sums;
};

// The count of bin `at` in the window with this frame; also updates the history, in which no other thread has this bin.
__device__ __forceinline__ Sum held_with(unsigned count, const Turn& turn, size_t at, size_t all_bins,
                                         const History& history) {
    unsigned evicted[2];
    Sum windows[2];
#pragma unroll
    for (unsigned i = 0u; i < 2u; ++i) {
        evicted[i] = turn.evicted_rows[i] != NOWHERE ? history.slots[turn.evicted_rows[i] * all_bins + at] : 0u;
        windows[i] = history.sums[i * all_bins + at];
    }
    Sum held = 0u;
#pragma unroll
    for (unsigned window = 0u; window < 2u; ++window) {
        Sum sum = windows[window];
#pragma unroll
        for (unsigned i = 0u; i < 2u; ++i) {
            if (turn.evicted_windows[i] == window) sum -= evicted[i];
        }
        if (turn.window == window) {
            held = sum = (turn.fresh ? 0u : sum) + (turn.joins ? count : 0u);
        }
        if (sum != windows[window]) history.sums[window * all_bins + at] = sum;
    }
    history.slots[turn.row * all_bins + at] = count;
    return held;
}

// The sums over all warps, and over the warps before this one.
template <typename T>
struct Told {
    T all;
    T before;
};

template <typename T>
__device__ __forceinline__ Told<T> told_by_all(T value, T* room) {
    unsigned lane = threadIdx.x % LANES, own = threadIdx.x / LANES;
    if (lane == LANES - 1u) room[own] = value;
    __syncthreads();
    Told<T> told = {0u, 0u};
#pragma unroll 8
    for (unsigned warp = 0u; warp < blockDim.x / LANES; ++warp) {
        T found = room[warp];
        told.all += found;
        if (warp < own) told.before += found;
    }
    return told;
}

// Limits each bin to the contrast limit, and distributes the excess over the bins of the range.
template <typename T, unsigned PER>
__device__ __forceinline__ void clip(T (&held)[PER], unsigned first, T total, const Modifiers& m, Room& room) {
    Divisor divisor = divisor_with(m.width, m.inverse);
    T most = (T)(divided((Sum)m.gain * total, divisor).quotient / 256u);
    if (most == 0u) most = 1u;
    T excess = 0u;
#pragma unroll
    for (unsigned i = 0u; i < PER; ++i) {
        if (held[i] > most) excess += held[i] - most;
    }
    excess = told_by_all(sum_of_warp(excess), reinterpret_cast<T*>(room.excess)).all;
    Divided spread = divided(excess, divisor);
    unsigned rest = spread.rest;
    unsigned step = rest == 0u ? 1u : small_quotient(m.width, rest, reciprocal_of((float)rest));
    float reciprocal = reciprocal_of((float)step);
#pragma unroll
    for (unsigned i = 0u; i < PER; ++i) {
        held[i] = held[i] < most ? held[i] : most;
        unsigned bin = first + i - m.first;
        if (first + i < m.first || bin >= m.width) continue;
        unsigned steps = small_quotient(bin, step, reciprocal);
        bool one_more = steps * step == bin && steps < rest;
        held[i] += (T)spread.quotient + one_more;
    }
}

// The table of a curve, from its steps.
template <typename T>
__device__ __forceinline__ void write_table(const T* through_bins, T total, Levels levels, unsigned ceiling,
                                            unsigned keeps_black, unsigned bins, unsigned codes, unsigned short* curve) {
    unsigned count = levels.hi - levels.lo + 1u;
    float reciprocal = reciprocal_of((float)total);
    bool small = ((Sum)total * ceiling) >> 31 == 0u;
    for (unsigned code = threadIdx.x; code < codes; code += blockDim.x) {
        unsigned level = level_code(code, levels) - levels.lo;
        if (level > ceiling || (level == 0u && keeps_black)) {
            curve[code] = levels.lo + level;
            continue;
        }
        Sum cumulative;
        if (bins == count) {
            cumulative = through_bins[level];
        } else {
            unsigned bin = bin_of(level, bins, count);
            Sum below = bin == 0u ? 0u : through_bins[bin - 1u];
            unsigned first_level = first_of_bin(bin, bins, count);
            unsigned width = first_of_bin(bin + 1u, bins, count) - first_level;
            cumulative = below + (through_bins[bin] - below) * (level - first_level + 1u) / width;
        }
        unsigned equalized = small ? half_even_small((unsigned)cumulative * ceiling, (unsigned)total, reciprocal)
                                   : half_even(cumulative * ceiling, total, reciprocal);
        curve[code] = levels.lo + equalized;
    }
}

// From the bins of a tile, PER neighbouring ones per thread, to its curve. T is wide enough for `total`. `steps` is null, or
// takes the steps in place of the table.
template <typename T, unsigned PER>
__device__ __forceinline__ void make_curve(const Sum (&sums)[PER], T total, Levels levels, const Modifiers& m, unsigned bins,
                                           unsigned codes, Room& room, T* through_bins, unsigned short* curve,
                                           unsigned* steps) {
    unsigned first = threadIdx.x * PER;
    T held[PER];
#pragma unroll
    for (unsigned i = 0u; i < PER; ++i) held[i] = (T)sums[i];
    if (m.gain != 0u) clip<T, PER>(held, first, total, m, room);

    T sum = 0u;
#pragma unroll
    for (unsigned i = 0u; i < PER; ++i) sum += held[i];
    T through = prefix_of_warp(sum, threadIdx.x % LANES);
    T at = told_by_all(through, reinterpret_cast<T*>(room.sums)).before + through - sum;
#pragma unroll
    for (unsigned i = 0u; i < PER; ++i) {
        at += held[i];
        if (first + i < bins && steps != nullptr) steps[first + i] = (unsigned)at;
        if (first + i < bins && steps == nullptr) through_bins[first + i] = at;
    }
    if (steps != nullptr) return;
    __syncthreads();
    write_table<T>(through_bins, total, levels, m.ceiling, m.keeps_black, bins, codes, curve);
}

// With PER bins per thread.
template <unsigned PER>
__device__ __forceinline__ void tile_curves(unsigned codes, Levels levels, const Modifiers& m, const Turn& turn,
                                            Tiles tiles, unsigned* tile_counts, const History& history,
                                            unsigned short* curves, unsigned place, Room& room, Sum* through_bins) {
    unsigned bins = tiles.bins;
    size_t all_bins = (size_t)gridDim.x * bins;
    unsigned bin = threadIdx.x * PER;
    size_t first = (size_t)blockIdx.x * bins + bin;
    unsigned count[PER];
#pragma unroll
    for (unsigned i = 0u; i < PER; ++i) {
        count[i] = bin + i < bins ? tile_counts[first + i] : 0u;
        if (bin + i < bins) tile_counts[first + i] = 0u;
    }

    Sum held[PER];
#pragma unroll
    for (unsigned i = 0u; i < PER; ++i) {
        bool is_remembered = turn.remembers && bin + i < bins;
        held[i] = is_remembered ? held_with(count[i], turn, first + i, all_bins, history) : count[i];
    }

    unsigned short* curve = curves + (size_t)blockIdx.x * codes;
    unsigned* steps = nullptr;
    Sum total = (Sum)m.frames * tiles.width * tiles.height;
    if (place == AS_STEPS) {
        steps = reinterpret_cast<unsigned*>(curves);
        if (blockIdx.x + threadIdx.x == 0u) {
            *reinterpret_cast<Scale*>(steps + all_bins) = scale_of((unsigned)total, m.ceiling, m.keeps_black, levels, bins);
        }
        steps += (size_t)blockIdx.x * bins;
    }
    if (total >> 32 == 0u) {
        make_curve<unsigned, PER>(held, (unsigned)total, levels, m, bins, codes, room,
                                  reinterpret_cast<unsigned*>(through_bins), curve, steps);
    } else {
        make_curve<Sum, PER>(held, total, levels, m, bins, codes, room, through_bins, curve, nullptr);
    }
}

extern "C" __global__ __launch_bounds__(1024) void tile_curves(unsigned codes, Levels levels, Modifiers m, Turn turn,
                                                               Tiles tiles, unsigned* tile_counts, unsigned* slots,
                                                               Sum* sums, unsigned short* curves, unsigned place) {
    extern __shared__ Sum through_bins[];  // one for each bin
    __shared__ Room room;
    let_next_begin();
    wait_for_previous();
    History history = {slots, sums};
    if (tiles.bins <= blockDim.x) {
        tile_curves<1u>(codes, levels, m, turn, tiles, tile_counts, history, curves, place, room, through_bins);
    } else {
        tile_curves<4u>(codes, levels, m, turn, tiles, tile_counts, history, curves, place, room, through_bins);
    }
}

// The tables of curves that were left as steps.
extern "C" __global__ __launch_bounds__(1024) void tile_tables(unsigned codes, Levels levels, Tiles tiles,
                                                               const unsigned* steps, unsigned short* curves) {
    wait_for_previous();
    Scale scale = *reinterpret_cast<const Scale*>(steps + (size_t)gridDim.x * tiles.bins);
    write_table<unsigned>(steps + (size_t)blockIdx.x * tiles.bins, scale.total, levels, scale.ceiling, scale.keeps_black,
                          tiles.bins, codes, curves + (size_t)blockIdx.x * codes);
}
