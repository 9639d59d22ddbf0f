// The whole equalization in one launch: the samples of a plane are counted as they arrive in shared memory, stay there
// while the curve is made, and are mapped from there. Each sample is read and written once, as by a copy.
//
// The blocks are all resident at once, each with a share of the plane. They add their counts to `totals`. Each block
// knows the number of samples, so it detects when the totals are complete, and no other barrier is needed. Then each
// block computes the whole curve.
#include "counters.cuh"
#include "curve.cuh"
#include "launch.cuh"
#include "samples.cuh"
#include "shared_memory.cuh"
#include "totals.cuh"

using namespace histeq;

// The least number of vectors that a thread loads at once.
constexpr unsigned AHEAD = 4u;

// With this many rounds of kept vectors or more, a block takes most of a multiprocessor's shared memory.
constexpr unsigned CROWDED = 4u;

// The most rounds of copies into shared memory in flight while threads map a plane that does not fit there.
constexpr unsigned UNDER_WAY = 6u;

// Shared memory: the table, then the vectors that are kept.
extern __shared__ __align__(128) unsigned shared_words[];

// The constants of a kernel: type of the samples in memory, copies of each entry of the table, codes per thread of the
// group that computes the curve, warps of that group.
template <typename S, unsigned LOG2_COPIES_, unsigned ITEMS_, unsigned WARPS>
struct Policy {
    using Sample = S;
    using Group = ThreadGroup<WARPS>;
    static constexpr unsigned LOG2_COPIES = LOG2_COPIES_, ITEMS = ITEMS_, HELD_ROUNDS = 0u;
    static constexpr bool HAS_WINDOW = false, IN_BATCH = false;
};

// For planes that are too large for shared memory: HELD_ROUNDS more rounds of vectors stay in registers. The vectors
// beyond these are read twice: for counting, HELD_ROUNDS / 2 rounds at once, because the registers are in use, and for
// mapping, HELD_ROUNDS rounds at once.
template <typename Base>
struct LargePlane : Base {
    static constexpr unsigned HELD_ROUNDS = 6u;
};

// For kernels with temporal window, plateau and contrast limit. They count settled samples while the previous launch
// ends.
template <typename Base>
struct WithWindow : Base {
    static constexpr bool HAS_WINDOW = true;
};

// For a loop over planes: other blocks must see the writes for one plane before they begin the next.
template <typename Base>
struct InBatch : Base {
    static constexpr bool IN_BATCH = true;
};

// The arguments of all kernels.
struct Arguments {
    Plane plane;
    unsigned block;  // the number of this block among those of the plane
    Samples samples;
    BlendedLevels levels;
    unsigned* totals;
    unsigned* cleared;  // the totals of another frame, which become zero

    DEVICE unsigned codes() const { return samples.max + 1u; }
};

// The block's share of a plane.
struct Share {
    const uint4* from;
    uint4* to;
    unsigned vectors;
    unsigned whole;  // vectors that hold samples only
    unsigned rest;   // samples in the vector after those
};

template <typename S>
DEVICE Share share_of(Plane plane, unsigned block, Samples samples) {
    unsigned vectors = (samples.pixels + PER_VECTOR<S> - 1u) / PER_VECTOR<S>, begin = block * plane.share;
    Share share = {plane.from + begin, plane.to + begin, 0u, 0u, 0u};
    if (begin < vectors) {
        bool last = vectors - begin <= plane.share;
        share.vectors = last ? vectors - begin : plane.share;
        share.rest = last ? samples.pixels % PER_VECTOR<S> : 0u;
        share.whole = share.vectors - (share.rest != 0u);
    }
    return share;
}

// FRESH reads past the L1 cache, which may have old data while the previous launch ends.
template <bool FRESH, typename T>
DEVICE T loaded(const T* at) {
    return FRESH ? load_cg(at) : *at;
}

