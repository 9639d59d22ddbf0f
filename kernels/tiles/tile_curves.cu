// Computes the curves of tiles from their counts: temporal window, clip, prefix sum, normalization
// (src/core/spec/clahe); or temporal window, base and detail, normalization (src/core/spec/curves/detail.rs). A block
// makes the curve of one tile.
//
// A block has little work: most of its time is waiting for memory and at barriers. So all loads are issued at the
// beginning, every warp computes shared values by itself, and bins stay in registers.
#include "launch.cuh"
#include "tiles.cuh"
#include "warp.cuh"

using namespace histeq;

typedef unsigned long long Sum;

// The data that the warps of a block exchange. Each sum has its own memory, which saves barriers.
struct TempStorage {
    Sum excess[WARP_THREADS];
    Sum sums[3][WARP_THREADS];
};

// The state from the frames before.
struct History {
    unsigned* slots;
    Sum* sums;
};

// Loads and stores ITEMS neighbouring numbers, of which the first `held` exist: in vectors of 16 bytes where all four
// exist and lie at a multiple of 16.
template <unsigned ITEMS, typename T>
DEVICE void load(const T* from, unsigned held, T (&to)[ITEMS]) {
    if (ITEMS == 4u && held == ITEMS && (size_t)from % sizeof(uint4) == 0u) {
        const uint4* vectors = reinterpret_cast<const uint4*>(from);
        if (sizeof(T) == sizeof(unsigned)) {
            uint4 four = vectors[0];
            to[0] = four.x, to[1u % ITEMS] = four.y, to[2u % ITEMS] = four.z, to[3u % ITEMS] = four.w;
        } else {
            uint4 low = vectors[0], high = vectors[1];
            to[0] = low.x | (T)((Sum)low.y << 32), to[1u % ITEMS] = low.z | (T)((Sum)low.w << 32);
            to[2u % ITEMS] = high.x | (T)((Sum)high.y << 32), to[3u % ITEMS] = high.z | (T)((Sum)high.w << 32);
        }
        return;
    }
#pragma unroll
    for (unsigned i = 0u; i < ITEMS; ++i) to[i] = i < held ? from[i] : (T)0u;
}

template <unsigned ITEMS, typename T>
DEVICE void store(const T (&from)[ITEMS], unsigned held, T* to) {
    if (ITEMS == 4u && held == ITEMS && (size_t)to % sizeof(uint4) == 0u) {
        uint4* vectors = reinterpret_cast<uint4*>(to);
        Sum of[4] = {from[0], from[1u % ITEMS], from[2u % ITEMS], from[3u % ITEMS]};
        if (sizeof(T) == sizeof(unsigned)) {
            vectors[0] = make_uint4((unsigned)of[0], (unsigned)of[1], (unsigned)of[2], (unsigned)of[3]);
        } else {
            vectors[0] = make_uint4((unsigned)of[0], of[0] >> 32, (unsigned)of[1], of[1] >> 32);
            vectors[1] = make_uint4((unsigned)of[2], of[2] >> 32, (unsigned)of[3], of[3] >> 32);
        }
        return;
    }
#pragma unroll
    for (unsigned i = 0u; i < ITEMS; ++i) {
        if (i < held) to[i] = from[i];
    }
}

// The number of bins that this thread holds, of ITEMS.
template <unsigned ITEMS>
DEVICE unsigned held_of(unsigned bins) {
    unsigned first = threadIdx.x * ITEMS;
    return first >= bins ? 0u : bins - first < ITEMS ? bins - first : ITEMS;
}

// Publishes the sum of this warp, which its last lane has, to the other warps.
template <typename T>
DEVICE void publish(T sum, T* storage) {
    if (threadIdx.x % WARP_THREADS == WARP_THREADS - 1u) storage[threadIdx.x / WARP_THREADS] = sum;
}

// The sums over all warps, and over the warps before this one.
template <typename T>
struct GroupPrefix {
    T all;
    T before;
};

// The sums of the values that the warps have published. Between `publish` and this call, the block needs a barrier.
template <typename T>
DEVICE GroupPrefix<T> prefix_of(const T* storage) {
    unsigned lane = threadIdx.x % WARP_THREADS;
    T found = lane < blockDim.x / WARP_THREADS ? storage[lane] : (T)0u;
    return {warp_sum(found), warp_sum(lane < threadIdx.x / WARP_THREADS ? found : (T)0u)};
}

