/* Histogram equalization of video frames: planes in, planes out, with the bytes of the program histeq-video.
 *
 * A picture, whose calls all answer HISTEQ_OK, which is 0 (samples/equalize_picture.c is the whole program):
 *
 *     histeq *equalizer = NULL;
 *     int has_failed = histeq_new("gray", width, height, &equalizer) ||
 *                      histeq_set(equalizer, "look", "exact") ||
 *                      histeq_push_bytes(equalizer, dark, size, HISTEQ_NO_PTS) ||
 *                      histeq_finish(equalizer) ||
 *                      histeq_pull_bytes(equalizer, clear, size);
 *     if (has_failed) fprintf(stderr, "%s\n", histeq_error(equalizer));
 *     histeq_free(equalizer);
 *
 * A video (samples/equalize.c):
 *
 *     for each frame: histeq_push(...), then histeq_pull(...) while it answers HISTEQ_OK
 *     histeq_finish(equalizer), then histeq_pull(...) until it answers HISTEQ_END
 *
 * Threads: each function says who may call it. [any thread]: at any time, also while other calls are under way. [one at
 * a time]: one call with this handle at a time, from any thread. Different handles are independent.
 *
 * Memory: what is passed in is read, or written, during the call alone. Texts that have no handle live as long as
 * the library.
 *
 * No function ends the process, or lets an exception through. A null pointer where one is not allowed, and a number
 * that does not fit, are answered with an error.
 */
#ifndef HISTEQ_H
#define HISTEQ_H

#include <stddef.h>
#include <stdint.h>

#define HISTEQ_VERSION "0.3.0"

