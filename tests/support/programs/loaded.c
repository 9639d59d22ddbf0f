// For LD_PRELOAD: a program that the loader has loaded, and that waits before its `main`. For each message on stdin, a
// socket, it forks: the child goes on as if it had just been started with these arguments, environment, folder and streams.
// The program under test and FFmpeg's tools have over 200 libraries; to load them takes 90 ms of a processor, to fork 3 ms.
//
// A message: the numbers of arguments and of variables, as 32 bits each; then the folder, the arguments and the variables,
// each with a zero behind it. With it come four descriptors: the run's stdin, stdout and stderr, and a pipe that takes its
// wait status as 32 bits.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SOCKET = 0, STREAMS = 3, MOST_RUNS = 256, MOST_DESCRIPTORS = 4 * MOST_RUNS, LONGEST_MESSAGE = 1 << 20 };

// Runs that have not ended: `runs[0]` is the socket.
static struct pollfd runs[MOST_RUNS] = {{.fd = SOCKET, .events = POLLIN}};
static struct {
    pid_t process;
    int status;
} ends[MOST_RUNS];
static int count = 1;

struct begin {
    uint32_t arguments, variables;
    char text[];
};

// Turns this child into the run: returns its `argv`, behind which lie the variables of `environ`.
static char **become(struct begin *begin, const int *descriptors) {
    for (int stream = 0; stream < STREAMS; stream++)
        if (dup2(descriptors[stream], stream) < 0) _exit(127);
    // Linux has it since 5.9.
    if (syscall(SYS_close_range, STREAMS, ~0U, 0) != 0)
        for (int other = STREAMS; other < MOST_DESCRIPTORS; other++) close(other);
    char *text = begin->text;
    if (chdir(text) != 0) _exit(127);
    char **words = calloc(begin->arguments + begin->variables + 2, sizeof *words);
    for (uint32_t at = 0; at < begin->arguments; at++) words[at] = text += strlen(text) + 1;
    environ = words + begin->arguments + 1;
    for (uint32_t at = 0; at < begin->variables; at++) environ[at] = text += strlen(text) + 1;
    return words;
}

// Takes a message; returns only in the child that it makes.
static char **fork_run(void) {
    struct begin *begin = malloc(LONGEST_MESSAGE);
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE((STREAMS + 1) * sizeof(int))];
    } control;
    struct iovec bytes = {begin, LONGEST_MESSAGE};
    struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    // Who sends has ended.
    if (recvmsg(SOCKET, &message, MSG_CMSG_CLOEXEC) <= 0 || count == MOST_RUNS) _exit(0);
    int descriptors[STREAMS + 1];
    memcpy(descriptors, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof descriptors);
    pid_t process = fork();
    if (process == 0) return become(begin, descriptors);
    for (int stream = 0; stream < STREAMS; stream++) close(descriptors[stream]);
    free(begin);
    runs[count] = (struct pollfd){.fd = syscall(SYS_pidfd_open, process, 0), .events = POLLIN};
    ends[count].process = process;
    ends[count++].status = descriptors[STREAMS];
    return NULL;
}

static void end_run(int at) {
    int status;
    waitpid(ends[at].process, &status, 0);
    if (write(ends[at].status, &status, sizeof status) < 0) _exit(0);
    close(runs[at].fd);
    close(ends[at].status);
    runs[at] = runs[--count];
    ends[at] = ends[count];
}

typedef int (*main_function)(int, char **, char **);

int __libc_start_main(main_function program, int count_given, char **given, void (*init)(void), void (*fini)(void),
                      void (*loader_fini)(void), void *stack_end) {
    __typeof__(__libc_start_main) *start = dlsym(RTLD_NEXT, "__libc_start_main");
    char **words = NULL;
    // Programs that a run starts are none of this.
    while (getenv("HISTEQ_LOADED") && !words) {
        if (poll(runs, count, -1) < 0) _exit(1);
        for (int at = count - 1; at > 0; at--)
            if (runs[at].revents) end_run(at);
        if (runs[0].revents) words = fork_run();
    }
    if (!words) return start(program, count_given, given, init, fini, loader_fini, stack_end);
    int arguments = 0;
    while (words[arguments]) arguments++;
    return start(program, arguments, words, init, fini, loader_fini, stack_end);
}
