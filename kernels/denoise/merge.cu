// Denoises 8x8 tiles that overlap by half: transforms them and the motion-compensated tiles of other frames, merges
// these, and shrinks the coefficients (`src/core/denoise/{dct,noise,merge}.rs`). Eight threads process a tile: first
// each has a column of samples, then a row of coefficients.
#include "arguments.cuh"
#include "launch.cuh"
#include "sheet.cuh"
#include "warp.cuh"

using namespace histeq;

constexpr int SIZE = 8;
constexpr int STEP = 4;
constexpr int TILES = 32;  // of a block of 256 threads

// The same values as in `noise.rs`.
constexpr int SIZES = 192;
constexpr int CLASSES = 12;

// `a * b / 65536`, rounded down.
DEVICE short mul_high_signed(short a, short b) { return (short)((int)a * (int)b >> 16); }
DEVICE unsigned mul_high(unsigned a, unsigned b) { return a * b >> 16; }
DEVICE short saturated(int value) { return (short)clamped(value, -32768, 32767); }

constexpr short C1 = 32138, C2 = 30274, C3 = 27246, C4 = 23170, C5 = 18205, C6 = 12540, C7 = 6393;

DEVICE void forward_dct_8(short* x) {
    short s0 = x[0] + x[7], s1 = x[1] + x[6], s2 = x[2] + x[5], s3 = x[3] + x[4];
    short d0 = x[0] - x[7], d1 = x[1] - x[6], d2 = x[2] - x[5], d3 = x[3] - x[4];
    short even = mul_high_signed((short)(s0 + s3), C4), odd = mul_high_signed((short)(s1 + s2), C4);
    short e0 = s0 - s3, e1 = s1 - s2;
    x[0] = even + odd + 1;
    x[1] = mul_high_signed(d0, C1) + mul_high_signed(d1, C3) + mul_high_signed(d2, C5) + mul_high_signed(d3, C7) + 2;
    x[2] = mul_high_signed(e0, C2) + mul_high_signed(e1, C6) + 1;
    x[3] = mul_high_signed(d0, C3) - mul_high_signed(d1, C7) - mul_high_signed(d2, C1) - mul_high_signed(d3, C5) - 1;
    x[4] = even - odd;
    x[5] = mul_high_signed(d0, C5) - mul_high_signed(d1, C1) + mul_high_signed(d2, C7) + mul_high_signed(d3, C3) + 1;
    x[6] = mul_high_signed(e0, C6) - mul_high_signed(e1, C2);
    x[7] = mul_high_signed(d0, C7) - mul_high_signed(d1, C5) + mul_high_signed(d2, C3) - mul_high_signed(d3, C1);
}

DEVICE void inverse_dct_8(short* x) {
    short first = mul_high_signed(x[0], C4), fourth = mul_high_signed(x[4], C4);
    short even = first + fourth + 1, odd = first - fourth;
    short outer = mul_high_signed(x[2], C2) + mul_high_signed(x[6], C6) + 1,
          inner = mul_high_signed(x[2], C6) - mul_high_signed(x[6], C2);
    short s0 = even + outer, s1 = odd + inner, s2 = odd - inner, s3 = even - outer;
    short x1 = x[1], x3 = x[3], x5 = x[5], x7 = x[7];
    short d0 =
        mul_high_signed(x1, C1) + mul_high_signed(x3, C3) + mul_high_signed(x5, C5) + mul_high_signed(x7, C7) + 2;
    short d1 =
        mul_high_signed(x1, C3) - mul_high_signed(x3, C7) - mul_high_signed(x5, C1) - mul_high_signed(x7, C5) - 1;
    short d2 =
        mul_high_signed(x1, C5) - mul_high_signed(x3, C1) + mul_high_signed(x5, C7) + mul_high_signed(x7, C3) + 1;
    short d3 = mul_high_signed(x1, C7) - mul_high_signed(x3, C5) + mul_high_signed(x5, C3) - mul_high_signed(x7, C1);
    x[0] = s0 + d0;
    x[1] = s1 + d1;
    x[2] = s2 + d2;
    x[3] = s3 + d3;
    x[4] = s3 - d3;
    x[5] = s2 - d2;
    x[6] = s1 - d1;
    x[7] = s0 - d0;
}

