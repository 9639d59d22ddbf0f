// Runs kernels/{fused,equalization,histogram,tile_histogram,tile_curves,tile_map,chroma,balance,veil_curves}.cu in the
// emulator: one question a line on standard input, one line of numbers each on standard output. The test writes the
// kernels beside this file, with shared memory spelt as the emulator has it.
#include "emulator.hpp"

#include "fused.cu"
#include "equalization.cu"
#include "tiles.cuh"
#include "vectors.cuh"

static_assert(sizeof(Scale) == 4 * 8, "entries_of_steps in src/core/cuda/arguments.rs has room for 8 words");

namespace whole {
#include "histogram.cu"
}
namespace tiled {
#include "tile_histogram.cu"
}
namespace curves {
#include "tile_curves.cu"
}
namespace blended_curves {
#include "tile_map.cu"
}
#include "balance.cu"
#include "chroma.cu"
#include "veil_curves.cu"

// A plane of samples, whole vectors, behind which 64 bytes may be read but are not to be written.
template <typename S>
struct Memory {
    static constexpr size_t BEHIND = 4;
    std::vector<uint4> vectors;
    size_t samples;

    explicit Memory(size_t samples) : vectors((samples * sizeof(S) + 15) / 16 + BEHIND), samples(samples) {
        std::memset(static_cast<void*>(vectors.data()), 0xee, vectors.size() * 16);
        for (size_t i = 0; i < samples; ++i) data()[i] = static_cast<S>(number());
    }

    S* data() { return reinterpret_cast<S*>(vectors.data()); }

    void print() {
        const unsigned char* end = reinterpret_cast<const unsigned char*>(vectors.data() + vectors.size());
        for (size_t i = 1; i <= BEHIND * 16; ++i) {
            if (*(end - i) != 0xee) fail("a write beyond a plane");
        }
        for (size_t i = 0; i < samples; ++i) std::printf("%u ", static_cast<unsigned>(data()[i]));
    }
};

static BlendedLevels levels() {
    unsigned lo = number(), hi = number();
    return BlendedLevels{lo, hi, number()};
}

static size_t entries(unsigned codes) { return codes / SECTOR * SECTOR_PITCH; }

// b threads team teams share kept lo hi strength count pixels samples... : planes of a batch.
static void batch() {
    unsigned threads = number(), team = number(), teams = number(), share = number(), kept = number();
    BlendedLevels range = levels();
    unsigned count = number(), pixels = number();
    std::vector<Memory<unsigned char>> memory;
    for (unsigned i = 0; i < count; ++i) memory.emplace_back(pixels);
    Planes planes = {};
    for (unsigned i = 0; i < count; ++i) planes.of[i] = reinterpret_cast<unsigned long long>(memory[i].data());
    std::vector<unsigned> totals(teams * 3 * entries(256));
    Samples samples = {};
    samples.pixels = pixels;
    samples.max = 255;
    unsigned rounds = (share + threads - 1) / threads;
    size_t bytes = (256 * 4 << 5) + size_t{kept < rounds ? kept : rounds} * threads * 16;
    run(team * teams, threads, bytes,
        [&] { fused_batch_u8(planes, count, team, share, kept, samples, range, totals.data()); });
    for (Memory<unsigned char>& plane : memory) plane.print();
    std::printf("\n");
}

template <typename S>
using Kernel = void (*)(Plane, Samples, BlendedLevels, unsigned*, unsigned*);
template <typename S>
using ModifiedAhead = void (*)(Plane, Plane, Samples, BlendedLevels, Modifiers, WindowUpdate, PiecewiseLine, unsigned*,
                               unsigned*, unsigned*, Sum*, unsigned short*, unsigned);
using Modified = void (*)(Plane, Samples, BlendedLevels, Modifiers, WindowUpdate, PiecewiseLine, unsigned*, unsigned*,
                          unsigned*, Sum*, unsigned);

