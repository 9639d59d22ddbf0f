// Motion between two pictures of one size: `src/core/denoise/search.rs`.
#include "launch.cuh"
#include "sheet.cuh"
#include "warp.cuh"

using namespace histeq;

constexpr int BLOCK = 8;
constexpr int WINDOW = 16;

// The middle one of nine numbers.
DEVICE int median_of_nine(int* of) {
    constexpr int SWAPS[19][2] = {{1, 2}, {4, 5}, {7, 8}, {0, 1}, {3, 4}, {6, 7}, {1, 2}, {4, 5}, {7, 8}, {0, 3},
                                  {5, 8}, {4, 7}, {3, 6}, {1, 4}, {2, 5}, {4, 7}, {4, 2}, {6, 4}, {4, 2}};
#pragma unroll
    for (int i = 0; i < 19; ++i) {
        int &low = of[SWAPS[i][0]], &high = of[SWAPS[i][1]];
        int least = low < high ? low : high;
        high = low < high ? high : low;
        low = least;
    }
    return of[4];
}

// The median of the vectors of a block and its 8 neighbours, by component. `at` gives the vectors.
template <typename At>
DEVICE Vector median_around(int column, int row, At at) {
    int across[9], down[9];
#pragma unroll
    for (int i = 0; i < 9; ++i) {
        Vector near = at(column + i % 3 - 1, row + i / 3 - 1);
        across[i] = near.x;
        down[i] = near.y;
    }
    return Vector{median_of_nine(across), median_of_nine(down)};
}

// The vector of the block to which `vector` leads from the middle of block (`column`, `row`).
DEVICE Vector vector_beyond(const MotionField& field, int column, int row, Vector vector) {
    return field.at((BLOCK * column + BLOCK / 2 + (vector.x >> 2)) >> 3,
                    (BLOCK * row + BLOCK / 2 + (vector.y >> 2)) >> 3);
}

// The motion to a distant frame: the sum of the motion to the frame in between and the step from there; one thread for
// each block.
// Arguments: `between` (null for no motion), `step` and `to` are motion fields of `columns` x `rows` blocks. `step` is
// the motion from a frame to the one before it; where `is_forth` is 1, it is inverted.
// Launch: any number of blocks of up to 256 threads; no dynamic shared memory.
extern "C" __global__ __launch_bounds__(256) void motion_farther(const unsigned* between, const unsigned* step,
                                                                 unsigned columns, unsigned rows, unsigned is_forth,
                                                                 unsigned* to) {
    grid_dependency_sync();
    MotionField field{step, (int)columns, (int)rows};
    for (unsigned index = blockIdx.x * blockDim.x + threadIdx.x; index < columns * rows;
         index += gridDim.x * blockDim.x) {
        int column = (int)(index % columns), row = (int)(index / columns);
        Vector near = between != nullptr ? vector_of(between[index]) : Vector{0, 0};
        Vector by = vector_beyond(field, column, row, near);
        if (is_forth != 0u) {
            by = vector_beyond(field, column, row, Vector{near.x - by.x, near.y - by.y});
            by = Vector{-by.x, -by.y};
        }
        // Rounds to whole samples.
        auto whole = [](int of) { return ((of + 2) >> 2) * 4; };
        to[index] = word_of(Vector{whole(near.x + by.x), whole(near.y + by.y)});
    }
}

// The vectors that a search begins with: none, those of pictures of the same size, or those of pictures half as large.
enum Parents : unsigned { NO_PARENTS, SAME_SIZE, HALF_AS_LARGE };

// The parameters of the search for one pair of pictures.
struct Search {
    Sheet<const short> a, b;
    MotionField field;  // the parents
    Parents parents;
    int columns, rows;  // blocks of the pictures
    unsigned calm;
    int bound;

    DEVICE Vector parent(int column, int row) const {
        column = clamped(column, 0, columns - 1);
        row = clamped(row, 0, rows - 1);
        if (parents == NO_PARENTS) return Vector{0, 0};
        if (parents == SAME_SIZE) return field.at(column, row);
        Vector of = field.at(column / 2, row / 2);
        return Vector{2 * of.x, 2 * of.y};
    }
};

// The sum of the absolute differences in the window of a block. Of the eight compared rows, a lane adds up every other
// one, in one column.
DEVICE unsigned window_differences(const Search& search, int column, int row, Vector vector, unsigned lane) {
    int x = within(column * BLOCK - 4, WINDOW, search.a.width), y = within(row * BLOCK - 4, WINDOW, search.a.height);
    int right = within(x + (vector.x >> 2), WINDOW, search.b.width);
    int down = within(y + (vector.y >> 2), WINDOW, search.b.height);
    unsigned sum = 0u;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        int line = 2 * ((int)(lane / WINDOW) + 2 * i), at = (int)(lane % WINDOW);
        int other = *search.b.at(right + at, down + line);
        int apart = *search.a.at(x + at, y + line) - other;
        apart = apart < 0 ? -apart : apart;
        sum += (unsigned)(apart < search.bound ? apart : search.bound);
    }
    return warp_sum(sum);
}