// Where the eight threads of each tile exchange columns for rows. A row takes nine words of two bytes, so that columns
// lie in different banks.
struct TransposeStorage {
    unsigned short of[TILES][SIZE][SIZE + 1];
};

// Thread `at` of a tile gives column `at` and gets row `at`, or the other way round. The threads of a tile are of one
// warp.
DEVICE void transpose(TransposeStorage& exchange, int tile, int at, short* line) {
    __syncwarp();
#pragma unroll
    for (int i = 0; i < SIZE; ++i) exchange.of[tile][i][at] = (unsigned short)line[i];
    __syncwarp();
#pragma unroll
    for (int i = 0; i < SIZE; ++i) line[i] = (short)exchange.of[tile][at][i];
}

// A column of samples becomes a row of coefficients.
DEVICE void forward_dct(TransposeStorage& exchange, int tile, int at, short* line) {
    forward_dct_8(line);
    transpose(exchange, tile, at, line);
    forward_dct_8(line);
}

DEVICE Sheet<const short> own_of(const NoisyPlane& plane) {
    return Sheet<const short>{plane.samples, (int)plane.width, (int)plane.height};
}

// The luma coordinates of the middle of a tile.
DEVICE int middle_x(const NoisyPlane& plane, int column) { return column * STEP << plane.log2_width; }
DEVICE int middle_y(const NoisyPlane& plane, int row) { return row * STEP << plane.log2_height; }

DEVICE unsigned brightness_of(const NoisyPlane& plane, int column, int row) {
    int x = middle_x(plane, column) >> 2, y = middle_y(plane, row) >> 2;
    Sheet<const short> quarter{plane.quarter, (int)plane.quarter_width, (int)plane.quarter_height};
    return (unsigned short)*quarter.at(clamped(x, 0, quarter.width - 1), clamped(y, 0, quarter.height - 1));
}

DEVICE MotionField field_of(const ReferencePlane& moved) {
    return MotionField{moved.field, (int)moved.field_columns, (int)moved.field_rows};
}

// Column `at` of a tile of the frame itself.
DEVICE void load_source(const NoisyPlane& plane, int column, int row, int at, short* line) {
    Sheet<const short> own = own_of(plane);
    int x = within(column * STEP - STEP, SIZE, own.width), y = within(row * STEP - STEP, SIZE, own.height);
    const short* from = own.at(x + at, y);
#pragma unroll
    for (int i = 0; i < SIZE; ++i) line[i] = from[i * own.stride()];
}

// The weights of four samples for interpolation at 1, 2 or 3 quarters of the way from the second to the third sample,
// in 16384ths.
struct Cubic {
    short of[4];
};

DEVICE Cubic cubic_of(int quarters) {
    if (quarters == 1) return Cubic{{-1792, 14336, 4352, -512}};
    if (quarters == 2) return Cubic{{-1536, 9728, 9728, -1536}};
    return Cubic{{-512, 4352, 14336, -1792}};
}

DEVICE short of_four(int a, int b, int c, int d, const Cubic& cubic) {
    return (short)(mul_high_signed((short)(a << 2), cubic.of[0]) + mul_high_signed((short)(b << 2), cubic.of[1]) +
                   mul_high_signed((short)(c << 2), cubic.of[2]) + mul_high_signed((short)(d << 2), cubic.of[3]) + 2);
}

