// The integer arithmetic of the kernels, the same as that of src/core/spec in Rust. It also compiles as host C++, so
// that a machine without a GPU can compare the two, value by value (tests/core/kernels/arithmetic.rs).
#pragma once

#include "arguments.cuh"

#ifdef __CUDACC__
#define SPEC __device__ __forceinline__
#else
#define SPEC static inline
#endif

namespace histeq {

// Both two-byte samples of a word with their bytes in the order of this machine, or back.
SPEC unsigned in_order(unsigned word, unsigned swapped) {
    return swapped ? ((word & 0x00ff00ffu) << 8) | ((word >> 8) & 0x00ff00ffu) : word;
}

// The code of a stored sample; bits above the depth saturate.
SPEC unsigned code_of(unsigned stored, unsigned shift, unsigned max) {
    unsigned code = stored >> shift;
    return code < max ? code : max;
}

// The luminance of a pixel whose weighted components add up to `sum`.
SPEC unsigned luminance_of(unsigned sum) { return (sum + 32768u) >> 16; }

// A component of a pixel whose luminance moves from `from` to `to`.
SPEC unsigned moved(unsigned component, unsigned from, unsigned to, unsigned max) {
    int code = (int)component + (int)to - (int)from;
    return code < 0 ? 0u : (unsigned)code > max ? max : (unsigned)code;
}

// offset * gain, to the nearest integer, halves away from zero, for gains without a bound.
SPEC int scaled_offset(int offset, unsigned gain) {
    unsigned long long magnitude =
        ((unsigned long long)(unsigned)(offset < 0 ? -offset : offset) * gain + 2048u) / 4096u;
    int most = magnitude < 1u << 24 ? (int)magnitude : 1 << 24;
    return offset < 0 ? -most : most;
}

// The code of a chroma sample after this gain.
SPEC unsigned followed(unsigned code, unsigned gain, const Colours& colours) {
    int offset = (int)code - colours.centre, most = offset < 0 ? -offset : offset;
    if (most < colours.reach) most = colours.reach;
    int scaled = scaled_offset(offset, gain);
    return (unsigned)(colours.centre + (scaled > most ? most : scaled < -most ? -most : scaled));
}

// A component of an RGB pixel whose luminance moves from `from` to `to`, with this gain of colour.
SPEC unsigned moved_with_gain(unsigned component, unsigned from, unsigned to, unsigned gain, unsigned max) {
    int code = (int)to + scaled_offset((int)component - (int)from, gain);
    return code < 0 ? 0u : (unsigned)code > max ? max : (unsigned)code;
}

// The two neighbouring regions that are blended at coordinate `at`, among `count` regions of `size` pixels each, and
// the weight of the second one.
struct Neighbours {
    unsigned first, second, weight;
};

SPEC Neighbours neighbours_of(unsigned at, unsigned size, unsigned count) {
    unsigned a = 2u * at + size, after = a / (2u * size);
    unsigned before = after == 0u ? 0u : after - 1u, last = count - 1u;
    return {before < last ? before : last, after < last ? after : last, a % (2u * size)};
}

// The gain at pixel (x, y).
SPEC unsigned gain_at(unsigned x, unsigned y, const Gains& gains) {
    if (gains.regions == 1u) return gains.of[0];
    Neighbours across = neighbours_of(x, gains.width, gains.regions),
               down = neighbours_of(y, gains.height, gains.regions);
    unsigned width = 2u * gains.width, height = 2u * gains.height;
    const unsigned *above = gains.of + down.first * gains.regions, *below = gains.of + down.second * gains.regions;
    unsigned long long left = (unsigned long long)above[across.first] * (height - down.weight) +
                              (unsigned long long)below[across.first] * down.weight;
    unsigned long long right = (unsigned long long)above[across.second] * (height - down.weight) +
                               (unsigned long long)below[across.second] * down.weight;
    return (unsigned)((left * (width - across.weight) + right * across.weight) / ((unsigned long long)width * height));
}

// A component of an RGB pixel after the balance.
SPEC unsigned balanced(unsigned code, unsigned gain, int offset, unsigned max) {
    long long sum = ((long long)code * gain + (long long)offset * 256 + 2048) >> 12;
    if (sum < 0) return 0u;
    return sum > (long long)max ? max : (unsigned)sum;
}

// Luma, Cb or Cr (row 0, 1 or 2) after the balance, rounded. `luma` is in levels, `cb` and `cr` are in codes from their
// centre.
SPEC int balanced_sum(const BalanceOfYuv& balance, unsigned row, int luma, int cb, int cr) {
    const long long* of = balance.rows[row];
    return (int)((of[0] * luma + of[1] * cb + of[2] * cr + of[3] + 32768) >> 16);
}

// 1 / value with a relative error below 2^-22, enough for the quotients below.
SPEC float reciprocal_of(float value) {
#ifdef __CUDACC__
    float reciprocal;
    asm("rcp.approx.f32 %0, %1;" : "=f"(reciprocal) : "f"(value));
    return reciprocal;
#else
    return 1.0f / value;
#endif
}

// numerator / divisor, rounded down, for quotients below 2^20 and divisors of up to 52 bits. One multiplication by
// 1 / divisor lands within one of it (its relative error is below 2^-22), and the remainder says on which side: far
// cheaper than a 64-bit division. `Count` is `unsigned` where divisors have 32 bits.
template <typename Count>
SPEC unsigned quotient(unsigned long long numerator, Count divisor, float reciprocal) {
    unsigned estimate = (unsigned)((float)numerator * reciprocal);
    long long rest = (long long)(numerator - (unsigned long long)estimate * divisor);
    return rest < 0 ? estimate - 1u : rest >= (long long)divisor ? estimate + 1u : estimate;
}

// numerator / divisor, rounded down, for numerators of 32 bits.
SPEC unsigned small_quotient(unsigned numerator, unsigned divisor, float reciprocal) {
    unsigned estimate = (unsigned)((float)numerator * reciprocal);
    int rest = (int)(numerator - estimate * divisor);
    return rest < 0 ? estimate - 1u : rest >= (int)divisor ? estimate + 1u : estimate;
}

// The values of a histogram that the curve needs beside its prefix sums: cmin and N - cmin. `Count` holds N: `unsigned`
// for the samples of a frame, 64 bits for those of many.
template <typename Count>
struct CdfRange {
    Count first;       // samples of the first occupied level
    Count rest;        // samples of all others; 0 makes the curve the identity
    float reciprocal;  // 1 / rest
};

template <typename Count>
SPEC CdfRange<Count> cdf_range_of(Count first, Count total) {
    return {first, total - first, reciprocal_of((float)(total - first))};
}

// The level of black or white for a code beyond it, else the code itself.
SPEC unsigned level_code(unsigned code, BlendedLevels levels) {
    return code < levels.lo ? levels.lo : code > levels.hi ? levels.hi : code;
}

// The blend of `code` and the equalized code.
SPEC unsigned blended(unsigned code, unsigned equalized, unsigned strength) {
    return (code * (256u - strength) + equalized * strength + 128u) >> 8;
}

// The piece of a line that contains a level in sixteenths; the first piece for levels below the first knot.
struct Piece {
    unsigned from;
    unsigned to;
    unsigned slope;
};

SPEC Piece piece_at(unsigned at, const PiecewiseLine& line) {
    unsigned from = line.from[0], to = line.to[0], slope = line.slope[0];
    for (unsigned i = 1u; i < KNOTS; ++i) {
        if (i >= line.used || line.from[i] > at) continue;
        from = line.from[i];
        to = line.to[i];
        slope = line.slope[i];
    }
    return {from, to, slope};
}

// The rise of a piece up to a level, both in sixteenths of a level.
SPEC unsigned long long rise_up_to(unsigned at, Piece piece) {
    return ((unsigned long long)(at > piece.from ? at - piece.from : 0u) * piece.slope + 32768u) >> 16;
}

// The level to which the line maps `level`; `most` is white.
SPEC unsigned line_level(unsigned level, unsigned most, const PiecewiseLine& line) {
    if (line.used == 0u) return level;
    unsigned at = 16u * level;
    Piece piece = piece_at(at, line);
    unsigned long long becomes = (piece.to + rise_up_to(at, piece) + 8u) >> 4;
    return becomes < most ? (unsigned)becomes : most;
}

// The output for a level whose detail is `size`, at most `ceiling`; all in sixteenths of a level. The line maps the
// base, `level - size`.
SPEC unsigned with_detail(long long level, long long size, unsigned ceiling, const Detail& detail,
                          const PiecewiseLine& line) {
    long long at = level - size;
    unsigned base = at < 0 ? 0u : (unsigned)at;
    Piece piece = piece_at(base, line);
    unsigned long long straight = line.used == 0u ? base : piece.to + rise_up_to(base, piece);
    long long middle = straight < ceiling ? (long long)straight : (long long)ceiling;
    unsigned long long extent = size < 0 ? -size : size;
    unsigned long long beyond = extent > detail.noise ? extent - detail.noise : 0u;
    unsigned long long becomes = (extent * detail.slope + beyond * (detail.steep - detail.slope)) >> 16;
    unsigned long long whole = becomes + detail.most;
    if (becomes != 0u) becomes = quotient(becomes * detail.most, whole, reciprocal_of((float)whole));
    long long both = size < 0 ? middle - (long long)becomes : middle + (long long)becomes;
    return both<0 ? 0u : both>(long long) ceiling ? ceiling : (unsigned)both;
}

// The code to which the line maps `code`.
SPEC unsigned line_code(unsigned code, BlendedLevels levels, const PiecewiseLine& line) {
    if (line.used == 0u) return code;
    return levels.lo + line_level(level_code(code, levels) - levels.lo, levels.hi - levels.lo, line);
}

// The curve at `code`, blended with `straight`; `cumulative` is the number of samples of that code and those below.
template <typename Count>
SPEC unsigned curve_at(unsigned code, unsigned straight, Count cumulative, CdfRange<Count> spread, BlendedLevels levels,
                       unsigned ceiling) {
    unsigned clamped = level_code(code, levels), highest = levels.lo + ceiling;
    if (clamped > highest) return clamped;
    unsigned equalized;
    if (spread.rest == 0u) {
        equalized = code;
    } else if (code < levels.lo) {
        equalized = levels.lo;
    } else if (code >= levels.hi) {
        equalized = levels.hi;
    } else {
        Count above = cumulative > spread.first ? cumulative - spread.first : 0u;
        unsigned long long numerator = (unsigned long long)above * ceiling + spread.rest / 2u;
        equalized = levels.lo + quotient(numerator, spread.rest, spread.reciprocal);
    }
    unsigned mixed = blended(straight, equalized, levels.strength);
    return highest < levels.hi && mixed > highest ? highest : mixed;
}

// The curve at `code` without a ceiling, blended with the code itself.
template <typename Count>
SPEC unsigned curve_at(unsigned code, Count cumulative, CdfRange<Count> spread, BlendedLevels levels) {
    return curve_at(code, code, cumulative, spread, levels, levels.hi - levels.lo);
}

// The bin, of `bins`, of a level of `count`; both are at most 2^16.
SPEC unsigned bin_of(unsigned level, unsigned bins, unsigned count) { return level * bins / count; }

// The first level of a bin.
SPEC unsigned first_of_bin(unsigned bin, unsigned bins, unsigned count) {
    return (unsigned)(((unsigned long long)bin * count + bins - 1u) / bins);
}

// The share of one level in the `held` samples of a bin of `width` levels; `level` counts from the first level of the
// bin.
SPEC unsigned long long part_of_bin(unsigned long long held, unsigned level, unsigned width) {
    return held * (level + 1u) / width - held * level / width;
}

// The upper half of a product of 128 bits.
SPEC unsigned long long high_half(unsigned long long a, unsigned long long b) {
#ifdef __CUDACC__
    return __umul64hi(a, b);
#else
    return (unsigned long long)(((unsigned __int128)a * b) >> 64);
#endif
}

// A divisor of up to 2^16, for dividends of up to 2^63: a multiplication by 2^64 / divisor, rounded down, gives the
// quotient or one less, and the remainder says which. Far cheaper than a 64-bit division.
struct Divisor {
    unsigned of;
    unsigned long long inverse;
    float rough;  // 1 / divisor, for quotients of 32-bit numerators
};

// A divisor whose inverse, (2^64 - 1) / of, is known.
SPEC Divisor divisor_with(unsigned of, unsigned long long inverse) { return {of, inverse, reciprocal_of((float)of)}; }

SPEC Divisor divisor_of(unsigned of) { return divisor_with(of, ~0ull / of); }

struct Divided {
    unsigned long long quotient;
    unsigned rest;
};

SPEC Divided divided(unsigned long long dividend, Divisor by) {
    unsigned long long estimate = high_half(dividend, by.inverse);
    unsigned rest = (unsigned)dividend - (unsigned)estimate * by.of;
    if (rest >= by.of) return Divided{estimate + 1u, rest - by.of};
    return Divided{estimate, rest};
}

// The contrast limit of a level, in 256ths of a sample, for a histogram of `total` samples over this number of levels.
SPEC unsigned long long clip_limit_in_256ths(unsigned gain, unsigned long long total, Divisor levels) {
    unsigned above_one = gain - 256u;
    // Where the product is too large for a dividend, quotient and remainder of `total` are multiplied separately.
    if (total >> 32 == 0u) return divided(above_one * total, levels).quotient;
    Divided whole = divided(total, levels);
    return above_one * whole.quotient + divided((unsigned long long)above_one * whole.rest, levels).quotient;
}

// The contrast limit of a level: `whole` samples and `part` 256ths of one.
struct ClipLimit {
    unsigned long long whole;
    unsigned part;
};

SPEC ClipLimit clip_limit_of(unsigned gain, unsigned long long total, Divisor levels) {
    unsigned long long most = clip_limit_in_256ths(gain, total, levels);
    return {most >> 8, (unsigned)most & 255u};
}

// The number of samples, times 256, that levels keep under the limit: `sum` whole samples, and `limit.part` for each of
// `clipped` clipped levels.
SPEC unsigned long long clipped_sum(unsigned long long sum, unsigned clipped, ClipLimit limit) {
    return 256u * sum + (unsigned long long)clipped * limit.part;
}

// The share of the first `count` levels (at most 2^16) in the evenly distributed excess.
SPEC unsigned long long redistributed(unsigned count, Divided excess, Divisor levels) {
    return count * excess.quotient + small_quotient(count * excess.rest, levels.of, levels.rough);
}

// How many levels up to this one share the excess; the `width` levels from `first` on share it.
SPEC unsigned receivers_up_to(unsigned level, unsigned first, unsigned width) {
    return level < first ? 0u : level - first < width ? level - first + 1u : width;
}

// The upper half of a product of 128 bits with a sign.
SPEC long long signed_high_half(long long a, long long b) {
#ifdef __CUDACC__
    return __mul64hi(a, b);
#else
    return (long long)(((__int128)a * b) >> 64);
#endif
}

// The level to which a curve maps `level`, both in sixteenths of a level; at most 2^48.
SPEC unsigned long long bent(unsigned long long level, const ToneCurve& curve) {
    constexpr long long FAR = 1ll << 60;
    long long at = (long long)(level << 12);
    unsigned piece = 0u;
    for (unsigned i = 1u; i < ToneCurve::PIECES; ++i) piece += curve.from[i] <= at;
    long long behind = at - curve.from[piece], slope = curve.slopes[piece];
    // The rise is a product of 128 bits, shifted by 20. A result of more than 62 bits is replaced by 2 * FAR, which is
    // beyond every valid level.
    long long high = signed_high_half(behind, slope);
    long long rise =
        (long long)((unsigned long long)high << 44 | ((unsigned long long)behind * (unsigned long long)slope) >> 20);
    if (high >= 1ll << 17) rise = 2 * FAR;
    if (high < -(1ll << 17)) rise = -2 * FAR;
    long long becomes = curve.becomes[piece] + rise;
    return (unsigned long long)(becomes < 0 ? 0 : becomes < FAR ? becomes : FAR) >> 12;
}

// The code after `taken` has been subtracted and the rest multiplied by `gain`, then mapped by the curve if
// `veil.bends`.
SPEC unsigned unveiled(unsigned code, BlendedLevels levels, unsigned taken, unsigned gain, const Veil& veil,
                       const ToneCurve& curve) {
    unsigned level = level_code(code, levels) - levels.lo, most = levels.hi - levels.lo;
    if (level > veil.ceiling) return levels.lo + level;
    unsigned long long rest = (unsigned long long)(16u * level > taken ? 16u * level - taken : 0u) * gain;
    unsigned long long becomes = veil.bends ? (bent((rest + 2048u) >> 12, curve) + 8u) >> 4 : (rest + 32768u) >> 16;
    if (most > veil.ceiling) most = veil.ceiling;
    return levels.lo + (becomes < most ? (unsigned)becomes : most);
}

}  // namespace histeq