// Calls `use` with the vectors of a thread's share from `at` on, and their indices. Loads COUNT vectors at once; with
// COUNT 0, where registers are scarce, one vector in advance.
template <unsigned COUNT, bool FRESH, typename F>
DEVICE void each_beyond(const uint4* from, unsigned at, unsigned end, F use) {
    if (COUNT == 0u) {
        uint4 next = at < end ? loaded<FRESH>(from + at) : make_uint4(0u, 0u, 0u, 0u);
#pragma unroll 1
        for (; at < end; at += blockDim.x) {
            uint4 now = next;
            if (at + blockDim.x < end) next = loaded<FRESH>(from + at + blockDim.x);
            use(now, at);
        }
        return;
    }
    constexpr unsigned ROUNDS = COUNT != 0u ? COUNT : 1u;
#pragma unroll 1
    for (; at < end; at += ROUNDS * blockDim.x) {
        uint4 vectors[ROUNDS];
#pragma unroll
        for (unsigned i = 0u; i < ROUNDS; ++i) {
            if (at + i * blockDim.x < end) vectors[i] = loaded<FRESH>(from + at + i * blockDim.x);
        }
#pragma unroll
        for (unsigned i = 0u; i < ROUNDS; ++i) {
            if (at + i * blockDim.x < end) use(vectors[i], at + i * blockDim.x);
        }
    }
}

// A table with an entry for each code, in interleaved copies, of which each lane uses one to avoid bank conflicts:
// first the counters, later the curve.
template <typename Policy>
struct Table {
    using S = typename Policy::Sample;
    static constexpr unsigned LOG2_COPIES = Policy::LOG2_COPIES;

    unsigned start;  // the address of this lane's copy

    DEVICE Table() {
        unsigned copy = threadIdx.x & ((1u << LOG2_COPIES) - 1u);
        start = shared_address(shared_words) + 4u * copy;
    }

    DEVICE void count(unsigned code) const { increment_shared(start + (code << (LOG2_COPIES + 2u))); }

    // Counts the samples of a vector.
    DEVICE void count_vector(uint4 vector, Samples samples) const {
        each_code<S, 1>(vector, 0u, samples, [this](unsigned code, unsigned) { count(code); });
    }

    // Counts the samples of the last vector of the plane, if it is only partly filled.
    template <bool FRESH>
    DEVICE void count_rest(const Share& share, Samples samples) const {
        if (threadIdx.x >= share.rest) return;
        const S* at = reinterpret_cast<const S*>(share.from + share.whole) + threadIdx.x;
        unsigned sample = loaded<FRESH>(at);
        count(decoded<S>(ordered<S>(sample, samples), samples));
    }

    // A vector with the curve applied.
    DEVICE uint4 mapped(uint4 vector, Samples samples) const {
        return mapped_vector<S, 1>(vector, 0u, samples,
                                   [this](unsigned code) { return load_shared(start + (code << (LOG2_COPIES + 2u))); });
    }

    // Writes the curve at the thread's codes into all copies.
    template <unsigned ITEMS>
    DEVICE void fill(const unsigned (&curve)[ITEMS], Samples samples) const {
        constexpr unsigned QUADS = 1u << (LOG2_COPIES - 2u), PIECES = ITEMS * QUADS;
        constexpr unsigned NEIGHBOURS = PIECES < 8u ? 8u / PIECES : 1u;  // threads whose pieces lie in different banks
        uint4* quads = reinterpret_cast<uint4*>(shared_words);           // four copies of an entry each
#pragma unroll
        for (unsigned i = 0u; i < PIECES; ++i) {
            // Threads begin at different pieces, to avoid bank conflicts.
            unsigned piece = (i + threadIdx.x / NEIGHBOURS) % PIECES;
            unsigned code = curve[0];
#pragma unroll
            for (unsigned j = 1u; j < ITEMS; ++j) code = piece / QUADS == j ? curve[j] : code;
            unsigned sample = encoded<S>(code, samples);
            unsigned entry = threadIdx.x * ITEMS + piece / QUADS;
            quads[(entry << (LOG2_COPIES - 2u)) + piece % QUADS] = make_uint4(sample, sample, sample, sample);
        }
    }
};

// The shared memory for the kept vectors, after the table.
template <typename Policy>
DEVICE uint4* stage_of(Samples samples) {
    return reinterpret_cast<uint4*>(shared_words) + ((samples.max + 1u) << Policy::LOG2_COPIES) / 4u;
}

// The samples that a block counts, keeps and maps: `kept` rounds of vectors stay in shared memory, HELD more rounds in
// registers; the others are read again for mapping.
template <typename Policy>
struct KeptSamples {
    using S = typename Policy::Sample;
    static constexpr unsigned HELD = Policy::HELD_ROUNDS;