// Loads column `at` of the 4x4 samples of another frame to which the motion of a cell of 4x4 samples leads. `cell` and
// `band` are the column and the row of the cell.
DEVICE void load_moved(const NoisyPlane& plane, const ReferencePlane& moved, int cell, int band, int at, short* line) {
    Sheet<const short> other{moved.samples, (int)plane.width, (int)plane.height};
    int stride = other.stride();
    Vector vector = field_of(moved).at((STEP * cell + 2) * (1 << plane.log2_width) >> 3,
                                       (STEP * band + 2) * (1 << plane.log2_height) >> 3);
    if (plane.is_chroma != 0u) {
        // The motion in eighths of a chroma sample.
        int across = 2 * vector.x >> plane.log2_width, down = 2 * vector.y >> plane.log2_height;
        int x = within(STEP * cell + (across >> 3), STEP, other.width);
        int y = within(STEP * band + (down >> 3), STEP, other.height);
        across &= 7;
        down &= 7;
        const short* from = other.at(x + at, y);
        int lines[STEP + 1];
#pragma unroll
        for (int i = 0; i <= STEP; ++i) {
            const short* of = from + i * stride;
            lines[i] = (of[0] * (8 - across) + of[1] * across + 4) >> 3;
        }
#pragma unroll
        for (int i = 0; i < STEP; ++i) line[i] = (short)((lines[i] * (8 - down) + lines[i + 1] * down + 4) >> 3);
        return;
    }
    int x = within(STEP * cell + (vector.x >> 2), STEP, other.width);
    int y = within(STEP * band + (vector.y >> 2), STEP, other.height);
    int across = vector.x & 3, down = vector.y & 3;
    Cubic of_columns = cubic_of(across), of_rows = cubic_of(down);
    const short* from = other.at(x + at, y - 1);
    short lines[STEP + 3];
#pragma unroll
    for (int i = 0; i < STEP + 3; ++i) {
        const short* of = from + i * stride;
        lines[i] = across == 0 ? of[0] : of_four(of[-1], of[0], of[1], of[2], of_columns);
    }
#pragma unroll
    for (int i = 0; i < STEP; ++i) {
        line[i] = down == 0 ? lines[i + 1] : of_four(lines[i], lines[i + 1], lines[i + 2], lines[i + 3], of_rows);
    }
}

// Column `at` of a tile of another frame. Each of the tile's four cells has its own motion.
DEVICE void load_reference(const NoisyPlane& plane, const ReferencePlane& moved, int column, int row, int at,
                           short* line) {
    int cell = column - 1 + at / STEP;
    load_moved(plane, moved, cell, row - 1, at % STEP, line);
    load_moved(plane, moved, cell, row, at % STEP, line + STEP);
}

// Whether the vectors around the block at the middle of a tile differ from its vector by at most half a sample.
DEVICE bool is_steady(const NoisyPlane& plane, const MotionField& field, int column, int row) {
    int x = middle_x(plane, column) / SIZE, y = middle_y(plane, row) / SIZE;
    Vector own = field.at(x, y);
    for (int i = 0; i < 9; ++i) {
        Vector near = field.at(x + i % 3 - 1, y + i / 3 - 1);
        int across = near.x - own.x, down = near.y - own.y;
        if ((across < 0 ? -across : across) + (down < 0 ? -down : down) > 2) return false;
    }
    return true;
}

// The number of tiles in which differences are counted: tiles that do not overlap, in every other row.
DEVICE unsigned counted_tiles(const NoisyPlane& plane) {
    return plane.width / SIZE * ((plane.height / SIZE + 1u) / 2u);
}

// Adds the number of steady tiles to `steady`: the counted tiles around which the motion is nearly uniform
// (`is_steady`).
// Arguments: `plane` is the plane whose noise is removed, `moved` the same plane of another frame with the motion to
// it.
// Launch: any number of blocks of whole warps, up to 256 threads; no dynamic shared memory.
extern "C" __global__ __launch_bounds__(256) void merge_steady(NoisyPlane plane, ReferencePlane moved,
                                                               unsigned* steady) {
    grid_dependency_sync();
    MotionField field = field_of(moved);
    unsigned columns = plane.width / SIZE, tiles = counted_tiles(plane), found = 0u;
    for (unsigned index = blockIdx.x * blockDim.x + threadIdx.x; index < tiles; index += gridDim.x * blockDim.x) {
        found += is_steady(plane, field, 2 * (int)(index % columns) + 1, 4 * (int)(index / columns) + 1) ? 1u : 0u;
    }
    found = warp_sum(found);
    if (threadIdx.x % WARP_THREADS == 0u && found > 0u) atomicAdd(steady, found);
}

// The histogram bin of a difference.
DEVICE unsigned size_of(unsigned difference) {
    unsigned capped = difference < 0x7fffu ? difference : 0x7fffu;
    unsigned octave = 31u - (unsigned)__clz((int)(capped | 16u)) - 4u;
    return 16u * octave + (capped >> octave);
}

