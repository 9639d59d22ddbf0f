// The grid of local equalization, as in src/core/spec/clahe.
#pragma once

#include "spec.cuh"

namespace histeq {

constexpr unsigned MOST_TILE_BINS = 4096u;

// Mirrors the coordinate `at` into `length` pixels, without repeating the edge.
SPEC unsigned mirrored(unsigned at, unsigned length) {
    if (at < length) return at;
    if (length == 1u) return 0u;
    unsigned period = 2u * length - 2u;
    at %= period;
    return at < length ? at : period - at;
}

// The upper half of a product of 64 bits.
SPEC unsigned upper_half(unsigned a, unsigned b) {
#ifdef __CUDACC__
    return __umulhi(a, b);
#else
    return (unsigned)((unsigned long long)a * b >> 32);
#endif
}

// ceil(2^32 / divisor), for divisors from 2 on. The upper half of n times it is n / divisor, rounded down, if n times
// the remainder that the inverse leaves (at most divisor - 1, 0 for powers of two) is below 2^32.
SPEC unsigned inverse_of(unsigned divisor) { return 0xffffffffu / divisor + 1u; }

// The bin of a code. The multiplier is exact: levels are below 2^16, and it leaves a remainder below the number of
// levels.
SPEC unsigned tile_bin(unsigned code, BlendedLevels levels, Tiles tiles) {
    unsigned level = level_code(code, levels) - levels.lo;
    return tiles.bin_multiplier == 0u ? level : upper_half(level, tiles.bin_multiplier);
}

// A position in rows of `width` vectors. Each thread advances by the number of threads, without a division.
struct Walk {
    unsigned row;
    unsigned column;
    unsigned width;
    unsigned rows_on;     // whole rows of a step
    unsigned columns_on;  // columns of a step beyond these rows
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
    return {row, thread - row * width, width, rows_on, threads - rows_on * width};
}

// part / whole, rounded half to even, for quotients below 2^17.
SPEC unsigned half_even(unsigned long long part, unsigned long long whole, float reciprocal) {
    unsigned down = quotient(part, whole, reciprocal);
    unsigned long long twice = 2u * (part - down * whole);
    return down + (twice > whole || (twice == whole && (down & 1u) != 0u));
}

// part / whole, rounded half to even, where twice `whole` and twice the remainder fit 32 bits.
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
    unsigned up = upper_half(part, inverse.multiplier) >> inverse.shift;
    return part == up * whole ? up & ~1u : up;
}

// How the curves of tiles are stored. As tables: read through the caches, or copied into shared memory. As steps: for
// each bin of each tile, the sum of the clipped counts up to it, and after all tiles a `Scale`; curve values are
// computed from these where they are needed. For deep samples, steps fit shared memory, but tables do not. As
// sixteenths: steps in sixteenths of a level, for curves that bring out detail; the total of the scale is 16 times its
// ceiling.
constexpr unsigned THROUGH_CACHES = 0u;
constexpr unsigned IN_SHARED = 1u;
constexpr unsigned AS_STEPS = 2u;
constexpr unsigned AS_SIXTEENTHS = 3u;

// Whether curves are kept as steps of either kind.
SPEC bool has_steps(unsigned place) { return place == AS_STEPS || place == AS_SIXTEENTHS; }

// The constants that turn steps into values: value = lo + steps * ceiling / total, rounded half to even. Bins have at
// least two levels. `tile_curves` computes it once, because the compiler would repeat the divisions at each sample.
struct Scale {
    unsigned total;        // of a tile's steps; below 2^31
    unsigned ceiling;      // as in `Modifiers`
    unsigned keeps_black;  // likewise
    unsigned multiplier;   // ceiling * 2^47 / (total << shift), rounded down, where the divisor has 32 bits
    unsigned narrow;       // levels of a bin; some bins have one more
    unsigned of_narrow;    // inverses of `narrow` and `narrow + 1`
    unsigned of_wide;
    unsigned of_bins;  // inverse of the number of bins
};

// The number of bits by which a total is shifted to have 32 of them.
SPEC unsigned shift_of(unsigned total) {
#ifdef __CUDACC__
    return __clz(total);
#else
    return (unsigned)__builtin_clz(total);
#endif
}

