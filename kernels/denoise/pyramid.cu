// A pyramid of smoothed luma: full size, then halved level by level (`src/core/denoise/pyramid.rs`).
#include "launch.cuh"
#include "sheet.cuh"

using namespace histeq;

// The sum with the binomial weights 1 4 6 4 1.
DEVICE int weighted(int a, int b, int c, int d, int e) { return a + e + 4 * (b + d) + 6 * c; }

// The weighted sum of a column around a sample: of luma, or, with `halves`, of a pyramid level that is halved.
DEVICE int down(const short* at, int stride, bool halves) {
    if (halves) return (weighted(at[-2 * stride], at[-stride], at[0], at[stride], at[2 * stride]) + 2) >> 2;
    // Luma is stored as code - 2048, and the weights add up to 16, so 16 * 2048 restores the codes.
    return (weighted(at[-2 * stride], at[-stride], at[0], at[stride], at[2 * stride]) + 16 * 2048) >> 4;
}

// One thread for each sample, including the margin.
DEVICE void smooth(Sheet<const short> from, Sheet<short> to, bool halves) {
    grid_dependency_sync();
    int stride = to.stride();
    for (unsigned index = blockIdx.x * blockDim.x + threadIdx.x; index < to.all(); index += gridDim.x * blockDim.x) {
        int x = clamped((int)(index % stride) - PAD, 0, to.width - 1);
        int y = clamped((int)(index / stride) - PAD, 0, to.height - 1);
        const short* at = from.at(halves ? 2 * x : x, halves ? 2 * y : y);
        int columns[5];
#pragma unroll
        for (int i = 0; i < 5; ++i) columns[i] = down(at + i - 2, from.stride(), halves);
        to.samples[index] = (short)((weighted(columns[0], columns[1], columns[2], columns[3], columns[4]) + 32) >> 6);
    }
}

// Smooths luma.
// Arguments: `from` and `to` are padded planes (`sheet.cuh`) of `width` x `height` samples.
// Launch: any number of blocks of up to 256 threads; no dynamic shared memory.
extern "C" __global__ __launch_bounds__(256) void pyramid_smooth(const short* from, short* to, unsigned width,
                                                                 unsigned height) {
    int w = (int)width, h = (int)height;
    smooth(Sheet<const short>{from, w, h}, Sheet<short>{to, w, h}, false);
}

// Smooths a plane and halves its width and height, rounded up. `width` and `height` are those of `from`.
// Launch: as `pyramid_smooth`.
extern "C" __global__ __launch_bounds__(256) void pyramid_halve(const short* from, short* to, unsigned width,
                                                                unsigned height) {
    int w = (int)width, h = (int)height;
    smooth(Sheet<const short>{from, w, h}, Sheet<short>{to, (w + 1) / 2, (h + 1) / 2}, true);
}

constexpr unsigned DIFFERENCES = 1024u;

struct TempStorage {
    unsigned counts[DIFFERENCES];
};

// Adds the histogram of the absolute differences between two padded planes of `width` x `height` samples to `counts`,
// which has 1,024 entries.
// Launch: any number of blocks of up to 256 threads; no dynamic shared memory.
extern "C" __global__ __launch_bounds__(256) void pyramid_differences(const short* one, const short* other,
                                                                      unsigned width, unsigned height,
                                                                      unsigned* counts) {
    __shared__ TempStorage storage;
    for (unsigned i = threadIdx.x; i < DIFFERENCES; i += blockDim.x) storage.counts[i] = 0u;
    __syncthreads();
    grid_dependency_sync();
    Sheet<const short> a{one, (int)width, (int)height}, b{other, (int)width, (int)height};
    for (unsigned index = blockIdx.x * blockDim.x + threadIdx.x; index < width * height;
         index += gridDim.x * blockDim.x) {
        int x = (int)(index % width), y = (int)(index / width);
        int apart = *a.at(x, y) - *b.at(x, y);
        atomicAdd(&storage.counts[clamped(apart < 0 ? -apart : apart, 0, (int)DIFFERENCES - 1)], 1u);
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < DIFFERENCES; i += blockDim.x) {
        if (storage.counts[i] > 0u) atomicAdd(&counts[i], storage.counts[i]);
    }
}