// The brightness at the middle of a class.
DEVICE unsigned middle_of_class(int at) {
    constexpr unsigned short BRIGHTNESS[CLASSES] = {48, 72, 88, 104, 128, 160, 208, 272, 368, 496, 672, 880};
    return BRIGHTNESS[at];
}

DEVICE int class_of(unsigned brightness) {
    int found = 0;
#pragma unroll
    for (int at = 0; at < CLASSES - 1; ++at) {
        found += 2u * brightness >= middle_of_class(at) + middle_of_class(at + 1) ? 1 : 0;
    }
    return found;
}

struct TempStorage {
    TransposeStorage exchange;
    // Each word has two counters of 16 bits, so a block counts fewer than 2^16 tiles.
    unsigned by_coefficient[SIZE * SIZE * SIZES / 2];
    unsigned by_class[CLASSES * SIZES];
};

// Adds the histograms of the differences between coefficients of two frames: 192 counts for each of 64 coefficients,
// then for each of 12 classes of brightness. Counts only steady tiles, or all tiles where fewer than one in eight is
// steady.
// Arguments: as `merge_steady`, which has run before; `counts` has 192 * (64 + 12) entries.
// Launch: blocks of 256 threads, with at most 65,535 tiles each. Dynamic shared memory: 38,400 bytes.
extern "C" __global__ __launch_bounds__(256) void merge_count(NoisyPlane plane, ReferencePlane moved,
                                                              const unsigned* steady, unsigned* counts) {
    extern __shared__ __align__(16) unsigned shared_counts[];
    TempStorage& storage = *reinterpret_cast<TempStorage*>(shared_counts);
    for (unsigned i = threadIdx.x; i < SIZE * SIZE * SIZES / 2; i += blockDim.x) storage.by_coefficient[i] = 0u;
    for (unsigned i = threadIdx.x; i < CLASSES * SIZES; i += blockDim.x) storage.by_class[i] = 0u;
    __syncthreads();
    grid_dependency_sync();
    MotionField field = field_of(moved);
    unsigned columns = plane.width / SIZE, tiles = counted_tiles(plane);
    bool all = 8u * load_cg(steady) < tiles;
    int tile = (int)threadIdx.x / SIZE, at = (int)threadIdx.x % SIZE;
    for (unsigned first = blockIdx.x * TILES; first < tiles; first += gridDim.x * TILES) {
        unsigned index = first + (unsigned)tile;
        int column = 2 * (int)(index % columns) + 1, row = 4 * (int)(index / columns) + 1;
        bool counts_here = index < tiles && (all || is_steady(plane, field, column, row));
        short own[SIZE] = {}, other[SIZE] = {};
        if (counts_here) {
            load_source(plane, column, row, at, own);
            load_reference(plane, moved, column, row, at, other);
        }
        forward_dct(storage.exchange, tile, at, own);
        forward_dct(storage.exchange, tile, at, other);
        if (!counts_here) continue;
        unsigned* by_class = storage.by_class + class_of(brightness_of(plane, column, row)) * SIZES;
        for (int i = 0; i < SIZE; ++i) {
            int apart = (int)own[i] - (int)other[i];
            unsigned size = size_of((unsigned)(apart < 0 ? -apart : apart));
            unsigned place = (unsigned)(at * SIZE + i) * SIZES + size;
            atomicAdd(&storage.by_coefficient[place / 2u], 1u << 16u * (place % 2u));
            if (i > 0 && at > 0) atomicAdd(&by_class[size], 1u);
        }
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < SIZE * SIZE * SIZES; i += blockDim.x) {
        unsigned count = storage.by_coefficient[i / 2u] >> 16u * (i % 2u) & 0xffffu;
        if (count > 0u) atomicAdd(&counts[i], count);
    }
    for (unsigned i = threadIdx.x; i < CLASSES * SIZES; i += blockDim.x) {
        if (storage.by_class[i] > 0u) atomicAdd(&counts[SIZE * SIZE * SIZES + i], storage.by_class[i]);
    }
}

