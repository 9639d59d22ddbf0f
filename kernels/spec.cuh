// The integer arithmetic of the kernels, word for word what src/spec says in Rust. It also compiles as host C++, so
// that a machine without a GPU can compare the two, value by value (tests/suite/kernel_arithmetic.rs).
#pragma once

#ifdef __CUDACC__
#define SPEC __device__ __forceinline__
#else
#define SPEC static inline
#endif

// How the luma samples (or the components of RGB) lie in a plane on the device.
struct Samples {
    unsigned pixels;   // pixels in the plane, those that only pad a row included; at most 2^31
    unsigned row;      // pixels in a row if the last one of each row is padding; 0 if none is
    unsigned offset;   // where sample pairs keep the luma: 0 or 1
    unsigned shift;    // unused bits below the code in a two-byte sample
    unsigned swapped;  // 1 if two-byte samples are big endian
    unsigned max;      // the highest code
};

// Which codes are levels, and how far the picture goes towards the equalized one.
struct Levels {
    unsigned lo;        // black
    unsigned hi;        // white
    unsigned strength;  // in 256ths
};

// The weights of a pixel's components in its luminance, in memory order, in 65536ths; 0 for alpha.
struct Weights {
    unsigned of[4];
};

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

// numerator / divisor, rounded down, for quotients below 2^17. One multiplication by 1 / divisor lands within one of
// it (its relative error is below 2^-22), and the remainder says on which side: far cheaper than a 64-bit division.
SPEC unsigned quotient(unsigned long long numerator, unsigned divisor, float reciprocal) {
    unsigned estimate = (unsigned)((float)numerator * reciprocal);
    long long rest = (long long)numerator - (long long)((unsigned long long)estimate * divisor);
    return rest < 0 ? estimate - 1u : rest >= (long long)divisor ? estimate + 1u : estimate;
}

// What equalization leaves to be said of a histogram once it is summed up: N - cmin and cmin.
struct Spread {
    unsigned first;    // samples of the first occupied level
    unsigned rest;     // samples of all others; 0 makes the curve the identity
    float reciprocal;  // 1 / rest
};

SPEC Spread spread_of(unsigned first, unsigned total) {
    Spread spread = {first, total - first, 1.0f / (float)(total - first)};
    return spread;
}

// The code between `code` and what equalization makes of it.
SPEC unsigned blended(unsigned code, unsigned equalized, unsigned strength) {
    return (code * (256u - strength) + equalized * strength + 128u) >> 8;
}

// What `code` becomes, `cumulative` being the number of samples of that code and those below.
SPEC unsigned curve_at(unsigned code, unsigned cumulative, Spread spread, Levels levels) {
    if (spread.rest == 0u) return code;
    unsigned equalized;
    if (code < levels.lo) {
        equalized = levels.lo;
    } else if (code >= levels.hi) {
        equalized = levels.hi;
    } else {
        unsigned above = cumulative > spread.first ? cumulative - spread.first : 0u;
        unsigned long long numerator = (unsigned long long)above * (levels.hi - levels.lo) + spread.rest / 2u;
        equalized = levels.lo + quotient(numerator, spread.rest, spread.reciprocal);
    }
    return blended(code, equalized, levels.strength);
}