template <typename T>
DEVICE GroupPrefix<T> group_prefix(T value, T* storage) {
    publish(value, storage);
    __syncthreads();
    return prefix_of(storage);
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

// Computes the table of a curve from its steps.
template <typename T>
DEVICE void write_table(const T* through_bins, T total, BlendedLevels levels, unsigned ceiling, unsigned keeps_black,
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

// Computes the curve of a tile from its bins; each thread has ITEMS neighbouring ones. T is wide enough for `total`. If
// `steps` is not null, steps are written there instead of a table.
template <typename T, unsigned ITEMS>
DEVICE void make_curve(const Sum (&sums)[ITEMS], T total, BlendedLevels levels, const Modifiers& m, unsigned bins,
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
    T at = group_prefix(through, reinterpret_cast<T*>(storage.sums[0])).before + through - sum;
    unsigned all[ITEMS];
#pragma unroll
    for (unsigned i = 0u; i < ITEMS; ++i) {
        at += window_counts[i];
        all[i] = (unsigned)at;
        if (first + i < bins && steps == nullptr) through_bins[first + i] = at;
    }
    if (steps != nullptr) return store<ITEMS>(all, held_of<ITEMS>(bins), steps + first);
    __syncthreads();
    write_table<T>(through_bins, total, levels, m.ceiling, m.keeps_black, bins, codes, curve);
}

// The counts of a tile's bins in the window, including this frame; each thread has ITEMS neighbouring bins. Updates the
// history, and sets `tile_counts` to zero.
template <unsigned ITEMS>
DEVICE void counts_of_window(Sum (&window_counts)[ITEMS], const WindowUpdate& update, unsigned bins,
                             unsigned* tile_counts, const History& history) {
    size_t all_bins = (size_t)gridDim.x * bins, first = (size_t)blockIdx.x * bins + threadIdx.x * ITEMS;
    unsigned held = held_of<ITEMS>(bins);
    unsigned count[ITEMS], evicted[2][ITEMS] = {};
    Sum windows[2][ITEMS];
    load<ITEMS>(tile_counts + first, held, count);
    if (update.remembers) {
#pragma unroll
        for (unsigned i = 0u; i < 2u; ++i) {
            if (update.evicted_rows[i] != NOWHERE)
                load<ITEMS>(history.slots + update.evicted_rows[i] * all_bins + first, held, evicted[i]);
            load<ITEMS>(history.sums + i * all_bins + first, held, windows[i]);
        }
    }
    unsigned zeros[ITEMS] = {};
    store<ITEMS>(zeros, held, tile_counts + first);
#pragma unroll
    for (unsigned i = 0u; i < ITEMS; ++i) window_counts[i] = count[i];
    if (!update.remembers) return;

#pragma unroll
    for (unsigned window = 0u; window < 2u; ++window) {
        Sum sums[ITEMS];
        bool changes = false;
#pragma unroll
        for (unsigned i = 0u; i < ITEMS; ++i) {
            sums[i] = windows[window][i];
#pragma unroll
            for (unsigned j = 0u; j < 2u; ++j) {
                if (update.evicted_windows[j] == window) sums[i] -= evicted[j][i];
            }
            if (update.window == window) {
                window_counts[i] = sums[i] = (update.fresh ? 0u : sums[i]) + (update.joins ? count[i] : 0u);
            }
            changes |= sums[i] != windows[window][i];
        }
        if (changes) store<ITEMS>(sums, held, history.sums + window * all_bins + first);
    }
    store<ITEMS>(count, held, history.slots + update.row * all_bins + first);
}

// The memory for the steps of this block's tile; null where curves are tables. Also writes the `Scale`, in which steps
// that add up to `total` reach the ceiling.
DEVICE unsigned* steps_in(unsigned short* curves, unsigned place, unsigned total, const Modifiers& m,
                          BlendedLevels levels, unsigned bins) {
    if (!has_steps(place)) return nullptr;
    unsigned* steps = reinterpret_cast<unsigned*>(curves);
    if (blockIdx.x + threadIdx.x == 0u) {
        *reinterpret_cast<Scale*>(steps + (size_t)gridDim.x * bins) =
            scale_of(total, m.ceiling, m.keeps_black, levels, bins);
    }
    return steps + (size_t)blockIdx.x * bins;
}

// Computes the curve of the block's tile, with ITEMS bins per thread.
template <unsigned ITEMS>
DEVICE void tile_curves(unsigned codes, BlendedLevels levels, const Modifiers& m, const WindowUpdate& update,
                        Tiles tiles, unsigned* tile_counts, const History& history, unsigned short* curves,
                        unsigned place, TempStorage& storage, Sum* through_bins) {
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
// Arguments: `curves` takes steps if `has_steps(place)`, else tables. `tile_counts` become zero. `m.width` is the
// number of levels. With `update.remembers` 0 there is no temporal window.
// Launch: one block a tile, of a multiple of 32 threads from 64 to 1024, at least a quarter of the bins. Dynamic shared
// memory: 8 bytes a bin, of which there are a multiple of four. Sums that fit in 32 bits, as nearly all do, are added
// in 32 bits.
extern "C" __global__ __launch_bounds__(1024) void tile_curves(unsigned codes, BlendedLevels levels, Modifiers m,
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

// The index of a bin in shared memory, which has `bins` entries, rounded up to a multiple of ITEMS. The first bins of
// all threads lie side by side, then the second ones and so on, so that no two lanes access the same bank.
template <unsigned ITEMS>
DEVICE unsigned place_of(unsigned bin, unsigned bins) {
    return bin % ITEMS * ((bins + ITEMS - 1u) / ITEMS) + bin / ITEMS;
}

// For each bin, the weighted sum over the bins around it, with the weights max(0, radius - distance). `numbers` has the
// double prefix sum before each bin, and takes the results. `all` is the double prefix sum after the last bin; beyond
// that bin, it grows by `total` per bin.
template <unsigned ITEMS>
DEVICE void sum_around(Sum (&numbers)[ITEMS], Sum all, Sum total, unsigned bins, unsigned radius, Sum* double_sums) {
    unsigned first = threadIdx.x * ITEMS;
#pragma unroll
    for (unsigned i = 0u; i < ITEMS; ++i) {
        if (first + i < bins) double_sums[place_of<ITEMS>(first + i, bins)] = numbers[i];
    }
    __syncthreads();
#pragma unroll
    for (unsigned i = 0u; i < ITEMS; ++i) {
        unsigned bin = first + i, end = bin + radius;
        if (bin >= bins) continue;
        Sum below = double_sums[place_of<ITEMS>(bin < radius ? 0u : bin - radius, bins)];
        Sum above = end < bins ? double_sums[place_of<ITEMS>(end, bins)] : all + (end - bins) * total;
        numbers[i] = above + below - 2u * numbers[i];
    }
    // The next call overwrites `double_sums`.
    __syncthreads();
}

// Replaces the count of each bin by the weighted sum of the counts around it, and makes the same sum of the moments,
// the counts times their bins. The double prefix sum of n before bin b is b * sum(n(j)) - sum(j * n(j)) over the bins j
// before b.
template <unsigned ITEMS>
DEVICE void sums_around(Sum (&counts)[ITEMS], Sum (&moments)[ITEMS], unsigned bins, unsigned radius, Sum* double_sums,
                        TempStorage& storage) {
    unsigned first = threadIdx.x * ITEMS;
    Sum own[3] = {0u, 0u, 0u}, sums[3], all[3];  // of the counts, times the bin, times its square
#pragma unroll
    for (unsigned i = 0u; i < ITEMS; ++i) {
        Sum moment = counts[i] * (first + i);
        own[0] += counts[i];
        own[1] += moment;
        own[2] += moment * (first + i);
    }
#pragma unroll
    for (unsigned i = 0u; i < 3u; ++i) {
        sums[i] = warp_inclusive_sum(own[i], threadIdx.x % WARP_THREADS);
        publish(sums[i], storage.sums[i]);
    }
    __syncthreads();
#pragma unroll
    for (unsigned i = 0u; i < 3u; ++i) {
        GroupPrefix<Sum> prefix = prefix_of(storage.sums[i]);
        all[i] = prefix.all;
        sums[i] += prefix.before - own[i];
    }
#pragma unroll
    for (unsigned i = 0u; i < ITEMS; ++i) {
        unsigned bin = first + i;
        Sum count = counts[i], moment = count * bin;
        counts[i] = bin * sums[0] - sums[1];
        moments[i] = bin * sums[1] - sums[2];
        sums[0] += count;
        sums[1] += moment;
        sums[2] += moment * bin;
    }
    sum_around<ITEMS>(counts, bins * all[0] - all[1], all[0], bins, radius, double_sums);
    sum_around<ITEMS>(moments, bins * all[1] - all[2], all[1], bins, radius, double_sums);
}

// The largest number of the threads before this one; 0 for the first thread.
DEVICE unsigned most_before(unsigned number, TempStorage& storage) {
    unsigned lane = threadIdx.x % WARP_THREADS, own = threadIdx.x / WARP_THREADS;
    for (unsigned distance = 1u; distance < WARP_THREADS; distance *= 2u) {
        unsigned before = __shfl_up_sync(FULL_MASK, number, distance);
        if (lane >= distance && before > number) number = before;
    }
    publish((Sum)number, storage.excess);
    unsigned most = __shfl_up_sync(FULL_MASK, number, 1u);
    if (lane == 0u) most = 0u;
    __syncthreads();
    unsigned of_warps = warp_max(lane < own ? (unsigned)storage.excess[lane] : 0u);
    return of_warps > most ? of_warps : most;
}

// Computes the block's curve that brings out detail, with ITEMS bins per thread.
template <unsigned ITEMS>
DEVICE void detail_curves(unsigned codes, BlendedLevels levels, const Modifiers& m, const WindowUpdate& update,
                          Tiles tiles, const Detail& detail, const PiecewiseLine& line, unsigned* tile_counts,
                          const History& history, unsigned short* curves, unsigned place, TempStorage& storage,
                          Sum* sums) {
    unsigned bins = tiles.bins, first = threadIdx.x * ITEMS, count = levels.hi - levels.lo + 1u;
    Sum samples[ITEMS], moments[ITEMS];
    counts_of_window<ITEMS>(samples, update, bins, tile_counts, history);
    sums_around<ITEMS>(samples, moments, bins, detail.radius, sums, storage);

    float of_bins = reciprocal_of((float)bins);
    unsigned outputs[ITEMS], most = 0u;
#pragma unroll
    for (unsigned i = 0u; i < ITEMS; ++i) {
        unsigned bin = first + i;
        if (bin < bins) {
            unsigned base = 256u * bin;
            if (samples[i] != 0u) {
                float reciprocal = reciprocal_of((float)samples[i]);
                if (moments[i] >> 56 == 0u) {
                    base = quotient(256u * moments[i], samples[i], reciprocal);
                } else {
                    unsigned whole = quotient(moments[i], samples[i], reciprocal);
                    base = 256u * whole + quotient(256u * (moments[i] - whole * samples[i]), samples[i], reciprocal);
                }
            }
            unsigned apart = base < 256u * bin ? 256u * bin - base : base - 256u * bin;
            long long size = apart * detail.width >> 40;
            if (base > 256u * bin) size = -size;
            long long level = 16ll * (small_quotient((bin + 1u) * count + bins - 1u, bins, of_bins) - 1u);
            unsigned output = with_detail(level, size, 16u * m.ceiling, detail, line);
            if (output > most) most = output;
        }
        outputs[i] = most;
    }
    unsigned before = most_before(most, storage);
    unsigned total = m.ceiling == 0u ? 1u : 16u * m.ceiling;
    unsigned* steps = steps_in(curves, place, total, m, levels, bins);
    unsigned* through_bins = reinterpret_cast<unsigned*>(sums);
#pragma unroll
    for (unsigned i = 0u; i < ITEMS; ++i) {
        if (outputs[i] < before) outputs[i] = before;
        if (first + i < bins && steps == nullptr) through_bins[first + i] = outputs[i];
    }
    if (steps != nullptr) return store<ITEMS>(outputs, held_of<ITEMS>(bins), steps + first);
    __syncthreads();
    write_table<unsigned>(through_bins, total, levels, m.ceiling, m.keeps_black, bins, codes,
                          curves + (size_t)blockIdx.x * codes);
}

// Computes for each tile the curve that brings out detail.
// Arguments and launch: as those of `tile_curves`, of whose modifiers only the window, `ceiling` and `keeps_black` have
// an effect; `line` maps the base.
extern "C" __global__ __launch_bounds__(1024) void detail_curves(unsigned codes, BlendedLevels levels, Modifiers m,
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
extern "C" __global__ __launch_bounds__(1024) void tile_tables(unsigned codes, BlendedLevels levels, Tiles tiles,
                                                               const unsigned* steps, unsigned short* curves) {
    grid_dependency_sync();
    Scale scale = *reinterpret_cast<const Scale*>(steps + (size_t)gridDim.x * tiles.bins);
    write_table<unsigned>(steps + (size_t)blockIdx.x * tiles.bins, scale.total, levels, scale.ceiling,
                          scale.keeps_black, tiles.bins, codes, curves + (size_t)blockIdx.x * codes);
}
