// Runs kernels/{pyramid,motion,merge}.cu in the emulator: one question a line on standard input, one line of numbers
// each on standard output. Samples are numbers of 16 bits without sign.
#include "emulator.hpp"

#include "sheet.cuh"
#include "warp.cuh"

using namespace histeq;

namespace pyramids {
#include "pyramid.cu"
}
#include "motion.cu"
#include "merge.cu"

template <typename T>
static std::vector<T> numbers(size_t count) {
    std::vector<T> read(count);
    for (T& value : read) value = static_cast<T>(number());
    return read;
}

template <typename T>
static void print(const std::vector<T>& values) {
    for (T value : values) std::printf("%u ", static_cast<unsigned>(static_cast<std::make_unsigned_t<T>>(value)));
}

static size_t padded(unsigned width, unsigned height) { return size_t{width + 2 * PAD} * (height + 2 * PAD); }

struct Field {
    unsigned columns, rows;
    std::vector<unsigned> words;
};

static Field field() {
    unsigned columns = number(), rows = number();
    return Field{columns, rows, numbers<unsigned>(size_t{columns} * rows)};
}

// width height, then a plane, and a quarter of luma: width height samples; powers of two of chroma, whether it is
// chroma.
struct Plane_ {
    NoisyPlane plane;
    std::vector<short> samples, quarter;
};

static Plane_ plane() {
    Plane_ read;
    read.plane.width = number(), read.plane.height = number();
    read.samples = numbers<short>(padded(read.plane.width, read.plane.height));
    read.plane.quarter_width = number(), read.plane.quarter_height = number();
    read.quarter = numbers<short>(padded(read.plane.quarter_width, read.plane.quarter_height));
    read.plane.log2_width = number(), read.plane.log2_height = number(), read.plane.is_chroma = number();
    read.plane.samples = read.samples.data();
    read.plane.quarter = read.quarter.data();
    return read;
}

// A plane of another frame, and the motion to it.
struct Other {
    std::vector<short> samples;
    Field field;

    ReferencePlane moved() const {
        return ReferencePlane{samples.data(), field.words.data(), field.columns, field.rows};
    }
};

static Other other(const NoisyPlane& plane) {
    std::vector<short> samples = numbers<short>(padded(plane.width, plane.height));
    return Other{samples, field()};
}

int main() {
    char question;
    while (std::scanf(" %c", &question) == 1) {
        if (question == 's') {
            unsigned halves = number(), width = number(), height = number();
            std::vector<short> from = numbers<short>(padded(width, height));
            std::vector<short> to(halves ? padded((width + 1) / 2, (height + 1) / 2) : padded(width, height));
            run(3, 64, 0, [&] {
                if (halves) pyramids::pyramid_halve(from.data(), to.data(), width, height);
                if (!halves) pyramids::pyramid_smooth(from.data(), to.data(), width, height);
            });
            print(to);
        }
        if (question == 'd') {
            unsigned width = number(), height = number();
            std::vector<short> one = numbers<short>(padded(width, height)), two = numbers<short>(padded(width, height));
            std::vector<unsigned> counts(1024);
            run(2, 96, 0, [&] { pyramids::pyramid_differences(one.data(), two.data(), width, height, counts.data()); });
            print(counts);
        }
        if (question == 'x') {
            unsigned forth = number();
            Field step = field(), between = field();
            std::vector<unsigned> to(step.words.size());
            const unsigned* near = between.words.empty() ? nullptr : between.words.data();
            run(2, 32, 0, [&] { motion_farther(near, step.words.data(), step.columns, step.rows, forth, to.data()); });
            print(to);
        }
        if (question == 'm') {
            unsigned width = number(), height = number();
            std::vector<short> one = numbers<short>(padded(width, height)), two = numbers<short>(padded(width, height));
            Field parents = field();
            unsigned kind = number(), calm = number(), reach = number(), finest = number();
            std::vector<unsigned> to(size_t{(width + 7) / 8} * ((height + 7) / 8));
            run(3, 64, 0, [&] {
                motion_search(one.data(), two.data(), width, height, parents.words.data(), parents.columns,
                              parents.rows, kind, calm, reach, finest, to.data());
            });
            print(to);
        }
        if (question == 'c') {
            Plane_ own = plane();
            Other moved = other(own.plane);
            std::vector<unsigned> counts(1 + (64 + CLASSES) * SIZES);
            run(2, 64, 0, [&] { merge_steady(own.plane, moved.moved(), counts.data()); });
            run(2, 256, sizeof(TempStorage),
                [&] { merge_count(own.plane, moved.moved(), counts.data(), counts.data() + 1); });
            print(counts);
        }
        if (question == 't') {
            Plane_ own = plane();
            ReferencePlanes others = {};
            others.count = number();
            others.near = number();
            std::vector<Other> read;
            for (unsigned i = 0; i < others.count; ++i) read.push_back(other(own.plane));
            for (unsigned i = 0; i < others.count; ++i) others.of[i] = read[i].moved();
            NoiseFactors noise;
            std::vector<unsigned> words = numbers<unsigned>(sizeof(noise) / 4);
            std::memcpy(&noise, words.data(), sizeof(noise));
            unsigned width = own.plane.width, height = own.plane.height;
            std::vector<short> tiles(size_t{(width + 3) / 4 + 1} * ((height + 3) / 4 + 1) * 64),
                out(size_t{width} * height);
            auto merge = others.count <= 4 ? merge_tiles : others.count <= 6 ? merge_six_tiles : merge_more_tiles;
            run(2, 256, 0, [&] { merge(own.plane, others, noise, tiles.data()); });
            run(2, 64, 0, [&] { merge_lay(tiles.data(), width, height, out.data()); });
            print(out);
        }
        std::printf("\n");
    }
}
