// From the counts of a frame to its curve, with every step of the specification: temporal window, plateau, bins,
// contrast limit, prefix sum, normalization, line, strength (src/spec/equalization.rs, step for step). Which frames are in
// the window, the host says (`Turn`).
//
// A crew does this: the first threads of a block, each of which keeps PER neighbouring codes in registers from the
// first step to the last. With MANY, the crews of several blocks, all resident at once, share the codes and exchange
// data through `Grid`.
#pragma once

#include "barriers.cuh"
#include "fetch.cuh"
#include "spec.cuh"
#include "warp.cuh"

constexpr unsigned MOST_BLOCKS = 64u;

typedef unsigned long long Sum;

// The crew of a block: its first WARPS warps, or all warps if WARPS is 0. The other warps may do something else.
template <unsigned WARPS>
struct Crew {
    __device__ __forceinline__ static unsigned warps() { return WARPS != 0u ? WARPS : blockDim.x / LANES; }

    // A barrier of the crew: after it, all see what each has written before.
    __device__ __forceinline__ static void meet() {
        wait_at<1u>(warps() * LANES);
    }
};

// The data that blocks exchange.
struct Grid {
    unsigned arrived;            // at barriers, ever
    unsigned flat[MOST_BLOCKS];  // 1 where one level holds all samples
    Sum totals[MOST_BLOCKS];     // of the window
    Sum sums[MOST_BLOCKS];       // as in `Tidings`
    Sum firsts[MOST_BLOCKS];     // the lowest steps
    Sum black;                   // what black holds
    unsigned cuts[MOST_BLOCKS];  // as in `Tidings`
};
static_assert(sizeof(Grid) == 2064, "Grid is not as large as src/cuda/history.rs allocates");

// The sums of the warps' levels under the contrast limit.
template <typename Count>
struct Tidings {
    Count sums[LANES];     // whole samples that they keep
    unsigned cuts[LANES];  // how many of them have been cut
};

// The data that the threads of a crew exchange in shared memory. Each sum has its own place, so that no second barrier
// is needed.
struct Room {
    unsigned flat;  // zero when a frame comes
    Sum black;      // what black holds
    Sum totals[LANES];
    Sum firsts[LANES];
    Tidings<unsigned> narrow;
    Tidings<Sum> wide;

    __device__ __forceinline__ Tidings<unsigned>& tidings(unsigned) { return narrow; }
    __device__ __forceinline__ Tidings<Sum>& tidings(Sum) { return wide; }
};

// The state from the frames before: a histogram in each row of `slots`; `sums` has the sums of the two windows twice, used
// alternately.
struct History {
    unsigned* slots;
    Sum* sums;
};

// The part of the history for the codes of a thread.
template <unsigned PER>
struct Past {
    unsigned evicted[2][PER];  // of the histograms that leave a window, what the plateau has left
    Sum windows[2][PER];
};

template <unsigned PER>
__device__ __forceinline__ void load(const unsigned* from, unsigned (&to)[PER]) {
    if (PER % 4u == 0u) {
#pragma unroll
        for (unsigned i = 0u; i < PER; i += 4u) {
            uint4 four = *reinterpret_cast<const uint4*>(from + i);
            to[i] = four.x;
            to[(i + 1u) % PER] = four.y;
            to[(i + 2u) % PER] = four.z;
            to[(i + 3u) % PER] = four.w;
        }
    } else {
#pragma unroll
        for (unsigned i = 0u; i < PER; ++i) to[i] = from[i];
    }
}

template <unsigned PER>
__device__ __forceinline__ void store(const unsigned (&from)[PER], unsigned* to) {
    if (PER % 4u == 0u) {
#pragma unroll
        for (unsigned i = 0u; i < PER; i += 4u) {
            *reinterpret_cast<uint4*>(to + i) =
                make_uint4(from[i], from[(i + 1u) % PER], from[(i + 2u) % PER], from[(i + 3u) % PER]);
        }
    } else {
#pragma unroll
        for (unsigned i = 0u; i < PER; ++i) to[i] = from[i];
    }
}

