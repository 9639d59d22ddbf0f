// From the counts of the tiles to their curves: temporal window, clip, prefix sum, normalization (src/core/spec/clahe);
// or temporal window, base and detail, normalization (src/core/spec/detail.rs). A block makes the curve of one tile.
//
// A block has little work: most of its time is waiting for memory and at barriers. So all loads are issued at the
// beginning, every warp computes shared values by itself, and bins stay in registers.
#include "launch.cuh"
#include "tiles.cuh"
#include "warp.cuh"

using namespace histeq;

typedef unsigned long long Sum;

// The data that the warps of a block exchange: each sum has its own place.
struct TempStorage {
    Sum excess[WARP_THREADS];
    Sum sums[WARP_THREADS];
};

// The state from the frames before.
struct History {
    unsigned* slots;
    Sum* sums;
};

// The count of bin `at` in the window with this frame; also updates the history, in which no other thread has this bin.
DEVICE Sum update_window(unsigned count, const WindowUpdate& update, size_t at, size_t all_bins,
                         const History& history) {
    unsigned evicted[2];
    Sum windows[2];
#pragma unroll
    for (unsigned i = 0u; i < 2u; ++i) {
        evicted[i] = update.evicted_rows[i] != NOWHERE ? history.slots[update.evicted_rows[i] * all_bins + at] : 0u;
        windows[i] = history.sums[i * all_bins + at];
    }
    Sum window_counts = 0u;
#pragma unroll
    for (unsigned window = 0u; window < 2u; ++window) {
        Sum sum = windows[window];
#pragma unroll
        for (unsigned i = 0u; i < 2u; ++i) {
            if (update.evicted_windows[i] == window) sum -= evicted[i];
        }
        if (update.window == window) {
            window_counts = sum = (update.fresh ? 0u : sum) + (update.joins ? count : 0u);
        }
        if (sum != windows[window]) history.sums[window * all_bins + at] = sum;
    }
    history.slots[update.row * all_bins + at] = count;
    return window_counts;
}

// The sums over all warps, and over the warps before this one.
template <typename T>
struct GroupPrefix {
    T all;
    T before;
};

template <typename T>
DEVICE GroupPrefix<T> group_prefix(T value, T* storage) {
    unsigned lane = threadIdx.x % WARP_THREADS, own = threadIdx.x / WARP_THREADS;
    if (lane == WARP_THREADS - 1u) storage[own] = value;
    __syncthreads();
    GroupPrefix<T> prefix = {0u, 0u};
#pragma unroll 8
    for (unsigned warp = 0u; warp < blockDim.x / WARP_THREADS; ++warp) {
        T found = storage[warp];
        prefix.all += found;
        if (warp < own) prefix.before += found;
    }
    return prefix;
}

// Limits each bin to the contrast limit, and distributes the excess over the bins of the range.
template <typename T, unsigned ITEMS>
DEVICE void clip(T (&window_counts)[ITEMS], unsigned first, T total, const Modifiers& m, TempStorage& storage) {
    Divisor divisor = divisor_with(m.width, m.inverse);
    T most = (T)(divided((Sum)m.gain * total, divisor).quotient / 256u);
    if (most == 0u) most = 1u;
    T excess = 0u;
#pragma unroll
    for (unsigned i = 0u; i < ITEMS; ++i) {
        if (window_counts[i] > most) excess += window_counts[i] - most;
    }
    excess = group_prefix(warp_sum(excess), reinterpret_cast<T*>(storage.excess)).all;
    Divided range = divided(excess, divisor);
    unsigned rest = range.rest;
    unsigned step = rest == 0u ? 1u : small_quotient(m.width, rest, reciprocal_of((float)rest));
    float reciprocal = reciprocal_of((float)step);
#pragma unroll
    for (unsigned i = 0u; i < ITEMS; ++i) {
        window_counts[i] = window_counts[i] < most ? window_counts[i] : most;
        unsigned bin = first + i - m.first;
        if (first + i < m.first || bin >= m.width) continue;
        unsigned steps = small_quotient(bin, step, reciprocal);
        bool one_more = steps * step == bin && steps < rest;
        window_counts[i] += (T)range.quotient + one_more;
    }
}

