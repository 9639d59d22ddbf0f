// Runs the kernels of kernels/variants, and kernels/scan.cu, in the emulator: one question a line on standard input,
// one line of numbers each on standard output. The test writes the kernels beside this file, with shared memory spelt
// as C++ has it.
#include "emulator.hpp"

#include "elements.cuh"
#include "formulas.cuh"
#include "launch.cuh"
#include "spec.cuh"
#include "warp.cuh"

using namespace histeq;

constexpr size_t ROOM = 20000;

namespace in_global {
#include "histogram_global.cu"
#undef HISTOGRAM
}  // namespace in_global
namespace privatized {
#include "histogram_privatized.cu"
#undef HISTOGRAM
unsigned shared[ROOM];
}  // namespace privatized
namespace aggregated {
#include "histogram_aggregated.cu"
#undef HISTOGRAM
unsigned shared[ROOM];
}  // namespace aggregated
namespace replicated {
#include "histogram_replicated.cu"
#undef HISTOGRAM
unsigned shared[ROOM];
}  // namespace replicated
namespace saturated {
#include "saturation.cu"
}
namespace hillis_steele {
#include "scan_hillis_steele.cu"
}
namespace kogge_stone {
#include "scan_kogge_stone.cu"
unsigned shared[ROOM];
}  // namespace kogge_stone
namespace kogge_stone_double {
#include "scan_kogge_stone_double.cu"
unsigned shared[ROOM];
}  // namespace kogge_stone_double
namespace brent_kung {
#include "scan_brent_kung.cu"
unsigned shared[ROOM];
}  // namespace brent_kung
namespace blelloch {
#include "scan_blelloch.cu"
unsigned shared[ROOM];
}  // namespace blelloch
namespace warp_shuffle {
#include "scan_warp_shuffle.cu"
unsigned shared[ROOM];
}  // namespace warp_shuffle
namespace add_sums {
#include "scan_add_sums.cu"
}
namespace least {
#include "cdf_min.cu"
}
namespace curves {
#include "curve.cu"
}
namespace computed {
#include "map_computed.cu"
#undef MAP
#undef MAP_OF
}  // namespace computed
namespace group_min {
#include "map_group_min.cu"
#undef MAP
#undef MAP_OF
}  // namespace group_min
namespace bytes {
#include "map_bytes.cu"
#undef MAP
}  // namespace bytes
namespace shared_curve {
#include "map_shared_lut.cu"
#undef MAP
unsigned short shared_lut[ROOM];
}  // namespace shared_curve
namespace wide {
#include "map_wide.cu"
#undef MAP
unsigned short shared_lut[ROOM];
}  // namespace wide
namespace luminance {
#include "luminance_histogram.cu"
}

namespace tuned {
#include "scan.cu"
}

static unsigned nothing[ROOM];

static Dim dim() {
    unsigned x = number(), y = number(), z = number();
    return Dim{x, y, z};
}

template <typename T>
static std::vector<T> numbers(unsigned count) {
    std::vector<T> values(count);
    for (T& value : values) value = (T)number();
    return values;
}

template <typename T>
static void answer(const std::vector<T>& values) {
    for (T value : values) std::printf("%u ", (unsigned)value);
    std::printf("\n");
}

// Memory of a plane that begins where a GPU's would, and ends with its last sample.
template <typename S>
struct Aligned {
    explicit Aligned(const std::vector<S>& values) : length(values.size() * sizeof(S)) {
        memory = (S*)std::aligned_alloc(16, (length + 31) / 16 * 16);
        std::memcpy(memory, values.data(), length);
        std::memset((char*)memory + length, 0xee, 16);
    }
    ~Aligned() {
        for (size_t i = 0; i < 16; ++i) {
            if (((unsigned char*)memory)[length + i] != 0xee) fail("a write beyond a plane");
        }
        std::free(memory);
    }
    S* memory;
    size_t length;
};

static Area area() {
    Area area;
    area.first = number(), area.width = number(), area.height = number(), area.pitch = number();
    area.step = number(), area.shift = number(), area.swapped = number(), area.max = number();
    return area;
}

