// Lets a GPU's driver refuse all launches of kernels as soon as the file $REFUSE_LAUNCHES is there, for `soak.sh`, and to open
// the GPU while the file $REFUSE_CONTEXTS is there, for `pieces_on_gpu.sh`: LD_PRELOAD loads it. The driver is opened at run time, so its functions are found with `dlsym`.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CUDA_ERROR_OUT_OF_MEMORY = 2, CUDA_ERROR_LAUNCH_FAILED = 719 };
static int (*launch_kernel_ex)(const void *, void *, void **, void **);

static int (*retain_context)(void **, int);

static int is_refused(const char *what) {
    const char *file = getenv(what);
    return file && access(file, F_OK) == 0;
}

static int launch_unless_refused(const void *config, void *function, void **arguments, void **extra) {
    if (is_refused("REFUSE_LAUNCHES"))
        return CUDA_ERROR_LAUNCH_FAILED;
    return launch_kernel_ex(config, function, arguments, extra);
}

static int open_unless_refused(void **context, int device) {
    return is_refused("REFUSE_CONTEXTS") ? CUDA_ERROR_OUT_OF_MEMORY : retain_context(context, device);
}

void *dlsym(void *library, const char *name) {
    static void *(*find)(void *, const char *);
    if (!find)
        find = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
    if (strcmp(name, "cuLaunchKernelEx") == 0) {
        launch_kernel_ex = find(library, name);
        return launch_kernel_ex ? launch_unless_refused : NULL;
    }
    if (strcmp(name, "cuDevicePrimaryCtxRetain") == 0) {
        retain_context = find(library, name);
        return retain_context ? open_unless_refused : NULL;
    }
    return find(library, name);
}
