// From the counts of the tiles to their curves: temporal window, clip, prefix sum, normalization (src/spec/clahe). A
// block makes the curve of one tile; every block finds the scene of the frame by itself.
//
// A block has little work: most of its time is waiting for memory and at barriers. So all loads that may be needed are
// issued at the beginning, every warp computes shared values by itself, and bins stay in registers.
#include "launch.cuh"
#include "scenes.cuh"
#include "tiles.cuh"
#include "totals.cuh"

typedef unsigned long long Sum;

// The data that the warps of a block exchange: each sum has its own place.
struct Room {
    __align__(8) unsigned coarse[COARSE];
    Sum excess[LANES];
    Sum sums[LANES];
};

// The counts of all codes of the frame: side by side, or in sectors as `totals.cuh` has them.
struct FrameCounts {
    const uint4* counts;
    uint4* emptied;
    unsigned codes;
    bool in_sectors;

    // The place of four neighbouring codes.
    __device__ __forceinline__ unsigned place(unsigned code) const {
        return in_sectors ? code / SECTOR * (SECTOR_PITCH / 4u) + code % SECTOR / 4u : code / 4u;
    }

    // Counts the frame's samples in coarse bins, for the whole block; the bins are zero before.
    __device__ __forceinline__ void compare(Levels levels, Divisor divisor, unsigned* coarse) const {
        unsigned code = 4u * threadIdx.x;
        uint4 loaded = code < codes ? counts[place(code)] : make_uint4(0u, 0u, 0u, 0u);
        __syncthreads();
        for (;;) {
            unsigned four[4] = {loaded.x, loaded.y, loaded.z, loaded.w};
            unsigned bins[4];
            coarse_bins<4u>(code, levels, divisor, bins);
            add_coarse<4u>(four, bins, coarse);
            code += 4u * blockDim.x;
            if (code >= codes) break;
            loaded = counts[place(code)];
        }
        __syncthreads();
    }

    // Clears the counts of the frame before: other blocks may still read those of this frame.
    __device__ __forceinline__ void empty() const {
        for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < codes / 4u; i += gridDim.x * blockDim.x) {
            emptied[place(4u * i)] = make_uint4(0u, 0u, 0u, 0u);
        }
    }
};

// The state from the frames before.
struct History {
    unsigned* slots;
    Sum* sums;
    Scenes* states;
    unsigned* marks;
};

// The part of the history for a bin.
struct Past {
    unsigned old;     // of the frame that is forgotten now
    unsigned pushed;  // of the one that a full window pushes out
    Sum windows[2];
};

__device__ __forceinline__ Past past_of(size_t at, size_t all_bins, unsigned pushed, Modifiers m, History history) {
    Past past;
    past.old = history.slots[m.slot * all_bins + at];
    past.windows[0] = history.sums[at];
    past.windows[1] = history.sums[all_bins + at];
    past.pushed = pushed != NOWHERE ? history.slots[pushed * all_bins + at] : 0u;
    return past;
}