#define COUNT_WITH(SPACE, KERNEL, SHARED, BYTES)                                                                       \
    run(grid, block, SHARED, BYTES, [&] {                                                                              \
        if constexpr (sizeof(S) == 1)                                                                                  \
            SPACE::KERNEL##_u8((unsigned char*)plane.memory, where, levels, counts.data(), how);                       \
        if constexpr (sizeof(S) == 2)                                                                                  \
            SPACE::KERNEL##_u16((unsigned short*)plane.memory, where, levels, counts.data(), how);                     \
        if constexpr (sizeof(S) == 4) SPACE::KERNEL##_u32((unsigned*)plane.memory, where, levels, counts.data(), how); \
    })

// h VARIANT BYTES grid block area lo hi codes window log2_copies run samples...
template <typename S>
static void histogram(char variant) {
    Dim grid = dim(), block = dim();
    Area where = area();
    unsigned lo = number(), hi = number();
    BlendedLevels levels = {lo, hi, 256};
    Counting how;
    how.codes = number(), how.window = number(), how.log2_copies = number(), how.run = number();
    unsigned samples = number();
    Aligned<S> plane(numbers<S>(samples));
    std::vector<unsigned> counts(how.codes);
    size_t window = 4u * how.window;
    if (variant == 'g') COUNT_WITH(in_global, histogram_global, nothing, 0);
    if (variant == 'p') COUNT_WITH(privatized, histogram_privatized, privatized::shared, window);
    if (variant == 'a') COUNT_WITH(aggregated, histogram_aggregated, aggregated::shared, window);
    if (variant == 'r') COUNT_WITH(replicated, histogram_replicated, replicated::shared, window << how.log2_copies);
    answer(counts);
}

static void scan(char variant, const unsigned* from, unsigned* to, unsigned count, unsigned threads);

#define SCAN_WITH(KERNEL, SHARED, ENTRIES)                                                                             \
    run(grid, Dim{threads, 1, 1}, SHARED, 4u * (ENTRIES),                                                              \
        [&] { KERNEL(from, to, sums.empty() ? nullptr : sums.data(), count); })

// Segment by segment, then their sums, as src/lab/publications/kernels/scan.rs does it.
static void segments(char variant, const unsigned* from, unsigned* to, unsigned count, unsigned threads) {
    unsigned width = variant == 'b' || variant == 'e' || variant == 'f' ? 2 * threads : threads;
    unsigned blocks = (count + width - 1) / width;
    Dim grid = {blocks, 1, 1};
    std::vector<unsigned> sums(blocks > 1 ? blocks : 0);
    if (variant == 'k') SCAN_WITH(kogge_stone::scan_kogge_stone, kogge_stone::shared, width);
    if (variant == 'd') SCAN_WITH(kogge_stone_double::scan_kogge_stone_double, kogge_stone_double::shared, 2 * width);
    if (variant == 's') SCAN_WITH(kogge_stone_double::scan_kogge_stone_stale, kogge_stone_double::shared, 2 * width);
    if (variant == 'b') SCAN_WITH(brent_kung::scan_brent_kung, brent_kung::shared, width);
    if (variant == 'e') SCAN_WITH(blelloch::scan_blelloch, blelloch::shared, width + 1);
    if (variant == 'f') SCAN_WITH(blelloch::scan_blelloch_float, blelloch::shared, width + 1);
    if (variant == 'w') SCAN_WITH(warp_shuffle::scan_warp_shuffle, warp_shuffle::shared, 32);
    if (blocks == 1) return;
    scan(variant, sums.data(), sums.data(), blocks, threads);
    run(Dim{(count + 255) / 256, 1, 1}, Dim{256, 1, 1}, nothing, 0,
        [&] { add_sums::scan_add_sums(to, sums.data(), width, count); });
}

// A step after the other, from buffer to buffer.
static void steps(const unsigned* from, unsigned* to, unsigned count, unsigned threads) {
    std::vector<unsigned> read(from, from + count), write(count);
    for (unsigned distance = 1; distance < count; distance *= 2) {
        run(Dim{(count + threads - 1) / threads, 1, 1}, Dim{threads, 1, 1}, nothing, 0,
            [&] { hillis_steele::scan_hillis_steele(read.data(), write.data(), distance, count); });
        read.swap(write);
    }
    std::memcpy(to, read.data(), 4u * count);
}