template <unsigned PER>
__device__ __forceinline__ void load(const Sum* from, Sum (&to)[PER]) {
#pragma unroll
    for (unsigned i = 0u; i < PER; ++i) to[i] = from[i];
}

template <unsigned PER>
__device__ __forceinline__ void store(const Sum (&from)[PER], Sum* to) {
#pragma unroll
    for (unsigned i = 0u; i < PER; ++i) to[i] = from[i];
}

// What a plateau leaves of these counts.
template <unsigned PER>
__device__ __forceinline__ void capped(unsigned (&count)[PER], unsigned cap) {
#pragma unroll
    for (unsigned i = 0u; i < PER; ++i) count[i] = count[i] < cap ? count[i] : cap;
}

template <unsigned PER>
__device__ __forceinline__ Past<PER> past_of(unsigned code, unsigned codes, const Turn& turn, const History& history) {
    Past<PER> past = {};
#pragma unroll
    for (unsigned i = 0u; i < 2u; ++i) {
        if (turn.evicted_rows[i] == NOWHERE) continue;
        load<PER>(history.slots + (size_t)turn.evicted_rows[i] * codes + code, past.evicted[i]);
        capped<PER>(past.evicted[i], turn.evicted_caps[i]);
    }
    const Sum* sums = history.sums + 2u * codes * turn.half;
    load<PER>(sums + code, past.windows[0]);
    load<PER>(sums + codes + code, past.windows[1]);
    return past;
}

// Prefetches that part of all codes, by `threads` threads, of which this is number `thread`.
__device__ __forceinline__ void prefetch_past(unsigned thread, unsigned threads, unsigned codes, const Turn& turn,
                                              const History& history) {
    constexpr unsigned LINE = 128u;
    const Sum* sums = history.sums + 2u * codes * turn.half;
    for (unsigned i = thread * LINE / 8u; i < 2u * codes; i += threads * LINE / 8u) {
        prefetch(sums + i);
#pragma unroll
        for (unsigned j = 0u; j < 2u; ++j) {
            unsigned row = turn.evicted_rows[j];
            if (row != NOWHERE && i < codes / 2u) prefetch(history.slots + (size_t)row * codes + 2u * i);
        }
    }
}

// A barrier of the grid: after it, all blocks see what each has written before.
__device__ __forceinline__ void meet(Grid* grid) {
    __syncthreads();
    if (threadIdx.x == 0u) {
        __threadfence();
        unsigned ticket = atomicAdd(&grid->arrived, 1u);
        unsigned all_here = (ticket / gridDim.x + 1u) * gridDim.x;
        volatile unsigned* arrived = &grid->arrived;
        while ((int)(*arrived - all_here) < 0) {
        }
        __threadfence();
    }
    __syncthreads();
}

// The sum over the warps of a crew, after a barrier.
template <typename Crew, typename T>
__device__ __forceinline__ T sum_over_crew(const T* told) {
    unsigned lane = threadIdx.x % LANES;
    return sum_of_warp(lane < Crew::warps() ? told[lane] : (T)0);
}

// The sums over other warps.
template <typename Count>
struct Told {
    Count before;         // the sum of the warps before it
    Count all;            // and of all
    unsigned cut_before;  // levels that have been cut, likewise
    unsigned cut;
};

// The sums over the warps of the crew, after a barrier.
template <typename Crew, typename Count>
__device__ __forceinline__ Told<Count> told_by_all(const Tidings<Count>& tidings) {
    unsigned lane = threadIdx.x % LANES, warp = threadIdx.x / LANES;
    bool is_warp = lane < Crew::warps();
    Count sum = is_warp ? tidings.sums[lane] : 0;
    unsigned cut = is_warp ? tidings.cuts[lane] : 0u;
    Told<Count> told;
    told.before = sum_of_warp(lane < warp ? sum : (Count)0);
    told.all = sum_of_warp(sum);
    told.cut_before = sum_of_warp(lane < warp ? cut : 0u);
    told.cut = sum_of_warp(cut);
    return told;
}

