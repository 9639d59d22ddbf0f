// Runs CUDA kernels whose blocks wait for each other on this machine, slowly and exactly: the threads of all blocks are
// fibers that take turns, warp by warp in changing order, with a block left behind now and then. What a GPU leaves open
// is left open here too: a fetched vector lands at once, as late as it may, or in between, and until then its place
// holds rubbish. A write beyond shared memory, barriers that do not fit together, threads that wait for ever, and
// vectors that no thread has waited for end the program.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <typeindex>
#include <vector>

#include "cuda.hpp"

constexpr size_t STACK = 48 << 10, GUARD = 4096;
constexpr unsigned BARRIERS = 16;
constexpr unsigned char RUBBISH = 0xcd;

static std::mt19937 numbers_at_random(1);
static unsigned one_of(unsigned count) { return static_cast<unsigned>(numbers_at_random()) % count; }

// A vector on its way into shared memory.
struct Copy {
    const void* from;
    void* to;
    bool is_there;

    void land() {
        if (!is_there) std::memcpy(to, from, 16);
        is_there = true;
    }
};

enum class State { READY, AT_BARRIER, AT_WARP, DONE };
enum class Landing { EARLY, LATE, ANY };

struct Fiber {
    Place place;
    std::vector<char> stack = std::vector<char>(STACK);
    State state = State::DONE;
    unsigned block = 0, thread = 0, barrier = 0;
    unsigned long long handed = 0;  // what a shuffle gives away
    std::deque<std::vector<Copy>> rounds;
    std::vector<Copy> begun;
};

struct Block {
    std::vector<uint4> words;  // dynamic shared memory
    size_t bytes = 0;
    std::map<std::type_index, std::shared_ptr<void>> statics;
    unsigned arrived[BARRIERS] = {}, expected[BARRIERS] = {};
};

static Place scheduler;
static std::vector<std::unique_ptr<Fiber>> fibers;
static std::vector<Block> blocks;
static unsigned running, done;
static Landing landing;
static const std::function<void()>* body;

static Fiber& me() { return *fibers[running]; }
static Block& my_block() { return blocks[me().block]; }

static void wait_as(State state) {
    me().state = state;
    switch_to(me().place, scheduler);
}

static unsigned char* shared_bytes() { return reinterpret_cast<unsigned char*>(my_block().words.data()); }
static unsigned* block_words() { return reinterpret_cast<unsigned*>(shared_bytes()); }

// The block's variable of this type.
template <typename T>
static T& block_static() {
    std::shared_ptr<void>& place = my_block().statics[typeid(T)];
    if (!place) {
        place = std::shared_ptr<void>(std::aligned_alloc(64, (sizeof(T) + 63) / 64 * 64), std::free);
        std::memset(place.get(), RUBBISH, sizeof(T));
    }
    return *static_cast<T*>(place.get());
}

// --- barriers.cuh

static inline void barrier_arrive(unsigned barrier, unsigned threads) {
    Block& block = my_block();
    if (threads % 32 != 0 || barrier >= BARRIERS) fail("no such barrier");
    if (block.arrived[barrier] != 0 && block.expected[barrier] != threads)
        fail("a barrier for different numbers of threads");
    block.expected[barrier] = threads;
    if (++block.arrived[barrier] < threads) return;
    block.arrived[barrier] = 0;
    for (auto& fiber : fibers) {
        bool waits = fiber->block == me().block && fiber->state == State::AT_BARRIER && fiber->barrier == barrier;
        if (waits) fiber->state = State::READY;
    }
}

static inline void barrier_sync(unsigned barrier, unsigned threads) {
    me().barrier = barrier;
    me().state = State::AT_BARRIER;
    barrier_arrive(barrier, threads);
    if (me().state == State::AT_BARRIER || one_of(2) == 0) switch_to(me().place, scheduler);
}

template <unsigned BARRIER>
static void barrier_sync(unsigned threads) {
    barrier_sync(BARRIER, threads);
}

// In a loop that waits for other blocks: lets them go on.
static unsigned spins;
static inline void spin() {
    if (++spins > 10'000'000) fail("blocks wait for each other for ever");
    switch_to(me().place, scheduler);
}

static inline void __syncthreads() { barrier_sync(0, blockDim.x); }
static inline void __threadfence() {}

// --- shared_memory.cuh

static inline unsigned shared_address(const void* at) {
    return static_cast<unsigned>(static_cast<const unsigned char*>(at) - shared_bytes());
}

static inline unsigned& shared_word(unsigned address) {
    if (address + 4 > my_block().bytes || address % 4 != 0) fail("a word beyond shared memory");
    return *reinterpret_cast<unsigned*>(shared_bytes() + address);
}

static inline unsigned load_shared(unsigned address) { return shared_word(address); }
static inline void increment_shared(unsigned address) { ++shared_word(address); }

// --- copy_async.cuh

static inline void prefetch(const void*) {}