// The count of a bin in the window with this frame; also updates the history.
__device__ __forceinline__ Sum held_with(unsigned count, const Past& past, Turn turn, size_t at, size_t all_bins,
                                         Modifiers m, History history) {
    Sum held = 0u;
#pragma unroll
    for (unsigned window = 0u; window < 2u; ++window) {
        bool takes = turn.window == window;
        bool leaves = turn.forgotten == window;
        if (!takes && !leaves) continue;
        Sum sum = past.windows[window];
        if (leaves) sum -= past.old;
        if (takes) {
            sum = (turn.fresh ? 0u : sum - past.pushed) + count;
            held = sum;
        }
        history.sums[window * all_bins + at] = sum;
    }
    history.slots[m.slot * all_bins + at] = count;
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

// Limits each bin to the contrast limit, and distributes the excess over all bins.
template <typename T, unsigned PER>
__device__ __forceinline__ void clip(T (&held)[PER], unsigned first, T total, Modifiers m, unsigned bins,
                                     Divisor divisor, Room& room) {
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
    unsigned step = rest == 0u ? 1u : small_quotient(bins, rest, reciprocal_of((float)rest));
    float reciprocal = reciprocal_of((float)step);
#pragma unroll
    for (unsigned i = 0u; i < PER; ++i) {
        unsigned bin = first + i;
        if (bin >= bins) continue;
        unsigned steps = small_quotient(bin, step, reciprocal);
        bool one_more = steps * step == bin && steps < rest;
        held[i] = (held[i] < most ? held[i] : most) + (T)spread.quotient + one_more;
    }
}

// From the bins of a tile, PER neighbouring ones per thread, to its curve. T is wide enough for `total`.
template <typename T, unsigned PER>
__device__ __forceinline__ void make_curve(const Sum (&sums)[PER], T total, Levels levels, Modifiers m, unsigned bins,
                                           unsigned codes, Room& room, T* through_bins, unsigned short* curve) {
    unsigned first = threadIdx.x * PER, count = levels.hi - levels.lo + 1u;
    T held[PER];
#pragma unroll
    for (unsigned i = 0u; i < PER; ++i) held[i] = (T)sums[i];
    if (m.gain != 0u) {
        clip<T, PER>(held, first, total, m, bins, bins == count ? divisor_with(bins, m.inverse) : divisor_of(bins), room);
    }

    T sum = 0u;
#pragma unroll
    for (unsigned i = 0u; i < PER; ++i) sum += held[i];
    T through = prefix_of_warp(sum, threadIdx.x % LANES);
    T at = told_by_all(through, reinterpret_cast<T*>(room.sums)).before + through - sum;
#pragma unroll
    for (unsigned i = 0u; i < PER; ++i) {
        at += held[i];
        if (first + i < bins) through_bins[first + i] = at;
    }
    __syncthreads();

    float reciprocal = reciprocal_of((float)total);
    bool small = ((Sum)total * (count - 1u)) >> 31 == 0u;
    for (unsigned code = threadIdx.x; code < codes; code += blockDim.x) {
        unsigned level = level_code(code, levels) - levels.lo;
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
        unsigned equalized = small ? half_even_small((unsigned)cumulative * (count - 1u), (unsigned)total, reciprocal)
                                   : half_even(cumulative * (count - 1u), total, reciprocal);
        curve[code] = levels.lo + equalized;
    }
}

// With PER bins per thread.
template <unsigned PER>
__device__ __forceinline__ void tile_curves(FrameCounts frame, Levels levels, Modifiers m, Tiles tiles,
                                            unsigned* tile_counts, History history, unsigned short* curves, Room& room,
                                            Sum* through_bins) {
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
    unsigned frames = 1u;
    if (m.slots != 0u) {
        Known known = known_before(m, scenes_before(m, history.states), marks_before(m, history.marks));
        // Most frames belong to the scene of the frame before.
        unsigned likely = turn_of(false, false, m, known).pushed;
        Past past = {};
        if (PER == 1u && bin < bins) past = past_of(first, all_bins, likely, m, history);
        if (threadIdx.x < COARSE) room.coarse[threadIdx.x] = 0u;
        frame.compare(levels, divisor_with(levels.hi - levels.lo + 1u, m.inverse), room.coarse);
        Turn turn = next_turn(room.coarse, m, known);
        if (blockIdx.x == 0u && threadIdx.x < LANES) remember(turn, known, m, history.states, history.marks);
        frames = turn.frames;
#pragma unroll
        for (unsigned i = 0u; i < PER; ++i) {
            held[i] = 0u;
            if (bin + i >= bins) continue;
            if (PER > 1u || turn.pushed != likely) past = past_of(first + i, all_bins, turn.pushed, m, history);
            held[i] = held_with(count[i], past, turn, first + i, all_bins, m, history);
        }
        frame.empty();
    } else {
#pragma unroll
        for (unsigned i = 0u; i < PER; ++i) held[i] = count[i];
    }

    unsigned short* curve = curves + (size_t)blockIdx.x * frame.codes;
    Sum total = (Sum)frames * tiles.width * tiles.height;
    if (total >> 32 == 0u) {
        make_curve<unsigned, PER>(held, (unsigned)total, levels, m, bins, frame.codes, room,
                                  reinterpret_cast<unsigned*>(through_bins), curve);
    } else {
        make_curve<Sum, PER>(held, total, levels, m, bins, frame.codes, room, through_bins, curve);
    }
}

extern "C" __global__ __launch_bounds__(1024) void tile_curves(
    const uint4* counts, uint4* emptied, unsigned codes, unsigned in_sectors, Levels levels, Modifiers m, Tiles tiles,
    unsigned* tile_counts, unsigned* slots, Sum* sums, Scenes* states, unsigned* marks, unsigned short* curves) {
    extern __shared__ Sum through_bins[];  // one for each bin
    __shared__ Room room;
    let_next_begin();
    wait_for_previous();
    FrameCounts frame = {counts, emptied, codes, in_sectors != 0u};
    History history = {slots, sums, states, marks};
    if (tiles.bins <= blockDim.x) {
        tile_curves<1u>(frame, levels, m, tiles, tile_counts, history, curves, room, through_bins);
    } else {
        tile_curves<4u>(frame, levels, m, tiles, tile_counts, history, curves, room, through_bins);
    }
}