// The same over all blocks; `told` has the sums of this block's crew.
template <typename Count>
__device__ __forceinline__ void add_other_blocks(Told<Count>& told, bool& flat, Grid* grid) {
    if (threadIdx.x == 0u) {
        grid->sums[blockIdx.x] = told.all;
        grid->cuts[blockIdx.x] = told.cut;
        grid->flat[blockIdx.x] = flat;
    }
    meet(grid);
    Told<Count> others = {0, 0, 0u, 0u};
    unsigned others_flat = 0u;
    for (unsigned other = threadIdx.x % LANES; other < gridDim.x; other += LANES) {
        Count sum = ((volatile Sum*)grid->sums)[other];
        unsigned cut = ((volatile unsigned*)grid->cuts)[other];
        if (other < blockIdx.x) {
            others.before += sum;
            others.cut_before += cut;
        }
        others.all += sum;
        others.cut += cut;
        others_flat |= ((volatile unsigned*)grid->flat)[other];
    }
    told.before += sum_of_warp(others.before);
    told.cut_before += sum_of_warp(others.cut_before);
    told.all = sum_of_warp(others.all);
    told.cut = sum_of_warp(others.cut);
    flat = __any_sync(ALL, others_flat != 0u);
}

// The lowest value of all threads; warps exchange theirs in `room`, blocks in `told`.
template <bool MANY, typename Crew>
__device__ __forceinline__ Sum lowest_of_all(Sum value, Sum* room, Sum* told, Grid* grid) {
    unsigned lane = threadIdx.x % LANES;
    value = lowest_of_warp(value);
    if (lane == 0u) room[threadIdx.x / LANES] = value;
    Crew::meet();
    value = lowest_of_warp(lane < Crew::warps() ? room[lane] : ~0ull);
    if (!MANY) return value;
    if (threadIdx.x == 0u) told[blockIdx.x] = value;
    meet(grid);
    for (unsigned other = lane; other < gridDim.x; other += LANES) {
        Sum others = ((volatile Sum*)told)[other];
        if (others < value) value = others;
    }
    return lowest_of_warp(value);
}

// The sum of the values of all threads of all crews; warps exchange theirs in `room`, blocks in `told`.
template <bool MANY, typename Crew>
__device__ __forceinline__ Sum sum_of_all(Sum value, Sum* room, Sum* told, Grid* grid) {
    value = sum_of_warp(value);
    if (threadIdx.x % LANES == 0u) room[threadIdx.x / LANES] = value;
    Crew::meet();
    Sum sum = sum_over_crew<Crew>(room);
    if (!MANY) return sum;
    if (threadIdx.x == 0u) told[blockIdx.x] = sum;
    meet(grid);
    sum = 0u;
    for (unsigned other = threadIdx.x % LANES; other < gridDim.x; other += LANES) sum += ((volatile Sum*)told)[other];
    return sum_of_warp(sum);
}

// The count of the thread's code number `i` in a window after this update, without this frame.
template <unsigned PER>
__device__ __forceinline__ Sum others_in(const Turn& turn, unsigned window, const Past<PER>& past, unsigned i) {
    if (turn.fresh && turn.window == window) return 0u;
    Sum sum = window == 0u ? past.windows[0][i] : past.windows[1][i];
#pragma unroll
    for (unsigned j = 0u; j < 2u; ++j) {
        if (turn.evicted_windows[j] == window) sum -= past.evicted[j][i];
    }
    return sum;
}

