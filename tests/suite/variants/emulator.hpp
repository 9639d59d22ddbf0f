// Runs CUDA kernels on this machine, slowly and exactly: the threads of a block are fibers that take turns, now in one
// order and now in the other, so that barriers and shuffles do what they do on a GPU, and are missed where they are
// missing. Shared memory is full of rubbish when a block begins; a barrier that
// not all threads reach, and a write beyond the shared memory that was asked for, end the program.
#pragma once

#include <ucontext.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(most)

struct Dim {
    unsigned x, y, z;
};

struct uint4 {
    unsigned x, y, z, w;
};

static inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return uint4{x, y, z, w}; }

struct ushort4 {
    unsigned short x, y, z, w;
};

static inline ushort4 make_ushort4(unsigned x, unsigned y, unsigned z, unsigned w) {
    return ushort4{(unsigned short)x, (unsigned short)y, (unsigned short)z, (unsigned short)w};
}

template <typename T>
static T __ldcg(const T* at) {
    return *at;
}

static Dim gridDim, blockDim, blockIdx, threadIdx;

enum class State { READY, AT_BLOCK, AT_WARP, DONE };

struct Fiber {
    ucontext_t context;
    std::vector<char> stack = std::vector<char>(64 << 10);
    State state = State::DONE;
    unsigned long long handed = 0;  // what a shuffle gives away
};

static ucontext_t scheduler;
static std::vector<Fiber> fibers(1024);
static unsigned running;
static unsigned chance = 1;
static const std::function<void()>* body;

static void wait_at(State barrier) {
    fibers[running].state = barrier;
    swapcontext(&fibers[running].context, &scheduler);
}

static inline void __syncthreads() { wait_at(State::AT_BLOCK); }

// What lane `from` of the same warp hands over; all lanes have to be there.
template <typename T>
static T from_lane(T value, unsigned from) {
    Fiber& own = fibers[running];
    own.handed = 0;
    std::memcpy(&own.handed, &value, sizeof(T));
    wait_at(State::AT_WARP);
    T taken;
    std::memcpy(&taken, &fibers[running / 32 * 32 + from].handed, sizeof(T));
    wait_at(State::AT_WARP);
    return taken;
}

template <typename T>
static T __shfl_up_sync(unsigned, T value, unsigned distance) {
    unsigned lane = running % 32;
    return from_lane(value, lane >= distance ? lane - distance : lane);
}

template <typename T>
static T __shfl_xor_sync(unsigned, T value, unsigned distance) {
    return from_lane(value, running % 32 ^ distance);
}

template <typename T>
static T __shfl_sync(unsigned, T value, unsigned from) {
    return from_lane(value, from % 32);
}

static inline unsigned __ballot_sync(unsigned, bool vote) {
    unsigned votes = 0;
    for (unsigned lane = 0; lane < 32; ++lane) votes |= static_cast<unsigned>(from_lane(vote, lane)) << lane;
    return votes;
}

static inline int __ffs(unsigned value) { return __builtin_ffs(static_cast<int>(value)); }

static inline unsigned atomicAdd(unsigned* counter, unsigned added) {
    unsigned before = *counter;
    *counter += added;
    return before;
}

[[noreturn]] static void fail(const char* what) {
    std::fprintf(stderr, "%s\n", what);
    std::exit(1);
}

static void enter() {
    (*body)();
    fibers[running].state = State::DONE;
    swapcontext(&fibers[running].context, &scheduler);
}

static void run_block(unsigned threads) {
    for (unsigned thread = 0; thread < threads; ++thread) {
        Fiber& fiber = fibers[thread];
        getcontext(&fiber.context);
        fiber.context.uc_stack.ss_sp = fiber.stack.data();
        fiber.context.uc_stack.ss_size = fiber.stack.size();
        fiber.context.uc_link = nullptr;
        makecontext(&fiber.context, enter, 0);
        fiber.state = State::READY;
    }
    for (;;) {
        bool moved = false, all_done = true, all_wait = true;
        // Nobody may count on who comes first: now one end begins, now the other.
        chance = chance * 1664525u + 1013904223u;
        bool backwards = chance >> 31 != 0;
        for (unsigned turn = 0; turn < threads; ++turn) {
            unsigned thread = backwards ? threads - 1 - turn : turn;
            if (fibers[thread].state != State::READY) continue;
            moved = true;
            running = thread;
            threadIdx = Dim{thread % blockDim.x, thread / blockDim.x, 0};
            swapcontext(&scheduler, &fibers[thread].context);
        }
        for (unsigned warp = 0; warp < threads; warp += 32) {
            unsigned end = warp + 32 < threads ? warp + 32 : threads;
            bool together = true;
            for (unsigned thread = warp; thread < end; ++thread) together &= fibers[thread].state == State::AT_WARP;
            for (unsigned thread = warp; together && thread < end; ++thread) fibers[thread].state = State::READY;
            for (unsigned thread = warp; thread < end; ++thread) {
                all_done &= fibers[thread].state == State::DONE;
                all_wait &= fibers[thread].state == State::AT_BLOCK;
            }
        }
        if (all_done) return;
        for (unsigned thread = 0; all_wait && thread < threads; ++thread) fibers[thread].state = State::READY;
        if (!moved) fail("threads wait for each other at different places");
    }
}

// Runs a kernel whose dynamic shared memory is the first `bytes` of `shared`.
template <typename T, size_t N>
static void run(Dim grid, Dim block, T (&shared)[N], size_t bytes, const std::function<void()>& kernel) {
    if (bytes > sizeof(shared)) fail("too much shared memory");
    gridDim = grid;
    blockDim = block;
    body = &kernel;
    unsigned char* memory = reinterpret_cast<unsigned char*>(shared);
    size_t guarded = bytes + 4096 < sizeof(shared) ? bytes + 4096 : sizeof(shared);
    for (unsigned z = 0; z < grid.z; ++z) {
        for (unsigned y = 0; y < grid.y; ++y) {
            for (unsigned x = 0; x < grid.x; ++x) {
                blockIdx = Dim{x, y, z};
                std::memset(memory, 0xcd, guarded);
                run_block(block.x * block.y);
                for (size_t at = bytes; at < guarded; ++at) {
                    if (memory[at] != 0xcd) fail("a write beyond shared memory");
                }
            }
        }
    }
}