static void scan(char variant, const unsigned* from, unsigned* to, unsigned count, unsigned threads) {
    if (variant == 'h') {
        steps(from, to, count, threads);
    } else {
        segments(variant, from, to, count, threads);
    }
}

// s VARIANT threads count counts...
static void scanned() {
    char variant;
    if (std::scanf(" %c", &variant) != 1) fail("a scan is missing");
    unsigned threads = number(), count = number();
    std::vector<unsigned> counts = numbers<unsigned>(count), cdf(count);
    scan(variant, counts.data(), cdf.data(), count, threads);
    answer(cdf);
}

// l threads from count cdf... : by reduction, then by the first above 0, looked for from bin `from` on.
static void first_occupied() {
    unsigned threads = number(), from = number(), count = number();
    std::vector<unsigned> cdf = numbers<unsigned>(count), found(2);
    run(Dim{1, 1, 1}, Dim{threads, 1, 1}, nothing, 0, [&] { least::cdf_min_reduction(cdf.data(), count, &found[0]); });
    run(Dim{(count + threads - 1) / threads, 1, 1}, Dim{threads, 1, 1}, nothing, 0,
        [&] { least::cdf_min_first_nonzero(cdf.data(), count, from, &found[1]); });
    answer(found);
}

// c FORMULA least total count cdf... : the curve, by a kernel that is given `least`, and by one that looks for it.
static void curve() {
    char formula;
    if (std::scanf(" %c", &formula) != 1) fail("a formula is missing");
    unsigned first = number(), total = number(), count = number();
    std::vector<unsigned> cdf = numbers<unsigned>(count);
    std::vector<unsigned short> lut(count);
    BlendedLevels levels = {0, count - 1, 256};
    const unsigned* sums = cdf.data();
    run(Dim{(count + 255) / 256, 1, 1}, Dim{256, 1, 1}, nothing, 0, [&] {
        if (formula == 'x') curves::curve_exact(sums, &first, count, levels, lut.data());
        if (formula == 'i') curves::curve_floor_integer(sums, &first, total, count, lut.data());
        if (formula == 'n') curves::curve_floor_no_min(sums, &first, total, count, lut.data());
        if (formula == 'r') curves::curve_float_round(sums, &first, total, count, lut.data());
        if (formula == 'q') curves::curve_equation_floor(sums, &first, total, count, lut.data());
        if (formula == 'p') curves::curve_product_32(sums, &first, total, count, lut.data());
        if (formula == 's') curves::curve_exact_of_sums(sums, &first, total, count, lut.data());
    });
    std::vector<unsigned short> normalized(count);
    run(Dim{1, 1, 1}, Dim{256, 1, 1}, nothing, 0, [&] {
        if (formula == 'x') curves::curve_normalized_exact(sums, count, levels, normalized.data());
        if (formula == 'i') curves::curve_normalized_floor_integer(sums, total, count, normalized.data());
        if (formula == 'n') curves::curve_normalized_floor_no_min(sums, total, count, normalized.data());
        if (formula == 'r') curves::curve_normalized_float_round(sums, total, count, normalized.data());
        if (formula == 'q') curves::curve_normalized_equation_floor(sums, total, count, normalized.data());
        if (formula == 'p') curves::curve_normalized_product_32(sums, total, count, normalized.data());
        if (formula == 's') curves::curve_normalized_exact_of_sums(sums, total, count, normalized.data());
    });
    lut.insert(lut.end(), normalized.begin(), normalized.end());
    answer(lut);
}

// t threads lo hi strength codes counts... : our own scan, and what it leaves of the counts that it empties.
static void tuned_curve() {
    unsigned threads = number(), lo = number(), hi = number(), strength = number(), codes = number();
    BlendedLevels levels = {lo, hi, strength};
    std::vector<unsigned> counts = numbers<unsigned>(codes), cleared(codes, 1u);
    std::vector<unsigned short> lut(codes);
    Dim grid = {codes / 4 / threads, 1, 1}, block = {threads, 1, 1};
    std::vector<tuned::Segment> segments(grid.x);
    const uint4* quads = (const uint4*)counts.data();
    if (grid.x > 1) run(grid, block, nothing, 0, [&] { tuned::scan_sums(quads, segments.data()); });
    run(grid, block, nothing, 0,
        [&] { tuned::scan(quads, (uint4*)cleared.data(), levels, segments.data(), (ushort4*)lut.data()); });
    unsigned left = 0;
    for (unsigned count : cleared) left += count;
    lut.push_back((unsigned short)left);
    answer(lut);
}