// ... KIND blocks threads share kept shift swapped lo hi strength pixels samples... : one plane; n as it is, l by the
// kernel for large planes, m by the one for all modifiers, none of which is asked for.
template <typename S>
static void plane(unsigned depth, unsigned log2_copies, Kernel<S> plain, Kernel<S> large, Modified modified) {
    char kind;
    if (std::scanf(" %c", &kind) != 1) fail("a kind is missing");
    unsigned blocks = number(), threads = number(), share = number(), kept = number(), codes = 1u << depth;
    Samples samples = {};
    samples.shift = number(), samples.swapped = number();
    BlendedLevels range = levels();
    samples.pixels = number();
    samples.max = codes - 1;
    Memory<S> memory(samples.pixels);
    // What is to be emptied need not be empty.
    std::vector<unsigned> totals(entries(codes)), cleared(entries(codes), 7u);
    uint4* vectors = memory.vectors.data();
    Plane plane = {vectors, vectors, share, kept};
    run(blocks, threads, (size_t{codes} * 4 << log2_copies) + size_t{kept} * threads * 16, [&] {
        if (kind == 'n') plain(plane, samples, range, totals.data(), cleared.data());
        if (kind == 'l') large(plane, samples, range, totals.data(), cleared.data());
        if (kind != 'm') return;
        Modifiers none = {};
        none.cap = UNCAPPED;
        none.frames = 1;
        none.samples = samples.pixels;
        none.width = range.hi - range.lo + 1u;
        none.ceiling = range.hi - range.lo;
        none.inverse = ~0ull / none.width;
        WindowUpdate alone = {0u, 0u, 0u, 1u, 1u, 0u, {NOWHERE, NOWHERE}, {NOWHERE, NOWHERE}, {UNCAPPED, UNCAPPED}};
        modified(plane, samples, range, none, alone, PiecewiseLine{}, totals.data(), cleared.data(), nullptr, nullptr,
                 share % 2u);
    });
    for (unsigned code = 0; code < codes; ++code) {
        if (*total_of(cleared.data(), code) != 0) fail("totals that are not empty");
    }
    memory.print();
    std::printf("\n");
}

// h bytes blocks threads log2_copies shift swapped lo hi max pixels samples... : the counts of a plane.
template <typename S>
static void histogram(void (*kernel)(const uint4*, Samples, BlendedLevels, unsigned*, unsigned, unsigned, unsigned)) {
    unsigned blocks = number(), threads = number(), log2_copies = number();
    Samples samples = {};
    samples.shift = number(), samples.swapped = number();
    BlendedLevels range = levels();
    samples.max = number(), samples.pixels = number();
    Memory<S> memory(samples.pixels);
    unsigned codes = samples.max + 1u, log2_codes = static_cast<unsigned>(__builtin_ctz(codes));
    std::vector<unsigned> counts(codes);
    run(blocks, threads, size_t{4} << (log2_codes + log2_copies),
        [&] { kernel(memory.vectors.data(), samples, range, counts.data(), log2_codes, log2_copies, 0); });
    for (unsigned count : counts) std::printf("%u ", count);
    std::printf("\n");
}

// t bytes threads log2_copies lo hi max columns rows width height picture_width picture_height bins bin_multiplier
// samples... : the bins of all tiles.
template <typename S>
static void tile_histogram(void (*kernel)(const uint4*, Samples, BlendedLevels, Tiles, unsigned*, unsigned)) {
    unsigned threads = number(), log2_copies = number();
    Samples samples = {};
    BlendedLevels range = {number(), 0u, 256u};
    range.hi = number();
    samples.max = number();
    Tiles tiles = {};
    tiles.columns = number(), tiles.rows = number(), tiles.width = number(), tiles.height = number();
    tiles.picture_width = number(), tiles.picture_height = number(), tiles.bins = number();
    tiles.bin_multiplier = number();
    tiles.pitch = tiles.picture_width;
    samples.pixels = tiles.picture_width * tiles.picture_height;
    Memory<S> memory(samples.pixels);
    unsigned codes = samples.max + 1u, count = tiles.columns * tiles.rows;
    std::vector<unsigned> counts(size_t{count} * tiles.bins);
    size_t counters = codes <= MOST_TILE_BINS ? codes : tiles.bins;
    run(count, threads, ((counters << log2_copies) + 3) / 4 * 16,
        [&] { kernel(memory.vectors.data(), samples, range, tiles, counts.data(), log2_copies); });
    for (unsigned held : counts) std::printf("%u ", held);
    std::printf("\n");
}