struct Best {
    Vector vector;
    unsigned cost;
};

// The cost of a vector, or `enough` if the penalty for its distance from the median alone reaches that.
DEVICE unsigned cost_of(const Search& search, int column, int row, Vector median, Vector vector, unsigned lane,
                        unsigned enough) {
    int across = vector.x - median.x, down = vector.y - median.y;
    int away = (across < 0 ? -across : across) + (down < 0 ? -down : down);
    unsigned penalty = search.calm * (unsigned)(away < 24 ? away : 24) * 20u >> 5;
    return penalty >= enough ? enough : penalty + window_differences(search, column, row, vector, lane);
}

// The minimum of the parabola through the costs of three neighbouring samples, in quarters of a sample from the middle
// one.
DEVICE int least(unsigned before, unsigned own, unsigned after) {
    unsigned bend = before + after - 2u * own, slope = 4u * (before < after ? after - before : before - after);
    int quarters = (slope > bend ? 1 : 0) + (slope > 3u * bend ? 1 : 0);
    return before < after ? -quarters : quarters;
}

// How often at most the search moves to a better one of the four neighbouring vectors.
constexpr int MAX_MOVES = 3;

// The vectors of all blocks between two pictures of one size. A warp searches for each block, and its lanes do not
// diverge.
// Arguments: `one` and `other` are padded planes of `width` x `height` samples. `field`, of `field_columns` x
// `field_rows` blocks, has the vectors that the search begins with: none if `parents` is 0, of pictures of the same
// size if it is 1, of pictures half as large if it is 2. `calm` is the typical difference between pictures of this size
// where nothing moves. `reach` is the distance in samples that is searched in all directions around the best of these
// vectors. `is_finest` is 1 if vectors in quarters of a sample are wanted. `to` takes a vector for each block.
// Launch: any number of blocks of whole warps, up to 256 threads; no dynamic shared memory.
extern "C" __global__ __launch_bounds__(256) void motion_search(const short* one, const short* other, unsigned width,
                                                                unsigned height, const unsigned* field,
                                                                unsigned field_columns, unsigned field_rows,
                                                                unsigned parents, unsigned calm, unsigned reach,
                                                                unsigned is_finest, unsigned* to) {
    grid_dependency_sync();
    Search search{{one, (int)width, (int)height},
                  {other, (int)width, (int)height},
                  {field, (int)field_columns, (int)field_rows},
                  (Parents)parents,
                  (int)((width + 7u) / 8u),
                  (int)((height + 7u) / 8u),
                  calm,
                  0};
    unsigned bound = (6u * calm + 512u) / 16u;
    search.bound = (int)(bound < 1023u ? bound : 1023u);
    unsigned lane = threadIdx.x % WARP_THREADS, warps = gridDim.x * (blockDim.x / WARP_THREADS);
    unsigned blocks = (unsigned)(search.columns * search.rows);
    for (unsigned index = (blockIdx.x * blockDim.x + threadIdx.x) / WARP_THREADS; index < blocks; index += warps) {
        int column = (int)(index % (unsigned)search.columns), row = (int)(index / (unsigned)search.columns);
        Vector median = median_around(column, row, [&](int x, int y) { return search.parent(x, y); });
        Best best{search.parent(column, row), 0xffffffffu};
        auto attempt = [&](Vector vector) {
            unsigned cost = cost_of(search, column, row, median, vector, lane, best.cost);
            if (cost < best.cost) best = Best{vector, cost};
        };
        attempt(best.vector);
        attempt(median);
        attempt(Vector{0, 0});
        if (search.parents != SAME_SIZE) {
            attempt(search.parent(column - 1, row));
            attempt(search.parent(column + 1, row));
            attempt(search.parent(column, row - 1));
            attempt(search.parent(column, row + 1));
        }
        // Searches further if the difference is larger than noise alone explains, or if fractions of a sample are
        // wanted.
        if (is_finest != 0u || best.cost >= calm * 9u) {
            Vector from = best.vector;
            int most = (int)reach;
            for (int down = -most; down <= most && most > 0; ++down) {
                for (int right = -most; right <= most; ++right) {
                    attempt(Vector{from.x + 4 * right, from.y + 4 * down});
                }
            }
            for (int move = 0; move < MAX_MOVES; ++move) {
                from = best.vector;
                // The costs of the vectors one sample to the right, to the left, below and above.
                unsigned around[4];
#pragma unroll
                for (int i = 0; i < 4; ++i) {
                    int step = i % 2 == 0 ? 4 : -4;
                    Vector vector{from.x + (i < 2 ? step : 0), from.y + (i < 2 ? 0 : step)};
                    around[i] = cost_of(search, column, row, median, vector, lane, 0xffffffffu);
                    if (around[i] < best.cost) best = Best{vector, around[i]};
                }
                if (best.vector.x != from.x || best.vector.y != from.y) continue;
                if (is_finest != 0u) {
                    best.vector.x += least(around[1], best.cost, around[0]);
                    best.vector.y += least(around[3], best.cost, around[2]);
                }
                break;
            }
        }
        if (lane == 0u) to[index] = word_of(best.vector);
    }
}