    Share share;
    Samples samples;
    uint4* stage;    // the kept vectors
    unsigned kept;   // rounds
    bool is_staged;  // in a batch: whether the copy of the kept vectors was started already
    // In a batch: the share of the next plane, copied while this one is mapped; null if there is none.
    const uint4* next;
    uint4 held[HELD != 0u ? HELD : 1u];

    DEVICE KeptSamples(const Arguments& arguments, bool is_staged = false, const uint4* next = nullptr)
        : share(share_of<S>(arguments.plane, arguments.block, arguments.samples)),
          samples(arguments.samples),
          stage(stage_of<Policy>(samples)),
          is_staged(is_staged),
          next(next) {
        unsigned rounds = (share.vectors + blockDim.x - 1u) / blockDim.x;
        kept = rounds < arguments.plane.kept ? rounds : arguments.plane.kept;
    }

    // Starts the copies of the first rounds.
    DEVICE void start() const {
#pragma unroll
        for (unsigned round = 0u; round < AHEAD; ++round) {
            unsigned at = round * blockDim.x + threadIdx.x;
            // If the vectors are staged, `map` has committed these groups of copies already (for some threads, one
            // fewer). The remaining groups are committed empty, because `wait_for_copies<AHEAD>` counts on all of them.
            if (is_staged && round + 1u < kept) continue;
            if (!is_staged && round < kept && at < share.vectors) copy_async(share.from + at, stage + at);
            commit_copies();
        }
    }

    DEVICE void count(Table<Policy> table) {
        unsigned beyond = kept * blockDim.x + threadIdx.x;
#pragma unroll
        for (unsigned i = 0u; i != HELD; ++i) {
            unsigned at = beyond + i * blockDim.x;
            if (at < share.vectors) held[i] = share.from[at];
        }
#pragma unroll 1
        for (unsigned round = 0u; round < kept; ++round) {
            unsigned ahead = (round + AHEAD) * blockDim.x + threadIdx.x;
            if (!is_staged && round + AHEAD < kept && ahead < share.vectors) {
                copy_async(share.from + ahead, stage + ahead);
            }
            commit_copies();
            wait_for_copies<AHEAD>();
            unsigned at = round * blockDim.x + threadIdx.x;
            if (at < share.whole) table.count_vector(stage[at], samples);
        }
#pragma unroll
        for (unsigned i = 0u; i != HELD; ++i) {
            if (beyond + i * blockDim.x < share.whole) table.count_vector(held[i], samples);
        }
        each_beyond<HELD / 2u, Policy::HAS_WINDOW>(
            share.from, beyond + HELD * blockDim.x, share.whole,
            [&](uint4 vector, unsigned) { table.count_vector(vector, samples); });
        table.template count_rest<Policy::HAS_WINDOW>(share, samples);
    }

    // Does not wait: a thread maps only vectors that it has copied itself.
    DEVICE void wait_until_staged() const {}

    DEVICE void map(Table<Policy> table) const {
        auto map = [&](uint4 vector, unsigned at) { share.to[at] = table.mapped(vector, samples); };
        unsigned staged = kept * blockDim.x < share.vectors ? kept * blockDim.x : share.vectors;
#pragma unroll 1
        for (unsigned at = threadIdx.x; at < staged; at += blockDim.x) {
            uint4 vector = stage[at];
            // No other thread accesses this vector of `stage`.
            if (Policy::IN_BATCH && next != nullptr) copy_async(next + at, stage + at);
            if (Policy::IN_BATCH) commit_copies();
            map(vector, at);
        }
        unsigned beyond = kept * blockDim.x + threadIdx.x;
#pragma unroll
        for (unsigned i = 0u; i != HELD; ++i) {
            if (beyond + i * blockDim.x < share.vectors) map(held[i], beyond + i * blockDim.x);
        }
        each_beyond<HELD, Policy::HAS_WINDOW>(share.from, beyond + HELD * blockDim.x, share.vectors, map);
    }
};

// With a look-ahead: the samples that are counted, and the samples of an older frame, which are copied into shared
// memory while the others are counted, and then mapped.
template <typename Policy>
struct LookAheadSamples {
    using S = typename Policy::Sample;

