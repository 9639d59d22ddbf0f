// Stands between the program and FFmpeg's decoder, as a decoder with a fault would, for `isolation.rs`: LD_PRELOAD loads it.
//
// With ENCODER_SAYS, it prints that at each picture which is encoded, as some libraries do. DECODER_AT is the picture at which it does what DECODER_DOES says: abort, crash, exit, loop, swell. DECODER_WIDTH is the width of
// the pictures that it is about; those of other widths are decoded as they are.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *given(const char *name) {
    const char *value = getenv(name);
    return value ? value : "";
}

// The beginning of an AVFrame: eight planes, eight strides, extended data, width.
struct frame {
    unsigned char *planes[8];
    int strides[8];
    unsigned char **extended;
    int width;
};

int avcodec_receive_frame(void *decoder, struct frame *frame) {
    static int (*next)(void *, struct frame *);
    static int pictures;
    if (!next)
        next = (int (*)(void *, struct frame *))dlsym(RTLD_NEXT, "avcodec_receive_frame");
    int result = next(decoder, frame);
    if (result < 0 || frame->width != atoi(given("DECODER_WIDTH")) || ++pictures != atoi(given("DECODER_AT")))
        return result;
    const char *does = given("DECODER_DOES");
    if (strcmp(does, "abort") == 0)
        abort();
    if (strcmp(does, "crash") == 0)
        *(volatile int *)8 = 1;
    if (strcmp(does, "exit") == 0)
        _exit(0);
    for (volatile int turns = 0; strcmp(does, "loop") == 0; turns++)
        ;
    while (strcmp(does, "swell") == 0) {
        char *more = malloc(16 << 20);
        if (!more)
            return -12; // ENOMEM
        memset(more, 1, 16 << 20);
    }
    return result;
}

int avcodec_send_frame(void *encoder, const void *frame) {
    static int (*next)(void *, const void *);
    if (!next)
        next = (int (*)(void *, const void *))dlsym(RTLD_NEXT, "avcodec_send_frame");
    if (*given("ENCODER_SAYS"))
        fprintf(stderr, "%s\n", given("ENCODER_SAYS"));
    return next(encoder, frame);
}