constexpr unsigned UNIT = 1024u;
constexpr unsigned FULLY = UNIT * 16u / 10u;
constexpr unsigned NOT_ONE = 4u * UNIT;
constexpr unsigned SMOOTH = 600u;

// The multiplier of the noise factors at this brightness.
DEVICE unsigned of_brightness(const NoiseFactors& noise, unsigned brightness) {
    int at = 0;
#pragma unroll
    for (int i = 0; i < CLASSES - 1; ++i) at += brightness >= middle_of_class(i) ? 1 : 0;
    if (at == 0) return noise.of_class[0];
    if (brightness >= middle_of_class(CLASSES - 1)) return noise.of_class[CLASSES - 1];
    unsigned from = middle_of_class(at - 1), to = middle_of_class(at);
    unsigned share = (brightness - from) * 256u / (to - from);
    return (noise.of_class[at - 1] * (256u - share) + noise.of_class[at] * share) >> 8;
}

// The square of a coefficient divided by the noise variance of a difference of two frames, in 1024ths.
DEVICE unsigned square(int coefficient, unsigned factor) {
    unsigned size = (unsigned)(coefficient < 0 ? -coefficient : coefficient);
    size = (size < 16383u ? size : 16383u) << 2;
    size = mul_high(size, factor);
    size = size < 255u ? size : 255u;
    return size * size;
}

DEVICE unsigned halfway(unsigned a, unsigned b) { return (a + b + 1u) >> 1; }

// Smooths the squares of a tile with the weights 1 2 1 in both directions; each thread of the tile has one row.
DEVICE void smooth(TransposeStorage& exchange, int tile, int at, const unsigned* squares, unsigned* smoothed) {
    unsigned across[SIZE];
#pragma unroll
    for (int i = 0; i < SIZE; ++i) {
        unsigned left = squares[i > 0 ? i - 1 : 0], right = squares[i < SIZE - 1 ? i + 1 : SIZE - 1];
        across[i] = halfway(halfway(left, right), squares[i]);
    }
    __syncwarp();
#pragma unroll
    for (int i = 0; i < SIZE; ++i) exchange.of[tile][at][i] = (unsigned short)across[i];
    __syncwarp();
    int above = at > 0 ? at - 1 : 0, below = at < SIZE - 1 ? at + 1 : SIZE - 1;
#pragma unroll
    for (int i = 0; i < SIZE; ++i) {
        smoothed[i] = halfway(halfway(exchange.of[tile][above][i], exchange.of[tile][below][i]), across[i]);
    }
}

// The sum over the eight threads of a tile.
DEVICE unsigned sum_of_tile(unsigned value) {
    for (unsigned distance = SIZE / 2u; distance > 0u; distance /= 2u)
        value += __shfl_xor_sync(FULL_MASK, value, distance);
    return value;
}

// A sample times a raised-cosine window in 128ths, whose overlapping halves add up to 1.
DEVICE short weighed(short sample, int at) {
    constexpr short COSINE[SIZE] = {5, 39, 89, 123, 123, 89, 39, 5};
    return mul_high_signed((short)(sample << 1), (short)(COSINE[at] << 8));
}

// `1 / number` with a relative error of 1/8000, and the same bits as in `merge.rs`: multiplications and additions are
// not fused.
DEVICE float inverse_of(unsigned number) {
    float exact = (float)number, rough = __uint_as_float(0x7eb50000u - __float_as_uint(exact));
    return __fmul_rn(__fmul_rn(rough, 1.9412877f), __fsub_rn(1.4355202f, __fmul_rn(exact, rough)));
}

// The nearest integer, below 65,536.
DEVICE unsigned rounded(float number) { return __float_as_uint(__fadd_rn(number, 12582912.0f)) & 0xffffu; }