// The table of a curve, from its steps.
template <typename T>
DEVICE void write_table(const T* through_bins, T total, Levels levels, unsigned ceiling, unsigned keeps_black,
                        unsigned bins, unsigned codes, unsigned short* curve) {
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

// From the bins of a tile, PER neighbouring ones per thread, to its curve. T is wide enough for `total`. `steps` is
// null, or takes the steps in place of the table.
template <typename T, unsigned ITEMS>
DEVICE void make_curve(const Sum (&sums)[ITEMS], T total, Levels levels, const Modifiers& m, unsigned bins,
                       unsigned codes, TempStorage& storage, T* through_bins, unsigned short* curve, unsigned* steps) {
    unsigned first = threadIdx.x * ITEMS;
    T window_counts[ITEMS];
#pragma unroll
    for (unsigned i = 0u; i < ITEMS; ++i) window_counts[i] = (T)sums[i];
    if (m.gain != 0u) clip<T, ITEMS>(window_counts, first, total, m, storage);

    T sum = 0u;
#pragma unroll
    for (unsigned i = 0u; i < ITEMS; ++i) sum += window_counts[i];
    T through = warp_inclusive_sum(sum, threadIdx.x % WARP_THREADS);
    T at = group_prefix(through, reinterpret_cast<T*>(storage.sums)).before + through - sum;
#pragma unroll
    for (unsigned i = 0u; i < ITEMS; ++i) {
        at += window_counts[i];
        if (first + i < bins && steps != nullptr) steps[first + i] = (unsigned)at;
        if (first + i < bins && steps == nullptr) through_bins[first + i] = at;
    }
    if (steps != nullptr) return;
    __syncthreads();
    write_table<T>(through_bins, total, levels, m.ceiling, m.keeps_black, bins, codes, curve);
}

// The counts of the bins of a tile in the window, ITEMS neighbouring ones per thread. `tile_counts` become zero.
template <unsigned ITEMS>
DEVICE void counts_of_window(Sum (&window_counts)[ITEMS], const WindowUpdate& update, unsigned bins,
                             unsigned* tile_counts, const History& history) {
    size_t all_bins = (size_t)gridDim.x * bins;
    unsigned bin = threadIdx.x * ITEMS;
    size_t first = (size_t)blockIdx.x * bins + bin;
    unsigned count[ITEMS];
#pragma unroll
    for (unsigned i = 0u; i < ITEMS; ++i) {
        count[i] = bin + i < bins ? tile_counts[first + i] : 0u;
        if (bin + i < bins) tile_counts[first + i] = 0u;
    }

#pragma unroll
    for (unsigned i = 0u; i < ITEMS; ++i) {
        bool is_remembered = update.remembers && bin + i < bins;
        window_counts[i] = is_remembered ? update_window(count[i], update, first + i, all_bins, history) : count[i];
    }
}

// Where the steps of this block's tile go, of which `total` stands for the ceiling; null where curves are tables.
DEVICE unsigned* steps_in(unsigned short* curves, unsigned place, unsigned total, const Modifiers& m, Levels levels,
                          unsigned bins) {
    if (place != AS_STEPS) return nullptr;
    unsigned* steps = reinterpret_cast<unsigned*>(curves);
    if (blockIdx.x + threadIdx.x == 0u) {
        *reinterpret_cast<Scale*>(steps + (size_t)gridDim.x * bins) =
            scale_of(total, m.ceiling, m.keeps_black, levels, bins);
    }
    return steps + (size_t)blockIdx.x * bins;
}

// With ITEMS bins per thread.
template <unsigned ITEMS>
DEVICE void tile_curves(unsigned codes, Levels levels, const Modifiers& m, const WindowUpdate& update, Tiles tiles,
                        unsigned* tile_counts, const History& history, unsigned short* curves, unsigned place,
                        TempStorage& storage, Sum* through_bins) {
    unsigned bins = tiles.bins;
    Sum window_counts[ITEMS];
    counts_of_window<ITEMS>(window_counts, update, bins, tile_counts, history);
    unsigned short* curve = curves + (size_t)blockIdx.x * codes;
    Sum total = (Sum)m.frames * tiles.width * tiles.height;
    unsigned* steps = steps_in(curves, place, (unsigned)total, m, levels, bins);
    if (total >> 32 == 0u) {
        make_curve<unsigned, ITEMS>(window_counts, (unsigned)total, levels, m, bins, codes, storage,
                                    reinterpret_cast<unsigned*>(through_bins), curve, steps);
    } else {
        make_curve<Sum, ITEMS>(window_counts, total, levels, m, bins, codes, storage, through_bins, curve, nullptr);
    }
}

// The curve of each tile.
// Arguments: `curves` has steps if `place` is `AS_STEPS`, else tables. `tile_counts` become zero. `m.width` is the
// number of levels. With `update.remembers` 0 there is no temporal window.
// Launch: one block a tile, of a multiple of 32 threads from 64 to 1024, at least a quarter of the bins. Dynamic shared
// memory: 8 bytes a bin. Sums that fit in 32 bits, as nearly all do, are added in 32 bits.
extern "C" __global__ __launch_bounds__(1024) void tile_curves(unsigned codes, Levels levels, Modifiers m,
                                                               WindowUpdate update, Tiles tiles, unsigned* tile_counts,
                                                               unsigned* slots, Sum* sums, unsigned short* curves,
                                                               unsigned place) {
    extern __shared__ Sum through_bins[];  // one for each bin
    __shared__ TempStorage storage;
    trigger_next_launch();
    grid_dependency_sync();
    History history = {slots, sums};
    if (tiles.bins <= blockDim.x) {
        tile_curves<1u>(codes, levels, m, update, tiles, tile_counts, history, curves, place, storage, through_bins);
    } else {
        tile_curves<4u>(codes, levels, m, update, tiles, tile_counts, history, curves, place, storage, through_bins);
    }
}

// The sums over the numbers of this thread and of those before it, in place. Returns the sum of all.
template <unsigned ITEMS>
DEVICE Sum inclusive_sums(Sum (&numbers)[ITEMS], TempStorage& storage) {
#pragma unroll
    for (unsigned i = 1u; i < ITEMS; ++i) numbers[i] += numbers[i - 1u];
    Sum own = numbers[ITEMS - 1u], through = warp_inclusive_sum(own, threadIdx.x % WARP_THREADS);
    __syncthreads();
    GroupPrefix<Sum> prefix = group_prefix(through, storage.sums);
#pragma unroll
    for (unsigned i = 0u; i < ITEMS; ++i) numbers[i] += prefix.before + through - own;
    return prefix.all;
}

// The sum of the sums up to `end` bins, of which there are `bins`, and then none.
DEVICE Sum up_to(unsigned end, unsigned bins, const Sum* sums, Sum total) {
    unsigned within = end < bins ? end : bins;
    return (within == 0u ? 0u : sums[within - 1u]) + (end - within) * total;
}

// Replaces the numbers of the bins by the sum of those around each, with the weights max(0, radius - distance).
template <unsigned ITEMS>
DEVICE void sum_around(Sum (&numbers)[ITEMS], unsigned bins, unsigned radius, Sum* sums, TempStorage& storage) {
    Sum total = inclusive_sums<ITEMS>(numbers, storage);
    inclusive_sums<ITEMS>(numbers, storage);
    unsigned first = threadIdx.x * ITEMS;
#pragma unroll
    for (unsigned i = 0u; i < ITEMS; ++i) {
        if (first + i < bins) sums[first + i] = numbers[i];
    }
    __syncthreads();
#pragma unroll
    for (unsigned i = 0u; i < ITEMS; ++i) {
        unsigned bin = first + i;
        if (bin >= bins) continue;
        Sum before = up_to(bin < radius ? 0u : bin - radius, bins, sums, total);
        numbers[i] = up_to(bin + radius, bins, sums, total) + before - 2u * up_to(bin, bins, sums, total);
    }
}

// The largest number of the threads before this one; 0 of none.
DEVICE unsigned most_before(unsigned number, TempStorage& storage) {
    unsigned lane = threadIdx.x % WARP_THREADS, own = threadIdx.x / WARP_THREADS;
    for (unsigned distance = 1u; distance < WARP_THREADS; distance *= 2u) {
        unsigned before = __shfl_up_sync(FULL_MASK, number, distance);
        if (lane >= distance && before > number) number = before;
    }
    if (lane == WARP_THREADS - 1u) storage.excess[own] = number;
    unsigned most = __shfl_up_sync(FULL_MASK, number, 1u);
    if (lane == 0u) most = 0u;
    __syncthreads();
    for (unsigned warp = 0u; warp < own; ++warp) {
        if (storage.excess[warp] > most) most = (unsigned)storage.excess[warp];
    }
    return most;
}

// With ITEMS bins per thread.
template <unsigned ITEMS>
DEVICE void detail_curves(unsigned codes, Levels levels, const Modifiers& m, const WindowUpdate& update, Tiles tiles,
                          const Detail& detail, const PiecewiseLine& line, unsigned* tile_counts,
                          const History& history, unsigned short* curves, unsigned place, TempStorage& storage,
                          Sum* sums) {
    unsigned bins = tiles.bins, first = threadIdx.x * ITEMS, count = levels.hi - levels.lo + 1u;
    Sum samples[ITEMS], moments[ITEMS];
    counts_of_window<ITEMS>(samples, update, bins, tile_counts, history);
#pragma unroll
    for (unsigned i = 0u; i < ITEMS; ++i) moments[i] = samples[i] * (first + i);
    sum_around<ITEMS>(samples, bins, detail.radius, sums, storage);
    // The barriers of the sums come before `sums` is written again.
    sum_around<ITEMS>(moments, bins, detail.radius, sums, storage);

    float of_bins = reciprocal_of((float)(16u * bins));
    unsigned outputs[ITEMS], most = 0u;
#pragma unroll
    for (unsigned i = 0u; i < ITEMS; ++i) {
        unsigned bin = first + i;
        if (bin < bins) {
            unsigned base = 256u * bin;
            if (samples[i] != 0u) {
                float reciprocal = reciprocal_of((float)samples[i]);
                unsigned whole = quotient(moments[i], samples[i], reciprocal);
                base = 256u * whole + quotient(256u * (moments[i] - whole * samples[i]), samples[i], reciprocal);
            }
            unsigned apart = base < 256u * bin ? 256u * bin - base : base - 256u * bin;
            long long size = quotient((Sum)apart * count, 16u * bins, of_bins);
            if (base > 256u * bin) size = -size;
            long long level = 16ll * (first_of_bin(bin + 1u, bins, count) - 1u);
            unsigned output = with_detail(level, size, 16u * m.ceiling, detail, line);
            if (output > most) most = output;
        }
        outputs[i] = most;
    }
    // Its barrier comes before `sums` is written as steps.
    unsigned before = most_before(most, storage);
    unsigned total = m.ceiling == 0u ? 1u : 16u * m.ceiling;
    unsigned* steps = steps_in(curves, place, total, m, levels, bins);
    unsigned* through_bins = reinterpret_cast<unsigned*>(sums);
#pragma unroll
    for (unsigned i = 0u; i < ITEMS; ++i) {
        if (first + i >= bins) continue;
        unsigned output = outputs[i] > before ? outputs[i] : before;
        (steps == nullptr ? through_bins : steps)[first + i] = output;
    }
    if (steps != nullptr) return;
    __syncthreads();
    write_table<unsigned>(through_bins, total, levels, m.ceiling, m.keeps_black, bins, codes,
                          curves + (size_t)blockIdx.x * codes);
}

// The curve of each tile that brings out detail.
// Arguments and launch: as those of `tile_curves`, of whose modifiers only the window, the ceiling and black count; the
// base has `line`.
extern "C" __global__ __launch_bounds__(1024) void detail_curves(unsigned codes, Levels levels, Modifiers m,
                                                                 WindowUpdate update, Tiles tiles, Detail detail,
                                                                 PiecewiseLine line, unsigned* tile_counts,
                                                                 unsigned* slots, Sum* sums, unsigned short* curves,
                                                                 unsigned place) {
    extern __shared__ Sum through_bins[];  // one for each bin
    __shared__ TempStorage storage;
    trigger_next_launch();
    grid_dependency_sync();
    History history = {slots, sums};
    if (tiles.bins <= blockDim.x) {
        detail_curves<1u>(codes, levels, m, update, tiles, detail, line, tile_counts, history, curves, place, storage,
                          through_bins);
    } else {
        detail_curves<4u>(codes, levels, m, update, tiles, detail, line, tile_counts, history, curves, place, storage,
                          through_bins);
    }
}

// The tables of curves that are steps, for the host.
// Launch: one block a tile, of any number of threads; no dynamic shared memory.
extern "C" __global__ __launch_bounds__(1024) void tile_tables(unsigned codes, Levels levels, Tiles tiles,
                                                               const unsigned* steps, unsigned short* curves) {
    grid_dependency_sync();
    Scale scale = *reinterpret_cast<const Scale*>(steps + (size_t)gridDim.x * tiles.bins);
    write_table<unsigned>(steps + (size_t)blockIdx.x * tiles.bins, scale.total, levels, scale.ceiling,
                          scale.keeps_black, tiles.bins, codes, curves + (size_t)blockIdx.x * codes);
}
