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

// A block that keeps this many rounds of vectors or more takes most of the shared memory.
constexpr unsigned CROWDED = 4u;

// The most rounds that threads have on their way into shared memory while they map a plane that does not fit there.
constexpr unsigned UNDER_WAY = 6u;

// The table, then the vectors that stay.
extern __shared__ __align__(128) unsigned shared_words[];

// The position of a plane in a batch.
struct Succession {
    bool is_fetched;    // whether the copy of its kept rounds was started already
    const uint4* next;  // the next plane, fetched while this one is mapped; null if there is none
};

// Rounds of vectors that threads hold in registers, if a plane is too large for shared memory. Vectors beyond these are
// read twice: this many at once, or half as many while these are held.
constexpr unsigned HELD = 6u;

// The block's share of a plane.
struct Share {
    const uint4* from;
    uint4* to;
    unsigned vectors;
    unsigned whole;  // those of them that hold samples only
    unsigned rest;   // samples in the vector behind those
};

template <typename S>
__device__ __forceinline__ Share share_of(Plane plane, unsigned block, Samples samples) {
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

// A table with an entry for each code, in 2^LOG2_COPIES interleaved copies, of which each lane uses one to avoid bank
// conflicts: first the counters, later the curve.
template <unsigned LOG2_COPIES>
struct Table {
    unsigned start;  // of this lane's copy

    __device__ __forceinline__ Table() {
        unsigned copy = threadIdx.x & ((1u << LOG2_COPIES) - 1u);
        start = shared_address(shared_words) + 4u * copy;
    }

    __device__ __forceinline__ void count(unsigned code) const {
        increment_shared(start + (code << (LOG2_COPIES + 2u)));
    }

    __device__ __forceinline__ unsigned operator[](unsigned code) const {
        return load_shared(start + (code << (LOG2_COPIES + 2u)));
    }
};

// Four copies of an entry at once.
template <unsigned LOG2_COPIES>
__device__ __forceinline__ uint4* four_copies(unsigned code, unsigned quad) {
    return reinterpret_cast<uint4*>(shared_words) + (code << (LOG2_COPIES - 2u)) + quad;
}

// Counts the samples of a vector.
template <typename S, unsigned LOG2_COPIES>
__device__ __forceinline__ void count_vector(uint4 vector, Samples samples, Table<LOG2_COPIES> table) {
    each_code<S, 1>(vector, 0u, samples, [=](unsigned code, unsigned) { table.count(code); });
}

// What is read while the previous launch ends is FRESH: the L1 cache may have old data.
template <bool FRESH, typename T>
__device__ __forceinline__ T loaded(const T* at) {
    return FRESH ? load_cg(at) : *at;
}

// Calls `use` with the vectors of a thread's share from `at` on, and their indices. COUNT of them are loaded at once;
// with 0, where registers are scarce, one ahead.
template <unsigned COUNT, bool FRESH, typename F>
__device__ __forceinline__ void each_beyond(const uint4* from, unsigned at, unsigned end, F use) {
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

// Counts the samples of the vector behind the whole ones.
template <typename S, unsigned LOG2_COPIES, bool FRESH>
__device__ __forceinline__ void count_rest(const Share& share, Samples samples, Table<LOG2_COPIES> table) {
    if (threadIdx.x >= share.rest) return;
    const S* at = reinterpret_cast<const S*>(share.from + share.whole) + threadIdx.x;
    unsigned sample = loaded<FRESH>(at);
    table.count(decoded<S>(ordered<S>(sample, samples), samples));
}

// Counts the block's share. `kept` rounds stay in `stage`, and HOLD further rounds in `held`.
template <typename S, unsigned LOG2_COPIES, unsigned HOLD, bool FRESH>
__device__ __forceinline__ void count_share(const Share& share, uint4* stage, unsigned kept, Samples samples,
                                            Table<LOG2_COPIES> table, bool is_fetched, uint4* held) {
    unsigned beyond = kept * blockDim.x + threadIdx.x;
#pragma unroll
    for (unsigned i = 0u; i != HOLD; ++i) {
        unsigned at = beyond + i * blockDim.x;
        if (at < share.vectors) held[i] = share.from[at];
    }
#pragma unroll 1
    for (unsigned round = 0u; round < kept; ++round) {
        unsigned ahead = (round + AHEAD) * blockDim.x + threadIdx.x;
        if (!is_fetched && round + AHEAD < kept && ahead < share.vectors) copy_async(share.from + ahead, stage + ahead);
        commit_copies();
        wait_for_copies<AHEAD>();
        unsigned at = round * blockDim.x + threadIdx.x;
        if (at < share.whole) count_vector<S, LOG2_COPIES>(stage[at], samples, table);
    }
#pragma unroll
    for (unsigned i = 0u; i != HOLD; ++i) {
        if (beyond + i * blockDim.x < share.whole) count_vector<S, LOG2_COPIES>(held[i], samples, table);
    }
    each_beyond<HOLD / 2u, FRESH>(share.from, beyond + HOLD * blockDim.x, share.whole, [&](uint4 vector, unsigned) {
        count_vector<S, LOG2_COPIES>(vector, samples, table);
    });
    count_rest<S, LOG2_COPIES, FRESH>(share, samples, table);
}

// Counts the block's share while the rounds of a waiting one that are `fetched` come into `stage`, one for each round
// that is counted.
template <typename S, unsigned LOG2_COPIES>
__device__ __forceinline__ void count_ahead(const Share& share, const Share& waiting, uint4* stage, unsigned fetched,
                                            Samples samples, Table<LOG2_COPIES> table) {
    uint4 next[AHEAD];
#pragma unroll
    for (unsigned i = 0u; i < AHEAD; ++i) {
        unsigned at = i * blockDim.x + threadIdx.x;
        if (at < share.vectors) next[i] = load_cg(share.from + at);
    }
#pragma unroll 1
    for (unsigned first = threadIdx.x; first < share.vectors; first += AHEAD * blockDim.x) {
#pragma unroll
        for (unsigned i = 0u; i < AHEAD; ++i) {
            unsigned at = first + i * blockDim.x, later = at + AHEAD * blockDim.x;
            if (at < fetched * blockDim.x && at < waiting.vectors) copy_async(waiting.from + at, stage + at);
            uint4 now = next[i];
            if (later < share.vectors) next[i] = load_cg(share.from + later);
            if (at < share.whole) count_vector<S, LOG2_COPIES>(now, samples, table);
        }
    }
    count_rest<S, LOG2_COPIES, true>(share, samples, table);
}

// Calls `use` with the vectors of the thread's share and their indices. The first rounds, `kept` of them, more than
// UNDER_WAY, are in `stage`; each vector there makes room for a later one.
template <typename F>
__device__ __forceinline__ void each_through(uint4* stage, unsigned kept, const Share& share, F use) {
    unsigned staged = kept * blockDim.x, place = threadIdx.x;
#pragma unroll 1
    for (unsigned at = threadIdx.x; at < share.vectors; at += blockDim.x) {
        wait_for_copies<UNDER_WAY>();
        uint4 vector = stage[place];
        // No other thread accesses this place.
        if (at + staged < share.vectors) copy_async(share.from + at + staged, stage + place);
        commit_copies();
        use(vector, at);
        place = place + blockDim.x < staged ? place + blockDim.x : threadIdx.x;
    }
}

// Writes the curve at the thread's codes into all copies of the table.
template <typename S, unsigned LOG2_COPIES, unsigned ITEMS>
__device__ __forceinline__ void fill_table(const unsigned (&mapped)[ITEMS], Samples samples) {
    constexpr unsigned QUADS = 1u << (LOG2_COPIES - 2u), PIECES = ITEMS * QUADS;
    constexpr unsigned NEIGHBOURS = PIECES < 8u ? 8u / PIECES : 1u;  // threads whose pieces lie in different banks
#pragma unroll
    for (unsigned i = 0u; i < PIECES; ++i) {
        // Threads begin at different pieces, to avoid bank conflicts.
        unsigned piece = (i + threadIdx.x / NEIGHBOURS) % PIECES;
        unsigned code = mapped[0];
#pragma unroll
        for (unsigned j = 1u; j < ITEMS; ++j) code = piece / QUADS == j ? mapped[j] : code;
        unsigned sample = encoded<S>(code, samples);
        *four_copies<LOG2_COPIES>(threadIdx.x * ITEMS + piece / QUADS, piece % QUADS) =
            make_uint4(sample, sample, sample, sample);
    }
}

// Reads the totals of the thread's codes until all totals add up to the samples of the plane. `tell` publishes the sums
// of each warp, alternately in two places, and `hear` returns the sum over all warps.
template <unsigned ITEMS, typename ThreadGroup, typename Tell, typename Hear>
__device__ __forceinline__ void wait_for_totals(unsigned* totals, unsigned codes, unsigned expected,
                                                unsigned (&count)[ITEMS], Tell tell, Hear hear) {
    const unsigned* own = total_of(totals, threadIdx.x * ITEMS);
    bool has_codes = threadIdx.x * ITEMS < codes;
    for (unsigned turn = 0u;; turn ^= 1u) {
#pragma unroll
        for (unsigned i = 0u; i < ITEMS; ++i) count[i] = has_codes ? *(volatile const unsigned*)(own + i) : 0u;
        tell(turn);
        ThreadGroup::sync();
        if (hear(turn) == expected) return;
    }
}

// The sums of totals that the warps of a crew exchange, in two alternating sets.
struct TotalsStorage {
    unsigned sums[2][WARP_THREADS];
    unsigned others[2][WARP_THREADS];  // for the textbook the first count that is not zero, else what the window holds
};

// The plain curve, once the totals are complete.
template <unsigned ITEMS, typename ThreadGroup>
__device__ __forceinline__ void plain_curve(unsigned* totals, unsigned codes, unsigned expected, Levels levels,
                                            TotalsStorage& totals_storage, unsigned (&mapped)[ITEMS]) {
    unsigned lane = threadIdx.x % WARP_THREADS, warp = threadIdx.x / WARP_THREADS;
    unsigned count[ITEMS], sum, through, before, first;
    wait_for_totals<ITEMS, ThreadGroup>(
        totals, codes, expected, count,
        [&](unsigned turn) {
            sum = first = 0u;
#pragma unroll
            for (unsigned i = 0u; i < ITEMS; ++i) {
                sum += count[i];
                if (first == 0u) first = count[i];
            }
            through = warp_inclusive_sum(sum, lane);
            first = warp_first_nonzero(first);
            if (lane == WARP_THREADS - 1u) {
                totals_storage.sums[turn][warp] = through;
                totals_storage.others[turn][warp] = first;
            }
        },
        [&](unsigned turn) {
            bool is_warp = lane < ThreadGroup::warps();
            unsigned prefix = is_warp ? totals_storage.sums[turn][lane] : 0u;
            first = warp_first_nonzero(is_warp ? totals_storage.others[turn][lane] : 0u);
            before = warp_sum(lane < warp ? prefix : 0u);
            return warp_sum(prefix);
        });
    CdfRange range = cdf_range_of(first, expected);
    unsigned at = before + through - sum;
#pragma unroll
    for (unsigned i = 0u; i < ITEMS; ++i) {
        at += count[i];
        mapped[i] = curve_at(threadIdx.x * ITEMS + i, at, range, levels);
    }
}

// When a plane is counted: once the previous launch has ended.
struct Afterwards {
    static constexpr bool OVERLAPS = false;
    __device__ __forceinline__ constexpr bool overlaps() const { return false; }
};

// Or while it ends, if no kernel writes the samples any more.
struct Meanwhile {
    static constexpr bool OVERLAPS = true;
    bool is_settled;
    __device__ __forceinline__ bool overlaps() const { return is_settled; }
};

// Equalizes a plane by the blocks of a team, of which this is number `block`. The crew calls `make_curve`, which waits
// for the totals and computes the curve. Blocks that are `alone` leave no room on a multiprocessor for one of the next
// launch before it has counted. HOLD rounds are held in registers.
template <typename S, unsigned LOG2_COPIES, unsigned ITEMS, typename ThreadGroup, bool IN_BATCH, unsigned HOLD,
          typename When, typename Prepare, typename MakeCurve>
__device__ __forceinline__ void on_chip(Plane plane, Succession succession, unsigned block, Samples samples,
                                        Levels levels, unsigned* totals, unsigned* cleared, bool alone, When when,
                                        Prepare prepare, MakeCurve make_curve) {
    bool early = when.overlaps();
    unsigned codes = samples.max + 1u;
    Share share = share_of<S>(plane, block, samples);
    uint4* stage = reinterpret_cast<uint4*>(shared_words) + (codes << LOG2_COPIES) / 4u;
    unsigned rounds = (share.vectors + blockDim.x - 1u) / blockDim.x;
    unsigned kept = rounds < plane.kept ? rounds : plane.kept;

    auto start_fetching = [&] {
#pragma unroll
        for (unsigned round = 0u; round < AHEAD; ++round) {
            unsigned at = round * blockDim.x + threadIdx.x;
            // These rounds have ended already, for some threads one fewer; `wait_for_copies<AHEAD>` counts on all of
            // them.
            if (succession.is_fetched && round + 1u < kept) continue;
            if (!succession.is_fetched && round < kept && at < share.vectors) copy_async(share.from + at, stage + at);
            commit_copies();
        }
    };
    auto wait = [&] {
        grid_dependency_sync();
        // The next launch counts meanwhile. What this one has waited for is settled for it.
        if (When::OVERLAPS) trigger_next_launch();
    };
    auto empty = [&] {
        // With a window, the last block has no samples.
        if (block != (When::OVERLAPS ? gridDim.x - 1u : 0u)) return;
        for (unsigned code = threadIdx.x; code < codes; code += blockDim.x) *total_of(cleared, code) = 0u;
        // In the same launch, no block adds to these before the totals of this plane are complete, so not before this
        // block has cleared them.
        if (IN_BATCH) __threadfence();
    };
    if (alone && !When::OVERLAPS) trigger_next_launch();
    // The slower work comes first, unless the samples may be incomplete.
    if (!LAUNCHES_OVERLAP || early) start_fetching();
    clear_counters(shared_words, (codes << LOG2_COPIES) / 4u);
    if (!early) {
        wait();
        if (LAUNCHES_OVERLAP) start_fetching();
        empty();
        prepare();
    }
    __syncthreads();

    Table<LOG2_COPIES> table;
    uint4 held[HOLD != 0u ? HOLD : 1u];
    count_share<S, LOG2_COPIES, HOLD, When::OVERLAPS>(share, stage, kept, samples, table, succession.is_fetched, held);
    if (early) {
        wait();
        empty();
        prepare();
    }
    __syncthreads();
    // If the next launch has room beside this block, beginning it earlier would have slowed the counting.
    if (!alone) trigger_next_launch();
    if (IN_BATCH) __threadfence();
    reduce_copies<LOG2_COPIES>(shared_words, codes, [=](unsigned code, unsigned sum) {
        if (sum != 0u) atomicAdd(total_of(totals, level_code(code, levels)), sum);
    });
    __syncthreads();
    if (threadIdx.x < ThreadGroup::warps() * WARP_THREADS) {
        unsigned mapped[ITEMS];
        make_curve(mapped);
        if (threadIdx.x * ITEMS < codes) fill_table<S, LOG2_COPIES, ITEMS>(mapped, samples);
    }
    __syncthreads();

    auto map = [&](uint4 vector, unsigned at) {
        share.to[at] = mapped_vector<S, 1>(vector, 0u, samples, [=](unsigned code) { return table[code]; });
    };
    unsigned staged = kept * blockDim.x < share.vectors ? kept * blockDim.x : share.vectors;
#pragma unroll 1
    for (unsigned at = threadIdx.x; at < staged; at += blockDim.x) {
        uint4 vector = stage[at];
        // No other thread accesses this place.
        if (IN_BATCH && succession.next != nullptr) copy_async(succession.next + block * plane.share + at, stage + at);
        if (IN_BATCH) commit_copies();
        map(vector, at);
    }
    unsigned beyond = kept * blockDim.x + threadIdx.x;
#pragma unroll
    for (unsigned i = 0u; i != HOLD; ++i) {
        if (beyond + i * blockDim.x < share.vectors) map(held[i], beyond + i * blockDim.x);
    }
    each_beyond<HOLD, When::OVERLAPS>(share.from, beyond + HOLD * blockDim.x, share.vectors, map);
}

constexpr Succession ALONE = {false, nullptr};

template <typename S, unsigned LOG2_COPIES, unsigned ITEMS, typename ThreadGroup, unsigned HOLD>
__device__ __forceinline__ void plain(Plane plane, Samples samples, Levels levels, unsigned* totals,
                                      unsigned* cleared) {
    __shared__ TotalsStorage totals_storage;
    on_chip<S, LOG2_COPIES, ITEMS, ThreadGroup, false, HOLD>(
        plane, ALONE, blockIdx.x, samples, levels, totals, cleared, plane.kept >= CROWDED, Afterwards{}, [] {},
        [&](unsigned (&mapped)[ITEMS]) {
            plain_curve<ITEMS, ThreadGroup>(totals, samples.max + 1u, samples.pixels, levels, totals_storage, mapped);
        });
}

// The curve with temporal window, plateau and contrast limit, once the totals are complete. The samples of a window fit
// a Count.
template <typename Count, unsigned ITEMS, typename ThreadGroup>
__device__ __forceinline__ void modified_curve(unsigned* totals, unsigned codes, Levels levels, const Modifiers& m,
                                               const WindowUpdate& turn, const PiecewiseLine& line,
                                               const History& history, bool writes,
                                               ThreadHistory<ITEMS>& thread_history, TempStorage& storage,
                                               TotalsStorage& totals_storage, unsigned (&mapped)[ITEMS]) {
    // Sums of 64 bits take too long in the loop that waits for the totals.
    constexpr bool IS_NARROW = sizeof(Count) == sizeof(unsigned);
    unsigned lane = threadIdx.x % WARP_THREADS, warp = threadIdx.x / WARP_THREADS, code = threadIdx.x * ITEMS;
    bool remembers = turn.remembers && code < codes;

    Count others[ITEMS] = {};  // what the window holds without this frame
    if (remembers) {
#pragma unroll
        for (unsigned i = 0u; i < ITEMS; ++i)
            others[i] = (Count)window_without_frame<ITEMS>(turn, turn.window, thread_history, i);
    }

    unsigned count[ITEMS];
    Count held[ITEMS];
    WindowTotal left = {IS_NARROW, 0u};
    wait_for_totals<ITEMS, ThreadGroup>(
        totals, codes, m.samples, count,
        [&](unsigned set) {
            unsigned sum = 0u, left_by = 0u;
#pragma unroll
            for (unsigned i = 0u; i < ITEMS; ++i) {
                sum += count[i];
                unsigned kept = count[i] < m.cap ? count[i] : m.cap;
                held[i] = others[i] + (turn.joins ? kept : 0u);
                left_by += (unsigned)held[i];
            }
            sum = warp_sum(sum);
            if (IS_NARROW) left_by = warp_sum(left_by);
            if (lane == 0u) {
                totals_storage.sums[set][warp] = sum;
                totals_storage.others[set][warp] = left_by;
            }
        },
        [&](unsigned set) {
            if (IS_NARROW) left.samples = group_sum<ThreadGroup>(totals_storage.others[set]);
            return group_sum<ThreadGroup>(totals_storage.sums[set]);
        });
    equalize<Count, ITEMS, false, ThreadGroup>(
        held, left, code, levels, m, line, nullptr, storage, GridExchange{}, [] {}, mapped);
    // Read again, by a block that has no samples: registers are scarce.
    if (writes && remembers) {
        write_windows<ITEMS>(turn, load_history<ITEMS>(code, codes, turn, history), count, m.cap, code, codes, history);
    }
}

template <typename S, unsigned LOG2_COPIES, unsigned ITEMS, typename ThreadGroup>
__device__ __forceinline__ void modified(Plane plane, Samples samples, Levels levels, const Modifiers& m,
                                         const WindowUpdate& turn, const PiecewiseLine& line, unsigned* totals,
                                         unsigned* cleared, const History& history, unsigned settled) {
    __shared__ TotalsStorage totals_storage;
    __shared__ TempStorage storage;
    unsigned codes = samples.max + 1u;
    // All blocks compute the same state; the last one, whose share may be smaller, writes it.
    bool writes = blockIdx.x == gridDim.x - 1u;
    bool is_narrow = m.varies == 0u && (Sum)m.frames * m.samples >> 32 == 0u;
    ThreadHistory<ITEMS> thread_history;
    on_chip<S, LOG2_COPIES, ITEMS, ThreadGroup, false, 0u>(
        plane, ALONE, blockIdx.x, samples, levels, totals, cleared, true, Meanwhile{settled != 0u},
        [&] {
            if (threadIdx.x == 0u) storage.flat = 0u;
            if (!turn.remembers) return;
            if (threadIdx.x < ThreadGroup::warps() * WARP_THREADS && threadIdx.x * ITEMS < codes) {
                // The loads complete while samples are counted.
                thread_history = load_history<ITEMS>(threadIdx.x * ITEMS, codes, turn, history);
            }
        },
        [&](unsigned (&mapped)[ITEMS]) {
            if (is_narrow) {
                modified_curve<unsigned, ITEMS, ThreadGroup>(totals, codes, levels, m, turn, line, history, writes,
                                                             thread_history, storage, totals_storage, mapped);
            } else {
                modified_curve<Sum, ITEMS, ThreadGroup>(totals, codes, levels, m, turn, line, history, writes,
                                                        thread_history, storage, totals_storage, mapped);
            }
        });
}

// For a look-ahead: counts a plane and makes the curve of the window that ends with it, which maps another plane that
// has waited for it. That plane is fetched meanwhile. It may be null; `curve` keeps the curve for later. The curve is
// that of `modified`.
template <typename S, unsigned LOG2_COPIES, unsigned ITEMS, typename ThreadGroup>
__device__ __forceinline__ void ahead(Plane plane, Plane waits, Samples samples, Levels levels, const Modifiers& m,
                                      const WindowUpdate& turn, const PiecewiseLine& line, unsigned* totals,
                                      unsigned* cleared, const History& history, unsigned short* curve,
                                      unsigned settled) {
    __shared__ TotalsStorage totals_storage;
    __shared__ TempStorage storage;
    unsigned codes = samples.max + 1u;
    bool writes = blockIdx.x == gridDim.x - 1u, is_crew = threadIdx.x < ThreadGroup::warps() * WARP_THREADS;
    bool is_narrow = m.varies == 0u && (Sum)m.frames * m.samples >> 32 == 0u;
    Share share = share_of<S>(plane, blockIdx.x, samples), waiting = share_of<S>(waits, blockIdx.x, samples);
    if (waits.from == nullptr) waiting.vectors = 0u;
    uint4* stage = reinterpret_cast<uint4*>(shared_words) + (codes << LOG2_COPIES) / 4u;
    unsigned staged = waits.kept * blockDim.x;
    // A plane that does not fit into `stage` takes longer to map than to count: then half of the rounds are fetched
    // later.
    bool passes_through = waits.kept > UNDER_WAY && staged < waiting.vectors;
    unsigned early = passes_through ? waits.kept / 2u : waits.kept;
    ThreadHistory<ITEMS> thread_history;

    auto start = [&] {
        grid_dependency_sync();
        trigger_next_launch();
        if (writes) {
            for (unsigned code = threadIdx.x; code < codes; code += blockDim.x) *total_of(cleared, code) = 0u;
        }
        if (turn.remembers && is_crew && threadIdx.x * ITEMS < codes) {
            thread_history = load_history<ITEMS>(threadIdx.x * ITEMS, codes, turn, history);
        }
    };
    clear_counters(shared_words, (codes << LOG2_COPIES) / 4u);
    if (threadIdx.x == 0u) storage.flat = 0u;
    if (settled == 0u) start();
    __syncthreads();

    Table<LOG2_COPIES> table;
    count_ahead<S, LOG2_COPIES>(share, waiting, stage, early, samples, table);
    for (unsigned at = early * blockDim.x + threadIdx.x; at < staged && at < waiting.vectors; at += blockDim.x) {
        copy_async(waiting.from + at, stage + at);
    }
    commit_copies();
    if (settled != 0u) start();
    __syncthreads();
    reduce_copies<LOG2_COPIES>(shared_words, codes, [=](unsigned code, unsigned sum) {
        if (sum != 0u) atomicAdd(total_of(totals, level_code(code, levels)), sum);
    });
    __syncthreads();
    if (is_crew) {
        unsigned mapped[ITEMS];
        if (is_narrow) {
            modified_curve<unsigned, ITEMS, ThreadGroup>(totals, codes, levels, m, turn, line, history, writes,
                                                         thread_history, storage, totals_storage, mapped);
        } else {
            modified_curve<Sum, ITEMS, ThreadGroup>(totals, codes, levels, m, turn, line, history, writes,
                                                    thread_history, storage, totals_storage, mapped);
        }
        if (threadIdx.x * ITEMS < codes) {
            fill_table<S, LOG2_COPIES, ITEMS>(mapped, samples);
#pragma unroll
            for (unsigned i = 0u; i < ITEMS; ++i) {
                if (writes) curve[threadIdx.x * ITEMS + i] = (unsigned short)mapped[i];
            }
        }
    }
    wait_for_copies<0u>();
    __syncthreads();

    auto map = [&](uint4 vector, unsigned at) {
        waiting.to[at] = mapped_vector<S, 1>(vector, 0u, samples, [=](unsigned code) { return table[code]; });
    };
    if (passes_through) {
        each_through(stage, waits.kept, waiting, map);
    } else {
#pragma unroll 1
        for (unsigned at = threadIdx.x; at < staged && at < waiting.vectors; at += blockDim.x) map(stage[at], at);
        each_beyond<AHEAD, true>(waiting.from, staged + threadIdx.x, waiting.vectors, map);
    }
}

// PER codes per thread and WARPS warps in the crew, for the plain curve and for the modified one. Planes that are too
// large for shared memory have their own kernel, because unneeded registers would leave no room for the next launch.
#define FUSED(NAME, S, LOG2_COPIES, ITEMS, WARPS, MODIFIED_PER, MODIFIED_WARPS)                                        \
    extern "C" __global__ __launch_bounds__(1024) void fused_##NAME(Plane plane, Samples samples, Levels levels,       \
                                                                    unsigned* totals, unsigned* cleared) {             \
        plain<S, LOG2_COPIES, ITEMS, ThreadGroup<WARPS>, 0u>(plane, samples, levels, totals, cleared);                 \
    }                                                                                                                  \
    extern "C" __global__ __launch_bounds__(1024) void fused_large_##NAME(Plane plane, Samples samples, Levels levels, \
                                                                          unsigned* totals, unsigned* cleared) {       \
        plain<S, LOG2_COPIES, ITEMS, ThreadGroup<WARPS>, HELD>(plane, samples, levels, totals, cleared);               \
    }                                                                                                                  \
    extern "C" __global__ __launch_bounds__(1024) void fused_modified_##NAME(                                          \
        Plane plane, Samples samples, Levels levels, Modifiers m, WindowUpdate turn, PiecewiseLine line,               \
        unsigned* totals, unsigned* cleared, unsigned* slots, Sum* sums, unsigned settled) {                           \
        modified<S, LOG2_COPIES, MODIFIED_PER, ThreadGroup<MODIFIED_WARPS>>(                                           \
            plane, samples, levels, m, turn, line, totals, cleared, History{slots, sums}, settled);                    \
    }                                                                                                                  \
    extern "C" __global__ __launch_bounds__(1024) void fused_ahead_##NAME(                                             \
        Plane plane, Plane waits, Samples samples, Levels levels, Modifiers m, WindowUpdate turn, PiecewiseLine line,  \
        unsigned* totals, unsigned* cleared, unsigned* slots, Sum* sums, unsigned short* curve, unsigned settled) {    \
        ahead<S, LOG2_COPIES, MODIFIED_PER, ThreadGroup<MODIFIED_WARPS>>(                                              \
            plane, waits, samples, levels, m, turn, line, totals, cleared, History{slots, sums}, curve, settled);      \
    }