// Writes the denoised tiles of a plane, weighted, row by row: 64 values each. Merges at most REFERENCES other frames.
template <int REFERENCES>
DEVICE void merge_with(const NoisyPlane& plane, const ReferencePlanes& others, const NoiseFactors& noise,
                       TransposeStorage& exchange, short* out) {
    unsigned columns = (plane.width + STEP - 1u) / STEP + 1u;
    unsigned tiles = columns * ((plane.height + STEP - 1u) / STEP + 1u);
    int tile = (int)threadIdx.x / SIZE, at = (int)threadIdx.x % SIZE;
    for (unsigned first = blockIdx.x * TILES; first < tiles; first += gridDim.x * TILES) {
        unsigned index = first + (unsigned)tile;
        bool is_there = index < tiles;
        int column = (int)(index % columns), row = is_there ? (int)(index / columns) : 0;
        short own[SIZE];
        load_source(plane, column, row, at, own);
        forward_dct(exchange, tile, at, own);
        unsigned of_tile = of_brightness(noise, brightness_of(plane, column, row)), factors[SIZE];
#pragma unroll
        for (int i = 0; i < SIZE; ++i) {
            unsigned factor = mul_high(noise.factors[at * SIZE + i], of_tile) & 0xffffu, most = noise.most >> 2;
            factors[i] = (factor < most ? factor : most) << 2;
        }

        bool is_smooth = false;
        if (others.near < others.count) {
            unsigned all = 0u;
#pragma unroll
            for (int i = 0; i < SIZE; ++i) all += at + i > 0 ? square(own[i], factors[i]) >> 7 : 0u;
            is_smooth = sum_of_tile(all) < SMOOTH;
        }
        unsigned count = __any_sync(FULL_MASK, is_smooth) ? others.count : others.near;
        unsigned weights[REFERENCES][SIZE], left[SIZE];
        short moved[REFERENCES][SIZE];
#pragma unroll
        for (int i = 0; i < SIZE; ++i) left[i] = 256u;
#pragma unroll
        for (int other = 0; other < REFERENCES; ++other) {
            if (other >= (int)count) break;
            load_reference(plane, others.of[other], column, row, at, moved[other]);
            forward_dct(exchange, tile, at, moved[other]);
            unsigned squares[SIZE], smoothed[SIZE], all = 0u, low = 0u;
#pragma unroll
            for (int i = 0; i < SIZE; ++i) {
                squares[i] = square(saturated((int)own[i] - (int)moved[other][i]), factors[i]);
                all += squares[i] >> 7;
                if (i < 3 && at < 3) low += squares[i] >> 4;
            }
            low = sum_of_tile(low);
            unsigned half_mean = sum_of_tile(all) + 32u, guard = low + mul_high(low, 16021u);
            smooth(exchange, tile, at, squares, smoothed);
#pragma unroll
            for (int i = 0; i < SIZE; ++i) {
                unsigned apart = (smoothed[i] >> 1) + half_mean;
                apart = apart > guard ? apart : guard;
                apart = apart < NOT_ONE ? apart : NOT_ONE;
                unsigned weight = mul_high(NOT_ONE - apart, 256u * 65536u / (NOT_ONE - FULLY));
                bool is_used = is_smooth || other < (int)others.near;
                weights[other][i] = is_used ? (weight < 255u ? weight : 255u) : 0u;
                left[i] += weights[other][i];
            }
        }

        // Each share of a difference is rounded down, by half a step on average.
        unsigned rounding = others.near / 2u + (is_smooth ? (others.count - others.near) / 2u : 0u);
        unsigned squares[SIZE], smoothed[SIZE];
#pragma unroll
        for (int i = 0; i < SIZE; ++i) {
            unsigned whole = rounded(__fmul_rn(8388608.0f, inverse_of(left[i])));
            short moves = 0;
            left[i] = mul_high(whole, whole);
#pragma unroll
            for (int other = 0; other < REFERENCES; ++other) {
                if (other >= (int)count) break;
                unsigned share = mul_high(weights[other][i] << 8, whole);
                moves = (short)(moves +
                                mul_high_signed(saturated((int)moved[other][i] - (int)own[i]), (short)(share << 1)));
                left[i] += mul_high(share, share);
            }
            own[i] = saturated((int)saturated((int)own[i] + (int)moves) + (int)rounding);
            squares[i] = square(own[i], factors[i]);
        }
        // The mean of a tile is not noise, so its square is set to the maximum. This also raises the smoothed squares
        // of the lowest frequencies, so that they are kept too.
        if (at == 0) squares[0] = 255u * 255u;
        smooth(exchange, tile, at, squares, smoothed);
#pragma unroll
        for (int i = 0; i < SIZE; ++i) {
            if (at == 0 && i == 0) continue;
            unsigned most = left[i] + left[i] / 5u + 491u;
            most *= plane.is_chroma != 0u ? 24u : 18u;
            unsigned lost = rounded(__fmul_rn((float)most, inverse_of(smoothed[i] > 128u ? smoothed[i] : 128u)));
            lost = lost < 257u ? lost : 257u;
            lost = lost > 2u ? lost - 2u : 0u;
            own[i] = (short)(own[i] - (short)(mul_high_signed(own[i], (short)(lost << 7)) << 1));
        }
        // Only the rows are transformed back: `merge_lay` adds up neighbouring tiles before it transforms the columns
        // back.
        inverse_dct_8(own);
        if (!is_there) continue;
#pragma unroll
        for (int i = 0; i < SIZE; ++i) {
            out[(unsigned long long)index * SIZE * SIZE + at * SIZE + i] = weighed(own[i], i);
        }
    }
}

