// What a good user of CUB makes of the frames of `histeq-lab kernels`: DeviceHistogram::HistogramEven; one block that
// scans the counts (BlockScan) and makes the table, at 16 bits DeviceScan and a code a thread; a map of 16 bytes a thread with the table in shared memory. In place and
// into another plane; each in a queue of launches, as `bench kernels` measures ours, and replayed as a graph. The table's
// arithmetic is ours (kernels/headers/spec.cuh), and so are the bytes, which are compared.
//
// benches/cub/cub.sh compiles it. Prints Markdown.
#include <cub/cub.cuh>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "../../kernels/headers/spec.cuh"

using namespace histeq;

#define CHECK(CALL)                                                                  \
    do {                                                                             \
        cudaError_t error = (CALL);                                                  \
        if (error != cudaSuccess) {                                                  \
            std::fprintf(stderr, "%s: %s\n", #CALL, cudaGetErrorString(error));      \
            std::exit(1);                                                            \
        }                                                                            \
    } while (0)

// As `histeq-lab kernels` does: the clock starts when launches wait in the queue.
static void hold(void*) { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }

template <typename S>
struct Samples16 {
    static constexpr int PER_VECTOR = 16 / sizeof(S);
};

constexpr int SCANNERS = 1024;

// The curve of full range from the counts, by one block; EACH codes a thread.
template <int EACH, int THREADS>
__global__ __launch_bounds__(THREADS) void table_of(const unsigned* counts, unsigned codes, BlendedLevels levels,
                                                     unsigned short* curve) {
    using Scan = cub::BlockScan<unsigned, THREADS>;
    __shared__ typename Scan::TempStorage storage;
    __shared__ unsigned first_code, first;
    if (threadIdx.x == 0) first_code = ~0u;
    unsigned own[EACH], sums[EACH], total, begin = threadIdx.x * EACH;
#pragma unroll
    for (int j = 0; j < EACH; ++j) own[j] = begin + j < codes ? counts[begin + j] : 0u;
    Scan(storage).InclusiveSum(own, sums, total);
    __syncthreads();
    for (int j = 0; j < EACH; ++j) {
        if (own[j] != 0u) {
            atomicMin(&first_code, begin + j);
            break;
        }
    }
    __syncthreads();
    for (int j = 0; j < EACH; ++j) {
        if (begin + j == first_code) first = own[j];
    }
    __syncthreads();
#pragma unroll
    for (int j = 0; j < EACH; ++j) {
        if (begin + j < codes) {
            curve[begin + j] = (unsigned short)curve_at(begin + j, sums[j], cdf_range_of(first, total), levels);
        }
    }
}

// The first occupied code, by one block.
__global__ __launch_bounds__(SCANNERS) void first_of(const unsigned* counts, unsigned codes, unsigned* first) {
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

// The curve from cumulative counts, a code a thread.
__global__ void table_of_sums(const unsigned* cumulative, const unsigned* first, unsigned codes, BlendedLevels levels,
                              unsigned short* curve) {
    unsigned code = blockIdx.x * blockDim.x + threadIdx.x;
    curve[code] = (unsigned short)curve_at(code, cumulative[code], cdf_range_of(*first, cumulative[codes - 1]), levels);
}

// With SHARED the table goes to shared memory first, which `codes` entries of it fill.
template <typename S, bool SHARED>
__global__ void map(const uint4* from, uint4* to, unsigned vectors, const unsigned short* curve, unsigned codes) {
    extern __shared__ uint4 room[];
    const unsigned short* table = curve;
    if constexpr (SHARED) {
        for (unsigned i = threadIdx.x; i < codes / 8; i += blockDim.x) room[i] = ((const uint4*)curve)[i];
        __syncthreads();
        table = (const unsigned short*)room;
    }
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < vectors; i += gridDim.x * blockDim.x) {
        uint4 vector = from[i];
        S* samples = reinterpret_cast<S*>(&vector);
#pragma unroll
        for (int j = 0; j < Samples16<S>::PER_VECTOR; ++j) {
            samples[j] = (S)(SHARED ? table[samples[j]] : __ldg(&table[samples[j]]));
        }
        to[i] = vector;
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
static std::vector<S> reference(const std::vector<S>& samples, BlendedLevels levels) {
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
    char *all, *others;
    unsigned *counts, *cumulative, *first;
    unsigned short* curve;
    CHECK(cudaMalloc(&cumulative, codes * sizeof(unsigned)));
    CHECK(cudaMalloc(&first, sizeof(unsigned)));
    CHECK(cudaMalloc(&all, frames * bytes));
    CHECK(cudaMalloc(&others, frames * bytes));
    CHECK(cudaMalloc(&counts, codes * sizeof(unsigned)));
    CHECK(cudaMalloc(&curve, codes * sizeof(unsigned short)));
    for (int i = 0; i < frames; ++i) CHECK(cudaMemcpy(all + i * bytes, samples.data(), bytes, cudaMemcpyHostToDevice));
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    size_t room = 0;
    void* storage = nullptr;
    auto histogram = [&](S* plane) {
        return cub::DeviceHistogram::HistogramEven(storage, room, plane, (int*)counts, (int)codes + 1, 0, (int)codes,
                                                   (int)pixels, stream);
    };
    auto scan = [&](void* at, size_t& bytes) {
        return cub::DeviceScan::InclusiveSum(at, bytes, counts, cumulative, (int)codes, stream);
    };
    size_t scan_room = 0;
    CHECK(histogram((S*)all));
    CHECK(scan(nullptr, scan_room));
    void* scan_storage;
    CHECK(cudaMalloc(&scan_storage, scan_room));
    CHECK(cudaMalloc(&storage, room));
    // A table of 16 bits leaves room for one block on a multiprocessor; without shared memory it comes from the caches.
    int multiprocessors;
    CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    size_t shared = codes * sizeof(unsigned short);
    CHECK(cudaFuncSetAttribute(map<S, true>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));
    struct Way {
        bool in_place, in_shared;
        int blocks;  // of the map on each multiprocessor
    };
    auto equalize = [&](int frame, unsigned strength, Way way) {
        char* plane = all + frame * bytes;
        const uint4* from = (const uint4*)plane;
        uint4* to = (uint4*)(way.in_place ? plane : others + frame * bytes);
        BlendedLevels levels = {0, codes - 1, strength};
        CHECK(histogram((S*)plane));
        if (codes <= 256) table_of<1, 256><<<1, 256, 0, stream>>>(counts, codes, levels, curve);
        else if (codes <= 4096) table_of<4, SCANNERS><<<1, SCANNERS, 0, stream>>>(counts, codes, levels, curve);
        else {
            first_of<<<1, SCANNERS, 0, stream>>>(counts, codes, first);
            CHECK(scan(scan_storage, scan_room));
            table_of_sums<<<codes / 256, 256, 0, stream>>>(cumulative, first, codes, levels, curve);
        }
        unsigned blocks = (unsigned)(multiprocessors * way.blocks);
        if (way.in_shared && codes <= 4096) map<S, true><<<blocks, 256, shared, stream>>>(from, to, vectors, curve, codes);
        else if (way.in_shared) map<S, true><<<multiprocessors, 1024, shared, stream>>>(from, to, vectors, curve, codes);
        else map<S, false><<<blocks, 256, 0, stream>>>(from, to, vectors, curve, codes);
    };
    std::vector<S> expected = reference(samples, BlendedLevels{0, codes - 1, 256}), found(pixels);
    bool right = true;
    for (Way way : {Way{false, true, 8}, Way{false, false, 16}, Way{true, true, 2}}) {
        equalize(0, 256, way);
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaMemcpy(found.data(), way.in_place ? all : others, bytes, cudaMemcpyDeviceToHost));
        right = right && found == expected;
    }
    CHECK(cudaMemcpy(all, samples.data(), bytes, cudaMemcpyHostToDevice));

    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    auto time = [&](auto work) {
        std::vector<float> times;
        for (int i = 0; i < 11; ++i) {
            CHECK(cudaLaunchHostFunc(stream, hold, nullptr));
            CHECK(cudaEventRecord(begin, stream));
            work();
            CHECK(cudaEventRecord(end, stream));
            CHECK(cudaEventSynchronize(end));
            float ms;
            CHECK(cudaEventElapsedTime(&ms, begin, end));
            times.push_back(ms * 1e3f / frames);
        }
        std::sort(times.begin(), times.end());
        return times[times.size() / 2];
    };
    auto each_frame = [&](auto work) {
        for (int frame = 0; frame < frames; ++frame) work(frame);
    };
    auto as_graph = [&](auto work) {
        cudaGraph_t graph;
        cudaGraphExec_t ready;
        CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        work();
        CHECK(cudaStreamEndCapture(stream, &graph));
        CHECK(cudaGraphInstantiate(&ready, graph, 0));
        CHECK(cudaGraphUpload(ready, stream));
        float found = time([&] { CHECK(cudaGraphLaunch(ready, stream)); });
        CHECK(cudaGraphExecDestroy(ready));
        CHECK(cudaGraphDestroy(graph));
        return found;
    };
    float alone = time([&] { each_frame([&](int frame) { CHECK(histogram((S*)(all + frame * bytes))); }); });
    // In place, strength 0 does all the work and leaves the picture as it is. Of all ways to launch the map the fastest.
    float figures[4] = {1e9f, 1e9f, 1e9f, 1e9f};
    for (bool in_shared : {true, false}) {
        for (int blocks : {2, 4, 8, 16}) {
            for (bool in_place : {true, false}) {
                Way way = {in_place, in_shared, blocks};
                auto work = [&] { each_frame([&](int frame) { equalize(frame, in_place ? 0 : 256, way); }); };
                float &queue = figures[in_place ? 0 : 2], &graph = figures[in_place ? 1 : 3];
                queue = std::min(queue, time(work));
                graph = std::min(graph, as_graph(work));
            }
        }
    }
    std::printf("| %s | %u | %s | %.2f | %.2f | %.2f | %.2f | %.2f | %s |\n", name, depth, kinds[kind], alone, figures[0],
                figures[1], figures[2], figures[3], right ? "yes" : "NO");
    std::fflush(stdout);
    CHECK(cudaFree(all));
    CHECK(cudaFree(others));
    CHECK(cudaFree(counts));
    CHECK(cudaFree(curve));
    CHECK(cudaFree(storage));
    CHECK(cudaFree(cumulative));
    CHECK(cudaFree(first));
    CHECK(cudaFree(scan_storage));
    CHECK(cudaStreamDestroy(stream));
}

int main() {
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    std::printf("%s, CUB %d; µs a frame\n\n| size | bits | content | histogram | in place, queue | in place, graph | "
                "out of place, queue | out of place, graph | right |\n|---|---|---|---|---|---|---|---|---|\n",
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
