// Finds the scene of a frame, and so the frames of its histogram: src/spec/scenes.rs, step for step, by one warp.
#pragma once

#include "spec.cuh"
#include "warp.cuh"

constexpr unsigned COARSE = 64u;  // bins in which frames are compared
constexpr unsigned NOWHERE = ~0u;

// The state of the scenes so far. Two of them are used alternately: one is read while the other is written. All zero
// before the first frame.
struct Scenes {
    unsigned oldest[2];       // slot of the first frame in each window
    unsigned mark[2];         // what the frames of each window are marked with; 0 for none
    unsigned frames[2];       // how many each window has
    unsigned current;         // the window of the last frame
    unsigned marks;           // given so far
    unsigned begun;           // 1 once there was a frame
    unsigned cuts;            // 1 once there was a cut
    unsigned cut;             // number of the first frame after the last cut
    unsigned last_samples;    // of the frame before
    unsigned before_samples;  // and of the one before the last cut
    unsigned reserved;
    unsigned last[COARSE];    // cumulative distribution of the frame before
    unsigned before[COARSE];  // and of the one before the last cut
};
static_assert(sizeof(Scenes) == 568, "Scenes is not as large as src/cuda/history.rs allocates");

// The update of the windows by a frame.
struct Turn {
    unsigned window;     // that it belongs to
    unsigned fresh;      // 1 if the window begins with it
    unsigned frames;     // that the window has with it
    unsigned forgotten;  // the window that the frame which was in the slot is to be subtracted from, or NOWHERE
    unsigned pushed;     // the slot that is to be subtracted from its own window, or NOWHERE
    unsigned cut;        // 1 if the frame before belongs to the other window

    __device__ __forceinline__ bool operator==(const Turn& other) const {
        return window == other.window && fresh == other.fresh && frames == other.frames &&
               forgotten == other.forgotten && pushed == other.pushed;
    }
};

// The state of the scenes in the registers of a lane; each lane has two coarse bins.
struct Known {
    const unsigned* marks;
    uint2 last, before;
    uint2 oldest, mark, frames;
    unsigned current, begun, cuts, cut;
    unsigned last_samples, before_samples;
    unsigned given;     // marks
    unsigned found;     // the mark in the frame's slot
    unsigned first[2];  // the marks in slots `lane` and `lane + LANES`
    unsigned next;      // for lanes 0 and 1: the slot after the oldest of that window,
    unsigned follows;   // and the mark in there
    uint2 now;          // the frame's own distribution
};

__device__ __forceinline__ unsigned of(uint2 pair, unsigned window) { return window == 0u ? pair.x : pair.y; }

__device__ __forceinline__ uint2 pair_at(const unsigned* pairs, unsigned index) {
    return reinterpret_cast<const uint2*>(pairs)[index];
}

// The slot of the frame after that of `slot`.
__device__ __forceinline__ unsigned after(unsigned slot, const Modifiers& m) {
    return slot + 1u == m.slots ? 0u : slot + 1u;
}

// The row with the histogram of the frame that is in `slot` before this frame. There is one row more than slots, so
// that this frame's histogram never overwrites one that another block may still read.
__device__ __forceinline__ unsigned row_of(unsigned slot, const Modifiers& m) {
    unsigned ago = m.slot > slot ? m.slot - slot : m.slot + m.slots - slot;
    return m.row >= ago ? m.row - ago : m.row + m.slots + 1u - ago;
}

// The state before the frame, and its marks; there are two of each.
__device__ __forceinline__ const Scenes* scenes_before(const Modifiers& m, const Scenes* states) {
    return &states[m.number & 1u];
}
__device__ __forceinline__ const unsigned* marks_before(const Modifiers& m, const unsigned* marks) {
    return marks + (m.number & 1u ? m.slots : 0u);
}

// Reads the whole state before the frame at once, so that no later load delays.
__device__ __forceinline__ Known known_before(const Modifiers& m, const Scenes* scenes, const unsigned* marks) {
    unsigned lane = threadIdx.x % LANES;
    Known known;
    known.marks = marks;
    known.last = pair_at(scenes->last, lane);
    known.before = pair_at(scenes->before, lane);
    known.oldest = pair_at(scenes->oldest, 0u);
    known.mark = pair_at(scenes->mark, 0u);
    known.frames = pair_at(scenes->frames, 0u);
    known.current = scenes->current;
    known.begun = scenes->begun;
    known.cuts = scenes->cuts;
    known.cut = scenes->cut;
    known.last_samples = scenes->last_samples;
    known.before_samples = scenes->before_samples;
    known.given = scenes->marks;
    known.found = known.marks[m.slot];
    known.first[0] = lane < m.slots ? known.marks[lane] : 0u;
    known.first[1] = lane + LANES < m.slots ? known.marks[lane + LANES] : 0u;
    known.next = after(of(known.oldest, lane), m);
    known.follows = known.marks[known.next];
    return known;
}

// The coarse bins of neighbouring codes from `code` on; defined for levels only. `divisor` is the number of levels.
template <unsigned PER>
__device__ __forceinline__ void coarse_bins(unsigned code, Levels levels, Divisor divisor, unsigned (&bins)[PER]) {
#pragma unroll
    for (unsigned i = 0u; i < PER; ++i) {
        bins[i] = small_quotient((code + i - levels.lo) * COARSE, divisor.of, divisor.rough);
    }
}

