// Planes of samples with margins around them, into which edges are repeated: `src/core/denoise/sheet.rs`.
#pragma once

#include "device.cuh"

namespace histeq {

constexpr int PAD = 16;

// A plane. `samples` begins with the margin above it.
template <typename S>
struct Sheet {
    S* samples;
    int width, height;

    DEVICE int stride() const { return width + 2 * PAD; }
    DEVICE S* at(int x, int y) const { return samples + ((long long)(y + PAD) * stride() + x + PAD); }
    // The number of samples, including the margin.
    DEVICE unsigned all() const { return (unsigned)stride() * (unsigned)(height + 2 * PAD); }
};

DEVICE int clamped(int value, int low, int high) { return value < low ? low : value > high ? high : value; }

// Moves the start `at` of `size` samples in a dimension of `of`, so that these samples and two more on each side can be
// read.
DEVICE int within(int at, int size, int of) { return clamped(at, 2 - PAD, of + PAD - 2 - size); }

// A vector of motion in quarters of a sample, as it lies in a field: x in the low half of a word.
struct Vector {
    int x, y;
};

DEVICE Vector vector_of(unsigned word) { return Vector{(short)word, (short)(word >> 16)}; }
DEVICE unsigned word_of(Vector of) { return (of.x & 0xffff) | (unsigned)of.y << 16; }

// The vectors of all blocks of 8x8 samples.
struct MotionField {
    const unsigned* words;
    int columns, rows;

    // The vector of a block; beyond an edge, that of the block at the edge.
    DEVICE Vector at(int column, int row) const {
        return vector_of(words[clamped(row, 0, rows - 1) * columns + clamped(column, 0, columns - 1)]);
    }
};

}  // namespace histeq
