// What CUB makes of the frames of `histeq-video bench kernels`: DeviceHistogram::HistogramEven, DeviceScan::InclusiveSum, a
// curve of a code a thread, and a map of 16 bytes a thread. The curve is ours (kernels/spec.cuh), and so are the bytes, which are compared.
//
// benches/cub.sh compiles it. Prints Markdown.
#include <cub/cub.cuh>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "../kernels/spec.cuh"

#define CHECK(CALL)                                                                  \
    do {                                                                             \
        cudaError_t error = (CALL);                                                  \
        if (error != cudaSuccess) {                                                  \
            std::fprintf(stderr, "%s: %s\n", #CALL, cudaGetErrorString(error));      \
            std::exit(1);                                                            \
        }                                                                            \
    } while (0)

// As `histeq-video bench kernels` does: the clock starts when launches wait in the queue.
static void hold(void*) { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }

template <typename S>
struct Samples16 {
    static constexpr int PER_VECTOR = 16 / sizeof(S);
};

// How often the first code occurs that does, by one block.
__global__ void first_of(const unsigned* counts, unsigned codes, unsigned* first) {
    __shared__ unsigned first_code;
    if (threadIdx.x == 0) first_code = ~0u;
    __syncthreads();
    for (unsigned code = threadIdx.x; code < codes; code += blockDim.x) {
        if (counts[code] != 0) {
            atomicMin(&first_code, code);
            break;
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) *first = counts[first_code];
}

// The curve of full range, a code a thread.
__global__ void curve_of(const unsigned* cumulative, const unsigned* first, unsigned codes, Levels levels,
                         unsigned short* curve) {
    unsigned code = blockIdx.x * blockDim.x + threadIdx.x;
    curve[code] = (unsigned short)curve_at(code, cumulative[code], spread_of(*first, cumulative[codes - 1]), levels);
}

template <typename S>
__global__ void map(uint4* pixels, unsigned vectors, const unsigned short* curve) {
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < vectors; i += gridDim.x * blockDim.x) {
        uint4 vector = pixels[i];
        S* samples = reinterpret_cast<S*>(&vector);
#pragma unroll
        for (int j = 0; j < Samples16<S>::PER_VECTOR; ++j) samples[j] = (S)__ldg(&curve[samples[j]]);
        pixels[i] = vector;
    }
}

// The contents of `bench kernels`: something like a photograph, noise, two levels near black, one level.
template <typename S>
static std::vector<S> content(unsigned width, unsigned height, unsigned depth, int kind) {
    std::vector<S> samples((size_t)width * height);
    unsigned state = 1;
    auto random = [&] { return (state = state * 1664525u + 1013904223u) >> 8; };
    unsigned max = (1u << depth) - 1;
    for (size_t i = 0; i < samples.size(); ++i) {
        unsigned x = i % width, y = i / width;
        unsigned photo = 60 + 40 * ((x / 97 + y / 61) % 3) + x * 60 / width + random() % 9;
        unsigned fine = random() & ((1u << (depth - 8)) - 1);
        unsigned value = kind == 0 ? std::min(max, photo << (depth - 8) | fine)
                         : kind == 1 ? random() & max
                         : kind == 2 ? (16u << (depth - 8)) + (random() & 1)
                                     : 77u << (depth - 8);
        samples[i] = (S)value;
    }
    return samples;
}

template <typename S>
static std::vector<S> reference(const std::vector<S>& samples, Levels levels) {
    std::vector<unsigned> counts(levels.hi + 1);
    for (S sample : samples) ++counts[sample];
    unsigned first = *std::find_if(counts.begin(), counts.end(), [](unsigned count) { return count != 0; });
    unsigned long long rest = samples.size() - first, sum = 0;
    std::vector<S> curve(levels.hi + 1);
    for (unsigned code = 0; code <= levels.hi; ++code) {
        sum += counts[code];
        unsigned long long above = sum > first ? sum - first : 0;
        curve[code] = (S)(rest == 0 ? code : (above * levels.hi + rest / 2) / rest);
    }
    std::vector<S> mapped(samples.size());
    std::transform(samples.begin(), samples.end(), mapped.begin(), [&](S sample) { return curve[sample]; });
    return mapped;
}

template <typename S>
static void row(const char* name, unsigned width, unsigned height, unsigned depth, int kind) {
    static const char* kinds[] = {"photo", "noise", "near-black", "flat"};
    unsigned pixels = width * height, codes = 1u << depth, vectors = pixels / Samples16<S>::PER_VECTOR;
    size_t bytes = (size_t)pixels * sizeof(S);
    std::vector<S> samples = content<S>(width, height, depth, kind);
    // More than the cache holds, and few enough that most of their launches wait in the queue before the clock starts.
    int frames = (int)std::clamp<size_t>((400u << 20) / bytes, 8, 180);
    char* all;
    unsigned *counts, *cumulative, *first;
    unsigned short* curve;
    CHECK(cudaMalloc(&all, frames * bytes));
    CHECK(cudaMalloc(&counts, codes * sizeof(unsigned)));
    CHECK(cudaMalloc(&cumulative, codes * sizeof(unsigned)));
    CHECK(cudaMalloc(&first, sizeof(unsigned)));
    CHECK(cudaMalloc(&curve, codes * sizeof(unsigned short)));
    for (int i = 0; i < frames; ++i) CHECK(cudaMemcpy(all + i * bytes, samples.data(), bytes, cudaMemcpyHostToDevice));
    size_t room = 0, scan_room = 0;
    auto histogram = [&](void* storage, S* plane) {
        return cub::DeviceHistogram::HistogramEven(storage, room, plane, (int*)counts, (int)codes + 1, 0, (int)codes,
                                                   (int)pixels);
    };
    auto scan = [&](void* storage) { return cub::DeviceScan::InclusiveSum(storage, scan_room, counts, cumulative, (int)codes); };
    CHECK(histogram(nullptr, (S*)all));
    CHECK(scan(nullptr));
    room = std::max(room, scan_room);
    scan_room = room;
    void* storage;
    CHECK(cudaMalloc(&storage, room));
    auto equalize = [&](int frame, unsigned strength) {
        S* plane = (S*)(all + frame * bytes);
        CHECK(histogram(storage, plane));
        first_of<<<1, 1024>>>(counts, codes, first);
        CHECK(scan(storage));
        curve_of<<<codes / 256, 256>>>(cumulative, first, codes, Levels{0, codes - 1, strength}, curve);
        map<S><<<132 * 16, 256>>>((uint4*)plane, vectors, curve);
    };
    equalize(0, 256);
    std::vector<S> found(pixels);
    CHECK(cudaMemcpy(found.data(), all, bytes, cudaMemcpyDeviceToHost));
    bool right = found == reference(samples, Levels{0, codes - 1, 256});
    CHECK(cudaMemcpy(all, samples.data(), bytes, cudaMemcpyHostToDevice));

    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    auto time = [&](auto work) {
        std::vector<float> times;
        for (int i = 0; i < 11; ++i) {
            CHECK(cudaLaunchHostFunc(nullptr, hold, nullptr));
            CHECK(cudaEventRecord(begin));
            for (int frame = 0; frame < frames; ++frame) work(frame);
            CHECK(cudaEventRecord(end));
            CHECK(cudaEventSynchronize(end));
            float ms;
            CHECK(cudaEventElapsedTime(&ms, begin, end));
            times.push_back(ms * 1e3f / frames);
        }
        std::sort(times.begin(), times.end());
        return times[times.size() / 2];
    };
    float alone = time([&](int frame) { CHECK(histogram(storage, (S*)(all + frame * bytes))); });
    // Strength 0 does all the work and leaves the picture as it is.
    float whole = time([&](int frame) { equalize(frame, 0); });
    std::printf("| %s | %u | %s | %.2f | %.2f | %s |\n", name, depth, kinds[kind], alone, whole, right ? "yes" : "NO");
    std::fflush(stdout);
    CHECK(cudaFree(all));
    CHECK(cudaFree(counts));
    CHECK(cudaFree(cumulative));
    CHECK(cudaFree(first));
    CHECK(cudaFree(curve));
    CHECK(cudaFree(storage));
}

int main() {
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    std::printf("%s, CUB %d\n\n| size | bits | content | histogram, µs | equalization, µs | right |\n|---|---|---|---|---|---|\n",
                device.name, CUB_VERSION);
    struct {
        const char* name;
        unsigned width, height;
    } sizes[] = {{"1280x720", 1280, 720}, {"1920x1080", 1920, 1080}, {"3840x2160", 3840, 2160}, {"7680x4320", 7680, 4320}};
    for (auto& size : sizes) {
        for (int kind = 0; kind < 4; ++kind) row<unsigned char>(size.name, size.width, size.height, 8, kind);
    }
    for (unsigned depth : {10u, 12u, 16u}) {
        for (int kind = 0; kind < 4; ++kind) row<unsigned short>("3840x2160", 3840, 2160, depth, kind);
    }
}