FUSED(u8, unsigned char, 5u, 1u, 8u, 1u, 8u)
FUSED(u10, unsigned short, 3u, 1u, 32u, 2u, 16u)

// Equalizes many planes in place, each by a team of `team` blocks; the teams are independent. `totals` has three zeroed
// sets of totals for each team.
extern "C" __global__ __launch_bounds__(1024) void fused_batch_u8(Planes planes, unsigned count, unsigned team,
                                                                  unsigned share, unsigned kept, Samples samples,
                                                                  Levels levels, unsigned* totals) {
    __shared__ TotalsStorage totals_storage;
    constexpr unsigned SIZE = 256u / SECTOR * SECTOR_PITCH;
    unsigned teams = gridDim.x / team;
    bool is_fetched = false;
    totals += blockIdx.x / team * 3u * SIZE;
    unsigned turn = 0u;
#pragma unroll 1
    for (unsigned index = blockIdx.x / team; index < count; index += teams) {
        uint4* pixels = reinterpret_cast<uint4*>(planes.of[index]);
        Plane plane = {pixels, pixels, share, kept};
        bool is_last = count - index <= teams;
        Succession succession = {is_fetched,
                                 is_last ? nullptr : reinterpret_cast<const uint4*>(planes.of[index + teams])};
        unsigned next = turn == 2u ? 0u : turn + 1u;
        on_chip<unsigned char, 5u, 1u, ThreadGroup<8u>, true, 0u>(
            plane, succession, blockIdx.x % team, samples, levels, totals + turn * SIZE, totals + next * SIZE, true,
            Afterwards{}, [] {},
            [&](unsigned (&mapped)[1]) {
                plain_curve<1u, ThreadGroup<8u>>(totals + turn * SIZE, 256u, samples.pixels, levels, totals_storage,
                                                 mapped);
                __threadfence();
            });
        turn = next;
        is_fetched = true;
        __syncthreads();
    }
}