    Share counted, mapped;
    Samples samples;
    uint4* stage;
    unsigned kept;   // rounds of the mapped vectors that fit into `stage`
    unsigned early;  // of these, the rounds that are copied while others are counted
    bool passes_through;

    DEVICE LookAheadSamples(const Arguments& arguments, Plane older)
        : counted(share_of<S>(arguments.plane, arguments.block, arguments.samples)),
          mapped(share_of<S>(older, arguments.block, arguments.samples)),
          samples(arguments.samples),
          stage(stage_of<Policy>(samples)),
          kept(older.kept) {
        if (older.from == nullptr) mapped.vectors = 0u;
        // A plane that does not fit into `stage` takes longer to map than to count, so half of the rounds are copied
        // after the counting.
        passes_through = kept > UNDER_WAY && kept * blockDim.x < mapped.vectors;
        early = passes_through ? kept / 2u : kept;
    }

    // Starts nothing: `count` starts the copies one by one.
    DEVICE void start() const {}

    DEVICE void count(Table<Policy> table) const {
        uint4 next[AHEAD];
#pragma unroll
        for (unsigned i = 0u; i < AHEAD; ++i) {
            unsigned at = i * blockDim.x + threadIdx.x;
            if (at < counted.vectors) next[i] = load_cg(counted.from + at);
        }
#pragma unroll 1
        for (unsigned first = threadIdx.x; first < counted.vectors; first += AHEAD * blockDim.x) {
#pragma unroll
            for (unsigned i = 0u; i < AHEAD; ++i) {
                unsigned at = first + i * blockDim.x, later = at + AHEAD * blockDim.x;
                if (at < early * blockDim.x && at < mapped.vectors) copy_async(mapped.from + at, stage + at);
                uint4 now = next[i];
                if (later < counted.vectors) next[i] = load_cg(counted.from + later);
                if (at < counted.whole) table.count_vector(now, samples);
            }
        }
        table.template count_rest<true>(counted, samples);
        unsigned staged = kept * blockDim.x;
        for (unsigned at = early * blockDim.x + threadIdx.x; at < staged && at < mapped.vectors; at += blockDim.x) {
            copy_async(mapped.from + at, stage + at);
        }
        commit_copies();
    }

    DEVICE void wait_until_staged() const { wait_for_copies<0u>(); }

    DEVICE void map(Table<Policy> table) const {
        auto map = [&](uint4 vector, unsigned at) { mapped.to[at] = table.mapped(vector, samples); };
        unsigned staged = kept * blockDim.x;
        if (passes_through) {
            map_through(staged, map);
            return;
        }
#pragma unroll 1
        for (unsigned at = threadIdx.x; at < staged && at < mapped.vectors; at += blockDim.x) map(stage[at], at);
        each_beyond<AHEAD, true>(mapped.from, staged + threadIdx.x, mapped.vectors, map);
    }

    // Maps all vectors, and replaces each mapped vector in `stage` by a later one. `stage` holds more than UNDER_WAY
    // rounds.
    template <typename F>
    DEVICE void map_through(unsigned staged, F map) const {
        unsigned place = threadIdx.x;
#pragma unroll 1
        for (unsigned at = threadIdx.x; at < mapped.vectors; at += blockDim.x) {
            wait_for_copies<UNDER_WAY>();
            uint4 vector = stage[place];
            // No other thread accesses this vector of `stage`.
            if (at + staged < mapped.vectors) copy_async(mapped.from + at + staged, stage + place);
            commit_copies();
            map(vector, at);
            place = place + blockDim.x < staged ? place + blockDim.x : threadIdx.x;
        }
    }
};

// The data that the warps of a group exchange while they wait for the totals, in two alternating sets.
struct TotalsStorage {
    unsigned sums[2][WARP_THREADS];   // of the totals
    unsigned extra[2][WARP_THREADS];  // plain: the first total that is not zero; else the sum of the window
};