#define MAP_WITH(SPACE, KERNEL, SHARED, BYTES)                                                                         \
    run(grid, block, SHARED, BYTES, [&] {                                                                              \
        if constexpr (sizeof(S) == 1)                                                                                  \
            SPACE::KERNEL##_u8((unsigned char*)plane.memory, (unsigned char*)mapped.memory, where, lut.data(),         \
                               run_length);                                                                            \
        if constexpr (sizeof(S) == 2)                                                                                  \
            SPACE::KERNEL##_u16((unsigned short*)plane.memory, (unsigned short*)mapped.memory, where, lut.data(),      \
                                run_length);                                                                           \
        if constexpr (sizeof(S) == 4)                                                                                  \
            SPACE::KERNEL##_u32((unsigned*)plane.memory, (unsigned*)mapped.memory, where, lut.data(), run_length);     \
    })

// m VARIANT BYTES grid block area run curve... samples...
template <typename S>
static void map(char variant) {
    Dim grid = dim(), block = dim();
    Area where = area();
    unsigned run_length = number();
    std::vector<unsigned short> lut = numbers<unsigned short>(where.max + 1);
    unsigned samples = number();
    Aligned<S> plane(numbers<S>(samples)), mapped{std::vector<S>(samples)};
    size_t shared = 2u * (where.max + 1);
    if (variant == 'b') MAP_WITH(bytes, map_bytes, nothing, 0);
    if (variant == 's') MAP_WITH(shared_curve, map_shared_lut, shared_curve::shared_lut, shared);
    if (variant == 'w') MAP_WITH(wide, map_wide, wide::shared_lut, shared);
    answer(std::vector<S>(mapped.memory, mapped.memory + samples));
}

#define COMPUTE_WITH(KERNEL)                                                                                           \
    run(grid, block, nothing, 0, [&] {                                                                                 \
        if constexpr (sizeof(S) == 1)                                                                                  \
            computed::map_computed_##KERNEL##_u8((unsigned char*)plane.memory, (unsigned char*)mapped.memory, where,   \
                                                 cdf.data(), &first, total, run_length);                               \
        if constexpr (sizeof(S) == 2)                                                                                  \
            computed::map_computed_##KERNEL##_u16((unsigned short*)plane.memory, (unsigned short*)mapped.memory,       \
                                                  where, cdf.data(), &first, total, run_length);                       \
        if constexpr (sizeof(S) == 4)                                                                                  \
            computed::map_computed_##KERNEL##_u32((unsigned*)plane.memory, (unsigned*)mapped.memory, where,            \
                                                  cdf.data(), &first, total, run_length);                              \
    })

// n FORMULA BYTES grid block area run least total cdf... samples...
template <typename S>
static void without_curve(char formula) {
    Dim grid = dim(), block = dim();
    Area where = area();
    unsigned run_length = number(), first = number(), total = number();
    std::vector<unsigned> cdf = numbers<unsigned>(where.max + 1);
    unsigned samples = number();
    Aligned<S> plane(numbers<S>(samples)), mapped{std::vector<S>(samples)};
    if (formula == 'x') COMPUTE_WITH(exact);
    if (formula == 'i') COMPUTE_WITH(floor_integer);
    if (formula == 'n') COMPUTE_WITH(floor_no_min);
    if (formula == 'f') COMPUTE_WITH(factor);
    if (formula == 'r') COMPUTE_WITH(float_round);
    if (formula == 'q') COMPUTE_WITH(equation_floor);
    if (formula == 'p') COMPUTE_WITH(product_32);
    answer(std::vector<S>(mapped.memory, mapped.memory + samples));
}