// Writes the sums of both windows, of which the frame has a part in one that the plateau leaves, and the frame's own counts
// for the next frame.
template <unsigned PER>
__device__ __forceinline__ void write_windows(const Turn& turn, const Past<PER>& past, const unsigned (&count)[PER],
                                              unsigned cap, unsigned code, unsigned codes, const History& history) {
    Sum* sums = history.sums + 2u * codes * (1u - turn.half) + code;
#pragma unroll
    for (unsigned window = 0u; window < 2u; ++window) {
        bool takes = turn.joins && turn.window == window;
#pragma unroll
        for (unsigned i = 0u; i < PER; ++i) {
            unsigned kept = count[i] < cap ? count[i] : cap;
            sums[window * codes + i] = others_in<PER>(turn, window, past, i) + (takes ? kept : 0u);
        }
    }
    store<PER>(count, history.slots + (size_t)turn.row * codes + code);
}

// Sums the levels into bins, and distributes them over the levels again.
template <unsigned PER, bool MANY, typename Crew, typename Count>
__device__ __forceinline__ void in_bins(Count (&held)[PER], unsigned code, Levels levels, unsigned asked, Sum* bins,
                                        Grid* grid) {
    unsigned count = levels.hi - levels.lo + 1u;
#pragma unroll
    for (unsigned i = 0u; i < PER; ++i) {
        if (held[i] != 0u) atomicAdd(&bins[bin_of(code + i - levels.lo, asked, count)], (Sum)held[i]);
    }
    __threadfence();
    if (MANY) {
        meet(grid);
    } else {
        Crew::meet();
    }
#pragma unroll
    for (unsigned i = 0u; i < PER; ++i) {
        if (code + i < levels.lo || code + i > levels.hi) continue;
        unsigned level = code + i - levels.lo;
        unsigned bin = bin_of(level, asked, count);
        unsigned first = first_of_bin(bin, asked, count);
        Sum whole = ((volatile Sum*)bins)[bin];
        held[i] = (Count)part_of_bin(whole, level - first, first_of_bin(bin + 1u, asked, count) - first);
    }
}

// The prefix sums of a histogram under a contrast limit.
template <typename Count, unsigned PER>
struct Ladder {
    Count whole[PER];      // whole samples that each level of a thread keeps,
    bool cut[PER];         // and whether it has been cut
    Count before;          // the sum of the levels below those,
    unsigned cut_before;   // and how many of them have been cut
    Count all;             // of all levels
    unsigned cut_of_all;
    Sum black;             // what black holds
    bool flat;             // whether one level held everything
};

// The prefix sums of levels with the counts `held`.
template <typename Count, unsigned PER, bool MANY, typename Crew>
__device__ __forceinline__ Ladder<Count, PER> ladder_of(const Count (&held)[PER], unsigned code, Levels levels,
                                                        Limit limit, Room& room, Grid* grid) {
    unsigned lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, below = (1u << lane) - 1u;
    Count whole = limit.whole > (Count)~(Count)0 ? ~(Count)0 : (Count)limit.whole;
    Ladder<Count, PER> ladder;
    Count sum = 0;
    unsigned cut = 0u, cut_before = 0u;
#pragma unroll
    for (unsigned i = 0u; i < PER; ++i) {
        ladder.cut[i] = held[i] > whole;
        ladder.whole[i] = ladder.cut[i] ? whole : held[i];
        sum += ladder.whole[i];
        unsigned all_cut = __ballot_sync(ALL, ladder.cut[i]);
        cut += __popc(all_cut);
        cut_before += __popc(all_cut & below);
        if (code + i == levels.lo) (MANY ? grid->black : room.black) = held[i];
    }
    Count through = prefix_of_warp(sum, lane);
    Tidings<Count>& tidings = room.tidings(Count());
    if (lane == LANES - 1u) {
        tidings.sums[warp] = through;
        tidings.cuts[warp] = cut;
    }
    Crew::meet();
    Told<Count> told = told_by_all<Crew>(tidings);
    ladder.flat = room.flat != 0u;
    if (MANY) add_other_blocks(told, ladder.flat, grid);
    ladder.before = told.before + through - sum;
    ladder.cut_before = told.cut_before + cut_before;
    ladder.all = told.all;
    ladder.cut_of_all = told.cut;
    ladder.black = MANY ? *(volatile Sum*)&grid->black : room.black;
    return ladder;
}

