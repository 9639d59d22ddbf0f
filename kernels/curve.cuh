// From the counts of a frame to its curve, with every step of the specification: temporal window, plateau, bins,
// contrast limit, prefix sum, normalization, line, strength (src/core/spec/equalization.rs, step for step). Which frames are in
// the window, the host says (`Turn`).
//
// A crew does this: the first threads of a block, each of which keeps PER neighbouring codes in registers from the
// first step to the last. With MANY, the crews of several blocks, all resident at once, share the codes and exchange
// data through `Grid`.
#pragma once

#include "barriers.cuh"
#include "fetch.cuh"
#include "launch.cuh"
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

// What a block publishes for the others: the lower or the upper 32 bits of a sum. A sum of 32 bits has no upper ones.
enum Word {
    TOTAL,       // samples of the window
    TOTAL_HIGH,
    KEPT,        // whole samples that its levels keep, as `Tidings::sums`
    KEPT_HIGH,
    LOWEST,      // what the lowest of its levels that holds any samples holds, or 0
    LOWEST_HIGH,
    CUT,         // four times the levels that have been cut, plus 2 if black holds samples, plus 1 if one level holds all
    FIRST,       // its lowest step
    FIRST_HIGH,
    WORDS,
};

// The data that blocks exchange in global memory.
struct Grid {
    Sum words[WORDS][MOST_BLOCKS];  // the number of the launch that has published it, and below it the word
    unsigned arrived;               // at barriers, ever
    unsigned unused;
};
static_assert(sizeof(Grid) == 4616, "Grid is not as large as src/core/cuda/history.rs allocates");

// The blocks of a launch. Each publishes a word at most once in a launch; the others read it until the number of this
// launch stands beside it. So they wait for no more than the word, and need neither a barrier of the grid nor a fence.
struct Blocks {
    Grid* grid;
    unsigned launch;  // another number than the launches before it had

    __device__ __forceinline__ void publish(Word word, unsigned value) const {
        write_shared(&grid->words[word][blockIdx.x], (Sum)launch << 32 | value);
    }
    __device__ __forceinline__ void publish_sum(Word word, unsigned sum) const { publish(word, sum); }
    __device__ __forceinline__ void publish_sum(Word word, Sum sum) const {
        publish(word, (unsigned)sum);
        publish((Word)(word + 1), (unsigned)(sum >> 32));
    }