template <typename T>
static T structure() {
    unsigned words[sizeof(T) / 4];
    for (unsigned& word : words) word = number();
    T read;
    std::memcpy(&read, words, sizeof(T));
    return read;
}

// What a frame of a video comes with.
struct Order {
    BlendedLevels levels;
    Modifiers modifiers;
    WindowUpdate turn;
    PiecewiseLine line;

    Order()
        : levels(::levels()),
          modifiers(structure<Modifiers>()),
          turn(structure<WindowUpdate>()),
          line(structure<PiecewiseLine>()) {}
};

// The state of a video, whose buffers hold rubbish at first.
struct Kept {
    std::vector<unsigned> slots;
    std::vector<Sum> sums, bins;

    Kept(size_t rows, size_t entries)
        : slots(rows * entries, 0xdddddddd), sums(4 * entries, 0xdddddddddddddddd), bins(2 * entries) {}
};

// v depth blocks threads share kept rows frames pixels, then for each frame levels, modifiers, turn, line and samples:
// a video through the fused kernel. a ... : the same with a look-ahead of one frame; and the curve of each frame before
// the frame that is mapped with it.
template <typename S>
static void video(unsigned depth, unsigned log2_copies, Modified modified, ModifiedAhead<S> ahead) {
    unsigned blocks = number(), threads = number(), share = number(), kept = number(), codes = 1u << depth;
    unsigned rows = number(), frames = number();
    Samples samples = {};
    samples.pixels = number();
    samples.max = codes - 1;
    Kept state(rows, codes);
    std::vector<unsigned> totals(entries(codes)), cleared(entries(codes), 7u);
    std::unique_ptr<Memory<S>> waiting;
    for (unsigned frame = 0; frame < frames; ++frame) {
        Order order;
        if (ahead != nullptr) {
            auto memory = std::make_unique<Memory<S>>(samples.pixels);
            uint4* of_waiting = waiting ? waiting->vectors.data() : nullptr;
            Plane plane = {memory->vectors.data(), nullptr, share, kept}, waits = {of_waiting, of_waiting, share, kept};
            std::vector<unsigned short> curve(codes);
            run(blocks, threads, (size_t{codes} * 4 << log2_copies) + size_t{kept} * threads * 16, [&] {
                ahead(plane, waits, samples, order.levels, order.modifiers, order.turn, order.line, totals.data(),
                      cleared.data(), state.slots.data(), state.sums.data(), curve.data(), frame % 2u);
            });
            for (unsigned code : curve) std::printf("%u ", code);
            if (waiting) waiting->print();
            waiting = std::move(memory);
            totals.swap(cleared);
            continue;
        }
        Memory<S> memory(samples.pixels);
        Plane plane = {memory.vectors.data(), memory.vectors.data(), share, kept};
        run(blocks, threads, (size_t{codes} * 4 << log2_copies) + size_t{kept} * threads * 16, [&] {
            modified(plane, samples, order.levels, order.modifiers, order.turn, order.line, totals.data(),
                     cleared.data(), state.slots.data(), state.sums.data(), frame % 2u);
        });
        memory.print();
        totals.swap(cleared);
    }
    std::printf("\n");
}

