// Computes the curve of a frame from its counts, with every step of the specification: temporal window, plateau, bins,
// contrast limit, prefix sum, normalization, line, strength (src/core/spec/curves/equalization.rs, step for step). The
// host decides which frames are in the window (`WindowUpdate`).
//
// A ThreadGroup does this. Each of its threads keeps ITEMS neighbouring codes in registers from the first step to the
// last. With MULTI_BLOCK, the groups of several blocks, all resident at once, share the codes and exchange data through
// `GridState`.
#pragma once

#include "barriers.cuh"
#include "copy_async.cuh"
#include "device.cuh"
#include "launch.cuh"
#include "spec.cuh"
#include "warp.cuh"

namespace histeq {

constexpr unsigned MOST_BLOCKS = 64u;

typedef unsigned long long Sum;

// The threads of a block that compute the curve: the first WARPS warps, or all warps if WARPS is 0.
template <unsigned WARPS>
struct ThreadGroup {
    DEVICE static unsigned warps() { return WARPS != 0u ? WARPS : blockDim.x / WARP_THREADS; }

    // A barrier of the group: after it, all threads see what each has written before.
    DEVICE static void sync() { barrier_sync<1u>(warps() * WARP_THREADS); }
};

// The words that a block publishes for the other blocks: the lower or the upper 32 bits of a sum. A sum of 32 bits has
// no upper ones.
enum Word {
    TOTAL,  // samples of the window
    TOTAL_HIGH,
    KEPT,  // whole samples that its levels keep, as `WarpAggregates::sums`
    KEPT_HIGH,
    LOWEST,  // samples of its lowest occupied level, or 0
    LOWEST_HIGH,
    CLIPPED,  // four times the clipped levels, plus 2 if black holds samples, plus 1 if one level holds all
    FIRST,    // the lowest value of its cumulative distribution that is not 0
    FIRST_HIGH,
    WORDS,
};

// The data that blocks exchange in global memory.
struct GridState {
    Sum words[WORDS][MOST_BLOCKS];  // upper half: number of the launch that published it; lower half: the word
    unsigned arrived;               // arrivals at barriers since the memory was cleared
    unsigned unused;
};
static_assert(sizeof(GridState) == 4616, "Grid is not as large as src/core/cuda/pipeline/history.rs allocates");

// The exchange between the blocks of a launch. A block publishes each word at most once per launch, tagged with the
// number of the launch; other blocks poll the word until the number matches. So they wait for this word only, and need
// neither a barrier of the grid nor a fence.
struct GridExchange {
    GridState* grid;
    unsigned launch;  // a number that no launch before has had

    DEVICE void publish(Word word, unsigned value) const {
        store_relaxed(&grid->words[word][blockIdx.x], (Sum)launch << 32 | value);
    }
    DEVICE void publish_sum(Word word, unsigned sum) const { publish(word, sum); }
    DEVICE void publish_sum(Word word, Sum sum) const {
        publish(word, (unsigned)sum);
        publish((Word)(word + 1), (unsigned)(sum >> 32));
    }

    // Waits for these words of all blocks. A lane gets the words of the blocks whose number is its own plus a multiple
    // of WARP_THREADS; 0 where there is no such block.
    template <unsigned COUNT>
    DEVICE void collect(const Word (&words)[COUNT], unsigned (&collected)[MOST_BLOCKS / WARP_THREADS][COUNT]) const {
        bool is_whole;
        do {
            is_whole = true;
#pragma unroll
            for (unsigned i = 0u; i < MOST_BLOCKS / WARP_THREADS; ++i) {
                unsigned block = threadIdx.x % WARP_THREADS + i * WARP_THREADS;
#pragma unroll
                for (unsigned j = 0u; j < COUNT; ++j) {
                    Sum found = block < gridDim.x ? load_relaxed(&grid->words[words[j]][block]) : (Sum)launch << 32;
                    collected[i][j] = (unsigned)found;
                    is_whole &= (unsigned)(found >> 32) == launch;
                }
            }
        } while (!is_whole);
    }
};

// The sums over the levels of each warp, clipped to the contrast limit.
template <typename Count>
struct WarpAggregates {
    Count sums[WARP_THREADS];        // whole samples that they keep
    unsigned clipped[WARP_THREADS];  // the number of clipped levels
};

// The data that the threads of a group exchange in shared memory. Each sum has its own memory, which saves a second
// barrier.
struct TempStorage {
    unsigned flat;  // 1 if one level holds all samples; zero before a frame
    Sum black;      // samples of black
    Sum totals[WARP_THREADS];
    Sum firsts[WARP_THREADS];  // with several blocks, first the samples of each warp's lowest occupied level
    WarpAggregates<unsigned> narrow;
    WarpAggregates<Sum> wide;
    // The results of all blocks, or of the blocks before this one.
    Sum total, before, kept, lowest, first;
    unsigned clipped_before, clipped, flags;