// Reads the totals of the thread's codes until all totals add up to the samples of the plane. `publish` writes the sums
// of each warp into one of two sets, and `reduce` returns the sum over all warps.
template <typename Policy, typename Publish, typename Reduce>
DEVICE void wait_for_totals(const Arguments& arguments, unsigned expected, unsigned (&count)[Policy::ITEMS],
                            Publish publish, Reduce reduce) {
    const unsigned* own = total_of(arguments.totals, threadIdx.x * Policy::ITEMS);
    bool has_codes = threadIdx.x * Policy::ITEMS < arguments.codes();
    for (unsigned set = 0u;; set ^= 1u) {
#pragma unroll
        for (unsigned i = 0u; i < Policy::ITEMS; ++i) count[i] = has_codes ? *(volatile const unsigned*)(own + i) : 0u;
        publish(set);
        Policy::Group::sync();
        if (reduce(set) == expected) return;
    }
}

// The plain curve: prefix sum, normalization, strength.
template <typename Policy>
struct PlainCurve {
    using Group = typename Policy::Group;
    static constexpr unsigned ITEMS = Policy::ITEMS;

    TotalsStorage& totals_storage;

    DEVICE constexpr bool counts_early() const { return false; }
    DEVICE void load_history(const Arguments&) const {}
    DEVICE void store(const unsigned (&)[ITEMS]) const {}

    // Waits for the totals, and computes the curve at the thread's codes.
    DEVICE void compute(const Arguments& arguments, unsigned (&mapped)[ITEMS]) const {
        unsigned lane = threadIdx.x % WARP_THREADS, warp = threadIdx.x / WARP_THREADS;
        unsigned count[ITEMS], sum, through, before, first;
        wait_for_totals<Policy>(
            arguments, arguments.samples.pixels, count,
            [&](unsigned set) {
                sum = first = 0u;
#pragma unroll
                for (unsigned i = 0u; i < ITEMS; ++i) {
                    sum += count[i];
                    if (first == 0u) first = count[i];
                }
                through = warp_inclusive_sum(sum, lane);
                first = warp_first_nonzero(first);
                if (lane == WARP_THREADS - 1u) {
                    totals_storage.sums[set][warp] = through;
                    totals_storage.extra[set][warp] = first;
                }
            },
            [&](unsigned set) {
                bool is_warp = lane < Group::warps();
                unsigned aggregate = is_warp ? totals_storage.sums[set][lane] : 0u;
                first = warp_first_nonzero(is_warp ? totals_storage.extra[set][lane] : 0u);
                before = warp_sum(lane < warp ? aggregate : 0u);
                return warp_sum(aggregate);
            });
        CdfRange range = cdf_range_of(first, arguments.samples.pixels);
        unsigned at = before + through - sum;
#pragma unroll
        for (unsigned i = 0u; i < ITEMS; ++i) {
            at += count[i];
            mapped[i] = curve_at(threadIdx.x * ITEMS + i, at, range, arguments.levels);
        }
        // In a batch, the fence orders the reads of these totals before the block's writes for later planes.
        if (Policy::IN_BATCH) __threadfence();
    }
};

// The additional arguments of the kernels with a temporal window.
struct WindowArguments {
    const Modifiers& modifiers;
    const WindowUpdate& update;
    const PiecewiseLine& line;
    History history;
    unsigned settled;       // 1 if no kernel writes the samples any more
    unsigned short* curve;  // with a look-ahead: takes the curve; else null
};

// The curve with temporal window, plateau and contrast limit. All blocks compute the same one; the last block, which
// has no samples or fewer, writes the history.
template <typename Policy, bool LOOKS_AHEAD>
struct WindowCurve {
    using Group = typename Policy::Group;
    static constexpr unsigned ITEMS = Policy::ITEMS;

    const WindowArguments& window;
    TotalsStorage& totals_storage;
    TempStorage& storage;
    ThreadHistory<ITEMS> thread_history;

    DEVICE WindowCurve(const WindowArguments& window, TotalsStorage& totals_storage, TempStorage& storage)
        : window(window), totals_storage(totals_storage), storage(storage) {}

    DEVICE static unsigned code() { return threadIdx.x * ITEMS; }
    DEVICE static bool writes() { return blockIdx.x == gridDim.x - 1u; }
    DEVICE bool counts_early() const { return window.settled != 0u; }

    // The loads complete while samples are counted.
    DEVICE void load_history(const Arguments& arguments) {
        if (threadIdx.x == 0u) storage.flat = 0u;
        if (window.update.remembers && threadIdx.x < Group::warps() * WARP_THREADS && code() < arguments.codes()) {
            thread_history = histeq::load_history<ITEMS>(code(), arguments.codes(), window.update, window.history);
        }
    }