    // Waits for these words of all blocks. A lane gets those of the blocks that have its number, or that and a multiple of
    // LANES; 0 where there is no such block.
    template <unsigned COUNT>
    __device__ __forceinline__ void collect(const Word (&words)[COUNT], unsigned (&collected)[MOST_BLOCKS / LANES][COUNT]) const {
        bool is_whole;
        do {
            is_whole = true;
#pragma unroll
            for (unsigned i = 0u; i < MOST_BLOCKS / LANES; ++i) {
                unsigned block = threadIdx.x % LANES + i * LANES;
#pragma unroll
                for (unsigned j = 0u; j < COUNT; ++j) {
                    Sum found = block < gridDim.x ? read_shared(&grid->words[words[j]][block]) : (Sum)launch << 32;
                    collected[i][j] = (unsigned)found;
                    is_whole &= (unsigned)(found >> 32) == launch;
                }
            }
        } while (!is_whole);
    }
};

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
    Sum firsts[LANES];  // of several blocks, at first what the lowest level of each warp that holds any samples holds
    Tidings<unsigned> narrow;
    Tidings<Sum> wide;
    // Of all blocks, or of those before this one.
    Sum total, before, kept, lowest, first;
    unsigned cut_before, cut, flags;

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
            uint4 four = fresh(reinterpret_cast<const uint4*>(from + i));
            to[i] = four.x;
            to[(i + 1u) % PER] = four.y;
            to[(i + 2u) % PER] = four.z;
            to[(i + 3u) % PER] = four.w;
        }
    } else {
#pragma unroll
        for (unsigned i = 0u; i < PER; ++i) to[i] = fresh(from + i);
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
    for (unsigned i = 0u; i < PER; ++i) to[i] = fresh(from + i);
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

// The words of a sum that begins with `word`.
template <typename Count>
constexpr unsigned WORDS_OF = sizeof(Count) / sizeof(unsigned);

template <typename Count, unsigned COUNT>
__device__ __forceinline__ Count sum_at(const unsigned (&words)[COUNT], unsigned at) {
    return WORDS_OF<Count> == 1u ? (Count)words[at] : (Count)((Sum)words[(at + 1u) % COUNT] << 32 | words[at]);
}

// The count of the lowest lane that has one, for all lanes; 0 if none has.
template <typename Count>
__device__ __forceinline__ Count lowest_of_lanes(Count count) {
    unsigned having = __ballot_sync(ALL, count != 0);
    return having == 0u ? (Count)0 : __shfl_sync(ALL, count, __ffs(having) - 1);
}

// What of a histogram decides where its curve begins.
template <typename Count>
struct Start {
    Count lowest;    // what the lowest level with samples holds; with one block, what black holds
    bool has_black;  // whether that level is black; true with one block
    bool flat;       // whether one level holds all samples
};

// The same over all blocks. `told` has the sums of this block's crew, `start` the same of its levels. In between, this does
// `meanwhile`.
template <typename Count, typename F>
__device__ __forceinline__ void add_other_blocks(Told<Count>& told, Start<Count>& start, Room& room, Blocks blocks,
                                                 F meanwhile) {
    constexpr unsigned OF_SUM = WORDS_OF<Count>, LOWEST_AT = OF_SUM, CUT_AT = 2u * OF_SUM;
    if (threadIdx.x == 0u) {
        blocks.publish_sum(KEPT, told.all);
        blocks.publish_sum(LOWEST, start.lowest);
        blocks.publish(CUT, 4u * told.cut + 2u * start.has_black + start.flat);
    }
    meanwhile();
    if (threadIdx.x < LANES) {
        Word words[CUT_AT + 1u];
#pragma unroll
        for (unsigned i = 0u; i < OF_SUM; ++i) {
            words[i] = (Word)(KEPT + i);
            words[LOWEST_AT + i] = (Word)(LOWEST + i);
        }
        words[CUT_AT] = CUT;
        unsigned collected[MOST_BLOCKS / LANES][CUT_AT + 1u];
        blocks.collect(words, collected);
        Told<Count> all = {0, 0, 0u, 0u};
        Count lowest = 0;
        unsigned flags = 0u;
#pragma unroll
        for (unsigned i = 0u; i < MOST_BLOCKS / LANES; ++i) {
            Count kept = sum_at<Count>(collected[i], 0u);
            unsigned cut = collected[i][CUT_AT] / 4u;
            if (threadIdx.x + i * LANES < blockIdx.x) {
                all.before += kept;
                all.cut_before += cut;
            }
            all.all += kept;
            all.cut += cut;
            Count of_these = lowest_of_lanes(sum_at<Count>(collected[i], LOWEST_AT));
            if (lowest == 0) lowest = of_these;
            flags |= collected[i][CUT_AT] % 4u;
        }
        all.before = sum_of_warp(all.before);
        all.cut_before = sum_of_warp(all.cut_before);
        all.all = sum_of_warp(all.all);
        all.cut = sum_of_warp(all.cut);
        bool has_black = __any_sync(ALL, (flags & 2u) != 0u), flat = __any_sync(ALL, (flags & 1u) != 0u);
        if (threadIdx.x == 0u) {
            room.before = all.before;
            room.cut_before = all.cut_before;
            room.kept = all.all;
            room.cut = all.cut;
            room.lowest = lowest;
            room.flags = 2u * has_black + flat;
        }
    }
    __syncthreads();
    told.before += (Count)room.before;
    told.cut_before += room.cut_before;
    told.all = (Count)room.kept;
    told.cut = room.cut;
    start = {(Count)room.lowest, (room.flags & 2u) != 0u, (room.flags & 1u) != 0u};
}

// The lowest value of all threads of all crews.
template <bool MANY, typename Crew>
__device__ __forceinline__ Sum lowest_of_all(Sum value, Room& room, Blocks blocks) {
    unsigned lane = threadIdx.x % LANES;
    value = lowest_of_warp(value);
    if (lane == 0u) room.firsts[threadIdx.x / LANES] = value;
    Crew::meet();
    value = lowest_of_warp(lane < Crew::warps() ? room.firsts[lane] : ~0ull);
    if (!MANY) return value;
    if (threadIdx.x == 0u) blocks.publish_sum(FIRST, value);
    if (threadIdx.x < LANES) {
        unsigned collected[MOST_BLOCKS / LANES][2];
        blocks.collect({FIRST, FIRST_HIGH}, collected);
#pragma unroll
        for (unsigned i = 0u; i < MOST_BLOCKS / LANES; ++i) {
            Sum other = sum_at<Sum>(collected[i], 0u);
            if (lane + i * LANES < gridDim.x && other < value) value = other;
        }
        value = lowest_of_warp(value);
        if (lane == 0u) room.first = value;
    }
    __syncthreads();
    return room.first;
}

// The sum of the values of all threads of all crews.
template <bool MANY, typename Crew, typename Count>
__device__ __forceinline__ Count sum_of_all(Count value, Room& room, Blocks blocks) {
    value = sum_of_warp(value);
    if (threadIdx.x % LANES == 0u) room.totals[threadIdx.x / LANES] = value;
    Crew::meet();
    if (!MANY) return (Count)sum_over_crew<Crew>(room.totals);
    if (threadIdx.x < LANES) {
        Count sum = (Count)sum_over_crew<Crew>(room.totals);
        if (threadIdx.x == 0u) blocks.publish_sum(TOTAL, sum);
        Word words[WORDS_OF<Count>];
#pragma unroll
        for (unsigned i = 0u; i < WORDS_OF<Count>; ++i) words[i] = (Word)(TOTAL + i);
        unsigned collected[MOST_BLOCKS / LANES][WORDS_OF<Count>];
        blocks.collect(words, collected);
        sum = 0;
#pragma unroll
        for (unsigned i = 0u; i < MOST_BLOCKS / LANES; ++i) sum += sum_at<Count>(collected[i], 0u);
        sum = sum_of_warp(sum);
        if (threadIdx.x == 0u) room.total = sum;
    }
    __syncthreads();
    return (Count)room.total;
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
                                        Blocks blocks) {
    unsigned count = levels.hi - levels.lo + 1u;
#pragma unroll
    for (unsigned i = 0u; i < PER; ++i) {
        if (held[i] != 0u) atomicAdd(&bins[bin_of(code + i - levels.lo, asked, count)], (Sum)held[i]);
    }
    __threadfence();
    if (MANY) {
        meet(blocks.grid);
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
    Start<Count> start;
};

// The prefix sums of levels with the counts `held`. While it waits for other blocks, or else at once, this does `meanwhile`.
template <typename Count, unsigned PER, bool MANY, typename Crew, typename F>
__device__ __forceinline__ Ladder<Count, PER> ladder_of(const Count (&held)[PER], unsigned code, Levels levels,
                                                        Limit limit, Room& room, Blocks blocks, F meanwhile) {
    unsigned lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, below = (1u << lane) - 1u;
    Count whole = limit.whole > (Count)~(Count)0 ? ~(Count)0 : (Count)limit.whole;
    Ladder<Count, PER> ladder;
    Count sum = 0, lowest = 0;
    unsigned cut = 0u, cut_before = 0u;
    unsigned first = blockIdx.x * blockDim.x * PER;
    bool has_black = !MANY || levels.lo - first < blockDim.x * PER;
#pragma unroll
    for (unsigned i = 0u; i < PER; ++i) {
        ladder.cut[i] = held[i] > whole;
        ladder.whole[i] = ladder.cut[i] ? whole : held[i];
        sum += ladder.whole[i];
        if (lowest == 0) lowest = held[i];
        unsigned all_cut = __ballot_sync(ALL, ladder.cut[i]);
        cut += __popc(all_cut);
        cut_before += __popc(all_cut & below);
        if (code + i == levels.lo) room.black = held[i];
    }
    Count through = prefix_of_warp(sum, lane);
    if (MANY) lowest = lowest_of_lanes(lowest);
    Tidings<Count>& tidings = room.tidings(Count());
    if (lane == LANES - 1u) {
        tidings.sums[warp] = through;
        tidings.cuts[warp] = cut;
        if (MANY) room.firsts[warp] = lowest;
    }
    Crew::meet();
    Told<Count> told = told_by_all<Crew>(tidings);
    Count black = has_black ? (Count)room.black : (Count)0;
    ladder.start = {black, !MANY || black != 0, room.flat != 0u};
    if (MANY) {
        ladder.start.lowest = lowest_of_lanes(lane < Crew::warps() ? (Count)room.firsts[lane] : (Count)0);
        add_other_blocks(told, ladder.start, room, blocks, meanwhile);
    } else {
        meanwhile();
    }
    ladder.before = told.before + through - sum;
    ladder.cut_before = told.cut_before + cut_before;
    ladder.all = told.all;
    ladder.cut_of_all = told.cut;
    return ladder;
}

// The samples of a window that the plateau leaves, if known already.
struct Left {
    bool is_known;
    Sum samples;
};

// Computes the curve at the thread's codes from the histogram of the window: bins, contrast limit, prefix sum. `bins` has
// zeroed entries for the sums in bins; null without bins. The samples of a window fit a Count. Where it waits for other
// blocks, this does `meanwhile`.
template <typename Count, unsigned PER, bool MANY, typename Crew, typename F>
__device__ __forceinline__ void equalize(Count (&held)[PER], Left left, unsigned code, Levels levels,
                                         const Modifiers& m, const Line& line, Sum* bins, Room& room, Blocks blocks,
                                         F meanwhile, unsigned (&mapped)[PER]) {
    Divisor divisor = divisor_with(m.width, m.inverse);
    Sum total = (Sum)m.frames * m.samples;
    if (left.is_known) {
        total = left.samples;
    } else if (m.varies || m.cap != UNCAPPED) {
        Count sum = 0;
#pragma unroll
        for (unsigned i = 0u; i < PER; ++i) sum += held[i];
        total = sum_of_all<MANY, Crew>(sum, room, blocks);
    }
    // If one level holds all samples, the curve is the identity, whatever the other settings are.
#pragma unroll
    for (unsigned i = 0u; i < PER; ++i) {
        if (held[i] == total) room.flat = 1u;
    }

    if (bins != nullptr) in_bins<PER, MANY, Crew>(held, code, levels, m.bins, bins, blocks);
    bool is_limited = m.gain != 0u;
    Limit limit = {~0ull, 0u};
    if (is_limited) limit = limit_of(m.gain, total, divisor);

    Ladder<Count, PER> ladder = ladder_of<Count, PER, MANY, Crew>(held, code, levels, limit, room, blocks, meanwhile);
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
    bool none_shares = MANY && excess.quotient == 0u && excess.rest == 0u;
    if (excess.quotient != 0u && m.first == 0u) {
        // Every level has a share, so the first step is that of black.
        Count black = ladder.start.has_black ? ladder.start.lowest : (Count)0;
        bool is_cut = black > limit.whole;
        first = kept_by(is_cut ? limit.whole : black, is_cut, limit) + excess.quotient;
    } else if (none_shares && ladder.start.lowest != 0u) {
        // Nothing has been cut, so the first step is that of the lowest level with samples.
        first = is_limited ? kept_by(ladder.start.lowest, 0u, limit) : ladder.start.lowest;
    } else {
        first = ~0ull;
#pragma unroll
        for (unsigned i = 0u; i < PER; ++i) {
            bool is_level = code + i >= levels.lo && code + i <= levels.hi;
            if (is_level && step[i] != 0u && step[i] < first) first = step[i];
        }
        first = lowest_of_all<MANY, Crew>(first, room, blocks);
    }
    Spread<Sum> spread = spread_of(first, ladder.start.flat ? first : all);
#pragma unroll
    for (unsigned i = 0u; i < PER; ++i) {
        mapped[i] = curve_at(code + i, line_code(code + i, levels, line), step[i], spread, levels, m.ceiling);
    }
}