// e codes blocks threads per rows frames, with `per` codes a thread (4, or 2 in several blocks), then for each frame
// levels, modifiers, turn, line and counts: their curves.
static void curves_of_video() {
    unsigned codes = number(), blocks = number(), threads = number(), per = number(), rows = number(),
             frames = number();
    Kept state(rows, codes);
    GridState grid = {};
    for (unsigned frame = 0; frame < frames; ++frame) {
        Order order;
        std::vector<unsigned> counts(codes);
        for (unsigned& count : counts) count = number();
        std::vector<unsigned short> curve(codes);
        auto kernel = per == 2 ? equalization_spread : equalization;
        run(blocks, threads, 0, [&] {
            kernel(counts.data(), codes, order.levels, order.modifiers, order.turn, order.line, state.slots.data(),
                   state.sums.data(), state.bins.data(), &grid, frame + 1, curve.data());
        });
        for (unsigned count : counts) {
            if (count != 0) fail("counts that are not empty");
        }
        for (unsigned short code : curve) std::printf("%u ", code);
    }
    std::printf("\n");
}

// How detail is brought out, if it is.
struct MaybeDetail {
    bool is_there = number() != 0;
    Detail detail = is_there ? structure<Detail>() : Detail{};
};

// l codes threads rows frames tiles place inverse, then for each frame levels, modifiers, turn, line and the counts of
// all tiles, 1 and how detail is brought out, or 0: their curves.
static void curves_of_tiles() {
    unsigned codes = number(), threads = number(), rows = number(), frames = number();
    Tiles tiles = structure<Tiles>();
    unsigned place = number(), count = tiles.columns * tiles.rows;
    structure<Inverse>();
    Kept state(rows, size_t{count} * tiles.bins);
    for (unsigned frame = 0; frame < frames; ++frame) {
        Order order;
        std::vector<unsigned> counts(size_t{count} * tiles.bins);
        for (unsigned& count : counts) count = number();
        MaybeDetail brings_out;
        std::vector<unsigned short> curves_of(size_t{count} * codes), steps(2 * (size_t{count} * tiles.bins + 8));
        unsigned short* made = (has_steps(place) ? steps : curves_of).data();
        run(count, threads, 8 * ((tiles.bins + 3) / 4 * 4), [&] {
            if (brings_out.is_there) {
                curves::detail_curves(codes, order.levels, order.modifiers, order.turn, tiles, brings_out.detail,
                                      order.line, counts.data(), state.slots.data(), state.sums.data(), made, place);
            } else {
                curves::tile_curves(codes, order.levels, order.modifiers, order.turn, tiles, counts.data(),
                                    state.slots.data(), state.sums.data(), made, place);
            }
        });
        if (has_steps(place)) {
            run(count, threads, 0, [&] {
                curves::tile_tables(codes, order.levels, tiles, reinterpret_cast<unsigned*>(steps.data()),
                                    curves_of.data());
            });
        }
        for (unsigned count : counts) {
            if (count != 0) fail("counts that are not empty");
        }
        for (unsigned code : curves_of) std::printf("%u ", code);
    }
    std::printf("\n");
}

