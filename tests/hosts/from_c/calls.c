/* Every function of histeq.h, called as it should be and as it should not. Prints "all is well". */
#include <histeq.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(what)                                                     \
    do {                                                                \
        if (!(what)) {                                                  \
            printf("line %d: not so: %s\n", __LINE__, #what);           \
            exit(1);                                                    \
        }                                                               \
    } while (0)

enum { WIDTH = 21, HEIGHT = 13, FRAMES = 30, BYTES = WIDTH * HEIGHT };

static uint8_t clip[FRAMES][BYTES], expected[FRAMES][BYTES];

static histeq *made(const char *format, const char *const *options) {
    histeq *equalizer = NULL;
    CHECK(histeq_new(format, WIDTH, HEIGHT, &equalizer) == HISTEQ_OK && equalizer);
    for (; *options; options += 2) CHECK(histeq_set(equalizer, options[0], options[1]) == HISTEQ_OK);
    return equalizer;
}

static int says(const histeq *equalizer, const char *text) {
    int found = strstr(histeq_error(equalizer), text) != NULL;
    if (!found) printf("said: %s\n", histeq_error(equalizer));
    return found;
}

/* All frames, packed. */
static void in_order(histeq *equalizer, uint8_t out[FRAMES][BYTES]) {
    int done = 0;
    for (int n = 0; n <= FRAMES; n++) {
        if (n < FRAMES) CHECK(histeq_push_bytes(equalizer, clip[n], BYTES, 100 + n) == HISTEQ_OK);
        else CHECK(histeq_finish(equalizer) == HISTEQ_OK);
        histeq_picture picture = {.size = sizeof picture};
        histeq_status status;
        while ((status = histeq_peek(equalizer, &picture)) == HISTEQ_OK) {
            CHECK(picture.number == (uint64_t)done && picture.pts == 100 + done);
            CHECK(!strcmp(picture.format, "gray") && picture.bytes == BYTES && picture.planes == 1);
            CHECK(histeq_pull_bytes(equalizer, out[done++], BYTES) == HISTEQ_OK);
        }
        CHECK(status == (n < FRAMES ? HISTEQ_AGAIN : HISTEQ_END));
    }
    CHECK(done == FRAMES);
}

/* Padded and bottom-up planes, in and out: the same bytes, and none beside them. */
static void strides(void) {
    enum { STRIDE = WIDTH + 11 };
    const char *const none[] = {NULL};
    for (int up = 0; up < 2; up++) {
        histeq *equalizer = made("gray", none);
        int done = 0;
        for (int n = 0; n <= FRAMES; n++) {
            /* Just as much memory as the rows take. */
            size_t size = STRIDE * (HEIGHT - 1) + WIDTH;
            uint8_t *in = malloc(size), *out = malloc(size);
            ptrdiff_t top = up ? STRIDE * (HEIGHT - 1) : 0, stride = up ? -STRIDE : STRIDE;
            memset(in, 77, size);
            memset(out, 99, size);
            histeq_plane plane = {in + top, stride};
            histeq_plane_out to = {out + top, stride};
            for (int y = 0; n < FRAMES && y < HEIGHT; y++) memcpy(in + top + y * stride, clip[n] + y * WIDTH, WIDTH);
            if (n < FRAMES) CHECK(histeq_push(equalizer, &plane, 1, HISTEQ_NO_PTS) == HISTEQ_OK);
            else CHECK(histeq_finish(equalizer) == HISTEQ_OK);
            histeq_status status;
            while ((status = histeq_pull(equalizer, &to, 1)) == HISTEQ_OK) {
                for (int y = 0; y < HEIGHT; y++) {
                    CHECK(!memcmp(out + top + y * stride, expected[done] + y * WIDTH, WIDTH));
                    for (int x = WIDTH; y + 1 < HEIGHT && x < STRIDE; x++) CHECK(out[y * STRIDE + x] == 99);
                }
                done++;
            }
            CHECK(status == (n < FRAMES ? HISTEQ_AGAIN : HISTEQ_END));
            free(in);
            free(out);
        }
        CHECK(done == FRAMES);
        histeq_free(equalizer);
    }
}

/* A camera: each frame comes out at once. Options change meanwhile. */
static void live(void) {
    const char *const options[] = {"live", "true", "rate", "10", "backend", "cpu", "threads", "1", NULL};
    histeq *equalizer = made("gray", options);
    uint8_t out[BYTES], last[BYTES];
    for (int n = 0; n < 12; n++) {
        if (n == 11) CHECK(histeq_set(equalizer, "strength", "0") == HISTEQ_OK);
        CHECK(histeq_push_bytes(equalizer, clip[3], BYTES, n) == HISTEQ_OK);
        CHECK(histeq_wait(equalizer) == HISTEQ_OK && histeq_pull_bytes(equalizer, out, BYTES) == HISTEQ_OK);
        CHECK(histeq_wait(equalizer) == HISTEQ_AGAIN);
        if (n == 10) memcpy(last, out, BYTES);
    }
    CHECK(memcmp(last, clip[3], BYTES) && !memcmp(out, clip[3], BYTES));
    CHECK(histeq_set(equalizer, "gray", "true") == HISTEQ_ERROR_STATE && says(equalizer, "gray: too late"));
    CHECK(histeq_set(equalizer, "rate", "5") == HISTEQ_ERROR_STATE && says(equalizer, "rate: too late"));
    CHECK(histeq_mask(equalizer, clip[0], BYTES) == HISTEQ_ERROR_STATE);
    const char *name = NULL;
    CHECK(histeq_backend(equalizer, &name) == HISTEQ_OK && !strncmp(name, "cpu (", 5));
    histeq_free(equalizer);
}

/* Frame 17 alone, with those around it; and with the scenes of a first pass. */
static void any_order(void) {
    const char *const none[] = {NULL}, *const scene[] = {"smooth", "scene", NULL};
    histeq *equalizer = made("gray", none);
    uint32_t before, behind;
    uint8_t out[BYTES], again[FRAMES][BYTES];
    histeq_plane plane = {clip[0], WIDTH};
    CHECK(histeq_reach(equalizer, &before, &behind) == HISTEQ_OK && before > 0 && behind > 0);
    in_order(equalizer, again);
    CHECK(histeq_push(equalizer, &plane, 1, 0) == HISTEQ_ERROR_STATE && says(equalizer, "the video has ended"));
    CHECK(histeq_restart(equalizer, 17) == HISTEQ_OK);
    for (int n = before < 17 ? 17 - (int)before : 0; n < 17; n++) {
        plane.data = clip[n];
        CHECK(histeq_warm_up(equalizer, &plane, 1) == HISTEQ_OK);
    }
    histeq_status status = HISTEQ_AGAIN;
    for (int n = 17; n < FRAMES && n <= 17 + (int)behind && status == HISTEQ_AGAIN; n++) {
        CHECK(histeq_push_bytes(equalizer, clip[n], BYTES, n) == HISTEQ_OK);
        status = histeq_pull_bytes(equalizer, out, BYTES);
    }
    if (status == HISTEQ_AGAIN) {
        CHECK(histeq_finish(equalizer) == HISTEQ_OK);
        CHECK(histeq_pull_bytes(equalizer, out, BYTES) == HISTEQ_OK);
    }
    CHECK(!memcmp(out, expected[17], BYTES));
    histeq_free(equalizer);

    equalizer = made("gray", scene);
    for (int n = 0; n < FRAMES; n++) {
        plane.data = clip[n];
        CHECK(histeq_survey(equalizer, &plane, 1) == HISTEQ_OK);
    }
    in_order(equalizer, again);
    CHECK(histeq_restart(equalizer, 20) == HISTEQ_OK);
    CHECK(histeq_push_bytes(equalizer, clip[20], BYTES, 0) == HISTEQ_OK && histeq_wait(equalizer) == HISTEQ_OK);
    CHECK(histeq_pull_bytes(equalizer, out, BYTES) == HISTEQ_OK && !memcmp(out, again[20], BYTES));
    CHECK(histeq_survey(equalizer, &plane, 1) == HISTEQ_ERROR_STATE);
    histeq_free(equalizer);

    equalizer = made("gray", scene);
    CHECK(histeq_open(equalizer) == HISTEQ_ERROR_OPTION && says(equalizer, "make a survey first"));
    histeq_free(equalizer);
}

/* An equalizer with limits of its own, and what comes out of it. */
struct run {
    histeq *equalizer;
    histeq_limits *limits;
    uint8_t out[FRAMES][BYTES];
};

static struct run runs[2];

static void *through(void *run) {
    in_order(((struct run *)run)->equalizer, ((struct run *)run)->out);
    return NULL;
}

/* Two at once on two threads, freed in any order; on `backend` and on the CPU. */
static void two_at_once(const char *backend) {
    for (int order = 0; order < 2; order++) {
        pthread_t threads[2];
        for (int n = 0; n < 2; n++) {
            const char *const options[] = {"backend", n ? backend : "cpu", NULL};
            runs[n].equalizer = made("gray", options);
            CHECK(histeq_limits_new(0, n ? 1 << 26 : 0, n ? 3 : 1, &runs[n].limits) == HISTEQ_OK);
            CHECK(histeq_set_limits(runs[n].equalizer, runs[n].limits) == HISTEQ_OK);
            CHECK(histeq_open(runs[n].equalizer) == HISTEQ_OK && histeq_limits_in_use(runs[n].limits) == 0);
        }
        for (int n = 0; n < 2; n++) CHECK(!pthread_create(&threads[n], NULL, through, &runs[n]));
        for (int n = 0; n < 2; n++) CHECK(!pthread_join(threads[n], NULL));
        for (int n = 0; n < 2; n++) {
            struct run *run = &runs[n ^ order];
            const char *name = NULL;
            CHECK(!memcmp(run->out, expected, sizeof expected) && histeq_limits_in_use(run->limits) > 0);
            CHECK(histeq_backend(run->equalizer, &name) == HISTEQ_OK);
            CHECK(strncmp(name, "cpu", 3) || strstr(name, n ^ order ? "3 threads" : "1 thread"));
            CHECK(histeq_set_limits(run->equalizer, run->limits) == HISTEQ_ERROR_STATE);
            if (order) histeq_free(run->equalizer);
            CHECK(!order || histeq_limits_in_use(run->limits) == 0);
            histeq_limits_free(run->limits);
            if (!order) histeq_free(run->equalizer);
        }
    }
}

static void limits(void) {
    const char *const none[] = {NULL}, *required = getenv("HISTEQ_REQUIRE");
    histeq_limits *limits = NULL;
    two_at_once("cpu");
    histeq *equalizer = made("gray", none);
    CHECK(histeq_set(equalizer, "backend", "cuda") == HISTEQ_OK);
    if (histeq_open(equalizer) == HISTEQ_OK) {
        two_at_once("cuda");
    } else {
        CHECK(histeq_open(equalizer) == HISTEQ_ERROR_DEVICE && says(equalizer, "use backend cpu"));
        fprintf(stderr, "SKIPPED cuda: %s\n", histeq_error(equalizer));
        CHECK(!required || !strstr(required, "cuda"));
    }
    histeq_free(equalizer);
    /* One without room, while the other one works. */
    CHECK(histeq_limits_new(0, BYTES, 0, &limits) == HISTEQ_OK);
    equalizer = made("gray", none);
    CHECK(histeq_set_limits(equalizer, NULL) == HISTEQ_ERROR_ARGUMENT);
    CHECK(histeq_set_limits(equalizer, limits) == HISTEQ_OK);
    histeq_limits_free(limits);
    CHECK(histeq_push_bytes(equalizer, clip[0], BYTES, 0) == HISTEQ_ERROR_LIMIT && says(equalizer, "do not fit"));
    histeq *other = made("gray", none);
    CHECK(histeq_push_bytes(other, clip[0], BYTES, 0) == HISTEQ_OK);
    histeq_free(equalizer);
    histeq_free(other);
    CHECK(histeq_limits_new(BYTES - 1, 0, 0, &limits) == HISTEQ_OK);
    equalizer = made("gray", none);
    CHECK(histeq_set_limits(equalizer, limits) == HISTEQ_OK);
    CHECK(histeq_open(equalizer) == HISTEQ_ERROR_LIMIT && says(equalizer, "the limit is 272 pixels"));
    histeq_free(equalizer);
    histeq_limits_free(limits);
    histeq_limits_free(NULL);
    CHECK(histeq_limits_in_use(NULL) == 0 && histeq_limits_new(0, 0, 0, NULL) == HISTEQ_ERROR_ARGUMENT);
}

static void options(void) {
    histeq_option_info option = {.size = sizeof option};
    size_t count = 0;
    int looks = 0;
    for (; histeq_option(count, &option) == HISTEQ_OK; count++) {
        CHECK(*option.name && *option.values && *option.default_value && *option.summary && option.details);
        CHECK(option.least <= option.most && !option.names == !option.abouts);
        for (int at = 0; option.names && option.names[at]; at++) {
            const char *const pair[] = {option.name, option.names[at], NULL};
            CHECK(*option.abouts[at]);
            histeq_free(made("gray", pair));
            looks += !strcmp(option.name, "look");
        }
    }
    CHECK(count > 10 && looks > 3);
    CHECK(histeq_option(count, &option) == HISTEQ_END && histeq_option(0, NULL) == HISTEQ_ERROR_ARGUMENT);
}

static void mistakes(void) {
    const char *const none[] = {NULL}, *const deep[] = {"output-depth", "10", NULL};
    histeq *equalizer = (histeq *)clip;
    histeq_picture picture = {.size = sizeof picture};
    uint8_t bytes[BYTES];
    CHECK(histeq_new("grey", 4, 4, &equalizer) == HISTEQ_ERROR_ARGUMENT && !equalizer);
    CHECK(says(NULL, "there is no pixel format grey"));
    CHECK(histeq_new(NULL, 4, 4, &equalizer) == HISTEQ_ERROR_ARGUMENT && says(NULL, "format is null"));
    CHECK(histeq_new("\xff", 4, 4, &equalizer) == HISTEQ_ERROR_ARGUMENT && says(NULL, "UTF-8"));
    CHECK(histeq_new("gray", 0, 4, &equalizer) == HISTEQ_ERROR_ARGUMENT && says(NULL, "not 0x4"));
    CHECK(histeq_new("gray", 4, SIZE_MAX, &equalizer) == HISTEQ_ERROR_ARGUMENT);
    CHECK(histeq_new("gray", 4, 4, NULL) == HISTEQ_ERROR_ARGUMENT);
    histeq_free(NULL);

    CHECK(histeq_set(NULL, "look", "night") == HISTEQ_ERROR_ARGUMENT && says(NULL, "the handle is null"));
    CHECK(histeq_push(NULL, NULL, 0, 0) == HISTEQ_ERROR_ARGUMENT && histeq_pull(NULL, NULL, 0) == HISTEQ_ERROR_ARGUMENT);
    CHECK(histeq_finish(NULL) == HISTEQ_ERROR_ARGUMENT && histeq_open(NULL) == HISTEQ_ERROR_ARGUMENT);

    equalizer = made("yuv420p", none);
    CHECK(!*histeq_error(equalizer));
    CHECK(histeq_set(equalizer, "loook", "night") == HISTEQ_ERROR_OPTION && says(equalizer, "there is no option loook"));
    CHECK(histeq_set(equalizer, "look", "dusk") == HISTEQ_ERROR_OPTION && says(equalizer, "look is one of natural, "));
    CHECK(histeq_set(equalizer, "look", NULL) == HISTEQ_ERROR_ARGUMENT && histeq_set(equalizer, NULL, "1") < 0);
    const char *const wrong[] = {"rate", "0", "rate", "nan", "range", "tv", "matrix", "1", "transfer", "x", "live", "1",
                                 "backend", "gpu", "gpu", "-1", "threads", "-1", "threads", "99999999", NULL};
    for (int at = 0; wrong[at]; at += 2) CHECK(histeq_set(equalizer, wrong[at], wrong[at + 1]) == HISTEQ_ERROR_OPTION);
    CHECK(histeq_mask(equalizer, bytes, 3) == HISTEQ_ERROR_PICTURE && histeq_mask(equalizer, NULL, BYTES) == HISTEQ_ERROR_ARGUMENT);
    CHECK(histeq_input(equalizer, NULL) == HISTEQ_ERROR_ARGUMENT);
    /* Structures of a caller with an older header, which end sooner, and without their size. */
    struct { size_t size; const char *format; size_t width, behind; } old = {offsetof(histeq_picture, height), NULL, 0, 7};
    CHECK(histeq_input(equalizer, (histeq_picture *)(void *)&old) == HISTEQ_OK);
    CHECK(old.width == WIDTH && old.behind == 7 && old.size == 3 * sizeof(size_t));
    picture.size = 0;
    CHECK(histeq_input(equalizer, &picture) == HISTEQ_ERROR_ARGUMENT && says(equalizer, "sizeof"));
    picture.size = sizeof picture;
    CHECK(histeq_input(equalizer, &picture) == HISTEQ_OK && picture.planes == 3 && picture.pts == HISTEQ_NO_PTS);
    CHECK(picture.row_bytes[0] == WIDTH && picture.row_bytes[1] == 11 && picture.rows[2] == 7 && picture.rows[3] == 0);
    CHECK(picture.bytes == BYTES + 2 * 77 && picture.width == WIDTH && picture.height == HEIGHT);
    CHECK(histeq_pull_bytes(equalizer, bytes, BYTES) == HISTEQ_AGAIN && histeq_peek(equalizer, &picture) == HISTEQ_AGAIN);

    histeq_plane planes[3] = {{clip[0], WIDTH}, {clip[1], 11}, {clip[2], 11}};
    CHECK(histeq_push(equalizer, planes, 2, 0) == HISTEQ_ERROR_PICTURE && says(equalizer, "3 planes are needed, not 2"));
    CHECK(histeq_push(equalizer, NULL, 3, 0) == HISTEQ_ERROR_ARGUMENT);
    planes[1].stride = 10;
    CHECK(histeq_push(equalizer, planes, 3, 0) == HISTEQ_ERROR_PICTURE && says(equalizer, "plane 1 has rows of 11 bytes"));
    planes[1].stride = PTRDIFF_MIN;
    CHECK(histeq_push(equalizer, planes, 3, 0) == HISTEQ_ERROR_PICTURE);
    planes[1].stride = PTRDIFF_MAX;
    CHECK(histeq_push(equalizer, planes, 3, 0) == HISTEQ_ERROR_PICTURE);
    planes[1].stride = 11;
    planes[2].data = NULL;
    CHECK(histeq_push(equalizer, planes, 3, 0) == HISTEQ_ERROR_ARGUMENT && says(equalizer, "plane 2 is null"));
    CHECK(histeq_push_bytes(equalizer, bytes, BYTES, 0) == HISTEQ_ERROR_PICTURE && says(equalizer, "427 bytes, not 273"));
    CHECK(histeq_push_bytes(equalizer, bytes, SIZE_MAX, 0) == HISTEQ_ERROR_ARGUMENT);
    planes[2].data = clip[2];
    CHECK(histeq_push(equalizer, planes, 3, 0) == HISTEQ_OK && histeq_finish(equalizer) == HISTEQ_OK);
    histeq_plane_out out[3] = {{bytes, 5}, {bytes, 11}, {bytes, 11}};
    CHECK(histeq_pull(equalizer, out, 1) == HISTEQ_ERROR_PICTURE && histeq_pull(equalizer, out, 3) == HISTEQ_ERROR_PICTURE);
    CHECK(histeq_pull(equalizer, NULL, 3) == HISTEQ_ERROR_ARGUMENT && histeq_pull_bytes(equalizer, bytes, 1) == HISTEQ_ERROR_PICTURE);
    CHECK(histeq_pull_bytes(equalizer, NULL, BYTES + 2 * 77) == HISTEQ_ERROR_ARGUMENT);
    CHECK(histeq_peek(equalizer, NULL) == HISTEQ_ERROR_ARGUMENT);
    /* After all these errors the frame is still there. */
    uint8_t all[BYTES + 2 * 77];
    CHECK(histeq_pull_bytes(equalizer, all, sizeof all) == HISTEQ_OK && histeq_pull_bytes(equalizer, all, sizeof all) == HISTEQ_END);
    histeq_free(equalizer);

    const char *const together[] = {"method", "clahe", "plateau", "5", NULL};
    equalizer = made("gray", together);
    CHECK(histeq_open(equalizer) == HISTEQ_ERROR_OPTION && says(equalizer, "plateau does not go with method clahe"));
    /* It can be put right. */
    CHECK(histeq_set(equalizer, "method", "global") == HISTEQ_OK && histeq_open(equalizer) == HISTEQ_OK);
    histeq_free(equalizer);

    equalizer = made("yuv411p", deep);
    CHECK(histeq_push_bytes(equalizer, clip[0], BYTES + 2 * 78, 0) == HISTEQ_ERROR_UNSUPPORTED);
    CHECK(says(equalizer, "option output-depth: yuv411p has no pixel format of more bits"));
    histeq_free(equalizer);

    /* With frames under way that nobody pulls, the handle takes no more, and can be freed. */
    const char *const exact[] = {"look", "exact", "threads", "1", NULL};
    equalizer = made("gray", exact);
    histeq_status status = HISTEQ_OK;
    for (int n = 0; n < FRAMES && status == HISTEQ_OK; n++) status = histeq_push_bytes(equalizer, clip[n], BYTES, 0);
    CHECK(status == HISTEQ_ERROR_STATE && says(equalizer, "pull it first"));
    histeq_free(equalizer);
}

int main(void) {
    const char *const none[] = {NULL};
    for (int n = 0; n < FRAMES; n++)
        for (int at = 0; at < BYTES; at++)
            clip[n][at] = (uint8_t)((n < 15 ? 20 : 120) + at % WIDTH * 3 + at * (n + 7) % 5);
    CHECK(!strcmp(histeq_version(), HISTEQ_VERSION));
    histeq *equalizer = made("gray", none);
    in_order(equalizer, expected);
    histeq_free(equalizer);
    CHECK(memcmp(expected, clip, sizeof clip));
    strides();
    live();
    any_order();
    limits();
    options();
    mistakes();
    puts("all is well");
    return 0;
}
