// Stands between the program and FFmpeg's functions, as `exploit.c` does, for `liars.rs`: a decoder, or an encoder, that has been
// taken over and speaks the protocol of the processes itself. LIAR says which lie it tells, at the tenth picture; it says
// "liar: told" on stderr once the lie has been delivered, unless the program ends it for that.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int sockets[16], count;

static void find(void) {
    struct stat of;
    for (int file = 3; file < 40 && count < 16; file++)
        if (fstat(file, &of) == 0 && S_ISSOCK(of.st_mode))
            sockets[count++] = file;
}

static int is(const char *lie) {
    const char *told = getenv("LIAR");
    return told && strcmp(told, lie) == 0;
}

static void told(void) { dprintf(2, "\nliar: told\n"); }

static void hold(void) {
    for (;;)
        pause();
}

// Sends all of it; says that the lie is told when the other side takes nothing for a second.
static void send_all(int to, const uint8_t *bytes, size_t length) {
    while (length) {
        ssize_t sent = -1;
        for (int i = 0; i < 1000 && sent < 0; i++) {
            sent = send(to, bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT);
            if (sent < 0 && errno != EAGAIN)
                return;
            if (sent < 0)
                usleep(1000);
        }
        if (sent < 0 && is("stall")) {
            told();
            hold();
        }
        if (sent > 0) {
            bytes += sent;
            length -= sent;
        }
    }
}

static void message(int to, const uint8_t *bytes, uint32_t length) {
    uint8_t *all = malloc(length + 4);
    memcpy(all, &length, 4);
    memcpy(all + 4, bytes, length);
    send_all(to, all, length + 4);
    free(all);
}

static size_t number(uint8_t *to, uint64_t value) {
    size_t length = 0;
    do {
        to[length++] = (value & 127) | (value > 127 ? 128 : 0);
        value >>= 7;
    } while (value);
    return length;
}

// A message with this beginning and so many bytes of zeros, as many elements of a list.
static void list(int to, const uint8_t *begin, size_t length, size_t elements) {
    uint8_t *bytes = calloc(1, length + elements + 64);
    memcpy(bytes, begin, length);
    size_t at = length + number(bytes + length, elements);
    message(to, bytes, at + elements + 16);
}

// In the decoding process: the connection of orders is there twice, that of requests once.
static void lie(void) {
    int orders = -1, requests = -1;
    struct stat a, b;
    find();
    for (int i = 0; i < count; i++) {
        int same = 0;
        fstat(sockets[i], &a);
        for (int j = 0; j < count; j++)
            same |= j != i && fstat(sockets[j], &b) == 0 && a.st_ino == b.st_ino;
        *(same ? &orders : &requests) = sockets[i];
    }
    // A thread of the process tells each second that it works, as long as it does, and would get in between.
    if (is("stall") || is("flood") || is("times"))
        sleep(3);
    if (is("stall")) { // It answers, but reads no orders any more.
        for (int i = 0; i < count; i++)
            if (sockets[i] != requests && sockets[i] != orders)
                dup2(requests, sockets[i]);
        const uint8_t delivery[8] = {3};
        for (;;)
            message(orders, delivery, sizeof delivery);
    }
    if (is("idle")) {
        told();
        hold();
    }
    if (is("flood")) { // Warnings of a megabyte.
        uint8_t *text = malloc(1000100);
        for (int i = 0; i < 60; i++) {
            size_t at = 0;
            text[at++] = 0;
            text[at++] = 5;
            at += number(text + at, 1000000);
            memset(text + at, 'A', 1000000);
            message(orders, text, at + 1000000);
        }
        told();
    }
    if (is("line")) {
        dprintf(2, "histeq-video: error: a line of its own\n");
        told();
    }
    if (is("files")) {
        for (char *name = strtok(strdup(getenv("FILES")), ":"); name; name = strtok(NULL, ":"))
            dprintf(2, "liar: %s %s\n", name, open(name, O_RDONLY) < 0 ? "refused" : "opened");
        told();
    }
    if (is("kind")) {
        uint8_t failed[] = {5, 0, (uint8_t)atoi(getenv("KIND")), 4, 't', 'e', 'x', 't'};
        message(orders, failed, sizeof failed);
        hold();
    }
    if (is("end")) {
        const uint8_t end[] = {4, 0};
        message(orders, end, sizeof end);
        hold();
    }
    if (is("times")) { // 300 million times of a survey.
        const uint8_t survey[] = {4, 1};
        list(orders, survey, sizeof survey, 300 << 20);
        hold();
    }
    if (is("requests")) { // A request without an end.
        uint32_t length = 300 << 20;
        uint8_t *bytes = calloc(1, length);
        send_all(requests, (uint8_t *)&length, 4);
        send_all(requests, bytes, length - 1);
        told();
        hold();
    }
}

// In the program, behind its outer wall: asks the template for a process.
static int ask(uint8_t what, int files[4]) {
    union { char bytes[CMSG_SPACE(64)]; struct cmsghdr align; } control;
    uint32_t length = 0;
    uint8_t answer[64] = {1};
    struct iovec part = {&length, 4};
    struct msghdr head = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    message(sockets[0], &what, 1);
    if (recvmsg(sockets[0], &head, 0) < 4 || length > sizeof answer || recv(sockets[0], answer, length, 0) <= 0)
        return -1;
    if (answer[0] || !CMSG_FIRSTHDR(&head))
        return answer[0] ? 1 : -1;
    memcpy(files, CMSG_DATA(CMSG_FIRSTHDR(&head)), 16);
    return 0;
}

int avcodec_receive_frame(void *context, void *frame) {
    static int (*real)(void *, void *), frames;
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "avcodec_receive_frame");
    int result = real(context, frame);
    if (getpid() == 1 && result >= 0 && ++frames == 10)
        lie();
    return result;
}

int avcodec_send_frame(void *context, const void *frame) {
    static int (*real)(void *, const void *), frames;
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "avcodec_send_frame");
    if (getpid() != 1 && ++frames == 4 && is("processes")) {
        int files[4], made = 0, refused = 0;
        find();
        // 0 is a process, 1 one with the network.
        int network = ask(1, files);
        while (made < 50 && refused == 0) {
            int answer = ask(0, files);
            made += answer == 0;
            refused = answer;
        }
        dprintf(2, "\nliar: network %d, made %d, then %d\n", network, made, refused);
        told();
    }
    return real(context, frame);
}