    // Waits for the totals, and computes the curve at the thread's codes.
    DEVICE void compute(const Arguments& arguments, unsigned (&mapped)[ITEMS]) {
        const Modifiers& m = window.modifiers;
        if (m.varies == 0u && (Sum)m.frames * m.samples >> 32 == 0u) {
            compute<unsigned>(arguments, mapped);
        } else {
            compute<Sum>(arguments, mapped);
        }
    }

    // The number of samples of a window fits a Count.
    template <typename Count>
    DEVICE void compute(const Arguments& arguments, unsigned (&mapped)[ITEMS]) {
        // Sums of 64 bits take too long in the loop that waits for the totals.
        constexpr bool IS_NARROW = sizeof(Count) == sizeof(unsigned);
        const Modifiers& m = window.modifiers;
        const WindowUpdate& update = window.update;
        unsigned lane = threadIdx.x % WARP_THREADS, warp = threadIdx.x / WARP_THREADS, codes = arguments.codes();
        bool remembers = update.remembers && code() < codes;

        Count others[ITEMS] = {};  // counts of the window without this frame
        if (remembers) {
#pragma unroll
            for (unsigned i = 0u; i < ITEMS; ++i) {
                others[i] = (Count)window_without_frame<ITEMS>(update, update.window, thread_history, i);
            }
        }

        unsigned count[ITEMS];
        Count window_counts[ITEMS];
        WindowTotal window_total = {IS_NARROW, 0u};
        wait_for_totals<Policy>(
            arguments, m.samples, count,
            [&](unsigned set) {
                unsigned sum = 0u, left = 0u;
#pragma unroll
                for (unsigned i = 0u; i < ITEMS; ++i) {
                    sum += count[i];
                    unsigned capped = count[i] < m.cap ? count[i] : m.cap;
                    window_counts[i] = others[i] + (update.joins ? capped : 0u);
                    left += (unsigned)window_counts[i];
                }
                sum = warp_sum(sum);
                if (IS_NARROW) left = warp_sum(left);
                if (lane == 0u) {
                    totals_storage.sums[set][warp] = sum;
                    totals_storage.extra[set][warp] = left;
                }
            },
            [&](unsigned set) {
                if (IS_NARROW) window_total.samples = group_sum<Group>(totals_storage.extra[set]);
                return group_sum<Group>(totals_storage.sums[set]);
            });
        equalize<Count, ITEMS, false, Group>(
            window_counts, window_total, code(), arguments.levels, m, window.line, nullptr, storage, GridExchange{},
            [] {}, mapped);
        // The history is read again because registers are scarce. Only the last block does this; it has fewer samples
        // than the others, or none.
        if (writes() && remembers) {
            write_windows<ITEMS>(update, histeq::load_history<ITEMS>(code(), codes, update, window.history), count,
                                 m.cap, code(), codes, window.history);
        }
    }

    DEVICE void store(const unsigned (&mapped)[ITEMS]) const {
#pragma unroll
        for (unsigned i = 0u; i < ITEMS; ++i) {
            if (LOOKS_AHEAD && writes()) window.curve[code() + i] = (unsigned short)mapped[i];
        }
    }
};

