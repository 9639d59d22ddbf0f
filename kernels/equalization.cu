// From the counts of a frame to its curve, with every step of the specification (`curve.cuh`). `scan` makes the plain
// curve.
//
// The blocks of a launch share the codes, and are all resident at once. Up to 12 bits there is one block.
#include "curve.cuh"
#include "launch.cuh"

constexpr unsigned PER_THREAD = 4u;

template <bool MANY>
__device__ __forceinline__ void equalization(unsigned* counts, unsigned codes, Levels levels, const Modifiers& m,
                                             const Turn& turn, const Line& line, const History& history, Sum* bins,
                                             Grid* grid, ushort4* curve, Room& room) {
    using All = Crew<0u>;
    unsigned quad = blockIdx.x * blockDim.x + threadIdx.x;  // four codes
    unsigned code = quad * PER_THREAD;
    unsigned count[PER_THREAD];
    load<PER_THREAD>(counts + code, count);
    const unsigned zero[PER_THREAD] = {};
    store<PER_THREAD>(zero, counts + code);
    Sum held[PER_THREAD];
#pragma unroll
    for (unsigned i = 0u; i < PER_THREAD; ++i) held[i] = count[i] < m.cap ? count[i] : m.cap;
    if (threadIdx.x == 0u) room.flat = 0u;

    __syncthreads();
    if (turn.remembers) {
        Past<PER_THREAD> past = past_of<PER_THREAD>(code, codes, turn, history);
#pragma unroll
        for (unsigned i = 0u; i < PER_THREAD; ++i) {
            held[i] = others_in<PER_THREAD>(turn, turn.window, past, i) + (turn.joins ? held[i] : 0u);
        }
        write_windows<PER_THREAD>(turn, past, count, m.cap, code, codes, history);
    }
    if (m.bins != 0u) {
        // One half is for this frame, the other one is cleared for the next.
        const Sum none[PER_THREAD] = {};
        store<PER_THREAD>(none, bins + (1u - turn.half) * codes + code);
        bins += turn.half * codes;
    }
    unsigned mapped[PER_THREAD];
    equalize<Sum, PER_THREAD, MANY, All>(held, Left{false, 0u}, code, levels, m, line, m.bins != 0u ? bins : nullptr,
                                         room, grid, mapped);
    curve[quad] = make_ushort4(mapped[0], mapped[1], mapped[2], mapped[3]);
}

extern "C" __global__ __launch_bounds__(1024) void equalization(unsigned* counts, unsigned codes, Levels levels,
                                                                Modifiers m, Turn turn, Line line, unsigned* slots,
                                                                Sum* sums, Sum* bins, Grid* grid, ushort4* curve) {
    __shared__ Room room;
    History history = {slots, sums};
    // While the counts are still made.
    if (turn.remembers) prefetch_past(blockIdx.x * blockDim.x + threadIdx.x, codes / PER_THREAD, codes, turn, history);
    wait_for_previous();
    if (gridDim.x == 1u) {
        equalization<false>(counts, codes, levels, m, turn, line, history, bins, grid, curve, room);
    } else {
        equalization<true>(counts, codes, levels, m, turn, line, history, bins, grid, curve, room);
    }
}