// Merges the tiles of a plane with those of at most four other frames, which stay in registers, and shrinks the
// coefficients; eight threads a tile.
// Arguments: `out` receives 64 values a tile, row by row: rows are weighted samples, columns are still coefficients.
// Launch: any number of blocks of 256 threads; no dynamic shared memory.
extern "C" __global__ __launch_bounds__(256) void merge_tiles(NoisyPlane plane, ReferencePlanes others,
                                                              NoiseFactors noise, short* out) {
    __shared__ TransposeStorage exchange;
    grid_dependency_sync();
    merge_with<4>(plane, others, noise, exchange, out);
}

// As `merge_tiles`, with at most six other frames. Launch: as `merge_tiles`.
extern "C" __global__ __launch_bounds__(256) void merge_six_tiles(NoisyPlane plane, ReferencePlanes others,
                                                                  NoiseFactors noise, short* out) {
    __shared__ TransposeStorage exchange;
    grid_dependency_sync();
    merge_with<6>(plane, others, noise, exchange, out);
}

// As `merge_tiles`, with at most eight other frames. Launch: as `merge_tiles`.
extern "C" __global__ __launch_bounds__(256) void merge_more_tiles(NoisyPlane plane, ReferencePlanes others,
                                                                   NoiseFactors noise, short* out) {
    __shared__ TransposeStorage exchange;
    grid_dependency_sync();
    merge_with<(int)MOST_REFERENCES>(plane, others, noise, exchange, out);
}

// Adds up the overlapping tiles of a plane into `out`, a plane of `width` x `height` samples without padding: one
// thread for a column of four samples. Launch: any number of blocks of up to 256 threads; no dynamic shared memory.
extern "C" __global__ __launch_bounds__(256) void merge_lay(const short* tiles, unsigned width, unsigned height,
                                                            short* out) {
    grid_dependency_sync();
    unsigned columns = (width + STEP - 1u) / STEP + 1u, bands = (height + STEP - 1u) / STEP;
    for (unsigned index = blockIdx.x * blockDim.x + threadIdx.x; index < width * bands;
         index += gridDim.x * blockDim.x) {
        unsigned x = index % width, band = index / width;
        // Two terms are rounded down, by half a step each on average, so sums begin at 1.
        short sums[STEP] = {1, 1, 1, 1};
#pragma unroll
        for (unsigned i = 0u; i < 2u; ++i) {
            unsigned long long right = (unsigned long long)(band + i) * columns + x / STEP + 1u;
            const short* begin = tiles + right * SIZE * SIZE + x % STEP;
            short line[SIZE];
#pragma unroll
            for (int at = 0; at < SIZE; ++at) line[at] = begin[at * SIZE] + begin[at * SIZE + STEP - SIZE * SIZE] + 1;
            inverse_dct_8(line);
#pragma unroll
            for (int at = 0; at < STEP; ++at) {
                int y = i == 0u ? at + STEP : at;
                sums[at] = sums[at] + weighed(line[y], y);
            }
        }
#pragma unroll
        for (unsigned at = 0u; at < STEP; ++at) {
            unsigned y = STEP * band + at;
            if (y < height) out[y * width + x] = sums[at];
        }
    }
}