// Equalizes a plane: the order of the steps, for all kernels. `pixels` are the samples that the block counts and maps,
// KeptSamples or LookAheadSamples; `curve` says how the curve is computed, PlainCurve or WindowCurve.
template <typename Policy, typename Pixels, typename Curve>
DEVICE void equalize_plane(const Arguments& arguments, Pixels&& pixels, Curve&& curve) {
    unsigned codes = arguments.codes();
    bool is_early = curve.counts_early();
    // Whether no block of the next launch fits on this multiprocessor before this block has counted.
    bool is_alone = Policy::HAS_WINDOW || Policy::IN_BATCH || arguments.plane.kept >= CROWDED;
    bool starts_first = !LAUNCHES_OVERLAP || is_early;

    auto after_previous_launch = [&] {
        grid_dependency_sync();
        // The next launch may count from now on. All writes that this launch has waited for are visible to it.
        if (Policy::HAS_WINDOW) trigger_next_launch();
        if (!starts_first) pixels.start();
        // With a window, the last block has no samples.
        if (arguments.block == (Policy::HAS_WINDOW ? gridDim.x - 1u : 0u)) {
            for (unsigned code = threadIdx.x; code < codes; code += blockDim.x) *total_of(arguments.cleared, code) = 0u;
            // In a batch, a block adds to these totals only once those of this plane are complete, so after this block
            // has cleared them.
            if (Policy::IN_BATCH) __threadfence();
        }
        curve.load_history(arguments);
    };
    if (is_alone && !Policy::HAS_WINDOW) trigger_next_launch();
    // The copies take longest, so they start first, unless the previous launch may still write the samples.
    if (starts_first) pixels.start();
    clear_counters(shared_words, (codes << Policy::LOG2_COPIES) / 4u);
    if (!is_early) after_previous_launch();
    __syncthreads();

    Table<Policy> table;
    pixels.count(table);
    if (is_early) after_previous_launch();
    __syncthreads();
    // Where a block of the next launch fits beside this one, it begins only now: earlier, it would have slowed the
    // counting.
    if (!is_alone) trigger_next_launch();
    if (Policy::IN_BATCH) __threadfence();
    reduce_copies<Policy::LOG2_COPIES>(shared_words, codes, [=](unsigned code, unsigned sum) {
        if (sum != 0u) atomicAdd(total_of(arguments.totals, level_code(code, arguments.levels)), sum);
    });
    __syncthreads();
    if (threadIdx.x < Policy::Group::warps() * WARP_THREADS) {
        unsigned mapped[Policy::ITEMS];
        curve.compute(arguments, mapped);
        if (threadIdx.x * Policy::ITEMS < codes) {
            table.fill(mapped, arguments.samples);
            curve.store(mapped);
        }
    }
    pixels.wait_until_staged();
    __syncthreads();
    pixels.map(table);
}

template <typename Policy>
DEVICE void plain(const Arguments& arguments) {
    __shared__ TotalsStorage totals_storage;
    equalize_plane<Policy>(arguments, KeptSamples<Policy>(arguments), PlainCurve<Policy>{totals_storage});
}

template <typename Policy>
DEVICE void windowed(const Arguments& arguments, const WindowArguments& window) {
    __shared__ TotalsStorage totals_storage;
    __shared__ TempStorage storage;
    equalize_plane<Policy>(arguments, KeptSamples<Policy>(arguments),
                           WindowCurve<Policy, false>(window, totals_storage, storage));
}

// With a look-ahead: `older` is the plane that is mapped.
template <typename Policy>
DEVICE void ahead(const Arguments& arguments, Plane older, const WindowArguments& window) {
    __shared__ TotalsStorage totals_storage;
    __shared__ TempStorage storage;
    equalize_plane<Policy>(arguments, LookAheadSamples<Policy>(arguments, older),
                           WindowCurve<Policy, true>(window, totals_storage, storage));
}

using PlainU8 = Policy<unsigned char, 5u, 1u, 8u>;
using PlainU10 = Policy<unsigned short, 3u, 1u, 32u>;
using WindowU8 = WithWindow<PlainU8>;
using WindowU10 = WithWindow<Policy<unsigned short, 3u, 2u, 16u>>;

