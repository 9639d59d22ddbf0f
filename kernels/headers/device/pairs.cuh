// Access to single samples of luma and chroma, and to the luma that each pair of chroma samples covers.
#pragma once

#include "device.cuh"
#include "samples.cuh"

namespace histeq {

// Sample `index` of a plane, as a code.
template <typename S>
DEVICE unsigned code_at(const S* plane, unsigned long long index, Samples samples) {
    unsigned stored = plane[index];
    if (sizeof(S) > 1) stored = in_order(stored, samples.swapped) & 0xffffu;
    return decoded<S>(stored, samples);
}

template <typename S>
DEVICE void set_code(S* plane, unsigned long long index, unsigned code, Samples samples) {
    unsigned stored = encoded<S>(code, samples);
    if (sizeof(S) > 1) stored = in_order(stored, samples.swapped) & 0xffffu;
    plane[index] = (S)stored;
}

// The pixels that a pair of chroma samples covers (the ends are exclusive), and the offset of the pair from the first
// Cb and the first Cr.
struct PlacedPair {
    unsigned x_begin, x_end, y_begin, y_end;
    unsigned long long at;

    DEVICE unsigned pixels() const { return (x_end - x_begin) * (y_end - y_begin); }

    // Calls `use` with the index of each luma sample that the pair covers.
    template <typename F>
    DEVICE void each_luma(const ChromaPlaces& places, F use) const {
        for (unsigned y = y_begin; y < y_end; ++y) {
            for (unsigned x = x_begin; x < x_end; ++x) {
                use((unsigned long long)y * places.luma_pitch + x * places.luma_step + places.luma);
            }
        }
    }
};

// Calls `use` with each pair, one thread a pair. No two threads access the same luma sample or pair.
template <typename F>
DEVICE void each_pair(const ChromaPlaces& places, F use) {
    unsigned group_width = 1u << places.log2_width, group_height = 1u << places.log2_height;
    unsigned columns = (places.width + group_width - 1u) / group_width;
    unsigned rows = (places.height + group_height - 1u) / group_height;
    unsigned pairs = columns * rows;
    for (unsigned index = blockIdx.x * blockDim.x + threadIdx.x; index < pairs; index += gridDim.x * blockDim.x) {
        unsigned row = index / columns, column = index - row * columns;
        PlacedPair pair;
        pair.x_begin = column << places.log2_width;
        pair.y_begin = row << places.log2_height;
        pair.x_end = pair.x_begin + group_width;
        pair.y_end = pair.y_begin + group_height;
        if (pair.x_end > places.width) pair.x_end = places.width;
        if (pair.y_end > places.height) pair.y_end = places.height;
        pair.at = (unsigned long long)row * places.pitch + column * places.step;
        use(pair);
    }
}

}  // namespace histeq
