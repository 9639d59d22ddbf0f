// Runs CUDA kernels on this machine, slowly and exactly: the threads of a block are fibers that take turns, now in one
// order and now in the other, so that barriers and shuffles do what they do on a GPU, and are missed where they are
// missing. Shared memory is full of rubbish when a block begins; a barrier that
// not all threads reach, and a write beyond the shared memory that was asked for, end the program.
#pragma once

#include <functional>
#include <vector>

#include "cuda.hpp"

enum class State { READY, AT_BLOCK, AT_WARP, DONE };

struct Fiber {
    Place place;
    std::vector<char> stack = std::vector<char>(64 << 10);
    State state = State::DONE;
    unsigned long long handed = 0;  // what a shuffle gives away
};

static Place scheduler;
static std::vector<Fiber> fibers(1024);
static unsigned running;
static unsigned chance = 1;
static const std::function<void()>* body;

static void barrier_sync(State barrier) {
    fibers[running].state = barrier;
    switch_to(fibers[running].place, scheduler);
}

static inline void __syncthreads() { barrier_sync(State::AT_BLOCK); }

static unsigned own_lane() { return running % 32; }
static unsigned long long& handed_by(unsigned lane) { return fibers[running / 32 * 32 + lane].handed; }
static void wait_for_warp() { barrier_sync(State::AT_WARP); }

static void enter() {
    (*body)();
    fibers[running].state = State::DONE;
    switch_to(fibers[running].place, scheduler);
}

static void run_block(unsigned threads) {
    for (unsigned thread = 0; thread < threads; ++thread) {
        Fiber& fiber = fibers[thread];
        fiber.place.begin_at(enter, fiber.stack.data(), fiber.stack.size());
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
            switch_to(scheduler, fibers[thread].place);
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