#ifdef __cplusplus
extern "C" {
#endif

/* An equalizer of one video. */
typedef struct histeq histeq;

/* What a call answers: errors are below 0, in groups by whose fault they are. That of the caller are ARGUMENT, OPTION,
 * PICTURE and STATE. New groups may come; histeq_error has the text. */
typedef enum histeq_status {
    HISTEQ_OK = 0,
    HISTEQ_AGAIN = 1,            /* no frame yet: push another one, or finish */
    HISTEQ_END = 2,              /* all frames have come out */
    HISTEQ_ERROR_ARGUMENT = -1,  /* a null pointer, an unknown name, a number that is too large */
    HISTEQ_ERROR_OPTION = -2,    /* no such option, none of its values, or options that do not go together */
    HISTEQ_ERROR_PICTURE = -3,   /* planes or bytes that are not those of the format and size */
    HISTEQ_ERROR_STATE = -4,     /* not now: the video has ended, a frame has to be pulled first, too late for this */
    HISTEQ_ERROR_DEVICE = -5,    /* a GPU, its driver or its memory is missing, or fails */
    HISTEQ_ERROR_BUG = -6,       /* a bug of the library; the handle can only be freed */
    HISTEQ_ERROR_LIMIT = -7,     /* more pixels or memory than the limits allow */
    HISTEQ_ERROR_UNSUPPORTED = -8 /* not done for pictures of this format or size */
} histeq_status;

/* A time that is not known. */
#define HISTEQ_NO_PTS INT64_MIN

/* A plane to be read: where its top row begins, and bytes from one row to the next one below; negative for bottom
 * up. */
typedef struct histeq_plane {
    const uint8_t *data;
    ptrdiff_t stride;
} histeq_plane;

/* A plane to be written. Bytes between its rows stay as they are. */
typedef struct histeq_plane_out {
    uint8_t *data;
    ptrdiff_t stride;
} histeq_plane_out;

/* A picture: of what goes in (histeq_input), or of the next frame that comes out (histeq_peek). The caller sets `size`;
 * the rest is filled as far as that goes, so that later versions may have more fields. */
typedef struct histeq_picture {
    size_t size;          /* sizeof(histeq_picture) */
    const char *format;   /* FFmpeg's name of the pixel format */
    size_t width, height; /* pixels */
    size_t bytes;         /* of all planes, without padding */
    size_t planes;        /* 1 to 4 */
    size_t row_bytes[4];  /* of each plane, without padding */
    size_t rows[4];
    uint64_t number;      /* of the frame, from 0 */
    int64_t pts;          /* that went in with it, or HISTEQ_NO_PTS */
} histeq_picture;

/* The version of the library, which is that of its header if they belong together: HISTEQ_VERSION. [any thread] */
const char *histeq_version(void);

/* An equalizer for pictures of this format, by FFmpeg's name ("gray", "yuv420p", "p010le", "bgra"), and size. `*out`
 * is it, or null after an error, whose text histeq_error(NULL) has. [any thread] */
histeq_status histeq_new(const char *format, size_t width, size_t height, histeq **out);

/* Frees it, and what it holds. Null is left alone. [one at a time] */
void histeq_free(histeq *equalizer);

/* The text of the last error of this handle, or "" if there was none; valid until the next call with it. With null,
 * that of the last error of this thread in a call without a handle. [one at a time; with null, any thread] */
const char *histeq_error(const histeq *equalizer);

/* Sets an option by its name, to what a text stands for: "look" to "night", "max-gain" to "1.5". histeq_option lists
 * them all. After the first frame it holds for the frames that follow. These are about the video and the machine, and
 * come before the first frame:
 *   rate        frames a second, on which the lengths of temporal windows depend (25)
 *   range       "limited" or "full" luma codes (YUV limited, gray full; RGB is full)
 *   matrix      between RGB and YUV: "bt601", "bt709" or "bt2020" (HD in YUV "bt709", else "bt601")
 *   transfer    "sdr", "pq" or "hlg" ("sdr")
 *   live        "true" if frames come as they are filmed: none waits for later ones ("false")
 *   backend     "auto", "cpu" or "cuda" ("auto": a GPU if there is one)
 *   gpu         which one, from 0 ("0")
 *   threads     of the CPU (one for each core, at most 8)
 * [one at a time] */
histeq_status histeq_set(histeq *equalizer, const char *name, const char *value);

/* Counts each pixel by its weight, 0 to 255: width * height of them, row by row. Before the first frame.
 * [one at a time] */
histeq_status histeq_mask(histeq *equalizer, const uint8_t *weights, size_t count);

/* Limits that any number of equalizers share. Without them, an equalizer has its own, of the defaults. */
typedef struct histeq_limits histeq_limits;

/* Limits, of which 0 is the default:
 *   pixels      of a frame (268435456, which is 16384x16384)
 *   memory      bytes of all frames of the equalizers that share them; a frame goes in only where a result of its size
 *               fits into what is left, or into a sixteenth more (no limit)
 *   threads     of each part of an equalizer's work (one for each core)
 * `*out` has them, or null after an error, whose text histeq_error(NULL) has. [any thread] */
histeq_status histeq_limits_new(uint64_t pixels, size_t memory, size_t threads, histeq_limits **out);

/* Frees them. The equalizers that have them keep to them. Null is left alone. [any thread, when no call has them] */
void histeq_limits_free(histeq_limits *limits);

/* The bytes of frames that their equalizers use now; 0 for null. [any thread] */
size_t histeq_limits_in_use(const histeq_limits *limits);

/* The equalizer keeps to these limits. Before the first frame. [one at a time] */
histeq_status histeq_set_limits(histeq *equalizer, const histeq_limits *limits);

/* Opens the backend, which the first frame does otherwise: an error of options, or a missing GPU, is seen here.
 * [one at a time] */
histeq_status histeq_open(histeq *equalizer);

/* What does the work: "cpu (avx2, 2 threads)". Opens the backend. `*name` is valid until the next call with the
 * handle. [one at a time] */
histeq_status histeq_backend(histeq *equalizer, const char **name);

/* The picture that goes in. [one at a time] */
histeq_status histeq_input(histeq *equalizer, histeq_picture *picture);

/* Takes a frame in, of which it makes a copy: planes of the format in their order, and a time in any unit. If a
 * frame has come out that was not pulled, the answer is HISTEQ_ERROR_STATE; without memory, HISTEQ_ERROR_LIMIT. Both
 * times nothing was taken. [one at a time] */
histeq_status histeq_push(histeq *equalizer, const histeq_plane *planes, size_t count, int64_t pts);

/* The same with all planes one after the other, row by row, without padding. [one at a time] */
histeq_status histeq_push_bytes(histeq *equalizer, const uint8_t *bytes, size_t size, int64_t pts);

/* No more frames will come: those that wait for later ones come out. [one at a time] */
histeq_status histeq_finish(histeq *equalizer);

/* Copies the next frame out, in order. HISTEQ_AGAIN: none has come out yet; several are under way at once, and with
 * a look-ahead the newest wait for later ones. HISTEQ_END: none is left after histeq_finish. After an error of the
 * planes the frame is still there. [one at a time] */
histeq_status histeq_pull(histeq *equalizer, const histeq_plane_out *planes, size_t count);

/* The same into bytes: as many as histeq_picture.bytes of the frame. [one at a time] */
histeq_status histeq_pull_bytes(histeq *equalizer, uint8_t *bytes, size_t size);

/* Tells about the frame that the next pull copies: its format is another one than that of the input if `gray` or
 * `output-depth` is set. HISTEQ_AGAIN and HISTEQ_END as for a pull. [one at a time] */
histeq_status histeq_peek(histeq *equalizer, histeq_picture *picture);

/* Waits until the oldest frame that needs no later one has come out, for callers who need each frame at once, as of
 * a camera: a pull copies it then. HISTEQ_AGAIN: all that are under way need later ones. [one at a time] */
histeq_status histeq_wait(histeq *equalizer);

/* On how many frames before and behind it the result of a frame depends. Opens the backend. [one at a time] */
histeq_status histeq_reach(histeq *equalizer, uint32_t *before, uint32_t *behind);

/* Begins again, with a frame of this number: what was seen is forgotten, what is under way is dropped.
 * [one at a time] */
histeq_status histeq_restart(histeq *equalizer, uint64_t number);

/* Takes in a frame from before those that are wanted, after histeq_new or histeq_restart: it is counted, and does
 * not come out. With as many as histeq_reach says, what follows has the bytes that it has in the whole video.
 * [one at a time] */
histeq_status histeq_warm_up(histeq *equalizer, const histeq_plane *planes, size_t count);

/* With "smooth" set to "scene": the first pass, all frames in order, before the first push. [one at a time] */
histeq_status histeq_survey(histeq *equalizer, const histeq_plane *planes, size_t count);

/* An option. A host makes its settings of these: a new one, or a new look, is there without a line. The caller sets
 * `size`, as of a picture. */
typedef struct histeq_option_info {
    size_t size;               /* sizeof(histeq_option_info) */
    const char *name;
    const char *values;        /* in a phrase: "a number from 0 to 1" */
    const char *default_value; /* what holds where it is not set */
    const char *summary;       /* in a line */
    const char *details;       /* more, or "" */
    const char *const *names;  /* the names that it takes, with null behind the last; null if it takes others */
    const char *const *abouts; /* what each name is */
    double least, most;        /* of a number; both 0 if it takes others */
    int is_flag;               /* it takes "true" and "false" */
} histeq_option_info;

/* The option of this index, from 0; HISTEQ_END behind the last. [any thread] */
histeq_status histeq_option(size_t index, histeq_option_info *option);

#ifdef __cplusplus
}
#endif

#endif
