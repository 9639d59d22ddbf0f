// Vectors of sixteen bytes as samples: reads codes from loaded vectors, and writes them back. S is the sample in
// memory: unsigned char, or unsigned short for more than 8 bits.
#pragma once

#include "device.cuh"
#include "spec.cuh"

namespace histeq {

template <typename S>
constexpr int BITS = 8 * sizeof(S);

// The bits of a sample.
template <typename S>
constexpr unsigned SAMPLE_MASK = (S)~0u;

template <typename S>
constexpr int PER_WORD = 4 / sizeof(S);

template <typename S>
constexpr int PER_VECTOR = 16 / sizeof(S);

// Sample `index` of a word in the byte order of the GPU.
template <typename S>
DEVICE unsigned sample_at(unsigned word, int index) {
    return (word >> (index * BITS<S>)) & SAMPLE_MASK<S>;
}

// The words of a vector, so that loops over them unroll into registers.
struct Words {
    unsigned of[4];
};

DEVICE Words words(uint4 vector) { return {{vector.x, vector.y, vector.z, vector.w}}; }

DEVICE uint4 vector(Words words) { return make_uint4(words.of[0], words.of[1], words.of[2], words.of[3]); }

// Converts a loaded word to the byte order of the GPU, or back.
template <typename S>
DEVICE unsigned ordered(unsigned word, Samples samples) {
    return sizeof(S) == 1 ? word : in_order(word, samples.swapped);
}

// The code of a sample. One-byte samples are their own codes.
template <typename S>
DEVICE unsigned decoded(unsigned sample, Samples samples) {
    return sizeof(S) == 1 ? sample : code_of(sample, samples.shift, samples.max);
}

// The sample of a code.
template <typename S>
DEVICE unsigned encoded(unsigned code, Samples samples) {
    return sizeof(S) == 1 ? code : code << samples.shift;
}

// Calls `use` with the code of each pixel of vector `index` of a plane, and the pixel's number in the plane. STEP
// samples make a pixel.
template <typename S, int STEP, typename F>
DEVICE void each_code(uint4 vector, unsigned index, Samples samples, F use) {
    constexpr int PIXELS = PER_WORD<S> / STEP;
    Words from = words(vector);
#pragma unroll
    for (int w = 0; w < 4; ++w) {
        unsigned word = ordered<S>(from.of[w], samples);
        if (STEP > 1) word >>= samples.offset * BITS<S>;
#pragma unroll
        for (int i = 0; i < PIXELS; ++i) {
            use(decoded<S>(sample_at<S>(word, i * STEP), samples), index * (4u * PIXELS) + w * PIXELS + i);
        }
    }
}

// Whether a pixel belongs to the picture, not to the padding at the end of a row or after the last row.
DEVICE bool visible(unsigned pixel, Samples samples) {
    return pixel < samples.pixels && (samples.row == 0u || pixel % samples.row != samples.row - 1u);
}

// Vector `index` of a plane with each code replaced by the sample that `becomes` returns for it. Samples beside the
// luma, and the luma of padding pixels, do not change.
template <typename S, int STEP, typename F>
DEVICE uint4 mapped_vector(uint4 loaded, unsigned index, Samples samples, F becomes) {
    constexpr unsigned PIXELS = PER_VECTOR<S> / STEP;
    Words mapped = words(loaded);
#pragma unroll
    for (int w = 0; w < 4; ++w) {
        unsigned word = ordered<S>(mapped.of[w], samples);
        unsigned out = STEP > 1 ? word : 0u;
#pragma unroll
        for (int i = 0; i < PER_WORD<S> / STEP; ++i) {
            unsigned pixel = index * PIXELS + w * (PER_WORD<S> / STEP) + i;
            if (STEP > 1 && samples.row != 0u && !visible(pixel, samples)) continue;
            unsigned at = i * STEP * BITS<S> + (STEP > 1 ? samples.offset * BITS<S> : 0u);
            unsigned code = decoded<S>((word >> at) & SAMPLE_MASK<S>, samples);
            if (STEP > 1) out &= ~(SAMPLE_MASK<S> << at);
            out |= becomes(code) << at;
        }
        mapped.of[w] = ordered<S>(out, samples);
    }
    return vector(mapped);
}

}  // namespace histeq
