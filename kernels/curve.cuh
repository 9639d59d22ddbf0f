// From the counts of a frame to its curve, with everything that the specification puts between: temporal window, plateau,
// bins, contrast limit, prefix sum, normalization, strength (src/spec/equalization.rs, step for step).
//
// Done by a crew: the first threads of a block, each of which has PER neighbouring codes in its registers from the first
// step to the last. MANY crews in as many blocks, all there at once, can share the codes; what one has to know of the
// others goes through `Grid`.
#pragma once

#include "scenes.cuh"

constexpr unsigned MOST_BLOCKS = 16u;

typedef unsigned long long Sum;

// The crew of a block: its first so many warps, all of them if that is 0. The others may be busy elsewhere.
template <unsigned WARPS>
struct Crew {
    static constexpr bool IS_SMALL = WARPS != 0u && WARPS <= 8u;
    // Whether any warp of a block of 1024 threads is left to be its judge.
    static constexpr bool HAS_JUDGE = WARPS < 32u;

    __device__ __forceinline__ static unsigned warps() { return WARPS != 0u ? WARPS : blockDim.x / LANES; }

    // Waits until all of the crew are here; what each has written before is then seen by all.
    __device__ __forceinline__ static void meet() {
        asm volatile("bar.sync 1, %0;" ::"r"(warps() * LANES) : "memory");
    }

    // A judge is the warp next to the crew. It waits at a barrier for what the crew has, or the other way around, while
    // the one that has it goes on.
    __device__ __forceinline__ static void wait_with_judge(unsigned barrier) {
        asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"((warps() + 1u) * LANES) : "memory");
    }
    __device__ __forceinline__ static void tell_with_judge(unsigned barrier) {
        asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"((warps() + 1u) * LANES) : "memory");
    }
};

// Where a judge hears that the coarse bins are whole, and where it tells its verdict.
constexpr unsigned HEARING = 2u, VERDICT = 3u;

// What the blocks tell each other.
struct Grid {
    unsigned arrived;            // at barriers, ever
    unsigned coarse[2][COARSE];  // of this frame, and zeros for the next
    unsigned flat[MOST_BLOCKS];  // 1 where one level holds all samples
    Sum totals[MOST_BLOCKS];     // of the window
    Sum kept[MOST_BLOCKS];       // samples that the plateau leaves
    Sum excess[MOST_BLOCKS];     // above the contrast limit
    Sum sums[MOST_BLOCKS];       // in the end
    Sum firsts[MOST_BLOCKS];     // of the first level that has any
};

// What the threads of a crew tell each other, in shared memory. Each sum has a place of its own, so that none has to be
// waited for twice.
struct Room {
    __align__(8) unsigned coarse[COARSE];  // zero when a frame comes
    unsigned flat;                         // likewise
    Turn turn;                             // as a judge finds it
    // Read in pairs.
    __align__(16) Sum totals[LANES];
    Sum kept[LANES];
    Sum excess[LANES];
    Sum sums[LANES];
    Sum firsts[LANES];
};

// What is remembered of the frames before. `sums` are twice those of the two windows, used in turns like `states`.
struct History {
    unsigned* slots;
    Sum* sums;
    Scenes* states;
    unsigned* marks;
};

// What of it the codes of a thread may need.
template <unsigned PER>
struct Past {
    unsigned likely;        // the slot that `pushed` was read from
    unsigned old[PER];      // the frame that is forgotten now
    unsigned pushed[PER];   // the one that a full window most likely pushes out
    Sum windows[2][PER];
};

