// From the counts of a frame to its curve, with every step of the specification (`curve.cuh`). `scan` makes the plain
// curve.
//
// The blocks of a launch share the codes, and are all resident at once. Up to 10 bits there is one block. A block loads
// what it needs of the frames before while this frame is still counted.
#include "curve.cuh"
#include "launch.cuh"

// The arguments of both kernels.
struct Job {
    unsigned* counts;
    unsigned codes;
    Levels levels;
    const Modifiers& modifiers;
    const Turn& turn;
    const Line& line;
    History history;
    Sum* bins;
    Blocks blocks;
    unsigned short* curve;
};

// Each thread makes the curve at PER codes. The samples of a window fit a Count.
template <typename Count, unsigned PER, bool MANY>
__device__ __forceinline__ void curve_of_frame(const Job& job, unsigned code, const Past<PER>& past, Room& room) {
    using All = Crew<0u>;
    const Modifiers& m = job.modifiers;
    const Turn& turn = job.turn;
    Count others[PER] = {};  // what the window holds without this frame
    if (turn.remembers) {
#pragma unroll
        for (unsigned i = 0u; i < PER; ++i) others[i] = (Count)others_in<PER>(turn, turn.window, past, i);
    }
    if (threadIdx.x == 0u) room.flat = 0u;
    __syncthreads();
    wait_for_previous();

    unsigned count[PER];
    Count held[PER];
    load<PER>(job.counts + code, count);
#pragma unroll
    for (unsigned i = 0u; i < PER; ++i) {
        unsigned kept = count[i] < m.cap ? count[i] : m.cap;
        held[i] = others[i] + (turn.joins || !turn.remembers ? kept : 0u);
    }
    Sum* bins = nullptr;
    if (m.bins != 0u) {
        // One half is for this frame, the other one is cleared for the next.
        const Sum none[PER] = {};
        store<PER>(none, job.bins + (1u - turn.half) * job.codes + code);
        bins = job.bins + turn.half * job.codes;
    }
    auto prepare_next = [&] {
        const unsigned zero[PER] = {};
        store<PER>(zero, job.counts + code);
        if (turn.remembers) write_windows<PER>(turn, past, count, m.cap, code, job.codes, job.history);
    };
    unsigned mapped[PER];
    equalize<Count, PER, MANY, All>(held, Left{false, 0u}, code, job.levels, m, job.line, bins, room, job.blocks,
                                    prepare_next, mapped);
#pragma unroll
    for (unsigned i = 0u; i < PER; ++i) job.curve[code + i] = (unsigned short)mapped[i];
}

template <unsigned PER, bool MANY>
__device__ __forceinline__ void curve_of_frame(const Job& job) {
    __shared__ Room room;
    unsigned code = (blockIdx.x * blockDim.x + threadIdx.x) * PER;
    Past<PER> past = {};
    if (job.turn.remembers) past = past_of<PER>(code, job.codes, job.turn, job.history);
    const Modifiers& m = job.modifiers;
    if (m.varies == 0u && (Sum)m.frames * m.samples >> 32 == 0u) {
        curve_of_frame<unsigned, PER, MANY>(job, code, past, room);
    } else {
        curve_of_frame<Sum, PER, MANY>(job, code, past, room);
    }
}

extern "C" __global__ __launch_bounds__(1024) void equalization(unsigned* counts, unsigned codes, Levels levels,
                                                                Modifiers m, Turn turn, Line line, unsigned* slots,
                                                                Sum* sums, Sum* bins, Grid* grid, unsigned launch,
                                                                unsigned short* curve) {
    Job job = {counts, codes, levels, m, turn, line, {slots, sums}, bins, {grid, launch}, curve};
    if (gridDim.x == 1u) {
        curve_of_frame<4u, false>(job);
    } else {
        curve_of_frame<4u, true>(job);
    }
}

// For many blocks, where each can have a multiprocessor of its own: fewer codes a thread take less time.
extern "C" __global__ __launch_bounds__(512) void equalization_spread(unsigned* counts, unsigned codes, Levels levels,
                                                                      Modifiers m, Turn turn, Line line, unsigned* slots,
                                                                      Sum* sums, Sum* bins, Grid* grid, unsigned launch,
                                                                      unsigned short* curve) {
    curve_of_frame<2u, true>({counts, codes, levels, m, turn, line, {slots, sums}, bins, {grid, launch}, curve});
}
