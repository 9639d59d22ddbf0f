// Answers questions about kernels/spec.cuh, compiled for the host: one question a line on standard input, one line of
// numbers each on standard output.
#include <cstdio>
#include <vector>

#include "spec.cuh"

static unsigned number() {
    unsigned value = 0;
    if (std::scanf("%u", &value) != 1) std::perror("a number is missing");
    return value;
}

// As the kernel `scan` does it, but one code after the other.
static void curve() {
    unsigned lo = number(), hi = number(), strength = number(), codes = number();
    Levels levels = {lo, hi, strength};
    std::vector<unsigned> through(codes);
    unsigned total = 0, black = 0, between = 0;
    for (unsigned code = 0; code < codes; ++code) {
        unsigned count = number();
        total += count;
        if (code <= lo) black += count;
        if (code > lo && code < hi && between == 0) between = count;
        through[code] = total;
    }
    Spread spread = spread_of(black != 0 ? black : between != 0 ? between : total, total);
    for (unsigned code = 0; code < codes; ++code) std::printf("%u ", curve_at(code, through[code], spread, levels));
}

int main() {
    char question;
    while (std::scanf(" %c", &question) == 1) {
        if (question == 'c') {
            curve();
        } else if (question == 'l') {
            unsigned sum = 0;
            for (int component = 0; component < 3; ++component) {
                unsigned weight = number();
                sum += weight * number();
            }
            std::printf("%u", luminance_of(sum));
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
