/* Equalizes raw frames: equalize FORMAT WIDTH HEIGHT [OPTION VALUE]... <in.raw >out.raw
 * cc equalize.c $(pkg-config --cflags --libs histeq) -o equalize */
#include <histeq.h>
#include <stdio.h>
#include <stdlib.h>

static void check(histeq *equalizer, histeq_status status) {
    if (status >= 0) return;
    fprintf(stderr, "equalize: %s\n", histeq_error(equalizer));
    exit(1);
}

int main(int count, char **words) {
    histeq *equalizer = NULL;
    if (count < 4) return 2;
    check(NULL, histeq_new(words[1], strtoul(words[2], NULL, 10), strtoul(words[3], NULL, 10), &equalizer));
    for (int at = 4; at + 1 < count; at += 2) check(equalizer, histeq_set(equalizer, words[at], words[at + 1]));

    /* What all equalizers with these limits hold, in bytes: 1 GiB. */
    histeq_limits *limits = NULL;
    check(NULL, histeq_limits_new(0, (size_t)1 << 30, 0, &limits));
    check(equalizer, histeq_set_limits(equalizer, limits));

    histeq_picture input = {.size = sizeof input}, done = {.size = sizeof done};
    check(equalizer, histeq_input(equalizer, &input));
    uint8_t *in = malloc(input.bytes), *out = NULL;
    for (histeq_status status = HISTEQ_AGAIN; status != HISTEQ_END;) {
        int is_frame = fread(in, 1, input.bytes, stdin) == input.bytes;
        check(equalizer, is_frame ? histeq_push_bytes(equalizer, in, input.bytes, HISTEQ_NO_PTS) : histeq_finish(equalizer));
        /* Frames come out in order, some calls after they went in. */
        while ((status = histeq_peek(equalizer, &done)) == HISTEQ_OK) {
            out = realloc(out, done.bytes);
            check(equalizer, histeq_pull_bytes(equalizer, out, done.bytes));
            fwrite(out, 1, done.bytes, stdout);
        }
        check(equalizer, status);
    }
    histeq_free(equalizer);
    histeq_limits_free(limits);
    free(in);
    free(out);
    return 0;
}