#define GROUP_WITH(KERNEL)                                                                                             \
    run(grid, block, nothing, 0, [&] {                                                                                 \
        if constexpr (sizeof(S) == 1)                                                                                  \
            group_min::map_group_min_##KERNEL##_u8((unsigned char*)plane.memory, (unsigned char*)mapped.memory, where, \
                                                   cdf.data(), total, from);                                           \
        if constexpr (sizeof(S) == 2)                                                                                  \
            group_min::map_group_min_##KERNEL##_u16((unsigned short*)plane.memory, (unsigned short*)mapped.memory,     \
                                                    where, cdf.data(), total, from);                                   \
        if constexpr (sizeof(S) == 4)                                                                                  \
            group_min::map_group_min_##KERNEL##_u32((unsigned*)plane.memory, (unsigned*)mapped.memory, where,          \
                                                    cdf.data(), total, from);                                          \
    })

// g SEARCH BYTES grid block area from total cdf... samples... : r and R by reduction, f and F by the first above 0; the
// capitals round in float.
template <typename S>
static void with_group_min(char search) {
    Dim grid = dim(), block = dim();
    Area where = area();
    unsigned from = number(), total = number();
    std::vector<unsigned> cdf = numbers<unsigned>(where.max + 1);
    unsigned samples = number();
    Aligned<S> plane(numbers<S>(samples)), mapped{std::vector<S>(samples)};
    if (search == 'r') GROUP_WITH(reduction_exact);
    if (search == 'R') GROUP_WITH(reduction_float_round);
    if (search == 'f') GROUP_WITH(first_nonzero_exact);
    if (search == 'F') GROUP_WITH(first_nonzero_float_round);
    answer(std::vector<S>(mapped.memory, mapped.memory + samples));
}

// y KIND grid block area run pixels... : b and r for BGRA and RGB, B and R the publication's way.
static void luminances() {
    char kind;
    if (std::scanf(" %c", &kind) != 1) fail("a kind of pixels is missing");
    Dim grid = dim(), block = dim();
    Area where = area();
    unsigned run_length = number(), samples = number();
    Aligned<unsigned char> plane(numbers<unsigned char>(samples));
    std::vector<unsigned> counts(256);
    Weights weights = {{19595u, 38470u, 7471u, 0u}};
    run(grid, block, nothing, 0, [&] {
        unsigned* to = counts.data();
        if (kind == 'b') luminance::luminance_histogram_bgra(plane.memory, where, weights, to, run_length);
        if (kind == 'r') luminance::luminance_histogram_rgb(plane.memory, where, weights, to, run_length);
        if (kind == 'B') luminance::luminance_histogram_bgra_truncated(plane.memory, where, weights, to, run_length);
        if (kind == 'R') luminance::luminance_histogram_rgb_truncated(plane.memory, where, weights, to, run_length);
    });
    answer(counts);
}

// o most bins counts...
static void cut_off() {
    unsigned most = number(), bins = number();
    std::vector<unsigned> counts = numbers<unsigned>(bins);
    run(Dim{8, 1, 1}, Dim{64, 1, 1}, nothing, 0, [&] { saturated::saturation(counts.data(), bins, most); });
    answer(counts);
}

int main() {
    char question;
    while (std::scanf(" %c", &question) == 1) {
        if (question == 's') scanned();
        if (question == 'l') first_occupied();
        if (question == 'c') curve();
        if (question == 't') tuned_curve();
        if (question == 'y') luminances();
        if (question == 'o') cut_off();
        if (question != 'h' && question != 'm' && question != 'n' && question != 'g') continue;
        char variant;
        if (std::scanf(" %c", &variant) != 1) fail("a variant is missing");
        unsigned width = number();
        if (question == 'h' && width == 1) histogram<unsigned char>(variant);
        if (question == 'h' && width == 2) histogram<unsigned short>(variant);
        if (question == 'h' && width == 4) histogram<unsigned>(variant);
        if (question == 'n' && width == 1) without_curve<unsigned char>(variant);
        if (question == 'n' && width == 2) without_curve<unsigned short>(variant);
        if (question == 'n' && width == 4) without_curve<unsigned>(variant);
        if (question == 'g' && width == 1) with_group_min<unsigned char>(variant);
        if (question == 'g' && width == 2) with_group_min<unsigned short>(variant);
        if (question == 'g' && width == 4) with_group_min<unsigned>(variant);
        if (question == 'm' && width == 1) map<unsigned char>(variant);
        if (question == 'm' && width == 2) map<unsigned short>(variant);
        if (question == 'm' && width == 4) map<unsigned>(variant);
    }
}
