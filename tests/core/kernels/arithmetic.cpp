// Answers questions about kernels/headers/spec.cuh, compiled for the host: one question a line on standard input, one line of
// numbers each on standard output.
#include <cstdio>
#include <vector>

#include "spec.cuh"

using namespace histeq;

static unsigned number() {
    unsigned value = 0;
    if (std::scanf("%u", &value) != 1) std::perror("a number is missing");
    return value;
}

static unsigned long long wide_number() {
    unsigned long long value = 0;
    if (std::scanf("%llu", &value) != 1) std::perror("a number is missing");
    return value;
}

// As the kernel `scan` does it, but one code after the other.
static void curve() {
    unsigned lo = number(), hi = number(), strength = number(), codes = number();
    BlendedLevels levels = {lo, hi, strength};
    std::vector<unsigned> through(codes);
    unsigned total = 0, black = 0, between = 0;
    for (unsigned code = 0; code < codes; ++code) {
        unsigned count = number();
        total += count;
        if (code <= lo) black += count;
        if (code > lo && code < hi && between == 0) between = count;
        through[code] = total;
    }
    CdfRange<unsigned> spread = cdf_range_of(black != 0 ? black : between != 0 ? between : total, total);
    for (unsigned code = 0; code < codes; ++code) std::printf("%u ", curve_at(code, through[code], spread, levels));
}

// As the kernel `equalization` does it from the sums of a window on, but one code after the other.
static void modified() {
    unsigned lo = number(), hi = number(), strength = number(), codes = number();
    unsigned asked = number(), gain = number();
    unsigned long long total = 0;
    unsigned ceiling = number(), range_first = number(), width = number();
    PiecewiseLine line = {};
    line.used = number();
    for (unsigned i = 0; i < KNOTS; ++i) line.from[i] = number(), line.to[i] = number(), line.slope[i] = number();
    BlendedLevels levels = {lo, hi, strength};
    unsigned count = hi - lo + 1;
    std::vector<unsigned long long> held(count), bins(asked);
    for (auto& one : held) one = wide_number();
    if (asked != 0) {
        for (unsigned level = 0; level < count; ++level) bins[bin_of(level, asked, count)] += held[level];
        for (unsigned level = 0; level < count; ++level) {
            unsigned bin = bin_of(level, asked, count), first = first_of_bin(bin, asked, count);
            held[level] = part_of_bin(bins[bin], level - first, first_of_bin(bin + 1, asked, count) - first);
        }
    }
    for (auto one : held) total += one;
    Divisor divisor = divisor_of(width);
    ClipLimit limit = {~0ull, 0};
    if (gain != 0) limit = clip_limit_of(gain, total, divisor);
    unsigned long long all = 0;
    unsigned clipped = 0;
    for (auto one : held) {
        unsigned over = one > limit.whole;
        all += over ? limit.whole : one, clipped += over;
    }
    Divided excess = {0, 0};
    if (gain != 0) {
        excess = divided(256 * total - clipped_sum(all, clipped, limit), divisor);
        all = 256 * total;
    }
    std::vector<unsigned long long> steps(count);
    unsigned long long sum = 0, first = 0;
    clipped = 0;
    for (unsigned level = 0; level < count; ++level) {
        unsigned over = held[level] > limit.whole;
        sum += over ? limit.whole : held[level], clipped += over;
        steps[level] = gain != 0 ? clipped_sum(sum, clipped, limit) +
                                       redistributed(receivers_up_to(level, range_first, width), excess, divisor)
                                 : sum;
        if (first == 0) first = steps[level];
    }
    CdfRange<unsigned long long> spread = cdf_range_of(first, all);
    for (unsigned code = 0; code < codes; ++code) {
        unsigned long long through = code < lo ? 0 : steps[code < hi ? code - lo : count - 1];
        std::printf("%u ", curve_at(code, line_code(code, levels, line), through, spread, levels, ceiling));
    }
}

int main() {
    char question;
    while (std::scanf(" %c", &question) == 1) {
        if (question == 'c') {
            curve();
        } else if (question == 'e') {
            modified();
        } else if (question == 'l') {
            unsigned sum = 0;
            for (int component = 0; component < 3; ++component) {
                unsigned weight = number();
                sum += weight * number();
            }
            std::printf("%u", luminance_of(sum));
        } else if (question == 'f') {
            unsigned code = number(), gain = number();
            Colours colours = {};
            colours.centre = (int)number(), colours.reach = (int)number();
            std::printf("%u", followed(code, gain, colours));
        } else if (question == 'g') {
            unsigned code = number(), from = number(), to = number(), gain = number(), max = number();
            std::printf("%u", moved_with_gain(code, from, to, gain, max));
        } else if (question == 'b') {
            unsigned code = number(), gain = number();
            int offset = (int)number();
            std::printf("%u", balanced(code, gain, offset, number()));
        } else if (question == 'y') {
            BalanceOfYuv balance;
            for (auto& row : balance.rows) {
                for (auto& factor : row) factor = (long long)wide_number();
            }
            int luma = (int)number(), cb = (int)number(), cr = (int)number();
            for (unsigned row = 0; row < 3; ++row)
                std::printf("%u ", (unsigned)balanced_sum(balance, row, luma, cb, cr));
        } else if (question == 'v') {
            Gains gains = {};
            gains.regions = REGIONS, gains.width = number(), gains.height = number();
            for (unsigned& gain : gains.of) gain = number();
            for (unsigned left = number(); left > 0; --left) {
                unsigned x = number(), y = number();
                std::printf("%u ", gain_at(x, y, gains));
            }
        } else if (question == 'm') {
            unsigned component = number(), from = number(), to = number(), max = number();
            std::printf("%u", moved(component, from, to, max));
        } else if (question == 's') {
            unsigned word = number(), swapped = number(), shift = number(), max = number();
            unsigned ordered = in_order(word, swapped);
            std::printf("%u %u", code_of(ordered & 0xffff, shift, max), code_of(ordered >> 16, shift, max));
        }
        std::printf("\n");
    }
}
