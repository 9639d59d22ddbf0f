// Lets a GPU's driver refuse all launches of kernels as soon as the file $REFUSE_LAUNCHES is there, for `soak.sh`: LD_PRELOAD
// loads it. The driver is opened at run time, so its functions are found with `dlsym`.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CUDA_ERROR_LAUNCH_FAILED = 719 };
static int (*launch_kernel_ex)(const void *, void *, void **, void **);

static int launch_unless_refused(const void *config, void *function, void **arguments, void **extra) {
    const char *file = getenv("REFUSE_LAUNCHES");
    if (file && access(file, F_OK) == 0)
        return CUDA_ERROR_LAUNCH_FAILED;
    return launch_kernel_ex(config, function, arguments, extra);
}

void *dlsym(void *library, const char *name) {
    static void *(*find)(void *, const char *);
    if (!find)
        find = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
    if (strcmp(name, "cuLaunchKernelEx") == 0) {
        launch_kernel_ex = find(library, name);
        return launch_kernel_ex ? launch_unless_refused : NULL;
    }
    return find(library, name);
}
