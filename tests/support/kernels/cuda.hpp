// What CUDA has itself, for the emulators of kernels: types, shuffles and the like. An emulator says which thread runs,
// and how the lanes of a warp wait for each other.
#pragma once

#include <setjmp.h>
#include <ucontext.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(bytes) alignas(bytes)

struct Dim {
    unsigned x, y, z;
};

struct alignas(8) uint2 {
    unsigned x, y;
};

struct alignas(16) uint4 {
    unsigned x, y, z, w;
};

struct alignas(8) ushort4 {
    unsigned short x, y, z, w;
};

// Rounded one by one, with -ffp-contract=off.
static inline float __fadd_rn(float a, float b) { return a + b; }
static inline float __fsub_rn(float a, float b) { return a - b; }
static inline float __fmul_rn(float a, float b) { return a * b; }

static inline unsigned __float_as_uint(float value) {
    unsigned bits;
    std::memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static inline float __uint_as_float(unsigned bits) {
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
}

static inline uint2 make_uint2(unsigned x, unsigned y) { return uint2{x, y}; }
static inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return uint4{x, y, z, w}; }

static inline ushort4 make_ushort4(unsigned x, unsigned y, unsigned z, unsigned w) {
    return ushort4{(unsigned short)x, (unsigned short)y, (unsigned short)z, (unsigned short)w};
}

static Dim gridDim, blockDim, blockIdx, threadIdx;

[[noreturn]] static inline void fail(const char* what) {
    std::fprintf(stderr, "%s\n", what);
    std::exit(1);
}

// The next number of a question on standard input. Questions have millions of them, too many for scanf.
static inline unsigned number() {
    int c = getchar_unlocked();
    while (c == ' ' || c == '\n') c = getchar_unlocked();
    bool is_negative = c == '-';
    if (is_negative) c = getchar_unlocked();
    if (c < '0' || c > '9') fail("a number is missing");
    unsigned value = 0;
    for (; c >= '0' && c <= '9'; c = getchar_unlocked()) value = 10 * value + static_cast<unsigned>(c - '0');
    ungetc(c, stdin);
    return is_negative ? -value : value;
}

// Where a fiber goes on, or the scheduler.
#ifdef __x86_64__
extern "C" void switch_stacks(void** from, void* to);

// Pushes what a function keeps for its caller, goes over to the other stack, and pops the same there. setjmp and longjmp take
// two and a half times as long.
asm(R"(
    .text
    .type switch_stacks, @function
switch_stacks:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size switch_stacks, . - switch_stacks
)");

struct Place {
    void* stack = nullptr;

    void begin_at(void (*enter)(), char* memory, size_t bytes) {
        void** top = reinterpret_cast<void**>(reinterpret_cast<size_t>(memory + bytes) / 16 * 16);
        // From the top: where `enter` would return to, which it never does; `enter`; six registers.
        top[-1] = nullptr;
        top[-2] = reinterpret_cast<void*>(enter);
        stack = top - 8;
    }
};

static inline void switch_to(Place& from, Place& to) { switch_stacks(&from.stack, to.stack); }
#else
// To switch with swapcontext alone would ask the system twice each time.
struct Place {
    ucontext_t context;  // where it begins
    jmp_buf at;          // and where it goes on, once it has begun
    bool begins = false;

    void begin_at(void (*enter)(), char* stack, size_t bytes) {
        getcontext(&context);
        context.uc_stack.ss_sp = stack;
        context.uc_stack.ss_size = bytes;
        context.uc_link = nullptr;
        makecontext(&context, enter, 0);
        begins = true;
    }
};

__attribute__((noinline)) static void switch_to(Place& from, Place& to) {
    if (_setjmp(from.at) != 0) return;
    if (!to.begins) _longjmp(to.at, 1);
    to.begins = false;
    setcontext(&to.context);
}
#endif

// The emulator's: the lane that runs, what a lane of its warp hands over, and a wait until all lanes of the warp are here.
static unsigned own_lane();
static unsigned long long& handed_by(unsigned lane);
static void wait_for_warp();

// What lane `from` of the same warp hands over; all lanes have to be there.
template <typename T>
static T from_lane(T value, unsigned from) {
    unsigned long long& own = handed_by(own_lane());
    own = 0;
    std::memcpy(&own, &value, sizeof(T));
    wait_for_warp();
    T taken;
    std::memcpy(&taken, &handed_by(from), sizeof(T));
    wait_for_warp();
    return taken;
}

template <typename T>
static T __shfl_up_sync(unsigned, T value, unsigned distance) {
    unsigned lane = own_lane();
    return from_lane(value, lane >= distance ? lane - distance : lane);
}

template <typename T>
static T __shfl_xor_sync(unsigned, T value, unsigned distance) {
    return from_lane(value, own_lane() ^ distance);
}

template <typename T>
static T __shfl_sync(unsigned, T value, unsigned from) {
    return from_lane(value, from % 32);
}

static inline unsigned __ballot_sync(unsigned, bool vote) {
    handed_by(own_lane()) = vote;
    wait_for_warp();
    unsigned votes = 0;
    for (unsigned lane = 0; lane < 32; ++lane) votes |= static_cast<unsigned>(handed_by(lane)) << lane;
    wait_for_warp();
    return votes;
}

static inline void __syncwarp() { wait_for_warp(); }
static inline bool __any_sync(unsigned lanes, bool vote) { return __ballot_sync(lanes, vote) != 0; }
static inline int __ffs(unsigned value) { return __builtin_ffs(static_cast<int>(value)); }
static inline int __clz(int value) { return value == 0 ? 32 : __builtin_clz(static_cast<unsigned>(value)); }
static inline int __popc(unsigned value) { return __builtin_popcount(value); }

static inline unsigned __byte_perm(unsigned low, unsigned high, unsigned selector) {
    unsigned long long both = static_cast<unsigned long long>(high) << 32 | low;
    unsigned bytes = 0;
    for (unsigned i = 0; i < 4; ++i) bytes |= static_cast<unsigned>(both >> 8 * (selector >> 4 * i & 7) & 0xff) << 8 * i;
    return bytes;
}

static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}

template <typename T>
static T __ldcg(const T* at) {
    return *at;
}

// Threads take turns at barriers only, so nothing comes in between.
static unsigned atomicMin(unsigned* least, unsigned value) {
    unsigned before = *least;
    if (value < before) *least = value;
    return before;
}

template <typename T>
static T atomicAdd(T* counter, T added) {
    T before = *counter;
    *counter += added;
    return before;
}
