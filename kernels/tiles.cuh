// The grid of local equalization: src/spec/clahe, in the words of the kernels.
#pragma once

#include "spec.cuh"

constexpr unsigned MOST_TILE_BINS = 4096u;

// A grid of equal tiles over a picture and its padding.
struct Tiles {
    unsigned columns;         // tiles in a row
    unsigned rows;            // rows of tiles
    unsigned width;           // pixels of a tile in a row
    unsigned height;          // rows of pixels of a tile
    unsigned picture_width;   // of the picture, without padding
    unsigned picture_height;
    unsigned pitch;           // pixels from one row of the plane to the next
    unsigned bins;            // of each tile
};

// Where coordinate `at` lies in `length` pixels that are mirrored without repeating the edge.
SPEC unsigned mirrored(unsigned at, unsigned length) {
    if (at < length) return at;
    if (length == 1u) return 0u;
    unsigned period = 2u * length - 2u;
    at %= period;
    return at < length ? at : period - at;
}

// The bin of a code.
SPEC unsigned tile_bin(unsigned code, Levels levels, Tiles tiles) {
    unsigned level = code < levels.lo ? 0u : code > levels.hi ? levels.hi - levels.lo : code - levels.lo;
    return bin_of(level, tiles.bins, levels.hi - levels.lo + 1u);
}

// part / whole to the nearest, halves to the even one, for quotients below 2^17.
SPEC unsigned half_even(unsigned long long part, unsigned long long whole, float reciprocal) {
    unsigned down = wide_quotient(part, whole, reciprocal);
    unsigned long long twice = 2u * (part - down * whole);
    return down + (twice > whole || (twice == whole && (down & 1u) != 0u));
}

// The same where all of it fits 32 bits, doubled.
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
