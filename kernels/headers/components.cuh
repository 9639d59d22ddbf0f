// RGB pixels in registers, as many as a vector has samples: COMPONENTS vectors, which follow each other in memory if
// the pixels are packed, and come from one plane each if they are planar.
#pragma once

#include "device.cuh"
#include "samples.cuh"

namespace histeq {

template <typename S, int COMPONENTS, bool PLANAR>
struct Components {
    unsigned word[COMPONENTS * 4];

    // The index of vector `i` of group `index`; planes begin `plane_vectors` vectors apart.
    static DEVICE size_t place(unsigned plane_vectors, unsigned index, int i) {
        return PLANAR ? (size_t)plane_vectors * i + index : (size_t)index * COMPONENTS + i;
    }

    DEVICE void load(const uint4* from, unsigned plane_vectors, unsigned index, Samples samples) {
#pragma unroll
        for (int i = 0; i < COMPONENTS; ++i) {
            Words loaded = words(from[place(plane_vectors, index, i)]);
#pragma unroll
            for (int w = 0; w < 4; ++w) word[i * 4 + w] = ordered<S>(loaded.of[w], samples);
        }
    }

    DEVICE void store(uint4* to, unsigned plane_vectors, unsigned index, Samples samples) const {
#pragma unroll
        for (int i = 0; i < COMPONENTS; ++i) {
            Words out;
#pragma unroll
            for (int w = 0; w < 4; ++w) out.of[w] = ordered<S>(word[i * 4 + w], samples);
            to[place(plane_vectors, index, i)] = vector(out);
        }
    }

    // The position of component `i` of `pixel` among the samples of `word`. Both are constants in unrolled loops.
    static DEVICE constexpr int position(int pixel, int i) {
        return PLANAR ? i * PER_VECTOR<S> + pixel : pixel * COMPONENTS + i;
    }

    DEVICE unsigned get(int pixel, int i) const {
        return sample_at<S>(word[position(pixel, i) / PER_WORD<S>], position(pixel, i) % PER_WORD<S>);
    }

    DEVICE void set(int pixel, int i, unsigned sample) {
        int at = position(pixel, i) % PER_WORD<S> * BITS<S>;
        unsigned& whole = word[position(pixel, i) / PER_WORD<S>];
        whole = (whole & ~(SAMPLE_MASK<S> << at)) | sample << at;
    }
};

// Iterates over RGB pixels, whose luminance is in the plane `luma`. The mapped luminance is in the plane `mapped` if
// there is one, else it comes from `curve`. Calls `change` for each pixel with the components of a vector of pixels,
// the vector's index, the pixel's number in the vector, and its luminance before and after.
template <typename S, int COMPONENTS, bool PLANAR, typename Curve, typename F>
DEVICE void each_pixel_of_rgb(const uint4* from, uint4* to, unsigned plane_vectors, const uint4* luma,
                              const uint4* mapped, Samples samples, Curve curve, F change) {
    unsigned vectors = (samples.pixels + PER_VECTOR<S> - 1u) / PER_VECTOR<S>;
    for (unsigned index = blockIdx.x * blockDim.x + threadIdx.x; index < vectors; index += gridDim.x * blockDim.x) {
        Words luminance = words(luma[index]);
        Words becomes = mapped != nullptr ? words(mapped[index]) : luminance;
        Components<S, COMPONENTS, PLANAR> components;
        components.load(from, plane_vectors, index, samples);
#pragma unroll
        for (int pixel = 0; pixel < PER_VECTOR<S>; ++pixel) {
            unsigned before = sample_at<S>(luminance.of[pixel / PER_WORD<S>], pixel % PER_WORD<S>);
            unsigned after =
                mapped != nullptr ? sample_at<S>(becomes.of[pixel / PER_WORD<S>], pixel % PER_WORD<S>) : curve[before];
            change(components, index, pixel, before, after);
        }
        components.store(to, plane_vectors, index, samples);
    }
}

}  // namespace histeq

// Defines a kernel for each layout of RGB. Arguments: name, type of a sample, components per pixel, whether each
// component has its own plane.
#define FOR_EACH_RGB_LAYOUT(KERNEL)                                                                                    \
    KERNEL(u8_packed3, unsigned char, 3, false)                                                                        \
    KERNEL(u8_packed4, unsigned char, 4, false)                                                                        \
    KERNEL(u8_planar, unsigned char, 3, true)                                                                          \
    KERNEL(u16_packed3, unsigned short, 3, false)                                                                      \
    KERNEL(u16_packed4, unsigned short, 4, false)                                                                      \
    KERNEL(u16_planar, unsigned short, 3, true)
