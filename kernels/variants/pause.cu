// Blocks a stream for a while, so that all timed work is enqueued before it begins. Then the times are those of the
// device, not those of a CPU that launches small kernels one after the other.

#include "device.cuh"

DEVICE unsigned long long now() {
    unsigned long long nanoseconds;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
    return nanoseconds;
}

extern "C" __global__ __launch_bounds__(32) void pause(unsigned long long nanoseconds) {
    unsigned long long begin = now();
    while (now() - begin < nanoseconds) {
    }
}