template <unsigned PER>
__device__ __forceinline__ void load(const unsigned* from, unsigned (&to)[PER]) {
    if (PER == 4u) {
        uint4 four = *reinterpret_cast<const uint4*>(from);
        unsigned loaded[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
        for (unsigned i = 0u; i < PER; ++i) to[i] = loaded[i];
    } else {
#pragma unroll
        for (unsigned i = 0u; i < PER; ++i) to[i] = from[i];
    }
}

template <unsigned PER>
__device__ __forceinline__ void store(const unsigned (&from)[PER], unsigned* to) {
    if (PER == 4u) {
        *reinterpret_cast<uint4*>(to) = make_uint4(from[0], from[1 % PER], from[2 % PER], from[3 % PER]);
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

// The slot of the frame that a full window most likely pushes out: the one that many frames ago.
__device__ __forceinline__ unsigned likely_pushed(const Modifiers& m) {
    return m.slot >= m.frames ? m.slot - m.frames : m.slot + m.slots - m.frames;
}

// Reads what may be needed before it is known whether it is.
template <unsigned PER>
__device__ __forceinline__ Past<PER> past_of(unsigned code, unsigned codes, const Modifiers& m, const History& history) {
    Past<PER> past;
    past.likely = likely_pushed(m);
    load<PER>(history.slots + (size_t)row_of(m.slot, m) * codes + code, past.old);
    load<PER>(history.slots + (size_t)row_of(past.likely, m) * codes + code, past.pushed);
    const Sum* sums = history.sums + (m.number & 1u ? 2u * codes : 0u);
    load<PER>(sums + code, past.windows[0]);
    load<PER>(sums + codes + code, past.windows[1]);
    return past;
}

__device__ __forceinline__ void prefetch(const void* at) { asm volatile("prefetch.global.L2 [%0];" ::"l"(at)); }

// Has all of that, and what is known of the scenes, brought nearer, by all threads of a block.
__device__ __forceinline__ void prefetch_past(unsigned codes, const Modifiers& m, const History& history) {
    constexpr unsigned LINE = 128u;
    const unsigned* old = history.slots + (size_t)row_of(m.slot, m) * codes;
    const unsigned* pushed = history.slots + (size_t)row_of(likely_pushed(m), m) * codes;
    const Sum* sums = history.sums + (m.number & 1u ? 2u * codes : 0u);
    for (unsigned i = threadIdx.x * LINE / 8u; i < 2u * codes; i += blockDim.x * LINE / 8u) {
        prefetch(sums + i);
        if (i < codes / 2u) prefetch(old + 2u * i);
        if (i < codes / 2u) prefetch(pushed + 2u * i);
        if (i < sizeof(Scenes) / 8u) prefetch(reinterpret_cast<const Sum*>(scenes_before(m, history.states)) + i);
        if (i < m.slots / 2u) prefetch(marks_before(m, history.marks) + 2u * i);
    }
}

// Waits until all blocks are here; what each has written before is then seen by all.
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

// What a warp learns of all warps of its crew.
template <typename T>
struct Told {
    T before;  // the sum of the warps before it
    T all;     // and of all
    T first;   // the first that is not zero
};

// From what each warp has told, after they have met: a few values are read by everybody, many are shared out.
template <typename Crew, typename T>
__device__ __forceinline__ Told<T> told_by_all(const T* sums, const T* firsts) {
    unsigned lane = threadIdx.x % LANES, warp = threadIdx.x / LANES;
    Told<T> told = {0, 0, 0};
    if (Crew::IS_SMALL) {
#pragma unroll
        for (unsigned other = 0u; other < Crew::warps(); ++other) {
            T sum = sums[other], first = firsts[other];
            if (other < warp) told.before += sum;
            told.all += sum;
            if (told.first == 0) told.first = first;
        }
        return told;
    }
    T sum = lane < Crew::warps() ? sums[lane] : 0, first = lane < Crew::warps() ? firsts[lane] : 0;
    told.before = sum_of_warp(lane < warp ? sum : (T)0);
    told.all = sum_of_warp(sum);
    unsigned occupied = __ballot_sync(ALL, first != 0);
    told.first = __shfl_sync(ALL, first, occupied != 0u ? __ffs(occupied) - 1 : 0);
    return told;
}

// The sum over all crews of what each thread has; `room` and `told` are where threads and blocks tell each other.
template <bool MANY, typename Crew>
__device__ __forceinline__ Sum sum_of_all(Sum value, Sum* room, Sum* told, Grid* grid) {
    value = sum_of_warp(value);
    if (threadIdx.x % LANES == 0u) room[threadIdx.x / LANES] = value;
    Crew::meet();
    Sum sum = 0u;
    if (Crew::IS_SMALL) {
#pragma unroll
        for (unsigned warp = 0u; warp < Crew::warps(); ++warp) sum += room[warp];
    } else {
        unsigned lane = threadIdx.x % LANES;
        sum = sum_of_warp(lane < Crew::warps() ? room[lane] : (Sum)0u);
    }
    if (!MANY) return sum;
    if (threadIdx.x == 0u) told[blockIdx.x] = sum;
    meet(grid);
    sum = 0u;
    for (unsigned other = 0u; other < gridDim.x; ++other) sum += ((volatile Sum*)told)[other];
    return sum;
}

// The frame's samples in coarse bins, for the whole crew in `room.coarse`.
template <unsigned PER, bool MANY, typename Crew>
__device__ __forceinline__ void compare(const unsigned (&count)[PER], unsigned code, Levels levels, const Modifiers& m,
                                        Divisor divisor, Room& room, Grid* grid) {
    add_coarse<PER>(count, code, levels, divisor, room.coarse);
    Crew::meet();
    if (!MANY) return;
    unsigned* all = grid->coarse[m.number & 1u];
    if (threadIdx.x < COARSE) {
        if (room.coarse[threadIdx.x] != 0u) atomicAdd(&all[threadIdx.x], room.coarse[threadIdx.x]);
        if (blockIdx.x == 0u) grid->coarse[(m.number + 1u) & 1u][threadIdx.x] = 0u;
    }
    meet(grid);
    if (threadIdx.x < COARSE) room.coarse[threadIdx.x] = ((volatile unsigned*)all)[threadIdx.x];
    __syncthreads();
}

// What a window holds of the thread's code number `i` after this turn.
template <unsigned PER>
__device__ __forceinline__ Sum sum_after(const Turn& turn, unsigned window, const Past<PER>& past,
                                         const unsigned (&count)[PER], unsigned i) {
    Sum sum = window == 0u ? past.windows[0][i] : past.windows[1][i];
    if (turn.forgotten == window) sum -= past.old[i];
    if (turn.window != window) return sum;
    if (turn.pushed != NOWHERE) sum -= past.pushed[i];
    return (turn.fresh ? 0u : sum) + count[i];
}

// The sums of the window that the frame belongs to.
template <unsigned PER>
__device__ __forceinline__ void hold(const Turn& turn, Past<PER>& past, const unsigned (&count)[PER], unsigned code,
                                     unsigned codes, const Modifiers& m, const History& history, Sum (&held)[PER]) {
    if (turn.pushed != NOWHERE && turn.pushed != past.likely) {
        past.likely = turn.pushed;
        load<PER>(history.slots + (size_t)row_of(turn.pushed, m) * codes + code, past.pushed);
    }
#pragma unroll
    for (unsigned i = 0u; i < PER; ++i) held[i] = sum_after<PER>(turn, turn.window, past, count, i);
}

// Writes the sums of both windows and the frame's own counts for the next frame.
template <unsigned PER>
__device__ __forceinline__ void write_windows(const Turn& turn, const Past<PER>& past, const unsigned (&count)[PER],
                                              unsigned code, unsigned codes, const Modifiers& m,
                                              const History& history) {
    Sum* sums = history.sums + (m.number & 1u ? 0u : 2u * codes) + code;
#pragma unroll
    for (unsigned window = 0u; window < 2u; ++window) {
#pragma unroll
        for (unsigned i = 0u; i < PER; ++i) sums[window * codes + i] = sum_after<PER>(turn, window, past, count, i);
    }
    store<PER>(count, history.slots + (size_t)m.row * codes + code);
}

// Puts levels together into bins, and spreads what the cap leaves of them over the levels again.
template <unsigned PER, bool MANY, typename Crew>
__device__ __forceinline__ void in_bins(Sum (&held)[PER], unsigned code, Levels levels, unsigned asked, Sum cap,
                                        Sum* bins, Grid* grid) {
    unsigned count = levels.hi - levels.lo + 1u;
#pragma unroll
    for (unsigned i = 0u; i < PER; ++i) {
        if (held[i] != 0u) atomicAdd(&bins[bin_of(code + i - levels.lo, asked, count)], held[i]);
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
        if (cap != 0u && whole > cap) whole = cap;
        held[i] = part_of_bin(whole, level - first, first_of_bin(bin + 1u, asked, count) - first);
    }
}

// Cuts off what is above the contrast limit of a histogram of `total` samples, and spreads it evenly; all counts are
// 256 times as many then.
template <unsigned PER, bool MANY, typename Crew>
__device__ __forceinline__ void limit(Sum (&held)[PER], unsigned code, Levels levels, unsigned gain, Sum total,
                                      Divisor divisor, Room& room, Grid* grid) {
    Sum most = kept_under(gain, total, divisor);
    Sum excess = 0u;
#pragma unroll
    for (unsigned i = 0u; i < PER; ++i) excess += cut_off(held[i], most);
    excess = sum_of_all<MANY, Crew>(excess, room.excess, MANY ? grid->excess : nullptr, grid);
    Divided spread = divided(excess, divisor);
    unsigned level = code - levels.lo;
    unsigned share = odd_share(level, spread, divisor);
#pragma unroll
    for (unsigned i = 0u; i < PER; ++i) {
        unsigned next = odd_share(level + i + 1u, spread, divisor);
        bool is_level = code + i >= levels.lo && code + i <= levels.hi;
        Sum kept = 256u * held[i] < most ? 256u * held[i] : most;
        // Before black the shares are those of no level, but the first one is right for black: it is 0.
        unsigned odd = code + i == levels.lo ? next : next - share;
        held[i] = is_level ? kept + spread.quotient + odd : 0u;
        share = next;
    }
}

// What each code becomes that a thread has, from the histogram of the window: bins, plateau, contrast limit, prefix sum.
// `bins` is room for the sums in bins, all zero; null if none are asked for. If the crew is `judged`, the verdict is there
// when this returns.
template <unsigned PER, bool MANY, typename Crew>
__device__ __forceinline__ void equalize(Sum (&held)[PER], unsigned frames, unsigned code, Levels levels,
                                         const Modifiers& m, Divisor divisor, Sum* bins, Room& room, Grid* grid,
                                         bool judged, unsigned (&mapped)[PER]) {
    unsigned lane = threadIdx.x % LANES, warp = threadIdx.x / LANES;
    Sum total = (Sum)frames * m.samples;
    Sum sum = 0u;
    if (m.varies) {
#pragma unroll
        for (unsigned i = 0u; i < PER; ++i) sum += held[i];
        total = sum_of_all<MANY, Crew>(sum, room.totals, MANY ? grid->totals : nullptr, grid);
    }
    // One level that holds all samples makes the curve the identity, whatever becomes of the histogram.
#pragma unroll
    for (unsigned i = 0u; i < PER; ++i) {
        if (held[i] == total) room.flat = 1u;
    }

    Sum cap = (Sum)frames * m.cap;
    if (bins != nullptr) {
        in_bins<PER, MANY, Crew>(held, code, levels, m.bins, cap, bins, grid);
    } else if (cap != 0u) {
#pragma unroll
        for (unsigned i = 0u; i < PER; ++i) held[i] = held[i] < cap ? held[i] : cap;
    }
    if (m.gain != 0u) {
        if (cap != 0u) {
            sum = 0u;
#pragma unroll
            for (unsigned i = 0u; i < PER; ++i) sum += held[i];
            total = sum_of_all<MANY, Crew>(sum, room.kept, MANY ? grid->kept : nullptr, grid);
        }
        limit<PER, MANY, Crew>(held, code, levels, m.gain, total, divisor, room, grid);
    }

    // The prefix sums, and the count of the first level that has any.
    Sum first = 0u;
    sum = 0u;
#pragma unroll
    for (unsigned i = 0u; i < PER; ++i) {
        sum += held[i];
        if (first == 0u) first = held[i];
    }
    Sum through = prefix_of_warp(sum, lane);
    unsigned occupied = __ballot_sync(ALL, sum != 0u);
    first = __shfl_sync(ALL, first, occupied != 0u ? __ffs(occupied) - 1 : 0);
    if (lane == LANES - 1u) {
        room.sums[warp] = through;
        room.firsts[warp] = first;
    }
    if (judged) {
        Crew::wait_with_judge(VERDICT);
    } else {
        Crew::meet();
    }
    Told<Sum> told = told_by_all<Crew>(room.sums, room.firsts);
    Sum before = told.before, all = told.all;
    first = told.first;
    bool flat = room.flat != 0u;
    if (MANY) {
        if (threadIdx.x == 0u) {
            grid->sums[blockIdx.x] = all;
            grid->firsts[blockIdx.x] = first;
            grid->flat[blockIdx.x] = flat;
        }
        meet(grid);
        all = first = 0u;
        for (unsigned other = 0u; other < gridDim.x; ++other) {
            Sum others = ((volatile Sum*)grid->sums)[other];
            if (other < blockIdx.x) before += others;
            all += others;
            if (first == 0u) first = ((volatile Sum*)grid->firsts)[other];
            flat |= ((volatile unsigned*)grid->flat)[other] != 0u;
        }
    }

    WideSpread spread = wide_spread_of(first, flat ? first : all);
    Sum at = before + through - sum;
#pragma unroll
    for (unsigned i = 0u; i < PER; ++i) {
        at += held[i];
        mapped[i] = wide_curve_at(code + i, at, spread, levels);
    }
}