static inline void copy_async(const uint4* from, uint4* to) {
    if (shared_address(to) + 16 > my_block().bytes) fail("a vector beyond shared memory");
    Copy copy = {from, to, false};
    if (landing == Landing::EARLY || (landing == Landing::ANY && one_of(3) == 0)) {
        copy.land();
    } else {
        std::memset(to, RUBBISH, 16);
    }
    me().begun.push_back(copy);
}

static inline void commit_copies() {
    me().rounds.push_back(std::move(me().begun));
    me().begun.clear();
}

template <unsigned ROUNDS>
static void wait_for_copies() {
    auto& rounds = me().rounds;
    while (rounds.size() > ROUNDS) {
        for (Copy& copy : rounds.front()) copy.land();
        rounds.pop_front();
    }
    if (landing == Landing::ANY && !rounds.empty() && one_of(3) == 0) {
        for (Copy& copy : rounds[one_of(rounds.size())]) copy.land();
    }
}

// --- launch.cuh

constexpr bool LAUNCHES_OVERLAP = OVERLAP;

static inline void trigger_next_launch() {}

template <typename T>
static T load_cg(const T* at) {
    return *at;
}

static inline void grid_dependency_sync() {}

// A word is seen by other blocks some time after it was written: here, in between other blocks go on.
static inline void store_relaxed(unsigned long long* at, unsigned long long word) { *at = word; }

static inline unsigned long long load_relaxed(const unsigned long long* at) {
    if (one_of(2) == 0) spin();
    return *at;
}

// --- cuda.hpp

static unsigned own_lane() { return running % 32; }
static unsigned long long& handed_by(unsigned lane) { return fibers[running / 32 * 32 + lane]->handed; }
static void wait_for_warp() { wait_as(State::AT_WARP); }

// --- launches

static void enter() {
    (*body)();
    for (auto& round : me().rounds) {
        for (Copy& copy : round) {
            if (!copy.is_there) fail("a vector is still on its way");
        }
    }
    if (!me().begun.empty()) fail("a vector of no round");
    me().rounds.clear();
    ++done;
    wait_as(State::DONE);
}

static void begin(Fiber& fiber, unsigned block, unsigned thread) {
    fiber.place.begin_at(enter, fiber.stack.data(), fiber.stack.size());
    fiber.state = State::READY;
    fiber.block = block;
    fiber.thread = thread;
}

// One turn of the lanes of a warp that can go on; whether any could.
static bool turn_of_warp(unsigned first) {
    bool moved = false, backwards = one_of(2) == 0, together = true;
    for (unsigned turn = 0; turn < 32; ++turn) {
        running = first + (backwards ? 31 - turn : turn);
        if (me().state != State::READY) continue;
        moved = true;
        blockIdx = Dim{me().block, 0, 0};
        threadIdx = Dim{me().thread, 0, 0};
        switch_to(scheduler, me().place);
    }
    for (unsigned lane = 0; lane < 32; ++lane) together &= fibers[first + lane]->state == State::AT_WARP;
    for (unsigned lane = 0; together && lane < 32; ++lane) fibers[first + lane]->state = State::READY;
    return moved || together;
}

// Runs a kernel of `grid` blocks of `threads` threads, whole warps, with `bytes` bytes of dynamic shared memory.
static void run(unsigned grid, unsigned threads, size_t bytes, const std::function<void()>& kernel) {
    gridDim = Dim{grid, 1, 1};
    blockDim = Dim{threads, 1, 1};
    body = &kernel;
    done = spins = 0;
    landing = static_cast<Landing>(one_of(3));
    while (fibers.size() < size_t{grid} * threads) fibers.push_back(std::make_unique<Fiber>());
    fibers.resize(size_t{grid} * threads);
    blocks.assign(grid, Block());
    for (Block& block : blocks) {
        block.words.resize((bytes + GUARD) / 16 + 1);
        block.bytes = bytes;
        std::memset(static_cast<void*>(block.words.data()), RUBBISH, block.words.size() * 16);
    }
    for (unsigned i = 0; i < fibers.size(); ++i) begin(*fibers[i], i / threads, i % threads);
    unsigned warps = static_cast<unsigned>(fibers.size()) / 32, still = 0;
    while (done < fibers.size()) {
        bool moved = false;
        unsigned start = one_of(warps), behind = one_of(4) == 0 ? one_of(grid) : grid;
        for (unsigned turn = 0; turn < warps; ++turn) {
            unsigned first = (start + turn) % warps * 32;
            if (fibers[first]->block == behind && one_of(8) != 0) continue;
            moved |= turn_of_warp(first);
        }
        still = moved ? 0 : still + 1;
        if (still > 1000) fail("threads wait for each other for ever");
    }
    for (Block& block : blocks) {
        const unsigned char* memory = reinterpret_cast<const unsigned char*>(block.words.data());
        for (size_t at = bytes; at < bytes + GUARD; ++at) {
            if (memory[at] != RUBBISH) fail("a write beyond shared memory");
        }
    }
}