// Adds the counts of neighbouring codes to their coarse bins; counts outside of the levels are zero.
template <unsigned PER>
__device__ __forceinline__ void add_coarse(const unsigned (&count)[PER], const unsigned (&bins)[PER],
                                           unsigned* coarse) {
    unsigned sum = 0u, bin = 0u;
#pragma unroll
    for (unsigned i = 0u; i < PER; ++i) {
        if (count[i] == 0u) continue;
        // Neighbours mostly share a bin; then one addition is enough.
        if (bins[i] != bin && sum != 0u) {
            atomicAdd(&coarse[bin], sum);
            sum = 0u;
        }
        bin = bins[i];
        sum += count[i];
    }
    if (sum != 0u) atomicAdd(&coarse[bin], sum);
}

// Whether a frame of `samples` samples with this distribution is farther than the threshold from another one.
__device__ __forceinline__ bool differs(uint2 a, unsigned samples, uint2 b, unsigned others, unsigned threshold) {
    auto away = [](unsigned long long a, unsigned long long b) { return a > b ? a - b : b - a; };
    unsigned long long most = (unsigned long long)threshold * COARSE * samples;
    if (samples == others) {
        // The values are at most the samples, so 32 bits mostly are enough for their sums.
        unsigned long long x = away(a.x, b.x), y = away(a.y, b.y);
        unsigned long long sum = samples <= ~0u / COARSE ? sum_of_warp((unsigned)(x + y)) : sum_of_warp(x + y);
        return 1000u * sum > most;
    }
    // Both sides are multiplied by the denominators. The products take more than 64 bits, in two parts, of which the
    // lower one has 32 bits.
    auto times = [](unsigned a, unsigned b) { return (unsigned long long)a * b; };
    unsigned long long own = away(times(a.x, others), times(b.x, samples)) + away(times(a.y, others), times(b.y, samples));
    unsigned long long low = 1000u * sum_of_warp(own & 0xffffffffull);
    unsigned long long high = 1000u * sum_of_warp(own >> 32) + (low >> 32);
    unsigned long long most_low = most * others, most_high = __umul64hi(most, others) << 32 | most_low >> 32;
    return high != most_high ? high > most_high : (unsigned)low > (unsigned)most_low;
}

// The update of the windows after a cut, or after a cut back to the previous scene.
__device__ __forceinline__ Turn turn_of(bool cut, bool back, const Modifiers& m, const Known& known) {
    Turn turn;
    turn.cut = cut;
    turn.window = cut ? 1u - known.current : known.current;
    turn.fresh = of(known.mark, turn.window) == 0u || (cut && !back);
    unsigned found = known.found;
    turn.forgotten = found == 0u ? NOWHERE : found == known.mark.x ? 0u : found == known.mark.y ? 1u : NOWHERE;
    unsigned held = turn.fresh ? 0u : of(known.frames, turn.window) - (turn.forgotten == turn.window);
    bool full = held == m.frames;
    turn.pushed = full ? of(known.oldest, turn.window) : NOWHERE;
    turn.frames = held - full + 1u;
    return turn;
}

// The update by the frame whose samples are counted in the bins `coarse`.
__device__ __forceinline__ Turn next_turn(const unsigned* coarse, const Modifiers& m, Known& known) {
    unsigned lane = threadIdx.x % LANES;
    uint2 own = pair_at(coarse, lane);
    unsigned odd = prefix_of_warp(own.x + own.y, lane);
    known.now = make_uint2(odd - own.y, odd);

    bool cut = differs(known.now, m.samples, known.last, known.last_samples, m.threshold) && known.begun;
    bool back = cut && known.cuts && m.number - known.cut <= m.flash &&
                !differs(known.now, m.samples, known.before, known.before_samples, m.threshold);
    return turn_of(cut, back, m, known);
}

// Writes the state after the frame.
__device__ __forceinline__ void remember(Turn turn, const Known& known, const Modifiers& m, Scenes* states,
                                         unsigned* marks) {
    unsigned lane = threadIdx.x % LANES;
    Scenes& then = states[(m.number + 1u) & 1u];
    unsigned* marking = marks + (m.number & 1u ? 0u : m.slots);
    unsigned mark = turn.fresh ? known.given + 1u : of(known.mark, turn.window);
    unsigned round = 0u;
#pragma unroll 1
    for (unsigned slot = lane; slot < m.slots; slot += LANES, ++round) {
        unsigned kept = round == 0u ? known.first[0] : round == 1u ? known.first[1] : known.marks[slot];
        marking[slot] = slot == m.slot ? mark : slot == turn.pushed ? 0u : kept;
    }
    reinterpret_cast<uint2*>(then.last)[lane] = known.now;
    reinterpret_cast<uint2*>(then.before)[lane] = turn.cut ? known.last : known.before;
    if (lane < 2u) {
        bool takes = lane == turn.window;
        bool leaves = turn.forgotten == lane || (takes && turn.pushed != NOWHERE);
        unsigned oldest = of(known.oldest, lane), own = of(known.mark, lane);
        unsigned rest = of(known.frames, lane) - leaves;
        if (takes && (turn.fresh || rest == 0u)) {
            oldest = m.slot;
        } else if (leaves) {
            // The first later frame with this mark; mostly the next one.
            oldest = known.next;
            unsigned found = known.follows;
            while (oldest != m.slot && found != own) {
                oldest = after(oldest, m);
                found = known.marks[oldest];
            }
        }
        then.oldest[lane] = oldest;
        then.frames[lane] = takes ? turn.frames : rest;
        then.mark[lane] = takes ? mark : own;
    }
    if (lane == 0u) {
        then.current = turn.window;
        then.marks = known.given + turn.fresh;
        then.begun = 1u;
        then.cuts = known.cuts | turn.cut;
        then.cut = turn.cut ? m.number : known.cut;
        then.last_samples = m.samples;
        then.before_samples = turn.cut ? known.last_samples : known.before_samples;
    }
}