SPEC Scale scale_of(unsigned total, unsigned ceiling, unsigned keeps_black, BlendedLevels levels, unsigned bins) {
    unsigned narrow = (levels.hi - levels.lo + 1u) / bins;
    unsigned multiplier = (unsigned)(((unsigned long long)ceiling << 47) / (total << shift_of(total)));
    return {total,           ceiling, keeps_black, multiplier, narrow, inverse_of(narrow), inverse_of(narrow + 1u),
            inverse_of(bins)};
}

// The position of a level in its bin.
struct Within {
    unsigned bin;
    unsigned through;   // levels of the bin up to this one
    unsigned of_width;  // the inverse of the number of levels of the bin
};

// The constants with which values are computed from steps.
struct Steps {
    BlendedLevels levels;
    unsigned count;  // levels
    unsigned bins;
    unsigned multiplier;  // of bins, as in `Tiles`
    Scale scale;
    unsigned shift;   // of the total
    bool all_narrow;  // whether all bins have the same number of levels
};

SPEC Steps steps_of(BlendedLevels levels, Tiles tiles, Scale scale) {
    unsigned count = levels.hi - levels.lo + 1u;
    return {levels,
            count,
            tiles.bins,
            tiles.bin_multiplier,
            scale,
            shift_of(scale.total),
            scale.narrow * tiles.bins == count};
}

SPEC Within within_of(unsigned level, const Steps& steps) {
    unsigned bin = upper_half(level, steps.multiplier);
    if (steps.all_narrow) return {bin, level - bin * steps.scale.narrow + 1u, steps.scale.of_narrow};
    // From level to level of a bin, the remainder `level * bins % count` grows by the number of bins.
    unsigned rest = level * steps.bins - bin * steps.count;
    unsigned before = upper_half(rest, steps.scale.of_bins);
    unsigned behind = upper_half(steps.count - 1u - rest, steps.scale.of_bins);
    bool is_narrow = before + behind + 1u == steps.scale.narrow;
    return {bin, before + 1u, is_narrow ? steps.scale.of_narrow : steps.scale.of_wide};
}

// The steps up to a level, interpolated: `below` are those up to the previous bin, `through` those up to the level's
// own bin.
SPEC unsigned steps_up_to(Within within, unsigned below, unsigned through) {
    return below + upper_half((through - below) * within.through, within.of_width);
}

// The value for a sum of steps, computed up to 1/32768 of a level too low; `unsure` becomes true where that may change
// the rounding.
SPEC unsigned value_near(unsigned sum, const Steps& steps, bool& unsure) {
    unsigned long long product = (unsigned long long)(sum << steps.shift) * steps.scale.multiplier +
                                 (((unsigned long long)steps.levels.lo << 47) + (1ull << 46));
    unsigned high = (unsigned)(product >> 32);
    unsure |= ((high + 1u) & 0x7ffeu) == 0u;
    return high >> 15;
}

// The exact value for a sum of steps.
SPEC unsigned value_of(unsigned sum, const Steps& steps) {
    float reciprocal = reciprocal_of((float)steps.scale.total);
    unsigned long long part = (unsigned long long)sum * steps.scale.ceiling;
    return steps.levels.lo + half_even(part, steps.scale.total, reciprocal);
}

// The value where steps are sixteenths of a level, rounded half to even.
SPEC unsigned value_of_sixteenths(unsigned sum, const Steps& steps) {
    return steps.levels.lo + ((sum + 7u + (sum >> 4 & 1u)) >> 4);
}

// (part - whole / 2) / whole, rounded half to even: `part` is a weighted sum of four values, whose weights add up to
// `whole`, and already includes half of `whole`. `by` has 2^(31 + bits) / whole, rounded down, where `whole - 1` has
// that many bits.
SPEC unsigned half_even_of_deep(unsigned long long part, unsigned whole, Inverse by) {
    unsigned bits = 32u - shift_of(whole - 1u), dropped = bits > 16u ? bits - 16u : 0u;
    unsigned up = upper_half((unsigned)(part >> dropped), by.multiplier) >> by.shift;
    unsigned rest = (unsigned)part - up * whole;
    if (rest >= whole) {
        ++up;
        rest -= whole;
    }
    return rest == 0u ? up & ~1u : up;
}

}  // namespace histeq