// x bytes threads shift swapped codes tiles place inverse pixels curve_threads levels modifiers turn line, then the
// counts of all tiles, 1 and how detail is brought out, or 0, and samples: what the samples become.
template <typename S>
static void tile_map(void (*kernel)(const uint4*, uint4*, Samples, BlendedLevels, Tiles, const unsigned short*,
                                    unsigned, Inverse)) {
    unsigned threads = number();
    Samples samples = {};
    samples.shift = number(), samples.swapped = number();
    unsigned codes = number();
    samples.max = codes - 1;
    Tiles tiles = structure<Tiles>();
    unsigned place = number(), count = tiles.columns * tiles.rows;
    Inverse inverse = structure<Inverse>();
    samples.pixels = number();
    unsigned curve_threads = number();
    Order order;
    std::vector<unsigned> counts(size_t{count} * tiles.bins);
    for (unsigned& count : counts) count = number();
    MaybeDetail brings_out;
    Memory<S> memory(samples.pixels);
    std::vector<unsigned short> curves_of(has_steps(place) ? 2 * (size_t{count} * tiles.bins + 8)
                                                           : size_t{count} * codes);
    run(count, curve_threads, 8 * ((tiles.bins + 3) / 4 * 4), [&] {
        if (brings_out.is_there) {
            curves::detail_curves(codes, order.levels, order.modifiers, order.turn, tiles, brings_out.detail,
                                  order.line, counts.data(), nullptr, nullptr, curves_of.data(), place);
        } else {
            curves::tile_curves(codes, order.levels, order.modifiers, order.turn, tiles, counts.data(), nullptr,
                                nullptr, curves_of.data(), place);
        }
    });
    size_t shared = sizeof(S) == 1       ? 32 * codes
                    : place == IN_SHARED ? 8 * codes
                    : has_steps(place)   ? 16 * (tiles.bins + 1)
                                         : 0;
    uint4* plane = memory.vectors.data();
    run((tiles.columns + 1) * (tiles.rows + 1), threads, shared,
        [&] { kernel(plane, plane, samples, order.levels, tiles, curves_of.data(), place, inverse); });
    memory.print();
    std::printf("\n");
}

// What the curves of a veil come of.
struct UnderVeil {
    unsigned log2_codes;
    BlendedLevels levels;
    Veil veil;
    ToneCurve curve;
    std::vector<unsigned short> curves;

    UnderVeil()
        : log2_codes(number()),
          levels(structure<BlendedLevels>()),
          veil(structure<Veil>()),
          curve(structure<ToneCurve>()),
          curves(REGIONS * REGIONS << log2_codes) {}

    void make(unsigned blocks, unsigned threads) {
        run(blocks, threads, 0, [&] { veil_curves(log2_codes, levels, veil, curve, curves.data()); });
    }
};

// c blocks threads log2_codes levels veil curve : the curves of all regions.
static void curves_of_veil() {
    unsigned blocks = number(), threads = number();
    UnderVeil under;
    under.make(blocks, threads);
    for (unsigned code : under.curves) std::printf("%u ", code);
    std::printf("\n");
}

// w bytes threads shift swapped tiles place inverse pixels log2_codes levels veil curve samples... : a plane under a
// veil.
template <typename S>
static void unveil(void (*kernel)(const uint4*, uint4*, Samples, BlendedLevels, Tiles, const unsigned short*, unsigned,
                                  Inverse)) {
    unsigned threads = number();
    Samples samples = {};
    samples.shift = number(), samples.swapped = number();
    Tiles tiles = structure<Tiles>();
    unsigned place = number();
    Inverse inverse = structure<Inverse>();
    samples.pixels = number();
    UnderVeil under;
    samples.max = (1u << under.log2_codes) - 1u;
    Memory<S> memory(samples.pixels);
    under.make(3, threads);
    uint4* plane = memory.vectors.data();
    size_t shared = sizeof(S) == 1 ? 32 * 256 : place == IN_SHARED ? size_t{8} << under.log2_codes : 0;
    run((tiles.columns + 1) * (tiles.rows + 1), threads, shared,
        [&] { kernel(plane, plane, samples, under.levels, tiles, under.curves.data(), place, inverse); });
    memory.print();
    std::printf("\n");
}

