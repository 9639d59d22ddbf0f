// Lets one system call, thread or allocation of a program fail, for `faults.rs`: LD_PRELOAD loads it.
//
// FAULT_KIND is what fails, FAULT_AT which one of its kind since `main` began (0: none), FAULT_LASTS (1) whether all later
// ones fail as well. FAULT_COUNT is a file of 16 bytes: how many of the kind there have been, and how many of them failed.
//
// seccomp catches system calls in the kernel, because the program makes some of them without the C library. The kernel sends
// SIGSYS instead, and the handler makes the call again, at an address from where the filter lets it through.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

static const struct kind {
    const char *name;
    int error;
    int calls[6]; // The rest is -1.
} kinds[] = {
    {"open", EMFILE, {SYS_open, SYS_openat, SYS_creat, -1, -1, -1}},
    {"read", EIO, {SYS_read, SYS_pread64, SYS_readv, -1, -1, -1}},
    {"write", ENOSPC, {SYS_write, SYS_pwrite64, SYS_writev, -1, -1, -1}},
    {"rename", EIO, {SYS_rename, SYS_renameat, SYS_renameat2, SYS_link, SYS_linkat, -1}},
    {"fsync", EIO, {SYS_fsync, SYS_fdatasync, -1, -1, -1, -1}},
    {"close", EIO, {SYS_close, -1, -1, -1, -1, -1}},
    {"map", ENOMEM, {SYS_mmap, -1, -1, -1, -1, -1}},
    {"thread", EAGAIN, {-1, -1, -1, -1, -1, -1}},
    {"memory", ENOMEM, {-1, -1, -1, -1, -1, -1}},
};

// What fails; NULL before `main`.
static const struct kind *chosen;
static uint64_t *counts, at;
static int lasts;
static int (*next_pthread_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
static int (*next_main)(int, char **, char **);

static int fails(void) {
    uint64_t number = __atomic_add_fetch(&counts[0], 1, __ATOMIC_RELAXED);
    if (at == 0 || number < at || (number > at && !lasts))
        return 0;
    __atomic_add_fetch(&counts[1], 1, __ATOMIC_RELAXED);
    return 1;
}

static int fails_as(const char *name) {
    return chosen && strcmp(chosen->name, name) == 0 && fails();
}

long call_again(long number, long a, long b, long c, long d, long e, long f);
extern char let_through[];
__asm__("call_again:\n"
        "mov %rdi, %rax\n"
        "mov %rsi, %rdi\n"
        "mov %rdx, %rsi\n"
        "mov %rcx, %rdx\n"
        "mov %r8, %r10\n"
        "mov %r9, %r8\n"
        "mov 8(%rsp), %r9\n"
        "syscall\n"
        "let_through: ret\n");

static void on_call(int signal, siginfo_t *info, void *context) {
    greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
    int number = info->si_syscall, fault = fails();
    (void)signal;
    long result = -chosen->error;
    // A file is closed even if its close fails.
    if (!fault || number == SYS_close) {
        long done = call_again(number, r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8], r[REG_R9]);
        result = fault ? result : done;
    }
    r[REG_RAX] = result;
}

static void catch_calls(const struct kind *kind) {
    struct sigaction action = {.sa_sigaction = on_call, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART};
    uint64_t address = (uint64_t)(uintptr_t)let_through;
    struct sock_filter filter[32] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, instruction_pointer)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)address, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, instruction_pointer) + 4),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(address >> 32), 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        // What is said on stderr is heard.
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    };
    unsigned short length = 11;
    for (const int *call = kind->calls; *call >= 0; call++) {
        filter[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, *call, 0, 1);
        filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
    }
    filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {.len = length, .filter = filter};
    sigaction(SIGSYS, &action, NULL);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0) {
        perror("no system calls can be caught");
        _exit(99);
    }
}

static int begin(int argc, char **argv, char **environment) {
    const char *name = getenv("FAULT_KIND"), *file = getenv("FAULT_COUNT");
    if (name && file) {
        next_pthread_create = (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(
            RTLD_NEXT, "pthread_create");
        at = strtoull(getenv("FAULT_AT"), NULL, 10);
        lasts = getenv("FAULT_LASTS") != NULL;
        int open_file = open(file, O_RDWR | O_CLOEXEC);
        counts = mmap(NULL, 16, PROT_READ | PROT_WRITE, MAP_SHARED, open_file, 0);
        close(open_file);
        const struct kind *kind = kinds;
        while (strcmp(kind->name, name) != 0)
            kind++;
        chosen = kind;
        if (kind->calls[0] >= 0)
            catch_calls(kind);
    }
    return next_main(argc, argv, environment);
}

int __libc_start_main(int (*program)(int, char **, char **), int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*loader_fini)(void), void *stack_end) {
    int (*next)(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void), void (*)(void), void *);
    *(void **)&next = dlsym(RTLD_NEXT, "__libc_start_main");
    next_main = program;
    return next(begin, argc, argv, init, fini, loader_fini, stack_end);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument) {
    if (!next_pthread_create)
        *(void **)&next_pthread_create = dlsym(RTLD_NEXT, "pthread_create");
    return fails_as("thread") ? EAGAIN : next_pthread_create(thread, attributes, start, argument);
}

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static int no_memory(void) {
    int fault = fails_as("memory");
    if (fault)
        errno = ENOMEM;
    return fault;
}

void *malloc(size_t size) { return no_memory() ? NULL : __libc_malloc(size); }

void *calloc(size_t count, size_t size) { return no_memory() ? NULL : __libc_calloc(count, size); }

void *realloc(void *memory, size_t size) { return size > 0 && no_memory() ? NULL : __libc_realloc(memory, size); }

void *memalign(size_t alignment, size_t size) { return no_memory() ? NULL : __libc_memalign(alignment, size); }

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **memory, size_t alignment, size_t size) {
    *memory = memalign(alignment, size);
    return *memory ? 0 : ENOMEM;
}
