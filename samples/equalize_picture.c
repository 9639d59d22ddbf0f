/* Equalizes a gray picture: equalize_picture >clear.pgm
 * cc equalize_picture.c $(pkg-config --cflags --libs histeq) -o equalize_picture */
#include <histeq.h>
#include <stdio.h>

enum { WIDTH = 320, HEIGHT = 180 };
static uint8_t dark[WIDTH * HEIGHT], clear[WIDTH * HEIGHT];

int main(void) {
    for (size_t at = 0; at < sizeof dark; at++) dark[at] = (uint8_t)(40 + at % WIDTH / 8);

    histeq *equalizer = NULL;
    int has_failed = histeq_new("gray", WIDTH, HEIGHT, &equalizer) ||
                     histeq_set(equalizer, "look", "exact") ||
                     histeq_push_bytes(equalizer, dark, sizeof dark, HISTEQ_NO_PTS) ||
                     histeq_finish(equalizer) ||
                     histeq_pull_bytes(equalizer, clear, sizeof clear);
    if (has_failed) fprintf(stderr, "%s\n", histeq_error(equalizer));
    histeq_free(equalizer);
    if (has_failed) return 1;

    printf("P5 %d %d 255\n", WIDTH, HEIGHT);
    return fwrite(clear, 1, sizeof clear, stdout) != sizeof clear;
}