// k KIND components planar plane_vectors samples levels places colours gains weights balance balance_of_yuv, then bytes
// of the picture, of the luminance of RGB before and after, each with their number before them, and the planes, the
// first byte and the number of bytes of each: the picture after a kernel of colour. Kinds: f gives chroma gains, b
// balances all, r moves RGB with gains.
template <typename S>
static void colour() {
    char kind;
    if (std::scanf(" %c", &kind) != 1) fail("a kind is missing");
    unsigned components = number(), planar = number(), plane_vectors = number();
    Samples samples = structure<Samples>();
    BlendedLevels range = structure<BlendedLevels>();
    ChromaPlaces places = structure<ChromaPlaces>();
    Colours colours = structure<Colours>();
    Gains gains = structure<Gains>();
    Weights weights = structure<Weights>();
    Balance balance = structure<Balance>();
    BalanceOfYuv of_yuv = structure<BalanceOfYuv>();
    Memory<unsigned char> picture(number()), before(number()), after(number());
    uint4 *pixels = picture.vectors.data(), *luma = before.vectors.data(), *mapped = after.vectors.data();
    S* stored = reinterpret_cast<S*>(pixels);
    run(2, 64, 0, [&] {
        if (kind == 'f') follow_pairs<S>(stored, samples, places, colours, gains);
        if (kind == 'b' && components == 0) balance_yuv<S>(stored, samples, range, places, colours, of_yuv);
        if (kind == 'b' && planar) balance_rgb<S, 3, true>(pixels, plane_vectors, samples, weights, balance);
        if (kind == 'b' && !planar && components == 3)
            balance_rgb<S, 3, false>(pixels, plane_vectors, samples, weights, balance);
        if (kind == 'b' && components == 4) balance_rgb<S, 4, false>(pixels, plane_vectors, samples, weights, balance);
        if (kind != 'r') return;
        if (planar) follow_pixels<S, 3, true>(pixels, plane_vectors, luma, mapped, samples, weights, nullptr, gains);
        if (!planar && components == 3)
            follow_pixels<S, 3, false>(pixels, plane_vectors, luma, mapped, samples, weights, nullptr, gains);
        if (components == 4)
            follow_pixels<S, 4, false>(pixels, plane_vectors, luma, mapped, samples, weights, nullptr, gains);
    });
    for (unsigned left = number(); left > 0; --left) {
        unsigned start = number(), bytes = number();
        for (unsigned i = start; i < start + bytes; ++i) std::printf("%u ", static_cast<unsigned>(picture.data()[i]));
    }
    std::printf("\n");
}

int main() {
    char question;
    while (std::scanf(" %c", &question) == 1) {
        if (question == 'b') batch();
        if (question == 'h') {
            number() == 1 ? histogram<unsigned char>(whole::histogram_u8)
                          : histogram<unsigned short>(whole::histogram_u16);
        }
        if (question == 't') {
            number() == 1 ? tile_histogram<unsigned char>(tiled::tile_histogram_u8)
                          : tile_histogram<unsigned short>(tiled::tile_histogram_u16);
        }
        if (question == 'e') curves_of_video();
        if (question == 'l') curves_of_tiles();
        if (question == 'c') curves_of_veil();
        if (question == 'w') {
            number() == 1 ? unveil<unsigned char>(blended_curves::tile_map_u8)
                          : unveil<unsigned short>(blended_curves::tile_map_u16);
        }
        if (question == 'k') number() == 1 ? colour<unsigned char>() : colour<unsigned short>();
        if (question == 'x') {
            number() == 1 ? tile_map<unsigned char>(blended_curves::tile_map_u8)
                          : tile_map<unsigned short>(blended_curves::tile_map_u16);
        }
        if (question == 'v' || question == 'a') {
            unsigned depth = number();
            bool ahead = question == 'a';
            if (depth <= 8) {
                video<unsigned char>(depth, 5, fused_modified_u8, ahead ? fused_ahead_u8 : nullptr);
            } else {
                video<unsigned short>(depth, 3, fused_modified_u10, ahead ? fused_ahead_u10 : nullptr);
            }
        }
        if (question != 'p') continue;
        unsigned depth = number();
        if (depth <= 8) {
            plane<unsigned char>(depth, 5, fused_u8, fused_large_u8, fused_modified_u8);
        } else {
            plane<unsigned short>(depth, 3, fused_u10, fused_large_u10, fused_modified_u10);
        }
    }
}