    DEVICE WarpAggregates<unsigned>& aggregates(unsigned) { return narrow; }
    DEVICE WarpAggregates<Sum>& aggregates(Sum) { return wide; }
};

// The state from the frames before: a histogram in each row of `slots`; `sums` has the sums of the two windows twice,
// used alternately.
struct History {
    unsigned* slots;
    Sum* sums;
};

// The part of the history for the codes of a thread.
template <unsigned ITEMS>
struct ThreadHistory {
    unsigned evicted[2][ITEMS];  // of the histograms that leave a window, capped by the plateau
    Sum windows[2][ITEMS];
};

// Loads a thread's entries past the L1 cache, and stores them: in vectors of four words if ITEMS is a multiple of four.
template <unsigned ITEMS, typename T>
DEVICE void load(const T* from, T (&to)[ITEMS]) {
#pragma unroll
    for (unsigned i = 0u; i < ITEMS; ++i) {
        if (sizeof(T) != sizeof(unsigned) || ITEMS % 4u != 0u) {
            to[i] = load_cg(from + i);
        } else if (i % 4u == 0u) {
            uint4 four = load_cg(reinterpret_cast<const uint4*>(from + i));
            to[i] = four.x;
            to[(i + 1u) % ITEMS] = four.y;
            to[(i + 2u) % ITEMS] = four.z;
            to[(i + 3u) % ITEMS] = four.w;
        }
    }
}

template <unsigned ITEMS, typename T>
DEVICE void store(const T (&from)[ITEMS], T* to) {
#pragma unroll
    for (unsigned i = 0u; i < ITEMS; ++i) {
        if (sizeof(T) != sizeof(unsigned) || ITEMS % 4u != 0u) {
            to[i] = from[i];
        } else if (i % 4u == 0u) {
            *reinterpret_cast<uint4*>(to + i) =
                make_uint4(from[i], from[(i + 1u) % ITEMS], from[(i + 2u) % ITEMS], from[(i + 3u) % ITEMS]);
        }
    }
}

// Limits each count to `cap`, as a plateau does.
template <unsigned ITEMS>
DEVICE void capped(unsigned (&count)[ITEMS], unsigned cap) {
#pragma unroll
    for (unsigned i = 0u; i < ITEMS; ++i) count[i] = count[i] < cap ? count[i] : cap;
}

template <unsigned ITEMS>
DEVICE ThreadHistory<ITEMS> load_history(unsigned code, unsigned codes, const WindowUpdate& update,
                                         const History& history) {
    ThreadHistory<ITEMS> thread_history = {};
#pragma unroll
    for (unsigned i = 0u; i < 2u; ++i) {
        if (update.evicted_rows[i] == NOWHERE) continue;
        load<ITEMS>(history.slots + (size_t)update.evicted_rows[i] * codes + code, thread_history.evicted[i]);
        capped<ITEMS>(thread_history.evicted[i], update.evicted_caps[i]);
    }
    const Sum* sums = history.sums + 2u * codes * update.half;
    load<ITEMS>(sums + code, thread_history.windows[0]);
    load<ITEMS>(sums + codes + code, thread_history.windows[1]);
    return thread_history;
}

// A barrier of the grid: after it, all blocks see what each has written before.
DEVICE void sync(GridState* grid) {
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

// The sum of the values that the warps of a group have written to `aggregates`. Between writing and this call, the
// group needs a barrier.
template <typename ThreadGroup, typename T>
DEVICE T group_sum(const T* aggregates) {
    unsigned lane = threadIdx.x % WARP_THREADS;
    return warp_sum(lane < ThreadGroup::warps() ? aggregates[lane] : (T)0);
}

// The sums over the warps before this one, and over all of them.
template <typename Count>
struct GroupPrefix {
    Count before;  // samples
    Count all;
    unsigned clipped_before;  // clipped levels
    unsigned clipped;
};

// Computes the prefix from the sums that the warps have written. Between writing and this call, the group needs a
// barrier.
template <typename ThreadGroup, typename Count>
DEVICE GroupPrefix<Count> group_prefix(const WarpAggregates<Count>& aggregates) {
    unsigned lane = threadIdx.x % WARP_THREADS, warp = threadIdx.x / WARP_THREADS;
    bool is_warp = lane < ThreadGroup::warps();
    Count sum = is_warp ? aggregates.sums[lane] : 0;
    unsigned clipped = is_warp ? aggregates.clipped[lane] : 0u;
    GroupPrefix<Count> prefix;
    prefix.before = warp_sum(lane < warp ? sum : (Count)0);
    prefix.all = warp_sum(sum);
    prefix.clipped_before = warp_sum(lane < warp ? clipped : 0u);
    prefix.clipped = warp_sum(clipped);
    return prefix;
}

// The number of 32-bit words of a sum.
template <typename Count>
constexpr unsigned WORDS_OF = sizeof(Count) / sizeof(unsigned);

template <typename Count, unsigned COUNT>
DEVICE Count sum_at(const unsigned (&words)[COUNT], unsigned at) {
    return WORDS_OF<Count> == 1u ? (Count)words[at] : (Count)((Sum)words[(at + 1u) % COUNT] << 32 | words[at]);
}

// The properties of a histogram that decide where its curve begins.
template <typename Count>
struct CdfStart {
    Count lowest;    // samples of the lowest occupied level; with one block, of black
    bool has_black;  // whether that level is black; true with one block
    bool flat;       // whether one level holds all samples
};

// Extends `prefix` and `start` from this block's group to all blocks. Calls `meanwhile` before it waits for the other
// blocks.
template <typename Count, typename F>
DEVICE void grid_prefix(GroupPrefix<Count>& prefix, CdfStart<Count>& start, TempStorage& storage, GridExchange exchange,
                        F meanwhile) {
    constexpr unsigned OF_SUM = WORDS_OF<Count>, LOWEST_AT = OF_SUM, CLIPPED_AT = 2u * OF_SUM;
    if (threadIdx.x == 0u) {
        exchange.publish_sum(KEPT, prefix.all);
        exchange.publish_sum(LOWEST, start.lowest);
        exchange.publish(CLIPPED, 4u * prefix.clipped + 2u * start.has_black + start.flat);
    }
    meanwhile();
    if (threadIdx.x < WARP_THREADS) {
        Word words[CLIPPED_AT + 1u];
#pragma unroll
        for (unsigned i = 0u; i < OF_SUM; ++i) {
            words[i] = (Word)(KEPT + i);
            words[LOWEST_AT + i] = (Word)(LOWEST + i);
        }
        words[CLIPPED_AT] = CLIPPED;
        unsigned collected[MOST_BLOCKS / WARP_THREADS][CLIPPED_AT + 1u];
        exchange.collect(words, collected);
        GroupPrefix<Count> all = {0, 0, 0u, 0u};
        Count lowest = 0;
        unsigned flags = 0u;
#pragma unroll
        for (unsigned i = 0u; i < MOST_BLOCKS / WARP_THREADS; ++i) {
            Count kept = sum_at<Count>(collected[i], 0u);
            unsigned clipped = collected[i][CLIPPED_AT] / 4u;
            if (threadIdx.x + i * WARP_THREADS < blockIdx.x) {
                all.before += kept;
                all.clipped_before += clipped;
            }
            all.all += kept;
            all.clipped += clipped;
            Count of_these = warp_first_nonzero(sum_at<Count>(collected[i], LOWEST_AT));
            if (lowest == 0) lowest = of_these;
            flags |= collected[i][CLIPPED_AT] % 4u;
        }
        all.before = warp_sum(all.before);
        all.clipped_before = warp_sum(all.clipped_before);
        all.all = warp_sum(all.all);
        all.clipped = warp_sum(all.clipped);
        bool has_black = __any_sync(FULL_MASK, (flags & 2u) != 0u), flat = __any_sync(FULL_MASK, (flags & 1u) != 0u);
        if (threadIdx.x == 0u) {
            storage.before = all.before;
            storage.clipped_before = all.clipped_before;
            storage.kept = all.all;
            storage.clipped = all.clipped;
            storage.lowest = lowest;
            storage.flags = 2u * has_black + flat;
        }
    }
    __syncthreads();
    prefix.before += (Count)storage.before;
    prefix.clipped_before += storage.clipped_before;
    prefix.all = (Count)storage.kept;
    prefix.clipped = storage.clipped;
    start = {(Count)storage.lowest, (storage.flags & 2u) != 0u, (storage.flags & 1u) != 0u};
}

// The lowest value of all threads of the groups of all blocks.
template <bool MULTI_BLOCK, typename ThreadGroup>
DEVICE Sum grid_min(Sum value, TempStorage& storage, GridExchange exchange) {
    unsigned lane = threadIdx.x % WARP_THREADS;
    value = warp_min(value);
    if (lane == 0u) storage.firsts[threadIdx.x / WARP_THREADS] = value;
    ThreadGroup::sync();
    value = warp_min(lane < ThreadGroup::warps() ? storage.firsts[lane] : ~0ull);
    if (!MULTI_BLOCK) return value;
    if (threadIdx.x == 0u) exchange.publish_sum(FIRST, value);
    if (threadIdx.x < WARP_THREADS) {
        unsigned collected[MOST_BLOCKS / WARP_THREADS][2];
        exchange.collect({FIRST, FIRST_HIGH}, collected);
#pragma unroll
        for (unsigned i = 0u; i < MOST_BLOCKS / WARP_THREADS; ++i) {
            Sum other = sum_at<Sum>(collected[i], 0u);
            if (lane + i * WARP_THREADS < gridDim.x && other < value) value = other;
        }
        value = warp_min(value);
        if (lane == 0u) storage.first = value;
    }
    __syncthreads();
    return storage.first;
}

// The sum of the values of all threads of the groups of all blocks.
template <bool MULTI_BLOCK, typename ThreadGroup, typename Count>
DEVICE Count grid_sum(Count value, TempStorage& storage, GridExchange exchange) {
    value = warp_sum(value);
    if (threadIdx.x % WARP_THREADS == 0u) storage.totals[threadIdx.x / WARP_THREADS] = value;
    ThreadGroup::sync();
    if (!MULTI_BLOCK) return (Count)group_sum<ThreadGroup>(storage.totals);
    if (threadIdx.x < WARP_THREADS) {
        Count sum = (Count)group_sum<ThreadGroup>(storage.totals);
        if (threadIdx.x == 0u) exchange.publish_sum(TOTAL, sum);
        Word words[WORDS_OF<Count>];
#pragma unroll
        for (unsigned i = 0u; i < WORDS_OF<Count>; ++i) words[i] = (Word)(TOTAL + i);
        unsigned collected[MOST_BLOCKS / WARP_THREADS][WORDS_OF<Count>];
        exchange.collect(words, collected);
        sum = 0;
#pragma unroll
        for (unsigned i = 0u; i < MOST_BLOCKS / WARP_THREADS; ++i) sum += sum_at<Count>(collected[i], 0u);
        sum = warp_sum(sum);
        if (threadIdx.x == 0u) storage.total = sum;
    }
    __syncthreads();
    return (Count)storage.total;
}

// The count of the thread's `i`-th code in a window, after frames have left it and before this frame is added.
template <unsigned ITEMS>
DEVICE Sum window_without_frame(const WindowUpdate& update, unsigned window, const ThreadHistory<ITEMS>& thread_history,
                                unsigned i) {
    if (update.fresh && update.window == window) return 0u;
    Sum sum = window == 0u ? thread_history.windows[0][i] : thread_history.windows[1][i];
#pragma unroll
    for (unsigned j = 0u; j < 2u; ++j) {
        if (update.evicted_windows[j] == window) sum -= thread_history.evicted[j][i];
    }
    return sum;
}

// Writes the sums of both windows, to one of which the frame's capped counts are added, and the frame's own counts for
// later frames.
template <unsigned ITEMS>
DEVICE void write_windows(const WindowUpdate& update, const ThreadHistory<ITEMS>& thread_history,
                          const unsigned (&count)[ITEMS], unsigned cap, unsigned code, unsigned codes,
                          const History& history) {
    Sum* sums = history.sums + 2u * codes * (1u - update.half) + code;
#pragma unroll
    for (unsigned window = 0u; window < 2u; ++window) {
        bool takes = update.joins && update.window == window;
#pragma unroll
        for (unsigned i = 0u; i < ITEMS; ++i) {
            unsigned kept = count[i] < cap ? count[i] : cap;
            sums[window * codes + i] =
                window_without_frame<ITEMS>(update, window, thread_history, i) + (takes ? kept : 0u);
        }
    }
    store<ITEMS>(count, history.slots + (size_t)update.row * codes + code);
}

// Merges the counts of the levels into bins, then distributes the count of each bin over its levels.
template <unsigned ITEMS, bool MULTI_BLOCK, typename ThreadGroup, typename Count>
DEVICE void merge_bins(Count (&window_counts)[ITEMS], unsigned code, BlendedLevels levels, unsigned asked, Sum* bins,
                       GridExchange exchange) {
    unsigned count = levels.hi - levels.lo + 1u;
#pragma unroll
    for (unsigned i = 0u; i < ITEMS; ++i) {
        if (window_counts[i] != 0u) atomicAdd(&bins[bin_of(code + i - levels.lo, asked, count)], (Sum)window_counts[i]);
    }
    __threadfence();
    if (MULTI_BLOCK) {
        sync(exchange.grid);
    } else {
        ThreadGroup::sync();
    }
#pragma unroll
    for (unsigned i = 0u; i < ITEMS; ++i) {
        if (code + i < levels.lo || code + i > levels.hi) continue;
        unsigned level = code + i - levels.lo;
        unsigned bin = bin_of(level, asked, count);
        unsigned first = first_of_bin(bin, asked, count);
        Sum whole = ((volatile Sum*)bins)[bin];
        window_counts[i] = (Count)part_of_bin(whole, level - first, first_of_bin(bin + 1u, asked, count) - first);
    }
}

// The prefix sums of a histogram under a contrast limit.
template <typename Count, unsigned ITEMS>
struct ClippedScan {
    Count whole[ITEMS];       // whole samples that each level of the thread keeps
    bool clipped[ITEMS];      // whether the level is clipped
    Count before;             // whole samples of the levels below
    unsigned clipped_before;  // clipped levels below
    Count all;                // of all levels
    unsigned clipped_of_all;
    CdfStart<Count> start;
};

// The prefix sums of the window's levels under the contrast limit. Calls `meanwhile` once; with several blocks, before
// it waits for the others.
template <typename Count, unsigned ITEMS, bool MULTI_BLOCK, typename ThreadGroup, typename F>
DEVICE ClippedScan<Count, ITEMS> scan_clipped(const Count (&window_counts)[ITEMS], unsigned code, BlendedLevels levels,
                                              ClipLimit limit, TempStorage& storage, GridExchange exchange,
                                              F meanwhile) {
    unsigned lane = threadIdx.x % WARP_THREADS, warp = threadIdx.x / WARP_THREADS, below = (1u << lane) - 1u;
    constexpr Count MOST = ~(Count)0;
    Count whole = limit.whole > MOST ? MOST : (Count)limit.whole;
    ClippedScan<Count, ITEMS> scan;
    Count sum = 0, lowest = 0;
    unsigned clipped = 0u, clipped_before = 0u;
    unsigned first = blockIdx.x * blockDim.x * ITEMS;
    bool has_black = !MULTI_BLOCK || levels.lo - first < blockDim.x * ITEMS;
#pragma unroll
    for (unsigned i = 0u; i < ITEMS; ++i) {
        scan.clipped[i] = window_counts[i] > whole;
        scan.whole[i] = scan.clipped[i] ? whole : window_counts[i];
        sum += scan.whole[i];
        if (lowest == 0) lowest = window_counts[i];
        unsigned clipped_lanes = __ballot_sync(FULL_MASK, scan.clipped[i]);
        clipped += __popc(clipped_lanes);
        clipped_before += __popc(clipped_lanes & below);
        if (code + i == levels.lo) storage.black = window_counts[i];
    }
    Count through = warp_inclusive_sum(sum, lane);
    if (MULTI_BLOCK) lowest = warp_first_nonzero(lowest);
    WarpAggregates<Count>& aggregates = storage.aggregates(Count());
    if (lane == WARP_THREADS - 1u) {
        aggregates.sums[warp] = through;
        aggregates.clipped[warp] = clipped;
        if (MULTI_BLOCK) storage.firsts[warp] = lowest;
    }
    ThreadGroup::sync();
    GroupPrefix<Count> prefix = group_prefix<ThreadGroup>(aggregates);
    Count black = has_black ? (Count)storage.black : (Count)0;
    scan.start = {black, !MULTI_BLOCK || black != 0, storage.flat != 0u};
    if (MULTI_BLOCK) {
        scan.start.lowest = warp_first_nonzero(lane < ThreadGroup::warps() ? (Count)storage.firsts[lane] : (Count)0);
        grid_prefix(prefix, scan.start, storage, exchange, meanwhile);
    } else {
        meanwhile();
    }
    scan.before = prefix.before + through - sum;
    scan.clipped_before = prefix.clipped_before + clipped_before;
    scan.all = prefix.all;
    scan.clipped_of_all = prefix.clipped;
    return scan;
}

// The number of samples of a window under the plateau, if it is known already.
struct WindowTotal {
    bool is_known;
    Sum samples;
};

// Computes the curve at the thread's codes from the histogram of the window: bins, contrast limit, prefix sum. `bins`
// has a zeroed sum for each bin; it is null if levels are not merged into bins. The number of samples of a window fits
// a Count. `meanwhile` is called once, before the group waits for other blocks.
template <typename Count, unsigned ITEMS, bool MULTI_BLOCK, typename ThreadGroup, typename F>
DEVICE void equalize(Count (&window_counts)[ITEMS], WindowTotal window_total, unsigned code, BlendedLevels levels,
                     const Modifiers& m, const PiecewiseLine& line, Sum* bins, TempStorage& storage,
                     GridExchange exchange, F meanwhile, unsigned (&mapped)[ITEMS]) {
    Divisor divisor = divisor_with(m.width, m.inverse);
    Sum total = (Sum)m.frames * m.samples;
    if (window_total.is_known) {
        total = window_total.samples;
    } else if (m.varies || m.cap != UNCAPPED) {
        Count sum = 0;
#pragma unroll
        for (unsigned i = 0u; i < ITEMS; ++i) sum += window_counts[i];
        total = grid_sum<MULTI_BLOCK, ThreadGroup>(sum, storage, exchange);
    }
    // If one level holds all samples, the curve is the identity, whatever the other settings are.
#pragma unroll
    for (unsigned i = 0u; i < ITEMS; ++i) {
        if (window_counts[i] == total) storage.flat = 1u;
    }

    if (bins != nullptr)
        merge_bins<ITEMS, MULTI_BLOCK, ThreadGroup>(window_counts, code, levels, m.bins, bins, exchange);
    bool is_limited = m.gain != 0u;
    ClipLimit limit = {~0ull, 0u};
    if (is_limited) limit = clip_limit_of(m.gain, total, divisor);

    ClippedScan<Count, ITEMS> scan = scan_clipped<Count, ITEMS, MULTI_BLOCK, ThreadGroup>(
        window_counts, code, levels, limit, storage, exchange, meanwhile);
    Sum all = scan.all;
    Divided excess = {0u, 0u};
    if (is_limited) {
        all = 256u * total;
        excess = divided(all - clipped_sum(scan.all, scan.clipped_of_all, limit), divisor);
    }
    Sum step[ITEMS];  // the cumulative distribution
    Sum sum = scan.before;
    unsigned clipped = scan.clipped_before;
#pragma unroll
    for (unsigned i = 0u; i < ITEMS; ++i) {
        sum += scan.whole[i];
        clipped += scan.clipped[i];
        step[i] = sum;
        if (is_limited)
            step[i] = clipped_sum(sum, clipped, limit) +
                      redistributed(receivers_up_to(level_code(code + i, levels) - levels.lo, m.first, m.width), excess,
                                    divisor);
    }
    Sum first;  // the lowest step
    bool none_shares = MULTI_BLOCK && excess.quotient == 0u && excess.rest == 0u;
    if (excess.quotient != 0u && m.first == 0u) {
        // Every level gets a share of the excess, so the lowest step is that of black.
        Count black = scan.start.has_black ? scan.start.lowest : (Count)0;
        bool is_clipped = black > limit.whole;
        first = clipped_sum(is_clipped ? limit.whole : black, is_clipped, limit) + excess.quotient;
    } else if (none_shares && scan.start.lowest != 0u) {
        // No level has a share of an excess, so the lowest step is that of the lowest level with samples.
        first = is_limited ? clipped_sum(scan.start.lowest, 0u, limit) : scan.start.lowest;
    } else {
        first = ~0ull;
#pragma unroll
        for (unsigned i = 0u; i < ITEMS; ++i) {
            bool is_level = code + i >= levels.lo && code + i <= levels.hi;
            if (is_level && step[i] != 0u && step[i] < first) first = step[i];
        }
        first = grid_min<MULTI_BLOCK, ThreadGroup>(first, storage, exchange);
    }
    CdfRange<Sum> range = cdf_range_of(first, scan.start.flat ? first : all);
#pragma unroll
    for (unsigned i = 0u; i < ITEMS; ++i) {
        mapped[i] = curve_at(code + i, line_code(code + i, levels, line), step[i], range, levels, m.ceiling);
    }
}

}  // namespace histeq
