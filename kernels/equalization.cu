// Computes the curve of a frame from its counts, with every step of the specification (`curve.cuh`). `scan` computes
// the curve of plain equalization.
//
// The blocks of a launch share the codes, and are all resident at once. Up to 10 bits there is one block. A block loads
// the history that it needs while this frame is still counted.
#include "curve.cuh"
#include "launch.cuh"

using namespace histeq;

// The arguments of both kernels.
struct CurveArguments {
    unsigned* counts;
    unsigned codes;
    BlendedLevels levels;
    const Modifiers& modifiers;
    const WindowUpdate& update;
    const PiecewiseLine& line;
    History history;
    Sum* bins;
    GridExchange exchange;
    unsigned short* curve;
};

// Each thread computes the curve at ITEMS codes. The number of samples of a window fits a Count.
template <typename Count, unsigned ITEMS, bool MULTI_BLOCK>
DEVICE void curve_of_frame(const CurveArguments& arguments, unsigned code, const ThreadHistory<ITEMS>& thread_history,
                           TempStorage& storage) {
    using All = ThreadGroup<0u>;
    const Modifiers& m = arguments.modifiers;
    const WindowUpdate& update = arguments.update;
    Count others[ITEMS] = {};  // counts of the window without this frame
    if (update.remembers) {
#pragma unroll
        for (unsigned i = 0u; i < ITEMS; ++i)
            others[i] = (Count)window_without_frame<ITEMS>(update, update.window, thread_history, i);
    }
    if (threadIdx.x == 0u) storage.flat = 0u;
    __syncthreads();
    grid_dependency_sync();

    unsigned count[ITEMS];
    Count window_counts[ITEMS];
    load<ITEMS>(arguments.counts + code, count);
#pragma unroll
    for (unsigned i = 0u; i < ITEMS; ++i) {
        unsigned kept = count[i] < m.cap ? count[i] : m.cap;
        window_counts[i] = others[i] + (update.joins || !update.remembers ? kept : 0u);
    }
    Sum* bins = nullptr;
    if (m.bins != 0u) {
        // This frame uses one half of `bins`; the other half is cleared for the next frame.
        const Sum none[ITEMS] = {};
        store<ITEMS>(none, arguments.bins + (1u - update.half) * arguments.codes + code);
        bins = arguments.bins + update.half * arguments.codes;
    }
    auto prepare_next = [&] {
        const unsigned zero[ITEMS] = {};
        store<ITEMS>(zero, arguments.counts + code);
        if (update.remembers)
            write_windows<ITEMS>(update, thread_history, count, m.cap, code, arguments.codes, arguments.history);
    };
    unsigned mapped[ITEMS];
    equalize<Count, ITEMS, MULTI_BLOCK, All>(window_counts, WindowTotal{false, 0u}, code, arguments.levels, m,
                                             arguments.line, bins, storage, arguments.exchange, prepare_next, mapped);
#pragma unroll
    for (unsigned i = 0u; i < ITEMS; ++i) arguments.curve[code + i] = (unsigned short)mapped[i];
}

template <unsigned ITEMS, bool MULTI_BLOCK>
DEVICE void curve_of_frame(const CurveArguments& arguments) {
    __shared__ TempStorage storage;
    unsigned code = (blockIdx.x * blockDim.x + threadIdx.x) * ITEMS;
    ThreadHistory<ITEMS> thread_history = {};
    if (arguments.update.remembers)
        thread_history = load_history<ITEMS>(code, arguments.codes, arguments.update, arguments.history);
    const Modifiers& m = arguments.modifiers;
    if (m.varies == 0u && (Sum)m.frames * m.samples >> 32 == 0u) {
        curve_of_frame<unsigned, ITEMS, MULTI_BLOCK>(arguments, code, thread_history, storage);
    } else {
        curve_of_frame<Sum, ITEMS, MULTI_BLOCK>(arguments, code, thread_history, storage);
    }
}

// The curve of a frame.
// Arguments: `counts` has one entry for each of `codes` codes, and becomes zero. With `update.remembers` 0 there is no
// temporal window, and of the history only `bins` and `grid` are used. `slots`, `sums`, `bins` and `grid` are the
// history (`README.md`). `launch` is a number that no launch since `grid` was cleared has had. `curve` takes an entry
// for each code.
// Launch: all blocks resident at once; at most 64 of a multiple of 32 threads, so that blocks times threads times four
// is `codes`. No dynamic shared memory.
extern "C" __global__ __launch_bounds__(1024) void equalization(unsigned* counts, unsigned codes, BlendedLevels levels,
                                                                Modifiers m, WindowUpdate update, PiecewiseLine line,
                                                                unsigned* slots, Sum* sums, Sum* bins, GridState* grid,
                                                                unsigned launch, unsigned short* curve) {
    CurveArguments arguments = {counts, codes, levels, m, update, line, {slots, sums}, bins, {grid, launch}, curve};
    if (gridDim.x == 1u) {
        curve_of_frame<4u, false>(arguments);
    } else {
        curve_of_frame<4u, true>(arguments);
    }
}

// As `equalization` with two codes per thread, which takes less time where each block can have a multiprocessor of its
// own.
// Launch: as `equalization`, with several blocks of at most 512 threads; blocks times threads times two is `codes`.
extern "C" __global__ __launch_bounds__(512) void equalization_spread(
    unsigned* counts, unsigned codes, BlendedLevels levels, Modifiers m, WindowUpdate update, PiecewiseLine line,
    unsigned* slots, Sum* sums, Sum* bins, GridState* grid, unsigned launch, unsigned short* curve) {
    curve_of_frame<2u, true>({counts, codes, levels, m, update, line, {slots, sums}, bins, {grid, launch}, curve});
}
