// Which scene a frame belongs to, and so which frames make its histogram: src/spec/scenes.rs, step for step, by one warp.
#pragma once

#include "spec.cuh"
#include "warp.cuh"

constexpr unsigned COARSE = 64u;  // bins in which frames are compared
constexpr unsigned NOWHERE = ~0u;

// What is known of the frames so far. There are two of them in memory, used in turns: one is read while the other is
// written. All zero is the beginning.
struct Scenes {
    unsigned long long oldest[2];  // number of the first frame in each window
    unsigned long long cut;        // number of the first frame after the last cut
    unsigned mark[2];              // what the frames of each window are marked with; 0 for none
    unsigned frames[2];            // how many each window has
    unsigned current;              // the window of the last frame
    unsigned marks;                // given so far
    unsigned begun;                // 1 once there was a frame
    unsigned cuts;                 // 1 once there was a cut
    unsigned last[COARSE];         // cumulative distribution of the frame before
    unsigned before[COARSE];       // and of the one before the last cut
};

// What a frame means for the sums of the windows.
struct Turn {
    unsigned window;     // that it belongs to
    unsigned fresh;      // 1 if the window begins with it
    unsigned frames;     // that the window has with it
    unsigned slot;       // that takes its histogram
    unsigned forgotten;  // the window that the frame which was in the slot is to be subtracted from, or NOWHERE
    unsigned pushed;     // the slot that is to be subtracted from its own window, or NOWHERE
};

// The first number from `next` on whose frame is marked so, or `number`.
__device__ __forceinline__ unsigned long long member_from(unsigned long long next, unsigned long long number,
                                                          unsigned mark, const unsigned* marks, unsigned slots) {
    while (next < number && marks[next % slots] != mark) ++next;
    return next;
}

// Where the frame belongs whose samples fall into `coarse` bins. Called by the first warp of a block; the block that
// `writes` leaves the state for the frame after. `marks` has `slots` entries for each of the two states.
__device__ __forceinline__ Turn next_turn(const unsigned* coarse, const Modifiers& m, Scenes* states, unsigned* marks,
                                          bool writes) {
    unsigned lane = threadIdx.x % LANES;
    const Scenes& now = states[m.number & 1u];
    Scenes& then = states[(m.number + 1u) & 1u];
    const unsigned* marked = marks + (m.number & 1u ? m.slots : 0u);
    unsigned* marking = marks + (m.number & 1u ? 0u : m.slots);

    // Each lane has two bins.
    unsigned high = coarse[2u * lane + 1u];
    unsigned odd = prefix_of_warp(coarse[2u * lane] + high, lane);
    unsigned even = odd - high;
    auto away = [](unsigned a, unsigned b) { return (unsigned long long)(a > b ? a - b : b - a); };
    unsigned last_even = now.last[2u * lane], last_odd = now.last[2u * lane + 1u];
    unsigned before_even = now.before[2u * lane], before_odd = now.before[2u * lane + 1u];
    unsigned long long from_last = sum_of_warp(away(even, last_even) + away(odd, last_odd));
    unsigned long long from_before = sum_of_warp(away(even, before_even) + away(odd, before_odd));
    unsigned long long most = (unsigned long long)m.threshold * COARSE * m.samples;

    bool cut = now.begun && 1000u * from_last > most;
    bool back = cut && now.cuts && m.number - now.cut <= m.flash && 1000u * from_before <= most;
    unsigned window = cut ? 1u - now.current : now.current;
    bool fresh = now.mark[window] == 0u || (cut && !back);

    Turn turn;
    turn.window = window;
    turn.fresh = fresh;
    turn.slot = (unsigned)(m.number % m.slots);
    unsigned found = marked[turn.slot];
    turn.forgotten = found == 0u ? NOWHERE : found == now.mark[0] ? 0u : found == now.mark[1] ? 1u : NOWHERE;
    unsigned held = fresh ? 0u : now.frames[window] - (turn.forgotten == window);
    bool full = held == m.frames;
    turn.pushed = full ? (unsigned)(now.oldest[window] % m.slots) : NOWHERE;
    turn.frames = held - full + 1u;

    if (writes) {
        unsigned mark = fresh ? now.marks + 1u : now.mark[window];
        for (unsigned slot = lane; slot < m.slots; slot += LANES) {
            marking[slot] = slot == turn.slot ? mark : slot == turn.pushed ? 0u : marked[slot];
        }
        then.last[2u * lane] = even;
        then.last[2u * lane + 1u] = odd;
        then.before[2u * lane] = cut ? last_even : before_even;
        then.before[2u * lane + 1u] = cut ? last_odd : before_odd;
        if (lane < 2u) {
            bool takes = lane == window;
            bool leaves = turn.forgotten == lane || (takes && full);
            unsigned long long oldest = now.oldest[lane];
            if (leaves) oldest = member_from(oldest + 1u, m.number, now.mark[lane], marked, m.slots);
            unsigned rest = now.frames[lane] - leaves;
            if (takes && (fresh || rest == 0u)) oldest = m.number;
            then.oldest[lane] = oldest;
            then.frames[lane] = takes ? turn.frames : rest;
            then.mark[lane] = takes ? mark : now.mark[lane];
        }
        if (lane == 0u) {
            then.cut = cut ? m.number : now.cut;
            then.current = window;
            then.marks = now.marks + fresh;
            then.begun = 1u;
            then.cuts = now.cuts || cut;
        }
    }
    return turn;
}