// The samples of a window that the plateau leaves, if known already.
struct Left {
    bool is_known;
    Sum samples;
};

// Computes the curve at the thread's codes from the histogram of the window: bins, contrast limit, prefix sum. `bins` has
// zeroed entries for the sums in bins; null without bins. The samples of a window fit a Count.
template <typename Count, unsigned PER, bool MANY, typename Crew>
__device__ __forceinline__ void equalize(Count (&held)[PER], Left left, unsigned code, Levels levels,
                                         const Modifiers& m, const Line& line, Sum* bins, Room& room, Grid* grid,
                                         unsigned (&mapped)[PER]) {
    Divisor divisor = divisor_with(m.width, m.inverse);
    Sum total = (Sum)m.frames * m.samples;
    if (left.is_known) {
        total = left.samples;
    } else if (m.varies || m.cap != UNCAPPED) {
        Sum sum = 0u;
#pragma unroll
        for (unsigned i = 0u; i < PER; ++i) sum += held[i];
        total = sum_of_all<MANY, Crew>(sum, room.totals, MANY ? grid->totals : nullptr, grid);
    }
    // If one level holds all samples, the curve is the identity, whatever the other settings are.
#pragma unroll
    for (unsigned i = 0u; i < PER; ++i) {
        if (held[i] == total) room.flat = 1u;
    }

    if (bins != nullptr) in_bins<PER, MANY, Crew>(held, code, levels, m.bins, bins, grid);
    bool is_limited = m.gain != 0u;
    Limit limit = {~0ull, 0u};
    if (is_limited) limit = limit_of(m.gain, total, divisor);

    Ladder<Count, PER> ladder = ladder_of<Count, PER, MANY, Crew>(held, code, levels, limit, room, grid);
    Sum all = ladder.all;
    Divided excess = {0u, 0u};
    if (is_limited) {
        all = 256u * total;
        excess = divided(all - kept_by(ladder.all, ladder.cut_of_all, limit), divisor);
    }
    Sum step[PER];  // the cumulative distribution
    Sum sum = ladder.before;
    unsigned cut = ladder.cut_before;
#pragma unroll
    for (unsigned i = 0u; i < PER; ++i) {
        sum += ladder.whole[i];
        cut += ladder.cut[i];
        step[i] = sum;
        if (is_limited) step[i] = kept_by(sum, cut, limit) + shared_out(shares_up_to(level_code(code + i, levels) - levels.lo, m.first, m.width), excess, divisor);
    }
    Sum first;  // the lowest step
    if (excess.quotient != 0u && m.first == 0u) {
        // Every level has a share, so the first step is that of black.
        bool is_cut = ladder.black > limit.whole;
        first = kept_by(is_cut ? limit.whole : ladder.black, is_cut, limit) + excess.quotient;
    } else {
        first = ~0ull;
#pragma unroll
        for (unsigned i = 0u; i < PER; ++i) {
            bool is_level = code + i >= levels.lo && code + i <= levels.hi;
            if (is_level && step[i] != 0u && step[i] < first) first = step[i];
        }
        first = lowest_of_all<MANY, Crew>(first, room.firsts, MANY ? grid->firsts : nullptr, grid);
    }
    Spread<Sum> spread = spread_of(first, ladder.flat ? first : all);
#pragma unroll
    for (unsigned i = 0u; i < PER; ++i) {
        mapped[i] = curve_at(code + i, line_code(code + i, levels, line), step[i], spread, levels, m.ceiling);
    }
}
