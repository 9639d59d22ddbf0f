// From the counts of a frame to its curve, with everything that the specification puts between: temporal window, plateau,
// bins, contrast limit, prefix sum, normalization, strength (src/spec/equalization.rs). `scan` is the same without.
//
// A thread has four codes, which stay in its registers from the first step to the last. What more than one block has to
// know of all others goes through `Grid`, with a barrier; the blocks of a launch are all there at once (a cooperative
// launch). Up to 12 bits there is one block, and no such barrier.
#include "scenes.cuh"

constexpr unsigned PER_THREAD = 4u;
constexpr unsigned MOST_BLOCKS = 16u;

typedef unsigned long long Sum;

// What the blocks tell each other.
struct Grid {
    unsigned arrived;              // at barriers, ever
    unsigned coarse[2][COARSE];    // of this frame, and zeros for the next
    unsigned flat[MOST_BLOCKS];    // 1 where one level holds all samples
    Sum totals[MOST_BLOCKS];       // of the window
    Sum kept[MOST_BLOCKS];         // samples that the plateau leaves
    Sum excess[MOST_BLOCKS];       // above the contrast limit
    Sum sums[MOST_BLOCKS];         // in the end
    Sum firsts[MOST_BLOCKS];       // of the first level that has any
};

// Waits until all blocks are here; what each has written before is then seen by all.
__device__ __forceinline__ void meet(Grid* grid) {
    __syncthreads();
    if (gridDim.x == 1u) return;
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

// The sum over all blocks of what each block has; `told` is where they tell each other.
__device__ __forceinline__ Sum sum_of_grid(Sum block, Sum* told, Grid* grid) {
    if (gridDim.x == 1u) return block;
    if (threadIdx.x == 0u) told[blockIdx.x] = block;
    meet(grid);
    Sum sum = 0u;
    for (unsigned other = 0u; other < gridDim.x; ++other) sum += ((volatile Sum*)told)[other];
    return sum;
}

// Four sums as they lie in memory.
struct Four {
    ulonglong2 low, high;
};

__device__ __forceinline__ void load(const Four* from, Sum (&to)[PER_THREAD]) {
    ulonglong2 low = from->low, high = from->high;
    to[0] = low.x;
    to[1] = low.y;
    to[2] = high.x;
    to[3] = high.y;
}

__device__ __forceinline__ void store(const Sum (&from)[PER_THREAD], Four* to) {
    to->low = make_ulonglong2(from[0], from[1]);
    to->high = make_ulonglong2(from[2], from[3]);
}

__device__ __forceinline__ void subtract(uint4 counts, Sum (&from)[PER_THREAD]) {
    from[0] -= counts.x;
    from[1] -= counts.y;
    from[2] -= counts.z;
    from[3] -= counts.w;
}

// The frame's samples in coarse bins, for the whole block in `coarse`.
__device__ __forceinline__ void compare(const unsigned (&count)[PER_THREAD], unsigned code, Levels levels,
                                        const Modifiers& m, unsigned* coarse, Grid* grid) {
    if (threadIdx.x < COARSE) coarse[threadIdx.x] = 0u;
    __syncthreads();
    add_coarse(count, code, levels, coarse);
    __syncthreads();
    if (gridDim.x == 1u) return;
    unsigned* all = grid->coarse[m.number & 1u];
    if (threadIdx.x < COARSE) {
        if (coarse[threadIdx.x] != 0u) atomicAdd(&all[threadIdx.x], coarse[threadIdx.x]);
        if (blockIdx.x == 0u) grid->coarse[(m.number + 1u) & 1u][threadIdx.x] = 0u;
    }
    meet(grid);
    if (threadIdx.x < COARSE) coarse[threadIdx.x] = ((volatile unsigned*)all)[threadIdx.x];
    __syncthreads();
}

// Puts levels together into bins, and spreads what the cap leaves of them over the levels again.
__device__ __forceinline__ void in_bins(Sum (&held)[PER_THREAD], unsigned code, Levels levels, unsigned asked, Sum cap,
                                        Sum* bins, Grid* grid) {
    unsigned count = levels.hi - levels.lo + 1u;
#pragma unroll
    for (unsigned i = 0u; i < PER_THREAD; ++i) {
        if (held[i] != 0u) atomicAdd(&bins[bin_of(code + i - levels.lo, asked, count)], held[i]);
    }
    __threadfence();
    meet(grid);
#pragma unroll
    for (unsigned i = 0u; i < PER_THREAD; ++i) {
        if (code + i < levels.lo || code + i > levels.hi) continue;
        unsigned level = code + i - levels.lo;
        unsigned bin = bin_of(level, asked, count);
        unsigned first = first_of_bin(bin, asked, count);
        Sum whole = ((volatile Sum*)bins)[bin];
        if (cap != 0u && whole > cap) whole = cap;
        held[i] = part_of_bin(whole, level - first, first_of_bin(bin + 1u, asked, count) - first);
    }
}

extern "C" __global__ __launch_bounds__(1024) void equalization(
    uint4* __restrict__ counts, unsigned codes, Levels levels, Modifiers m, uint4* __restrict__ slots,
    Four* __restrict__ sums, Scenes* states, unsigned* marks, Sum* bins, Grid* grid, ushort4* __restrict__ curve) {
    __shared__ __align__(8) unsigned coarse[COARSE];
    __shared__ Turn shared_turn;
    __shared__ Sum room[LANES];
    __shared__ Sum firsts[LANES];

    unsigned quad = blockIdx.x * blockDim.x + threadIdx.x;  // four codes
    unsigned quads = codes / PER_THREAD;
    unsigned code = quad * PER_THREAD;
    unsigned lane = threadIdx.x % LANES;
    unsigned warp = threadIdx.x / LANES;
    unsigned count_of_levels = levels.hi - levels.lo + 1u;

    uint4 loaded = counts[quad];
    counts[quad] = make_uint4(0u, 0u, 0u, 0u);
    unsigned count[PER_THREAD] = {loaded.x, loaded.y, loaded.z, loaded.w};
    Sum held[PER_THREAD] = {loaded.x, loaded.y, loaded.z, loaded.w};
    unsigned frames = 1u;

    Divisor levels_divisor = divisor_of(count_of_levels);

    if (m.slots != 0u) {
        // What the sums may need is on its way while the frames are compared. The frame that is pushed out of a full
        // window is mostly the one that many frames ago.
        unsigned likely = m.slot >= m.frames ? m.slot - m.frames : m.slot + m.slots - m.frames;
        uint4 old = slots[m.slot * (size_t)quads + quad];
        uint4 pushed = slots[likely * (size_t)quads + quad];
        Sum windows[2][PER_THREAD];
        load(&sums[quad], windows[0]);
        load(&sums[quads + quad], windows[1]);
        Known known;
        if (warp == 0u) known = known_before(m, states, marks);

        compare(count, code, levels, m, coarse, grid);
        if (warp == 0u) {
            Turn turn = next_turn(coarse, m, known);
            if (lane == 0u) shared_turn = turn;
            if (blockIdx.x == 0u) remember(turn, known, m, states, marks);
        }
        __syncthreads();
        Turn turn = shared_turn;
        frames = turn.frames;
        if (turn.pushed != NOWHERE && turn.pushed != likely) pushed = slots[turn.pushed * (size_t)quads + quad];
#pragma unroll
        for (unsigned window = 0u; window < 2u; ++window) {
            Sum(&sum)[PER_THREAD] = windows[window];
            bool takes = turn.window == window;
            bool leaves = turn.forgotten == window;
            if (leaves) subtract(old, sum);
            if (takes) {
                if (turn.pushed != NOWHERE) subtract(pushed, sum);
#pragma unroll
                for (unsigned i = 0u; i < PER_THREAD; ++i) {
                    sum[i] = (turn.fresh ? 0u : sum[i]) + count[i];
                    held[i] = sum[i];
                }
            }
            if (takes || leaves) store(sum, &sums[window * quads + quad]);
        }
        slots[m.slot * (size_t)quads + quad] = loaded;
    }

    Sum total = (Sum)frames * m.samples;
    if (m.varies) total = sum_of_grid(sum_of_block(held[0] + held[1] + held[2] + held[3], room), grid->totals, grid);
    // One level that holds all samples makes the curve the identity, whatever becomes of the histogram.
    bool holds_all = false;
#pragma unroll
    for (unsigned i = 0u; i < PER_THREAD; ++i) holds_all |= held[i] == total;
    bool flat = __syncthreads_or(holds_all);

    Sum cap = (Sum)frames * m.cap;
    if (m.bins != 0u) {
        Sum* next_bins = bins + (m.number & 1u ? 0u : codes);
        for (unsigned i = 0u; i < PER_THREAD; ++i) next_bins[code + i] = 0u;
        in_bins(held, code, levels, m.bins, cap, bins + (m.number & 1u ? codes : 0u), grid);
    } else if (cap != 0u) {
#pragma unroll
        for (unsigned i = 0u; i < PER_THREAD; ++i) held[i] = held[i] < cap ? held[i] : cap;
    }
    if (cap != 0u && m.gain != 0u) {
        Sum kept = held[0] + held[1] + held[2] + held[3];
        total = sum_of_grid(sum_of_block(kept, room), grid->kept, grid);
    }
    if (m.gain != 0u) {
        Sum most = kept_under(m.gain, total, levels_divisor);
        Sum excess = 0u;
#pragma unroll
        for (unsigned i = 0u; i < PER_THREAD; ++i) excess += cut_off(held[i], most);
        Divided spread = divided(sum_of_grid(sum_of_block(excess, room), grid->excess, grid), levels_divisor);
        unsigned level = code - levels.lo;
        unsigned share = odd_share(level, spread, levels_divisor);
#pragma unroll
        for (unsigned i = 0u; i < PER_THREAD; ++i) {
            unsigned next = odd_share(level + i + 1u, spread, levels_divisor);
            bool is_level = code + i >= levels.lo && code + i <= levels.hi;
            Sum kept = 256u * held[i] < most ? 256u * held[i] : most;
            // Before black the shares are those of no level, but the first one is right for black: it is 0.
            unsigned odd = code + i == levels.lo ? next : next - share;
            held[i] = is_level ? kept + spread.quotient + odd : 0u;
            share = next;
        }
    }

    // The prefix sums, and the count of the first level that has any.
    Sum sum = held[0] + held[1] + held[2] + held[3];
    Sum through = prefix_of_warp(sum, lane);
    Sum own_first = held[0] != 0u ? held[0] : held[1] != 0u ? held[1] : held[2] != 0u ? held[2] : held[3];
    unsigned occupied = __ballot_sync(ALL, sum != 0u);
    Sum warp_first = __shfl_sync(ALL, own_first, occupied != 0u ? __ffs(occupied) - 1 : 0);
    __syncthreads();
    if (lane == LANES - 1u) room[warp] = through;
    if (lane == 0u) firsts[warp] = occupied != 0u ? warp_first : 0u;
    __syncthreads();
    Sum before = 0u, all = 0u, first = 0u;
    for (unsigned other = 0u; other < blockDim.x / LANES; ++other) {
        if (other < warp) before += room[other];
        all += room[other];
        if (first == 0u) first = firsts[other];
    }
    if (gridDim.x > 1u) {
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
    unsigned mapped[PER_THREAD];
#pragma unroll
    for (unsigned i = 0u; i < PER_THREAD; ++i) {
        at += held[i];
        mapped[i] = wide_curve_at(code + i, at, spread, levels);
    }
    curve[quad] = make_ushort4(mapped[0], mapped[1], mapped[2], mapped[3]);
}
