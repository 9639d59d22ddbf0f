// The grid of local equalization, as in src/spec/clahe.
#pragma once

#include "spec.cuh"

constexpr unsigned MOST_TILE_BINS = 4096u;

// The coordinate in `length` pixels that `at` mirrors, without repeating the edge.
SPEC unsigned mirrored(unsigned at, unsigned length) {
    if (at < length) return at;
    if (length == 1u) return 0u;
    unsigned period = 2u * length - 2u;
    at %= period;
    return at < length ? at : period - at;
}

// The bin of a code.
SPEC unsigned tile_bin(unsigned code, Levels levels, Tiles tiles) {
    unsigned level = level_code(code, levels) - levels.lo;
    unsigned count = levels.hi - levels.lo + 1u;
    return tiles.bins == count ? level : bin_of(level, tiles.bins, count);
}

// A place in rows of `width`. Each thread advances by the number of threads, without a division.
struct Walk {
    unsigned row;
    unsigned column;
    unsigned width;
    unsigned rows_on;     // whole rows of a step
    unsigned columns_on;  // columns of a step beyond those
};

SPEC void step(Walk& walk) {
    walk.row += walk.rows_on;
    walk.column += walk.columns_on;
    if (walk.column >= walk.width) {
        walk.column -= walk.width;
        ++walk.row;
    }
}

// The most vectors of `per` pixels that `length` pixels of a row reach into, from column `begin` on.
SPEC unsigned vectors_over(unsigned begin, unsigned length, unsigned pitch, unsigned per) {
    // If all rows begin at a vector, they all reach into the same number.
    unsigned vectors = pitch % per == 0u ? (begin % per + length + per - 1u) / per : (length + per - 2u) / per + 1u;
    return vectors > 1u ? vectors : 1u;
}

SPEC Walk walk_of(unsigned thread, unsigned threads, unsigned width) {
    unsigned row = thread / width, rows_on = threads / width;
    Walk walk = {row, thread - row * width, width, rows_on, threads - rows_on * width};
    return walk;
}

// part / whole, rounded half to even, for quotients below 2^17.
SPEC unsigned half_even(unsigned long long part, unsigned long long whole, float reciprocal) {
    unsigned down = quotient(part, whole, reciprocal);
    unsigned long long twice = 2u * (part - down * whole);
    return down + (twice > whole || (twice == whole && (down & 1u) != 0u));
}

// The same if twice `whole` and twice the remainder fit 32 bits.
SPEC unsigned half_even_small(unsigned part, unsigned whole, float reciprocal) {
    unsigned down = (unsigned)((float)part * reciprocal);
    int rest = (int)(part - down * whole);
    if (rest < 0) {
        --down;
        rest += (int)whole;
    } else if (rest >= (int)whole) {
        ++down;
        rest -= (int)whole;
    }
    unsigned twice = 2u * (unsigned)rest;
    return down + (twice > whole || (twice == whole && (down & 1u) != 0u));
}

// (part - W / 2) / W, rounded half to even: `part` already includes half of the whole.
SPEC unsigned half_even_by(unsigned part, unsigned whole, Inverse inverse) {
#ifdef __CUDACC__
    unsigned up = __umulhi(part, inverse.multiplier) >> inverse.shift;
#else
    unsigned up = (unsigned)((unsigned long long)part * inverse.multiplier >> 32) >> inverse.shift;
#endif
    return part == up * whole ? up & ~1u : up;
}