// `fused_{u8,u10}` and `fused_large_{u8,u10}`: plain equalization of a plane of luma of up to that many bits.
// Arguments: `plane` has `from` and `to` (may be the same), the vectors that a block takes (`share`; those of all
// blocks together cover the plane), and the rounds of them that stay in shared memory (`kept`). `totals` are zero
// before the launch, `cleared` after it: frames use the two buffers alternately.
// Launch: all blocks resident at once, of 1024 threads. Dynamic shared memory: the table, 4 bytes a code in
// 2^LOG2_COPIES copies, and 16 bytes a thread for each round that is kept. `large` is for planes that do not stay in
// shared memory; it is a kernel of its own because its registers would leave no room for the next launch.
//
// `fused_modified_{u8,u10}`: also does all that `equalization` does, with its arguments. `settled` is 1 if no kernel
// writes the samples any more: neither the previous kernel, nor one before it that the previous one has not waited for.
// Settled samples are counted while the previous launch computes its curve and maps.
// Launch: as `fused_{u8,u10}`, or with 512 threads and half of the shared memory where launches overlap, so that a
// multiprocessor has room for a block of each of the two launches.
//
// `fused_ahead_{u8,u10}`: `fused_modified` with a look-ahead. `plane` is counted, and `older`, of the same layout and
// with as many rounds `kept`, is mapped; its addresses are null if no frame leaves the look-ahead. `curve` takes the
// curve, for frames of the scene that `map` maps later. The last block, which writes the history, has no samples,
// because a block that does both would finish its mapping late.
// Launch: as `fused_modified`.
#define FUSED(NAME, PLAIN, WINDOW)                                                                                     \
    extern "C" __global__ __launch_bounds__(1024) void fused_##NAME(                                                   \
        Plane plane, Samples samples, BlendedLevels levels, unsigned* totals, unsigned* cleared) {                     \
        plain<PLAIN>({plane, blockIdx.x, samples, levels, totals, cleared});                                           \
    }                                                                                                                  \
    extern "C" __global__ __launch_bounds__(1024) void fused_large_##NAME(                                             \
        Plane plane, Samples samples, BlendedLevels levels, unsigned* totals, unsigned* cleared) {                     \
        plain<LargePlane<PLAIN>>({plane, blockIdx.x, samples, levels, totals, cleared});                               \
    }                                                                                                                  \
    extern "C" __global__ __launch_bounds__(1024) void fused_modified_##NAME(                                          \
        Plane plane, Samples samples, BlendedLevels levels, Modifiers m, WindowUpdate update, PiecewiseLine line,      \
        unsigned* totals, unsigned* cleared, unsigned* slots, Sum* sums, unsigned settled) {                           \
        windowed<WINDOW>({plane, blockIdx.x, samples, levels, totals, cleared},                                        \
                         {m, update, line, {slots, sums}, settled, nullptr});                                          \
    }                                                                                                                  \
    extern "C" __global__ __launch_bounds__(1024) void fused_ahead_##NAME(                                             \
        Plane plane, Plane older, Samples samples, BlendedLevels levels, Modifiers m, WindowUpdate update,             \
        PiecewiseLine line, unsigned* totals, unsigned* cleared, unsigned* slots, Sum* sums, unsigned short* curve,    \
        unsigned settled) {                                                                                            \
        ahead<WINDOW>({plane, blockIdx.x, samples, levels, totals, cleared}, older,                                    \
                      {m, update, line, {slots, sums}, settled, curve});                                               \
    }

FUSED(u8, PlainU8, WindowU8)
FUSED(u10, PlainU10, WindowU10)

// Plain equalization of up to 64 planes in place, no two of them the same, each by a team of `team` blocks; the teams
// take planes in turn and do not wait for each other.
// Arguments: `count` planes; `share` and `kept` as in `Plane`; `totals` has three sets of totals for each team, all
// zero.
// Launch: all blocks resident at once, whole teams; any number of threads from 256 to 1024. Dynamic shared memory as
// `fused_u8`.
extern "C" __global__ __launch_bounds__(1024) void fused_batch_u8(Planes planes, unsigned count, unsigned team,
                                                                  unsigned share, unsigned kept, Samples samples,
                                                                  BlendedLevels levels, unsigned* totals) {
    __shared__ TotalsStorage totals_storage;
    using Batch = InBatch<PlainU8>;
    constexpr unsigned SIZE = 256u / SECTOR * SECTOR_PITCH;
    unsigned teams = gridDim.x / team, block = blockIdx.x % team;
    bool is_staged = false;
    totals += blockIdx.x / team * 3u * SIZE;
    unsigned set = 0u;
#pragma unroll 1
    for (unsigned index = blockIdx.x / team; index < count; index += teams) {
        uint4* pixels = reinterpret_cast<uint4*>(planes.of[index]);
        bool is_last = count - index <= teams;
        const uint4* next_pixels =
            is_last ? nullptr : reinterpret_cast<const uint4*>(planes.of[index + teams]) + block * share;
        unsigned next = set == 2u ? 0u : set + 1u;
        Arguments arguments = {{pixels, pixels, share, kept}, block, samples, levels, totals + set * SIZE,
                               totals + next * SIZE};
        equalize_plane<Batch>(arguments, KeptSamples<Batch>(arguments, is_staged, next_pixels),
                              PlainCurve<Batch>{totals_storage});
        set = next;
        is_staged = true;
        __syncthreads();
    }
}
